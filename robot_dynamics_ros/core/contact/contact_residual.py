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

"""How far a velocity and impulses are from the laws of all contacts and joints together."""

from __future__ import annotations

import math

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.compiled_part import part
from robot_dynamics_ros.core.contact.contact_law import cone_residual
from robot_dynamics_ros.core.contact.contact_layout import (
    DRY_IMPULSE,
    GUESS,
    IS_COMPLIANT,
    LEVEL_NEGATIVE,
    LEVEL_POSITIVE,
    LOWER_IMPULSE,
    LOWER_OFFSET,
    LOWER_ON,
    MOBILITY,
    MU,
    REFERENCE,
    SHIFT,
    SLIP,
    UPPER_IMPULSE,
    UPPER_OFFSET,
    UPPER_ON,
)


@part
def laws_residual(
    mass: Matrix,
    rows: Matrix,
    law: Matrix,
    count: int,
    joint: Matrix,
    has_joint_rows: bool,
    change: Vector,
    impulse: Matrix,
    vectors: Matrix,
    small: Matrix,
) -> tuple[float, float]:
    """Return the largest residual of the laws, and the largest impulse, in the energy norm."""
    n = change.size
    worst = 0.0
    size = 0.0
    u = small[SLIP]
    for c in range(count):
        for k in range(3):
            total = law[c, REFERENCE + k]
            for j in range(n):
                total += rows[3 * c + k, j] * change[j]
            u[k] = total
        law[c, SHIFT] = law[c, MU] * math.sqrt(u[1] * u[1] + u[2] * u[2])
        w = law[c, MOBILITY]
        if law[c, IS_COMPLIANT] != 0.0 or w == 0.0:
            continue
        worst = max(worst, cone_residual(law[c, MU], w, impulse[c], u))
        size = max(size, impulse[c, 0] * math.sqrt(w))
    if has_joint_rows:
        for i in range(n):
            scale = mass[i, i]
            root = math.sqrt(scale)
            v = vectors[GUESS, i] + change[i]
            if joint[LEVEL_POSITIVE, i] > 0.0 or joint[LEVEL_NEGATIVE, i] > 0.0:
                held = joint[DRY_IMPULSE, i]
                y = min(max(held - scale * v, -joint[LEVEL_POSITIVE, i]),
                        joint[LEVEL_NEGATIVE, i])  # fmt: skip
                worst = max(worst, abs(held - y) / root)
                size = max(size, abs(held) / root)
            if joint[LOWER_ON, i] != 0.0:
                held = joint[LOWER_IMPULSE, i]
                y = max(0.0, held - scale * (v + joint[LOWER_OFFSET, i]))
                worst = max(worst, abs(held - y) / root)
                size = max(size, held / root)
            if joint[UPPER_ON, i] != 0.0:
                held = joint[UPPER_IMPULSE, i]
                y = max(0.0, held - scale * (joint[UPPER_OFFSET, i] - v))
                worst = max(worst, abs(held - y) / root)
                size = max(size, held / root)
    return worst, size
