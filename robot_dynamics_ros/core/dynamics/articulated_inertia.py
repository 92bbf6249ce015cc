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
Articulated inertia in three blocks: :math:`f = A v + B \omega`, :math:`n = B^T v + D \omega`.

`A` and `D` are symmetric and kept as xx, xy, yy, xz, yz, zz; `B` is kept row by row. All 21
numbers lie in a row of the work array from a given column.

"""

from __future__ import annotations

import math

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.jit import inner
from robot_dynamics_ros.core.model.kernel_layout import FIRST_MOMENT, INERTIA, MASS

BLOCK_A = 0
BLOCK_B = 6
BLOCK_D = 15

_E = 0
_P = 9


@inner
def rigid_articulated(robot: Matrix, work: Matrix, i: int, at: int) -> None:
    """Write the inertia of a rigid body: ``A = m 1``, ``B = -[h]``, ``D = I``."""
    d = 1 + i
    m = robot[d, MASS]
    for k in range(6):
        work[i, at + k] = 0.0
        work[i, at + BLOCK_D + k] = robot[d, INERTIA + k]
    work[i, at] = m
    work[i, at + 2] = m
    work[i, at + 5] = m
    b = at + BLOCK_B
    work[i, b] = 0.0
    work[i, b + 1] = robot[d, FIRST_MOMENT + 2]
    work[i, b + 2] = -robot[d, FIRST_MOMENT + 1]
    work[i, b + 3] = -robot[d, FIRST_MOMENT + 2]
    work[i, b + 4] = 0.0
    work[i, b + 5] = robot[d, FIRST_MOMENT]
    work[i, b + 6] = robot[d, FIRST_MOMENT + 1]
    work[i, b + 7] = -robot[d, FIRST_MOMENT]
    work[i, b + 8] = 0.0


@inner
def multiply_articulated(work: Matrix, i: int, at: int, m: int, w: int) -> None:
    """Write the inertia times the motion in ``work[i, m:]`` to ``work[i, w:]``."""
    a = at + BLOCK_A
    b = at + BLOCK_B
    d = at + BLOCK_D
    vx = work[i, m]
    vy = work[i, m + 1]
    vz = work[i, m + 2]
    wx = work[i, m + 3]
    wy = work[i, m + 4]
    wz = work[i, m + 5]
    work[i, w] = (
        work[i, a] * vx
        + work[i, a + 1] * vy
        + work[i, a + 3] * vz
        + work[i, b] * wx
        + work[i, b + 1] * wy
        + work[i, b + 2] * wz
    )
    work[i, w + 1] = (
        work[i, a + 1] * vx
        + work[i, a + 2] * vy
        + work[i, a + 4] * vz
        + work[i, b + 3] * wx
        + work[i, b + 4] * wy
        + work[i, b + 5] * wz
    )
    work[i, w + 2] = (
        work[i, a + 3] * vx
        + work[i, a + 4] * vy
        + work[i, a + 5] * vz
        + work[i, b + 6] * wx
        + work[i, b + 7] * wy
        + work[i, b + 8] * wz
    )
    work[i, w + 3] = (
        work[i, b] * vx
        + work[i, b + 3] * vy
        + work[i, b + 6] * vz
        + work[i, d] * wx
        + work[i, d + 1] * wy
        + work[i, d + 3] * wz
    )
    work[i, w + 4] = (
        work[i, b + 1] * vx
        + work[i, b + 4] * vy
        + work[i, b + 7] * vz
        + work[i, d + 1] * wx
        + work[i, d + 2] * wy
        + work[i, d + 4] * wz
    )
    work[i, w + 5] = (
        work[i, b + 2] * vx
        + work[i, b + 5] * vy
        + work[i, b + 8] * vz
        + work[i, d + 3] * wx
        + work[i, d + 4] * wy
        + work[i, d + 5] * wz
    )


@inner
def _rotated_symmetric(
    work: Matrix, i: int, at: int
) -> tuple[float, float, float, float, float, float]:
    """Return ``E X E^T`` of a symmetric block."""
    xx = work[i, at]
    xy = work[i, at + 1]
    yy = work[i, at + 2]
    xz = work[i, at + 3]
    yz = work[i, at + 4]
    zz = work[i, at + 5]
    e00 = work[i, _E]
    e01 = work[i, _E + 1]
    e02 = work[i, _E + 2]
    e10 = work[i, _E + 3]
    e11 = work[i, _E + 4]
    e12 = work[i, _E + 5]
    e20 = work[i, _E + 6]
    e21 = work[i, _E + 7]
    e22 = work[i, _E + 8]
    a00 = e00 * xx + e01 * xy + e02 * xz
    a01 = e00 * xy + e01 * yy + e02 * yz
    a02 = e00 * xz + e01 * yz + e02 * zz
    a10 = e10 * xx + e11 * xy + e12 * xz
    a11 = e10 * xy + e11 * yy + e12 * yz
    a12 = e10 * xz + e11 * yz + e12 * zz
    a20 = e20 * xx + e21 * xy + e22 * xz
    a21 = e20 * xy + e21 * yy + e22 * yz
    a22 = e20 * xz + e21 * yz + e22 * zz
    return (
        a00 * e00 + a01 * e01 + a02 * e02,
        a00 * e10 + a01 * e11 + a02 * e12,
        a10 * e10 + a11 * e11 + a12 * e12,
        a00 * e20 + a01 * e21 + a02 * e22,
        a10 * e20 + a11 * e21 + a12 * e22,
        a20 * e20 + a21 * e21 + a22 * e22,
    )


@inner
def articulated_to_parent(work: Matrix, i: int, at: int, p: int) -> None:
    r"""
    Add an articulated inertia, given in a body's frame, to that of the parent.

    With the blocks rotated into the parent's axes and :math:`[p]` the cross product with the
    body's position, :math:`B' = B - A [p]` and :math:`D' = D - B^T [p] + [p] B'`.

    """
    axx, axy, ayy, axz, ayz, azz = _rotated_symmetric(work, i, at + BLOCK_A)
    dxx, dxy, dyy, dxz, dyz, dzz = _rotated_symmetric(work, i, at + BLOCK_D)
    b = at + BLOCK_B
    e00 = work[i, _E]
    e01 = work[i, _E + 1]
    e02 = work[i, _E + 2]
    e10 = work[i, _E + 3]
    e11 = work[i, _E + 4]
    e12 = work[i, _E + 5]
    e20 = work[i, _E + 6]
    e21 = work[i, _E + 7]
    e22 = work[i, _E + 8]
    # B E^T, then E (B E^T)
    t00 = work[i, b] * e00 + work[i, b + 1] * e01 + work[i, b + 2] * e02
    t01 = work[i, b] * e10 + work[i, b + 1] * e11 + work[i, b + 2] * e12
    t02 = work[i, b] * e20 + work[i, b + 1] * e21 + work[i, b + 2] * e22
    t10 = work[i, b + 3] * e00 + work[i, b + 4] * e01 + work[i, b + 5] * e02
    t11 = work[i, b + 3] * e10 + work[i, b + 4] * e11 + work[i, b + 5] * e12
    t12 = work[i, b + 3] * e20 + work[i, b + 4] * e21 + work[i, b + 5] * e22
    t20 = work[i, b + 6] * e00 + work[i, b + 7] * e01 + work[i, b + 8] * e02
    t21 = work[i, b + 6] * e10 + work[i, b + 7] * e11 + work[i, b + 8] * e12
    t22 = work[i, b + 6] * e20 + work[i, b + 7] * e21 + work[i, b + 8] * e22
    b00 = e00 * t00 + e01 * t10 + e02 * t20
    b01 = e00 * t01 + e01 * t11 + e02 * t21
    b02 = e00 * t02 + e01 * t12 + e02 * t22
    b10 = e10 * t00 + e11 * t10 + e12 * t20
    b11 = e10 * t01 + e11 * t11 + e12 * t21
    b12 = e10 * t02 + e11 * t12 + e12 * t22
    b20 = e20 * t00 + e21 * t10 + e22 * t20
    b21 = e20 * t01 + e21 * t11 + e22 * t21
    b22 = e20 * t02 + e21 * t12 + e22 * t22
    px = work[i, _P]
    py = work[i, _P + 1]
    pz = work[i, _P + 2]
    # B' = B - A [p]; the columns of [p] are (0, pz, -py), (-pz, 0, px), (py, -px, 0)
    c00 = b00 - (axy * pz - axz * py)
    c01 = b01 - (axz * px - axx * pz)
    c02 = b02 - (axx * py - axy * px)
    c10 = b10 - (ayy * pz - ayz * py)
    c11 = b11 - (ayz * px - axy * pz)
    c12 = b12 - (axy * py - ayy * px)
    c20 = b20 - (ayz * pz - azz * py)
    c21 = b21 - (azz * px - axz * pz)
    c22 = b22 - (axz * py - ayz * px)
    work[p, at] += axx
    work[p, at + 1] += axy
    work[p, at + 2] += ayy
    work[p, at + 3] += axz
    work[p, at + 4] += ayz
    work[p, at + 5] += azz
    k = at + BLOCK_B
    work[p, k] += c00
    work[p, k + 1] += c01
    work[p, k + 2] += c02
    work[p, k + 3] += c10
    work[p, k + 4] += c11
    work[p, k + 5] += c12
    work[p, k + 6] += c20
    work[p, k + 7] += c21
    work[p, k + 8] += c22
    # D' = D - B^T [p] + [p] B'
    k = at + BLOCK_D
    work[p, k] += dxx - (b10 * pz - b20 * py) + (py * c20 - pz * c10)
    work[p, k + 1] += dxy - (b11 * pz - b21 * py) + (pz * c00 - px * c20)
    work[p, k + 2] += dyy - (b21 * px - b01 * pz) + (pz * c01 - px * c21)
    work[p, k + 3] += dxz - (b12 * pz - b22 * py) + (px * c10 - py * c00)
    work[p, k + 4] += dyz - (b22 * px - b02 * pz) + (px * c11 - py * c01)
    work[p, k + 5] += dzz - (b02 * py - b12 * px) + (px * c12 - py * c02)


@inner
def solve_articulated(work: Matrix, i: int, at: int, x: int, s: int) -> int:
    """
    Replace ``work[i, x:x + 6]`` by the inverse of the inertia times it (Cholesky).

    Return the first axis without a positive pivot, or -1. Row `s` is scratch.

    """
    for r in range(3):
        for c in range(r + 1):
            k = r * (r + 1) // 2 + c
            work[s, 6 * r + c] = work[i, at + k]
            work[s, 6 * (r + 3) + c + 3] = work[i, at + BLOCK_D + k]
        for c in range(3):
            work[s, 6 * (r + 3) + c] = work[i, at + BLOCK_B + 3 * c + r]
    for c in range(6):
        original = work[s, 6 * c + c]
        pivot = original
        for k in range(c):
            pivot -= work[s, 6 * c + k] * work[s, 6 * c + k]
        if not pivot > 1e-12 * original:
            return c
        pivot = math.sqrt(pivot)
        work[s, 6 * c + c] = pivot
        for r in range(c + 1, 6):
            value = work[s, 6 * r + c]
            for k in range(c):
                value -= work[s, 6 * r + k] * work[s, 6 * c + k]
            work[s, 6 * r + c] = value / pivot
    for r in range(6):
        for k in range(r):
            work[i, x + r] -= work[s, 6 * r + k] * work[i, x + k]
        work[i, x + r] /= work[s, 6 * r + r]
    for r in range(5, -1, -1):
        for k in range(r + 1, 6):
            work[i, x + r] -= work[s, 6 * k + r] * work[i, x + k]
        work[i, x + r] /= work[s, 6 * r + r]
    return -1
