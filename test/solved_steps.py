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

"""Steps of joints with friction alone, as the solver of contacts makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.contact.contact_layout import (
    BRUSH_DEFLECTION,
    BRUSH_LAW,
    BRUSH_WORK,
    DRY_IMPULSE,
    HAS_SLOPE,
    JOINT_ROWS,
    LAW_WIDTH,
    LEVEL_NEGATIVE,
    LEVEL_POSITIVE,
    SMALL_SHAPE,
    VECTORS,
)
from robot_dynamics_ros.core.contact.rigid_contact import BUDGET, solve_contacts
from robot_dynamics_ros.core.friction.bristle_step import (
    bristle_torque,
    prepare_bristle,
    relax_bristle,
    TORQUE,
)


def solved(mass: Any, momentum: Any, joint: Any, h: float, guess: Any) -> tuple[Any, float]:
    """Return velocity and residual of a step without contacts."""
    n, v = len(momentum), np.array(guess, dtype=float)
    residual, _ = solve_contacts(
        np.ascontiguousarray(mass, dtype=float), np.asarray(momentum, dtype=float),
        np.zeros((3, n)), np.zeros((1, 3)), np.zeros((1, LAW_WIDTH)), 0, joint, True, h, v,
        np.zeros((1, 3)), np.zeros((1, 3)), np.zeros((n, n)), np.zeros((n, n)),
        np.zeros((VECTORS, n)), np.zeros(SMALL_SHAPE), BUDGET,
    )  # fmt: skip
    return v, residual


def stick_slip_velocity(k: Any, r: Any, positive: Any, negative: Any, guess: Any) -> Any:
    """Return the velocity of ``K v + lambda = r`` with dry friction up to two levels."""
    joint = np.zeros((JOINT_ROWS, len(r)))
    joint[LEVEL_POSITIVE], joint[LEVEL_NEGATIVE] = positive, negative
    return solved(k, r, joint, 1.0, guess)[0]


def dry_step(law: Any, mass: Any, v: Any, v_free: Any, h: float) -> tuple[Any, Any]:
    """Return velocity and dry friction at the end of a step without viscous friction."""
    joint = np.zeros((JOINT_ROWS, len(v)))
    rise = h * (1.0 + (law[3] - 1.0) * np.exp(-((v / law[4]) ** 2)))
    joint[LEVEL_POSITIVE], joint[LEVEL_NEGATIVE] = law[1] * rise, law[2] * rise
    v_new, _ = solved(mass, mass @ v_free, joint, h, v)
    return v_new, -joint[DRY_IMPULSE] / h


def bristle_step(
    law: Any, mass: Any, v: Any, v_free: Any, h: float, z: Any, friction: Any, v_new: Any
) -> float:
    """
    Make a step of joints with bristles; return the residual.

    In: the velocity `v`, that at the end with `friction` held, and the deflections `z`. Out: `z`,
    `friction` and `v_new` after the step.

    """
    n = len(v)
    joint = np.zeros((JOINT_ROWS, n))
    joint[HAS_SLOPE], joint[BRUSH_LAW:BRUSH_WORK] = 1.0, law
    brush, work = joint[BRUSH_LAW:BRUSH_WORK], joint[BRUSH_WORK:]
    for i in range(n):
        prepare_bristle(brush, work, i, h, z, v[i])
    joint[BRUSH_DEFLECTION] = z
    v_new[:], residual = solved(mass, mass @ v_free + h * friction, joint, h, v)
    for i in range(n):
        bristle_torque(brush, work, i, h, z[i], v_new[i], True)
        friction[i] = work[TORQUE, i]
        relax_bristle(brush, work, i, h, z, v_new[i])
    return float(residual)
