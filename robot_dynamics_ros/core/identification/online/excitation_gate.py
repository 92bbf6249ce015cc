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
        self._limit = np.where(np.isfinite(limit), SATURATED * limit, np.inf)
        self._memory = memory
        self._slowest = slowest
        nv = len(limit)
        self._direction = np.zeros(nv)
        self._turned_at = np.full(nv, -np.inf)
        self._clipped_at = np.full(nv, -np.inf)
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
        v, stamp = row.state.v, row.stamp
        self._see(v, row.state.tau, stamp)
        if in_contact:
            self._touched_at = stamp
        recent = stamp - self._memory
        states = np.where(self._turned_at > recent, int(RowState.TURNING), int(RowState.USED))
        if self._slowest > 0.0:
            states[np.abs(v) < self._slowest] = RowState.SLOW
        states[self._clipped_at > recent] = RowState.SATURATED
        if self._touched_at > recent:
            states[:] = RowState.CONTACT
        if hold:
            states[:] = RowState.HELD
        return RowUse(states == RowState.USED, states.astype(np.intp))

    def _see(self, v: Vector, tau: Vector, stamp: float) -> None:
        """Remember when joints turned, rested or reached the limit of their effort."""
        if self._slowest > 0.0:
            direction = np.where(np.abs(v) < self._slowest, 0.0, np.sign(v))
            self._turned_at[(direction != self._direction) | (direction == 0.0)] = stamp
            self._direction = direction
        self._clipped_at[np.abs(tau) >= self._limit] = stamp
