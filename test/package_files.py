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

"""What the files of the package itself say: setup.py, package.xml, requirements, imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
import os
from pathlib import Path
import re
import subprocess
import sys
from typing import Any
import xml.etree.ElementTree as ElementTree

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = 'robot_dynamics_ros'


def setup_arguments() -> Any:
    """Return setuptools' view of setup.py, as colcon and pip get it."""
    from distutils.core import run_setup

    import setuptools  # noqa: F401  (brings distutils where Python has none)

    here = os.getcwd()
    os.chdir(ROOT)
    try:
        return run_setup('setup.py', stop_after='init')
    finally:
        os.chdir(here)


def console_scripts() -> dict[str, str]:
    """Return executable: module:function."""
    lines = setup_arguments().entry_points['console_scripts']
    pairs = (line.split('=') for line in lines)
    return {name.strip(): target.strip() for name, target in pairs}


def manifest() -> ElementTree.Element:
    return ElementTree.parse(ROOT / 'package.xml').getroot()


def dependencies(*tags: str) -> set[str]:
    """Return the rosdep keys of package.xml with one of the tags."""
    return {element.text or '' for tag in tags for element in manifest().findall(tag)}


def requirements(name: str) -> set[str]:
    """Return the lines of a requirement file."""
    lines = (ROOT / 'requirements' / f'{name}.txt').read_text(encoding='utf-8').splitlines()
    return {line for line in lines if line and not line.startswith('#')}


def distribution_name(requirement: str) -> str:
    """Return the normalized name in a line such as ``PyYAML>=5.4``."""
    return re.sub(r'[-_.]+', '-', re.split(r'[<>=!~;\s]', requirement)[0]).lower()


def source_files(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((ROOT / folder).rglob('*.py'))


def third_party_imports(*folders: str) -> set[str]:
    """Return the top modules that the files import from other packages."""
    files = list(source_files(*folders))
    own = {
        PACKAGE,
        'benchmark',
        *(path.stem for path in files),
        *(path.parent.name for path in files),
    }
    own -= {'launch'}  # the folder has the name of ROS 2's package
    found: set[str] = set()
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.Import):
                found.update(alias.name.split('.')[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.split('.')[0])
    return found - own - set(sys.stdlib_module_names) - {'distutils'}


def committed_files() -> list[Path]:
    """Return the files that are or would be committed; without git, all that look like it."""
    command = ['git', 'ls-files', '--cached', '--others', '--exclude-standard', '-z']
    try:
        answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        names = [name for name in answer.stdout.split('\0') if name]
    except (OSError, subprocess.CalledProcessError):
        hidden = {'.git', '.venv', 'build', 'install', 'log', 'results', '__pycache__'}
        paths = (path.relative_to(ROOT) for path in ROOT.rglob('*'))
        names = [str(path) for path in paths if not hidden & set(path.parts)]
    return [ROOT / name for name in names if (ROOT / name).is_file()]
