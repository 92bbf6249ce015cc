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
Linear fits: ordinary, weighted, and robust least squares.

.. math:: \hat\beta = \arg\min \sum_j w_j^2 \, \|Y_j \beta - \tau_j\|^2

Ordinary least squares takes equal weights, which let the heaviest joint decide. Weighted least
squares takes :math:`w_j = 1/\sigma_j` from the errors of the fit before, until they settle. The
robust fit gives each sample the weight of Huber's loss besides: errors beyond
:math:`c\,\sigma_j` count by their size instead of its square.

References
----------
.. [1] M. Gautier, "Dynamic identification of robots with power model", IEEE ICRA, 1997.
.. [2] P. J. Huber, E. M. Ronchetti, *Robust Statistics*, 2nd ed., 2009, chapter 7.
.. [3] P. J. Bickel, "One-step Huber estimates in the linear model", JASA 70(350), 1975.

"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.arrays import frozen, Matrix, Vector
from robot_dynamics_ros.core.identification.regression_rows import RegressionRows
from robot_dynamics_ros.core.identification.triangular_factors import TriangularFactors

HUBER = 1.345
"""Errors beyond so many standard deviations are damped: 95 % efficiency with normal errors."""

ROUNDS = 12
"""Of weights: they settle to a thousandth in three or four."""

SETTLED = 1e-3

SMALLEST_SPREAD = 1e-9
"""Of the errors, relative to the efforts: exact data have none, and weights must stay finite."""

ROUNDING = 1e-12
"""Singular values below this times the largest are taken as zero, with columns of unit length."""


@dataclass(frozen=True, eq=False)
class LinearFit:
    """
    A fit of the base parameters.

    Attributes
    ----------
    base : ndarray, shape (rank,)
        The parameters.
    spread : ndarray, shape (nv,)
        Standard deviation of the errors of each joint, parameters discounted [N m | N].
    condition : float
        Condition number of the weighted columns, scaled to unit length.
    factors : TriangularFactors
        What was fitted; of a robust fit, with the samples' weights in it.
    limit : ndarray, shape (nv,), or None
        Errors beyond it were damped; None where none were [N m | N].

    """

    base: Vector
    spread: Vector
    condition: float
    factors: TriangularFactors
    limit: Vector | None = None


def ordinary_least_squares(factors: TriangularFactors) -> LinearFit:
    """Fit with equal weights for all joints."""
    return _fitted(factors, np.ones(len(factors.joints)))


def weighted_least_squares(factors: TriangularFactors) -> LinearFit:
    """Fit with the weights of each joint from its own errors."""
    fit = ordinary_least_squares(factors)
    for _ in range(ROUNDS):
        before = fit.spread
        fit = _fitted(factors, 1.0 / before)
        if np.abs(fit.spread / before - 1.0).max(initial=0.0) < SETTLED:
            break
    return fit


def huber_least_squares(
    rows: Sequence[RegressionRows], factors: TriangularFactors, threshold: float = HUBER
) -> LinearFit:
    """
    Fit robustly, by weighted least squares with weights of single samples.

    Parameters
    ----------
    rows : sequence of RegressionRows
        All samples; they are gone through in every round.
    factors : TriangularFactors
        Those of the same samples, for the start.
    threshold : float
        Errors beyond so many standard deviations are damped.

    """
    fit = weighted_least_squares(factors)
    spread = _robust_spread(rows, fit.base)
    for _ in range(ROUNDS):
        damped = damped_factors(rows, fit, threshold * spread)
        before = spread
        fit = _fitted(damped, 1.0 / spread)
        spread = _robust_spread(rows, fit.base)
        if np.abs(spread / before - 1.0).max(initial=0.0) < SETTLED:
            break
    limit = frozen(threshold * spread)
    return LinearFit(fit.base, frozen(spread), fit.condition, fit.factors, limit)


def damped_factors(
    rows: Iterable[RegressionRows], fit: LinearFit, limit: Vector
) -> TriangularFactors:
    """Return the factors of rows under the weights of Huber's loss after a fit."""
    columns = [factor.columns for factor in fit.factors.joints]
    damped = TriangularFactors.empty(columns, fit.factors.n_parameters)
    for block in rows:
        weights = huber_weights(block.tau - block.regressor @ fit.base, limit)
        damped = damped.with_rows(block, np.sqrt(weights))
    return damped


def one_more_round(fit: LinearFit, damped: TriangularFactors) -> LinearFit:
    """
    Return a robust fit after one more round, over more samples than those that settled it.

    From a start that is as good as this, one round is as efficient as all of them [3]_.

    Parameters
    ----------
    fit : LinearFit
        A robust fit to some of the samples.
    damped : TriangularFactors
        `damped_factors` of all samples, after that fit.

    """
    more = _fitted(damped, 1.0 / fit.spread)
    return LinearFit(more.base, fit.spread, more.condition, damped, fit.limit)


def huber_weights(errors: Matrix, limit: Vector) -> Matrix:
    """Return the weights of Huber's loss: 1 up to `limit`, then falling with the error."""
    size = np.abs(errors)
    weights: Matrix = limit / np.maximum(size, limit)
    return weights


def solve_triangular_system(triangle: Matrix, right: Vector) -> tuple[Vector, float]:
    """
    Solve a stacked system by least squares, with columns scaled to unit length.

    Returns
    -------
    solution : ndarray, shape (p,)
        The shortest one (in scaled parameters) if there are several.
    condition : float
        Condition number of the scaled columns; infinite if they are dependent.

    """
    lengths = np.linalg.norm(triangle, axis=0)
    scale = np.where(lengths > 0.0, lengths, 1.0)
    left, sizes, turned = np.linalg.svd(triangle / scale, full_matrices=False)
    seen = sizes > ROUNDING * sizes.max(initial=0.0)
    inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=seen)
    solution: Vector = (turned.T @ (inverse * (left.T @ right))) / scale
    is_full = len(sizes) == triangle.shape[1] and bool(seen.all())
    return solution, float(sizes[0] / sizes[-1]) if is_full else np.inf


def residual_spread(factors: TriangularFactors, base: Vector) -> Vector:
    """Return the standard deviation of each joint's errors, parameters discounted evenly."""
    samples = factors.samples
    share = 1.0 - factors.n_parameters / max(1, int(samples.sum()))
    degrees = np.maximum(samples * max(share, 0.1), 1.0)
    spread = factors.residual_norms(base) / np.sqrt(degrees)
    floor = SMALLEST_SPREAD * factors.effort_norms() / np.sqrt(np.maximum(samples, 1))
    tiny = np.finfo(np.float64).tiny ** 0.5
    result: Vector = np.maximum(spread, np.maximum(floor, tiny))
    return result


def _fitted(factors: TriangularFactors, weights: Vector) -> LinearFit:
    triangle, right = factors.stacked(weights)
    base, condition = solve_triangular_system(triangle, right)
    return LinearFit(frozen(base), frozen(residual_spread(factors, base)), condition, factors)


def _robust_spread(rows: Sequence[RegressionRows], base: Vector) -> Vector:
    """Return the spread from the median of the absolute errors, which outliers do not move."""
    errors = [np.abs(block.tau - block.regressor @ base) for block in rows]
    use = np.concatenate([block.use for block in rows])
    stacked = np.where(use, np.concatenate(errors), np.nan)
    efforts = np.concatenate([block.tau for block in rows])
    floor = SMALLEST_SPREAD * np.sqrt(np.mean(efforts**2, axis=0)) + 1e-150
    return np.asarray(np.maximum(np.nanmedian(stacked, axis=0) / 0.6745, floor))
