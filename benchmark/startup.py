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
Measure the time from the start of a process to an active inverse_dynamics_node.

A simulated arm runs beside it. In turn with the node, the shortest subscriber that one can write
with rclpy is started, and the time until its first joint state is taken: what of it is the
middleware's own, which now and then finds the other side only with its next announcement, up to
three seconds later. The first start, which may compile, is not counted.

    python benchmark/startup.py [--starts 10]

"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

import numpy as np

CONFIG = Path(__file__).resolve().parents[1] / 'config'
SUBSCRIBER = """
import rclpy
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

rclpy.init()
node = rclpy.create_node('subscriber')
states = []
node.create_subscription(JointState, 'joint_states', states.append, qos_profile_sensor_data)
while not states:
    rclpy.spin_once(node)
print('active', flush=True)
while True:
    rclpy.spin_once(node)
"""


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').split('\n\n')[0].strip())
    parser.add_argument('--starts', type=int, default=10, help='of each kind (10)')
    options = parser.parse_args()
    times: dict[str, list[float]] = {'inverse_dynamics_node': [], 'bare subscriber': []}
    with _running(_node('forward_simulation_node')), _running(_node('inverse_dynamics_node')):
        pass
    with _running(_node('forward_simulation_node')):
        for _ in range(options.starts):
            for name, taken in times.items():
                began = time.monotonic()
                is_node = name == 'inverse_dynamics_node'
                with _running(_node(name) if is_node else ['-c', SUBSCRIBER]):
                    taken.append(time.monotonic() - began)
    print(f'from process start to active, {options.starts} starts [s]')
    print(f'{"":24s}{"median":>9s}{"least":>9s}{"most":>9s}{"wanted":>10s}')
    for name, taken in times.items():
        wanted = '<= 3.0' if name == 'inverse_dynamics_node' else ''
        print(f'{name:24s}{np.median(taken):9.2f}{min(taken):9.2f}{max(taken):9.2f}{wanted:>10s}')


def _node(name: str) -> list[str]:
    file = CONFIG / f'{name}.yaml'
    return ['-m', f'robot_dynamics_ros.nodes.{name}', '--ros-args', '--params-file', str(file)]


@contextmanager
def _running(arguments: list[str]) -> Iterator[None]:
    """Start a process, wait until it prints that it is active, and end it afterwards."""
    environment = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST', 'ROS_DOMAIN_ID': '88'}
    process = subprocess.Popen(
        [sys.executable, *arguments],
        env={**environment, **os.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    lines = []
    try:
        for line in process.stdout:
            lines.append(line)
            if line.rstrip().endswith('active'):
                break
        else:
            raise SystemExit(f'{arguments[1]} ended:\n{"".join(lines)}')
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        process.wait()


if __name__ == '__main__':
    main()
