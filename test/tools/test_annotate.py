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

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from robot_dynamics_ros.core.control.trajectory_efforts import trajectory_efforts
from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import config_path, urdf_path
from robot_dynamics_ros.tools.cli import main

ES5 = str(urdf_path('es5.urdf.xacro'))
NAMES = ['joint_2', 'joint_1', 'joint_3', 'joint_4', 'joint_6', 'joint_5']
ECHOED = """\
header:
  stamp:
    sec: 0
    nanosec: 0
  frame_id: ''
joint_names:
- joint_2
- joint_1
- joint_3
- joint_4
- joint_6
- joint_5
points:
- positions: [0.0, 0.1, 0.2, 0.0, 0.0, 0.0]
  velocities: []
  accelerations: []
  effort: []
  time_from_start:
    sec: 0
    nanosec: 0
- positions: [0.3, 0.1, 0.4, 0.1, 0.2, 0.3]
  velocities: []
  accelerations: []
  effort: []
  time_from_start:
    sec: 0
    nanosec: 500000000
- positions: [0.5, 0.0, 0.4, 0.2, 0.2, 0.3]
  velocities: []
  accelerations: []
  effort: []
  time_from_start:
    sec: 1
    nanosec: 0
---
"""


def annotated(tmp_path: Path, text: str, *options: str) -> Any:
    given, output = tmp_path / 'given.yaml', tmp_path / 'output.yaml'
    given.write_text(text)
    code = main(['annotate', str(given), '--urdf', ES5, '--output', str(output), *options])
    assert code == 0
    return yaml.safe_load(output.read_text())


def expected(**options: Any) -> Any:
    points = yaml.safe_load(ECHOED[:-4])['points']
    model = load_urdf(ES5, gravity=options.pop('gravity', (0.0, 0.0, -9.81)))
    friction = options.pop('friction', None)
    return trajectory_efforts(
        model.with_armature(options.pop('armature', {})),
        NAMES,
        [0.0, 0.5, 1.0],
        [point['positions'] for point in points],
        friction=friction and friction(model),
    )


def test_efforts_are_those_of_core_and_the_rest_is_unchanged(tmp_path: Path) -> None:
    found = annotated(tmp_path, ECHOED)
    # YAML keeps every digit of a float.
    np.testing.assert_array_equal([point.pop('effort') for point in found['points']], expected())
    given = yaml.safe_load(ECHOED[:-4])
    for point in given['points']:
        del point['effort']
    assert found == given


def test_options_reach_the_model(tmp_path: Path) -> None:
    friction_file = str(config_path('es5_friction.yaml'))
    for options, values in (
        (['--gravity', '0', '0', '9.81'], {'gravity': (0.0, 0.0, 9.81)}),
        (['--armature', 'joint_2=1.5'], {'armature': {'joint_2': 1.5}}),
        (['--friction', 'urdf'], {'friction': FrictionModel.from_model}),
        (
            ['--friction', friction_file],
            {'friction': lambda m: FrictionModel.from_file(friction_file, m.joint_names)},
        ),
    ):
        found = annotated(tmp_path, ECHOED, '--overwrite', *options)
        np.testing.assert_array_equal(
            [point['effort'] for point in found['points']], expected(**values)
        )


def test_gravity_is_left_out_only_when_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = annotated(tmp_path, ECHOED, '--without-gravity')
    np.testing.assert_array_equal(
        [point['effort'] for point in found['points']], expected(gravity=(0.0, 0.0, 0.0))
    )
    for gravity in (['0', '0', '0'], ['0', '0', '-1.62'], ['0', '0', '-981']):
        assert refusal(tmp_path, capsys, '--gravity', *gravity).count('expected 9.81') == 1
    with pytest.raises(SystemExit) as ended:
        refusal(tmp_path, capsys, '--without-gravity', '--gravity', '0', '0', '-9.81')
    assert ended.value.code == 2


def test_existing_output_is_kept_unless_it_may_be_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / 'output.yaml'
    output.write_text('mine')
    # Refused before anything is read: neither file exists.
    arguments = ['nowhere.yaml', '--urdf', 'nowhere.urdf', '--output', str(output)]
    assert main(['annotate', *arguments]) == 1
    assert f'{output} exists' in capsys.readouterr().err
    assert output.read_text() == 'mine'
    found = annotated(tmp_path, ECHOED, '--overwrite')
    assert len(found['points']) == 3
    # A run that fails leaves what is there, and no temporary file.
    before = output.read_text()
    (tmp_path / 'given.yaml').write_text('[1, 2]')
    arguments = [str(tmp_path / 'given.yaml'), '--urdf', ES5, '--output', str(output)]
    assert main(['annotate', *arguments, '--overwrite']) == 1
    assert output.read_text() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ['given.yaml', 'output.yaml']


def test_friction_of_a_urdf_that_states_none_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'joint_names: [joint_1, joint_2]\npoints: [{positions: [0.1, 0.2], time_from_start: 0}]'
    rods = str(urdf_path('planar_2r_rods.urdf'))
    said = refusal(tmp_path, capsys, '--friction', 'urdf', text=text, urdf=rods)
    assert 'states neither damping nor friction' in said
    assert 'give a friction file' in said


def refusal(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    *options: str,
    text: str = ECHOED,
    urdf: str = ES5,
) -> str:
    """Return the one line that a refused command says; nothing is written."""
    given, output = tmp_path / 'refused.yaml', tmp_path / 'not_written.yaml'
    given.write_text(text)
    assert main(['annotate', str(given), '--urdf', urdf, '--output', str(output), *options]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert not output.exists()
    return line


def test_resting_point_needs_the_gravity_torque(tmp_path: Path) -> None:
    point = '{positions: [0.0, 0.3, 0.0, 0.1, 0.2, 0.4], time_from_start: {sec: 1}}'
    found = annotated(tmp_path, f'joint_names: [{", ".join(NAMES)}]\npoints: [{point}]')
    q = np.array([0.3, 0.0, 0.0, 0.1, 0.4, 0.2])
    gravity = dict(
        zip([f'joint_{i}' for i in range(1, 7)], generalized_gravity(load_urdf(ES5), q))
    )
    # Two ways to the same number, of up to 70 N m.
    np.testing.assert_allclose(
        found['points'][0]['effort'], [gravity[name] for name in NAMES], atol=1e-12
    )


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('', 'holds 0 trajectories'),
        (ECHOED + ECHOED, 'holds 2 trajectories'),
        ('a: [', 'cannot be read'),
        ('[1, 2]', 'expected joint_names and points'),
        ('joint_names: [joint_1]\npoints: []', 'expected joint_names and points'),
        ('joint_names: [joint_1]\npoints: [1]', 'time_from_start in each point'),
        (ECHOED.replace('0.5, 0.0', '0.5, .nan'), 'joint_1'),
        (ECHOED.replace('[0.5, 0.0', '[0.5'), 'point 2'),
        (ECHOED.replace('0.5, 0.0', '0.5, abc'), 'no number'),
        (ECHOED.replace('- joint_5', '- joint_7'), 'joint_5'),
    ],
)
def test_what_is_no_trajectory_of_the_robot_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    given, output = tmp_path / 'given.yaml', tmp_path / 'output.yaml'
    given.write_text(text)
    assert main(['annotate', str(given), '--urdf', ES5, '--output', str(output)]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert said.count('\n') == 1
    assert not output.exists()
