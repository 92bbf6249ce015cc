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
Compare the model with Pinocchio in the states that the robot is in.

The comparison at configuration takes random states. This one goes on while the robot runs, at a
low rate, in a process of its own: every quantity of dynamics and kinematics, at the newest joint
state. It commands nothing; what it finds is in the diagnostics.

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
import time
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.control.joint_state_buffer import JointStateBuffer
from robot_dynamics_ros.core.exceptions import RobotDynamicsError
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.ros.diagnostics import Changes, Level, Report
from robot_dynamics_ros.ros.node_parameters import MonitorParameters
from robot_dynamics_ros.ros.qos import STATE_IN
from robot_dynamics_ros.ros.robot_node import RobotNode
from robot_dynamics_ros.ros.robot_source import continuous_joints
from robot_dynamics_ros.ros.running import run
from robot_dynamics_ros.ros.serialized import JointStateReader
from robot_dynamics_ros.ros.timers import steady_timer
from robot_dynamics_ros.ros.torque_report import state_report

LARGEST = 1e6
"""Velocities [rad/s | m/s] and efforts [N m | N] beyond it are cut off at it."""


class MonitorNode(RobotNode[MonitorParameters]):
    """Report whether our solver and Pinocchio agree where the robot is."""

    def __init__(self, name: str = 'monitor_node', **options: Any) -> None:
        super().__init__(name, MonitorParameters, **options)

    def configure(self) -> None:
        """
        Build comparison and topics.

        Raises
        ------
        ConfigurationError
            If Pinocchio is missing or cannot build the robot.

        """
        model = self.model
        self._live = _live_crosscheck(model)
        self._found = Report(Level.OK, 'no state was compared yet')
        self._states = self._failures = 0
        self._compared_at = inf
        self._reader = JointStateReader()
        self._buffer = JointStateBuffer(
            model.joint_names,
            continuous=continuous_joints(model),
            timeout=self.parameters.state_timeout,
        )
        self._counts = Changes()
        self._subscription = self.create_subscription(
            JointState, 'joint_states', self._on_joint_state, STATE_IN, raw=True
        )
        self._timer = steady_timer(self, 1.0 / self.parameters.rate, self._compare)
        self.diagnostics.add('live cross-check', self._report)
        self.diagnostics.add('joint states', self._report_states)

    def cleanup(self) -> None:
        """Take away what `configure` built."""
        self.destroy_timer(self._timer)
        self.destroy_subscription(self._subscription)

    def prepare_change(self, parameters: MonitorParameters) -> Callable[[], None]:
        """
        Compare with another payload from now on.

        Raises
        ------
        ConfigurationError
            If Pinocchio cannot build the robot with it.

        """
        model = self.model_for(parameters)
        live = self._live if model is self.model else _live_crosscheck(model)

        def commit() -> None:
            self.model, self._live = model, live

        return commit

    def _on_joint_state(self, message: bytes) -> None:
        reader = self._reader
        if not reader.read(message):
            self.note_malformed()
            return
        self._buffer.update(
            reader.names,
            reader.stamp,
            reader.position,
            reader.velocity,
            reader.effort,
            time.monotonic(),
        )

    def _compare(self) -> None:
        """Compare the newest state, unless it is missing or old."""
        buffer = self._buffer
        if not self.is_active or buffer.age(time.monotonic()) > self.parameters.state_timeout:
            return
        try:
            found = self._live.step(buffer.q, _finite(buffer.v), _finite(buffer.effort))
        except RobotDynamicsError as err:  # numbers that no robot has overflow
            self.get_logger().warning(f'state left out: {err}', throttle_duration_sec=10.0)
            return
        self._states += 1
        self._compared_at = time.monotonic()
        if found.ok:
            if not self._failures:
                self._found = Report(Level.OK, found.summary)
            return
        self._failures += 1
        self._found = Report(Level.ERROR, found.summary, {'position': buffer.q.tolist()})
        self.get_logger().error(found.summary, throttle_duration_sec=10.0)

    def _report(self) -> Report:
        """Return what was found, and say if it is of old: states have ceased to come."""
        level, message, values = self._found
        age = time.monotonic() - self._compared_at
        if age > self.parameters.state_timeout + 1.0 / self.parameters.rate:
            level = Level.STALE if level is Level.OK else level
            message = f'stale, of {age:.0f} s ago: {message}'
        counts = {'states compared': self._states, 'states that differ': self._failures}
        return Report(level, message, {**counts, **values})

    def _report_states(self) -> Report:
        silent = self._buffer.silent_joints(time.monotonic(), self.parameters.state_timeout)
        return state_report(self._buffer, self._counts, silent)


def _finite(values: Vector) -> Vector:
    """Return the values, those that are missing as zero, and none that overflows later."""
    return np.clip(np.nan_to_num(values), -LARGEST, LARGEST)


def _live_crosscheck(model: RobotModel) -> Any:
    """Return a `LiveCrosscheck`, which needs Pinocchio."""
    from robot_dynamics_ros.crosscheck.live import LiveCrosscheck

    return LiveCrosscheck(model)


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(MonitorNode, args)


if __name__ == '__main__':
    main()
