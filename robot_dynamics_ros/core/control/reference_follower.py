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
What the arm should do now: hold still, follow a trajectory, or follow a stream of points.

New trajectories and points are checked before they replace what runs: against the joints' limits,
and against a jump of the reference where they take over. What is refused leaves everything as it
was. A trajectory that begins later waits; what runs goes on until then. Time is a float, the same
that stamps of joint states and trajectories count in.

"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import pi
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.control.laws import Reference
from robot_dynamics_ros.core.exceptions import TrajectoryError
from robot_dynamics_ros.core.model.robot_model import Limits
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory
from robot_dynamics_ros.core.trajectory.streamed_reference import StreamedReference

_TWO_PI = 2.0 * pi
_TOLERANCE = 1e-6
_SHORTEST_SPEED_UP = 1e-3
"""Acceleration for which a joint would reach its velocity limit faster than this is absurd [s]."""
_LONGEST_REASON = 300
_LATEST_BEGIN = 600.0
"""Time ahead of the joint states beyond which a stamp belongs to another clock [s]."""


class ReferenceFollower:
    """
    Give the reference of every instant.

    Parameters
    ----------
    joint_names : sequence of str
        Joints of the robot.
    limits : Limits
        Position and velocity limits that references must keep.
    continuous : collection of str
        Joints that turn without limit.
    largest_jump : float
        Largest step of the position where a new reference takes over [rad | m].
    stream_timeout : float
        Silence after which a stream of points is held at its last one [s].

    Attributes
    ----------
    largest_jump : float
    kind : str
        ``hold``, ``trajectory`` or ``stream``.

    """

    def __init__(
        self,
        joint_names: Sequence[str],
        limits: Limits,
        *,
        continuous: Collection[str] = (),
        largest_jump: float = 0.05,
        stream_timeout: float = 0.1,
    ) -> None:
        n = len(joint_names)
        self.joint_names = tuple(joint_names)
        self.largest_jump = largest_jump
        self.kind = 'hold'
        self._limits = limits
        # A little more than the limit, for rounding; where none is stated, what no joint reaches.
        self._largest_speed = np.nan_to_num(limits.velocity, nan=1e3) * (1.0 + _TOLERANCE)
        self._continuous = tuple(continuous)
        self._turns = np.array([_TWO_PI if name in continuous else 0.0 for name in joint_names])
        self._stream_timeout = stream_timeout
        self._stream = self._new_stream()
        self._trajectory: JointTrajectory | None = None
        self._begin = 0.0
        self._next: JointTrajectory | None = None  # waits for its time
        self._next_begin = 0.0
        self._held: Reference = (np.zeros(n), np.zeros(n), np.zeros(n))

    def _new_stream(self) -> StreamedReference:
        return StreamedReference(
            len(self.joint_names), self._stream_timeout, largest_speed=self._largest_speed
        )

    @property
    def end(self) -> float:
        """Time at which the last trajectory ends [s]; -inf while none runs or waits."""
        if self._next is not None:
            return self._next_begin + self._next.end
        return -np.inf if self._trajectory is None else self._begin + self._trajectory.end

    def hold(self, q: Vector) -> None:
        """Drop what runs and hold the arm at `q`, shape (n,) [rad | m]."""
        n = len(self.joint_names)
        self._held = (np.array(q, dtype=np.float64), np.zeros(n), np.zeros(n))
        self._trajectory = self._next = None
        self.kind = 'hold'

    def sample(self, t: float) -> Reference:
        """Return position, velocity and acceleration at time `t` [s], each of shape (n,)."""
        if self._next is not None and t >= self._next_begin:
            return self._next.sample(t - self._next_begin)
        if self.kind == 'stream':
            return self._stream.sample(t)
        if self._trajectory is None or t < self._begin:
            return self._held
        return self._trajectory.sample(t - self._begin)

    def prepare(
        self,
        joint_names: Sequence[str],
        times: Any,
        positions: Any,
        velocities: Any,
        accelerations: Any,
        start: Reference,
    ) -> JointTrajectory:
        """
        Make a trajectory that keeps the limits, without taking it.

        This is the long part of `follow`; it changes nothing and may run in another thread.

        Parameters
        ----------
        joint_names, times, positions, velocities, accelerations
            As in `follow`.
        start : tuple of three ndarray, shape (n,)
            Reference where it will begin.

        Raises
        ------
        TrajectoryError
            If it is refused, with the reason.

        """
        trajectory = JointTrajectory.from_points(
            joint_names,
            times,
            positions,
            velocities,
            accelerations,
            start=self._in_order_of(joint_names, start),
            continuous=[name for name in joint_names if name in self._continuous],
        ).ordered(self.joint_names)
        self._check_limits(trajectory)
        return trajectory

    def take(self, trajectory: JointTrajectory, begin: float, now: float) -> None:
        """
        Follow a prepared trajectory.

        Parameters
        ----------
        trajectory : JointTrajectory
            From `prepare`.
        begin, now : float
            Time at which it begins, and present time [s].

        Raises
        ------
        TrajectoryError
            If it is over already, or the reference would jump.

        """
        if begin + trajectory.end < now:
            raise TrajectoryError(
                f'the trajectory ended {now - begin - trajectory.end:.3f} s before it came'
            )
        self._begin_next(now)
        present = self.sample(max(begin, now))[0]
        self._check_jump(trajectory.sample(max(now - begin, 0.0))[0], present)
        self._next, self._next_begin = trajectory, begin
        self._begin_next(now)

    def begin_of(self, stamp: float, now: float) -> float:
        """
        Return the time at which a reference with this stamp begins [s]; 0 means now.

        Raises
        ------
        TrajectoryError
            If it is too far ahead to belong to the same clock.

        """
        begin = stamp if stamp > 0.0 else now
        if begin - now > _LATEST_BEGIN:
            raise TrajectoryError(
                f'it begins {begin - now:.4g} s after the newest joint state, more than '
                f'{_LATEST_BEGIN:g} s: are both stamped by the same clock (use_sim_time)?'
            )
        return begin

    def follow(
        self,
        joint_names: Sequence[str],
        stamp: float,
        times: Any,
        positions: Any,
        velocities: Any,
        accelerations: Any,
        now: float,
    ) -> None:
        """
        Follow a trajectory, or with a single point at time zero a stream of points.

        Parameters
        ----------
        joint_names : sequence of str
            Joints in the order of the points; every joint of the robot and no other.
        stamp : float
            Time at which it begins [s]; 0 for now.
        times, positions, velocities, accelerations
            The points, see `JointTrajectory.from_points`. A first point later than zero is reached
            from the present reference.
        now : float
            Present time [s].

        Raises
        ------
        TrajectoryError
            If it is refused, with the reason.

        """
        begin = self.begin_of(stamp, now)
        if len(times) == 1 and times[0] == 0.0:
            self._push(joint_names, begin, positions, velocities, accelerations, now)
            return
        start = self.sample(max(begin, now))
        trajectory = self.prepare(joint_names, times, positions, velocities, accelerations, start)
        self.take(trajectory, begin, now)

    def _begin_next(self, now: float) -> None:
        """Put the trajectory that waits in the place of what runs, if it need not wait."""
        if self._next is not None and (now >= self._next_begin or self.kind == 'hold'):
            self._trajectory, self._begin, self.kind = self._next, self._next_begin, 'trajectory'
            self._next = None

    def _push(
        self,
        joint_names: Sequence[str],
        t: float,
        positions: Any,
        velocities: Any,
        accelerations: Any,
        now: float,
    ) -> None:
        """Take in a single point."""
        if abs(t - now) > self._stream_timeout:
            raise TrajectoryError(
                f'the point is stamped {abs(t - now):.4g} s {"before" if t < now else "after"} '
                f'the present, allowed are {self._stream_timeout:g} s'
            )
        order = self._order(joint_names)
        parts = [
            None if given is None or given[0] is None else np.asarray(given[0], dtype=np.float64)
            for given in (positions, velocities, accelerations)
        ]
        if any(part is not None and part.shape != (len(joint_names),) for part in parts):
            raise TrajectoryError('the point has an array of the wrong length')
        q, v, a = (None if part is None else part[order] for part in parts)
        if q is None or not np.isfinite(q).all():
            raise TrajectoryError('the point has no finite positions')
        self._check_positions(q, q)
        for values, check in ((v, self._check_speed), (a, self._check_acceleration)):
            if values is not None:
                check(abs(values))
        self._check_jump(q, self.sample(now)[0])
        if self.kind == 'stream':
            self._check_speed(self._stream.speed_to(t, q))
        if self.kind != 'stream':
            self._stream = self._new_stream()
        self._stream.push(t, q, v, a)
        self._trajectory, self._next, self.kind = None, None, 'stream'

    def _order(self, joint_names: Sequence[str]) -> list[int]:
        missing = [name for name in self.joint_names if name not in joint_names]
        unknown = [name for name in joint_names if name not in self.joint_names]
        if missing or unknown or len(joint_names) != len(self.joint_names):
            said = [f'{", ".join(missing)} missing'] if missing else []
            said += [f'{", ".join(unknown)} unknown'] if unknown else []
            reason = '; '.join(said) or 'a name stands twice'
            raise TrajectoryError(f'the joints do not fit: {reason[:_LONGEST_REASON]}')
        return [list(joint_names).index(name) for name in self.joint_names]

    def _in_order_of(self, joint_names: Sequence[str], reference: Reference) -> Reference:
        order = self._order(joint_names)
        inverse = np.argsort(order)
        q, v, a = (part[inverse] for part in reference)
        return q, v, a

    def _check_limits(self, trajectory: JointTrajectory) -> None:
        lowest, greatest, speed, acceleration = trajectory.extremes()
        self._check_positions(lowest, greatest)
        self._check_speed(speed)
        self._check_acceleration(acceleration)

    def _check_speed(self, speed: Vector) -> None:
        beyond = np.flatnonzero(speed > self._largest_speed)
        if beyond.size:
            i = beyond[0]
            raise TrajectoryError(
                f'{self.joint_names[i]} would reach {speed[i]:.4g} rad/s or m/s, '
                f'its limit is {self._limits.velocity[i]:.4g}'
            )

    def _check_acceleration(self, acceleration: Vector) -> None:
        largest = np.nan_to_num(self._limits.velocity, nan=1e3, posinf=1e3) / _SHORTEST_SPEED_UP
        beyond = np.flatnonzero(~(acceleration <= largest))
        if beyond.size:
            i = beyond[0]
            raise TrajectoryError(
                f'{self.joint_names[i]} would accelerate with {acceleration[i]:.4g} rad/s^2 or '
                f'm/s^2, more than {largest[i]:.4g} is absurd'
            )

    def _check_positions(self, lowest: Vector, greatest: Vector) -> None:
        low, high = self._limits.lower - _TOLERANCE, self._limits.upper + _TOLERANCE
        beyond = np.flatnonzero((lowest < low) | (greatest > high))
        if beyond.size:
            i = beyond[0]
            value = lowest[i] if lowest[i] < low[i] else greatest[i]
            raise TrajectoryError(
                f'{self.joint_names[i]} would go to {value:.4g} rad or m, its limits are '
                f'{self._limits.lower[i]:.4g} and {self._limits.upper[i]:.4g}'
            )

    def _check_jump(self, q: Vector, present: Vector) -> None:
        step = q - present
        turns = np.where(self._turns > 0.0, self._turns, 1.0)
        step = np.where(self._turns > 0.0, step - turns * np.round(step / turns), step)
        i = int(np.argmax(np.abs(step)))
        if abs(step[i]) > self.largest_jump:
            raise TrajectoryError(
                f'{self.joint_names[i]} would jump by {step[i]:.4g} rad or m, allowed are '
                f'{self.largest_jump:g}; give the first point a time_from_start to be led there'
            )
