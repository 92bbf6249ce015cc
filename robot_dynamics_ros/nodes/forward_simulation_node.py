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
(``lockstep``).

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import time
from typing import Any

import numpy as np
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.exceptions import RobotDynamicsError
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.simulation.pace import RealTimePace
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.ros.cdr import read_command
from robot_dynamics_ros.ros.conversions import named_efforts_from_message
from robot_dynamics_ros.ros.diagnostics import Changes, Level, LoopStatistics, Report
from robot_dynamics_ros.ros.node_parameters import ForwardSimulationParameters
from robot_dynamics_ros.ros.qos import COMMAND_IN, STATE_OUT
from robot_dynamics_ros.ros.robot_node import RobotNode
from robot_dynamics_ros.ros.robot_source import joint_order, resolved_path
from robot_dynamics_ros.ros.running import run
from robot_dynamics_ros.ros.serialized import JointStateReader
from robot_dynamics_ros.ros.simulation_clock import SimulationClock
from robot_dynamics_ros.ros.state_publisher import StatePublisher
from robot_dynamics_ros.ros.timers import steady_timer
from robot_dynamics_ros.ros.torque_publishers import COMMAND_TOPIC

_IDLE_RATE = 100.0
"""Joint states per second while lockstep waits for its first command [Hz]."""


class ForwardSimulationNode(RobotNode[ForwardSimulationParameters]):
    """Simulate the robot."""

    def __init__(self, name: str = 'forward_simulation_node', **options: Any) -> None:
        super().__init__(name, ForwardSimulationParameters, **options)

    def configure(self) -> None:
        """Build the plant and its topics."""
        parameters, model = self.parameters, self.model
        order = joint_order(parameters, model)
        self._order = np.array([model.joint_names.index(name) for name in order])
        self._initial = np.zeros(model.nv)
        if parameters.initial_positions:
            self._initial[self._order] = parameters.initial_positions
        self._friction = self._make_friction()
        self.plant = self._make_plant(model, self._initial)
        self._limit = np.full(model.nv, np.inf)
        if parameters.enforce_effort_limits:
            self._limit = np.nan_to_num(model.limits.effort, nan=np.inf)
        self._dt = 1.0 / parameters.state_rate
        self.counts = dict.fromkeys(
            ('commands', 'wrong_size', 'not_finite', 'unknown_joint', 'late_steps'), 0
        )
        self._changes, self._statistics = Changes(), LoopStatistics()
        self._states = StatePublisher(self, model.joint_names, parameters.frame_id, STATE_OUT)
        self._simulated_clock = SimulationClock(self, is_published=parameters.publish_clock)
        self._command_subscription = self.create_subscription(
            Float64MultiArray, COMMAND_TOPIC, self._on_command, COMMAND_IN, raw=True
        )
        self._reader = JointStateReader()
        self._effort_subscription = self.create_subscription(
            JointState, '~/efforts', self._on_named_efforts, COMMAND_IN, raw=True
        )
        self._pace = RealTimePace(self._dt, parameters.real_time_factor)
        is_lockstep = parameters.stepping == 'lockstep'
        period = 1.0 / _IDLE_RATE if is_lockstep else self._dt / parameters.real_time_factor
        self._ticker = steady_timer(self, period, self._step if is_lockstep else self._tick)
        self._ticker.cancel()
        self._failure = ''
        self.diagnostics.add('simulation', self._report)

    def cleanup(self) -> None:
        """Take the topics away."""
        self.destroy_timer(self._ticker)
        self.destroy_subscription(self._command_subscription)
        self.destroy_subscription(self._effort_subscription)
        self._states.destroy()
        self._simulated_clock.destroy()

    @property
    def direct_subscription(self) -> Subscription | None:
        """Return that of the commands."""
        return self._command_subscription if self.is_configured else None

    def _make_plant(self, model: RobotModel, q: Vector, v: Vector | None = None) -> Plant:
        return Plant(
            model,
            self._friction,
            dt_internal=self.parameters.longest_step,
            integrator=self.parameters.integrator,
            q=q,
            v=v,
        )

    def prepare_change(self, parameters: ForwardSimulationParameters) -> Callable[[], None]:
        """Let the robot go on with another payload."""
        model = self.model_for(parameters)
        plant = self._make_plant(model, self.plant.state.q, self.plant.state.v)

        def commit() -> None:
            self.model, self.plant = model, plant

        return commit

    def _make_friction(self) -> DryFriction | None:
        parameters, model = self.parameters, self.model
        if parameters.friction_source == 'urdf':
            return DryFriction.from_model(model)
        if parameters.friction_source == 'file':
            return DryFriction.from_file(
                resolved_path(parameters.friction_file), model.joint_names
            )
        return None

    def activate(self) -> None:
        """Put the robot to its initial positions and let time run."""
        self._state = self.plant.reset(self._initial)
        self._tau = np.zeros(self.model.nv)
        held = self.parameters.hold_until_command
        self._release_at_step: float = np.inf if held else 0  # brakes hold until then
        self._failure = ''
        self._simulated_clock.start()
        self._steps = 0
        self._pace.start(time.monotonic())
        self._ticker.reset()

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
        unknown = [name for name in efforts if name not in self.model.joint_names]
        if not efforts:
            self._drop('wrong_size', 'names and efforts do not fit together')
        elif unknown:
            self._drop('unknown_joint', f'no joint {", ".join(unknown)}')
        elif not np.isfinite(list(efforts.values())).all():
            self._drop('not_finite', 'a number is not finite')
        else:
            tau = self._tau.copy() if self.is_active else np.zeros(self.model.nv)
            for name, effort in efforts.items():
                tau[self.model.joint_names.index(name)] = effort
            self._take(tau)

    def _drop(self, reason: str, text: str) -> None:
        self.counts[reason] += 1
        self.get_logger().warning(f'command dropped: {text}', throttle_duration_sec=1.0)

    def _take(self, tau: Vector) -> None:
        if not self.is_active:
            return
        self.counts['commands'] += 1
        self._tau = np.minimum(np.maximum(tau, -self._limit), self._limit)
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

    def _step(self) -> None:
        """Move on by one step and publish the state."""
        if self._failure:
            return
        self._steps += 1
        if self._steps > self._release_at_step:
            try:
                self._state = self.plant.step(self._tau, self._dt)
            except RobotDynamicsError as error:
                self._failure = ' '.join(str(error).split())
                self.get_logger().error(f'the simulation stops: {self._failure}')
                return
        stamp = self._simulated_clock.tell(self._steps * self._dt)
        self._states.send(stamp, self._state.q, self._state.v, self._tau)

    # Diagnostics.

    def _report(self) -> Report:
        grown = self._changes.take(self.counts)
        values = {**grown, **self._statistics.take(time.monotonic())}
        if self._failure:
            return Report(Level.ERROR, self._failure, values)
        dropped = sum(grown.get(key, 0) for key in ('wrong_size', 'not_finite', 'unknown_joint'))
        if dropped:
            return Report(Level.WARN, f'{dropped} commands dropped', values)
        if grown.get('late_steps'):
            return Report(Level.WARN, 'slower than real time', values)
        beyond = self.plant.joints_beyond_limits()
        if beyond:
            return Report(Level.WARN, f'beyond position limits: {", ".join(beyond)}', values)
        return Report(Level.OK, f'{grown.get("commands", 0)} commands', values)


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(ForwardSimulationNode, args)


if __name__ == '__main__':
    main()
