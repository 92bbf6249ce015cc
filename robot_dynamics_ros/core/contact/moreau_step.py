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
One step with contacts, without impact.

With contacts closed the step is Moreau's time-stepping in midpoint form. Mass and bias are those
of the middle of the step, where the velocity comes from the acceleration of the step before, and

.. math:: M (v^+ - v) = h\,(\tau - b) + J^T \lambda, \qquad q^+ = q \oplus \tfrac{h}{2} (v + v^+)

with the contact laws at :math:`u = J v^+ + (J_e - J)\,v`, that is: forces act along the Jacobian
of the middle, but the velocity that they see is the one at the end. The linear velocity of a free
root, which is given in turning axes, is turned as the body turns; so bodies that are not touched
keep their momentum. So contacts that stay closed move by :math:`O(h^3)` a step, and do work of
that order. What remains is taken back by a velocity of `RETURN` times the gap over the step,
bounded by `RETURN_SPEED`.

Where something would leave a surface for less than a step after an impact, the rest of the step
moves with the velocity at its end, so that it stays there.

Compliant contacts act at the depth that the implicit Euler method gives them,
:math:`q^+ = q \oplus h v^+`; what is not stiff moves by the mean velocity (see
`compliant_displacement`).

References
----------
.. [1] J. J. Moreau, *Unilateral contact and dry friction in finite freedom dynamics*, 1988.

"""

from __future__ import annotations

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.contact.compiled_part import piece
from robot_dynamics_ros.core.contact.compliant_displacement import compliant_displacement
from robot_dynamics_ros.core.contact.configuration_step import (
    step_configuration,
    turn_free_roots,
)
from robot_dynamics_ros.core.contact.contact_kinematics import (
    contact_jacobian,
    contact_velocity,
    place_contact,
    poses_kernel,
)
from robot_dynamics_ros.core.contact.contact_layout import (
    BODY,
    BRISTLE,
    DEPTH,
    DISSIPATION,
    DRAG,
    IS_COMPLIANT,
    MU,
    NORMAL_DISSIPATION,
    NORMAL_STIFFNESS,
    SHIFT,
    STIFFNESS,
    TANGENT_DAMPING,
    TANGENT_STIFFNESS,
)
from robot_dynamics_ros.core.contact.contact_layout import (
    FRICTION as FRICTION_COEFFICIENT,
)
from robot_dynamics_ros.core.contact.joint_spring import (
    couple_springs,
    settle_stiff_springs,
    stretch_springs,
)
from robot_dynamics_ros.core.contact.joint_step import (
    keep_joint_forces,
    load_joint_rows,
    return_velocity,
)
from robot_dynamics_ros.core.contact.step_arrays import (
    ACCELERATION,
    ACTIVE,
    AFTER_IMPACT,
    BIAS,
    COMPLIANT,
    DISPLACEMENT,
    EXTERNAL,
    EXTERNAL_WORK,
    FORCE,
    FORCE_NEW,
    FRICTION,
    GAP,
    GENERALIZED,
    IMPULSE,
    Indices,
    JOINT,
    MASS,
    MOMENTUM,
    OFFSET,
    Q,
    Q_AHEAD,
    Q_MIDDLE,
    Q_NEW,
    SPRINGS,
    STAGE,
    StepArrays,
    TAU,
    V_,
    V_AHEAD,
    V_MIDDLE,
    V_NEW,
    WHOLE_STEP,
)
from robot_dynamics_ros.core.dynamics.crba import posed_crba_kernel
from robot_dynamics_ros.core.dynamics.external_wrench import external_efforts_kernel
from robot_dynamics_ros.core.dynamics.rnea import posed_rnea_kernel

CLOSED = 1e-7
"""Gap up to which a contact or limit counts as closed [m | rad]."""

FADE = 0.99
"""What the guess keeps of the forces of the step before, where contacts can share them."""


@piece
def _load_contact(s: StepArrays, c: int, k: int, h: float, fade: float) -> None:
    """Write the law and the guess of active contact `k`, candidate `c`."""
    row = s.candidates[c]
    law = s.law[k]
    triples = s.triples
    law[MU] = row[FRICTION_COEFFICIENT]
    law[SHIFT] = 0.0
    law[IS_COMPLIANT] = s.options[COMPLIANT]
    for j in range(3):
        triples[IMPULSE, k, j] = fade * h * triples[FORCE, c, j]
    if s.options[COMPLIANT] != 0.0:
        law[DEPTH] = -s.gaps[GAP, c]
        law[NORMAL_STIFFNESS] = h * row[STIFFNESS]
        law[NORMAL_DISSIPATION] = row[DISSIPATION]
        law[TANGENT_STIFFNESS] = h * row[STIFFNESS]
        law[TANGENT_DAMPING] = h * row[DISSIPATION] * triples[FORCE, c, 0]
        law[BRISTLE] = s.bristles[0, c, 0]
        law[BRISTLE + 1] = s.bristles[0, c, 1]


@piece
def _load_contacts(s: StepArrays, count: int, h: float) -> None:
    """Write Jacobians, laws and guesses of the active contacts; the poses are those midway."""
    candidates = s.candidates
    places = s.place
    active = s.marks[ACTIVE]
    offset = s.triples[OFFSET]
    ahead = s.vs[V_AHEAD]
    is_rigid = s.options[COMPLIANT] == 0.0
    fade = 1.0 if count == 1 else FADE
    for k in range(count):
        c = active[k]
        place_contact(candidates[c], s.work, places[c])
        contact_jacobian(s.robot, candidates[c], s.work, places[c], s.rows, 3 * k)
        _load_contact(s, c, k, h, fade)
        for d in range(3):
            along = 0.0
            if is_rigid:
                for j in range(ahead.size):
                    along += s.rows[3 * k + d, j] * ahead[j]
            offset[k, d] = -along


@piece
def _load_offsets(s: StepArrays, count: int, h: float) -> None:
    """Add to the offsets what the velocities of rigid contacts change by until the end."""
    robot = s.robot
    work = s.work
    candidates = s.candidates
    places = s.place
    active = s.marks[ACTIVE]
    offset = s.triples[OFFSET]
    along = s.small[0]
    poses_kernel(robot, work, s.qs[Q_AHEAD])
    for k in range(count):
        c = active[k]
        place_contact(candidates[c], work, places[c])
        contact_velocity(robot, candidates[c], work, places[c], s.vs[V_AHEAD], along)
        for d in range(3):
            offset[k, d] += along[d]
        _share_offset(candidates, active, places, offset, k)
        offset[k, 0] += return_velocity(s.gaps[GAP, c], h, s.options[WHOLE_STEP])


@piece
def _share_offset(
    candidates: Matrix, active: Indices, place: Matrix, offset: Matrix, k: int
) -> None:
    """
    Give points of one body on one plane the same tangential offset.

    It is that of a rigid motion, so that all can stick together.

    """
    c = active[k]
    for m in range(k):
        first = active[m]
        if candidates[first, BODY] == candidates[c, BODY]:
            along = 0.0
            for d in range(3):
                along += place[first, 3 + d] * place[c, 3 + d]
            if along > 1.0 - 1e-9:
                offset[k, 1] = offset[m, 1]
                offset[k, 2] = offset[m, 2]
                break


@piece
def is_end_step(s: StepArrays, count: int) -> bool:
    """Whether a step moves with the velocity at its end, not with the mean velocity."""
    return count > 0 and (s.options[COMPLIANT] != 0.0 or s.options[AFTER_IMPACT] != 0.0)


@piece
def begin_contacts(s: StepArrays, count: int, h: float) -> bool:
    """
    Pose the step with the `count` active contacts.

    Return whether there are rows at the joints.

    """
    vs = s.vs
    qs = s.qs
    n = vs.shape[1]
    v = vs[V_]
    v_new = vs[V_NEW]
    middle = vs[V_MIDDLE]
    ahead = vs[V_AHEAD]
    mass = s.squares[MASS]
    for i in range(n):
        middle[i] = v[i] + 0.5 * h * vs[ACCELERATION, i]
        ahead[i] = v[i]
        v_new[i] = 0.0
    turn_free_roots(s.robot, middle, h, ahead, v_new)
    step_configuration(s.robot, qs[Q], v, v, 0.5 * h, qs[Q_MIDDLE])
    poses_kernel(s.robot, s.work, qs[Q_MIDDLE])
    _load_contacts(s, count, h)
    posed_crba_kernel(s.robot, s.work, mass)
    posed_rnea_kernel(s.robot, s.work, middle, v_new, vs[BIAS])
    if s.options[EXTERNAL] != 0.0:
        external_efforts_kernel(s.robot, s.work, qs[Q_MIDDLE], s.wrenches, vs[GENERALIZED])
    if s.options[COMPLIANT] == 0.0:
        step_configuration(s.robot, qs[Q], v, ahead, h, qs[Q_AHEAD])
        if count > 0:
            _load_offsets(s, count, h)
    if s.options[SPRINGS] != 0.0:
        stretch_springs(s.constants, s.marks, s.qs, vs)
    has_rows = load_joint_rows(s, h)
    for i in range(n):
        total = h * (vs[TAU, i] - vs[BIAS, i])
        if s.options[EXTERNAL] != 0.0:
            total += h * vs[GENERALIZED, i]
        if s.options[FRICTION] != 0.0:
            total -= vs[JOINT + DRAG, i]
        for j in range(n):
            total += mass[i, j] * ahead[j]
        vs[MOMENTUM, i] = total
        v_new[i] = v[i] + h * vs[ACCELERATION, i]
    if s.options[SPRINGS] != 0.0:
        couple_springs(s.constants, vs, mass, h, is_end_step(s, count))
    return has_rows


@piece
def end_contacts(s: StepArrays, count: int, has_rows: bool, h: float) -> None:
    """Take over velocity and impulses that the solver found."""
    vs = s.vs
    v = vs[V_]
    v_new = vs[V_NEW]
    keep_joint_forces(s, h)
    _keep_contact_forces(s, count, h)
    if is_end_step(s, count) and s.options[AFTER_IMPACT] == 0.0:
        compliant_displacement(s, count, has_rows, h)
        step_configuration(s.robot, s.qs[Q], vs[STAGE], vs[STAGE], h, s.qs[Q_NEW])
    elif is_end_step(s, count):
        step_configuration(s.robot, s.qs[Q], v_new, v_new, h, s.qs[Q_NEW])
        for i in range(v.size):
            vs[DISPLACEMENT, i] = h * v_new[i]
    else:
        step_configuration(s.robot, s.qs[Q], v, v_new, h, s.qs[Q_NEW])
        for i in range(v.size):
            vs[DISPLACEMENT, i] = 0.5 * h * (v[i] + v_new[i])
    if s.options[SPRINGS] != 0.0:
        settle_stiff_springs(s.constants, s.marks, s.squares[MASS], s.qs, vs, h)
    s.report[EXTERNAL_WORK] = 0.0
    if s.options[EXTERNAL] != 0.0:
        for i in range(v.size):
            s.report[EXTERNAL_WORK] += vs[GENERALIZED, i] * vs[DISPLACEMENT, i]


@piece
def _keep_contact_forces(s: StepArrays, count: int, h: float) -> None:
    """Write forces and bristles of the step from the impulses that the solver found."""
    triples = s.triples
    for k in range(count):
        c = s.marks[ACTIVE, k]
        for d in range(3):
            triples[FORCE_NEW, c, d] = triples[IMPULSE, k, d] / h
        if s.options[COMPLIANT] != 0.0:
            stiffness = s.candidates[c, STIFFNESS]
            for d in range(2):
                if triples[IMPULSE, k, 0] > 0.0:
                    u = 0.0
                    for j in range(s.vs.shape[1]):
                        u += s.rows[3 * k + 1 + d, j] * s.vs[V_NEW, j]
                    damping = s.law[k, TANGENT_DAMPING] * u
                    held = triples[IMPULSE, k, 1 + d] + damping
                    s.bristles[1, c, d] = -held / (h * stiffness)
