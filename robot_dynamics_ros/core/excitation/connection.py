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
Ways from pose to pose that keep all limits: straight in the joints, or by way of another pose.

Each way is checked as `motion_check` does it, so that what is found is certain to keep its
clearance. This is no planner: where a few poses to go by are not enough, the way is refused.

"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.exceptions import TrajectoryError
from robot_dynamics_ros.core.excitation.excitation_problem import ExcitationProblem
from robot_dynamics_ros.core.excitation.motion_check import check_motion
from robot_dynamics_ros.core.trajectory.sequence import joined, rest_to_rest
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory

SHARE = 0.5
"""Of the velocity and acceleration limits, on ways between the motions that count."""

BY_WAY = 40
"""Poses to go by that are tried."""

RESERVE = 0.01
"""What poses have on top of the clearance [m]."""

TRIES = 400
"""Random poses for each that is wanted, at most."""


def is_allowed(problem: ExcitationProblem, motion: JointTrajectory) -> bool:
    """Whether a motion keeps limits and clearance."""
    check = check_motion(motion, problem.limits, problem.torques, problem.scene, problem.clearance)
    return not check.violation


def straight(problem: ExcitationProblem, start: Vector, end: Vector) -> JointTrajectory:
    """Return the straight way in the joints, unchecked."""
    limits = problem.limits
    speed, acceleration = SHARE * limits.velocity, SHARE * limits.acceleration
    return rest_to_rest(limits.joint_names, start, end, speed, acceleration)


def connection(
    problem: ExcitationProblem, start: Vector, end: Vector, rng: np.random.Generator
) -> JointTrajectory:
    """
    Return a way from rest to rest that keeps limits and clearance.

    Raises
    ------
    TrajectoryError
        If none is found.

    """
    direct = straight(problem, start, end)
    if is_allowed(problem, direct):
        return direct
    for pose in free_poses(problem, BY_WAY, rng):
        way = joined([straight(problem, start, pose), straight(problem, pose, end)])
        if is_allowed(problem, way):
            return way
    raise TrajectoryError(
        f'there is no simple way from {np.round(start, 3).tolist()} to '
        f'{np.round(end, 3).tolist()} that keeps its clearance; take another seed'
    )


def free_poses(problem: ExcitationProblem, count: int, rng: np.random.Generator) -> Matrix:
    """
    Return random poses within position and torque limits, apart from everything.

    Raises
    ------
    TrajectoryError
        If there are hardly any.

    """
    limits, found = problem.limits, []
    for _ in range(TRIES):
        poses = rng.uniform(limits.lower, limits.upper, (max(10, count), problem.n_joints))
        rest = np.zeros_like(poses)
        free = (np.abs(problem.torques(poses, rest, rest)) <= limits.effort).all(axis=1)
        if problem.scene is not None:
            required = problem.scene.required(problem.clearance)
            enough = required + np.minimum(RESERVE, 0.5 * problem.scene.most)
            free &= (problem.scene.distances(poses, enough) >= enough).all(axis=1)
        found += list(poses[free])
        if len(found) >= count:
            return np.array(found[:count])
    raise TrajectoryError('there are hardly any poses that keep torque limits and clearance')
