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

"""Nodes as processes of their own, started and ended as a user or a launch file does it."""

from collections.abc import Iterator
from pathlib import Path
import signal
import time

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from machine_stalls import MACHINE_STALLS
from node_processes import output, Processes
from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import urdf_path
from robot_dynamics_ros.ros.node_parameters import NODE_PARAMETERS
from ros_graph import Graph, StateFeed, Statuses

NAMES = [f'joint_{i}' for i in range(1, 7)]
COMMANDS = 'effort_controller/commands'
DEADLINE = 60.0  # start of a process on a machine that does other things [s]


@pytest.fixture
def processes() -> Iterator[Processes]:
    processes = Processes()
    yield processes
    processes.end()


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT])
def test_signal_ramps_the_torque_down_before_the_process_ends(
    graph: Graph, processes: Processes, number: int
) -> None:
    process = processes.configured('gravity_compensation_node', ramp_up_time='0.0')
    feed = StateFeed(graph, NAMES)
    commands = graph.collect(Float64MultiArray, COMMANDS)
    gravity = generalized_gravity(load_urdf(urdf_path('es5.urdf.xacro')), np.zeros(6))
    assert graph.spin_until(
        lambda: commands and np.allclose(commands[-1].data, gravity), DEADLINE
    ), 'the torque of the config is that of core'
    commands.clear()
    process.send_signal(number)
    sent = time.monotonic()
    assert graph.spin_until(lambda: process.poll() is not None)
    # 0.5 s of ramp, 0.1 s of rate limit, and what the end of a process takes.
    assert time.monotonic() - sent < 5.0 + MACHINE_STALLS.since(sent)
    assert process.returncode == 0, output(process)
    graph.spin_for(0.1)
    shoulder = abs(np.array([command.data[1] for command in commands]))
    assert shoulder[-1] == 0.0
    # Answers to live states at 100 Hz all the way down.
    assert np.sum((shoulder > 0.0) & (shoulder < abs(gravity[1]))) > 20
    assert abs(np.diff(shoulder)).max() < 0.2 * abs(gravity[1])
    assert feed.is_on


def test_death_of_the_plant_ramps_the_torque_down(graph: Graph, processes: Processes) -> None:
    # C10: the states stop; the torque must not outlive them by more than timeout, grace and ramp.
    statuses = Statuses(graph)
    # Without a queue, in which commands would wait for this process to look at them.
    states = graph.collect(JointState, 'joint_states', 1)
    commands = graph.collect(Float64MultiArray, COMMANDS, 1)
    plant = processes.configured('forward_simulation_node')
    controller = processes.configured('inverse_dynamics_node')
    assert graph.spin_until(lambda: commands and states, DEADLINE)
    assert graph.spin_until(lambda: statuses.message('torque') == 'active', DEADLINE)
    graph.spin_for(1.5)  # brakes released
    # The unknown friction of the plant holds what the model leaves: the arm stays at zero.
    np.testing.assert_allclose(states[-1].position, 0.0, atol=0.02)
    plant.kill()
    killed = time.monotonic()
    assert graph.spin_until(lambda: not np.any(commands[-1].data))
    # timeout 0.1 s, grace time 2 s, ramp 0.5 s, and 1.9 s for a busy machine
    lasted = time.monotonic() - killed
    assert 2.0 < lasted < 4.5 + MACHINE_STALLS.since(killed)
    assert graph.spin_until(lambda: 'fault' in statuses.message('torque'))
    assert controller.poll() is None, 'the node lives and says what happened'


def test_signal_before_anything_has_come_ends_the_process_at_once(
    graph: Graph, processes: Processes
) -> None:
    statuses = Statuses(graph)
    process = processes.start('gravity_compensation_node', autostart='true')
    assert graph.spin_until(lambda: statuses.message('lifecycle') == 'unconfigured', DEADLINE)
    process.terminate()
    assert process.wait(5.0) == 0


SAID = {'gravity_compensated_by_hardware': 'false', 'stale_state_policy': 'ramp_down'}


@pytest.mark.parametrize(
    ('parameters', 'reason'),
    [
        ({}, 'gravity_compensated_by_hardware is not set'),
        ({'gravity_compensated_by_hardware': 'maybe'}, "'maybe'"),
        ({'gravity_compensated_by_hardware': 'false'}, 'stale_state_policy is not set'),
        ({**SAID, 'stale_state_policy': 'hope'}, "'hope'"),
        ({**SAID, 'scale': '9.0'}, 'scale is 9.0'),
        ({**SAID, 'gravity': '[0.0, 0.0, 0.0]'}, 'gravity'),
        ({**SAID, 'joints': '[joint_7]'}, 'joint_7'),
    ],
)
def test_bad_configuration_ends_the_process_with_one_line(
    processes: Processes, parameters: dict[str, str], reason: str
) -> None:
    process = processes.start(
        'gravity_compensation_node',
        autostart='true',
        crosscheck='false',
        robot_description_file=str(urdf_path('es5.urdf.xacro')),
        **parameters,
    )
    said = output(process, DEADLINE)
    assert process.returncode == 1
    assert reason in said
    assert 'Traceback' not in said
    assert len([line for line in said.splitlines() if 'ERROR' in line or 'FATAL' in line]) == 1


@pytest.mark.parametrize(
    ('arguments', 'reason'),
    [
        (['-p', 'gravity'], "'-p gravity'"),
        (['-p', 'gravity:=[0.0,'], 'gravity:=[0.0,'),
        (['-p', 'use_sim_time:=3'], 'use_sim_time'),
        (['-r', 'joint_states'], "'-r joint_states'"),
        (['--params-file', '/nowhere.yaml'], '/nowhere.yaml'),
        (['--log-level', 'loud'], 'loud'),
        (['--unknown'], '--unknown'),
    ],
)
@pytest.mark.parametrize('node', ['gravity_compensation_node', 'forward_simulation_node'])
def test_arguments_that_ros_refuses_end_the_process_with_one_line(
    processes: Processes, node: str, arguments: list[str], reason: str
) -> None:
    process = processes.start(node, *arguments)
    said = output(process, DEADLINE)
    assert process.returncode == 1
    assert 'Traceback' not in said
    # rcl has a line of its own for some, which gives no reason.
    (line,) = [line for line in said.splitlines() if 'FATAL' in line]
    assert reason in line


MOTION = """joint_names: [joint_1]
points:
- {positions: [0.0], velocities: [0.0], time_from_start: {sec: 0, nanosec: 0}}
- {positions: [0.1], velocities: [0.0], time_from_start: {sec: 1, nanosec: 0}}
"""


@pytest.mark.parametrize('node', NODE_PARAMETERS)
def test_installed_configuration_starts_the_node_in_a_namespace(
    graph: Graph, processes: Processes, node: str, tmp_path: Path
) -> None:
    statuses = Statuses(graph)
    files = {}
    if node == 'excitation_node':  # whose trajectory is the user's
        (tmp_path / 'motion.yaml').write_text(MOTION)
        files['trajectory_file'] = str(tmp_path / 'motion.yaml')
    process = processes.configured(node, '-r', '__ns:=/arm', **files)
    feed = StateFeed(graph, NAMES, '/arm/joint_states')
    feed.is_on = node != 'forward_simulation_node'
    assert graph.spin_until(lambda: statuses.message('lifecycle') == 'active', DEADLINE), (
        statuses.newest
    )
    process.terminate()
    assert graph.spin_until(lambda: process.poll() is not None)
    said = output(process)
    assert process.returncode == 0, said
    assert 'is ignored' not in said, 'every name in the file is a parameter'
    assert 'ERROR' not in said


def test_transition_that_is_not_allowed_does_not_end_the_process(
    graph: Graph, processes: Processes
) -> None:
    statuses = Statuses(graph)
    process = processes.configured('gravity_compensation_node', ramp_up_time='0.0')
    feed = StateFeed(graph, NAMES)
    client = graph.probe.create_client(ChangeState, '/gravity_compensation_node/change_state')
    assert graph.spin_until(lambda: statuses.message('torque') == 'active', DEADLINE)
    assert graph.spin_until(client.service_is_ready)
    activate = Transition(id=Transition.TRANSITION_ACTIVATE)
    client.call_async(ChangeState.Request(transition=activate))
    graph.spin_for(1.5)
    assert process.poll() is None
    assert statuses.message('torque') == 'active'
    assert feed.is_on
