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

from robot_dynamics_ros.core.control.trajectory_efforts import trajectory_efforts  # noqa: E402
from robot_dynamics_ros.core.model.urdf import load_urdf  # noqa: E402
from robot_dynamics_ros.crosscheck import crosscheck_model  # noqa: E402
from robot_dynamics_ros.resources import urdf_path  # noqa: E402
from robot_dynamics_ros.tools.compile_steps import compile_step, STEPS  # noqa: E402
from ros_graph import Graph  # noqa: E402


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """
    Let tests that fail try again, twice at most, after a rest, as build farms of ROS do.

    They run against real time with several processes; a machine that stands still for seconds is
    no fault of theirs. The summary names those that needed it.

    """
    if not config.pluginmanager.hasplugin('rerunfailures'):
        return
    for item in items:
        if Path(item.path).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.flaky(reruns=2, reruns_delay=5))


@pytest.fixture(scope='session', autouse=True)
def compiled_kernels() -> None:
    """Compile what the nodes use before any deadline runs; from the cache this takes no time."""
    for name in STEPS:
        compile_step(name)
    model = load_urdf(urdf_path('planar_2r_rods.urdf'))
    trajectory_efforts(model, model.joint_names, [0.0, 1.0], np.zeros((2, model.nv)))
    crosscheck_model(model, samples=1, seed=0)


@pytest.fixture
def graph() -> Iterator[Graph]:
    """Return nodes under test and a node that watches them, in one executor."""
    graph = Graph()
    yield graph
    graph.close()
