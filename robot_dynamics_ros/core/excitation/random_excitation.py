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
Random excitation trajectories within limits: the start of the optimisation, and its yardstick.

Free coefficients are drawn from a normal distribution for each joint. The motion of each joint is
then made as large as its position, velocity and acceleration limits allow, times a random share,
and its centre lies anywhere where the motion fits. What breaks a torque limit or comes too near to
something is drawn again.

"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.exceptions import TrajectoryError
from robot_dynamics_ros.core.excitation.excitation_constraints import (
    ExcitationConstraints,
    LIMIT_RESERVE,
)
from robot_dynamics_ros.core.excitation.excitation_problem import ExcitationProblem

SMALLEST_SHARE = 0.1
"""Of the largest motion of a joint."""

TRIES = 200
"""For one motion within all limits, on average."""

_ASKED = 50
"""Motions that are looked at for what is in their way."""

_SMOOTH = 0.97
"""Share of a limit: the smooth maximum is a little above the real one."""


def draw(problem: ExcitationProblem, rng: np.random.Generator) -> Matrix:
    """Return random free coefficients within position, velocity and acceleration limits."""
    limits = problem.limits
    free = rng.normal(size=problem.shape)
    free[0] = 0.0
    q, v, a = problem.motion(free)
    top, bottom = q.max(axis=0), q.min(axis=0)
    room = LIMIT_RESERVE * _SMOOTH
    largest = room * np.min(
        [
            2.0 * limits.half_range / (top - bottom),
            limits.velocity / np.abs(v).max(axis=0),
            limits.acceleration / np.abs(a).max(axis=0),
        ],
        axis=0,
    )
    size = largest * rng.uniform(SMALLEST_SHARE, 1.0, problem.n_joints)
    free *= size
    lowest = limits.middle - room * limits.half_range - size * bottom
    highest = limits.middle + room * limits.half_range - size * top
    free[0] = lowest + (highest - lowest) * rng.uniform(size=problem.n_joints)
    return free


def random_feasible(
    constraints: ExcitationConstraints,
    count: int,
    rng: np.random.Generator,
    advance: Callable[[int], None] | None = None,
) -> list[Matrix]:
    """
    Draw motions until `count` of them keep all limits.

    Parameters
    ----------
    constraints : ExcitationConstraints
        Of the problem.
    count : int
        How many are wanted.
    rng : numpy.random.Generator
        Where randomness comes from.
    advance : callable, optional
        Called with 1 after each motion that is found.

    Raises
    ------
    TrajectoryError
        If not one in `TRIES` keeps the limits.

    """
    found: list[Matrix] = []
    for tries in range(1, TRIES * count + TRIES):
        free = draw(constraints.problem, rng)
        if constraints.is_feasible(free):
            found.append(free)
            if advance is not None:
                advance(1)
        if len(found) == count:
            return found
        if tries >= TRIES * (len(found) + 5):
            break
    raise TrajectoryError(
        f'of {tries} random motions {len(found)} keep all limits; '
        f'{_most_often(constraints, rng)}; '
        'allow more torque or less clearance, narrow the positions, or disable the pair'
    )


def _most_often(constraints: ExcitationConstraints, rng: np.random.Generator) -> str:
    """Return what is in the way of most motions."""
    problem = constraints.problem
    counts = Counter(
        text for _ in range(_ASKED) for text in constraints.obstacles(draw(problem, rng))
    )
    if not counts:
        return 'no limit is broken often'
    text, count = counts.most_common(1)[0]
    return f'in {100 * count // _ASKED} % of them {text}'
