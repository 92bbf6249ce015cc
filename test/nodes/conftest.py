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

"""ROS for the tests of this folder: in a domain of their own, on this machine only."""

from __future__ import annotations

from collections.abc import Iterator
import os
from pathlib import Path

import numpy as np
import pytest

os.environ['ROS_DOMAIN_ID'] = str(1 + os.getpid() % 100)
os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'

pytest.importorskip('rclpy')

from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape  # noqa: E402
from robot_dynamics_ros.core.control.laws import InverseDynamicsLaw  # noqa: E402
from robot_dynamics_ros.core.control.trajectory_efforts import trajectory_efforts  # noqa: E402
from robot_dynamics_ros.core.model.urdf import load_urdf  # noqa: E402
from robot_dynamics_ros.core.simulation.elastic_joints import ElasticJoints  # noqa: E402
from robot_dynamics_ros.core.simulation.elastic_plant import ElasticPlant  # noqa: E402
from robot_dynamics_ros.core.simulation.plant import Plant  # noqa: E402
from robot_dynamics_ros.core.simulation.world import World  # noqa: E402
from robot_dynamics_ros.crosscheck import crosscheck_model  # noqa: E402
from robot_dynamics_ros.resources import urdf_path  # noqa: E402
from ros_graph import Graph  # noqa: E402


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """
    Let tests that fail try once more, after a rest, as build farms of ROS do.

    They run against real time with several processes; a machine that stands still for seconds is
    no fault of theirs. The summary names those that needed it.

    """
    if not config.pluginmanager.hasplugin('rerunfailures'):
        return
    for item in items:
        if Path(item.path).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.flaky(reruns=1, reruns_delay=3))


@pytest.fixture(scope='session', autouse=True)
def compiled_kernels() -> None:
    """Compile what the nodes use before any deadline runs; from the cache this takes no time."""
    model = load_urdf(urdf_path('planar_2r_rods.urdf'))
    for mode in ('pd_feedforward', 'computed_torque', 'pd_gravity'):
        law = InverseDynamicsLaw(model, mode, gravity_compensated_by_hardware=False)
        zero = np.zeros(2)
        law.terms(zero, zero, (zero, zero, zero))
    Plant(model).step(zero, 1e-3)
    Plant(
        model,
        world=World.with_floor(-5.0),
        collisions=[CollisionShape('link_2', 'sphere', 0.05)],
        joint_limits=True,
    ).step(zero, 1e-3)
    springs = ElasticJoints.from_model(model.with_armature([0.1, 0.1]), [1e3, 1e3])
    ElasticPlant(model, springs).step(zero, 1e-3)
    trajectory_efforts(model, model.joint_names, [0.0, 1.0], [zero, zero])
    crosscheck_model(model, samples=1, seed=0)


@pytest.fixture
def graph() -> Iterator[Graph]:
    """Return nodes under test and a node that watches them, in one executor."""
    graph = Graph()
    yield graph
    graph.close()
