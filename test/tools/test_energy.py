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
from typing import Any

from matplotlib.image import imread
import pytest

from robot_dynamics_ros.core.simulation.integrators import INTEGRATORS
from robot_dynamics_ros.tools import energy
from robot_dynamics_ros.tools.cli import main

ROOT = Path(__file__).resolve().parents[2]
DOUBLE = str(ROOT / 'urdf' / 'benchmark' / 'double_pendulum_point_mass.urdf')
PENDULUM = str(ROOT / 'urdf' / 'pendulum.urdf')


def report_of(capfd: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(['energy', *arguments, '--json']) == 0
    out, err = capfd.readouterr()
    report = json.loads(out)
    assert isinstance(report, dict)
    return report


def errors(report: dict[str, Any]) -> dict[tuple[str, float | None], float]:
    return {(row['integrator'], row['step']): row['largest_error'] for row in report['runs']}


def test_yardsticks_come_out(capfd: pytest.CaptureFixture[str]) -> None:
    report = report_of(capfd, DOUBLE)
    found = errors(report)
    assert len(found) == 11  # five integrators with two steps, and the reference
    # 1 kg each at the ends of 1 m, level and at rest, 10 s: the printed digits
    assert found['euler', 1e-3] == pytest.approx(1.482, abs=5e-4)
    assert found['semi_implicit', 1e-3] == pytest.approx(0.566, abs=6e-4)
    assert found['rk4', 1e-3] == pytest.approx(3.2e-8, abs=1e-9)
    assert found['rk4', 1e-2] == pytest.approx(2.5e-4, abs=5e-6)
    assert found['adaptive', None] < 1e-10
    assert (report['start_energy'], report['q'], report['duration']) == (0.0, [0.0, 0.0], 10.0)


def test_options_reach_the_motion(capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ['--steps', '0.02,0.005', '--integrators', 'rk4,heun', '--duration', '1']
    start = ['--q', '0.5', '--v', '-1.5', '--gravity', '0', '0', '-9.8']
    report = report_of(capfd, PENDULUM, *arguments, *start)
    assert list(errors(report)) == [
        ('rk4', 0.02), ('rk4', 0.005), ('heun', 0.02), ('heun', 0.005)
    ]  # fmt: skip
    assert [row['steps'] for row in report['runs']] == [50, 200, 50, 200]
    assert (report['q'], report['v']) == ([0.5], [-1.5])
    # m l^2 v^2 / 6 + m g l / 2 cos q of the rod of 0.1 kg and 1 m
    assert report['start_energy'] == pytest.approx(0.1 * 2.25 / 6 + 0.49 * 0.8775825618903728)
    found = errors(report)
    assert found['rk4', 0.005] < found['rk4', 0.02] < found['heun', 0.02]


def test_robot_is_put_where_it_moves(capfd: pytest.CaptureFixture[str]) -> None:
    short = ['--duration', '0.1', '--steps', '0.01', '--integrators', 'rk4']
    upright = report_of(capfd, PENDULUM, *short)
    assert upright['q'] == [1.0]  # zero is the upright equilibrium
    assert report_of(capfd, DOUBLE, *short)['q'] == [0.0, 0.0]
    weightless = report_of(capfd, DOUBLE, *short, '--gravity', '0', '0', '0')
    assert weightless['q'] == [1.0, 1.0]


def test_floating_base_without_inertia_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(['energy', DOUBLE, '--floating-base']) == 1
    assert "'root_joint/" in capfd.readouterr().err


def test_plot_and_report_are_written_whole(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / 'out'
    command = [
        sys.executable, '-m', 'robot_dynamics_ros.tools.cli', 'energy', DOUBLE, '--duration', '2',
        '--output', str(folder),
    ]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 'written to' in done.stdout
    assert all(name in done.stdout for name in INTEGRATORS)
    assert sorted(path.name for path in folder.iterdir()) == ['energy.png', 'report.json']
    report = json.loads((folder / 'report.json').read_text(encoding='utf-8'))
    assert len(report['runs']) == 11
    pixels = imread(folder / 'energy.png')
    assert pixels[..., :3].std() > 0.01
    # What is there is not replaced by accident.
    assert main(['energy', DOUBLE, '--output', str(folder)]) == 1
    assert 'exists' in capfd.readouterr().err
    again = [DOUBLE, '--duration', '0.1', '--output', str(folder), '--overwrite']
    assert main(['energy', *again]) == 0
    assert json.loads((folder / 'report.json').read_text(encoding='utf-8'))['duration'] == 0.1


def test_integrator_that_leaves_the_numbers_is_a_result(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = [DOUBLE, '--v', '1e80', '2e80', '--steps', '0.1', '--integrators', 'euler']
    report = report_of(capfd, *arguments)
    (row,) = report['runs']
    assert row['largest_error'] is None
    assert 'the simulated state holds a number that is not finite at' in row['reason']
    folder = tmp_path / 'out'
    assert main(['energy', *arguments, '--output', str(folder)]) == 0
    assert [path.name for path in folder.iterdir()] == ['report.json']
    assert 'euler with 0.1 s: the simulated state' in capfd.readouterr().out


@pytest.mark.parametrize(
    ('arguments', 'reason'),
    [
        (['no/such.urdf'], 'no such file'),
        ([DOUBLE, '--q', '1'], 'q has shape (1,), expected (2,)'),
        ([DOUBLE, '--steps', '1,20'], 'a step of 20 s in a motion of 10 s'),
        ([DOUBLE, '--steps', '1e-8'], 'steps, expected at most'),
        ([DOUBLE, '--output', DOUBLE], 'is a file, expected a folder'),
    ],
)
def test_what_is_refused_is_one_line(
    arguments: list[str], reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(['energy', *arguments]) == 1
    out, err = capfd.readouterr()
    assert out == ''
    assert err.startswith('robot_dynamics energy: ')
    assert reason in err
    assert err.count('\n') == 1


@pytest.mark.parametrize(
    'arguments',
    [
        ['--steps', '0'],
        ['--steps', '0.1,'],
        ['--duration', 'inf'],
        ['--integrators', 'rk4,rk5'],
        ['--q', 'nan', 'nan'],
    ],
)
def test_wrong_arguments_end_with_the_usage(
    arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match='2'):
        main(['energy', DOUBLE, *arguments])
    assert 'usage: robot_dynamics energy' in capfd.readouterr().err


def test_robot_without_a_joint_is_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / 'still.urdf'
    path.write_text('<robot name="still"><link name="base"/></robot>', encoding='utf-8')
    assert main(['energy', str(path)]) == 1
    assert "robot 'still' has no joint that moves" in capfd.readouterr().err


def test_names_of_integrators_are_those_of_the_core() -> None:
    assert energy.INTEGRATORS == INTEGRATORS
