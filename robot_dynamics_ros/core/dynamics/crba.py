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
The mass matrix by the composite rigid body algorithm.

From the tips to the base each body hands its composite inertia to its parent. The column of joint
:math:`i` is the wrench :math:`I^c_i S_i` that accelerates everything beyond the joint, carried
down to each joint :math:`j` on the way to the base: :math:`M_{ji} = S_j^T I^c_i S_i`. Joints on
different branches do not couple.

A mimic joint shares the degree of freedom of the joint that it follows: its row and column count
`MULTIPLIER` times there, which is the exact reduction :math:`G^T M G`.

References
----------
.. [1] R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, Table 6.2 (there: angular part
   first).

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Matrix, Vector
from robot_dynamics_ros.core.dynamics.joint_transform import E, is_finite, local_pose, P
from robot_dynamics_ros.core.dynamics.samples import as_samples, in_parallel, refuse_non_finite
from robot_dynamics_ros.core.jit import inner, kernel, lean_kernel, Quick
from robot_dynamics_ros.core.model.kernel_layout import (
    ARMATURE,
    FREE,
    IV,
    KIND,
    MASS,
    MULTIPLIER,
    NBODIES,
    PARENT,
    REVOLUTE,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel

# Columns of a body's row of the work array, after its local pose.
M = 12  # 1: composite mass
H = 13  # 3: composite first moment
I = 16  # 6: composite inertia Ixx, Ixy, Iyy, Ixz, Iyz, Izz  # noqa: E741
# Columns of the scratch row.
WRENCH = 0  # 6


@inner
def _inertia_to_parent(work: Matrix, i: int, p: int) -> None:
    """Add a composite inertia, given in a body's frame, to that of the parent."""
    m = work[i, M]
    e00 = work[i, E]
    e01 = work[i, E + 1]
    e02 = work[i, E + 2]
    e10 = work[i, E + 3]
    e11 = work[i, E + 4]
    e12 = work[i, E + 5]
    e20 = work[i, E + 6]
    e21 = work[i, E + 7]
    e22 = work[i, E + 8]
    px = work[i, P]
    py = work[i, P + 1]
    pz = work[i, P + 2]
    hx = e00 * work[i, H] + e01 * work[i, H + 1] + e02 * work[i, H + 2]
    hy = e10 * work[i, H] + e11 * work[i, H + 1] + e12 * work[i, H + 2]
    hz = e20 * work[i, H] + e21 * work[i, H + 1] + e22 * work[i, H + 2]
    ixx = work[i, I]
    ixy = work[i, I + 1]
    iyy = work[i, I + 2]
    ixz = work[i, I + 3]
    iyz = work[i, I + 4]
    izz = work[i, I + 5]
    # rows of E I
    a00 = e00 * ixx + e01 * ixy + e02 * ixz
    a01 = e00 * ixy + e01 * iyy + e02 * iyz
    a02 = e00 * ixz + e01 * iyz + e02 * izz
    a10 = e10 * ixx + e11 * ixy + e12 * ixz
    a11 = e10 * ixy + e11 * iyy + e12 * iyz
    a12 = e10 * ixz + e11 * iyz + e12 * izz
    a20 = e20 * ixx + e21 * ixy + e22 * ixz
    a21 = e20 * ixy + e21 * iyy + e22 * iyz
    a22 = e20 * ixz + e21 * iyz + e22 * izz
    # I' = E I E^T + (2 p.h + m p.p) 1 - p h^T - h p^T - m p p^T
    gx = hx + m * px
    gy = hy + m * py
    gz = hz + m * pz
    sx = px * (hx + gx)
    sy = py * (hy + gy)
    sz = pz * (hz + gz)
    work[p, M] += m
    work[p, H] += gx
    work[p, H + 1] += gy
    work[p, H + 2] += gz
    work[p, I] += a00 * e00 + a01 * e01 + a02 * e02 + sy + sz
    work[p, I + 1] += a00 * e10 + a01 * e11 + a02 * e12 - px * gy - hx * py
    work[p, I + 2] += a10 * e10 + a11 * e11 + a12 * e12 + sx + sz
    work[p, I + 3] += a00 * e20 + a01 * e21 + a02 * e22 - px * gz - hx * pz
    work[p, I + 4] += a10 * e20 + a11 * e21 + a12 * e22 - py * gz - hy * pz
    work[p, I + 5] += a20 * e20 + a21 * e21 + a22 * e22 + sx + sy


@inner
def _column_wrench(work: Matrix, i: int, kind: float, column: int, s: int) -> None:
    """Write the composite inertia times one axis of the body's joint."""
    if kind == REVOLUTE or (kind == FREE and column == 5):
        work[s, 0] = -work[i, H + 1]
        work[s, 1] = work[i, H]
        work[s, 2] = 0.0
        work[s, 3] = work[i, I + 3]
        work[s, 4] = work[i, I + 4]
        work[s, 5] = work[i, I + 5]
    elif kind != FREE or column == 2:
        work[s, 0] = 0.0
        work[s, 1] = 0.0
        work[s, 2] = work[i, M]
        work[s, 3] = work[i, H + 1]
        work[s, 4] = -work[i, H]
        work[s, 5] = 0.0
    elif column == 0:
        work[s, 0] = work[i, M]
        work[s, 1] = 0.0
        work[s, 2] = 0.0
        work[s, 3] = 0.0
        work[s, 4] = work[i, H + 2]
        work[s, 5] = -work[i, H + 1]
    elif column == 1:
        work[s, 0] = 0.0
        work[s, 1] = work[i, M]
        work[s, 2] = 0.0
        work[s, 3] = -work[i, H + 2]
        work[s, 4] = 0.0
        work[s, 5] = work[i, H]
    elif column == 3:
        work[s, 0] = 0.0
        work[s, 1] = -work[i, H + 2]
        work[s, 2] = work[i, H + 1]
        work[s, 3] = work[i, I]
        work[s, 4] = work[i, I + 1]
        work[s, 5] = work[i, I + 3]
    else:
        work[s, 0] = work[i, H + 2]
        work[s, 1] = 0.0
        work[s, 2] = -work[i, H]
        work[s, 3] = work[i, I + 1]
        work[s, 4] = work[i, I + 2]
        work[s, 5] = work[i, I + 4]


@inner
def _rotate_wrench(work: Matrix, i: int, s: int) -> None:
    """Move a wrench from a body's frame to its parent's."""
    fx = work[i, E] * work[s, 0] + work[i, E + 1] * work[s, 1] + work[i, E + 2] * work[s, 2]
    fy = work[i, E + 3] * work[s, 0] + work[i, E + 4] * work[s, 1] + work[i, E + 5] * work[s, 2]
    fz = work[i, E + 6] * work[s, 0] + work[i, E + 7] * work[s, 1] + work[i, E + 8] * work[s, 2]
    nx = work[i, E] * work[s, 3] + work[i, E + 1] * work[s, 4] + work[i, E + 2] * work[s, 5]
    ny = work[i, E + 3] * work[s, 3] + work[i, E + 4] * work[s, 4] + work[i, E + 5] * work[s, 5]
    nz = work[i, E + 6] * work[s, 3] + work[i, E + 7] * work[s, 4] + work[i, E + 8] * work[s, 5]
    work[s, 0] = fx
    work[s, 1] = fy
    work[s, 2] = fz
    work[s, 3] = nx + work[i, P + 1] * fz - work[i, P + 2] * fy
    work[s, 4] = ny + work[i, P + 2] * fx - work[i, P] * fz
    work[s, 5] = nz + work[i, P] * fy - work[i, P + 1] * fx


@inner
def _add_column(robot: Matrix, work: Matrix, i: int, column: int, mass: Matrix) -> None:
    """Carry the wrench of one axis to the base; enter its products with the axes there."""
    b = 1 + i
    s = work.shape[0] - 1
    _column_wrench(work, i, robot[b, KIND], column, s)
    at = int(robot[b, IV]) + column
    scale = robot[b, MULTIPLIER]
    if robot[b, KIND] == FREE:
        for r in range(6):
            mass[at - column + r, at] += work[s, r]
    else:
        along = work[s, 5] if robot[b, KIND] == REVOLUTE else work[s, 2]
        mass[at, at] += scale * scale * (along + robot[b, ARMATURE])
    j = i
    up = int(robot[b, PARENT])
    while up >= 0:
        _rotate_wrench(work, j, s)
        o = 1 + up
        first = int(robot[o, IV])
        if robot[o, KIND] == FREE:
            for r in range(6):
                value = scale * work[s, r]
                mass[first + r, at] += value
                mass[at, first + r] += value
        else:
            along = work[s, 5] if robot[o, KIND] == REVOLUTE else work[s, 2]
            value = scale * robot[o, MULTIPLIER] * along
            mass[first, at] += value
            mass[at, first] += value
        j = up
        up = int(robot[o, PARENT])


@lean_kernel
def crba_kernel(robot: Matrix, work: Matrix, q: Vector, mass: Matrix) -> bool:
    """Write the mass matrix of one sample to `mass`; return whether all numbers are finite."""
    n = int(robot[0, NBODIES])
    for i in range(n):
        local_pose(robot, i, q, work)
        for k in range(10):
            work[i, M + k] = robot[1 + i, MASS + k]
    nv = mass.shape[0]
    for r in range(nv):
        for c in range(nv):
            mass[r, c] = 0.0
    for i in range(n - 1, -1, -1):
        b = 1 + i
        parent = int(robot[b, PARENT])
        if parent >= 0:
            _inertia_to_parent(work, i, parent)
        for column in range(6 if robot[b, KIND] == FREE else 1):
            _add_column(robot, work, i, column, mass)
    finite = is_finite(q)
    for r in range(nv):
        finite &= is_finite(mass[r])
    return finite


_crba = Quick(crba_kernel)


@kernel
def crba_block_kernel(robot: Matrix, q: Matrix, mass: Matrix) -> int:
    """
    Write the mass matrices of many samples.

    Return the first sample that is not finite, or -1.

    """
    work = np.empty((robot.shape[0], 22))
    bad = -1
    for s in range(q.shape[0]):
        if not crba_kernel(robot, work, q[s], mass[s]) and bad < 0:
            bad = s
    return bad


def crba(model: RobotModel, q: Any) -> Matrix:
    """
    Compute the mass matrix with the composite rigid body algorithm.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].

    Returns
    -------
    M : ndarray, shape (nv, nv)
        Symmetric, both triangles filled; armature on the diagonal [kg m^2 | kg m | kg].

    Raises
    ------
    DimensionError
        If `q` has another shape.
    NonFiniteError
        If an entry of `q` is NaN or infinite.

    """
    q = as_vector('q', q, model.nq)
    mass = np.empty((model.nv, model.nv))
    if not _crba.call(model.kernel, model.scratch.work, q, mass):
        refuse_non_finite('mass matrix', q=q)
    return mass


def crba_batch(model: RobotModel, q: Any, out: Matrix | None = None) -> Matrix:
    """
    Compute the mass matrices of many samples.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (n_samples, nq)
        Joint positions [rad | m].
    out : ndarray, shape (n_samples, nv, nv), optional
        Where the result goes.

    Returns
    -------
    M : ndarray, shape (n_samples, nv, nv)
        Mass matrices [kg m^2 | kg m | kg].

    Raises
    ------
    DimensionError
        If an array has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    q = as_samples('q', q, model.nq)
    mass = np.empty((len(q), model.nv, model.nv)) if out is None else out
    in_parallel(crba_block_kernel, model.kernel, (q,), mass)
    return mass
