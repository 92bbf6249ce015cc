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
The part of the joints in a step: dry friction, viscous friction and position limits.

Without contacts the friction and limit reaction of the step before are held through a step of the
integrator of free motion, and corrected at its end by what `rigid_contact` finds there.

"""

from __future__ import annotations

import math

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.contact.compiled_part import part, piece
from robot_dynamics_ros.core.contact.configuration_step import step_configuration
from robot_dynamics_ros.core.contact.contact_layout import (
    DAMPING,
    DRY_IMPULSE,
    LEVEL_NEGATIVE,
    LEVEL_POSITIVE,
    LOWER_IMPULSE,
    LOWER_OFFSET,
    LOWER_ON,
    UPPER_IMPULSE,
    UPPER_OFFSET,
    UPPER_ON,
)
from robot_dynamics_ros.core.contact.step_arrays import (
    COORDINATE,
    COULOMB_NEGATIVE,
    COULOMB_POSITIVE,
    DISPLACEMENT,
    DRY,
    DRY_NEW,
    FRICTION,
    GAP,
    IS_ACTIVE,
    JOINT,
    LIMITS,
    MASS,
    MOMENTUM,
    Q,
    Q_AHEAD,
    Q_NEW,
    REACTION,
    REACTION_NEW,
    SEMI_IMPLICIT,
    STAGE,
    STATIC_RATIO,
    StepArrays,
    STRIBECK_SPEED,
    V_,
    V_AHEAD,
    V_NEW,
    VISCOUS,
    WHOLE_STEP,
)
from robot_dynamics_ros.core.dynamics.crba import crba_kernel

OPEN = 1e-5
"""Gap above which a contact is taken as closed only because it will close in this step [m]."""

RETURN = 0.2
"""Part of the gap of a closed contact that a step takes back."""

RETURN_SPEED = 0.05
"""Largest velocity with which bodies are put out of each other [m/s | rad/s]."""


@piece
def return_velocity(gap: float, h: float, whole: float) -> float:
    """Return the velocity offset that closes a small gap or opens a negative one."""
    if gap > OPEN:
        return gap / h
    return max(RETURN * gap / max(h, whole), -RETURN_SPEED)


@piece
def load_joint_rows(s: StepArrays, h: float) -> bool:
    """Write levels, damping and active limits at the joints; return whether there are any."""
    vs = s.vs
    has_friction: bool = s.options[FRICTION] != 0.0
    has_limits: bool = s.options[LIMITS] != 0.0
    has_rows = has_friction
    for i in range(vs.shape[1]):
        vs[JOINT + DAMPING, i] = 0.0
        vs[JOINT + LOWER_ON, i] = 0.0
        vs[JOINT + UPPER_ON, i] = 0.0
        if has_friction:
            _load_friction(vs, s.constants, s.squares[MASS, i, i], i, h)
        if has_limits and _load_limits(s, i, h):
            has_rows = True
    return has_rows


@part
def _load_friction(vs: Matrix, constants: Matrix, inertia: float, i: int, h: float) -> None:
    """Write levels, damping and guess of the friction at one joint."""
    v = vs[V_, i]
    damping = h * constants[VISCOUS, i]
    theta = 1.0 if damping > inertia else 0.5
    vs[JOINT + DAMPING, i] = theta * damping
    speed = v / constants[STRIBECK_SPEED, i]
    rise = h * (1.0 + (constants[STATIC_RATIO, i] - 1.0) * math.exp(-speed * speed))
    vs[JOINT + LEVEL_POSITIVE, i] = constants[COULOMB_POSITIVE, i] * rise
    vs[JOINT + LEVEL_NEGATIVE, i] = constants[COULOMB_NEGATIVE, i] * rise
    viscous = constants[VISCOUS, i] * v
    vs[JOINT + DRY_IMPULSE, i] = -h * (vs[DRY, i] - viscous)


@piece
def _load_limits(s: StepArrays, i: int, h: float) -> bool:
    """Write the active limits of one joint; return whether there are any."""
    vs = s.vs
    found = False
    at = s.candidates.shape[0] + i
    if s.marks[IS_ACTIVE, at] != 0:
        found = True
        vs[JOINT + LOWER_ON, i] = 1.0
        vs[JOINT + LOWER_OFFSET, i] = return_velocity(s.gaps[GAP, at], h, s.options[WHOLE_STEP])
        vs[JOINT + LOWER_IMPULSE, i] = max(0.0, h * vs[REACTION, i])
    at += vs.shape[1]
    if s.marks[IS_ACTIVE, at] != 0:
        found = True
        vs[JOINT + UPPER_ON, i] = 1.0
        vs[JOINT + UPPER_OFFSET, i] = return_velocity(s.gaps[GAP, at], h, s.options[WHOLE_STEP])
        vs[JOINT + UPPER_IMPULSE, i] = max(0.0, -h * vs[REACTION, i])
    return found


@piece
def keep_joint_forces(s: StepArrays, h: float) -> None:
    """Write friction and reaction of the step from the impulses that the solver found."""
    vs = s.vs
    has_friction = s.options[FRICTION] != 0.0
    for i in range(vs.shape[1]):
        vs[DRY_NEW, i] = 0.0
        if has_friction:
            implicit = vs[JOINT + DAMPING, i] / h
            explicit = s.constants[VISCOUS, i] - implicit
            viscous = implicit * vs[V_NEW, i] + explicit * vs[V_, i]
            vs[DRY_NEW, i] = viscous - vs[JOINT + DRY_IMPULSE, i] / h
        reaction = 0.0
        if vs[JOINT + LOWER_ON, i] != 0.0:
            reaction += vs[JOINT + LOWER_IMPULSE, i]
        if vs[JOINT + UPPER_ON, i] != 0.0:
            reaction -= vs[JOINT + UPPER_IMPULSE, i]
        vs[REACTION_NEW, i] = reaction / h


@piece
def begin_jointwise(s: StepArrays, h: float) -> bool:
    """
    Pose the correction of a step of free motion by friction and limits.

    Return whether there are rows for the solver.

    """
    vs = s.vs
    mass = s.squares[MASS]
    crba_kernel(s.robot, s.work, s.qs[Q_NEW], mass)
    has_rows = load_joint_rows(s, h)
    n = vs.shape[1]
    for i in range(n):
        vs[STAGE, i] = vs[V_NEW, i]
    for i in range(n):
        total = h * (vs[DRY, i] - vs[REACTION, i])
        total -= (h * s.constants[VISCOUS, i] - vs[JOINT + DAMPING, i]) * vs[V_, i]
        for j in range(n):
            total += mass[i, j] * vs[STAGE, j]
        vs[MOMENTUM, i] = total
        vs[V_NEW, i] = vs[V_, i]
    return has_rows


@piece
def end_jointwise(s: StepArrays, h: float) -> None:
    """Take over the velocity that the solver found; joints at rest keep their position."""
    vs = s.vs
    qs = s.qs
    keep_joint_forces(s, h)
    weight = h if s.options[SEMI_IMPLICIT] != 0.0 else 0.5 * h
    change = vs[V_AHEAD]
    for i in range(change.size):
        change[i] = vs[V_NEW, i] - vs[STAGE, i]
        vs[DISPLACEMENT, i] += weight * change[i]
    for j in range(qs.shape[1]):
        qs[Q_AHEAD, j] = qs[Q_NEW, j]
    step_configuration(s.robot, qs[Q_AHEAD], change, change, weight, qs[Q_NEW])
    for i in range(change.size):
        j = s.marks[COORDINATE, i]
        if j >= 0 and vs[V_, i] == 0.0 and vs[V_NEW, i] == 0.0:
            qs[Q_NEW, j] = qs[Q, j]
