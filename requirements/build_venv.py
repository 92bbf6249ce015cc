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
Build the virtual environment of this checkout: ``build_venv.py FOLDER GROUP...``.

Groups are the files of this folder (run = runtime + crosscheck + ros). With a sourced ROS 2 the
environment sees the system's packages, takes rclpy and numpy from there, and leaves the wheels of
ROS out. Needs nothing but Python's standard library; an environment that is there already is
completed, or made anew when it belongs to another Python or another kind of ROS.

"""

from __future__ import annotations

import argparse
from importlib import metadata
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys
import tempfile

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
GROUPS = {
    'run': ['runtime', 'crosscheck', 'ros'],
    'test': ['test'],
    'lint': ['lint'],
    'colcon': ['colcon'],
}


def main() -> int:
    arguments = parse_arguments()
    with_system = not arguments.without_ros and is_ros_sourced()
    kind = f'ros-{os.environ.get("ROS_DISTRO", "unknown")}' if with_system else 'wheels'
    if arguments.without_ros:
        kind = 'no-ros'
    folder = arguments.folder
    print(
        f'Setting up {folder} ({kind}, Python {sys.version.split()[0]}): '
        f'{", ".join(arguments.groups)}; the first time takes a few minutes',
        flush=True,
    )
    create(folder, kind, with_system)
    names = [name for group in arguments.groups for name in GROUPS[group]]
    if kind != 'wheels':
        names = [name for name in names if name != 'ros']
    if with_system and can_import('pinocchio'):
        names = [name for name in names if name != 'crosscheck']
    install(folder, names, constraints(with_system, arguments.numpy1))
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description='Build the virtual environment.')
    parser.add_argument('folder', type=Path)
    parser.add_argument('groups', nargs='+', choices=sorted(GROUPS))
    parser.add_argument('--without-ros', action='store_true', help='neither sourced nor wheels')
    parser.add_argument('--numpy1', action='store_true', help='numpy 1.26 and what goes with it')
    return parser.parse_args()


def is_ros_sourced() -> bool:
    """Return whether a ROS 2 environment is sourced; stop where this Python cannot use it."""
    if not os.environ.get('AMENT_PREFIX_PATH'):
        return False
    if can_import('rclpy'):
        return True
    if any((Path(entry) / 'rclpy').is_dir() for entry in sys.path if entry):
        sys.exit(
            f'error: ROS 2 is sourced, but {sys.executable} cannot import its rclpy; '
            'use the Python that this ROS 2 was built for (make PYTHON=/usr/bin/python3) '
            'or a shell without ROS 2'
        )
    return False


def can_import(module: str) -> bool:
    command = [sys.executable, '-c', f'import {module}']
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def create(folder: Path, kind: str, with_system: bool) -> None:
    """Create the environment, or keep it if it is of this kind and of this Python."""
    mark = folder / '.kind'
    if is_usable(folder, with_system) and (not mark.is_file() or mark.read_text('utf-8') == kind):
        mark.write_text(kind, encoding='utf-8')
        return
    try:
        import ensurepip  # noqa: F401
        import venv
    except ImportError:
        sys.exit(
            'error: the venv module of Python is not complete; install it '
            '(Debian, Ubuntu: apt install python3-venv)'
        )
    if folder.exists():
        if not (folder / 'pyvenv.cfg').is_file():
            sys.exit(f'error: {folder} exists and is no virtual environment; move it away')
        shutil.rmtree(folder)
    venv.create(folder, system_site_packages=with_system, with_pip=True, symlinks=True)
    mark.write_text(kind, encoding='utf-8')


def is_usable(folder: Path, with_system: bool) -> bool:
    """Return whether `folder` is an environment of this Python whose pip runs."""
    settings = folder / 'pyvenv.cfg'
    if not settings.is_file():
        return False
    sees_system = re.search(
        r'include-system-site-packages\s*=\s*true', settings.read_text('utf-8')
    )
    if bool(sees_system) != with_system:
        return False
    command = [
        str(folder / 'bin' / 'python'),
        '-c',
        'import pip, sys; print("%d.%d" % sys.version_info[:2])',
    ]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return False
    return answer.stdout.strip() == '{}.{}'.format(*sys.version_info[:2])


def install(folder: Path, names: list[str], lines: list[str]) -> None:
    """Install the pinned tools of installation, the groups' packages, and this checkout."""
    with tempfile.NamedTemporaryFile('w', suffix='.txt', encoding='utf-8') as pins:
        pins.write('\n'.join(lines) + '\n')
        pins.flush()
        constrained = ['--constraint', pins.name]
        pip(folder, '--upgrade', *constrained, 'pip', 'setuptools')
        files = [part for name in names for part in ('-r', str(HERE / f'{name}.txt'))]
        # Built with the pinned setuptools: the few packages without a wheel are plain Python.
        pip(folder, '--no-build-isolation', *constrained, *files)
    pip(folder, '--no-build-isolation', '--no-deps', '--editable', str(ROOT))


def pip(folder: Path, *arguments: str) -> None:
    command = [
        str(folder / 'bin' / 'python'),
        '-m',
        'pip',
        'install',
        '-qq',  # errors only
        '--no-compile',  # twice as quick; Python compiles what is imported, then
        '--disable-pip-version-check',
        *arguments,
    ]
    quiet = {**os.environ, 'PYTHONWARNINGS': 'ignore'}
    if subprocess.run(command, check=False, env=quiet).returncode != 0:
        sys.exit(
            'error: pip could not install what is above; run the same command again '
            'when the cause is gone'
        )


def constraints(with_system: bool, numpy1: bool) -> list[str]:
    """Return the lines of constraints that fit this machine."""
    pins = read_pins(ROOT / 'constraints.txt')
    system = system_packages() if with_system else {}
    numpy = system.get('numpy')
    if numpy1 or (numpy and as_numbers(numpy) < (2,)):
        pins.update(read_pins(ROOT / 'constraints-numpy1.txt'))
    floors = read_floors()
    for name, version in system.items():
        if name in {'pip', 'setuptools'}:
            continue  # the environment has its own, which nothing imports
        if name in pins and as_numbers(version) >= floors.get(name, ()):
            pins[name] = [f'{name}=={version}']
    return [line for lines in pins.values() for line in lines]


def system_packages() -> dict[str, str]:
    """Return name: version of what this interpreter sees, sourced ROS 2 included."""
    found: dict[str, str] = {}
    for distribution in metadata.distributions():
        name = distribution.metadata['Name']
        if name:
            found.setdefault(normalized(name), distribution.version)
    return found


def read_pins(path: Path) -> dict[str, list[str]]:
    """Return normalized name: lines of a constraints file."""
    pins: dict[str, list[str]] = {}
    for line in path.read_text(encoding='utf-8').splitlines():
        if line and not line.startswith('#'):
            pins.setdefault(normalized(line.split('==')[0]), []).append(line)
    return pins


def read_floors() -> dict[str, tuple[int, ...]]:
    """Return normalized name: lowest version as numbers, from the requirement files."""
    floors: dict[str, tuple[int, ...]] = {}
    for path in HERE.glob('*.txt'):
        for line in path.read_text(encoding='utf-8').splitlines():
            name, separator, version = line.partition('>=')
            if separator:
                floors[normalized(name)] = as_numbers(version)
    return floors


def normalized(name: str) -> str:
    return re.sub(r'[-_.]+', '-', name.strip()).lower()


def as_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r'\d+', version.split('+')[0]))


if __name__ == '__main__':
    sys.exit(main())
