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

"""Launch files, built with stand-ins for ROS 2's launch, and with the real one where it is."""

from __future__ import annotations

import importlib.util
from pathlib import Path
import re
from typing import Any
import xml.etree.ElementTree as ElementTree

import pytest
import xacro
import yaml

from launch_contents import built, declared, of_kind, Recorded, spelled_out, used, walk
from package_files import console_scripts, dependencies, PACKAGE, ROOT, setup_arguments
from robot_dynamics_ros.ros.node_parameters import NODE_PARAMETERS
from robot_dynamics_ros.ros.parameters import instance_of, read_yaml, specs_of, yaml_values
from robot_dynamics_ros.ros.robot_parameters import RobotParameters

LAUNCH_FILES = sorted((ROOT / 'launch').glob('*.launch.py'))
NAMES = {
    'simulation.launch.py',
    'inverse_dynamics.launch.py',
    'hardware.launch.py',
    'gazebo.launch.py',
    'bag.launch.py',
    'external_torque.launch.py',
    'identification.launch.py',
}
BOOLEAN = ['true', 'false']
FOREIGN = {
    (PACKAGE, 'wait_for_state'): set(),
    ('robot_state_publisher', 'robot_state_publisher'): {'robot_description'},
    ('controller_manager', 'ros2_control_node'): set(),
    ('controller_manager', 'spawner'): set(),
    ('ros_gz_sim', 'create'): set(),
    ('ros_gz_bridge', 'parameter_bridge'): {'config_file'},
    ('rviz2', 'rviz2'): set(),
}
"""Executables that are no nodes of this package, and their parameters that launch files set."""

COMMANDS = {'ros2 bag play': 'ros2bag', 'gz service': 'ros_gz_sim'}
"""How commands begin, and the package that brings them."""


@pytest.fixture(params=LAUNCH_FILES, ids=lambda path: path.name)
def path(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


@pytest.fixture
def description(path: Path) -> Recorded:
    return built(path)


def nodes(description: Recorded) -> list[tuple[str, str, Recorded]]:
    """Return package, executable and action; one for each choice of an executable."""
    arguments = declared(description)
    return [
        (node.kwargs['package'], executable, node)
        for node in of_kind(description, 'Node', 'LifecycleNode')
        for executable in spelled_out(node.kwargs['executable'], arguments)
        if executable != 'none_node'  # never started
    ]


def parameters(node: Recorded) -> set[str]:
    return {
        name
        for given in node.kwargs.get('parameters', ())
        if isinstance(given, dict)
        for name in given
    }


def test_there_are_launch_files() -> None:
    assert {p.name for p in LAUNCH_FILES} == NAMES


def test_arguments_are_declared_and_used(description: Recorded) -> None:
    assert set(declared(description)) == used(description)


def test_arguments_are_described_with_their_choices(description: Recorded) -> None:
    for name, said in declared(description).items():
        assert said['description'].endswith('.'), name
        default, choices = said.get('default_value'), said.get('choices')
        if default in BOOLEAN:
            assert choices == BOOLEAN, name
        if choices and default is not None:
            assert default in choices, name


def test_documentation_names_every_argument(path: Path, description: Recorded) -> None:
    page = (ROOT / 'docs' / 'launch.md').read_text(encoding='utf-8')
    (section,) = [part for part in page.split('\n## ') if part.startswith(f'{path.name}\n')]
    text = section.partition('\nArguments: ')[2]
    named = set(re.findall(r'`(\w+)`', re.sub(r'\([^)]*\)', '', text)))
    assert named == set(declared(description))


def test_executables_are_there(description: Recorded) -> None:
    for package, executable, node in nodes(description):
        assert 'namespace' in node.kwargs, executable
        if package == PACKAGE:
            assert executable in console_scripts()
            if executable != 'wait_for_state':
                assert (ROOT / 'config' / f'{executable}.yaml').is_file()
        else:
            assert (package, executable) in FOREIGN


def test_packages_are_dependencies(description: Recorded) -> None:
    packages = {package for package, _, _ in nodes(description)}
    packages |= {each.args[0] for each in of_kind(description, 'FindPackageShare')}
    for process in of_kind(description, 'ExecuteProcess'):
        command = ' '.join(word for word in process.kwargs['cmd'] if isinstance(word, str))
        (package,) = {COMMANDS[start] for start in COMMANDS if command.startswith(start)}
        packages.add(package)
    for command in of_kind(description, 'Command'):
        packages.add(str(command.args[0][0]).split()[0])
    assert packages <= {PACKAGE, *dependencies('exec_depend')}


def test_parameters_are_those_of_the_nodes(description: Recorded) -> None:
    for package, executable, node in nodes(description):
        if executable in NODE_PARAMETERS:
            known = {spec.name for spec in specs_of(NODE_PARAMETERS[executable]).values()}
        else:
            known = FOREIGN[package, executable]
        assert parameters(node) <= known | {'use_sim_time'}, executable


def test_files_are_there_and_installed(description: Recorded) -> None:
    installed = {name for _, names in setup_arguments().data_files for name in names}
    for joined in of_kind(description, 'PathJoinSubstitution'):
        package, *parts = joined.args[0]
        if package.args[0] != PACKAGE:
            continue
        name = '/'.join(parts)
        assert (ROOT / name).exists(), name
        assert name in installed or (ROOT / name).is_dir(), name


def test_nothing_is_absolute(description: Recorded) -> None:
    topics = ('/world/', '/control', '/commands', '/', ':=/', '/joint_states')
    for text in walk(description):
        if isinstance(text, str) and text.startswith('/'):
            assert text in topics or text.endswith(('_node/reference', '.yaml')), text
            assert not Path(text).exists() or text == '/'


@pytest.mark.parametrize('name', ['hardware.launch.py', 'inverse_dynamics.launch.py'])
def test_who_carries_the_weight_has_no_default(name: str) -> None:
    said = declared(built(ROOT / 'launch' / name))['gravity_compensated_by_hardware']
    assert said['default_value'] is None
    assert said['choices'] == BOOLEAN


def test_identification_runs_beside_the_controllers_which_find_its_estimates() -> None:
    description = built(ROOT / 'launch' / 'identification.launch.py')
    programs = {program for _, program, _ in nodes(description)}
    assert programs == {'identification_node', 'external_torque_node', 'monitor_node'}
    for name in ('simulation', 'hardware', 'gazebo', 'bag'):
        beside = built(ROOT / 'launch' / f'{name}.launch.py')
        found = [
            node.kwargs['remappings']
            for _, program, node in nodes(beside)
            if program == 'inverse_dynamics_node'
        ]
        assert found
        for remappings in found:
            assert ('~/friction', 'identification_node/friction') in remappings
            assert ('~/payload', 'identification_node/payload') in remappings


@pytest.mark.parametrize('name', ['identification.launch.py', 'external_torque.launch.py'])
def test_arguments_that_are_not_given_leave_what_the_file_of_the_node_says(name: str) -> None:
    description = built(ROOT / 'launch' / name)
    optional = {key for key, said in declared(description).items() if said['default_value'] == ''}
    context = Context()
    context.launch_configurations = {'estimates': 'false', 'state_file': 'kept.npz'}
    for starting in of_kind(description, 'OpaqueFunction'):
        (node,) = starting.kwargs['function'](context)
        is_learning = node.kwargs['executable'] == 'identification_node'
        assert parameters(node) & optional == ({'state_file'} if is_learning else set())
        assert not parameters(node) & {'payload_source', 'friction_source'}


def test_what_the_arm_carries_is_no_contact_where_both_nodes_run() -> None:
    description = built(ROOT / 'launch' / 'identification.launch.py')
    assert declared(description)['estimates']['default_value'] == 'true'
    (node,) = [node for _, name, node in nodes(description) if name == 'external_torque_node']
    *_, said = node.kwargs['parameters']
    assert (said['payload_source'], said['friction_source']) == ('online', 'online')
    assert ('~/payload', 'identification_node/payload') in node.kwargs['remappings']
    assert ('~/friction', 'identification_node/friction') in node.kwargs['remappings']
    values = yaml_values(ROOT / 'config' / 'external_torque_node.yaml')
    sources = {name: said[name] for name in ('payload_source', 'friction_source')}
    settings: Any = instance_of(NODE_PARAMETERS['external_torque_node'], {**values, **sources})
    assert settings.friction_source == 'online'


def test_a_replayed_command_reaches_no_controller() -> None:
    description = built(ROOT / 'launch' / 'bag.launch.py')
    (node,) = of_kind(description, 'LifecycleNode')
    assert ('effort_controller/commands', '~/commands') in node.kwargs['remappings']
    for process in of_kind(description, 'ExecuteProcess'):
        command = process.kwargs['cmd']
        topics = command[command.index('--topics') + 1 : command.index('--remap')]
        assert [topic.args[0] for topic in topics] == ['joint_states_topic', 'reference_topic']


@pytest.mark.parametrize('name', ['hardware.launch.py', 'gazebo.launch.py'])
def test_effort_controller_is_activated_after_a_node_carries_the_arm(name: str) -> None:
    description = built(ROOT / 'launch' / name)
    (waiter,) = [node for _, program, node in nodes(description) if program == 'wait_for_state']
    words = waiter.kwargs['arguments']
    assert spelled_out(words[0], declared(description))[0] == 'gravity_compensation_node'
    assert words[1:3] == ('carrying', '--for') or list(words[1:3]) == ['carrying', '--for']
    after = [
        handler.kwargs['on_exit']
        for handler in of_kind(description, 'OnProcessExit')
        if handler.kwargs['target_action'] is waiter
    ]
    activating = of_kind(after, 'Node')
    assert activating
    for _, program, spawner in nodes(description):
        words = spawner.kwargs.get('arguments', ())
        if program == 'spawner' and words[0] != 'joint_state_broadcaster':
            assert '--inactive' in words or spawner in activating


@pytest.mark.parametrize('name', ['hardware.launch.py', 'gazebo.launch.py'])
def test_watchdog_watches_before_the_arm_is_handed_over(name: str) -> None:
    description = built(ROOT / 'launch' / name)
    (watchdog,) = [
        node for _, program, node in nodes(description) if program == 'effort_watchdog_node'
    ]
    (waiter,) = [node for _, program, node in nodes(description) if program == 'wait_for_state']
    words = list(waiter.kwargs['arguments'])
    beside = words[words.index('--beside') + 1]
    assert beside.kind == 'IfElseSubstitution'
    condition, node, otherwise = beside.args
    assert (node, otherwise) == ('effort_watchdog_node', '')
    assert 'watchdog' in used(condition), 'waited for if and only if it is started'
    assert watchdog.kwargs['condition'].args[0] is condition or name == 'hardware.launch.py'
    endings = [
        handler.kwargs['on_exit']
        for handler in of_kind(description, 'OnProcessExit')
        if handler.kwargs['target_action'] is watchdog
    ]
    (on_exit,) = endings
    context = Context()
    (shutdown,) = on_exit(Ended('effort_watchdog_node-3'), context)
    assert shutdown.kind == 'Shutdown'
    assert 'before the arm was handed over' in shutdown.kwargs['reason']
    # What the waiting program starts says that the arm is handed over: the end of the watchdog
    # must not take the torque away then.
    (started,) = [
        handler.kwargs['on_exit'](Ended('wait_for_state-4'), context)
        for handler in of_kind(description, 'OnProcessExit')
        if handler.kwargs['target_action'] is waiter
    ]
    (setting,) = [each for each in started if each.kind == 'SetLaunchConfiguration']
    context.launch_configurations[setting.args[0]] = setting.args[1]
    assert not on_exit(Ended('effort_watchdog_node-3'), context)


class Context:
    """What handlers ask a context of launch for."""

    def __init__(self) -> None:
        self.is_shutdown = False
        self.launch_configurations: dict[str, str] = {}


class Ended:
    """The end of a process."""

    def __init__(self, name: str) -> None:
        self.process_name, self.returncode = name, 0


@pytest.mark.parametrize('name', ['hardware.launch.py', 'inverse_dynamics.launch.py'])
def test_what_to_do_without_states_has_no_default(name: str) -> None:
    said = declared(built(ROOT / 'launch' / name))['stale_state_policy']
    assert 'default_value' not in said
    assert said['choices'] == ['ramp_down', 'hold_gravity']


# The files that launch files hand on.


@pytest.mark.parametrize('name', ['gravity_compensation_node', 'inverse_dynamics_node'])
def test_settings_for_gazebo_are_accepted(name: str) -> None:
    values = yaml_values(ROOT / 'config' / f'{name}.yaml')
    changes = yaml_values(ROOT / 'config' / 'gazebo' / f'{name}.yaml')
    settings: Any = instance_of(NODE_PARAMETERS[name], {**values, **changes})
    assert settings.gravity_compensated_by_hardware is False


def from_yaml(name: str) -> Any:
    return yaml.safe_load((ROOT / 'config' / name).read_text(encoding='utf-8'))


def expanded(**arguments: str) -> ElementTree.Element:
    document = xacro.process_file(str(ROOT / 'urdf' / 'es5.urdf.xacro'), mappings=arguments)
    return ElementTree.fromstring(document.toxml())


def moving_joints(robot: ElementTree.Element) -> list[str]:
    return [str(joint.get('name')) for joint in robot.findall("joint[@type='revolute']")]


def robots() -> list[tuple[str, type[RobotParameters]]]:
    """Return the parameters of the nodes that work on a described robot."""
    return [
        (name, cls) for name, cls in NODE_PARAMETERS.items() if issubclass(cls, RobotParameters)
    ]


def test_controllers_have_the_joints_of_the_nodes() -> None:
    controllers = from_yaml('es5_controllers.yaml')
    effort = controllers['/**/effort_controller']['ros__parameters']
    assert effort['interface_name'] == 'effort'
    for name, cls in robots():
        settings = read_yaml(cls, ROOT / 'config' / f'{name}.yaml')
        assert list(settings.joints) == effort['joints'], name
    assert effort['joints'] == moving_joints(expanded())


def test_types_of_controllers_are_dependencies() -> None:
    manager = from_yaml('es5_controllers.yaml')['/**/controller_manager']['ros__parameters']
    types = {name: value['type'] for name, value in manager.items() if isinstance(value, dict)}
    assert types == {
        'joint_state_broadcaster': 'joint_state_broadcaster/JointStateBroadcaster',
        'effort_controller': 'forward_command_controller/ForwardCommandController',
    }
    assert {value.split('/')[0] for value in types.values()} <= dependencies('exec_depend')


def world() -> ElementTree.Element:
    found = ElementTree.parse(ROOT / 'worlds' / 'es5.sdf').getroot().find('world')
    assert found is not None
    return found


def test_world_has_the_gravity_of_the_nodes_and_its_name() -> None:
    gravity = tuple(float(number) for number in str(world().findtext('gravity')).split())
    for name, cls in robots():
        assert read_yaml(cls, ROOT / 'config' / f'{name}.yaml').gravity == gravity, name
    arguments = declared(built(ROOT / 'launch' / 'gazebo.launch.py'))
    assert world().get('name') == arguments['world_name']['default_value']


def test_bridge_has_the_joints_of_the_description() -> None:
    arguments = declared(built(ROOT / 'launch' / 'gazebo.launch.py'))
    model = arguments['robot_name']['default_value']
    ways = {entry['gz_topic_name']: entry for entry in from_yaml('es5_gazebo_bridge.yaml')}
    robot = expanded(hardware_plugin='none', gazebo_topics='true')
    assert model == robot.get('name')
    forces = {
        f'/model/{model}/joint/{joint}/cmd_force': f'joint/{joint}/cmd_force'
        for joint in moving_joints(robot)
    }
    states = f'/world/{world().get("name")}/model/{model}/joint_state'
    assert set(ways) == {'/clock', states, *forces}
    for topic, name in forces.items():
        entry = ways[topic]
        assert entry['ros_topic_name'] == name
        assert entry['direction'] == 'ROS_TO_GZ'
        assert (entry['ros_type_name'], entry['gz_type_name']) == (
            'std_msgs/msg/Float64',
            'gz.msgs.Double',
        )
    assert ways[states]['ros_topic_name'] == 'joint_states'
    assert ways[states]['direction'] == 'GZ_TO_ROS'
    assert from_yaml('gazebo_clock_bridge.yaml') == [ways['/clock']]
    (systems,) = robot.findall('gazebo')
    applied = [element.text for element in systems.findall('plugin/joint_name')]
    assert applied == moving_joints(robot)


def test_description_is_built_by_the_real_launch(path: Path) -> None:
    pytest.importorskip('launch_ros', reason='ROS 2 launch is not installed')
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.generate_launch_description().entities
