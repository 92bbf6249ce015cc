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
"""How many steps of a simulation are due at a moment of real time."""

from __future__ import annotations

_LONGEST_BURST = 20
"""Steps that real time may be behind before it lets the rest go."""


class RealTimePace:
    """
    Count the steps that real time asks for.

    A simulation that cannot keep up does not hurry for ever: what it is late by beyond a short
    burst is let go, and counted.

    Parameters
    ----------
    period : float
        Simulated time of a step [s].
    factor : float
        Simulated over real time.

    Attributes
    ----------
    late_steps : int
        Steps that were let go.

    """

    def __init__(self, period: float, factor: float = 1.0) -> None:
        self.late_steps = 0
        self._rate = factor / period
        self._began = 0.0
        self._done = 0

    def start(self, now: float) -> None:
        """Begin to count at a time on a steady clock [s]."""
        self._began, self._done = now, 0

    def due(self, now: float) -> int:
        """Return the number of steps to make now, on a steady clock [s]; they count as made."""
        due = int((now - self._began) * self._rate) - self._done
        if due > _LONGEST_BURST:
            self.late_steps += due - 1
            self.start(now)
            return 1
        self._done += due
        return due
