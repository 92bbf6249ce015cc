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

"""Whether the time of a simulation comes in: without it every stamp is zero, or the same."""

from __future__ import annotations

from rclpy.node import Node

from robot_dynamics_ros.ros.diagnostics import Level, Report


class ClockReport:
    """
    Report a simulated time that is missing or stands still, and log when that begins.

    Parameters
    ----------
    node : Node
        Node with ``use_sim_time``.

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._last = 0
        self._message = ''

    def __call__(self) -> Report:
        """Return the report."""
        now = int(self._node.get_clock().now().nanoseconds)
        message = 'running'
        if now == 0:
            message = 'no time on /clock yet'
        elif now == self._last:
            message = '/clock stands still'
        self._last = now
        if message != 'running' and message != self._message:
            self._node.get_logger().warning(f'use_sim_time is set: {message}')
        self._message = message
        return Report(
            Level.OK if message == 'running' else Level.WARN, message, {'time [s]': 1e-9 * now}
        )
