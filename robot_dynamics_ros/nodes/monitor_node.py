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
import time
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState

from robot_dynamics_ros.core.control.joint_state_buffer import JointStateBuffer
from robot_dynamics_ros.ros.diagnostics import Changes, Level, Report
from robot_dynamics_ros.ros.node_parameters import MonitorParameters
from robot_dynamics_ros.ros.qos import STATE_IN
from robot_dynamics_ros.ros.robot_node import RobotNode
from robot_dynamics_ros.ros.robot_source import continuous_joints
from robot_dynamics_ros.ros.running import run
from robot_dynamics_ros.ros.serialized import JointStateReader
from robot_dynamics_ros.ros.timers import steady_timer
from robot_dynamics_ros.ros.torque_report import state_report


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
        from robot_dynamics_ros.crosscheck.live import LiveCrosscheck

        model = self.model
        self._live = LiveCrosscheck(model)
        self._report = Report(Level.OK, 'no state was compared yet')
        self._failures = 0
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
        self.diagnostics.add('live cross-check', lambda: self._report)
        self.diagnostics.add('joint states', self._report_states)

    def prepare_change(self, parameters: MonitorParameters) -> Callable[[], None]:
        """Build the comparison for changed parameters; what is returned puts it to use."""
        from robot_dynamics_ros.crosscheck.live import LiveCrosscheck

        model = self.model_for(parameters)
        live = self._live if model is self.model else LiveCrosscheck(model)

        def commit() -> None:
            self.model, self._live = model, live

        return commit

    def cleanup(self) -> None:
        """Take away what `configure` built."""
        self.destroy_timer(self._timer)
        self.destroy_subscription(self._subscription)

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
        v, tau = np.nan_to_num(buffer.v), np.nan_to_num(buffer.effort)
        found = self._live.step(buffer.q, v, tau)
        values: dict[str, Any] = {
            'states compared': self._live.states,
            'states that differ': self._failures,
        }
        if found.ok:
            if not self._failures:
                self._report = Report(Level.OK, found.summary, values)
            return
        self._failures += 1
        values['states that differ'] = self._failures
        values['position'] = buffer.q.tolist()
        self._report = Report(Level.ERROR, found.summary, values)
        self.get_logger().error(found.summary, throttle_duration_sec=10.0)

    def _report_states(self) -> Report:
        silent = self._buffer.silent_joints(time.monotonic(), self.parameters.state_timeout)
        return state_report(self._buffer, self._counts, silent)


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(MonitorNode, args)


if __name__ == '__main__':
    main()
