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
What an identification found, read back from its report, to go on from.

The report holds numbers and the structure that they belong to, not the robot. The robot is given,
and the combinations of its parameters that efforts determine must be those of the report: so
values of one robot are never used for another one, nor for the same one with other joints.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError, RobotDynamicsError
from robot_dynamics_ros.core.identification.identification_model import (
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.joint_columns import Coupling, ModelStructure
from robot_dynamics_ros.core.model.robot_model import RobotModel

LEAST_OF_ERROR, LEAST_OF_EFFORT = 0.2, 0.005
"""Least normal error of a joint: parts of its error on held-out data, and of its effort."""


@dataclass(frozen=True, eq=False)
class OfflineResult:
    """
    An identification that is over.

    Attributes
    ----------
    model : IdentificationModel
        What was fitted, on the robot that was given.
    parameters : ndarray, shape (p,)
        All parameters, of the physically consistent fit.
    base : ndarray, shape (rank,)
        The combinations that efforts determine.
    covariance : ndarray, shape (rank, rank)
        Of these.
    spread : ndarray, shape (nv,)
        Standard deviation of the errors of each joint [N m | N]; where there was hardly any noise,
        as in a simulation, what other motion will show all the same.
    correlation_time : float
        Over which those errors are correlated [s].
    inflation : float
        Variance of the parameters relative to that under independent errors.
    prior_weight : float
        Of the description in the consistent fit.
    cutoff, motion_cutoff : float
        Of the filter of both sides, and of that of the motion before [Hz].
    effort_delay : float
        By which efforts were moved back [s].
    joint_errors : ndarray, shape (nv,)
        Relative error of each joint, both sides filtered.
    relative_error : float
        Of all joints.
    is_held_out : bool
        Whether the errors are those on data that the fit did not see.
    is_fit : bool
        Whether the verdict was that the model may be used.

    """

    model: IdentificationModel
    parameters: Vector
    base: Vector
    covariance: Matrix
    spread: Vector
    correlation_time: float
    inflation: float
    prior_weight: float
    cutoff: float
    motion_cutoff: float
    effort_delay: float
    joint_errors: Vector
    relative_error: float
    is_held_out: bool
    is_fit: bool


def read_offline_result(path: str | Path, robot: RobotModel) -> OfflineResult:
    """
    Read ``report.json`` of ``robot_dynamics identify``.

    Parameters
    ----------
    path : str or Path
        The file.
    robot : RobotModel
        The robot that was identified, with the same moving joints, without payload.

    Raises
    ------
    ConfigurationError
        If the file cannot be read, lacks something or belongs to another robot; one line with the
        file.

    """
    try:
        report = json.loads(Path(path).read_text(encoding='utf-8'))
        return _result(report, robot)
    except OSError as error:
        raise ConfigurationError(f'{path} cannot be read: {error.strerror}') from error
    except KeyError as error:
        raise ConfigurationError(
            f"{path} has no entry '{error.args[0]}': it is no report.json of robot_dynamics "
            'identify, or one of another version; identify anew'
        ) from error
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigurationError(f'{path} is no report of an identification: {error}') from error
    except RobotDynamicsError as error:
        raise ConfigurationError(f'{path}: {error}') from error


def _result(report: Mapping[str, Any], robot: RobotModel) -> OfflineResult:
    model = _model(report, robot)
    rank, nv = model.base.rank, robot.nv
    named = {entry['name']: entry['value'] for entry in report['parameters']}
    errors = report['errors']
    is_held_out = bool(errors['held_out'])
    measure = errors['held_out']['identified']['filtered'] if is_held_out else errors['training']
    covariance = as_finite('base_covariance', report['base_covariance'], (rank, rank))
    fit = report['fit']
    return OfflineResult(
        model=model,
        parameters=frozen(np.array([named[name] for name in model.names], dtype=float)),
        base=_numbers('base parameters', [e['value'] for e in report['base_parameters']], rank),
        covariance=frozen(0.5 * (covariance + covariance.T)),
        spread=np.maximum(
            _numbers(
                'error deviations', [fit['error_deviation'][name] for name in robot.v_names], nv
            ),
            _least_errors(measure['joints'], nv),
        ),
        correlation_time=float(fit['correlation_time']),
        inflation=float(fit['variance_inflation']),
        prior_weight=float(report['prior']['weight']),
        cutoff=float(report['filter']['cutoff']),
        motion_cutoff=float(report['filter']['motion_cutoff']),
        effort_delay=float(fit['effort_delay']['corrected']),
        joint_errors=_numbers(
            'joint errors', [joint['relative'] for joint in measure['joints']], nv
        ),
        relative_error=float(measure['relative']),
        is_held_out=is_held_out,
        is_fit=bool(report['verdict']['is_fit']),
    )


def _least_errors(joints: Sequence[Mapping[str, Any]], nv: int) -> Vector:
    """Return the errors below which no joint stays in every motion, shape (nv,) [N m | N]."""
    errors = _numbers('errors', [joint['rmse'] for joint in joints], nv)
    relative = _numbers('joint errors', [joint['relative'] for joint in joints], nv)
    efforts = np.divide(errors, relative, out=np.zeros(nv), where=relative > 0.0)
    return np.maximum(LEAST_OF_ERROR * errors, LEAST_OF_EFFORT * efforts)


def _model(report: Mapping[str, Any], robot: RobotModel) -> IdentificationModel:
    """
    Make the model of the report for the robot.

    Raises
    ------
    ConfigurationError
        If the report is of another one.

    """
    joints = tuple(report['joint_names'])
    if joints != tuple(robot.v_names):
        raise ConfigurationError(
            f'it is of a robot with the joints {", ".join(joints)}, '
            f'this one has {", ".join(robot.v_names)}'
        )
    if report['filter']['cutoff'] is None:
        raise ConfigurationError('it was made without a filter; identify with --cutoff')
    given = dict(report['structure'])
    structure = ModelStructure(
        given['friction'],
        bool(given['offset']),
        bool(given['rotor_inertia']),
        tuple(Coupling(**coupling) for coupling in given['couplings']),
    )
    velocities = tuple(given['smoothing_velocities'][name] for name in joints)
    model = identification_model(robot, structure, velocities)
    formulas = [entry['formula'] for entry in report['base_parameters']]
    ours = model.base.formulas()
    if len(formulas) != len(ours) or not all(map(_is_same, formulas, ours)):
        raise ConfigurationError(
            f"it is of another robot than '{robot.name}': its efforts determine "
            f'{len(formulas)} combinations of parameters, not these {model.base.rank}'
        )
    return model


def _is_same(one: str, other: str) -> bool:
    """Return whether two formulas say the same, up to the rounding of their numbers."""
    parts, others = one.split(), other.split()
    return len(parts) == len(others) and all(
        mine == yours or _are_close(mine, yours) for mine, yours in zip(parts, others)
    )


def _are_close(one: str, other: str) -> bool:
    try:
        return bool(np.isclose(float(one), float(other), rtol=1e-4, atol=0.0))
    except ValueError:
        return False


def _numbers(name: str, values: Any, size: int) -> Vector:
    filled = [0.0 if value is None else value for value in values]
    return frozen(np.array(as_finite(name, filled, (size,))))
