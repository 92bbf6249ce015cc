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

"""`robot_dynamics excite`: what it writes is whole, within limits, and read by other tools."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from excitation_scenes import PinocchioArm
from robot_dynamics_ros.core.trajectory.trajectory_file import columns_of, read_trajectory
from robot_dynamics_ros.tools.cli import main

QUICK = [
    '--random',
    '3',
    '--starts',
    '1',
    '--iterations',
    '2',
    '--harmonics',
    '3',
    '--duration',
    '12',
]
NAMES = [f'joint_{k}' for k in range(1, 7)]


@pytest.fixture(scope='module')
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('excite') / 'out'
    assert main(['excite', '--urdf', 'es5', '--output', str(folder), *QUICK]) == 0
    return folder


def facts(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / 'excitation.json').read_text())
    return content


def test_folder_has_trajectory_table_facts_and_plots(results: Path) -> None:
    names = {entry.name for entry in results.iterdir()}
    plots = {f'excitation_{what}.png' for what in ('position', 'velocity', 'effort', 'condition')}
    assert names == {'excitation.yaml', 'excitation.csv', 'excitation.json', *plots}
    assert all((results / plot).read_bytes()[:4] == b'\x89PNG' for plot in plots)


def test_trajectory_is_read_like_any_other(results: Path) -> None:
    spline = columns_of(read_trajectory(results / 'excitation.yaml')).spline()
    assert list(spline.joint_names) == NAMES
    assert (spline.start, spline.end) == (0.0, 12.0)
    with (results / 'excitation.csv').open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(spline.times)
    q = np.array([[float(row[f'{name}_position']) for name in NAMES] for row in rows])
    np.testing.assert_allclose(q, spline.positions, atol=1e-11)  # twelve digits


def test_torques_in_the_table_are_those_of_pinocchio_with_friction(results: Path) -> None:
    arm = PinocchioArm()
    rows = np.loadtxt(results / 'excitation.csv', delimiter=',', skiprows=1)[::20]
    q, v, a, tau = (rows[:, 1 + 6 * k : 7 + 6 * k] for k in range(4))
    rest = np.abs(v[0]) < 1e-12
    assert rest.all()
    np.testing.assert_allclose(tau[0], arm.torque(q[0], v[0], a[0]), atol=1e-8)  # twelve digits
    moves = np.abs(v) > 0.5  # where tanh is 1 for every smoothing velocity in use
    friction = arm.model.damping * v + arm.model.friction * np.sign(v)
    model = np.array([arm.torque(*state) for state in zip(q, v, a)]) + friction
    np.testing.assert_allclose(tau[moves], model[moves], atol=1e-3)


def test_facts_say_condition_seed_limits_and_what_was_assumed(results: Path) -> None:
    content = facts(results)
    assert content['parameters'] == 58
    assert content['seed'] == 0
    assert 1.0 < content['condition'] <= content['random']['best']
    assert content['least_distance'] >= 0.02
    assert set(content['limits_used']) == set(NAMES)
    used = [share for joint in content['limits_used'].values() for share in joint.values()]
    assert 0.1 < max(used) <= 1.0
    assert any('within 0.5 s' in note for note in content['notes'])
    assert any('floor is assumed at -0.15 m' in note for note in content['notes'])


def test_a_folder_with_results_is_not_touched(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (results / 'excitation.yaml').read_bytes()
    assert main(['excite', '--urdf', 'es5', '--output', str(results), *QUICK]) == 1
    assert 'exists' in capsys.readouterr().err
    assert (results / 'excitation.yaml').read_bytes() == before


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--velocity', 'joint_9=1.0'], "'joint_9' is not in the model"),
        (['--velocity', 'joint_1=fast'], "--velocity 'joint_1=fast': 'fast' is not a finite"),
        (['--position', 'joint_1=1:-1'], "joint 'joint_1': from 1 to -1 there is no room"),
        (['--position', 'joint_1=-170:170'], "'joint_1' is -170 to 170, the description allows"),
        (['--velocity', 'joint_1=50'], "'joint_1' is 50, the description allows"),
        (['--velocity', 'joint_1=1', '--velocity', 'joint_1=2'], "names joint 'joint_1' twice"),
        (['--effort-share', '0.05'], 'random motions 0 keep all limits; in'),
        (['--duration', '0.5'], 'more than the 10000 that identify takes'),
        (['--joints', 'joint_9'], 'joint_9'),
        (['--world', 'nowhere.yaml'], 'world file nowhere.yaml cannot be read'),
        (['--disabled-pairs', 'nowhere.yaml'], 'nowhere.yaml cannot be read'),
    ],
)
def test_what_cannot_be_is_refused_in_one_line_and_nothing_is_written(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / 'out'
    arguments = ['excite', '--urdf', 'es5', '--output', str(folder), *QUICK, *options]
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count('\n') == 1
    assert not folder.exists()


def test_an_arm_without_collision_shapes_needs_to_be_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from robot_dynamics_ros.resources import urdf_path

    arguments = ['excite', '--urdf', str(urdf_path('planar_2r_rods.urdf'))]
    arguments += ['--output', str(tmp_path / 'out'), '--random', '3', '--iterations', '2']
    arguments += ['--lenient']
    assert main(arguments) == 1
    assert '--collisions none says that this is meant' in capsys.readouterr().err
