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

from typing import Any

import numpy as np
import pytest
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.core.control.trajectory_efforts import trajectory_efforts
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.nodes.trajectory_annotator_node import TrajectoryAnnotatorNode
from robot_dynamics_ros.resources import urdf_path
from robot_dynamics_ros.ros.conversions import message_from_points, TrajectoryPoints
from ros_graph import Graph, Statuses

NAMES = [f'joint_{i}' for i in (3, 1, 2, 6, 5, 4)]
TIMES = np.array([0.0, 0.5, 1.0, 1.5])
BASIC = {
    'robot_description_file': 'package://robot_dynamics_ros/urdf/es5.urdf.xacro',
    'autostart': True,
    'crosscheck': False,
}


def trajectory(names: list[str]) -> JointTrajectory:
    rng = np.random.default_rng(3)
    positions = [rng.uniform(-0.3, 0.3, len(names)) for _ in TIMES]
    return message_from_points(
        TrajectoryPoints(tuple(names), 2.5, TIMES, positions, [None] * 4, [None] * 4, [None] * 4)
    )


def annotated(graph: Graph, message: JointTrajectory, **parameters: Any) -> Any:
    node = graph.add(TrajectoryAnnotatorNode, **{**BASIC, **parameters})
    answers = graph.collect(JointTrajectory, '/trajectory_annotator_node/annotated')
    publisher = graph.probe.create_publisher(
        JointTrajectory, '/trajectory_annotator_node/trajectory', 10
    )
    assert graph.spin_until(lambda: node.is_active)
    assert graph.matched(publisher)
    assert graph.matched(node._publisher)
    publisher.publish(message)
    assert graph.spin_until(lambda: answers)
    return answers[0]


@pytest.mark.parametrize('gravity', [False, True])
def test_efforts_are_those_of_core_and_the_rest_is_unchanged(graph: Graph, gravity: bool) -> None:
    message = trajectory(NAMES)
    answer = annotated(
        graph, message, friction_source='urdf', gravity_compensated_by_hardware=gravity
    )
    model = load_urdf(urdf_path('es5.urdf.xacro'))
    if gravity:
        model = model.with_gravity((0.0, 0.0, 0.0))
    positions = [list(point.positions) for point in message.points]
    expected = trajectory_efforts(
        model, NAMES, TIMES, positions, friction=FrictionModel.from_model(model)
    )
    for point, efforts in zip(answer.points, expected):
        np.testing.assert_array_equal(point.effort, efforts)  # the same code, the same numbers
        point.effort = []
    assert answer == message


def test_trajectories_of_another_robot_are_refused(graph: Graph) -> None:
    statuses = Statuses(graph)
    node = graph.add(TrajectoryAnnotatorNode, **BASIC)
    publisher = graph.probe.create_publisher(
        JointTrajectory, '/trajectory_annotator_node/trajectory', 10
    )
    assert graph.spin_until(lambda: node.is_active)
    assert graph.matched(publisher)
    publisher.publish(trajectory(NAMES[:5]))
    assert graph.spin_until(lambda: 'rejected' in statuses.message('trajectories'))
    assert 'joint_4' in statuses.message('trajectories')
