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

"""The demonstration as a user runs it, in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
import json
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.bags.joint_blocks import read_joint_log
from robot_dynamics_ros.core.control.laws import InverseDynamicsLaw
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.core.trajectory.scenarios import scenario
from robot_dynamics_ros.resources import config_path, urdf_path
from robot_dynamics_ros.ros.parameters import yaml_values
from robot_dynamics_ros.tools.demo import output_folder

pytest.importorskip('rclpy')

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 600.0  # with kernels to compile, on a machine that does other things [s]
SETTINGS = yaml_values(config_path('inverse_dynamics_node.yaml'))


def demo(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start the demonstration."""
    return subprocess.Popen(
        [sys.executable, '-m', 'robot_dynamics_ros.tools.cli', 'demo', *arguments],
        cwd=ROOT,
        env={**os.environ, 'PYTHONUNBUFFERED': '1', **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    children = []
    for stat in Path('/proc').glob('[0-9]*/stat'):
        try:
            fields = stat.read_text().rsplit(')', 1)[1].split()
        except OSError:  # it has just ended
            continue
        if int(fields[1]) == pid and fields[0] != 'Z':
            children.append(int(stat.parent.name))
    return children


def wait_for_children(process: subprocess.Popen[str]) -> list[int]:
    """Return both nodes of a demonstration once they run."""
    deadline = time.monotonic() + 60.0
    while len(children := children_of(process.pid)) < 2:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(2.0)  # far enough to be configuring or moving
    return children


@pytest.fixture(scope='module')
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Return the folder and the text of a quick demonstration."""
    folder = tmp_path_factory.mktemp('demo') / 'out'
    process = demo('--quick', '--lockstep', '--output', str(folder))
    text, _ = process.communicate(timeout=LONGEST)
    assert process.returncode == 0, text
    yield folder, text


def runs_of(folder: Path) -> dict[tuple[str, bool], dict[str, Any]]:
    """Return the reported runs by mode and friction."""
    report = json.loads((folder / 'report.json').read_text())
    return {(run['mode'], run['has_friction']): run for run in report['runs']}


def simulated_error(mode: str, friction: DryFriction | None) -> float:
    """Return the largest error of `pick_place` in one process, without ROS [rad]."""
    joints = SETTINGS['joints']
    model = load_urdf(
        urdf_path('es5.urdf.xacro'), armature=dict(zip(joints, SETTINGS['armature']))
    )
    motion, dt, settled = scenario('pick_place'), 1e-3, 0.9
    law = InverseDynamicsLaw(
        model,
        mode,
        gravity_compensated_by_hardware=False,
        kp=SETTINGS['kp'],
        kd=SETTINGS['kd'],
    )
    plant = Plant(model, friction)
    largest = 0.0
    for step in range(round((settled + motion.duration) / dt) + 1):
        t, state = step * dt - settled, plant.state
        reference = motion.sample(t)
        if t >= 0.0:
            largest = max(largest, float(np.abs(state.q - reference[0]).max()))
        plant.step(law.command(state.q, state.v, reference), dt)
    return largest


def test_feedforward_cuts_the_error_without_friction(quick: tuple[Path, str]) -> None:
    folder, text = quick
    runs = runs_of(folder)
    pd, feedforward = runs['pd', False], runs['pd_feedforward', False]
    assert pd['max_error_rad'] >= 50.0 * feedforward['max_error_rad']
    assert 'reached' in text


def test_errors_are_those_of_the_equations(quick: tuple[Path, str]) -> None:
    runs = runs_of(quick[0])
    file = config_path('es5_friction.yaml')
    friction = DryFriction.from_file(file, SETTINGS['joints'])
    # 2 %: how far the arm has settled when the motion begins depends on the time of the ramp.
    for mode in ('pd', 'pd_gravity', 'pd_feedforward'):
        expected = simulated_error(mode, friction)
        assert runs[mode, True]['max_error_rad'] == pytest.approx(expected, rel=0.02), mode
    expected = simulated_error('pd', None)
    assert runs['pd', False]['max_error_rad'] == pytest.approx(expected, rel=0.02)


def test_model_torques_help_against_unknown_friction_too(quick: tuple[Path, str]) -> None:
    runs = runs_of(quick[0])
    error = {mode: run['max_error_rad'] for (mode, rubs), run in runs.items() if rubs}
    assert error['pd_gravity'] < 0.6 * error['pd']
    assert error['pd_feedforward'] < 0.4 * error['pd']
    assert error['computed_torque'] < 0.6 * error['pd']


def test_every_state_is_answered_in_lockstep(quick: tuple[Path, str]) -> None:
    for run in runs_of(quick[0]).values():
        assert run['pace'] == 'lockstep'
        assert run['answered'] > 0.95  # a busy machine may lose some on the way to the recorder
        assert 0.0 < run['latency_median_s'] < 0.1


def test_results_are_complete(quick: tuple[Path, str]) -> None:
    folder, text = quick
    assert (folder / 'demo.png').read_bytes().startswith(b'\x89PNG')
    assert {path.name for path in folder.iterdir()} == {'bag', 'demo.png', 'logs', 'report.json'}
    for law in ('PD alone', 'PD + gravity', 'PD + feedforward', 'computed torque'):
        assert law in text
    assert 'Traceback' not in text
    for log in (folder / 'logs').iterdir():
        assert 'Traceback' not in log.read_text()


def test_bag_holds_states_commands_and_what_was_wanted(quick: tuple[Path, str]) -> None:
    bag = quick[0] / 'bag'
    states = read_joint_log(bag, '/joint_states')
    wanted = read_joint_log(bag, '/demo/wanted')
    torques = read_joint_log(bag, '/inverse_dynamics_node/torques')
    # 6 motions of 2 s at 1 kHz, and what comes before and after; some may be lost.
    for log in (states, wanted, torques):
        assert log.joint_names == tuple(SETTINGS['joints'])
        assert len(log.stamps) > 11_000
    assert torques.effort is not None
    assert np.abs(torques.effort).max() > 80.0  # the shoulder carries the arm: 89 N m
    # Stamps run on from run to run, so that the plot of a player has one time axis.
    assert np.all(np.diff(wanted.stamps) > 0.0)


def test_ctrl_c_ends_everything(tmp_path: Path) -> None:
    process = demo('--quick', '--output', str(tmp_path / 'out'))
    children = wait_for_children(process)
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=15.0)
    assert process.returncode == 130, text
    assert 'interrupted' in text
    assert 'Traceback' not in text
    assert not any(Path(f'/proc/{pid}').exists() for pid in children)
    assert not list(tmp_path.iterdir())


def test_death_of_a_node_is_told(tmp_path: Path) -> None:
    process = demo('--quick', '--output', str(tmp_path / 'out'))
    children = wait_for_children(process)
    os.kill(children[0], signal.SIGKILL)
    text, _ = process.communicate(timeout=15.0)
    assert process.returncode == 1, text
    assert 'died with signal SIGKILL' in text
    assert 'Traceback' not in text
    assert not any(Path(f'/proc/{pid}').exists() for pid in children)


def test_missing_rclpy_is_one_line(tmp_path: Path) -> None:
    (tmp_path / 'rclpy.py').write_text("raise ImportError('not here')\n")
    process = demo('--output', str(tmp_path / 'out'), PYTHONPATH=str(tmp_path))
    text, _ = process.communicate(timeout=60.0)
    assert process.returncode == 1
    assert text.count('\n') == 1
    assert 'there is no rclpy (not here); run `make demo`' in text


def test_results_are_numbered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / 'results' / 'demo'
    assert output_folder(None, overwrite=False).absolute() == folder
    (folder / 'bag').mkdir(parents=True)
    assert output_folder(None, overwrite=False).name == 'demo-2'
    assert output_folder(None, overwrite=True).name == 'demo'


def test_results_are_not_overwritten(quick: tuple[Path, str]) -> None:
    process = demo('--output', str(quick[0]))
    text, _ = process.communicate(timeout=60.0)
    assert process.returncode == 1
    assert 'exists' in text


@pytest.mark.soak
def test_full_demonstration_in_real_time(tmp_path: Path) -> None:
    process = demo('--output', str(tmp_path / 'out'))
    text, _ = process.communicate(timeout=LONGEST)
    assert process.returncode == 0, text
    report = json.loads((tmp_path / 'out' / 'report.json').read_text())
    assert len(report['runs']) == 10
    for run in report['runs']:
        assert run['rate_hz'] > 0.8 * run['rate_wanted_hz'] or run['pace'] == 'lockstep'


@pytest.mark.soak
def test_run_with_a_fault_is_repeated(tmp_path: Path) -> None:
    folder = tmp_path / 'out'
    process = demo('--quick', '--rate', '500', '--output', str(folder))
    assert process.stdout is not None
    text = ''
    while '[ 3/6]' not in text:
        letter = process.stdout.read(1)  # the line of a run that is under way has no end yet
        assert letter, text
        text += letter
    for pid in children_of(process.pid):
        if b'forward_simulation_node' in Path(f'/proc/{pid}/cmdline').read_bytes():
            time.sleep(2.5)  # the arm is held, or moves
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.6)  # twice the silence that the controller bears
            os.kill(pid, signal.SIGCONT)
    text += process.communicate(timeout=LONGEST)[0]
    assert process.returncode == 0, text
    assert re.search(r'joint state is .* s old.*\n {8}again, 500 Hz real time', text), text
    assert runs_of(folder)['pd', True]['max_error_rad'] == pytest.approx(0.256, rel=0.1)
