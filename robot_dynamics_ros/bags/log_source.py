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

"""A log in the joint order of a model, its efforts turned into torques, whole or in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.bags.joint_blocks import JointLogStream
from robot_dynamics_ros.bags.joint_log import JointLog
from robot_dynamics_ros.bags.log_pieces import reblocked, whole_log
from robot_dynamics_ros.core.arrays import frozen, Matrix
from robot_dynamics_ros.core.exceptions import BagError
from robot_dynamics_ros.core.log_health.effort_meaning import EffortMeaning


@dataclass(frozen=True)
class LogSource:
    """
    Where samples for a model come from; each call reads the log anew.

    Attributes
    ----------
    stream : JointLogStream
        The log as it was recorded.
    joint_names : tuple of str
        Joints of the model, the columns of what is read.
    joint_map : mapping of str to str
        Name in the model of each renamed joint of the log.
    meaning : EffortMeaning, optional
        How efforts become torques; they stay as recorded without one.
    since, until : float
        Samples are used from and up to these times after the first one of the log [s].

    """

    stream: JointLogStream
    joint_names: tuple[str, ...]
    joint_map: Mapping[str, str] = field(default_factory=dict)
    meaning: EffortMeaning | None = None
    since: float = 0.0
    until: float = inf

    @property
    def name(self) -> str:
        """Return the path of the log, as it was given."""
        return self.stream.name

    def blocks(
        self,
        block_size: int = 32768,
        overlap: int = 0,
        *,
        advance: Callable[[int], None] | None = None,
    ) -> Iterator[JointLog]:
        """
        Read in bounded memory.

        Parameters
        ----------
        block_size : int
            Samples of a block that were in none before; the last one may have fewer.
        overlap : int
            Samples of the end of a block that are repeated at the beginning of the next.
        advance : callable, optional
            Called with the number of messages read since the last call.

        Yields
        ------
        block : JointLog
            Positions are finite; `effort` is the torque [N m | N], None if the log has none.
            ``stamps`` count from the first sample of the whole log, at ``start``. `counts` and
            `notes` are those of the whole log in the last block, and empty before.

        Raises
        ------
        BagError
            If the log cannot be read, lacks a joint, or has fewer than two samples to use.

        """
        pieces = self.stream.pieces(advance=advance)
        return reblocked(self._picked(pieces), block_size, overlap)

    def read(self, *, advance: Callable[[int], None] | None = None) -> JointLog:
        """Read everything into memory; as the blocks, and the same errors."""
        pieces = self.stream.pieces(advance=advance)
        return whole_log(self._picked(pieces), self.stream.most_samples)

    def require_joints(self) -> list[int]:
        """
        Return the columns of the log that the joints are in.

        Raises
        ------
        BagError
            If the log lacks a joint.

        """
        log_names = [self.joint_map.get(name, name) for name in self.stream.joint_names]
        if missing := [name for name in self.joint_names if name not in log_names]:
            raise BagError(
                f'{self.name} has no joint {", ".join(missing)}; it has: {", ".join(log_names)}'
            )
        return [log_names.index(name) for name in self.joint_names]

    def _picked(self, pieces: Iterator[JointLog]) -> Iterator[JointLog]:
        columns = self.require_joints()
        lost = outside = used = 0
        for piece in pieces:
            inside = (piece.stamps >= self.since) & (piece.stamps <= self.until)
            finite = np.isfinite(piece.position[:, columns]).all(axis=1)
            lost += int(np.count_nonzero(inside & ~finite))
            outside += int(np.count_nonzero(~inside))
            rows = np.flatnonzero(inside & finite)
            used += len(rows)
            picked = self._rows(piece, rows, columns)
            if piece.counts:
                self._require_samples(used)
                picked = _with_losses(picked, lost, outside)
            yield picked

    def _rows(self, piece: JointLog, rows: NDArray[np.intp], columns: Sequence[int]) -> JointLog:
        names = [self.stream.joint_names[column] for column in columns]
        velocity = _picked(piece.velocity, rows, columns, self.stream.has('velocity', names))
        effort = _picked(piece.effort, rows, columns, self.stream.has('effort', names))
        if effort is not None and self.meaning is not None:
            effort = frozen(self.meaning.torque(effort))
        return replace(
            piece,
            stamps=frozen(piece.stamps[rows]),
            joint_names=self.joint_names,
            position=frozen(piece.position[:, columns][rows]),
            velocity=velocity,
            effort=effort,
        )

    def _require_samples(self, used: int) -> None:
        if used >= 2:
            return
        window = ''
        if (self.since, self.until) != (0.0, inf):
            window = f' from {self.since:g} s to {self.until:g} s'
        raise BagError(
            f'{self.name} has {used} samples with a position of {", ".join(self.joint_names)}'
            f'{window}, expected at least 2'
        )


def _picked(
    values: Matrix | None, rows: NDArray[np.intp], columns: Sequence[int], is_known: bool
) -> Matrix | None:
    return frozen(values[:, columns][rows]) if values is not None and is_known else None


def _with_losses(log: JointLog, lost: int, outside: int) -> JointLog:
    counts, notes = dict(log.counts), list(log.notes)
    if lost:
        counts['not finite'] = lost
        notes.append(f'{lost} samples without a finite position were left out')
    if outside:
        counts['outside the time window'] = outside
        notes.append(f'{outside} samples outside the time window were left out')
    return replace(log, counts=counts, notes=tuple(notes))
