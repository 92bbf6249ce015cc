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
The robot as a plant: torque in, joint states out.

Like a ForwardCommandController it keeps the last command until the next one comes; a command of
the wrong size, with unknown joints or with a number that is not finite is dropped and counted.
Until the first command, and for ``brake_release_delay`` after it so that a controller can take the
weight over, brakes hold the robot. Time runs by itself (``real_time``), or by one step per command
(``lockstep``); it stands still while paused.

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import time
from typing import Any

from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.drive.sensors import JointReading
from robot_dynamics_ros.core.exceptions import RobotDynamicsError
from robot_dynamics_ros.core.simulation.external_wrenches import ExternalWrenches
from robot_dynamics_ros.core.simulation.pace import RealTimePace
from robot_dynamics_ros.ros.cdr import read_command, read_wrench
from robot_dynamics_ros.ros.conversions import named_efforts_from_message
from robot_dynamics_ros.ros.diagnostics import Changes, Level, LoopStatistics, Report
from robot_dynamics_ros.ros.node_parameters import ForwardSimulationParameters
from robot_dynamics_ros.ros.plant_parts import PlantParts
from robot_dynamics_ros.ros.plant_topics import PlantTopics
from robot_dynamics_ros.ros.qos import COMMAND_IN, STATE_OUT
from robot_dynamics_ros.ros.robot_node import RobotNode
from robot_dynamics_ros.ros.robot_source import joint_order
from robot_dynamics_ros.ros.running import run
from robot_dynamics_ros.ros.serialized import JointStateReader
from robot_dynamics_ros.ros.simulation_clock import SimulationClock
from robot_dynamics_ros.ros.state_publisher import StatePublisher
from robot_dynamics_ros.ros.timers import steady_timer
from robot_dynamics_ros.ros.torque_publishers import COMMAND_TOPIC

_IDLE_RATE = 100.0
"""Joint states per second while lockstep waits for its first command [Hz]."""

_DROPPED = ('wrong_size', 'not_finite', 'unknown_joint', 'bad_wrench')


class ForwardSimulationNode(RobotNode[ForwardSimulationParameters]):
    """Simulate the robot."""

    def __init__(self, name: str = 'forward_simulation_node', **options: Any) -> None:
        super().__init__(name, ForwardSimulationParameters, **options)

    @property
    def has_floating_base(self) -> bool:
        """Whether the root link of the robot floats in the world."""
        return self.parameters.floating_base

    def configure(self) -> None:
        """Build the plant and its topics."""
        parameters = self.parameters
        order = joint_order(parameters, self.model)
        self._parts = PlantParts(parameters, self.model, self.description)
        self.model = self._parts.model  # with the rotors of the drives
        self.hardware = self._parts.hardware(self.model)
        names = self.hardware.joint_names
        self._order = np.array([names.index(name) for name in order])
        self._dt = 1.0 / parameters.state_rate
        self.counts = dict.fromkeys(('commands', *_DROPPED, 'late_steps'), 0)
        self._changes, self._statistics = Changes(), LoopStatistics()
        self._wrenches = ExternalWrenches(self.model)
        self._states = StatePublisher(self, names, parameters.frame_id, STATE_OUT)
        self._topics = PlantTopics(
            self, self.model, parameters.frame_id, self._parts.touching_links
        )
        self._simulated_clock = SimulationClock(self, is_published=parameters.publish_clock)
        self._command_subscription = self.create_subscription(
            Float64MultiArray, COMMAND_TOPIC, self._on_command, COMMAND_IN, raw=True
        )
        self._reader = JointStateReader()
        self._other_subscriptions = [
            self.create_subscription(
                JointState, '~/efforts', self._on_named_efforts, COMMAND_IN, raw=True
            ),
            self.create_subscription(
                WrenchStamped, '~/external_wrench', self._on_wrench, COMMAND_IN, raw=True
            ),
        ]
        self._time_services = [
            self.create_service(Trigger, '~/reset', self._on_reset),
            self.create_service(SetBool, '~/pause', self._on_pause),
            self.create_service(Trigger, '~/step', self._on_step),
        ]
        self._pace = RealTimePace(self._dt, parameters.real_time_factor)
        is_lockstep = parameters.stepping == 'lockstep'
        period = 1.0 / _IDLE_RATE if is_lockstep else self._dt / parameters.real_time_factor
        self._ticker = steady_timer(self, period, self._step if is_lockstep else self._tick)
        self._ticker.cancel()
        self._is_paused = False
        self._failure = ''
        self.diagnostics.add('simulation', self._report)

    def cleanup(self) -> None:
        """Take the topics away."""
        self.destroy_timer(self._ticker)
        for subscription in (self._command_subscription, *self._other_subscriptions):
            self.destroy_subscription(subscription)
        for service in self._time_services:
            self.destroy_service(service)
        self._states.destroy()
        self._topics.destroy()
        self._simulated_clock.destroy()

    @property
    def direct_subscription(self) -> Subscription | None:
        """Return that of the commands."""
        return self._command_subscription if self.is_configured else None

    def prepare_change(self, parameters: ForwardSimulationParameters) -> Callable[[], None]:
        """Let the robot go on with another payload."""
        model = self.model_for(parameters)
        hardware = self._parts.hardware(model, self.hardware)

        def commit() -> None:
            self.model, self.hardware = model, hardware

        return commit

    def activate(self) -> None:
        """Put the robot to its initial positions and let time run."""
        self._is_paused = False
        self._simulated_clock.start()
        self._begin()
        self._ticker.reset()

    def _begin(self) -> None:
        """Put the robot to its initial positions, at time zero, under no command."""
        self.hardware = self._parts.hardware(self.model)
        self._tau = np.zeros(len(self._order))
        self._wrenches.clear()
        held = self.parameters.hold_until_command
        self._release_at_step: float = np.inf if held else 0  # brakes hold until then
        self._failure = ''
        self._steps = 0
        self._pace.start(time.monotonic())

    def deactivate(self) -> None:
        """Let time stand still."""
        self._ticker.cancel()

    # Commands.

    def _on_command(self, message: bytes) -> None:
        try:
            values = read_command(message)
        except ValueError:
            self.note_malformed()
            return
        if len(values) != len(self._order):
            self._drop('wrong_size', f'{len(values)} values for {len(self._order)} joints')
        elif not np.isfinite(values).all():
            self._drop('not_finite', 'a number is not finite')
        else:
            tau = np.empty(len(values))
            tau[self._order] = values
            self._take(tau)

    def _on_named_efforts(self, data: bytes) -> None:
        if not self._reader.read(data):
            self.note_malformed()
            return
        efforts = named_efforts_from_message(deserialize_message(data, JointState))
        names = self.hardware.joint_names
        unknown = [name for name in efforts if name not in names]
        if not efforts:
            self._drop('wrong_size', 'names and efforts do not fit together')
        elif unknown:
            self._drop('unknown_joint', f'no joint {", ".join(unknown)}')
        elif not np.isfinite(list(efforts.values())).all():
            self._drop('not_finite', 'a number is not finite')
        else:
            tau = self._tau.copy() if self.is_active else np.zeros(len(names))
            for name, effort in efforts.items():
                tau[names.index(name)] = effort
            self._take(tau)

    def _on_wrench(self, data: bytes) -> None:
        try:
            frame, wrench = read_wrench(data)
        except ValueError:
            self.note_malformed()
            return
        until = self.hardware.state.time + self.parameters.external_wrench_duration
        try:
            self._wrenches.put(frame, wrench, until)
        except RobotDynamicsError as error:
            self._drop('bad_wrench', ' '.join(str(error).split()))

    def _drop(self, reason: str, text: str) -> None:
        self.counts[reason] += 1
        self.get_logger().warning(f'command dropped: {text}', throttle_duration_sec=1.0)

    def _take(self, tau: Vector) -> None:
        if not self.is_active:
            return
        self.counts['commands'] += 1
        self._tau = tau
        if self._release_at_step == np.inf:
            delay = self.parameters.brake_release_delay
            self._release_at_step = self._steps + round(delay / self._dt)
        if self.parameters.stepping == 'lockstep':
            self._ticker.cancel()
            self._step()

    # Time.

    def _tick(self) -> None:
        """Make the steps that real time asks for."""
        began = time.monotonic()
        due = self._pace.due(began)
        self.counts['late_steps'] = self._pace.late_steps
        for _ in range(due):
            self._step()
        self._statistics.add(time.monotonic() - began)

    def _step(self, even_paused: bool = False) -> None:
        """Move on by one step and publish the state."""
        if self._failure or (self._is_paused and not even_paused):
            return
        self._steps += 1
        reading: JointReading | None
        if self._steps > self._release_at_step:
            wrenches = self._wrenches.total(self.hardware.state.time)
            try:
                reading = self.hardware.step(self._tau, self._dt, wrenches)
            except RobotDynamicsError as error:
                self._failure = ' '.join(str(error).split())
                self.get_logger().error(f'the simulation stops: {self._failure}')
                return
        else:
            reading = self.hardware.read_held(self._tau)
        now = self._steps * self._dt
        stamp = self._simulated_clock.tell(now)
        if reading is not None:
            # The plant's own time counts from the release of the brakes.
            late = round(1e9 * (reading.stamp - self.hardware.state.time))
            self._states.send(stamp + late, reading.q, reading.v, reading.tau)
        self._topics.publish(self.hardware.state, stamp)

    def _on_reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if not self.is_active:
            response.message = 'the node is not active'
            return response
        self._simulated_clock.start()
        self._begin()
        if self.parameters.stepping == 'lockstep':
            self._ticker.reset()
        response.success = True
        response.message = 'the robot is where it began'
        return response

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._is_paused = bool(request.data)
        self._pace.start(time.monotonic())
        response.success = True
        response.message = 'paused' if self._is_paused else 'running'
        return response

    def _on_step(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if not (self.is_active and self._is_paused):
            response.message = 'a single step is for a simulation that is active and paused'
            return response
        self._step(even_paused=True)
        response.success = not self._failure
        response.message = self._failure or f'at {self._steps * self._dt:.6g} s'
        return response

    # Diagnostics.

    def _report(self) -> Report:
        grown = self._changes.take(self.counts)
        state = self.hardware.state
        values = {
            **grown,
            **self._statistics.take(time.monotonic()),
            'contacts': len(state.contacts),
            'residual of the contacts': state.residual,
        }
        if self._failure:
            return Report(Level.ERROR, self._failure, values)
        dropped = sum(grown.get(key, 0) for key in _DROPPED)
        if dropped:
            return Report(Level.WARN, f'{dropped} commands dropped', values)
        if grown.get('late_steps'):
            return Report(Level.WARN, 'slower than real time', values)
        beyond = self.hardware.plant.joints_beyond_limits()
        if beyond:
            return Report(Level.WARN, f'beyond position limits: {", ".join(beyond)}', values)
        if self._is_paused:
            return Report(Level.OK, 'paused', values)
        return Report(Level.OK, f'{grown.get("commands", 0)} commands', values)


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(ForwardSimulationNode, args)


if __name__ == '__main__':
    main()
