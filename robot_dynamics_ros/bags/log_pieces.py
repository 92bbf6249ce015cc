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

"""Cut a log that comes in pieces into blocks, or join it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.bags.joint_log import JointLog
from robot_dynamics_ros.bags.joint_rows import FIELDS
from robot_dynamics_ros.core.arrays import frozen, Matrix
from robot_dynamics_ros.core.exceptions import BagError


def reblocked(pieces: Iterator[JointLog], size: int, overlap: int = 0) -> Iterator[JointLog]:
    """Cut a log that comes in pieces into blocks, see `joint_log_blocks`."""
    held: list[JointLog] = []
    new = 0
    for piece in pieces:
        held.append(piece)
        new += len(piece.stamps)
        is_last = bool(piece.counts)
        if new < size and not is_last:
            continue
        log = _joined(held)
        begin = len(log.stamps) - new  # the first of the new samples
        while new > size:
            yield replace(
                _cut(log, begin - min(overlap, begin), begin + size), counts={}, notes=()
            )
            begin += size
            new -= size
        if is_last:
            yield _cut(log, begin - min(overlap, begin), len(log.stamps))
            return
        held = [_cut(log, begin - min(overlap, begin), len(log.stamps))]


def whole_log(pieces: Iterator[JointLog], most_samples: int) -> JointLog:
    """Join a log that comes in pieces, without ever holding it twice."""
    columns: dict[str, Matrix] = {}
    count = 0
    piece = None
    for piece in pieces:
        for name in ('stamps', *FIELDS):
            values = getattr(piece, name)
            if values is not None:
                if name not in columns:
                    columns[name] = np.empty((most_samples, *values.shape[1:]))
                columns[name][count : count + len(values)] = values
        count += len(piece.stamps)
    if piece is None:
        raise BagError('the log is empty')
    for name, values in columns.items():
        columns[name] = values[:count]
        columns[name].setflags(write=False)
    return replace(piece, **columns)  # type: ignore[arg-type]


def _joined(pieces: Sequence[JointLog]) -> JointLog:
    if len(pieces) == 1:
        return pieces[0]
    whole = {
        name: frozen(np.concatenate([getattr(piece, name) for piece in pieces]))
        for name in ('stamps', *FIELDS)
        if getattr(pieces[-1], name) is not None
    }
    return replace(pieces[-1], **whole)  # type: ignore[arg-type]


def _cut(log: JointLog, begin: int, end: int) -> JointLog:
    part = {
        name: frozen(getattr(log, name)[begin:end])
        for name in ('stamps', *FIELDS)
        if getattr(log, name) is not None
    }
    return replace(log, **part)  # type: ignore[arg-type]
