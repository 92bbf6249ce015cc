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

from time import monotonic
from typing import Any

import numpy as np
import pytest
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_ros.core.control.guard_state import GuardState
from robot_dynamics_ros.core.control.laws import ControlMode, InverseDynamicsLaw
from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory as Spline
from robot_dynamics_ros.nodes.forward_simulation_node import ForwardSimulationNode
from robot_dynamics_ros.nodes.inverse_dynamics_node import InverseDynamicsNode
from robot_dynamics_ros.resources import urdf_path
from robot_dynamics_ros.ros.conversions import duration_from_seconds, time_from_seconds
from ros_graph import Graph, joint_state, StateFeed, Statuses

ES5 = 'package://robot_dynamics_ros/urdf/es5.urdf.xacro'
NAMES = [f'joint_{i}' for i in range(1, 7)]
ORDER = [NAMES[i] for i in (3, 0, 5, 1, 4, 2)]
COMMANDS = 'effort_controller/commands'
REFERENCE = '/inverse_dynamics_node/reference'
ARMATURE = [0.7, 1.0, 0.7, 0.2, 0.2, 0.2]
KP = [400.0, 300.0, 200.0, 100.0, 90.0, 80.0]
KD = [40.0, 30.0, 20.0, 10.0, 9.0, 8.0]
Q = np.array([0.3, -1.2, 1.0, -0.5, 0.4, 0.1])
V = np.array([0.5, -0.4, 0.3, 0.2, -0.1, 0.6])
QUICK = {
    'robot_description_file': ES5,
    'gravity_compensated_by_hardware': False,
    'stale_state_policy': 'ramp_down',
    'arming_speed': 10.0,  # the states of the tests have a speed, but stand still
    'glide_time': 0.0,
    'autostart': True,
    'ramp_up_time': 0.0,
    'effort_rate_limits': [1e6] * 6,
    'crosscheck': False,
    'joints': NAMES,
    'armature': ARMATURE,
    'kp': KP,
    'kd': KD,
}


@pytest.fixture(scope='module')
def model() -> Any:
    return load_urdf(urdf_path('es5.urdf.xacro')).with_armature(ARMATURE)


def message(
    times: list[float],
    positions: Any,
    velocities: Any = None,
    accelerations: Any = None,
    names: list[str] = NAMES,
    stamp: float = 0.0,
) -> JointTrajectory:
    """Return a trajectory; a derivative that is not given is empty."""
    trajectory = JointTrajectory(joint_names=names)
    trajectory.header.stamp = time_from_seconds(stamp)
    for i, time in enumerate(times):
        point = JointTrajectoryPoint(time_from_start=duration_from_seconds(time))
        point.positions = [float(value) for value in positions[i]]
        if velocities is not None:
            point.velocities = [float(value) for value in velocities[i]]
        if accelerations is not None:
            point.accelerations = [float(value) for value in accelerations[i]]
        trajectory.points.append(point)
    return trajectory


class Arm:
    """An active node whose states are sent one by one, each with a stamp of its own."""

    def __init__(self, graph: Graph, **parameters: Any) -> None:
        self.graph = graph
        self.statuses = Statuses(graph)
        self.node = graph.add(InverseDynamicsNode, **{**QUICK, **parameters})
        self.commands = graph.collect(Float64MultiArray, COMMANDS)
        self.references = graph.probe.create_publisher(JointTrajectory, REFERENCE, 10)
        feed = StateFeed(graph, NAMES)
        feed.position = Q
        self.states = feed.publisher
        node = self.node
        assert graph.spin_until(lambda: node.is_active and node.guard.state is GuardState.ACTIVE)
        feed.is_on = False
        assert graph.matched(self.references)
        graph.spin_for(0.1)  # answers to the last of those states
        # States come one by one from here, in a time that begins at 100 s.
        self.answer(99.0, Q, np.zeros(6))

    def answer(self, stamp: float, q: Any, v: Any) -> Any:
        """Return the answer to one state."""
        count = len(self.commands)
        self.states.publish(joint_state(NAMES, q, v, stamp=stamp))
        assert self.graph.spin_until(lambda: len(self.commands) > count)
        return np.array(self.commands[-1].data)

    def send(self, reference: JointTrajectory, accepted: bool = True) -> None:
        """Send a reference and wait until it is judged."""
        judged = self.node.references
        before = judged.accepted, judged.rejected
        self.references.publish(reference)
        assert self.graph.spin_until(lambda: (judged.accepted, judged.rejected) != before)
        expected = (before[0] + accepted, before[1] + (not accepted))
        assert (judged.accepted, judged.rejected) == expected, judged.rejection


# State timeouts do not matter where states are sent one by one.
PATIENT = {'state_timeout': 5.0}


@pytest.mark.parametrize('mode', [mode.value for mode in ControlMode])
@pytest.mark.parametrize('by_hardware', [False, True])
def test_command_is_that_of_the_law_in_core(
    graph: Graph, model: Any, mode: str, by_hardware: bool
) -> None:
    arm = Arm(
        graph,
        **PATIENT,
        mode=mode,
        gravity_compensated_by_hardware=by_hardware,
        friction_source='urdf',
        effort_limits=[1000.0] * 6,
    )
    times, points = [0.0, 0.5, 1.0], [Q, Q + 0.2, Q - 0.1]
    arm.send(message(times, points, stamp=100.0))
    spline = Spline.from_points(NAMES, times, points)
    law = InverseDynamicsLaw(
        model,
        mode,
        gravity_compensated_by_hardware=by_hardware,
        kp=KP,
        kd=KD,
        friction=FrictionModel.from_model(model),
    )
    for t in (0.0, 0.125, 0.75, 1.0, 2.0):
        q = Q + 0.01 * np.sin(t + np.arange(6))
        tau = arm.answer(100.0 + t, q, V)
        # The same code on the same numbers; a stamp near 100 s is good to 1e-14 s.
        np.testing.assert_allclose(tau, law.command(q, V, spline.sample(t)), atol=1e-9)


def test_commands_and_gains_are_in_the_order_of_the_controller(graph: Graph, model: Any) -> None:
    turn = [NAMES.index(name) for name in ORDER]
    arm = Arm(
        graph,
        **PATIENT,
        joints=ORDER,
        kp=[KP[i] for i in turn],
        kd=[KD[i] for i in turn],
        armature=[ARMATURE[i] for i in turn],
    )
    tau = arm.answer(100.0, Q + 0.01, V)
    law = InverseDynamicsLaw(
        model, 'pd_feedforward', gravity_compensated_by_hardware=False, kp=KP, kd=KD
    )
    zero = np.zeros(6)
    expected = law.command(Q + 0.01, V, (Q, zero, zero))
    np.testing.assert_allclose(tau, expected[turn], atol=1e-9)  # the same code


def test_closed_loop_over_dds_is_the_closed_loop_in_core(graph: Graph, model: Any) -> None:
    # Plant and controller in lockstep, each in its own node: the motion is that of core alone.
    times, points = [0.0, 0.1, 0.2], [np.zeros(6), np.full(6, 0.02), np.full(6, 0.05)]
    states = graph.collect(JointState, 'joint_states')
    plant_node = graph.add(
        ForwardSimulationNode,
        robot_description_file=ES5,
        crosscheck=False,
        autostart=True,
        stepping='lockstep',
        state_rate=500.0,
        armature=ARMATURE,
        publish_clock=True,
    )
    node = graph.add(InverseDynamicsNode, **{**QUICK, **PATIENT})
    references = graph.probe.create_publisher(JointTrajectory, REFERENCE, 10)
    assert graph.spin_until(lambda: node.is_active and plant_node.is_active)
    assert graph.matched(references)
    # The loop runs by itself from the first command on. The reference begins in its future.
    begin = plant_node._steps / 500.0 + 1.0
    references.publish(message(times, points, stamp=begin))
    assert graph.spin_until(lambda: node.follower.kind == 'trajectory')
    assert graph.spin_until(lambda: plant_node._steps / 500.0 > begin + 0.3, 60.0)

    spline = Spline.from_points(NAMES, times, points)
    law = InverseDynamicsLaw(
        model, 'pd_feedforward', gravity_compensated_by_hardware=False, kp=KP, kd=KD
    )
    held = node.follower._held
    plant = Plant(model)
    by_time = {
        round(500 * (each.header.stamp.sec + 1e-9 * each.header.stamp.nanosec)): each
        for each in states
    }
    moving = [k for k in sorted(by_time) if np.any(by_time[k].position) or k / 500.0 > begin]
    first = moving[0] - 1
    state = plant.reset(by_time[first].position, by_time[first].velocity)
    for k in range(first, int(500 * (begin + 0.3))):
        t = k / 500.0
        reference = held if t < begin else spline.sample(t - begin)
        tau = law.command(state.q, state.v, reference)
        state = plant.step(tau, 1.0 / 500.0)
        if k + 1 in by_time:
            # Stamps are rounded to nanoseconds, speeds are below 1 rad/s, gains are 400.
            np.testing.assert_allclose(by_time[k + 1].position, state.q, atol=1e-8)
    np.testing.assert_allclose(state.q, points[-1], atol=1e-3)  # and it has tracked


def test_before_and_after_the_reference_the_arm_is_held(graph: Graph, model: Any) -> None:
    arm = Arm(graph, **PATIENT, mode='feedforward')
    gravity = generalized_gravity(model, Q)
    # No motion is wanted: the feedforward torque is that against gravity, up to rounding.
    np.testing.assert_allclose(arm.answer(99.5, Q, V), gravity, atol=1e-12)
    arm.send(message([1.0, 2.0], [Q + 0.1, Q + 0.2], stamp=101.0))
    np.testing.assert_allclose(arm.answer(100.0, Q, V), gravity, atol=1e-12)
    assert arm.node.follower.kind == 'trajectory'
    moving = arm.answer(102.0, Q, V)
    assert abs(moving - gravity).max() > 0.1
    held = generalized_gravity(model, Q + 0.2)
    np.testing.assert_allclose(arm.answer(103.5, Q, V), held, atol=1e-12)


def test_missing_derivatives_are_derived_and_given_ones_are_used(graph: Graph) -> None:
    # C16: a point without velocities is passed, not stopped at.
    arm = Arm(graph, **PATIENT, mode='feedforward')
    times = [0.0, 0.5, 1.0]
    arm.send(message(times, [Q, Q + 0.2, Q + 0.4], stamp=100.0))
    _, v, _ = arm.node.follower.sample(100.5)
    assert np.all(v > 0.3)
    arm.answer(102.0, Q + 0.4, V)
    speeds = [np.zeros(6), np.full(6, 0.1), np.zeros(6)]
    back = [Q + 0.4, Q + 0.45, Q + 0.5]
    arm.send(message(times, back, speeds, stamp=103.0))
    _, v, _ = arm.node.follower.sample(103.5)
    np.testing.assert_allclose(v, 0.1, atol=1e-12)  # rounding of the polynomial


@pytest.mark.parametrize(
    ('reference', 'reason'),
    [
        (message([0.0, 1.0], [Q[:5], Q[:5]], names=NAMES[:5]), 'joint_6'),
        (message([0.0, 1.0], [[*Q, 0.0]] * 2, names=[*NAMES, 'finger']), 'finger'),
        (message([0.0, 1.0], [Q, Q[:5]]), 'point 1'),
        (message([0.0, 1.0], [Q, [np.nan, *Q[1:]]]), 'joint_1'),
        (message([1.0, 0.5], [Q, Q]), 'time'),
        (message([0.0, 1.0], [Q + 0.5, Q]), 'would jump by 0.5'),
        (message([0.0, 9.0], [Q, [3.5, *Q[1:]]]), 'joint_1 would go to 3.5'),
        (message([0.0, 0.1], [Q, Q + 1.0]), 'would reach'),
        (message([], []), 'no points'),
        (message([0.0, 1.0], [Q, Q], stamp=50.0), 'ended 48'),
        (message([0.0], [Q + 0.5]), 'would jump'),
    ],
)
def test_references_that_cannot_be_followed_are_rejected(
    graph: Graph, reference: JointTrajectory, reason: str
) -> None:
    arm = Arm(graph, **PATIENT)
    before = arm.answer(99.5, Q, V)
    arm.send(reference, accepted=False)
    assert reason in arm.node.references.rejection
    np.testing.assert_array_equal(arm.answer(99.6, Q, V), before)
    assert arm.node.follower.kind == 'hold'
    assert arm.graph.spin_until(lambda: 'rejected' in arm.statuses.message('reference'))


def test_joints_of_a_reference_may_come_in_any_order(graph: Graph) -> None:
    arm = Arm(graph, **PATIENT)
    turn = [NAMES.index(name) for name in ORDER]
    arm.send(message([1.0], [(Q + 0.1 * np.arange(6))[turn]], names=ORDER, stamp=100.0))
    np.testing.assert_allclose(
        arm.node.follower.sample(101.0)[0], Q + 0.1 * np.arange(6), atol=1e-12
    )


def test_stream_of_single_points_is_followed_and_held_when_it_ends(graph: Graph) -> None:
    arm = Arm(graph, **PATIENT, reference_timeout=0.1)
    arm.answer(99.98, Q, V)
    for k in range(5):
        t = 100.0 + 0.02 * k
        arm.send(message([0.0], [Q + 0.01 * k], stamp=t))
        arm.answer(t, Q + 0.01 * k, V)
    assert arm.node.follower.kind == 'stream'
    q, v, _ = arm.node.follower.sample(100.08)
    np.testing.assert_allclose(q, Q + 0.04, atol=1e-12)
    # The stream moves at 0.01 rad in 0.02 s; the velocity is derived from it, not zero.
    np.testing.assert_allclose(v, 0.5, atol=1e-6)
    q, v, _ = arm.node.follower.sample(100.5)
    np.testing.assert_allclose(q, Q + 0.04, atol=1e-12)
    assert not np.any(v)


def test_time_that_goes_back_drops_the_reference_and_holds(graph: Graph) -> None:
    # B11, B22: a simulation that starts again.
    arm = Arm(graph, **PATIENT)
    arm.send(message([1.0, 5.0], [Q + 0.1, Q + 0.2], stamp=100.0))
    arm.answer(101.0, Q + 0.1, V)
    tau = arm.answer(10.0, Q, np.zeros(6))
    assert arm.node.follower.kind == 'hold'
    assert np.isfinite(tau).all()
    np.testing.assert_array_equal(arm.node.follower.sample(10.0)[0], Q)


def test_gains_may_change_while_active(graph: Graph) -> None:
    arm = Arm(graph, **PATIENT, mode='pd')
    np.testing.assert_allclose(arm.answer(100.0, Q - 0.01, np.zeros(6)), 0.01 * np.array(KP))
    results = arm.node.set_parameters([Parameter('kp', value=[50.0] * 6)])
    assert results[0].successful
    np.testing.assert_allclose(arm.answer(101.0, Q - 0.01, np.zeros(6)), 0.5)
    for bad in ([50.0] * 5, [-1.0] * 6, [float('nan')] * 6):
        assert not arm.node.set_parameters([Parameter('kp', value=bad)])[0].successful
    np.testing.assert_allclose(arm.answer(102.0, Q - 0.01, np.zeros(6)), 0.5)
    assert 'reads' not in arm.statuses.message('torque')


def test_velocity_that_is_not_sent_is_estimated(graph: Graph) -> None:
    # B03: unknown is not zero.
    arm = Arm(graph, **PATIENT, mode='pd', kp=[0.0])
    count = len(arm.commands)
    for k in range(3):
        state = joint_state(NAMES, Q + 0.01 * k, stamp=100.0 + 0.01 * k)
        arm.states.publish(state)
        assert graph.spin_until(lambda k=k: len(arm.commands) > count + k)
    np.testing.assert_allclose(arm.commands[-1].data, -np.array(KD), atol=1e-6)


def moving_arm(graph: Graph, **parameters: Any) -> tuple[Any, StateFeed, Any]:
    """Return an active node at rest in `Q`, its states, and what publishes references."""
    node = graph.add(InverseDynamicsNode, **{**QUICK, **parameters})
    feed = StateFeed(graph, NAMES)
    feed.position = Q
    references = graph.probe.create_publisher(JointTrajectory, REFERENCE, 10)
    assert graph.spin_until(lambda: node.is_active and node.guard.state is GuardState.ACTIVE)
    assert graph.matched(references)
    return node, feed, references


def test_states_that_come_back_find_the_arm_held_where_it_is(graph: Graph) -> None:
    rates = [1500.0] * 3 + [280.0] * 3
    node, feed, references = moving_arm(
        graph,
        recover_from_stale_state=True,
        stale_state_policy='hold_gravity',
        grace_time=3.0,
        ramp_up_time=0.3,
        effort_rate_limits=rates,
    )
    commands = graph.collect(Float64MultiArray, COMMANDS)
    goal = Q + np.array([1.2, 0.0, 0.0, 0.0, 0.0, 0.0])
    references.publish(message([1.5], [goal]))
    assert graph.spin_until(lambda: node.references.accepted == 1)
    feed.is_on = False
    assert graph.spin_until(lambda: node.guard.state is GuardState.RAMPING_DOWN)
    graph.spin_for(1.7)  # the reference has arrived at its goal by now, without the arm
    commands.clear()
    feed.is_on = True
    assert graph.spin_until(lambda: node.guard.state is GuardState.ACTIVE)
    graph.spin_for(0.3)
    q, _, _ = node.follower.sample(node.buffer.stamp)
    np.testing.assert_allclose(q, Q, rtol=0.0, atol=1e-12)
    # The law holds the arm: no torque about the vertical axis, where the way was to lead.
    assert abs(np.array([command.data[0] for command in commands])).max() < 1e-6


@pytest.mark.parametrize('ending', ['disarmed', 'failed'])
def test_reference_without_torque_is_rejected(graph: Graph, ending: str) -> None:
    node, _, references = moving_arm(graph)
    if ending == 'disarmed':
        node.guard.disarm(monotonic())
    else:
        node.guard.fail(monotonic(), 'for a test')
    assert graph.spin_until(lambda: not node.guard.state.is_commanding)
    references.publish(message([1.5], [Q + 0.1]))
    assert graph.spin_until(lambda: node.references.rejected == 1)
    state = 'ready' if ending == 'disarmed' else 'fault'
    assert node.references.rejection == f'the torque is not on but {state}'
    assert node.references.accepted == 0
