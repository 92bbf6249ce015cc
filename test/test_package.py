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

"""Whether setup.py, package.xml, nodes, launch files, parameter files and README agree."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
import re

import pytest

from package_files import (
    committed_files,
    console_scripts,
    dependencies,
    distribution_name,
    manifest,
    PACKAGE,
    requirements,
    ROOT,
    setup_arguments,
    source_files,
    third_party_imports,
)
import robot_dynamics_ros
from robot_dynamics_ros.ros.node_parameters import NODE_PARAMETERS
from robot_dynamics_ros.ros.parameters import read_yaml, specs_of

NODES = sorted(path.stem for path in (ROOT / PACKAGE / 'nodes').glob('*_node.py'))

KEYS = {
    'sympy': 'python3-sympy',
    'lxml': 'python3-lxml',
    'matplotlib': 'python3-matplotlib',
    'numba': 'python3-numba',
    'numpy': 'python3-numpy',
    'scipy': 'python3-scipy',
    'yaml': 'python3-yaml',
    'urdf_parser_py': 'urdfdom_py',
    # the second to the fourth come with the first
    'rosbags': 'python3-rosbags-pip',
    'backports': 'python3-rosbags-pip',
    'lz4': 'python3-rosbags-pip',
    'ruamel': 'python3-rosbags-pip',
    'pytest': 'python3-pytest',
}
"""Imported module: rosdep key, where the two differ."""

DISTRIBUTIONS = {
    'yaml': 'pyyaml',
    'urdf_parser_py': 'urdf-parser-py',
    'pinocchio': 'pin',
    'backports': 'rosbags',
    'lz4': 'rosbags',
    'ruamel': 'rosbags',
}
"""Imported module: name on PyPI, where the two differ."""

PROGRAMS = {
    'controller_manager',
    'forward_command_controller',
    'gz_ros2_control',
    'joint_state_broadcaster',
    'robot_state_publisher',
    'ros2bag',
    'ros2launch',
    'ros_gz_bridge',
    'ros_gz_sim',
    'rosbag2_storage_default_plugins',  # with which ros2bag reads
    'rviz2',
    'xacro',
}
"""Programs and plugins that run, or are loaded, for the launch files."""

OPTIONAL = {'coal', 'cvxpy', 'distributed'}
"""What the package imports when used, and comes with Pinocchio or by pip."""

OPTIONAL_IN_TESTS = OPTIONAL | {'dartpy', 'example_robot_data', 'mcap', 'mujoco', 'setuptools'}
"""Imported in tests from wheels; no rosdep key."""

HEADER = """# Copyright 2026 robot_dynamics_ros contributors
#
# Licensed under the Apache License, Version 2.0 (the "License");
"""


def test_manifest_is_format_3_of_an_ament_python_package() -> None:
    root = manifest()
    assert root.get('format') == '3'
    assert root.findtext('name') == PACKAGE
    assert root.findtext('export/build_type') == 'ament_python'
    assert root.findtext('license') == setup_arguments().get_license() == 'Apache-2.0'
    assert root.find('maintainer') is not None


def test_versions_agree() -> None:
    assert manifest().findtext('version') == robot_dynamics_ros.__version__
    assert setup_arguments().get_version() == robot_dynamics_ros.__version__


def test_nodes_are_the_executables() -> None:
    scripts = console_scripts()
    expected = {name: f'{PACKAGE}.nodes.{name}:main' for name in NODES}
    assert scripts == {
        **expected,
        'wait_for_state': f'{PACKAGE}.ros.wait_for_state:main',  # of launch files
        'robot_dynamics': f'{PACKAGE}.tools.cli:main',
    }


def test_targets_of_executables_exist() -> None:
    for target in console_scripts().values():
        module, function = target.split(':')
        tree = ast.parse((ROOT / f'{module.replace(".", "/")}.py').read_text(encoding='utf-8'))
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert function in defined, target


def test_every_folder_with_code_is_a_package() -> None:
    folders = {path.parent for path in source_files(PACKAGE)}
    found = set(setup_arguments().packages)
    assert {'.'.join(folder.relative_to(ROOT).parts) for folder in folders} == found


def test_everything_shared_is_installed() -> None:
    installed = {name for _, names in setup_arguments().data_files for name in names}
    for folder in ('launch', 'config', 'config/gazebo', 'urdf', 'worlds'):
        names = {f'{folder}/{path.name}' for path in (ROOT / folder).iterdir() if path.is_file()}
        assert names <= installed
    assert {'package.xml', f'resource/{PACKAGE}'} <= installed


def test_parameters_exist_for_every_node_and_no_other() -> None:
    assert sorted(NODE_PARAMETERS) == NODES


@pytest.mark.parametrize('node', NODES)
def test_config_of_node_is_accepted(node: str) -> None:
    read_yaml(NODE_PARAMETERS[node], ROOT / 'config' / f'{node}.yaml')


@pytest.mark.parametrize('node', NODES)
def test_readme_names_every_node_with_its_parameters(node: str) -> None:
    readme = (ROOT / 'README.md').read_text(encoding='utf-8')
    table = readme.partition('<!-- nodes -->')[2].partition('<!-- /nodes -->')[0]
    reference = (ROOT / 'docs' / 'nodes.md').read_text(encoding='utf-8')
    assert f'`{node}`' in table
    section = re.split(rf'^#+ .*{node}.*$', reference, flags=re.MULTILINE)
    assert len(section) > 1, f'docs/nodes.md has no section on {node}'
    specs = specs_of(NODE_PARAMETERS[node]).values()
    missing = [spec.name for spec in specs if f'`{spec.name}`' not in reference]
    assert not missing


def test_changelog_and_licence_are_there() -> None:
    assert (ROOT / 'CHANGELOG.rst').read_text(encoding='utf-8').count(PACKAGE) >= 1
    assert 'Apache License' in (ROOT / 'LICENSE').read_text(encoding='utf-8')
    assert (ROOT / 'CONTRIBUTING.md').is_file()


def test_manifest_has_what_the_package_imports() -> None:
    imported = third_party_imports(PACKAGE, 'launch') - OPTIONAL
    needed = {KEYS.get(module, module) for module in imported}
    assert dependencies('depend', 'exec_depend') == needed | PROGRAMS


def test_manifest_has_what_the_tests_import() -> None:
    imported = third_party_imports('test') - OPTIONAL_IN_TESTS
    declared = dependencies('depend', 'exec_depend', 'test_depend')
    assert {KEYS.get(module, module) for module in imported} <= declared


def test_requirements_have_what_is_imported() -> None:
    runtime = {distribution_name(line) for line in requirements('runtime')}
    crosscheck = {distribution_name(line) for line in requirements('crosscheck')}
    tests = {distribution_name(line) for line in requirements('test')}
    ros = dependencies('exec_depend') | dependencies('test_depend')

    def missing(folders: list[str], available: set[str]) -> set[str]:
        imported = third_party_imports(*folders) - (ros - {'xacro', 'pinocchio'}) - {'setuptools'}
        names = {DISTRIBUTIONS.get(module, distribution_name(module)) for module in imported}
        return names - available

    extras = setup_arguments().extras_require
    optional = {
        distribution_name(line)
        for key in ('contact', 'dask', 'matrix_inequalities', 'symbolic')
        for line in extras[key]
    }
    assert not missing([PACKAGE], runtime | crosscheck | optional)
    # FIGAROH is compared with in an environment of its own.
    beside = {'figaroh'}
    assert not missing(['test', 'benchmark'], runtime | crosscheck | optional | tests | beside)


def test_setup_and_requirements_agree() -> None:
    arguments = setup_arguments()
    assert set(arguments.install_requires) == requirements('runtime')
    assert set(arguments.extras_require['crosscheck']) == requirements('crosscheck')


def test_every_requirement_is_pinned() -> None:
    text = (ROOT / 'constraints.txt').read_text(encoding='utf-8')
    pinned = {distribution_name(line) for line in text.splitlines() if '==' in line}
    for path in (ROOT / 'requirements').glob('*.txt'):
        names = {distribution_name(line) for line in requirements(path.stem)}
        assert names <= pinned, path.name


def test_source_files_begin_with_the_licence() -> None:
    folders = (PACKAGE, 'test', 'launch', 'benchmark', 'requirements', 'docs', '.ci')
    files = [ROOT / 'setup.py', *source_files(*folders)]
    without = [str(path.relative_to(ROOT)) for path in files if not begins_with_licence(path)]
    assert not without, f'no header (run .ci/add_headers.py): {", ".join(without)}'


def begins_with_licence(path: Path) -> bool:
    text = path.read_text(encoding='utf-8')
    if text.startswith('#!'):
        text = text.partition('\n')[2]
    return text.startswith(HEADER)


def test_no_file_names_a_home_directory() -> None:
    home = str(Path.home())
    pattern = re.compile(rf'(/home/|/Users/|{re.escape(home)}/)[A-Za-z0-9_.]')
    wrong = []
    for path in committed_files():
        if path.suffix in ('.png', '.mcap', '.db3') or path == Path(__file__):
            continue
        for number, line in enumerate(path.read_text('utf-8', 'replace').splitlines(), start=1):
            if pattern.search(line):
                wrong.append(f'{path.relative_to(ROOT)}:{number}')
    assert not wrong, ', '.join(wrong)


def test_importing_the_package_is_light() -> None:
    assert importlib.import_module(PACKAGE).__doc__
    tree = ast.parse((ROOT / PACKAGE / '__init__.py').read_text(encoding='utf-8'))
    assert not [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
