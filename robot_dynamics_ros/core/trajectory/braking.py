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
Coming to rest along a trajectory, on the path that was planned and checked.

The trajectory :math:`q(s)` goes on with a time that slows down, :math:`\dot s` from 1 to 0 within
`T`,

.. math:: \dot s(t) = 1 - x^3 (10 - 15 x + 6 x^2), \quad x = t / T

so that velocity and acceleration are continuous and both are zero at the end:

.. math:: v = q'(s) \dot s, \quad a = q''(s) \dot s^2 + q'(s) \ddot s .

`T` is the shortest of a geometric series for which the acceleration stays within a limit.

References
----------
.. [1] J. E. Bobrow, S. Dubowsky, J. S. Gibson, "Time-optimal control of robotic manipulators along
   specified paths", International Journal of Robotics Research 4(3), 1985 (scaling of time).

"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Matrix, Vector
from robot_dynamics_ros.core.exceptions import TrajectoryError
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory

SHORTEST, LONGEST = 0.1, 10.0
"""Of the time in which the motion comes to rest [s]."""

_LONGER = 1.1
_INTERVAL = 0.02


def braking_trajectory(
    trajectory: JointTrajectory, time: float, acceleration: Vector
) -> JointTrajectory:
    """
    Return the motion from a time of a trajectory to rest, on the same path.

    Parameters
    ----------
    trajectory : JointTrajectory
        What is being followed.
    time : float
        From when on [s], in the time of the trajectory.
    acceleration : ndarray, shape (n,)
        Largest magnitudes [rad/s^2 | m/s^2].

    Returns
    -------
    braking : JointTrajectory
        It begins at time zero.

    Raises
    ------
    DimensionError, NonFiniteError, NotNumericError
        If there is not one limit for each joint.
    TrajectoryError
        If the motion cannot come to rest within `LONGEST` and the limits: they are below the
        accelerations of the trajectory itself.

    """
    limit = as_vector('acceleration limits', acceleration, len(trajectory.joint_names))
    duration = SHORTEST
    while duration <= LONGEST:
        count = max(8, int(np.ceil(duration / _INTERVAL)))
        t = duration * np.arange(count + 1) / count
        q, v, a = _slowing(trajectory, time, t, duration)
        if (np.abs(a).max(axis=0) <= limit).all():
            return JointTrajectory.from_points(trajectory.joint_names, t, q, v, a)
        duration *= _LONGER
    raise TrajectoryError(
        f'at {time:.4g} s the motion cannot come to rest within {LONGEST:g} s: its own '
        'accelerations are beyond the limits for braking'
    )


def _slowing(
    trajectory: JointTrajectory, time: float, t: Vector, duration: float
) -> tuple[Matrix, Matrix, Matrix]:
    x = t / duration
    rate = 1.0 - x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
    change = -30.0 * x**2 * (1.0 - x) ** 2 / duration
    way = time + duration * (x - x**4 * (2.5 - 3.0 * x + x**2))
    rate[-1] = change[-1] = 0.0
    q, v, a = trajectory.sample_many(way)
    column = rate[:, np.newaxis]
    return q, v * column, a * column**2 + v * change[:, np.newaxis]
