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
Bring the torque down when the node that commands it is dead.

Controllers of the kind of `ForwardCommandController` keep the last command for ever, and a process
that was killed, has crashed or hangs sends no other. This node listens to the commands, in a
process of its own. When they fall silent while the last one was not zero, it takes over: from that
torque, by ``stale_state_policy``, to zero. It hands back at once when somebody else commands
again, because two torques in turn would shake the arm. ``~/hand_back`` makes it watch again when
the torque is down, never before: it would stay on for ever.

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import time
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.control.command_watch import CommandOutcome, CommandWatch
from robot_dynamics_ros.core.control.guard_state import GuardState
from robot_dynamics_ros.core.control.joint_state_buffer import JointStateBuffer
from robot_dynamics_ros.core.control.laws import GravityCompensationLaw
from robot_dynamics_ros.core.control.payload_limits import require_bearable
from robot_dynamics_ros.core.control.torque_guard import TorqueGuard
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.ros.cdr import read_command
from robot_dynamics_ros.ros.controller_check import ControllerCheck
from robot_dynamics_ros.ros.diagnostics import Changes, Level, Report
from robot_dynamics_ros.ros.node_parameters import EffortWatchdogParameters
from robot_dynamics_ros.ros.qos import COMMAND_IN, STATE_IN
from robot_dynamics_ros.ros.robot_node import RobotNode
from robot_dynamics_ros.ros.robot_source import continuous_joints, joint_order
from robot_dynamics_ros.ros.running import run
from robot_dynamics_ros.ros.serialized import JointStateReader, RMW_ERROR
from robot_dynamics_ros.ros.timers import steady_timer
from robot_dynamics_ros.ros.torque_publishers import COMMAND_TOPIC, CommandPublisher
from robot_dynamics_ros.ros.torque_report import state_report, torque_report
from robot_dynamics_ros.ros.torque_settings import guard_settings, LONGEST_RAMP_DOWN

PERIOD = 0.005
"""Period of the watch, and of commands after taking over [s]."""

LISTEN = 0.03
"""Time in which what was sent to the process while it was held up reaches it [s]."""


class EffortWatchdogNode(RobotNode[EffortWatchdogParameters]):
    """Watch the command topic, and take over when it falls silent."""

    def __init__(self, name: str = 'effort_watchdog_node', **options: Any) -> None:
        super().__init__(name, EffortWatchdogParameters, **options)

    def configure(self) -> None:
        """Build the watch, the guard and the topics."""
        model, parameters = self.model, self.parameters
        order = joint_order(parameters, model)
        names = model.joint_names
        self.buffer = JointStateBuffer(
            names, continuous=continuous_joints(model), timeout=parameters.state_timeout
        )
        self._reader = JointStateReader()
        self._settings = guard_settings(parameters, model)
        self.guard = TorqueGuard(self._settings)
        self.watch = CommandWatch(len(names), parameters.command_timeout)
        self._law = self._make_law(model, parameters)
        self._takeovers = 0
        self._limit_counts, self._state_counts = Changes(), Changes()
        self._command_counts = Changes()
        self._publisher = CommandPublisher(self, names, order)
        self._state_subscription = self.create_subscription(
            JointState, 'joint_states', self._on_state, STATE_IN, raw=True
        )
        self._command_subscription = self.create_subscription(
            Float64MultiArray, COMMAND_TOPIC, self._on_command, COMMAND_IN, raw=True
        )
        self._controller = ControllerCheck(self, self._publisher.topic, order)
        self._service = self.create_service(Trigger, '~/hand_back', self._on_hand_back)
        self._timer = steady_timer(self, PERIOD, self._on_timer)
        self.diagnostics.add('watchdog', self._report_watch)
        self.diagnostics.add('torque', self._report_torque)
        self.diagnostics.add('joint states', self._report_states)
        self.diagnostics.add('controller', self._report_controller)

    def cleanup(self) -> None:
        """Take away what `configure` built."""
        self.destroy_subscription(self._state_subscription)
        self.destroy_subscription(self._command_subscription)
        self._controller.destroy()
        self.destroy_service(self._service)
        self.destroy_timer(self._timer)
        self._publisher.destroy()

    def activate(self) -> None:
        """
        Begin to watch; a torque that was left behind before is brought down, too.

        Raises
        ------
        ArmingRefusedError
            If an effort limit is not stated.

        """
        self._settings.require_stated_limits()
        self.guard = TorqueGuard(self._settings)

    def deactivate(self) -> None:
        """Bring the torque down that this node commands."""
        self.begin_stop()
        deadline = time.monotonic() + LONGEST_RAMP_DOWN + 0.2
        while self.guard.state.is_commanding and time.monotonic() < deadline:
            self._on_timer()
            time.sleep(PERIOD)
        self._publisher.flush(0.2)

    def begin_stop(self) -> None:
        """End the grace time, now and for a torque that is left behind from now on."""
        if self.is_configured:
            self.guard.disarm(time.monotonic())

    def is_at_rest(self) -> bool:
        """
        Whether nobody commands a torque, neither this node nor one that it watches.

        A signal often goes to all processes of a machine; the others may fail on their way down.

        """
        if not self.is_configured:
            return True
        is_watching = self.is_active and self.guard.state is GuardState.READY
        return not (self.guard.state.is_commanding or (is_watching and self.watch.last.any()))

    def prepare_change(self, parameters: EffortWatchdogParameters) -> Callable[[], None]:
        """Build model and gravity torque for a changed payload."""
        commit_model = super().prepare_change(parameters)
        model = self.model_for(parameters)
        require_bearable(
            model,
            self.model,
            self._settings.effort_limit,
            self.buffer.q if self.buffer.is_complete else None,
        )
        law = self._make_law(model, parameters)

        def commit() -> None:
            commit_model()
            self._law = law

        return commit

    def _make_law(
        self, model: RobotModel, parameters: EffortWatchdogParameters
    ) -> GravityCompensationLaw | None:
        if parameters.gravity_compensated_by_hardware:
            return None
        return GravityCompensationLaw(model, scale=parameters.scale)

    def _on_state(self, message: bytes) -> None:
        state = self._reader
        if not state.read(message):
            self.note_malformed()
            return
        self.buffer.update(
            state.names,
            state.stamp,
            state.position,
            state.velocity,
            state.effort,
            time.monotonic(),
        )

    def _on_command(self, message: bytes) -> None:
        try:
            command = read_command(message)
        except ValueError:
            self.note_malformed()
            return
        outcome = self.watch.take(command, time.monotonic())
        if outcome is CommandOutcome.ACCEPTED and self.guard.state is not GuardState.READY:
            self._hand_back('somebody commands again')

    def _take_command(self) -> None:
        """Handle a command that waits: the timer comes before it."""
        try:
            with self._command_subscription.handle:
                taken = self._command_subscription.handle.take_message(Float64MultiArray, True)
        except RMW_ERROR:
            self.note_malformed()
            return
        if taken is not None:
            self._on_command(taken[0])

    def _on_timer(self) -> None:
        self._take_command()
        now = time.monotonic()
        if self.watch.look(now):  # what was commanded while this process was held up comes first
            time.sleep(LISTEN)
            return
        if self.is_active and self.guard.state is GuardState.READY:
            if self.watch.is_abandoned(now):
                self._take_over(now)
        if not self.guard.state.is_commanding:
            return
        result = self.guard.step(None, now, self.buffer.age(now), self._gravity())
        if result.must_publish:
            self.watch.note_sent(self._publisher.ordered(result.tau))
            self._publisher.send(result.tau)
        if self.guard.state is GuardState.FAULT:
            self.watch.forget()
            self.get_logger().error('the torque is down; ~/hand_back watches again')

    def _take_over(self, now: float) -> None:
        self._takeovers += 1
        silence = self.watch.silence(now)
        torque = self._publisher.in_model_order(self.watch.last)
        self.guard.take_over(now, torque, f'no command for {silence:.3f} s', self._gravity())
        self.get_logger().error(f'taking over: {self.guard.reason}')
        if self.stop_requested:
            self.guard.disarm(now)

    def _gravity(self) -> Vector | None:
        """
        Return the torque that carries the arm where it was seen last.

        None if it never was, or the controller has its joints in another order.

        """
        if not self.buffer.is_complete or self._controller.mismatch:
            return None
        if self._law is None:
            return np.zeros(self.model.nv)
        return self._law.holding_torque(self.buffer.q)

    def _hand_back(self, reason: str) -> None:
        self.guard = TorqueGuard(self._settings)
        self.get_logger().warning(f'handing back: {reason}')

    def _on_hand_back(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self.guard.state.is_commanding:
            response.message = (
                f'bringing the torque down: {self.guard.reason}; it hands back as soon as '
                'somebody commands'
            )
            return response
        response.success = True
        if self.guard.state is GuardState.READY:
            response.message = 'watching already'
            return response
        response.message = f'watching again; was {self.guard.state.value}: {self.guard.reason}'
        self._hand_back('asked to')
        return response

    def _report_watch(self) -> Report:
        now = time.monotonic()
        counts = self._command_counts.take(self.watch.counters)
        values: dict[str, Any] = {f'commands {key}': count for key, count in counts.items()}
        values['takeovers'] = self._takeovers
        under_torque = bool(self.watch.last.any())
        if under_torque:
            values['silence [s]'] = self.watch.silence(now)
        if self.guard.state is not GuardState.READY:
            return Report(Level.ERROR, f'has taken over: {self.guard.reason}', values)
        if not self.is_active:
            return Report(Level.WARN, 'not watching', values)
        return Report(Level.OK, 'under torque' if under_torque else 'no torque', values)

    def _report_torque(self) -> Report:
        return torque_report(self.guard, self._limit_counts, is_active=False)

    def _report_controller(self) -> Report:
        return self._controller.report()

    def _report_states(self) -> Report:
        silent = self.buffer.silent_joints(time.monotonic(), self.parameters.state_timeout)
        return state_report(self.buffer, self._state_counts, silent)


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(EffortWatchdogNode, args)


if __name__ == '__main__':
    main()
