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
What estimation while the robot moves starts from: parameters, how sure they are, size of errors.

After an identification these are its result and covariance. Without one they are what the
description says, with deviations that leave everything open: a parameter of this size would
explain all efforts by itself,

.. math:: s_k = \frac{\|W \tau\|}{\|W Y_k\|}

over random states, with the weights :math:`W` of the joints' errors.

Errors of rows next to each other are alike (`covariance`), so that many of them count as one. That
number, the inflation, belongs to the start: rows come in with deviations that are larger by its
root, so that deviations of estimates are honest.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.base_parameters import random_positions
from robot_dynamics_ros.core.identification.identification import Identification
from robot_dynamics_ros.core.identification.identification_model import IdentificationModel
from robot_dynamics_ros.core.identification.offline_result import OfflineResult

STATES = 300
"""Random states over which columns are measured."""

SPEED = 1.0
"""Of random states [rad/s | m/s]; their accelerations are about as large [rad/s^2 | m/s^2]."""

UNKNOWN_SPREAD = 0.05
"""Errors where nothing is known of them, as a part of the efforts."""

UNKNOWN_INFLATION = 10.0
"""Rows that count as one where nothing is known of it."""

SMALLEST_DEVIATION = 1e-3
"""Least deviation of a start, as a part of the one that leaves everything open."""


@dataclass(frozen=True, eq=False)
class OnlineStart:
    """
    Where the trackers begin.

    Attributes
    ----------
    model : IdentificationModel
        What is estimated.
    base : ndarray, shape (rank,)
        Base parameters.
    covariance : ndarray, shape (rank, rank)
        Theirs; positive definite.
    open_deviations : ndarray, shape (rank,)
        Deviations that leave everything open.
    spread : ndarray, shape (nv,)
        Deviation of the errors of each joint's rows [N m | N].
    inflation : float
        Rows that count as one, at least 1.

    Raises
    ------
    ConfigurationError
        If a spread is not positive, or the inflation less than 1.
    DimensionError, NonFiniteError
        If shapes do not agree or a number is not finite.

    """

    model: IdentificationModel
    base: Vector
    covariance: Matrix
    open_deviations: Vector
    spread: Vector
    inflation: float = 1.0

    def __post_init__(self) -> None:
        rank, nv = self.model.base.rank, self.model.robot.nv
        shapes = {
            'base': (rank,), 'covariance': (rank, rank), 'open_deviations': (rank,),
            'spread': (nv,),
        }  # fmt: skip
        for name, shape in shapes.items():
            object.__setattr__(self, name, frozen(as_finite(name, getattr(self, name), shape)))
        _check_errors(self.spread, self.inflation)

    @property
    def row_deviations(self) -> Vector:
        """Return the deviation with which a row of each joint counts, shape (nv,)."""
        return np.asarray(self.spread * np.sqrt(self.inflation))


def start_of_identification(found: Identification) -> OnlineStart:
    """
    Return the start after an identification: its consistent fit and covariance.

    What its data did not show is left open.

    """
    return _start(
        found.model, found.consistent.base, found.covariance.matrix, found.linear.spread,
        found.covariance.inflation,
    )  # fmt: skip


def start_of_result(result: OfflineResult) -> OnlineStart:
    """Return the start after an identification that was read back; otherwise the same."""
    return _start(result.model, result.base, result.covariance, result.spread, result.inflation)


def _start(
    model: IdentificationModel, base: Vector, matrix: Matrix, spread: Vector, inflation: float
) -> OnlineStart:
    wide = open_deviations(model, spread)
    covariance = np.array(matrix)
    least = SMALLEST_DEVIATION * wide
    unseen = np.diag(covariance) <= 0.0
    covariance[np.diag_indices_from(covariance)] += np.where(unseen, wide, least) ** 2
    return OnlineStart(model, base, covariance, wide, spread, max(1.0, inflation))


def start_of_description(
    model: IdentificationModel,
    spread: Vector | None = None,
    inflation: float = UNKNOWN_INFLATION,
) -> OnlineStart:
    """
    Return the start where nothing was identified: the description, and everything open.

    Parameters
    ----------
    model : IdentificationModel
        Whose robot is the description.
    spread : ndarray, shape (nv,), optional
        Deviation of the errors of each joint [N m | N]; `UNKNOWN_SPREAD` of its efforts in random
        states by default.
    inflation : float
        Rows that count as one.

    Raises
    ------
    ConfigurationError
        If a spread is not positive, or the inflation less than 1.
    DimensionError, NonFiniteError
        If there is not one finite spread for each joint.

    """
    if spread is None:
        efforts = random_rows(model) @ model.base.to_base(model.prior)
        size = np.sqrt(np.mean(efforts**2, axis=0))
        spread = UNKNOWN_SPREAD * np.maximum(size, 0.01 * size.max(initial=1e-3))
    spread = as_finite('spread', spread, (model.robot.nv,))
    _check_errors(spread, inflation)
    wide = open_deviations(model, spread)
    return OnlineStart(
        model, model.base.to_base(model.prior), np.diag(wide**2), wide, spread, inflation
    )


def _check_errors(spread: Vector, inflation: float) -> None:
    """
    Refuse rows without errors.

    Raises
    ------
    ConfigurationError
        If a spread is not positive, or the inflation less than 1.

    """
    if spread.min(initial=1.0) <= 0.0 or not 1.0 <= inflation < np.inf:
        raise ConfigurationError(
            f'spread of the errors is {spread.tolist()} and their inflation {inflation}, '
            'expected more than 0 and at least 1'
        )


def open_deviations(model: IdentificationModel, spread: Vector) -> Vector:
    """Return deviations of base parameters that leave everything open, shape (rank,)."""
    rows = random_rows(model) / np.asarray(spread)[:, None]
    efforts = np.linalg.norm(rows @ model.base.to_base(model.prior))
    lengths = np.sqrt(np.sum(rows**2, axis=(0, 1)))
    return np.asarray(max(float(efforts), 1e-9) / np.maximum(lengths, 1e-300))


def random_rows(model: IdentificationModel) -> Matrix:
    """Return the regressor of random states, shape (n_states, nv, rank)."""
    rng = np.random.default_rng(0)
    q = random_positions(model.robot, STATES, rng)
    v, a = SPEED * rng.normal(size=(2, STATES, model.robot.nv))
    return model.regressor(q, v, a)
