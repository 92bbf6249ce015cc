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
The jump of the velocity in an impact of a simulated robot.

The velocity jumps by Newton's law of restitution with Coulomb's friction, for all contacts and
limits that are closed at that instant together,

.. math:: M (v^+ - v^-) = J^T \Lambda, \qquad
          0 \le \Lambda_n \perp u_n^+ + e \min(0, u_n^-) \ge 0.

A bounce whose flight would not last for a whole step is none: then ``e = 0``, so that infinitely
many bounces in finite time are passed in bounded steps.

With several contacts and friction Newton's law can add energy. Then `e` is halved until it does
not; at ``e = 0`` it cannot, as :math:`\Delta T = \Lambda \cdot u^+ - \tfrac12 \Lambda^T W
\Lambda` and :math:`\Lambda \cdot u^+ \le 0`.

References
----------
.. [1] B. Brogliato, *Nonsmooth Mechanics*, 3rd ed., 2016, chapters 4 and 5.

"""

from __future__ import annotations

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.contact.compiled_part import part, piece
from robot_dynamics_ros.core.contact.contact_kinematics import (
    contact_jacobian,
    place_contact,
    poses_kernel,
)
from robot_dynamics_ros.core.contact.contact_layout import (
    DAMPING,
    DRY_IMPULSE,
    HAS_SLOPE,
    IS_COMPLIANT,
    JOINT_ROWS,
    LEVEL_NEGATIVE,
    LEVEL_POSITIVE,
    LOWER_IMPULSE,
    LOWER_OFFSET,
    LOWER_ON,
    MU,
    RESTITUTION,
    SHIFT,
    UPPER_IMPULSE,
    UPPER_OFFSET,
    UPPER_ON,
)
from robot_dynamics_ros.core.contact.contact_layout import FRICTION as FRICTION_COEFFICIENT
from robot_dynamics_ros.core.contact.dense import cholesky, cholesky_solve
from robot_dynamics_ros.core.contact.joint_spring import stretch_springs
from robot_dynamics_ros.core.contact.moreau_step import CLOSED
from robot_dynamics_ros.core.contact.rigid_contact import BUDGET, LEAST_BUDGET, solve_contacts
from robot_dynamics_ros.core.contact.step_arrays import (
    ACCELERATION,
    ACTIVE,
    AFTER_IMPACT,
    BIAS,
    BY_CONTACTS,
    BY_LIMITS,
    COMPLIANT,
    FACTOR,
    FLIES,
    GAP,
    IMPACTS,
    IMPULSE,
    ITERATIONS,
    JOINT,
    LIMIT_RESTITUTION,
    LIMITS,
    MASS,
    MOMENTUM,
    OFFSET,
    Q,
    RESIDUAL,
    SHOCK,
    SHOCK_AT,
    SHOCKED,
    SOLVER,
    SPRING,
    SPRINGS,
    STAGE,
    StepArrays,
    TANGENT,
    TAU,
    TRIAL,
    V_,
    V_BEFORE,
)
from robot_dynamics_ros.core.dynamics.crba import crba_kernel
from robot_dynamics_ros.core.dynamics.rnea import rnea_kernel

_APPROACH = 1e-9
"""Speed below which a closed contact is at rest [m/s | rad/s]."""


@piece
def _bounces(restitution: float, speed: float, acceleration: float, h: float) -> bool:
    """Whether the flight after an impact lasts for a step at least."""
    return restitution * -speed > max(_APPROACH, 0.5 * h * -acceleration)


@piece
def _load_impact(s: StepArrays, h: float) -> tuple[int, bool, bool]:
    """
    Write the rows of everything that is closed, with Newton's law in the offsets.

    Return the number of contacts, whether limits are among them, and whether anything approaches.

    """
    n = s.vs.shape[1]
    candidates = s.candidates.shape[0]
    v = s.vs[V_]
    fall = s.vs[STAGE]
    approaches = False
    count = 0
    poses_kernel(s.robot, s.work, s.qs[Q])
    for c in range(0 if s.options[COMPLIANT] != 0.0 else candidates):
        if s.gaps[GAP, c] > CLOSED:
            continue
        place_contact(s.candidates[c], s.work, s.place[c])
        contact_jacobian(s.robot, s.candidates[c], s.work, s.place[c], s.rows, 3 * count)
        speed = 0.0
        pull = 0.0
        for j in range(n):
            speed += s.rows[3 * count, j] * v[j]
            pull += s.rows[3 * count, j] * fall[j]
        s.marks[ACTIVE, count] = c
        for d in range(3):
            s.triples[OFFSET, count, d] = 0.0
            s.triples[IMPULSE, count, d] = 0.0
        if speed < -_APPROACH:
            approaches = True
            if _bounces(s.candidates[c, RESTITUTION], speed, pull, h):
                s.triples[OFFSET, count, 0] = s.candidates[c, RESTITUTION] * speed
        s.law[count, MU] = s.candidates[c, FRICTION_COEFFICIENT]
        s.law[count, SHIFT] = 0.0
        s.law[count, IS_COMPLIANT] = 0.0
        count += 1
    limited = False
    e = s.options[LIMIT_RESTITUTION]
    for i in range(n):
        for row in (LEVEL_POSITIVE, LEVEL_NEGATIVE, DRY_IMPULSE, DAMPING, HAS_SLOPE):
            s.vs[JOINT + row, i] = 0.0
        for upper in range(2):
            on = UPPER_ON if upper else LOWER_ON
            offset = UPPER_OFFSET if upper else LOWER_OFFSET
            sign = -1.0 if upper else 1.0
            s.vs[JOINT + on, i] = 0.0
            s.vs[JOINT + (UPPER_IMPULSE if upper else LOWER_IMPULSE), i] = 0.0
            if s.options[LIMITS] == 0.0 or s.gaps[GAP, candidates + upper * n + i] > CLOSED:
                continue
            limited = True
            s.vs[JOINT + on, i] = 1.0
            s.vs[JOINT + offset, i] = 0.0
            if sign * v[i] < -_APPROACH:
                approaches = True
                if _bounces(e, sign * v[i], sign * fall[i], h):
                    s.vs[JOINT + offset, i] = e * sign * v[i]
    return count, limited, approaches


@piece
def _kinetic(mass: Matrix, vs: Matrix, row: int) -> float:
    total = 0.0
    for i in range(mass.shape[0]):
        for j in range(mass.shape[0]):
            total += 0.5 * vs[row, i] * mass[i, j] * vs[row, j]
    return total


@piece
def _free_acceleration(s: StepArrays) -> bool:
    """Write the acceleration without contacts to `STAGE`; return whether the mass is regular."""
    n = s.vs.shape[1]
    crba_kernel(s.robot, s.work, s.qs[Q], s.squares[MASS])
    fall = s.vs[STAGE]
    for i in range(n):
        fall[i] = 0.0
    rnea_kernel(s.robot, s.work, s.qs[Q], s.vs[V_], fall, s.vs[BIAS])
    for i in range(n):
        fall[i] = s.vs[TAU, i] - s.vs[BIAS, i]
    if s.options[SPRINGS] != 0.0:
        stretch_springs(s.constants, s.marks, s.qs, s.vs)
        for i in range(n):
            fall[i] += s.vs[SPRING, i]
    if cholesky(s.squares[MASS], s.squares[FACTOR]) >= 0:
        return False
    cholesky_solve(s.squares[FACTOR], fall)
    return True


@piece
def _mark_flying(s: StepArrays, count: int, h: float) -> None:
    """Mark what leaves its surface for longer than a step, and note if something does for less."""
    v = s.vs[V_]
    fall = s.vs[STAGE]
    n = v.size
    for k in range(count):
        speed = 0.0
        pull = 0.0
        for j in range(n):
            speed += s.rows[3 * k, j] * v[j]
            pull += s.rows[3 * k, j] * fall[j]
        if _bounces(1.0, -speed, pull, h):
            s.marks[FLIES, s.marks[ACTIVE, k]] = 1
        elif speed > _APPROACH:
            s.options[AFTER_IMPACT] = 1.0
    first = s.candidates.shape[0]
    for i in range(n):
        if _bounces(1.0, -v[i], fall[i], h):
            s.marks[FLIES, first + i] = 1
        if _bounces(1.0, v[i], -fall[i], h):
            s.marks[FLIES, first + n + i] = 1


@part
def impact(s: StepArrays, h: float) -> int:
    """Let all that is closed and approaches collide; return -1, or -2 if the mass is singular."""
    n = s.vs.shape[1]
    if not _free_acceleration(s):
        return -2
    count, limited, approaches = _load_impact(s, h)
    if not approaches:
        return -1
    momentum = s.vs[MOMENTUM]
    before = s.vs[V_BEFORE]
    v = s.vs[V_]
    for i in range(n):
        before[i] = v[i]
        momentum[i] = 0.0
        for j in range(n):
            momentum[i] += s.squares[MASS, i, j] * v[j]
    start = _kinetic(s.squares[MASS], s.vs, V_BEFORE)
    spent = 0
    for attempt in range(12):
        residual, iterations = solve_contacts(
            s.squares[MASS], momentum, s.rows, s.triples[OFFSET], s.law, count,
            s.vs[JOINT : JOINT + JOINT_ROWS], limited, h, v, s.triples[IMPULSE], s.triples[TRIAL],
            s.squares[TANGENT], s.squares[FACTOR], s.vs[SOLVER:], s.small,
            max(LEAST_BUDGET, BUDGET - spent),
        )  # fmt: skip
        spent += iterations
        s.report[RESIDUAL] = max(s.report[RESIDUAL], residual)
        s.report[ITERATIONS] += iterations
        if _kinetic(s.squares[MASS], s.vs, V_) <= start * (1.0 + 1e-14):
            break
        factor = 0.5 if attempt < 10 else 0.0
        for c in range(count):
            s.triples[OFFSET, c, 0] *= factor
        for i in range(n):
            s.vs[JOINT + LOWER_OFFSET, i] *= factor
            s.vs[JOINT + UPPER_OFFSET, i] *= factor
    s.report[IMPACTS] += 1.0
    s.cut[SHOCKED] = 1.0
    for i in range(n):
        s.vs[ACCELERATION, i] = 0.0
    for k in range(count):
        for d in range(3):
            s.triples[SHOCK_AT, s.marks[ACTIVE, k], d] += s.triples[IMPULSE, k, d]
            for i in range(n):
                mean = 0.5 * (v[i] + before[i])
                s.works[BY_CONTACTS] += s.triples[IMPULSE, k, d] * s.rows[3 * k + d, i] * mean
    _mark_flying(s, count, h)
    for i in range(n):
        jump = 0.0
        if s.vs[JOINT + LOWER_ON, i] != 0.0:
            jump += s.vs[JOINT + LOWER_IMPULSE, i]
        if s.vs[JOINT + UPPER_ON, i] != 0.0:
            jump -= s.vs[JOINT + UPPER_IMPULSE, i]
        s.vs[SHOCK, i] += jump
        s.works[BY_LIMITS] += jump * 0.5 * (v[i] + before[i])
    return -1
