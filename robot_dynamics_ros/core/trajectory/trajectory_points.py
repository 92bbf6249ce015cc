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

"""The points of a trajectory, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.exceptions import TrajectoryError


@dataclass(frozen=True, eq=False)
class TrajectoryPoints:
    """
    Points of a trajectory.

    Attributes
    ----------
    joint_names : tuple of str
    times : ndarray, shape (n_points,)
        Increasing times [s].
    positions, velocities, accelerations : ndarray, shape (n_points, n)
        Values; zero where a derivative is not given.
    has_velocity, has_acceleration : ndarray of bool, shape (n_points,)
        Which points give the derivative.

    """

    joint_names: tuple[str, ...]
    times: Vector
    positions: Matrix
    velocities: Matrix
    accelerations: Matrix
    has_velocity: NDArray[np.bool_]
    has_acceleration: NDArray[np.bool_]


def checked_points(
    joint_names: Sequence[str],
    times: Any,
    positions: Any,
    velocities: Any = None,
    accelerations: Any = None,
) -> TrajectoryPoints:
    """
    Return the points as arrays; see `JointTrajectory.from_points` for the arguments.

    Raises
    ------
    TrajectoryError
        If there are no points or joints, names are repeated, times do not increase, an array has
        the wrong length, or a number is not finite; the message names joint and point.

    """
    names = tuple(joint_names)
    if not names:
        raise TrajectoryError('the trajectory names no joints')
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise TrajectoryError(f'the trajectory names these joints twice: {", ".join(repeated)}')
    times = _checked_times(times)
    n_points = len(times)
    positions, given = _column('positions', positions, names, n_points)
    if not given.all():
        raise TrajectoryError(f'point {int(np.argmin(given))} has no positions')
    velocities, has_velocity = _column('velocities', velocities, names, n_points)
    accelerations, has_acceleration = _column('accelerations', accelerations, names, n_points)
    return TrajectoryPoints(
        names, times, positions, velocities, accelerations, has_velocity, has_acceleration
    )


def _checked_times(times: Any) -> Vector:
    array: Vector = np.array(times, dtype=np.float64).reshape(-1)
    if not array.size:
        raise TrajectoryError('the trajectory has no points')
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise TrajectoryError(f'the time of point {bad[0]} is not finite')
    if array[0] < 0.0:
        raise TrajectoryError(f'the time of point 0 is {array[0]:g} s, expected >= 0')
    late = np.flatnonzero(np.diff(array) <= 0.0)
    if late.size:
        k = int(late[0])
        raise TrajectoryError(
            f'times must increase, but point {k + 1} ({array[k + 1]:.9g} s) is not later than '
            f'point {k} ({array[k]:.9g} s)'
        )
    return array


def _column(
    what: str, rows: Any, names: tuple[str, ...], n_points: int
) -> tuple[Matrix, NDArray[np.bool_]]:
    """Return the values of all points, and which points have any."""
    n = len(names)
    if rows is None:
        return np.zeros((n_points, n)), np.zeros(n_points, dtype=bool)
    if len(rows) != n_points:
        raise TrajectoryError(f'there are {what} for {len(rows)} points, but {n_points} times')
    lengths = np.array([0 if row is None else len(row) for row in rows])
    given = lengths > 0
    wrong = np.flatnonzero(given & (lengths != n))
    if wrong.size:
        k = int(wrong[0])
        raise TrajectoryError(
            f'point {k} has {lengths[k]} {what} for {n} joints ({", ".join(names[:12])})'
        )
    values = np.zeros((n_points, n))
    if given.any():
        numbers = np.concatenate([row for row in rows if row is not None and len(row)])
        values[given] = numbers.reshape(-1, n)
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        point, joint = bad[0]
        raise TrajectoryError(
            f"{what} of joint '{names[joint]}' at point {point} is {values[point, joint]}, "
            'expected a finite number'
        )
    return values, given
