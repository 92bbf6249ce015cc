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
"""The stamps of a simulated plant, and ``/clock`` if it is to lead the time of others."""

from __future__ import annotations

from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from robot_dynamics_ros.ros.qos import CLOCK


class SimulationClock:
    """
    Turn simulated time into stamps.

    Parameters
    ----------
    node : Node
        Node that simulates.
    is_published : bool
        Whether ``/clock`` is published and time begins at zero, instead of at the present time.

    """

    def __init__(self, node: Node, *, is_published: bool) -> None:
        self._node = node
        self._publisher = node.create_publisher(Clock, '/clock', CLOCK) if is_published else None
        self._zero = 0

    def start(self) -> None:
        """Let the simulated time zero be now."""
        self._zero = 0 if self._publisher else int(self._node.get_clock().now().nanoseconds)

    def tell(self, time: float) -> int:
        """Publish a simulated time [s], if asked for, and return its stamp [ns]."""
        stamp = self._zero + round(1e9 * time)
        if self._publisher is not None:
            message = Clock()
            message.clock.sec, message.clock.nanosec = divmod(stamp, 1_000_000_000)
            self._publisher.publish(message)
        return stamp

    def destroy(self) -> None:
        """Take the topic away."""
        if self._publisher is not None:
            self._node.destroy_publisher(self._publisher)
