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

"""The joint states of a log, or of a block of it, as named arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import BagError


@dataclass(frozen=True)
class JointLog:
    """
    Joint states over time.

    Row k of every array belongs to ``stamps[k]``, column j to ``joint_names[j]``.

    Attributes
    ----------
    stamps : ndarray, shape (n,)
        Times since the first sample of the log [s], strictly increasing, as stamped by the sender
        (not resampled).
    joint_names : tuple of str
        Column names.
    position : ndarray, shape (n, nj)
        [rad | m]; NaN where the sender gave NaN or nothing.
    velocity : ndarray, shape (n, nj), or None
        [rad/s | m/s]; None if the log has none.
    effort : ndarray, shape (n, nj), or None
        [N m | N]; None if the log has none; NaN where a sample has none.
    start : int
        Time of the first sample [ns since the epoch of the sender].
    topic : str
        Where the samples come from; several are separated by a comma.
    counts : mapping of str to int
        How many messages or samples, by what happened to them; of a log that is read in blocks
        only the last one has them, and the notes.
    notes : tuple of str
        Everything that a reader of results should know about the log, one sentence each.

    """

    stamps: Vector
    joint_names: tuple[str, ...]
    position: Matrix
    velocity: Matrix | None
    effort: Matrix | None
    start: int = 0
    topic: str = ''
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def duration(self) -> float:
        """Time from the first to the last sample [s]."""
        return float(self.stamps[-1] - self.stamps[0])

    @property
    def rate(self) -> float:
        """Return the samples per second, from the median step [Hz]."""
        return float(1.0 / np.median(np.diff(self.stamps)))

    def select(
        self,
        joint_names: Sequence[str],
        joint_map: Mapping[str, str] | None = None,
    ) -> JointLog:
        """
        Rename, pick and order columns; samples without a position of a picked joint are left out.

        Parameters
        ----------
        joint_names : sequence of str
            Wanted columns, by their new names.
        joint_map : mapping, optional
            New name of each joint of the log; joints that are not in it keep theirs.

        Returns
        -------
        log : JointLog
            A new log; a field that holds no number at all becomes None.

        Raises
        ------
        BagError
            If a wanted joint is not in the log, or too few samples are left.

        """
        renamed = [(joint_map or {}).get(name, name) for name in self.joint_names]
        if missing := [name for name in joint_names if name not in renamed]:
            raise BagError(
                f'the log has no joint {", ".join(missing)}; it has: {", ".join(renamed)}'
            )
        columns = [renamed.index(name) for name in joint_names]
        position = self.position[:, columns]
        rows = np.flatnonzero(np.isfinite(position).all(axis=1))
        if len(rows) < 2:
            raise BagError(f'{self.topic} has no position of {", ".join(joint_names)}')
        lost = len(position) - len(rows)
        note = (f'{lost} samples without a finite position were left out',) if lost else ()
        return replace(
            self,
            stamps=frozen(self.stamps[rows] - self.stamps[rows][0]),
            joint_names=tuple(joint_names),
            position=frozen(position[rows]),
            velocity=_picked(self.velocity, rows, columns),
            effort=_picked(self.effort, rows, columns),
            start=self.start + round(float(self.stamps[rows][0]) * 1e9),
            counts={**self.counts, **({'not finite': lost} if lost else {})},
            notes=self.notes + note,
        )


def _or_none(values: Matrix) -> Matrix | None:
    return frozen(values) if np.isfinite(values).any() else None


def _picked(values: Matrix | None, rows: NDArray[np.intp], columns: list[int]) -> Matrix | None:
    return None if values is None else _or_none(values[:, columns][rows])
