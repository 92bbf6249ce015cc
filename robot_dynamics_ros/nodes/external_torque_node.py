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
Tell the external torque of every joint, the wrench at a frame, and whether the robot is touched.

Every joint state with efforts is set against the model: what changes the momentum and is not in
the model is external. Nothing is published without an estimate: not from states that lack
something, nor after a gap until the observer has settled; nor on ``~/contact`` without thresholds.
They are learnt from a motion without contact: ``~/learn`` with true begins, with false ends, keeps
and writes them. Payload and friction may come over topics, as far as the parameters allow it.

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
import time
from typing import Any

from geometry_msgs.msg import WrenchStamped
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import SetBool

from robot_dynamics_ros.core.control.joint_state_buffer import JointStateBuffer, UpdateOutcome
from robot_dynamics_ros.core.control.online_friction import OnlineFriction
from robot_dynamics_ros.core.control.payload_limits import require_bearable
from robot_dynamics_ros.core.exceptions import ConfigurationError, RobotDynamicsError
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.ros.diagnostics import Changes, Level, Report
from robot_dynamics_ros.ros.external_torque_parts import (
    base_frame,
    contact_monitor,
    contact_report,
    learning_conditions,
    observed_friction,
    require_writable_thresholds,
    thresholds_path,
    wrench_report,
)
from robot_dynamics_ros.ros.model_updates import ModelUpdates
from robot_dynamics_ros.ros.node_parameters import ExternalTorqueParameters
from robot_dynamics_ros.ros.qos import STATE_IN, TORQUES
from robot_dynamics_ros.ros.robot_node import RobotNode
from robot_dynamics_ros.ros.robot_source import continuous_joints
from robot_dynamics_ros.ros.running import run
from robot_dynamics_ros.ros.serialized import JointStateReader, JointStateTemplate
from robot_dynamics_ros.ros.torque_report import state_report
from robot_dynamics_ros.ros.torque_settings import in_model_order


class ExternalTorqueNode(RobotNode[ExternalTorqueParameters]):
    """Publish external torques, wrench and contact for every joint state."""

    def __init__(self, name: str = 'external_torque_node', **options: Any) -> None:
        super().__init__(name, ExternalTorqueParameters, **options)

    def configure(self) -> None:
        """Build the monitor and the topics."""
        model, parameters = self.model, self.parameters
        self.monitor = contact_monitor(parameters, model)
        self.friction = observed_friction(parameters, model)
        self._friction_values = None if self.friction is None else self.friction.values
        if not self.monitor.has_thresholds:
            self.get_logger().warning('no thresholds yet: no contact is found before ~/learn')
        kept = self.monitor.detector.thresholds
        if kept is not None and not kept.conditions:
            self.get_logger().warning(
                'thresholds_file does not say for which robot, payload and settings it was '
                'learnt: nobody can tell whether it fits; ~/learn writes one that does'
            )
        self.buffer = JointStateBuffer(
            model.joint_names,
            continuous=continuous_joints(model),
            timeout=parameters.state_timeout,
            max_speed=in_model_order(parameters, model, parameters.max_joint_speed) or None,
        )
        self._reader = JointStateReader()
        self._state_counts, self._dropped_counts = Changes(), Changes()
        self.dropped = {'incomplete': 0, 'without velocity': 0, 'without effort': 0}
        self._torques = JointStateTemplate(
            model.joint_names, has_position=False, has_velocity=False
        )
        is_local = parameters.wrench_expressed_in == 'frame'
        self._wrench_frame = parameters.frame if is_local else base_frame(model)
        self._torque_publisher = self.create_publisher(JointState, '~/external_torques', TORQUES)
        self._wrench_publisher = self.create_publisher(WrenchStamped, '~/wrench', TORQUES)
        self._contact_publisher = self.create_publisher(Bool, '~/contact', TORQUES)
        self._subscription = self.create_subscription(
            JointState, 'joint_states', self._on_state, STATE_IN, raw=True
        )
        self._service = self.create_service(SetBool, '~/learn', self._on_learn)
        self._updates = ModelUpdates(self)
        self.diagnostics.add('contact', self._report_contact)
        self.diagnostics.add('wrench', lambda: wrench_report(self.monitor))
        self.diagnostics.add('joint states', self._report_states)
        self.diagnostics.add('model updates', self._updates.report)

    def cleanup(self) -> None:
        """Take away what `configure` built."""
        self.destroy_subscription(self._subscription)
        self.destroy_service(self._service)
        self._updates.destroy()
        for publisher in (
            self._torque_publisher,
            self._wrench_publisher,
            self._contact_publisher,
        ):
            self.destroy_publisher(publisher)

    def deactivate(self) -> None:
        """Stop to publish; what is being learnt is given up."""
        self.monitor.cancel_learning()
        self.monitor.reset()

    def prepare_change(self, parameters: ExternalTorqueParameters) -> Callable[[], None]:
        """
        Take a changed payload.

        Raises
        ------
        ConfigurationError
            If the drives could not hold it.

        """
        return self._change_to(self.model_for(parameters))

    def change_model(self, model: RobotModel) -> None:
        """
        Go on with another model, gliding.

        Raises
        ------
        ConfigurationError
            If the drives could not hold its payload.

        """
        self._change_to(model)()

    def _change_to(self, model: RobotModel) -> Callable[[], None]:
        q = self.buffer.q if self.buffer.is_complete else None
        require_bearable(model, self.model, np.array(model.limits.effort), q)

        def commit() -> None:
            if model is not self.model:
                self.model = model
                self.monitor.change_model(model, self.parameters.glide_time)

        return commit

    def _follow_friction(self, friction: OnlineFriction, now: float) -> None:
        friction.step(now)
        values = friction.values
        if not np.array_equal(values, self._friction_values):
            self._friction_values = values
            self.monitor.follow_friction(values)

    def _on_heartbeat(self) -> None:
        super()._on_heartbeat()
        if self.is_configured:
            self._updates.watch(time.monotonic())

    def _on_state(self, message: bytes) -> None:
        state, buffer = self._reader, self.buffer
        if not state.read(message):
            self.note_malformed()
            return
        now = time.monotonic()
        outcome = buffer.update(
            state.names, state.stamp, state.position, state.velocity, state.effort, now
        )
        if not (outcome.is_accepted and self.is_active):
            return
        if outcome is UpdateOutcome.TIME_RESET:
            self.monitor.reset()
        missing = self._missing(now)
        if missing:
            self.dropped[missing] += 1
            return
        if self.friction is not None:
            self._follow_friction(self.friction, now)
        contacts = self.monitor.detector.count
        if self.monitor.step(buffer.stamp, buffer.q, buffer.v, buffer.effort):
            self._publish(state.sec, state.nanosec)
        if self.monitor.detector.count > contacts:
            self.diagnostics.publish()  # a short contact would not last until the next report

    def _missing(self, now: float) -> str:
        """Return what the newest state lacks, empty for nothing."""
        if self.buffer.age(now) > 0.0:  # joints that are not in this message
            return 'incomplete'
        if not self.buffer.has_velocity:
            return 'without velocity'
        return '' if self.buffer.has_effort else 'without effort'

    def _publish(self, sec: int, nanosec: int) -> None:
        monitor = self.monitor
        self._torques.effort[:] = monitor.observer.tau_ext
        self._torques.set_stamp(sec, nanosec)
        self._torque_publisher.publish(bytes(self._torques))
        if monitor.has_thresholds:
            self._contact_publisher.publish(Bool(data=monitor.detector.is_contact))
        if monitor.solver is not None and self._wrench_publisher.get_subscription_count() > 0:
            wrench = monitor.wrench().tolist()
            message = WrenchStamped()
            message.header.stamp.sec, message.header.stamp.nanosec = sec, nanosec
            message.header.frame_id = self._wrench_frame
            force, torque = message.wrench.force, message.wrench.torque
            force.x, force.y, force.z, torque.x, torque.y, torque.z = wrench
            self._wrench_publisher.publish(message)

    def _on_learn(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        try:
            response.message = self._start_learning() if request.data else self._end_learning()
            response.success = True
        except RobotDynamicsError as error:
            response.message = ' '.join(str(error).split())
            self.get_logger().warning(response.message)
        return response

    def _start_learning(self) -> str:
        if not self.is_active:
            raise ConfigurationError('the node is not active: activate it, then learn')
        require_writable_thresholds(self.parameters)
        self.monitor.start_learning()
        return 'learning: move the robot as later in service, untouched, for some minutes'

    def _end_learning(self) -> str:
        thresholds = replace(
            self.monitor.learnt_thresholds(self.parameters.threshold_margin),
            conditions=learning_conditions(self.parameters, self.monitor.model),
        )
        where = 'kept in memory only, as thresholds_file is not set'
        path = thresholds_path(self.parameters)
        if path is not None:
            thresholds.write(path, overwrite=self.parameters.overwrite_thresholds)
            where = f'written to {path}'
        self.monitor.finish_learning(thresholds)
        self.get_logger().info(f'thresholds learnt, {where}')
        return f'thresholds learnt, {where}'

    def _silent(self) -> tuple[str, ...]:
        return self.buffer.silent_joints(time.monotonic(), self.parameters.state_timeout)

    def _report_contact(self) -> Report:
        if self._silent():
            self.monitor.reset()  # what was found is no longer true
        return contact_report(self.monitor)

    def _report_states(self) -> Report:
        silent = self._silent()
        report = state_report(self.buffer, self._state_counts, silent)
        report = report._replace(values={**report.values, **self.dropped})
        grown = self._dropped_counts.take(self.dropped)
        if report.level is Level.OK and any(grown.values()):
            text = ', '.join(f'{count} {kind}' for kind, count in grown.items() if count)
            return report._replace(level=Level.WARN, message=f'messages not used: {text}')
        return report


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(ExternalTorqueNode, args)


if __name__ == '__main__':
    main()
