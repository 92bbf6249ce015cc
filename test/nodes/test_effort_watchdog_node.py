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

"""effort_watchdog_node beside a controller in another process, which is killed."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from robot_dynamics_ros.core.control.guard_state import GuardState
from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.nodes.effort_watchdog_node import EffortWatchdogNode
from robot_dynamics_ros.resources import urdf_path
from ros_graph import Graph, StateFeed, Statuses

ORDER = [f'joint_{i}' for i in (2, 1, 3, 4, 5, 6)]
NAMES = [f'joint_{i}' for i in range(1, 7)]
Q = np.array([0.3, -1.2, 1.0, -0.5, 0.4, 0.1])
COMMANDS = 'effort_controller/commands'
LEFT = [60.0, 5.0, -20.0, 3.0, 1.0, -0.5]  # in the order of the controller
RATES = [1500.0, 1500.0, 1500.0, 280.0, 280.0, 280.0]


class Scene:
    """A watchdog, the states that it hears, and a controller that this test plays."""

    def __init__(self, graph: Graph, **parameters: Any) -> None:
        self.graph = graph
        self.statuses = Statuses(graph)
        values: dict[str, Any] = {
            'robot_description_file': 'package://robot_dynamics_ros/urdf/es5.urdf.xacro',
            'joints': ORDER,
            'gravity_compensated_by_hardware': False,
            'stale_state_policy': 'hold_gravity',
            'grace_time': 0.5,
            'ramp_down_time': 0.2,
            'command_timeout': 0.15,
            'effort_rate_limits': RATES,
            'autostart': True,
            'crosscheck': False,
        }
        self.node = graph.add(EffortWatchdogNode, **{**values, **parameters})
        self.feed = StateFeed(graph, NAMES)
        self.feed.position = Q
        self.publisher = graph.probe.create_publisher(Float64MultiArray, COMMANDS, 1)
        self.commands = graph.collect(Float64MultiArray, COMMANDS)
        assert graph.spin_until(lambda: self.node.is_active and self.node.buffer.is_complete)
        assert graph.matched(self.publisher, 2)
        gravity = generalized_gravity(load_urdf(urdf_path('es5.urdf.xacro')), Q)
        self.gravity = gravity[[1, 0, 2, 3, 4, 5]]

    def command(self, values: Any, times: int = 5) -> None:
        for _ in range(times):
            self.publisher.publish(Float64MultiArray(data=list(map(float, values))))
            self.graph.spin_for(0.02)

    def reaches(self, state: GuardState) -> bool:
        return self.graph.spin_until(lambda: self.node.guard.state is state)

    def own_torques(self) -> Any:
        """Return the torques of the watchdog, after those of the controller."""
        return np.array([command.data for command in self.commands[4:]])


def test_silence_under_torque_is_answered_by_gravity_and_then_zero(graph: Graph) -> None:
    scene = Scene(graph)
    scene.command(LEFT)
    assert scene.reaches(GuardState.RAMPING_DOWN)
    assert graph.spin_until(lambda: 'taken over' in scene.statuses.message('watchdog'))
    assert scene.reaches(GuardState.FAULT)
    assert graph.spin_until(lambda: not np.any(scene.commands[-1].data))
    torque = scene.own_torques()
    assert torque[0].tolist() == LEFT
    assert np.isclose(torque, scene.gravity, rtol=0.0, atol=1e-9).all(axis=1).sum() > 20
    assert np.isfinite(torque).all()
    # Steps of 5 ms; a late one may make up for at most 20 ms.
    assert (abs(np.diff(torque, axis=0)) <= 0.02 * np.array(RATES) + 1e-9).all()
    count = len(scene.commands)
    graph.spin_for(0.4)
    assert len(scene.commands) == count, 'silence afterwards'


def test_controller_that_ends_at_zero_is_left_alone(graph: Graph) -> None:
    scene = Scene(graph)
    scene.command(LEFT)
    scene.command(np.zeros(6))
    graph.spin_for(0.5)
    assert scene.node.guard.state is GuardState.READY
    assert len(scene.commands) == 10


@pytest.mark.parametrize('bad', [[1.0], [float('nan')] * 6])
def test_nonsense_keeps_the_watchdog_from_nothing(graph: Graph, bad: list[float]) -> None:
    scene = Scene(graph)
    scene.command(LEFT)
    scene.command(bad, 12)  # for 0.24 s
    assert scene.reaches(GuardState.RAMPING_DOWN)


def test_controller_that_comes_back_is_given_way(graph: Graph) -> None:
    scene = Scene(graph, grace_time=30.0)
    scene.command(LEFT)
    assert scene.reaches(GuardState.RAMPING_DOWN)
    graph.spin_for(0.3)
    scene.command(scene.gravity + 1.0)
    assert scene.node.guard.state is GuardState.READY
    scene.commands.clear()
    scene.command(scene.gravity + 1.0, 3)
    assert len(scene.commands) == 3, 'no torque but that of the controller'
    assert scene.reaches(GuardState.RAMPING_DOWN), 'it watches again'


def test_hand_back_waits_until_the_torque_is_down(graph: Graph) -> None:
    scene = Scene(graph)
    client = graph.probe.create_client(Trigger, '/effort_watchdog_node/hand_back')
    assert graph.call(client, Trigger.Request()).message == 'watching already'
    scene.command(LEFT)
    assert scene.reaches(GuardState.RAMPING_DOWN)
    answer = graph.call(client, Trigger.Request())
    assert not answer.success
    assert 'bringing the torque down: no command for' in answer.message
    assert scene.reaches(GuardState.FAULT), 'it goes on, because nobody else would'
    assert graph.spin_until(lambda: not np.any(scene.commands[-1].data))
    answer = graph.call(client, Trigger.Request())
    assert answer.success
    assert 'watching again; was fault: no command for' in answer.message
    count = len(scene.commands)
    graph.spin_for(0.3)
    assert len(scene.commands) == count
    scene.command(LEFT)
    assert scene.reaches(GuardState.RAMPING_DOWN), 'it watches again'


def test_watchdog_that_was_held_up_hears_what_was_commanded_meanwhile(graph: Graph) -> None:
    scene = Scene(graph)
    scene.command(LEFT)
    time.sleep(0.5)  # nothing runs in this process
    other = [-value for value in LEFT]
    scene.publisher.publish(Float64MultiArray(data=other))
    graph.spin_for(0.05)
    assert scene.node.guard.state is GuardState.READY
    assert scene.reaches(GuardState.RAMPING_DOWN)
    assert graph.spin_until(lambda: len(scene.commands) > 8)
    assert scene.own_torques()[2].tolist() == other, 'not what it had heard before'


def test_watchdog_that_was_held_up_listens_before_it_judges(graph: Graph) -> None:
    scene = Scene(graph)
    scene.command(LEFT)
    time.sleep(0.5)
    begin = time.monotonic()
    graph.spin_for(0.05)
    assert scene.node.guard.state is GuardState.READY, 'commands may still be on their way'
    assert scene.reaches(GuardState.RAMPING_DOWN)
    assert time.monotonic() - begin > 0.14, 'its command_timeout anew'


def test_torque_that_was_left_behind_before_activation_is_brought_down(graph: Graph) -> None:
    scene = Scene(graph)
    scene.command(np.zeros(6))
    scene.node.trigger_deactivate()
    scene.command(LEFT)
    graph.spin_for(0.3)
    scene.node.trigger_activate()
    assert scene.reaches(GuardState.FAULT)
    assert graph.spin_until(lambda: not np.any(scene.commands[-1].data))


def test_other_order_of_the_controller_leaves_only_the_ramp_to_zero(graph: Graph) -> None:
    controller = Node('effort_controller')
    controller.declare_parameter('joints', NAMES)  # the watchdog has another order
    graph.nodes_of_others.append(controller)
    graph.executor.add_node(controller)
    scene = Scene(graph)
    assert graph.spin_until(lambda: scene.statuses.level('controller') == 2)
    assert 'set the parameter joints to that order' in scene.statuses.message('controller')
    scene.command(LEFT)
    assert scene.reaches(GuardState.RAMPING_DOWN)
    assert 'holding' not in scene.node.guard.reason
    assert scene.reaches(GuardState.FAULT)
    torque = scene.own_torques()
    assert (abs(torque) <= abs(np.array(LEFT)) + 1e-9).all()


def test_signal_ends_it_after_those_that_it_watches(graph: Graph) -> None:
    scene = Scene(graph, grace_time=30.0)
    scene.command(LEFT)
    scene.node.request_stop()
    scene.node.begin_stop()
    assert not scene.node.is_at_rest(), 'the other may still ramp down, or die on the way'
    scene.command(0.5 * np.array(LEFT))
    assert not scene.node.is_at_rest()
    scene.command(np.zeros(6))
    assert scene.node.is_at_rest()


def test_torque_that_is_left_behind_during_a_stop_gets_no_grace(graph: Graph) -> None:
    scene = Scene(graph, grace_time=30.0)
    scene.command(LEFT)
    scene.node.request_stop()
    scene.node.begin_stop()
    assert scene.reaches(GuardState.RAMPING_DOWN)
    assert graph.spin_until(scene.node.is_at_rest, 2.0)
    assert graph.spin_until(lambda: not np.any(scene.commands[-1].data))


def test_payload_counts_in_the_torque_that_it_holds(graph: Graph) -> None:
    scene = Scene(graph)
    heavy = [Parameter('payload.frame', value='tool0'), Parameter('payload.mass', value=2000.0)]
    result = scene.node.set_parameters_atomically(heavy)
    assert not result.successful
    assert 'the payload is too heavy' in result.reason
    light = [heavy[0], Parameter('payload.mass', value=2.0)]
    assert scene.node.set_parameters_atomically(light).successful
    model = load_urdf(urdf_path('es5.urdf.xacro'), payload=Payload(2.0, 'tool0', np.zeros(3)))
    expected = generalized_gravity(model, Q)[[1, 0, 2, 3, 4, 5]]
    scene.command(LEFT)
    assert scene.reaches(GuardState.FAULT)
    held = np.isclose(scene.own_torques(), expected, rtol=0.0, atol=1e-9).all(axis=1)
    assert held.any()


def test_states_that_never_came_leave_only_the_ramp_to_zero(graph: Graph) -> None:
    scene = Scene(graph)
    scene.feed.is_on = False
    scene.node.buffer.clear()
    scene.command(LEFT)
    assert scene.reaches(GuardState.RAMPING_DOWN)
    assert 'holding' not in scene.node.guard.reason
    assert scene.reaches(GuardState.FAULT)


def test_deactivation_ends_the_grace_time(graph: Graph) -> None:
    scene = Scene(graph, grace_time=30.0)
    scene.command(LEFT)
    assert scene.reaches(GuardState.RAMPING_DOWN)
    scene.node.trigger_deactivate()
    assert scene.node.is_at_rest()
    assert graph.spin_until(lambda: not np.any(scene.commands[-1].data))


def test_robot_without_effort_limits_is_not_watched(graph: Graph, tmp_path: Any) -> None:
    text = urdf_path('pendulum.urdf').read_text()
    start = text.index('effort="')
    file = tmp_path / 'pendulum.urdf'
    file.write_text(text[:start] + 'effort="0' + text[text.index('"', start + 8) :])
    node = graph.add(
        EffortWatchdogNode,
        robot_description_file=str(file),
        gravity_compensated_by_hardware=False,
        stale_state_policy='ramp_down',
        crosscheck=False,
    )
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_activate() == TransitionCallbackReturn.FAILURE
