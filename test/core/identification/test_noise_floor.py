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

"""
How near to the noise floor an identification of the ES5 comes, with assumed sensors and friction.

The floor is the error on held-out data that is left with the true bodies and rotors and friction
of the same form, fitted to the same training data.

"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
import pytest

from identification_scenes import multisine
from robot_dynamics_ros.core.control.laws import InverseDynamicsLaw
from robot_dynamics_ros.core.drive.drive_file import read_drive_file
from robot_dynamics_ros.core.drive.sensor_file import SensorSettings
from robot_dynamics_ros.core.drive.sensors import JointSensors
from robot_dynamics_ros.core.dynamics import dynamic_parameters
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.identification.identification import (
    Identification,
    IdentificationOptions,
    identify,
    JointRecord,
    prepared_record,
)
from robot_dynamics_ros.core.identification.joint_samples import joint_samples
from robot_dynamics_ros.core.identification.least_squares import huber_least_squares
from robot_dynamics_ros.core.identification.regression_rows import regression_rows, RegressionRows
from robot_dynamics_ros.core.identification.triangular_factors import accumulated
from robot_dynamics_ros.core.identification.verdict import measured_agreement
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.closed_loop import run_closed_loop
from robot_dynamics_ros.core.simulation.hardware import SimulatedHardware
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.resources import config_path, urdf_path

Array = NDArray[np.float64]
ES5 = urdf_path('es5.urdf.xacro')
KP = np.array([1500.0, 1500.0, 1000.0, 100.0, 100.0, 60.0])
DT = 2e-3
DELAY = 1.5 * DT  # an effort is that of the last step, and comes a sample late


@pytest.fixture(scope='module')
def robot() -> RobotModel:
    names = load_urdf(ES5).v_names
    drives = read_drive_file(config_path('es5_drives.yaml'), names)
    return load_urdf(ES5, armature=dict(zip(names, drives.reflected_inertia.tolist())))


def sensed_log(robot: RobotModel, seed: int, duration: float) -> JointRecord:
    """Return what the sensors of an arm report that follows a motion."""
    names = robot.v_names
    friction = DryFriction.from_file(config_path('es5_friction.yaml'), names)
    ahead = FrictionModel.from_file(config_path('es5_friction.yaml'), names)
    settings = SensorSettings.from_file(config_path('es5_sensors.yaml'), names)
    periods = round(duration / DT)
    q, v, a = multisine(6, DT * np.arange(periods + 1), seed, 0.9, 1.0)
    law = InverseDynamicsLaw(
        robot, 'pd_feedforward', gravity_compensated_by_hardware=False,
        kp=KP, kd=0.05 * KP, friction=ahead,
    )  # fmt: skip
    hardware = SimulatedHardware(
        Plant(robot, friction, q=q[0]),
        sensors=JointSensors(settings, np.random.default_rng(seed)),
    )
    record = run_closed_loop(
        hardware, lambda k, x, w: law.command(x, w, (q[k], v[k], a[k])), dt=DT, periods=periods
    )
    part = np.isfinite(record.stamp) & (record.t > 2.0)
    return JointRecord(
        'log', record.stamp[part], record.measured_q[part], record.measured_v[part],
        record.measured_tau[part],
    )  # fmt: skip


def rows_of(found: Identification, record: JointRecord) -> list[RegressionRows]:
    moved = prepared_record(found.model.robot, record, found.options.effort_delay)
    samples = joint_samples(
        moved.stamps, moved.position, moved.velocity, moved.effort, found.cutoffs.motion_cutoff
    )
    return list(regression_rows(found.model, samples, found.cutoffs.cutoff))


def error_of_the_truth(
    found: Identification, robot: RobotModel, training: JointRecord, held_out: JointRecord
) -> float:
    """Return the held-out error of the true arm with friction that is fitted."""
    model = found.model
    n = model.n_inertial
    true = np.zeros(len(model.names))
    true[:n] = dynamic_parameters(robot)
    for k, term in enumerate(model.terms, start=n):
        if term.kind == 'rotor_inertia':
            true[k] = robot.armature[term.weights[0][0]]
    known = model.base.to_base(true)
    fitted = np.array([
        k for k, column in enumerate(model.base.independent)
        if column >= n and model.terms[column - n].kind != 'rotor_inertia'
    ])  # fmt: skip
    columns = [np.flatnonzero(np.isin(fitted, each)) for each in model.columns_of_joint]

    def rest(record: JointRecord) -> list[RegressionRows]:
        return [
            RegressionRows(b.stamps, b.regressor[:, :, fitted], b.tau - b.regressor @ known, b.use)
            for b in rows_of(found, record)
        ]

    rows = rest(training)
    friction = huber_least_squares(rows, accumulated(rows, columns, len(fitted))).base
    base = known.copy()
    base[fitted] += friction
    judged = rows_of(found, held_out)
    measured = np.concatenate([block.tau for block in judged])
    predicted = np.concatenate([block.regressor @ base for block in judged])
    use = np.concatenate([block.use for block in judged])
    relative = measured_agreement(model.robot.v_names, measured, predicted, use).relative
    assert relative is not None
    return relative


def test_held_out_error_is_near_the_noise_floor(robot: RobotModel) -> None:
    described = load_urdf(ES5, xacro_args={'inertia_set': 'es5_cylinder'})
    training, held_out = sensed_log(robot, 1, 22.0), sensed_log(robot, 2, 12.0)
    options = IdentificationOptions(effort_delay=DELAY)
    found = identify(described, [training], [held_out], options)
    identified = found.held_out['identified']['filtered']
    floor = error_of_the_truth(found, robot, training, held_out)
    described_error = found.held_out['description']['filtered'].relative
    assert identified.relative is not None
    print(f'{identified.relative:.4f}, floor {floor:.4f}, description {described_error:.4f}')
    assert identified.relative < 1.2 * floor
