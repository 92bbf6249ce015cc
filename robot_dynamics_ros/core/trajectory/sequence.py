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
Motions of which longer ones are put together: rest to rest, strokes of constant speed, and joins.

From rest to rest a joint follows the quintic :math:`d\,x^3 (10 - 15 x + 6 x^2)`, :math:`x = t/T`,
whose speed and acceleration are at most :math:`1.875\,d/T` and :math:`5.774\,d/T^2`.

In a stroke the speed rises as :math:`V x^2 (3 - 2 x)` to `V`, stays there, and falls in the same
way; the acceleration is at most :math:`1.5\,V/T_r`. Both are exact as pieces of a quintic spline.

"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.exceptions import TrajectoryError
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory

PEAK_SPEED = 1.875
PEAK_ACCELERATION = 10.0 / np.sqrt(3.0)
RISE_ACCELERATION = 1.5

SHORTEST = 0.2
"""Of a motion from rest to rest [s]."""


def rest_to_rest(
    joint_names: Sequence[str], start: Vector, end: Vector, speed: Any, acceleration: Any
) -> JointTrajectory:
    """
    Return the motion of all joints from rest to rest, at the same time.

    Parameters
    ----------
    joint_names : sequence of str
        Names of the joints.
    start, end : ndarray, shape (n,)
        Positions [rad | m].
    speed, acceleration : float or ndarray, shape (n,)
        Largest ones [rad/s | m/s], [rad/s^2 | m/s^2].

    Raises
    ------
    TrajectoryError
        If an array has the wrong length or a number is not finite.

    """
    way = np.abs(np.asarray(end) - np.asarray(start))
    duration = max(
        SHORTEST,
        float(np.max(PEAK_SPEED * way / speed)),
        float(np.sqrt(np.max(PEAK_ACCELERATION * way / acceleration))),
    )
    rest = np.zeros((2, len(way)))
    return JointTrajectory.from_points(joint_names, [0.0, duration], [start, end], rest, rest)


def stroke(
    joint_names: Sequence[str],
    start: Vector,
    joint: int,
    way: float,
    speed: float,
    acceleration: float,
) -> JointTrajectory:
    """
    Return the motion of one joint with a long part at constant speed, from rest to rest.

    Parameters
    ----------
    joint_names : sequence of str
        Names of the joints.
    start : ndarray, shape (n,)
        Positions [rad | m].
    joint : int
        Which one moves.
    way : float
        How far, with its sign [rad | m].
    speed, acceleration : float
        Constant speed, and largest acceleration before and after [rad/s | m/s],
        [rad/s^2 | m/s^2].

    Raises
    ------
    TrajectoryError
        If the way is too short to reach the speed.

    """
    rise = RISE_ACCELERATION * speed / acceleration
    constant = abs(way) / speed - rise
    if not constant > 0.0:
        raise TrajectoryError(
            f"joint '{joint_names[joint]}' does not reach {speed:.4g} on a way of {abs(way):.4g}"
        )
    direction = 1.0 if way > 0.0 else -1.0
    times = np.cumsum([0.0, rise, constant, rise])
    q, v = np.tile(start, (4, 1)), np.zeros((4, len(start)))
    ramp = 0.5 * rise * speed
    q[:, joint] += direction * np.array([0.0, ramp, ramp + constant * speed, abs(way)])
    v[1:3, joint] = direction * speed
    return JointTrajectory.from_points(joint_names, times, q, v, np.zeros_like(q))


def joined(parts: Sequence[JointTrajectory], pause: float = 0.0) -> JointTrajectory:
    """
    Return motions one after another, each from where the one before has come to rest.

    Parameters
    ----------
    parts : sequence of JointTrajectory
        Of the same joints.
    pause : float
        Between two of them [s].

    Raises
    ------
    TrajectoryError
        If there are none, joints differ, or one does not begin where the last one ends, at rest.

    """
    if not parts:
        raise TrajectoryError('there are no motions to join')
    times, columns = [parts[0].times], [[_columns(parts[0])]]
    for before, part in zip(parts[:-1], parts[1:]):
        _require_join(before, part)
        first = 0 if pause > 0.0 else 1  # without a pause the same point would come twice
        times.append(times[-1][-1] + pause + part.times[first:] - part.start)
        columns.append([tuple(column[first:] for column in _columns(part))])
    stacked = [np.vstack([group[0][k] for group in columns]) for k in range(3)]
    return JointTrajectory(parts[0].joint_names, np.concatenate(times), *stacked)


def _columns(part: JointTrajectory) -> tuple[Any, Any, Any]:
    return part.positions, part.velocities, part.accelerations


def _require_join(before: JointTrajectory, part: JointTrajectory) -> None:
    if before.joint_names != part.joint_names:
        raise TrajectoryError('motions of different joints cannot be joined')
    moves = before.velocities[-1].any() or part.velocities[0].any()
    if moves or np.abs(before.positions[-1] - part.positions[0]).max() > 1e-9:
        raise TrajectoryError('a motion does not begin where the one before has come to rest')
