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
The packed arrays in which the compiled kernels see possible contacts.

A *candidate* is a point of a body against a plane of another body or of the world: a point that is
fixed to the body and thick by `RADIUS` (corners, vertices, centres of balls), or the point of a
circle that is deepest below the plane (the rim of a cylinder). Its contact frame has the plane's
normal first and two tangents. All is in the *kernel frame* of the body, see `kernel_layout`.

"""

from __future__ import annotations

from robot_dynamics_ros.core.friction.bristle_step import LAW_ROWS, WORK_ROWS

# Candidate, one row each
BODY = 0
"""Kernel body that has the point."""
OTHER = 1
"""Kernel body that has the plane, or -1 for the world."""
SHAPE = 2
POINT = 3
"""First of three columns: the point, or the centre of the circle [m]."""
RADIUS = 6
AXIS = 7
"""First of three columns: axis of the circle."""
NORMAL = 10
"""First of three columns: unit normal of the plane, out of the other body."""
LEVEL = 13
"""The plane is where the position times the normal has this value [m]."""
FRICTION = 14
RESTITUTION = 15
STIFFNESS = 16
"""Stiffness [N/m]."""
DISSIPATION = 17
"""Dissipation of Hunt and Crossley [s/m]."""
LINK = 18
"""Index of the link among the names of the contact set."""
SURFACE = 19
"""Index of the surface among the names of the contact set."""

WIDTH = 20

# Values of SHAPE
BALL = 0
RIM = 1

# Rows of the array of unilateral and dry constraints at the joints, one column a degree of freedom
LEVEL_POSITIVE = 0
"""Largest impulse of dry friction against motion in the positive direction."""
LEVEL_NEGATIVE = 1
DRY_IMPULSE = 2
"""Impulse of dry friction on the joint."""
LOWER_ON = 3
LOWER_OFFSET = 4
LOWER_IMPULSE = 5
UPPER_ON = 6
UPPER_OFFSET = 7
UPPER_IMPULSE = 8
DAMPING = 9
"""What viscous friction adds to the diagonal of the mass matrix."""
BACKWARD_DAMPING = 10
"""What it adds besides, of either sign, where the velocity is negative."""
DRAG = 11
"""Impulse of viscous friction that is known before the step, with the sign of the velocity."""
HAS_SLOPE = 12
"""Whether bristles, or what viscous friction adds backwards, act at the joint."""
BRUSH_DEFLECTION = 13
"""Deflection of the bristles at the start of the step, see `bristle_step` [rad | m]."""
BRUSH_LAW = 14
"""First of the rows of the law of the bristles; its stiffness is zero where there are none."""
BRUSH_WORK = BRUSH_LAW + LAW_ROWS
"""First of the rows that the law of the bristles works with."""

JOINT_ROWS = BRUSH_WORK + WORK_ROWS

# Columns of the law of an active contact
MU = 0
IS_COMPLIANT = 1
DEPTH = 2
"""Depth at the start of the step, negative above the surface [m]."""
NORMAL_STIFFNESS = 3
NORMAL_DISSIPATION = 4
TANGENT_STIFFNESS = 5
TANGENT_DAMPING = 6
BRISTLE = 7
"""First of two columns: displacement of the tangential spring at the start of the step [m]."""
PENALTY = 9
"""Inverse of the softness in which a round of the solver sees a rigid contact."""
MOBILITY = 10
"""Mean diagonal entry of the Delassus matrix [1/kg]."""
SHIFT = 11
REFERENCE = 12
"""First of three columns: velocity of the contact at the first guess [m/s]."""
FULL_MU = 15
"""Coefficient of friction, while `MU` is on its way there."""
BEST_IMPULSE = 16
"""First of three columns: impulse of the attempt with the least residual."""

LAW_WIDTH = 19

# Rows of the vectors of length nv that the solver works with
FREE_VELOCITY = 0
FORCE = 1
STEP = 2
TRIAL = 3
SCRATCH = 4
TRIAL_FORCE = 5
DRY_TRIAL = 6
LOWER_TRIAL = 7
UPPER_TRIAL = 8
GUESS = 9
REMAINDER = 10
CHANGE = 11
PIVOTS = 12
"""Rows that were exchanged in the factors of the tangent."""
HALF = 13
"""First of the rows of few contacts, multiplied by the inverse of the mass matrix' factor."""

DIRECT = 4
"""Largest number of contacts for which `stick_solution` is tried."""

BEST = HALF + 3 * DIRECT
"""First of four rows: velocity and impulses at the joints of that attempt."""

VECTORS = BEST + 4

# Rows of the solver's small array: three vectors of numbers, then the Delassus matrix
CONTACT_SLOPE = 0
SLIP = 1
LAMBDA = 2
DELASSUS = 3
SMALL_SHAPE = (DELASSUS + 3 * DIRECT, max(9, 3 * DIRECT))
