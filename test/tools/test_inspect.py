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
import subprocess
import sys

import pytest

from robot_dynamics_ros import __version__
from robot_dynamics_ros.resources import urdf_path
from robot_dynamics_ros.tools.cli import COMMANDS, main

ARM = """<robot name="arm"><link name="base"/>
  <link name="upper"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <link name="slider"><inertial><origin xyz="0 0 0.25"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="{effort}" velocity="5"/></joint>
  <joint name="slide" type="prismatic"><parent link="upper"/><child link="slider"/>
    <origin xyz="1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="0.1" effort="20" velocity="1"/></joint>
</robot>
"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM.format(effort=15))
    return path


def report_of(capfd: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    main(['inspect', *arguments, '--json'])
    out, err = capfd.readouterr()
    assert err == ''
    report = json.loads(out)
    assert isinstance(report, dict)
    return report


def test_json_holds_joints_masses_and_gravity(
    arm: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    report = report_of(capfd, str(arm))
    assert report['accepted'] is True
    assert report['joint_names'] == ['shoulder', 'slide']
    assert (report['moving_mass'], report['total_mass']) == (3.0, 3.0)
    # (2 * 0.5 + 1 * 1) / 3 and 1 * 0.25 / 3
    assert report['center_of_mass'] == pytest.approx([2.0 / 3.0, 0.0, 0.25 / 3.0], abs=1e-15)
    shoulder, slide = report['joints']  # type: ignore[misc]
    assert shoulder['units'] == {'position': 'rad', 'velocity': 'rad/s', 'effort': 'N m'}
    assert slide['units'] == {'position': 'm', 'velocity': 'm/s', 'effort': 'N'}
    assert shoulder['gravity_effort_at_zero'] == pytest.approx(-19.62, abs=1e-13)
    assert slide['gravity_effort_at_zero'] == pytest.approx(9.81, abs=1e-13)
    assert (slide['lower'], slide['upper'], slide['effort']) == (0.0, 0.1, 20.0)
    # The worst is near 2 m g lever arms: sqrt(2^2 + (0.25 + 0.1)^2) at most.
    assert 19.62 <= shoulder['gravity_effort_largest'] <= 9.81 * (2.0**2 + 0.35**2) ** 0.5


def test_gravity_above_the_effort_limit_is_a_warning_with_the_number(
    arm: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    report = report_of(capfd, str(arm))
    (finding,) = report['findings']  # type: ignore[misc]
    assert finding['code'] == 'gravity_exceeds_effort'
    assert finding['severity'] == 'warning'
    assert finding['subject'] == "joint 'shoulder'"
    assert finding['value'] >= 19.62
    assert 'the effort limit is 15 N m' in finding['message']
    arm.write_text(ARM.format(effort=30))
    assert report_of(capfd, str(arm))['findings'] == []


def test_text_shows_the_same(arm: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(['inspect', str(arm)]) == 0
    out, err = capfd.readouterr()
    assert err == ''
    for text in ('shoulder', 'prismatic', 'm, N', 'moving mass         3 kg', '-19.62'):
        assert text in out
    assert '0 errors, 1 warning, 0 infos' in out


def test_refusal_prints_every_error_and_returns_1(
    arm: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arm.write_text(ARM.format(effort='1_0').replace('value="2"', 'value="2,5"'))
    assert main(['inspect', str(arm)]) == 1
    out, _ = capfd.readouterr()
    assert out.startswith('REFUSED')
    assert out.count('number_wrong') == 2
    report = report_of(capfd, str(arm))
    assert report['counts'] == {'error': 2, 'warning': 0, 'info': 0}


def test_arm_of_this_package_needs_no_path(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(['inspect', 'es5']) == 0
    assert str(urdf_path('es5.urdf.xacro')) in capfd.readouterr().out


def test_missing_file_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(['inspect', 'no/such/arm.urdf']) == 1
    out, err = capfd.readouterr()
    assert 'no such file' in out
    assert 'Traceback' not in out + err


def test_lenient_and_floating_base(arm: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = ARM.replace('<limit lower="0" upper="0.1" effort="20" velocity="1"/>', '')
    arm.write_text(text.format(effort=30))
    assert main(['inspect', str(arm)]) == 1
    capfd.readouterr()
    report = report_of(capfd, str(arm), '--lenient', '--floating-base')
    assert report['accepted'] is True
    assert (report['nq'], report['nv']) == (9, 8)
    assert report['joint_names'] == ['root_joint', 'shoulder', 'slide']


def test_mimic_is_shown(arm: Path, capfd: pytest.CaptureFixture[str]) -> None:
    mimic = '<mimic joint="shoulder" multiplier="-0.5" offset="0.1"/></joint>\n</robot>'
    arm.write_text(ARM.format(effort=30).replace('</joint>\n</robot>', mimic))
    report = report_of(capfd, str(arm))
    assert report['joint_names'] == ['shoulder']
    mimics = {'joint': 'shoulder', 'multiplier': -0.5, 'offset': 0.1}
    assert report['joints'][1]['mimics'] == mimics  # type: ignore[index]
    main(['inspect', str(arm)])
    assert '-0.5 shoulder +0.1' in capfd.readouterr().out


def test_xacro_arguments(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / 'arm.urdf.xacro'
    head = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="arm">'
    text = ARM.format(effort='$(arg effort)')
    path.write_text(
        text.replace('<robot name="arm">', head + '<xacro:arg name="effort" default="30"/>')
    )
    assert report_of(capfd, str(path))['findings'] == []
    report = report_of(capfd, str(path), '--xacro-arg', 'effort:=15')
    assert report['joints'][0]['effort'] == 15.0  # type: ignore[index]
    assert main(['inspect', str(path), '--xacro-arg', 'effort=15']) == 1
    assert 'expected NAME:=VALUE' in capfd.readouterr().err


def test_command_line_lists_its_commands(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match='0'):
        main(['--help'])
    out = capfd.readouterr().out
    assert all(name in out for name in COMMANDS)
    with pytest.raises(SystemExit, match='0'):
        main(['--version'])
    assert __version__ in capfd.readouterr().out
    with pytest.raises(SystemExit, match='2'):
        main(['no_such_command'])


def test_command_that_cannot_be_loaded_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(COMMANDS, 'ghost', 'not there')
    assert main(['ghost']) == 1
    out, err = capfd.readouterr()
    assert out == ''
    assert err.startswith('robot_dynamics ghost: cannot be loaded: No module named')
    assert err.count('\n') == 1


def test_robot_without_moving_joint(arm: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arm.write_text('<robot name="r"><link name="base"/></robot>')
    report = report_of(capfd, str(arm))
    assert (report['nv'], report['center_of_mass'], report['joints']) == (0, None, [])
    assert main(['inspect', str(arm)]) == 0


def test_process_returns_the_exit_code_and_survives_a_closed_pipe(arm: Path) -> None:
    command = [sys.executable, '-m', 'robot_dynamics_ros.tools.cli', 'inspect', str(arm)]
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=root, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ''
    assert process.wait(timeout=60) == 1
    assert subprocess.run(command, cwd=root, capture_output=True).returncode == 0
