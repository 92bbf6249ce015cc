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

"""References of every size, from another process, while the commands must not pause."""

from __future__ import annotations

from collections.abc import Iterator
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from node_processes import Processes
from ros_graph import Graph, Statuses

TORQUES = '/inverse_dynamics_node/torques'
STATE_TIMEOUT = 0.5
"""Longer than any pause of a shared machine; the gaps that are wanted, 20 ms, are printed [s]."""

SENDER = """
import sys, time
import numpy as np
import rclpy
from builtin_interfaces.msg import Duration
from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

rclpy.init()
node = rclpy.create_node('sender')
publisher = node.create_publisher(JointTrajectory, '/inverse_dynamics_node/reference', 10)
names = [f'joint_{i}' for i in range(1, 7)]

def point(q, t):
    sec, nanosec = divmod(round(t * 1e9), 10**9)
    after = Duration(sec=sec, nanosec=nanosec)
    return JointTrajectoryPoint(positions=[q] * 6, time_from_start=after)

while publisher.get_subscription_count() == 0:
    time.sleep(0.01)
what = sys.argv[1]
if what == 'long':
    # A sine of 0.02 rad in 100 s, by 10 000 points
    times = np.linspace(0.01, 100.0, 10000)
    message = JointTrajectory(joint_names=names)
    message.points = [point(0.02 * np.sin(0.5 * t), t) for t in times]
    publisher.publish(message)
elif what == 'oversized':
    data = serialize_message(JointTrajectory(joint_names=names, points=[point(0.0, 1.0)]))
    publisher.publish(bytes(data) + bytes(40 * 2**20))
elif what == 'stream':
    began = time.monotonic()
    while (t := time.monotonic() - began) < 2.0:
        message = JointTrajectory(joint_names=names, points=[point(0.02 * np.sin(3.0 * t), 0.0)])
        publisher.publish(message)
        time.sleep(max(0.0, 5e-4 - (time.monotonic() - began - t)))
elif what == 'garbage':
    rng = np.random.default_rng(0)
    for size in (0, 3, 4, 50, 5000, 20000, 200000):
        publisher.publish(bytes(4) + rng.bytes(size))
        publisher.publish(bytes([0, 1, 0, 0]) + rng.bytes(size))
        time.sleep(0.05)
time.sleep(1.0)
"""


class Arm:
    """A simulated arm under control, and the stamps of the states that were answered."""

    def __init__(self, graph: Graph, processes: Processes) -> None:
        self.graph = graph
        self.stamps: list[float] = []
        self.statuses = Statuses(graph)
        graph.probe.create_subscription(JointState, TORQUES, self._on_torques, 1000)
        processes.configured('forward_simulation_node', brake_release_delay='0.2')
        self.node = processes.configured(
            'inverse_dynamics_node',
            ramp_up_time='0.2',
            crosscheck='false',
            state_timeout=str(STATE_TIMEOUT),
        )
        assert graph.spin_until(lambda: self.statuses.message('torque') == 'active', 60.0)
        graph.spin_for(0.5)

    def _on_torques(self, message: JointState) -> None:
        stamp = message.header.stamp
        self.stamps.append(stamp.sec + 1e-9 * stamp.nanosec)

    def send(self, what: str) -> float:
        """Let another process send; return the longest gap between answered states [s]."""
        sender = subprocess.Popen([sys.executable, '-c', SENDER, what])
        try:
            self.graph.spin_for(0.5)  # its start takes the processor, which is no matter here
            self.stamps.clear()
            assert self.graph.spin_until(lambda: sender.poll() is not None, 60.0)
        finally:
            sender.kill()
        assert sender.returncode == 0
        return float(np.diff(self.stamps).max())

    def reference(self) -> dict[str, str]:
        assert self.graph.spin_until(lambda: bool(self.statuses.values('reference')))
        self.graph.spin_for(1.1)  # for the next report
        return self.statuses.values('reference')


@pytest.fixture
def arm(graph: Graph) -> Iterator[Arm]:
    processes = Processes()
    try:
        yield Arm(graph, processes)
    finally:
        processes.end()


def test_commands_do_not_pause_for_references_of_any_size(arm: Arm) -> None:
    gaps: dict[str, Any] = {what: arm.send(what) for what in ('long', 'stream', 'oversized')}
    said = arm.reference()
    assert 'bytes, allowed are' in arm.statuses.message('reference')
    assert int(said['rejected']) >= 1
    assert int(said['accepted']) > 200, 'much of the stream'
    print('longest gap between answered states [s]:', gaps)
    assert max(gaps.values()) < STATE_TIMEOUT
    arm.send('garbage')
    assert arm.node.poll() is None
    assert arm.statuses.message('torque') == 'active'
