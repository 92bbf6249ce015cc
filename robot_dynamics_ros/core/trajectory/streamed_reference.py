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
A reference that arrives point by point, each valid at once.

Derivatives that the points lack are those of a parabola, fitted to the last few points by least
squares and taken at the newest: without lag for motions of constant acceleration, and little
troubled by jitter of the stamps. Between points the motion goes on along the newest derivatives,
for no longer than the last interval. When the stream falls silent, the arm is held at the last
point.

"""

from __future__ import annotations

from collections import deque
from math import inf, isfinite
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError, TrajectoryError

LEAST_INTERVAL = 2e-4
"""Time between two points below which they are taken for one [s]."""

_SPEED_UP = 0.05
"""Shortest time in which a derived motion reaches the largest speed [s]."""

STAMP_JITTER = 5e-3
"""Error of the stamps of points that is nothing to worry about [s]."""


class StreamedReference:
    """
    Follow a stream of single points.

    Parameters
    ----------
    n : int
        Number of joints.
    timeout : float
        Silence after which the arm is held at the last point [s].
    window : int
        Number of points from which missing derivatives are derived, at least 3.
    largest_speed : float or array_like, shape (n,)
        Bound on derived velocities [rad/s | m/s], and by the time in which it may be reached on
        derived accelerations: stamps that are wrong must not become a torque.

    Raises
    ------
    ConfigurationError
        If a parameter is out of range.

    """

    def __init__(
        self, n: int, timeout: float = 0.1, window: int = 7, *, largest_speed: Any = inf
    ) -> None:
        if not 0.0 < timeout < inf or window < 3:
            raise ConfigurationError(
                f'timeout must be > 0 s and window >= 3, got {timeout} and {window}'
            )
        self.n = n
        self.timeout = timeout
        self._speed = np.broadcast_to(np.asarray(largest_speed, dtype=np.float64), n)
        self._times: deque[float] = deque(maxlen=window)
        self._positions: deque[Vector] = deque(maxlen=window)
        self._velocities: deque[Vector | None] = deque(maxlen=window)
        self._q = np.zeros(n)
        self._v = np.zeros(n)
        self._a = np.zeros(n)

    def push(
        self, t: float, position: Any, velocity: Any = None, acceleration: Any = None
    ) -> None:
        """
        Take in a point.

        Parameters
        ----------
        t : float
            Its time [s]: of its header stamp, or of its receipt.
        position : array_like, shape (n,)
            [rad | m]
        velocity, acceleration : array_like, shape (n,), optional
            None or empty if not given.

        Raises
        ------
        TrajectoryError
            If an array has the wrong length, a number is not finite, or `t` is not later than that
            of the last point (a step back beyond the timeout starts afresh).

        """
        if not isfinite(t):
            raise TrajectoryError('the time of a point is not finite')
        q = self._checked('positions', position)
        v = self._checked('velocities', velocity)
        a = self._checked('accelerations', acceleration)
        if q is None:
            raise TrajectoryError('a point has no positions')
        if self._times and abs(t - self._times[-1]) > self.timeout:
            self.clear()
        if self._times and t <= self._times[-1]:
            raise TrajectoryError(
                f'a point at {t:.9g} s is not later than the last one at {self._times[-1]:.9g} s'
            )
        if self._times and t - self._times[-1] < LEAST_INTERVAL:
            # Of points that came in one go only the last one counts for the derivatives.
            self._times.pop()
            self._positions.pop()
            self._velocities.pop()
        self._times.append(t)
        self._positions.append(q)
        self._velocities.append(v)
        self._q = q
        slope, curvature = self._fitted(list(self._positions))
        self._v = np.clip(slope, -self._speed, self._speed) if v is None else v
        if a is None:
            known = [x for x in self._velocities if x is not None]
            complete = len(known) == len(self._times) > 1
            a = self._fitted(known)[0] if complete else curvature
            largest = self._speed / _SPEED_UP
            a = np.clip(a, -largest, largest)
        self._a = a

    def _checked(self, what: str, values: Any) -> Vector | None:
        if values is None or len(values) == 0:
            return None
        array = np.array(values, dtype=np.float64)
        if array.shape != (self.n,):
            raise TrajectoryError(f'a point has {len(values)} {what} for {self.n} joints')
        if not np.isfinite(array).all():
            raise TrajectoryError(f'{what} of a point are not finite')
        return array

    def _fitted(self, values: list[Vector]) -> tuple[Vector, Vector]:
        """Return both derivatives of the fitted parabola (line, constant) at the newest point."""
        count = len(values)
        if count == 1:
            return np.zeros(self.n), np.zeros(self.n)
        times = np.array(self._times) - self._times[-1]
        span = -times[0]
        degree = min(count - 1, 2)
        powers: Matrix = np.power.outer(times / span, np.arange(degree + 1))
        fit = np.linalg.lstsq(powers, np.array(values), rcond=1e-6)[0]
        second = 2.0 * fit[2] / span**2 if degree == 2 else np.zeros(self.n)
        return fit[1] / span, second

    def clear(self) -> None:
        """Forget all points."""
        self._times.clear()
        self._positions.clear()
        self._velocities.clear()

    def speed_to(self, t: float, position: Vector) -> Vector:
        """
        Return the mean speed from the first point in the window to another one [rad/s | m/s].

        The stamps may jitter by `STAMP_JITTER` without making it larger. Zero after a pause.

        """
        if not self._times or t - self._times[-1] > self.timeout:
            return np.zeros(self.n)
        time = max(t - self._times[0], 0.0) + STAMP_JITTER
        speed: Vector = abs(position - self._positions[0]) / time
        return speed

    @property
    def has_point(self) -> bool:
        """Whether a point has arrived."""
        return bool(self._times)

    def age(self, t: float) -> float:
        """Return the time since the last point [s]; inf without one."""
        return t - self._times[-1] if self._times else inf

    def sample(self, t: float) -> tuple[Vector, Vector, Vector]:
        """
        Return position, velocity and acceleration at time `t`, each of shape (n,).

        Raises
        ------
        TrajectoryError
            If no point has arrived yet.

        """
        if not self._times:
            raise TrajectoryError('no point has arrived yet')
        age = self.age(t)
        if age > self.timeout:
            return self._q.copy(), np.zeros(self.n), np.zeros(self.n)
        interval = self._times[-1] - self._times[-2] if len(self._times) > 1 else 0.0
        ahead = min(max(age, 0.0), interval)
        q = self._q + ahead * (self._v + 0.5 * ahead * self._a)
        return q, self._v + ahead * self._a, self._a.copy()
