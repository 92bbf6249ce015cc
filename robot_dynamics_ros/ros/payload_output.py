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

"""The topic that says what the arm carries: repeated while it is known, and withdrawn after."""

from __future__ import annotations

from math import inf
import time

from geometry_msgs.msg import InertiaStamped
from rclpy.node import Node
from rclpy.publisher import Publisher

from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.ros.conversions import message_from_payload
from robot_dynamics_ros.ros.qos import LATCHED

HOLD = 3.0
"""Time for which a payload is repeated while it is not known whether it has changed [s]."""


class PayloadOutput:
    """
    Publishes ``~/payload``, transient local.

    Parameters
    ----------
    node : Node
        Whose topic it is.

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publisher = self._new_publisher()
        self._told: Payload | None = None
        self._known_at = -inf

    def tell(self, payload: Payload | None) -> None:
        """
        Say what the arm carries.

        While a change is being explained, or somebody leans on the arm, it carries what it did,
        but not for ever.

        Parameters
        ----------
        payload : Payload or None
            With the mass 0 for nothing; None if it is not known now.

        """
        if payload is not None:
            self._told, self._known_at = payload, time.monotonic()
        if self._doubt > HOLD:
            self.withdraw()
        if self._told is None:
            return
        message = message_from_payload(self._told)
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def withdraw(self) -> None:
        """Let nobody who comes later hear of a payload that is no longer kept up to date."""
        if self._told is None:
            return
        self._told = None
        # A latched message lives as long as its publisher.
        self.destroy()
        self._publisher = self._new_publisher()

    @property
    def silence(self) -> str:
        """Return why a payload is no longer repeated; empty if it is, or never was known."""
        if HOLD < self._doubt < inf:
            return f'not repeated: not known for {self._doubt:.0f} s'
        return ''

    def destroy(self) -> None:
        """Take the topic away."""
        self._node.destroy_publisher(self._publisher)

    @property
    def _doubt(self) -> float:
        """Return the time since it was last known what the arm carries [s]."""
        return time.monotonic() - self._known_at

    def _new_publisher(self) -> Publisher:
        return self._node.create_publisher(InertiaStamped, '~/payload', LATCHED)
