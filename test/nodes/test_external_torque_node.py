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

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from geometry_msgs.msg import InertiaStamped, WrenchStamped
import numpy as np
import pytest
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import SetBool

from robot_dynamics_ros.core.drive.measured_effort import MeasuredEffort
from robot_dynamics_ros.core.dynamics import frame_jacobian, generalized_gravity
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.external_torque.contact_monitor import ContactMonitor
from robot_dynamics_ros.core.external_torque.contact_thresholds import ContactThresholds
from robot_dynamics_ros.core.external_torque.momentum_balance import MomentumBalance
from robot_dynamics_ros.core.external_torque.momentum_observer import MomentumObserver
from robot_dynamics_ros.core.friction.friction_model import FrictionModel, TERMS
from robot_dynamics_ros.core.model import load_urdf
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.nodes.external_torque_node import ExternalTorqueNode
from robot_dynamics_ros.resources import config_path, urdf_path
from robot_dynamics_ros.ros.conversions import message_from_payload
from robot_dynamics_ros.ros.external_torque_parts import stored_thresholds
from robot_dynamics_ros.ros.qos import LATCHED
from ros_graph import Graph, joint_state, Statuses

NODE = '/external_torque_node'
NAMES = [f'joint_{i}' for i in range(1, 7)]
Q = np.array([0.4, 0.8, -1.1, 0.5, 0.9, 0.2])
BASIC: dict[str, Any] = {
    'robot_description_file': 'package://robot_dynamics_ros/urdf/es5.urdf.xacro',
    'autostart': True,
    'crosscheck': False,
    'effort_semantics': 'torque',
    'frame': 'tool0',
}
WRENCH = np.array([12.0, -5.0, 8.0, 0.3, 0.4, -0.2])


@pytest.fixture(scope='module', autouse=True)
def compiled_kernels_of_the_monitor() -> None:
    """Before any deadline runs."""
    model = load_urdf(urdf_path('es5.urdf.xacro'))
    observer = MomentumObserver(MomentumBalance(model))
    watch = ContactMonitor(observer, MeasuredEffort('torque', 6), frame='tool0')
    watch.step(0.0, Q, np.zeros(6), np.zeros(6))
    watch.contact_link()


class Robot:
    """An arm that stands in a pose and reports an effort, with stamps of its own."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.model = load_urdf(urdf_path('es5.urdf.xacro'))
        self.publisher = graph.probe.create_publisher(
            JointState, 'joint_states', qos_profile_sensor_data
        )
        self.time = 1000.0
        self.push = np.zeros(6)

    def tell(self, effort: Any = None, names: list[str] = NAMES, velocity: Any = None) -> None:
        """Send one state; external torques take the place of drives."""
        self.time += 1e-3
        n = len(names)
        if effort is None:
            effort = (generalized_gravity(self.model, Q) - self.push)[:n]
        velocity = np.zeros(n) if velocity is None else velocity
        self.publisher.publish(joint_state(names, Q[:n], velocity, effort, self.time))

    def tell_many(self, node: Any, count: int) -> None:
        """Send states, each when the last one has been taken."""
        for _ in range(count):
            before = node.buffer.counters['accepted']
            self.tell()
            taken = self.graph.spin_until(
                lambda before=before: node.buffer.counters['accepted'] > before
            )
            assert taken


def started(graph: Graph, **parameters: Any) -> tuple[Any, Robot]:
    node = graph.add(ExternalTorqueNode, **{**BASIC, **parameters})
    robot = Robot(graph)
    assert graph.spin_until(lambda: node.is_active)
    assert graph.matched(robot.publisher)
    return node, robot


def nanoseconds(message: JointState) -> int:
    return int(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)


def written(path: Path) -> Path:
    ContactThresholds(tuple(NAMES), np.full(6, 0.4), np.full(6, 50.0)).write(path)
    return path


def test_torques_wrench_and_contact_of_a_push(graph: Graph, tmp_path: Path) -> None:
    torques = graph.collect(JointState, '/external_torque_node/external_torques')
    wrenches = graph.collect(WrenchStamped, '/external_torque_node/wrench')
    contacts = graph.collect(Bool, '/external_torque_node/contact')
    statuses = Statuses(graph)
    file = written(tmp_path / 'thresholds.yaml')
    node, robot = started(graph, thresholds_file=str(file), smallest_lever=0.001)
    robot.tell_many(node, 90)
    assert not torques  # the observer has not settled
    robot.tell_many(node, 30)
    assert graph.spin_until(lambda: torques and wrenches and contacts)
    assert not contacts[-1].data
    np.testing.assert_allclose(torques[-1].effort, 0.0, atol=1e-9)
    assert list(torques[-1].name) == NAMES

    expected = frame_jacobian(robot.model, Q, 'tool0').T @ WRENCH
    robot.push = expected
    robot.tell_many(node, 20)
    assert graph.spin_until(lambda: contacts[-1].data)
    assert graph.spin_until(lambda: statuses.message('contact').startswith('contact, found at'))
    assert statuses.values('contact')['link']
    robot.tell_many(node, 400)
    stamp = torques[-1].header.stamp
    assert graph.spin_until(lambda: wrenches[-1].header.stamp == torques[-1].header.stamp)
    assert stamp.sec >= 1000  # that of the state
    # twelve time constants of 1/30 s
    np.testing.assert_allclose(torques[-1].effort, expected, atol=1e-3)
    assert wrenches[-1].header.frame_id == 'tool0'
    wrench = wrenches[-1].wrench
    found = [wrench.force.x, wrench.force.y, wrench.force.z]
    found += [wrench.torque.x, wrench.torque.y, wrench.torque.z]
    np.testing.assert_allclose(found, WRENCH, rtol=0.01, atol=0.01)


def test_bad_states_are_counted_and_make_no_number(graph: Graph) -> None:
    torques = graph.collect(JointState, '/external_torque_node/external_torques')
    contacts = graph.collect(Bool, '/external_torque_node/contact')
    statuses = Statuses(graph)
    node, robot = started(graph)
    for kind, bad in (
        ('without effort', {'effort': ()}),
        ('without effort', {'effort': np.full(6, np.nan)}),
        ('incomplete', {'names': NAMES[:4]}),
    ):
        before = node.dropped[kind]
        robot.tell(**bad)
        assert graph.spin_until(lambda kind=kind, before=before: node.dropped[kind] > before)
    node.diagnostics.publish()
    assert graph.spin_until(lambda: statuses.values('joint states').get('incomplete') == '1')
    robot.tell_many(node, 120)
    newest = round(robot.time * 1e9)
    assert graph.spin_until(lambda: torques and nanoseconds(torques[-1]) == newest)
    restarts = node.monitor.observer.balance.restarts
    count = len(torques)
    robot.time += 1.0  # a gap: afresh, and no number until it has settled
    robot.tell_many(node, 90)
    assert node.monitor.observer.balance.restarts == restarts + 1
    assert len(torques) == count
    assert not contacts  # without thresholds nobody says that there is none
    node.diagnostics.publish()
    assert graph.spin_until(lambda: 'no thresholds' in statuses.message('contact'))
    assert graph.spin_until(lambda: 'no fresh state' in statuses.message('joint states'))
    assert not node.monitor.detector.is_ready  # what was found is not kept


def test_learning_is_refused_with_reasons(graph: Graph, tmp_path: Path) -> None:
    file = written(tmp_path / 'thresholds.yaml')
    text = file.read_text()
    node, robot = started(graph, thresholds_file=str(file))
    client = graph.probe.create_client(SetBool, '/external_torque_node/learn')
    answer = graph.call(client, SetBool.Request(data=False))
    assert not answer.success and 'no thresholds are being learnt' in answer.message
    answer = graph.call(client, SetBool.Request(data=True))
    assert not answer.success and 'overwrite_thresholds' in answer.message
    file.unlink()
    assert graph.call(client, SetBool.Request(data=True)).success
    assert not node.monitor.has_thresholds
    robot.tell_many(node, 5)
    answer = graph.call(client, SetBool.Request(data=False))
    assert not answer.success and 'expected 10 s or more' in answer.message
    assert not file.exists()
    # once there has been enough of a lesson
    learner = node.monitor.learner
    learner.duration = 60.0
    learner._moving += 60.0
    answer = graph.call(client, SetBool.Request(data=False))
    assert answer.success and str(file) in answer.message
    assert file.read_text() != text
    assert node.monitor.has_thresholds
    # and what it was learnt for
    assert stored_thresholds(node.parameters, node.model) is not None
    with pytest.raises(ConfigurationError, match='effort_delay 0, but now it is 0.001; set it'):
        stored_thresholds(replace(node.parameters, effort_delay=1e-3), node.model)
    loaded = node.model.with_payload(Payload(1.0, 'tool0'))
    with pytest.raises(ConfigurationError, match=r'payload none, but now it is 1 kg at \(0, 0, 0'):
        stored_thresholds(node.parameters, loaded)
    told = replace(node.parameters, payload_source='topic')
    assert stored_thresholds(told, loaded) is not None
    with pytest.raises(ConfigurationError, match='learnt for robot'):
        stored_thresholds(node.parameters, node.model.with_gravity((0.0, 0.0, 9.81)))


def test_configuration_that_does_not_fit_is_refused(graph: Graph, tmp_path: Path) -> None:
    broken = tmp_path / 'thresholds.yaml'
    broken.write_text('contact_thresholds: {joint_1: {change: 1.0, level: -2.0}}')
    for name, change in (
        ('a', {'gravity_compensated_by_hardware': True}),
        ('b', {'frame': 'hand'}),
        ('c', {'frame': 'base_link'}),
        ('d', {'effort_semantics': 'current'}),
        ('e', {'thresholds_file': str(broken)}),
        ('f', {'effort_signs': [1.0, 1.0, 1.0, 1.0, 1.0, 0.5]}),
        ('g', {'observer_gain': [1.0, 2.0]}),
        ('h', {'friction_source': 'online'}),
    ):
        node = graph.add(ExternalTorqueNode, node={'namespace': name}, **{**BASIC, **change})
        assert graph.spin_until(lambda node=node: node.is_finished), name
        assert node.exit_code == 1 and not node.is_configured


def test_payload_changes_live(graph: Graph) -> None:
    node, robot = started(graph, glide_time=0.1)
    robot.tell_many(node, 120)
    result = node.set_parameters_atomically(
        [Parameter('payload.mass', value=2.0), Parameter('payload.frame', value='tool0')]
    )
    assert result.successful
    robot.tell_many(node, 500)
    heavy = generalized_gravity(node.model, Q) - generalized_gravity(robot.model, Q)
    assert np.abs(heavy).max() > 5.0
    # what should be carried and is not looks like a hand that holds it
    np.testing.assert_allclose(node.monitor.observer.tau_ext, heavy, atol=1e-2)


def test_payload_and_friction_are_heard_while_they_are_repeated(graph: Graph) -> None:
    statuses = Statuses(graph)
    node, robot = started(
        graph,
        payload_source='online',
        payload_limit=3.0,
        friction_source='online',
        friction_file='package://robot_dynamics_ros/config/es5_friction.yaml',
        glide_time=0.05,
        estimate_timeout=1.5,
    )
    file = FrictionModel.from_file(config_path('es5_friction.yaml'), NAMES)
    v = np.full(6, 0.5)
    rubbing = node.monitor.observer.balance.friction(v)
    payloads = graph.probe.create_publisher(InertiaStamped, f'{NODE}/payload', LATCHED)
    frictions = graph.probe.create_publisher(JointState, f'{NODE}/friction', 1)
    assert graph.matched(payloads) and graph.matched(frictions)
    robot.tell_many(node, 110)
    payloads.publish(message_from_payload(Payload(3.5, 'tool0')))
    assert graph.spin_until(lambda: 'payload_limit is 3 kg' in statuses.message('model updates'))
    payloads.publish(message_from_payload(Payload(2.0, 'tool0')))
    message = JointState()
    for j, joint in enumerate(NAMES):
        for term in TERMS:
            value = float(getattr(file, term)[j])
            message.name.append(f'{joint}/{term}')
            message.position.append(1.2 * value)
            message.effort.append((0.01 * value) ** 2)
    frictions.publish(message)
    assert graph.spin_until(
        lambda: node.model.payload is not None and node.friction.is_online.all()
    )
    robot.tell_many(node, 200)  # the glides are over
    balance = node.monitor.observer.balance
    assert balance.model is node.model and balance.model.payload.mass == 2.0
    # the excess at rest stays in proportion
    np.testing.assert_allclose(balance.friction(v), 1.2 * rubbing, rtol=1e-12)
    assert balance.restarts == 0
    heavy = generalized_gravity(node.model, Q) - generalized_gravity(robot.model, Q)
    # the observer is four time constants and more behind the glide
    np.testing.assert_allclose(node.monitor.observer.residual, heavy, rtol=0.02, atol=1e-9)
    assert graph.spin_until(lambda: node.model.payload is None), 'after estimate_timeout'
    assert graph.spin_until(lambda: 'not been repeated' in statuses.message('model updates'))
    for _ in range(10):  # the glide takes its time on the clock
        robot.tell_many(node, 10)
        graph.spin_for(0.01)
    np.testing.assert_allclose(node.monitor.observer.balance.friction(v), rubbing, rtol=1e-12)
