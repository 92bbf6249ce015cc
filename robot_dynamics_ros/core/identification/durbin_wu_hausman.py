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
The Durbin-Wu-Hausman test: whether noise in the regressor biases least squares.

The part of the regressor that instruments do not explain,
:math:`V = Y - Z (Z^T W Z)^{-1} Z^T W Y`, is its noise. If that has nothing in common with the
errors of the efforts, least squares is not biased, and :math:`\gamma = 0` in

.. math:: \tau = Y \beta + V \gamma + e .

The Wald statistic of :math:`\gamma`, with its covariance under correlated errors, is then
distributed as :math:`\chi^2` with as many degrees of freedom as :math:`\gamma` has entries.

References
----------
.. [1] J. A. Hausman, "Specification tests in econometrics", Econometrica 46(6), 1978.
.. [2] A. Janot, P.-O. Vandanjon, M. Gautier, "An instrumental variable approach for rigid
   industrial robots identification", Control Engineering Practice 25, 2014 (the test for robots).

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.identification.covariance import base_covariance
from robot_dynamics_ros.core.identification.instrumental_variables import check_instruments
from robot_dynamics_ros.core.identification.least_squares import (
    LinearFit,
    weighted_least_squares,
)
from robot_dynamics_ros.core.identification.regression_rows import RegressionRows
from robot_dynamics_ros.core.identification.triangular_factors import accumulated

NOISY = 1e-6
"""Columns whose noise is below this part of them are taken as free of it."""


@dataclass(frozen=True)
class DurbinWuHausman:
    """
    Outcome of the test.

    Attributes
    ----------
    statistic : float
    degrees : int
        Of freedom.
    p_value : float
        Probability of a statistic at least as large if least squares is not biased.

    """

    statistic: float
    degrees: int
    p_value: float


def durbin_wu_hausman(
    rows: Sequence[RegressionRows], instruments: Sequence[RegressionRows], fit: LinearFit
) -> DurbinWuHausman:
    """
    Test whether a fit by least squares is biased by noise in the regressor.

    Parameters
    ----------
    rows : sequence of RegressionRows
        What was fitted.
    instruments : sequence of RegressionRows
        As for `instrumental_variables`.
    fit : LinearFit
        The fit, for its weights.

    Raises
    ------
    ConfigurationError
        If the instruments do not belong to the rows.

    """
    check_instruments(rows, instruments)
    noise = _unexplained(rows, instruments, fit)
    sizes = np.sqrt(sum(np.sum(part**2, axis=(0, 1)) for part in noise))
    columns = np.sqrt(sum(np.sum(block.regressor**2, axis=(0, 1)) for block in rows))
    noisy = np.flatnonzero(sizes > NOISY * columns)
    if not len(noisy):
        return DurbinWuHausman(0.0, 0, 1.0)
    larger = [
        RegressionRows(
            block.stamps,
            np.concatenate([block.regressor, part[:, :, noisy]], axis=2),
            block.tau,
            block.use,
        )
        for block, part in zip(rows, noise)
    ]
    rank = len(fit.base)
    every = np.arange(rank + len(noisy), dtype=np.intp)
    both = weighted_least_squares(accumulated(larger, len(fit.spread) * [every], len(every)))
    covariance = base_covariance(larger, both).matrix[rank:, rank:]
    gamma = both.base[rank:]
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    seen = values > 1e-9 * values[-1]
    turned = vectors[:, seen].T @ (gamma / scale)
    statistic = float(np.sum(turned**2 / values[seen]))
    degrees = int(seen.sum())
    return DurbinWuHausman(statistic, degrees, float(chi2.sf(statistic, degrees)))


def _unexplained(
    rows: Sequence[RegressionRows], instruments: Sequence[RegressionRows], fit: LinearFit
) -> list[Matrix]:
    """Return what is left of the regressor after its projection on the instruments."""
    rank = len(fit.base)
    own, cross = np.zeros((2, rank, rank))
    for block, other in zip(rows, instruments):
        use = ((block.use & other.use) / fit.spread)[..., None]
        known = (other.regressor * use).reshape(-1, rank)
        own += known.T @ known
        cross += known.T @ (block.regressor * use).reshape(-1, rank)
    scale = np.sqrt(np.maximum(np.diag(own), 1e-300))
    solved = np.linalg.pinv(own / np.outer(scale, scale), rcond=1e-12) @ (cross / scale[:, None])
    map_ = solved / scale[:, None]
    return [block.regressor - other.regressor @ map_ for block, other in zip(rows, instruments)]
