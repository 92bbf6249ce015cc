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
Samples for identification of a log of any length, in bounded memory.

The log is filtered in windows that overlap by what the filter remembers (`record_windows`), so
that the samples are those of the whole log at once. Grid of the filter, gaps and decimation follow
from its times, which are known beforehand; whether measured velocities are used follows from
stretches of it.

"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.excitation_spectrum import (
    cutoff_of_stretches,
    CutoffChoice,
    MOTION_CUTOFF,
)
from robot_dynamics_ros.core.identification.joint_record import OpenedRecord, unwrapped_blocks
from robot_dynamics_ros.core.identification.joint_samples import (
    bridged_stretch,
    decimated_rows,
    JointSamples,
    window_samples,
)
from robot_dynamics_ros.core.identification.record_windows import record_windows, RecordWindow
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.signals.joint_motion import (
    trusted_joints,
    velocity_disagreements,
)
from robot_dynamics_ros.core.signals.time_axis import TimeAxis
from robot_dynamics_ros.core.signals.zero_phase import bridge_missing, ZeroPhaseFilter

MOST_STRETCHES = 4
"""That measured velocities are compared with positions on."""


@dataclass(frozen=True, eq=False)
class LogFilter:
    """
    How samples are made of a log.

    Attributes
    ----------
    cutoffs : CutoffChoice
    standstill : float
        Slower joints are left out of a fit [rad/s | m/s].
    delay : float
        Efforts are stamped so much too late [s].

    """

    cutoffs: CutoffChoice
    standstill: float = 0.0
    delay: float = 0.0


@dataclass(frozen=True, eq=False)
class StampedSamples:
    """
    Samples at every stamp of a stretch of a log.

    Attributes
    ----------
    samples : JointSamples
        Those that could be filtered.
    filtered, bridged : ndarray, shape (n, nv)
        Efforts filtered with the cutoff of the regression, and as they are [N m | N].

    """

    samples: JointSamples
    filtered: Matrix
    bridged: Matrix


class SampleStream:
    """
    The samples of a log, which is read once by each `cut`.

    Parameters
    ----------
    robot : RobotModel
        With the joints of the log.
    record : OpenedRecord
        The log.
    how : LogFilter
        How samples are made.
    is_fitted : bool
        Whether slow samples are left out.

    Attributes
    ----------
    stamps : ndarray, shape (m,)
        Times of all samples that are kept [s].

    Raises
    ------
    ConfigurationError
        If the log is too short for the filter, or its rate too low.
    BagError
        If it cannot be read.
    DimensionError, NonFiniteError
        If it does not suit the robot or holds no finite positions.

    """

    def __init__(
        self, robot: RobotModel, record: OpenedRecord, how: LogFilter, *, is_fitted: bool
    ) -> None:
        self._robot, self._record, self._how = robot, record, how
        self._rest = how.standstill if is_fitted else 0.0
        self._axis = TimeAxis(record.stamps)
        _require_rate(record.name, self._axis, how.cutoffs)
        self._filter = ZeroPhaseFilter(how.cutoffs.motion_cutoff)
        self._rows = decimated_rows(self._axis, how.cutoffs.motion_cutoff)
        self.stamps: Vector = record.stamps[self._rows]
        self._trusted = self._trusted_joints()

    def cut(self, slices: Sequence[slice]) -> Iterator[JointSamples]:
        """
        Read the log and yield its samples.

        Parameters
        ----------
        slices : sequence of slice
            Which of them to yield together; they follow one another from the first to the last.

        """
        return self.cut_and_watch(slices, None)

    def cut_and_watch(
        self, slices: Sequence[slice], watch: Callable[[StampedSamples], None] | None
    ) -> Iterator[JointSamples]:
        """As `cut`; `watch` is called with the samples at all stamps, stretch by stretch."""
        held: list[JointSamples] = []
        begin = end = 0
        parts = iter(slices)
        part = next(parts, None)
        for kept in self._windows(watch):
            held.append(kept)
            end += len(kept.stamps)
            while part is not None and end >= part.stop:
                joined = JointSamples.joined(held)
                yield joined.picked(slice(part.start - begin, part.stop - begin))
                held, begin = [joined.picked(slice(part.stop - begin, None))], part.stop
                part = next(parts, None)

    def whole(self) -> JointSamples:
        """Return all samples."""
        return next(self.cut([slice(0, len(self.stamps))]))

    def _windows(self, watch: Callable[[StampedSamples], None] | None) -> Iterator[JointSamples]:
        """Yield what is kept of each window."""
        margin = self._filter.settling_time(1.0 / self._axis.median_step)
        if watch is not None:
            slow = ZeroPhaseFilter(self._how.cutoffs.cutoff)
            margin = max(margin, slow.settling_time(1.0 / self._axis.median_step))
        if not self._record.has_effort or self._how.delay:
            margin += bridged_stretch(self._filter)
        windows = record_windows(self._robot, self._record, self._axis, margin, self._how.delay)
        for window in windows:
            velocity = window.record.velocity if self._trusted.any() else None
            samples = window_samples(
                window.window, window.record.position, velocity, window.record.effort,
                self._filter, trusted=self._trusted,
            )  # fmt: skip
            if watch is not None:
                watch(self._at_stamps(window, samples))
            begin = window.window.begin
            edges = begin + window.core.start, begin + window.core.stop
            chosen = self._rows[slice(*np.searchsorted(self._rows, edges))] - begin
            kept = samples.picked(chosen)
            yield kept.without_standstill(self._rest) if self._rest else kept

    def _at_stamps(self, window: RecordWindow, samples: JointSamples) -> StampedSamples:
        stretch = bridged_stretch(self._filter)
        bridged = bridge_missing(window.record.stamps, window.record.effort, stretch)
        slow = ZeroPhaseFilter(self._how.cutoffs.cutoff)
        (filtered,) = slow.derivatives_within(window.window, bridged, 0)
        core = window.core
        known = np.isfinite(samples.a[core]).all(axis=1)
        rows = core.start + np.flatnonzero(known)
        return StampedSamples(samples.picked(rows), filtered[rows], bridged[rows])

    def _trusted_joints(self) -> NDArray[np.bool_]:
        """Return of which joints the measured velocities are used."""
        if not self._record.has_velocity:
            return np.zeros(self._robot.nv, dtype=bool)
        excerpts = self._record.excerpts()
        number = min(len(excerpts), MOST_STRETCHES)
        chosen = np.linspace(0, len(excerpts) - 1, number).round().astype(int).tolist()
        stretches = (
            (part.stamps, part.position, part.velocity)
            for k in chosen
            for part in unwrapped_blocks(self._robot, [excerpts[k]])
            if part.velocity is not None
        )
        found = velocity_disagreements(stretches, self._filter)
        return trusted_joints(found, self._robot.nv)


def record_cutoffs(
    robot: RobotModel, record: OpenedRecord, cutoff: float | None = None
) -> CutoffChoice:
    """
    Choose the cutoffs for a log from stretches of it.

    Parameters
    ----------
    robot : RobotModel
        With the joints of the log.
    record : OpenedRecord
        The log.
    cutoff : float, optional
        Given by the user [Hz].

    Raises
    ------
    BagError
        If the log cannot be read.
    ConfigurationError
        If it is too short or does not move, or the cutoff does not suit its rate.
    DimensionError, NonFiniteError
        If it does not suit the robot or holds no finite positions.

    """
    steps = np.diff(record.stamps)
    rate = 1.0 / float(np.median(steps)) if len(steps) else 0.0
    stretches = [
        (part.stamps, part.position)
        for excerpt in record.excerpts()
        for part in unwrapped_blocks(robot, [excerpt])
    ]
    return cutoff_of_stretches(stretches, rate, cutoff)


def _require_rate(name: str, axis: TimeAxis, cutoffs: CutoffChoice) -> None:
    """Refuse a log that is too slow for cutoffs that come from another one, or were given."""
    rate = 1.0 / axis.median_step if axis.median_step > 0.0 else np.inf
    if cutoffs.motion_cutoff < 0.5 * rate:
        return
    whose = 'given' if cutoffs.highest_frequency is None else 'chosen for the longest log'
    raise ConfigurationError(
        f'{name} has {rate:.4g} samples per second, too few for the cutoff of '
        f'{cutoffs.cutoff:.3g} Hz that was {whose} (motion: {cutoffs.motion_cutoff:.3g} Hz, must '
        f'be below {0.5 * rate:.4g} Hz): give all logs a cutoff below '
        f'{0.5 * rate / MOTION_CUTOFF:.3g} Hz with --cutoff, or leave this log out'
    )
