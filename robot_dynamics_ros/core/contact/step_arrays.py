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

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.contact_layout import (
    JOINT_ROWS,
    LAW_WIDTH,
    SMALL_SHAPE,
    VECTORS,
)
from robot_dynamics_ros.core.friction.bristle_step import LAW_ROWS
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
SPRINGS = 8
"""Whether joints are elastic, see `joint_spring`."""
OPTIONS = 9

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
DEFLECTION = 22
"""Deflection of the bristles in the joints [rad | m]."""
DEFLECTION_NEW = 23
SPRING = 24
"""Torque of the springs of elastic joints at the start of the step, on links and on motors."""
SPRING_STEP = 25
"""Impulse of the springs that is known before the step, on links; their coupling, on motors."""
JOINT = 26
"""First of the rows of limits and dry friction, see `contact_layout`."""
SOLVER = JOINT + JOINT_ROWS
"""First of the rows that the solver works with, see `rigid_contact`."""
V_ROWS = SOLVER + VECTORS

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


# Rows of what is constant at the joints: the first are those of the packed friction laws
VISCOUS = 0
COULOMB_POSITIVE = 1
COULOMB_NEGATIVE = 2
STATIC_RATIO = 3
STRIBECK_SPEED = 4
VISCOUS_NEGATIVE = 5
BRUSH_STIFFNESS = 6
"""Zero at joints without bristles."""
LOWER = LAW_ROWS
UPPER = LAW_ROWS + 1
LOAD_COEFFICIENT = LAW_ROWS + 2
MOTOR = LAW_ROWS + 3
"""Degree of freedom of the motor that a spring ties to this one, or -1."""
SPRING_STIFFNESS = LAW_ROWS + 4
"""Of the spring between the two, in the column of the link."""
SPRING_DAMPING = LAW_ROWS + 5
IS_MOTOR = LAW_ROWS + 6
CONSTANTS = LAW_ROWS + 7

# Rows of the gaps
GAP = 0
GAP_NEW = 1

# Rows of the marks
ACTIVE = 0
"""Candidates that take part in the step, their number is not kept."""
IS_ACTIVE = 1
FLIES = 2
"""What leaves its surface after an impact."""
COORDINATE = 3
"""Entry of the configuration for each degree of freedom that is one, else -1."""
MARKS = 4

# Layers of the triples: three numbers, normal and tangents, for each candidate or active contact
FORCE = 0
FORCE_NEW = 1
SHOCK_AT = 2
"""Impulses in impacts during the step."""
OFFSET = 3
IMPULSE = 4
TRIAL = 5
TRIPLES = 6

# Layers of the square matrices
MASS = 0
TANGENT = 1
FACTOR = 2
SQUARES = 3

# Cutting a step at a touch
REST = 0
"""What is left of the step [s]."""
PHASE = 1
LENGTH = 2
"""Length that is tried [s]."""
EARLY = 3
EARLY_GAP = 4
LATE = 5
LATE_GAP = 6
SIDE = 7
TRIALS = 8
CUTS = 9
SHOCKED = 10
"""Whether there were impacts since the start of the last step."""
CUT_WIDTH = 11


class Spring(NamedTuple):
    """
    The spring of an elastic joint, between two degrees of freedom of one coordinate each.

    Attributes
    ----------
    link, motor : int
        Degrees of freedom.
    stiffness : float
        [N m/rad | N/m]
    damping : float
        [N m s/rad | N s/m]

    """

    link: int
    motor: int
    stiffness: float
    damping: float


class StepArrays(NamedTuple):
    """
    Arrays of a robot in motion; see the names of their rows above.

    There are few of them, because compiled calls hand over each array as nine numbers.

    """

    robot: Matrix
    work: Matrix
    candidates: Matrix
    constants: Matrix
    options: Vector
    wrenches: Matrix
    qs: Matrix
    vs: Matrix
    gaps: Matrix
    marks: Indices
    triples: Matrix
    place: Matrix
    rows: Matrix
    law: Matrix
    bristles: Matrix
    squares: Matrix
    small: Matrix
    cut: Vector
    works: Vector
    report: Vector

    @property
    def gap(self) -> Vector:
        """Return the gaps of candidates, lower limits and upper limits."""
        gap: Vector = self.gaps[GAP]
        return gap

    @property
    def force(self) -> Matrix:
        """Return the forces of the candidates."""
        force: Matrix = self.triples[FORCE]
        return force

    @property
    def shock(self) -> Matrix:
        """Return the impulses of the candidates in impacts."""
        shock: Matrix = self.triples[SHOCK_AT]
        return shock

    @property
    def bristle(self) -> Matrix:
        """Return the displacements of the tangential springs."""
        bristle: Matrix = self.bristles[0]
        return bristle

    @property
    def joint(self) -> Matrix:
        """Return limits and dry friction as the solver sees them."""
        joint: Matrix = self.vs[JOINT : JOINT + JOINT_ROWS]
        return joint

    @property
    def coordinate(self) -> Indices:
        """Return the entry of the configuration for each degree of freedom, or -1."""
        coordinate: Indices = self.marks[COORDINATE, : self.vs.shape[1]]
        return coordinate


def step_arrays(
    model: RobotModel,
    candidates: Matrix,
    friction: Matrix | None = None,
    load_coefficient: Vector | None = None,
    springs: Sequence[Spring] = (),
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
    friction : ndarray, shape (6, nv) or (9, nv), optional
        See `DryFriction.packed`, `LuGreFriction.packed` and `DahlFriction.packed`.
    load_coefficient : ndarray, shape (nv,), optional
        Rise of the levels of friction with the load; none by default.
    springs : sequence of Spring
        Springs of elastic joints.
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
    options[SPRINGS] = bool(springs)
    kept = max(count, 1)
    marks = np.zeros((MARKS, max(count + 2 * n, kept)), dtype=np.int64)
    marks[COORDINATE] = -1
    for row in model.kernel[1:]:
        if row[IV] < n and row[MULTIPLIER] == 1.0:
            marks[COORDINATE, int(row[IV])] = int(row[IQ])
    constants = np.zeros((CONSTANTS, n))
    if friction is not None:
        constants[: len(friction)] = friction
    if load_coefficient is not None:
        constants[LOAD_COEFFICIENT] = load_coefficient
    constants[LOWER : UPPER + 1] = model.limits.lower, model.limits.upper
    constants[MOTOR] = -1.0
    for spring in springs:
        constants[MOTOR:IS_MOTOR, spring.link] = spring[1:]
        constants[IS_MOTOR, spring.motor] = 1.0
    return StepArrays(
        robot=model.kernel,
        work=np.zeros(model.work_shape),
        candidates=np.array(candidates, dtype=np.float64),
        constants=constants,
        options=options,
        wrenches=np.zeros((model.nbodies, 6)),
        qs=np.zeros((Q_ROWS, model.nq)),
        vs=np.zeros((V_ROWS, n)),
        gaps=np.full((2, count + 2 * n), np.inf),
        marks=marks,
        triples=np.zeros((TRIPLES, kept, 3)),
        place=np.zeros((kept, 6)),
        rows=np.zeros((3 * kept + 3, n)),
        law=np.zeros((kept, LAW_WIDTH)),
        bristles=np.zeros((2, kept, 2)),
        squares=np.zeros((SQUARES, n, n)),
        small=np.zeros(SMALL_SHAPE),
        cut=np.zeros(CUT_WIDTH),
        works=np.zeros(WORKS),
        report=np.zeros(REPORTS),
    )
