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

"""Walk the imports of the package: who may import whom, and what core does without."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = 'robot_dynamics_ros'

LAYERS = {
    'core': set(),
    'resources': {'core'},
    'launching': set(),  # for launch files
    'report': {'core'},
    'bags': {'core', 'report'},
    'crosscheck': {'core'},
    'ros': {'core', 'resources', 'crosscheck'},
    'nodes': {'core', 'ros', 'resources', 'crosscheck', 'bags', 'report'},
    'demo': {'core', 'ros', 'resources', 'bags', 'report'},
    'tools': {'core', 'resources', 'crosscheck', 'bags', 'report', 'demo'},
}
"""Folder or module of the package: what else of it it may import."""

CORE_LEVELS = [
    {'exceptions'},
    {'arrays', 'jit', 'whole_file'},
    {'spatial'},
    {'model'},
    {'dynamics'},
    {'friction', 'trajectory', 'signals', 'drive', 'symbolic'},
    {'contact', 'log_health'},
    {'simulation', 'control', 'identification', 'external_torque'},
    {'excitation'},
]
"""Folders of core from the bottom up: each may import itself and what lies below its level."""

ROS_MODULES = {
    'rclpy',
    'ament_index_python',
    'builtin_interfaces',
    'diagnostic_msgs',
    'geometry_msgs',
    'launch',
    'launch_ros',
    'lifecycle_msgs',
    'nav_msgs',
    'rcl_interfaces',
    'rosgraph_msgs',
    'sensor_msgs',
    'std_msgs',
    'trajectory_msgs',
    'visualization_msgs',
}
OPTIONAL = {'coal', 'cvxpy', 'sympy'}
"""What core imports only inside functions, when used, because it does without otherwise."""

CORE_THIRD_PARTY = OPTIONAL | {'numba', 'numpy', 'scipy', 'urdf_parser_py', 'xacro', 'yaml'}
WHERE_ALLOWED = {
    'pinocchio': {'crosscheck'},
    'matplotlib': {'report'},
    'rosbags': {'bags'},
    **dict.fromkeys(ROS_MODULES, {'ros', 'nodes', 'resources', 'demo'}),
    **dict.fromkeys(('launch', 'launch_ros'), {'launching'}),
}
"""Third-party module: the only folders that import it."""

LATE = {
    'ros': [['crosscheck']],
    'nodes': [['crosscheck'], ['bags']],
    'tools': [['demo']],  # brings rclpy, which the other subcommands do without
}
"""Layer: what it imports only inside functions, when used."""

OUTSIDE_CORE = {'time', 'datetime', 'logging', 'random', 'argparse'}
"""Modules of the standard library for clocks, logs, global randomness and command lines."""


@dataclass(frozen=True)
class Import:
    """One imported module in one file; `is_late` if it is imported inside a function."""

    path: Path
    line: int
    module: str
    is_late: bool

    @property
    def layer(self) -> str:
        parts = self.path.relative_to(ROOT / PACKAGE).parts
        return parts[0] if len(parts) > 1 else self.path.stem

    def __str__(self) -> str:
        return f'{self.path.relative_to(ROOT)}:{self.line} imports {self.module}'


def imports_of(path: Path) -> Iterator[Import]:
    tree = ast.parse(path.read_text(encoding='utf-8'), str(path))
    late = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(path, node.lineno, alias.name, id(node) in late)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path}:{node.lineno}: a relative import'
            module = node.module or ''
            yield Import(path, node.lineno, module, id(node) in late)
            for alias in node.names:  # `from package import folder`
                if (ROOT / module.replace('.', '/') / alias.name).is_dir():
                    yield Import(path, node.lineno, f'{module}.{alias.name}', id(node) in late)


@pytest.fixture(scope='module')
def imports() -> list[Import]:
    files = sorted((ROOT / PACKAGE).rglob('*.py'))
    return [found for path in files for found in imports_of(path)]


def own(found: Import) -> list[str]:
    """Return the parts below the package, or nothing for another package's module."""
    parts = found.module.split('.')
    return parts[1:] if parts[0] == PACKAGE else []


def test_layers_import_only_what_lies_below(imports: list[Import]) -> None:
    wrong = [
        str(found)
        for found in imports
        for target in own(found)[:1]
        if found.layer != '__init__'
        and target != found.layer
        and target not in LAYERS[found.layer]
    ]
    assert not wrong, '\n'.join(wrong)


def test_every_folder_has_its_layer() -> None:
    folders = {path.parent.name for path in (ROOT / PACKAGE).glob('*/__init__.py')}
    modules = {path.stem for path in (ROOT / PACKAGE).glob('*.py')} - {'__init__'}
    assert folders | modules == set(LAYERS)


def test_core_folders_import_only_what_lies_below(imports: list[Import]) -> None:
    level = {name: index for index, names in enumerate(CORE_LEVELS) for name in names}
    wrong = []
    for found in imports:
        parts = own(found)
        if found.layer != 'core' or len(parts) < 2 or parts[0] != 'core':
            continue
        inner = found.path.relative_to(ROOT / PACKAGE / 'core').parts[0].removesuffix('.py')
        if inner == '__init__':
            continue
        if parts[1] != inner and level[parts[1]] >= level[inner]:
            wrong.append(str(found))
    assert not wrong, '\n'.join(wrong)


def test_third_party_modules_stay_in_their_folders(imports: list[Import]) -> None:
    wrong = []
    for found in imports:
        module = found.module.split('.')[0]
        if found.layer not in WHERE_ALLOWED.get(module, {found.layer}):
            wrong.append(str(found))
        known = {PACKAGE, '__future__', *CORE_THIRD_PARTY, *sys.stdlib_module_names}
        if found.layer == 'core' and module not in known:
            wrong.append(str(found))
        if module in OPTIONAL and not found.is_late:
            wrong.append(f'{found}, not inside a function')
    assert not wrong, '\n'.join(wrong)


def test_heavy_layers_are_imported_only_when_used(imports: list[Import]) -> None:
    wrong = [
        str(found)
        for found in imports
        if not found.is_late and own(found)[:1] in LATE.get(found.layer, [])
    ]
    assert not wrong, '\n'.join(wrong)


def test_core_has_no_clock_log_or_output(imports: list[Import]) -> None:
    wrong = [str(i) for i in imports if i.layer == 'core' and i.module in OUTSIDE_CORE]
    for path in sorted((ROOT / PACKAGE / 'core').rglob('*.py')):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.Call) and getattr(node.func, 'id', '') == 'print':
                wrong.append(f'{path.relative_to(ROOT)}:{node.lineno} prints')
    assert not wrong, '\n'.join(wrong)


def test_importing_core_loads_neither_ros_nor_pinocchio() -> None:
    program = (
        'import importlib, pkgutil, sys\n'
        'import robot_dynamics_ros.core as core\n'
        'for found in pkgutil.walk_packages(core.__path__, core.__name__ + "."):\n'
        '    importlib.import_module(found.name)\n'
        'print(*sorted({name.split(".")[0] for name in sys.modules}))\n'
    )
    command = [sys.executable, '-c', program]
    answer = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert answer.returncode == 0, answer.stderr
    loaded = set(answer.stdout.split())
    assert 'numpy' in loaded
    assert not loaded & {'pinocchio', 'matplotlib', 'rosbags', *ROS_MODULES}
