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
Whether a trajectory keeps all limits, and its distance from everything, at every time.

Positions, velocities, accelerations and torques are looked at finely. Distances are certified: at
the middle of an interval the bodies are :math:`d` apart, and until its ends no pair comes nearer
than

.. math:: d - \tfrac{1}{2} h \sum_j \rho_j \, \max |\dot q_j|

(`clearance`) with the greatest speeds of the spline there. An interval for which this is less than
the wanted clearance is halved, until it is certain or found to be wrong.

References
----------
.. [1] F. Schwarzer, M. Saha, J.-C. Latombe, "Adaptive dynamic collision checking for single and
   multiple articulated robots in complex environments", IEEE Transactions on Robotics 21(3), 2005.

"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.arrays import frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import TrajectoryError
from robot_dynamics_ros.core.excitation.clearance import ClearanceScene
from robot_dynamics_ros.core.excitation.motion_limits import MotionLimits
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory

SAMPLES_PER_SEGMENT = 8
"""Where limits are looked at between two points of the trajectory."""

SHORTEST = 1e-4
"""An interval this short that is still not certain counts as too near [s]."""

SHOWN = 0.1
"""Distances up to this above the clearance are measured where a bound would do [m]."""

ROUNDING = 1e-9
"""By which a limit may be exceeded, relative to it."""

TorqueFunction = Callable[[Matrix, Matrix, Matrix], Matrix]


@dataclass(frozen=True, eq=False)
class MotionCheck:
    """
    What a trajectory uses of its limits.

    Attributes
    ----------
    used : dict of str to ndarray, shape (nv,)
        Largest share of ``position`` (distance from the middle of the range), ``velocity``,
        ``acceleration`` and ``effort``; 1 is the limit.
    least_distance : float
        Of all pairs, at the times that were looked at [m]; infinite without pairs. A bound where
        no pair came near.
    nearest : str
        Which pair that was, and when.
    violation : str
        Empty, or what is violated most, by which joint or pair, and when.

    """

    used: dict[str, Vector]
    least_distance: float
    nearest: str
    violation: str

    def require(self) -> None:
        """
        Refuse the trajectory if something is violated.

        Raises
        ------
        TrajectoryError
            The message says what, where and when.

        """
        if self.violation:
            raise TrajectoryError(f'the trajectory is refused: {self.violation}')


def check_motion(
    trajectory: JointTrajectory,
    limits: MotionLimits,
    torques: TorqueFunction,
    scene: ClearanceScene | None = None,
    clearance: float = 0.0,
) -> MotionCheck:
    """
    Check a trajectory against limits and surroundings.

    Parameters
    ----------
    trajectory : JointTrajectory
        With joints in the order of the limits.
    limits : MotionLimits
        What it must keep to.
    torques : callable
        Positions, velocities and accelerations to torques, each of shape (n_samples, nv).
    scene : ClearanceScene, optional
        Pairs whose distances are checked.
    clearance : float
        Least distance of each pair [m].

    """
    t = _fine_times(trajectory)
    q, v, a = trajectory.sample_many(t)
    tau = torques(q, v, a)
    used = {
        'position': np.abs(q - limits.middle) / limits.half_range,
        'velocity': np.abs(v) / limits.velocity,
        'acceleration': np.abs(a) / limits.acceleration,
        'effort': np.abs(tau) / limits.effort,
    }
    key = max(used, key=lambda name: float(used[name].max()))
    row, joint = np.unravel_index(int(used[key].argmax()), q.shape)
    violation = ''
    if used[key][row, joint] > 1.0 + ROUNDING:
        violation = (
            f"joint '{limits.joint_names[joint]}' uses {100.0 * used[key][row, joint]:.4g} % of "
            f'its {key} limit at {t[row]:.4g} s'
        )
    least, nearest, too_near = _certified(trajectory, scene, clearance)
    return MotionCheck(
        {name: frozen(part.max(axis=0)) for name, part in used.items()},
        least,
        nearest,
        violation or too_near,
    )


def _fine_times(trajectory: JointTrajectory) -> Vector:
    steps = np.arange(SAMPLES_PER_SEGMENT) / SAMPLES_PER_SEGMENT
    inner = trajectory.times[:-1, np.newaxis] + np.diff(trajectory.times)[:, np.newaxis] * steps
    return np.append(inner.ravel(), trajectory.times[-1])


def _certified(
    trajectory: JointTrajectory, scene: ClearanceScene | None, clearance: float
) -> tuple[float, str, str]:
    """Return the least distance, where it is, and what is too near."""
    if scene is None or not scene.count:
        return np.inf, '', ''
    required = scene.required(clearance)
    speed = trajectory.speed_bounds()
    start, stop = trajectory.times[:-1], trajectory.times[1:]
    segment = np.arange(len(start))
    least, at, pair = np.inf, 0.0, 0
    while len(start):
        middle, half = 0.5 * (start + stop), 0.5 * (stop - start)
        travel = (half[:, np.newaxis] * speed[segment]) @ scene.reach.T
        cutoff = required + np.maximum(travel, SHOWN)
        distance = scene.distances(trajectory.sample_many(middle)[0], cutoff)
        row, column = np.unravel_index(int(distance.argmin()), distance.shape)
        if distance[row, column] < least:
            least, at, pair = float(distance[row, column]), float(middle[row]), int(column)
        open_ = (distance - travel < required).any(axis=1)
        if (distance < required).any() or (open_.any() and half[open_].min() < SHORTEST):
            row, column = np.unravel_index(int((distance - required).argmin()), distance.shape)
            least, at, pair = float(distance[row, column]), float(middle[row]), int(column)
            break
        start, stop, segment = start[open_], stop[open_], np.repeat(segment[open_], 2)
        middle = 0.5 * (start + stop)
        start, stop = _interleaved(start, middle), _interleaved(middle, stop)
    names = ' and '.join(f"'{name}'" for name in scene.names[pair])
    nearest = f'{names} at {at:.4g} s'
    too_near = ''
    if len(start):
        too_near = (
            f'{names} come to {1e3 * least:.1f} mm at {at:.4g} s, expected a clearance of '
            f'{1e3 * float(required[pair]):.4g} mm'
        )
    return least, nearest, too_near


def _interleaved(first: Vector, second: Vector) -> Vector:
    return np.column_stack((first, second)).ravel()
