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

"""The relay of commands to Gazebo's force topics, over DDS."""

from __future__ import annotations

from math import nan
import time
from typing import Any

import numpy as np
from rclpy.time import Time
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray

from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.nodes.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.nodes.joint_force_relay_node import JointForceRelayNode
from robot_dynamics_ros.resources import config_path, urdf_path
from robot_dynamics_ros.ros.parameters import yaml_values
from robot_dynamics_ros.ros.qos import CLOCK, COMMAND_OUT
from ros_graph import Graph, joint_state

FILE = str(urdf_path('planar_2r_rods.urdf'))
JOINTS = ['joint_2', 'joint_1']  # not the model's order
TIMEOUT = 0.2


class Relay:
    """A relay, a publisher of commands, and the forces that came out, by joint."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.node = graph.add(
            JointForceRelayNode,
            robot_description_file=FILE,
            joints=JOINTS,
            command_timeout=TIMEOUT,
            crosscheck=False,
            autostart=True,
        )
        self.forces = {name: graph.collect(Float64, f'joint/{name}/cmd_force') for name in JOINTS}
        self.commands = graph.probe.create_publisher(
            Float64MultiArray, 'effort_controller/commands', COMMAND_OUT
        )
        assert graph.spin_until(lambda: self.node.is_active)
        assert graph.matched(self.commands)
        assert graph.spin_until(lambda: all(p.get_subscription_count() for p in self.node._forces))

    def send(self, *values: float) -> None:
        self.commands.publish(Float64MultiArray(data=list(values)))

    def newest(self) -> list[float]:
        return [each[-1].data if each else nan for each in self.forces.values()]

    def count(self) -> int:
        return min(len(each) for each in self.forces.values())


def test_command_becomes_one_force_for_each_joint(graph: Graph) -> None:
    relay = Relay(graph)
    relay.send(1.5, -2.5)
    assert graph.spin_until(lambda: relay.newest() == [1.5, -2.5])


def test_bad_commands_are_not_passed_on(graph: Graph) -> None:
    relay = Relay(graph)
    for bad in ([1.0], [1.0, 2.0, 3.0], [nan, 1.0], []):
        relay.send(*bad)
        graph.spin_for(0.05)
    assert relay.count() == 0
    assert relay.node._relay.counts['passed on'] == 0


def test_force_is_taken_back_when_commands_stop(graph: Graph) -> None:
    relay = Relay(graph)
    relay.send(1.5, -2.5)
    assert graph.spin_until(lambda: relay.newest() == [1.5, -2.5])
    begin = time.monotonic()
    assert graph.spin_until(lambda: relay.newest() == [0.0, 0.0])
    assert time.monotonic() - begin > 0.5 * TIMEOUT
    relay.send(3.0, 4.0)
    assert graph.spin_until(lambda: relay.newest() == [3.0, 4.0])


def test_force_is_taken_back_on_deactivation(graph: Graph) -> None:
    relay = Relay(graph)
    relay.send(1.5, -2.5)
    assert graph.spin_until(lambda: relay.newest() == [1.5, -2.5])
    relay.node.trigger_deactivate()
    assert graph.spin_until(lambda: relay.newest() == [0.0, 0.0])
    relay.send(3.0, 4.0)
    graph.spin_for(2.0 * TIMEOUT)
    assert relay.newest() == [0.0, 0.0]


def test_joints_that_the_robot_has_not_are_refused(graph: Graph) -> None:
    node = graph.add(
        JointForceRelayNode,
        robot_description_file=FILE,
        joints=['joint_1', 'joint_9'],
        crosscheck=False,
        autostart=True,
    )
    assert graph.spin_until(lambda: node.is_finished)
    assert node.exit_code == 1


def test_paused_gazebo_at_time_zero_lets_the_torque_ramp_up_and_stay(graph: Graph) -> None:
    """Joint states with stamp zero again and again, as in gazebo.launch.py, then running time."""
    model = load_urdf(urdf_path('es5.urdf.xacro'))
    names, q = list(model.joint_names), np.array([0.0, 0.4, 0.3, -0.2, 0.5, 0.0])
    values = yaml_values(config_path('gravity_compensation_node.yaml'))
    settings: dict[str, Any] = {name.replace('.', '__'): value for name, value in values.items()}
    node = graph.add(
        GravityCompensationNode,
        **{
            **settings,
            'robot_description_file': str(urdf_path('es5.urdf.xacro')),
            'ramp_up_time': 0.3,
            'crosscheck': False,
            'gravity_compensated_by_hardware': False,
            'use_sim_time': True,
        },
    )
    clock = {'time': 0.0, 'is_running': False}
    publisher = graph.probe.create_publisher(JointState, 'joint_states', 1)
    clocks = graph.probe.create_publisher(Clock, '/clock', CLOCK)

    def publish() -> None:
        if clock['is_running']:
            clock['time'] += 0.005
        clocks.publish(Clock(clock=Time(seconds=clock['time']).to_msg()))
        publisher.publish(joint_state(names, q, np.zeros(6), stamp=clock['time']))

    graph.probe.create_timer(0.005, publish)
    commands = graph.collect(Float64MultiArray, 'effort_controller/commands')
    wanted = generalized_gravity(model, q)

    def has_wanted() -> bool:
        return bool(commands) and bool(np.allclose(commands[-1].data, wanted, atol=1e-9))

    assert graph.spin_until(lambda: node.is_active)
    assert graph.spin_until(has_wanted)
    clock['is_running'] = True
    commands.clear()
    graph.spin_for(1.0)
    assert len(commands) > 20
    worst = max(np.abs(np.array(command.data) - wanted).max() for command in commands)
    assert worst < 1e-9, 'the torque does not dip when time begins to run'
