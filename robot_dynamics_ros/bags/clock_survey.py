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
Survey the clocks of a log: which one to use, and which part of it.

The stamp in the header is when the sender measured; the log time is when the recorder got the
message and carries the jitter of the transport. So headers are used wherever they advance. Where
a clock was reset, the longest part without a reset is used.

"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.bags.joint_rows import JointRows

RESET_STEP = 1_000_000_000
"""A step back by more than this is a restarted clock, a smaller one a late message [ns]."""

STEPS_KEPT = 65536
"""Steps from which the median is taken; of longer logs every second, fourth, ... is kept."""


@dataclass(frozen=True)
class ClockPlan:
    """
    Which rows of a group to use, and by which clock.

    Attributes
    ----------
    uses_log_times : bool
        Whether headers are empty or do not advance.
    begin, end : int
        Range of the rows that are used, counted as they come; rows with an empty stamp in it are
        not used.
    keeps_zero : bool
        Whether a first stamp of 0 is the start of a clock, and not an empty field.
    median_step : float
        Usual step [ns]; 0 if there is none.
    counts : dict
        Samples left out, by reason.
    notes : list of str
        The same in sentences.

    """

    uses_log_times: bool
    begin: int
    end: int
    keeps_zero: bool
    median_step: float
    counts: dict[str, int]
    notes: list[str]

    def times(self, rows: JointRows) -> NDArray[np.int64]:
        """Return the times by the clock of this plan [ns]."""
        return rows.log_times if self.uses_log_times else rows.stamps


class ClockSurvey:
    """Watch the clocks of one group; `plan` then says what to use."""

    def __init__(self) -> None:
        self.rows = 0
        self._empty = 0
        self._changes = 0
        self._first: list[int] = []
        self._last_stamp: int | None = None
        self._header, self._log = _Runs(), _Runs()

    @property
    def has_stamps(self) -> bool:
        """Whether any header has a stamp."""
        return self._empty < self.rows

    def add(self, rows: JointRows) -> None:
        """Watch further rows."""
        stamps = rows.stamps
        if not len(stamps):
            return
        zero_is_time = rows.group.zero_is_time
        if not zero_is_time:
            self._first += [int(stamp) for stamp in stamps[: 2 - len(self._first)]]
        before = stamps[0] if self._last_stamp is None else self._last_stamp
        self._changes += int(np.count_nonzero(np.diff(stamps, prepend=before)))
        self._last_stamp = int(stamps[-1])
        stated = np.arange(len(stamps)) if zero_is_time else np.flatnonzero(stamps)
        self._empty += len(stamps) - len(stated)
        self._header.add(stamps[stated], self.rows + stated)
        self._log.add(rows.log_times, self.rows + np.arange(len(stamps)))
        self.rows += len(stamps)

    def plan(self, *, force_log_times: bool = False) -> ClockPlan:
        """
        Decide.

        Parameters
        ----------
        force_log_times : bool
            Use the recording times whatever the headers say.

        """
        distinct = self._changes + 1
        by_log = force_log_times or (self.rows > 1 and distinct <= self.rows / 2)
        runs = self._log if by_log else self._header
        step = runs.median_step
        keeps_zero = not by_log and self._begins_at_zero(step)
        run, resets = runs.longest(zero_first=keeps_zero), runs.resets
        empty = 0 if by_log else self._empty - keeps_zero
        lost = self.rows - empty - run.length
        counts: dict[str, int] = {}
        notes: list[str] = []
        if by_log and not force_log_times:
            notes.append(
                'header stamps are empty or do not advance: recording times are used instead'
            )
        if empty:
            counts['empty stamp'] = empty
            notes.append(f'{empty} samples with an empty stamp were left out')
        if resets:
            counts.update({'clock resets': resets, 'outside longest run': lost})
            notes.append(
                f'the clock jumped back {resets} times: the longest run is used, '
                f'{lost} samples are left out'
            )
        end = self.rows if run.end is None else run.end
        return ClockPlan(by_log, run.begin, end, keeps_zero, step, counts, notes)

    def _begins_at_zero(self, step: float) -> bool:
        if len(self._first) < 2 or self._first[0] != 0:
            return False
        return 0 < self._first[1] <= 10.0 * (step or self._first[1])


class _Run(NamedTuple):
    """Rows from `begin` to before `end` (None: to the last), of which `length` have a time."""

    begin: int
    length: int
    end: int | None


class _Runs:
    """Parts of a clock without a reset: the first and the longest, and a sample of its steps."""

    def __init__(self) -> None:
        self.resets = 0
        self._first: _Run | None = None
        self._longest = _Run(0, 0, None)
        self._open = _Run(0, 0, None)
        self._last: int | None = None
        self._steps = np.zeros(0, dtype=np.int64)
        self._every = 1
        self._seen = 0

    def add(self, times: NDArray[np.int64], rows: NDArray[np.intp]) -> None:
        if not len(times):
            return
        steps = np.diff(times, prepend=times[0] if self._last is None else self._last)
        self._last = int(times[-1])
        done = 0
        for reset in np.flatnonzero(steps < -RESET_STEP).tolist():
            self._extend(reset - done)
            self._close(int(rows[reset]))
            done = reset
        self._extend(len(times) - done)
        self._keep(steps[steps > 0])

    def longest(self, *, zero_first: bool) -> _Run:
        """Return the longest run; the first one has a row more if that is a stamp of zero."""
        last = self._open
        first = self._first or last
        if zero_first:
            first = first._replace(length=first.length + 1)
            last = first if self._first is None else last
        return max((first, self._longest, last), key=lambda run: run.length)

    @property
    def median_step(self) -> float:
        """Return the median of the positive steps [ns]."""
        return float(np.median(self._steps)) if len(self._steps) else 0.0

    def _extend(self, length: int) -> None:
        self._open = self._open._replace(length=self._open.length + length)

    def _close(self, end: int) -> None:
        run = self._open._replace(end=end)
        self._first = self._first or run
        self._longest = max(self._longest, run, key=lambda candidate: candidate.length)
        self._open = _Run(end, 0, None)
        self.resets += 1

    def _keep(self, steps: NDArray[np.int64]) -> None:
        start = -self._seen % self._every
        self._seen += len(steps)
        self._steps = np.concatenate([self._steps, steps[start :: self._every]])
        while len(self._steps) > STEPS_KEPT:
            self._steps = self._steps[::2]
            self._every *= 2
