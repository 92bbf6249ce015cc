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
The time axis of a recorded signal: its parts without a long gap, and an even grid over each.

A filter needs even steps. Each part gets its own grid, from its first to its last stamp with about
its median step. A window is a piece of an axis; signals over a window are brought to the same grid
as those over the whole, so that what a filter makes of them is the same, too.

"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.arrays import Vector

GAP_STEPS = 5.0
"""A step of more median steps, and of more than half a period of the cutoff, splits the signal."""

SHORTEST_PART = 8
"""Parts with fewer samples cannot be filtered."""

_CHUNK = 65536
"""Samples that are compared with a grid at a time."""


@dataclass(frozen=True)
class AxisPart:
    """
    A part of an axis without a long gap, and its even grid.

    Attributes
    ----------
    begin, end : int
        Indices of its first sample, and of the first one after it.
    start, stop : float
        First and last time [s].
    count : int
        Points of the grid.
    is_even : bool
        Whether the samples lie on the grid.

    """

    begin: int
    end: int
    start: float
    stop: float
    count: int
    is_even: bool

    @property
    def step(self) -> float:
        """Return the step of the grid [s]."""
        return (self.stop - self.start) / (self.count - 1)

    def grid(self, first: int, last: int) -> Vector:
        """Return the points of the grid from `first` to `last`, both included."""
        points: Vector = self.start + np.arange(first, last + 1, dtype=np.float64) * self.step
        if last == self.count - 1:
            points[-1] = self.stop
        return points


class TimeAxis:
    """
    A time axis; what is found out about it is remembered.

    Parameters
    ----------
    stamps : ndarray, shape (n,)
        Strictly increasing times [s].

    """

    def __init__(self, stamps: Vector) -> None:
        self.stamps = stamps
        steps = np.diff(stamps)
        self.median_step = float(np.median(steps)) if len(steps) else 0.0
        self._parts: dict[float | None, tuple[AxisPart, ...]] = {}

    def parts(self, cutoff: float | None) -> tuple[AxisPart, ...]:
        """Return the parts that a filter of this cutoff can filter, in order."""
        if cutoff not in self._parts:
            slices = split_at_gaps(self.stamps, cutoff)
            self._parts[cutoff] = tuple(
                _part(self.stamps, piece.start, piece.stop)
                for piece in slices
                if piece.stop - piece.start >= SHORTEST_PART
            )
        return self._parts[cutoff]


@dataclass(frozen=True, eq=False)
class TimeWindow:
    """
    Samples of an axis that follow one another.

    Attributes
    ----------
    axis : TimeAxis
    begin, end : int
        Indices of the first sample, and of the first one after the window.

    """

    axis: TimeAxis
    begin: int
    end: int

    @staticmethod
    def whole(stamps: Vector) -> TimeWindow:
        """Return all of an axis."""
        return TimeWindow(TimeAxis(stamps), 0, len(stamps))

    @property
    def stamps(self) -> Vector:
        """Return the times [s]."""
        return self.axis.stamps[self.begin : self.end]

    def parts(self, cutoff: float | None) -> Iterator[tuple[AxisPart, slice]]:
        """
        Yield the parts of the axis that reach into the window.

        Yields
        ------
        part : AxisPart
            All of it.
        inside : slice
            Which samples of the window belong to it.

        """
        for part in self.axis.parts(cutoff):
            begin, end = max(part.begin, self.begin), min(part.end, self.end)
            if begin < end:
                yield part, slice(begin - self.begin, end - self.begin)


def split_at_gaps(stamps: Vector, cutoff: float | None) -> Iterator[slice]:
    """
    Split at steps that a filter of this cutoff must not bridge.

    Yields
    ------
    part : slice
        Indices of one part without a long gap.

    """
    steps = np.diff(stamps)
    if not len(steps):
        yield slice(0, len(stamps))
        return
    longest = GAP_STEPS * float(np.median(steps))
    if cutoff is not None:
        longest = max(longest, 0.5 / cutoff)
    borders = [0, *(np.flatnonzero(steps > longest) + 1), len(stamps)]
    for begin, end in zip(borders, borders[1:]):
        yield slice(int(begin), int(end))


def even_grid(times: Vector) -> Vector:
    """Return an even grid from the first to the last time, with about the median step."""
    part = _part(times, 0, len(times))
    return part.grid(0, part.count - 1)


def _part(stamps: Vector, begin: int, end: int) -> AxisPart:
    times = stamps[begin:end]
    start, stop = float(times[0]), float(times[-1])
    usual = float(np.median(np.diff(times)))
    count = max(SHORTEST_PART, int(np.ceil((stop - start) / usual - 1e-6)) + 1)
    part = AxisPart(begin, end, start, stop, count, False)
    if count != len(times):
        return part
    for first in range(0, count, _CHUNK):
        last = min(first + _CHUNK, count) - 1
        if np.abs(times[first : last + 1] - part.grid(first, last)).max() >= 1e-3 * part.step:
            return part
    return AxisPart(begin, end, start, stop, count, True)
