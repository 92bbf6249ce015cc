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
Static poses that show the parameters of gravity: the arm is held, and only its weight is measured.

Of random poses the next one is always that with the largest gain in :math:`\log\det G`, with
:math:`G` the information of all poses so far, and a small multiple of the unit matrix for what
poses do not show at all. Only poses to which there is a way from the one before are taken.

References
----------
.. [1] V. V. Fedorov, *Theory of Optimal Experiments*, 1972 (sequential D-optimal design).

"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.exceptions import TrajectoryError
from robot_dynamics_ros.core.excitation.connection import free_poses, is_allowed, straight
from robot_dynamics_ros.core.excitation.excitation_problem import ExcitationProblem
from robot_dynamics_ros.core.trajectory.sequence import joined
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory

CANDIDATES = 60

UNSEEN = 1e-6
"""Information on what poses do not show, relative to the largest of one pose."""

HOLD = 1.5
"""Time for which each pose is held [s]."""


def gravity_poses(
    problem: ExcitationProblem,
    start: Vector,
    count: int,
    rng: np.random.Generator,
    advance: Callable[[int], None] | None = None,
) -> JointTrajectory:
    """
    Return a motion through poses, in each of which the arm is held for `HOLD`.

    Parameters
    ----------
    problem : ExcitationProblem
        Model, limits and surroundings.
    start : ndarray, shape (nv,)
        Where the motion begins [rad | m].
    count : int
        Number of poses.
    rng : numpy.random.Generator
        Of the poses to choose from.
    advance : callable, optional
        Called with 1 after each pose.

    Raises
    ------
    TrajectoryError
        If there are not so many poses with a way between them.

    """
    poses = free_poses(problem, max(CANDIDATES, 3 * count), rng)
    rest = np.zeros_like(poses)
    rows = problem.weighted_regressor(poses, rest, rest).reshape(len(poses), -1, problem.rank)
    seen = [row.T @ row for row in rows]
    gram = UNSEEN * max(float(np.trace(part)) for part in seen) * np.eye(problem.rank)
    parts: list[JointTrajectory] = []
    remaining, here = list(range(len(poses))), np.asarray(start)
    while len(parts) < count:
        gains = [np.linalg.slogdet(gram + seen[k])[1] for k in remaining]
        for k in (remaining[i] for i in np.argsort(gains)[::-1]):
            way = straight(problem, here, poses[k])
            if is_allowed(problem, way):
                break
        else:
            raise TrajectoryError(
                f'from {len(parts)} of {count} gravity poses there is no way to another one; '
                'take fewer, or another seed'
            )
        parts.append(way)
        gram = gram + seen[k]
        here = poses[k]
        remaining.remove(k)
        if advance is not None:
            advance(1)
    return _held(joined(parts, HOLD))


def _held(motion: JointTrajectory) -> JointTrajectory:
    """Return the motion with the last pose held as well."""
    q, v, a = motion.positions, motion.velocities, motion.accelerations
    return JointTrajectory(
        motion.joint_names,
        np.append(motion.times, motion.end + HOLD),
        np.vstack((q, q[-1:])),
        np.vstack((v, v[-1:])),
        np.vstack((a, a[-1:])),
    )
