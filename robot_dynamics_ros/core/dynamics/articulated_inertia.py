r"""
Articulated inertia in three blocks: :math:`f = A v + B \omega`, :math:`n = B^T v + D \omega`.

`A` and `D` are symmetric and kept as xx, xy, yy, xz, yz, zz; `B` is kept row by row. All 21
numbers lie in a row of the work array from a given column.

"""

from __future__ import annotations

import math

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.jit import inner
from robot_dynamics_ros.core.model.kernel_layout import FIRST_MOMENT, INERTIA, MASS

BLOCK_A = 0
BLOCK_B = 6
BLOCK_D = 15

_E = 0
_P = 9


@inner
def rigid_articulated(body: Vector, row: Vector, at: int) -> None:
    """Write the inertia of a rigid body: ``A = m 1``, ``B = -[h]``, ``D = I``."""
    m = body[MASS]
    for k in range(6):
        row[at + k] = 0.0
        row[at + BLOCK_D + k] = body[INERTIA + k]
    row[at] = m
    row[at + 2] = m
    row[at + 5] = m
    b = at + BLOCK_B
    row[b] = 0.0
    row[b + 1] = body[FIRST_MOMENT + 2]
    row[b + 2] = -body[FIRST_MOMENT + 1]
    row[b + 3] = -body[FIRST_MOMENT + 2]
    row[b + 4] = 0.0
    row[b + 5] = body[FIRST_MOMENT]
    row[b + 6] = body[FIRST_MOMENT + 1]
    row[b + 7] = -body[FIRST_MOMENT]
    row[b + 8] = 0.0


@inner
def multiply_articulated(
    inertia: Vector, at: int, motion: Vector, m: int, wrench: Vector, w: int
) -> None:
    """Write inertia times motion ``motion[m:m + 6]`` to ``wrench[w:w + 6]``."""
    a = at + BLOCK_A
    b = at + BLOCK_B
    d = at + BLOCK_D
    vx = motion[m]
    vy = motion[m + 1]
    vz = motion[m + 2]
    wx = motion[m + 3]
    wy = motion[m + 4]
    wz = motion[m + 5]
    i = inertia
    wrench[w] = (
        i[a] * vx + i[a + 1] * vy + i[a + 3] * vz + i[b] * wx + i[b + 1] * wy + i[b + 2] * wz
    )
    wrench[w + 1] = (
        i[a + 1] * vx
        + i[a + 2] * vy
        + i[a + 4] * vz
        + i[b + 3] * wx
        + i[b + 4] * wy
        + i[b + 5] * wz
    )
    wrench[w + 2] = (
        i[a + 3] * vx
        + i[a + 4] * vy
        + i[a + 5] * vz
        + i[b + 6] * wx
        + i[b + 7] * wy
        + i[b + 8] * wz
    )
    wrench[w + 3] = (
        i[b] * vx + i[b + 3] * vy + i[b + 6] * vz + i[d] * wx + i[d + 1] * wy + i[d + 3] * wz
    )
    wrench[w + 4] = (
        i[b + 1] * vx
        + i[b + 4] * vy
        + i[b + 7] * vz
        + i[d + 1] * wx
        + i[d + 2] * wy
        + i[d + 4] * wz
    )
    wrench[w + 5] = (
        i[b + 2] * vx
        + i[b + 5] * vy
        + i[b + 8] * vz
        + i[d + 3] * wx
        + i[d + 4] * wy
        + i[d + 5] * wz
    )


@inner
def _rotated_symmetric(row: Vector, at: int) -> tuple[float, float, float, float, float, float]:
    """Return ``E X E^T`` of a symmetric block."""
    xx = row[at]
    xy = row[at + 1]
    yy = row[at + 2]
    xz = row[at + 3]
    yz = row[at + 4]
    zz = row[at + 5]
    e00 = row[_E]
    e01 = row[_E + 1]
    e02 = row[_E + 2]
    e10 = row[_E + 3]
    e11 = row[_E + 4]
    e12 = row[_E + 5]
    e20 = row[_E + 6]
    e21 = row[_E + 7]
    e22 = row[_E + 8]
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
def articulated_to_parent(row: Vector, at: int, up: Vector, to: int) -> None:
    r"""
    Add an articulated inertia, given in a body's frame, to that of the parent.

    With the blocks rotated into the parent's axes and :math:`[p]` the cross product with the
    body's position, :math:`B' = B - A [p]` and :math:`D' = D - B^T [p] + [p] B'`.

    """
    axx, axy, ayy, axz, ayz, azz = _rotated_symmetric(row, at + BLOCK_A)
    dxx, dxy, dyy, dxz, dyz, dzz = _rotated_symmetric(row, at + BLOCK_D)
    b = at + BLOCK_B
    e00 = row[_E]
    e01 = row[_E + 1]
    e02 = row[_E + 2]
    e10 = row[_E + 3]
    e11 = row[_E + 4]
    e12 = row[_E + 5]
    e20 = row[_E + 6]
    e21 = row[_E + 7]
    e22 = row[_E + 8]
    # B E^T, then E (B E^T)
    t00 = row[b] * e00 + row[b + 1] * e01 + row[b + 2] * e02
    t01 = row[b] * e10 + row[b + 1] * e11 + row[b + 2] * e12
    t02 = row[b] * e20 + row[b + 1] * e21 + row[b + 2] * e22
    t10 = row[b + 3] * e00 + row[b + 4] * e01 + row[b + 5] * e02
    t11 = row[b + 3] * e10 + row[b + 4] * e11 + row[b + 5] * e12
    t12 = row[b + 3] * e20 + row[b + 4] * e21 + row[b + 5] * e22
    t20 = row[b + 6] * e00 + row[b + 7] * e01 + row[b + 8] * e02
    t21 = row[b + 6] * e10 + row[b + 7] * e11 + row[b + 8] * e12
    t22 = row[b + 6] * e20 + row[b + 7] * e21 + row[b + 8] * e22
    b00 = e00 * t00 + e01 * t10 + e02 * t20
    b01 = e00 * t01 + e01 * t11 + e02 * t21
    b02 = e00 * t02 + e01 * t12 + e02 * t22
    b10 = e10 * t00 + e11 * t10 + e12 * t20
    b11 = e10 * t01 + e11 * t11 + e12 * t21
    b12 = e10 * t02 + e11 * t12 + e12 * t22
    b20 = e20 * t00 + e21 * t10 + e22 * t20
    b21 = e20 * t01 + e21 * t11 + e22 * t21
    b22 = e20 * t02 + e21 * t12 + e22 * t22
    px = row[_P]
    py = row[_P + 1]
    pz = row[_P + 2]
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
    up[to] += axx
    up[to + 1] += axy
    up[to + 2] += ayy
    up[to + 3] += axz
    up[to + 4] += ayz
    up[to + 5] += azz
    k = to + BLOCK_B
    up[k] += c00
    up[k + 1] += c01
    up[k + 2] += c02
    up[k + 3] += c10
    up[k + 4] += c11
    up[k + 5] += c12
    up[k + 6] += c20
    up[k + 7] += c21
    up[k + 8] += c22
    # D' = D - B^T [p] + [p] B'
    k = to + BLOCK_D
    up[k] += dxx - (b10 * pz - b20 * py) + (py * c20 - pz * c10)
    up[k + 1] += dxy - (b11 * pz - b21 * py) + (pz * c00 - px * c20)
    up[k + 2] += dyy - (b21 * px - b01 * pz) + (pz * c01 - px * c21)
    up[k + 3] += dxz - (b12 * pz - b22 * py) + (px * c10 - py * c00)
    up[k + 4] += dyz - (b22 * px - b02 * pz) + (px * c11 - py * c01)
    up[k + 5] += dzz - (b02 * py - b12 * px) + (px * c12 - py * c02)


@inner
def solve_articulated(row: Vector, at: int, x: int, scratch: Vector) -> int:
    """
    Replace ``row[x:x + 6]`` by the inverse of the inertia times it (Cholesky).

    Return the first axis without a positive pivot, or -1. `scratch` takes 36 numbers.

    """
    for r in range(3):
        for c in range(r + 1):
            k = r * (r + 1) // 2 + c
            scratch[6 * r + c] = row[at + k]
            scratch[6 * (r + 3) + c + 3] = row[at + BLOCK_D + k]
        for c in range(3):
            scratch[6 * (r + 3) + c] = row[at + BLOCK_B + 3 * c + r]
    for c in range(6):
        original = scratch[6 * c + c]
        pivot = original
        for k in range(c):
            pivot -= scratch[6 * c + k] * scratch[6 * c + k]
        if not pivot > 1e-12 * original:
            return c
        pivot = math.sqrt(pivot)
        scratch[6 * c + c] = pivot
        for r in range(c + 1, 6):
            value = scratch[6 * r + c]
            for k in range(c):
                value -= scratch[6 * r + k] * scratch[6 * c + k]
            scratch[6 * r + c] = value / pivot
    for r in range(6):
        for k in range(r):
            row[x + r] -= scratch[6 * r + k] * row[x + k]
        row[x + r] /= scratch[6 * r + r]
    for r in range(5, -1, -1):
        for k in range(r + 1, 6):
            row[x + r] -= scratch[6 * k + r] * row[x + k]
        row[x + r] /= scratch[6 * r + r]
    return -1
