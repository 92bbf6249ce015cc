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

from __future__ import annotations

from pathlib import Path
import signal
import socket
import time

import pytest

pytest.importorskip('rclpy')

from robot_dynamics_ros.demo.graph import isolate  # noqa: E402
from robot_dynamics_ros.demo.processes import (  # noqa: E402
    child_environment,
    DemoError,
    NodeProcess,
    NodeProcesses,
)
from robot_dynamics_ros.resources import config_path  # noqa: E402

NODE = 'forward_simulation_node'
DEADLINE = 60.0  # start of a process on a machine that does other things [s]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put back what `isolate` changes."""
    for name in ('ROS_DOMAIN_ID', 'ROS_AUTOMATIC_DISCOVERY_RANGE', 'ROS_STATIC_PEERS'):
        monkeypatch.setenv(name, '7')


def start(tmp_path: Path, **parameters: object) -> NodeProcess:
    isolate(None)
    log = tmp_path / 'node.log'
    return NodeProcess(NODE, config_path(f'{NODE}.yaml'), parameters, log, child_environment())


def catches(pid: int, number: int) -> bool:
    """Return whether a process has a handler for a signal."""
    status = Path(f'/proc/{pid}/status').read_text()
    mask = next(line for line in status.splitlines() if line.startswith('SigCgt')).split()[1]
    return bool(int(mask, 16) >> (number - 1) & 1)


def test_node_that_dies_is_told_with_its_reason(tmp_path: Path) -> None:
    with NodeProcesses() as processes:
        processes.add(start(tmp_path, stepping='sideways'))
        deadline = time.monotonic() + DEADLINE
        with pytest.raises(DemoError, match=rf'{NODE} died with exit code 1: .*sideways'):
            while time.monotonic() < deadline:
                processes.require_alive()
                time.sleep(0.05)
    assert processes.bad_ends() == f'{NODE} ended with exit code 1'


def test_node_is_ended_with_the_block(tmp_path: Path) -> None:
    with NodeProcesses() as processes:
        node = processes.add(start(tmp_path, autostart=False))
        deadline = time.monotonic() + DEADLINE
        while not catches(node.pid, signal.SIGTERM) and time.monotonic() < deadline:
            processes.require_alive()
            time.sleep(0.05)
    assert processes.bad_ends() == ''
    assert not Path(f'/proc/{node.pid}').exists()


def test_domain_is_not_one_that_is_in_use() -> None:
    first = isolate(None)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as participant:
        participant.bind(('0.0.0.0', 7400 + 250 * first + 10))  # as the first one of DDS does
        assert isolate(None) != first
    assert isolate(23) == 23
