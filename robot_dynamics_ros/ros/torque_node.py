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
from typing import Any, Generic, TypeVar

from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.control.guard_state import GuardResult, GuardState
from robot_dynamics_ros.core.control.joint_state_buffer import JointStateBuffer, UpdateOutcome
from robot_dynamics_ros.core.control.laws import (
    GravityCompensationLaw,
    InverseDynamicsLaw,
    Terms,
)
from robot_dynamics_ros.core.control.online_friction import OnlineFriction
from robot_dynamics_ros.core.control.payload_limits import require_bearable
from robot_dynamics_ros.core.control.torque_guard import TorqueGuard
from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.exceptions import (
    ArmingRefusedError,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.ros.command_echo import CommandEcho
from robot_dynamics_ros.ros.controller_check import ControllerCheck
from robot_dynamics_ros.ros.diagnostics import (
    Changes,
    CollectorPauses,
    LoopStatistics,
    Report,
)
from robot_dynamics_ros.ros.model_updates import command_friction, ModelUpdates
from robot_dynamics_ros.ros.publisher_report import PublisherReport
from robot_dynamics_ros.ros.qos import LATCHED, STATE_IN
from robot_dynamics_ros.ros.realtime import apply_scheduling, Scheduling
from robot_dynamics_ros.ros.robot_node import RobotNode
from robot_dynamics_ros.ros.robot_parameters import CommandParameters
from robot_dynamics_ros.ros.robot_source import (
    continuous_joints,
    joint_order,
)
from robot_dynamics_ros.ros.serialized import JointStateReader
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

CommandParametersT = TypeVar('CommandParametersT', bound=CommandParameters)
LawT = TypeVar('LawT', bound=InverseDynamicsLaw | GravityCompensationLaw)

RAMP_PERIOD = 0.005
"""Period of commands while states are missing [s]."""

_STATE_GAP = 0.02
"""Time without a state after which the ramp down goes on without it [s]."""

_PAUSE = 0.05
"""Pause of own commands after which somebody else may have commanded [s]."""

_CROSSING = 0.02
"""Time after an own command in which one of somebody else may have crossed it [s]."""

_HANDOVER = 0.2
"""Time after arming in which somebody else may still command [s]."""

_HANG = 0.1
"""Pause of the loop beyond the timeout of the states that is a fault [s]."""

_ASLEEP = 0.15
"""Time without a heartbeat after which the whole process must have been held up [s]."""

_LISTEN = 0.1
"""Time in which what was sent to a process while it was held up reaches it [s]."""

_WAKING = 0.02
"""Time by which the middleware may wake up before this node [s]."""

_ALIVE = 0.03
"""Age of a command of somebody who is still commanding [s]."""

_RECENT = 1.0
"""
Age of a command of somebody else up to which the robot is certainly under it [s].

An older one may have been given when no controller ran; if one does and keeps it, the watchdog
brings it down.

"""

_NO_VELOCITY: tuple[float, ...] = ()


class TorqueNode(RobotNode[CommandParametersT], Generic[CommandParametersT, LawT]):
    """
    A node that turns joint states into guarded torques.

    A node of this kind overrides `make_law`, `wanted_torque`, `terms` and `needs_velocity`.

    """

    law: LawT

    def __init__(
        self, name: str, parameters_class: type[CommandParametersT], **options: Any
    ) -> None:
        super().__init__(name, parameters_class, **options)
        self._state_told = ''
        self._state_publisher = self.create_publisher(String, '~/torque_state', LATCHED)
        self._tell_state()

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
        self.friction = command_friction(parameters, model)
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
        self._armed_at = -inf
        self._awake, self._woke_at = time.monotonic(), inf
        self._ignores_velocity = parameters.velocity_source == 'estimated'
        self._statistics = LoopStatistics(parameters.deadline)
        self._limit_counts, self._state_counts = Changes(), Changes()
        self._message, self._last_state = '', GuardState.READY
        self._outputs = TorquePublishers(self, model.joint_names, order)
        self._state_subscription = self.create_subscription(
            JointState, 'joint_states', self._on_joint_state, STATE_IN, raw=True
        )
        self._echo = CommandEcho(self, self._outputs)
        self._updates = ModelUpdates(self)
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
        self.diagnostics.add('model updates', self._report_updates)
        self.diagnostics.add(
            'publishers',
            PublisherReport(self, COMMAND_TOPIC, 'joint_states', self._is_contested),
        )

    def cleanup(self) -> None:
        """Take away what `configure` built."""
        self.destroy_subscription(self._state_subscription)
        self._updates.destroy()
        self.destroy_timer(self._watchdog)
        self._pauses.close()
        self._echo.destroy()
        self._restore_scheduling()
        self._controller.destroy()
        self._switches.destroy()
        self._outputs.destroy()
        self._tell_state()

    @property
    def unpolled_subscription(self) -> Subscription | None:
        """Return that of the commands, own ones and those of others."""
        return self._echo.subscription if self.is_configured else None

    @property
    def direct_subscription(self) -> Subscription | None:
        """Return that of the joint states."""
        return self._state_subscription if self.is_configured else None

    # What a node of this kind overrides.

    def make_law(self, model: RobotModel, parameters: CommandParametersT) -> LawT:
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
        Look what became of the robot after a pause of the own commands.

        A pause longer than any silence of states explains is a fault: the process was stopped, or
        starved. In a shorter one somebody else, such as a watchdog, may have commanded. Either
        way the torque goes on from what the robot has now.

        """
        pause, before = now - self._last_command, self._last_command
        self._last_command = now
        if pause <= _PAUSE or not self.guard.state.is_commanding:
            return
        self._wake_up(now)
        is_hang = pause > self._longest_pause
        foreign = self._echo.foreign_since(before + _CROSSING)
        if foreign is not None and self._is_outdated():
            self.guard.let_go(
                f'no command was sent for {pause:.3f} s, and somebody else has taken over'
            )
            self.get_logger().error(f'fault: {self.guard.reason}')
        elif is_hang:
            self.guard.fail(
                now,
                f'no command was sent for {pause:.3f} s: the process was held up',
                self._echo.last(),
            )
        elif foreign is not None:
            is_stale = self.buffer.age(now) > self.parameters.state_timeout
            if is_stale or now - self._armed_at < _HANDOVER:
                # The policy for stale states is next; or the other has not heard of this node yet.
                self.guard.continue_from(now, foreign)
                return
            self.guard.fail(
                now, f'somebody else has commanded in a pause of {pause:.3f} s', foreign
            )

    def _is_outdated(self) -> bool:
        """
        Return whether the last known command of somebody else need not have been his last one.

        The queues of a process that was stopped keep the oldest messages and lose the newest. So
        what was commanded meanwhile is known only from who still commands.

        """
        heard_at = self._echo.foreign_at
        was_queued = -_WAKING < heard_at - self._woke_at < _LISTEN
        return was_queued and heard_at < time.monotonic() - _ALIVE

    def _wake_up(self, now: float) -> None:
        """Listen before anything is commanded, if the whole process was held up."""
        if now - self._awake > _ASLEEP:
            self._woke_at = now
            self.get_logger().warning('the process was held up; listening first')
            time.sleep(_LISTEN)
        self._awake = time.monotonic()

    def _is_contested(self) -> bool:
        """Return whether somebody else has commanded lately though this node does."""
        since = max(self._armed_at + _HANDOVER, time.monotonic() - _RECENT)
        return self.guard.state.is_commanding and self._echo.foreign_at > since

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
        if self.guard.is_recovering:
            self._begin_anew()
        if isinstance(self.friction, OnlineFriction):
            self.friction.step(now)
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
        age, timeout = self.buffer.age(now), self.parameters.state_timeout
        if age > timeout or now - self._last_command > self._longest_pause:
            self._notice_hang(now)
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

    def _begin_anew(self) -> None:
        """Prepare the law for another ramp up, after states were missing."""
        self.begin()
        self.get_logger().warning(
            'the joint states have come back; beginning where the robot is',
            throttle_duration_sec=1.0,
        )

    def _note(self, result: GuardResult) -> None:
        """Tell the state of the guard; log when it ramps down or is in fault, once."""
        if result.state is not self._last_state or result.reason != self._message:
            self._tell_state()
        if result.reason and result.reason != self._message:
            text = f'{result.state.value}: {result.reason}'
            # Two calls: rclpy refuses another severity from the same line.
            if result.reason == 'deactivated':
                self.get_logger().info(text)
            else:
                self.get_logger().error(text)
        self._message, self._last_state = result.reason, result.state

    def _tell_state(self) -> None:
        """Publish the state of the guard if it has changed."""
        text = 'unconfigured'
        if self.is_configured:
            guard = self.guard
            text = f'{guard.state.value}: {guard.reason}' if guard.reason else guard.state.value
        if text != self._state_told:
            self._state_told = text
            self._state_publisher.publish(String(data=text))

    def _on_heartbeat(self) -> None:
        super()._on_heartbeat()
        if not self.is_configured:
            return
        if self.guard.state.is_commanding:
            self._wake_up(time.monotonic())
        self._awake = time.monotonic()
        self._echo.poll()
        self._updates.watch(time.monotonic())
        self._controller.update()
        if self._controller.mismatch and self.guard.state.is_commanding:
            self.guard.fail(time.monotonic(), self._controller.mismatch)
        self._tell_state()

    # Start and stop.

    def waits_for(self) -> str:
        """Return what is missing before the guard can be armed."""
        self._controller.update()
        if self._controller.is_waiting:
            return f'the joints of {self._controller.controller}'
        return self._waits_for_state()

    def _waits_for_state(self) -> str:
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
        self._controller.renew()
        self._take_state()
        reason = self._waits_for_state()
        if self._controller.mismatch:
            raise ArmingRefusedError(self._controller.mismatch)
        if reason:
            raise ArmingRefusedError(f'waiting for {reason}')
        now = time.monotonic()
        self._last_command = self._armed_at = self._awake = now
        start = self._present_torque()
        self.guard.arm(now, self.buffer.age(now), start, self.buffer.q, self.buffer.v)
        self.begin()
        self._tell_state()

    def _present_torque(self) -> Vector | None:
        """Return what the robot is under now: a command of somebody, or the measured effort."""
        commanded = self._echo.last(_RECENT)
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
        self._tell_state()

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
            self._tell_state()

    def is_at_rest(self) -> bool:
        """Whether no torque is commanded."""
        return not (self.is_configured and self.guard.state.is_commanding)

    # Another model.

    def prepare_change(self, parameters: CommandParametersT) -> Callable[[], None]:
        """
        Build model and law for changed parameters.

        Raises
        ------
        ConfigurationError
            If a payload is too heavy for a joint.

        """
        return self._change_to(self.model_for(parameters), parameters)

    def change_model(self, model: RobotModel) -> None:
        """
        Go on with another model, gliding.

        Raises
        ------
        ConfigurationError
            If a payload is too heavy for a joint.

        """
        self._change_to(model, self.parameters)()

    def _change_to(self, model: RobotModel, parameters: CommandParametersT) -> Callable[[], None]:
        q = self.buffer.q if self.buffer.is_complete else None
        require_bearable(model, self.model, self.guard.settings.effort_limit, q)
        law = self.make_law(model, parameters)

        def commit() -> None:
            self.model, self.law = model, law
            self.guard.glide()

        return commit

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
        return self._controller.report()

    def _report_updates(self) -> Report:
        return self._updates.report()

    def _report_states(self) -> Report:
        silent = self.buffer.silent_joints(time.monotonic(), self.parameters.state_timeout)
        return state_report(self.buffer, self._state_counts, silent, self._effort)
