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
The Coriolis matrix for which :math:`\dot M - 2 C` is skew-symmetric.

The equation of motion of one body is :math:`I \dot V + V \times^* I V = f`. Its second term is
split as :math:`B V` with

.. math:: B = \tfrac12 \left( V \times^* I - I\, V \times + (I V)\, \bar\times^* \right),

where :math:`h\, \bar\times^* V = V \times^* h`; then :math:`\dot I - 2 B` is skew-symmetric for
every body, and with the bodies' Jacobians :math:`C = \sum J^T (I \dot J + B J)` has the property
too. Sums over the bodies beyond a joint are gathered from the tips to the base, as in the
composite rigid body algorithm.

References
----------
.. [1] S. Echeandia, P. M. Wensing, "Numerical Methods to Compute the Coriolis Matrix and
   Christoffel Symbols for Rigid-Body
   Systems", Journal of Computational and Nonlinear Dynamics 16(9), 2021 (there: angular part
   first).

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Matrix, Vector
from robot_dynamics_ros.core.dynamics.joint_transform import is_finite
from robot_dynamics_ros.core.dynamics.samples import refuse_non_finite
from robot_dynamics_ros.core.dynamics.world_inertia import world_inertia
from robot_dynamics_ros.core.dynamics.world_kinematics import (
    cross_motion,
    joint_axis,
    V,
    world_poses,
    world_velocities,
)
from robot_dynamics_ros.core.jit import allocating_kernel, inner
from robot_dynamics_ros.core.model.kernel_layout import (
    FREE,
    IV,
    KIND,
    MULTIPLIER,
    NBODIES,
    PARENT,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel


@inner
def _factor(inertia: Matrix, work: Vector, result: Matrix, cross: Matrix) -> None:
    """Write `B` of one body to `result`; `cross` is scratch."""
    # V x as a matrix, linear part first: [[w x, v x], [0, w x]]
    cross[:] = 0.0
    for block in range(2):
        o = 3 * block
        cross[o, o + 1] = -work[V + 5]
        cross[o, o + 2] = work[V + 4]
        cross[o + 1, o] = work[V + 5]
        cross[o + 1, o + 2] = -work[V + 3]
        cross[o + 2, o] = -work[V + 4]
        cross[o + 2, o + 1] = work[V + 3]
    cross[0, 4] = -work[V + 2]
    cross[0, 5] = work[V + 1]
    cross[1, 3] = work[V + 2]
    cross[1, 5] = -work[V]
    cross[2, 3] = -work[V + 1]
    cross[2, 4] = work[V]
    # V x* = -(V x)^T
    for r in range(6):
        for c in range(6):
            total = 0.0
            for k in range(6):
                total -= cross[k, r] * inertia[k, c] + inertia[r, k] * cross[k, c]
            result[r, c] = 0.5 * total
    # (I V) x*-bar = [[0, -[f]], [-[f], -[n]]] with the momentum (f, n)
    for r in range(3):
        a = (r + 1) % 3
        b = (r + 2) % 3
        f = 0.0
        n = 0.0
        for k in range(6):
            f += inertia[r, k] * work[V + k]
            n += inertia[3 + r, k] * work[V + k]
        f *= 0.5
        n *= 0.5
        result[a, 3 + b] += f
        result[b, 3 + a] -= f
        result[3 + a, b] += f
        result[3 + b, a] -= f
        result[3 + a, 3 + b] += n
        result[3 + b, 3 + a] -= n


@allocating_kernel
def coriolis_kernel(robot: Matrix, work: Matrix, q: Vector, v: Vector, coriolis: Matrix) -> bool:
    """Write the Coriolis matrix of one sample; return whether all numbers are finite."""
    n = int(robot[0, NBODIES])
    world_poses(robot, q, work, True)
    world_velocities(robot, v, work)
    inertias = np.empty((n, 6, 6))
    factors = np.empty((n, 6, 6))
    cross = np.empty((6, 6))
    for i in range(n):
        world_inertia(robot, i, work, inertias[i])
        _factor(inertias[i], work[i], factors[i], cross)
    coriolis[:] = 0.0
    axes = np.empty((4, 6))
    products = np.empty((3, 6))
    for i in range(n - 1, -1, -1):
        parent = int(robot[1 + i, PARENT])
        if parent >= 0:
            inertias[parent] += inertias[i]
            factors[parent] += factors[i]
        for column in range(6 if robot[1 + i, KIND] == FREE else 1):
            _add_row_and_column(
                robot, work, i, column, inertias[i], factors[i], axes, products, coriolis
            )
    finite = is_finite(q) and is_finite(v)
    for r in range(coriolis.shape[0]):
        finite &= is_finite(coriolis[r])
    return finite


@inner
def _add_row_and_column(
    robot: Matrix,
    work: Matrix,
    i: int,
    column: int,
    inertia: Matrix,
    factor: Matrix,
    axes: Matrix,
    products: Matrix,
    coriolis: Matrix,
) -> None:
    """Enter the products of one axis with the axes of all joints from it to the base."""
    joint_axis(robot, i, column, work, axes[0], 0)
    cross_motion(work[i], V, axes[0], 0, axes[1], 0)
    for r in range(6):
        down = 0.0
        along_rate = 0.0
        along_axis = 0.0
        for k in range(6):
            down += inertia[r, k] * axes[1, k] + factor[r, k] * axes[0, k]
            along_rate += axes[0, k] * inertia[k, r]
            along_axis += axes[0, k] * factor[k, r]
        products[0, r] = down
        products[1, r] = along_rate
        products[2, r] = along_axis
    own = int(robot[1 + i, IV]) + column
    j = i
    while j >= 0:
        scale = robot[1 + i, MULTIPLIER] * robot[1 + j, MULTIPLIER]
        for other in range(6 if robot[1 + j, KIND] == FREE else 1):
            joint_axis(robot, j, other, work, axes[2], 0)
            at = int(robot[1 + j, IV]) + other
            total = 0.0
            for k in range(6):
                total += axes[2, k] * products[0, k]
            coriolis[at, own] += scale * total
            if j != i:
                cross_motion(work[j], V, axes[2], 0, axes[3], 0)
                total = 0.0
                for k in range(6):
                    total += products[1, k] * axes[3, k] + products[2, k] * axes[2, k]
                coriolis[own, at] += scale * total
        j = int(robot[1 + j, PARENT])


def coriolis_matrix(model: RobotModel, q: Any, v: Any) -> Matrix:
    """
    Compute the Coriolis matrix.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].
    v : array_like, shape (nv,)
        Joint velocities [rad/s | m/s].

    Returns
    -------
    C : ndarray, shape (nv, nv)
        ``C v + g`` are the nonlinear effects, and ``dM/dt - 2 C`` is skew-symmetric. It is the
        matrix of Pinocchio.

    Raises
    ------
    DimensionError
        If a vector has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    q = as_vector('q', q, model.nq)
    v = as_vector('v', v, model.nv)
    coriolis = np.empty((model.nv, model.nv))
    if not coriolis_kernel(model.kernel, model.scratch.work, q, v, coriolis):
        refuse_non_finite('Coriolis matrix', q=q, v=v)
    return coriolis
