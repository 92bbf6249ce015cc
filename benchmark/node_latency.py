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

"""
Measure how fast inverse_dynamics_node answers joint states, beside a relay that does nothing.

Three processes over DDS. This one sends joint states at a fixed rate and takes the answers; the
node, and the relay, answer. The relay is the shortest node that one can write with rclpy: one
subscription, one publisher, no computation, `rclpy.spin`. They are measured in turns of a second,
so that both get their share of whatever else the machine does.

Each answer tells which state it belongs to: the position of joint 1 counts the states, the relay
sends it back, and the node, holding joint 1 at zero with a gain of 1 N m/rad, answers its
negative. The latency is the time from before the state is published until its answer has been
taken. States without an answer are skipped; answers out of order would be stale.

    python benchmark/node_latency.py [--seconds 60] [--rate 1000]

"""

from __future__ import annotations

import argparse
import array
import os
from pathlib import Path
import subprocess
import sys
import time
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
STEP = 1e-7  # of the position of joint 1 from state to state [rad]
BLOCK = 1.0  # duration of one turn [s]
KEEPALIVE = 0.05  # between two states for the one whose turn it is not [s]
JOINTS = [f'joint_{i}' for i in range(1, 7)]
NODE = 'from robot_dynamics_ros.nodes.inverse_dynamics_node import main; main()'
PARAMETERS = {
    'autostart': 'true',
    'robot_description_file': str(ROOT / 'urdf' / 'es5.urdf.xacro'),
    'joints': '[' + ', '.join(JOINTS) + ']',
    'gravity_compensated_by_hardware': 'false',
    'stale_state_policy': 'ramp_down',
    'mode': 'pd_feedforward',
    'kp': '[1.0]',
    'kd': '[0.0]',
    'ramp_up_time': '0.0',
    'effort_rate_limits': '[' + ', '.join(['1.0e9'] * 6) + ']',
    'state_timeout': '1.0',
}


def run_relay() -> None:
    """Answer every joint state with its positions."""
    import rclpy
    from rclpy.executors import ExternalShutdownException
    from rclpy.node import Node
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray

    rclpy.init()
    node = Node('relay', namespace='relay')
    publisher = node.create_publisher(Float64MultiArray, 'effort_controller/commands', 1)
    answer = Float64MultiArray()

    def on_state(message: JointState) -> None:
        answer.data = message.position
        publisher.publish(answer)

    qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    node.create_subscription(JointState, 'joint_states', on_state, qos)
    try:
        rclpy.spin(node)
    except ExternalShutdownException:
        pass


class Side:
    """One of the two that answer, with what was measured of it."""

    def __init__(self, node: Any, name: str, sign: float, count: int) -> None:
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Float64MultiArray

        self.name = name
        self.sent = np.full(count, np.nan)
        self.received = np.full(count, np.nan)
        self.is_counted = np.zeros(count, dtype=bool)
        self.answers = 0
        self.out_of_order = 0
        self.next = 0
        self._scale = sign / STEP
        self._newest = -1
        self._type = Float64MultiArray
        self._message = JointState(name=JOINTS, velocity=[0.0] * 6, effort=[0.0] * 6)
        self._publisher = node.create_publisher(JointState, f'/{name}/joint_states', 1)
        topic = f'/{name}/effort_controller/commands'
        self._subscription = node.create_subscription(Float64MultiArray, topic, print, 100)

    def send(self, counted: bool) -> None:
        """Publish the next state."""
        self.is_counted[self.next] = counted
        self.sent[self.next] = time.perf_counter()
        self.next += 1
        self._publish(STEP * self.next)

    def send_zero(self) -> None:
        """Publish a state that is not counted."""
        self._publish(0.0)

    def _publish(self, position: float) -> None:
        stamp = self._message.header.stamp
        stamp.sec, stamp.nanosec = divmod(time.time_ns(), 1_000_000_000)
        self._message.position = array.array('d', [position] + [0.3] * 5)
        self._publisher.publish(self._message)

    def take(self) -> None:
        """Take one answer if there is one."""
        taken = self._subscription.handle.take_message(self._type, False)
        if taken is None:
            return
        now = time.perf_counter()
        self.answers += 1
        number = round(self._scale * taken[0].data[0]) - 1
        if number < 0:
            return
        if number <= self._newest:
            self.out_of_order += 1
        self._newest = max(number, self._newest)
        self.received[number] = now

    def figures(self) -> dict[str, float]:
        """Return latencies in microseconds, and counts."""
        latency = 1e6 * (self.received - self.sent)[self.is_counted]
        answered = np.isfinite(latency)
        median, p90, p99 = np.percentile(latency[answered], (50, 90, 99))
        return {
            'median': float(median),
            'p90': float(p90),
            'p99': float(p99),
            'above_1_ms': float(np.mean(latency[answered] > 1e3)),
            'above_2_ms': float(np.mean(latency[answered] > 2e3)),
            'sent': len(latency),
            'skipped': int((~answered).sum()),
            'out_of_order': self.out_of_order,
        }


def measure(seconds: float, rate: float) -> dict[str, dict[str, float]]:
    """Send states to both in turns; return the figures of each."""
    import rclpy

    rclpy.init()
    node = rclpy.create_node('latency')
    count = int(2 * (seconds + BLOCK) * (rate + 1.0 / KEEPALIVE)) + 1000
    sides = [Side(node, 'relay', 1.0, count), Side(node, 'node', -1.0, count)]
    deadline = time.monotonic() + 60.0
    while not all(side.answers for side in sides):
        if time.monotonic() > deadline:
            raise SystemExit('the node or the relay does not answer')
        for side in sides:
            side.send_zero()
            side.take()
        time.sleep(0.01)
    for turn in range(2 * max(1, round(seconds / BLOCK))):
        _turn(sides[turn % 2], sides[(turn + 1) % 2], rate)
    return {side.name: side.figures() for side in sides}


def _turn(side: Side, other: Side, rate: float) -> None:
    """Send states to one side for the duration of a turn, and now and then one to the other."""
    period = 1.0 / rate
    began = time.perf_counter()
    keepalive = began
    for k in range(int(BLOCK * rate)):
        due = began + k * period
        while time.perf_counter() < due:
            side.take()
            time.sleep(1e-5)
        side.send(counted=k > 100)
        if due > keepalive + KEEPALIVE:
            keepalive = due
            other.send(counted=False)
        other.take()
    end = time.perf_counter() + 0.05
    while time.perf_counter() < end:
        side.take()


def start(name: str, code: list[str]) -> subprocess.Popen[bytes]:
    """Start a process of this interpreter that is ended with this one."""
    environment = {**os.environ, 'PYTHONPATH': f'{ROOT}:{os.environ.get("PYTHONPATH", "")}'}
    return subprocess.Popen([sys.executable, *code], env=environment)


def main() -> int:
    """Measure and print; return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[1])
    parser.add_argument('--seconds', type=float, default=60.0, help='time for each of the two')
    parser.add_argument('--rate', type=float, default=1000.0, help='joint states per second')
    parser.add_argument('--relay', action='store_true', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.relay:
        run_relay()
        return 0
    os.environ.setdefault('ROS_DOMAIN_ID', '83')
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    settings = [part for k, v in PARAMETERS.items() for part in ('-p', f'{k}:={v}')]
    node = ['-c', NODE, '--ros-args', '-r', '__ns:=/node', *settings]
    processes = [start('relay', [__file__, '--relay']), start('node', node)]
    try:
        figures = measure(options.seconds, options.rate)
    finally:
        for process in processes:
            process.terminate()
            process.wait(10)
    return report(figures)


def report(figures: dict[str, dict[str, float]]) -> int:
    """Print the figures; return 1 if a limit is exceeded."""
    relay, node = figures['relay'], figures['node']
    print(f'{"":14}{"relay":>10}{"node":>10}{"ratio":>8}{"limit":>8}')
    limits = {'median': 1.15, 'p90': None, 'p99': 1.3}
    failed = False
    for key, limit in limits.items():
        ratio = node[key] / relay[key]
        failed |= limit is not None and ratio > limit
        shown = '' if limit is None else f'{limit:8.2f}'
        print(f'{key + " [us]":14}{relay[key]:10.0f}{node[key]:10.0f}{ratio:8.2f}{shown}')
    for key in ('above_1_ms', 'above_2_ms'):
        print(f'{key.replace("_", " "):14}{relay[key]:10.2%}{node[key]:10.2%}')
    for key in ('sent', 'skipped', 'out_of_order'):
        print(f'{key:14}{relay[key]:10.0f}{node[key]:10.0f}')
    failed |= node['skipped'] > relay['skipped'] or node['out_of_order'] > 0
    print('beyond the limits' if failed else 'within the limits')
    return int(failed)


if __name__ == '__main__':
    sys.exit(main())
