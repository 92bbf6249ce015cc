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

"""Collect joint samples into tables by name, whatever order and company the joints come in."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.bags.joint_states import JointSample
from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.exceptions import BagError


@dataclass
class JointTable:
    """
    Samples of one set of joints, in the order in which they came.

    Attributes
    ----------
    joint_names : tuple of str
        Column names.
    stamps, log_times : ndarray of int64, shape (n,)
        [ns].
    position, velocity, effort : ndarray, shape (n, nj)
        NaN where a message has none.

    """

    joint_names: tuple[str, ...]
    stamps: NDArray[np.int64]
    log_times: NDArray[np.int64]
    position: Matrix
    velocity: Matrix
    effort: Matrix


class JointCollector:
    """Take samples one by one with `add`; `finish` gives one table of all joints."""

    def __init__(self) -> None:
        self._builders: dict[frozenset[str], _TableBuilder] = {}
        self._names: tuple[str, ...] | None = None
        self._builder: _TableBuilder | None = None
        self._order: NDArray[np.intp] | None = None
        self._rejected: Counter[str] = Counter()
        self._received = 0

    def add(self, sample: JointSample) -> None:
        """Add one message; one that contradicts itself is counted and left out."""
        self._received += 1
        if sample.names is not self._names:
            self._names = sample.names
            self._choose_builder(sample.names)
        builder = self._builder
        count = len(sample.names)
        if builder is None:
            self._rejected['without joints' if not count else 'with a joint name twice'] += 1
        elif not (len(sample.position) or len(sample.velocity) or len(sample.effort)):
            self._rejected['without values'] += 1
        elif len(sample.position) not in (0, count):
            self._rejected['with a wrong number of positions'] += 1
        elif len(sample.velocity) not in (0, count):
            self._rejected['with a wrong number of velocities'] += 1
        elif len(sample.effort) not in (0, count):
            self._rejected['with a wrong number of efforts'] += 1
        else:
            builder.append(sample, self._order)

    def finish(self, source: str) -> tuple[JointTable, dict[str, int], list[str]]:
        """
        Join everything into one table on the stamps of the set of joints that came most often.

        Parameters
        ----------
        source : str
            Where the samples come from, for the error message.

        Returns
        -------
        table : JointTable
            All joints.
        counts : dict
            Messages received, and rejected by reason.
        notes : list of str
            Sentences about what was rejected and interpolated.

        Raises
        ------
        BagError
            If no message could be used.

        """
        counts = {'messages': self._received, **self._rejected}
        notes = [
            f'{number} messages {reason} were left out'
            for reason, number in self._rejected.items()
        ]
        tables = sorted(
            (builder.table() for builder in self._builders.values()),
            key=lambda table: len(table.stamps),
            reverse=True,
        )
        tables = [table for table in tables if len(table.stamps)]
        if not tables:
            reasons = f' ({"; ".join(notes)})' if notes else ''
            raise BagError(f'{source} has no usable message of {self._received}{reasons}')
        joined = tables[0]
        for table in tables[1:]:
            joined, note = _joined(joined, table)
            notes.append(note)
        return joined, counts, notes

    def _choose_builder(self, names: tuple[str, ...]) -> None:
        key = frozenset(names)
        if not names or len(key) != len(names):
            self._builder = None
            return
        builder = self._builders.setdefault(key, _TableBuilder(names))
        self._builder = builder
        if names == builder.joint_names:
            self._order = None
        else:
            self._order = np.array([names.index(name) for name in builder.joint_names])


class _TableBuilder:
    """Arrays that grow by doubling."""

    def __init__(self, joint_names: tuple[str, ...]) -> None:
        self.joint_names = joint_names
        self._count = 0
        self._times = np.empty((1024, 2), dtype=np.int64)
        self._values = np.empty((1024, 3, len(joint_names)))

    def append(self, sample: JointSample, order: NDArray[np.intp] | None) -> None:
        if self._count == len(self._times):
            # In place: two copies of an hour at 1 kHz would not fit.
            self._times.resize((2 * self._count, 2), refcheck=False)
            self._values.resize((2 * self._count, *self._values.shape[1:]), refcheck=False)
        self._times[self._count] = sample.stamp, sample.log_time
        row = self._values[self._count]
        for index, values in enumerate((sample.position, sample.velocity, sample.effort)):
            row[index] = np.nan if not len(values) else values if order is None else values[order]
        self._count += 1

    def table(self) -> JointTable:
        """Return what was collected."""
        times = self._times[: self._count]
        values = self._values[: self._count]
        return JointTable(
            self.joint_names, times[:, 0], times[:, 1], values[:, 0], values[:, 1], values[:, 2]
        )


def _joined(base: JointTable, other: JointTable) -> tuple[JointTable, str]:
    """Add the joints that only `other` has, interpolated linearly on the stamps of `base`."""
    count = len(other.stamps)
    new = [name for name in other.joint_names if name not in base.joint_names]
    if not new or count < 2:
        others = ', '.join(other.joint_names[:4])
        return base, f'{count} messages with other joints ({others}) were left out'
    columns = [other.joint_names.index(name) for name in new]
    use_stamps = bool(np.any(base.stamps)) and bool(np.any(other.stamps))
    at = base.stamps if use_stamps else base.log_times
    known = other.stamps if use_stamps else other.log_times
    order = np.argsort(known, kind='stable')

    def with_new(values: Matrix, added: Matrix) -> Matrix:
        interpolated = [
            _interpolated(at, known[order], added[order, column]) for column in columns
        ]
        return np.column_stack([values, *interpolated])

    table = JointTable(
        (*base.joint_names, *new),
        base.stamps,
        base.log_times,
        with_new(base.position, other.position),
        with_new(base.velocity, other.velocity),
        with_new(base.effort, other.effort),
    )
    return (
        table,
        f'{", ".join(new)} come in {count} messages of their own and are interpolated linearly',
    )


def _interpolated(at: NDArray[np.int64], known: NDArray[np.int64], values: Vector) -> Vector:
    origin = at[0]  # differences keep the nanoseconds that float64 cannot hold since 1970
    result: Vector = np.interp(
        (at - origin).astype(np.float64),
        (known - origin).astype(np.float64),
        values,
        left=np.nan,
        right=np.nan,
    )
    return result
