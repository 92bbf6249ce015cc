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
A mobile base on two driven wheels as a plant: wheel torques in, odometry and joint states out.

Like a ForwardCommandController it keeps the last command until the next one comes; a command of
the wrong size or with a number that is not finite is dropped and counted.

"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, inf, sin
import time
from typing import Any

from nav_msgs.msg import Odometry
import numpy as np
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.core.exceptions import RobotDynamicsError
from robot_dynamics_ros.core.simulation.differential_drive import (
    DifferentialDrive,
    DifferentialDriveState,
)
from robot_dynamics_ros.core.simulation.pace import RealTimePace
from robot_dynamics_ros.ros.cdr import read_command
from robot_dynamics_ros.ros.diagnostics import Changes, Level, Report
from robot_dynamics_ros.ros.lifecycle import ManagedNode
from robot_dynamics_ros.ros.node_parameters import DifferentialDriveParameters
from robot_dynamics_ros.ros.qos import COMMAND_IN, STATE_OUT
from robot_dynamics_ros.ros.running import run
from robot_dynamics_ros.ros.simulation_clock import SimulationClock
from robot_dynamics_ros.ros.state_publisher import StatePublisher
from robot_dynamics_ros.ros.timers import steady_timer

COMMANDS = 'cmd'


class DifferentialDriveNode(ManagedNode[DifferentialDriveParameters]):
    """Simulate the base."""

    def __init__(self, name: str = 'differential_drive_node', **options: Any) -> None:
        super().__init__(name, DifferentialDriveParameters, **options)

    def configure(self) -> None:
        """Build the base and its topics."""
        parameters = self.parameters
        self.base = DifferentialDrive(
            mass=parameters.mass,
            yaw_inertia=parameters.yaw_inertia,
            wheel_radius=parameters.wheel_radius,
            track=parameters.track,
            wheel_inertia=parameters.wheel_inertia,
            com_offset=parameters.com_offset,
            viscous=parameters.viscous,
            friction=parameters.grip or inf,
            wheel_load=parameters.wheel_load or None,
        )
        self._dt = 1.0 / parameters.state_rate
        self._pace = RealTimePace(self._dt, parameters.real_time_factor)
        self.counts = dict.fromkeys(('commands', 'wrong_size', 'not_finite'), 0)
        self._changes = Changes()
        self.state = DifferentialDriveState()
        self._failure = ''
        self._states = StatePublisher(
            self, parameters.wheel_joints, parameters.base_frame, STATE_OUT
        )
        self._odometry = self.create_publisher(Odometry, 'odom', STATE_OUT)
        self._simulated_clock = SimulationClock(self, is_published=parameters.publish_clock)
        self._command_subscription = self.create_subscription(
            Float64MultiArray, COMMANDS, self._on_command, COMMAND_IN, raw=True
        )
        self._ticker = steady_timer(self, self._dt / parameters.real_time_factor, self._tick)
        self._ticker.cancel()
        self.diagnostics.add('simulation', self._report)

    def cleanup(self) -> None:
        """Take the topics away."""
        self.destroy_timer(self._ticker)
        self.destroy_subscription(self._command_subscription)
        self._states.destroy()
        self.destroy_publisher(self._odometry)
        self._simulated_clock.destroy()

    def activate(self) -> None:
        """Put the base to the origin, at rest, and let time run."""
        self.state = DifferentialDriveState()
        self._tau = np.zeros(2)
        self._failure = ''
        self._simulated_clock.start()
        self._pace.start(time.monotonic())
        self._ticker.reset()

    def deactivate(self) -> None:
        """Let time stand still."""
        self._ticker.cancel()

    def _on_command(self, message: bytes) -> None:
        try:
            values = read_command(message)
        except ValueError:
            self.note_malformed()
            return
        if len(values) != 2:
            self.counts['wrong_size'] += 1
        elif not np.isfinite(values).all():
            self.counts['not_finite'] += 1
        elif self.is_active:
            self.counts['commands'] += 1
            limit = self.parameters.effort_limit
            self._tau = np.clip(values, -limit, limit)

    def _tick(self) -> None:
        for _ in range(self._pace.due(time.monotonic())):
            if self._failure:
                return
            try:
                self.state = self.base.step(self.state, self._tau, self._dt)
            except RobotDynamicsError as error:
                self._failure = ' '.join(str(error).split())
                self.get_logger().error(f'the simulation stops: {self._failure}')
                return
            self._publish()

    def _publish(self) -> None:
        state = self.state
        stamp = self._simulated_clock.tell(state.time)
        self._states.send(
            stamp, np.array(state.wheel_angles), np.array(state.wheel_rates), self._tau
        )
        self._odometry.publish(self._odometry_message(state, stamp))

    def _odometry_message(self, state: DifferentialDriveState, stamp: int) -> Odometry:
        message = Odometry(child_frame_id=self.parameters.base_frame)
        message.header.frame_id = self.parameters.odom_frame
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 1_000_000_000)
        pose, twist = message.pose.pose, message.twist.twist
        pose.position.x, pose.position.y = state.x, state.y
        pose.orientation.z = sin(0.5 * state.heading)
        pose.orientation.w = cos(0.5 * state.heading)
        twist.linear.x, twist.angular.z = state.forward_speed, state.yaw_rate
        return message

    def _report(self) -> Report:
        grown = self._changes.take(self.counts)
        values = {
            **grown,
            'slipping': self.state.slipping,
            'late steps': self._pace.late_steps,
        }
        if self._failure:
            return Report(Level.ERROR, self._failure, values)
        dropped = grown.get('wrong_size', 0) + grown.get('not_finite', 0)
        if dropped:
            return Report(Level.WARN, f'{dropped} commands dropped', values)
        if any(self.state.slipping):
            return Report(Level.WARN, 'wheels slip', values)
        return Report(Level.OK, f'{grown.get("commands", 0)} commands', values)


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(DifferentialDriveNode, args)


if __name__ == '__main__':
    main()
