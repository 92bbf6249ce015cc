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
Fits for regressors that are noisy themselves: total least squares, instrumental variables.

Noise on the accelerations is noise in the columns of the inertias. Least squares then gives
parameters that are too small, by the share of the noise in the columns, however long the log.

Total least squares takes errors of the same size in all columns and in the efforts, after scaling,
and finds the smallest ones that make the system exact:

.. math:: [\beta; -1] \propto \text{right singular vector of } [Y D \;\; \tau / s]
          \text{ with the smallest singular value}

which is right only as far as the sizes `D` and `s` of the errors are.

Instrumental variables need no such sizes but a regressor `Z` of a motion without that noise, such
as the commanded or a simulated one. What the errors do not share with it cancels:

.. math:: \hat\beta = (Z^T W Y)^{-1} Z^T W \tau

References
----------
.. [1] G. H. Golub, C. F. Van Loan, "An analysis of the total least squares problem", SIAM J.
   Numer. Anal. 17(6), 1980.
.. [2] A. Janot, P.-O. Vandanjon, M. Gautier, "A generic instrumental variable approach for
   industrial robot identification", IEEE T-CST 22(1), 2014.

"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError, DimensionError
from robot_dynamics_ros.core.identification.regression_rows import RegressionRows
from robot_dynamics_ros.core.identification.triangular_factors import TriangularFactors

SINGULAR = 1e-12
"""Singular values below this times the largest make a fit impossible."""


def total_least_squares(
    factors: TriangularFactors, weights: Any, column_errors: Any, effort_error: float = 1.0
) -> Vector:
    """
    Fit with errors in the regressor as well as in the efforts.

    Parameters
    ----------
    factors : TriangularFactors
        The data.
    weights : array_like, shape (nv,)
        Weight of each joint, one over the standard deviation of its errors.
    column_errors : array_like, shape (n_parameters,)
        Standard deviation of the errors in each weighted column, above zero.
    effort_error : float
        That of the weighted efforts; 1 if `weights` are what they should be.

    Returns
    -------
    base : ndarray, shape (n_parameters,)
        The parameters.

    Raises
    ------
    DimensionError, NonFiniteError
        If an array has another shape or holds NaN.
    ConfigurationError
        If an error is not above zero, or the smallest singular value does not belong to one fit.

    """
    weights = as_finite('weights', weights, (len(factors.joints),))
    errors = as_finite('column errors', column_errors, (factors.n_parameters,))
    if not (errors > 0.0).all() or not effort_error > 0.0:
        raise ConfigurationError('errors of columns and efforts must be above zero')
    triangle, right = factors.stacked(weights)
    scaled = np.column_stack([triangle / errors, right / effort_error])
    _, sizes, turned = np.linalg.svd(scaled)
    last = turned[-1]
    count = factors.n_parameters
    if abs(last[-1]) < SINGULAR or (len(sizes) > count and sizes[-2] <= sizes[-1]):
        raise ConfigurationError('total least squares has no single fit to these data')
    base: Vector = -(last[:-1] / last[-1]) * effort_error / errors
    return base


def instrumental_variables(
    rows: Sequence[RegressionRows], instruments: Sequence[RegressionRows], weights: Any
) -> Vector:
    """
    Fit with a second regressor that does not share the noise of the first.

    Parameters
    ----------
    rows : sequence of RegressionRows
        The measured motion and efforts.
    instruments : sequence of RegressionRows
        The same samples of the commanded or simulated motion, filtered alike; its efforts are not
        looked at.
    weights : array_like, shape (nv,)
        Weight of each joint, one over the standard deviation of its errors.

    Returns
    -------
    base : ndarray, shape (rank,)
        The parameters.

    Raises
    ------
    DimensionError
        If the two have other samples or columns.
    NonFiniteError
        If a weight is not finite.
    ConfigurationError
        If the instruments do not show all parameters.

    """
    if [b.regressor.shape for b in rows] != [b.regressor.shape for b in instruments]:
        raise DimensionError('instruments', _shape(rows), _shape(instruments))
    _, nv, rank = rows[0].regressor.shape
    squares = as_finite('weights', weights, (nv,)) ** 2
    matrix, right = np.zeros((rank, rank)), np.zeros(rank)
    for block, instrument in zip(rows, instruments):
        weighted = instrument.regressor * (squares * block.use)[:, :, None]
        matrix += np.einsum('tjp,tjq->pq', weighted, block.regressor, optimize=True)
        right += np.einsum('tjp,tj->p', weighted, block.tau)
    scale = np.sqrt(np.maximum(np.abs(np.diag(matrix)), 1e-300))
    scaled = matrix / np.outer(scale, scale)
    sizes = np.linalg.svd(scaled, compute_uv=False)
    if sizes[-1] <= SINGULAR * sizes[0]:
        raise ConfigurationError('the instruments do not show all parameters')
    base: Vector = np.linalg.solve(scaled, right / scale) / scale
    return base


def _shape(rows: Sequence[RegressionRows]) -> tuple[int, ...]:
    """Return the shape of the stacked regressor."""
    count = sum(len(block.stamps) for block in rows)
    return (count, *rows[0].regressor.shape[1:]) if rows else (0,)
