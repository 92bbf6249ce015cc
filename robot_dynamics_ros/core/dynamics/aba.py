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
from robot_dynamics_ros.core.jit import inner, kernel, lean_kernel, Quick
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
def _motion_from_parent(work: Matrix, i: int, p: int, source: int, target: int) -> None:
    """Write the motion ``work[p, source:]`` to ``work[i, target:]``, in the frame of body `i`."""
    wx = work[p, source + 3]
    wy = work[p, source + 4]
    wz = work[p, source + 5]
    vx = work[p, source] + wy * work[i, P + 2] - wz * work[i, P + 1]
    vy = work[p, source + 1] + wz * work[i, P] - wx * work[i, P + 2]
    vz = work[p, source + 2] + wx * work[i, P + 1] - wy * work[i, P]
    for k in range(3):
        work[i, target + k] = (
            work[i, E + k] * vx + work[i, E + 3 + k] * vy + work[i, E + 6 + k] * vz
        )
        work[i, target + 3 + k] = (
            work[i, E + k] * wx + work[i, E + 3 + k] * wy + work[i, E + 6 + k] * wz
        )


@inner
def _velocity(robot: Matrix, work: Matrix, i: int, v: Vector) -> None:
    """Add the joint's own velocity to `V` and write the acceleration `C` that it causes."""
    b = 1 + i
    iv = int(robot[b, IV])
    if robot[b, KIND] == REVOLUTE:
        rate = robot[b, MULTIPLIER] * v[iv]
        work[i, V + 5] += rate
        work[i, C] = work[i, V + 1] * rate
        work[i, C + 1] = -work[i, V] * rate
        work[i, C + 2] = 0.0
        work[i, C + 3] = work[i, V + 4] * rate
        work[i, C + 4] = -work[i, V + 3] * rate
        work[i, C + 5] = 0.0
    elif robot[b, KIND] == FREE:
        for k in range(6):
            work[i, V + k] += v[iv + k]
        # V x v_joint
        for k in range(3):
            m = (k + 1) % 3
            n = (k + 2) % 3
            work[i, C + k] = (
                work[i, V + 3 + m] * v[iv + n]
                - work[i, V + 3 + n] * v[iv + m]
                + work[i, V + m] * v[iv + 3 + n]
                - work[i, V + n] * v[iv + 3 + m]
            )
            work[i, C + 3 + k] = (
                work[i, V + 3 + m] * v[iv + 3 + n] - work[i, V + 3 + n] * v[iv + 3 + m]
            )
    else:
        rate = robot[b, MULTIPLIER] * v[iv]
        work[i, V + 2] += rate
        work[i, C] = work[i, V + 4] * rate
        work[i, C + 1] = -work[i, V + 3] * rate
        work[i, C + 2] = 0.0
        work[i, C + 3] = 0.0
        work[i, C + 4] = 0.0
        work[i, C + 5] = 0.0


@inner
def _bias_wrench(work: Matrix, i: int) -> None:
    """Write ``V x* (I V)`` to `PA`; `IA` still is the body's own inertia."""
    multiply_articulated(work, i, IA, V, PA)
    fx = work[i, PA]
    fy = work[i, PA + 1]
    fz = work[i, PA + 2]
    nx = work[i, PA + 3]
    ny = work[i, PA + 4]
    nz = work[i, PA + 5]
    vx = work[i, V]
    vy = work[i, V + 1]
    vz = work[i, V + 2]
    wx = work[i, V + 3]
    wy = work[i, V + 4]
    wz = work[i, V + 5]
    work[i, PA] = wy * fz - wz * fy
    work[i, PA + 1] = wz * fx - wx * fz
    work[i, PA + 2] = wx * fy - wy * fx
    work[i, PA + 3] = wy * nz - wz * ny + vy * fz - vz * fy
    work[i, PA + 4] = wz * nx - wx * nz + vz * fx - vx * fz
    work[i, PA + 5] = wx * ny - wy * nx + vx * fy - vy * fx


@inner
def _eliminate(robot: Matrix, work: Matrix, i: int, tau: Vector) -> bool:
    """
    Take a joint with one axis out of ``work[i, IA]`` and ``work[i, PA]``.

    Return whether it moves inertia.

    """
    b = 1 + i
    if robot[b, KIND] == REVOLUTE:
        work[i, U] = work[i, INERTIA_B + 2]
        work[i, U + 1] = work[i, INERTIA_B + 5]
        work[i, U + 2] = work[i, INERTIA_B + 8]
        work[i, U + 3] = work[i, INERTIA_D + 3]
        work[i, U + 4] = work[i, INERTIA_D + 4]
        work[i, U + 5] = work[i, INERTIA_D + 5]
        bias = work[i, PA + 5]
        own = work[i, U + 5]
        trace = work[i, INERTIA_D] + work[i, INERTIA_D + 2] + work[i, INERTIA_D + 5]
    else:
        work[i, U] = work[i, INERTIA_A + 3]
        work[i, U + 1] = work[i, INERTIA_A + 4]
        work[i, U + 2] = work[i, INERTIA_A + 5]
        work[i, U + 3] = work[i, INERTIA_B + 6]
        work[i, U + 4] = work[i, INERTIA_B + 7]
        work[i, U + 5] = work[i, INERTIA_B + 8]
        bias = work[i, PA + 2]
        own = work[i, U + 2]
        trace = work[i, INERTIA_A] + work[i, INERTIA_A + 2] + work[i, INERTIA_A + 5]
    pivot = own + robot[b, ARMATURE]
    if not pivot > PIVOT_TOLERANCE * trace:
        return False
    effort = tau[int(robot[b, IV])] - bias
    inverse = 1.0 / pivot
    scaled = effort * inverse
    work[i, PIVOT] = pivot
    work[i, EFFORT] = effort
    # I^a = I^A - U U^T / D
    k = 0
    for r in range(3):
        for c in range(r + 1):
            work[i, INERTIA_A + k] -= work[i, U + r] * inverse * work[i, U + c]
            work[i, INERTIA_D + k] -= work[i, U + 3 + r] * inverse * work[i, U + 3 + c]
            k += 1
        for c in range(3):
            work[i, INERTIA_B + 3 * r + c] -= work[i, U + r] * inverse * work[i, U + 3 + c]
    # p^a = p + I^a c + U u / D; ACC is free for I^a c
    multiply_articulated(work, i, IA, C, ACC)
    for k in range(6):
        work[i, PA + k] += work[i, ACC + k] + work[i, U + k] * scaled
    return True


@inner
def _bias_to_parent(work: Matrix, i: int, p: int) -> None:
    """Add the bias wrench to that of the parent."""
    for k in range(3):
        work[p, PA + k] += (
            work[i, E + 3 * k] * work[i, PA]
            + work[i, E + 3 * k + 1] * work[i, PA + 1]
            + work[i, E + 3 * k + 2] * work[i, PA + 2]
        )
    for k in range(3):
        a = (k + 1) % 3
        b = (k + 2) % 3
        fa = (
            work[i, E + 3 * a] * work[i, PA]
            + work[i, E + 3 * a + 1] * work[i, PA + 1]
            + work[i, E + 3 * a + 2] * work[i, PA + 2]
        )
        fb = (
            work[i, E + 3 * b] * work[i, PA]
            + work[i, E + 3 * b + 1] * work[i, PA + 1]
            + work[i, E + 3 * b + 2] * work[i, PA + 2]
        )
        work[p, PA + 3 + k] += (
            work[i, E + 3 * k] * work[i, PA + 3]
            + work[i, E + 3 * k + 1] * work[i, PA + 4]
            + work[i, E + 3 * k + 2] * work[i, PA + 5]
            + work[i, P + a] * fb
            - work[i, P + b] * fa
        )


@lean_kernel
def aba_kernel(robot: Matrix, work: Matrix, q: Vector, v: Vector, tau: Vector, a: Vector) -> int:
    """
    Write the accelerations to `a`.

    Return `OK`, `NOT_FINITE` or the degree of freedom that moves no inertia.

    """
    if not (is_finite(q) and is_finite(v) and is_finite(tau)):
        return NOT_FINITE
    n = int(robot[0, NBODIES])
    base = work.shape[0] - 1  # the scratch row
    # Pass 1: base to tips
    for i in range(n):
        b = 1 + i
        local_pose(robot, i, q, work)
        parent = int(robot[b, PARENT])
        if parent < 0:
            for k in range(6):
                work[i, V + k] = 0.0
        else:
            _motion_from_parent(work, i, parent, V, V)
        _velocity(robot, work, i, v)
        rigid_articulated(robot, work, i, IA)
        _bias_wrench(work, i)
    # Pass 2: tips to base
    for i in range(n - 1, -1, -1):
        b = 1 + i
        parent = int(robot[b, PARENT])
        iv = int(robot[b, IV])
        if robot[b, KIND] == FREE:
            for k in range(6):
                work[i, ACC + k] = tau[iv + k] - work[i, PA + k]
                work[i, PA + k] = tau[iv + k]
            singular = solve_articulated(work, i, IA, ACC, base)
            if singular >= 0:
                return iv + singular
            if parent >= 0:
                _bias_to_parent(work, i, parent)
        else:
            if not _eliminate(robot, work, i, tau):
                return iv
            if parent >= 0:
                articulated_to_parent(work, i, IA, parent)
                _bias_to_parent(work, i, parent)
    # Pass 3: base to tips
    for k in range(3):
        work[base, ACC + k] = -robot[0, GRAVITY + k]
        work[base, ACC + 3 + k] = 0.0
    for i in range(n):
        b = 1 + i
        parent = int(robot[b, PARENT])
        up = base if parent < 0 else parent
        iv = int(robot[b, IV])
        if robot[b, KIND] == FREE:
            # U is free for the acceleration at rest
            _motion_from_parent(work, i, up, ACC, U)
            for k in range(6):
                a[iv + k] = work[i, ACC + k] - work[i, U + k] - work[i, C + k]
        else:
            _motion_from_parent(work, i, up, ACC, ACC)
            total = work[i, EFFORT]
            for k in range(6):
                work[i, ACC + k] += work[i, C + k]
                total -= work[i, U + k] * work[i, ACC + k]
            a[iv] = total / work[i, PIVOT]
            work[i, ACC + (5 if robot[b, KIND] == REVOLUTE else 2)] += a[iv]
    return OK if is_finite(a) else NOT_FINITE


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


_aba = Quick(aba_kernel)
_mimic_dynamics = Quick(mimic_dynamics_kernel)


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
    forward = _mimic_dynamics if model.kernel[0, MIMIC] else _aba
    status = forward.call(model.kernel, model.scratch.work, q, v, tau, a)
    if status != OK:
        if status >= 0:
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
