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

"""Run ament's linters over the package: flake8 with the settings of setup.cfg, and pep257."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
import io
from pathlib import Path
import sys

from ament_flake8.main import main as flake8
from ament_pep257.main import main as pep257

ROOT = Path(__file__).resolve().parent.parent


def python_files() -> list[str]:
    """Return the package's and the tests' Python files; ament's own search would enter .venv."""
    folders = ['robot_dynamics_ros', 'test', 'launch', 'benchmark', 'requirements', 'docs', '.ci']
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob('*.py'))]
    return [str(path) for path in [ROOT / 'setup.py', *found]]


def run(linter: Callable[[list[str]], int], arguments: list[str]) -> int:
    """Run a linter and print what it found, without its list of all files."""
    written = io.BytesIO()
    output = io.TextIOWrapper(written, encoding='utf-8', write_through=True)
    with redirect_stdout(output), redirect_stderr(output):
        code = linter(arguments)
    lines = written.getvalue().decode().splitlines()
    print(*(line for line in lines if not line.startswith(('checking ', '* '))), sep='\n')
    return code


if __name__ == '__main__':
    files = python_files()
    codes = [run(flake8, ['--config', str(ROOT / 'setup.cfg'), *files]), run(pep257, files)]
    sys.exit(any(codes))
