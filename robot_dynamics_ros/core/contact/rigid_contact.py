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
The velocity at the end of a step that fulfils all laws of contact at once.

Unknown are the velocity :math:`v` and the impulses :math:`\lambda` in

.. math:: (M + D)\,v = p + \sum_c J_c^T \lambda_c + \lambda_J, \qquad u_c = J_c v + b_c,

with the momentum `p` that the step would bring without constraints. Each rigid contact obeys
Coulomb's law with the exact cone: :math:`0 \le \lambda_n \perp u_n \ge 0`, and
:math:`|\lambda_t| \le \mu \lambda_n` opposite to :math:`u_t` where the contact slides. At the
joints there are limits, :math:`0 \le \lambda \perp \pm v_i + b_i \ge 0`, and dry friction,
:math:`\lambda_i \in -F_i\,\mathrm{Sgn}(v_i)`. Compliant contacts enter with their own laws.

The method is that of multipliers. In each round the constraints are soft, with penalties
:math:`\rho = 1 / (\epsilon w)` where `w` is the contact's mobility, but about the impulses of the
round before, so that after the last round they are rigid. The soft problem is one of `nv` smooth
equations however many contacts there are, and is solved by Newton's method with a line search.
Contacts that determine each other (a table on four legs) need no care: of all sets of impulses
that fit, the one nearest to the first guess comes out, which fades from step to step to the
smallest one, the symmetric one.

Newton's method works on Coulomb's law itself, whose slope is not symmetric. Should it fail, it
starts again from where all contacts stick, which finds the jams of Painlevé. Should that fail, the
rounds go on with the projections on the cones (see `contact_law`), of which each soft problem is
convex and has a solution that is found; there the shift :math:`\mu |u_t|` moves on from round to
round.

The residual is the largest of the residuals of all laws, `cone_residual` and those of the joints,
and of the equation of motion, over the size of the impulses and of the velocities that they have
to take away, in the same energy norm, or over `MOTION` times the motion itself if that is larger.

References
----------
.. [1] V. Acary, B. Brogliato, *Numerical Methods for Nonsmooth Dynamical Systems*, 2008, chapters
   12 and 13.
.. [2] R. T. Rockafellar, "Augmented Lagrangians and applications of the proximal point algorithm
   in convex programming", Mathematics of Operations Research 1(2), 1976.
.. [3] J. Nocedal and S. Wright, *Numerical Optimization*, 2006, chapter 17.

"""

from __future__ import annotations

import math

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.compiled_part import part
from robot_dynamics_ros.core.contact.contact_law import (
    CONE,
    DISC,
    STICK,
)
from robot_dynamics_ros.core.contact.contact_layout import (
    BRUSH_DEFLECTION,
    BRUSH_LAW,
    BRUSH_WORK,
    CHANGE,
    DAMPING,
    DRY_IMPULSE,
    DRY_TRIAL,
    FORCE,
    FREE_VELOCITY,
    GUESS,
    HAS_SLOPE,
    LEVEL_NEGATIVE,
    LEVEL_POSITIVE,
    LOWER_IMPULSE,
    LOWER_ON,
    LOWER_TRIAL,
    MOBILITY,
    PENALTY,
    REFERENCE,
    REMAINDER,
    SCRATCH,
    STEP,
    TRIAL,
    TRIAL_FORCE,
    UPPER_IMPULSE,
    UPPER_ON,
    UPPER_TRIAL,
)
from robot_dynamics_ros.core.contact.contact_residual import laws_residual
from robot_dynamics_ros.core.contact.dense import (
    cholesky,
    cholesky_solve,
    mobility,
    solve_general,
)
from robot_dynamics_ros.core.contact.soft_problem import SOFTNESS, unbalanced
from robot_dynamics_ros.core.friction.bristle_step import REACH, STIFFNESS
from robot_dynamics_ros.core.jit import lean_kernel

TOLERANCE = 1e-10
"""Residual at which the rounds end."""

MOTION = 1e-6
"""Part of the motion that a residual is measured by where nothing else is larger."""

REST = 1e-12
"""Speed that counts as zero at a joint that presses on its limit [rad/s | m/s]."""

_ROUNDS = 60
_NEWTON_STEPS = 30
_SEARCHES = 60
_SECANTS = 6
_DISC_AGAIN = 6
_HARDER = 1e3


@part
def _prepare(
    mass: Matrix,
    momentum: Vector,
    rows: Matrix,
    offset: Matrix,
    law: Matrix,
    count: int,
    joint: Matrix,
    tangent: Matrix,
    factor: Matrix,
    vectors: Matrix,
    h: float,
) -> float:
    """
    Write free velocity, mobilities and penalties.

    Return the size of the free motion against the constraints, or -1 if the mass is singular.

    """
    n = momentum.size
    for i in range(n):
        for j in range(n):
            tangent[i, j] = mass[i, j]
        tangent[i, i] += joint[DAMPING, i]
        vectors[FREE_VELOCITY, i] = momentum[i]
    if cholesky(tangent, factor) >= 0:
        return -1.0
    cholesky_solve(factor, vectors[FREE_VELOCITY])
    size = 0.0
    for c in range(count):
        w = 0.0
        for k in range(3):
            w += mobility(factor, rows[3 * c + k], vectors[SCRATCH]) / 3.0
        law[c, MOBILITY] = w
        law[c, PENALTY] = 1.0 / (SOFTNESS * w) if w > 0.0 else 0.0
        if w > 0.0:
            u = offset[c, 0]
            for j in range(n):
                u += rows[3 * c, j] * vectors[FREE_VELOCITY, j]
            size = max(size, abs(u) / math.sqrt(w))
    for i in range(n):
        if joint[LOWER_ON, i] != 0.0 or joint[UPPER_ON, i] != 0.0:
            size = max(size, abs(vectors[FREE_VELOCITY, i]) * math.sqrt(mass[i, i]))
        level = max(joint[LEVEL_POSITIVE, i], joint[LEVEL_NEGATIVE, i])
        if level > 0.0:
            free = abs(vectors[FREE_VELOCITY, i]) * mass[i, i]
            size = max(size, min(free, level) / math.sqrt(mass[i, i]))
        if joint[HAS_SLOPE, i] != 0.0 and joint[BRUSH_LAW + STIFFNESS, i] > 0.0:
            stiffness = joint[BRUSH_LAW + STIFFNESS, i]
            reach = max(joint[BRUSH_WORK + REACH, i], joint[BRUSH_WORK + REACH + 1, i])
            free = abs(vectors[FREE_VELOCITY, i]) * mass[i, i]
            held = max(abs(joint[BRUSH_DEFLECTION, i]), min(free / (h * stiffness), reach))
            size = max(size, h * stiffness * held / math.sqrt(mass[i, i]))
    return size


@lean_kernel
def solve_contacts(
    mass: Matrix,
    momentum: Vector,
    rows: Matrix,
    offset: Matrix,
    law: Matrix,
    count: int,
    joint: Matrix,
    has_joint_rows: bool,
    h: float,
    v: Vector,
    impulse: Matrix,
    trial: Matrix,
    tangent: Matrix,
    factor: Matrix,
    vectors: Matrix,
    small: Matrix,
) -> tuple[float, int]:
    """
    Replace the guesses of velocity and impulses by the solution.

    Parameters
    ----------
    mass : ndarray, shape (nv, nv)
        Mass matrix.
    momentum : ndarray, shape (nv,)
        The momentum `p`.
    rows : ndarray, shape (>= 3 count, nv)
        Jacobians, three rows a contact: normal and two tangents.
    offset : ndarray, shape (>= count, 3)
        The velocities `b` [m/s].
    law : ndarray, shape (>= count, LAW_WIDTH)
        Laws of the contacts; mobilities and penalties are written.
    count : int
        Number of contacts.
    joint : ndarray, shape (JOINT_ROWS, nv)
        Limits, friction and damping; the impulses are guesses and results.
    has_joint_rows : bool
        Whether there are limits or friction.
    h : float
        Length of the step, for compliant contacts and bristles [s].
    v : ndarray, shape (nv,)
        In: a guess; out: the velocity.
    impulse : ndarray, shape (>= count, 3)
        In: a guess; out: the impulses [N s].
    trial, tangent, factor, vectors, small : ndarray
        Scratch, of the shapes of `impulse` and `mass`, (VECTORS, nv) and (2, 9).

    Returns
    -------
    residual : float
        See above; -1 if the mass matrix is singular or the motion is not finite.
    iterations : int
        Number of linear systems that were solved.

    """
    n = v.size
    free_size = _prepare(
        mass, momentum, rows, offset, law, count, joint, tangent, factor, vectors, h
    )
    if free_size < 0.0:
        return -1.0, 0
    if count == 0 and not has_joint_rows:
        for i in range(n):
            v[i] = vectors[FREE_VELOCITY, i]
        return 0.0, 1
    form = DISC if count > 0 else CONE
    iterations = 0
    residual = 0.0
    best = math.inf
    since_cone = 0
    has_stuck = False
    harder = 1.0
    change = vectors[CHANGE]
    motion = 0.0
    for i in range(n):
        change[i] = 0.0
        vectors[GUESS, i] = v[i]
        total = joint[DAMPING, i] * v[i] - momentum[i]
        for j in range(n):
            total += mass[i, j] * v[j]
        vectors[REMAINDER, i] = total
        motion += mass[i, i] * v[i] * v[i]
    free_size = max(free_size, MOTION * math.sqrt(motion))
    if free_size == math.inf:
        return -1.0, 0
    for c in range(count):
        for k in range(3):
            total = offset[c, k]
            for j in range(n):
                total += rows[3 * c + k, j] * v[j]
            law[c, REFERENCE + k] = total
    force = vectors[FORCE]
    step = vectors[STEP]
    other = vectors[TRIAL]
    other_force = vectors[TRIAL_FORCE]
    for _ in range(_ROUNDS):
        norm = unbalanced(
            form, mass, rows, law, count, joint, has_joint_rows, h, change, impulse, trial,
            tangent, vectors, force, small,
        )  # fmt: skip
        kinetic = 0.0
        for i in range(n):
            kinetic += mass[i, i] * change[i] * change[i]
        floor = 1e-13 * free_size + 1e-15 * math.sqrt(kinetic)
        rounding = 1e-10 * free_size + 1e-14 * math.sqrt(kinetic)
        failed = False
        for _ in range(_NEWTON_STEPS):
            if math.sqrt(norm) <= floor:
                break
            for i in range(n):
                step[i] = -force[i]
            iterations += 1
            if not solve_general(tangent, step):
                failed = True
                break
            start = 0.0
            for i in range(n):
                start += force[i] * step[i]
            low = 0.0
            low_slope = start
            high = 1.0
            high_slope = math.inf
            alpha = 1.0
            new = norm
            for search in range(_SEARCHES):
                for i in range(n):
                    other[i] = change[i] + alpha * step[i]
                new = unbalanced(
                    form, mass, rows, law, count, joint, has_joint_rows, h, other, impulse, trial,
                    tangent, vectors, other_force, small,
                )  # fmt: skip
                slope = 0.0
                for i in range(n):
                    slope += other_force[i] * step[i]
                if new <= 0.01 * norm or start >= 0.0 or (slope <= 0.0 and alpha == 1.0):
                    break
                if abs(slope) <= -0.1 * start:
                    break
                # the slope along the step rises through zero: regula falsi (Illinois)
                if slope > 0.0:
                    if high_slope < math.inf and search > 0:
                        low_slope *= 0.5
                    high = alpha
                    high_slope = slope
                else:
                    high_slope *= 0.5
                    low = alpha
                    low_slope = slope
                if not low_slope < high_slope:
                    break
                alpha = low + (high - low) * low_slope / (low_slope - high_slope)
                if search > _SECANTS and search % 2 == 0:
                    # a joint that is to stick is a step in the slope, steep and narrow
                    alpha = 0.5 * (low + high)
            failed = not new < norm and not start < 0.0
            if failed and math.sqrt(norm) <= rounding:
                # rounding; the change stays, and trial is made for it again
                failed = False
                norm = unbalanced(
                    form, mass, rows, law, count, joint, has_joint_rows, h, change, impulse,
                    trial, tangent, vectors, force, small,
                )  # fmt: skip
                break
            for i in range(n):
                change[i] = other[i]
                force[i] = other_force[i]
            stalls = new > 0.25 * norm and math.sqrt(new) <= rounding
            norm = new
            if failed or stalls:
                break
        else:
            failed = math.sqrt(norm) > rounding
        if failed and form == DISC and not has_stuck:
            has_stuck = True
            unbalanced(
                STICK, mass, rows, law, count, joint, has_joint_rows, h, change, impulse, trial,
                tangent, vectors, force, small,
            )  # fmt: skip
            iterations += 1
            if solve_general(tangent, force):
                for i in range(n):
                    change[i] -= force[i]
            continue
        if failed and form == DISC:
            form = CONE
            since_cone = 0
        else:
            for c in range(count):
                for k in range(3):
                    impulse[c, k] = trial[c, k]
            if has_joint_rows:
                for i in range(n):
                    joint[DRY_IMPULSE, i] = vectors[DRY_TRIAL, i]
                    joint[LOWER_IMPULSE, i] = vectors[LOWER_TRIAL, i]
                    joint[UPPER_IMPULSE, i] = vectors[UPPER_TRIAL, i]
        worst, size = laws_residual(
            mass, rows, law, count, joint, has_joint_rows, change, impulse, vectors, small
        )
        size = max(size, free_size)
        worst = max(worst, math.sqrt(norm))
        residual = worst / size if size > 0.0 else worst
        if residual <= TOLERANCE:
            break
        if form == CONE:
            since_cone += 1
            if since_cone >= _DISC_AGAIN and count > 0:
                form = DISC if count > 0 else CONE
        elif residual > 0.3 * best:
            if residual < 1e-9:
                break
            if harder < _HARDER:
                # constraints that nearly contradict each other: let the impulses grow faster
                harder *= 10.0
                for c in range(count):
                    law[c, PENALTY] *= 10.0
        best = min(best, residual)
    for i in range(n):
        v[i] += change[i]
        held = joint[DRY_IMPULSE, i]
        if -joint[LEVEL_POSITIVE, i] < held < joint[LEVEL_NEGATIVE, i]:
            v[i] = 0.0
        if abs(v[i]) < REST and (
            (joint[LOWER_ON, i] != 0.0 and joint[LOWER_IMPULSE, i] > 0.0)
            or (joint[UPPER_ON, i] != 0.0 and joint[UPPER_IMPULSE, i] > 0.0)
        ):
            v[i] = 0.0
    return residual, iterations
