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

from collections.abc import Callable, Iterator
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from robot_dynamics_ros.core.control.guard_state import GuardState
from robot_dynamics_ros.nodes.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.nodes.joint_force_relay_node import JointForceRelayNode
from robot_dynamics_ros.resources import urdf_path
from ros_graph import Graph, StateFeed

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


Start = Callable[..., 'subprocess.Popen[bytes]']


@pytest.fixture
def start() -> Iterator[Start]:
    started = []

    def start(*words: str) -> subprocess.Popen[bytes]:
        given = [*words, '--for', '0.5', '--ros-args', '-r', '__ns:=/arm']
        started.append(subprocess.Popen([sys.executable, '-m', MODULE, *given]))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def waiting(start: Start) -> subprocess.Popen[bytes]:
    return start('joint_force_relay_node', 'active')


class Arm:
    """An active node that commands torque, in the namespace of the program."""

    def __init__(self, graph: Graph, **parameters: Any) -> None:
        names = [f'joint_{number}' for number in range(1, 7)]
        values = {
            'robot_description_file': str(urdf_path('es5.urdf.xacro')),
            'gravity_compensated_by_hardware': False,
            'stale_state_policy': 'ramp_down',
            'ramp_up_time': 0.1,
            'ramp_down_time': 0.1,
            'crosscheck': False,
            **parameters,
        }
        self.node = graph.add(GravityCompensationNode, node={'namespace': 'arm'}, **values)
        self.feed = StateFeed(graph, names, topic='/arm/joint_states')
        self.node.trigger_configure()
        assert graph.spin_until(lambda: self.node.buffer.has_velocity)
        self.node.trigger_activate()
        assert graph.spin_until(lambda: self.node.guard.state.is_commanding)

    def is_carrying(self) -> bool:
        return self.node.guard.state is GuardState.ACTIVE


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


def test_carrying_is_more_than_active(graph: Graph, start: Start) -> None:
    arm = Arm(graph, ramp_up_time=60.0)
    waiting = start('gravity_compensation_node', 'carrying')
    graph.spin_for(3.0)
    assert waiting.poll() is None, 'it still ramps up'
    arm.node.begin_stop()
    assert graph.spin_until(lambda: not arm.node.guard.state.is_commanding)
    graph.spin_for(1.0)
    assert waiting.poll() is None, 'active, but switched off'


def test_it_ends_when_the_whole_torque_is_on(graph: Graph, start: Start) -> None:
    arm = Arm(graph)
    assert graph.spin_until(arm.is_carrying)
    waiting = start('gravity_compensation_node', 'carrying')
    assert graph.spin_until(lambda: waiting.poll() is not None)
    assert waiting.returncode == 0


def test_fault_ends_it_without_success(graph: Graph, start: Start) -> None:
    arm = Arm(graph)
    assert graph.spin_until(arm.is_carrying)
    arm.node.guard.fail(time.monotonic(), 'for a test')
    assert graph.spin_until(lambda: arm.node.guard.state is GuardState.FAULT)
    waiting = start('gravity_compensation_node', 'carrying')
    assert graph.spin_until(lambda: waiting.poll() is not None)
    assert waiting.returncode == 1


def test_it_waits_for_a_second_node(
    graph: Graph, start: Start, relay: JointForceRelayNode
) -> None:
    arm = Arm(graph)
    assert graph.spin_until(arm.is_carrying)
    relay.trigger_configure()
    waiting = start('gravity_compensation_node', 'carrying', '--beside', 'joint_force_relay_node')
    graph.spin_for(3.0)
    assert waiting.poll() is None
    relay.trigger_activate()
    assert graph.spin_until(lambda: waiting.poll() is not None)
    assert waiting.returncode == 0
