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
What stays of one log, whatever its length: the work that processes can share.

A log for training becomes the triangular factors of its folds. Logs are put together fold by fold,
so that nothing else is needed to choose and to fit. Only what looks at single errors (weights of a
robust fit, correlation of errors, pictures) takes a bounded number of blocks, spread evenly over
each log. A log to verify with becomes sums of squares.

"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.identification.cross_validation import Folds, streamed_folds
from robot_dynamics_ros.core.identification.effort_series import EffortSeries, joined_series
from robot_dynamics_ros.core.identification.effort_sums import EffortSums
from robot_dynamics_ros.core.identification.identification_model import IdentificationModel
from robot_dynamics_ros.core.identification.joint_record import (
    RecordSource,
    RecordSpan,
)
from robot_dynamics_ros.core.identification.joint_samples import JointSamples
from robot_dynamics_ros.core.identification.least_squares import damped_factors, LinearFit
from robot_dynamics_ros.core.identification.regression_rows import (
    regression_rows,
    rows_in_blocks,
)
from robot_dynamics_ros.core.identification.sample_stream import (
    LogFilter,
    SampleStream,
    StampedSamples,
)
from robot_dynamics_ros.core.identification.triangular_factors import TriangularFactors

Used = NDArray[np.bool_]

BLOCK = 4096
"""Samples whose efforts are computed together, to bound the memory."""


@dataclass(frozen=True, eq=False)
class TrainingPart:
    """
    What stays of a log that is fitted.

    Attributes
    ----------
    span : RecordSpan
    notes : tuple of str
        Of the log.
    folds : Folds
        Of its own time, for all candidates.
    rows, kept_rows : int
        Rows of the regression, and those that `kept` gives.
    kept : tuple of JointSamples
        All samples if there is room, or else some blocks.
    largest_speed : ndarray, shape (nv,)
        Of each joint [rad/s | m/s].

    """

    span: RecordSpan
    notes: tuple[str, ...]
    folds: Folds
    rows: int
    kept_rows: int
    kept: tuple[JointSamples, ...]
    largest_speed: Vector


def training_part(
    task: tuple[RecordSource, int], model: IdentificationModel, how: LogFilter
) -> TrainingPart:
    """
    Reduce a log that is fitted.

    Parameters
    ----------
    task : tuple of RecordSource and int
        The log, and about how many of its rows to keep at most.
    model : IdentificationModel
        With the columns of all candidates.
    how : LogFilter
        How samples are made.

    Raises
    ------
    BagError
        If the log cannot be read.
    ConfigurationError
        If it is too short for the filter.
    DimensionError, NonFiniteError
        If it does not suit the robot or holds no finite positions.

    """
    source, most_rows = task
    record = source.opened()
    stream = SampleStream(model.robot, record, how, is_fitted=True)
    counts = rows_in_blocks(stream, how.cutoffs.cutoff)
    kept = _KeptBlocks(stream, counts, most_rows)
    rows = regression_rows(model, kept, how.cutoffs.cutoff)
    folds = streamed_folds(model, rows, sum(counts))
    span = RecordSpan.of(record)
    samples, kept_rows = kept.samples()
    return TrainingPart(
        span, record.notes, folds, sum(counts), kept_rows, samples, kept.largest_speed
    )


def damped_part(
    source: RecordSource, model: IdentificationModel, how: LogFilter, fit: LinearFit
) -> TriangularFactors:
    """Return the factors of a log under the weights of a robust fit; errors as `training_part`."""
    stream = SampleStream(model.robot, source.opened(), how, is_fitted=True)
    limit = fit.spread if fit.limit is None else fit.limit
    return damped_factors(regression_rows(model, stream, how.cutoffs.cutoff), fit, limit)


@dataclass(frozen=True, eq=False)
class HeldOutPart:
    """
    What stays of a log that verifies.

    Attributes
    ----------
    span : RecordSpan
    notes : tuple of str
        Of the log.
    sums : mapping of str to mapping of str to EffortSums
        For each model, against each kind of efforts.
    series : EffortSeries
        Evenly thinned.

    """

    span: RecordSpan
    notes: tuple[str, ...]
    sums: Mapping[str, Mapping[str, EffortSums]]
    series: EffortSeries


def held_out_part(
    task: tuple[RecordSource, int],
    model: IdentificationModel,
    how: LogFilter,
    bases: Mapping[str, Vector],
) -> HeldOutPart:
    """
    Compare a log with models.

    Parameters
    ----------
    task : tuple of RecordSource and int
        The log, and how many of its rows to keep at most for pictures.
    model : IdentificationModel
        Whose base parameters are given.
    how : LogFilter
        How samples are made; slow samples are compared, too.
    bases : mapping of str to ndarray
        Base parameters of the models, ``identified`` and ``description`` among them.

    Raises
    ------
    BagError, ConfigurationError, DimensionError, NonFiniteError
        As `training_part`.

    """
    source, most_rows = task
    record = source.opened()
    stream = SampleStream(model.robot, record, how, is_fitted=False)
    compared = _Comparison(stream, model, bases)
    cutoff = how.cutoffs.cutoff
    step = max(1, -(-sum(rows_in_blocks(stream, cutoff)) // max(1, most_rows)))
    drawn = []
    for block in regression_rows(model, compared, cutoff):
        efforts = {whose: block.regressor @ base for whose, base in bases.items()}
        for whose, predicted in efforts.items():
            compared.add('filtered', block.tau, whose, predicted, block.use)
        part = EffortSeries(
            record.name,
            block.stamps,
            block.tau,
            efforts['identified'],
            efforts['description'],
            block.use,
            compared.largest_speed,
        )
        drawn.append(part.thinned(step))
    span = RecordSpan.of(record)
    return HeldOutPart(span, record.notes, compared.sums(), joined_series(drawn))


class _Comparison:
    """
    Samples of a log that verifies, and the sums of what is compared on the way.

    Efforts are compared with both sides filtered (``filtered``), and at every stamp filtered and
    as they are.

    """

    def __init__(
        self, stream: SampleStream, model: IdentificationModel, bases: Mapping[str, Vector]
    ) -> None:
        self.stamps = stream.stamps
        self.largest_speed: Vector = np.zeros(model.robot.nv)
        self._stream, self._model, self._bases = stream, model, bases
        self._sums: dict[str, dict[str, EffortSums]] = {whose: {} for whose in bases}

    def cut(self, slices: Sequence[slice]) -> Iterator[JointSamples]:
        """Yield samples, see `SampleStream.cut`."""
        for part in self._stream.cut_and_watch(slices, self._at_stamps):
            self.largest_speed = np.maximum(self.largest_speed, np.abs(part.v).max(axis=0))
            yield part

    def add(
        self, against: str, measured: Matrix, whose: str, predicted: Matrix, use: Used
    ) -> None:
        """Add some efforts of one model to what they are compared with."""
        more = EffortSums.of(measured, predicted, use)
        before = self._sums[whose].get(against)
        self._sums[whose][against] = more if before is None else before + more

    def sums(self) -> Mapping[str, Mapping[str, EffortSums]]:
        """Return the sums, for each model against each kind of efforts."""
        return self._sums

    def _at_stamps(self, stretch: StampedSamples) -> None:
        for start in range(0, len(stretch.samples.stamps), BLOCK):
            part = slice(start, start + BLOCK)
            found = stretch.samples.picked(part)
            regressor = self._model.regressor(found.q, found.v, found.a)
            for whose, base in self._bases.items():
                predicted = regressor @ base
                for against, measured in (
                    ('filtered effort', stretch.filtered[part]),
                    ('raw effort', stretch.bridged[part]),
                ):
                    self.add(against, measured, whose, predicted, found.use)


class _KeptBlocks:
    """Samples of a log that is fitted, of which all or some evenly spread blocks are kept."""

    def __init__(self, stream: SampleStream, counts: Sequence[int], most_rows: int) -> None:
        self.stamps = stream.stamps
        self.largest_speed: Vector = np.zeros(0)
        self._stream, self._counts, self._most_rows = stream, counts, most_rows
        self._chosen = _chosen_blocks(counts, most_rows)
        self._kept: list[JointSamples] = []

    def cut(self, slices: Sequence[slice]) -> Iterator[JointSamples]:
        """Yield samples, see `SampleStream.cut`."""
        speeds = []
        for number, part in enumerate(self._stream.cut(slices)):
            speeds.append(np.abs(part.v).max(axis=0))
            if number in self._chosen:
                self._kept.append(part.copied())
            yield part
        self.largest_speed = np.max(speeds, axis=0)

    def samples(self) -> tuple[tuple[JointSamples, ...], int]:
        """Return what is kept, all of it together if that is all, and the number of its rows."""
        total = sum(self._counts)
        if total <= self._most_rows:
            return (JointSamples.joined(self._kept),), total
        if self._most_rows >= max(self._counts):
            return tuple(self._kept), sum(self._counts[k] for k in self._chosen)
        # Less than a block: its middle.
        (middle,) = self._kept
        size = int(self._most_rows / max(self._counts) * len(middle.stamps))
        start = (len(middle.stamps) - size) // 2
        kept = (middle.picked(slice(start, start + size)),) if size >= 10 else ()
        return kept, self._most_rows if kept else 0


def _chosen_blocks(counts: Sequence[int], most_rows: int) -> list[int]:
    """Return which blocks are kept, given the number of their rows."""
    if sum(counts) <= most_rows:
        return list(range(len(counts)))
    number = most_rows // max(counts)
    if not number:
        return [len(counts) // 2]
    chosen: list[int] = np.linspace(0, len(counts) - 1, number).round().astype(int).tolist()
    return chosen
