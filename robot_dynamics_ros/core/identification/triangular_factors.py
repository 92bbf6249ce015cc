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
All that a linear fit needs of any number of samples: one triangular factor for each joint.

The rows of joint `j`, with its efforts as the last column, have the QR factorisation

.. math:: [Y_j \; \tau_j] = Q_j R_j, \qquad \|Y_j \beta - \tau_j\| = \|R_j \, [\beta; -1]\|

so that :math:`R_j` takes their place in any fit by least squares, with a weight of its own for the
joint. A new block is stacked below and factorised again: memory does not grow with the log, and
unlike a sum of products :math:`Y^T Y` nothing is lost to rounding. Factors of several logs, or of
the folds of a cross-validation, are put together in the same way.

References
----------
.. [1] G. H. Golub, C. F. Van Loan, *Matrix Computations*, 4th ed., 2013, sections 5.3 and 6.5.

"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.identification.regression_rows import RegressionRows

Columns = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class JointFactor:
    """
    The factor of the rows of one joint.

    Attributes
    ----------
    columns : ndarray of int, shape (k,)
        Parameters that the rows depend on.
    triangle : ndarray, shape (r, k + 1), r <= k + 1
        Upper triangular; the last column belongs to the efforts.
    samples : int
        Number of rows that are in it.

    """

    columns: Columns
    triangle: Matrix
    samples: int

    def with_rows(self, rows: Matrix, count: int) -> JointFactor:
        """Return the factor with further rows, shape (n, k + 1), of `count` samples."""
        stacked = np.concatenate([self.triangle, rows])
        (triangle,) = qr(stacked, mode='r', overwrite_a=True, check_finite=False)
        size = min(triangle.shape)
        return JointFactor(self.columns, triangle[:size], self.samples + count)

    def residual_norm(self, parameters: Vector) -> float:
        """Return the norm of the errors that parameters leave [N m | N]."""
        chosen = np.append(parameters[self.columns], -1.0)
        return float(np.linalg.norm(self.triangle @ chosen))

    @property
    def effort_norm(self) -> float:
        """Return the norm of the efforts [N m | N]."""
        return float(np.linalg.norm(self.triangle[:, -1]))


@dataclass(frozen=True, eq=False)
class TriangularFactors:
    """
    The factors of all joints.

    Attributes
    ----------
    joints : tuple of JointFactor
        One for each degree of freedom.
    n_parameters : int
        Number of columns of the regression.

    """

    joints: tuple[JointFactor, ...]
    n_parameters: int

    @staticmethod
    def empty(columns_of_joint: Sequence[Columns], n_parameters: int) -> TriangularFactors:
        """Return the factors of no samples."""
        joints = (JointFactor(c, np.zeros((0, len(c) + 1)), 0) for c in columns_of_joint)
        return TriangularFactors(tuple(joints), n_parameters)

    def with_rows(self, rows: RegressionRows, weights: Matrix | None = None) -> TriangularFactors:
        """
        Return the factors with a further block of rows.

        Parameters
        ----------
        rows : RegressionRows
            The block.
        weights : ndarray, shape (n, nv), optional
            A factor for each row, as a robust fit has them.

        """
        joints = []
        for j, factor in enumerate(self.joints):
            use = rows.use[:, j]
            block = np.column_stack([rows.regressor[use, j][:, factor.columns], rows.tau[use, j]])
            if weights is not None:
                block *= weights[use, j][:, None]
            joints.append(factor.with_rows(block, len(block)))
        return TriangularFactors(tuple(joints), self.n_parameters)

    def merged(self, others: Iterable[TriangularFactors]) -> TriangularFactors:
        """Return the factors of these samples and those of others."""
        joints = list(self.joints)
        for other in others:
            joints = [
                mine.with_rows(its.triangle, its.samples)
                for mine, its in zip(joints, other.joints)
            ]
        return TriangularFactors(tuple(joints), self.n_parameters)

    def restricted(self, columns: Columns) -> TriangularFactors:
        """Return the factors of a model with some of the columns, in their new numbers."""
        number = np.full(self.n_parameters, -1)
        number[columns] = np.arange(len(columns))
        joints = []
        for factor in self.joints:
            kept = np.flatnonzero(number[factor.columns] >= 0)
            triangle = factor.triangle[:, np.append(kept, len(factor.columns))]
            start = np.zeros((0, len(kept) + 1))
            fresh = JointFactor(number[factor.columns[kept]].astype(np.intp), start, 0)
            joints.append(fresh.with_rows(triangle, factor.samples))
        return TriangularFactors(tuple(joints), len(columns))

    def stacked(self, weights: Vector) -> tuple[Matrix, Vector]:
        """
        Return the rows of all joints under weights, as one triangular system.

        Parameters
        ----------
        weights : ndarray, shape (nv,)
            Weight of each joint, one over the standard deviation of its errors.

        Returns
        -------
        triangle : ndarray, shape (r, n_parameters)
            Upper triangular, up to the last row.
        right : ndarray, shape (r,)
            ``norm(triangle @ x - right)`` is the weighted norm of the errors.

        """
        blocks = []
        for factor, weight in zip(self.joints, weights):
            block = np.zeros((len(factor.triangle), self.n_parameters + 1))
            block[:, np.append(factor.columns, self.n_parameters)] = weight * factor.triangle
            blocks.append(block)
        (triangle,) = qr(np.concatenate(blocks), mode='r', check_finite=False)
        triangle = triangle[: self.n_parameters + 1]
        return triangle[:, :-1], triangle[:, -1]

    @property
    def samples(self) -> NDArray[np.intp]:
        """Return the number of samples of each joint, shape (nv,)."""
        return np.array([factor.samples for factor in self.joints], dtype=np.intp)

    def residual_norms(self, parameters: Vector) -> Vector:
        """Return the norm of the errors of each joint, shape (nv,) [N m | N]."""
        return np.array([factor.residual_norm(parameters) for factor in self.joints])

    def effort_norms(self) -> Vector:
        """Return the norm of the efforts of each joint, shape (nv,) [N m | N]."""
        return np.array([factor.effort_norm for factor in self.joints])


def accumulated(
    rows: Iterable[RegressionRows], columns_of_joint: Sequence[Columns], n_parameters: int
) -> TriangularFactors:
    """Return the factors of all blocks."""
    factors = TriangularFactors.empty(columns_of_joint, n_parameters)
    for block in rows:
        factors = factors.with_rows(block)
    return factors
