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

"""Many messages and much garbage, from this process to a controller in another one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import time
from typing import Any

from geometry_msgs.msg import InertiaStamped
import numpy as np
import pytest
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory

from node_processes import Processes
from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import urdf_path
from robot_dynamics_ros.ros.cdr import read_command
from robot_dynamics_ros.ros.qos import LATCHED
from ros_graph import Graph, joint_state, Statuses

NAMES = [f'joint_{i}' for i in range(1, 7)]
COMMANDS = 'effort_controller/commands'
MEBIBYTE = 2**20

pytestmark = pytest.mark.soak


class Controller:
    """A controller in another process, and the states that it gets from here."""

    def __init__(self, graph: Graph, processes: Processes, node: str, **parameters: str) -> None:
        self.graph = graph
        self.statuses = Statuses(graph)
        self.process = processes.configured(
            node,
            ramp_up_time='0.1',
            crosscheck='false',
            state_timeout='0.5',
            armature='[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]',
            **parameters,
        )
        self.states = graph.probe.create_publisher(JointState, 'joint_states', 1)
        self.commands: list[Any] = []
        self.times: list[float] = []
        graph.probe.create_subscription(
            Float64MultiArray, COMMANDS, self._on_command, 100, raw=True
        )
        assert graph.matched(self.states)
        assert self.spin_sending(60.0, lambda: self.statuses.message('torque') == 'active')

    def _on_command(self, message: bytes) -> None:
        try:
            command = read_command(message)
        except ValueError:  # the garbage of this test
            return
        if command.shape == (len(NAMES),):
            self.commands = [command]
            self.times.append(time.monotonic())

    def send(self) -> None:
        self.states.publish(joint_state(NAMES, np.zeros(6), np.zeros(6)))

    def spin_sending(self, seconds: float, condition: Any = lambda: False) -> bool:
        """Send states at 200 Hz or so until the condition holds."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                return False
            self.send()
            self.graph.executor.spin_once(timeout_sec=0.005)
        return True

    def memory(self) -> float:
        """Return the resident memory of the process [MiB]."""
        pages = int(Path(f'/proc/{self.process.pid}/statm').read_text().split()[1])
        return pages * 4096 / MEBIBYTE


@pytest.fixture
def processes() -> Iterator[Processes]:
    processes = Processes()
    yield processes
    processes.end()


def test_a_million_messages_leave_the_memory_as_it_was(graph: Graph, processes: Processes) -> None:
    controller = Controller(graph, processes, 'gravity_compensation_node')
    data = bytearray(serialize_message(joint_state(NAMES, np.zeros(6), np.zeros(6))))
    before, steps = 0.0, 1_000_000
    for k in range(steps):
        if k % 20 == 0:
            controller.send()  # with a new stamp
        else:
            controller.states.publish(bytes(data))  # a repeated one
        if k % 100 == 0:
            graph.executor.spin_once(timeout_sec=0.0)
        if k == steps // 10:
            before = controller.memory()
    after = controller.memory()
    print(f'resident memory: {before:.1f} MiB after 1e5 messages, {after:.1f} MiB after 1e6')
    assert controller.process.poll() is None
    assert controller.statuses.message('torque') == 'active'
    assert after - before < 3.0  # MiB: less than 4 bytes a message


def test_garbage_on_every_topic_does_not_stop_the_commands(
    graph: Graph, processes: Processes
) -> None:
    controller = Controller(
        graph,
        processes,
        'inverse_dynamics_node',
        mode='pd_gravity',
        kp='[0.0]',
        kd='[0.0]',
        payload_source='topic',
    )
    name = '/inverse_dynamics_node'
    topics = {
        'joint_states': (JointState, 1),
        f'{name}/reference': (JointTrajectory, 10),
        f'{name}/payload': (InertiaStamped, LATCHED),
        'robot_description': (String, LATCHED),
        COMMANDS: (Float64MultiArray, 1),
    }
    publishers = [graph.probe.create_publisher(kind, t, qos) for t, (kind, qos) in topics.items()]
    rng = np.random.default_rng(0)
    controller.times.clear()
    end = time.monotonic() + 60.0
    count = states = 0
    while time.monotonic() < end:
        for publisher in publishers:
            size = int(rng.choice([0, 1, 4, 30, 300, 3000, 30000]))
            start = b'\x00\x01\x00\x00' if rng.random() < 0.5 else b''
            publisher.publish(start + rng.bytes(size))
            count += 1
        controller.send()
        states += 1
        graph.executor.spin_once(timeout_sec=0.002)
    gap = np.diff([*controller.times, time.monotonic()]).max()
    print(
        f'{count} pieces of garbage, {states} states, {len(controller.times)} commands, '
        f'longest gap {gap:.3f} s'
    )
    print(controller.statuses.values('torque'), controller.statuses.values('joint states'))
    assert controller.process.poll() is None
    assert controller.statuses.message('torque') == 'active'
    gravity = generalized_gravity(load_urdf(urdf_path('es5.urdf.xacro')), np.zeros(6))
    np.testing.assert_allclose(controller.commands[-1], gravity, atol=1e-9)
    assert gap < 0.5  # the timeout of the states
