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

"""A log for identification, in memory or where it can be read from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.core.model.robot_model import RobotModel

TURN = 2.0 * np.pi


class OpenedRecord(Protocol):
    """A log whose times are known, and whose samples come in blocks as often as wanted."""

    @property
    def name(self) -> str:
        """Return what the user calls it."""

    @property
    def stamps(self) -> Vector:
        """Return all times, strictly increasing [s], shape (n,)."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader should know about it, one sentence each."""

    @property
    def has_velocity(self) -> bool:
        """Tell whether every velocity was measured."""

    @property
    def has_effort(self) -> bool:
        """Tell whether every effort was measured."""

    def blocks(self) -> Iterator[JointRecord]:
        """Yield the log in blocks of any length that follow one another."""

    def excerpts(self) -> Sequence[JointRecord]:
        """Return stretches spread evenly over the log, of bounded length, at least one."""


class RecordSource(Protocol):
    """Where a log, or a part of one, can be read as often as wanted; processes can be sent it."""

    @property
    def name(self) -> str:
        """Return what the user calls it."""

    @property
    def expected_samples(self) -> int:
        """Return about how many samples there are, to find the longest."""

    def opened(self) -> OpenedRecord:
        """Return the log."""


@dataclass(frozen=True, eq=False)
class JointRecord:
    """
    One contiguous log, in the joint order of the robot.

    Attributes
    ----------
    name : str
        What the user calls it.
    stamps : ndarray, shape (n,)
        Strictly increasing times [s].
    position : ndarray, shape (n, nv)
        [rad | m]
    velocity : ndarray, shape (n, nv), or None
        [rad/s | m/s]
    effort : ndarray, shape (n, nv)
        [N m | N]; NaN where missing.
    notes : tuple of str
        What a reader should know about it, one sentence each.

    """

    name: str
    stamps: Vector
    position: Matrix
    velocity: Matrix | None
    effort: Matrix
    notes: tuple[str, ...] = ()

    def between(self, start: float, stop: float) -> JointRecord:
        """Return the part with ``start <= stamp < stop``."""
        return self.picked(slice(*np.searchsorted(self.stamps, [start, stop])))

    def opened(self) -> JointRecord:
        """Return the log itself: it is in memory."""
        return self

    def blocks(self) -> Iterator[JointRecord]:
        """Yield the log itself."""
        yield self

    def excerpts(self) -> Sequence[JointRecord]:
        """Return the log itself."""
        return (self,)

    @property
    def has_velocity(self) -> bool:
        """Tell whether every velocity was measured."""
        return self.velocity is not None and bool(np.isfinite(self.velocity).all())

    @property
    def has_effort(self) -> bool:
        """Tell whether every effort was measured."""
        return bool(np.isfinite(self.effort).all())

    @property
    def expected_samples(self) -> int:
        """Return the number of samples."""
        return len(self.stamps)

    def with_efforts_moved(self, delay: float, first: float, last: float) -> JointRecord:
        """
        Move back efforts that were stamped too late.

        Parameters
        ----------
        delay : float
            By so much [s].
        first, last : float
            Times of the first and the last sample of the log that this is a part of [s].

        """
        if delay == 0.0:
            return self
        times = self.stamps + delay
        known = (times >= first) & (times <= last)
        moved = [np.interp(times, self.stamps, column) for column in self.effort.T]
        effort = np.where(known[:, None], np.column_stack(moved), np.nan)
        return replace(self, effort=effort)

    @staticmethod
    def joined(parts: Sequence[JointRecord]) -> JointRecord:
        """Return the log that parts which follow one another make up."""
        if len(parts) == 1:
            return parts[0]
        velocities = [part.velocity for part in parts if part.velocity is not None]
        return replace(
            parts[-1],
            stamps=np.concatenate([part.stamps for part in parts]),
            position=np.concatenate([part.position for part in parts]),
            velocity=np.concatenate(velocities) if len(velocities) == len(parts) else None,
            effort=np.concatenate([part.effort for part in parts]),
        )

    def picked(self, part: slice) -> JointRecord:
        """Return some of the samples."""
        velocity = None if self.velocity is None else self.velocity[part]
        return replace(
            self,
            stamps=self.stamps[part],
            position=self.position[part],
            velocity=velocity,
            effort=self.effort[part],
        )


@dataclass(frozen=True)
class RecordSpan:
    """
    Which part of a log was used.

    Attributes
    ----------
    name : str
    start, stop : float
        Stamps of the first and the last sample [s].
    samples : int
        Number of samples.

    """

    name: str
    start: float
    stop: float
    samples: int

    @staticmethod
    def of(record: OpenedRecord) -> RecordSpan:
        """Return that of a log."""
        stamps = record.stamps
        return RecordSpan(record.name, float(stamps[0]), float(stamps[-1]), len(stamps))


def prepared_record(robot: RobotModel, record: JointRecord, delay: float) -> JointRecord:
    """Return a log with continuous joints that count their turns and efforts moved back."""
    (prepared,) = unwrapped_blocks(robot, [record])
    stamps = record.stamps
    return prepared.with_efforts_moved(delay, float(stamps[0]), float(stamps[-1]))


def unwrapped_blocks(robot: RobotModel, blocks: Iterable[JointRecord]) -> Iterator[JointRecord]:
    """
    Let continuous joints count their turns, on from block to block.

    Raises
    ------
    DimensionError
        If a block has another number of joints than the robot.
    NonFiniteError
        If a position is not finite.

    """
    turning = [
        joint.q_index
        for joint in robot.joints
        if joint.type is JointType.CONTINUOUS and joint.mimic is None
    ]
    turns = np.zeros(len(turning))
    before: Matrix | None = None
    for block in blocks:
        shape = (len(block.stamps), robot.nv)
        position = np.array(as_finite('position', block.position, shape))
        if not len(position):
            continue
        angles = position[:, turning]
        joined = np.concatenate([angles[:1] if before is None else before, angles])
        added = np.round((np.unwrap(joined, axis=0)[1:] - angles) / TURN)
        position[:, turning] = angles + TURN * (added + turns)
        before, turns = angles[-1:], turns + added[-1]
        yield replace(block, position=position)
