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
One step with contacts, joint limits and dry friction, without impact.

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

Compliant contacts act at the depth of the end of the step, :math:`q^+ = q \oplus h v^+`, which is
the implicit Euler method for them.

Without contacts the friction and limit reaction of the step before are held through a step of the
integrator of free motion, and corrected at its end.

References
----------
.. [1] J. J. Moreau, *Unilateral contact and dry friction in finite freedom dynamics*, 1988.

"""

from __future__ import annotations

import math

from robot_dynamics_ros.core.contact.compiled_part import part
from robot_dynamics_ros.core.contact.configuration_step import (
    step_configuration,
    turn_free_roots,
)
from robot_dynamics_ros.core.contact.contact_kinematics import (
    contact_jacobian,
    place_contact,
    place_contacts,
    poses_kernel,
)
from robot_dynamics_ros.core.contact.contact_layout import (
    BODY,
    BRISTLE,
    DAMPING,
    DEPTH,
    DISSIPATION,
    DRY_IMPULSE,
    IS_COMPLIANT,
    LEVEL_NEGATIVE,
    LEVEL_POSITIVE,
    LOWER_IMPULSE,
    LOWER_OFFSET,
    LOWER_ON,
    MU,
    NORMAL_DISSIPATION,
    NORMAL_STIFFNESS,
    SHIFT,
    STIFFNESS,
    TANGENT_DAMPING,
    TANGENT_STIFFNESS,
    UPPER_IMPULSE,
    UPPER_OFFSET,
    UPPER_ON,
)
from robot_dynamics_ros.core.contact.contact_layout import (
    FRICTION as FRICTION_COEFFICIENT,
)
from robot_dynamics_ros.core.contact.free_step import free_step
from robot_dynamics_ros.core.contact.rigid_contact import solve_contacts
from robot_dynamics_ros.core.contact.step_arrays import (
    ACCELERATION,
    AFTER_IMPACT,
    BIAS,
    COMPLIANT,
    DISPLACEMENT,
    DRY,
    DRY_NEW,
    EFFORT,
    EXTERNAL,
    EXTERNAL_WORK,
    FRICTION,
    GENERALIZED,
    ITERATIONS,
    LIMITS,
    MOMENTUM,
    Q,
    Q_AHEAD,
    Q_MIDDLE,
    Q_NEW,
    REACTION,
    REACTION_NEW,
    RESIDUAL,
    SEMI_IMPLICIT,
    STAGE,
    StepArrays,
    TAU,
    V_,
    V_AHEAD,
    V_MIDDLE,
    V_NEW,
    WHOLE_STEP,
)
from robot_dynamics_ros.core.dynamics.crba import crba_kernel
from robot_dynamics_ros.core.dynamics.external_wrench import external_efforts_kernel
from robot_dynamics_ros.core.dynamics.rnea import rnea_kernel
from robot_dynamics_ros.core.jit import inner

CLOSED = 1e-7
"""Gap up to which a contact or limit counts as closed [m | rad]."""

OPEN = 1e-5
"""Gap above which a contact is taken as closed only because it will close in this step [m]."""

RETURN = 0.2
"""Part of the gap of a closed contact that a step takes back."""

RETURN_SPEED = 0.05
"""Largest velocity with which bodies are put out of each other [m/s | rad/s]."""

FADE = 0.99
"""What the guess keeps of the forces of the step before."""


@inner
def _return_velocity(gap: float, h: float, whole: float) -> float:
    """Return the velocity offset that closes a small gap or opens a negative one."""
    if gap > OPEN:
        return gap / h
    return max(RETURN * gap / max(h, whole), -RETURN_SPEED)


@part
def _load_joint_rows(s: StepArrays, h: float) -> bool:
    """Write levels, damping and active limits at the joints; return whether there are any."""
    joint = s.joint
    n = s.joint.shape[1]
    count = s.candidates.shape[0]
    has_rows: bool = s.options[FRICTION] != 0.0
    for i in range(n):
        joint[DAMPING, i] = 0.0
        joint[LOWER_ON, i] = 0.0
        joint[UPPER_ON, i] = 0.0
        if s.options[FRICTION] != 0.0:
            v = s.vs[V_, i]
            damping = h * s.friction[0, i]
            theta = 1.0 if damping > s.mass[i, i] else 0.5
            joint[DAMPING, i] = theta * damping
            speed = v / s.friction[4, i]
            rise = h * (1.0 + (s.friction[3, i] - 1.0) * math.exp(-speed * speed))
            joint[LEVEL_POSITIVE, i] = s.friction[1, i] * rise
            joint[LEVEL_NEGATIVE, i] = s.friction[2, i] * rise
            viscous = s.friction[0, i] * v
            joint[DRY_IMPULSE, i] = -h * (s.vs[DRY, i] - viscous)
        if s.options[LIMITS] != 0.0:
            if s.is_active[count + i] != 0:
                has_rows = True
                joint[LOWER_ON, i] = 1.0
                joint[LOWER_OFFSET, i] = _return_velocity(
                    s.gap[count + i], h, s.options[WHOLE_STEP]
                )
                joint[LOWER_IMPULSE, i] = max(0.0, h * s.vs[REACTION, i])
            if s.is_active[count + n + i] != 0:
                has_rows = True
                joint[UPPER_ON, i] = 1.0
                joint[UPPER_OFFSET, i] = _return_velocity(
                    s.gap[count + n + i], h, s.options[WHOLE_STEP]
                )
                joint[UPPER_IMPULSE, i] = max(0.0, -h * s.vs[REACTION, i])
    return has_rows


@part
def _keep_joint_forces(s: StepArrays, h: float) -> None:
    """Write friction and reaction of the step from the impulses that the solver found."""
    for i in range(s.joint.shape[1]):
        s.vs[DRY_NEW, i] = 0.0
        if s.options[FRICTION] != 0.0:
            implicit = s.joint[DAMPING, i] / h
            explicit = s.friction[0, i] - implicit
            viscous = implicit * s.vs[V_NEW, i] + explicit * s.vs[V_, i]
            s.vs[DRY_NEW, i] = viscous - s.joint[DRY_IMPULSE, i] / h
        reaction = 0.0
        if s.joint[LOWER_ON, i] != 0.0:
            reaction += s.joint[LOWER_IMPULSE, i]
        if s.joint[UPPER_ON, i] != 0.0:
            reaction -= s.joint[UPPER_IMPULSE, i]
        s.vs[REACTION_NEW, i] = reaction / h


@part
def jointwise_step(s: StepArrays, h: float) -> int:
    """Step with friction and limits at the joints but no contact; return ABA's status."""
    n = s.joint.shape[1]
    none = 0 * n
    effort = s.vs[EFFORT]
    for i in range(n):
        effort[i] = s.vs[TAU, i] - s.vs[DRY, i] + s.vs[REACTION, i]
    status = free_step(s, h)
    if status != -1:
        return status
    crba_kernel(s.robot, s.work, s.qs[Q_NEW], s.mass)
    has_rows = _load_joint_rows(s, h)
    v = s.vs[V_]
    v_new = s.vs[V_NEW]
    smooth = s.vs[STAGE]
    momentum = s.vs[MOMENTUM]
    for i in range(n):
        smooth[i] = v_new[i]
    for i in range(n):
        total = h * (s.vs[DRY, i] - s.vs[REACTION, i])
        total -= (h * s.friction[0, i] - s.joint[DAMPING, i]) * v[i]
        for j in range(n):
            total += s.mass[i, j] * smooth[j]
        momentum[i] = total
        v_new[i] = v[i]
    residual, iterations = solve_contacts(
        s.mass, momentum, s.rows, s.offset, s.law, none, s.joint, has_rows, h, v_new, s.impulse,
        s.trial, s.tangent, s.factor, s.vectors, s.small,
    )  # fmt: skip
    s.report[RESIDUAL] = max(s.report[RESIDUAL], residual)
    s.report[ITERATIONS] += iterations
    _keep_joint_forces(s, h)
    weight = h if s.options[SEMI_IMPLICIT] != 0.0 else 0.5 * h
    change = s.vs[V_AHEAD]
    for i in range(n):
        change[i] = v_new[i] - smooth[i]
        s.vs[DISPLACEMENT, i] += weight * change[i]
    q_new = s.qs[Q_NEW]
    ahead = s.qs[Q_AHEAD]
    for j in range(q_new.size):
        ahead[j] = q_new[j]
    step_configuration(s.robot, ahead, change, change, weight, q_new)
    for i in range(n):
        j = s.coordinate[i]
        if j >= 0 and v[i] == 0.0 and v_new[i] == 0.0:
            q_new[j] = s.qs[Q, j]
    return -1


@inner
def _load_contact(s: StepArrays, c: int, k: int, h: float) -> None:
    """Write the law and the guess of active contact `k`, candidate `c`."""
    row = s.candidates[c]
    law = s.law[k]
    law[MU] = row[FRICTION_COEFFICIENT]
    law[SHIFT] = 0.0
    law[IS_COMPLIANT] = s.options[COMPLIANT]
    for j in range(3):
        s.impulse[k, j] = FADE * h * s.force[c, j]
    if s.options[COMPLIANT] != 0.0:
        law[DEPTH] = -s.gap[c]
        law[NORMAL_STIFFNESS] = h * row[STIFFNESS]
        law[NORMAL_DISSIPATION] = row[DISSIPATION]
        law[TANGENT_STIFFNESS] = h * row[STIFFNESS]
        law[TANGENT_DAMPING] = h * row[DISSIPATION] * s.force[c, 0]
        law[BRISTLE] = s.bristle[c, 0]
        law[BRISTLE + 1] = s.bristle[c, 1]


@part
def _load_contacts(s: StepArrays, count: int, h: float) -> None:
    """Write Jacobians, offsets, laws and guesses of the active contacts."""
    n = s.joint.shape[1]
    ahead = s.vs[V_AHEAD]
    compliant = s.options[COMPLIANT] != 0.0
    poses_kernel(s.robot, s.work, s.qs[Q_MIDDLE])
    for k in range(count):
        c = s.active[k]
        place_contact(s.candidates[c], s.work, s.place[c])
        contact_jacobian(s.robot, s.candidates[c], s.work, s.place[c], s.rows, 3 * k)
        _load_contact(s, c, k, h)
        for d in range(3):
            total = 0.0
            if not compliant:
                for j in range(n):
                    total -= s.rows[3 * k + d, j] * ahead[j]
            s.offset[k, d] = total
    if compliant:
        return
    poses_kernel(s.robot, s.work, s.qs[Q_AHEAD])
    for k in range(count):
        c = s.active[k]
        place_contact(s.candidates[c], s.work, s.place[c])
        contact_jacobian(s.robot, s.candidates[c], s.work, s.place[c], s.rows_ahead, 0)
        for d in range(3):
            total = 0.0
            for j in range(n):
                total += s.rows_ahead[d, j] * ahead[j]
            s.offset[k, d] += total
        # Points of one body on one plane get one tangential offset: a rigid motion, so that all
        # can stick together.
        for m in range(k):
            first = s.active[m]
            if s.candidates[first, BODY] == s.candidates[c, BODY]:
                along = 0.0
                for d in range(3):
                    along += s.place[first, 3 + d] * s.place[c, 3 + d]
                if along > 1.0 - 1e-9:
                    s.offset[k, 1] = s.offset[m, 1]
                    s.offset[k, 2] = s.offset[m, 2]
                    break
        s.offset[k, 0] += _return_velocity(s.gap[c], h, s.options[WHOLE_STEP])


@part
def contact_step(s: StepArrays, count: int, h: float) -> int:
    """
    Step with the `count` contacts in ``s.active``.

    Return -1, or -2 if the mass matrix is singular.

    """
    n = s.joint.shape[1]
    q = s.qs[Q]
    v = s.vs[V_]
    v_new = s.vs[V_NEW]
    middle = s.vs[V_MIDDLE]
    ahead = s.vs[V_AHEAD]
    momentum = s.vs[MOMENTUM]
    for i in range(n):
        middle[i] = v[i] + 0.5 * h * s.vs[ACCELERATION, i]
        ahead[i] = v[i]
        v_new[i] = 0.0
    turn_free_roots(s.robot, middle, h, ahead, v_new)
    step_configuration(s.robot, q, v, v, 0.5 * h, s.qs[Q_MIDDLE])
    crba_kernel(s.robot, s.work, s.qs[Q_MIDDLE], s.mass)
    rnea_kernel(s.robot, s.work, s.qs[Q_MIDDLE], middle, v_new, s.vs[BIAS])
    if s.options[EXTERNAL] != 0.0:
        external_efforts_kernel(s.robot, s.work, s.qs[Q_MIDDLE], s.wrenches, s.vs[GENERALIZED])
    if s.options[COMPLIANT] == 0.0:
        step_configuration(s.robot, q, v, ahead, h, s.qs[Q_AHEAD])
    _load_contacts(s, count, h)
    has_rows = _load_joint_rows(s, h)
    for i in range(n):
        total = h * (s.vs[TAU, i] - s.vs[BIAS, i])
        if s.options[EXTERNAL] != 0.0:
            total += h * s.vs[GENERALIZED, i]
        if s.options[FRICTION] != 0.0:
            total -= (h * s.friction[0, i] - s.joint[DAMPING, i]) * v[i]
        for j in range(n):
            total += s.mass[i, j] * ahead[j]
        momentum[i] = total
        v_new[i] = v[i] + h * s.vs[ACCELERATION, i]
    residual, iterations = solve_contacts(
        s.mass, momentum, s.rows, s.offset, s.law, count, s.joint, has_rows, h, v_new, s.impulse,
        s.trial, s.tangent, s.factor, s.vectors, s.small,
    )  # fmt: skip
    if residual < 0.0:
        return -2
    s.report[RESIDUAL] = max(s.report[RESIDUAL], residual)
    s.report[ITERATIONS] += iterations
    _keep_joint_forces(s, h)
    _keep_contact_forces(s, count, h)
    if s.options[COMPLIANT] != 0.0 or s.options[AFTER_IMPACT] != 0.0:
        step_configuration(s.robot, q, v_new, v_new, h, s.qs[Q_NEW])
        for i in range(n):
            s.vs[DISPLACEMENT, i] = h * v_new[i]
    else:
        step_configuration(s.robot, q, v, v_new, h, s.qs[Q_NEW])
        for i in range(n):
            s.vs[DISPLACEMENT, i] = 0.5 * h * (v[i] + v_new[i])
    s.report[EXTERNAL_WORK] = 0.0
    if s.options[EXTERNAL] != 0.0:
        for i in range(n):
            s.report[EXTERNAL_WORK] += s.vs[GENERALIZED, i] * s.vs[DISPLACEMENT, i]
    return -1


@part
def _keep_contact_forces(s: StepArrays, count: int, h: float) -> None:
    """Write forces and bristles of the step from the impulses that the solver found."""
    for k in range(count):
        c = s.active[k]
        for d in range(3):
            s.force_new[c, d] = s.impulse[k, d] / h
        if s.options[COMPLIANT] != 0.0:
            stiffness = s.candidates[c, STIFFNESS]
            for d in range(2):
                if s.impulse[k, 0] > 0.0:
                    u = 0.0
                    for j in range(s.joint.shape[1]):
                        u += s.rows[3 * k + 1 + d, j] * s.vs[V_NEW, j]
                    damping = s.law[k, TANGENT_DAMPING] * u
                    s.bristle_new[c, d] = -(s.impulse[k, 1 + d] + damping) / (h * stiffness)


@part
def place_all(s: StepArrays) -> None:
    """Write the gaps of all candidates and limits at the new configuration."""
    count = s.candidates.shape[0]
    n = s.joint.shape[1]
    q = s.qs[Q_NEW]
    if count > 0:
        poses_kernel(s.robot, s.work, q)
        place_contacts(s.candidates, s.work, s.gap_new, s.place)
    if s.options[LIMITS] != 0.0:
        for i in range(n):
            j = s.coordinate[i]
            if j >= 0:
                s.gap_new[count + i] = q[j] - s.limits[0, i]
                s.gap_new[count + n + i] = s.limits[1, i] - q[j]


@part
def try_step(s: StepArrays, h: float) -> int:
    """
    Step with the contacts and limits marked in ``s.is_active``; write all that is new.

    Return -1, or a status as that of ABA.

    """
    count = 0
    for c in range(s.candidates.shape[0]):
        for d in range(3):
            s.force_new[c, d] = 0.0
        s.bristle_new[c, 0] = 0.0
        s.bristle_new[c, 1] = 0.0
        if s.is_active[c] != 0:
            s.active[count] = c
            count += 1
    if count > 0:
        status = contact_step(s, count, h)
    else:
        limited = s.options[FRICTION] != 0.0
        for k in range(s.candidates.shape[0], s.is_active.size):
            limited |= s.is_active[k] != 0
        if limited:
            status = jointwise_step(s, h)
        else:
            for i in range(s.joint.shape[1]):
                s.vs[EFFORT, i] = s.vs[TAU, i]
                s.vs[DRY_NEW, i] = 0.0
                s.vs[REACTION_NEW, i] = 0.0
            status = free_step(s, h)
    place_all(s)
    return status
