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
The joint states of a log in blocks, cleaned and named, in bounded memory.

The log is read twice. The first reading finds out what concerns the whole of it: which joints come
together and how often, whether headers have stamps, where a clock was reset, the usual step. The
second cleans, merges and hands on.

"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.bags.bag_samples import BagSamples
from robot_dynamics_ros.bags.joint_log import JointLog
from robot_dynamics_ros.bags.joint_merge import JointMerge
from robot_dynamics_ros.bags.joint_rows import FIELDS, JointRows, SampleSource
from robot_dynamics_ros.bags.log_pieces import reblocked, whole_log
from robot_dynamics_ros.bags.merge_plan import plan_merge, survey_groups
from robot_dynamics_ros.bags.time_order import GapCount
from robot_dynamics_ros.core.arrays import frozen, Vector
from robot_dynamics_ros.core.drive.coupled_gears import CoupledGears
from robot_dynamics_ros.core.exceptions import BagError

BLOCK = 32768
"""Samples of a block, unless told otherwise."""


class JointLogStream:
    """
    A log that has been surveyed, and can be read in pieces as often as wanted.

    Parameters
    ----------
    source : SampleSource
        The log.
    gears : CoupledGears, optional
        What brings motors, which the log has, to joints.
    advance : callable, optional
        Called with half the number of messages read: the other half is called for by `pieces`.

    Attributes
    ----------
    name : str
        Path and topics.
    joint_names : tuple of str
        All joints of the log.

    Raises
    ------
    BagError
        If the log has no usable sample, or lacks a motor.

    """

    def __init__(
        self,
        source: SampleSource,
        *,
        gears: CoupledGears | None = None,
        advance: Callable[[int], None] | None = None,
    ) -> None:
        self._source = source
        self.name = source.name
        self._surveys = survey_groups(source, _half(advance))
        self._plan = plan_merge(self._surveys)
        self._gears = gears
        names = self._plan.joint_names
        self._columns = list(range(len(names)))
        self.joint_names = names
        if gears is not None:
            if missing := [name for name in gears.motor_names if name not in names]:
                raise BagError(
                    f'{self.name} has no motor {", ".join(missing)}; it has: {", ".join(names)}'
                )
            self._columns = [names.index(name) for name in gears.motor_names]
            self.joint_names = gears.joint_names

    @property
    def topics(self) -> tuple[str, ...]:
        """Return the topics that samples come from."""
        return self._plan.topics

    @property
    def most_samples(self) -> int:
        """Return a number of samples that is not exceeded."""
        return self._plan.base.rows

    def has(self, field: str, joint_names: Sequence[str] | None = None) -> bool:
        """Tell whether a field ever has a finite value, of any of these joints (or of all)."""
        names = self.joint_names if joint_names is None else joint_names
        columns = [self._columns[self.joint_names.index(name)] for name in names]
        return bool(self._plan.known[FIELDS.index(field), columns].any())

    def pieces(self, *, advance: Callable[[int], None] | None = None) -> Iterator[JointLog]:
        """
        Read the log.

        Yields
        ------
        piece : JointLog
            Samples that follow those of the piece before, in pieces of any length, also none.
            `counts` and `notes` are those of the whole log in the last piece, and empty before.

        Raises
        ------
        BagError
            If the log cannot be read, or has fewer than two usable samples.

        """
        plan = self._plan
        merge = JointMerge(plan.base, plan.others, len(plan.joint_names))
        gaps = GapCount(1e-9 * plan.base.clock.median_step)
        start: int | None = None
        samples = 0
        for chunk, is_last in _with_last(self._source.chunks(_half(advance))):
            times, values = merge.add(chunk, is_last=is_last)
            start = int(times[0]) if start is None and len(times) else start
            seconds: Vector = 1e-9 * (times - (start or 0)).astype(np.float64)
            gaps.add(seconds)
            samples += len(times)
            piece = self._piece(seconds, values, start or 0)
            yield self._with_report(piece, samples, merge, gaps) if is_last else piece

    def _piece(self, seconds: Vector, values: NDArray[np.float64], start: int) -> JointLog:
        position, velocity, effort = (values[:, index][:, self._columns] for index in range(3))
        if self._gears is not None:
            position = self._gears.position(position)
            velocity = self._gears.velocity(velocity)
            effort = self._gears.effort(effort)
        return JointLog(
            stamps=frozen(seconds),
            joint_names=self.joint_names,
            position=frozen(position),
            velocity=frozen(velocity) if self.has('velocity') else None,
            effort=frozen(effort) if self.has('effort') else None,
            start=start,
            topic=', '.join(self.topics),
        )

    def _with_report(
        self, piece: JointLog, samples: int, merge: JointMerge, gaps: GapCount
    ) -> JointLog:
        if samples < 2:
            raise BagError(f'{self.name} has {samples} usable samples, expected at least 2')
        source, plan, order = self._source, self._plan, merge.order
        clock = plan.base.clock
        return replace(
            piece,
            counts={
                **source.counts,
                **clock.counts,
                **order.counts,
                **merge.counts,
                **gaps.counts,
            },
            notes=(
                *source.notes,
                *plan.notes,
                *clock.notes,
                *order.notes,
                *merge.notes,
                *gaps.notes,
                *self._field_notes(),
            ),
        )

    def _field_notes(self) -> list[str]:
        notes = []
        first = self._surveys[0]
        for index, field in enumerate(FIELDS):
            if not self.has(field):
                notes.append(f'the log has no {field}')
            elif field != 'position' and first.incomplete[index]:  # positions: where picked
                bad, rows = first.incomplete[index], first.clock.rows
                notes.append(f'{bad} of {rows} samples lack a finite {field} of some joint')
        return notes


def joint_log_blocks(
    path: str | Path,
    topics: Sequence[str] = (),
    *,
    block_size: int = BLOCK,
    overlap: int = 0,
    advance: Callable[[int], None] | None = None,
) -> Iterator[JointLog]:
    """
    Read the joint states of a bag in blocks, in bounded memory.

    Together the blocks hold what `read_joint_log` returns.

    Parameters
    ----------
    path : str or Path
        Bag folder or storage file.
    topics : sequence of str
        Joint state topics, merged by joint names; found by type if there is only one.
    block_size : int
        Samples of a block that were in none before; the last one may have fewer.
    overlap : int
        Samples of the end of a block that are repeated at the beginning of the next.
    advance : callable, optional
        Called with the number of messages read since the last call, each reading of the two
        counting half.

    Yields
    ------
    block : JointLog
        ``stamps`` count from the first sample of the whole log. `counts` and `notes` are those of
        the whole log in the last block, and empty before.

    Raises
    ------
    BagError
        If the bag, the topics or the samples cannot be used; one sentence says why.

    """
    stream = JointLogStream(BagSamples(path, topics), advance=advance)
    return reblocked(stream.pieces(advance=advance), block_size, overlap)


def read_joint_log(
    path: str | Path,
    topics: str | Sequence[str] | None = None,
    *,
    advance: Callable[[int], None] | None = None,
) -> JointLog:
    """
    Read the joint states of a bag.

    Joints are found by name in every message. Messages with wrong lengths or doubled names are
    left out, repeated and disordered stamps are cleaned, and what comes in messages of its own, or
    on another topic, is interpolated onto the stamps of the most frequent ones; `counts` and
    `notes` tell of each.

    Parameters
    ----------
    path : str or Path
        Bag folder or storage file.
    topics : str or sequence of str, optional
        Names of joint state topics; found by type if there is only one.
    advance : callable, optional
        Called with the number of messages read since the last call, for a progress display.

    Returns
    -------
    log : JointLog
        All joints of the topics.

    Raises
    ------
    BagError
        If the bag, the topics or the samples cannot be used; one sentence says why.

    """
    names = (topics,) if isinstance(topics, str) else tuple(topics or ())
    stream = JointLogStream(BagSamples(path, names), advance=advance)
    return whole_log(stream.pieces(advance=advance), stream.most_samples)


def _half(advance: Callable[[int], None] | None) -> Callable[[int], None] | None:
    """Let a reading count half, since there are two."""
    if advance is None:
        return None
    rest = 0

    def advance_half(count: int) -> None:
        nonlocal rest
        steps, rest = divmod(count + rest, 2)
        advance(steps)

    return advance_half


def _with_last(items: Iterator[list[JointRows]]) -> Iterator[tuple[list[JointRows], bool]]:
    """Tell with each item whether it is the last one; an empty one is given if there is none."""
    before: list[JointRows] = []
    is_first = True
    for item in items:
        if not is_first:
            yield before, False
        before, is_first = item, False
    yield before, True
