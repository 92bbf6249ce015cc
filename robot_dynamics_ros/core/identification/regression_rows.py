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
Rows of the regression: regressor and efforts through the same filter, decimated.

A filter is linear, so the model holds for filtered columns as it does for the samples,

.. math:: F \tau = F\bigl(Y(q, v, a)\bigr)\,\beta

exactly, also where a column is no smooth function of time: a Coulomb torque changes its sign in
no time, while the effort beside it was smoothed. Without this, the jump becomes an error of the
model. Noise above the cutoff :math:`f_c` is gone from both sides, and of the rows every k-th is
kept, :math:`f_s \ge 8 f_c`.

References
----------
.. [1] M. Gautier, "Dynamic identification of robots with power model", IEEE ICRA, 1997 (the
   parallel filter and its decimation).

"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.identification.joint_samples import JointSamples, RATE_PER_CUTOFF
from robot_dynamics_ros.core.signals.time_axis import SHORTEST_PART
from robot_dynamics_ros.core.signals.zero_phase import ZeroPhaseFilter

BLOCK = 4096
"""Samples that are worked on together, to bound the memory."""


class LinearModel(Protocol):
    """Whatever has a regressor: an `IdentificationModel`, or one with a payload."""

    @property
    def columns_of_joint(self) -> tuple[NDArray[np.intp], ...]:
        """For each degree of freedom: the columns that can differ from zero in its row."""

    def regressor(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """Return the columns of many samples, shape (n_samples, nv, n_columns)."""


class SampleSequence(Protocol):
    """Samples in the order of time: `JointSamples`, or a `SampleStream` that reads them."""

    @property
    def stamps(self) -> Vector:
        """Return all times [s], shape (n,)."""

    def cut(self, slices: Sequence[slice]) -> Iterator[JointSamples]:
        """Yield the samples of slices that follow one another from the first to the last."""


@dataclass(frozen=True, eq=False)
class RegressionRows:
    """
    A block of rows in the order of time.

    Attributes
    ----------
    stamps : ndarray, shape (n,)
        [s].
    regressor : ndarray, shape (n, nv, rank)
        Columns of the base parameters.
    tau : ndarray, shape (n, nv)
        Efforts [N m | N].
    use : ndarray of bool, shape (n, nv)
        Which of them count.

    """

    stamps: Vector
    regressor: Matrix
    tau: Matrix
    use: NDArray[np.bool_]


def regression_rows(
    model: LinearModel,
    samples: SampleSequence,
    cutoff: float | None,
    *,
    advance: Callable[[int], None] | None = None,
) -> Iterator[RegressionRows]:
    """
    Make the rows of the regression, block by block.

    Parameters
    ----------
    model : LinearModel
        Whose columns to compute.
    samples : SampleSequence
        Motion and efforts.
    cutoff : float or None
        Of the filter of both sides [Hz]; None leaves the samples as they are.
    advance : callable, optional
        Called with the number of samples since the last call, for a progress display.

    Yields
    ------
    rows : RegressionRows
        Of at most `BLOCK` samples.

    Raises
    ------
    ConfigurationError
        If the cutoff does not suit the rate of the samples.
    DimensionError
        If the samples have another number of joints.
    NonFiniteError
        If a sample is not finite.

    """
    step = _decimation(samples.stamps, cutoff)
    for block in samples.cut(block_slices(samples)):
        yield _rows_of(model, block, cutoff, step)
        if advance is not None:
            advance(len(block.stamps))


def block_slices(samples: SampleSequence) -> list[slice]:
    """Return the blocks that are worked on together."""
    count = len(samples.stamps)
    edges = np.linspace(0, count, max(1, -(-count // BLOCK)) + 1).astype(int)
    return [slice(int(start), int(stop)) for start, stop in zip(edges[:-1], edges[1:])]


def rows_in_blocks(samples: SampleSequence, cutoff: float | None) -> list[int]:
    """Return how many rows `regression_rows` makes of each block."""
    step = _decimation(samples.stamps, cutoff)
    return [-(-(part.stop - part.start) // step) for part in block_slices(samples)]


def _rows_of(
    model: LinearModel, part: JointSamples, cutoff: float | None, step: int
) -> RegressionRows:
    """Return the rows of one block; they share no memory with what was decimated."""
    regressor = model.regressor(part.q, part.v, part.a)
    if cutoff is None:
        return RegressionRows(part.stamps, regressor, part.tau, part.use)
    regressor = _filtered_columns(model, part.stamps, regressor, cutoff, step)
    tau = ZeroPhaseFilter(cutoff).filtered(part.stamps, part.tau)[::step]
    use = part.use[::step] & np.isfinite(tau)
    tau = np.where(np.isfinite(tau), tau, 0.0)
    return RegressionRows(part.stamps[::step].copy(), regressor, tau, use)


def _filtered_columns(
    model: LinearModel, stamps: Vector, regressor: Matrix, cutoff: float, step: int
) -> Matrix:
    """Return every `step`-th row, filtered; columns that are zero for a joint cost nothing."""
    present = [(j, k) for j, of_joint in enumerate(model.columns_of_joint) for k in of_joint]
    joints, columns = np.array(present, dtype=np.intp).T
    moving = np.array(
        [np.any(regressor[:, j, k] != 0.0) for j, k in zip(joints, columns)], dtype=bool
    )
    joints, columns = joints[moving], columns[moving]
    used = regressor[:, joints, columns]
    filtered = ZeroPhaseFilter(cutoff).filtered(stamps, used)[::step]
    result = np.zeros((len(filtered), *regressor.shape[1:]))
    result[:, joints, columns] = np.where(np.isfinite(filtered), filtered, 0.0)
    return result


def _decimation(stamps: Vector, cutoff: float | None) -> int:
    if cutoff is None or len(stamps) < SHORTEST_PART:
        return 1
    rate = 1.0 / float(np.median(np.diff(stamps)))
    return max(1, int(rate / (RATE_PER_CUTOFF * cutoff) + 1e-6))
