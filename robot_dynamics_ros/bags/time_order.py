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
A strictly increasing time axis from the stamps of a log, in bounded memory.

Samples are put in order while the last second is held back: within a run of the clock no stamp is
further than that behind the one before it.

"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.bags.clock_survey import ClockPlan, RESET_STEP
from robot_dynamics_ros.bags.joint_rows import JointRows
from robot_dynamics_ros.core.arrays import Vector

GAP_STEPS = 3.0
"""A step of more than this many median steps is a gap."""

MOST_HELD = 262144
"""Samples that are held back at most while late ones are awaited."""


class TimeOrder:
    """
    Put the rows of a group in strictly increasing order, by the clock of a plan.

    Parameters
    ----------
    plan : ClockPlan
        What the survey found.

    """

    def __init__(self, plan: ClockPlan) -> None:
        self._plan = plan
        self._row = 0
        self._held: list[JointRows] = []
        self._recorded: int | None = None
        self._passed: int | None = None
        self._late = self._repeated = self._too_late = 0

    def add(self, rows: JointRows, *, is_last: bool = False) -> JointRows:
        """Take rows as they come; return those whose order is certain."""
        rows = self._usable(rows)
        times = self._plan.times(rows)
        if len(rows):
            before = times[0] if self._recorded is None else self._recorded
            self._late += int(np.count_nonzero(np.diff(times, prepend=before) < 0))
            self._recorded = int(times[-1])
        rows = JointRows.joined([*self._held, rows])
        times = self._plan.times(rows)
        if not len(rows):
            return rows
        order = np.argsort(times, kind='stable')
        rows, times = rows.picked(order), times[order]
        ready = len(rows)
        if not is_last:
            ready = int(np.searchsorted(times, times[-1] - RESET_STEP, side='right'))
            ready = max(ready, len(rows) - MOST_HELD)
        self._held = [rows.picked(slice(ready, None))]
        return self._fresh(rows.picked(slice(ready)), times[:ready])

    @property
    def counts(self) -> dict[str, int]:
        """Return how many samples came late or had no time of their own, by kind."""
        kinds = {
            'out of order': self._late,
            'too late': self._too_late,
            'repeated stamp': self._repeated,
        }
        return {kind: number for kind, number in kinds.items() if number}

    @property
    def notes(self) -> list[str]:
        """Return the same in sentences."""
        texts = {
            'out of order': 'samples came late and were put in order',
            'too late': 'samples came more than a second late and were left out',
            'repeated stamp': 'samples with a repeated stamp were left out',
        }
        return [f'{number} {texts[kind]}' for kind, number in self.counts.items()]

    def _usable(self, rows: JointRows) -> JointRows:
        index = self._row + np.arange(len(rows))
        self._row += len(rows)
        use = (index >= self._plan.begin) & (index < self._plan.end)
        if not self._plan.uses_log_times and not rows.group.zero_is_time:
            use &= (rows.stamps != 0) | ((index == 0) & self._plan.keeps_zero)
        return rows if use.all() else rows.picked(np.flatnonzero(use))

    def _fresh(self, rows: JointRows, times: NDArray[np.int64]) -> JointRows:
        if not len(rows):
            return rows
        passed = times[0] - 1 if self._passed is None else self._passed
        before = np.maximum(np.concatenate([[passed], times[:-1]]), passed)
        fresh, too_late = times > before, times < passed
        self._too_late += int(np.count_nonzero(too_late))
        self._repeated += int(np.count_nonzero(~fresh & ~too_late))
        self._passed = max(int(times[-1]), int(passed))
        return rows if fresh.all() else rows.picked(np.flatnonzero(fresh))


class GapCount:
    """Count the gaps of a time axis that comes in pieces; `usual` is its median step [s]."""

    def __init__(self, usual: float) -> None:
        self._usual = usual
        self._last: float | None = None
        self._longest = 0.0
        self._gaps = 0

    def add(self, seconds: Vector) -> None:
        """Take further times [s]."""
        if not len(seconds):
            return
        steps = np.diff(seconds, prepend=seconds[0] if self._last is None else self._last)
        self._last = float(seconds[-1])
        self._longest = max(self._longest, float(steps.max()))
        self._gaps += int(np.count_nonzero(steps > (GAP_STEPS + 1e-6) * self._usual))

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of gaps, if there are any."""
        return {'gaps': self._gaps} if self._gaps else {}

    @property
    def notes(self) -> list[str]:
        """Return the same in a sentence."""
        if not self._gaps:
            return []
        step = 1e3 * self._usual
        return [
            f'{self._gaps} gaps, the longest of {self._longest:.3g} s (median step {step:.3g} ms)'
        ]
