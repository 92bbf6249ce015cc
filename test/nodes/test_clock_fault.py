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

"""A simulated clock that stops, between processes over DDS; the torque must not depend on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rosgraph_msgs.msg import Clock

from fault_bench import Bench, GRACE, POSE, RAMP, SLACK, TIMEOUT
from node_processes import Processes
from ros_graph import Graph


class ClockBench(Bench):
    """The bench with the plant's time for all, which passes through this process, too."""

    def __post_init__(self) -> None:
        self.clock_runs = True
        probe = self.graph.probe
        self.clock = probe.create_publisher(Clock, '/clock', 1)
        probe.create_subscription(Clock, '/plant/clock', self._on_clock, 1)
        super().__post_init__()

    def _on_clock(self, message: Clock) -> None:
        if self.clock_runs:
            self.clock.publish(message)

    def start_plant(self) -> None:
        self.plant = self.processes.configured(
            'forward_simulation_node',
            '-r', 'joint_states:=plant/joint_states',
            '-r', '/clock:=/plant/clock',
            state_rate='250.0',
            initial_positions=str(POSE.tolist()),
            brake_release_delay='0.5',
            publish_clock='true',
        )  # fmt: skip

    @property
    def controller_parameters(self) -> dict[str, str]:
        return {**super().controller_parameters, 'use_sim_time': 'true'}


@pytest.mark.soak
def test_torque_does_not_depend_on_a_simulated_clock() -> None:
    graph, processes = Graph(), Processes()
    try:
        bench: Any = ClockBench(graph, processes)
        bench.wait_until_ready()
        bench.commands.clear()
        bench.clock_runs = False
        graph.spin_for(1.5)
        torque = np.array([data for _, data in bench.commands])
        bench.assert_bounded()
        np.testing.assert_allclose(torque, np.tile(bench.gravity, (len(torque), 1)), atol=0.5)
        assert graph.spin_until(lambda: bench.statuses.message('clock') == '/clock stands still')
        bench.note('/clock stops', 'kept', None, 'of itself')
        # With the states gone, too, the watch over them has to count on another clock.
        began = bench.spoil(lambda bench, message: None)
        safe = bench.time_to_zero(began)
        bench.assert_bounded()
        assert safe < TIMEOUT + GRACE + RAMP + SLACK
        bench.note('/clock and states stop', 'gravity, then zero', safe, 'reset, enable')
        bench.clock_runs = True
        bench.recover()
        print('\n' + bench.table())
    finally:
        processes.end()
        graph.close()
