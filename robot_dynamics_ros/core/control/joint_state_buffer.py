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
The newest state of every joint, gathered by name from streams of joint messages.

Every message is mapped by its own list of names. A message is taken or rejected as a whole, and
each rejection is counted under its reason (`UpdateOutcome`). The rules:

- Joints outside the model, and NaN in fields or joints that are not used, do no harm.
- Messages with a part of the joints are merged; each joint has its own age on the receiver's
  steady clock.
- A velocity that is missing, NaN or implausible is *unknown*. It is estimated from two positions
  and their header stamps (shortest way round for continuous joints); until there are two it is
  NaN, never zero.
- A stamp that repeats or steps back a little drops the message. A step back beyond the timeout is
  a reset of time: the estimate starts afresh. A zero stamp is replaced by the time of receipt, or
  refused if so configured.

"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from math import inf, isfinite, nan, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import any_true, as_finite, Vector
from robot_dynamics_ros.core.control.joint_name_map import JointNameMap, MessageLayout
from robot_dynamics_ros.core.exceptions import ConfigurationError, UnknownJointError

_TWO_PI = 2.0 * pi
_STAMP_JITTER = 2e-3
"""Error of a stamp that the check of jumps allows for [s]."""
_ABSURD_SPEED = 1e4
"""Speed that no joint has [rad/s | m/s]."""


class UpdateOutcome(str, Enum):
    """What became of one message."""

    ACCEPTED = 'accepted'
    TIME_RESET = 'time_reset'
    """
    Taken, but the stamp went back beyond the timeout: estimators and filters must start afresh.

    """
    NO_KNOWN_JOINT = 'no_known_joint'
    ARRAY_LENGTH = 'array_length'
    DUPLICATE_NAME = 'duplicate_name'
    POSITION_NOT_FINITE = 'position_not_finite'
    POSITION_JUMP = 'position_jump'
    REPEATED_STAMP = 'repeated_stamp'
    BACKWARDS_STAMP = 'backwards_stamp'
    ZERO_STAMP = 'zero_stamp'
    INVALID_STAMP = 'invalid_stamp'

    @property
    def is_accepted(self) -> bool:
        """Whether the state was updated."""
        return self is UpdateOutcome.ACCEPTED or self is UpdateOutcome.TIME_RESET


class JointStateBuffer:
    """
    Merge joint messages into one state.

    Parameters
    ----------
    joint_names : sequence of str
        The joints that are needed, in the order of `q`, `v` and `effort`.
    continuous : collection of str
        Those of them that turn without limit.
    timeout : float
        Step back of a stamp that counts as a reset of time, and longest interval between two
        positions from which a velocity is estimated [s].
    name_map : mapping of str to str, optional
        Joint name by the name that stands in the messages, where they differ.
    signs : mapping of str to float, optional
        1 or -1 by joint name: factor on position, velocity and effort of the messages.
    max_speed : array_like, shape (n,), optional
        Largest plausible speed [rad/s | m/s]. A position that would need more since the last one
        is rejected, a velocity beyond it is unknown.
    velocity_time_constant : float
        Time constant of the low-pass filter on estimated velocities [s]; 0 for none.
    refuse_zero_stamp : bool
        Whether a zero stamp rejects the message, instead of being replaced by the time of receipt.

    Attributes
    ----------
    joint_names : tuple of str
    q, v, effort : ndarray, shape (n,)
        Newest position, velocity and effort; NaN where still unknown. Updated in place: copy to
        keep.
    counters : dict of str to int
        Number of messages by the value of their `UpdateOutcome`, and of those of which the stamp
        was zero (``zero_stamp_replaced``) or a velocity unknown (``velocity_replaced``).

    Raises
    ------
    ConfigurationError
        If a parameter is out of range.
    UnknownJointError
        If `continuous`, `name_map` or `signs` names a joint that is not in `joint_names`.

    """

    def __init__(
        self,
        joint_names: Sequence[str],
        *,
        continuous: Collection[str] = (),
        timeout: float = 0.1,
        name_map: Mapping[str, str] | None = None,
        signs: Mapping[str, float] | None = None,
        max_speed: Any = None,
        velocity_time_constant: float = 0.0,
        refuse_zero_stamp: bool = False,
    ) -> None:
        n = len(joint_names)
        self.joint_names = tuple(joint_names)
        for name in continuous:
            if name not in self.joint_names:
                raise UnknownJointError(name, self.joint_names)
        if not timeout > 0.0 or not velocity_time_constant >= 0.0:
            raise ConfigurationError(
                f'timeout must be > 0 s and velocity_time_constant >= 0 s, got {timeout} and '
                f'{velocity_time_constant}'
            )
        self.timeout = float(timeout)
        self.q = np.full(n, nan)
        self.v = np.full(n, nan)
        self.effort = np.full(n, nan)
        self.counters = dict.fromkeys((outcome.value for outcome in UpdateOutcome), 0)
        self.counters['zero_stamp_replaced'] = 0
        self.counters['velocity_replaced'] = 0
        self._map = JointNameMap(self.joint_names, name_map, signs)
        self._continuous = np.array([name in continuous for name in self.joint_names], dtype=bool)
        self._has_continuous = bool(self._continuous.any())
        self._max_speed = None if max_speed is None else as_finite('max_speed', max_speed, (n,))
        self._plausible: Vector = (
            np.full(n, _ABSURD_SPEED) if self._max_speed is None else self._max_speed
        )
        self._time_constant = float(velocity_time_constant)
        self._refuse_zero_stamp = refuse_zero_stamp
        self._stamps = np.full(n, nan)
        self._shared_stamp: float | None = None
        self._received = np.full(n, -inf)

    def update(
        self,
        names: Sequence[str],
        stamp: float,
        position: Any,
        velocity: Any,
        effort: Any,
        now: float,
        zero_stamp: float | None = None,
    ) -> UpdateOutcome:
        """
        Take in one message.

        Parameters
        ----------
        names : sequence of str
            Joint names in the order of the arrays.
        stamp : float
            Time of the measurement from the header [s].
        position, velocity, effort : array_like of float
            Arrays of the message; velocity and effort may be empty.
        now : float
            Time of receipt on a steady clock [s].
        zero_stamp : float, optional
            What replaces a zero stamp: the time of receipt on the clock of the stamps [s], by
            default `now`.

        Returns
        -------
        outcome : UpdateOutcome
            Whether and why the message was taken or rejected. Nothing is raised on bad data.

        """
        if stamp == 0.0 and not self._refuse_zero_stamp:
            self.counters['zero_stamp_replaced'] += 1
            stamp = now if zero_stamp is None else zero_stamp
        outcome = self._take(self._map.layout(names), stamp, position, velocity, effort, now)
        self.counters[outcome.value] += 1
        return outcome

    def _take(
        self,
        layout: MessageLayout,
        stamp: float,
        position: Any,
        velocity: Any,
        effort: Any,
        now: float,
    ) -> UpdateOutcome:
        size = len(layout.names)
        n_velocity, n_effort = len(velocity), len(effort)
        if len(position) != size or n_velocity not in (0, size) or n_effort not in (0, size):
            return UpdateOutcome.ARRAY_LENGTH
        if layout.has_duplicates:
            return UpdateOutcome.DUPLICATE_NAME
        if not layout.source.size:
            return UpdateOutcome.NO_KNOWN_JOINT
        if not 0.0 <= stamp < inf:
            return UpdateOutcome.INVALID_STAMP
        if stamp == 0.0:
            return UpdateOutcome.ZERO_STAMP
        target = layout.target
        q = layout.picked(position)
        if not all(map(isfinite, q.tolist())):
            return UpdateOutcome.POSITION_NOT_FINITE

        outcome = UpdateOutcome.ACCEPTED
        last = self._shared_stamp
        if last is None:
            last = float(np.fmax.reduce(self._stamps[target]))  # NaN for the first message
        step = stamp - last
        if step <= 0.0:
            if step == 0.0:
                return UpdateOutcome.REPEATED_STAMP
            if step >= -self.timeout:
                return UpdateOutcome.BACKWARDS_STAMP
            outcome = UpdateOutcome.TIME_RESET
            self._stamps[target] = nan
            self._shared_stamp = None
            self.v[target] = nan
        if self._max_speed is not None and self._is_jump(q, stamp, target):
            return UpdateOutcome.POSITION_JUMP

        v = layout.picked(velocity) if n_velocity else None
        if v is None:
            v = self._estimated_velocity(q, stamp, target)
        else:
            unknown = ~(abs(v) <= self._plausible[target])  # NaN, too
            if any_true(unknown):
                self.counters['velocity_replaced'] += 1
                v = np.where(unknown, self._estimated_velocity(q, stamp, target), v)
        self.q[target] = q
        self.v[target] = v
        self.effort[target] = layout.picked(effort) if n_effort else nan
        self._stamps[target] = stamp
        self._shared_stamp = stamp if isinstance(target, slice) else None
        self._received[target] = now
        return outcome

    def _way(self, q: Vector, target: NDArray[np.intp] | slice) -> Vector:
        """Return the way from the last position, the short way round for continuous joints."""
        way: Vector = q - self.q[target]
        if self._has_continuous:
            turns = np.round(way / _TWO_PI)
            way -= np.where(self._continuous[target], _TWO_PI * turns, 0.0)
        return way

    def _is_jump(self, q: Vector, stamp: float, target: NDArray[np.intp] | slice) -> bool:
        time = stamp - self._stamps[target] + _STAMP_JITTER
        limit = self._max_speed
        return limit is not None and bool(np.any(abs(self._way(q, target)) > limit[target] * time))

    def _estimated_velocity(
        self, q: Vector, stamp: float, target: NDArray[np.intp] | slice
    ) -> Vector:
        """Return the velocity from the last position, NaN where that is missing or too old."""
        dt = stamp - self._stamps[target]
        dt = np.where(dt <= self.timeout, dt, nan)
        v: Vector = self._way(q, target) / dt
        # From two stamps that are too close together nothing is learnt.
        v = np.where(abs(v) > self._plausible[target], self.v[target], v)
        if self._time_constant > 0.0:
            last = self.v[target]
            filtered = last + (v - last) * (dt / (self._time_constant + dt))
            v = np.where(np.isfinite(last), filtered, v)
        return v

    @property
    def ignored_names(self) -> tuple[str, ...]:
        """Names in the messages that are not in the model, the first 32."""
        return tuple(self._map.ignored_names)

    @property
    def is_complete(self) -> bool:
        """Whether every joint has been heard of since the start or the last `clear`."""
        return self.age(0.0) < inf

    @property
    def has_velocity(self) -> bool:
        """Whether the velocity of every joint is known."""
        return isfinite(float(self.v.sum()))

    @property
    def has_effort(self) -> bool:
        """Whether the effort of every joint is known."""
        return isfinite(float(self.effort.sum()))

    @property
    def stamp(self) -> float:
        """Newest stamp among the joints [s], or NaN; the time of receipt if it was zero."""
        return float(np.fmax.reduce(self._stamps))

    def age(self, now: float) -> float:
        """Return the age of the joint that has been silent longest [s]; inf if one never spoke."""
        return now - float(self._received.min())

    def ages(self, now: float) -> Vector:
        """Return the time since each joint was heard of [s], shape (n,); inf if never."""
        return now - self._received

    def silent_joints(self, now: float, timeout: float) -> tuple[str, ...]:
        """Return the names of the joints that are older than `timeout` [s]."""
        return tuple(n for n, age in zip(self.joint_names, self.ages(now)) if not age <= timeout)

    def clear(self) -> None:
        """Forget the state, but not the counters."""
        for array in (self.q, self.v, self.effort, self._stamps):
            array.fill(nan)
        self._shared_stamp = None
        self._received.fill(-inf)
