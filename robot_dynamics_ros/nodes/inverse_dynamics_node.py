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
Follow a trajectory on model torques.

The reference is sampled at the stamp of each joint state, and the state is answered with the
torque of the chosen law. Before the first and after the last point of a reference the arm is held
there by the same law.

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import time
from typing import Any

from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.control.laws import InverseDynamicsLaw, Terms
from robot_dynamics_ros.core.control.reference_follower import ReferenceFollower
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.ros.diagnostics import Level, Report
from robot_dynamics_ros.ros.node_parameters import InverseDynamicsParameters
from robot_dynamics_ros.ros.qos import REFERENCE
from robot_dynamics_ros.ros.reference_input import ReferenceInput
from robot_dynamics_ros.ros.robot_source import continuous_joints, joint_order
from robot_dynamics_ros.ros.running import run
from robot_dynamics_ros.ros.torque_node import TorqueNode


class InverseDynamicsNode(TorqueNode[InverseDynamicsParameters, InverseDynamicsLaw]):
    """Publish the torque that follows the reference, for every joint state."""

    def __init__(self, name: str = 'inverse_dynamics_node', **options: Any) -> None:
        super().__init__(name, InverseDynamicsParameters, **options)

    def configure(self) -> None:
        """Build the law and the follower of references."""
        super().configure()
        model, parameters = self.model, self.parameters
        self.follower = ReferenceFollower(
            model.joint_names,
            model.limits,
            continuous=continuous_joints(model),
            largest_jump=parameters.reference_jump,
            stream_timeout=parameters.reference_timeout,
        )
        self.references = ReferenceInput(self.follower, self._present)
        self._reference_subscription = self.create_subscription(
            JointTrajectory, '~/reference', self._on_reference, REFERENCE, raw=True
        )
        self.diagnostics.add('reference', self._report_reference)

    def cleanup(self) -> None:
        """Take away what `configure` built."""
        self.destroy_subscription(self._reference_subscription)
        self.references.close()
        super().cleanup()

    def make_law(
        self, model: RobotModel, parameters: InverseDynamicsParameters
    ) -> InverseDynamicsLaw:
        """
        Make the law.

        Raises
        ------
        ConfigurationError
            If there are neither one nor as many gains as joints.

        """
        return InverseDynamicsLaw(
            model,
            parameters.mode,
            gravity_compensated_by_hardware=parameters.gravity_compensated_by_hardware,
            kp=self._gains('kp', parameters),
            kd=self._gains('kd', parameters),
            friction=self.friction,
        )

    def _gains(self, name: str, parameters: InverseDynamicsParameters) -> list[float] | float:
        values = getattr(parameters, name)
        order = joint_order(parameters, self.model)
        if len(values) == 1:
            return float(values[0])
        if len(values) != len(order):
            raise ConfigurationError(f'{name} has {len(values)} entries, expected {len(order)}')
        by_name = dict(zip(order, values))
        return [by_name[joint] for joint in self.model.joint_names]

    @property
    def needs_velocity(self) -> bool:
        """Whether the law has feedback."""
        return self.law.mode.has_feedback

    def begin(self) -> None:
        """Hold the arm where it is."""
        self.references.drop()
        self.follower.hold(self.buffer.q)

    def on_time_reset(self) -> None:
        """Hold the arm where it is: what was to come belongs to another time."""
        self.get_logger().warning('the time of the joint states went back; holding')
        self.references.drop()
        self.follower.hold(self.buffer.q)

    def wanted_torque(self) -> Vector:
        """Return the torque of the law at the time of the state."""
        buffer = self.buffer
        self._take_prepared()
        reference = self.follower.sample(buffer.stamp)
        return self.law.command(buffer.q, buffer.v, reference)

    def terms(self) -> Terms:
        """Return its parts."""
        buffer = self.buffer
        return self.law.terms(buffer.q, buffer.v, self.follower.sample(buffer.stamp))

    def prepare_change(self, parameters: InverseDynamicsParameters) -> Callable[[], None]:
        """Build the law for changed parameters, and take the largest jump over."""
        commit_law = super().prepare_change(parameters)

        def commit() -> None:
            commit_law()
            self.follower.largest_jump = parameters.reference_jump

        return commit

    def _on_heartbeat(self) -> None:
        super()._on_heartbeat()
        if self.is_configured:
            self._take_prepared()

    def _take_prepared(self) -> None:
        """Follow a long reference that is ready by now."""
        rejection = self.references.poll()
        if rejection:
            self._log_rejection(rejection)

    def _on_reference(self, message: bytes) -> None:
        state = self.guard.state
        if not self.is_active:
            rejection = self.references.reject('the node is not active')
        elif not state.is_up:
            rejection = self.references.reject(f'the torque is not on but {state.value}')
        else:
            rejection = self.references.take(message)
        if rejection:
            self._log_rejection(rejection)

    def _log_rejection(self, rejection: str) -> None:
        self.get_logger().error(f'reference rejected: {rejection}', throttle_duration_sec=1.0)

    def _present(self) -> float:
        """Return the present time in the time of the stamps [s]."""
        since = time.monotonic() - self._received
        return self.buffer.stamp + min(since, self.parameters.state_timeout)

    def _report_reference(self) -> Report:
        references = self.references
        values = {
            'kind': self.follower.kind,
            'accepted': references.accepted,
            'rejected': references.rejected,
        }
        if references.rejection:
            message = f'last reference rejected: {references.rejection}'
            return Report(Level.WARN, message, values)
        return Report(Level.OK, self.follower.kind, values)


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(InverseDynamicsNode, args)


if __name__ == '__main__':
    main()
