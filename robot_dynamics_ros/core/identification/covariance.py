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
How well the base parameters are known: covariance under correlated errors.

With weights :math:`w_j` and errors :math:`e_j` the fit has

.. math:: \hat\beta - \beta = H^{-1} \sum_t s_t, \qquad
          s_t = \sum_j w_j^2 \, y_{tj} \, e_{tj}, \qquad H = \sum_{t,j} w_j^2 y_{tj} y_{tj}^T

If the errors were independent, :math:`H^{-1}` would be the covariance. They are not: a filter
correlates noise over a period of its cutoff, and what the model lacks stays for as long as the
motion does, so that :math:`H^{-1}` may be too small by ten or a hundred. The covariance
:math:`H^{-1} M H^{-1}` counts the products of scores over lags up to :math:`L`,

.. math:: M = \frac{n}{n - p} \sum_{|l| < L} k(l / L) \sum_t s_t s_{t+l}^T

with Parzen's weights `k`, which keep it positive semidefinite. It takes into account that errors
of different joints go together. Of a robust fit, errors are damped in the scores, and `H` counts
the samples that are not damped.

References
----------
.. [1] W. K. Newey, K. D. West, "A simple, positive semi-definite, heteroskedasticity and
   autocorrelation consistent covariance matrix", Econometrica 55(3), 1987.
.. [2] D. W. K. Andrews, "Heteroskedasticity and autocorrelation consistent covariance matrix
   estimation", Econometrica 59(3), 1991 (the choice of weights and lags).

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from robot_dynamics_ros.core.arrays import frozen, Matrix, Vector
from robot_dynamics_ros.core.identification.least_squares import LinearFit
from robot_dynamics_ros.core.identification.regression_rows import RegressionRows
from robot_dynamics_ros.core.identification.triangular_factors import (
    accumulated,
    TriangularFactors,
)

CORRELATED = 0.1
"""Errors count as independent from the lag on where their correlation falls below this."""

TWO_SIDED_95 = 1.96
"""Half width of a 95 % interval in standard deviations."""

LAGS_PER_CORRELATION = 6.0
"""Lags that are looked at, in times of correlation: Parzen's weights fall to a half at 0.3 L."""

LARGEST_LAG = 0.1
"""Of the number of samples: products over longer lags are noise."""


@dataclass(frozen=True, eq=False)
class BaseCovariance:
    """
    Uncertainty of a linear fit.

    Attributes
    ----------
    matrix : ndarray, shape (rank, rank)
        Covariance of the base parameters.
    correlation_time : float
        Time over which the errors are correlated [s].
    inflation : float
        Variance of the parameters relative to that under independent errors, geometric mean: how
        many samples count as one.

    """

    matrix: Matrix
    correlation_time: float
    inflation: float

    @property
    def deviation(self) -> Vector:
        """Return the standard deviation of each base parameter."""
        deviation: Vector = np.sqrt(np.maximum(np.diag(self.matrix), 0.0))
        return deviation


def base_covariance(rows: Sequence[RegressionRows], fit: LinearFit) -> BaseCovariance:
    """
    Estimate the covariance of a linear fit from its errors.

    Parameters
    ----------
    rows : sequence of RegressionRows
        What was fitted, in the order of time and with even steps.
    fit : LinearFit
        The fit; a parameter that the rows do not show has variance zero here.

    """
    errors = np.concatenate([(b.tau - b.regressor @ fit.base) * b.use for b in rows])
    if fit.limit is not None:
        errors = np.clip(errors, -fit.limit, fit.limit)
    stamps = np.concatenate([block.stamps for block in rows])
    weights = 1.0 / fit.spread
    scores = np.concatenate(
        [
            np.einsum('tj,tjp->tp', part * weights**2, block.regressor)
            for part, block in zip(np.split(errors, _ends(rows)), rows)
        ]
    )
    triangle, _ = _curvature(rows, fit).stacked(weights)
    lengths = np.linalg.norm(triangle, axis=0)
    scale = np.where(lengths > 0.0, lengths, 1.0)
    inverse = np.linalg.pinv(triangle / scale, rcond=1e-12)
    independent = inverse @ inverse.T
    count, rank = scores.shape
    lag = correlation_length(errors * weights)
    reach = int(np.clip(LAGS_PER_CORRELATION * lag, 1, max(1, LARGEST_LAG * count)))
    summed = lagged_products(scores / scale, reach) * count / max(1, count - rank)
    scaled = independent @ summed @ independent
    ratio = np.diag(scaled) / np.maximum(np.diag(independent), 1e-300)
    seen = ratio > 0.0
    inflation = float(np.exp(np.mean(np.log(ratio[seen])))) if seen.any() else 1.0
    step = float(np.median(np.diff(stamps))) if count > 1 else 0.0
    return BaseCovariance(frozen(scaled / np.outer(scale, scale)), lag * step, inflation)


def correlation_length(errors: Matrix) -> float:
    """
    Return over how many samples errors are correlated, all joints together.

    Parameters
    ----------
    errors : ndarray, shape (n, nv)
        Errors in the order of time.

    """
    count = len(errors)
    size = next_fast_len(2 * count)
    spectrum = np.abs(rfft(errors, size, axis=0)) ** 2
    products = irfft(spectrum.sum(axis=1), size)[: max(2, count // 2)]
    if products[0] <= 0.0:
        return 1.0
    small = np.flatnonzero(np.abs(products / products[0]) < CORRELATED)
    return float(max(1, small[0] if len(small) else len(products)))


def parzen(ratio: Vector) -> Vector:
    """Return Parzen's weight at lags from 0 to 1 times the largest."""
    x = np.abs(ratio)
    near = 1.0 - 6.0 * x**2 + 6.0 * x**3
    weights: Vector = np.where(x <= 0.5, near, 2.0 * np.maximum(1.0 - x, 0.0) ** 3)
    return weights


def _curvature(rows: Sequence[RegressionRows], fit: LinearFit) -> TriangularFactors:
    """Return the factors of the samples whose errors are not damped."""
    if fit.limit is None:
        return fit.factors
    limit, kept = fit.limit, []
    for block in rows:
        inside = np.abs(block.tau - block.regressor @ fit.base) <= limit
        kept.append(RegressionRows(block.stamps, block.regressor, block.tau, block.use & inside))
    columns = [factor.columns for factor in fit.factors.joints]
    return accumulated(kept, columns, fit.factors.n_parameters)


def lagged_products(scores: Matrix, reach: int) -> Matrix:
    """Return the sum over lags of the weighted products of scores."""
    total = scores.T @ scores
    for lag in range(1, reach):
        product = scores[:-lag].T @ scores[lag:]
        total += parzen(np.array(lag / reach)) * (product + product.T)
    return np.asarray(total)


def _ends(rows: Sequence[RegressionRows]) -> list[int]:
    """Return where one block ends and the next begins, in all rows."""
    return [int(end) for end in np.cumsum([len(block.stamps) for block in rows])[:-1]]
