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
"""The mobile base as a plant, over DDS."""

from __future__ import annotations

from math import atan2, nan
from typing import Any

from nav_msgs.msg import Odometry
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.nodes.differential_drive_node import DifferentialDriveNode
from robot_dynamics_ros.resources import config_path
from robot_dynamics_ros.ros.parameters import yaml_values
from robot_dynamics_ros.ros.qos import COMMAND_OUT
from ros_graph import Graph, Statuses


class Base:
    """A base with the shipped parameters, and what it says."""

    def __init__(self, graph: Graph, **parameters: Any) -> None:
        self.graph = graph
        values = yaml_values(config_path('differential_drive_node.yaml'))
        self.node = graph.add(DifferentialDriveNode, **{**values, **parameters})
        self.statuses = Statuses(graph)
        self.odometry = graph.collect(Odometry, 'odom')
        self.states = graph.collect(JointState, 'joint_states')
        self.commands = graph.probe.create_publisher(Float64MultiArray, 'cmd', COMMAND_OUT)
        assert graph.matched(self.commands)
        assert graph.spin_until(lambda: self.odometry and self.states)

    def command(self, *torques: float) -> None:
        self.commands.publish(Float64MultiArray(data=list(torques)))

    @property
    def speed(self) -> float:
        return float(self.odometry[-1].twist.twist.linear.x)

    @property
    def yaw_rate(self) -> float:
        return float(self.odometry[-1].twist.twist.angular.z)


def test_equal_torques_drive_straight_to_the_speed_of_the_losses(graph: Graph) -> None:
    base = Base(graph, real_time_factor=20.0)
    base.command(1.0, 1.0)
    # r tau / c
    assert graph.spin_until(lambda: base.speed == pytest.approx(0.1 * 1.0 / 0.5, rel=1e-6))
    last = base.odometry[-1]
    assert last.header.frame_id == 'odom'
    assert last.child_frame_id == 'base_link'
    assert last.pose.pose.position.x > 0.0
    assert last.pose.pose.position.y == pytest.approx(0.0, abs=1e-9)
    state = base.states[-1]
    assert list(state.name) == ['left_wheel_joint', 'right_wheel_joint']
    # The wheels roll: their angle times the radius is the way.
    first = next(each for each in base.odometry if each.header.stamp == state.header.stamp)
    assert 0.1 * state.position[0] == pytest.approx(first.pose.pose.position.x, rel=1e-6)
    assert list(state.effort) == [1.0, 1.0]


def test_opposite_torques_turn_on_the_spot(graph: Graph) -> None:
    base = Base(graph, real_time_factor=5.0)
    base.command(-0.5, 0.5)
    # omega b / 2 = r p, with p = tau / c
    expected = 0.1 * (0.5 / 0.5) / 0.2
    assert graph.spin_until(lambda: base.yaw_rate == pytest.approx(expected, rel=1e-4))
    pose = base.odometry[-1].pose.pose
    assert pose.position.x == pytest.approx(0.0, abs=1e-9)
    angle = 2.0 * atan2(pose.orientation.z, pose.orientation.w)
    assert abs(angle) > 0.01


def test_wheels_slip_beyond_their_grip_and_diagnostics_say_so(graph: Graph) -> None:
    base = Base(graph, grip=0.05, effort_limit=100.0)
    base.command(8.0, 8.0)
    assert graph.spin_until(lambda: base.statuses.message('simulation') == 'wheels slip')
    base.odometry.clear()
    assert graph.spin_until(lambda: len(base.odometry) > 20)
    begin, end = base.odometry[0], base.odometry[-1]
    first, last = begin.header.stamp, end.header.stamp
    seconds = last.sec - first.sec + 1e-9 * (last.nanosec - first.nanosec)
    gained = end.twist.twist.linear.x - begin.twist.twist.linear.x
    assert gained / seconds == pytest.approx(0.05 * 9.81, rel=1e-3)  # mu g, whatever the torque


def test_bad_commands_are_dropped_and_counted(graph: Graph) -> None:
    base = Base(graph)
    for bad in ([1.0], [1.0, 2.0, 3.0], [nan, 0.0]):
        base.command(*bad)
        graph.spin_for(0.05)
    assert base.node.counts == {'commands': 0, 'wrong_size': 2, 'not_finite': 1}
    assert base.speed == 0.0


def test_limit_of_the_effort_holds(graph: Graph) -> None:
    base = Base(graph)
    base.command(1e3, -1e3)
    assert graph.spin_until(lambda: list(base.states[-1].effort) == [10.0, -10.0])


def test_impossible_base_is_refused(graph: Graph) -> None:
    node = graph.add(DifferentialDriveNode, com_offset=1.0)
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
