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
from robot_dynamics_ros.core.jit import inner, kernel
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
def _inertia_to_parent(row: Vector, up: Vector) -> None:
    """Add a composite inertia, given in a body's frame, to that of the parent."""
    m = row[M]
    e00 = row[E]
    e01 = row[E + 1]
    e02 = row[E + 2]
    e10 = row[E + 3]
    e11 = row[E + 4]
    e12 = row[E + 5]
    e20 = row[E + 6]
    e21 = row[E + 7]
    e22 = row[E + 8]
    px = row[P]
    py = row[P + 1]
    pz = row[P + 2]
    hx = e00 * row[H] + e01 * row[H + 1] + e02 * row[H + 2]
    hy = e10 * row[H] + e11 * row[H + 1] + e12 * row[H + 2]
    hz = e20 * row[H] + e21 * row[H + 1] + e22 * row[H + 2]
    ixx = row[I]
    ixy = row[I + 1]
    iyy = row[I + 2]
    ixz = row[I + 3]
    iyz = row[I + 4]
    izz = row[I + 5]
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
    up[M] += m
    up[H] += gx
    up[H + 1] += gy
    up[H + 2] += gz
    up[I] += a00 * e00 + a01 * e01 + a02 * e02 + sy + sz
    up[I + 1] += a00 * e10 + a01 * e11 + a02 * e12 - px * gy - hx * py
    up[I + 2] += a10 * e10 + a11 * e11 + a12 * e12 + sx + sz
    up[I + 3] += a00 * e20 + a01 * e21 + a02 * e22 - px * gz - hx * pz
    up[I + 4] += a10 * e20 + a11 * e21 + a12 * e22 - py * gz - hy * pz
    up[I + 5] += a20 * e20 + a21 * e21 + a22 * e22 + sx + sy


@inner
def _column_wrench(row: Vector, kind: float, column: int, wrench: Vector) -> None:
    """Write the composite inertia times one axis of the body's joint."""
    if kind == REVOLUTE or (kind == FREE and column == 5):
        wrench[0] = -row[H + 1]
        wrench[1] = row[H]
        wrench[2] = 0.0
        wrench[3] = row[I + 3]
        wrench[4] = row[I + 4]
        wrench[5] = row[I + 5]
    elif kind != FREE or column == 2:
        wrench[0] = 0.0
        wrench[1] = 0.0
        wrench[2] = row[M]
        wrench[3] = row[H + 1]
        wrench[4] = -row[H]
        wrench[5] = 0.0
    elif column == 0:
        wrench[0] = row[M]
        wrench[1] = 0.0
        wrench[2] = 0.0
        wrench[3] = 0.0
        wrench[4] = row[H + 2]
        wrench[5] = -row[H + 1]
    elif column == 1:
        wrench[0] = 0.0
        wrench[1] = row[M]
        wrench[2] = 0.0
        wrench[3] = -row[H + 2]
        wrench[4] = 0.0
        wrench[5] = row[H]
    elif column == 3:
        wrench[0] = 0.0
        wrench[1] = -row[H + 2]
        wrench[2] = row[H + 1]
        wrench[3] = row[I]
        wrench[4] = row[I + 1]
        wrench[5] = row[I + 3]
    else:
        wrench[0] = row[H + 2]
        wrench[1] = 0.0
        wrench[2] = -row[H]
        wrench[3] = row[I + 1]
        wrench[4] = row[I + 2]
        wrench[5] = row[I + 4]


@inner
def _rotate_wrench(row: Vector, wrench: Vector) -> None:
    """Move a wrench from a body's frame to its parent's."""
    fx = row[E] * wrench[0] + row[E + 1] * wrench[1] + row[E + 2] * wrench[2]
    fy = row[E + 3] * wrench[0] + row[E + 4] * wrench[1] + row[E + 5] * wrench[2]
    fz = row[E + 6] * wrench[0] + row[E + 7] * wrench[1] + row[E + 8] * wrench[2]
    nx = row[E] * wrench[3] + row[E + 1] * wrench[4] + row[E + 2] * wrench[5]
    ny = row[E + 3] * wrench[3] + row[E + 4] * wrench[4] + row[E + 5] * wrench[5]
    nz = row[E + 6] * wrench[3] + row[E + 7] * wrench[4] + row[E + 8] * wrench[5]
    wrench[0] = fx
    wrench[1] = fy
    wrench[2] = fz
    wrench[3] = nx + row[P + 1] * fz - row[P + 2] * fy
    wrench[4] = ny + row[P + 2] * fx - row[P] * fz
    wrench[5] = nz + row[P] * fy - row[P + 1] * fx


@inner
def _add_column(robot: Matrix, work: Matrix, i: int, column: int, mass: Matrix) -> None:
    """Carry the wrench of one axis to the base; enter its products with the axes there."""
    body = robot[1 + i]
    wrench = work[work.shape[0] - 1]
    _column_wrench(work[i], body[KIND], column, wrench)
    at = int(body[IV]) + column
    scale = body[MULTIPLIER]
    if body[KIND] == FREE:
        for r in range(6):
            mass[at - column + r, at] += wrench[r]
    else:
        along = wrench[5] if body[KIND] == REVOLUTE else wrench[2]
        mass[at, at] += scale * scale * (along + body[ARMATURE])
    j = i
    up = int(body[PARENT])
    while up >= 0:
        _rotate_wrench(work[j], wrench)
        other = robot[1 + up]
        first = int(other[IV])
        if other[KIND] == FREE:
            for r in range(6):
                value = scale * wrench[r]
                mass[first + r, at] += value
                mass[at, first + r] += value
        else:
            along = wrench[5] if other[KIND] == REVOLUTE else wrench[2]
            value = scale * other[MULTIPLIER] * along
            mass[first, at] += value
            mass[at, first] += value
        j = up
        up = int(other[PARENT])


@kernel
def crba_kernel(robot: Matrix, work: Matrix, q: Vector, mass: Matrix) -> bool:
    """Write the mass matrix of one sample to `mass`; return whether all numbers are finite."""
    n = int(robot[0, NBODIES])
    for i in range(n):
        local_pose(robot, i, q, work)
        row = work[i]
        for k in range(10):
            row[M + k] = robot[1 + i, MASS + k]
    nv = mass.shape[0]
    for r in range(nv):
        for c in range(nv):
            mass[r, c] = 0.0
    for i in range(n - 1, -1, -1):
        body = robot[1 + i]
        parent = int(body[PARENT])
        if parent >= 0:
            _inertia_to_parent(work[i], work[parent])
        for column in range(6 if body[KIND] == FREE else 1):
            _add_column(robot, work, i, column, mass)
    finite = is_finite(q)
    for r in range(nv):
        finite &= is_finite(mass[r])
    return finite


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
    if not crba_kernel(model.kernel, np.empty(model.work_shape), q, mass):
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
