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
Which commands a relay passes on, and when it falls silent.

A command is passed on as a whole or not at all: one of another length, or with a number that is
not finite, is refused and does not count as a sign of life. What stands behind the relay (a force
in Gazebo, say) keeps the last command for ever; so when no good command has come for longer than
the timeout, the relay gives zeros instead, until one comes again.

"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite

import numpy as np

from robot_dynamics_ros.core.arrays import Vector


class CommandRelay:
    """
    Pass on good commands, and zeros when they stop.

    Parameters
    ----------
    size : int
        Number of joints.
    timeout : float
        Age of the last good command beyond which there are zeros, on the steady clock [s].

    Attributes
    ----------
    counts : dict of str to int
        How many commands were passed on or refused, by reason.

    """

    def __init__(self, size: int, timeout: float) -> None:
        self.counts = {'passed on': 0, 'wrong length': 0, 'not finite': 0}
        self._size = size
        self._timeout = timeout
        self._taken = -inf
        self._has_commanded = False

    def take(self, values: Sequence[float], now: float) -> bool:
        """
        Judge a command.

        Parameters
        ----------
        values : sequence of float, one for each joint
            The command [N m | N].
        now : float
            Time on the steady clock [s].

        Returns
        -------
        is_good : bool
            Whether it is to be passed on.

        """
        if len(values) != self._size:
            self.counts['wrong length'] += 1
            return False
        if not all(isfinite(value) for value in values):
            self.counts['not finite'] += 1
            return False
        self.counts['passed on'] += 1
        self._taken = now
        self._has_commanded = True
        return True

    def is_silent(self, now: float) -> bool:
        """Whether the last good command is older than the timeout, or there was none."""
        return now - self._taken > self._timeout

    def replacement(self, now: float) -> Vector | None:
        """
        Return what to send without a command.

        Parameters
        ----------
        now : float
            Time on the steady clock [s].

        Returns
        -------
        values : ndarray, shape (size,), or None
            Zeros [N m | N] in silence after a command; None while commands come, and before the
            first one, when there is no force to take back.

        """
        return np.zeros(self._size) if self._has_commanded and self.is_silent(now) else None
