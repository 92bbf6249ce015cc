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
from typing import Any

import numpy as np
import pytest
import yaml

from identification_scenes import dry_friction, simulated_log, SimulatedLog
from robot_dynamics_ros.core.dynamics import rnea
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.tools.cli import main

ARM = """<?xml version="1.0" encoding="iso-8859-1"?>
<robot name="arm"><!-- kept -->
  <link name="base"/>
  <link name="l1"><inertial><origin xyz="0.25 0.05 0.1"/><mass value="{mass}"/>
    <inertia ixx="0.02" iyy="0.06" izz="0.05" ixy="0" ixz="0.001" iyz="0"/></inertial></link>
  <link name="l2"><inertial><origin xyz="0.2 0.0 0.02"/><mass value="2.0"/>
    <inertia ixx="0.01" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0.001"/></inertial></link>
  <link name="tool"><inertial><mass value="0.3"/>
    <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="l1"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="100" velocity="5"/></joint>
  <joint name="elbow" type="revolute"><parent link="l1"/><child link="l2"/>
    <origin xyz="0.5 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="50" velocity="5"/></joint>
  <joint name="flange" type="fixed"><parent link="l2"/><child link="tool"/>
    <origin xyz="0.4 0 0"/></joint>
</robot>"""
JOINTS = ('shoulder', 'elbow')


@pytest.fixture(scope='module')
def log(tmp_path_factory: pytest.TempPathFactory) -> SimulatedLog:
    """Return a log of the arm with a heavier first link and friction that rises at rest."""
    robot = load_urdf(ARM.format(mass=3.5))
    friction = dry_friction(robot, np.array([1.5, 0.8]), np.array([2.0, 1.0]), 1.3)
    exact = simulated_log(robot, friction, 18.0, rate=250.0, size=1.2).part(2.0, 99.0)
    return exact.with_noise(np.random.default_rng(0), 1e-5, 1e-3, np.array([0.5, 0.2]))


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    path = tmp_path / 'arm.urdf'
    path.write_bytes(ARM.format(mass=3.0).replace('kept', 'gehört dazu').encode('iso-8859-1'))
    return path


def record(path: Path, log: SimulatedLog, sign: float = 1.0, *, effort: bool = True) -> Path:
    return log.record(path, JOINTS, sign, effort=effort)


def run(*arguments: object) -> int:
    return main(['identify', *map(str, arguments)])


def report(folder: Path) -> dict[str, Any]:
    content = json.loads((folder / 'report.json').read_text())
    assert isinstance(content, dict)
    return content


def test_simulated_bag_gives_a_verified_model(
    tmp_path: Path, urdf: Path, log: SimulatedLog, capsys: pytest.CaptureFixture[str]
) -> None:
    bag, out = record(tmp_path / 'log', log), tmp_path / 'out'
    code = run(bag, '--urdf', urdf, '--output', out, '--train', '0:11', '--formulas')
    printed = capsys.readouterr()
    assert code == 0, printed.err
    assert printed.out.startswith('FIT FOR USE: every check passed\n')
    assert 'parameters that efforts determine' in printed.out
    assert 'l1/hx + 0.5 l2/m' in printed.out
    names = sorted(entry.name for entry in out.iterdir())
    assert names == [
        'friction.yaml', 'identified.urdf', 'node_parameters.yaml', 'plots', 'report.html',
        'report.json',
    ]  # fmt: skip
    assert 'may be used' in (out / 'report.html').read_text(encoding='utf-8')
    found = report(out)
    assert found['verdict']['is_fit']
    errors = found['errors']['held_out']
    assert errors['identified']['filtered']['relative'] < 0.03
    assert errors['description']['filtered']['relative'] > 0.1
    assert [part['stop'] for part in found['training']] == pytest.approx([11.0], abs=0.01)
    assert found['held_out'][0]['start'] == pytest.approx(11.0, abs=0.01)
    # The torque that holds the first joint is that of the real arm, 3 % off at most.
    text = (out / 'identified.urdf').read_text(encoding='utf-8')
    assert 'gehört dazu' in text
    identified, truth = load_urdf(out / 'identified.urdf'), load_urdf(ARM.format(mass=3.5))
    assert identified.total_mass == pytest.approx(truth.total_mass, rel=0.2)
    friction = FrictionModel.from_file(out / 'friction.yaml', JOINTS)
    v = np.array([0.8, -0.8])
    expected = np.array([1.5, 0.8]) * v + np.array([2.0, 1.0]) * np.sign(v)
    assert friction.torque(v) == pytest.approx(expected, rel=0.1)
    assert identified.damping == pytest.approx([1.5, 0.8], rel=0.2)
    assert found['base_parameters'][0]['formula'].startswith('l1/')
    assert 'files' in errors


def test_nodes_take_the_written_files_with_their_rotors(tmp_path: Path, urdf: Path) -> None:
    rotors = {'shoulder': 0.0, 'elbow': 0.4}
    truth = load_urdf(ARM.format(mass=3.5), armature=rotors)
    friction = dry_friction(truth, np.array([1.5, 0.8]), np.array([2.0, 1.0]))
    log = simulated_log(truth, friction, 16.0, rate=250.0, size=1.2).part(2.0, 99.0)
    out = tmp_path / 'out'
    bag = record(tmp_path / 'log', log)
    quick = ('--friction', 'coulomb', '--prior-weight', 1)
    assert run(bag, '--urdf', urdf, '--output', out, *quick) == 0
    named = yaml.safe_load((out / 'node_parameters.yaml').read_text(encoding='utf-8'))
    values = named['/**']['ros__parameters']
    assert values['joints'] == list(JOINTS)
    assert values['gravity'] == [0.0, 0.0, -9.81]
    assert values['armature'] == [report(out)['armature'][joint] for joint in JOINTS]
    assert all(isinstance(value, float) for value in values['armature'])
    # As a node makes its model of them.
    armature = dict(zip(values['joints'], values['armature']))
    model = load_urdf(out / 'identified.urdf', gravity=values['gravity'], armature=armature)
    law = FrictionModel.from_file(out / 'friction.yaml', model.v_names)
    q, v, a = log.position[2000], log.velocity[2000], np.array([3.0, -5.0])
    expected = rnea(truth, q, v, a) + np.array([1.5, 0.8]) * v + np.array([2.0, 1.0]) * np.sign(v)
    # The elbow turns its own 0.6 kg m^2 and the rotor: without the latter it would lack 2 N m.
    assert rnea(model, q, v, a) + law.torque(v) == pytest.approx(expected, rel=0.05, abs=0.1)


def test_log_does_not_verify_what_it_has_taught(
    tmp_path: Path, urdf: Path, log: SimulatedLog, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = record(tmp_path / 'log', log.part(0.0, 4.0))
    (tmp_path / 'other').symlink_to(bag)
    for arguments in ((bag, '--test', bag), (bag, '--test', tmp_path / 'other'), (bag, bag)):
        assert run(*arguments, '--urdf', urdf, '--output', tmp_path / 'out') == 1
        error = capsys.readouterr().err
        assert 'the same log twice' in error
        assert len(error.strip().splitlines()) == 1


def test_names_with_hyphens_leave_a_marked_description_readable(
    tmp_path: Path, log: SimulatedLog
) -> None:
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM.format(mass=3.0).replace('"elbow"', '"el---bow"'), encoding='iso-8859-1')
    table = np.column_stack([log.stamps, log.position, log.velocity, -log.effort])
    fields = ('position', 'velocity', 'effort')
    header = ','.join(['time', *(f'{f}_{j}' for f in fields for j in ('shoulder', 'el---bow'))])
    np.savetxt(tmp_path / 'log.csv', table, delimiter=',', header=header, comments='')
    quick = ('--friction', 'coulomb', '--prior-weight', 10, '--force')
    assert run(tmp_path / 'log.csv', '--urdf', path, '--output', tmp_path / 'out', *quick) == 0
    marked = tmp_path / 'out' / 'identified.urdf'
    assert 'UNFIT' in marked.read_text(encoding='utf-8')
    assert load_urdf(marked).joint_names == ('shoulder', 'el---bow')


def test_refused_model_is_not_written_unless_forced_and_then_marked(
    tmp_path: Path, urdf: Path, log: SimulatedLog, capsys: pytest.CaptureFixture[str]
) -> None:
    bag, out = record(tmp_path / 'log', log, -1.0), tmp_path / 'out'
    arguments = (bag, '--urdf', urdf, '--output', out, '--friction', 'coulomb')
    assert run(*arguments, '--prior-weight', 10) == 1
    printed = capsys.readouterr()
    assert printed.out.startswith('UNFIT: ')
    assert 'no model is written' in printed.err
    assert 'opposite sign' in printed.err
    assert len(printed.err.strip().splitlines()) == 1
    names = sorted(entry.name for entry in out.iterdir())
    assert names == ['plots', 'report.html', 'report.json']
    assert 'Do not use this model' in (out / 'report.html').read_text(encoding='utf-8')
    assert not report(out)['verdict']['is_fit']
    assert run(*arguments, '--prior-weight', 10, '--force', '--overwrite') == 0
    assert 'UNFIT' in (out / 'identified.urdf').read_text(encoding='utf-8')
    assert '# UNFIT' in (out / 'friction.yaml').read_text(encoding='utf-8')
    load_urdf(out / 'identified.urdf')
    FrictionModel.from_file(out / 'friction.yaml', JOINTS)


def test_another_bag_verifies(
    tmp_path: Path, urdf: Path, log: SimulatedLog, capsys: pytest.CaptureFixture[str]
) -> None:
    first = record(tmp_path / 'first', log.part(0.0, 12.0))
    other = record(tmp_path / 'other', log.part(12.0, 99.0))
    out = tmp_path / 'out'
    code = run(first, '--urdf', urdf, '--output', out, '--test', other, '--friction', 'coulomb')
    assert code == 0, capsys.readouterr().err
    found = report(out)
    assert found['held_out'][0]['bag'] == str(other)
    assert found['training'][0]['samples'] == len(log.part(0.0, 12.0).stamps)


def test_what_cannot_be_used_is_one_line(
    tmp_path: Path, urdf: Path, log: SimulatedLog, capsys: pytest.CaptureFixture[str]
) -> None:
    short = log.part(0.0, 4.0)
    bag = record(tmp_path / 'log', short)
    silent = record(tmp_path / 'silent', short, effort=False)
    out = tmp_path / 'out'
    for arguments, reason in (
        ((bag, '--train', '0:99'), 'nothing is left to verify with'),
        ((bag, '--train', '9:10'), 'has 0 samples to fit (--train)'),
        ((silent,), 'has no effort'),
        ((bag, '--test', 'rest', silent), '--test takes either logs or "rest"'),
        ((bag, '--couple', 'shoulder:wrist'), 'expected two of shoulder, elbow'),
        ((bag, '--cutoff', '200'), 'cutoff 200 Hz is not between 0 and'),
        ((bag, '--standstill', '99'), "no effort of joint 'shoulder' in the training data"),
    ):
        assert run(*arguments, '--urdf', urdf, '--output', out) == 1
        error = capsys.readouterr().err
        assert reason in error
        assert len(error.strip().splitlines()) == 1
        assert not out.exists()
    for wrong in (
        ('--train', '5'),
        ('--train', '5:2'),
        ('--couple', 'one'),
        ('--couple', 'a:b:0'),
    ):
        with pytest.raises(SystemExit):
            run(bag, '--urdf', urdf, '--output', out, *wrong)
