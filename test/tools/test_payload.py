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

"""A tool of 2 kg on the ES5, found through the command line from logs with noise and friction."""

from __future__ import annotations

from dataclasses import replace
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest

from identification_scenes import dry_friction, simulated_log, SimulatedLog
from robot_dynamics_ros.bags.writing import BagWriter
from robot_dynamics_ros.core.dynamics import generalized_gravity, rnea_batch
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import config_path, urdf_path
from robot_dynamics_ros.ros.parameters import read_yaml
from robot_dynamics_ros.ros.robot_parameters import RobotParameters
from robot_dynamics_ros.tools.cli import main

Array = NDArray[np.float64]
START = 1_700_000_000_000_000_000
ES5 = urdf_path('es5.urdf.xacro')
FRICTION = config_path('es5_friction.yaml')
TOOL = Payload(2.0, 'tool0', [0.02, -0.03, 0.09], np.diag([0.008, 0.007, 0.004]))
NOISE = np.array([0.5, 0.5, 0.3, 0.1, 0.1, 0.05])


@pytest.fixture(scope='module')
def arm() -> RobotModel:
    return load_urdf(ES5)


def log_of(robot: RobotModel, seed: int, warmth: float = 1.0) -> SimulatedLog:
    """Return a log with noise; friction rises at rest, which the fit does not have."""
    stated = FrictionModel.from_file(FRICTION, robot.v_names)
    rubs = dry_friction(robot, warmth * stated.viscous, warmth * stated.coulomb_positive, 1.3)
    log = simulated_log(robot, rubs, 20.0, rate=250.0, seed=seed, size=0.9, is_compensated=True)
    return log.with_noise(np.random.default_rng(seed), 1e-5, 1e-3, NOISE)


def record(path: Path, log: SimulatedLog, joints: tuple[str, ...]) -> Path:
    with BagWriter(path) as bag:
        for t, q, v, tau in zip(log.stamps, log.position, log.velocity, log.effort):
            bag.write_joint_state(
                '/joint_states', START + round(float(t) * 1e9), joints, q, v, tau
            )
    return path


@pytest.fixture(scope='module')
def bags(tmp_path_factory: pytest.TempPathFactory, arm: RobotModel) -> tuple[Path, Path]:
    """Return a log without and one with the tool; they differ in motion and in friction, too."""
    folder = tmp_path_factory.mktemp('bags')
    unloaded = record(folder / 'unloaded', log_of(arm, 1), arm.v_names)
    loaded = record(folder / 'loaded', log_of(arm.with_payload(TOOL), 2), arm.v_names)
    return unloaded, loaded


def run(*arguments: object) -> int:
    return main(['payload', '--urdf', str(ES5), '--frame', 'tool0', *map(str, arguments)])


def report(folder: Path) -> dict[str, Any]:
    content = json.loads((folder / 'report.json').read_text(encoding='utf-8'))
    assert isinstance(content, dict)
    return content


def written_payload(folder: Path) -> Payload:
    """Return the payload as a node reads it."""
    values = read_yaml(RobotParameters, folder / 'payload.yaml')
    xx, xy, xz, yy, yz, zz = values.payload_inertia
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Payload(values.payload_mass, values.payload_frame, np.array(values.payload_com), tensor)


def gravity_errors(found: RobotModel, loaded: RobotModel, arm: RobotModel) -> tuple[float, float]:
    """Return the errors of gravity torques, relative to those of all and of the tool alone."""
    poses = np.random.default_rng(3).uniform(-np.pi, np.pi, (200, 6))
    expected = np.array([generalized_gravity(loaded, q) for q in poses])
    torques = np.array([generalized_gravity(found, q) for q in poses])
    bare = np.array([generalized_gravity(arm, q) for q in poses])
    error = float(np.linalg.norm(torques - expected))
    return error / float(np.linalg.norm(expected)), error / float(np.linalg.norm(expected - bare))


def test_tool_against_a_log_without_it(
    tmp_path: Path, arm: RobotModel, bags: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    unloaded, loaded = bags
    out = tmp_path / 'out'
    assert run(loaded, '--unloaded', unloaded, '--output', out) == 0
    printed = capsys.readouterr().out
    assert 'Payload in tool0; inertia about its centre of mass' in printed
    assert sorted(entry.name for entry in out.iterdir()) == ['payload.yaml', 'report.json']
    payload = written_payload(out)
    assert payload.frame == 'tool0'
    assert payload.mass == pytest.approx(TOOL.mass, rel=0.015)
    assert payload.com == pytest.approx(TOOL.com, abs=0.003)  # [m]
    # Friction that rises at rest looks like inertia at the wrist, by about its own size.
    assert payload.inertia == pytest.approx(TOOL.inertia, abs=0.01)
    of_all, of_tool = gravity_errors(arm.with_payload(payload), arm.with_payload(TOOL), arm)
    assert of_all < 0.005
    assert of_tool < 0.02
    found = report(out)
    mass = found['quantities']['mass']
    assert mass['is_shown']
    assert 0.0 < mass['deviation'] < 0.01
    assert 'mass' not in found['not_shown']
    for joint, error in found['errors']['with_payload'].items():
        assert error < 0.6 * found['errors']['without_payload'][joint]
    assert found['node_parameters']['payload.mass'] == pytest.approx(payload.mass, rel=1e-9)


def test_friction_that_has_changed_since_is_fitted_again(
    tmp_path: Path, arm: RobotModel, bags: tuple[Path, Path]
) -> None:
    log = log_of(arm.with_payload(TOOL), 4, warmth=0.8)
    bag = record(tmp_path / 'loaded', log, arm.v_names)
    for name, known in (('urdf', ('--friction-file', FRICTION)), ('log', ('--unloaded', bags[0]))):
        out = tmp_path / name
        assert run(bag, *known, '--output', out) == 0
        payload = written_payload(out)
        # Friction that the fit does not have is another at this level, and does not cancel.
        assert payload.mass == pytest.approx(TOOL.mass, rel=0.015)
        assert payload.com == pytest.approx(TOOL.com, abs=0.004)  # [m]
        of_all, _ = gravity_errors(arm.with_payload(payload), arm.with_payload(TOOL), arm)
        assert of_all < 0.01


def refusal(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line that a refused command ends with, without what progress wrote."""
    lines = [line for line in capsys.readouterr().err.splitlines() if 'robot_dynamics' in line]
    assert len(lines) == 1
    return lines[0]


def test_motion_that_does_not_show_the_mass_is_refused(
    tmp_path: Path, arm: RobotModel, capsys: pytest.CaptureFixture[str]
) -> None:
    # Only the first joint turns, about the vertical.
    stamps = np.arange(2000) / 200.0
    log = SimulatedLog(stamps, *turning(arm.with_payload(TOOL), stamps, {0: 2.0}))
    bag = record(tmp_path / 'loaded', log, arm.v_names)
    out = tmp_path / 'out'
    assert run(bag, '--friction-file', FRICTION, '--output', out) == 1
    assert 'the motion does not show the mass of the payload' in refusal(capsys)
    assert not out.exists()


def turning(robot: RobotModel, stamps: Array, joints: dict[int, float]) -> tuple[Array, ...]:
    """Return positions, velocities and efforts of an arm of which some joints turn [rad/s]."""
    q, v, a = (np.zeros((len(stamps), 6)) for _ in range(3))
    q[:] = [0.0, -1.0, 1.2, -0.5, 0.8, 0.3]
    for j, w in joints.items():
        q[:, j] += 0.6 * np.sin(w * stamps)
        v[:, j], a[:, j] = 0.6 * w * np.cos(w * stamps), -0.6 * w**2 * np.sin(w * stamps)
    noise = np.random.default_rng(0).normal(size=q.shape)
    return q, v, rnea_batch(robot, q, v, a) + 0.1 * noise


def test_three_joints_are_enough_and_those_at_rest_are_named(
    tmp_path: Path, arm: RobotModel, capsys: pytest.CaptureFixture[str]
) -> None:
    stamps = np.arange(4000) / 200.0
    log = SimulatedLog(stamps, *turning(arm.with_payload(TOOL), stamps, {1: 1.3, 2: 2.1, 4: 3.1}))
    bag, out = record(tmp_path / 'loaded', log, arm.v_names), tmp_path / 'out'
    rests = arm.v_names[0], arm.v_names[3], arm.v_names[5]
    # The log has no friction, unlike the URDF: the change is fitted.
    assert run(bag, '--output', out) == 0
    assert f'always at rest, not fitted: {", ".join(rests)}' in capsys.readouterr().out
    errors = report(out)['errors']['with_payload']
    assert [name for name, error in errors.items() if error is None] == list(rests)
    payload = written_payload(out)
    assert payload.mass == pytest.approx(TOOL.mass, rel=0.01)
    assert payload.com == pytest.approx(TOOL.com, abs=0.003)


def test_no_payload_and_contradictions_are_refused(
    tmp_path: Path, bags: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    unloaded, loaded = bags
    out = tmp_path / 'out'
    assert run(unloaded, '--unloaded', loaded, '--output', out) == 1
    assert 'the efforts show no payload: its mass would be -' in refusal(capsys)
    assert run(loaded, '--unloaded', unloaded, '--friction-file', FRICTION, '--output', out) == 1
    assert 'are of a known arm' in refusal(capsys)
    assert run(loaded, '--standstill', 50, '--output', out) == 1
    assert 'no joint is ever faster than 50 rad/s (--standstill)' in refusal(capsys)
    assert run(loaded, '--frame', 'hand', '--output', out) == 1
    assert "frame 'hand' is not in the model" in refusal(capsys)
    assert not out.exists()


def test_joints_that_contradict_each_other_show_no_payload(
    tmp_path: Path, arm: RobotModel, capsys: pytest.CaptureFixture[str]
) -> None:
    stamps = np.arange(4000) / 200.0
    motion = {1: 1.3, 2: 2.1, 4: 3.1}
    paths = []
    for sign in (np.ones(6), np.array([1.0, 1.0, 1.0, 1.0, -1.0, 1.0])):
        for robot in (arm, arm.with_payload(TOOL)):
            q, v, effort = turning(robot, stamps, motion)
            log = SimulatedLog(stamps, q, v, sign * effort)
            paths.append(record(tmp_path / f'log_{len(paths)}', log, arm.v_names))
    unloaded, loaded, turned, loaded_turned = paths
    out = tmp_path / 'out'
    for arguments in ((loaded_turned, '--unloaded', turned), (loaded_turned,)):
        assert run(*arguments, '--output', out) == 1
        assert 'the joints contradict each other' in refusal(capsys)
        assert not out.exists()
    assert run(loaded, '--unloaded', unloaded, '--output', out) == 0
    # The same two logs for the gains: the other sign is a gain of -1, no payload no gain.
    known = ('--known-mass', 2, '--known-com', 0.02, -0.03, 0.09, '--overwrite')
    capsys.readouterr()
    assert run(loaded, '--unloaded', loaded, '--output', out, *known) == 1
    assert 'the efforts show no gain of any joint' in refusal(capsys)
    assert run(unloaded, '--unloaded', loaded, '--output', out, *known) == 0
    assert 'all gains are negative' in capsys.readouterr().out


def test_known_payload_shows_the_gains_of_the_drives(
    tmp_path: Path, arm: RobotModel, capsys: pytest.CaptureFixture[str]
) -> None:
    gains = np.array([12.0, 14.0, 12.0, 16.0, 16.0, 15.0])  # [N m/A]
    weight = Payload(5.0, 'tool0', np.array([0.05, 0.03, 0.1]), np.diag([0.02, 0.02, 0.01]))
    paths = []
    for seed, robot in ((1, arm), (1, arm.with_payload(weight))):
        log = log_of(robot, seed)
        log = replace(log, effort=log.effort / gains)
        paths.append(record(tmp_path / f'log_{len(paths)}', log, arm.v_names))
    out = tmp_path / 'out'
    known = ('--known-mass', 5, '--known-com', 0.05, 0.03, 0.1)
    known = (*known, '--known-inertia', 0.02, 0, 0, 0.02, 0, 0.01)
    assert run(paths[1], '--output', out, *known) == 1
    assert 'need --known-mass, --known-com and --unloaded' in refusal(capsys)
    assert run(paths[1], '--unloaded', paths[0], '--output', out, *known) == 0
    assert 'for other commands: --effort-gain joint_1=' in capsys.readouterr().out
    found = list(report(out)['gains'].values())
    print(np.array(found) / gains, report(out)['deviation'])
    # Friction that the fit does not have is in the columns; without joints at rest little of it.
    assert found == pytest.approx(gains, rel=0.02)
