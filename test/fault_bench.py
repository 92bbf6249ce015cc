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

"""A simulated arm, its controller and the watchdog in processes of their own, to be disturbed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
import time
from typing import Any

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

from node_processes import Processes
from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.report.table import format_table
from robot_dynamics_ros.resources import urdf_path
from ros_graph import Graph, Statuses

NAMES = [f'joint_{i}' for i in range(1, 7)]
COMMANDS = 'effort_controller/commands'
POSE = np.array([0.3, -0.9, 0.8, 0.2, 0.4, 0.0])
LIMIT = np.array([150.0, 150.0, 150.0, 28.0, 28.0, 28.0])
RATE = 10.0 * LIMIT
TIMEOUT, COMMAND_TIMEOUT, GRACE, RAMP = 0.4, 0.6, 0.5, 0.2
# What a busy machine may add, and the last bit of the rate limit.
SLACK = 0.5
START = 60.0
"""Longest wait for a process to start [s]."""

Relay = Callable[['Bench', JointState], None]


@dataclass
class Row:
    """One line of the table."""

    fault: str
    torque: str
    time_to_safe: str
    recovered: str


@dataclass
class Bench:
    """The processes, the relay of the joint states, and the commands that went by."""

    graph: Graph
    processes: Processes
    relay: Relay = field(default=lambda bench, message: bench.pass_on(message))
    commands: list[tuple[float, Any]] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    count: int = 0
    kept: list[JointState] = field(default_factory=list)
    late: list[tuple[float, JointState]] = field(default_factory=list)

    def __post_init__(self) -> None:
        probe = self.graph.probe
        self.statuses = Statuses(self.graph)
        self.states = probe.create_publisher(JointState, 'joint_states', 1)
        probe.create_subscription(JointState, 'plant/joint_states', self._on_state, 1)
        probe.create_subscription(Float64MultiArray, COMMANDS, self._on_command, 1000)
        self.enabling = probe.create_client(SetBool, '/gravity_compensation_node/enable')
        self.resetting = probe.create_client(Trigger, '/gravity_compensation_node/reset')
        self.changing = probe.create_client(ChangeState, '/forward_simulation_node/change_state')
        self.gravity = generalized_gravity(load_urdf(urdf_path('es5.urdf.xacro')), POSE)
        self.start_plant()
        self.watchdog = self.processes.configured(
            'effort_watchdog_node',
            grace_time=str(GRACE),
            ramp_down_time=str(RAMP),
            command_timeout=str(COMMAND_TIMEOUT),
            state_timeout=str(TIMEOUT),
        )
        self.start_controller()

    def start_plant(self) -> None:
        self.plant = self.processes.configured(
            'forward_simulation_node',
            '-r',
            'joint_states:=plant/joint_states',
            state_rate='250.0',
            initial_positions=str(POSE.tolist()),
            brake_release_delay='0.5',
        )

    @property
    def controller_parameters(self) -> dict[str, str]:
        return {
            'ramp_up_time': '0.2',
            'ramp_down_time': str(RAMP),
            'grace_time': str(GRACE),
            'state_timeout': str(TIMEOUT),
            'crosscheck': 'false',
            'armature': '[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]',
        }

    def start_controller(self) -> None:
        self.controller = self.processes.configured(
            'gravity_compensation_node', **self.controller_parameters
        )

    def _on_state(self, message: JointState) -> None:
        self.count += 1
        self.relay(self, message)

    def pass_on(self, message: JointState | bytes) -> None:
        self.states.publish(message)

    def _on_command(self, message: Float64MultiArray) -> None:
        self.commands.append((time.monotonic(), np.array(message.data)))

    def is_carrying(self) -> bool:
        return bool(self.commands) and np.allclose(self.commands[-1][1], self.gravity, atol=0.05)

    def change_plant(self, transition: int) -> None:
        request = ChangeState.Request(transition=Transition(id=transition))
        assert self.graph.call(self.changing, request).success

    def recover(self) -> None:
        """Put the arm back and switch the torque on."""
        self.relay = type(self).pass_on
        self.graph.call(self.enabling, SetBool.Request(data=False))
        # The first command releases the brakes, so that there must be none when they are put on.
        assert self.graph.spin_until(lambda: not np.any(self.commands[-1][1]))
        self.graph.spin_for(0.2)
        self.change_plant(Transition.TRANSITION_DEACTIVATE)
        self.change_plant(Transition.TRANSITION_ACTIVATE)
        self.graph.spin_for(0.2)
        assert self.graph.spin_until(
            lambda: self.graph.call(self.resetting, Trigger.Request()).success
        )
        assert self.graph.spin_until(
            lambda: self.graph.call(self.enabling, SetBool.Request(data=True)).success
        ), self.statuses.message('torque')
        assert self.graph.spin_until(self.is_carrying), self.statuses.message('torque')
        self.graph.spin_for(0.6)  # the brakes are released

    def spoil(self, relay: Relay, seconds: float = 1.2) -> float:
        """Put a fault in for some time; return when it began."""
        if not self.is_carrying():
            self.recover()
        self.commands.clear()
        began = time.monotonic()
        self.relay = relay
        self.graph.spin_for(seconds)
        self.relay = type(self).pass_on
        return began

    def note(self, fault: str, torque: str, safe: float | None, recovered: str) -> None:
        text = '' if safe is None else f'{safe:.2f} s'
        self.rows.append(Row(fault, torque, text, recovered))

    def assert_bounded(self) -> None:
        """Assert what holds for every command, whatever happens."""
        torque = np.array([data for _, data in self.commands])
        assert np.isfinite(torque).all()
        assert (abs(torque) <= LIMIT).all()
        # The rate limit counts the time since the last command up to 20 ms.
        assert (abs(np.diff(torque, axis=0)) <= 0.02 * RATE + 1e-9).all()

    def time_to_zero(self, began: float) -> float:
        assert self.graph.spin_until(
            lambda: bool(self.commands) and not np.any(self.commands[-1][1])
        ), 'the torque outlives its source'
        return max(at for at, data in self.commands if np.any(data)) - began

    def wait_until_ready(self) -> None:
        """Wait until the controller carries the arm under the eye of the watchdog."""
        assert self.graph.spin_until(self.is_carrying, START), self.statuses.message('torque')
        assert self.graph.spin_until(
            lambda: self.statuses.message('watchdog') == 'under torque', START
        )
        self.recover()  # starting three processes may have starved the states

    def table(self) -> str:
        """Return what happened, one line for each fault."""
        rows = [[row.fault, row.torque, row.time_to_safe, row.recovered] for row in self.rows]
        return format_table(['fault', 'torque', 'time to zero', 'recovered'], rows)
