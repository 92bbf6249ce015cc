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
Inverse dynamics by the recursive Newton-Euler algorithm.

Pass 1 goes from the base to the tips. With :math:`E` the rotation and :math:`p` the position of
body :math:`i` in its parent, and :math:`\omega_r, v_r` its angular and linear velocity relative to
the parent (in its own axes),

.. math::

    \omega &= E^T \omega_p + \omega_r \\
    \dot\omega &= E^T \dot\omega_p + (E^T \omega_p) \times \omega_r + \dot\omega_r \\
    a &= E^T (a_p + \dot\omega_p \times p + \omega_p \times (\omega_p \times p))
         + 2 (E^T \omega_p) \times v_r + \omega_r \times v_r + \dot v_r \\
    f &= m a + \dot\omega \times h + \omega \times (\omega \times h) \\
    n &= I \dot\omega + \omega \times I \omega + h \times a

where :math:`a` is the acceleration of the origin of the body's frame, :math:`m, h, I` are mass,
first moment and inertia about that origin. The base accelerates upwards by :math:`-g` instead of
the bodies feeling gravity. Linear velocities are not needed. Pass 2 goes from the tips to the
base: :math:`\tau = S^T (f, n)` and the parent receives :math:`E f` and :math:`E n + p \times E f`.

All is in each body's kernel frame, where the axis of a joint is z; see `kernel_layout`.
`rnea_block` is the same algorithm for a block of samples.

References
----------
.. [1] J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "On-Line Computational Scheme for Mechanical
   Manipulators", Journal of
   Dynamic Systems, Measurement, and Control 102(2), 1980.
.. [2] J. J. Craig, *Introduction to Robotics*, 3rd ed., 2005, section 6.5.
.. [3] R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, Table 5.1 (there: angular part
   first).

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Matrix, Vector
from robot_dynamics_ros.core.dynamics.external_wrench import external_efforts
from robot_dynamics_ros.core.dynamics.joint_transform import (
    add_joint_effort,
    E,
    is_finite,
    local_pose,
    P,
    wrench_to_parent,
)
from robot_dynamics_ros.core.dynamics.rnea_block import rnea_block_kernel
from robot_dynamics_ros.core.dynamics.samples import as_samples, in_parallel, refuse_non_finite
from robot_dynamics_ros.core.jit import inner, lean_kernel, Quick
from robot_dynamics_ros.core.model.kernel_layout import (
    ARMATURE,
    FIRST_MOMENT,
    FREE,
    GRAVITY,
    INERTIA,
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
W = 12  # 3: angular velocity
DW = 15  # 3: angular acceleration
A = 18  # 3: acceleration of the origin
WRENCH = 21  # 6: force and moment


@inner
def body_motion(robot: Matrix, i: int, q: Vector, v: Vector, a: Vector, work: Matrix) -> None:
    """Write pose and motion of kernel body `i`; those of its parent are known."""
    local_pose(robot, i, q, work)
    b = 1 + i
    p = int(robot[b, PARENT])
    if p < 0:
        wx = 0.0
        wy = 0.0
        wz = 0.0
        dx = 0.0
        dy = 0.0
        dz = 0.0
        ax = -robot[0, GRAVITY]
        ay = -robot[0, GRAVITY + 1]
        az = -robot[0, GRAVITY + 2]
    else:
        wx = work[p, W]
        wy = work[p, W + 1]
        wz = work[p, W + 2]
        dx = work[p, DW]
        dy = work[p, DW + 1]
        dz = work[p, DW + 2]
        px = work[i, P]
        py = work[i, P + 1]
        pz = work[i, P + 2]
        # acceleration of the joint's origin as a point of the parent
        ux = wy * pz - wz * py
        uy = wz * px - wx * pz
        uz = wx * py - wy * px
        ax = work[p, A] + dy * pz - dz * py + wy * uz - wz * uy
        ay = work[p, A + 1] + dz * px - dx * pz + wz * ux - wx * uz
        az = work[p, A + 2] + dx * py - dy * px + wx * uy - wy * ux
    # the parent's motion in the body's axes
    ex = work[i, E] * wx + work[i, E + 3] * wy + work[i, E + 6] * wz
    ey = work[i, E + 1] * wx + work[i, E + 4] * wy + work[i, E + 7] * wz
    ez = work[i, E + 2] * wx + work[i, E + 5] * wy + work[i, E + 8] * wz
    fx = work[i, E] * dx + work[i, E + 3] * dy + work[i, E + 6] * dz
    fy = work[i, E + 1] * dx + work[i, E + 4] * dy + work[i, E + 7] * dz
    fz = work[i, E + 2] * dx + work[i, E + 5] * dy + work[i, E + 8] * dz
    gx = work[i, E] * ax + work[i, E + 3] * ay + work[i, E + 6] * az
    gy = work[i, E + 1] * ax + work[i, E + 4] * ay + work[i, E + 7] * az
    gz = work[i, E + 2] * ax + work[i, E + 5] * ay + work[i, E + 8] * az
    iv = int(robot[b, IV])
    if robot[b, KIND] == REVOLUTE:
        rate = robot[b, MULTIPLIER] * v[iv]
        fx += ey * rate
        fy -= ex * rate
        fz += robot[b, MULTIPLIER] * a[iv]
        ez += rate
    elif robot[b, KIND] == FREE:
        vx = v[iv]
        vy = v[iv + 1]
        vz = v[iv + 2]
        rx = v[iv + 3]
        ry = v[iv + 4]
        rz = v[iv + 5]
        cx = 2.0 * ex + rx
        cy = 2.0 * ey + ry
        cz = 2.0 * ez + rz
        gx += cy * vz - cz * vy + a[iv]
        gy += cz * vx - cx * vz + a[iv + 1]
        gz += cx * vy - cy * vx + a[iv + 2]
        fx += ey * rz - ez * ry + a[iv + 3]
        fy += ez * rx - ex * rz + a[iv + 4]
        fz += ex * ry - ey * rx + a[iv + 5]
        ex += rx
        ey += ry
        ez += rz
    else:
        rate = 2.0 * robot[b, MULTIPLIER] * v[iv]
        gx += ey * rate
        gy -= ex * rate
        gz += robot[b, MULTIPLIER] * a[iv]
    work[i, W] = ex
    work[i, W + 1] = ey
    work[i, W + 2] = ez
    work[i, DW] = fx
    work[i, DW + 1] = fy
    work[i, DW + 2] = fz
    work[i, A] = gx
    work[i, A + 1] = gy
    work[i, A + 2] = gz


@inner
def _body_wrench(robot: Matrix, i: int, work: Matrix) -> None:
    """Write force and moment that give a body its motion (Newton and Euler)."""
    b = 1 + i
    m = robot[b, MASS]
    hx = robot[b, FIRST_MOMENT]
    hy = robot[b, FIRST_MOMENT + 1]
    hz = robot[b, FIRST_MOMENT + 2]
    ixx = robot[b, INERTIA]
    ixy = robot[b, INERTIA + 1]
    iyy = robot[b, INERTIA + 2]
    ixz = robot[b, INERTIA + 3]
    iyz = robot[b, INERTIA + 4]
    izz = robot[b, INERTIA + 5]
    wx = work[i, W]
    wy = work[i, W + 1]
    wz = work[i, W + 2]
    dx = work[i, DW]
    dy = work[i, DW + 1]
    dz = work[i, DW + 2]
    ax = work[i, A]
    ay = work[i, A + 1]
    az = work[i, A + 2]
    ux = wy * hz - wz * hy
    uy = wz * hx - wx * hz
    uz = wx * hy - wy * hx
    lx = ixx * wx + ixy * wy + ixz * wz
    ly = ixy * wx + iyy * wy + iyz * wz
    lz = ixz * wx + iyz * wy + izz * wz
    work[i, WRENCH] = m * ax + dy * hz - dz * hy + wy * uz - wz * uy
    work[i, WRENCH + 1] = m * ay + dz * hx - dx * hz + wz * ux - wx * uz
    work[i, WRENCH + 2] = m * az + dx * hy - dy * hx + wx * uy - wy * ux
    work[i, WRENCH + 3] = ixx * dx + ixy * dy + ixz * dz + wy * lz - wz * ly + hy * az - hz * ay
    work[i, WRENCH + 4] = ixy * dx + iyy * dy + iyz * dz + wz * lx - wx * lz + hz * ax - hx * az
    work[i, WRENCH + 5] = ixz * dx + iyz * dy + izz * dz + wx * ly - wy * lx + hx * ay - hy * ax


@lean_kernel
def rnea_kernel(robot: Matrix, work: Matrix, q: Vector, v: Vector, a: Vector, tau: Vector) -> bool:
    """Write the efforts of one sample to `tau`; return whether all numbers are finite."""
    n = int(robot[0, NBODIES])
    # Pass 1: base to tips
    for i in range(n):
        body_motion(robot, i, q, v, a, work)
        _body_wrench(robot, i, work)
    # Pass 2: tips to base
    for j in range(tau.size):
        tau[j] = 0.0
    for i in range(n - 1, -1, -1):
        b = 1 + i
        add_joint_effort(robot, i, WRENCH, work, tau)
        if robot[b, ARMATURE] != 0.0:
            iv = int(robot[b, IV])
            tau[iv] += robot[b, MULTIPLIER] * robot[b, MULTIPLIER] * robot[b, ARMATURE] * a[iv]
        wrench_to_parent(robot, i, WRENCH, work)
    return is_finite(q) and is_finite(v) and is_finite(a) and is_finite(tau)


_rnea = Quick(rnea_kernel)


def rnea(model: RobotModel, q: Any, v: Any, a: Any, f_ext: Any = None) -> Vector:
    r"""
    Compute inverse dynamics with the recursive Newton-Euler algorithm.

    .. math:: \tau = M(q)\,a + C(q, v)\,v + g(q) - J(q)^T f_{ext}

    Parameters
    ----------
    model : RobotModel
        Tree with `nv` degrees of freedom, on a fixed or floating base.
    q : array_like, shape (nq,)
        Joint positions [rad | m].
    v : array_like, shape (nv,)
        Joint velocities [rad/s | m/s].
    a : array_like, shape (nv,)
        Joint accelerations [rad/s^2 | m/s^2].
    f_ext : array_like, shape (nbodies, 6), optional
        Wrench ``[f; n]`` that acts on each body, expressed in the body's own (link) frame, about
        its origin [N, N m].

    Returns
    -------
    tau : ndarray, shape (nv,)
        Joint efforts [N m | N] that produce `a`; joint friction is not included, armature is.

    Raises
    ------
    DimensionError
        If an array has another shape.
    NonFiniteError
        If an entry is NaN or infinite, or the result is too large for a float.

    """
    q = as_vector('q', q, model.nq)
    v = as_vector('v', v, model.nv)
    a = as_vector('a', a, model.nv)
    tau = np.empty(model.nv)
    if not _rnea.call(model.kernel, model.scratch.work, q, v, a, tau):
        refuse_non_finite('efforts', q=q, v=v, a=a)
    if f_ext is not None:
        tau -= external_efforts(model, q, f_ext)
    return tau


def rnea_batch(model: RobotModel, q: Any, v: Any, a: Any, out: Matrix | None = None) -> Matrix:
    """
    Compute inverse dynamics of many samples.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (n_samples, nq)
        Joint positions [rad | m].
    v, a : array_like, shape (n_samples, nv)
        Joint velocities and accelerations [rad/s | m/s], [rad/s^2 | m/s^2].
    out : ndarray, shape (n_samples, nv), optional
        Where the result goes: float64, contiguous and writable.

    Returns
    -------
    tau : ndarray, shape (n_samples, nv)
        Joint efforts [N m | N], as by `rnea`.

    Raises
    ------
    DimensionError
        If an array has another shape.
    NonFiniteError
        If an entry is NaN or infinite; the message names the first such sample.

    """
    q = as_samples('q', q, model.nq)
    v = as_samples('v', v, model.nv, len(q))
    a = as_samples('a', a, model.nv, len(q))
    tau = np.empty((len(q), model.nv)) if out is None else out
    in_parallel(rnea_block_kernel, model.kernel, (q, v, a), tau)
    return tau
