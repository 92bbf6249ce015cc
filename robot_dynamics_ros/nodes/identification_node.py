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
Keep friction, payload and base parameters up to date while the robot moves.

Every joint state goes through the filters of the identification; now and then one becomes an
equation, from which friction and bodies are learnt where the motion allows it. The estimates go
out with their variances. Nothing is commanded, and no control node takes an estimate unless its
own parameters say so.

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
import time
from typing import Any

from builtin_interfaces.msg import Time
import numpy as np
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.control.joint_state_buffer import JointStateBuffer, UpdateOutcome
from robot_dynamics_ros.core.control.stamp_resets import StampResets
from robot_dynamics_ros.core.exceptions import ConfigurationError, OutputError
from robot_dynamics_ros.core.identification.online.excitation_gate import RowState
from robot_dynamics_ros.core.identification.online.friction_terms import (
    friction_terms,
    static_terms,
)
from robot_dynamics_ros.core.identification.online.online_identification import OnlineReport
from robot_dynamics_ros.core.identification.online.online_result import online_result
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.report.atomic import is_filled_directory
from robot_dynamics_ros.report.online_results import write_online_results
from robot_dynamics_ros.ros.cdr import read_command
from robot_dynamics_ros.ros.conversions import time_from_seconds
from robot_dynamics_ros.ros.diagnostics import Changes, Level, Report
from robot_dynamics_ros.ros.estimate_messages import joint_efforts, named_values
from robot_dynamics_ros.ros.external_contact import ExternalContact
from robot_dynamics_ros.ros.health_report import health_report
from robot_dynamics_ros.ros.identification_services import IdentificationServices
from robot_dynamics_ros.ros.identification_setup import identification_setup, output_folder
from robot_dynamics_ros.ros.node_parameters import IdentificationParameters
from robot_dynamics_ros.ros.payload_output import PayloadOutput
from robot_dynamics_ros.ros.publisher_report import publishers_of
from robot_dynamics_ros.ros.qos import COMMAND_IN, STATE_IN, TORQUES
from robot_dynamics_ros.ros.robot_node import RobotNode
from robot_dynamics_ros.ros.robot_source import (
    continuous_joints,
    description_text,
    joint_order,
    payload_values,
)
from robot_dynamics_ros.ros.running import run
from robot_dynamics_ros.ros.saved_state import SavedState
from robot_dynamics_ros.ros.serialized import JointStateReader
from robot_dynamics_ros.ros.timers import steady_timer
from robot_dynamics_ros.ros.torque_publishers import COMMAND_TOPIC
from robot_dynamics_ros.ros.torque_report import state_report
from robot_dynamics_ros.ros.torque_settings import in_model_order, stated_effort


class IdentificationNode(RobotNode[IdentificationParameters]):
    """Publish estimates of friction, payload and base parameters."""

    def __init__(self, name: str = 'identification_node', **options: Any) -> None:
        super().__init__(name, IdentificationParameters, **options)

    def configure(self) -> None:
        """
        Build estimators and topics, and go on from a saved state if it fits.

        Raises
        ------
        RobotDynamicsError
            If a file or a parameter does not fit the robot.

        """
        parameters, model = self.parameters, self.model
        self._robot = model.with_payload(None)
        self._urdf = description_text(parameters, self.description)
        setup = identification_setup(parameters, self._robot)
        self.running, self._prior_weight = setup.running, setup.prior_weight
        self._offline_error, self._warning = setup.offline_error, setup.warning
        self._output = output_folder(parameters)
        self._saved_state = SavedState(parameters.state_file, self.running, self.get_logger())
        self._effort = stated_effort(parameters.effort_semantics, parameters, model)
        self._zero = np.zeros(model.nv)
        signs = in_model_order(parameters, model, parameters.effort_signs)
        self._signs = np.array(signs or np.ones(model.nv))
        self._last: OnlineReport | None = None
        self._resets = StampResets()
        self._rows, self._counts = 0, Changes()
        self._reader = JointStateReader()
        self.buffer = JointStateBuffer(
            model.joint_names,
            continuous=continuous_joints(model),
            timeout=parameters.state_timeout,
            max_speed=in_model_order(parameters, model, parameters.max_joint_speed) or None,
        )
        self._make_topics()
        self.diagnostics.add('identification', self._report_identification)
        self.diagnostics.add('model health', self._report_health)
        self.diagnostics.add('joint states', self._report_states)

    def _make_topics(self) -> None:
        parameters, model = self.parameters, self.model
        self._command: Vector | None = None
        self._command_at = -inf
        self._from_model = [
            joint_order(parameters, model).index(name) for name in model.joint_names
        ]
        self._state_subscription = self.create_subscription(
            JointState, 'joint_states', self._on_joint_state, STATE_IN, raw=True
        )
        self._others = [self._state_subscription]
        if parameters.effort_source == 'commands':
            self._others.append(
                self.create_subscription(
                    Float64MultiArray, COMMAND_TOPIC, self._on_command, COMMAND_IN, raw=True
                )
            )
        self._contact = ExternalContact(self, self._robot)
        self._outputs = {
            name: self.create_publisher(JointState, f'~/{name}', TORQUES)
            for name in ('friction', 'parameters', 'residual')
        }
        self._payload_output = PayloadOutput(self)
        self._switches = IdentificationServices(self)
        self._timers_of_node = [
            steady_timer(self, 1.0 / parameters.publish_rate, self._publish_friction),
            steady_timer(self, 1.0, self._publish_parameters),
            steady_timer(self, parameters.state_period, self._keep_state),
        ]

    def cleanup(self) -> None:
        """Keep what was learnt, and take away what `configure` built."""
        self._keep_state()
        for timer in self._timers_of_node:
            self.destroy_timer(timer)
        for subscription in self._others:
            self.destroy_subscription(subscription)
        for publisher in self._outputs.values():
            self.destroy_publisher(publisher)
        self._payload_output.destroy()
        self._contact.destroy()
        self._switches.destroy()

    def deactivate(self) -> None:
        """Keep what was learnt; withdraw it, since it is no longer kept up to date."""
        self._outputs['friction'].publish(JointState())
        self._payload_output.withdraw()
        self._keep_state()

    def prepare_change(self, parameters: IdentificationParameters) -> Callable[[], None]:
        """
        Refuse what cannot be changed while estimates stand on it.

        Raises
        ------
        ConfigurationError
            If the payload is another one.

        """
        if payload_values(parameters) != payload_values(self.parameters):
            raise ConfigurationError(
                'payload.* is where the estimates began: clean the node up and configure it again '
                'to begin from another payload'
            )
        return super().prepare_change(parameters)

    @property
    def direct_subscription(self) -> Subscription | None:
        """Return that of the joint states."""
        return self._state_subscription if self.is_configured else None

    # What the services ask for.

    def learn(self, is_on: bool) -> tuple[bool, str]:
        """Learn, or keep every estimate as it is, bit by bit; return whether that is so now."""
        self.running.freeze(not is_on)
        if not is_on:
            return True, 'frozen'
        if not self.is_active:
            return False, 'not learning: the node is not active'
        refusal = self.running.refusal
        if refusal:
            return not self.running.semantics.faults, f'not learning yet: {refusal}'
        return True, 'learning'

    def begin_again(self) -> str:
        """Go back to where the node began without a saved state."""
        self.running.reset()
        return 'back at the start'

    def save(self) -> str:
        """
        Write the files of an identification.

        Raises
        ------
        OutputError
            If there is no place for them, or the model may not be used.
        UrdfError
            If the description cannot be rewritten.

        """
        folder, may_replace = self._output, self.parameters.overwrite
        if folder is None:
            raise OutputError('output_directory is not set')
        if self.running.semantics.faults or not self.running.is_friction_known:
            reason = self.running.refusal or 'the joints have not moved long enough'
            raise OutputError(f'not written: {reason}')
        if not may_replace and is_filled_directory(folder):
            raise OutputError(
                f'output_directory {folder} has something in it: name another one, or set '
                'overwrite to true'
            )
        result = online_result(self.running.online, self._prior_weight)
        names = write_online_results(
            folder,
            self.running.online,
            result,
            self._urdf,
            self.running.health(),
            prior_weight=self._prior_weight,
            overwrite=may_replace,
        )
        return f'{folder}: {", ".join(names)}'

    # From states to estimates.

    def _on_joint_state(self, message: bytes) -> None:
        reader, now = self._reader, time.monotonic()
        if not reader.read(message):
            self.note_malformed()
            return
        before = self.buffer.stamp
        outcome = self.buffer.update(
            reader.names, reader.stamp, reader.position, (), reader.effort, now
        )
        if outcome is UpdateOutcome.TIME_RESET:
            self._resets.note(before, reader.stamp, now)
        if not outcome.is_accepted or not self.is_active or self._resets.are_mixed(now):
            return
        if self._resets.take():
            self.running.forget_motion()
        if self._is_stale:
            return  # of a joint that is silent
        effort = self._measured()
        if effort is None or not self.buffer.is_complete:
            return
        tau = self._signs * self._effort.torque(effort, self._zero)
        pushed = self._contact.efforts(self.buffer.q, now)
        report, change = self.running.step(
            self.buffer.stamp,
            self.buffer.q,
            tau if pushed is None else tau + pushed,
            in_contact=self._contact.is_told(now),
        )
        if change is not None:
            self.get_logger().info(change.sentence)
        if report is not None:
            self._take(report)

    def _measured(self) -> Vector | None:
        """Return the efforts of the joints in the order of the model, if they are known."""
        if self.parameters.effort_source == 'commands':
            is_fresh = time.monotonic() - self._command_at <= self.parameters.state_timeout
            return self._command if is_fresh else None
        return self.buffer.effort if self.buffer.has_effort else None

    def _on_command(self, message: bytes) -> None:
        try:
            command = read_command(message)
        except ValueError:
            self.note_malformed()
            return
        if len(command) == len(self._from_model) and np.isfinite(command).all():
            self._command, self._command_at = command[self._from_model], time.monotonic()

    def _take(self, report: OnlineReport) -> None:
        self._last, self._rows = report, self._rows + 1
        stamp = time_from_seconds(max(0.0, report.row.stamp))
        names = self.model.v_names
        self._outputs['residual'].publish(joint_efforts(names, report.residual, stamp))

    # From estimates to topics and files.

    def _publish_friction(self) -> None:
        if not self.is_active or not self._rows or not self.running.is_friction_known:
            return
        if self.running.semantics.faults:
            self._outputs['friction'].publish(JointState())  # withdrawn
            return
        found = friction_terms(self.running.online.friction)
        self._outputs['friction'].publish(named_values(*found, self._now()))

    def _publish_parameters(self) -> None:
        if not self.is_active or not self._rows:
            return
        self._publish_payload()
        base, start = self.running.online.base, self.running.online.start
        slow = static_terms(self.running.online.friction)
        self._outputs['parameters'].publish(
            named_values(
                (*start.model.base.base_names, *slow.names),
                np.append(base.estimate, slow.values),
                np.append(base.deviations**2, slow.variances),
                np.append(start.base, slow.start),
                self._now(),
            )
        )

    def _publish_payload(self) -> None:
        """Say what the arm carries, again and again, once it is known."""
        running = self.running
        if running.semantics.faults:
            self._payload_output.withdraw()
        elif running.watch is not None and not self._is_stale:
            payload = None
            if running.is_payload_known:
                payload = running.payload or Payload(0.0, self.parameters.payload_frame)
            self._payload_output.tell(payload)

    @property
    def _is_stale(self) -> bool:
        return self.buffer.age(time.monotonic()) > self.parameters.state_timeout

    def _now(self) -> Time:
        return self.get_clock().now().to_msg()

    def _keep_state(self) -> None:
        if self._rows:
            self._saved_state.keep()

    def _report_identification(self) -> Report:
        online, motion = self.running.online, self.running.online.rows.motion
        refusal = self.running.refusal
        values: dict[str, Any] = {
            'start': self._saved_state.message,
            'equations': self._rows,
            'learning': refusal or 'yes',
            'gaps': motion.gaps,
            'stamps refused': motion.refused,
            'states not finite': online.refused,
            'wrenches dropped': self._contact.dropped,
        }
        slow = motion.slowness
        if slow:
            return Report(Level.ERROR, f'nothing is learnt: {slow}', values)
        if self._payload_output.silence:
            values['payload'] = self._payload_output.silence
        if self._last is None:
            return Report(Level.WARN, 'no equation yet: the filters have to settle', values)
        for name, state, changes in zip(
            self.model.v_names, self._last.use.states.tolist(), online.friction.changes.tolist()
        ):
            values[f'{name} now'] = RowState(state).name.lower()
            values[f'{name} friction changes'] = changes
        for name, fit in zip(self.model.v_names, online.friction.fits):
            values[f'{name} friction'] = fit.state.name.lower()
        if self.running.changes:
            values['last change'] = self.running.changes[-1].sentence
        if self.running.semantics.faults:
            return Report(Level.ERROR, f'nothing is learnt: {refusal}', values)
        is_calm = not refusal or online.is_frozen
        return Report(Level.OK if is_calm else Level.WARN, refusal or 'learning', values)

    def _report_health(self) -> Report:
        return health_report(self.running.health(), self._offline_error, self._warning)

    def _report_states(self) -> Report:
        silent = self.buffer.silent_joints(time.monotonic(), self.parameters.state_timeout)
        report = state_report(self.buffer, self._counts, silent, self._effort)
        mixed = self._resets.sentence(time.monotonic())
        if mixed:
            sources = publishers_of(self, self._state_subscription.topic_name)
            return Report(Level.ERROR, f'{mixed}, from {sources}', report.values)
        if report.level is Level.OK and self._measured() is None:
            return Report(Level.ERROR, 'the joint states have no efforts', report.values)
        return report


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(IdentificationNode, args)


if __name__ == '__main__':
    main()
