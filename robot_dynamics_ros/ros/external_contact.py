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

"""What touches the robot, as others see it: a contact that is told, a wrench that is measured."""

from __future__ import annotations

from math import inf
import time

from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.node import Node
from std_msgs.msg import Bool

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.dynamics import frame_jacobian, ReferenceFrame
from robot_dynamics_ros.core.exceptions import RobotDynamicsError
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.ros.cdr import read_flag, read_wrench
from robot_dynamics_ros.ros.qos import COMMAND_IN

HELD = 0.2
"""How long a message counts [s]."""

LONGEST = 1.0
"""A contact without a pause counts no longer: a payload is picked up like that [s]."""


class ExternalContact:
    """
    Hear ``~/contact`` and ``~/external_wrench``.

    Parameters
    ----------
    node : Node
        Node that has them.
    robot : RobotModel
        The robot.

    Attributes
    ----------
    dropped : int
        Messages that made no sense.

    """

    def __init__(self, node: Node, robot: RobotModel) -> None:
        self.dropped = 0
        self._node = node
        self._robot = robot
        self._touched_at = self._began = self._pushed_at = -inf
        self._frame, self._wrench = '', np.zeros(6)
        self._subscriptions = [
            node.create_subscription(Bool, '~/contact', self._on_contact, COMMAND_IN, raw=True),
            node.create_subscription(
                WrenchStamped, '~/external_wrench', self._on_wrench, COMMAND_IN, raw=True
            ),
        ]

    def destroy(self) -> None:
        """Take the subscriptions away."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def is_told(self, now: float) -> bool:
        """Return whether somebody says that something touches the robot."""
        return now - self._touched_at <= HELD and now - self._began <= LONGEST

    def efforts(self, q: Vector, now: float) -> Vector | None:
        """Return what a measured wrench does for the joints, ``J^T f`` [N m | N], or None."""
        if now - self._pushed_at > HELD:
            return None
        jacobian = frame_jacobian(self._robot, q, self._frame, ReferenceFrame.LOCAL)
        return np.asarray(jacobian.T @ self._wrench)

    def _on_contact(self, message: bytes) -> None:
        now = time.monotonic()
        try:
            is_touched = read_flag(message)
        except ValueError:
            self.dropped += 1
            return
        if is_touched:
            if now - self._touched_at > HELD:
                self._began = now
            self._touched_at = now

    def _on_wrench(self, message: bytes) -> None:
        try:
            frame, wrench = read_wrench(message)
            if not np.isfinite(wrench).all():
                raise ValueError
            self._robot.frame(frame)
        except (ValueError, RobotDynamicsError):
            self.dropped += 1
            return
        self._frame, self._wrench, self._pushed_at = frame, wrench, time.monotonic()
