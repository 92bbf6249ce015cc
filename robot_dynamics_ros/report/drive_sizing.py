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
What a motion asks of the drives of a robot, and of which terms that consists.

The peak torque has to be below the drive's and its gear's; the root mean square of the torque
warms the winding; the peak speed, times the gear ratio, is the motor's; the peak power, and the
energy of a cycle, size amplifier and supply. They are not reached at the same time, so each is
reported of its own.

"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.control.torque_terms import torque_terms, TorqueTerms
from robot_dynamics_ros.core.drive.demand import drive_demand, DriveDemand
from robot_dynamics_ros.core.drive.motor import Drives
from robot_dynamics_ros.core.exceptions import TrajectoryError
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.robot_model import require_single_joints, RobotModel
from robot_dynamics_ros.core.trajectory.sizing import sizing_metrics, SizingMetrics

METRICS = {
    'peak_torque': 'peak torque [N m]',
    'rms_torque': 'rms torque [N m]',
    'peak_velocity': 'peak speed [rad/s]',
    'peak_power': 'peak power [W]',
    'energy': 'energy [J]',
}
"""Fields of `SizingMetrics`, and their headers in tables; N and m/s for sliding joints."""


ELECTRICAL = {
    'peak_current': 'peak current [A]',
    'rms_current': 'rms current [A]',
    'peak_voltage': 'peak voltage [V]',
    'peak_power': 'peak power [W]',
    'drawn_energy': 'drawn energy [J]',
    'copper_loss': 'copper loss [J]',
}
"""Fields of `DriveDemand`, and their headers in tables."""


@dataclass(frozen=True, eq=False)
class DriveSizing:
    """
    The demands of one motion.

    Attributes
    ----------
    model : RobotModel
    t : ndarray, shape (n_samples,)
        Times [s].
    q, v, a : ndarray, shape (n_samples, nv)
        The motion [rad | m, and per s, and per s^2].
    terms : TorqueTerms
        Its torque [N m | N].
    total : SizingMetrics
        Metrics of the whole torque.
    by_term : dict of str to SizingMetrics
        Metrics of each term alone. They do not add up to those of the whole: peaks come at
        different times, and terms cancel.
    demand : DriveDemand or None
        Currents and voltages, where the drives are known.

    """

    model: RobotModel
    t: Vector
    q: Matrix
    v: Matrix
    a: Matrix
    terms: TorqueTerms
    total: SizingMetrics
    by_term: dict[str, SizingMetrics]
    demand: DriveDemand | None = None

    @property
    def effort_use(self) -> Vector:
        """Return the peak torque over the limit of each joint; nan where none is stated."""
        return self.total.peak_torque / self.model.limits.effort

    @property
    def velocity_use(self) -> Vector:
        """Return the peak speed over the limit of each joint; nan where none is stated."""
        return self.total.peak_velocity / self.model.limits.velocity

    @property
    def critical(self) -> int:
        """Return the index of the joint with the greatest peak torque: it sets the class."""
        return int(np.argmax(self.total.peak_torque))

    @property
    def most_used(self) -> int | None:
        """Return the index of the joint that is nearest to a limit, or most beyond one."""
        use = np.fmax(self.effort_use, self.velocity_use)
        return None if np.isnan(use).all() else int(np.nanargmax(use))

    def rows(self) -> list[list[Any]]:
        """Return one row for each joint: its name, the metrics, and the use of its limits."""
        columns = [getattr(self.total, key) for key in METRICS]
        return [
            [
                name,
                *(float(column[i]) for column in columns),
                _percent(self.effort_use[i]),
                _percent(self.velocity_use[i]),
            ]
            for i, name in enumerate(self.model.joint_names)
        ]

    def term_rows(self, metric: str) -> list[list[Any]]:
        """Return one row for each joint: its name, and one metric of each term and of all."""
        columns = [getattr(each, metric) for each in (*self.by_term.values(), self.total)]
        return [
            [name, *(float(column[i]) for column in columns)]
            for i, name in enumerate(self.model.joint_names)
        ]

    def electrical_rows(self) -> list[list[Any]]:
        """Return one row for each joint: its name, and the columns of `ELECTRICAL`."""
        if self.demand is None:
            return []
        columns = [getattr(self.demand, key) for key in ELECTRICAL]
        use = (self.demand.current_use, self.demand.voltage_use)
        return [
            [
                name,
                *(float(column[i]) for column in columns),
                *(_percent(each[i]) if each[i] else '-' for each in use),
            ]
            for i, name in enumerate(self.model.joint_names)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the metrics as plain values for JSON."""
        return {
            'joint_names': list(self.model.joint_names),
            'duration': float(self.t[-1] - self.t[0]),
            'samples': len(self.t),
            'total': _plain(self.total),
            'by_term': {name: _plain(metrics) for name, metrics in self.by_term.items()},
            'effort_limit': _known(self.model.limits.effort),
            'velocity_limit': _known(self.model.limits.velocity),
            'critical': self.model.joint_names[self.critical],
            'nearest_to_a_limit': None
            if self.most_used is None
            else self.model.joint_names[self.most_used],
            'electrical': None if self.demand is None else _electrical(self.demand),
        }


def drive_sizing(
    model: RobotModel,
    t: Vector,
    q: Matrix,
    v: Matrix,
    a: Matrix,
    friction: FrictionModel | None = None,
    drives: Drives | None = None,
) -> DriveSizing:
    """
    Compute what a sampled motion asks of the drives.

    Parameters
    ----------
    model : RobotModel
        Arm with joints of one coordinate.
    t : ndarray, shape (n_samples,)
        Increasing times [s].
    q, v, a : ndarray, shape (n_samples, nv)
        The motion [rad | m, and per s, and per s^2].
    friction : FrictionModel, optional
        Friction; none by default.
    drives : Drives, optional
        For currents and voltages. Their rotors have to be in the model, as its armature.

    Returns
    -------
    sizing : DriveSizing

    Raises
    ------
    DimensionError
        If shapes do not fit.
    ModelError
        If a joint has several coordinates.
    NonFiniteError
        If a number is not finite.
    TrajectoryError
        If there are fewer than two samples.

    """
    require_single_joints(model, 'sizing drives')
    if len(t) < 2:
        raise TrajectoryError('a motion of one sample has no duration; expected two or more')
    terms = torque_terms(model, q, v, a, friction)
    tau = terms.total
    by_term = {name: sizing_metrics(t, v, values) for name, values in terms._asdict().items()}
    demand = None if drives is None else drive_demand(drives, t, v, tau)
    return DriveSizing(model, t, q, v, a, terms, sizing_metrics(t, v, tau), by_term, demand)


def _electrical(demand: DriveDemand) -> dict[str, Any]:
    values: dict[str, Any] = {key: getattr(demand, key).tolist() for key in ELECTRICAL}
    return {
        **values,
        'current_use': demand.current_use.tolist(),
        'voltage_use': demand.voltage_use.tolist(),
        'critical': demand.critical_joint,
        'overloaded': list(demand.overloaded),
    }


def _plain(metrics: SizingMetrics) -> dict[str, list[float]]:
    return {key: getattr(metrics, key).tolist() for key in METRICS}


def _known(limits: Vector) -> list[float | None]:
    return [None if np.isnan(limit) else float(limit) for limit in limits]


def _percent(use: float) -> str:
    return '-' if np.isnan(use) else f'{100.0 * use:.0f} %'
