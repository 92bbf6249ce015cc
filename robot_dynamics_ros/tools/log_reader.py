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

"""Read logs for a model again and again, here or in processes that were sent the reader."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any
import uuid

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.bags.log_source import LogSource
from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.joint_record import JointRecord
from robot_dynamics_ros.core.log_health.effort_meaning import EffortMeaning
from robot_dynamics_ros.core.log_health.log_health import LogWatch, LONGEST_EXCERPT
from robot_dynamics_ros.report.progress import Progress
from robot_dynamics_ros.tools.log_arguments import OpenedLogs
from robot_dynamics_ros.tools.log_opening import open_stream, samples_of

BLOCK = LONGEST_EXCERPT
"""Samples that are read together."""

KEPT = 64_000_000
"""Bytes of samples that are remembered of a log; a longer one is read for each pass."""


class OpenLog:
    """
    A log that has been read once: its times are known, and its samples can be read again.

    Blocks of samples are remembered as long as they fit, then every second, fourth, ... of them:
    a log that fits is read no more, and of a longer one there are stretches spread evenly over it.

    Parameters
    ----------
    name : str
        What the user calls it.
    source : LogSource
        Reads it.
    shows_progress : bool
        Whether reading is shown.

    Attributes
    ----------
    stamps : ndarray, shape (n,)
        All times [s].
    velocity_known, effort_known : ndarray of bool, shape (n,)
        Where all joints have one.
    notes : tuple of str
        Of the log.
    watch : LogWatch
        What was seen of its health.

    Raises
    ------
    BagError
        If it cannot be read.
    ConfigurationError
        If efforts are missing.

    """

    def __init__(self, name: str, source: LogSource, *, shows_progress: bool) -> None:
        self.name = name
        self._source, self._shows_progress = source, shows_progress
        self.watch = LogWatch(source.joint_names)
        self._kept: list[JointRecord] = []
        self._every = 1
        stamps, velocity_known, effort_known = [], [], []
        alive: NDArray[np.bool_] = np.zeros(len(source.joint_names), dtype=bool)
        for number, block in enumerate(self._read()):
            self.watch.add(block.stamps, block.position, block.velocity, block.effort)
            stamps.append(block.stamps)
            known = np.isfinite(block.effort)
            alive |= known.any(axis=0)
            effort_known.append(known.all(axis=1))
            velocity_known.append(_known(block))
            self._remember(number, block)
            self.notes = block.notes
        silent = [joint for joint, has_one in zip(source.joint_names, alive) if not has_one]
        if silent:
            raise ConfigurationError(f'{source.name} has no effort of {", ".join(silent)}')
        self.stamps: Vector = np.concatenate(stamps)
        self.velocity_known = np.concatenate(velocity_known)
        self.effort_known = np.concatenate(effort_known)

    def blocks(self) -> Iterator[JointRecord]:
        """
        Yield the samples in blocks.

        Raises
        ------
        BagError
            If the log cannot be read any more.

        """
        return iter(self._kept) if self._every == 1 else self._read()

    def excerpts(self, start: float, stop: float) -> list[JointRecord]:
        """Return the parts of what is remembered that lie in a span of time [s]."""
        cut = [block.between(start, stop) for block in self._kept]
        found = [part for part in cut if len(part.stamps)]
        if self._every == 1 and sum(len(part.stamps) for part in found) <= BLOCK:
            return [JointRecord.joined(found)]
        return found

    def _remember(self, number: int, block: JointRecord) -> None:
        if number % self._every:
            return
        self._kept.append(block)
        samples = sum(len(kept.stamps) for kept in self._kept)
        fields = 2 if block.velocity is None else 3
        if 8 * samples * (1 + fields * block.position.shape[1]) > KEPT and len(self._kept) > 2:
            self._kept = self._kept[::2]
            self._every *= 2

    def _read(self) -> Iterator[JointRecord]:
        source = self._source
        with ExitStack() as stack:
            advance = None
            if self._shows_progress:
                progress = stack.enter_context(Progress(f'reading {source.name}'))
                advance = progress.advance
            for log in source.blocks(BLOCK, advance=advance):
                if log.effort is None:
                    raise ConfigurationError(
                        f'{source.name}: {log.topic} has no effort; an identification needs '
                        'measured efforts'
                    )
                yield JointRecord(
                    self.name, log.stamps, log.position, log.velocity, log.effort, log.notes
                )


class LogReader:
    """
    Opens logs; the last one and the surveys of all are remembered.

    A copy that another process gets remembers nothing at first, and is then the same for all that
    this process is sent.

    Parameters
    ----------
    args : argparse.Namespace
        Those of `add_log_arguments`.
    joint_names : tuple of str
        Joints of the model.
    joint_map : mapping of str to str
        Name in the model of each renamed joint of the logs.
    meaning : EffortMeaning
        How efforts become torques.

    """

    def __init__(
        self,
        args: argparse.Namespace,
        joint_names: tuple[str, ...],
        joint_map: Mapping[str, str],
        meaning: EffortMeaning,
    ) -> None:
        self._settings = (args, joint_names, dict(joint_map), meaning)
        self._key = uuid.uuid4().hex
        self._shows_progress = True
        self._sources: dict[str, LogSource] = {}
        self._last: OpenLog | None = None

    @staticmethod
    def of(args: argparse.Namespace, opened: OpenedLogs) -> LogReader:
        """Return a reader for logs like those that were opened, which it remembers."""
        matched = opened.matched
        reader = LogReader(args, matched.model.joint_names, matched.joint_map, opened.meaning)
        reader._sources = dict(zip(args.logs, opened.sources))
        return reader

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what is sent to another process: the settings."""
        return _reader_here, (self._key, *self._settings)

    def expected_samples(self, name: str) -> int:
        """Return about how many samples a log has; 0 if it does not say so itself."""
        return samples_of(name, self._settings[0]).message_count or 0

    def opened(self, name: str) -> OpenLog:
        """
        Open a log; errors as of `OpenLog`.

        Raises
        ------
        BagError
            If it lacks a joint.

        """
        if self._last is None or self._last.name != name:
            self._last = None  # before the next one takes its place
            source = self._source(name)
            self._last = OpenLog(name, source, shows_progress=self._shows_progress)
        return self._last

    def _source(self, name: str) -> LogSource:
        if name not in self._sources:
            args, joint_names, joint_map, meaning = self._settings
            stream = open_stream(samples_of(name, args), args)
            source = LogSource(
                stream, joint_names, joint_map, meaning, since=args.since, until=args.until
            )
            source.require_joints()
            self._sources[name] = source
        return self._sources[name]


def _known(block: JointRecord) -> NDArray[np.bool_]:
    if block.velocity is None:
        return np.zeros(len(block.stamps), dtype=bool)
    found: NDArray[np.bool_] = np.isfinite(block.velocity).all(axis=1)
    return found


_HERE: dict[str, LogReader] = {}


def _reader_here(
    key: str,
    args: argparse.Namespace,
    joint_names: tuple[str, ...],
    joint_map: Mapping[str, str],
    meaning: EffortMeaning,
) -> LogReader:
    """Return the one reader of this process for a run; that of an earlier run is forgotten."""
    if key not in _HERE:
        _HERE.clear()
        reader = LogReader(args, joint_names, joint_map, meaning)
        reader._key = key
        reader._shows_progress = False
        _HERE[key] = reader
    return _HERE[key]
