r"""
Inverse dynamics by the recursive Newton-Euler algorithm.

Pass 1 goes from the base to the tips. With :math:`E` the rotation and :math:`p` the position of body :math:`i` in its
parent, and :math:`\omega_r, v_r` its angular and linear velocity relative to the parent (in its own axes),

.. math::

    \omega &= E^T \omega_p + \omega_r \\
    \dot\omega &= E^T \dot\omega_p + (E^T \omega_p) \times \omega_r + \dot\omega_r \\
    a &= E^T (a_p + \dot\omega_p \times p + \omega_p \times (\omega_p \times p))
         + 2 (E^T \omega_p) \times v_r + \omega_r \times v_r + \dot v_r \\
    f &= m a + \dot\omega \times h + \omega \times (\omega \times h) \\
    n &= I \dot\omega + \omega \times I \omega + h \times a

where :math:`a` is the acceleration of the origin of the body's frame, :math:`m, h, I` are mass, first moment and inertia
about that origin. The base accelerates upwards by :math:`-g` instead of the bodies feeling gravity. Linear velocities are
not needed. Pass 2 goes from the tips to the base: :math:`\tau = S^T (f, n)` and the parent receives
:math:`E f` and :math:`E n + p \times E f`.

All is in each body's kernel frame, where the axis of a joint is z. Both passes are written for rows of samples; see
`lanes`.

References
----------
.. [1] J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "On-Line Computational Scheme for Mechanical Manipulators", Journal of
   Dynamic Systems, Measurement, and Control 102(2), 1980.
.. [2] J. J. Craig, *Introduction to Robotics*, 3rd ed., 2005, section 6.5.
.. [3] R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, Table 5.1 (there: angular part first).

"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector, as_vector
from robot_dynamics_ros.core.dynamics.joint_transform import is_finite
from robot_dynamics_ros.core.dynamics.lanes import BLOCK, sin_cos_rows
from robot_dynamics_ros.core.dynamics.samples import as_samples, in_parallel, refuse_non_finite
from robot_dynamics_ros.core.jit import inner, kernel
from robot_dynamics_ros.core.model.kernel_layout import (
    ARMATURE,
    FIRST_MOMENT,
    FREE,
    GRAVITY,
    INERTIA,
    IQ,
    IV,
    KIND,
    MASS,
    MULTIPLIER,
    NBODIES,
    NV,
    OFFSET,
    PARENT,
    REVOLUTE,
    ROTATION,
    TRANSLATION,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel

# Rows of a body's block of the work array.
E = 0  # 9: rotation in the parent
P = 9  # 3: position in the parent
W = 12  # 3: angular velocity
DW = 15  # 3: angular acceleration
A = 18  # 3: acceleration of the origin
F = 21  # 3: force
N = 24  # 3: moment
KEPT = 27
# Rows of the scratch block only.
PW = 27  # 9: the parent's W, DW and A
WR = 36  # 3: relative angular velocity
VR = 39  # 3: relative linear velocity
DWR = 42  # 3: their derivatives
DVR = 45  # 3
SIN = 48
COS = 49
RATE = 50
ACCELERATION = 51
SCRATCH = 52


@inner
def _free_joint_rows(
    body: Vector, q: Matrix, v: Matrix, a: Matrix, t: Matrix, lanes: int
) -> None:
    """Write pose and relative motion of a free joint."""
    iq = int(body[IQ])
    iv = int(body[IV])
    for s in range(lanes):
        x = q[iq + 3, s]
        y = q[iq + 4, s]
        z = q[iq + 5, s]
        w = q[iq + 6, s]
        k = 2.0 / (x * x + y * y + z * z + w * w)
        for r in range(3):
            rx = body[ROTATION + 3 * r]
            ry = body[ROTATION + 3 * r + 1]
            rz = body[ROTATION + 3 * r + 2]
            t[E + 3 * r, s] = (
                rx * (1.0 - k * (y * y + z * z))
                + ry * k * (x * y + w * z)
                + rz * k * (x * z - w * y)
            )
            t[E + 3 * r + 1, s] = (
                rx * k * (x * y - w * z)
                + ry * (1.0 - k * (x * x + z * z))
                + rz * k * (y * z + w * x)
            )
            t[E + 3 * r + 2, s] = (
                rx * k * (x * z + w * y)
                + ry * k * (y * z - w * x)
                + rz * (1.0 - k * (x * x + y * y))
            )
            t[P + r, s] = (
                body[TRANSLATION + r] + rx * q[iq, s] + ry * q[iq + 1, s] + rz * q[iq + 2, s]
            )
            t[VR + r, s] = v[iv + r, s]
            t[WR + r, s] = v[iv + 3 + r, s]
            t[DVR + r, s] = a[iv + r, s]
            t[DWR + r, s] = a[iv + 3 + r, s]


@inner
def _prismatic_joint_rows(
    body: Vector, q: Matrix, v: Matrix, a: Matrix, t: Matrix, lanes: int
) -> None:
    """Write pose and relative motion of a prismatic joint."""
    iq = int(body[IQ])
    iv = int(body[IV])
    multiplier = body[MULTIPLIER]
    for r in range(3):
        axis = body[ROTATION + 3 * r + 2]
        for s in range(lanes):
            t[E + 3 * r, s] = body[ROTATION + 3 * r]
            t[E + 3 * r + 1, s] = body[ROTATION + 3 * r + 1]
            t[E + 3 * r + 2, s] = axis
            t[P + r, s] = body[TRANSLATION + r] + axis * (multiplier * q[iq, s] + body[OFFSET])
            t[VR + r, s] = 0.0
            t[WR + r, s] = 0.0
            t[DVR + r, s] = 0.0
            t[DWR + r, s] = 0.0
    for s in range(lanes):
        t[VR + 2, s] = multiplier * v[iv, s]
        t[DVR + 2, s] = multiplier * a[iv, s]


@inner
def _general_motion_rows(t: Matrix, lanes: int) -> None:
    """Write the motion of a body from its parent's, for any joint."""
    for s in range(lanes):
        px = t[P, s]
        py = t[P + 1, s]
        pz = t[P + 2, s]
        wx = t[PW, s]
        wy = t[PW + 1, s]
        wz = t[PW + 2, s]
        dx = t[PW + 3, s]
        dy = t[PW + 4, s]
        dz = t[PW + 5, s]
        # acceleration of the joint's origin as a point of the parent
        ux = wy * pz - wz * py
        uy = wz * px - wx * pz
        uz = wx * py - wy * px
        ax = t[PW + 6, s] + dy * pz - dz * py + wy * uz - wz * uy
        ay = t[PW + 7, s] + dz * px - dx * pz + wz * ux - wx * uz
        az = t[PW + 8, s] + dx * py - dy * px + wx * uy - wy * ux
        # E^T w_p
        ex = t[E, s] * wx + t[E + 3, s] * wy + t[E + 6, s] * wz
        ey = t[E + 1, s] * wx + t[E + 4, s] * wy + t[E + 7, s] * wz
        ez = t[E + 2, s] * wx + t[E + 5, s] * wy + t[E + 8, s] * wz
        rx = t[WR, s]
        ry = t[WR + 1, s]
        rz = t[WR + 2, s]
        vx = t[VR, s]
        vy = t[VR + 1, s]
        vz = t[VR + 2, s]
        # 2 E^T w_p + w_r
        cx = 2.0 * ex + rx
        cy = 2.0 * ey + ry
        cz = 2.0 * ez + rz
        t[W, s] = ex + rx
        t[W + 1, s] = ey + ry
        t[W + 2, s] = ez + rz
        t[DW, s] = (
            t[E, s] * dx + t[E + 3, s] * dy + t[E + 6, s] * dz + ey * rz - ez * ry + t[DWR, s]
        )
        t[DW + 1, s] = (
            t[E + 1, s] * dx
            + t[E + 4, s] * dy
            + t[E + 7, s] * dz
            + ez * rx
            - ex * rz
            + t[DWR + 1, s]
        )
        t[DW + 2, s] = (
            t[E + 2, s] * dx
            + t[E + 5, s] * dy
            + t[E + 8, s] * dz
            + ex * ry
            - ey * rx
            + t[DWR + 2, s]
        )
        t[A, s] = (
            t[E, s] * ax + t[E + 3, s] * ay + t[E + 6, s] * az + cy * vz - cz * vy + t[DVR, s]
        )
        t[A + 1, s] = (
            t[E + 1, s] * ax
            + t[E + 4, s] * ay
            + t[E + 7, s] * az
            + cz * vx
            - cx * vz
            + t[DVR + 1, s]
        )
        t[A + 2, s] = (
            t[E + 2, s] * ax
            + t[E + 5, s] * ay
            + t[E + 8, s] * az
            + cx * vy
            - cy * vx
            + t[DVR + 2, s]
        )


@inner
def _revolute_motion_rows(body: Vector, t: Matrix, lanes: int) -> None:
    """Write pose and motion of a body behind a revolute joint; SIN, COS, RATE, ACCELERATION are known."""
    px = body[TRANSLATION]
    py = body[TRANSLATION + 1]
    pz = body[TRANSLATION + 2]
    r00 = body[ROTATION]
    r01 = body[ROTATION + 1]
    r02 = body[ROTATION + 2]
    r10 = body[ROTATION + 3]
    r11 = body[ROTATION + 4]
    r12 = body[ROTATION + 5]
    r20 = body[ROTATION + 6]
    r21 = body[ROTATION + 7]
    r22 = body[ROTATION + 8]
    for s in range(lanes):
        sine = t[SIN, s]
        cosine = t[COS, s]
        rate = t[RATE, s]
        e00 = cosine * r00 + sine * r01
        e10 = cosine * r10 + sine * r11
        e20 = cosine * r20 + sine * r21
        e01 = cosine * r01 - sine * r00
        e11 = cosine * r11 - sine * r10
        e21 = cosine * r21 - sine * r20
        wx = t[PW, s]
        wy = t[PW + 1, s]
        wz = t[PW + 2, s]
        dx = t[PW + 3, s]
        dy = t[PW + 4, s]
        dz = t[PW + 5, s]
        ux = wy * pz - wz * py
        uy = wz * px - wx * pz
        uz = wx * py - wy * px
        ax = t[PW + 6, s] + dy * pz - dz * py + wy * uz - wz * uy
        ay = t[PW + 7, s] + dz * px - dx * pz + wz * ux - wx * uz
        az = t[PW + 8, s] + dx * py - dy * px + wx * uy - wy * ux
        w0 = e00 * wx + e10 * wy + e20 * wz
        w1 = e01 * wx + e11 * wy + e21 * wz
        t[E, s] = e00
        t[E + 1, s] = e01
        t[E + 2, s] = r02
        t[E + 3, s] = e10
        t[E + 4, s] = e11
        t[E + 5, s] = r12
        t[E + 6, s] = e20
        t[E + 7, s] = e21
        t[E + 8, s] = r22
        t[P, s] = px
        t[P + 1, s] = py
        t[P + 2, s] = pz
        t[W, s] = w0
        t[W + 1, s] = w1
        t[W + 2, s] = r02 * wx + r12 * wy + r22 * wz + rate
        t[DW, s] = e00 * dx + e10 * dy + e20 * dz + w1 * rate
        t[DW + 1, s] = e01 * dx + e11 * dy + e21 * dz - w0 * rate
        t[DW + 2, s] = r02 * dx + r12 * dy + r22 * dz + t[ACCELERATION, s]
        t[A, s] = e00 * ax + e10 * ay + e20 * az
        t[A + 1, s] = e01 * ax + e11 * ay + e21 * az
        t[A + 2, s] = r02 * ax + r12 * ay + r22 * az


@inner
def _wrench_rows(body: Vector, t: Matrix, lanes: int) -> None:
    """Write force and moment that give a body its motion (Newton and Euler)."""
    m = body[MASS]
    hx = body[FIRST_MOMENT]
    hy = body[FIRST_MOMENT + 1]
    hz = body[FIRST_MOMENT + 2]
    ixx = body[INERTIA]
    ixy = body[INERTIA + 1]
    iyy = body[INERTIA + 2]
    ixz = body[INERTIA + 3]
    iyz = body[INERTIA + 4]
    izz = body[INERTIA + 5]
    for s in range(lanes):
        wx = t[W, s]
        wy = t[W + 1, s]
        wz = t[W + 2, s]
        dx = t[DW, s]
        dy = t[DW + 1, s]
        dz = t[DW + 2, s]
        ax = t[A, s]
        ay = t[A + 1, s]
        az = t[A + 2, s]
        ux = wy * hz - wz * hy
        uy = wz * hx - wx * hz
        uz = wx * hy - wy * hx
        lx = ixx * wx + ixy * wy + ixz * wz
        ly = ixy * wx + iyy * wy + iyz * wz
        lz = ixz * wx + iyz * wy + izz * wz
        t[F, s] = m * ax + dy * hz - dz * hy + wy * uz - wz * uy
        t[F + 1, s] = m * ay + dz * hx - dx * hz + wz * ux - wx * uz
        t[F + 2, s] = m * az + dx * hy - dy * hx + wx * uy - wy * ux
        t[N, s] = ixx * dx + ixy * dy + ixz * dz + wy * lz - wz * ly + hy * az - hz * ay
        t[N + 1, s] = ixy * dx + iyy * dy + iyz * dz + wz * lx - wx * lz + hz * ax - hx * az
        t[N + 2, s] = ixz * dx + iyz * dy + izz * dz + wx * ly - wy * lx + hx * ay - hy * ax


@inner
def _wrench_in_parent_rows(t: Matrix, lanes: int) -> None:
    """Replace force and moment by their values in the parent's frame, about the parent's origin."""
    for s in range(lanes):
        fx = t[E, s] * t[F, s] + t[E + 1, s] * t[F + 1, s] + t[E + 2, s] * t[F + 2, s]
        fy = t[E + 3, s] * t[F, s] + t[E + 4, s] * t[F + 1, s] + t[E + 5, s] * t[F + 2, s]
        fz = t[E + 6, s] * t[F, s] + t[E + 7, s] * t[F + 1, s] + t[E + 8, s] * t[F + 2, s]
        nx = t[E, s] * t[N, s] + t[E + 1, s] * t[N + 1, s] + t[E + 2, s] * t[N + 2, s]
        ny = t[E + 3, s] * t[N, s] + t[E + 4, s] * t[N + 1, s] + t[E + 5, s] * t[N + 2, s]
        nz = t[E + 6, s] * t[N, s] + t[E + 7, s] * t[N + 1, s] + t[E + 8, s] * t[N + 2, s]
        t[F, s] = fx
        t[F + 1, s] = fy
        t[F + 2, s] = fz
        t[N, s] = nx + t[P + 1, s] * fz - t[P + 2, s] * fy
        t[N + 1, s] = ny + t[P + 2, s] * fx - t[P, s] * fz
        t[N + 2, s] = nz + t[P, s] * fy - t[P + 1, s] * fx


def make_motion(lanes: int) -> Callable[..., None]:
    """Return the step of pass 1 for a fixed number of samples; it writes the rows before `F` of the scratch block `t`."""

    @inner
    def motion(
        robot: Matrix, i: int, work: Matrix, t: Matrix, q: Matrix, v: Matrix, a: Matrix
    ) -> None:
        body = robot[1 + i]
        parent = int(body[PARENT])
        if parent < 0:
            for s in range(lanes):
                for r in range(6):
                    t[PW + r, s] = 0.0
                for r in range(3):
                    t[PW + 6 + r, s] = -robot[0, GRAVITY + r]
        else:
            for r in range(9):
                for s in range(lanes):
                    t[PW + r, s] = work[parent, W + r, s]
        if body[KIND] == REVOLUTE:
            iq = int(body[IQ])
            iv = int(body[IV])
            multiplier = body[MULTIPLIER]
            offset = body[OFFSET]
            for s in range(lanes):
                t[RATE, s] = multiplier * q[iq, s] + offset
            sin_cos_rows(t, RATE, SIN, COS, lanes)
            for s in range(lanes):
                t[RATE, s] = multiplier * v[iv, s]
                t[ACCELERATION, s] = multiplier * a[iv, s]
            _revolute_motion_rows(body, t, lanes)
        else:
            if body[KIND] == FREE:
                _free_joint_rows(body, q, v, a, t, lanes)
            else:
                _prismatic_joint_rows(body, q, v, a, t, lanes)
            _general_motion_rows(t, lanes)

    return motion


def _make_passes(lanes: int) -> Callable[..., None]:
    """Return both passes for a fixed number of samples; `t` is the scratch block."""
    motion = make_motion(lanes)

    @inner
    def passes(
        robot: Matrix, work: Matrix, t: Matrix, q: Matrix, v: Matrix, a: Matrix, tau: Matrix
    ) -> None:
        n = int(robot[0, NBODIES])
        # Pass 1: base to tips
        for i in range(n):
            motion(robot, i, work, t, q, v, a)
            _wrench_rows(robot[1 + i], t, lanes)
            for r in range(KEPT):
                for s in range(lanes):
                    work[i, r, s] = t[r, s]
        # Pass 2: tips to base
        for j in range(int(robot[0, NV])):
            for s in range(lanes):
                tau[j, s] = 0.0
        for i in range(n - 1, -1, -1):
            body = robot[1 + i]
            parent = int(body[PARENT])
            iv = int(body[IV])
            if body[KIND] == FREE:
                for r in range(6):
                    for s in range(lanes):
                        tau[iv + r, s] += work[i, F + r, s]
            else:
                multiplier = body[MULTIPLIER]
                rotor = multiplier * body[ARMATURE]
                along_z = N + 2 if body[KIND] == REVOLUTE else F + 2
                for s in range(lanes):
                    tau[iv, s] += multiplier * (work[i, along_z, s] + rotor * a[iv, s])
            if parent >= 0:
                for r in range(KEPT):
                    for s in range(lanes):
                        t[r, s] = work[i, r, s]
                _wrench_in_parent_rows(t, lanes)
                for r in range(6):
                    for s in range(lanes):
                        work[parent, F + r, s] += t[F + r, s]

    return passes


_passes_one = _make_passes(1)
_passes_block = _make_passes(BLOCK)


@kernel
def rnea_kernel(robot: Matrix, work: Matrix, q: Vector, v: Vector, a: Vector, tau: Vector) -> bool:
    """Write the efforts of one sample to `tau`; return whether all numbers are finite."""
    rows = work.reshape((work.shape[0], work.shape[1], 1))
    _passes_one(
        robot,
        rows,
        rows[work.shape[0] - 1],
        q.reshape((q.size, 1)),
        v.reshape((v.size, 1)),
        a.reshape((a.size, 1)),
        tau.reshape((tau.size, 1)),
    )
    return is_finite(q) and is_finite(v) and is_finite(a) and is_finite(tau)


@kernel
def rnea_block_kernel(robot: Matrix, q: Matrix, v: Matrix, a: Matrix, tau: Matrix) -> int:
    """Write the efforts of many samples to `tau`; return the first sample that is not finite, or -1."""
    n = int(robot[0, NBODIES])
    nq = q.shape[1]
    nv = v.shape[1]
    work = np.empty((n, KEPT, BLOCK))
    t = np.empty((SCRATCH, BLOCK))
    rows_q = np.empty((nq, BLOCK))
    rows_v = np.empty((nv, BLOCK))
    rows_a = np.empty((nv, BLOCK))
    rows_tau = np.empty((nv, BLOCK))
    bad = -1
    for start in range(0, q.shape[0], BLOCK):
        count = min(BLOCK, q.shape[0] - start)
        for s in range(BLOCK):
            sample = start + min(s, count - 1)
            for j in range(nq):
                rows_q[j, s] = q[sample, j]
            for j in range(nv):
                rows_v[j, s] = v[sample, j]
                rows_a[j, s] = a[sample, j]
        _passes_block(robot, work, t, rows_q, rows_v, rows_a, rows_tau)
        for s in range(count):
            total = 0.0
            for j in range(nv):
                tau[start + s, j] = rows_tau[j, s]
                total += 0.0 * (rows_tau[j, s] + rows_v[j, s] + rows_a[j, s])
            for j in range(nq):
                total += 0.0 * rows_q[j, s]
            if total != 0.0 and bad < 0:
                bad = start + s
    return bad


def rnea(
    model: RobotModel, q: Any, v: Any, a: Any, f_ext: Any = None
) -> Vector:
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
        Wrench ``[f; n]`` that acts on each body, expressed in the body's own (link) frame, about its origin [N, N m].

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
    if not rnea_kernel(model.kernel, np.empty(model.work_shape), q, v, a, tau):
        refuse_non_finite('efforts', q=q, v=v, a=a)
    if f_ext is not None:
        from robot_dynamics_ros.core.dynamics.external_wrench import external_efforts

        tau -= external_efforts(model, q, f_ext)
    return tau


def rnea_batch(model: RobotModel, q: Any, v: Any, a: Any, out: Matrix | None = None) -> Matrix:
    """
    Compute inverse dynamics of many samples.

    Parameters
    ----------
    model : RobotModel
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
