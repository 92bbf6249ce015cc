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
The arrays of one simulated robot that the compiled steps share.

All are made once; a step allocates nothing. A thread needs arrays of its own.

"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.contact_layout import JOINT_ROWS, LAW_WIDTH
from robot_dynamics_ros.core.contact.rigid_contact import VECTORS
from robot_dynamics_ros.core.model.kernel_layout import IQ, IV, MULTIPLIER
from robot_dynamics_ros.core.model.robot_model import RobotModel

Indices = NDArray[np.int64]

# Options
SEMI_IMPLICIT = 0
FRICTION = 1
LIMITS = 2
COMPLIANT = 3
LIMIT_RESTITUTION = 4
EXTERNAL = 5
WHOLE_STEP = 6
"""Length of the steps before they are cut at impacts [s]."""
AFTER_IMPACT = 7
"""Whether the step goes on after an impact from which something hops for less than a step."""
OPTIONS = 8

# Rows of the configurations
Q = 0
Q_NEW = 1
Q_MIDDLE = 2
Q_AHEAD = 3
Q_RATE = 4  # four rows
Q_STAGE = 8
Q_ROWS = 9

# Rows of the vectors of length nv
V_ = 0
V_NEW = 1
V_MIDDLE = 2
V_AHEAD = 3
ACCELERATION = 4
"""Mean acceleration of the last step without impact."""
TAU = 5
EFFORT = 6
"""Torque and external wrenches, less what friction took before."""
BIAS = 7
MOMENTUM = 8
DRY = 9
"""Friction torque at the joints, with the sign of the velocity."""
REACTION = 10
"""Torque of the joint limits on the joints."""
DRY_NEW = 11
REACTION_NEW = 12
DISPLACEMENT = 13
"""Integral of the velocity over the step."""
STAGE = 14
RATES = 15  # four rows
GENERALIZED = 19
"""Torque of the external wrenches."""
V_BEFORE = 20
SHOCK = 21
"""Impulse of the joint limits in impacts during the step."""
V_ROWS = 22

# Work done on the robot
BY_ACTUATORS = 0
BY_FRICTION = 1
BY_LIMITS = 2
BY_CONTACTS = 3
BY_WRENCHES = 4
WORKS = 5

# Report
RESIDUAL = 0
ITERATIONS = 1
IMPACTS = 2
STEPS = 3
EXTERNAL_WORK = 4
"""Work of the external wrenches during the step that is tried."""
REPORTS = 5


class StepArrays(NamedTuple):
    """Arrays of a robot in motion; see the names of their rows above."""

    robot: Matrix
    work: Matrix
    candidates: Matrix
    coordinate: Indices
    friction: Matrix
    limits: Matrix
    options: Vector
    wrenches: Matrix
    qs: Matrix
    vs: Matrix
    gap: Vector
    gap_new: Vector
    place: Matrix
    active: Indices
    is_active: Indices
    flies: Indices
    rows: Matrix
    rows_ahead: Matrix
    offset: Matrix
    law: Matrix
    impulse: Matrix
    trial: Matrix
    joint: Matrix
    mass: Matrix
    tangent: Matrix
    factor: Matrix
    vectors: Matrix
    small: Matrix
    force: Matrix
    force_new: Matrix
    shock: Matrix
    bristle: Matrix
    bristle_new: Matrix
    works: Vector
    report: Vector


def step_arrays(
    model: RobotModel,
    candidates: Matrix,
    friction: Matrix | None = None,
    *,
    has_limits: bool = False,
    limit_restitution: float = 0.0,
    is_compliant: bool = False,
    is_semi_implicit: bool = False,
) -> StepArrays:
    """
    Return zeroed arrays for a model with its possible contacts.

    Parameters
    ----------
    model : RobotModel
        The robot.
    candidates : ndarray, shape (n, WIDTH)
        Possible contacts, see `contact_layout`.
    friction : ndarray, shape (5, nv), optional
        See `DryFriction.packed`.
    has_limits : bool
        Whether the position limits stop the joints.
    limit_restitution : float
        Restitution there.
    is_compliant, is_semi_implicit : bool
        Law of contact, and integrator of free motion.

    """
    n, count = model.nv, len(candidates)
    options = np.zeros(OPTIONS)
    options[SEMI_IMPLICIT] = is_semi_implicit
    options[FRICTION] = friction is not None
    options[LIMITS] = has_limits
    options[COMPLIANT] = is_compliant
    options[LIMIT_RESTITUTION] = limit_restitution
    coordinate = np.full(n, -1, dtype=np.int64)
    for row in model.kernel[1:]:
        if row[IV] < n and row[MULTIPLIER] == 1.0:
            coordinate[int(row[IV])] = int(row[IQ])
    kept = max(count, 1)
    return StepArrays(
        robot=model.kernel,
        work=np.zeros(model.work_shape),
        candidates=np.array(candidates, dtype=np.float64),
        coordinate=coordinate,
        friction=np.zeros((5, n)) if friction is None else np.array(friction[:5]),
        limits=np.array([model.limits.lower, model.limits.upper]),
        options=options,
        wrenches=np.zeros((model.nbodies, 6)),
        qs=np.zeros((Q_ROWS, model.nq)),
        vs=np.zeros((V_ROWS, n)),
        gap=np.full(count + 2 * n, np.inf),
        gap_new=np.full(count + 2 * n, np.inf),
        place=np.zeros((kept, 6)),
        active=np.zeros(kept, dtype=np.int64),
        is_active=np.zeros(count + 2 * n, dtype=np.int64),
        flies=np.zeros(count + 2 * n, dtype=np.int64),
        rows=np.zeros((3 * kept, n)),
        rows_ahead=np.zeros((3, n)),
        offset=np.zeros((kept, 3)),
        law=np.zeros((kept, LAW_WIDTH)),
        impulse=np.zeros((kept, 3)),
        trial=np.zeros((kept, 3)),
        joint=np.zeros((JOINT_ROWS, n)),
        mass=np.zeros((n, n)),
        tangent=np.zeros((n, n)),
        factor=np.zeros((n, n)),
        vectors=np.zeros((VECTORS, n)),
        small=np.zeros((2, 9)),
        force=np.zeros((kept, 3)),
        force_new=np.zeros((kept, 3)),
        shock=np.zeros((kept, 3)),
        bristle=np.zeros((kept, 2)),
        bristle_new=np.zeros((kept, 2)),
        works=np.zeros(WORKS),
        report=np.zeros(REPORTS),
    )
