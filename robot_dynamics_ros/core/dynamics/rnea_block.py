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

"""
Inverse dynamics of a block of samples by the recursive Newton-Euler algorithm.

The algorithm and its symbols are those of `rnea`, which says where they come from. Here each
quantity is a row of `BLOCK` numbers, one for each sample, and every inner loop runs along a row;
see `lanes`. The work array holds `KEPT` rows for each body; one body's step works on the scratch
block `t`.

"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics.lanes import BLOCK, sin_cos_rows
from robot_dynamics_ros.core.jit import allocating_kernel, inner
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
def _free_joint_rows(body: Vector, q: Matrix, v: Matrix, a: Matrix, t: Matrix) -> None:
    """Write pose and relative motion of a free joint."""
    iq = int(body[IQ])
    iv = int(body[IV])
    for s in range(BLOCK):
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
def _prismatic_joint_rows(body: Vector, q: Matrix, v: Matrix, a: Matrix, t: Matrix) -> None:
    """Write pose and relative motion of a prismatic joint."""
    iq = int(body[IQ])
    iv = int(body[IV])
    multiplier = body[MULTIPLIER]
    for r in range(3):
        axis = body[ROTATION + 3 * r + 2]
        for s in range(BLOCK):
            t[E + 3 * r, s] = body[ROTATION + 3 * r]
            t[E + 3 * r + 1, s] = body[ROTATION + 3 * r + 1]
            t[E + 3 * r + 2, s] = axis
            t[P + r, s] = body[TRANSLATION + r] + axis * (multiplier * q[iq, s] + body[OFFSET])
            t[VR + r, s] = 0.0
            t[WR + r, s] = 0.0
            t[DVR + r, s] = 0.0
            t[DWR + r, s] = 0.0
    for s in range(BLOCK):
        t[VR + 2, s] = multiplier * v[iv, s]
        t[DVR + 2, s] = multiplier * a[iv, s]


@inner
def _general_motion_rows(t: Matrix) -> None:
    """Write the motion of a body from its parent's, for any joint."""
    for s in range(BLOCK):
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
def _revolute_motion_rows(body: Vector, t: Matrix) -> None:
    """
    Write pose and motion of a body behind a revolute joint.

    SIN, COS, RATE, ACCELERATION are known.

    """
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
    for s in range(BLOCK):
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
def _wrench_rows(body: Vector, t: Matrix) -> None:
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
    for s in range(BLOCK):
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
def _wrench_in_parent_rows(t: Matrix) -> None:
    """Replace force and moment by their values in the parent's frame."""
    for s in range(BLOCK):
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


@inner
def motion_rows(
    robot: Matrix, i: int, work: Matrix, t: Matrix, q: Matrix, v: Matrix, a: Matrix
) -> None:
    """Write pose and motion of body `i`, the rows before `F`, to the scratch block `t`."""
    body = robot[1 + i]
    parent = int(body[PARENT])
    if parent < 0:
        for s in range(BLOCK):
            for r in range(6):
                t[PW + r, s] = 0.0
            for r in range(3):
                t[PW + 6 + r, s] = -robot[0, GRAVITY + r]
    else:
        for r in range(9):
            for s in range(BLOCK):
                t[PW + r, s] = work[parent, W + r, s]
    if body[KIND] == REVOLUTE:
        iq = int(body[IQ])
        iv = int(body[IV])
        multiplier = body[MULTIPLIER]
        offset = body[OFFSET]
        for s in range(BLOCK):
            t[RATE, s] = multiplier * q[iq, s] + offset
        sin_cos_rows(t, RATE, SIN, COS)
        for s in range(BLOCK):
            t[RATE, s] = multiplier * v[iv, s]
            t[ACCELERATION, s] = multiplier * a[iv, s]
        _revolute_motion_rows(body, t)
    else:
        if body[KIND] == FREE:
            _free_joint_rows(body, q, v, a, t)
        else:
            _prismatic_joint_rows(body, q, v, a, t)
        _general_motion_rows(t)


@inner
def _passes(
    robot: Matrix, work: Matrix, t: Matrix, q: Matrix, v: Matrix, a: Matrix, tau: Matrix
) -> None:
    """Run both passes for one block of samples; `t` is the scratch block."""
    n = int(robot[0, NBODIES])
    # Pass 1: base to tips
    for i in range(n):
        motion_rows(robot, i, work, t, q, v, a)
        _wrench_rows(robot[1 + i], t)
        for r in range(KEPT):
            for s in range(BLOCK):
                work[i, r, s] = t[r, s]
    # Pass 2: tips to base
    for j in range(int(robot[0, NV])):
        for s in range(BLOCK):
            tau[j, s] = 0.0
    for i in range(n - 1, -1, -1):
        body = robot[1 + i]
        parent = int(body[PARENT])
        iv = int(body[IV])
        if body[KIND] == FREE:
            for r in range(6):
                for s in range(BLOCK):
                    tau[iv + r, s] += work[i, F + r, s]
        else:
            multiplier = body[MULTIPLIER]
            rotor = multiplier * body[ARMATURE]
            along_z = N + 2 if body[KIND] == REVOLUTE else F + 2
            for s in range(BLOCK):
                tau[iv, s] += multiplier * (work[i, along_z, s] + rotor * a[iv, s])
        if parent >= 0:
            for r in range(KEPT):
                for s in range(BLOCK):
                    t[r, s] = work[i, r, s]
            _wrench_in_parent_rows(t)
            for r in range(6):
                for s in range(BLOCK):
                    work[parent, F + r, s] += t[F + r, s]


@allocating_kernel
def rnea_block_kernel(robot: Matrix, q: Matrix, v: Matrix, a: Matrix, tau: Matrix) -> int:
    """
    Write the efforts of many samples to `tau`.

    Return the first sample that is not finite, or -1.

    """
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
        _passes(robot, work, t, rows_q, rows_v, rows_a, rows_tau)
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
