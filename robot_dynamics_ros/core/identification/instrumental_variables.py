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
Instrumental variables: a fit that noise in the regressor does not bias.

Instruments :math:`Z` follow the regressor :math:`Y` but not its noise. The fit asks that the
errors have nothing in common with them,

.. math:: Z^T W (\tau - Y \hat\beta) = 0, \qquad \hat\beta = (Z^T W Y)^{-1} Z^T W \tau

which is right for any noise in the efforts and for noise of the sensors in :math:`Y`. Noise alone
makes it wider: its covariance is that of the scores :math:`z_t e_t` over all lags (`covariance`).

The regressor of a motion without noise serves as instruments. The commanded motion is such a one,
at no cost; its errors are those of the controller, which friction and load make. In the IDIM-IV
method the motion is simulated, with the identified parameters under the robot's controller, so
that it follows the real one closely; simulation and fit are repeated until they settle.

References
----------
.. [1] A. Janot, P.-O. Vandanjon, M. Gautier, "A generic instrumental variable approach for
   industrial robot identification", IEEE Trans. Control Systems Technology 22(1), 2014.
.. [2] T. Soderstrom, P. Stoica, *Instrumental Variable Methods for System Identification*, 1983.

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.arrays import frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.covariance import (
    correlation_length,
    lagged_products,
    LAGS_PER_CORRELATION,
    LARGEST_LAG,
)
from robot_dynamics_ros.core.identification.regression_rows import RegressionRows

ROUNDS = 12
"""Of weights, and of simulations."""

SETTLED = 1e-3
"""Relative change of the weights that ends the rounds."""

SETTLED_PARAMETERS = 0.03
"""Change of the parameters between two simulations, in standard deviations, that ends them."""

LARGEST_CONDITION = 1e10


@dataclass(frozen=True, eq=False)
class InstrumentalFit:
    """
    A fit with instruments.

    Attributes
    ----------
    base : ndarray, shape (rank,)
        The parameters.
    covariance : ndarray, shape (rank, rank)
        Their covariance under correlated errors.
    spread : ndarray, shape (nv,)
        Standard deviation of the errors of each joint [N m | N].
    condition : float
        Of instruments times regressor, columns of both scaled to unit length.
    rounds : int
        How many simulations it took; 0 with given instruments.

    """

    base: Vector
    covariance: Matrix
    spread: Vector
    condition: float
    rounds: int = 0

    @property
    def deviation(self) -> Vector:
        """Return the standard deviation of each base parameter."""
        deviation: Vector = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return deviation


def instrumental_variables(
    rows: Sequence[RegressionRows], instruments: Sequence[RegressionRows]
) -> InstrumentalFit:
    """
    Fit with given instruments.

    Parameters
    ----------
    rows : sequence of RegressionRows
        Regressor and efforts of the log, in the order of time.
    instruments : sequence of RegressionRows
        The same rows with the regressor of another motion at the same times, through the same
        filter; their efforts are not looked at.

    Raises
    ------
    ConfigurationError
        If the instruments do not belong to the rows, or do not show all parameters.

    """
    check_instruments(rows, instruments)
    cross, wanted = _moments(rows, instruments)
    spread = np.ones(cross.shape[0])
    base, condition = np.zeros(cross.shape[2]), np.inf
    for _ in range(ROUNDS):
        weights = spread**-2.0
        base, condition = _solved(
            np.einsum('j,jpq->pq', weights, cross), np.einsum('j,jp->p', weights, wanted)
        )
        before, spread = spread, _spread(rows, base)
        if np.abs(spread / before - 1.0).max(initial=0.0) < SETTLED:
            break
    covariance = _covariance(rows, instruments, base, spread)
    return InstrumentalFit(frozen(base), frozen(covariance), frozen(spread), condition)


def simulated_instruments(
    rows: Sequence[RegressionRows],
    simulate: Callable[[Vector], Sequence[RegressionRows]],
    start: Vector,
) -> InstrumentalFit:
    """
    Fit with the motion of the simulated robot as instruments (IDIM-IV).

    Parameters
    ----------
    rows : sequence of RegressionRows
        Regressor and efforts of the log, in the order of time.
    simulate : callable
        From base parameters, shape (rank,), to the rows of the motion that a robot with them makes
        under the controller of the log, see `instrumental_variables`.
    start : ndarray, shape (rank,)
        Base parameters to begin with, such as those of the description.

    Raises
    ------
    ConfigurationError
        If the instruments do not belong to the rows or do not show all parameters, or the rounds
        do not settle.

    """
    base = start
    for count in range(1, ROUNDS + 1):
        fit = instrumental_variables(rows, simulate(base))
        change = np.abs(fit.base - base) / np.maximum(fit.deviation, 1e-300)
        base = fit.base
        if change.max(initial=0.0) < SETTLED_PARAMETERS:
            return InstrumentalFit(fit.base, fit.covariance, fit.spread, fit.condition, count)
    raise ConfigurationError(
        f'parameters of the simulated robot did not settle in {ROUNDS} rounds: the simulated '
        'controller is not that of the log'
    )


def check_instruments(
    rows: Sequence[RegressionRows], instruments: Sequence[RegressionRows]
) -> None:
    """
    Refuse instruments of other times or columns.

    Raises
    ------
    ConfigurationError
        If they do not belong to the rows.

    """
    shapes = [block.regressor.shape for block in rows], [b.regressor.shape for b in instruments]
    if shapes[0] != shapes[1] or any(
        not np.allclose(block.stamps, other.stamps, rtol=0.0, atol=1e-9)
        for block, other in zip(rows, instruments)
    ):
        raise ConfigurationError(
            'instruments are not of the same times and columns as the rows: filter and thin out '
            'the instruments as the log'
        )


def _moments(
    rows: Sequence[RegressionRows], instruments: Sequence[RegressionRows]
) -> tuple[Matrix, Matrix]:
    """Return for each joint instruments times regressor, and instruments times efforts."""
    cross, wanted = [], []
    for block, other in zip(rows, instruments):
        used = other.regressor * (block.use & other.use)[..., None]
        cross.append(np.matmul(used.transpose(1, 2, 0), block.regressor.transpose(1, 0, 2)))
        wanted.append(np.einsum('tjp,tj->jp', used, block.tau))
    return np.sum(cross, axis=0), np.sum(wanted, axis=0)


def _solved(cross: Matrix, wanted: Vector) -> tuple[Vector, float]:
    left = np.linalg.norm(cross, axis=1)
    right = np.linalg.norm(cross / np.maximum(left, 1e-300)[:, None], axis=0)
    condition = np.inf
    if left.all() and right.all():
        scaled = cross / np.outer(left, right)
        condition = float(np.linalg.cond(scaled))
    if not condition < LARGEST_CONDITION:
        raise ConfigurationError(
            'the instruments do not show all parameters; leave out those that the motion does not '
            f'excite (condition {condition:.3g})'
        )
    return np.linalg.solve(scaled, wanted / left) / right, condition


def _spread(rows: Sequence[RegressionRows], base: Vector) -> Vector:
    squares, counts = np.zeros(rows[0].tau.shape[1]), np.zeros(rows[0].tau.shape[1])
    for block in rows:
        errors = (block.tau - block.regressor @ base) * block.use
        squares += np.sum(errors**2, axis=0)
        counts += block.use.sum(axis=0)
    spread: Vector = np.sqrt(squares / np.maximum(counts, 1.0))
    return np.maximum(spread, 1e-12 * (1.0 + float(spread.max(initial=0.0))))


def _covariance(
    rows: Sequence[RegressionRows],
    instruments: Sequence[RegressionRows],
    base: Vector,
    spread: Vector,
) -> Matrix:
    weights = spread**-2.0
    cross, _ = _moments(rows, instruments)
    inverse = np.linalg.inv(np.einsum('j,jpq->pq', weights, cross))
    errors, scores = [], []
    for block, other in zip(rows, instruments):
        left = (block.tau - block.regressor @ base) * (block.use & other.use)
        errors.append(left / spread)
        scores.append(np.einsum('tj,tjp->tp', left * weights, other.regressor))
    together = np.concatenate(errors)
    count, rank = len(together), len(base)
    lag = correlation_length(together)
    reach = int(np.clip(LAGS_PER_CORRELATION * lag, 1, max(1, LARGEST_LAG * count)))
    summed = lagged_products(np.concatenate(scores), reach) * count / max(1, count - rank)
    covariance: Matrix = inverse @ summed @ inverse.T
    return covariance
