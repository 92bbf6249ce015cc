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
A friction sweep: each joint alone, back and forth at several constant speeds.

At constant speed a joint's torque is friction, and weight, which is the same on both ways. All
joints start from one pose, which is chosen from random ones such that every joint has room.

References
----------
.. [1] B. Armstrong-Helouvry, P. Dupont, C. Canudas de Wit, "A survey of models, analysis tools
   and compensation methods for the control of machines with friction", Automatica 30, 1994,
   section 5 (friction over speed from constant speeds).

"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.exceptions import TrajectoryError
from robot_dynamics_ros.core.excitation.connection import free_poses, is_allowed
from robot_dynamics_ros.core.excitation.excitation_problem import ExcitationProblem
from robot_dynamics_ros.core.trajectory.sequence import joined, RISE_ACCELERATION, stroke
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory

SPEEDS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7)
"""Of the strokes, as shares of the velocity limits."""

LONGEST_STROKE = 3.0
"""At slow speeds a stroke is shorter, so that it takes no longer than this [s]."""

ACCELERATION_SHARE = 0.8
"""Of the acceleration limits, before and after the constant speed."""

ROOM = (1.0, 0.6, 0.35)
"""Of the wanted way to one side, tried in this order."""

LONGEST_WAY = 1.5
"""To one side [rad | m]; never more than half of the range."""

POSES = 60
PAUSE = 0.2


def friction_sweep(
    problem: ExcitationProblem,
    rng: np.random.Generator,
    speeds: Sequence[float] = SPEEDS,
    advance: Callable[[int], None] | None = None,
) -> JointTrajectory:
    """
    Return the strokes of all joints, from one pose and back to it.

    Parameters
    ----------
    problem : ExcitationProblem
        Limits and surroundings.
    rng : numpy.random.Generator
        Of the poses that are tried.
    speeds : sequence of float
        Shares of the velocity limits.
    advance : callable, optional
        Called with 1 after each pose that was tried.

    Raises
    ------
    TrajectoryError
        If there is no pose from which every joint has room.

    """
    for pose in free_poses(problem, POSES, rng):
        sweeps = _from_pose(problem, pose, speeds)
        if advance is not None:
            advance(1)
        if sweeps is not None:
            return joined(sweeps, PAUSE)
    raise TrajectoryError(
        f'of {POSES} poses there is none from which every joint can sweep without coming too '
        'near to something; take another seed or leave the friction sweep out'
    )


def _from_pose(
    problem: ExcitationProblem, pose: Vector, speeds: Sequence[float]
) -> list[JointTrajectory] | None:
    """Return the strokes of each joint from a pose; None if one has no room."""
    sweeps = []
    for joint in range(problem.n_joints):
        found = None
        for room in ROOM:
            for side in (1.0, -1.0):
                candidate = _of_joint(problem, pose, joint, side * room, speeds)
                if found is None and is_allowed(problem, candidate):
                    found = candidate
        if found is None:
            return None
        sweeps.append(found)
    return sweeps


def _of_joint(
    problem: ExcitationProblem, pose: Vector, joint: int, room: float, speeds: Sequence[float]
) -> JointTrajectory:
    """Return the strokes of one joint, there and back at each speed that its room allows."""
    limits = problem.limits
    longest = room * min(LONGEST_WAY, float(limits.half_range[joint]))
    acceleration = ACCELERATION_SHARE * float(limits.acceleration[joint])
    # A sixth of the way, at least, is left for the constant speed.
    fastest = np.sqrt(abs(longest) * acceleration / (1.2 * RISE_ACCELERATION))
    strokes, away = [], np.array(pose)
    for share in speeds:
        speed = min(share * float(limits.velocity[joint]), float(fastest))
        rise = RISE_ACCELERATION * speed / acceleration
        way = float(np.sign(longest)) * min(abs(longest), speed * (LONGEST_STROKE + rise))
        away[joint] = pose[joint] + way
        names = limits.joint_names
        strokes.append(stroke(names, pose, joint, way, speed, acceleration))
        strokes.append(stroke(names, away, joint, -way, speed, acceleration))
    return joined(strokes, PAUSE)
