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

A step that would take an open contact below its surface is cut at the instant of the touch (see
`touch_search`). There the velocity jumps (see `impact_jump`), and the rest of the step goes on
from there. After `MOST_IMPACTS` cuts in one step what else would close is taken as closed.

All steps of a call run in one kernel: each part of a step is called at one place.

"""

from __future__ import annotations

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.contact.compiled_part import piece
from robot_dynamics_ros.core.contact.contact_layout import JOINT_ROWS
from robot_dynamics_ros.core.contact.free_step import free_sequence, free_step
from robot_dynamics_ros.core.contact.impact_jump import impact
from robot_dynamics_ros.core.contact.joint_step import begin_jointwise, end_jointwise
from robot_dynamics_ros.core.contact.moreau_step import begin_contacts, end_contacts
from robot_dynamics_ros.core.contact.rigid_contact import BUDGET, LEAST_BUDGET, solve_contacts
from robot_dynamics_ros.core.contact.step_arrays import (
    AFTER_IMPACT,
    COMPLIANT,
    FACTOR,
    FRICTION,
    IMPULSE,
    IS_ACTIVE,
    ITERATIONS,
    JOINT,
    LENGTH,
    LIMITS,
    MASS,
    MOMENTUM,
    OFFSET,
    Q,
    Q_NEW,
    RESIDUAL,
    REST,
    SOLVER,
    SPRINGS,
    StepArrays,
    TANGENT,
    TAU,
    TRIAL,
    V_,
    V_NEW,
)
from robot_dynamics_ros.core.contact.touch_search import (
    adopt_gaps,
    AGAIN,
    begin_step,
    begin_try,
    commit,
    judge,
    list_active,
    load_effort,
    NOT_FINITE,
    place_all,
)
from robot_dynamics_ros.core.jit import kernel


@piece
def _settle(s: StepArrays) -> bool:
    """Place everything at the present state; return whether something is closed."""
    for j in range(s.qs.shape[1]):
        s.qs[Q_NEW, j] = s.qs[Q, j]
    for k in range(s.gaps.shape[1]):
        s.marks[IS_ACTIVE, k] = 0
    place_all(s)
    first = s.candidates.shape[0] if s.options[COMPLIANT] != 0.0 else 0
    return adopt_gaps(s.gaps, s.marks, first)


@kernel
def contact_sequence(
    s: StepArrays, h: float, count: int, tau: Matrix, q: Matrix, v: Matrix
) -> int:
    """
    Make `count` steps of length `h` under each row of `tau` and write the states.

    With ``count == 0`` everything is placed at the present state, and what is closed and
    approaches collides.

    Return -1, or -2 if a number is not finite, or the degree of freedom that moves no inertia, at
    the first step that fails.

    """
    if count == 0:
        return impact(s, h) if _settle(s) else -1
    for k in range(tau.shape[0]):
        for i in range(tau.shape[1]):
            s.vs[TAU, i] = tau[k, i]
        for _ in range(count):
            begin_step(s, h)
            spent = 0
            while s.cut[REST] > 1e-12 * h:
                begin_try(s)
                verdict = AGAIN
                while verdict == AGAIN:
                    length = s.cut[LENGTH]
                    active = list_active(s)
                    has_rows = False
                    acts = True
                    is_joint = active > 0 or s.options[SPRINGS] != 0.0
                    if is_joint:
                        has_rows = begin_contacts(s, active, length)
                    else:
                        acts = load_effort(s)
                        status = free_step(
                            s.robot, s.work, s.wrenches, s.options, s.qs, s.vs, s.report, length
                        )
                        if status != -1:
                            return status
                        if acts:
                            has_rows = begin_jointwise(s, length)
                    if acts:
                        residual, iterations = solve_contacts(
                            s.squares[MASS], s.vs[MOMENTUM], s.rows, s.triples[OFFSET], s.law,
                            active, s.vs[JOINT : JOINT + JOINT_ROWS], has_rows, length,
                            s.vs[V_NEW], s.triples[IMPULSE], s.triples[TRIAL],
                            s.squares[TANGENT], s.squares[FACTOR], s.vs[SOLVER:], s.small,
                            max(LEAST_BUDGET, BUDGET - spent),
                        )  # fmt: skip
                        spent += iterations
                        if residual < 0.0:
                            return -2
                        s.report[RESIDUAL] = max(s.report[RESIDUAL], residual)
                        s.report[ITERATIONS] += iterations
                        if is_joint:
                            end_contacts(s, active, has_rows, length)
                        else:
                            end_jointwise(s, length)
                    place_all(s)
                    verdict = judge(s)
                if verdict == NOT_FINITE:
                    return -2
                if commit(s):
                    s.options[AFTER_IMPACT] = 0.0
                    status = impact(s, h)
                    if status != -1:
                        return status
        for j in range(q.shape[1]):
            q[k, j] = s.qs[Q, j]
        for i in range(v.shape[1]):
            v[k, i] = s.vs[V_, i]
    return -1


def advance_sequence(
    s: StepArrays, h: float, count: int, tau: Matrix, q: Matrix, v: Matrix
) -> int:
    """Move on as `contact_sequence` does, with `free_sequence` where nothing can touch or rub."""
    options = s.options
    if len(s.candidates) or options[FRICTION] or options[LIMITS] or options[SPRINGS]:
        return int(contact_sequence(s, h, count, tau, q, v))
    return int(
        free_sequence(
            s.robot, s.work, s.wrenches, s.options, s.qs, s.vs, s.works, s.report, h, count, tau,
            q, v,
        )
    )  # fmt: skip


def advance_block(s: StepArrays, h: float, count: int) -> int:
    """Make `count` steps under the torque that is set; see `advance_sequence`."""
    return advance_sequence(s, h, count, s.vs[TAU : TAU + 1], s.qs[Q : Q + 1], s.vs[V_ : V_ + 1])
