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

"""Rows of joint samples, gathered by the topic and the set of joints that they come with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.bags.joint_states import JointSample

FIELDS = ('position', 'velocity', 'effort')
"""What a row holds of each joint, in this order."""

CHUNK = 4096
"""Messages that are gathered before they are passed on."""


@dataclass(frozen=True)
class JointGroup:
    """
    Joints that come together in messages of one topic.

    Attributes
    ----------
    topic : str
        Where they come from; empty for a log that has no topics.
    joint_names : tuple of str
        Their order in the rows.
    zero_is_time : bool
        Whether a stamp of zero is a time, and not a header that was left empty.

    """

    topic: str
    joint_names: tuple[str, ...]
    zero_is_time: bool = False

    @property
    def key(self) -> tuple[str, frozenset[str]]:
        """Return what tells groups apart, whatever the order of the joints."""
        return self.topic, frozenset(self.joint_names)


@dataclass(frozen=True)
class JointRows:
    """
    Consecutive samples of one group.

    Attributes
    ----------
    group : JointGroup
        Whose samples these are.
    stamps, log_times : ndarray of int64, shape (n,)
        When they were measured and recorded [ns].
    values : ndarray, shape (n, 3, nj)
        Positions, velocities and efforts; NaN where a message has none.

    """

    group: JointGroup
    stamps: NDArray[np.int64]
    log_times: NDArray[np.int64]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.stamps)

    def picked(self, rows: NDArray[np.intp] | slice) -> JointRows:
        """Return some of the samples."""
        return JointRows(self.group, self.stamps[rows], self.log_times[rows], self.values[rows])

    @staticmethod
    def joined(parts: list[JointRows]) -> JointRows:
        """Return the samples of several parts of one group, of which there must be one."""
        if len(parts) == 1:
            return parts[0]
        return JointRows(
            parts[0].group,
            np.concatenate([part.stamps for part in parts]),
            np.concatenate([part.log_times for part in parts]),
            np.concatenate([part.values for part in parts]),
        )


class SampleSource(Protocol):
    """A log that can be read from the front, more than once."""

    name: str
    counts: dict[str, int]
    notes: list[str]

    def chunks(self, advance: Callable[[int], None] | None = None) -> Iterator[list[JointRows]]:
        """
        Stream all samples; afterwards `counts` and `notes` tell of this reading.

        Yields
        ------
        chunk : list of JointRows
            What about `CHUNK` messages hold, one entry for each group among them.

        """


class JointGatherer:
    """Take messages one by one with `add`; `take` hands over what has come since."""

    def __init__(self) -> None:
        self._builders: dict[tuple[str, frozenset[str]], _RowsBuilder] = {}
        self._names: tuple[str, ...] | None = None
        self._topic = ''
        self._builder: _RowsBuilder | None = None
        self._order: NDArray[np.intp] | None = None
        self._rejected: Counter[str] = Counter()
        self._received = 0

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of messages received, and of those rejected by reason."""
        return {'messages': self._received, **self._rejected}

    @property
    def notes(self) -> list[str]:
        """Return a sentence about each kind of messages that was rejected."""
        return [
            f'{number} messages {reason} were left out'
            for reason, number in self._rejected.items()
        ]

    def add(self, sample: JointSample) -> None:
        """Add one message; one that contradicts itself is counted and left out."""
        self._received += 1
        if sample.names is not self._names or sample.topic != self._topic:
            self._names, self._topic = sample.names, sample.topic
            self._choose_builder(sample.topic, sample.names)
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

    def take(self) -> list[JointRows]:
        """Return what was added since the last call, and start anew."""
        return [builder.take() for builder in self._builders.values() if builder.count]

    def _choose_builder(self, topic: str, names: tuple[str, ...]) -> None:
        group = JointGroup(topic, names)
        if not names or len(group.key[1]) != len(names):
            self._builder = None
            return
        builder = self._builders.setdefault(group.key, _RowsBuilder(group))
        self._builder = builder
        known = builder.group.joint_names
        self._order = None if names == known else np.array([names.index(name) for name in known])


class _RowsBuilder:
    """Arrays that are filled row by row."""

    def __init__(self, group: JointGroup) -> None:
        self.group = group
        self.count = 0
        self._start_anew(16)

    def append(self, sample: JointSample, order: NDArray[np.intp] | None) -> None:
        if self.count == len(self._times):
            self._times.resize((2 * self.count, 2), refcheck=False)
            self._values.resize((2 * self.count, *self._values.shape[1:]), refcheck=False)
        self._times[self.count] = sample.stamp, sample.log_time
        row = self._values[self.count]
        for index, values in enumerate((sample.position, sample.velocity, sample.effort)):
            row[index] = np.nan if not len(values) else values if order is None else values[order]
        self.count += 1

    def take(self) -> JointRows:
        times, values = self._times[: self.count], self._values[: self.count]
        rows = JointRows(self.group, times[:, 0].copy(), times[:, 1].copy(), values)
        self._start_anew(self.count)
        return rows

    def _start_anew(self, size: int) -> None:
        self.count = 0
        self._times = np.empty((size, 2), dtype=np.int64)
        self._values = np.empty((size, len(FIELDS), len(self.group.joint_names)))
