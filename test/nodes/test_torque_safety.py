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

"""Switching torque on and off by service, and what becomes of it in a fault, over DDS."""

from __future__ import annotations

import time
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import InertiaStamped
import numpy as np
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger

from robot_dynamics_ros.core.control.guard_state import GuardState
from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.nodes.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.resources import urdf_path
from robot_dynamics_ros.ros.qos import LATCHED
from ros_graph import Graph, joint_state, StateFeed, Statuses

NAMES = [f'joint_{i}' for i in range(1, 7)]
Q = np.array([0.3, -1.2, 1.0, -0.5, 0.4, 0.1])
COMMANDS = 'effort_controller/commands'
PARAMETERS: dict[str, Any] = {
    'robot_description_file': 'package://robot_dynamics_ros/urdf/es5.urdf.xacro',
    'gravity_compensated_by_hardware': False,
    'stale_state_policy': 'hold_gravity',
    'grace_time': 0.6,
    'ramp_up_time': 0.2,
    'ramp_down_time': 0.2,
    'autostart': True,
    'crosscheck': False,
}


class Arm:
    """An active node at rest in `Q`, and who talks to it."""

    def __init__(self, graph: Graph, **parameters: Any) -> None:
        self.graph = graph
        self.statuses = Statuses(graph)
        self.node = graph.add(GravityCompensationNode, **{**PARAMETERS, **parameters})
        self.feed = StateFeed(graph, NAMES)
        self.feed.position = Q
        self.commands = graph.collect(Float64MultiArray, COMMANDS)
        self.enabling = graph.probe.create_client(SetBool, '/gravity_compensation_node/enable')
        self.resetting = graph.probe.create_client(Trigger, '/gravity_compensation_node/reset')
        self.gravity = generalized_gravity(load_urdf(urdf_path('es5.urdf.xacro')), Q)
        assert self.reaches(GuardState.ACTIVE)

    def reaches(self, state: GuardState) -> bool:
        return self.graph.spin_until(
            lambda: self.node.is_configured and self.node.guard.state is state
        )

    def enable(self, on: bool) -> Any:
        return self.graph.call(self.enabling, SetBool.Request(data=on))

    def torques(self) -> Any:
        return np.array([command.data for command in self.commands])


@pytest.fixture
def arm(graph: Graph) -> Arm:
    return Arm(graph)


def test_enable_switches_the_torque_off_and_on(arm: Arm) -> None:
    assert arm.enable(False).message == 'ramping_down'
    assert arm.reaches(GuardState.READY)
    assert arm.graph.spin_until(lambda: not np.any(arm.commands[-1].data))
    count = len(arm.commands)
    arm.graph.spin_for(0.3)
    assert len(arm.commands) == count, 'silence while it is off'
    assert arm.node.is_active
    answer = arm.enable(True)
    assert answer.success
    assert answer.message == 'ramping_up'
    assert arm.reaches(GuardState.ACTIVE)
    assert arm.graph.spin_until(lambda: np.array_equal(arm.commands[-1].data, arm.gravity))
    again = arm.enable(True)
    assert not again.success
    assert again.message == 'already armed'


def test_moving_or_bent_arm_is_not_switched_on(arm: Arm) -> None:
    arm.enable(False)
    assert arm.reaches(GuardState.READY)
    arm.feed.velocity = np.array([0.0, 0.0, 0.7, 0.0, 0.0, 0.0])
    arm.graph.spin_for(0.1)
    answer = arm.enable(True)
    assert not answer.success
    assert 'joint_3 moves with 0.7' in answer.message
    arm.feed.velocity = np.zeros(6)
    upper = arm.node.model.limits.upper[1]
    # Led there slowly, as a hand would do it: not a jump that is taken for a fault of the message.
    for position in np.linspace(Q[1], upper + 0.2, 40):
        arm.feed.position = np.where(np.arange(6) == 1, position, Q)
        arm.graph.spin_for(0.03)
    answer = arm.enable(True)
    assert not answer.success
    assert 'joint_2 is at' in answer.message
    assert arm.node.guard.state is GuardState.READY


def test_gravity_is_carried_while_states_are_missing_and_then_let_go(arm: Arm) -> None:
    arm.feed.is_on = False
    assert arm.reaches(GuardState.RAMPING_DOWN)
    assert 'holding the gravity torque' in arm.node.guard.reason
    arm.commands.clear()
    assert arm.reaches(GuardState.FAULT)
    assert arm.graph.spin_until(lambda: arm.commands and not np.any(arm.commands[-1].data))
    held = np.isclose(arm.torques(), arm.gravity, rtol=0.0, atol=1e-12).all(axis=1)
    assert held.sum() > 20, 'steps of 5 ms for 0.6 s, fewer on a busy machine'
    assert not held[-1]
    answer = arm.enable(True)
    assert not answer.success
    assert 'waiting for joint states of joint_1' in answer.message
    arm.feed.is_on = True
    assert arm.graph.spin_until(lambda: not arm.node.waits_for())
    answer = arm.enable(True)
    assert not answer.success
    assert 'reset first' in answer.message
    assert arm.graph.call(arm.resetting, Trigger.Request()).success
    assert arm.graph.spin_until(lambda: not arm.node.waits_for())
    assert arm.enable(True).success
    assert arm.reaches(GuardState.ACTIVE)


def test_reset_waits_until_no_torque_is_commanded(arm: Arm) -> None:
    answer = arm.graph.call(arm.resetting, Trigger.Request())
    assert not answer.success
    assert answer.message == 'active: wait until no torque is commanded'
    assert arm.node.guard.state is GuardState.ACTIVE


def test_speed_beyond_the_limit_ends_in_a_fault(arm: Arm) -> None:
    arm.feed.velocity = np.array([0.0, 5.0, 0.0, 0.0, 0.0, 0.0])  # the limit is 3.14 rad/s
    assert arm.reaches(GuardState.FAULT)
    assert arm.graph.spin_until(lambda: 'joint_2 moves with 5' in arm.statuses.message('torque'))
    assert arm.graph.spin_until(lambda: not np.any(arm.commands[-1].data))


def test_payload_glides_in(graph: Graph) -> None:
    arm = Arm(graph, glide_time=0.5, payload_source='topic')
    publisher = graph.probe.create_publisher(
        InertiaStamped, '/gravity_compensation_node/payload', LATCHED
    )
    message = InertiaStamped()
    message.header.frame_id = 'tool0'
    message.inertia.m = 2.0
    publisher.publish(message)
    loaded = generalized_gravity(
        load_urdf(urdf_path('es5.urdf.xacro'), payload=Payload(2.0, 'tool0', np.zeros(3))), Q
    )
    assert graph.spin_until(lambda: np.allclose(arm.commands[-1].data, loaded, atol=1e-9))
    shoulder = arm.torques()[:, 1]
    change = abs(loaded[1] - arm.gravity[1])
    assert change > 5.0
    # At 100 Hz in 0.5 s the ramp has 50 steps; the largest is 1.5 times the mean one, and states
    # may be late.
    steps = abs(np.diff(shoulder[np.argmax(shoulder == arm.gravity[1]) :]))
    assert steps.max() < 0.2 * change


def test_second_commander_is_named(arm: Arm) -> None:
    assert arm.graph.spin_until(lambda: arm.statuses.message('publishers') == 'as expected')
    rival = Node('rival')
    try:
        rival.create_publisher(Float64MultiArray, COMMANDS, 1)
        assert arm.graph.spin_until(
            lambda: 'commanded by /rival' in arm.statuses.message('publishers')
        )
        assert arm.statuses.level('publishers') == 1
        rival.create_publisher(JointState, 'joint_states', 1)
        assert arm.graph.spin_until(
            lambda: 'comes from /probe, /rival' in arm.statuses.message('publishers')
        )
    finally:
        rival.destroy_node()
    assert arm.graph.spin_until(lambda: arm.statuses.message('publishers') == 'as expected')


def test_watchdog_may_command_instead_of_the_node_but_not_beside_it(arm: Arm) -> None:
    graph = arm.graph
    watchdog = Node('effort_watchdog_node')
    elsewhere = Node('effort_watchdog_node', namespace='elsewhere')
    try:
        publisher = watchdog.create_publisher(Float64MultiArray, COMMANDS, 1)
        graph.spin_for(2.2)
        assert arm.statuses.message('publishers') == 'as expected'
        elsewhere.create_publisher(Float64MultiArray, f'/{COMMANDS}', 1)
        assert graph.spin_until(
            lambda: 'by /elsewhere/effort_watchdog_node' in arm.statuses.message('publishers')
        )
        elsewhere.destroy_node()
        assert graph.spin_until(lambda: arm.statuses.message('publishers') == 'as expected')
        strange = Float64MultiArray(data=[1.0] * 6)
        timer = graph.probe.create_timer(0.05, lambda: publisher.publish(strange))
        assert graph.spin_until(
            lambda: 'commanded by /effort_watchdog_node' in arm.statuses.message('publishers')
        )
        timer.cancel()
        assert graph.spin_until(lambda: arm.statuses.message('publishers') == 'as expected')
    finally:
        watchdog.destroy_node()


def self_test(arm: Arm) -> Any:
    client = arm.graph.probe.create_client(Trigger, '/gravity_compensation_node/self_test')
    arm.graph.spin_for(0.5)  # for states to come
    return arm.graph.call(client, Trigger.Request())


def test_self_test_asks_what_the_effort_means(arm: Arm) -> None:
    answer = self_test(arm)
    assert not answer.success
    assert 'effort_semantics is not set' in answer.message


@pytest.mark.parametrize(
    ('semantics', 'factor', 'success', 'said'),
    [
        ('torque', 1.0, True, 'joint_2: agrees'),
        ('torque', -1.0, False, 'joint_2: inverted'),
        ('torque', 0.0, False, 'joint_2: no gravity in the effort'),
        ('torque', 1000.0, False, 'joint_2: wrong scale'),
        ('gravity_compensated', 0.0, True, 'joint_2: agrees, no gravity in the effort'),
        ('gravity_compensated', 1.0, False, 'joint_2: gravity is in the effort, though'),
    ],
)
def test_self_test_tells_sign_and_scale_of_a_robot_that_others_hold(
    graph: Graph, semantics: str, factor: float, success: bool, said: str
) -> None:
    arm = Arm(graph, effort_semantics=semantics)
    arm.enable(False)
    assert arm.reaches(GuardState.READY)
    arm.node.self_test.clear()
    arm.feed.effort = factor * arm.gravity
    answer = self_test(arm)
    assert answer.success is success
    assert said in answer.message
    assert 'joint_1: cannot tell' in answer.message, 'its axis is vertical'


def test_self_test_expects_the_command_while_there_is_one(graph: Graph) -> None:
    arm = Arm(graph, effort_semantics='current', torque_constants=[0.1] * 6, scale=0.3)
    arm.node.self_test.clear()
    arm.feed.effort = 0.3 * arm.gravity / 0.1
    answer = self_test(arm)
    assert answer.success, answer.message
    assert 'joint_2: agrees' in answer.message


@pytest.mark.parametrize(
    ('parameters', 'share'),
    [
        ({'effort_semantics': 'torque'}, 1.0),
        ({'effort_semantics': 'gravity_compensated'}, 0.0),
        ({'effort_semantics': 'current', 'torque_constants': [0.5] * 6}, 2.0),
    ],
)
def test_ramp_begins_at_the_measured_torque(
    graph: Graph, parameters: dict[str, Any], share: float
) -> None:
    arm = Arm(graph, ramp_from='measured_effort', ramp_up_time=1.0, **parameters)
    arm.enable(False)
    assert arm.reaches(GuardState.READY)
    arm.feed.effort = share * arm.gravity
    arm.graph.spin_for(0.1)
    arm.commands.clear()
    assert arm.enable(True).success
    assert arm.graph.spin_until(lambda: len(arm.commands) > 5)
    # What the robot does anyhow is what is commanded first: no bump.
    np.testing.assert_allclose(arm.torques(), np.tile(arm.gravity, (len(arm.commands), 1)))


@pytest.mark.parametrize('age', [0.0, 1.5])
def test_ramp_begins_at_the_torque_that_somebody_else_commands(graph: Graph, age: float) -> None:
    arm = Arm(graph, ramp_up_time=1.0)
    arm.enable(False)
    assert arm.reaches(GuardState.READY)
    other = Node('other')
    try:
        publisher = other.create_publisher(Float64MultiArray, COMMANDS, 1)
        assert graph.spin_until(lambda: publisher.get_subscription_count() == 2)
        present = 0.6 * arm.gravity
        publisher.publish(Float64MultiArray(data=present.tolist()))
        assert graph.spin_until(lambda: arm.commands[-1].data.tolist() == present.tolist())
        graph.spin_for(age)
        arm.commands.clear()
        assert arm.enable(True).success
        assert graph.spin_until(lambda: len(arm.commands) > 5)
        # A command of long ago may not have reached any robot.
        first = present if age == 0.0 else np.zeros(6)
        np.testing.assert_allclose(arm.torques()[0], first, atol=1e-3 * abs(present).max())
        assert (np.diff(abs(arm.torques()[:, 1])) >= 0.0).all(), 'from there to all of it'
        assert arm.reaches(GuardState.ACTIVE)
    finally:
        other.destroy_node()


class Others:
    """Somebody else who commands the arm."""

    def __init__(self, arm: Arm) -> None:
        self.arm = arm
        self.publisher = arm.graph.probe.create_publisher(Float64MultiArray, COMMANDS, 10)
        assert arm.graph.matched(self.publisher, 2)

    def command(self, torque: Any) -> None:
        self.publisher.publish(Float64MultiArray(data=list(map(float, torque))))


def test_command_that_has_waited_long_is_no_start_of_a_ramp(graph: Graph) -> None:
    arm = Arm(graph, ramp_up_time=1.0)
    arm.enable(False)
    assert arm.reaches(GuardState.READY)
    others = Others(arm)
    others.command(0.6 * arm.gravity)
    time.sleep(1.3)  # nothing runs in this process: the message waits
    arm.commands.clear()
    graph.spin_for(0.1)
    assert arm.enable(True).success
    assert graph.spin_until(lambda: arm.node.guard.state is GuardState.ACTIVE)
    shoulder = abs(arm.torques()[:, 1] / arm.gravity[1])
    own = shoulder[(shoulder > 0.0) & (abs(shoulder - 0.6) > 1e-9)]
    assert own[0] < 0.05, 'from zero'


def test_nonsense_on_the_topic_hides_no_good_command(graph: Graph) -> None:
    arm = Arm(graph, ramp_up_time=1.0)
    arm.enable(False)
    assert arm.reaches(GuardState.READY)
    others = Others(arm)
    present = 0.6 * arm.gravity
    others.command(present)
    others.command([1.0])
    others.command([float('nan')] * 6)
    assert graph.spin_until(lambda: np.isnan(arm.commands[-1].data).all())
    arm.commands.clear()
    assert arm.enable(True).success
    assert graph.spin_until(lambda: len(arm.commands) > 5)
    np.testing.assert_allclose(arm.torques()[0], present, atol=1e-3 * abs(present).max())


def test_node_does_not_fight_who_has_commanded_in_its_silence(graph: Graph) -> None:
    # A node that waits 0.8 s for states is silent for so long; a watchdog is less patient.
    rates = [1500.0] * 6
    arm = Arm(graph, state_timeout=0.8, ramp_down_time=0.5, effort_rate_limits=rates)
    others = Others(arm)
    arm.feed.is_on = False
    graph.spin_for(0.2)
    arm.commands.clear()
    for share in (0.9, 0.6, 0.3):
        others.command(share * arm.gravity)
        graph.spin_for(0.05)
    arm.feed.is_on = True
    assert arm.reaches(GuardState.FAULT)
    assert 'somebody else has commanded in a pause of 0.' in arm.node.guard.reason
    assert graph.spin_until(lambda: not np.any(arm.commands[-1].data))
    torque = arm.torques()[2:]
    assert (abs(torque) <= 0.3 * abs(arm.gravity) + 1e-9).all(), 'down from what it found'
    assert (abs(np.diff(torque, axis=0)) <= 0.02 * 1500.0).all()
    assert len(torque) > 5, 'a ramp'


def test_states_that_stay_away_are_answered_from_what_somebody_else_commands(
    graph: Graph,
) -> None:
    arm = Arm(graph, state_timeout=0.5, grace_time=1.0)
    others = Others(arm)
    arm.feed.is_on = False
    graph.spin_for(0.2)
    arm.commands.clear()
    others.command(0.3 * arm.gravity)
    assert arm.reaches(GuardState.RAMPING_DOWN)
    assert 'holding the gravity torque' in arm.node.guard.reason
    assert graph.spin_until(lambda: len(arm.commands) > 5)
    shoulder = arm.torques()[1:, 1] / arm.gravity[1]
    assert shoulder[0] < 0.9, 'from there'
    assert graph.spin_until(
        lambda: np.allclose(arm.commands[-1].data, arm.gravity, rtol=0.0, atol=1e-9)
    ), 'to the torque that holds the arm'


def test_torque_that_begins_with_the_watchdog_still_on_is_no_contest(graph: Graph) -> None:
    arm = Arm(graph)
    arm.enable(False)
    assert arm.reaches(GuardState.READY)
    others = Others(arm)
    others.command(0.9 * arm.gravity)
    assert arm.enable(True).success
    others.command(0.9 * arm.gravity)  # it has not heard of it yet
    assert arm.reaches(GuardState.ACTIVE)
    assert not arm.node._is_contested()


def test_state_of_the_torque_is_told_to_whoever_comes(graph: Graph) -> None:
    told = graph.collect(String, 'gravity_compensation_node/torque_state', LATCHED)
    arm = Arm(graph)
    late = graph.collect(String, 'gravity_compensation_node/torque_state', LATCHED)
    assert graph.spin_until(lambda: late)
    assert late[0].data == 'active'
    arm.enable(False)
    assert arm.reaches(GuardState.READY)
    assert graph.spin_until(lambda: told[-1].data == 'ready')
    arm.enable(True)
    assert arm.reaches(GuardState.ACTIVE)
    arm.feed.is_on = False
    assert graph.spin_until(lambda: told[-1].data.startswith('fault'))
    arm.node.trigger_deactivate()
    arm.node.trigger_cleanup()
    assert graph.spin_until(lambda: told[-1].data == 'unconfigured')
    states = [each.data.split(':')[0] for each in told]
    down = ['ramping_up', 'active', 'ramping_down']
    assert [state for state in states if state != 'unconfigured'] == [
        'ready',
        *down,
        'ready',
        *down,
        'fault',
    ]
    reasons = [each.data for each in told if each.data.startswith('fault')]
    assert 'fault: joint state is' in reasons[0]


def test_torque_is_not_switched_on_while_a_speed_is_unknown(graph: Graph) -> None:
    arm = Arm(graph, state_timeout=5.0)
    arm.enable(False)
    assert arm.reaches(GuardState.READY)
    arm.feed.is_on = False
    graph.spin_for(0.1)
    arm.node.buffer.clear()
    arm.feed.publisher.publish(joint_state(NAMES, Q))
    assert graph.spin_until(lambda: arm.node.buffer.is_complete)
    answer = arm.enable(True)
    assert not answer.success
    assert 'the speed of joint_1 is not known' in answer.message
    graph.spin_for(0.1)
    arm.feed.publisher.publish(joint_state(NAMES, Q))
    assert graph.spin_until(lambda: arm.node.buffer.has_velocity)
    assert arm.enable(True).success


def test_payload_that_no_joint_could_hold_is_refused(graph: Graph) -> None:
    arm = Arm(graph, payload_source='topic')
    model = arm.node.model
    heavy = [Parameter('payload.frame', value='tool0'), Parameter('payload.mass', value=2000.0)]
    result = arm.node.set_parameters_atomically(heavy)
    assert not result.successful
    assert 'the payload is too heavy: joint_' in result.reason
    assert 'its effort limit is' in result.reason
    publisher = arm.graph.probe.create_publisher(
        InertiaStamped, '/gravity_compensation_node/payload', LATCHED
    )
    message = InertiaStamped()
    message.header.frame_id = 'tool0'
    for mass in (2000.0, 1e300):
        message.inertia.m = mass
        publisher.publish(message)
        arm.graph.spin_for(0.3)
    assert arm.node.model is model
    np.testing.assert_array_equal(arm.commands[-1].data, arm.gravity)


def controller(graph: Graph, joints: list[str], interface: str = 'effort') -> Node:
    """Return what answers like a forward_command_controller with these parameters, if given."""
    node = Node('effort_controller')
    if joints:
        node.declare_parameter('joints', joints)
    if interface:
        node.declare_parameter('interface_name', interface)
    graph.nodes_of_others.append(node)
    graph.executor.add_node(node)
    return node


def test_controller_with_the_same_joints_is_found(graph: Graph) -> None:
    controller(graph, NAMES)
    arm = Arm(graph)
    assert graph.spin_until(
        lambda: arm.statuses.message('controller') == '/effort_controller has the same joints'
    )


@pytest.mark.parametrize(
    ('joints', 'interface', 'said'),
    [
        (NAMES[::-1], 'effort', 'takes commands for joint_6, joint_5, joint_4, joint_3, joint_2'),
        (NAMES[:5], 'effort', 'set the parameter joints to that order'),
        (NAMES, 'position', "as position, not 'effort': set interface_name"),
        (NAMES[::-1], '', 'takes commands for joint_6'),
        ([], 'position', "as position, not 'effort'"),
    ],
)
def test_other_joints_of_the_controller_keep_the_torque_off(
    graph: Graph, joints: list[str], interface: str, said: str
) -> None:
    controller(graph, joints, interface)
    node = graph.add(GravityCompensationNode, **{**PARAMETERS, 'autostart': False})
    feed = StateFeed(graph, NAMES)
    feed.position = Q
    commands = graph.collect(Float64MultiArray, COMMANDS)
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert graph.spin_until(lambda: node.buffer.is_complete)
    assert graph.spin_until(lambda: not node.waits_for() and node._controller.mismatch)
    assert said in node._controller.mismatch
    assert node.trigger_activate() == TransitionCallbackReturn.FAILURE
    assert not commands


def test_torque_ends_when_a_wrong_controller_comes_later(arm: Arm) -> None:
    controller(arm.graph, NAMES[::-1])
    assert arm.reaches(GuardState.FAULT)
    assert 'takes commands for joint_6' in arm.node.guard.reason
    assert arm.graph.call(arm.resetting, Trigger.Request()).success
    answer = arm.enable(True)
    assert not answer.success
    assert 'takes commands for joint_6' in answer.message


def test_controller_that_comes_back_is_asked_again(graph: Graph) -> None:
    first = controller(graph, NAMES)
    arm = Arm(graph)
    assert graph.spin_until(lambda: 'has the same joints' in arm.statuses.message('controller'))
    graph.nodes_of_others.remove(first)
    graph.executor.remove_node(first)
    first.destroy_node()
    assert graph.spin_until(
        lambda: 'no /effort_controller answers' in arm.statuses.message('controller')
    )
    assert arm.node.guard.state is GuardState.ACTIVE
    controller(graph, NAMES[::-1])
    assert arm.reaches(GuardState.FAULT)
    assert 'takes commands for joint_6' in arm.node.guard.reason


def test_controller_is_asked_again_when_the_torque_is_switched_on(graph: Graph) -> None:
    other = controller(graph, NAMES)
    arm = Arm(graph, state_timeout=2.0)  # the answer cannot come while this process waits for it
    assert graph.spin_until(lambda: 'has the same joints' in arm.statuses.message('controller'))
    arm.enable(False)
    assert arm.reaches(GuardState.READY)
    graph.spin_for(1.2)
    # As after a change that nobody has noticed.
    other.set_parameters([Parameter('joints', value=NAMES[::-1])])
    arm.enable(True)
    assert arm.reaches(GuardState.FAULT)
    assert 'takes commands for joint_6' in arm.node.guard.reason


def test_controller_without_joints_is_not_taken_for_one_with_the_same(graph: Graph) -> None:
    controller(graph, [])
    arm = Arm(graph)
    assert graph.spin_until(
        lambda: (
            arm.statuses.message('controller')
            == '/effort_controller states no joints: not compared'
        )
    )
    assert arm.statuses.level('controller') == 1


def test_controller_that_does_not_answer_is_a_warning_and_no_obstacle(graph: Graph) -> None:
    silent = Node('effort_controller')  # nobody spins it
    graph.nodes_of_others.append(silent)
    # The states of this process stand still while the node waits for the answer.
    parameters = {**PARAMETERS, 'autostart': False, 'state_timeout': 2.0}
    node = graph.add(GravityCompensationNode, **parameters)
    statuses = Statuses(graph)
    feed = StateFeed(graph, NAMES)
    feed.position = Q
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert graph.spin_until(lambda: node.buffer.has_velocity)
    assert graph.spin_until(lambda: node._controller.is_waiting)
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS, 'by hand, at any time'
    assert graph.spin_until(lambda: node.guard.state is GuardState.ACTIVE)
    assert graph.spin_until(lambda: 'does not answer' in statuses.message('controller'))
    assert statuses.level('controller') == 1


def test_topic_of_the_node_itself_belongs_to_no_controller(graph: Graph) -> None:
    remapping = ['--ros-args', '-r', f'{COMMANDS}:=~/commands']
    arm = Arm(graph, node={'cli_args': remapping})
    assert graph.spin_until(
        lambda: arm.statuses.message('controller') == 'the commands go to no controller'
    )


def test_stopped_clock_changes_no_torque(graph: Graph) -> None:
    clock = graph.probe.create_publisher(Clock, '/clock', 1)
    arm = Arm(graph, use_sim_time=True)
    assert graph.spin_until(lambda: arm.statuses.message('clock') == 'no time on /clock yet')
    for step in range(20):
        clock.publish(Clock(clock=Time(sec=100, nanosec=step * 10_000_000)))
        graph.spin_for(0.01)
    assert graph.spin_until(lambda: arm.statuses.message('clock') == 'running')
    arm.commands.clear()
    # From now on /clock is silent; the states still come, and time limits are of the steady clock.
    assert graph.spin_until(lambda: arm.statuses.message('clock') == '/clock stands still')
    assert arm.node.guard.state is GuardState.ACTIVE
    np.testing.assert_allclose(arm.torques(), np.tile(arm.gravity, (len(arm.commands), 1)))
    arm.feed.is_on = False
    assert arm.reaches(GuardState.FAULT), 'states that stop are noticed without a clock'


@pytest.mark.parametrize('other', ['nobody', 'idle', 'commands'])
def test_node_that_was_held_up_ramps_down_from_what_the_robot_has_now(
    graph: Graph, other: str
) -> None:
    arm = Arm(graph, stale_state_policy='ramp_down', effort_rate_limits=[1500.0] * 6)
    node = Node('other')
    try:
        if other != 'nobody':
            publisher = node.create_publisher(Float64MultiArray, COMMANDS, 1)
            graph.spin_for(0.2)
        arm.commands.clear()
        time.sleep(0.6)  # nothing runs in this process
        present = arm.gravity
        if other == 'commands':
            present = 0.3 * arm.gravity
            publisher.publish(Float64MultiArray(data=present.tolist()))
            time.sleep(0.1)
        assert arm.reaches(GuardState.FAULT)
        assert 'held up' in arm.node.guard.reason
        graph.spin_for(0.2)
        rows = arm.torques()
        if other == 'commands':
            # What the node had sent before it was held up may still have been under way.
            assert present.tolist() in rows.tolist()
            rows = rows[rows.tolist().index(present.tolist()) :]
        torque = abs(rows[:, 1])
        assert torque[-1] == 0.0
        # It begins where the robot is; 20 ms of the rate limit are allowed for the first step.
        assert torque.max() <= abs(present[1]) + 1e-9
        assert len(torque) > 5, 'a ramp'
    finally:
        node.destroy_node()


def test_refused_configuration_leaves_nothing_behind(graph: Graph) -> None:
    parameters = {**PARAMETERS, 'autostart': False, 'realtime__cpus': [999]}
    node = graph.add(GravityCompensationNode, **parameters)
    kinds = ('publishers', 'subscriptions', 'services', 'clients')
    before = [len(list(getattr(node, kind))) for kind in kinds]
    timers = len(list(node.timers))
    for _ in range(2):
        assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    after = [len(list(getattr(node, kind))) for kind in kinds]
    assert after == before
    assert len(list(node.timers)) == timers


def test_node_that_is_about_to_end_is_not_switched_on(arm: Arm) -> None:
    arm.node.request_stop()
    arm.node.begin_stop()
    answer = arm.enable(True)
    assert not answer.success
    assert answer.message == 'the node is about to end'
    assert arm.reaches(GuardState.READY)


ENTITY = '<!DOCTYPE r [<!ENTITY e "x">]><robot name="&e;"><link name="l"/></robot>'


@pytest.mark.parametrize(
    'description',
    [
        pytest.param('<robot', id='malformed'),
        pytest.param(ENTITY, id='entities'),
        pytest.param('<robot name="r">' + 'x' * 50_000_000, id='50 MB'),
        pytest.param(urdf_path('pendulum.urdf').read_text(), id='another robot'),
    ],
)
def test_description_that_comes_late_changes_nothing_until_the_next_configuration(
    graph: Graph, description: str
) -> None:
    # Longer timeouts: a message of 50 MB takes its time, which is no matter here.
    arm = Arm(graph, state_timeout=5.0)
    publisher = graph.probe.create_publisher(String, 'robot_description', LATCHED)
    publisher.publish(String(data=description))
    graph.spin_for(1.0)
    assert arm.node.guard.state is GuardState.ACTIVE
    np.testing.assert_array_equal(arm.commands[-1].data, arm.gravity)
    assert arm.node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    assert arm.node.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
    arm.node.set_parameters([Parameter('robot_description_file', value='')])
    assert graph.spin_until(lambda: arm.node.description == description)
    # The pendulum is a good robot; the others are refused in one line.
    expected = arm.node.trigger_configure()
    assert (expected == TransitionCallbackReturn.SUCCESS) == ('pendulum' in description)


def test_senseless_parameters_are_refused_as_a_whole_while_active(arm: Arm) -> None:
    for name, value in (
        ('scale', float('nan')),
        ('scale', 9.0),
        ('scale', 'much'),
        ('payload.com', [0.0, 0.1]),
        ('payload.mass', -1.0),
        ('effort_limits', [1.0] * 6),
        ('stale_state_policy', 'ramp_down'),
    ):
        good = Parameter('coriolis', value=True)
        result = arm.node.set_parameters_atomically([good, Parameter(name, value=value)])
        assert not result.successful, name
        # rclpy itself refuses another type, without the name.
        assert name in result.reason or 'Wrong parameter type' in result.reason
        assert not arm.node.get_parameter('coriolis').value
    arm.graph.spin_for(0.2)
    assert arm.node.guard.state is GuardState.ACTIVE
    np.testing.assert_array_equal(arm.commands[-1].data, arm.gravity)


def test_continuous_joint_may_wrap(graph: Graph) -> None:
    file = urdf_path('pendulum.urdf')
    assert 'type="continuous"' in file.read_text()
    node = graph.add(
        GravityCompensationNode,
        **{**PARAMETERS, 'robot_description_file': str(file), 'max_joint_speed': [20.0]},
    )
    (name,) = load_urdf(file).joint_names
    feed = StateFeed(graph, [name])
    feed.position, feed.velocity = [3.1], ()
    commands = graph.collect(Float64MultiArray, COMMANDS)
    assert graph.spin_until(lambda: node.is_configured and node.guard.state is GuardState.ACTIVE)
    commands.clear()
    fastest = 0.0
    for angle in np.arange(3.1, 3.5, 0.005):
        feed.position = [(angle + np.pi) % (2.0 * np.pi) - np.pi]
        graph.spin_for(0.01)
        fastest = max(fastest, abs(node.buffer.v[0]))
    assert feed.position[0] < 0.0, 'it has wrapped'
    assert node.guard.state is GuardState.ACTIVE
    assert node.buffer.counters['position_jump'] == 0
    assert fastest < 5.0, 'no turn back by 2 pi'
    torque = np.array([command.data[0] for command in commands])
    assert abs(np.diff(torque)).max() < 0.1 * max(abs(torque).max(), 1.0)
