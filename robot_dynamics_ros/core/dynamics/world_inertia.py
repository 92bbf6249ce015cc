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

"""Inertia of one body in world axes about the world's origin."""

from __future__ import annotations

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.dynamics.world_kinematics import O, R
from robot_dynamics_ros.core.jit import inner
from robot_dynamics_ros.core.model.kernel_layout import FIRST_MOMENT, INERTIA, MASS


@inner
def world_inertia(robot: Matrix, i: int, work: Matrix, inertia: Matrix) -> None:
    r"""
    Write the inertia of kernel body `i` as a matrix, linear part first.

    ``[[m 1, -[h]], [[h], I]]``, with :math:`h = R h_b + m o` and
    :math:`I = R I_b R^T - [o][R h_b] - [R h_b][o] - m [o][o]`.

    """
    body = robot[1 + i]
    row = work[i]
    m = body[MASS]
    inertia[:] = 0.0
    for r in range(3):
        inertia[r, r] = m
    h0 = 0.0
    h1 = 0.0
    h2 = 0.0
    for k in range(3):
        h0 += row[R + k] * body[FIRST_MOMENT + k]
        h1 += row[R + 3 + k] * body[FIRST_MOMENT + k]
        h2 += row[R + 6 + k] * body[FIRST_MOMENT + k]
    ox = row[O]
    oy = row[O + 1]
    oz = row[O + 2]
    for r in range(3):
        for c in range(3):
            total = 0.0
            for j in range(3):
                for k in range(3):
                    high = max(j, k)
                    low = min(j, k)
                    total += (
                        row[R + 3 * r + j]
                        * body[INERTIA + high * (high + 1) // 2 + low]
                        * row[R + 3 * c + k]
                    )
            inertia[3 + r, 3 + c] = total
    g0 = h0 + m * ox
    g1 = h1 + m * oy
    g2 = h2 + m * oz
    sx = ox * (h0 + g0)
    sy = oy * (h1 + g1)
    sz = oz * (h2 + g2)
    inertia[3, 3] += sy + sz
    inertia[4, 4] += sx + sz
    inertia[5, 5] += sx + sy
    xy = ox * g1 + h0 * oy
    xz = ox * g2 + h0 * oz
    yz = oy * g2 + h1 * oz
    inertia[3, 4] -= xy
    inertia[4, 3] -= xy
    inertia[3, 5] -= xz
    inertia[5, 3] -= xz
    inertia[4, 5] -= yz
    inertia[5, 4] -= yz
    # [h] below the diagonal block, -[h] beside it
    inertia[3, 1] = -g2
    inertia[3, 2] = g1
    inertia[4, 0] = g2
    inertia[4, 2] = -g0
    inertia[5, 0] = -g1
    inertia[5, 1] = g0
    for r in range(3):
        for c in range(3):
            inertia[c, 3 + r] = inertia[3 + r, c]
