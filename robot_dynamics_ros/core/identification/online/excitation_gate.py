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
Which rows may be learnt from.

A row is a mean over the memory of its filter, so a joint's row counts only if the joint has moved
in one direction all that time: a joint that sticks bears any torque up to its static level, and
where it starts, stops or turns, no form of friction holds. Neither counts what was measured while
something touched the robot, or at the limit of an effort, where sensors and drives clip; nor
anything in a pause (`hold`) that somebody asks for.

Speeds are those of the quicker, first filter, so that they are known a little before the row
feels them.

"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow

SLOWEST = 0.03
"""Speed under which a joint counts as at rest by default [rad/s | m/s]."""

SATURATED = 0.98
"""Of the limit of an effort."""


class RowState(IntEnum):
    """Why a joint's row counts or not."""

    USED = 0
    SLOW = 1
    TURNING = 2
    SATURATED = 3
    CONTACT = 4
    HELD = 5


@dataclass(frozen=True, eq=False)
class RowUse:
    """
    What may be done with a row.

    Attributes
    ----------
    use : ndarray of bool, shape (nv,)
        Which joints' equations may be learnt from.
    states : ndarray of int, shape (nv,)
        The `RowState` of each.

    """

    use: NDArray[np.bool_]
    states: NDArray[np.intp]

    @property
    def is_frozen(self) -> bool:
        """Whether nothing may be learnt."""
        return not self.use.any()


@dataclass
class _Marks:
    """When a joint did last what rows feel for some time."""

    direction: float = 0.0
    turned_at: float = -np.inf
    clipped_at: float = -np.inf


class ExcitationGate:
    """
    Decides for each row and joint.

    Parameters
    ----------
    effort_limit : ndarray, shape (nv,)
        Limits of the efforts [N m | N]; nan or inf where there is none.
    memory : float
        How long a row feels what was before [s], see `OnlineRows`.
    slowest : float
        Slower joints are at rest [rad/s | m/s]; 0 lets all rows of moving joints pass.

    Raises
    ------
    ConfigurationError
        If the memory or the speed is negative or not finite.

    """

    def __init__(self, effort_limit: Vector, memory: float, slowest: float = SLOWEST) -> None:
        if not (0.0 <= memory < np.inf and 0.0 <= slowest < np.inf):
            raise ConfigurationError(
                f'memory of rows is {memory} s and the slowest speed {slowest}: expected finite '
                'values, not negative'
            )
        limit = np.asarray(effort_limit, dtype=np.float64)
        self._limit = np.where(np.isfinite(limit), SATURATED * limit, np.inf).tolist()
        self._memory = memory
        self._slowest = slowest
        self._marks = [_Marks() for _ in limit]
        self._touched_at = -np.inf

    def step(self, row: OnlineRow, *, in_contact: bool = False, hold: bool = False) -> RowUse:
        """
        Decide on a row.

        Parameters
        ----------
        row : OnlineRow
            The row; every one has to come here.
        in_contact : bool
            Whether something touched the robot since the row before.
        hold : bool
            Whether nothing may be learnt now.

        """
        if in_contact:
            self._touched_at = row.stamp
        recent = row.stamp - self._memory
        v, tau = row.state.v.tolist(), row.state.tau.tolist()
        found = [
            self._look(marks, speed, abs(effort) >= limit, row.stamp)
            for marks, speed, effort, limit in zip(self._marks, v, tau, self._limit)
        ]
        if self._touched_at > recent:
            found = [RowState.CONTACT] * len(found)
        if hold:
            found = [RowState.HELD] * len(found)
        states = np.array(found, dtype=np.intp)
        return RowUse(states == RowState.USED, states)

    def _look(self, marks: _Marks, v: float, is_clipped: bool, stamp: float) -> RowState:
        """Judge a joint, and remember when it turned, rested or reached its limit of effort."""
        recent = stamp - self._memory
        is_slow = abs(v) < self._slowest
        if self._slowest > 0.0:
            direction = 0.0 if is_slow else 1.0 if v > 0.0 else -1.0
            if direction != marks.direction or is_slow:
                marks.turned_at = stamp
            marks.direction = direction
        if is_clipped:
            marks.clipped_at = stamp
        if marks.clipped_at > recent:
            return RowState.SATURATED
        if is_slow:
            return RowState.SLOW
        return RowState.TURNING if marks.turned_at > recent else RowState.USED
