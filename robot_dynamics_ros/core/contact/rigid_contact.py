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

A few contacts that all stick are found by one linear system (`stick_solution`), which is tried
before all else.

The rounds are in `multiplier_rounds`. What they leave unsolved is approached along a path [4]_:
from no friction, where the problem is convex, in steps to all of it, each from the solution of the
step before; in finer steps; and from more friction.

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
.. [4] E. L. Allgower, K. Georg, *Numerical Continuation Methods*, 1990, chapter 2.

"""

from __future__ import annotations

import math

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.compiled_part import part, piece
from robot_dynamics_ros.core.contact.contact_layout import (
    BEST,
    BEST_IMPULSE,
    BRUSH_DEFLECTION,
    BRUSH_LAW,
    BRUSH_WORK,
    CHANGE,
    DAMPING,
    DIRECT,
    DRY_IMPULSE,
    FREE_VELOCITY,
    FULL_MU,
    GUESS,
    HALF,
    HAS_SLOPE,
    IS_COMPLIANT,
    LEVEL_NEGATIVE,
    LEVEL_POSITIVE,
    LOWER_IMPULSE,
    LOWER_ON,
    MOBILITY,
    MU,
    PENALTY,
    REFERENCE,
    REMAINDER,
    SCRATCH,
    UPPER_IMPULSE,
    UPPER_ON,
)
from robot_dynamics_ros.core.contact.contact_residual import laws_residual
from robot_dynamics_ros.core.contact.dense import (
    cholesky,
    cholesky_solve,
    mobility,
)
from robot_dynamics_ros.core.contact.multiplier_rounds import multiplier_rounds, TOLERANCE
from robot_dynamics_ros.core.contact.soft_problem import SOFTNESS
from robot_dynamics_ros.core.contact.stick_solution import stick_solution
from robot_dynamics_ros.core.friction.bristle_step import REACH, STIFFNESS
from robot_dynamics_ros.core.jit import kernel

MOTION = 1e-6
"""Part of the motion that a residual is measured by where nothing else is larger."""

REST = 1e-12
"""Speed that counts as zero at a joint that presses on its limit [rad/s | m/s]."""

SOLVED = 1e-8
"""Residual above which the problem is approached from less friction, and then from more."""

BUDGET = 6000
"""Number of factored matrices in all attempts of a step: some ten milliseconds."""

LEAST_BUDGET = 1500
"""Number of those that each attempt may take after that."""

_ATTEMPTS = 4
_RAMP = (1, 6, 21, 6)
_FALL = (3.0, 2.0, 1.5, 1.2, 1.1, 1.0)


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
            half = vectors[HALF + 3 * c + k] if count <= DIRECT else vectors[SCRATCH]
            w += mobility(factor, rows[3 * c + k], half) / 3.0
        law[c, MOBILITY] = w
        law[c, FULL_MU] = law[c, MU]
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


@piece
def _first_guess(
    mass: Matrix,
    momentum: Vector,
    rows: Matrix,
    offset: Matrix,
    law: Matrix,
    count: int,
    joint: Matrix,
    v: Vector,
    vectors: Matrix,
) -> float:
    """
    Write what is missing in the momentum balance, and the contacts' velocities, at the guess.

    Return the square of its motion, in the unit of an energy.

    """
    n = v.size
    motion = 0.0
    for i in range(n):
        vectors[CHANGE, i] = 0.0
        vectors[GUESS, i] = v[i]
        total = joint[DAMPING, i] * v[i] - momentum[i]
        for j in range(n):
            total += mass[i, j] * v[j]
        vectors[REMAINDER, i] = total
        motion += mass[i, i] * v[i] * v[i]
    for c in range(count):
        for k in range(3):
            total = offset[c, k]
            for j in range(n):
                total += rows[3 * c + k, j] * v[j]
            law[c, REFERENCE + k] = total
    return motion


@piece
def _stick(
    mass: Matrix,
    rows: Matrix,
    law: Matrix,
    count: int,
    joint: Matrix,
    impulse: Matrix,
    factor: Matrix,
    vectors: Matrix,
    small: Matrix,
    free_size: float,
) -> float:
    """Try `stick_solution`; return its residual, or infinity if it does not hold."""
    if not stick_solution(law, count, impulse, factor, vectors, small):
        return math.inf
    n = vectors.shape[1]
    square = 0.0
    for i in range(n):
        total = vectors[REMAINDER, i] + joint[DAMPING, i] * vectors[CHANGE, i]
        for j in range(n):
            total += mass[i, j] * vectors[CHANGE, j]
        for r in range(3 * count):
            total -= rows[r, i] * impulse[r // 3, r % 3]
        square += total * total / mass[i, i]
    worst, size = laws_residual(
        mass, rows, law, count, joint, False, vectors[CHANGE], impulse, vectors, small
    )
    worst = max(worst, math.sqrt(square))
    size = max(size, free_size)
    return worst / size if size > 0.0 else worst


@piece
def _scale_friction(law: Matrix, count: int, attempt: int, k: int) -> None:
    """Write friction for step `k` of an attempt, and the penalties as they were at first."""
    scale = _FALL[k] if attempt == _ATTEMPTS - 1 else k / (_RAMP[attempt] - 1.0)
    for c in range(count):
        law[c, MU] = scale * law[c, FULL_MU]
        w = law[c, MOBILITY]
        law[c, PENALTY] = 1.0 / (SOFTNESS * w) if w > 0.0 else 0.0


@piece
def _forget(joint: Matrix, v: Vector, impulse: Matrix, count: int) -> None:
    """Start from rest without impulses."""
    for i in range(v.size):
        v[i] = 0.0
        joint[DRY_IMPULSE, i] = 0.0
        joint[LOWER_IMPULSE, i] = 0.0
        joint[UPPER_IMPULSE, i] = 0.0
    for c in range(count):
        for k in range(3):
            impulse[c, k] = 0.0


@piece
def _keep(
    law: Matrix, count: int, joint: Matrix, v: Vector, impulse: Matrix, vectors: Matrix
) -> None:
    """Remember an attempt."""
    for i in range(v.size):
        vectors[BEST, i] = v[i]
        vectors[BEST + 1, i] = joint[DRY_IMPULSE, i]
        vectors[BEST + 2, i] = joint[LOWER_IMPULSE, i]
        vectors[BEST + 3, i] = joint[UPPER_IMPULSE, i]
    for c in range(count):
        for k in range(3):
            law[c, BEST_IMPULSE + k] = impulse[c, k]


@piece
def _take_back(
    law: Matrix, count: int, joint: Matrix, v: Vector, impulse: Matrix, vectors: Matrix
) -> None:
    """Return to the attempt that was kept."""
    for i in range(v.size):
        v[i] = vectors[BEST, i]
        joint[DRY_IMPULSE, i] = vectors[BEST + 1, i]
        joint[LOWER_IMPULSE, i] = vectors[BEST + 2, i]
        joint[UPPER_IMPULSE, i] = vectors[BEST + 3, i]
    for c in range(count):
        for k in range(3):
            impulse[c, k] = law[c, BEST_IMPULSE + k]


@piece
def _finish(v: Vector, joint: Matrix) -> None:
    """Put to rest the joints that friction or a limit holds."""
    for i in range(v.size):
        held = joint[DRY_IMPULSE, i]
        if -joint[LEVEL_POSITIVE, i] < held < joint[LEVEL_NEGATIVE, i]:
            v[i] = 0.0
        if abs(v[i]) < REST and (
            (joint[LOWER_ON, i] != 0.0 and joint[LOWER_IMPULSE, i] > 0.0)
            or (joint[UPPER_ON, i] != 0.0 and joint[UPPER_IMPULSE, i] > 0.0)
        ):
            v[i] = 0.0


@part
def _attempts(
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
    vectors: Matrix,
    small: Matrix,
    free_size: float,
    budget: int,
) -> tuple[float, int]:
    """
    Make the rounds, and if they do not solve the problem, approach it from other friction.

    Return the least residual, whose solution is taken, and the number of factored matrices.

    """
    iterations = 0
    residual = 0.0
    best = math.inf
    for attempt in range(_ATTEMPTS):
        for k in range(_RAMP[attempt]):
            if attempt > 0:
                if iterations >= budget:
                    residual = math.inf  # of less friction, which is no solution
                    break
                _scale_friction(law, count, attempt, k)
                if k == 0:
                    _forget(joint, v, impulse, count)
            motion = _first_guess(mass, momentum, rows, offset, law, count, joint, v, vectors)
            size = max(free_size, MOTION * math.sqrt(motion))
            if size == math.inf:
                return -1.0, 0
            residual, factored = multiplier_rounds(
                mass, rows, law, count, joint, has_joint_rows, h, impulse, trial, tangent,
                vectors, small, size, budget - iterations,
            )  # fmt: skip
            iterations += factored
            for i in range(v.size):
                v[i] += vectors[CHANGE, i]
        is_best = residual < best
        best = min(best, residual)
        if best <= SOLVED or count == 0:
            break
        if is_best:
            _keep(law, count, joint, v, impulse, vectors)
        if iterations >= budget:
            break
    if residual > best:
        residual = best
        _take_back(law, count, joint, v, impulse, vectors)
    return residual, iterations


@kernel
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
    budget: int,
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
        Scratch, of the shapes of `impulse` and `mass`, (VECTORS, nv) and SMALL_SHAPE.
    budget : int
        Number of factored matrices after which nothing more is tried.

    Returns
    -------
    residual : float
        See above; -1 if the mass matrix is singular or the motion is not finite.
    iterations : int
        Number of matrices that were factored, other than the mass matrix.

    """
    free_size = _prepare(
        mass, momentum, rows, offset, law, count, joint, tangent, factor, vectors, h
    )
    if free_size < 0.0:
        return -1.0, 0
    if count == 0 and not has_joint_rows:
        for i in range(v.size):
            v[i] = vectors[FREE_VELOCITY, i]
        return 0.0, 1
    if 0 < count <= DIRECT and not has_joint_rows and law[0, IS_COMPLIANT] == 0.0:
        motion = _first_guess(mass, momentum, rows, offset, law, count, joint, v, vectors)
        size = max(free_size, MOTION * math.sqrt(motion))
        residual = _stick(mass, rows, law, count, joint, impulse, factor, vectors, small, size)
        if residual <= TOLERANCE:
            for i in range(v.size):
                v[i] += vectors[CHANGE, i]
            _finish(v, joint)
            return residual, 1
    residual, iterations = _attempts(
        mass, momentum, rows, offset, law, count, joint, has_joint_rows, h, v, impulse, trial,
        tangent, vectors, small, free_size, budget,
    )  # fmt: skip
    _finish(v, joint)
    return residual, iterations
