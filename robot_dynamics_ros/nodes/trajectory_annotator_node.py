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

"""Fill in the efforts of trajectories by inverse dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rclpy.serialization import deserialize_message
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.core.control.trajectory_efforts import trajectory_efforts
from robot_dynamics_ros.core.exceptions import RobotDynamicsError
from robot_dynamics_ros.ros.conversions import sequence_from_array, TrajectoryPoints
from robot_dynamics_ros.ros.diagnostics import Level, Report
from robot_dynamics_ros.ros.node_parameters import TrajectoryAnnotatorParameters
from robot_dynamics_ros.ros.qos import REFERENCE
from robot_dynamics_ros.ros.robot_node import RobotNode
from robot_dynamics_ros.ros.robot_source import friction_of
from robot_dynamics_ros.ros.running import run
from robot_dynamics_ros.ros.trajectory_reader import read_trajectory


class TrajectoryAnnotatorNode(RobotNode[TrajectoryAnnotatorParameters]):
    """Take trajectories on ``~/trajectory`` and publish them with efforts on ``~/annotated``."""

    def __init__(self, name: str = 'trajectory_annotator_node', **options: Any) -> None:
        super().__init__(name, TrajectoryAnnotatorParameters, **options)

    def configure(self) -> None:
        """Build the topics."""
        self._counts = {'annotated': 0, 'rejected': 0}
        self._rejection = ''
        self._friction = friction_of(self.parameters, self.model)
        self._publisher = self.create_publisher(JointTrajectory, '~/annotated', REFERENCE)
        self._subscription = self.create_subscription(
            JointTrajectory, '~/trajectory', self._on_trajectory, REFERENCE, raw=True
        )
        self.diagnostics.add('trajectories', self._report)

    def cleanup(self) -> None:
        """Take the topics away."""
        self.destroy_subscription(self._subscription)
        self.destroy_publisher(self._publisher)

    def _on_trajectory(self, data: bytes) -> None:
        try:
            points = read_trajectory(data)
        except ValueError:
            self.note_malformed()
            return
        # Those bytes are what they say, so that nothing worse than time is lost here.
        message = deserialize_message(data, JointTrajectory)
        if not self.is_active:
            self.get_logger().warning('not active; the trajectory is ignored')
            return
        try:
            efforts = self._efforts(points)
        except RobotDynamicsError as error:
            self._counts['rejected'] += 1
            self._rejection = ' '.join(str(error).split())
            self.get_logger().error(f'trajectory rejected: {self._rejection}')
            return
        for point, effort in zip(message.points, efforts):
            point.effort = sequence_from_array(effort)
        self._counts['annotated'] += 1
        self._rejection = ''
        self._publisher.publish(message)

    def _efforts(self, points: TrajectoryPoints) -> Any:
        model = self.model
        if self.parameters.gravity_compensated_by_hardware:
            model = model.with_gravity((0.0, 0.0, 0.0))
        efforts = trajectory_efforts(
            model,
            points.joint_names,
            points.times,
            points.positions,
            points.velocities,
            points.accelerations,
            friction=self._friction,
        )
        for name, peak in zip(points.joint_names, np.abs(efforts).max(axis=0)):
            limit = model.limits.effort[model.joint_index(name)]
            if peak > limit:
                self.get_logger().warning(
                    f'{name} needs {peak:.4g} N m or N, its limit is {limit:.4g}'
                )
        return efforts

    def _report(self) -> Report:
        if self._rejection:
            return Report(Level.WARN, f'last one rejected: {self._rejection}', self._counts)
        return Report(Level.OK, f'{self._counts["annotated"]} annotated', self._counts)


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(TrajectoryAnnotatorNode, args)


if __name__ == '__main__':
    main()
