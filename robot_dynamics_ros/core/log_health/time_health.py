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

"""Rate, jitter and gaps of a log, watched block by block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector

GAP_STEPS = 3.0
"""A step of more than this many usual steps is a gap."""

_KEPT = 65536


@dataclass(frozen=True)
class TimeHealth:
    """
    Time steps of a log.

    Attributes
    ----------
    samples : int
        How many there are.
    duration : float
        From the first to the last [s].
    step : float
        Median step [s].
    shortest_usual, longest_usual : float
        Between them lie 98 % of the steps [s].
    jitter : float
        Standard deviation of the steps that are no gaps [s].
    gaps : int
        Steps of more than `GAP_STEPS` median steps.
    longest : float
        Longest step [s].
    repeated_rows : int
        Samples whose positions and efforts all equal those before, while the robot moves.

    """

    samples: int
    duration: float
    step: float
    shortest_usual: float
    longest_usual: float
    jitter: float
    gaps: int
    longest: float
    repeated_rows: int

    @property
    def rate(self) -> float:
        """Return the usual sampling rate [Hz]."""
        return 1.0 / self.step if self.step else float('nan')


class TimeWatch:
    """Watch the times of a log, block by block."""

    def __init__(self) -> None:
        self._samples = 0
        self._first = self._last = 0.0
        self._steps: Vector = np.zeros(0)
        self._every = 1
        self._seen = 0
        self._usual = 0.0
        self._gaps = 0
        self._longest = 0.0
        self._repeated = 0
        self._row: Vector | None = None

    def add(self, stamps: Vector, position: Matrix, effort: Matrix | None) -> None:
        """Take further samples: times [s], and rows of positions and efforts, (n, nj) each."""
        if not len(stamps):
            return
        if not self._samples:
            self._first = self._last = float(stamps[0])
        steps = np.diff(stamps, prepend=self._last)[0 if self._samples else 1 :]
        self._samples += len(stamps)
        self._last = float(stamps[-1])
        self._keep(steps)
        if len(steps):
            self._usual = self._usual or float(np.median(steps))
            self._gaps += int(np.count_nonzero(steps > (GAP_STEPS + 1e-6) * self._usual))
            self._longest = max(self._longest, float(steps.max()))
        rows = position if effort is None else np.hstack([position, effort])
        if self._row is not None:
            rows = np.vstack([self._row, rows])
        equal = (rows[1:] == rows[:-1]).all(axis=1)
        # A row that repeats once amid motion; a robot at rest repeats on end.
        alone = equal & ~np.roll(equal, 1) & ~np.roll(equal, -1)
        self._repeated += int(np.count_nonzero(alone[1:-1]))
        self._row = rows[-1]

    @property
    def health(self) -> TimeHealth:
        """Return what was seen."""
        steps = self._steps
        if not len(steps):
            return TimeHealth(self._samples, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0.0, 0)
        step = float(np.median(steps))
        low, high = np.quantile(steps, [0.01, 0.99])
        usual = steps[steps <= GAP_STEPS * step]
        return TimeHealth(
            samples=self._samples,
            duration=self._last - self._first,
            step=step,
            shortest_usual=float(low),
            longest_usual=float(high),
            jitter=float(np.std(usual)),
            gaps=self._gaps,
            longest=self._longest,
            repeated_rows=self._repeated,
        )

    def _keep(self, steps: Vector) -> None:
        start = -self._seen % self._every
        self._seen += len(steps)
        self._steps = np.concatenate([self._steps, steps[start :: self._every]])
        while len(self._steps) > _KEPT:
            self._steps = self._steps[::2]
            self._every *= 2
