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

from dataclasses import dataclass
from pathlib import Path

import pytest

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.resources import config_path
from robot_dynamics_ros.ros.node_parameters import (
    ForwardSimulationParameters,
    GravityCompensationParameters,
    InverseDynamicsParameters,
    NODE_PARAMETERS,
    TrajectoryAnnotatorParameters,
)
from robot_dynamics_ros.ros.parameters import (
    instance_of,
    parameter,
    read_yaml,
    refusal_of_changes,
    specs_of,
    yaml_values,
)
from robot_dynamics_ros.ros.robot_parameters import RobotParameters

SAID = {'gravity_compensated_by_hardware': False, 'stale_state_policy': 'ramp_down'}


@dataclass(frozen=True)
class Example:
    speed: float = parameter('Speed.', 1.0, unit='m/s', low=0.0, high=2.0, is_live=True)
    count: int = parameter('Count.', 3, low=1)
    name: str = parameter('Name.', 'a', choices=('a', 'b'), name='group.name')
    gains: tuple[float, ...] = parameter('Gains.', (), low=0.0, size=2)
    flag: bool = parameter('Must be said.')

    def __post_init__(self) -> None:
        if self.speed > 1.5 and self.count > 3:
            raise ConfigurationError('speed and count do not fit together')


def test_specs_carry_what_the_fields_say() -> None:
    specs = specs_of(Example)
    assert specs['speed'].description == 'Speed. [m/s]'
    assert (specs['speed'].low, specs['speed'].high) == (0.0, 2.0)
    assert specs['name'].name == 'group.name'
    assert specs['gains'].type_name == 'double[]'
    assert specs['flag'].is_required
    assert not specs['count'].is_required


def test_instance_takes_defaults_and_values() -> None:
    example = instance_of(Example, {'flag': True, 'gains': [1.0, 2.0], 'group.name': 'b'})
    assert example == Example(flag=True, gains=(1.0, 2.0), name='b')


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        ({}, 'flag is not set. Must be said'),
        ({'flag': 1}, 'flag is 1, expected bool'),
        ({'flag': True, 'speed': 1}, 'write 1.0, not 1'),
        ({'flag': True, 'speed': 3.0}, 'speed is 3.0, expected 0 to 2'),
        ({'flag': True, 'speed': float('nan')}, 'speed is nan'),
        ({'flag': True, 'count': True}, 'count is True, expected integer'),
        ({'flag': True, 'count': 0}, 'count is 0, expected at least 1'),
        ({'flag': True, 'group.name': 'c'}, "'c', expected one of: a, b"),
        ({'flag': True, 'gains': [1.0]}, 'gains has 1 entries, expected 2'),
        ({'flag': True, 'gains': [1.0, -1.0]}, 'gains is -1.0, expected at least 0'),
        ({'flag': True, 'gains': 'text'}, 'expected double'),
        ({'flag': True, 'speeed': 1.0}, "no parameter 'speeed'; there are: speed"),
        ({'flag': True, 'speed': 2.0, 'count': 4}, 'do not fit together'),
    ],
)
def test_instance_refuses(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        instance_of(Example, values)


def test_changes_are_judged_as_a_whole() -> None:
    values = {'speed': 1.0, 'count': 4, 'group.name': 'a', 'gains': None, 'flag': None}
    refusal = refusal_of_changes(Example, values, {'speed': 2.0}, is_configured=True)
    assert refusal == 'speed and count do not fit together'
    changes = {'speed': 2.0, 'count': 3}
    assert refusal_of_changes(Example, values, changes, is_configured=False) == ''
    assert 'count is read when' in refusal_of_changes(Example, values, changes, is_configured=True)
    assert refusal_of_changes(Example, values, {'foreign': 1}, is_configured=True) == ''


@pytest.mark.parametrize('node', NODE_PARAMETERS)
def test_shipped_configuration_is_accepted(node: str) -> None:
    parameters = read_yaml(NODE_PARAMETERS[node], config_path(f'{node}.yaml'))
    assert parameters.autostart
    if isinstance(parameters, RobotParameters):
        assert parameters.joints == tuple(f'joint_{i}' for i in range(1, 7))


@pytest.mark.parametrize('node', NODE_PARAMETERS)
def test_every_parameter_is_described(node: str) -> None:
    for spec in specs_of(NODE_PARAMETERS[node]).values():
        assert spec.text.endswith('.'), spec.name
        assert spec.text[0].isupper(), spec.name


def test_yaml_of_another_form_is_refused(tmp_path: Path) -> None:
    for content in ('', '[1]', 'a: 1', 'a: {b: 1}', 'a: {ros__parameters: {}}\nb: {}'):
        file = tmp_path / 'node.yaml'
        file.write_text(content)
        with pytest.raises(ConfigurationError):
            yaml_values(file)


def test_yaml_refuses_integers_where_ros_would(tmp_path: Path) -> None:
    file = tmp_path / 'node.yaml'
    file.write_text('/**: {ros__parameters: {state_rate: 500}}')
    with pytest.raises(ConfigurationError, match='state_rate is 500, expected double'):
        read_yaml(ForwardSimulationParameters, file)


def test_nodes_that_command_torque_ask_who_compensates_gravity() -> None:
    for parameters in (InverseDynamicsParameters, GravityCompensationParameters):
        with pytest.raises(ConfigurationError, match='There is no default'):
            instance_of(parameters, {})


def test_gravity_is_not_compensated_twice() -> None:
    with pytest.raises(ConfigurationError, match='a second time'):
        instance_of(
            GravityCompensationParameters, {**SAID, 'gravity_compensated_by_hardware': True}
        )


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        ({'locked_joints': ['a']}, 'locked_positions has 0 entries'),
        ({'joints': ['a', 'a']}, 'holds a name twice'),
        ({'joints': ['a'], 'locked_joints': ['a'], 'locked_positions': [0.0]}, 'both in joints'),
        ({'gravity': [0.0, 0.0, 9.81], 'base_roll': 1.0}, 'either gravity, or'),
        ({'payload.mass': 1.0}, 'needs payload.frame'),
        ({'joints': ['a', 'b'], 'armature': [1.0]}, 'armature has 1 entries, expected 2'),
        ({'xacro_args': ['a=1']}, 'name:=value'),
        ({'friction_source': 'file'}, 'needs friction_file'),
        ({'friction_file': 'x.yaml'}, 'friction_source is none'),
    ],
)
def test_parameters_that_do_not_fit_are_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        instance_of(TrajectoryAnnotatorParameters, values)


def test_sizes_of_gains_are_checked() -> None:
    values = {**SAID, 'joints': ['a', 'b', 'c'], 'kp': [1.0, 2.0]}
    with pytest.raises(ConfigurationError, match='kp has 2 entries, expected one or 3'):
        instance_of(InverseDynamicsParameters, values)
    assert instance_of(InverseDynamicsParameters, {**values, 'kp': [1.0]}).kp == (1.0,)
