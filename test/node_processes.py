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

"""Node processes for tests."""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys

from robot_dynamics_ros.resources import config_path

ROOT = Path(__file__).resolve().parents[1]


class Processes:
    """Node processes that do not outlive the test."""

    def __init__(self) -> None:
        self.running: list[subprocess.Popen[str]] = []

    def start(self, node: str, *arguments: str, **parameters: str) -> subprocess.Popen[str]:
        """Start a node with ROS arguments and parameters."""
        code = f'from robot_dynamics_ros.nodes.{node} import main; main()'
        settings = [part for k, v in parameters.items() for part in ('-p', f'{k}:={v}')]
        process = subprocess.Popen(
            [sys.executable, '-c', code, '--ros-args', *arguments, *settings],
            env={**os.environ, 'PYTHONPATH': f'{ROOT}:{os.environ.get("PYTHONPATH", "")}'},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.running.append(process)
        return process

    def configured(self, node: str, *arguments: str, **parameters: str) -> subprocess.Popen[str]:
        """Start a node with its installed parameter file."""
        file = str(config_path(f'{node}.yaml'))
        return self.start(node, '--params-file', file, *arguments, **parameters)

    def end(self) -> None:
        """End what still runs."""
        for process in self.running:
            if process.poll() is None:
                process.kill()
            if not process.stdout.closed:
                print(process.communicate()[0])  # shown if the test fails


def output(process: subprocess.Popen[str], timeout: float = 10.0) -> str:
    """Return what an ended process has said."""
    return process.communicate(timeout=timeout)[0]
