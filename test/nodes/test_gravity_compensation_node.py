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

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import InertiaStamped
import numpy as np
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger

from example_robots import example_urdf
from robot_dynamics_ros.core.control.guard_state import GuardState
from robot_dynamics_ros.core.dynamics import generalized_gravity, nonlinear_effects
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.nodes.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.resources import urdf_path
from robot_dynamics_ros.ros.qos import LATCHED
from ros_graph import Graph, joint_state, StateFeed, Statuses

ES5 = 'package://robot_dynamics_ros/urdf/es5.urdf.xacro'
NAMES = [f'joint_{i}' for i in range(1, 7)]
Q = np.array([0.3, -1.2, 1.0, -0.5, 0.4, 0.1])
V = np.array([0.5, -0.4, 0.3, 0.2, -0.1, 0.6])
COMMANDS = 'effort_controller/commands'
TORQUES = '/gravity_compensation_node/torques'
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
}
SUCCESS = TransitionCallbackReturn.SUCCESS


@pytest.fixture(scope='module')
def model() -> Any:
    return load_urdf(urdf_path('es5.urdf.xacro'))


def started(graph: Graph, **parameters: Any) -> tuple[Any, StateFeed, list[Any]]:
    """Return an active node, the states that it gets, and the commands that it gives."""
    node = graph.add(GravityCompensationNode, **{**QUICK, **parameters})
    feed = StateFeed(graph, NAMES)
    feed.position, feed.velocity = Q, V
    commands = graph.collect(Float64MultiArray, COMMANDS)
    assert graph.spin_until(lambda: node.is_active and node.guard.state is GuardState.ACTIVE)
    assert graph.spin_until(lambda: len(commands) > 3)
    return node, feed, commands


def settled(graph: Graph, commands: list[Any], is_right: Callable[[Any], bool]) -> bool:
    """Wait until commands are right."""
    return graph.spin_until(lambda: is_right(np.array(commands[-1].data)))


def test_command_is_the_gravity_torque_of_core(graph: Graph, model: Any) -> None:
    _, _, commands = started(graph)
    # The same function on the same numbers.
    np.testing.assert_array_equal(commands[-1].data, generalized_gravity(model, Q))


def test_command_follows_the_order_of_the_controller_and_of_each_message(
    graph: Graph, model: Any
) -> None:
    # B01, B02: states in any order, other joints among them; commands in the controller's order.
    order = [NAMES[i] for i in (3, 0, 5, 1, 4, 2)]
    _, feed, commands = started(graph, joints=order)
    gravity = dict(zip(NAMES, generalized_gravity(model, Q)))
    expected = [gravity[name] for name in order]
    np.testing.assert_array_equal(commands[-1].data, expected)
    feed.names = [NAMES[2], 'finger', *NAMES[3:], *NAMES[:2]]
    feed.position = [Q[2], 0.02, *Q[3:], *Q[:2]]
    feed.velocity = [V[2], np.nan, *V[3:], *V[:2]]
    feed.effort = [np.nan] * 7  # B06: a field that is not used
    before = len(commands)
    assert graph.spin_until(lambda: len(commands) > before + 5)
    np.testing.assert_array_equal(commands[-1].data, expected)


def test_ur5_in_alphabetical_order(graph: Graph) -> None:
    file = str(example_urdf('ur5_robot.urdf'))
    by_name = {
        'shoulder_pan_joint': (0.3, 0.0),
        'shoulder_lift_joint': (-1.2, -31.24143),
        'elbow_joint': (1.0, -15.48359),
        'wrist_1_joint': (-0.5, -0.11240),
        'wrist_2_joint': (0.4, 0.0),
        'wrist_3_joint': (0.0, 0.0),
    }
    node = graph.add(
        GravityCompensationNode,
        **{**QUICK, 'robot_description_file': file, 'joints': list(by_name)},
    )
    feed = StateFeed(graph, sorted(by_name))
    feed.position = [by_name[name][0] for name in sorted(by_name)]
    commands = graph.collect(Float64MultiArray, COMMANDS)
    assert graph.spin_until(lambda: node.is_active and len(commands) > 5)
    # Pinocchio's figures have five decimals.
    np.testing.assert_allclose(
        commands[-1].data, [torque for _, torque in by_name.values()], atol=1e-5
    )


def test_torques_carry_names_and_terms_are_there_for_who_listens(graph: Graph, model: Any) -> None:
    node, _, _ = started(graph, coriolis=True, friction_source='urdf')
    torques = graph.collect(JointState, TORQUES)
    terms = {
        name: graph.collect(JointState, f'{TORQUES}/{name}')
        for name in ('inertia', 'coriolis', 'gravity', 'friction', 'feedback')
    }
    assert graph.spin_until(lambda: torques and all(terms.values()))
    assert torques[-1].name == NAMES
    assert torques[-1].header.stamp.sec > 0
    gravity = generalized_gravity(model, Q)
    coriolis = nonlinear_effects(model, Q, V) - gravity
    friction = node.friction.torque(V)
    # Sums in another order: rounding of 50 N m.
    np.testing.assert_allclose(terms['gravity'][-1].effort, gravity, atol=1e-12)
    np.testing.assert_allclose(terms['coriolis'][-1].effort, coriolis, atol=1e-12)
    np.testing.assert_allclose(terms['friction'][-1].effort, friction, atol=1e-12)
    assert not np.any(terms['inertia'][-1].effort)
    assert not np.any(terms['feedback'][-1].effort)
    np.testing.assert_allclose(torques[-1].effort, gravity + coriolis + friction, atol=1e-12)


def test_torque_ramps_up_from_zero_within_the_rate_limit(graph: Graph, model: Any) -> None:
    node = graph.add(GravityCompensationNode, **{**QUICK, 'ramp_up_time': 0.5})
    feed = StateFeed(graph, NAMES)
    feed.position = Q
    commands = graph.collect(Float64MultiArray, COMMANDS)
    assert graph.spin_until(lambda: commands)
    gravity = generalized_gravity(model, Q)
    assert abs(np.array(commands[0].data)).max() < 0.5 * abs(gravity).max()
    assert graph.spin_until(lambda: node.guard.state is GuardState.ACTIVE)
    assert graph.spin_until(lambda: np.array_equal(commands[-1].data, gravity))
    shoulder = np.array([command.data[1] for command in commands])
    assert np.all(np.diff(shoulder) * np.sign(gravity[1]) >= 0.0)


def test_ramp_may_begin_at_the_measured_effort(graph: Graph) -> None:
    # C09: no drop when the robot was held by the same torque before.
    slow = {'ramp_up_time': 5.0, 'ramp_from': 'measured_effort', 'effort_semantics': 'torque'}
    graph.add(GravityCompensationNode, **{**QUICK, **slow})
    feed = StateFeed(graph, NAMES)
    feed.position, feed.effort = Q, [1.0, -30.0, 10.0, 2.0, 1.0, 0.5]
    commands = graph.collect(Float64MultiArray, COMMANDS)
    assert graph.spin_until(lambda: commands)
    # 5 s of ramp have hardly begun: at 0.1 s it is at 0.1 %.
    np.testing.assert_allclose(commands[0].data, feed.effort, atol=1.0)


def test_node_that_was_deactivated_once_still_ramps_down_on_a_fault(graph: Graph) -> None:
    node, feed, commands = started(graph, ramp_down_time=0.1)
    assert node.trigger_deactivate() is TransitionCallbackReturn.SUCCESS
    assert graph.spin_until(
        lambda: node.is_active or node.trigger_activate() is TransitionCallbackReturn.SUCCESS
    )
    assert graph.spin_until(lambda: node.guard.state is GuardState.ACTIVE)
    feed.is_on = False
    assert graph.spin_until(lambda: node.guard.state is GuardState.FAULT)
    assert graph.spin_until(lambda: not np.any(commands[-1].data))


@pytest.mark.parametrize(
    ('spoil', 'reason'),
    [
        (lambda feed: setattr(feed, 'position', [np.nan, *Q[1:]]), 'position_not_finite'),
        (lambda feed: setattr(feed, 'velocity', V[:3]), 'array_length'),
        (lambda feed: setattr(feed, 'names', [NAMES[0]] * 6), 'duplicate_name'),
        (lambda feed: setattr(feed, 'position', Q + 3.0), 'position_jump'),
        (lambda feed: setattr(feed, 'is_on', False), ''),
    ],
)
def test_bad_and_missing_states_ramp_the_torque_to_zero(
    graph: Graph, spoil: Callable[[StateFeed], None], reason: str
) -> None:
    # B04, B05, B19, C10: never a bad number, and never a torque that outlives its states.
    statuses = Statuses(graph)
    node, feed, commands = started(graph, ramp_down_time=0.3, max_joint_speed=[6.5] * 6)
    spoil(feed)
    commands.clear()
    assert graph.spin_until(lambda: node.guard.state is GuardState.FAULT)
    assert graph.spin_until(lambda: commands and not np.any(commands[-1].data))
    torque = np.array([command.data for command in commands])
    assert np.isfinite(torque).all()
    assert len(torque) > 20, 'a ramp of 0.3 s in steps of 5 ms'
    assert np.all(np.diff(abs(torque[:, 1])) <= 1e-9)
    assert graph.spin_until(lambda: 'fault' in statuses.message('torque'))
    assert statuses.level('torque') == 2
    if reason != 'position_jump':  # which is taken when enough time has passed for it
        assert graph.spin_until(lambda: 'no fresh state' in statuses.message('joint states'))
    if reason:
        assert graph.spin_until(lambda: f'messages {reason}' in statuses.values('joint states'))
    count = len(commands)
    graph.spin_for(0.2)
    assert len(commands) == count, 'silence after the fault'


def test_fault_is_left_by_reset_only(graph: Graph, model: Any) -> None:
    node, feed, commands = started(graph, ramp_down_time=0.1)
    feed.is_on = False
    assert graph.spin_until(lambda: node.guard.state is GuardState.FAULT)
    feed.is_on = True
    graph.spin_for(0.2)
    assert node.guard.state is GuardState.FAULT, 'good states alone do not arm it again'
    assert node.trigger_deactivate() == SUCCESS
    assert graph.spin_until(lambda: not node.waits_for())
    assert node.trigger_activate() != SUCCESS
    reset = graph.probe.create_client(Trigger, '/gravity_compensation_node/reset')
    enable = graph.probe.create_client(SetBool, '/gravity_compensation_node/enable')
    answer = graph.call(enable, SetBool.Request(data=True))
    assert not answer.success
    assert answer.message == 'the node is not active'
    answer = graph.call(reset, Trigger.Request())
    assert answer.success
    assert answer.message.startswith('reset after: joint state is')
    assert graph.spin_until(lambda: not node.waits_for())
    assert node.trigger_activate() == SUCCESS
    gravity = generalized_gravity(model, Q)
    assert settled(graph, commands, lambda tau: np.array_equal(tau, gravity))


def test_activation_is_refused_without_states(graph: Graph) -> None:
    node = graph.add(GravityCompensationNode, **{**QUICK, 'autostart': False})
    commands = graph.collect(Float64MultiArray, COMMANDS)
    assert node.trigger_configure() == SUCCESS
    assert node.trigger_activate() == TransitionCallbackReturn.FAILURE
    assert not node.is_active
    graph.spin_for(0.1)
    assert not commands


def test_partial_states_are_merged(graph: Graph, model: Any) -> None:
    # B08: two publishers with three joints each; nothing before both have spoken.
    node = graph.add(GravityCompensationNode, **{**QUICK, 'state_timeout': 1.0})
    commands = graph.collect(Float64MultiArray, COMMANDS)
    first = StateFeed(graph, NAMES[:3])
    first.position, first.velocity = Q[:3], V[:3]
    assert graph.spin_until(lambda: node.is_configured)
    graph.spin_for(0.3)
    assert not commands
    second = StateFeed(graph, NAMES[3:])
    second.position, second.velocity = Q[3:], V[3:]
    assert graph.spin_until(lambda: commands)
    gravity = generalized_gravity(model, Q)
    assert settled(graph, commands, lambda tau: np.array_equal(tau, gravity))


def test_torque_stays_inside_the_limits_and_says_so(graph: Graph) -> None:
    # C08: the joint that cannot be held is named; the others keep their torque.
    statuses = Statuses(graph)
    limits = [150.0, 5.0, 150.0, 28.0, 28.0, 28.0]
    node, _, commands = started(graph, effort_limits=limits)
    tau = np.array(commands[-1].data)
    wanted = node.law.command(Q, V)
    assert abs(tau[1]) == 5.0
    np.testing.assert_array_equal(np.delete(tau, 1), np.delete(wanted, 1))
    assert graph.spin_until(lambda: 'cannot hold joint_2' in statuses.message('torque'))


def test_payload_by_message_adds_its_weight_and_goes_without_trace(
    graph: Graph, model: Any
) -> None:
    node, _, commands = started(graph, payload_source='topic')
    publisher = graph.probe.create_publisher(
        InertiaStamped, '/gravity_compensation_node/payload', LATCHED
    )
    message = InertiaStamped()
    message.header.frame_id = 'tool0'
    message.inertia.m, message.inertia.com.z = 2.0, 0.1
    publisher.publish(message)
    loaded = model.with_payload(Payload(2.0, 'tool0', np.array([0.0, 0.0, 0.1])))
    expected = generalized_gravity(loaded, Q)
    assert settled(graph, commands, lambda tau: np.array_equal(tau, expected))
    message.inertia.m = -1.0  # refused: the one before stays
    publisher.publish(message)
    graph.spin_for(0.1)
    np.testing.assert_array_equal(commands[-1].data, expected)
    message.inertia.m = 0.0
    publisher.publish(message)
    bare = generalized_gravity(model, Q)
    assert settled(graph, commands, lambda tau: np.array_equal(tau, bare))
    assert node.model.payload is None


def test_live_parameters_change_the_command_and_nonsense_does_not(
    graph: Graph, model: Any
) -> None:
    node, _, commands = started(graph)
    gravity = generalized_gravity(model, Q)

    def set_one(name: str, value: Any) -> Any:
        return node.set_parameters([Parameter(name, value=value)])[0]

    assert set_one('scale', 0.5).successful
    assert settled(graph, commands, lambda tau: np.array_equal(tau, 0.5 * gravity))
    assert not set_one('scale', 2.0).successful
    result = set_one('gravity', [0.0, 0.0, 9.81])
    assert 'is read when the node configures' in result.reason
    assert 'read-only' in set_one('autostart', False).reason
    mass = Parameter('payload.mass', value=2.0)
    frame = Parameter('payload.frame', value='no_such_link')
    result = node.set_parameters_atomically([mass, frame])
    assert 'no_such_link' in result.reason
    result = node.set_parameters_atomically([mass, Parameter('payload.frame', value='tool0')])
    assert result.successful
    loaded = 0.5 * generalized_gravity(model.with_payload(Payload(2.0, 'tool0')), Q)
    assert settled(graph, commands, lambda tau: np.array_equal(tau, loaded))


def test_deactivation_ramps_down_and_ends_with_zero(graph: Graph, model: Any) -> None:
    node, _, commands = started(graph, ramp_down_time=0.2)
    commands.clear()
    assert node.trigger_deactivate() == SUCCESS
    assert graph.spin_until(lambda: commands and not np.any(commands[-1].data))
    # A subscriber that keeps enough sees the whole ramp although it was made in one callback.
    shoulder = abs(np.array([command.data[1] for command in commands]))
    assert 0.0 < np.median(shoulder) < abs(generalized_gravity(model, Q)[1])
    assert node.guard.state is GuardState.READY
    count = len(commands)
    graph.spin_for(0.1)
    assert len(commands) == count


def test_configuration_is_refused_until_someone_says_who_carries_the_weight(graph: Graph) -> None:
    parameters = {k: v for k, v in QUICK.items() if k != 'gravity_compensated_by_hardware'}
    node = graph.add(GravityCompensationNode, **parameters)
    assert graph.spin_until(lambda: node.is_finished)
    assert node.exit_code == 1
    assert not node.is_configured


def test_robot_without_effort_limits_is_not_armed(graph: Graph, tmp_path: Any) -> None:
    # A15: an effort limit of 0 counts as not stated.
    text = urdf_path('pendulum.urdf').read_text()
    start = text.index('effort="')
    text = text[:start] + 'effort="0' + text[text.index('"', start + 8) :]
    file = tmp_path / 'pendulum.urdf'
    file.write_text(text)
    joint = load_urdf(file).joint_names[0]
    node = graph.add(
        GravityCompensationNode,
        **{
            **QUICK,
            'robot_description_file': str(file),
            'effort_rate_limits': [1e6],
            'autostart': False,
        },
    )
    feed = StateFeed(graph, [joint])
    assert node.trigger_configure() == SUCCESS
    assert graph.spin_until(lambda: not node.waits_for())
    assert node.trigger_activate() == TransitionCallbackReturn.FAILURE
    assert feed.is_on
    node.trigger_cleanup()
    assert node.set_parameters([Parameter('effort_limits', value=[40.0])])[0].successful
    assert node.trigger_configure() == SUCCESS
    assert graph.spin_until(lambda: not node.waits_for())
    assert node.trigger_activate() == SUCCESS


def test_robot_description_is_taken_from_the_topic(graph: Graph, model: Any) -> None:
    node = graph.add(
        GravityCompensationNode,
        **{**QUICK, 'robot_description_file': '', 'effort_rate_limits': [1e6] * 2},
    )
    names = list(load_urdf(urdf_path('planar_2r_rods.urdf')).joint_names)
    StateFeed(graph, names)
    graph.spin_for(0.3)
    assert not node.is_configured
    publisher = graph.probe.create_publisher(String, 'robot_description', LATCHED)
    publisher.publish(String(data=urdf_path('planar_2r_rods.urdf').read_text()))
    assert graph.spin_until(lambda: node.is_active)
    assert list(node.model.joint_names) == names


@pytest.mark.parametrize('is_from_file', [True, False])
def test_another_description_is_told_only_where_descriptions_count(
    graph: Graph, capfd: pytest.CaptureFixture[str], is_from_file: bool
) -> None:
    text = urdf_path('planar_2r_rods.urdf').read_text()
    file = str(urdf_path('planar_2r_rods.urdf')) if is_from_file else ''
    chosen = {'robot_description_file': file, 'effort_rate_limits': [1e6] * 2}
    node = graph.add(GravityCompensationNode, **{**QUICK, **chosen})
    publisher = graph.probe.create_publisher(String, 'robot_description', LATCHED)
    publisher.publish(String(data=text))
    assert graph.spin_until(lambda: node.is_configured and node.description == text)
    publisher.publish(String(data=f'{text}<!-- changed -->'))
    assert graph.spin_until(lambda: node.description != text)
    assert ('another robot_description has come' in capfd.readouterr().err) is not is_from_file


def test_two_arms_in_two_namespaces_do_not_hear_each_other(graph: Graph, model: Any) -> None:
    found = {}
    for name, q in (('left', Q), ('right', -Q)):
        node = graph.add(GravityCompensationNode, **QUICK, node={'namespace': name})
        feed = StateFeed(graph, NAMES, f'/{name}/joint_states')
        feed.position = q
        found[name] = (node, graph.collect(Float64MultiArray, f'/{name}/{COMMANDS}'), q)
    for node, commands, q in found.values():
        assert graph.spin_until(lambda node=node: node.is_active)
        assert graph.spin_until(lambda commands=commands: len(commands) > 3)
        np.testing.assert_array_equal(commands[-1].data, generalized_gravity(model, q))


def test_repeated_and_backward_stamps(graph: Graph, model: Any) -> None:
    # B10, B11: no torque from a repeated stamp; a step back in time starts afresh.
    node, feed, commands = started(graph, velocity_source='estimated', coriolis=True)
    feed.is_on = False
    graph.spin_for(0.02)
    commands.clear()
    for stamp, is_answered in ((50.0, True), (50.0, False), (50.01, True), (50.005, False)):
        before = len(commands)
        feed.publisher.publish(joint_state(NAMES, Q, V, stamp=stamp))
        assert graph.spin_until(lambda before=before: len(commands) > before, 0.03) == is_answered
    assert all(np.isfinite(command.data).all() for command in commands)


def test_bytes_that_are_no_state_are_counted(graph: Graph) -> None:
    statuses = Statuses(graph)
    node, feed, commands = started(graph)
    for _ in range(5):
        feed.publisher.publish(b'\0\1\0\0' + b'\xff' * 40)
        graph.spin_for(0.02)
    assert node.guard.state is GuardState.ACTIVE
    count = len(commands)
    assert graph.spin_until(lambda: len(commands) > count + 5)
    assert graph.spin_until(
        lambda: statuses.values('lifecycle').get('malformed messages') not in (None, '0')
    )
