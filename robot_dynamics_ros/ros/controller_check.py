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
would throw the arm about. The controllers of ros2_control state both as parameters. These are
asked for one by one: a node that has not declared one of them answers nothing at all to a question
for both. Where nobody answers, such as a simulation that is no controller, there is nothing to
compare. An answer counts until the controller goes away or torque is switched on: it may be
another one then.

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

_FRESH = 1.0
"""Age of an answer up to which it need not be asked for again [s]."""

_SHORT_WAIT = 0.5
"""Longest wait for an answer while nothing else runs [s]."""


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
        Full name of the controller; empty if the topic belongs to none, or to the node itself.
    mismatch : str
        What is wrong, in one line, else empty.

    """

    def __init__(self, node: Node, topic: str, joint_names: Sequence[str]) -> None:
        self.controller = topic.rsplit('/', 1)[0]
        self.mismatch = ''
        self._node = node
        self._names = list(joint_names)
        self._asked: list[Any] = []  # answers that are still to come
        self._deadline = 0.0  # for them
        self._next = 0.0  # time of the next question
        self._answered_at: float | None = None
        self._is_silent = False
        self._has_joints = False
        self._client = None
        if self.controller == node.get_fully_qualified_name():
            self.controller = ''
        if self.controller:
            self._client = node.create_client(GetParameters, f'{self.controller}/get_parameters')

    def update(self) -> None:
        """Ask if a controller is there, and take in its answer if it has come."""
        if self._client is None:
            return
        if not self._client.service_is_ready():
            self._forget()
            return
        now = time.monotonic()
        if not self._asked:
            if (self._answered_at is None or self._is_silent) and now >= self._next:
                self._ask(now)
        elif all(answer.done() for answer in self._asked):
            answers, self._asked = self._asked, []
            self._judge(*(answer.result() for answer in answers))
            self._answered_at, self._is_silent = now, False
        elif now >= self._deadline:
            self._drop_questions()
            self._is_silent = True
            self._next = now + _PAUSE

    def renew(self) -> None:
        """Ask again unless it has just answered; wait for the answer for a short time."""
        self.update()
        if self._client is None or not self._client.service_is_ready():
            return
        now = time.monotonic()
        if self._answered_at is not None and now - self._answered_at <= _FRESH:
            return
        if not self._asked:
            self._ask(now)
        while self._asked and time.monotonic() < now + _SHORT_WAIT:
            self._take_answer()
            self.update()
            time.sleep(0.002)
        if self._asked:
            self._node.get_logger().warning(
                f'{self.controller} has not said its joints in {_SHORT_WAIT:g} s'
            )

    @property
    def is_waiting(self) -> bool:
        """Whether a controller has been asked for the first time and may still answer."""
        return bool(self._asked) and self._answered_at is None and not self._is_silent

    def _ask(self, now: float) -> None:
        if self._client is None:
            return
        self._deadline = now + _PATIENCE
        self._asked = [
            self._client.call_async(GetParameters.Request(names=[name]))
            for name in ('joints', 'interface_name')
        ]

    def _take_answer(self) -> None:
        """Take an answer that waits, while the executor does not."""
        if self._client is None:
            return
        with self._client.handle:
            header, response = self._client.handle.take_response(GetParameters.Response)
        if header is None:
            return
        try:
            answer = self._client.get_pending_request(header.request_id.sequence_number)
        except KeyError:  # too late
            return
        answer.set_result(response)

    def _drop_questions(self) -> None:
        for answer in self._asked:
            if self._client is not None:
                self._client.remove_pending_request(answer)
        self._asked = []

    def _forget(self) -> None:
        """Forget a controller that is not there."""
        self._drop_questions()
        self.mismatch = ''
        self._answered_at, self._is_silent, self._next = None, False, 0.0

    def _judge(self, joints_answer: Any, interface_answer: Any) -> None:
        joints = _value(joints_answer, ParameterType.PARAMETER_STRING_ARRAY, 'string_array_value')
        interface = _value(interface_answer, ParameterType.PARAMETER_STRING, 'string_value')
        self._has_joints = bool(joints)
        mismatch = ''
        if joints and list(joints) != self._names:
            mismatch = (
                f'{self.controller} takes commands for {", ".join(joints)}; this node sends them '
                f'for {", ".join(self._names)}: set the parameter joints to that order'
            )
        elif interface and interface != 'effort':
            mismatch = (
                f"{self.controller} takes commands as {interface}, not 'effort': "
                'set interface_name'
            )
        if mismatch and mismatch != self.mismatch:
            self._node.get_logger().error(mismatch)
        self.mismatch = mismatch

    def report(self) -> Report:
        """Return the report for diagnostics."""
        self.update()
        if self.mismatch:
            return Report(Level.ERROR, self.mismatch)
        if self._client is None:
            return Report(Level.OK, 'the commands go to no controller')
        if self._is_silent:
            return Report(
                Level.WARN, f'{self.controller} does not answer: its joints were not compared'
            )
        if self._answered_at is None:
            return Report(Level.OK, f'no {self.controller} answers: its joints were not compared')
        if not self._has_joints:
            return Report(Level.WARN, f'{self.controller} states no joints: not compared')
        return Report(Level.OK, f'{self.controller} has the same joints')

    def destroy(self) -> None:
        """Take the client away."""
        if self._client is not None:
            self._node.destroy_client(self._client)


def _value(answer: Any, kind: int, field: str) -> Any:
    """Return the value of a parameter if it was answered and is of that type, else None."""
    values = list(answer.values) if answer is not None else []
    return getattr(values[0], field) if values and values[0].type == kind else None
