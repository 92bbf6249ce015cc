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
What the nodes that command torque have in common: states in, guarded torque out.

The command is made in the callback of the joint states, on the newest one, and goes out before
anything else is done. A timer on a steady clock watches for states that do not come; then it takes
over and ramps the torque down. While states come it fires only once per ``state_timeout``.

"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
import time
import traceback
from typing import Generic, TypeVar

from geometry_msgs.msg import InertiaStamped
import numpy as np
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.control.guard_state import GuardResult, GuardState
from robot_dynamics_ros.core.control.joint_state_buffer import JointStateBuffer, UpdateOutcome
from robot_dynamics_ros.core.control.laws import (
    GravityCompensationLaw,
    InverseDynamicsLaw,
    Terms,
)
from robot_dynamics_ros.core.control.torque_guard import TorqueGuard
from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.exceptions import (
    ArmingRefusedError,
    RobotDynamicsError,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.ros.cdr import read_command
from robot_dynamics_ros.ros.controller_check import ControllerCheck
from robot_dynamics_ros.ros.conversions import payload_from_bytes
from robot_dynamics_ros.ros.diagnostics import (
    Changes,
    CollectorPauses,
    LoopStatistics,
    Report,
)
from robot_dynamics_ros.ros.publisher_report import PublisherReport
from robot_dynamics_ros.ros.qos import COMMAND_IN, LATCHED, STATE_IN
from robot_dynamics_ros.ros.realtime import apply_scheduling, Scheduling
from robot_dynamics_ros.ros.robot_node import RobotNode
from robot_dynamics_ros.ros.robot_parameters import TorqueParameters
from robot_dynamics_ros.ros.robot_source import (
    continuous_joints,
    friction_of,
    joint_order,
)
from robot_dynamics_ros.ros.serialized import JointStateReader, RMW_ERROR
from robot_dynamics_ros.ros.timers import steady_timer
from robot_dynamics_ros.ros.torque_publishers import COMMAND_TOPIC, TorquePublishers
from robot_dynamics_ros.ros.torque_report import state_report, torque_report
from robot_dynamics_ros.ros.torque_self_test import TorqueSelfTest
from robot_dynamics_ros.ros.torque_services import TorqueServices
from robot_dynamics_ros.ros.torque_settings import (
    guard_settings,
    in_model_order,
    LONGEST_RAMP_DOWN,
    measured_effort,
)

TorqueParametersT = TypeVar('TorqueParametersT', bound=TorqueParameters)
LawT = TypeVar('LawT', bound=InverseDynamicsLaw | GravityCompensationLaw)

RAMP_PERIOD = 0.005
"""Period of commands while states are missing [s]."""

_STATE_GAP = 0.02
"""Time without a state after which the ramp down goes on without it [s]."""

_HANG = 0.1
"""Pause of the loop beyond the timeout of the states that is a fault [s]."""

_RECENT = 1.0
"""
Age of a command of somebody else up to which the robot is certainly under it [s].

An older one may have been given when no controller ran; if one does and keeps it, the watchdog
brings it down.

"""

_NO_VELOCITY: tuple[float, ...] = ()


class TorqueNode(RobotNode[TorqueParametersT], Generic[TorqueParametersT, LawT]):
    """
    A node that turns joint states into guarded torques.

    A node of this kind overrides `make_law`, `wanted_torque`, `terms` and `needs_velocity`.

    """

    law: LawT

    def configure(self) -> None:
        """Build buffer, guard, law and topics."""
        model, parameters = self.model, self.parameters
        order = joint_order(parameters, model)
        self.get_logger().info(f'commands are in the order {", ".join(order)}')
        self.buffer = JointStateBuffer(
            model.joint_names,
            continuous=continuous_joints(model),
            timeout=parameters.state_timeout,
            max_speed=in_model_order(parameters, model, parameters.max_joint_speed) or None,
            velocity_time_constant=parameters.velocity_time_constant,
        )
        self.guard = TorqueGuard(guard_settings(parameters, model))
        self.friction = friction_of(parameters, model)
        self.law = self.make_law(model, parameters)
        self._effort = measured_effort(parameters, model)
        self.self_test = TorqueSelfTest(
            model,
            self._effort,
            gravity_compensated_by_hardware=parameters.gravity_compensated_by_hardware,
        )
        self._reader = JointStateReader()
        self._stamp = (0, 0)
        self._received = -inf
        self._last_command = -inf
        self._longest_pause = _HANG + parameters.state_timeout
        self._heard, self._heard_at = b'', -inf
        self._ignores_velocity = parameters.velocity_source == 'estimated'
        self._statistics = LoopStatistics(parameters.deadline)
        self._limit_counts, self._state_counts = Changes(), Changes()
        self._message = ''
        self._outputs = TorquePublishers(self, model.joint_names, order)
        self._state_subscription = self.create_subscription(
            JointState, 'joint_states', self._on_joint_state, STATE_IN, raw=True
        )
        self._echo = self.create_subscription(
            Float64MultiArray, COMMAND_TOPIC, self._on_echo, COMMAND_IN, raw=True
        )
        self._payload_subscription = self.create_subscription(
            InertiaStamped, '~/payload', self._on_payload, LATCHED, raw=True
        )
        self._watchdog = steady_timer(self, parameters.state_timeout, self._watch)
        self._switches = TorqueServices(self)
        self._controller = ControllerCheck(self, self._outputs.topic, order)
        # These reach beyond the node: so after all that may be refused.
        self._restore_scheduling = apply_scheduling(
            Scheduling(
                parameters.realtime_priority,
                parameters.realtime_cpus,
                parameters.realtime_lock_memory,
            )
        )
        self._pauses = CollectorPauses()
        self.diagnostics.add('torque', self._report_torque)
        self.diagnostics.add('joint states', self._report_states)
        self.diagnostics.add('controller', self._report_controller)
        self.diagnostics.add('publishers', PublisherReport(self, COMMAND_TOPIC, 'joint_states'))

    def cleanup(self) -> None:
        """Take away what `configure` built."""
        self.destroy_subscription(self._state_subscription)
        self.destroy_subscription(self._payload_subscription)
        self.destroy_timer(self._watchdog)
        self._pauses.close()
        self.destroy_subscription(self._echo)
        self._restore_scheduling()
        self._controller.destroy()
        self._switches.destroy()
        self._outputs.destroy()

    @property
    def unpolled_subscription(self) -> Subscription | None:
        """Return that of the commands, own ones and those of others."""
        return self._echo if self.is_configured else None

    @property
    def direct_subscription(self) -> Subscription | None:
        """Return that of the joint states."""
        return self._state_subscription if self.is_configured else None

    # What a node of this kind overrides.

    def make_law(self, model: RobotModel, parameters: TorqueParametersT) -> LawT:
        """Make the control law on `model`."""
        raise NotImplementedError

    def wanted_torque(self) -> Vector:
        """Return the torque of the law for the state in `buffer`, shape (n,) [N m | N]."""
        raise NotImplementedError

    def terms(self) -> Terms:
        """Return the parts of the same torque."""
        raise NotImplementedError

    @property
    def needs_velocity(self) -> bool:
        """Whether the law needs the velocity."""
        raise NotImplementedError

    def begin(self) -> None:
        """Prepare the law for the ramp up."""

    def on_time_reset(self) -> None:
        """Start afresh after the time of the states went back."""

    # From state to torque.

    def _on_joint_state(self, message: bytes) -> None:
        now = time.monotonic()
        state = self._reader
        if not state.read(message):
            self.note_malformed()
            return
        stamp = state.stamp
        outcome = self.buffer.update(
            state.names,
            stamp,
            state.position,
            _NO_VELOCITY if self._ignores_velocity else state.velocity,
            state.effort,
            now,
            self._present_stamp() if stamp == 0.0 else None,
        )
        if not outcome.is_accepted:
            return
        self._stamp, self._received = (state.sec, state.nanosec), now
        if outcome is UpdateOutcome.TIME_RESET and self.is_active:
            self.on_time_reset()
        self._notice_hang(now)
        is_commanding = self.guard.state.is_commanding
        if self._effort is not None:
            tau = self.guard.tau if is_commanding else None
            self.self_test.add(self.buffer.q, self.buffer.v, self.buffer.effort, tau)
        if is_commanding:
            self.guard.watch_state(self.buffer.q, self.buffer.v, now)
            self._command(now)

    def _notice_hang(self, now: float) -> None:
        """
        Fail when nothing has been commanded for longer than any silence of states explains.

        The process was stopped, or starved. If somebody else, such as a watchdog, has commanded
        meanwhile, the way down begins there.

        """
        pause = now - self._last_command
        self._last_command = now
        if not self.guard.state.is_commanding or pause <= self._longest_pause:
            return
        self.guard.fail(
            now,
            f'no command was sent for {pause:.3f} s: the process was held up',
            self._last_on_topic(),
        )

    def _on_echo(self, message: bytes) -> None:
        self._heard, self._heard_at = message, time.monotonic()

    def _last_on_topic(self, longest_age: float = inf) -> Vector | None:
        """
        Return the torque that the robot was commanded last, by whomever.

        None if nothing good was heard, or it is older than `longest_age` [s].

        """
        try:
            with self._echo.handle:
                taken = self._echo.handle.take_message(Float64MultiArray, True)
            if taken is not None:
                self._on_echo(taken[0])
                self._heard_at -= 1e-9 * (time.time_ns() - taken[1]['received_timestamp'])
            tau = self._outputs.in_model_order(read_command(self._heard))
        except (ValueError, RMW_ERROR):
            return None
        if tau is None or not np.isfinite(tau).all():
            return None
        return tau if time.monotonic() - self._heard_at <= longest_age else None

    def _present_stamp(self) -> float | None:
        """Return the present time of the clock of stamps [s], None while a simulation is at 0."""
        return 1e-9 * self.get_clock().now().nanoseconds or None

    def _command(self, now: float) -> None:
        """Publish the torque for the present state, then what else is wanted."""
        buffer = self.buffer
        known = not self.needs_velocity or buffer.has_velocity
        age = buffer.age(now)
        if age > self.parameters.state_timeout:  # of a joint that is missing in the messages
            self._command_without_state(now, age)
            return
        result = self.guard.step(self.wanted_torque() if known else None, now, age)
        if result.must_publish:
            self._outputs.send_command(result.tau)
            self._statistics.add(time.monotonic() - now)
            self._outputs.send_torques(result.tau, self._stamp)
            if known and self._outputs.has_listener_of_terms:
                self._outputs.send_terms(self.terms(), self._stamp)
        self._note(result)

    def _watch(self) -> None:
        """Ramp down while states are missing; else sleep until the newest one would be stale."""
        now = time.monotonic()
        self._notice_hang(now)
        age, timeout = self.buffer.age(now), self.parameters.state_timeout
        state = self.guard.state
        is_ending = state is GuardState.RAMPING_DOWN and now - self._received > _STATE_GAP
        if state.is_commanding and (is_ending or age > timeout):
            self._command_without_state(now, age)
        if self.guard.state is GuardState.RAMPING_DOWN:
            self._sleep(RAMP_PERIOD)
        else:
            self._sleep(max(timeout - age, RAMP_PERIOD) if age <= timeout else timeout)

    def _command_without_state(self, now: float, age: float) -> None:
        """Publish the next torque of the ramp down."""
        result = self.guard.step(None, now, age, self.law.holding_torque(self.buffer.q))
        if result.must_publish:
            self._outputs.send_command(result.tau)
            self._outputs.send_torques(result.tau, self._stamp)
        self._note(result)

    def _sleep(self, seconds: float) -> None:
        period = int(1e9 * seconds)
        if period != self._watchdog.timer_period_ns:
            self._watchdog.timer_period_ns = period
            self._watchdog.reset()

    def _note(self, result: GuardResult) -> None:
        """Log when the guard begins to ramp down or is in fault, once."""
        if result.reason and result.reason != self._message:
            text = f'{result.state.value}: {result.reason}'
            # Two calls: rclpy refuses another severity from the same line.
            if result.reason == 'deactivated':
                self.get_logger().info(text)
            else:
                self.get_logger().error(text)
        self._message = result.reason

    # Start and stop.

    def waits_for(self) -> str:
        """Return what is missing before the guard can be armed."""
        self._controller.update()
        if self._controller.is_waiting:
            return f'the joints of {self._controller.controller}'
        now = time.monotonic()
        silent = self.buffer.silent_joints(now, self.parameters.state_timeout)
        if silent:
            topic = self._state_subscription.topic_name
            return f'joint states of {", ".join(silent)} on {topic}'
        if self.needs_velocity and not self.buffer.has_velocity:
            return 'joint velocities'
        limits = self.guard.settings.state_limits
        obstacle = limits.obstacle(self.buffer.q, self.buffer.v) if limits is not None else ''
        return f'the robot: {obstacle}' if obstacle else ''

    def activate(self) -> None:
        """
        Arm the guard.

        Raises
        ------
        ArmingRefusedError
            If the state is missing, stale or outside its limits, an effort limit is not stated,
            the controller has other joints, or a fault has not been reset.

        """
        if self.stop_requested:
            raise ArmingRefusedError('the node is about to end')
        self._take_state()
        reason = self.waits_for()
        if self._controller.mismatch:
            raise ArmingRefusedError(self._controller.mismatch)
        if reason:
            raise ArmingRefusedError(f'waiting for {reason}')
        now = time.monotonic()
        self._last_command = now
        start = self._present_torque()
        self.guard.arm(now, self.buffer.age(now), start, self.buffer.q, self.buffer.v)
        self.begin()

    def _present_torque(self) -> Vector | None:
        """Return what the robot is under now: a command of somebody, or the measured effort."""
        commanded = self._last_on_topic(_RECENT)
        if commanded is not None and commanded.any():
            self.get_logger().info('the ramp begins at the torque that is commanded already')
            return commanded
        if self.parameters.ramp_from == 'measured_effort':
            return self._measured_command()
        return None

    def _measured_command(self) -> Vector | None:
        """Return the command that would give the measured effort, shape (n,) [N m | N]."""
        if self._effort is None:
            return None
        gravity = generalized_gravity(self.model, self.buffer.q)
        torque = self._effort.torque(self.buffer.effort, gravity)
        return torque - gravity if self.parameters.gravity_compensated_by_hardware else torque

    def reset(self) -> None:
        """Leave the fault state, and forget what was measured before."""
        self.guard.reset()
        if self.guard.state is GuardState.READY:
            self.buffer.clear()
            self.self_test.clear()

    def deactivate(self) -> None:
        """Ramp the torque down, on states taken here because the executor waits for us."""
        self.begin_stop()
        watched = time.monotonic()
        deadline = watched + LONGEST_RAMP_DOWN + 0.2
        listens = True
        while not self.is_at_rest() and time.monotonic() < deadline:
            try:
                if listens:
                    self._take_state()
            except Exception:
                # Whatever is broken, the torque must not stay: go on without states.
                self.get_logger().error(f'ramping down without states:\n{traceback.format_exc()}')
                listens = False
            if time.monotonic() - watched >= RAMP_PERIOD:
                watched = time.monotonic()
                self._watch()
            time.sleep(0.0005)
        self._outputs.flush(0.2)

    def _take_state(self) -> None:
        """Handle a joint state that waits, while the executor does not."""
        with self._state_subscription.handle:
            taken = self._state_subscription.handle.take_message(JointState, True)
        if taken is not None:
            self._on_joint_state(taken[0])

    def begin_stop(self) -> None:
        """Start the ramp down."""
        if self.is_configured:
            self.guard.disarm(time.monotonic())
            self._sleep(RAMP_PERIOD)

    def is_at_rest(self) -> bool:
        """Whether no torque is commanded."""
        return not (self.is_configured and self.guard.state.is_commanding)

    # Payload.

    def prepare_change(self, parameters: TorqueParametersT) -> Callable[[], None]:
        """Build model and law for changed parameters."""
        model = self.model_for(parameters)
        law = self.make_law(model, parameters)

        def commit() -> None:
            self.model, self.law = model, law
            self.guard.glide()

        return commit

    def _on_payload(self, message: bytes) -> None:
        try:
            payload = payload_from_bytes(message, self.parameters.payload_frame)
            model = self.model.with_payload(payload)
            law = self.make_law(model, self.parameters)
        except ValueError:
            self.note_malformed()
            return
        except RobotDynamicsError as error:
            self.get_logger().error(f'payload refused: {" ".join(str(error).split())}')
            return
        self.model, self.law = model, law
        self.guard.glide()
        self.get_logger().info(f'payload: {payload.mass:g} kg at {payload.frame}')

    # Diagnostics.

    def _report_torque(self) -> Report:
        report = torque_report(self.guard, self._limit_counts, self.is_active)
        values = {
            **report.values,
            **self._statistics.take(time.monotonic()),
            **self._pauses.take(),
        }
        return Report(report.level, report.message, values)

    def _report_controller(self) -> Report:
        report = self._controller.report()
        if self._controller.mismatch:
            self.guard.fail(time.monotonic(), self._controller.mismatch)
        return report

    def _report_states(self) -> Report:
        silent = self.buffer.silent_joints(time.monotonic(), self.parameters.state_timeout)
        return state_report(self.buffer, self._state_counts, silent)
