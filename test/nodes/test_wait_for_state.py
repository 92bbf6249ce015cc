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

"""The program that launch files wait with, as a process."""

from __future__ import annotations

from collections.abc import Iterator
import signal
import subprocess
import sys
import time

import pytest

from robot_dynamics_ros.nodes.joint_force_relay_node import JointForceRelayNode
from robot_dynamics_ros.resources import urdf_path
from ros_graph import Graph

MODULE = 'robot_dynamics_ros.ros.wait_for_state'


@pytest.fixture
def relay(graph: Graph) -> JointForceRelayNode:
    node: JointForceRelayNode = graph.add(
        JointForceRelayNode,
        robot_description_file=str(urdf_path('planar_2r_rods.urdf')),
        crosscheck=False,
        node={'namespace': 'arm'},
    )
    return node


@pytest.fixture
def waiting() -> Iterator[subprocess.Popen[bytes]]:
    words = ['joint_force_relay_node', 'active', '--for', '0.5', '--ros-args', '-r', '__ns:=/arm']
    process = subprocess.Popen([sys.executable, '-m', MODULE, *words])
    yield process
    process.kill()
    process.wait()


def test_it_ends_when_the_node_has_been_active_for_a_while(
    graph: Graph, relay: JointForceRelayNode, waiting: subprocess.Popen[bytes]
) -> None:
    relay.trigger_configure()
    graph.spin_for(3.0)
    assert waiting.poll() is None, 'inactive is not active'
    relay.trigger_activate()
    begin = time.monotonic()
    assert graph.spin_until(lambda: waiting.poll() is not None)
    assert waiting.returncode == 0
    assert time.monotonic() - begin > 0.4


def test_it_fails_when_it_is_interrupted(
    graph: Graph, relay: JointForceRelayNode, waiting: subprocess.Popen[bytes]
) -> None:
    graph.spin_until(lambda: any('wait_for' in name for name in graph.probe.get_node_names()))
    waiting.send_signal(signal.SIGINT)
    assert graph.spin_until(lambda: waiting.poll() is not None)
    assert waiting.returncode == 1
