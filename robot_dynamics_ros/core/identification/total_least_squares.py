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
Total least squares: a fit that takes into account that the regressor has errors too.

Least squares takes the regressor as exact. Noise of positions is in it, and differentiated twice
it is large: it makes the coefficients too small (attenuation). With rows
:math:`[y_t\;\tau_t] = [\bar y_t\;\bar\tau_t] + \delta_t`, errors of covariance :math:`\Omega` and
:math:`\bar y_t^T \beta = \bar\tau_t`, the vector :math:`x = [\beta; -1]` is the solution of the
generalised eigenvalue problem with the smallest :math:`\lambda`,

.. math:: R^T R\, x = \lambda\, \Omega\, x

where `R` is the triangular factor of all rows, each divided by the standard deviation of its
joint's efforts (`triangular_factors`). It is solved as the largest eigenvalue of
:math:`R^{-T} \Omega R^{-1}`, so that columns without errors need no special care.

Without a known :math:`\Omega` the columns are equilibrated: scaled to unit length, with equal
errors in all. That is right only where errors are in proportion to the columns. `error_covariance`
finds :math:`\Omega` by adding the sensors' noise once more to the log: what the rows change by is
:math:`\delta_t`, whatever filter and differentiation lie between.

References
----------
.. [1] S. Van Huffel, J. Vandewalle, *The Total Least Squares Problem*, SIAM, 1991, chapters 2, 3
   and 10.
.. [2] M. Gautier, P. Vandanjon, C. Presse, "Identification of inertial and drive gain parameters
   of robots", IEEE CDC, 1994 (scaled total least squares for robots).

"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.linalg import solve_triangular

from robot_dynamics_ros.core.arrays import as_finite, frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.least_squares import (
    LinearFit,
    residual_spread,
    weighted_least_squares,
)
from robot_dynamics_ros.core.identification.regression_rows import RegressionRows
from robot_dynamics_ros.core.identification.triangular_factors import TriangularFactors

EXACT = 1e-12
"""Errors below this, relative to the efforts, leave nothing to correct."""

LARGEST_CONDITION = 1e12


def total_least_squares(
    factors: TriangularFactors, errors: Matrix | None = None, spread: Vector | None = None
) -> LinearFit:
    """
    Fit with errors in regressor and efforts.

    Parameters
    ----------
    factors : TriangularFactors
        All samples.
    errors : ndarray, shape (p + 1, p + 1), optional
        Covariance of the errors of a row of all joints under the weights, efforts last, as
        `error_covariance` gives it; any multiple serves. Equilibrated columns without it.
    spread : ndarray, shape (nv,), optional
        Standard deviation of each joint's efforts, one over its weight [N m | N]; that of
        weighted least squares by default.

    Returns
    -------
    fit : LinearFit
        ``spread`` are the errors of this fit, those that come with the regressor's included.

    Raises
    ------
    ConfigurationError
        If the samples do not show all parameters, or the errors are no covariance.
    DimensionError, NonFiniteError
        If `errors` or `spread` has another shape or is not finite.

    """
    linear = weighted_least_squares(factors)
    count = factors.n_parameters
    widths = linear.spread if spread is None else as_finite('spread', spread, linear.spread.shape)
    triangle, right = factors.stacked(1.0 / widths)
    whole = np.column_stack([triangle, right])
    scale = np.linalg.norm(whole, axis=0)
    if len(whole) < count or not scale[:-1].all() or not linear.condition < LARGEST_CONDITION:
        raise ConfigurationError(
            'total least squares needs samples that show all parameters; leave out those that '
            f'are not excited (condition {linear.condition:.3g})'
        )
    whole = whole / scale
    if len(whole) == count or abs(whole[-1, -1]) < EXACT:
        return linear
    omega = np.eye(count + 1)
    if errors is not None:
        omega = as_finite('errors', errors, (count + 1, count + 1)) / np.outer(scale, scale)
    direction = _smallest_direction(whole, omega)
    base = -(direction[:-1] / scale[:-1]) / (direction[-1] / scale[-1])
    return LinearFit(
        frozen(base), frozen(residual_spread(factors, base)), linear.condition, factors
    )


def error_covariance(
    rows: Sequence[RegressionRows],
    again: Iterable[Sequence[RegressionRows]],
    spread: Vector,
) -> Matrix:
    """
    Find the covariance of the errors of rows by adding the noise of the sensors once more.

    Parameters
    ----------
    rows : sequence of RegressionRows
        Made from the log.
    again : iterable of sequences of RegressionRows
        Made in the same way from the log with noise of the sensors added, once or several times.
    spread : ndarray, shape (nv,)
        Standard deviation of each joint's efforts, as for `total_least_squares`.

    Returns
    -------
    errors : ndarray, shape (p + 1, p + 1)
        Mean over rows of all joints, efforts last.

    Raises
    ------
    ConfigurationError
        If the rows do not belong together.

    """
    total: Matrix = np.zeros((0, 0))
    count = 0
    for noisy in again:
        if [len(block.stamps) for block in noisy] != [len(block.stamps) for block in rows]:
            raise ConfigurationError('rows with and without further noise differ in number')
        for block, other in zip(rows, noisy):
            change = np.concatenate(
                [other.regressor - block.regressor, (other.tau - block.tau)[..., None]], axis=2
            )
            use = block.use & other.use
            change = (change / spread[:, None])[use]
            total = (total if total.size else 0.0) + change.T @ change
            count += len(change)
    if not count:
        raise ConfigurationError('no rows with further noise were given')
    return total / count


def _smallest_direction(whole: Matrix, omega: Matrix) -> Vector:
    """Return `x` with the smallest ``|whole x|^2 / (x^T omega x)``."""
    half = solve_triangular(whole, omega.T, trans='T')
    ratio = solve_triangular(whole, half.T, trans='T')
    sizes, vectors = np.linalg.eigh(0.5 * (ratio + ratio.T))
    if not sizes[-1] > 0.0 or sizes[0] < -1e-9 * sizes[-1]:
        raise ConfigurationError('the covariance of the errors is not positive semidefinite')
    direction: Vector = np.asarray(solve_triangular(whole, vectors[:, -1]))
    return direction
