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
Bring all joints of a log to the stamps of those that come most often.

What comes in messages of its own, a gripper say, or efforts on another topic, is interpolated
linearly. Rows of the fast group wait until every slower one has come as far; one that pauses so
long that they would not fit into memory is unknown meanwhile.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.bags.clock_survey import ClockPlan
from robot_dynamics_ros.bags.joint_rows import FIELDS, JointGroup, JointRows
from robot_dynamics_ros.bags.time_order import TimeOrder

MOST_WAITING = 262144
"""Rows that wait at most for a slower group."""


@dataclass(frozen=True)
class Entry:
    """Where one field of one joint comes from and goes to; `field` is an index of `FIELDS`."""

    field: int
    source: int
    target: int


@dataclass(frozen=True)
class GroupPlan:
    """
    How one group takes part.

    Attributes
    ----------
    group : JointGroup
        The group.
    rows : int
        How many it has.
    clock : ClockPlan
        Which of them are used.
    entries : tuple of Entry
        What it contributes.

    """

    group: JointGroup
    rows: int
    clock: ClockPlan
    entries: tuple[Entry, ...]


class JointMerge:
    """
    Merge ordered rows of several groups.

    Parameters
    ----------
    base : GroupPlan
        The group whose stamps are kept.
    others : sequence of GroupPlan
        Slower groups.
    joint_count : int
        Number of joints in the result.

    """

    def __init__(self, base: GroupPlan, others: Sequence[GroupPlan], joint_count: int) -> None:
        self.order = TimeOrder(base.clock)
        self._base = base
        self._joint_count = joint_count
        self._bridges = [_Bridge(other) for other in others]
        self._waiting: list[JointRows] = []
        self._seen = 0
        self._abandoned = 0

    def add(
        self, chunk: Sequence[JointRows], *, is_last: bool = False
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """
        Take a chunk; return the rows that are complete.

        Returns
        -------
        times : ndarray of int64, shape (n,)
            By the clock of the base [ns].
        values : ndarray, shape (n, 3, joint_count)
            Of all joints.

        """
        by_group = {rows.group.key: rows for rows in chunk}
        for bridge in self._bridges:
            bridge.add(by_group.get(bridge.plan.group.key), is_last=is_last)
        rows = by_group.get(self._base.group.key) or _nothing(self._base.group)
        ready = JointRows.joined([*self._waiting, self.order.add(rows, is_last=is_last)])
        count = len(ready) if is_last else self._complete(ready)
        self._waiting = [ready.picked(slice(count, None))]
        return self._filled(ready.picked(slice(count)))

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of rows that did not wait for a slower group, if any."""
        return {'not awaited': self._abandoned} if self._abandoned else {}

    @property
    def notes(self) -> list[str]:
        """Return the same in a sentence."""
        if not self._abandoned:
            return []
        return [f'{self._abandoned} samples lack joints that came only much later']

    def _complete(self, rows: JointRows) -> int:
        count = len(rows)
        for bridge in self._bridges:
            beyond = np.flatnonzero(bridge.at(rows) > bridge.known_until)
            count = min(count, int(beyond[0]) if len(beyond) else count)
        too_many = len(rows) - MOST_WAITING
        if count < too_many:
            self._abandoned += too_many - count
            return too_many
        return count

    def _filled(self, rows: JointRows) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        values = np.full((len(rows), len(FIELDS), self._joint_count), np.nan)
        for entry in self._base.entries:
            values[:, entry.field, entry.target] = rows.values[:, entry.field, entry.source]
        if len(rows):
            for bridge in self._bridges:
                bridge.fill(rows, values)
        return self._base.clock.times(rows), values


class _Bridge:
    """The samples of a slower group around the present time."""

    def __init__(self, plan: GroupPlan) -> None:
        self.plan = plan
        self.known_until = np.iinfo(np.int64).min
        self._order = TimeOrder(plan.clock)
        self._seen = 0
        self._kept = _nothing(plan.group)

    def at(self, rows: JointRows) -> NDArray[np.int64]:
        """Return the times of rows of the base by the clock of this group."""
        return self.plan.clock.times(rows)

    def add(self, rows: JointRows | None, *, is_last: bool) -> None:
        rows = rows or _nothing(self.plan.group)
        self._seen += len(rows)
        is_last = is_last or self._seen >= self.plan.rows
        ordered = self._order.add(rows, is_last=is_last)
        self._kept = JointRows.joined([self._kept, ordered])
        if is_last:
            self.known_until = np.iinfo(np.int64).max
        elif len(self._kept):
            self.known_until = int(self.plan.clock.times(self._kept)[-1])

    def fill(self, rows: JointRows, values: NDArray[np.float64]) -> None:
        at, known = self.at(rows), self.plan.clock.times(self._kept)
        if not len(known):
            return
        origin = at[0]  # differences keep the nanoseconds that float64 cannot hold since 1970
        x, xp = (at - origin).astype(np.float64), (known - origin).astype(np.float64)
        for entry in self.plan.entries:
            column = self._kept.values[:, entry.field, entry.source]
            values[:, entry.field, entry.target] = np.interp(
                x, xp, column, left=np.nan, right=np.nan
            )
        passed = int(np.searchsorted(known, at.max(), side='right')) - 1
        if passed > 0:
            self._kept = self._kept.picked(slice(passed, None))


def _nothing(group: JointGroup) -> JointRows:
    none = np.zeros(0, dtype=np.int64)
    return JointRows(group, none, none, np.zeros((0, len(FIELDS), len(group.joint_names))))
