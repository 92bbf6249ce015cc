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

import time
from typing import Any

from builtin_interfaces.msg import Time
import numpy as np
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.nodes.forward_simulation_node import ForwardSimulationNode
from robot_dynamics_ros.resources import config_path, urdf_path
from ros_graph import Graph, Statuses

ES5 = 'package://robot_dynamics_ros/urdf/es5.urdf.xacro'
NAMES = [f'joint_{i}' for i in range(1, 7)]
COMMANDS = 'effort_controller/commands'
EFFORTS = '/forward_simulation_node/efforts'
BASIC = {'robot_description_file': ES5, 'autostart': True, 'crosscheck': False}


def started(graph: Graph, **parameters: Any) -> tuple[Any, Any, list[Any]]:
    """Return an active node, the publisher of its commands, and its states."""
    states = graph.collect(JointState, 'joint_states')
    publisher = graph.probe.create_publisher(Float64MultiArray, COMMANDS, 1)
    node = graph.add(ForwardSimulationNode, **{**BASIC, **parameters})
    assert graph.spin_until(lambda: node.is_active and states)
    assert graph.matched(publisher)
    return node, publisher, states


def answer(graph: Graph, publisher: Any, states: list[Any], tau: Any) -> Any:
    """Send a command in lockstep and return the state that follows."""
    node = graph.nodes[0]
    steps = node.counts['commands']
    publisher.publish(Float64MultiArray(data=list(map(float, tau))))
    assert graph.spin_until(lambda: node.counts['commands'] > steps)
    sec, nanosec = node._states.stamp
    assert graph.spin_until(lambda: states[-1].header.stamp == Time(sec=sec, nanosec=nanosec))
    return states[-1]


def test_lockstep_makes_the_steps_of_core(graph: Graph) -> None:
    order = [NAMES[i] for i in (5, 0, 4, 1, 3, 2)]
    friction = 'package://robot_dynamics_ros/config/es5_friction.yaml'
    _, publisher, states = started(
        graph,
        stepping='lockstep',
        state_rate=200.0,
        joints=order,
        armature=[0.2, 0.7, 0.2, 1.0, 0.2, 0.7],
        initial_positions=[0.6, 0.1, 0.5, 0.2, 0.4, 0.3],
        friction_source='file',
        friction_file=friction,
    )
    model = load_urdf(urdf_path('es5.urdf.xacro')).with_armature([0.7, 1.0, 0.7, 0.2, 0.2, 0.2])
    law = DryFriction.from_file(config_path('es5_friction.yaml'), NAMES)
    plant = Plant(model, law, q=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    np.testing.assert_array_equal(states[-1].position, plant.state.q)
    rng = np.random.default_rng(1)
    for _ in range(20):
        tau = rng.uniform(-20.0, 20.0, 6)
        state = answer(graph, publisher, states, [tau[NAMES.index(name)] for name in order])
        expected = plant.step(tau, 0.005)
        # The same code on the same numbers.
        assert list(state.name) == NAMES
        np.testing.assert_array_equal(state.position, expected.q)
        np.testing.assert_array_equal(state.velocity, expected.v)
        np.testing.assert_array_equal(state.effort, tau)
    stamps = [state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec for state in states]
    # Stamps are whole nanoseconds, and in floats of this size 2.4e-7 s apart.
    np.testing.assert_allclose(np.diff(stamps)[-19:], 0.005, atol=1e-6)


def test_last_command_is_kept_and_bad_ones_are_dropped(graph: Graph) -> None:
    statuses = Statuses(graph)
    node, publisher, states = started(graph, state_rate=100.0)
    tau = [1.0, -60.0, -10.0, 0.5, 0.2, 0.1]
    publisher.publish(Float64MultiArray(data=tau))
    assert graph.spin_until(lambda: list(states[-1].effort) == tau)
    for count, bad in enumerate(([1.0] * 5, [1.0] * 7, [], [np.nan] * 6, [np.inf, *tau[1:]]), 1):
        publisher.publish(Float64MultiArray(data=bad))
        # The queue holds one command: the next is sent only after this one was dropped.
        assert graph.spin_until(
            lambda: node.counts['wrong_size'] + node.counts['not_finite'] == count  # noqa: B023
        )
    assert list(states[-1].effort) == tau
    assert graph.spin_until(lambda: statuses.values('simulation').get('wrong_size') == '3')
    assert statuses.values('simulation')['not_finite'] == '2'
    assert statuses.level('simulation') == 1
    assert node.is_active


def test_named_efforts_are_taken_by_name(graph: Graph) -> None:
    statuses = Statuses(graph)
    node, _, states = started(graph, state_rate=100.0)
    publisher = graph.probe.create_publisher(JointState, EFFORTS, 1)
    assert graph.matched(publisher)
    publisher.publish(JointState(name=['joint_2', 'joint_1'], effort=[-60.0, 1.0]))
    assert graph.spin_until(lambda: list(states[-1].effort) == [1.0, -60.0, 0.0, 0.0, 0.0, 0.0])
    publisher.publish(JointState(name=['joint_3'], effort=[5.0]))
    assert graph.spin_until(lambda: list(states[-1].effort) == [1.0, -60.0, 5.0, 0.0, 0.0, 0.0])
    publisher.publish(JointState(name=['joint_3', 'joint_9'], effort=[1.0, 1.0]))
    assert graph.spin_until(lambda: statuses.values('simulation').get('unknown_joint') == '1')
    assert list(states[-1].effort) == [1.0, -60.0, 5.0, 0.0, 0.0, 0.0]
    assert node.is_active


def test_brakes_hold_until_the_first_command_and_a_while_longer(graph: Graph) -> None:
    _, publisher, states = started(
        graph, stepping='lockstep', state_rate=100.0, brake_release_delay=0.05
    )
    assert graph.spin_until(lambda: len(states) > 5)
    assert not np.any(states[-1].position)
    moved = [np.any(answer(graph, publisher, states, [0.0] * 6).velocity) for _ in range(7)]
    assert moved == [False] * 5 + [True] * 2


def test_without_brakes_the_robot_falls_at_once(graph: Graph) -> None:
    _, _, states = started(graph, hold_until_command=False, state_rate=100.0)
    assert graph.spin_until(lambda: abs(states[-1].velocity[1]) > 0.1)


def test_drives_saturate_at_the_effort_limits(graph: Graph) -> None:
    _, publisher, states = started(graph, stepping='lockstep')
    state = answer(graph, publisher, states, [1000.0, -1000.0, 0.0, 100.0, 0.0, 0.0])
    assert list(state.effort) == [150.0, -150.0, 0.0, 28.0, 0.0, 0.0]


def test_clock_is_published_with_the_time_of_the_states(graph: Graph) -> None:
    clocks = graph.collect(Clock, '/clock')
    _, _, states = started(graph, publish_clock=True, state_rate=100.0)
    assert graph.spin_until(lambda: len(clocks) > 10 and len(states) > 10)
    stamps = {(each.header.stamp.sec, each.header.stamp.nanosec) for each in states}
    times = {(each.clock.sec, each.clock.nanosec) for each in clocks}
    assert len(stamps & times) > 5
    assert (0, 0) not in times
    assert min(times) < (5, 0), 'simulated time begins at zero'


@pytest.mark.parametrize('factor', [0.5, 2.0])
def test_real_time_runs_at_its_factor(graph: Graph, factor: float) -> None:
    node, _, _ = started(graph, real_time_factor=factor, state_rate=100.0)
    began, steps = time.monotonic(), node._steps
    graph.spin_for(1.0)
    elapsed = time.monotonic() - began
    simulated = (node._steps - steps) / 100.0
    assert steps < node._steps
    # A machine under load is late by some ticks, and lets steps go if it is late by more than 20;
    # up to 20 of before may come at once.
    assert 0.5 * factor * elapsed < simulated <= factor * elapsed + 0.22


def test_initial_positions_of_another_size_are_refused(graph: Graph) -> None:
    node = graph.add(
        ForwardSimulationNode, **{**BASIC, 'initial_positions': [0.0], 'autostart': False}
    )
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE


def test_reactivation_puts_the_robot_back(graph: Graph) -> None:
    node, publisher, states = started(graph, stepping='lockstep', initial_positions=[0.2] * 6)
    answer(graph, publisher, states, [50.0] * 6)
    assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    states.clear()
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    assert graph.spin_until(lambda: len(states) > 2)
    assert list(states[-1].position) == [0.2] * 6


def test_payload_may_change_while_the_robot_moves(graph: Graph) -> None:
    node, publisher, states = started(graph, stepping='lockstep', state_rate=200.0)
    tau = np.array([5.0, -60.0, -20.0, 0.5, 0.2, 0.1])
    for _ in range(5):
        answer(graph, publisher, states, tau)
    before = node.hardware.plant.state
    changes = [Parameter('payload.mass', value=2.0), Parameter('payload.frame', value='tool0')]
    assert node.set_parameters_atomically(changes).successful
    state = answer(graph, publisher, states, tau)
    loaded = load_urdf(urdf_path('es5.urdf.xacro')).with_payload(Payload(2.0, 'tool0'))
    expected = Plant(loaded, q=before.q, v=before.v).step(tau, 0.005)
    np.testing.assert_array_equal(state.position, expected.q)  # the same code and numbers
    np.testing.assert_array_equal(state.velocity, expected.v)
