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

"""The services with which a person switches torque on and off."""

from __future__ import annotations

from typing import Protocol

from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from robot_dynamics_ros.core.control.guard_state import GuardState
from robot_dynamics_ros.core.control.torque_guard import TorqueGuard
from robot_dynamics_ros.core.exceptions import RobotDynamicsError
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.ros.torque_self_test import TorqueSelfTest


class _Switched(Protocol):
    """What the services need of a node."""

    guard: TorqueGuard
    is_active: bool
    model: RobotModel
    self_test: TorqueSelfTest

    def activate(self) -> None: ...

    def begin_stop(self) -> None: ...

    def reset(self) -> None: ...


class TorqueServices:
    """
    Serve ``~/enable``, ``~/reset`` and ``~/self_test``.

    Parameters
    ----------
    node : TorqueNode
        Node that has them; it is configured.

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._switched: _Switched = node
        self._services = [
            node.create_service(SetBool, '~/enable', self._enable),
            node.create_service(Trigger, '~/reset', self._reset),
            node.create_service(Trigger, '~/self_test', self._self_test),
        ]

    def destroy(self) -> None:
        """Take the services away."""
        for service in self._services:
            self._node.destroy_service(service)

    def _enable(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        node = self._switched
        try:
            if not request.data:
                node.begin_stop()
            elif not node.is_active:
                response.message = 'the node is not active'
                return response
            else:
                node.activate()
        except RobotDynamicsError as error:
            response.message = ' '.join(str(error).split())
            self._node.get_logger().error(f'cannot enable: {response.message}')
            return response
        response.success = True
        response.message = node.guard.state.value
        return response

    def _reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        node = self._switched
        if node.guard.state.is_commanding:
            response.message = f'{node.guard.state.value}: wait until no torque is commanded'
            return response
        reason = node.guard.reason
        node.reset()
        response.success = node.guard.state is GuardState.READY
        response.message = (
            f'reset after: {reason}; ~/enable switches the torque on' if reason else 'no fault'
        )
        return response

    def _self_test(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        node = self._switched
        try:
            response.success, response.message = node.self_test.judge(node.model)
        except RobotDynamicsError as error:
            response.message = ' '.join(str(error).split())
        return response
