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
What each joint of a log does, and whether its channels are alive; without a model.

Blocks are taken one after the other, so a log of any length can be watched. A joint moves if its
positions span more than `LEAST_RANGE`. An effort is missing, zero or constant by its extremes; it
is frozen where it stands still for `FROZEN_TIME` while its joint travels `FROZEN_TRAVEL`, which a
driver does that stopped reading it.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.signals.spikes import find_spikes

LEAST_RANGE = 0.01
"""Positions that span less are those of a joint that stands still [rad | m]."""

FROZEN_TIME = 0.5
"""An effort that repeats for this long while its joint moves is frozen [s]."""

FROZEN_SAMPLES = 10
"""And for at least so many samples."""

FROZEN_TRAVEL = 0.05
"""How far the joint must have moved meanwhile [rad | m]."""

_LEAST_STEPS = 50


@dataclass(frozen=True)
class ChannelHealth:
    """
    One joint of a log.

    Attributes
    ----------
    joint : str
        Its name.
    lowest, highest : float
        Extremes of the position [rad | m]; NaN without one.
    rms_velocity : float
        From the recorded velocity, or from positions without one [rad/s | m/s].
    moves : bool
        Whether the positions span more than `LEAST_RANGE`.
    effort_state : str
        ``'missing'``, ``'zero'``, ``'constant'``, ``'frozen'`` (for a part of the time) or
        ``'alive'``.
    effort_missing : float
        Share of the samples without a finite effort.
    frozen_time : float
        Time for which the effort stood still while the joint moved [s].
    lowest_effort, highest_effort : float
        Extremes [N m | N, or A]; NaN without any.
    position_step, effort_step : float or None
        Quantum of the values, if they have one that shows.
    position_spikes, effort_spikes : int
        Samples that stand alone, see `find_spikes`.

    """

    joint: str
    lowest: float
    highest: float
    rms_velocity: float
    moves: bool
    effort_state: str
    effort_missing: float
    frozen_time: float
    lowest_effort: float
    highest_effort: float
    position_step: float | None
    effort_step: float | None
    position_spikes: int
    effort_spikes: int


class ChannelWatch:
    """
    Watch the joints of a log, block by block.

    Parameters
    ----------
    joint_names : tuple of str
        Columns.

    """

    def __init__(self, joint_names: tuple[str, ...]) -> None:
        self._names = joint_names
        n = len(joint_names)
        self._samples = 0
        self._position = _Extremes(n)
        self._effort = _Extremes(n)
        self._square: Vector = np.zeros(n)
        self._time = 0.0
        self._frozen: Vector = np.zeros(n)
        self._spikes: NDArray[np.int64] = np.zeros((2, n), dtype=np.int64)
        self._steps: tuple[list[float | None], list[float | None]] | None = None

    def add(
        self, stamps: Vector, position: Matrix, velocity: Matrix | None, effort: Matrix | None
    ) -> None:
        """
        Take further samples.

        Parameters
        ----------
        stamps : ndarray, shape (n,)
            Times [s].
        position, velocity, effort : ndarray, shape (n, nj), or None
            [rad | m], [rad/s | m/s], [N m | N, or A]; NaN where missing.

        """
        if len(stamps) < 2:
            return
        self._samples += len(stamps)
        self._position.add(position)
        self._spikes[0] += np.count_nonzero(find_spikes(position), axis=0)
        steps = np.diff(stamps)
        speed = np.diff(position, axis=0) / steps[:, None] if velocity is None else velocity[1:]
        self._square += np.nansum(speed**2 * steps[:, None], axis=0)
        self._time += float(steps.sum())
        if effort is not None:
            self._effort.add(effort)
            self._spikes[1] += np.count_nonzero(find_spikes(effort), axis=0)
            for joint in range(len(self._names)):
                self._frozen[joint] += _frozen_time(stamps, position[:, joint], effort[:, joint])
        if self._steps is None:
            missing = np.full(position.shape, np.nan)
            columns = (position, missing if effort is None else effort)
            first, second = ([quantum(column) for column in field.T] for field in columns)
            self._steps = first, second

    @property
    def joints(self) -> tuple[ChannelHealth, ...]:
        """Return what was seen of each joint."""
        return tuple(self._joint(index) for index in range(len(self._names)))

    def _joint(self, index: int) -> ChannelHealth:
        lowest, highest = self._position.lowest[index], self._position.highest[index]
        effort = self._effort
        positions, efforts = self._steps or ([None] * len(self._names),) * 2
        missing = 1.0 - effort.count[index] / self._samples if self._samples else 1.0
        return ChannelHealth(
            joint=self._names[index],
            lowest=float(lowest),
            highest=float(highest),
            rms_velocity=float(np.sqrt(self._square[index] / self._time)) if self._time else 0.0,
            moves=bool(highest - lowest > LEAST_RANGE),
            effort_state=self._effort_state(index),
            effort_missing=float(missing),
            frozen_time=float(self._frozen[index]),
            lowest_effort=float(effort.lowest[index]),
            highest_effort=float(effort.highest[index]),
            position_step=positions[index],
            effort_step=efforts[index],
            position_spikes=int(self._spikes[0, index]),
            effort_spikes=int(self._spikes[1, index]),
        )

    def _effort_state(self, index: int) -> str:
        lowest, highest = self._effort.lowest[index], self._effort.highest[index]
        if not self._effort.count[index]:
            return 'missing'
        if lowest == highest:
            return 'zero' if lowest == 0.0 else 'constant'
        return 'frozen' if self._frozen[index] > 0.0 else 'alive'


class _Extremes:
    """Lowest and highest finite value of each column, and how many there are."""

    def __init__(self, n: int) -> None:
        self.lowest: Vector = np.full(n, np.nan)
        self.highest: Vector = np.full(n, np.nan)
        self.count: NDArray[np.int64] = np.zeros(n, dtype=np.int64)

    def add(self, values: Matrix) -> None:
        finite = np.isfinite(values)
        self.count += np.count_nonzero(finite, axis=0)
        lowest = np.where(finite, values, np.inf).min(axis=0)
        highest = np.where(finite, values, -np.inf).max(axis=0)
        seen = finite.any(axis=0)
        self.lowest[seen] = np.fmin(self.lowest[seen], lowest[seen])
        self.highest[seen] = np.fmax(self.highest[seen], highest[seen])


def quantum(values: Vector) -> float | None:
    """
    Return the step of quantised values.

    It is the smallest step between neighbours, if it is common and nearly all steps are whole
    multiples of it; None otherwise.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Samples; those that are not finite are passed over.

    """
    steps = np.abs(np.diff(values[np.isfinite(values)]))
    steps = steps[steps > 0.0]
    if len(steps) < _LEAST_STEPS:
        return None
    # The values were rounded: of the steps that are the smallest one, the median is closest.
    smallest = float(np.median(steps[steps < 1.05 * steps.min()]))
    multiples = steps / smallest
    common = np.mean(np.abs(multiples - 1.0) < 0.05)
    whole = np.mean(np.abs(multiples - np.rint(multiples)) < 0.05)
    return smallest if common > 0.02 and whole > 0.95 else None


def _frozen_time(stamps: Vector, position: Vector, effort: Vector) -> float:
    """Return for how long the effort repeated while the joint moved [s]."""
    changes = np.flatnonzero(effort[1:] != effort[:-1]) + 1
    begins = np.concatenate([[0], changes])
    ends = np.concatenate([changes, [len(effort)]]) - 1
    total = 0.0
    long = (ends - begins >= FROZEN_SAMPLES) & (stamps[ends] - stamps[begins] >= FROZEN_TIME)
    for begin, end in zip(begins[long], ends[long]):
        part = position[begin : end + 1]
        if np.nanmax(part) - np.nanmin(part) >= FROZEN_TRAVEL:
            total += float(stamps[end] - stamps[begin])
    return total
