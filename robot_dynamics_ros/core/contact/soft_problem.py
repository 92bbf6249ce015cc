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
The smooth equations of one round of the contact solver, see `rigid_contact`.

Unknown is the change of the velocity from the first guess, which keeps the digits of small
velocities and impulses beside a fast motion.

"""

from __future__ import annotations

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.compiled_part import part
from robot_dynamics_ros.core.contact.contact_law import contact_impulse
from robot_dynamics_ros.core.contact.contact_layout import (
    BACKWARD_DAMPING,
    BRUSH_DEFLECTION,
    BRUSH_LAW,
    BRUSH_WORK,
    CONTACT_SLOPE,
    DAMPING,
    DRY_IMPULSE,
    DRY_TRIAL,
    GUESS,
    HAS_SLOPE,
    LEVEL_NEGATIVE,
    LEVEL_POSITIVE,
    LOWER_IMPULSE,
    LOWER_OFFSET,
    LOWER_ON,
    LOWER_TRIAL,
    REFERENCE,
    REMAINDER,
    UPPER_IMPULSE,
    UPPER_OFFSET,
    UPPER_ON,
    UPPER_TRIAL,
)
from robot_dynamics_ros.core.friction.bristle_step import (
    bristle_torque,
    LAW_ROWS,
    SLOPE,
    STIFFNESS,
    TORQUE,
    WORK_ROWS,
)

SOFTNESS = 1e-5
"""Softness of a constraint in one round, as part of its mobility."""


@part
def _smooth_row(joint: Matrix, h: float, i: int, v: float, force: Vector) -> float:
    """Add what bristles and viscous friction of joint `i` take off; return the slope of it."""
    total: float = 0.0
    if v < 0.0:
        force[i] += joint[BACKWARD_DAMPING, i] * v
        total += joint[BACKWARD_DAMPING, i]
    if joint[BRUSH_LAW + STIFFNESS, i] == 0.0:
        return total
    law = joint[BRUSH_LAW : BRUSH_LAW + LAW_ROWS]
    work = joint[BRUSH_WORK : BRUSH_WORK + WORK_ROWS]
    z = joint[BRUSH_DEFLECTION, i]
    # At v = 0 the torque is the same on both sides; the slope is that of the side ahead.
    bristle_torque(law, work, i, h, z, v, force[i] + h * law[STIFFNESS, i] * z <= 0.0)
    force[i] += h * work[TORQUE, i]
    total += h * work[SLOPE, i]
    return total


@part
def _joint_rows(
    joint: Matrix,
    mass: Matrix,
    h: float,
    change: Vector,
    force: Vector,
    tangent: Matrix,
    vectors: Matrix,
    with_slopes: bool,
) -> None:
    """Take limits and friction off the unbalanced momentum, and add their slopes if wanted."""
    for i in range(change.size):
        slope = 0.0
        rho = mass[i, i] / SOFTNESS
        v = vectors[GUESS, i] + change[i]
        if joint[HAS_SLOPE, i] != 0.0:
            slope += _smooth_row(joint, h, i, v, force)
        positive = joint[LEVEL_POSITIVE, i]
        negative = joint[LEVEL_NEGATIVE, i]
        if positive > 0.0 or negative > 0.0:
            y = joint[DRY_IMPULSE, i] - rho * v
            if y < -positive:
                y = -positive
            elif y > negative:
                y = negative
            else:
                slope += rho
            vectors[DRY_TRIAL, i] = y
            force[i] -= y
        if joint[LOWER_ON, i] != 0.0:
            y = joint[LOWER_IMPULSE, i] - rho * (v + joint[LOWER_OFFSET, i])
            if y > 0.0:
                slope += rho
            else:
                y = 0.0
            vectors[LOWER_TRIAL, i] = y
            force[i] -= y
        if joint[UPPER_ON, i] != 0.0:
            y = joint[UPPER_IMPULSE, i] - rho * (joint[UPPER_OFFSET, i] - v)
            if y > 0.0:
                slope += rho
            else:
                y = 0.0
            vectors[UPPER_TRIAL, i] = y
            force[i] += y
        if with_slopes:
            tangent[i, i] += slope


@part
def _add_slope(rows: Matrix, at: int, slope: Vector, tangent: Matrix) -> None:
    """Add the slope of the contact whose rows begin at `at`, seen from the joints: J^T H J."""
    n = rows.shape[1]
    s0 = slope[0]
    s1 = slope[1]
    s2 = slope[2]
    s3 = slope[3]
    s4 = slope[4]
    s5 = slope[5]
    s6 = slope[6]
    s7 = slope[7]
    s8 = slope[8]
    for i in range(n):
        x = rows[at, i]
        y = rows[at + 1, i]
        z = rows[at + 2, i]
        p = x * s0 + y * s3 + z * s6
        q = x * s1 + y * s4 + z * s7
        r = x * s2 + y * s5 + z * s8
        for j in range(n):
            tangent[i, j] += p * rows[at, j] + q * rows[at + 1, j] + r * rows[at + 2, j]


@part
def unbalanced(
    form: float,
    mass: Matrix,
    rows: Matrix,
    law: Matrix,
    count: int,
    joint: Matrix,
    has_joint_rows: bool,
    h: float,
    change: Vector,
    impulse: Matrix,
    trial: Matrix,
    tangent: Matrix,
    vectors: Matrix,
    force: Vector,
    small: Matrix,
    with_slopes: bool,
) -> float:
    """
    Write what is missing in the momentum balance, its derivative if wanted, and the impulses.

    Return the square norm of what is missing, in the unit of an energy. In the form `CONE` it is
    the derivative of a convex function.

    """
    n = change.size
    for i in range(n):
        total = vectors[REMAINDER, i] + joint[DAMPING, i] * change[i]
        for j in range(n):
            total += mass[i, j] * change[j]
        force[i] = total
    if with_slopes:
        for i in range(n):
            for j in range(n):
                tangent[i, j] = mass[i, j]
            tangent[i, i] += joint[DAMPING, i]
    slope = small[CONTACT_SLOPE]
    for c in range(count):
        at = 3 * c
        u0 = law[c, REFERENCE]
        u1 = law[c, REFERENCE + 1]
        u2 = law[c, REFERENCE + 2]
        for j in range(n):
            u0 += rows[at, j] * change[j]
            u1 += rows[at + 1, j] * change[j]
            u2 += rows[at + 2, j] * change[j]
        contact_impulse(form, law[c], h, impulse[c], u0, u1, u2, trial[c], slope)
        if slope[0] == 0.0:
            continue
        a = trial[c, 0]
        b = trial[c, 1]
        d = trial[c, 2]
        for i in range(n):
            force[i] -= a * rows[at, i] + b * rows[at + 1, i] + d * rows[at + 2, i]
        if with_slopes:
            _add_slope(rows, at, slope, tangent)
    if has_joint_rows:
        _joint_rows(joint, mass, h, change, force, tangent, vectors, with_slopes)
    square: float = 0.0
    for i in range(n):
        square += force[i] * force[i] / mass[i, i]
    return square
