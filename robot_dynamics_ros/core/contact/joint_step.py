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
    BACKWARD_DAMPING,
    BRUSH_DEFLECTION,
    BRUSH_LAW,
    BRUSH_WORK,
    DAMPING,
    DRAG,
    DRY_IMPULSE,
    HAS_SLOPE,
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
    BRUSH_STIFFNESS,
    COORDINATE,
    COULOMB_NEGATIVE,
    COULOMB_POSITIVE,
    DEFLECTION,
    DEFLECTION_NEW,
    DISPLACEMENT,
    DRY,
    DRY_NEW,
    FRICTION,
    GAP,
    IS_ACTIVE,
    IS_MOTOR,
    JOINT,
    LIMITS,
    LOAD_COEFFICIENT,
    MASS,
    MOMENTUM,
    Q,
    Q_AHEAD,
    Q_NEW,
    REACTION,
    REACTION_NEW,
    SEMI_IMPLICIT,
    SPRING,
    STAGE,
    STATIC_RATIO,
    StepArrays,
    STRIBECK_SPEED,
    TAU,
    V_,
    V_AHEAD,
    V_NEW,
    VISCOUS,
    VISCOUS_NEGATIVE,
    WHOLE_STEP,
)
from robot_dynamics_ros.core.dynamics.crba import crba_kernel
from robot_dynamics_ros.core.friction.bristle_step import (
    bristle_torque,
    LAW_ROWS,
    LEVEL,
    prepare_bristle,
    relax_bristle,
    TORQUE,
    WORK_ROWS,
)

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
        vs[JOINT + LOWER_ON, i] = 0.0
        vs[JOINT + UPPER_ON, i] = 0.0
        if has_friction:
            if s.constants[BRUSH_STIFFNESS, i] > 0.0:
                _load_bristles(vs, s.constants, i, h)
            else:
                _load_friction(vs, s.constants, s.squares[MASS, i, i], i, h)
        if has_limits and _load_limits(s, i, h):
            has_rows = True
    return has_rows


@part
def _load_friction(vs: Matrix, constants: Matrix, inertia: float, i: int, h: float) -> None:
    """Write levels, damping and guess of the friction at one joint."""
    v = vs[V_, i]
    forward = h * constants[VISCOUS, i]
    backward = h * constants[VISCOUS_NEGATIVE, i]
    theta = 1.0 if max(forward, backward) > inertia else 0.5
    vs[JOINT + DAMPING, i] = theta * forward
    vs[JOINT + BACKWARD_DAMPING, i] = theta * (backward - forward)
    vs[JOINT + HAS_SLOPE, i] = 0.0 if backward == forward else 1.0
    viscous = (backward if v < 0.0 else forward) * v
    vs[JOINT + DRAG, i] = (1.0 - theta) * viscous
    speed = v / constants[STRIBECK_SPEED, i]
    rise = h * (1.0 + (constants[STATIC_RATIO, i] - 1.0) * math.exp(-speed * speed))
    loaded = _load_rise(vs, constants, i)
    vs[JOINT + LEVEL_POSITIVE, i] = (constants[COULOMB_POSITIVE, i] + loaded) * rise
    vs[JOINT + LEVEL_NEGATIVE, i] = (constants[COULOMB_NEGATIVE, i] + loaded) * rise
    vs[JOINT + DRY_IMPULSE, i] = viscous - h * vs[DRY, i]


@piece
def _load_rise(vs: Matrix, constants: Matrix, i: int) -> float:
    """Return how much the torque in the transmission raises the levels of friction there."""
    load = vs[SPRING, i] if constants[IS_MOTOR, i] != 0.0 else vs[TAU, i]
    rise: float = constants[LOAD_COEFFICIENT, i] * abs(load)
    return rise


@part
def _load_bristles(vs: Matrix, constants: Matrix, i: int, h: float) -> None:
    """Write the law of the bristles at one joint, as it is in this step."""
    vs[JOINT + HAS_SLOPE, i] = 1.0
    law = vs[JOINT + BRUSH_LAW : JOINT + BRUSH_LAW + LAW_ROWS]
    for row in range(LAW_ROWS):
        law[row, i] = constants[row, i]
    rise = _load_rise(vs, constants, i)
    law[LEVEL, i] += rise
    law[LEVEL + 1, i] += rise
    deflection = vs[JOINT + BRUSH_DEFLECTION]
    deflection[i] = vs[DEFLECTION, i]
    work = vs[JOINT + BRUSH_WORK : JOINT + BRUSH_WORK + WORK_ROWS]
    prepare_bristle(law, work, i, h, deflection, vs[V_, i])


@part
def _keep_bristles(vs: Matrix, i: int, h: float) -> None:
    """Write torque and deflection of the bristles at one joint after a step."""
    law = vs[JOINT + BRUSH_LAW : JOINT + BRUSH_LAW + LAW_ROWS]
    work = vs[JOINT + BRUSH_WORK : JOINT + BRUSH_WORK + WORK_ROWS]
    v = vs[V_NEW, i]
    bristle_torque(law, work, i, h, vs[JOINT + BRUSH_DEFLECTION, i], v, True)
    vs[DRY_NEW, i] = work[TORQUE, i]
    vs[DEFLECTION_NEW, i] = vs[JOINT + BRUSH_DEFLECTION, i]
    relax_bristle(law, work, i, h, vs[DEFLECTION_NEW], v)


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
            if s.constants[BRUSH_STIFFNESS, i] > 0.0:
                _keep_bristles(vs, i, h)
            else:
                v = vs[V_NEW, i]
                damping = vs[JOINT + DAMPING, i]
                if v < 0.0:
                    damping += vs[JOINT + BACKWARD_DAMPING, i]
                impulse = damping * v + vs[JOINT + DRAG, i] - vs[JOINT + DRY_IMPULSE, i]
                vs[DRY_NEW, i] = impulse / h
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
        total = h * (vs[DRY, i] - vs[REACTION, i]) - vs[JOINT + DRAG, i]
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
