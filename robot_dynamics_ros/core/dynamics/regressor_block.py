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
Joint torque regressors of a block of samples.

The formulas and their symbols are those of `regressor`. Each quantity is a row of `BLOCK` numbers,
one for each sample, and every inner loop runs along a row; see `lanes`.

"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics.lanes import BLOCK
from robot_dynamics_ros.core.dynamics.rnea_block import A, DW, E, motion_rows, P, SCRATCH, W
from robot_dynamics_ros.core.jit import allocating_kernel, inner
from robot_dynamics_ros.core.model.kernel_layout import (
    FREE,
    IV,
    KIND,
    LINK,
    MIMIC,
    MULTIPLIER,
    NBODIES,
    PARENT,
    PUBLIC,
    REVOLUTE,
)

# Rows of a body's block of the work array, after those of the motion.
R = 21  # 9: rotation in the world, column by column
O = 30  # 3: origin in the world  # noqa: E741
POSED = 33
# Rows of the scratch block; the last ones take the place of what the motion needed.
JR = SCRATCH  # 12: R and O of the parent; or 6: an axis and its origin
S = 64  # 3: velocity of the link's origin by a joint, in link axes
Z = 67  # 3: angular velocity by a joint, in link axes
Y = 70  # 10: a block of the regressor
LR = 33  # 9: rotation of the link frame in the world, column by column
LW = 80  # 9: W, DW and A in link axes
ROWS = 89


@inner
def _pose_rows(parent: int, work: Matrix, t: Matrix) -> None:
    """Write `R` and `O` of a body; those of its parent are known."""
    for r in range(12):
        unit = 1.0 if r == 0 or r == 4 or r == 8 else 0.0
        for s in range(BLOCK):
            t[JR + r, s] = work[parent, R + r, s] if parent >= 0 else unit
    for r in range(3):
        for s in range(BLOCK):
            x = t[JR + r, s]
            y = t[JR + 3 + r, s]
            z = t[JR + 6 + r, s]
            t[R + r, s] = x * t[E, s] + y * t[E + 3, s] + z * t[E + 6, s]
            t[R + 3 + r, s] = x * t[E + 1, s] + y * t[E + 4, s] + z * t[E + 7, s]
            t[R + 6 + r, s] = x * t[E + 2, s] + y * t[E + 5, s] + z * t[E + 8, s]
            t[O + r, s] = t[JR + 9 + r, s] + x * t[P, s] + y * t[P + 1, s] + z * t[P + 2, s]


@inner
def _link_rows(body: Vector, t: Matrix) -> None:
    """Write pose and motion of a body's link frame; those of its kernel frame are known."""
    for c in range(3):
        lx = body[LINK + c]
        ly = body[LINK + 3 + c]
        lz = body[LINK + 6 + c]
        for s in range(BLOCK):
            t[LR + 3 * c, s] = t[R, s] * lx + t[R + 3, s] * ly + t[R + 6, s] * lz
            t[LR + 3 * c + 1, s] = t[R + 1, s] * lx + t[R + 4, s] * ly + t[R + 7, s] * lz
            t[LR + 3 * c + 2, s] = t[R + 2, s] * lx + t[R + 5, s] * ly + t[R + 8, s] * lz
            t[LW + c, s] = t[W, s] * lx + t[W + 1, s] * ly + t[W + 2, s] * lz
            t[LW + 3 + c, s] = t[DW, s] * lx + t[DW + 1, s] * ly + t[DW + 2, s] * lz
            t[LW + 6 + c, s] = t[A, s] * lx + t[A + 1, s] * ly + t[A + 2, s] * lz


@inner
def _axis_rows(turning: bool, t: Matrix) -> None:
    """Write `S` and `Z` of one axis, whose direction and origin lie in the first rows of `JR`."""
    for s in range(BLOCK):
        x = t[JR, s]
        y = t[JR + 1, s]
        z = t[JR + 2, s]
        if turning:
            dx = t[O, s] - t[JR + 3, s]
            dy = t[O + 1, s] - t[JR + 4, s]
            dz = t[O + 2, s] - t[JR + 5, s]
            vx = y * dz - z * dy
            vy = z * dx - x * dz
            vz = x * dy - y * dx
        else:
            vx = x
            vy = y
            vz = z
            x = 0.0
            y = 0.0
            z = 0.0
        t[S, s] = t[LR, s] * vx + t[LR + 1, s] * vy + t[LR + 2, s] * vz
        t[S + 1, s] = t[LR + 3, s] * vx + t[LR + 4, s] * vy + t[LR + 5, s] * vz
        t[S + 2, s] = t[LR + 6, s] * vx + t[LR + 7, s] * vy + t[LR + 8, s] * vz
        t[Z, s] = t[LR, s] * x + t[LR + 1, s] * y + t[LR + 2, s] * z
        t[Z + 1, s] = t[LR + 3, s] * x + t[LR + 4, s] * y + t[LR + 5, s] * z
        t[Z + 2, s] = t[LR + 6, s] * x + t[LR + 7, s] * y + t[LR + 8, s] * z


@inner
def _coefficient_rows(t: Matrix, scale: float) -> None:
    """Write the ten coefficients of the axis in `S` and `Z`, times `scale`, to `Y`."""
    for s in range(BLOCK):
        sx = scale * t[S, s]
        sy = scale * t[S + 1, s]
        sz = scale * t[S + 2, s]
        zx = scale * t[Z, s]
        zy = scale * t[Z + 1, s]
        zz = scale * t[Z + 2, s]
        wx = t[LW, s]
        wy = t[LW + 1, s]
        wz = t[LW + 2, s]
        dx = t[LW + 3, s]
        dy = t[LW + 4, s]
        dz = t[LW + 5, s]
        ax = t[LW + 6, s]
        ay = t[LW + 7, s]
        az = t[LW + 8, s]
        # s x w and z x w
        cx = sy * wz - sz * wy
        cy = sz * wx - sx * wz
        cz = sx * wy - sy * wx
        ux = zy * wz - zz * wy
        uy = zz * wx - zx * wz
        uz = zx * wy - zy * wx
        t[Y, s] = sx * ax + sy * ay + sz * az
        t[Y + 1, s] = cy * wz - cz * wy + sy * dz - sz * dy + ay * zz - az * zy
        t[Y + 2, s] = cz * wx - cx * wz + sz * dx - sx * dz + az * zx - ax * zz
        t[Y + 3, s] = cx * wy - cy * wx + sx * dy - sy * dx + ax * zy - ay * zx
        t[Y + 4, s] = zx * dx + ux * wx
        t[Y + 5, s] = zx * dy + zy * dx + ux * wy + uy * wx
        t[Y + 6, s] = zy * dy + uy * wy
        t[Y + 7, s] = zx * dz + zz * dx + ux * wz + uz * wx
        t[Y + 8, s] = zy * dz + zz * dy + uy * wz + uz * wy
        t[Y + 9, s] = zz * dz + uz * wz


@inner
def _passes(
    robot: Matrix,
    work: Matrix,
    t: Matrix,
    q: Matrix,
    v: Matrix,
    a: Matrix,
    out: Matrix,
    count: int,
) -> None:
    """
    Write the regressors of one block of samples.

    `out` has one matrix for each of the first `count`.

    """
    n = int(robot[0, NBODIES])
    shared = robot[0, MIMIC] != 0.0
    for s in range(count):
        for r in range(out.shape[1]):
            for c in range(out.shape[2]):
                out[s, r, c] = 0.0
    for i in range(n):
        body = robot[1 + i]
        parent = int(body[PARENT])
        motion_rows(robot, i, work, t, q, v, a)
        _pose_rows(parent, work, t)
        for r in range(W, POSED):
            for s in range(BLOCK):
                work[i, r, s] = t[r, s]
        first = 10 * int(body[PUBLIC])
        if first < 0:
            continue
        _link_rows(body, t)
        j = i
        while j >= 0:
            joint = robot[1 + j]
            kind = joint[KIND]
            for column in range(6 if kind == FREE else 1):
                k = column % 3 if kind == FREE else 2
                if k == 2:
                    for r in range(6):
                        for s in range(BLOCK):
                            t[JR + r, s] = work[j, R + 6 + r, s]
                else:
                    for r in range(3):
                        for s in range(BLOCK):
                            t[JR + r, s] = work[j, R + 3 * k + r, s]
                            t[JR + 3 + r, s] = work[j, O + r, s]
                _axis_rows(kind == REVOLUTE or (kind == FREE and column >= 3), t)
                _coefficient_rows(t, joint[MULTIPLIER])
                row = int(joint[IV]) + column
                if shared:
                    for s in range(count):
                        for c in range(10):
                            out[s, row, first + c] += t[Y + c, s]
                else:
                    for s in range(count):
                        for c in range(10):
                            out[s, row, first + c] = t[Y + c, s]
            j = int(joint[PARENT])


@allocating_kernel
def regressor_block_kernel(robot: Matrix, q: Matrix, v: Matrix, a: Matrix, out: Matrix) -> int:
    """Write the regressors of many samples; return the first sample that is not finite, or -1."""
    n = int(robot[0, NBODIES])
    work = np.empty((n, POSED, BLOCK))
    t = np.empty((ROWS, BLOCK))
    rows_q = np.empty((q.shape[1], BLOCK))
    rows_v = np.empty((v.shape[1], BLOCK))
    rows_a = np.empty((v.shape[1], BLOCK))
    bad = -1
    for start in range(0, q.shape[0], BLOCK):
        count = min(BLOCK, q.shape[0] - start)
        for s in range(BLOCK):
            sample = start + min(s, count - 1)
            total = 0.0
            for j in range(q.shape[1]):
                rows_q[j, s] = q[sample, j]
                total += 0.0 * q[sample, j]
            for j in range(v.shape[1]):
                rows_v[j, s] = v[sample, j]
                rows_a[j, s] = a[sample, j]
                total += 0.0 * (v[sample, j] + a[sample, j])
            if total != 0.0 and bad < 0:
                bad = sample
        _passes(robot, work, t, rows_q, rows_v, rows_a, out[start : start + count], count)
    return bad
