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
Friction with a Stribeck velocity that is not known, by a bank of recursive fits.

The friction of a joint is linear in all but one of its parameters,

.. math:: r = y^T \phi + e\,c(v; v_S), \qquad
          c = \operatorname{sgn}(v)\,e^{-(v / v_S)^2}

with the static level `e` above the Coulomb level. Each Stribeck velocity :math:`v_k` of a grid has
a recursive fit of the linear ones in square-root form (`square_root_rls`, all information fades
alike), and a weight by how well it has foretold the rows,

.. math:: \ln w_k \leftarrow \ln w_k - \tfrac12\Bigl(\frac{z_k^2}{S_k} + \ln S_k\Bigr), \qquad
          S_k = \sigma^2 + \tilde y_k^T P_k\, \tilde y_k

with the error :math:`z_k` of its prediction and :math:`\tilde y_k = (y, c_k)`: the one that is not
linear is summed over, the others are integrated out (the multiple-model estimator of Magill).
What is foretold is the mean of all fits under their weights. That is again linear in `y` and all
:math:`c_k`, with the parameters :math:`(\sum_k w_k \phi_k,\; w_1 e_1,\; \ldots,\; w_K e_K)`.

A weight fades towards none, as information does, but only by rows that tell the velocities apart:
:math:`\ln w \leftarrow (1 - \max_k |c_k| / N) \ln w`. Where no slow motion shows the static level,
neither the weights nor the levels move, and the deviations of the levels stay bounded.

References
----------
.. [1] D. T. Magill, "Optimal adaptive estimation of sampled stochastic processes", IEEE Trans.
   Automatic Control 10(4), 1965.
.. [2] Y. Bar-Shalom, X. R. Li, T. Kirubarajan, *Estimation with Applications to Tracking and
   Navigation*, 2001, section 11.6.2 (the static multiple-model estimator, and its mean and
   covariance).
.. [3] B. Armstrong-Helouvry, P. Dupont, C. Canudas de Wit, "A survey of models, analysis tools
   and compensation methods for the control of machines with friction", Automatica 30, 1994.

"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.online.square_root_kernels import (
    back_substitute,
    fade,
    rotate_in,
)
from robot_dynamics_ros.core.identification.online.square_root_rls import information_root
from robot_dynamics_ros.core.jit import kernel, Quick

REMEMBERED_ROWS = 1000.0
"""`N`: rows at the static level after which weights count for a third."""

LEAST_LOG_WEIGHT = -30.0
"""Against the best: a velocity that was wrong long enough can still come back."""


class StribeckGrid:
    """
    Recursive fits of one joint's friction for several Stribeck velocities, and their weights.

    Parameters
    ----------
    estimate : ndarray, shape (p + 1,)
        To start from: the other terms, and the static level above the Coulomb level.
    covariance : ndarray, shape (p + 1, p + 1)
        Of the start; positive definite.
    widest : ndarray, shape (p + 1,)
        Standard deviations that forgetting does not lead beyond, more than 0.
    velocities : ndarray, shape (K,)
        The grid, a geometric row of at least two [rad/s | m/s].

    Attributes
    ----------
    count : int
        `K`.
    forgetting : float
        What of the information is kept when the next row comes, more than 0 and at most 1.
    seen : float
        Rows at the static level so far, each counted by its share of it.

    Raises
    ------
    ConfigurationError
        If a widest deviation is not positive, or the covariance is not positive definite.
    DimensionError, NonFiniteError
        If shapes do not agree or a number is not finite.

    """

    def __init__(
        self, estimate: Vector, covariance: Matrix, widest: Vector, velocities: Vector
    ) -> None:
        size, count = np.size(estimate), len(velocities)
        self.count = count
        self._widest = as_finite('widest', widest, (size,)).copy()
        if self._widest.min() <= 0.0:
            raise ConfigurationError('widest deviations: expected more than 0')
        self._log_velocities = np.log(velocities)
        self._cell = float(self._log_velocities[-1] - self._log_velocities[0]) / (count - 1)
        self._roots = np.zeros((count, size, size + 1))
        self._log_weights = np.zeros(count)
        self._weights = np.full(count, 1.0 / count)
        self._parts = np.zeros((3, size + 1))
        self._mean = np.zeros(size - 1 + count)
        self._squares = np.zeros(count)
        self._scale = np.concatenate([self._widest[:-1], np.full(count, self._widest[-1])])
        self._update = Quick(grid_update_kernel)
        self._combine = Quick(grid_mean_kernel)
        self._unsure = Quick(unsure_kernel)
        self.forgetting = 1.0
        self.seen = 0.0
        self._begin(estimate, covariance)
        self.update(np.zeros(len(self._mean)), 0.0, 1.0)  # compiles, and tells nothing
        self.unsure(np.zeros(count))

    def _begin(self, estimate: Vector, covariance: Matrix) -> None:
        """Begin all fits alike."""
        size = len(self._widest)
        estimate = as_finite('estimate', estimate, (size,)) / self._widest
        covariance = as_finite('covariance', covariance, (size, size))
        root = information_root(covariance / np.outer(self._widest, self._widest))
        self._roots[:, :, :size] = root
        self._roots[:, :, size] = root @ estimate
        self._log_weights[:] = 0.0
        self._average()

    def open(self, deviations: Vector) -> None:
        """Make every fit less certain by standard deviations, shape (p + 1,); weights stay."""
        size = len(self._widest)
        added = np.diag((deviations / self._widest) ** 2)
        for root in self._roots:
            estimate = solve_triangular(root[:, :size], root[:, size], check_finite=False)
            inverse = solve_triangular(root[:, :size], np.eye(size), check_finite=False)
            root[:, :size] = information_root(inverse @ inverse.T + added)
            root[:, size] = root[:, :size] @ estimate
        self._average()

    def update(self, row: Vector, value: float, deviation: float) -> None:
        """
        Take in one equation.

        Parameters
        ----------
        row : ndarray, shape (p + K,)
            Columns of the other terms, and of the static level for each velocity.
        value : float
            What was measured [N m | N].
        deviation : float
            Its standard deviation, more than 0.

        """
        self.seen += self._update.call(
            self._roots, self._log_weights, row, self._scale, value, deviation, self.forgetting,
            self._parts,
        )  # fmt: skip
        self._average()

    def _average(self) -> None:
        self._combine.call(
            self._roots, self._log_weights, self._weights, self._mean, self._squares, self._parts
        )

    @property
    def estimate(self) -> Vector:
        """Return the parameters of the mean of all fits, shape (p + K,)."""
        return np.asarray(self._mean * self._scale)

    def unsure(self, columns: Vector) -> float:
        """Return the deviation of what a row with these columns owes to the level [N m | N]."""
        return float(
            self._unsure.call(columns, float(self._widest[-1]), self._mean, self._squares)
        )

    @property
    def covariance(self) -> Matrix:
        """
        Return the covariance of the other terms and the level, shape (p + 1, p + 1).

        A velocity stands for all that are nearer to it than to the next one.

        """
        size = len(self._widest)
        fits = np.array([
            solve_triangular(root[:, :size], root[:, size], check_finite=False)
            for root in self._roots
        ])  # fmt: skip
        apart = fits - self._weights @ fits
        within = np.gradient(fits, self._log_velocities, axis=0) * (self._cell / np.sqrt(12.0))
        covariance = np.einsum('k,ki,kj->ij', self._weights, apart, apart)
        covariance += np.einsum('k,ki,kj->ij', self._weights, within, within)
        for weight, root in zip(self._weights.tolist(), self._roots):
            inverse = solve_triangular(root[:, :size], np.eye(size), check_finite=False)
            covariance += weight * (inverse @ inverse.T)
        return np.asarray(covariance * np.outer(self._widest, self._widest))

    @property
    def velocity(self) -> float:
        """Return the Stribeck velocity, the geometric mean under the weights [rad/s | m/s]."""
        return float(np.exp(self._weights @ self._log_velocities))

    @property
    def velocity_deviation(self) -> float:
        """Return its standard deviation [rad/s | m/s]."""
        mean = float(self._weights @ self._log_velocities)
        squares = float(self._weights @ (self._log_velocities - mean) ** 2)
        return self.velocity * float(np.sqrt(squares + self._cell**2 / 12.0))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return roots, right-hand sides and weights."""
        return {
            'roots': self._roots.copy(),
            'log_weights': self._log_weights.copy(),
            'seen': np.array(self.seen),
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """
        Go back to a state.

        Raises
        ------
        ConfigurationError
            If a root is not upper triangular with a full diagonal.
        DimensionError, NonFiniteError
            If shapes do not agree or a number is not finite.

        """
        roots = as_finite('roots', state.get('roots', ()), self._roots.shape)
        weights = as_finite('log_weights', state.get('log_weights', ()), self._log_weights.shape)
        seen = as_finite('seen', state.get('seen', ()), ())
        size = len(self._widest)
        if np.any(np.tril(roots[:, :, :size], -1) != 0.0) or np.any(
            np.diagonal(roots, axis1=1, axis2=2) == 0.0
        ):
            raise ConfigurationError('roots of the information: expected full triangles')
        self._roots[:] = roots
        self._log_weights[:] = weights
        self.seen = float(seen)
        self._average()


@kernel
def grid_update_kernel(
    roots: NDArray[np.float64],
    log_weights: Vector,
    row: Vector,
    scale: Vector,
    value: float,
    deviation: float,
    forgetting: float,
    parts: Matrix,
) -> float:
    """Weigh each fit by what it foretold, and take the row in; return its share of the level."""
    count, size = len(roots), roots.shape[1]
    work, image, solution = parts[0], parts[1, :size], parts[2, :size]
    for k in range(count):
        root = roots[k]
        back_substitute(root, solution)
        if forgetting < 1.0:
            fade(root, work, solution, forgetting)
        for i in range(size - 1):
            work[i] = row[i] * scale[i] / deviation
        work[size - 1] = row[size - 1 + k] * scale[size - 1 + k] / deviation
        work[size] = value / deviation
        error, variance = work[size], 1.0
        for i in range(size):  # y^T P y = |R^-T y|^2
            error -= work[i] * solution[i]
            total = work[i]
            for m in range(i):
                total -= root[m, i] * image[m]
            image[i] = total / root[i, i]
            variance += image[i] * image[i]
        log_weights[k] -= 0.5 * (error * error / variance + np.log(variance))
        rotate_in(root, work, 0)
    share = 0.0
    for k in range(count):
        share = max(share, abs(row[size - 1 + k]))
    for k in range(count):
        log_weights[k] *= 1.0 - share / REMEMBERED_ROWS
    return share


@kernel
def unsure_kernel(columns: Vector, scale: float, mean: Vector, squares: Vector) -> float:
    """Return the deviation of what a row owes to the level, within the fits and between them."""
    count = len(squares)
    first = len(mean) - count
    middle, square = 0.0, 0.0
    for k in range(count):
        part = columns[k] * scale
        middle += part * mean[first + k]
        square += part * part * squares[k]
    return float(np.sqrt(max(0.0, square - middle * middle)))


@kernel
def grid_mean_kernel(
    roots: NDArray[np.float64],
    log_weights: Vector,
    weights: Vector,
    mean: Vector,
    squares: Vector,
    parts: Matrix,
) -> None:
    """Write the weights, the mean of all fits, and the mean squares of their levels."""
    count, size = len(roots), roots.shape[1]
    solution = parts[2, :size]
    best = log_weights[0]
    for k in range(count):
        best = max(best, log_weights[k])
    total = 0.0
    for k in range(count):
        log_weights[k] = max(log_weights[k] - best, LEAST_LOG_WEIGHT)
        weights[k] = np.exp(log_weights[k])
        total += weights[k]
    mean[:] = 0.0
    for k in range(count):
        weights[k] /= total
        back_substitute(roots[k], solution)
        for i in range(size - 1):
            mean[i] += weights[k] * solution[i]
        level = solution[size - 1]
        mean[size - 1 + k] = weights[k] * level
        last = roots[k, size - 1, size - 1]
        squares[k] = weights[k] * (level * level + 1.0 / (last * last))
