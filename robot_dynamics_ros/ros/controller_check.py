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

"""
Ask the controller that takes the commands for which joints, in which order, and what they are.

A command is an array without names. In another order than the controller's, or as positions, it
would throw the arm about. The controllers of ros2_control state both as parameters. Where nobody
answers, such as a simulation that is no controller, there is nothing to compare.

"""

from __future__ import annotations

from collections.abc import Sequence
import time
from typing import Any

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters
from rclpy.node import Node

from robot_dynamics_ros.ros.diagnostics import Level, Report

_PATIENCE = 2.0
"""Longest wait for an answer of a controller that is there [s]."""

_PAUSE = 10.0
"""Time until one that did not answer is asked again [s]."""


class ControllerCheck:
    """
    Compare the joints of a controller with those of the commands.

    Parameters
    ----------
    node : Node
        Node that commands.
    topic : str
        Full name of the topic of the commands; the controller has the name before its last part.
    joint_names : sequence of str
        Order of the commands.

    Attributes
    ----------
    controller : str
        Full name of the controller.
    mismatch : str
        What is wrong, in one line, else empty.

    """

    def __init__(self, node: Node, topic: str, joint_names: Sequence[str]) -> None:
        self.controller = topic.rsplit('/', 1)[0]
        self.mismatch = ''
        self._node = node
        self._names = list(joint_names)
        self._deadline = 0.0  # of the answer; without one asked, before which none is
        self._answer: Any = None
        self._is_answered = False
        self._client = None
        if self.controller:
            self._client = node.create_client(GetParameters, f'{self.controller}/get_parameters')

    def update(self) -> None:
        """Ask if a controller is there, and take in its answer if it has come."""
        if self._client is None or self._is_answered:
            return
        now = time.monotonic()
        if self._answer is None:
            if now >= self._deadline and self._client.service_is_ready():
                self._deadline = now + _PATIENCE
                request = GetParameters.Request(names=['joints', 'interface_name'])
                self._answer = self._client.call_async(request)
        elif self._answer.done():
            self._judge(self._answer.result())
        elif now >= self._deadline:
            self._client.remove_pending_request(self._answer)
            self._answer = None
            self._deadline = now + _PAUSE

    @property
    def is_waiting(self) -> bool:
        """Whether a controller has been asked and may still answer."""
        return not self._is_answered and self._answer is not None

    def _judge(self, answer: Any) -> None:
        self._is_answered = True
        values = list(answer.values) if answer is not None else []
        joints = _of_type(values[:1], ParameterType.PARAMETER_STRING_ARRAY, 'string_array_value')
        interface = _of_type(values[1:], ParameterType.PARAMETER_STRING, 'string_value')
        if joints and list(joints) != self._names:
            self.mismatch = (
                f'{self.controller} takes commands for {", ".join(joints)}; this node sends them '
                f'for {", ".join(self._names)}: set the parameter joints to that order'
            )
        elif interface and interface != 'effort':
            self.mismatch = (
                f"{self.controller} takes commands as {interface}, not 'effort': "
                'set interface_name'
            )
        if self.mismatch:
            self._node.get_logger().error(self.mismatch)

    def report(self) -> Report:
        """Return the report for diagnostics."""
        self.update()
        if self.mismatch:
            return Report(Level.ERROR, self.mismatch)
        if self._is_answered:
            return Report(Level.OK, f'{self.controller} has the same joints')
        return Report(Level.OK, f'no {self.controller} answers: its joints were not compared')

    def destroy(self) -> None:
        """Take the client away."""
        if self._client is not None:
            self._node.destroy_client(self._client)


def _of_type(values: list[Any], kind: int, field: str) -> Any:
    """Return the value of a parameter if it is there and of that type, else None."""
    return getattr(values[0], field) if values and values[0].type == kind else None
