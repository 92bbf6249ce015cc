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

"""What `identify` writes, taken as it is: other programs read it, and it tracks far better."""

from __future__ import annotations

import json
from pathlib import Path
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from identification_scenes import multisine, simulated_log
from robot_dynamics_ros.bags.writing import BagWriter
from robot_dynamics_ros.core.control.laws import InverseDynamicsLaw
from robot_dynamics_ros.core.drive.drive_file import read_drive_file
from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.description import Inertial
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf, read_urdf
from robot_dynamics_ros.core.model.urdf_source import read_source
from robot_dynamics_ros.core.model.urdf_writer import rewrite_urdf
from robot_dynamics_ros.core.model.xacro_source import expand_xacro
from robot_dynamics_ros.core.simulation.closed_loop import run_closed_loop, tracking_error
from robot_dynamics_ros.core.simulation.hardware import SimulatedHardware
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.resources import config_path, urdf_path
from robot_dynamics_ros.tools.cli import main

START = 1_700_000_000_000_000_000
ES5 = urdf_path('es5.urdf.xacro')
KP = np.array([1500.0, 1500.0, 1000.0, 100.0, 100.0, 60.0])


@pytest.fixture(scope='module')
def robot() -> RobotModel:
    """Return the arm as it is: every link heavier or lighter and out of balance, with rotors."""
    rng = np.random.default_rng(5)
    described = load_urdf(ES5)
    inertials = {}
    for link in described.description.links:
        if link.inertial is not None and link.inertial.mass > 0.0:
            factor = rng.uniform(0.7, 1.4)
            inertials[link.name] = Inertial(
                factor * link.inertial.mass,
                link.inertial.com + rng.uniform(-0.015, 0.015, 3),
                factor * link.inertial.inertia,
            )
    text = expand_xacro(read_source(Path(ES5)), {})
    drives = read_drive_file(config_path('es5_drives.yaml'), described.v_names)
    rotors = dict(zip(drives.joint_names, drives.reflected_inertia.tolist()))
    return load_urdf(rewrite_urdf(text, inertials=inertials), armature=rotors)


@pytest.fixture(scope='module')
def friction(robot: RobotModel) -> DryFriction:
    stated = FrictionModel.from_file(config_path('es5_friction.yaml'), robot.v_names)
    level = stated.coulomb_positive
    return DryFriction(robot.v_names, stated.viscous, level, level, np.array(1.05), np.array(0.05))


def largest_errors(
    robot: RobotModel, rubs: DryFriction, model: RobotModel, friction: FrictionModel | None
) -> np.ndarray:
    """Return the largest tracking error of each joint under feedforward of a model."""
    dt, periods = 2e-3, 5000
    q_ref, v_ref, a_ref = multisine(6, dt * np.arange(periods + 1), 77, 0.7, 0.6)
    law = InverseDynamicsLaw(
        model, 'pd_feedforward', gravity_compensated_by_hardware=False,
        kp=KP, kd=0.1 * KP, friction=friction,
    )  # fmt: skip
    hardware = SimulatedHardware(Plant(robot, rubs, q=q_ref[0]))
    record = run_closed_loop(
        hardware,
        lambda k, q, v: law.command(q, v, (q_ref[k], v_ref[k], a_ref[k])),
        dt=dt,
        periods=periods,
    )
    return np.asarray(tracking_error(record, q_ref).largest)


@pytest.fixture(scope='module')
def results(
    tmp_path_factory: pytest.TempPathFactory, robot: RobotModel, friction: DryFriction
) -> Path:
    """Return the folder that `identify` writes from a log of the arm."""
    log = simulated_log(robot, friction, 26.0, rate=250.0, size=0.9, is_compensated=True)
    noise = np.array([0.5, 0.5, 0.3, 0.1, 0.1, 0.05])
    log = log.with_noise(np.random.default_rng(1), 1e-5, 1e-3, noise)
    folder = tmp_path_factory.mktemp('identified')
    bag, out = folder / 'log', folder / 'out'
    with BagWriter(bag) as writer:
        for t, q, v, tau in zip(log.stamps, log.position, log.velocity, log.effort):
            stamp = START + round(float(t) * 1e9)
            writer.write_joint_state('/joint_states', stamp, robot.v_names, q, v, tau)
    arguments = ('identify', bag, '--urdf', ES5, '--output', out, '--train', '2:18')
    assert main([str(argument) for argument in arguments]) == 0
    return out


def test_feedforward_of_the_identified_model_errs_ten_times_less(
    results: Path, robot: RobotModel, friction: DryFriction
) -> None:
    report = json.loads((results / 'report.json').read_text(encoding='utf-8'))
    identified = load_urdf(results / 'identified.urdf', armature=report['armature'])
    described = load_urdf(ES5)
    before = largest_errors(
        robot, friction, described, FrictionModel.from_model(described)
        if described.friction.any() else None,
    )  # fmt: skip
    after = largest_errors(
        robot, friction, identified,
        FrictionModel.from_file(results / 'friction.yaml', robot.joint_names),
    )  # fmt: skip
    ratio = before.max() / after.max()
    print(f'largest errors [mrad]: {1e3 * before.round(4)}, then {1e3 * after.round(5)}: {ratio}')
    assert after.max() < 0.1 * before.max()


def test_description_is_read_alike_by_pinocchio_and_mujoco(results: Path) -> None:
    pinocchio = pytest.importorskip('pinocchio')
    mujoco = pytest.importorskip('mujoco')
    path = results / 'identified.urdf'
    ours = load_urdf(path)
    first = pinocchio.buildModelFromUrdf(str(path))
    work = first.createData()
    second = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(second)
    assert list(first.names)[1:] == list(ours.joint_names)
    assert [second.joint(k).name for k in range(second.njnt)] == list(ours.joint_names)
    # Both count the base, which does not move, apart.
    moving = sum(body.mass for body in list(first.inertias)[1:])
    assert moving == pytest.approx(ours.moving_mass, rel=1e-12)
    assert float(second.body_mass[1:].sum()) == pytest.approx(moving, rel=1e-9)
    for q in np.random.default_rng(0).uniform(-3.0, 3.0, (50, 6)):
        theirs = pinocchio.computeGeneralizedGravity(first, work, q)
        data.qpos[:] = q
        mujoco.mj_forward(second, data)
        size = 1e-9 * np.abs(theirs).max()  # MuJoCo turns tensors to their principal axes
        assert data.qfrc_bias == pytest.approx(theirs, abs=size)
        assert generalized_gravity(ours, q) == pytest.approx(theirs, abs=size)


def test_inspect_finds_no_error_in_the_description(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['inspect', str(results / 'identified.urdf')]) == 0
    printed = capsys.readouterr()
    assert not printed.err
    known = {finding.code for finding in read_urdf(ES5).findings}
    assert {finding.code for finding in read_urdf(results / 'identified.urdf').findings} <= known


def test_gazebo_takes_the_description(results: Path) -> None:
    for program in ('gz', 'ign'):
        if shutil.which(program) and sdf(program, '--versions').returncode == 0:
            break
    else:
        pytest.skip('the sdf parser of Gazebo is not installed')
    path = results / 'identified.urdf'
    assert sdf(program, '--check', str(path)).stdout.strip() == 'Valid.'
    model = ElementTree.fromstring(sdf(program, '-p', str(path)).stdout)
    masses = [float(str(element.text)) for element in model.iter('mass')]
    assert sum(masses) == pytest.approx(load_urdf(path).total_mass, rel=1e-9)


def sdf(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, 'sdf', *words], capture_output=True, text=True, timeout=60, check=False
    )
