r"""
Forward dynamics by the articulated body algorithm.

Pass 1 goes from the base to the tips with velocities :math:`V`, the velocity-dependent
accelerations :math:`c = V \times S \dot q` and the bias wrenches :math:`p = V \times^* I V`. Pass
2 goes from the tips to the base with articulated inertias: with :math:`U = I^A S`, :math:`D = S^T
U` and :math:`u = \tau - S^T p` the parent receives :math:`I^A - U D^{-1} U^T` and :math:`p + I^a c
+ U D^{-1} u`. Pass 3 gives :math:`\ddot q = D^{-1} (u - U^T a')` with :math:`a'` the acceleration
that the body would have at :math:`\ddot q = 0`.

A free joint has :math:`S = 1`: nothing of its inertia reaches the parent, only the wrench
:math:`\tau`.

The articulated inertia is kept as three blocks, ``[[A, B], [B^T, D]]``, linear part first. Two
joints that share a degree of freedom close a loop in the recursion; a model with mimic joints is
solved with the mass matrix instead.

References
----------
.. [1] R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, Table 7.1 (there: angular part
   first).

"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Matrix, Vector
from robot_dynamics_ros.core.dynamics.articulated_inertia import (
    articulated_to_parent,
    BLOCK_A,
    BLOCK_B,
    BLOCK_D,
    multiply_articulated,
    rigid_articulated,
    solve_articulated,
)
from robot_dynamics_ros.core.dynamics.external_wrench import external_efforts
from robot_dynamics_ros.core.dynamics.joint_transform import E, is_finite, local_pose, P
from robot_dynamics_ros.core.dynamics.mimic_dynamics import (
    mimic_dynamics_block_kernel,
    mimic_dynamics_kernel,
    NOT_FINITE,
    OK,
)
from robot_dynamics_ros.core.dynamics.samples import as_samples, in_parallel, refuse_non_finite
from robot_dynamics_ros.core.exceptions import SingularMassMatrixError
from robot_dynamics_ros.core.jit import inner, kernel
from robot_dynamics_ros.core.model.kernel_layout import (
    ARMATURE,
    FREE,
    GRAVITY,
    IV,
    KIND,
    MIMIC,
    MULTIPLIER,
    NBODIES,
    PARENT,
    REVOLUTE,
    WORK_WIDTH,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel

# Columns of a body's row of the work array, after its local pose.
V = 12  # 6: velocity
C = 18  # 6: velocity-dependent acceleration
IA = 24  # 21: articulated inertia, blocks A (6), B (9), D (6)
PA = 45  # 6: bias wrench
U = 51  # 6
PIVOT = 57  # 1: D
EFFORT = 58  # 1: u
ACC = 59  # 6: acceleration
INERTIA_A = IA + BLOCK_A
INERTIA_B = IA + BLOCK_B
INERTIA_D = IA + BLOCK_D

PIVOT_TOLERANCE = 1e-12
"""A pivot below this part of the trace of its block is the rounding of zero."""


@inner
def _motion_from_parent(row: Vector, up: Vector, source: int, target: int) -> None:
    """Write the parent's motion ``up[source]`` to ``row[target]``, in the body's frame."""
    wx = up[source + 3]
    wy = up[source + 4]
    wz = up[source + 5]
    vx = up[source] + wy * row[P + 2] - wz * row[P + 1]
    vy = up[source + 1] + wz * row[P] - wx * row[P + 2]
    vz = up[source + 2] + wx * row[P + 1] - wy * row[P]
    for k in range(3):
        row[target + k] = row[E + k] * vx + row[E + 3 + k] * vy + row[E + 6 + k] * vz
        row[target + 3 + k] = row[E + k] * wx + row[E + 3 + k] * wy + row[E + 6 + k] * wz


@inner
def _velocity(body: Vector, row: Vector, v: Vector) -> None:
    """Add the joint's own velocity to ``row[V]`` and write the acceleration `C` that it causes."""
    iv = int(body[IV])
    if body[KIND] == REVOLUTE:
        rate = body[MULTIPLIER] * v[iv]
        row[V + 5] += rate
        row[C] = row[V + 1] * rate
        row[C + 1] = -row[V] * rate
        row[C + 2] = 0.0
        row[C + 3] = row[V + 4] * rate
        row[C + 4] = -row[V + 3] * rate
        row[C + 5] = 0.0
    elif body[KIND] == FREE:
        for k in range(6):
            row[V + k] += v[iv + k]
        # V x v_joint
        for k in range(3):
            a = (k + 1) % 3
            b = (k + 2) % 3
            row[C + k] = (
                row[V + 3 + a] * v[iv + b]
                - row[V + 3 + b] * v[iv + a]
                + row[V + a] * v[iv + 3 + b]
                - row[V + b] * v[iv + 3 + a]
            )
            row[C + 3 + k] = row[V + 3 + a] * v[iv + 3 + b] - row[V + 3 + b] * v[iv + 3 + a]
    else:
        rate = body[MULTIPLIER] * v[iv]
        row[V + 2] += rate
        row[C] = row[V + 4] * rate
        row[C + 1] = -row[V + 3] * rate
        row[C + 2] = 0.0
        row[C + 3] = 0.0
        row[C + 4] = 0.0
        row[C + 5] = 0.0


@inner
def _bias_wrench(row: Vector) -> None:
    """Write ``V x* (I V)`` to ``row[PA]``; ``row[IA]`` still is the body's own inertia."""
    multiply_articulated(row, IA, row, V, row, PA)
    fx = row[PA]
    fy = row[PA + 1]
    fz = row[PA + 2]
    nx = row[PA + 3]
    ny = row[PA + 4]
    nz = row[PA + 5]
    vx = row[V]
    vy = row[V + 1]
    vz = row[V + 2]
    wx = row[V + 3]
    wy = row[V + 4]
    wz = row[V + 5]
    row[PA] = wy * fz - wz * fy
    row[PA + 1] = wz * fx - wx * fz
    row[PA + 2] = wx * fy - wy * fx
    row[PA + 3] = wy * nz - wz * ny + vy * fz - vz * fy
    row[PA + 4] = wz * nx - wx * nz + vz * fx - vx * fz
    row[PA + 5] = wx * ny - wy * nx + vx * fy - vy * fx


@inner
def _eliminate(body: Vector, row: Vector, tau: Vector) -> bool:
    """
    Take a joint with one axis out of ``row[IA]`` and ``row[PA]``.

    Return whether it moves inertia.

    """
    if body[KIND] == REVOLUTE:
        row[U] = row[INERTIA_B + 2]
        row[U + 1] = row[INERTIA_B + 5]
        row[U + 2] = row[INERTIA_B + 8]
        row[U + 3] = row[INERTIA_D + 3]
        row[U + 4] = row[INERTIA_D + 4]
        row[U + 5] = row[INERTIA_D + 5]
        bias = row[PA + 5]
        own = row[U + 5]
        trace = row[INERTIA_D] + row[INERTIA_D + 2] + row[INERTIA_D + 5]
    else:
        row[U] = row[INERTIA_A + 3]
        row[U + 1] = row[INERTIA_A + 4]
        row[U + 2] = row[INERTIA_A + 5]
        row[U + 3] = row[INERTIA_B + 6]
        row[U + 4] = row[INERTIA_B + 7]
        row[U + 5] = row[INERTIA_B + 8]
        bias = row[PA + 2]
        own = row[U + 2]
        trace = row[INERTIA_A] + row[INERTIA_A + 2] + row[INERTIA_A + 5]
    pivot = own + body[ARMATURE]
    if not pivot > PIVOT_TOLERANCE * trace:
        return False
    effort = tau[int(body[IV])] - bias
    row[PIVOT] = pivot
    row[EFFORT] = effort
    # I^a = I^A - U U^T / D
    k = 0
    for r in range(3):
        for c in range(r + 1):
            row[INERTIA_A + k] -= row[U + r] * row[U + c] / pivot
            row[INERTIA_D + k] -= row[U + 3 + r] * row[U + 3 + c] / pivot
            k += 1
        for c in range(3):
            row[INERTIA_B + 3 * r + c] -= row[U + r] * row[U + 3 + c] / pivot
    # p^a = p + I^a c + U u / D; ACC is free for I^a c
    multiply_articulated(row, IA, row, C, row, ACC)
    for k in range(6):
        row[PA + k] += row[ACC + k] + row[U + k] * effort / pivot
    return True


@inner
def _wrench_to_parent(row: Vector, up: Vector) -> None:
    """Add the bias wrench to that of the parent."""
    for k in range(3):
        up[PA + k] += (
            row[E + 3 * k] * row[PA]
            + row[E + 3 * k + 1] * row[PA + 1]
            + row[E + 3 * k + 2] * row[PA + 2]
        )
    for k in range(3):
        a = (k + 1) % 3
        b = (k + 2) % 3
        fa = (
            row[E + 3 * a] * row[PA]
            + row[E + 3 * a + 1] * row[PA + 1]
            + row[E + 3 * a + 2] * row[PA + 2]
        )
        fb = (
            row[E + 3 * b] * row[PA]
            + row[E + 3 * b + 1] * row[PA + 1]
            + row[E + 3 * b + 2] * row[PA + 2]
        )
        up[PA + 3 + k] += (
            row[E + 3 * k] * row[PA + 3]
            + row[E + 3 * k + 1] * row[PA + 4]
            + row[E + 3 * k + 2] * row[PA + 5]
            + row[P + a] * fb
            - row[P + b] * fa
        )


@kernel
def aba_kernel(robot: Matrix, work: Matrix, q: Vector, v: Vector, tau: Vector, a: Vector) -> int:
    """
    Write the accelerations to `a`.

    Return `OK`, `NOT_FINITE` or the degree of freedom that moves no inertia.

    """
    n = int(robot[0, NBODIES])
    # Pass 1: base to tips
    for i in range(n):
        body = robot[1 + i]
        row = work[i]
        local_pose(robot, i, q, work)
        parent = int(body[PARENT])
        if parent < 0:
            for k in range(6):
                row[V + k] = 0.0
        else:
            _motion_from_parent(row, work[parent], V, V)
        _velocity(body, row, v)
        rigid_articulated(body, row, IA)
        _bias_wrench(row)
    # Pass 2: tips to base
    for i in range(n - 1, -1, -1):
        body = robot[1 + i]
        row = work[i]
        parent = int(body[PARENT])
        iv = int(body[IV])
        if body[KIND] == FREE:
            for k in range(6):
                row[ACC + k] = tau[iv + k] - row[PA + k]
                row[PA + k] = tau[iv + k]
            singular = solve_articulated(row, IA, ACC, work[work.shape[0] - 1])
            if singular >= 0:
                return iv + singular
            if parent >= 0:
                _wrench_to_parent(row, work[parent])
        else:
            if not _eliminate(body, row, tau):
                return iv
            if parent >= 0:
                articulated_to_parent(row, IA, work[parent], IA)
                _wrench_to_parent(row, work[parent])
    # Pass 3: base to tips
    base = work[work.shape[0] - 1]
    for k in range(3):
        base[ACC + k] = -robot[0, GRAVITY + k]
        base[ACC + 3 + k] = 0.0
    for i in range(n):
        body = robot[1 + i]
        row = work[i]
        parent = int(body[PARENT])
        up = base if parent < 0 else work[parent]
        iv = int(body[IV])
        if body[KIND] == FREE:
            # U is free for the acceleration at rest
            _motion_from_parent(row, up, ACC, U)
            for k in range(6):
                a[iv + k] = row[ACC + k] - row[U + k] - row[C + k]
        else:
            _motion_from_parent(row, up, ACC, ACC)
            total = row[EFFORT]
            for k in range(6):
                row[ACC + k] += row[C + k]
                total -= row[U + k] * row[ACC + k]
            a[iv] = total / row[PIVOT]
            row[ACC + (5 if body[KIND] == REVOLUTE else 2)] += a[iv]
    if is_finite(q) and is_finite(v) and is_finite(tau) and is_finite(a):
        return OK
    return NOT_FINITE


@kernel
def aba_block_kernel(robot: Matrix, q: Matrix, v: Matrix, tau: Matrix, a: Matrix) -> int:
    """
    Write the accelerations of many samples.

    Return the first sample without an answer, or -1.

    """
    work = np.empty((robot.shape[0], WORK_WIDTH))
    bad = -1
    for s in range(q.shape[0]):
        if aba_kernel(robot, work, q[s], v[s], tau[s], a[s]) != OK and bad < 0:
            bad = s
    return bad


def forward_dynamics_kernel(model: RobotModel) -> Callable[..., int]:
    """Return the kernel for the forward dynamics of a model, with or without mimic joints."""
    return mimic_dynamics_kernel if model.kernel[0, MIMIC] else aba_kernel


def aba(model: RobotModel, q: Any, v: Any, tau: Any, f_ext: Any = None) -> Vector:
    r"""
    Compute forward dynamics with the articulated body algorithm.

    .. math:: a = M(q)^{-1} (\tau + J(q)^T f_{ext} - C(q, v)\,v - g(q))

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].
    v : array_like, shape (nv,)
        Joint velocities [rad/s | m/s].
    tau : array_like, shape (nv,)
        Joint efforts without friction [N m | N].
    f_ext : array_like, shape (nbodies, 6), optional
        Wrench ``[f; n]`` that acts on each body, expressed in the body's own (link) frame, about
        its origin [N, N m].

    Returns
    -------
    a : ndarray, shape (nv,)
        Joint accelerations [rad/s^2 | m/s^2].

    Raises
    ------
    DimensionError
        If an array has another shape.
    NonFiniteError
        If an entry is NaN or infinite.
    SingularMassMatrixError
        If a degree of freedom moves no inertia; the message names it.

    """
    q = as_vector('q', q, model.nq)
    v = as_vector('v', v, model.nv)
    tau = as_vector('tau', tau, model.nv)
    if f_ext is not None:
        tau = tau + external_efforts(model, q, f_ext)
    a = np.empty(model.nv)
    forward = forward_dynamics_kernel(model)
    status = forward(model.kernel, np.empty(model.work_shape), q, v, tau, a)
    if status != OK:
        if status >= 0 and np.isfinite(q).all():
            raise SingularMassMatrixError(model.v_names[status])
        refuse_non_finite('accelerations', q=q, v=v, tau=tau)
    return a


def aba_batch(model: RobotModel, q: Any, v: Any, tau: Any, out: Matrix | None = None) -> Matrix:
    """
    Compute forward dynamics of many samples.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (n_samples, nq)
        Joint positions [rad | m].
    v, tau : array_like, shape (n_samples, nv)
        Joint velocities [rad/s | m/s] and efforts [N m | N].
    out : ndarray, shape (n_samples, nv), optional
        Where the result goes.

    Returns
    -------
    a : ndarray, shape (n_samples, nv)
        Joint accelerations [rad/s^2 | m/s^2].

    Raises
    ------
    DimensionError
        If an array has another shape.
    NonFiniteError
        If an entry is NaN or infinite.
    SingularMassMatrixError
        If a degree of freedom moves no inertia.

    """
    q = as_samples('q', q, model.nq)
    v = as_samples('v', v, model.nv, len(q))
    tau = as_samples('tau', tau, model.nv, len(q))
    a = np.empty((len(q), model.nv)) if out is None else out
    if len(q):
        aba(model, q[0], v[0], tau[0])  # names a joint that moves no inertia
    block = mimic_dynamics_block_kernel if model.kernel[0, MIMIC] else aba_block_kernel
    in_parallel(block, model.kernel, (q, v, tau), a)
    return a
