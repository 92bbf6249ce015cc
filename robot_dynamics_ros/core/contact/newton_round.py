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
Newton's method for the smooth equations of one round of the contact solver, see `soft_problem`.

The derivative is factored anew only where the factors at hand, of the step or of the round before,
do not make the error ten times smaller (chord method): while the same contacts stick and slide a
round needs two evaluations of the forces and nothing else.

Far from the solution the step is as long as the derivative along it stays negative: the search
for its zero, by regula falsi (Illinois), ends where a tenth is left of it. Joints that are to
stick make it jump, steep and narrow, which needs bisections too.

References
----------
.. [1] C. T. Kelley, *Iterative Methods for Linear and Nonlinear Equations*, 1995, section 5.4.
.. [2] J. Nocedal and S. Wright, *Numerical Optimization*, 2006, chapter 3.

"""

from __future__ import annotations

import math

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.contact.compiled_part import piece
from robot_dynamics_ros.core.contact.contact_layout import (
    CHANGE,
    FORCE,
    PIVOTS,
    STEP,
    TRIAL,
    TRIAL_FORCE,
)
from robot_dynamics_ros.core.contact.dense import lu_factor, lu_solve
from robot_dynamics_ros.core.contact.soft_problem import unbalanced

_NEWTON_STEPS = 60
_SEARCHES = 60
_SECANTS = 6
_CHORD = 0.01
_SEARCHED = 0.01


@piece
def _search(
    form: float,
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
    norm: float,
) -> tuple[float, bool]:
    """
    Write the end of a step and the forces there into the trial rows.

    Return the square norm there, and whether the step goes downhill at its start.

    """
    n = vectors.shape[1]
    start = 0.0
    for i in range(n):
        start += vectors[FORCE, i] * vectors[STEP, i]
    low = 0.0
    low_slope = start
    high = 1.0
    high_slope = math.inf
    alpha = 1.0
    new = norm
    for search in range(_SEARCHES):
        for i in range(n):
            vectors[TRIAL, i] = vectors[CHANGE, i] + alpha * vectors[STEP, i]
        new = unbalanced(
            form, mass, rows, law, count, joint, has_joint_rows, h, vectors[TRIAL], impulse,
            trial, tangent, vectors, vectors[TRIAL_FORCE], small, False,
        )  # fmt: skip
        slope = 0.0
        for i in range(n):
            slope += vectors[TRIAL_FORCE, i] * vectors[STEP, i]
        if new <= _SEARCHED * norm or start >= 0.0 or (slope <= 0.0 and alpha == 1.0):
            break
        if abs(slope) <= -0.1 * start:
            break
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
            alpha = 0.5 * (low + high)
    return new, start < 0.0


@piece
def newton_round(
    form: float,
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
    has_factors: bool,
    free_size: float,
) -> tuple[float, bool, bool, int]:
    """
    Solve the equations of one round for the change of the velocity, `vectors[CHANGE]`.

    Parameters
    ----------
    form, mass, rows, law, count, joint, has_joint_rows, h, impulse, trial, tangent, vectors, small
        See `solve_contacts` and `unbalanced`.
    has_factors : bool
        Whether `tangent` holds factors that may do.
    free_size : float
        Size of the motion that the impulses take away, in the root of an energy.

    Returns
    -------
    norm : float
        Square norm of what is missing in the momentum balance.
    failed : bool
        Whether that is more than rounding.
    has_factors : bool
        Whether `tangent` holds factors now.
    iterations : int
        How often it was factored.

    """
    n = vectors.shape[1]
    iterations = 0
    norm = unbalanced(
        form, mass, rows, law, count, joint, has_joint_rows, h, vectors[CHANGE], impulse, trial,
        tangent, vectors, vectors[FORCE], small, False,
    )  # fmt: skip
    kinetic = 0.0
    for i in range(n):
        kinetic += mass[i, i] * vectors[CHANGE, i] * vectors[CHANGE, i]
    floor = 1e-13 * free_size + 1e-15 * math.sqrt(kinetic)
    rounding = 1e-10 * free_size + 1e-14 * math.sqrt(kinetic)
    for _ in range(_NEWTON_STEPS):
        if math.sqrt(norm) <= floor:
            return norm, False, has_factors, iterations
        is_new = not has_factors
        if is_new:
            unbalanced(
                form, mass, rows, law, count, joint, has_joint_rows, h, vectors[CHANGE], impulse,
                trial, tangent, vectors, vectors[FORCE], small, True,
            )  # fmt: skip
            iterations += 1
            has_factors = lu_factor(tangent, vectors[PIVOTS])
            if not has_factors:
                return norm, True, False, iterations
        for i in range(n):
            vectors[STEP, i] = -vectors[FORCE, i]
        lu_solve(tangent, vectors[PIVOTS], vectors[STEP])
        failed = False
        if is_new:
            new, is_downhill = _search(
                form, mass, rows, law, count, joint, has_joint_rows, h, impulse, trial, tangent,
                vectors, small, norm,
            )  # fmt: skip
            failed = not new < norm and not is_downhill
            if failed and math.sqrt(norm) <= rounding:
                # the change stays, and the trial impulses are made for it again
                norm = unbalanced(
                    form, mass, rows, law, count, joint, has_joint_rows, h, vectors[CHANGE],
                    impulse, trial, tangent, vectors, vectors[FORCE], small, False,
                )  # fmt: skip
                return norm, False, has_factors, iterations
        else:
            for i in range(n):
                vectors[TRIAL, i] = vectors[CHANGE, i] + vectors[STEP, i]
            new = unbalanced(
                form, mass, rows, law, count, joint, has_joint_rows, h, vectors[TRIAL], impulse,
                trial, tangent, vectors, vectors[TRIAL_FORCE], small, False,
            )  # fmt: skip
            if not (new <= _CHORD * norm or math.sqrt(new) <= floor):
                has_factors = False
                continue
        for i in range(n):
            vectors[CHANGE, i] = vectors[TRIAL, i]
            vectors[FORCE, i] = vectors[TRIAL_FORCE, i]
        stalls = is_new and new > 0.25 * norm and math.sqrt(new) <= rounding
        norm = new
        if failed or stalls:
            return norm, failed, has_factors, iterations
    return norm, math.sqrt(norm) > rounding, has_factors, iterations
