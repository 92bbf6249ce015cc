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
Inverse of the mass matrix, by the factorisation :math:`M = L^T D L`.

It eliminates from the last degree of freedom to the first, that is from the tips to the base. The
pivot :math:`D_i` is then the inertia that joint :math:`i` moves when all joints beyond it are
free, as in the articulated body algorithm, so that a pivot that vanishes names a joint.

References
----------
.. [1] R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, Table 6.3 (here dense).

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics.crba import crba
from robot_dynamics_ros.core.exceptions import SingularMassMatrixError
from robot_dynamics_ros.core.jit import allocating_kernel, inner
from robot_dynamics_ros.core.model.robot_model import RobotModel

PIVOT_TOLERANCE = 1e-12
"""A pivot below this part of the diagonal entry that it came from is the rounding of zero."""


@inner
def factor(mass: Matrix) -> int:
    """
    Replace the lower triangle by `L` and `D`.

    Return the first degree of freedom without a pivot, or -1.

    """
    n = mass.shape[0]
    for k in range(n - 1, -1, -1):
        pivot = mass[k, k]
        if not pivot > 0.0:
            return k
        for i in range(k - 1, -1, -1):
            a = mass[k, i] / pivot
            for j in range(i + 1):
                old = mass[i, j]
                mass[i, j] = old - a * mass[k, j]
                if i == j and not mass[i, j] > PIVOT_TOLERANCE * old:
                    return i
            mass[k, i] = a
    return -1


@inner
def solve(factors: Matrix, x: Vector) -> None:
    """Replace `x` by the solution of ``M x = b``."""
    n = x.size
    for k in range(n - 1, -1, -1):
        for i in range(k):
            x[i] -= factors[k, i] * x[k]
    for k in range(n):
        x[k] /= factors[k, k]
        for i in range(k):
            x[k] -= factors[k, i] * x[i]


@allocating_kernel
def inverse_kernel(mass: Matrix, inverse: Matrix) -> int:
    """
    Write the inverse; `mass` is overwritten.

    Return the degree of freedom without a pivot, or -1.

    """
    singular = factor(mass)
    if singular >= 0:
        return singular
    n = mass.shape[0]
    x = np.empty(n)
    for column in range(n):
        x[:] = 0.0
        x[column] = 1.0
        solve(mass, x)
        for r in range(n):
            inverse[r, column] = x[r]
    for r in range(n):
        for c in range(r):
            mean = 0.5 * (inverse[r, c] + inverse[c, r])
            inverse[r, c] = mean
            inverse[c, r] = mean
    return -1


def mass_matrix_inverse(model: RobotModel, q: Any) -> Matrix:
    """
    Compute the inverse of the mass matrix.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].

    Returns
    -------
    inverse : ndarray, shape (nv, nv)
        Symmetric [1/(kg m^2) | 1/(kg m) | 1/kg].

    Raises
    ------
    DimensionError
        If `q` has another shape.
    NonFiniteError
        If an entry of `q` is NaN or infinite.
    SingularMassMatrixError
        If a degree of freedom moves no inertia; the message names it.

    """
    mass = crba(model, q)
    inverse = np.empty_like(mass)
    singular = inverse_kernel(mass, inverse)
    if singular >= 0:
        raise SingularMassMatrixError(model.v_names[singular])
    return inverse


def singular_joint(model: RobotModel, q: Any) -> str | None:
    """
    Return the name of a degree of freedom that moves no inertia at `q`, or None.

    Raises
    ------
    DimensionError
        If `q` has another shape.
    NonFiniteError
        If an entry of `q` is NaN or infinite.

    """
    try:
        mass_matrix_inverse(model, q)
    except SingularMassMatrixError as error:
        return error.joint
    return None
