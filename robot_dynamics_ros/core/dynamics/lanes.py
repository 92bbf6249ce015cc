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
Several samples at once: the lanes of the block kernels.

A block kernel works on rows of `BLOCK` numbers, one number for each sample. Every inner loop runs
along a row, so that the compiler turns it into vector instructions. For that it must know the
number of lanes as a constant, and the distances between the rows that one loop uses, which is why
a body's step works on one scratch block and copies the result.

"""

from __future__ import annotations

import math

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.jit import inner

BLOCK = 32
"""Number of lanes."""

# pi / 2 as a sum of three numbers; the first two have 33 significant bits, so that k times them
# is exact for |k| < 2^20.
_PIO2_1 = 1.57079632673412561417e00
_PIO2_2 = 6.07710050630396597660e-11
_PIO2_3 = 2.02226624879595063154e-21
LARGE_ANGLE = 1.0e6
"""Above this angle [rad] the block form hands over to the exact reduction of the C library."""


@inner
def sin_cos_rows(rows: Matrix, angle: int, sine: int, cosine: int) -> None:
    """
    Write sine and cosine of one row of angles [rad] into two other rows.

    The angle is reduced to [-pi/4, pi/4], where the minimax polynomials of FreeBSD's msun hold
    (k_sin.c, k_cos.c); the error is below 1e-15. One large angle in the row sends the whole row to
    the C library.

    """
    large = False
    for s in range(BLOCK):
        large |= not (abs(rows[angle, s]) < LARGE_ANGLE)
    if large:
        for s in range(BLOCK):
            x = rows[angle, s]
            rows[sine, s] = math.sin(x)
            rows[cosine, s] = math.cos(x)
        return
    for s in range(BLOCK):
        x = rows[angle, s]
        k = math.floor(x * 0.63661977236758134308 + 0.5)
        y = ((x - k * _PIO2_1) - k * _PIO2_2) - k * _PIO2_3
        z = y * y
        sin_y = y + y * z * (
            -1.66666666666666324348e-01
            + z
            * (
                8.33333333332248946124e-03
                + z
                * (
                    -1.98412698298579493134e-04
                    + z
                    * (
                        2.75573137070700676789e-06
                        + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)
                    )
                )
            )
        )
        cos_y = (
            1.0
            - 0.5 * z
            + z
            * z
            * (
                4.16666666666666019037e-02
                + z
                * (
                    -1.38888888888741095749e-03
                    + z
                    * (
                        2.48015872894767294178e-05
                        + z
                        * (
                            -2.75573143513906633035e-07
                            + z * (2.08757232129817482790e-09 - z * 1.13596475577881948265e-11)
                        )
                    )
                )
            )
        )
        quadrant = k - 4.0 * math.floor(0.25 * k)
        odd = (quadrant == 1.0) | (quadrant == 3.0)
        rows[sine, s] = (cos_y if odd else sin_y) * (-1.0 if quadrant >= 2.0 else 1.0)
        negative = (quadrant == 1.0) | (quadrant == 2.0)
        rows[cosine, s] = (sin_y if odd else cos_y) * (-1.0 if negative else 1.0)
