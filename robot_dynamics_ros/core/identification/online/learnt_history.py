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
What was learnt when, to go back to when it turns out to have been learnt from something wrong.

States of the estimators are kept, one a second of learning, with the motion of each joint up to
then. They thin out with their age, so that there are a few tens of them after days, and always one
that is old enough: a joint that moves once an hour may be found out a day later.

"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Vector

PERIOD = 1.0
"""From one state to the next [s]."""

THINNED = 0.2
"""States are no closer to each other than this part of their age."""


@dataclass(frozen=True, eq=False)
class LearntState:
    """
    What was known at some time.

    Attributes
    ----------
    clock : float
        Time for which rows had come [s].
    moved : ndarray, shape (nv,)
        Motion of each joint up to then [s].
    learnt : int
        How often something had been learnt.
    arrays : mapping of str to ndarray
        The state.

    """

    clock: float
    moved: Vector
    learnt: int
    arrays: Mapping[str, NDArray[Any]]


class LearntHistory:
    """
    States of the past.

    Parameters
    ----------
    state : callable
        Returns the present state as arrays.
    nv : int
        Joints.

    Attributes
    ----------
    clock : float
        Time for which rows came [s]; whoever takes them in counts it.

    """

    def __init__(self, state: Callable[[], Mapping[str, NDArray[Any]]], nv: int) -> None:
        self._state = state
        self.clock = 0.0
        self._kept = [LearntState(0.0, np.zeros(nv), 0, state())]

    def __len__(self) -> int:
        """Return how many states are kept."""
        return len(self._kept)

    def keep(self, moved: Vector, learnt: int) -> None:
        """
        Keep what is known now, if it is time and something was learnt.

        Parameters
        ----------
        moved : ndarray, shape (nv,)
            Motion of each joint [s].
        learnt : int
            How often something was learnt up to now.

        """
        last = self._kept[-1]
        if learnt != last.learnt and self.clock - last.clock >= PERIOD:
            self._kept.append(LearntState(self.clock, np.array(moved), learnt, self._state()))
            self._thin()

    def before(self, moved: Vector, joints: NDArray[np.bool_], span: float) -> LearntState:
        """
        Return the newest state since which each of some joints has moved for some time.

        Where there is none it is the first of all.

        Parameters
        ----------
        moved : ndarray, shape (nv,)
            Motion of each joint up to now [s].
        joints : ndarray of bool, shape (nv,)
            Which joints.
        span : float
            How long they must have moved since [s].

        """
        for kept in reversed(self._kept):
            if (moved - kept.moved)[joints].min(initial=np.inf) >= span:
                return kept
        return self._kept[0]

    def go_back(self, to: LearntState, learnt: int) -> None:
        """Hear that one of the states is again the present one; those after it are forgotten."""
        self._kept[self._kept.index(to) :] = [replace(to, learnt=learnt)]

    def restart(self, moved: Vector) -> None:
        """Hear that motion is counted anew, when it was so much [s]."""
        self._kept = [
            LearntState(k.clock, k.moved - moved, k.learnt, k.arrays) for k in self._kept
        ]

    def _thin(self) -> None:
        """Drop states whose neighbours are close to each other for their age."""
        kept, i = self._kept, len(self._kept) - 2
        while i > 0:
            if kept[i + 1].clock - kept[i - 1].clock < THINNED * (self.clock - kept[i].clock):
                del kept[i]
            i -= 1
