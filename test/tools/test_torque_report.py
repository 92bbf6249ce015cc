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
from __future__ import annotations

import json
from pathlib import Path
import re
from typing import Any

import numpy as np
import pytest
import yaml

from robot_dynamics_ros.resources import config_path, urdf_path
from robot_dynamics_ros.tools.cli import main

ES5 = str(urdf_path('es5.urdf.xacro'))


def command(*arguments: Any) -> int:
    return main(['torque-report', *map(str, arguments)])


def test_report_is_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / 'report'
    friction = config_path('es5_friction.yaml')
    assert command(
        ES5, '--scenario', 'aggressive', '--payload', 2, '--friction', friction, '--output', folder
    ) == 0  # fmt: skip
    printed = capsys.readouterr().out
    assert 'critical drive: joint_1' in printed
    assert 'beyond the limit: joint_4 needs a speed of 12.34, its limit is 3.142' in printed
    names = {entry.name for entry in folder.iterdir()}
    assert names == {
        'report.html',
        'report.json',
        'terms.png',
        'operating_points.png',
        'motion.png',
    }
    values = json.loads((folder / 'report.json').read_text())
    assert values['critical'] == 'joint_1'
    assert values['payload'] == 2.0
    page = (folder / 'report.html').read_text()
    assert not re.search(r'(src|href)="(?!data:)', page), 'nothing to load from elsewhere'
    assert page.count('<img') == 3
    assert f'{values["total"]["peak_torque"][0]:.4g}' in page
    assert command(ES5, '--scenario', 'aggressive', '--output', folder) == 1
    assert 'exists' in capsys.readouterr().err


def test_drives_give_currents_voltages_and_rotors(capsys: pytest.CaptureFixture[str]) -> None:
    slow = (ES5, '--scenario', 'aggressive', '--amplitude', 0.9, '--time-scale', 4)
    drives = config_path('es5_drives.yaml')
    assert command(*slow, '--drives', drives, '--json') == 0
    values = json.loads(capsys.readouterr().out)
    torque = values['total']['peak_torque'][1]
    assert torque == pytest.approx(77.0, abs=0.5), 'with the rotors'
    # No efficiency is stated: current = torque / (ratio k_T).
    assert values['electrical']['peak_current'][1] == pytest.approx(torque / (121 * 0.1418))
    assert values['electrical']['overloaded'] == []
    assert command(ES5, '--scenario', 'aggressive', '--drives', drives) == 0
    assert 'beyond current or voltage: joint_1, joint_2' in capsys.readouterr().out


def test_trajectory_of_a_file_is_taken_by_joint_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f'joint_{i}' for i in (3, 1, 2, 6, 5, 4)]
    goal = [0.0, 0.0, float(np.pi / 2), 0.0, 0.0, 0.0]
    points = [
        {'positions': [0.0] * 6, 'velocities': [0.0] * 6, 'time_from_start': {'sec': 0}},
        {'positions': goal, 'velocities': [0.0] * 6, 'time_from_start': {'sec': 2}},
    ]
    path = tmp_path / 'trajectory.yaml'
    path.write_text(yaml.safe_dump({'joint_names': names, 'points': points}))
    assert command(ES5, '--trajectory', path, '--json') == 0
    values = json.loads(capsys.readouterr().out)
    assert values['joint_names'] == [f'joint_{i}' for i in range(1, 7)]
    assert values['critical'] == 'joint_2'
    speeds = values['total']['peak_velocity']
    # A quintic from rest to rest has 15/8 of the mean speed.
    assert speeds[1] == pytest.approx(15.0 / 8.0 * np.pi / 4, rel=1e-5)
    assert speeds[0] == speeds[2] == 0.0
    assert command(ES5, '--trajectory', path, '--time-scale', 2, '--json') == 0
    slower = json.loads(capsys.readouterr().out)
    assert slower['total']['peak_velocity'][1] == pytest.approx(speeds[1] / 2)
    assert slower['duration'] == pytest.approx(4.0)


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        ((urdf_path('pendulum.urdf'), '--scenario', 'pick_place'), 'for arms of 6 joints'),
        ((ES5, '--trajectory', 'nowhere.yaml'), 'nowhere.yaml cannot be read'),
        (
            (ES5, '--scenario', 'pick_place', '--payload', 1, '--payload-frame', 'hand'),
            "frame 'hand' is not in the model",
        ),
        ((ES5, '--scenario', 'pick_place', '--friction', 'none.yaml'), 'none.yaml'),
        ((ES5, '--scenario', 'pick_place', '--armature', 'joint_1'), 'is not JOINT=VALUE'),
    ],
)
def test_bad_input_is_one_line(
    arguments: tuple[Any, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(*arguments) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count('\n') == 1
