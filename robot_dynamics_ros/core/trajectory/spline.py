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

"""Trajectories through points with positions and, where given, velocities and accelerations."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from math import comb, pi
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import DimensionError, NonFiniteError, TrajectoryError
from robot_dynamics_ros.core.trajectory.spline_derivatives import (
    HERMITE,
    least_jerk_accelerations,
    spline_velocities,
)
from robot_dynamics_ros.core.trajectory.trajectory_points import checked_points, TrajectoryPoints

_SAMPLES_PER_SEGMENT = 10


class JointTrajectory:
    """
    A smooth motion of several joints through points; make one with `from_points`.

    Between the points it is a quintic polynomial, so that it has what is given at the points, and
    position, velocity and acceleration are continuous. Before the first and after the last point
    the arm is held there.

    Attributes
    ----------
    joint_names : tuple of str
    times : ndarray, shape (n_points,)
        Times of the points [s], from the same zero as in `sample`.
    positions, velocities, accelerations : ndarray, shape (n_points, n)
        Values at the points, derived ones included.

    """

    def __init__(
        self,
        joint_names: Sequence[str],
        times: Vector,
        positions: Matrix,
        velocities: Matrix,
        accelerations: Matrix,
    ) -> None:
        self.joint_names = tuple(joint_names)
        self.times = frozen(times)
        self.positions = frozen(positions)
        self.velocities = frozen(velocities)
        self.accelerations = frozen(accelerations)
        self._knots: list[float] = self.times.tolist()
        h = np.diff(self.times)[:, np.newaxis, np.newaxis]
        ends = np.stack((self.positions, self.velocities, self.accelerations), axis=1)
        powers = np.arange(6.0)[:, np.newaxis]
        values = np.concatenate((ends[:-1], ends[1:]), axis=1) * h ** (powers % 3.0)
        self._coefficients = (HERMITE @ values) / h**powers  # (n_points - 1, 6, n)

    @classmethod
    def from_points(
        cls,
        joint_names: Sequence[str],
        times: Any,
        positions: Any,
        velocities: Any = None,
        accelerations: Any = None,
        *,
        start: tuple[Vector, Vector, Vector] | None = None,
        continuous: Collection[str] = (),
    ) -> JointTrajectory:
        """
        Make a trajectory through all that is given.

        Derivatives that a point lacks are derived from the other points (see
        `spline_derivatives`), never taken as zero, with two exceptions: at the first and the last
        point the velocity is zero if it is not given; and where there is only one segment, so that
        there is nothing to derive from, the acceleration is zero at an end that is at rest.

        Parameters
        ----------
        joint_names : sequence of str
            Joint names in the order of the columns.
        times : array_like, shape (n_points,)
            Times of the points, increasing, the first >= 0 [s].
        positions : sequence of n_points array_like, shape (n,)
            Positions [rad | m].
        velocities, accelerations : sequence of n_points array_like, shape (n,), optional
            Derivatives; empty or None for points that have none.
        start : tuple of three array_like, shape (n,), optional
            Position, velocity and acceleration at time 0, from which the first point is reached if
            its time is > 0.
        continuous : collection of str
            Joints that turn without limit: `start` is taken on the turn nearest to the first
            point.

        Returns
        -------
        trajectory : JointTrajectory

        Raises
        ------
        TrajectoryError
            If there are no points, names are repeated, times do not increase, an array has the
            wrong length, or a number is not finite; the message names joint and point.

        """
        points = checked_points(joint_names, times, positions, velocities, accelerations)
        if start is not None and points.times[0] > 0.0:
            points = _with_start(points, start, continuous)
        has_velocity, has_acceleration = points.has_velocity.copy(), points.has_acceleration.copy()
        single = len(points.times) <= 2
        for end in (0, -1):
            at_rest = not has_velocity[end] or not points.velocities[end].any()
            has_velocity[end] = True
            has_acceleration[end] |= single and at_rest
        t, q = points.times, points.positions
        with np.errstate(all='ignore'):  # what overflows is refused below
            v = spline_velocities(t, q, points.velocities, has_velocity)
            a = least_jerk_accelerations(t, q, v, points.accelerations, has_acceleration)
            trajectory = cls(points.joint_names, t, q, v, a)
            finite = [np.isfinite(part).all() for part in trajectory.extremes()]
        if not all(finite):
            raise TrajectoryError(
                'the points are so large, or so close in time, that the motion between them is '
                'not finite'
            )
        return trajectory

    def ordered(
        self, joint_names: Sequence[str], *, ignore_extra: bool = False
    ) -> JointTrajectory:
        """
        Return the trajectory with its joints in another order.

        Parameters
        ----------
        joint_names : sequence of str
            Wanted order.
        ignore_extra : bool
            Whether joints of the trajectory that are not wanted are left out instead of refused.

        Raises
        ------
        TrajectoryError
            If wanted joints are missing, or there are others; the message lists them.

        """
        missing = [name for name in joint_names if name not in self.joint_names]
        if missing:
            raise TrajectoryError(f'the trajectory lacks these joints: {", ".join(missing)}')
        extra = [name for name in self.joint_names if name not in joint_names]
        if extra and not ignore_extra:
            raise TrajectoryError(
                f'the trajectory has unknown joints: {", ".join(extra)}; '
                f'expected are {", ".join(joint_names)}'
            )
        if tuple(joint_names) == self.joint_names:
            return self
        columns = [self.joint_names.index(name) for name in joint_names]
        return JointTrajectory(
            joint_names,
            self.times,
            self.positions[:, columns],
            self.velocities[:, columns],
            self.accelerations[:, columns],
        )

    @property
    def start(self) -> float:
        """Time of the first point [s]."""
        return self._knots[0]

    @property
    def end(self) -> float:
        """Time of the last point [s]."""
        return self._knots[-1]

    @property
    def duration(self) -> float:
        """Time from the first to the last point [s]."""
        return self._knots[-1] - self._knots[0]

    def sample(self, t: float) -> tuple[Vector, Vector, Vector]:
        """
        Return position, velocity and acceleration at time `t`, each of shape (n,).

        Before the first and after the last point velocity and acceleration are zero.

        """
        knots = self._knots
        if not knots[0] <= t <= knots[-1] or len(knots) == 1:
            zero = np.zeros(len(self.joint_names))
            return self.positions[0 if t < knots[0] else -1].copy(), zero, zero.copy()
        k = min(bisect_right(knots, t), len(knots) - 1) - 1
        u = t - knots[k]
        u2 = u * u
        u3 = u2 * u
        u4 = u2 * u2
        basis = np.array(
            (
                (1.0, u, u2, u3, u4, u4 * u),
                (0.0, 1.0, 2.0 * u, 3.0 * u2, 4.0 * u3, 5.0 * u4),
                (0.0, 0.0, 2.0, 6.0 * u, 12.0 * u2, 20.0 * u3),
            )
        )
        q, v, a = basis @ self._coefficients[k]
        return q, v, a

    def sample_many(self, t: Any) -> tuple[Matrix, Matrix, Matrix]:
        """Return position, velocity and acceleration, each of shape (n_samples, n)."""
        t = np.asarray(t, dtype=np.float64)
        if len(self._knots) == 1:
            q = np.repeat(self.positions, len(t), axis=0)
            return q, np.zeros_like(q), np.zeros_like(q)
        inside = np.clip(t, self.start, self.end)
        k = np.clip(np.searchsorted(self.times, inside, side='right') - 1, 0, len(self.times) - 2)
        u = (inside - self.times[k])[:, np.newaxis]
        c = self._coefficients[k]  # (n_samples, 6, n)
        q = c[:, 5]
        v = 5.0 * c[:, 5]
        a = 20.0 * c[:, 5]
        for i in range(4, -1, -1):
            q = q * u + c[:, i]
            if i >= 1:
                v = v * u + i * c[:, i]
            if i >= 2:
                a = a * u + i * (i - 1) * c[:, i]
        held = (inside != t)[:, np.newaxis]
        return q, np.where(held, 0.0, v), np.where(held, 0.0, a)

    def speed_bounds(self) -> Matrix:
        """
        Return speeds that are nowhere exceeded, for each segment, shape (n_points - 1, n).

        A polynomial lies between its coefficients in Bernstein's form.

        """
        h = np.diff(self.times)[:, np.newaxis]
        powers = [k * self._coefficients[:, k] * h ** (k - 1) for k in range(1, 6)]
        to_bernstein = [[comb(k, i) / comb(4, i) for i in range(5)] for k in range(5)]
        bernstein = np.tensordot(np.array(to_bernstein), np.array(powers), 1)
        return np.asarray(np.abs(bernstein).max(axis=0))

    def extremes(self) -> tuple[Vector, Vector, Vector, Vector]:
        """
        Return least and greatest position, greatest speed and acceleration, each of shape (n,).

        They are those of ten samples in every segment.

        """
        steps = np.arange(_SAMPLES_PER_SEGMENT) / _SAMPLES_PER_SEGMENT
        inner = self.times[:-1, np.newaxis] + np.diff(self.times)[:, np.newaxis] * steps
        q, v, a = self.sample_many(np.append(inner.ravel(), self.times[-1]))
        return q.min(axis=0), q.max(axis=0), np.abs(v).max(axis=0), np.abs(a).max(axis=0)


def _with_start(
    points: TrajectoryPoints,
    start: tuple[Vector, Vector, Vector],
    continuous: Collection[str],
) -> TrajectoryPoints:
    """Put a point at time 0 in front."""
    n = len(points.joint_names)
    try:
        q, v, a = (as_finite('the start of the trajectory', part, (n,)) for part in start)
    except (DimensionError, NonFiniteError) as error:
        raise TrajectoryError(str(error)) from error
    turns = np.array([2.0 * pi if name in continuous else 0.0 for name in points.joint_names])
    q = q + turns * np.round((points.positions[0] - q) / (2.0 * pi))
    return TrajectoryPoints(
        points.joint_names,
        np.append(0.0, points.times),
        np.vstack((q, points.positions)),
        np.vstack((v, points.velocities)),
        np.vstack((a, points.accelerations)),
        np.append(True, points.has_velocity),
        np.append(True, points.has_acceleration),
    )
