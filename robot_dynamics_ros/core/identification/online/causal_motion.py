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
Positions, velocities, accelerations and efforts of a moving robot, filtered alike as they come.

Positions and efforts go through one bank of equal low-pass filters (`MatchedFilter`), which also
gives the derivatives of the positions: all of them have the same delay, and no measured velocity,
whose own filter is unknown, is needed. Efforts that are stamped too late by :math:`d` belong to
the motion that much before, for which the filtered motion is taken back by its Taylor series,

.. math:: q(t - d) \approx q - d\,\dot q + \tfrac12 d^2 \ddot q, \quad
          \dot q(t - d) \approx \dot q - d\,\ddot q + \tfrac12 d^2 \dddot q, \quad
          \ddot q(t - d) \approx \ddot q - d\,\dddot q

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.core.model.robot_model import require_single_joints, RobotModel
from robot_dynamics_ros.core.signals.matched_filter import MatchedFilter

ORDER = 4
"""One more than acceleration and its change for delayed efforts ask for."""

AVERAGED = 0.05
"""Part that each step has in the mean of the last ones."""

LONGEST_COUNTED = 1.0
"""A longer step is a pause, not a rate [s]."""

TURN = 2.0 * np.pi


@dataclass(frozen=True, eq=False)
class CausalState:
    """
    A filtered sample.

    Attributes
    ----------
    stamp : float
        Of the sample that came last [s]; what is here belongs to `CausalMotion.delay` before.
    step : float
        Time since the sample before [s].
    q, v, a : ndarray, shape (nv,)
        Motion [rad | m, ... per s, ... per s^2].
    tau : ndarray, shape (nv,)
        Efforts [N m | N].
    is_settled : bool
        False for some time after a start or a gap: the filter still feels it.

    """

    stamp: float
    step: float
    q: Vector
    v: Vector
    a: Vector
    tau: Vector
    is_settled: bool


class CausalMotion:
    """
    The filters of a robot's joints.

    Parameters
    ----------
    robot : RobotModel
        With joints of one coordinate.
    cutoff : float
        Of all signals [Hz].
    effort_delay : float
        Efforts are stamped so much later than the motion that they belong to [s].
    longest_step : float, optional
        A longer step between stamps is a gap, after which the filters begin anew [s]; a quarter
        of a period of the cutoff by default, which a straight line still bridges well.

    Attributes
    ----------
    delay : float
        Of everything that comes out, against the stamps [s]; that of the filter.
    began : float
        Stamp of the first sample, or of the first one after the last gap [s].
    refused : int
        Samples whose stamp was not later than that of the sample before.
    gaps : int
        Times that the filters had to begin anew.
    period : float
        Mean step between the last stamps [s]; 0 before there are two.

    Raises
    ------
    ModelError
        If a joint has several coordinates.
    ConfigurationError
        If the cutoff is not positive and finite.

    """

    def __init__(
        self,
        robot: RobotModel,
        cutoff: float,
        effort_delay: float = 0.0,
        longest_step: float | None = None,
    ) -> None:
        require_single_joints(robot, 'online identification')
        nv = robot.nv
        self._filter = MatchedFilter(cutoff, 2 * nv, ORDER, 3)
        self._turning = np.array(_continuous(robot), dtype=bool)
        self._has_turning = bool(self._turning.any())
        self._effort_delay = effort_delay
        self._longest_step = longest_step or 0.25 / cutoff
        self._signals = np.zeros(2 * nv)
        self._nv = nv
        self._last: float | None = None
        self._since = 0.0
        self._filtered = np.zeros((4, 2 * nv))
        self.began = -np.inf
        self.delay = self._filter.delay
        self.refused = 0
        self.gaps = 0
        self.period = 0.0

    def step(self, stamp: float, q: Vector, tau: Vector) -> CausalState | None:
        """
        Take in a sample.

        Parameters
        ----------
        stamp : float
            When it was measured [s].
        q, tau : ndarray, shape (nv,)
            Positions and efforts; finite, this is not checked.

        Returns
        -------
        state : CausalState or None
            None for the first sample, after a gap, and if the stamp is not a later one.

        """
        return self.state if self.advance(stamp, q, tau) else None

    def advance(self, stamp: float, q: Vector, tau: Vector) -> bool:
        """Take in a sample as `step` does; return whether there is a state."""
        if self._last is not None and stamp > self._last:
            share = AVERAGED if self.period else 1.0
            self.period += share * (min(stamp - self._last, LONGEST_COUNTED) - self.period)
        if self._last is None or stamp - self._last > self._longest_step:
            self.gaps += self._last is not None
            self.restart(stamp, q, tau)
            return False
        h = stamp - self._last
        if h <= 0.0:
            self.refused += 1
            return False
        self._last, self._since = stamp, h
        self._take_in(q, tau)
        self._filtered = self._filter.step(h, self._signals)
        return True

    @property
    def is_settled(self) -> bool:
        """Whether the filter feels neither start nor gap any more."""
        return self._last is not None and self._last - self.began >= self._filter.settling_time

    @property
    def slowness(self) -> str:
        """Return a sentence if samples come too slowly for the cutoff; empty if they do not."""
        if self.period <= self._longest_step:
            return ''
        rate, needed = 1.0 / self.period, 1.0 / self._longest_step
        return (
            f'joint states come at {rate:.3g} Hz, and the filters need {needed:.3g} Hz: '
            f'lower cutoff to {rate / needed:.2g} of what it is, or publish them faster'
        )

    @property
    def state(self) -> CausalState:
        """Return the state after the last sample."""
        nv, d = self._nv, self._effort_delay
        q, v, a, jerk = self._filtered[:, :nv].copy()
        if d != 0.0:
            q += d * (0.5 * d * a - v)
            v += d * (0.5 * d * jerk - a)
            a -= d * jerk
        tau = self._filtered[0, nv:].copy()
        stamp = self.began if self._last is None else self._last
        return CausalState(stamp, self._since, q, v, a, tau, self.is_settled)

    def restart(self, stamp: float, q: Vector, tau: Vector) -> None:
        """Begin anew at a sample, as if the robot had rested there."""
        self._signals[: self._nv] = q
        self._signals[self._nv :] = tau
        self._filter.reset(self._signals)
        self._last = self.began = stamp

    def _take_in(self, q: Vector, tau: Vector) -> None:
        """Put a sample into the signals; angles that turn for ever go on where they were."""
        if self._has_turning:
            before = self._signals[: self._nv]
            q = q + TURN * np.where(self._turning, np.round((before - q) / TURN), 0.0)
        self._signals[: self._nv] = q
        self._signals[self._nv :] = tau


def _continuous(robot: RobotModel) -> Sequence[bool]:
    turning = {
        joint.v_index
        for joint in robot.joints
        if joint.type is JointType.CONTINUOUS and joint.mimic is None
    }
    return [j in turning for j in range(robot.nv)]
