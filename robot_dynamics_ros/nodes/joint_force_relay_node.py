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
Turn the positional command of an effort controller into one force topic for each joint.

For Gazebo without ros2_control, whose ApplyJointForce system takes one number for each joint and
keeps the last one for ever. Nothing is computed here: a command is passed on as it is, or refused
as a whole, and zeros go out when commands stop.

"""

from __future__ import annotations

from collections.abc import Sequence
import time
from typing import Any

from std_msgs.msg import Float64, Float64MultiArray

from robot_dynamics_ros.core.control.command_relay import CommandRelay
from robot_dynamics_ros.ros.cdr import read_command
from robot_dynamics_ros.ros.diagnostics import Changes, Level, Report
from robot_dynamics_ros.ros.node_parameters import JointForceRelayParameters
from robot_dynamics_ros.ros.qos import COMMAND_IN, COMMAND_OUT
from robot_dynamics_ros.ros.robot_node import RobotNode
from robot_dynamics_ros.ros.robot_source import joint_order
from robot_dynamics_ros.ros.running import run
from robot_dynamics_ros.ros.timers import steady_timer
from robot_dynamics_ros.ros.torque_publishers import COMMAND_TOPIC


class JointForceRelayNode(RobotNode[JointForceRelayParameters]):
    """Pass commands on as ``joint/JOINT/cmd_force``."""

    def __init__(self, name: str = 'joint_force_relay_node', **options: Any) -> None:
        super().__init__(name, JointForceRelayParameters, **options)

    def configure(self) -> None:
        """Build relay and topics."""
        order = joint_order(self.parameters, self.model)
        timeout = self.parameters.command_timeout
        self.get_logger().info(f'commands are in the order {", ".join(order)}')
        self._relay = CommandRelay(len(order), timeout)
        self._refusals = Changes()
        self._forces = [
            self.create_publisher(Float64, f'joint/{name}/cmd_force', COMMAND_OUT)
            for name in order
        ]
        self._subscription = self.create_subscription(
            Float64MultiArray, COMMAND_TOPIC, self._on_command, COMMAND_IN, raw=True
        )
        self._watchdog = steady_timer(self, 0.25 * timeout, self._watch)
        self.diagnostics.add('relay', self._report)

    def deactivate(self) -> None:
        """Take the forces back."""
        self._send([0.0] * len(self._forces))

    def cleanup(self) -> None:
        """Take away what `configure` built."""
        self.destroy_timer(self._watchdog)
        self.destroy_subscription(self._subscription)
        for publisher in self._forces:
            self.destroy_publisher(publisher)

    def is_at_rest(self) -> bool:
        """Whether commands have stopped: on a signal, who commands may still ramp down."""
        return not self.is_active or self._relay.is_silent(time.monotonic())

    def _on_command(self, message: bytes) -> None:
        try:
            command = read_command(message)
        except ValueError:
            self.note_malformed()
            return
        values = command.tolist()
        if self.is_active and self._relay.take(values, time.monotonic()):
            self._send(values)

    def _watch(self) -> None:
        replacement = self._relay.replacement(time.monotonic()) if self.is_active else None
        if replacement is not None:
            self._send(replacement.tolist())

    def _send(self, values: Sequence[float]) -> None:
        for publisher, value in zip(self._forces, values):
            publisher.publish(Float64(data=float(value)))

    def _report(self) -> Report:
        counts = self._relay.counts
        grown = self._refusals.take({key: counts[key] for key in ('wrong length', 'not finite')})
        if grown:
            refused = ', '.join(f'{count} {key}' for key, count in grown.items())
            return Report(Level.WARN, f'commands refused: {refused}', counts)
        if self._relay.is_silent(time.monotonic()):
            return Report(Level.WARN, 'no command comes; the forces are zero', counts)
        return Report(Level.OK, 'commands are passed on', counts)


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(JointForceRelayNode, args)


if __name__ == '__main__':
    main()
