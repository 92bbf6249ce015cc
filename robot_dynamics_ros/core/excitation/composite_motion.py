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

"""An excitation trajectory, a friction sweep and gravity poses as one motion from rest to rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.excitation.connection import connection
from robot_dynamics_ros.core.excitation.excitation import Excitation
from robot_dynamics_ros.core.excitation.excitation_problem import ExcitationProblem
from robot_dynamics_ros.core.excitation.friction_sweep import friction_sweep
from robot_dynamics_ros.core.excitation.gravity_poses import gravity_poses
from robot_dynamics_ros.core.excitation.motion_check import check_motion, MotionCheck
from robot_dynamics_ros.core.trajectory.sequence import joined
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory

PAUSE = 0.5
"""Between the parts [s]."""


@dataclass(frozen=True, eq=False)
class CompositeMotion:
    """
    One motion of several parts.

    Attributes
    ----------
    trajectory : JointTrajectory
        All of it.
    parts : tuple of (str, float, float)
        Name, begin and end of each part that is to be evaluated [s].
    check : MotionCheck
        What all of it uses of the limits.

    """

    trajectory: JointTrajectory
    parts: tuple[tuple[str, float, float], ...]
    check: MotionCheck


def composite_motion(
    problem: ExcitationProblem,
    excitation: Excitation,
    rng: np.random.Generator,
    *,
    with_friction_sweep: bool = False,
    n_gravity_poses: int = 0,
    advance: Callable[[int], None] | None = None,
) -> CompositeMotion:
    """
    Join the excitation trajectory with a friction sweep and gravity poses.

    Parameters
    ----------
    problem : ExcitationProblem
        Limits and surroundings.
    excitation : Excitation
        The first part.
    rng : numpy.random.Generator
        Of the poses of the others.
    with_friction_sweep : bool
        Whether there is a friction sweep.
    n_gravity_poses : int
        Number of gravity poses.
    advance : callable, optional
        Called with 1 after each step.

    Raises
    ------
    TrajectoryError
        If a part or a way between two of them is not found, or the whole does not pass the check.

    """
    motions = [excitation.trajectory]
    names = ['excitation']
    if with_friction_sweep:
        sweep = friction_sweep(problem, rng, advance=advance)
        here = motions[-1].positions[-1]
        motions += [connection(problem, here, sweep.positions[0], rng), sweep]
        names += ['', 'friction_sweep']
    if n_gravity_poses:
        here = motions[-1].positions[-1]
        motions.append(gravity_poses(problem, here, n_gravity_poses, rng, advance))
        names.append('gravity_poses')
    trajectory = joined(motions, PAUSE)
    check = check_motion(
        trajectory, problem.limits, problem.torques, problem.scene, problem.clearance
    )
    check.require()
    parts, begin = [], 0.0
    for name, motion in zip(names, motions):
        if name:
            parts.append((name, begin, begin + motion.duration))
        begin += motion.duration + PAUSE
    return CompositeMotion(trajectory, tuple(parts), check)
