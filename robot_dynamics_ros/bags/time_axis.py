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
A strictly increasing time axis from the stamps of a log.

The stamp in the header is when the sender measured; the log time is when the recorder got the
message and carries the jitter of the transport. So headers are used wherever they advance.

"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Vector

RESET_STEP = 1_000_000_000
"""A step back by more than this is a restarted clock, a smaller one a late message [ns]."""

GAP_STEPS = 3.0
"""A step of more than this many median steps is a gap."""


@dataclass(frozen=True)
class TimeAxis:
    """
    Which samples to use, and when they were measured.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        Indices of the samples, ordered by time.
    seconds : ndarray, shape (n,)
        Times since the first of them [s], strictly increasing.
    start : int
        Time of the first one [ns].
    counts : dict
        How many samples were left out or moved, by reason.
    notes : list of str
        The same in sentences.

    """

    rows: NDArray[np.intp]
    seconds: Vector
    start: int
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def clean_time_axis(stamps: NDArray[np.int64], log_times: NDArray[np.int64]) -> TimeAxis:
    """
    Order samples by their header stamps, leaving out those that have no time of their own.

    Parameters
    ----------
    stamps : ndarray of int64, shape (n,)
        Header stamps in recording order [ns]; 0 is empty unless the clock starts there.
    log_times : ndarray of int64, shape (n,)
        Recording times [ns]; used instead if most stamps are empty or do not advance.

    Returns
    -------
    axis : TimeAxis
        Strictly increasing times and what was done for that.

    """
    counts: dict[str, int] = {}
    notes: list[str] = []
    rows = np.arange(len(stamps))
    if len(stamps) > 1 and len(np.unique(stamps)) <= len(stamps) / 2:
        stamps = log_times
        notes.append('header stamps are empty or do not advance: recording times are used instead')
    else:
        empty = (stamps == 0) & ~_begins_at_zero(stamps)
        _count(
            counts,
            notes,
            'empty stamp',
            int(empty.sum()),
            'samples with an empty stamp were left out',
        )
        rows = rows[~empty]

    rows, resets = _longest_run(rows, stamps)
    lost = len(stamps) - counts.get('empty stamp', 0) - len(rows)
    if resets:
        counts.update({'clock resets': resets, 'outside longest run': lost})
        notes.append(
            f'the clock jumped back {resets} times: the longest run is used, '
            f'{lost} samples are left out'
        )
    times = stamps[rows]
    late = int(np.count_nonzero(np.diff(times) < 0))
    _count(counts, notes, 'out of order', late, 'samples came late and were put in order')
    rows = rows[np.argsort(times, kind='stable')]
    times = stamps[rows]
    fresh = np.concatenate([[True], np.diff(times) > 0]) if len(rows) else np.zeros(0, bool)
    repeated = int(np.count_nonzero(~fresh))
    _count(
        counts, notes, 'repeated stamp', repeated, 'samples with a repeated stamp were left out'
    )
    rows = rows[fresh]
    times = stamps[rows]
    start = int(times[0]) if len(times) else 0
    return TimeAxis(rows, (times - start) * 1e-9, start, counts, notes)


@dataclass(frozen=True)
class StepStatistics:
    """Gaps of a time axis: `counts` by kind, `notes` in sentences."""

    counts: dict[str, int]
    notes: list[str]


def step_statistics(seconds: Vector) -> StepStatistics:
    """
    Look for gaps.

    Parameters
    ----------
    seconds : ndarray, shape (n,)
        Strictly increasing times [s].

    """
    steps = np.diff(seconds)
    if not len(steps):
        return StepStatistics({}, [])
    median = float(np.median(steps))
    gaps = steps[steps > GAP_STEPS * median]
    if not len(gaps):
        return StepStatistics({}, [])
    note = (
        f'{len(gaps)} gaps, the longest of {gaps.max():.3g} s (median step {1e3 * median:.3g} ms)'
    )
    return StepStatistics({'gaps': len(gaps)}, [note])


def _begins_at_zero(stamps: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark a first stamp of 0 that is the start of a clock and not an empty field."""
    mask = np.zeros(len(stamps), dtype=bool)
    if len(stamps) > 1 and stamps[0] == 0:
        usual = float(np.median(np.abs(np.diff(stamps))))
        mask[0] = 0 < stamps[1] <= 10.0 * usual
    return mask


def _longest_run(
    rows: NDArray[np.intp], stamps: NDArray[np.int64]
) -> tuple[NDArray[np.intp], int]:
    """Return the longest part without a clock reset, and how many resets there are."""
    resets = np.flatnonzero(np.diff(stamps[rows]) < -RESET_STEP) + 1
    if not len(resets):
        return rows, 0
    return max(np.split(rows, resets), key=len), len(resets)


def _count(counts: dict[str, int], notes: list[str], reason: str, number: int, text: str) -> None:
    if number:
        counts[reason] = number
        notes.append(f'{number} {text}')
