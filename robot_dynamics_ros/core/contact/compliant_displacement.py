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
How far a step with compliant contacts goes.

The implicit Euler method, :math:`q^+ = q \oplus h v^+`, keeps stiff contacts calm and is of first
order: what slides or swings meanwhile would come :math:`h (v - v^+) / 2` too far or too short.
That is made good where nothing stiff stands against it,

.. math:: \Delta q = h v^+ + \tfrac{h}{2} T^{-1} M (v - v^+),

with the slope `T` of the momentum balance by the velocity (see `soft_problem`): in directions
without stiffness it is `M`, and the trapezoidal rule remains; in stiff ones it is much larger, and
the implicit Euler method remains.

"""

from __future__ import annotations

from robot_dynamics_ros.core.contact.compiled_part import piece
from robot_dynamics_ros.core.contact.contact_law import DISC
from robot_dynamics_ros.core.contact.contact_layout import CHANGE, JOINT_ROWS, PIVOTS
from robot_dynamics_ros.core.contact.contact_layout import FORCE as MISSING
from robot_dynamics_ros.core.contact.dense import lu_factor, lu_solve
from robot_dynamics_ros.core.contact.soft_problem import unbalanced
from robot_dynamics_ros.core.contact.step_arrays import (
    DISPLACEMENT,
    IMPULSE,
    JOINT,
    MASS,
    SOLVER,
    STAGE,
    StepArrays,
    TANGENT,
    TRIAL,
    V_AHEAD,
    V_NEW,
)


@piece
def compliant_displacement(s: StepArrays, count: int, has_rows: bool, h: float) -> None:
    """Write the velocity that takes the robot to the end of the step, and the displacement."""
    vs = s.vs
    n = vs.shape[1]
    mass = s.squares[MASS]
    tangent = s.squares[TANGENT]
    pivots = vs[SOLVER + PIVOTS]
    change = vs[STAGE]
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += mass[i, j] * (vs[V_AHEAD, j] - vs[V_NEW, j])
        change[i] = total
    unbalanced(
        DISC, mass, s.rows, s.law, count, vs[JOINT : JOINT + JOINT_ROWS], has_rows, h,
        vs[SOLVER + CHANGE], s.triples[IMPULSE], s.triples[TRIAL], tangent, vs[SOLVER:],
        vs[SOLVER + MISSING], s.small, True,
    )  # fmt: skip
    if lu_factor(tangent, pivots):
        lu_solve(tangent, pivots, change)
    else:
        change[:] = 0.0
    for i in range(n):
        change[i] = vs[V_NEW, i] + 0.5 * change[i]
        vs[DISPLACEMENT, i] = h * change[i]
