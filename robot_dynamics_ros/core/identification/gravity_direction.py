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

r"""
Where gravity points in the base frame, from the efforts.

A robot on a wall or a ceiling obeys the same equations with another gravity. The efforts are
linear in it, but it multiplies the first moments, which are unknown too. So the direction is
searched: each candidate leaves some error after a plain fit of everything else, and the one with
the smallest error is the direction. First the axes of the base are compared, then the best one is
refined on the sphere.

The direction about which nothing is known from efforts at all is a turn about the first axis of
an arm whose first axis is along gravity: there is none.

References
----------
.. [1] J. A. Nelder, R. Mead, "A simplex method for function minimization", Computer Journal 7(4),
   1965.
.. [2] G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least
   squares problems whose variables separate", SIAM J. Numer. Anal. 10(2), 1973.

"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.identification.identification_model import identification_model
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.joint_samples import JointSamples
from robot_dynamics_ros.core.identification.least_squares import weighted_least_squares
from robot_dynamics_ros.core.identification.regression_rows import regression_rows
from robot_dynamics_ros.core.identification.triangular_factors import accumulated
from robot_dynamics_ros.core.model.robot_model import RobotModel

MOST_SAMPLES = 1500
"""With which directions are compared."""

STANDARD = 9.81
"""Size of gravity where the robot has none [m/s^2]."""

PRECISION = 1e-3
"""Of the direction, with which the search ends [rad]."""

WORTHWHILE = 0.7
"""Constant efforts are taken into the search if errors fall below this part with them."""


def gravity_errors(
    robot: RobotModel, samples: Sequence[JointSamples], *, offset: bool = True
) -> dict[tuple[float, ...], float]:
    """
    Fit under each axis of the base as the direction of gravity.

    Parameters
    ----------
    robot : RobotModel
        The robot, with the gravity that is believed.
    samples : sequence of JointSamples
        Filtered motion and efforts.
    offset : bool
        Whether each joint may have a constant effort; without it the bias of a sensor would look
        like gravity from elsewhere.

    Returns
    -------
    errors : dict of tuple of float to float
        Relative error of a plain fit for each gravity, the robot's own first.

    Raises
    ------
    ModelError
        If a joint has several coordinates.
    DimensionError, NonFiniteError
        If the samples do not suit the robot.

    """
    thin = _thinned(samples)
    given = tuple(float(value) for value in robot.gravity)
    size = float(np.linalg.norm(given)) or STANDARD
    errors = {given: _error_under(robot, thin, np.array(given), offset)}
    for axis in range(3):
        for sign in (-1.0, 1.0):
            gravity = np.zeros(3)
            gravity[axis] = sign * size
            if np.linalg.norm(gravity - given) > 1e-9:
                key = tuple(float(value) for value in gravity)
                errors[key] = _error_under(robot, thin, gravity, offset)
    return errors


def gravity_direction(robot: RobotModel, samples: Sequence[JointSamples]) -> Vector:
    """
    Estimate gravity in the base frame.

    Parameters
    ----------
    robot : RobotModel
        The robot; the size of its gravity is kept.
    samples : sequence of JointSamples
        Filtered motion and efforts.

    Returns
    -------
    gravity : ndarray, shape (3,)
        Expressed in the base frame [m/s^2].

    Raises
    ------
    ModelError
        If a joint has several coordinates.
    DimensionError, NonFiniteError
        If the samples do not suit the robot.

    """
    # Without constant efforts the direction is sharper, unless there are some.
    thin = _thinned(samples)
    sharp, free = (_searched(robot, thin, offset=offset) for offset in (False, True))
    errors = [_error_under(robot, thin, sharp, False), _error_under(robot, thin, free, True)]
    return free if errors[1] < WORTHWHILE * errors[0] else sharp


def _searched(robot: RobotModel, thin: Sequence[JointSamples], *, offset: bool) -> Vector:
    """Return the direction with the smallest error, from the best axis of the base on."""
    errors = gravity_errors(robot, thin, offset=offset)
    start = np.array(min(errors, key=lambda gravity: errors[gravity]))
    size = float(np.linalg.norm(start))
    # Two directions across the start, and steps along them on the sphere.
    across = np.linalg.svd(start[None, :])[2][1:]

    def gravity_at(angles: Vector) -> Vector:
        turned = start / size + angles @ across
        result: Vector = size * turned / np.linalg.norm(turned)
        return result

    found = minimize(
        lambda angles: _error_under(robot, thin, gravity_at(angles), offset),
        np.zeros(2),
        method='Nelder-Mead',
        options={
            'initial_simplex': np.array([[0.0, 0.0], [0.3, 0.0], [0.0, 0.3]]),
            'xatol': PRECISION,
            'fatol': 1e-9,
            'maxfev': 150,
        },
    )
    return gravity_at(found.x)


def _thinned(samples: Sequence[JointSamples]) -> list[JointSamples]:
    step = max(1, sum(len(part.stamps) for part in samples) // MOST_SAMPLES)
    return [part.picked(slice(None, None, step)) for part in samples]


def _error_under(
    robot: RobotModel, samples: Sequence[JointSamples], gravity: Vector, offset: bool
) -> float:
    """Return the relative error of a plain fit."""
    structure = ModelStructure(rotor_inertia=False, offset=offset)
    model = identification_model(robot.with_gravity(gravity), structure)
    rows = [block for part in samples for block in regression_rows(model, part, None)]
    factors = accumulated(rows, model.columns_of_joint, model.base.rank)
    base = weighted_least_squares(factors).base
    efforts = float(np.linalg.norm(factors.effort_norms()))
    return float(np.linalg.norm(factors.residual_norms(base))) / max(efforts, 1e-300)
