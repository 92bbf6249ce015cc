# Copyright 2026 robot_dynamics_ros contributors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The services with which a person steers an identification that goes on."""

from __future__ import annotations

from typing import Protocol

from rclpy.node import Node
from std_srvs.srv import Trigger

from robot_dynamics_ros.core.exceptions import RobotDynamicsError


class _Identifying(Protocol):
    """What the services need of a node."""

    def learn(self, is_on: bool) -> tuple[bool, str]: ...

    def begin_again(self) -> str: ...

    def save(self) -> str: ...


class IdentificationServices:
    """
    Serve ``~/start``, ``~/freeze``, ``~/reset`` and ``~/save``.

    Parameters
    ----------
    node : IdentificationNode
        Node that has them; it is configured.

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._identifying: _Identifying = node
        self._made = [
            node.create_service(Trigger, f'~/{name}', serve)
            for name, serve in (
                ('start', self._start),
                ('freeze', self._freeze),
                ('reset', self._reset),
                ('save', self._save),
            )
        ]

    def destroy(self) -> None:
        """Take the services away."""
        for service in self._made:
            self._node.destroy_service(service)

    def _start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self._identifying.learn(True)
        return response

    def _freeze(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self._identifying.learn(False)
        return response

    def _reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = True, self._identifying.begin_again()
        return response

    def _save(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            response.message = self._identifying.save()
            response.success = True
        except (RobotDynamicsError, ValueError) as error:
            response.message = ' '.join(str(error).split())
            self._node.get_logger().error(f'cannot save: {response.message}')
        return response
