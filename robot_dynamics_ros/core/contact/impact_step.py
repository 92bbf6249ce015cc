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
Motion through impacts: steps that are cut where a contact or a limit closes.

A step that would take an open contact below its surface is cut at the instant of the touch, found
by secants to `TOUCH`. There the velocity jumps by Newton's law of restitution with Coulomb's
friction, for all contacts that are closed at that instant together,

.. math:: M (v^+ - v^-) = J^T \Lambda, \qquad
          0 \le \Lambda_n \perp u_n^+ + e \min(0, u_n^-) \ge 0,

and the rest of the step goes on from there. A bounce whose flight would not last for a whole step
is none: then ``e = 0``, so that infinitely many bounces in finite time are passed in bounded
steps. After `MOST_IMPACTS` cuts in one step what else would close is taken as closed.

With several contacts and friction Newton's law can add energy. Then `e` is halved until it does
not; at ``e = 0`` it cannot, as :math:`\Delta T = \Lambda \cdot u^+ - \tfrac12 \Lambda^T W
\Lambda` and :math:`\Lambda \cdot u^+ \le 0`.

References
----------
.. [1] B. Brogliato, *Nonsmooth Mechanics*, 3rd ed., 2016, chapters 4 and 5.

"""

from __future__ import annotations

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.contact.compiled_part import part
from robot_dynamics_ros.core.contact.contact_kinematics import (
    contact_jacobian,
    place_contact,
    poses_kernel,
)
from robot_dynamics_ros.core.contact.contact_layout import (
    DAMPING,
    DRY_IMPULSE,
    IS_COMPLIANT,
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
from robot_dynamics_ros.core.contact.contact_layout import (
    FRICTION as FRICTION_COEFFICIENT,
)
from robot_dynamics_ros.core.contact.dense import cholesky, cholesky_solve
from robot_dynamics_ros.core.contact.moreau_step import CLOSED, try_step
from robot_dynamics_ros.core.contact.rigid_contact import solve_contacts
from robot_dynamics_ros.core.contact.step_arrays import (
    ACCELERATION,
    AFTER_IMPACT,
    BIAS,
    BY_ACTUATORS,
    BY_CONTACTS,
    BY_FRICTION,
    BY_LIMITS,
    BY_WRENCHES,
    COMPLIANT,
    DISPLACEMENT,
    DRY,
    DRY_NEW,
    EXTERNAL_WORK,
    IMPACTS,
    ITERATIONS,
    LIMIT_RESTITUTION,
    LIMITS,
    MOMENTUM,
    Q,
    Q_NEW,
    REACTION,
    REACTION_NEW,
    RESIDUAL,
    SHOCK,
    STAGE,
    StepArrays,
    STEPS,
    TAU,
    V_,
    V_BEFORE,
    V_NEW,
    WHOLE_STEP,
)
from robot_dynamics_ros.core.dynamics.crba import crba_kernel
from robot_dynamics_ros.core.dynamics.joint_transform import is_finite
from robot_dynamics_ros.core.dynamics.rnea import rnea_kernel
from robot_dynamics_ros.core.jit import inner, kernel

TOUCH = 1e-8
"""Gap to which the instant of a touch is found [m | rad]."""

KEPT = 1e-5
"""Gap up to which a contact that carried force goes on being closed [m]."""

MOST_IMPACTS = 8
"""Largest number of cuts of one step."""

_SECANTS = 20
_APPROACH = 1e-9
"""Speed below which a closed contact is at rest [m/s | rad/s]."""


@part
def _mark_active(s: StepArrays, h: float) -> None:
    """Mark what is closed; of compliant contacts, what may come into contact during the step."""
    count = s.candidates.shape[0]
    for k in range(s.gap.size):
        s.is_active[k] = 1 if s.gap[k] <= CLOSED and s.flies[k] == 0 else 0
    for c in range(count):
        if s.force[c, 0] > 0.0 and s.gap[c] <= KEPT and s.flies[c] == 0:
            s.is_active[c] = 1
    if s.options[COMPLIANT] != 0.0:
        for c in range(count):
            # the free step, which was tried before, goes below the surface
            if s.gap_new[c] < 0.0:
                s.is_active[c] = 1


@part
def _lowest_open(s: StepArrays) -> tuple[float, int]:
    """Return the least new gap among what was taken as open, and where it is."""
    lowest = 1.0
    where = -1
    first = s.candidates.shape[0] if s.options[COMPLIANT] != 0.0 else 0
    for k in range(first, s.gap_new.size):
        if s.is_active[k] == 0 and s.gap_new[k] < lowest:
            lowest = s.gap_new[k]
            where = k
    return lowest, where


@part
def _commit(s: StepArrays, h: float) -> bool:
    """Take the new state over; return whether something closed that was open."""
    count = s.candidates.shape[0]
    n = s.joint.shape[1]
    for i in range(n):
        moved = s.vs[DISPLACEMENT, i]
        s.works[BY_ACTUATORS] += s.vs[TAU, i] * moved
        s.works[BY_FRICTION] -= s.vs[DRY_NEW, i] * moved
        s.works[BY_LIMITS] += s.vs[REACTION_NEW, i] * moved
        s.vs[ACCELERATION, i] = (s.vs[V_NEW, i] - s.vs[V_, i]) / h
        if s.options[AFTER_IMPACT] != 0.0:
            s.vs[ACCELERATION, i] = 0.0
        s.vs[V_, i] = s.vs[V_NEW, i]
        s.vs[DRY, i] = s.vs[DRY_NEW, i]
        s.vs[REACTION, i] = s.vs[REACTION_NEW, i]
    s.works[BY_WRENCHES] += s.report[EXTERNAL_WORK]
    active = 0
    for c in range(count):
        if s.is_active[c] != 0:
            for d in range(3):
                along = 0.0
                for i in range(n):
                    along += s.rows[3 * active + d, i] * s.vs[DISPLACEMENT, i]
                s.works[BY_CONTACTS] += s.force_new[c, d] * along
            active += 1
        for d in range(3):
            s.force[c, d] = s.force_new[c, d]
        s.bristle[c, 0] = s.bristle_new[c, 0]
        s.bristle[c, 1] = s.bristle_new[c, 1]
    for j in range(s.qs.shape[1]):
        s.qs[Q, j] = s.qs[Q_NEW, j]
    closed = False
    first = count if s.options[COMPLIANT] != 0.0 else 0
    for k in range(s.gap.size):
        s.gap[k] = s.gap_new[k]
        s.flies[k] = 0
        if k >= first and s.gap[k] <= CLOSED and s.is_active[k] == 0:
            closed = True
    s.report[STEPS] += 1.0
    return closed


@inner
def _bounces(restitution: float, speed: float, acceleration: float, h: float) -> bool:
    """Whether the flight after an impact lasts for a step at least."""
    return restitution * -speed > max(_APPROACH, 0.5 * h * -acceleration)


@part
def _load_impact(s: StepArrays, h: float) -> tuple[int, bool, bool]:
    """
    Write the rows of everything that is closed, with Newton's law in the offsets.

    Return the number of contacts, whether limits are among them, and whether anything approaches.

    """
    n = s.joint.shape[1]
    candidates = s.candidates.shape[0]
    v = s.vs[V_]
    fall = s.vs[STAGE]
    approaches = False
    count = 0
    poses_kernel(s.robot, s.work, s.qs[Q])
    for c in range(0 if s.options[COMPLIANT] != 0.0 else candidates):
        if s.gap[c] > CLOSED:
            continue
        place_contact(s.candidates[c], s.work, s.place[c])
        contact_jacobian(s.robot, s.candidates[c], s.work, s.place[c], s.rows, 3 * count)
        speed = 0.0
        pull = 0.0
        for j in range(n):
            speed += s.rows[3 * count, j] * v[j]
            pull += s.rows[3 * count, j] * fall[j]
        s.active[count] = c
        for d in range(3):
            s.offset[count, d] = 0.0
            s.impulse[count, d] = 0.0
        if speed < -_APPROACH:
            approaches = True
            if _bounces(s.candidates[c, RESTITUTION], speed, pull, h):
                s.offset[count, 0] = s.candidates[c, RESTITUTION] * speed
        s.law[count, MU] = s.candidates[c, FRICTION_COEFFICIENT]
        s.law[count, SHIFT] = 0.0
        s.law[count, IS_COMPLIANT] = 0.0
        count += 1
    limited = False
    e = s.options[LIMIT_RESTITUTION]
    for i in range(n):
        for row in (LEVEL_POSITIVE, LEVEL_NEGATIVE, DRY_IMPULSE, DAMPING):
            s.joint[row, i] = 0.0
        for upper in range(2):
            on = UPPER_ON if upper else LOWER_ON
            offset = UPPER_OFFSET if upper else LOWER_OFFSET
            sign = -1.0 if upper else 1.0
            s.joint[on, i] = 0.0
            s.joint[UPPER_IMPULSE if upper else LOWER_IMPULSE, i] = 0.0
            if s.options[LIMITS] == 0.0 or s.gap[candidates + upper * n + i] > CLOSED:
                continue
            limited = True
            s.joint[on, i] = 1.0
            s.joint[offset, i] = 0.0
            if sign * v[i] < -_APPROACH:
                approaches = True
                if _bounces(e, sign * v[i], sign * fall[i], h):
                    s.joint[offset, i] = e * sign * v[i]
    return count, limited, approaches


@part
def _kinetic(mass: Matrix, vs: Matrix, row: int) -> float:
    total = 0.0
    for i in range(mass.shape[0]):
        for j in range(mass.shape[0]):
            total += 0.5 * vs[row, i] * mass[i, j] * vs[row, j]
    return total


@part
def _free_acceleration(s: StepArrays) -> bool:
    """Write the acceleration without contacts to `STAGE`; return whether the mass is regular."""
    n = s.joint.shape[1]
    crba_kernel(s.robot, s.work, s.qs[Q], s.mass)
    fall = s.vs[STAGE]
    for i in range(n):
        fall[i] = 0.0
    rnea_kernel(s.robot, s.work, s.qs[Q], s.vs[V_], fall, s.vs[BIAS])
    for i in range(n):
        fall[i] = s.vs[TAU, i] - s.vs[BIAS, i]
    if cholesky(s.mass, s.factor) >= 0:
        return False
    cholesky_solve(s.factor, fall)
    return True


@part
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
            s.flies[s.active[k]] = 1
        elif speed > _APPROACH:
            s.options[AFTER_IMPACT] = 1.0
    first = s.candidates.shape[0]
    for i in range(n):
        if _bounces(1.0, -v[i], fall[i], h):
            s.flies[first + i] = 1
        if _bounces(1.0, v[i], -fall[i], h):
            s.flies[first + n + i] = 1


@part
def impact(s: StepArrays, h: float) -> int:
    """Let all that is closed and approaches collide; return -1, or -2 if the mass is singular."""
    n = s.joint.shape[1]
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
            momentum[i] += s.mass[i, j] * v[j]
    start = _kinetic(s.mass, s.vs, V_BEFORE)
    for attempt in range(12):
        residual, iterations = solve_contacts(
            s.mass, momentum, s.rows, s.offset, s.law, count, s.joint, limited, h, v, s.impulse,
            s.trial, s.tangent, s.factor, s.vectors, s.small,
        )  # fmt: skip
        s.report[RESIDUAL] = max(s.report[RESIDUAL], residual)
        s.report[ITERATIONS] += iterations
        if _kinetic(s.mass, s.vs, V_) <= start * (1.0 + 1e-14):
            break
        factor = 0.5 if attempt < 10 else 0.0
        for c in range(count):
            s.offset[c, 0] *= factor
        for i in range(n):
            s.joint[LOWER_OFFSET, i] *= factor
            s.joint[UPPER_OFFSET, i] *= factor
    s.report[IMPACTS] += 1.0
    for i in range(n):
        s.vs[ACCELERATION, i] = 0.0
    for k in range(count):
        for d in range(3):
            s.shock[s.active[k], d] += s.impulse[k, d]
            for i in range(n):
                mean = 0.5 * (v[i] + before[i])
                s.works[BY_CONTACTS] += s.impulse[k, d] * s.rows[3 * k + d, i] * mean
    _mark_flying(s, count, h)
    for i in range(n):
        jump = 0.0
        if s.joint[LOWER_ON, i] != 0.0:
            jump += s.joint[LOWER_IMPULSE, i]
        if s.joint[UPPER_ON, i] != 0.0:
            jump -= s.joint[UPPER_IMPULSE, i]
        s.vs[SHOCK, i] += jump
        s.works[BY_LIMITS] += jump * 0.5 * (v[i] + before[i])
    return -1


@part
def _step_to_touch(s: StepArrays, h: float, lowest: float, where: int) -> float:
    """Cut a tried step where the first contact touches; return its length."""
    early = 0.0
    early_gap = max(s.gap[where], TOUCH)
    late = h
    late_gap = lowest
    length = h
    side = 0
    for trial in range(_SECANTS):
        length = early + (late - early) * early_gap / (early_gap - late_gap)
        if trial > 12:
            length = 0.5 * (early + late)
        try_step(s, length)
        lowest, where = _lowest_open(s)
        if abs(lowest) <= TOUCH or where < 0:
            break
        if lowest < 0.0:
            late = length
            late_gap = lowest
            if side < 0:
                early_gap *= 0.5
            side = -1
        else:
            early = length
            early_gap = lowest
            if side > 0:
                late_gap *= 0.5
            side = 1
    return length


@part
def advance(s: StepArrays, h: float) -> int:
    """
    Move on by one step, impacts included.

    Return -1, or -2 if a number is not finite, or the degree of freedom that moves no inertia.

    """
    rest = h
    impacts = 0
    s.options[WHOLE_STEP] = h
    s.options[AFTER_IMPACT] = 0.0
    for k in range(s.gap.size):
        s.is_active[k] = 0
        s.flies[k] = 0
    for c in range(s.candidates.shape[0]):
        for d in range(3):
            s.shock[c, d] = 0.0
    for i in range(s.joint.shape[1]):
        s.vs[SHOCK, i] = 0.0
    while rest > 1e-12 * h:
        if s.options[COMPLIANT] != 0.0 and s.candidates.shape[0] > 0:
            for k in range(s.gap.size):
                s.is_active[k] = 1 if s.gap[k] <= CLOSED else 0
            status = try_step(s, rest)
            if status != -1:
                return status
        length = rest
        _mark_active(s, rest)
        status = try_step(s, rest)
        if status != -1:
            return status
        lowest, where = _lowest_open(s)
        if not (is_finite(s.vs[V_NEW]) and is_finite(s.qs[Q_NEW])):
            return -2
        if lowest < -TOUCH:
            if impacts < MOST_IMPACTS:
                length = _step_to_touch(s, rest, lowest, where)
            else:
                for _ in range(4):
                    for k in range(s.gap.size):
                        if s.gap_new[k] < -TOUCH:
                            s.is_active[k] = 1
                    try_step(s, rest)
        impacts += 1
        if _commit(s, length):
            s.options[AFTER_IMPACT] = 0.0
            status = impact(s, h)
            if status != -1:
                return status
        rest -= length
    return -1


@part
def settle(s: StepArrays, h: float) -> int:
    """Place everything at the present state and let what is closed and approaches collide."""
    for j in range(s.qs.shape[1]):
        s.qs[Q_NEW, j] = s.qs[Q, j]
    poses_kernel(s.robot, s.work, s.qs[Q])
    for c in range(s.candidates.shape[0]):
        s.gap_new[c] = place_contact(s.candidates[c], s.work, s.place[c])
    n = s.joint.shape[1]
    count = s.candidates.shape[0]
    if s.options[LIMITS] != 0.0:
        for i in range(n):
            j = s.coordinate[i]
            if j >= 0:
                s.gap_new[count + i] = s.qs[Q, j] - s.limits[0, i]
                s.gap_new[count + n + i] = s.limits[1, i] - s.qs[Q, j]
    closed = False
    for k in range(s.gap.size):
        s.gap[k] = s.gap_new[k]
        closed |= s.gap[k] <= CLOSED
    if closed and (s.options[COMPLIANT] == 0.0 or s.options[LIMITS] != 0.0):
        return impact(s, h)
    return -1


@kernel
def advance_block(s: StepArrays, h: float, count: int) -> int:
    """
    Make `count` steps of length `h`, or `settle` if it is 0.

    Return as `advance` does, at the first step that fails.

    """
    if count == 0:
        return settle(s, h)
    for _ in range(count):
        status = advance(s, h)
        if status != -1:
            return status
    return -1


@kernel
def advance_sequence(
    s: StepArrays, h: float, count: int, tau: Matrix, q: Matrix, v: Matrix
) -> int:
    """Make `count` steps under each row of `tau` and write the states; return as `advance`."""
    for k in range(tau.shape[0]):
        for i in range(tau.shape[1]):
            s.vs[TAU, i] = tau[k, i]
        for _ in range(count):
            status = advance(s, h)
            if status != -1:
                return status
        for j in range(q.shape[1]):
            q[k, j] = s.qs[Q, j]
        for i in range(v.shape[1]):
            v[k, i] = s.vs[V_, i]
    return -1
