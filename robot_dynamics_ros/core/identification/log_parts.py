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

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.identification.cross_validation import Folds, streamed_folds
from robot_dynamics_ros.core.identification.effort_series import EffortSeries, series_of_rows
from robot_dynamics_ros.core.identification.effort_sums import EffortSums, summed
from robot_dynamics_ros.core.identification.excitation_spectrum import CutoffChoice
from robot_dynamics_ros.core.identification.identification_model import IdentificationModel
from robot_dynamics_ros.core.identification.joint_record import (
    JointRecord,
    prepared_record,
    RecordSource,
    RecordSpan,
)
from robot_dynamics_ros.core.identification.joint_samples import joint_samples, JointSamples
from robot_dynamics_ros.core.identification.least_squares import damped_factors, LinearFit
from robot_dynamics_ros.core.identification.regression_rows import (
    block_slices,
    regression_rows,
    RegressionRows,
    rows_in_blocks,
)
from robot_dynamics_ros.core.identification.triangular_factors import TriangularFactors
from robot_dynamics_ros.core.signals.zero_phase import bridge_missing, ZeroPhaseFilter

BLOCK = 4096
"""Samples whose efforts are computed together, to bound the memory."""


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

    def samples(
        self, record: JointRecord, *, is_fitted: bool, rate: float | None = None
    ) -> JointSamples:
        """Return the samples of a prepared log, see `joint_samples`."""
        found = joint_samples(
            record.stamps, record.position, record.velocity, record.effort,
            self.cutoffs.motion_cutoff, rate,
        )  # fmt: skip
        rest = self.standstill if is_fitted else 0.0
        return found.without_standstill(rest) if rest else found


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
    record = prepared_record(model.robot, source.read(), how.delay)
    samples = how.samples(record, is_fitted=True)
    counts = rows_in_blocks(samples, how.cutoffs.cutoff)
    rows = regression_rows(model, samples, how.cutoffs.cutoff)
    folds = streamed_folds(model, rows, sum(counts))
    kept, kept_rows = _kept(samples, counts, most_rows)
    speed: Vector = np.abs(samples.v).max(axis=0)
    span = RecordSpan.of(record)
    return TrainingPart(span, record.notes, folds, sum(counts), kept_rows, kept, speed)


def damped_part(
    source: RecordSource, model: IdentificationModel, how: LogFilter, fit: LinearFit
) -> TriangularFactors:
    """Return the factors of a log under the weights of a robust fit; errors as `training_part`."""
    record = prepared_record(model.robot, source.read(), how.delay)
    samples = how.samples(record, is_fitted=True)
    limit = fit.spread if fit.limit is None else fit.limit
    return damped_factors(regression_rows(model, samples, how.cutoffs.cutoff), fit, limit)


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
    record = prepared_record(model.robot, source.read(), how.delay)
    samples = how.samples(record, is_fitted=False)
    cutoff = how.cutoffs.cutoff
    step = max(1, -(-sum(rows_in_blocks(samples, cutoff)) // max(1, most_rows)))
    sums: dict[str, dict[str, EffortSums]] = {whose: {} for whose in bases}
    compared: dict[str, list[EffortSums]] = {whose: [] for whose in bases}
    thin = []
    for block in regression_rows(model, samples, cutoff):
        for whose, base in bases.items():
            compared[whose].append(EffortSums.of(block.tau, block.regressor @ base, block.use))
        thin.append(_every(block, step))
    for whose, parts in compared.items():
        sums[whose]['filtered'] = summed(parts)
    _compare_at_stamps(record, model, how, bases, sums)
    speed = np.abs(samples.v).max(axis=0)
    series = series_of_rows(record.name, thin, bases['identified'], bases['description'], speed)
    return HeldOutPart(RecordSpan.of(record), record.notes, sums, series)


def _compare_at_stamps(
    record: JointRecord,
    model: IdentificationModel,
    how: LogFilter,
    bases: Mapping[str, Vector],
    sums: dict[str, dict[str, EffortSums]],
) -> None:
    """Compare with filtered efforts, and with efforts as they are, at every stamp."""
    samples = how.samples(record, is_fitted=False, rate=np.inf)
    rows = np.searchsorted(record.stamps, samples.stamps)
    bridged = bridge_missing(record.stamps, record.effort)
    filtered = ZeroPhaseFilter(how.cutoffs.cutoff).filtered(record.stamps, bridged)
    predicted: dict[str, list[Matrix]] = {whose: [] for whose in bases}
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        regressor = model.regressor(samples.q[part], samples.v[part], samples.a[part])
        for whose, base in bases.items():
            predicted[whose].append(regressor @ base)
    for whose, blocks in predicted.items():
        efforts = np.concatenate(blocks)
        for against, measured in (('filtered effort', filtered), ('raw effort', bridged)):
            sums[whose][against] = EffortSums.of(measured[rows], efforts, samples.use)


def _kept(
    samples: JointSamples, counts: list[int], most_rows: int
) -> tuple[tuple[JointSamples, ...], int]:
    """Return all samples, or blocks that are spread evenly, and the number of their rows."""
    if sum(counts) <= most_rows:
        return (samples,), sum(counts)
    blocks = block_slices(samples)
    number = most_rows // max(counts)
    if number:
        chosen = np.linspace(0, len(blocks) - 1, number).round().astype(int).tolist()
        return tuple(samples.picked(blocks[k]) for k in chosen), sum(counts[k] for k in chosen)
    # Less than a block: its middle.
    middle = blocks[len(blocks) // 2]
    share = most_rows / max(counts)
    size = int(share * (middle.stop - middle.start))
    start = (middle.start + middle.stop - size) // 2
    kept = (samples.picked(slice(start, start + size)),) if size >= 10 else ()
    return kept, most_rows if kept else 0


def _every(block: RegressionRows, step: int) -> RegressionRows:
    if step == 1:
        return block
    part = slice(None, None, step)
    return RegressionRows(
        block.stamps[part].copy(), block.regressor[part].copy(), block.tau[part], block.use[part]
    )
