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
Resets of time, and two clocks that are taken for them.

When a simulation or a bag begins again, stamps go back once, and whatever filters must begin anew.
Two publishers with different clocks look like a reset with every other message. Then there is
nothing to begin with: messages wait until stamps have gone forward for some time.

"""

from __future__ import annotations

from math import inf, nan

CALM = 1.0
"""Time without another reset after which the stamps are of one clock again [s]."""


class StampResets:
    """
    Watch how often stamps go back.

    Attributes
    ----------
    stamps : tuple of float
        Newest stamp before the last reset, and the one that came with it [s]; NaN before any.

    """

    def __init__(self) -> None:
        self.stamps = (nan, nan)
        self._last = -inf
        self._are_mixed = False
        self._is_due = False

    def note(self, before: float, after: float, now: float) -> None:
        """
        Note a reset.

        Parameters
        ----------
        before, after : float
            Newest stamp before it, and that which is older [s].
        now : float
            On a steady clock [s].

        """
        self._are_mixed = now - self._last < CALM
        self._last, self._is_due = now, True
        self.stamps = before, after

    def are_mixed(self, now: float) -> bool:
        """Return whether stamps of two clocks take turns, so that no message is of use."""
        self._are_mixed = self._are_mixed and now - self._last < CALM
        return self._are_mixed

    def take(self) -> bool:
        """Return whether filters have to begin anew; once for all resets since the last call."""
        is_due, self._is_due = self._is_due, False
        return is_due

    def sentence(self, now: float) -> str:
        """Return what is wrong, with both stamps; empty if nothing is."""
        if not self.are_mixed(now):
            return ''
        before, after = self.stamps
        return f'stamps of two clocks take turns: {before:.3f} s and {after:.3f} s'
