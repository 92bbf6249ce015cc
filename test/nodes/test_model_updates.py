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

"""What a torque node learns of its own model while it runs, over topics, and when it goes back."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import InertiaStamped
import numpy as np
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.core.control.guard_state import GuardState
from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.friction_model import FrictionModel, TERMS
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.nodes.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.resources import config_path, urdf_path
from robot_dynamics_ros.ros.conversions import message_from_payload
from robot_dynamics_ros.ros.qos import LATCHED
from robot_dynamics_ros.ros.robot_parameters import check_friction_source
from ros_graph import Graph, StateFeed, Statuses

NODE = '/gravity_compensation_node'
NAMES = [f'joint_{i}' for i in range(1, 7)]
Q = np.array([0.3, -1.2, 1.0, -0.5, 0.4, 0.1])
V = np.array([0.5, -0.4, 0.3, 0.2, -0.1, 0.6])
PARAMETERS: dict[str, Any] = {
    'robot_description_file': 'package://robot_dynamics_ros/urdf/es5.urdf.xacro',
    'gravity_compensated_by_hardware': False,
    'stale_state_policy': 'ramp_down',
    'arming_speed': 10.0,  # the states have a speed, but stand still
    'glide_time': 0.3,
    'autostart': True,
    'ramp_up_time': 0.0,
    'effort_rate_limits': [1e6] * 6,
    'crosscheck': False,
}
ONLINE = {
    'friction_source': 'online',
    'friction_file': 'package://robot_dynamics_ros/config/es5_friction.yaml',
}


class Arm:
    """An active node, the states that it gets, and the commands that it gives."""

    def __init__(self, graph: Graph, **parameters: Any) -> None:
        self.graph = graph
        self.statuses = Statuses(graph)
        self.node = graph.add(GravityCompensationNode, **{**PARAMETERS, **parameters})
        self.feed = StateFeed(graph, NAMES)
        self.feed.position, self.feed.velocity = Q, V
        self.commands = graph.collect(Float64MultiArray, 'effort_controller/commands')
        assert graph.spin_until(
            lambda: self.node.is_active and self.node.guard.state is GuardState.ACTIVE
        )
        assert graph.spin_until(lambda: len(self.commands) > 3)

    def settles_at(self, torque: np.ndarray) -> bool:
        # The friction of this node's law is a sum in another order than the test's.
        return self.graph.spin_until(
            lambda: self.commands and np.allclose(self.commands[-1].data, torque, 0.0, 1e-12)
        )

    def says(self, text: str) -> bool:
        return self.graph.spin_until(lambda: text in self.statuses.message('model updates'))


@pytest.fixture(scope='module')
def model() -> Any:
    return load_urdf(urdf_path('es5.urdf.xacro'))


def offline() -> FrictionModel:
    return FrictionModel.from_file(config_path('es5_friction.yaml'), NAMES)


def estimates(factor: float, deviation: float = 0.01) -> JointState:
    """Return estimates that are all of them a factor of the file's values."""
    message = JointState()
    file = offline()
    for j, joint in enumerate(NAMES):
        for term in TERMS:
            value = float(getattr(file, term)[j])
            message.name.append(f'{joint}/{term}')
            message.position.append(factor * value)
            message.effort.append((deviation * value) ** 2)
    return message


def test_friction_follows_estimates_gliding_and_goes_back_when_they_end(
    graph: Graph, model: Any
) -> None:
    arm = Arm(graph, **ONLINE, estimate_timeout=1.5)
    gravity, rubbing = generalized_gravity(model, Q), offline().torque(V)
    assert arm.settles_at(gravity + rubbing)
    assert arm.says('no estimate has come')
    publisher = graph.probe.create_publisher(JointState, f'{NODE}/friction', 1)
    assert graph.matched(publisher)
    arm.commands.clear()
    publisher.publish(estimates(1.5))
    assert arm.settles_at(gravity + 1.5 * rubbing)
    # 100 states a second, glide of 0.3 s: a thirtieth a step, and states may be late.
    shoulder = np.array([command.data[1] for command in arm.commands])
    assert abs(np.diff(shoulder)).max() < 0.3 * abs(0.5 * rubbing[1])
    assert arm.settles_at(gravity + rubbing), 'after estimate_timeout'
    assert arm.says('no estimate for 1.')
    publisher.publish(estimates(0.8))
    assert arm.settles_at(gravity + 0.8 * rubbing)
    assert arm.says('as estimated')
    publisher.publish(JointState())
    assert arm.settles_at(gravity + rubbing)
    assert arm.says('the estimates are withdrawn')


def test_estimates_that_do_not_pass_change_no_torque(graph: Graph, model: Any) -> None:
    arm = Arm(graph, **ONLINE, estimate_factor=1.5)
    expected = generalized_gravity(model, Q) + offline().torque(V)
    publisher = graph.probe.create_publisher(JointState, f'{NODE}/friction', 1)
    assert graph.matched(publisher)
    nameless, unknown, infinite = estimates(1.2), estimates(1.2), estimates(1.2)
    nameless.name = nameless.name[:-1]
    unknown.name[3] = 'wrist/viscous'
    infinite.position[5] = float('inf')
    for message in (nameless, unknown, infinite, b'\x00\x01\x00\x00garbage'):
        publisher.publish(message)
        graph.spin_for(0.1)
    assert arm.node.friction.refused == 3
    publisher.publish(estimates(1.6))
    assert arm.says('expected 0 to')
    publisher.publish(estimates(1.2, deviation=0.2))
    assert arm.says('only, expected')
    torques = np.array([command.data for command in arm.commands])
    np.testing.assert_allclose(torques, np.tile(expected, (len(torques), 1)), atol=1e-12)


def test_payload_is_not_heard_unless_a_parameter_allows_it(graph: Graph, model: Any) -> None:
    arm = Arm(graph)
    publisher = graph.probe.create_publisher(InertiaStamped, f'{NODE}/payload', LATCHED)
    publisher.publish(message_from_payload(Payload(2.0, 'tool0')))
    graph.spin_for(0.5)
    assert publisher.get_subscription_count() == 0
    np.testing.assert_array_equal(arm.commands[-1].data, generalized_gravity(model, Q))


def test_online_payload_counts_while_it_is_repeated(graph: Graph, model: Any) -> None:
    arm = Arm(
        graph,
        payload_source='online',
        payload_limit=3.0,
        payload__mass=1.0,
        payload__frame='tool0',
        estimate_timeout=1.0,
    )
    stated = generalized_gravity(model.with_payload(Payload(1.0, 'tool0')), Q)
    found = generalized_gravity(model.with_payload(Payload(2.0, 'tool0')), Q)
    assert arm.settles_at(stated)
    publisher = graph.probe.create_publisher(InertiaStamped, f'{NODE}/payload', LATCHED)
    timer = graph.probe.create_timer(
        0.1, lambda: publisher.publish(message_from_payload(Payload(2.0, 'tool0')))
    )
    assert arm.settles_at(found)
    models = {id(arm.node.model)}
    graph.spin_for(1.5)
    models.add(id(arm.node.model))
    assert len(models) == 1, 'the same payload again makes no new model'
    np.testing.assert_allclose(arm.commands[-1].data, found, atol=1e-12)
    graph.probe.destroy_timer(timer)
    assert arm.settles_at(stated), 'after estimate_timeout'
    assert arm.says('has not been repeated')
    publisher.publish(message_from_payload(Payload(3.5, 'tool0')))
    assert arm.says('3.5 kg, payload_limit is 3 kg')
    np.testing.assert_allclose(arm.commands[-1].data, stated, atol=1e-12)


def test_online_friction_needs_the_file_to_go_back_to(graph: Graph) -> None:
    node = graph.add(
        GravityCompensationNode,
        **{**PARAMETERS, 'friction_source': 'online', 'autostart': False},
    )
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    with pytest.raises(ConfigurationError, match='friction_source online needs friction_file'):
        check_friction_source('online', '')
