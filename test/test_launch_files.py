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

"""Launch files, read as text where ROS 2's launch is absent, and built where it is there."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from package_files import dependencies, PACKAGE, ROOT
from robot_dynamics_ros.ros.node_parameters import NODE_PARAMETERS
from robot_dynamics_ros.ros.parameters import specs_of

LAUNCH_FILES = sorted((ROOT / 'launch').glob('*.launch.py'))
BOOLEAN = ['true', 'false']
ROS_PARAMETERS = {'use_sim_time', 'robot_description'}
"""Parameters that are not this package's."""


@dataclass
class Contents:
    """What a launch file declares and uses."""

    declared: dict[str, dict[str, Any]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    packages: set[str] = field(default_factory=set)
    parameters: set[str] = field(default_factory=set)


def constant(node: ast.AST | None) -> Any:
    """Return the value of a constant or a list of constants; None for anything else."""
    try:
        return ast.literal_eval(node) if node is not None else None  # type: ignore[arg-type]
    except ValueError:
        return None


def contents(path: Path) -> Contents:
    tree = ast.parse(path.read_text(encoding='utf-8'))
    names = {
        target.id: constant(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }

    def value(node: ast.AST | None) -> Any:
        return names.get(node.id) if isinstance(node, ast.Name) else constant(node)

    found = Contents()
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            found.parameters.update(k.value for k in node.keys if isinstance(k, ast.Constant))
        if not isinstance(node, ast.Call):
            continue
        function = getattr(node.func, 'id', '')
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        if function == 'DeclareLaunchArgument':
            found.declared[constant(node.args[0])] = keywords
        elif function == 'LaunchConfiguration' and constant(node.args[0]) is not None:
            found.used.add(constant(node.args[0]))
        elif function == 'FindPackageShare':
            found.packages.add(value(node.args[0]))
        elif function in ('Node', 'LifecycleNode'):
            found.packages.add(value(keywords['package']))
            assert 'namespace' in keywords, f'{path.name}:{node.lineno} has no namespace'
    # `for name in ('a', 'b')` makes one parameter and configuration of each name
    for node in ast.walk(tree):
        if isinstance(node, ast.DictComp):
            for looped in constant(node.generators[0].iter) or ():
                found.used.add(looped)
                found.parameters.add(looped)
    return found


@pytest.fixture(params=LAUNCH_FILES, ids=lambda path: path.name)
def path(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def test_there_are_launch_files() -> None:
    assert {'simulation.launch.py', 'inverse_dynamics.launch.py'} <= {p.name for p in LAUNCH_FILES}


def test_arguments_are_declared_and_used(path: Path) -> None:
    found = contents(path)
    assert set(found.declared) == found.used


def test_arguments_are_described_with_their_choices(path: Path) -> None:
    for name, keywords in contents(path).declared.items():
        assert 'description' in keywords, name
        default = constant(keywords.get('default_value'))
        choices = constant(keywords.get('choices'))
        if default in BOOLEAN:
            assert choices == BOOLEAN, name
        if choices and default is not None:
            assert default in choices, name


def test_packages_are_dependencies(path: Path) -> None:
    assert contents(path).packages <= {PACKAGE, *dependencies('exec_depend')}


def test_parameters_are_those_of_the_nodes(path: Path) -> None:
    known = {spec.name for cls in NODE_PARAMETERS.values() for spec in specs_of(cls).values()}
    assert contents(path).parameters <= known | ROS_PARAMETERS


def test_who_carries_the_weight_has_no_default() -> None:
    declared = contents(ROOT / 'launch' / 'inverse_dynamics.launch.py').declared
    assert 'default_value' not in declared['gravity_compensated_by_hardware']


def test_description_is_built(path: Path) -> None:
    pytest.importorskip('launch_ros', reason='ROS 2 launch is not installed')
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.generate_launch_description().entities
