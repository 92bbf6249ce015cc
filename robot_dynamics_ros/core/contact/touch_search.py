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
How far a step goes: to its end, or to the instant at which something touches.

A step is tried with what is closed at its start. If it takes something open below its surface the
step is tried again, shorter, until that just touches: by secants, whose end that stays is given
half the weight (Illinois). Compliant contacts need no instant of touch; for them a first try
shows what comes into contact.

"""

from __future__ import annotations

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.compiled_part import part, piece
from robot_dynamics_ros.core.contact.contact_kinematics import place_contacts, poses_kernel
from robot_dynamics_ros.core.contact.joint_spring import spring_loss
from robot_dynamics_ros.core.contact.moreau_step import CLOSED
from robot_dynamics_ros.core.contact.step_arrays import (
    ACCELERATION,
    ACTIVE,
    AFTER_IMPACT,
    BY_ACTUATORS,
    BY_CONTACTS,
    BY_FRICTION,
    BY_LIMITS,
    BY_WRENCHES,
    COMPLIANT,
    COORDINATE,
    CUTS,
    DEFLECTION,
    DEFLECTION_NEW,
    DISPLACEMENT,
    DRY,
    DRY_NEW,
    EARLY,
    EARLY_GAP,
    EFFORT,
    EXTERNAL_WORK,
    FLIES,
    FORCE,
    FORCE_NEW,
    FRICTION,
    GAP,
    GAP_NEW,
    Indices,
    IS_ACTIVE,
    LATE,
    LATE_GAP,
    LENGTH,
    LIMITS,
    LOWER,
    PHASE,
    Q,
    Q_NEW,
    REACTION,
    REACTION_NEW,
    REST,
    SHOCK,
    SHOCK_AT,
    SHOCKED,
    SIDE,
    SPRINGS,
    StepArrays,
    STEPS,
    TAU,
    TRIALS,
    UPPER,
    V_,
    V_NEW,
    WHOLE_STEP,
)
from robot_dynamics_ros.core.dynamics.joint_transform import is_finite

TOUCH = 1e-8
"""Gap to which the instant of a touch is found [m | rad]."""

KEPT = 1e-5
"""Gap up to which a contact that carried force goes on being closed [m]."""

SHORTEST = 1e-3
"""Part of a step whose forces are still held in the next one."""

MOST_IMPACTS = 8
"""Largest number of cuts of one step."""

# Verdicts on a try
TAKE = -1
AGAIN = 0
NOT_FINITE = -2

# Phases of the search
_PROBE = 0.0
_WHOLE = 1.0
_CUT = 2.0
_CROWD = 3.0

_SECANTS = 20
_BISECTIONS = 12
_CROWDS = 4


@piece
def begin_step(s: StepArrays, h: float) -> None:
    """Start a step of length `h`."""
    s.cut[REST] = h
    s.cut[CUTS] = 0.0
    s.options[WHOLE_STEP] = h
    s.options[AFTER_IMPACT] = 0.0
    if s.cut[SHOCKED] == 0.0:
        return
    s.cut[SHOCKED] = 0.0
    marks = s.marks
    for k in range(s.gaps.shape[1]):
        marks[FLIES, k] = 0
    triples = s.triples
    for c in range(s.candidates.shape[0]):
        for d in range(3):
            triples[SHOCK_AT, c, d] = 0.0
    vs = s.vs
    for i in range(vs.shape[1]):
        vs[SHOCK, i] = 0.0


@piece
def begin_try(s: StepArrays) -> None:
    """Mark what takes part in the rest of the step."""
    s.cut[LENGTH] = s.cut[REST]
    if s.options[COMPLIANT] != 0.0 and s.candidates.shape[0] > 0:
        s.cut[PHASE] = _PROBE
        marks = s.marks
        gaps = s.gaps
        for k in range(gaps.shape[1]):
            marks[IS_ACTIVE, k] = 1 if gaps[GAP, k] <= CLOSED else 0
    else:
        s.cut[PHASE] = _WHOLE
        _mark_active(
            s.candidates.shape[0], s.gaps, s.marks, s.triples, s.options[COMPLIANT] != 0.0
        )


@part
def _mark_active(
    count: int, gaps: Matrix, marks: Indices, triples: Matrix, is_compliant: bool
) -> None:
    """Mark what is closed; of compliant contacts, what may come into contact during the step."""
    for k in range(gaps.shape[1]):
        marks[IS_ACTIVE, k] = 1 if gaps[GAP, k] <= CLOSED and marks[FLIES, k] == 0 else 0
    for c in range(count):
        if triples[FORCE, c, 0] > 0.0 and gaps[GAP, c] <= KEPT and marks[FLIES, c] == 0:
            marks[IS_ACTIVE, c] = 1
    if is_compliant:
        for c in range(count):
            # the free step, which was tried before, goes below the surface
            if gaps[GAP_NEW, c] < 0.0:
                marks[IS_ACTIVE, c] = 1


@piece
def list_active(s: StepArrays) -> int:
    """List the contacts that are marked; return their number."""
    count = 0
    marks = s.marks
    triples = s.triples
    bristles = s.bristles
    for c in range(s.candidates.shape[0]):
        for d in range(3):
            triples[FORCE_NEW, c, d] = 0.0
        bristles[1, c, 0] = 0.0
        bristles[1, c, 1] = 0.0
        if marks[IS_ACTIVE, c] != 0:
            marks[ACTIVE, count] = c
            count += 1
    return count


@piece
def load_effort(s: StepArrays) -> bool:
    """Write the effort of a step without contact; return whether friction or limits act."""
    vs = s.vs
    acts: bool = s.options[FRICTION] != 0.0
    if s.options[LIMITS] != 0.0:
        for k in range(s.candidates.shape[0], s.gaps.shape[1]):
            acts |= s.marks[IS_ACTIVE, k] != 0
    for i in range(vs.shape[1]):
        if acts:
            vs[EFFORT, i] = vs[TAU, i] - vs[DRY, i] + vs[REACTION, i]
        else:
            vs[EFFORT, i] = vs[TAU, i]
            vs[DRY_NEW, i] = 0.0
            vs[REACTION_NEW, i] = 0.0
    return acts


@piece
def place_all(s: StepArrays) -> None:
    """Write the gaps of all candidates and limits at the new configuration."""
    count = s.candidates.shape[0]
    q = s.qs[Q_NEW]
    gaps = s.gaps
    if count > 0:
        poses_kernel(s.robot, s.work, q)
        place_contacts(s.candidates, s.work, gaps[GAP_NEW], s.place)
    if s.options[LIMITS] != 0.0:
        n = s.vs.shape[1]
        for i in range(n):
            j = s.marks[COORDINATE, i]
            if j >= 0:
                gaps[GAP_NEW, count + i] = q[j] - s.constants[LOWER, i]
                gaps[GAP_NEW, count + n + i] = s.constants[UPPER, i] - q[j]


@piece
def _lowest_open(s: StepArrays) -> tuple[float, int]:
    """
    Return the least new gap among what was taken as open, and where it is.

    What leaves a surface that it was a little below touches only if it sinks further.

    """
    lowest = 1.0
    where = -1
    gaps = s.gaps
    marks = s.marks
    first = s.candidates.shape[0] if s.options[COMPLIANT] != 0.0 else 0
    for k in range(first, gaps.shape[1]):
        gap = gaps[GAP_NEW, k] - min(gaps[GAP, k], 0.0)
        if marks[IS_ACTIVE, k] == 0 and gap < lowest:
            lowest = gap
            where = k
    return lowest, where


@piece
def judge(s: StepArrays) -> int:
    """Return whether to `TAKE` the try or to try `AGAIN`, which is prepared, or `NOT_FINITE`."""
    phase = s.cut[PHASE]
    if phase == _PROBE:
        s.cut[PHASE] = _WHOLE
        _mark_active(
            s.candidates.shape[0], s.gaps, s.marks, s.triples, s.options[COMPLIANT] != 0.0
        )
        return AGAIN
    lowest, where = _lowest_open(s)
    if phase == _WHOLE:
        if not (is_finite(s.vs[V_NEW]) and is_finite(s.qs[Q_NEW])):
            return NOT_FINITE
        if lowest >= -TOUCH:
            return TAKE
        s.cut[TRIALS] = 0.0
        if s.cut[CUTS] >= MOST_IMPACTS:
            s.cut[PHASE] = _CROWD
            return _take_as_closed(s)
        s.cut[PHASE] = _CUT
        s.cut[EARLY] = 0.0
        s.cut[EARLY_GAP] = max(s.gaps[GAP, where], TOUCH)
        s.cut[LATE] = s.cut[LENGTH]
        s.cut[LATE_GAP] = lowest
        s.cut[SIDE] = 0.0
    elif phase == _CROWD:
        return _take_as_closed(s)
    else:
        if abs(lowest) <= TOUCH or where < 0 or s.cut[TRIALS] >= _SECANTS:
            return TAKE
        _narrow(s.cut, lowest)
    _propose(s.cut)
    return AGAIN


@part
def _take_as_closed(s: StepArrays) -> int:
    """Mark all that is below its surface as closed; `TAKE` the try if that was tried often."""
    if s.cut[TRIALS] >= _CROWDS:
        return TAKE
    for k in range(s.gaps.shape[1]):
        if s.gaps[GAP_NEW, k] < -TOUCH:
            s.marks[IS_ACTIVE, k] = 1
    s.cut[TRIALS] += 1.0
    return AGAIN


@part
def _narrow(cut: Vector, lowest: float) -> None:
    """Move one end of the interval with the touch to the length that was tried."""
    if lowest < 0.0:
        cut[LATE] = cut[LENGTH]
        cut[LATE_GAP] = lowest
        if cut[SIDE] < 0.0:
            cut[EARLY_GAP] *= 0.5
        cut[SIDE] = -1.0
    else:
        cut[EARLY] = cut[LENGTH]
        cut[EARLY_GAP] = lowest
        if cut[SIDE] > 0.0:
            cut[LATE_GAP] *= 0.5
        cut[SIDE] = 1.0


@part
def _propose(cut: Vector) -> None:
    """Write the length to try next."""
    early = cut[EARLY]
    late = cut[LATE]
    gap = cut[EARLY_GAP]
    if cut[TRIALS] > _BISECTIONS:
        cut[LENGTH] = 0.5 * (early + late)
    else:
        cut[LENGTH] = early + (late - early) * gap / (gap - cut[LATE_GAP])
    cut[TRIALS] += 1.0


@piece
def commit(s: StepArrays) -> bool:
    """Take the new state over; return whether something closed that was open."""
    h = s.cut[LENGTH]
    s.cut[REST] -= h
    s.cut[CUTS] += 1.0
    vs = s.vs
    works = s.works
    rate = 1.0 / h if s.options[AFTER_IMPACT] == 0.0 else 0.0
    by_actuators = 0.0
    by_friction = 0.0
    by_limits = 0.0
    # impulses of a very short part of a step are no forces to go on with
    lasts = 1.0 if h > SHORTEST * s.options[WHOLE_STEP] else 0.0
    for i in range(vs.shape[1]):
        moved = vs[DISPLACEMENT, i]
        by_actuators += vs[TAU, i] * moved
        by_friction -= vs[DRY_NEW, i] * moved
        by_limits += vs[REACTION_NEW, i] * moved
        vs[ACCELERATION, i] = rate * (vs[V_NEW, i] - vs[V_, i])
        vs[V_, i] = vs[V_NEW, i]
        vs[DRY, i] = lasts * vs[DRY_NEW, i]
        vs[REACTION, i] = lasts * vs[REACTION_NEW, i]
    if s.options[FRICTION] != 0.0:
        for i in range(vs.shape[1]):
            vs[DEFLECTION, i] = vs[DEFLECTION_NEW, i]
    if s.options[SPRINGS] != 0.0:
        by_friction -= spring_loss(s.constants, s.marks, s.qs, vs, h)
    works[BY_ACTUATORS] += by_actuators
    works[BY_FRICTION] += by_friction
    works[BY_LIMITS] += by_limits
    works[BY_WRENCHES] += s.report[EXTERNAL_WORK]
    _commit_contacts(s, lasts)
    qs = s.qs
    for j in range(qs.shape[1]):
        qs[Q, j] = qs[Q_NEW, j]
    s.report[STEPS] += 1.0
    first = s.candidates.shape[0] if s.options[COMPLIANT] != 0.0 else 0
    return adopt_gaps(s.gaps, s.marks, first)


@piece
def _commit_contacts(s: StepArrays, lasts: float) -> None:
    """Take forces and bristles over, and count the work of the contacts."""
    active = 0
    triples = s.triples
    bristles = s.bristles
    rows = s.rows
    vs = s.vs
    for c in range(s.candidates.shape[0]):
        if s.marks[IS_ACTIVE, c] != 0:
            for d in range(3):
                along = 0.0
                for i in range(vs.shape[1]):
                    along += rows[3 * active + d, i] * vs[DISPLACEMENT, i]
                s.works[BY_CONTACTS] += triples[FORCE_NEW, c, d] * along
            active += 1
        for d in range(3):
            triples[FORCE, c, d] = lasts * triples[FORCE_NEW, c, d]
        bristles[0, c, 0] = bristles[1, c, 0]
        bristles[0, c, 1] = bristles[1, c, 1]


@part
def adopt_gaps(gaps: Matrix, marks: Indices, first: int) -> bool:
    """
    Take the new gaps over.

    Return whether something, from number `first` on, is closed that did not take part.

    """
    closed = False
    for k in range(gaps.shape[1]):
        gaps[GAP, k] = gaps[GAP_NEW, k]
        marks[FLIES, k] = 0
        if k >= first and gaps[GAP, k] <= CLOSED and marks[IS_ACTIVE, k] == 0:
            closed = True
    return closed
