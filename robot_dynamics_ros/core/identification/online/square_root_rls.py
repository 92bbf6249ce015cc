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
Recursive least squares that forgets only along what is seen anew, and only up to a bound.

Kept is the square root `R` of the information (the inverse covariance),
:math:`P^{-1} = R^T R`, upper triangular, and :math:`z` with :math:`R \hat\beta = z`. Before the
row :math:`y^T \beta = t` comes in, the information along it fades,

.. math:: P^{-1} \leftarrow P^{-1} - (1 - \lambda)
          \frac{P^{-1} y\, y^T P^{-1}}{y^T P^{-1} y}
          \quad\Leftrightarrow\quad
          P \leftarrow P + \mu\, y\, y^T, \quad
          \mu = \frac{1 - \lambda}{\lambda\; y^T P^{-1} y}

In square roots :math:`R \leftarrow (I - (1 - \sqrt\lambda)\, b\, b^T) R` with the unit vector
:math:`b` along `R y`, and the same for `z`, which leaves the estimate where it is. Rotations that
turn `b` into the first axis make this the first row times :math:`\sqrt\lambda`; more rotations
make the root triangular again. Then :math:`[y^T \; t]` is turned into `[R z]`.

What is not excited is not forgotten, so that the covariance cannot wind up, however long the robot
does the same thing. Rows that say little, as those of slow motion, would still make the
covariance large along themselves; so it may grow only up to a bound: with parameters in units of
their widest deviations, :math:`y^T P y + \mu (y^T y)^2 \le y^T y`.

Directions that are seen little, beside others that are seen much, are hardly forgotten that way,
which is right for many parameters and wrong for a few that all change. For these all information
can fade alike, towards that of the widest deviations around the present estimate,

.. math:: P^{-1} \leftarrow \lambda P^{-1} + (1 - \lambda)\,E

which bounds the covariance as well [5]_.

References
----------
.. [1] L. Cao, H. Schwartz, "A directional forgetting algorithm based on the decomposition of the
   information matrix", Automatica 36(11), 2000.
.. [2] B. Lai, D. S. Bernstein, "SIFt-RLS: subspace of information forgetting recursive least
   squares", 2024 (the same for blocks of rows, with the bounds).
.. [3] G. J. Bierman, *Factorization Methods for Discrete Sequential Estimation*, 1977, chapter V.
.. [4] G. H. Golub, C. F. Van Loan, *Matrix Computations*, 4th ed., 2013, section 6.5.1 (rotations
   for an update of rank one).
.. [5] M. E. Salgado, G. C. Goodwin, R. H. Middleton, "Modified least squares algorithm
   incorporating exponential resetting and forgetting", Int. J. Control 47(2), 1988.

"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from robot_dynamics_ros.core.arrays import as_finite, as_matrix, as_vector, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.online.square_root_kernels import (
    back_substitution_kernel,
    fading_update_kernel,
    images_kernel,
    square_root_update_kernel,
)
from robot_dynamics_ros.core.jit import Quick


class SquareRootRls:
    r"""
    Recursive least squares in square-root information form, with bounded directional forgetting.

    Parameters
    ----------
    estimate : ndarray, shape (p,)
        To start from.
    covariance : ndarray, shape (p, p)
        Of the start; positive definite.
    widest : ndarray, shape (p,)
        Standard deviations that forgetting does not lead beyond, more than 0.
    forgetting : float
        :math:`\lambda` of one row, more than 0 and at most 1; 1 forgets nothing.
    everywhere : bool
        Whether all information fades alike, and not only that along the row.

    Attributes
    ----------
    rows : int
        Number of rows since the start.

    Raises
    ------
    ConfigurationError
        If the forgetting is out of its range, a widest deviation is not positive, or the
        covariance is not positive definite.
    DimensionError, NonFiniteError
        If shapes do not agree or a number is not finite.

    """

    def __init__(
        self,
        estimate: Vector,
        covariance: Matrix,
        widest: Vector,
        forgetting: float = 1.0,
        *,
        everywhere: bool = False,
    ) -> None:
        size = np.size(estimate)
        self._widest = as_finite('widest', widest, (size,)).copy()
        if self._widest.min(initial=1.0) <= 0.0:
            raise ConfigurationError('widest deviations: expected more than 0')
        self._root = np.zeros((size, size + 1))
        self._row = np.zeros(size + 1)
        self._scratch = np.zeros(size)
        self._solution = np.zeros(size)
        self._update = Quick(fading_update_kernel if everywhere else square_root_update_kernel)
        self._solve = Quick(back_substitution_kernel)
        self._images = Quick(images_kernel)
        self.rows, self.forgetting = 0, 1.0
        self.update(self._scratch, 0.0, 1.0)  # compiles, changes nothing
        self.forgetting = forgetting
        self.restart(estimate, covariance)

    @property
    def forgetting(self) -> float:
        """Return what of the information along a row is kept when it comes."""
        return self._forgetting

    @forgetting.setter
    def forgetting(self, value: float) -> None:
        if not 0.0 < value <= 1.0:
            raise ConfigurationError(f'forgetting is {value}, expected more than 0, at most 1')
        self._forgetting = float(value)

    def restart(self, estimate: Vector, covariance: Matrix) -> None:
        """
        Begin again.

        Raises
        ------
        ConfigurationError
            If the covariance is not positive definite.
        DimensionError, NonFiniteError
            If shapes do not agree or a number is not finite.

        """
        size = len(self._widest)
        estimate = as_finite('estimate', estimate, (size,)) / self._widest
        covariance = as_finite('covariance', covariance, (size, size))
        self._root[:, :size] = information_root(covariance / np.outer(self._widest, self._widest))
        self._root[:, size] = self._root[:, :size] @ estimate
        self.rows = 0

    def open(self, deviations: Vector) -> None:
        """Make the estimate less certain by standard deviations, shape (p,)."""
        self.restart(self.estimate, self.covariance + np.diag(deviations**2))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return root, right-hand side and number of rows."""
        return {'root': self._root.copy(), 'rows': np.array(float(self.rows))}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """
        Go back to a state.

        Raises
        ------
        ConfigurationError
            If the root is not upper triangular with a positive diagonal.
        DimensionError, NonFiniteError
            If shapes do not agree or a number is not finite.

        """
        root = as_finite('root', state.get('root', ()), self._root.shape)
        rows = as_finite('rows', state.get('rows', ()), ())
        diagonal = np.diag(root)
        if np.any(np.tril(root, -1) != 0.0) or (diagonal == 0.0).any():
            raise ConfigurationError('root of the information: expected a full triangle')
        self._root[:] = root
        self.rows = int(rows)

    def update(self, row: Vector, value: float, deviation: float) -> None:
        """
        Take in one equation.

        Parameters
        ----------
        row : ndarray, shape (p,)
            Of the regressor.
        value : float
            What was measured.
        deviation : float
            Its standard deviation, more than 0.

        Raises
        ------
        DimensionError
            If the row has another size.

        """
        self._update.call(
            self._root, as_vector('row', row, len(self._widest)), self._widest, float(value),
            float(deviation), self._forgetting, self._row, self._scratch,
        )  # fmt: skip
        self.rows += 1

    @property
    def estimate(self) -> Vector:
        """Return the parameters, shape (p,)."""
        self._solve.call(self._root, self._solution)
        return np.asarray(self._solution * self._widest)

    @property
    def covariance(self) -> Matrix:
        """Return the covariance of the estimate, shape (p, p)."""
        root = self._root[:, :-1]
        inverse = solve_triangular(root, np.eye(len(root)), check_finite=False)
        inverse *= self._widest[:, None]
        return np.asarray(inverse @ inverse.T)

    def images(self, rows: Matrix) -> Matrix:
        """
        Return the rows in coordinates in which the estimate has the covariance one.

        Parameters
        ----------
        rows : ndarray, shape (n, p)
            Rows `y` of a regressor.

        Returns
        -------
        images : ndarray, shape (n, p)
            Rows `x` with ``x @ x == y @ covariance @ y``, for two of them as for one.

        Raises
        ------
        DimensionError
            If the rows have another size.

        """
        rows = as_matrix('rows', rows, (-1, len(self._widest)))
        images: Matrix = np.empty(rows.shape)
        self._images.call(self._root, self._widest, rows, images)
        return images

    @property
    def information_root(self) -> tuple[Matrix, Vector]:
        """Return `R` and `z` with ``R @ estimate == z``, shapes (p, p) and (p,)."""
        return self._root[:, :-1] / self._widest, self._root[:, -1].copy()


def information_root(covariance: Matrix) -> Matrix:
    """
    Return the upper triangular root of the inverse of a covariance.

    Raises
    ------
    ConfigurationError
        If it is not positive definite.

    """
    try:
        # P = U U^T with U upper triangular, from the Cholesky factor of P with both orders turned.
        turned = np.linalg.cholesky(covariance[::-1, ::-1])[::-1, ::-1]
    except np.linalg.LinAlgError as err:
        raise ConfigurationError('the covariance is not positive definite') from err
    return np.asarray(solve_triangular(turned, np.eye(len(turned)), check_finite=False))
