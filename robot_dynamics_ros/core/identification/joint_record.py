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

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.core.model.robot_model import RobotModel


class RecordSource(Protocol):
    """Where a log, or a part of one, can be read as often as wanted; processes can be sent it."""

    @property
    def name(self) -> str:
        """Return what the user calls it."""

    @property
    def expected_samples(self) -> int:
        """Return about how many samples there are, to find the longest."""

    def read(self) -> JointRecord:
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
        part = slice(*np.searchsorted(self.stamps, [start, stop]))
        velocity = None if self.velocity is None else self.velocity[part]
        return replace(
            self,
            stamps=self.stamps[part],
            position=self.position[part],
            velocity=velocity,
            effort=self.effort[part],
        )

    def read(self) -> JointRecord:
        """Return the log itself: it is in memory."""
        return self

    @property
    def expected_samples(self) -> int:
        """Return the number of samples."""
        return len(self.stamps)

    def with_efforts_moved(self, delay: float) -> JointRecord:
        """Return the log with efforts that were stamped `delay` too late moved back [s]."""
        if delay == 0.0:
            return self
        times = self.stamps + delay
        known = (times >= self.stamps[0]) & (times <= self.stamps[-1])
        moved = [np.interp(times, self.stamps, column) for column in self.effort.T]
        effort = np.where(known[:, None], np.column_stack(moved), np.nan)
        return replace(self, effort=effort)


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
    def of(record: JointRecord) -> RecordSpan:
        """Return that of a record."""
        stamps = record.stamps
        return RecordSpan(record.name, float(stamps[0]), float(stamps[-1]), len(stamps))


def prepared_record(robot: RobotModel, record: JointRecord, delay: float) -> JointRecord:
    """Return a log with continuous joints that count their turns and efforts moved back."""
    shape = (len(record.stamps), robot.nv)
    position = np.array(as_finite('position', record.position, shape))
    for joint in robot.joints:
        if joint.type is JointType.CONTINUOUS and joint.mimic is None:
            position[:, joint.q_index] = np.unwrap(position[:, joint.q_index])
    return replace(record, position=position).with_efforts_moved(delay)
