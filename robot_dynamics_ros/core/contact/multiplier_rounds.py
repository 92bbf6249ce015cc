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
The rounds of the method of multipliers for rigid contacts, see `rigid_contact`.

In each the constraints are soft about the impulses of the round before (`newton_round`). Newton's
method works on Coulomb's law itself, whose slope is not symmetric. Should it fail, it starts again
from where all contacts stick, which finds the jams of Painlevé. Should that fail, the rounds go on
with the projections on the cones (see `contact_law`), of which each soft problem is convex and has
a solution that is found; there the shift :math:`\mu |u_t|` moves on from round to round.

References
----------
.. [1] R. T. Rockafellar, "Augmented Lagrangians and applications of the proximal point algorithm
   in convex programming", Mathematics of Operations Research 1(2), 1976.

"""

from __future__ import annotations

import math

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.contact.compiled_part import piece
from robot_dynamics_ros.core.contact.contact_law import CONE, DISC, STICK
from robot_dynamics_ros.core.contact.contact_layout import (
    CHANGE,
    DRY_IMPULSE,
    DRY_TRIAL,
    FORCE,
    LOWER_IMPULSE,
    LOWER_TRIAL,
    PENALTY,
    PIVOTS,
    UPPER_IMPULSE,
    UPPER_TRIAL,
)
from robot_dynamics_ros.core.contact.contact_residual import laws_residual
from robot_dynamics_ros.core.contact.dense import lu_factor, lu_solve
from robot_dynamics_ros.core.contact.newton_round import newton_round
from robot_dynamics_ros.core.contact.soft_problem import unbalanced

TOLERANCE = 1e-10
"""Residual at which the rounds end."""

_ROUNDS = 60
_DISC_AGAIN = 6
_HARDER = 1e3


@piece
def multiplier_rounds(
    mass: Matrix,
    rows: Matrix,
    law: Matrix,
    count: int,
    joint: Matrix,
    has_joint_rows: bool,
    h: float,
    impulse: Matrix,
    trial: Matrix,
    tangent: Matrix,
    vectors: Matrix,
    small: Matrix,
    free_size: float,
    budget: int,
) -> tuple[float, int]:
    """
    Make the rounds of the method of multipliers, as long as the budget of factored matrices lasts.

    Return residual and number of such matrices.

    """
    n = vectors.shape[1]
    form = DISC if count > 0 else CONE
    iterations = 0
    residual = 0.0
    best = math.inf
    since_cone = 0
    has_stuck = False
    harder = 1.0
    change = vectors[CHANGE]
    has_factors = False
    for _ in range(_ROUNDS):
        norm, failed, has_factors, factored = newton_round(
            form, mass, rows, law, count, joint, has_joint_rows, h, impulse, trial, tangent,
            vectors, small, has_factors, free_size,
        )  # fmt: skip
        iterations += factored
        if failed and form == DISC and not has_stuck:
            has_stuck = True
            has_factors = False
            unbalanced(
                STICK, mass, rows, law, count, joint, has_joint_rows, h, change, impulse, trial,
                tangent, vectors, vectors[FORCE], small, True,
            )  # fmt: skip
            iterations += 1
            if lu_factor(tangent, vectors[PIVOTS]):
                lu_solve(tangent, vectors[PIVOTS], vectors[FORCE])
                for i in range(n):
                    change[i] -= vectors[FORCE, i]
            continue
        if failed and form == DISC:
            form = CONE
            has_factors = False
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
        if residual <= TOLERANCE or iterations >= budget:
            break
        if form == CONE:
            since_cone += 1
            if since_cone >= _DISC_AGAIN and count > 0:
                form = DISC
                has_factors = False
        elif residual > 0.3 * best:
            if residual < 1e-9:
                break
            if harder < _HARDER:
                # constraints that nearly contradict each other: let the impulses grow faster
                harder *= 10.0
                has_factors = False
                for c in range(count):
                    law[c, PENALTY] *= 10.0
        best = min(best, residual)
    return residual, iterations
