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

"""The logs of `robot_dynamics identify`, cut into training and held-out data."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.excitation_spectrum import CutoffChoice
from robot_dynamics_ros.core.identification.identification import (
    IdentificationOptions,
    training_cutoffs,
)
from robot_dynamics_ros.core.identification.joint_record import JointRecord, RecordSpan
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.tools.joint_matching import MatchedJoints
from robot_dynamics_ros.tools.log_arguments import add_log_arguments, open_logs
from robot_dynamics_ros.tools.log_reader import LogReader, OpenLog

TRAINING_PART = 2.0 / 3.0
"""Of every log, if nothing is said about training and test."""

FEWEST = 20
"""Samples of a part of a log."""


@dataclass(frozen=True, eq=False)
class LogPart:
    """
    A part of a log, read when it is needed.

    Attributes
    ----------
    reader : LogReader
        Reads the log.
    name : str
        The log.
    span : tuple of float, or None
        The part that is fitted [s]; None for two thirds.
    is_held_out : bool
        Whether what comes after that part is meant.
    leaves_rest : bool
        Whether something must come after it.
    purpose : str
        For messages.

    """

    reader: LogReader
    name: str
    span: tuple[float, float] | None
    is_held_out: bool = False
    leaves_rest: bool = False
    purpose: str = 'to verify with'

    @property
    def expected_samples(self) -> int:
        """Return about how many samples the log has."""
        return self.reader.expected_samples(self.name)

    def opened(self) -> OpenPart:
        """
        Return the part.

        Raises
        ------
        BagError
            If the log cannot be read, or lacks a joint.
        ConfigurationError
            If efforts are missing, or too little is left.

        """
        log = self.reader.opened(self.name)
        duration = float(log.stamps[-1] - log.stamps[0])
        start, stop = self.span or (0.0, TRAINING_PART * duration)
        if self.leaves_rest:
            # Before the part is looked at, so that the error is the one that helps.
            _cut(log, start, stop, 'to fit (--train)')
            if stop > duration:
                raise ConfigurationError(
                    f'--train takes all of {log.name}, which lasts {duration:.4g} s: '
                    'nothing is left to verify with; shorten it, or name a log with --test'
                )
        if self.is_held_out:
            start, stop = stop, inf
        return _cut(log, start, stop, self.purpose)


@dataclass(frozen=True, eq=False)
class OpenPart:
    """
    A part of a log that has been read once.

    Attributes
    ----------
    log : OpenLog
        The log.
    rows : slice
        The samples of the part.

    """

    log: OpenLog
    rows: slice

    @property
    def name(self) -> str:
        """Return the log."""
        return self.log.name

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes of the log."""
        return self.log.notes

    @property
    def stamps(self) -> Vector:
        """Return the times [s]."""
        return self.log.stamps[self.rows]

    @property
    def has_velocity(self) -> bool:
        """Tell whether every velocity was measured."""
        return bool(self.log.velocity_known[self.rows].all())

    @property
    def has_effort(self) -> bool:
        """Tell whether every effort was measured."""
        return bool(self.log.effort_known[self.rows].all())

    def blocks(self) -> Iterator[JointRecord]:
        """Yield the samples in blocks; what comes after the part is not read."""
        passed = 0
        for block in self.log.blocks():
            first, last = self.rows.start - passed, self.rows.stop - passed
            passed += len(block.stamps)
            if first < len(block.stamps):
                yield block.picked(slice(max(0, first), last))
            if passed >= self.rows.stop:
                return

    def excerpts(self) -> Sequence[JointRecord]:
        """Return stretches of the part; its beginning if none is remembered."""
        stamps = self.stamps
        stop = float(np.nextafter(stamps[-1], inf))
        return self.log.excerpts(float(stamps[0]), stop) or [next(self.blocks())]


@dataclass(frozen=True, eq=False)
class IdentificationData:
    """
    What is fitted, and what it is verified with.

    Attributes
    ----------
    matched : MatchedJoints
        The model, and how its joints were matched.
    training, held_out : tuple of LogPart
        Parts of logs, efforts converted to torques.
    notes : tuple of str
        What a reader should know about the efforts.

    """

    matched: MatchedJoints
    training: tuple[LogPart, ...]
    held_out: tuple[LogPart, ...]
    notes: tuple[str, ...]


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the logs, how to read them, and which parts are fitted."""
    add_log_arguments(parser)
    parts = parser.add_argument_group('training and verification')
    parts.add_argument(
        '--train',
        type=time_span,
        metavar='START:STOP',
        help='part of every log to fit [s after its beginning]; two thirds by default, or all of '
        'it if --test names logs',
    )
    parts.add_argument(
        '--test',
        nargs='+',
        default=['rest'],
        metavar='LOG',
        help='logs to verify with; "rest" (default) is what --train leaves of the others',
    )
    parts.add_argument(
        '--lock',
        nargs='+',
        action='extend',
        default=[],
        metavar='JOINT:=VALUE',
        help='hold joints of the model that are not in the log [rad | m]; * fits any letters',
    )


def time_span(text: str) -> tuple[float, float]:
    """
    Return start and stop of ``START:STOP``; either may be missing.

    Raises
    ------
    argparse.ArgumentTypeError
        If the text is something else.

    """
    start, colon, stop = text.partition(':')
    try:
        span = (float(start or 0.0), float(stop or inf))
    except ValueError:
        span = (1.0, 0.0)
    if not colon or not 0.0 <= span[0] < span[1]:
        raise argparse.ArgumentTypeError(f"'{text}' is not START:STOP in seconds, as in 0:18")
    return span


def identification_data(args: argparse.Namespace, model: RobotModel) -> IdentificationData:
    """
    Find the logs that the arguments name; all but the first are opened when they are read.

    Raises
    ------
    BagError
        If the first log cannot be read.
    ConfigurationError
        If joints cannot be matched.
    ModelError
        If the model cannot be built with these joints held.

    """
    others = [name for name in args.test if name != 'rest']
    has_rest = 'rest' in args.test
    if others and has_rest:
        raise ConfigurationError('--test takes either logs or "rest"')
    first = argparse.Namespace(**{**vars(args), 'logs': args.logs[:1]})
    opened = open_logs(first, model, args.lock)
    reader = LogReader.of(first, opened)
    span = args.train or ((0.0, inf) if others else None)
    training = tuple(
        LogPart(reader, name, span, leaves_rest=has_rest, purpose='to fit (--train)')
        for name in args.logs
    )
    held_out = tuple(
        LogPart(reader, name, span, is_held_out=True, leaves_rest=True) for name in args.logs
    )
    if others:
        held_out = tuple(LogPart(reader, name, (0.0, inf)) for name in others)
    return IdentificationData(opened.matched, training, held_out, (opened.meaning.sentence,))


def surveyed(
    part: LogPart, robot: RobotModel, options: IdentificationOptions
) -> tuple[CutoffChoice, tuple[str, ...]]:
    """
    Return the cutoffs for all logs from the longest one, and what is wrong or odd about it.

    Raises
    ------
    BagError, ConfigurationError
        As `LogPart.opened` and `training_cutoffs`.

    """
    record = part.opened()
    health = record.log.watch.judge()
    cutoffs = training_cutoffs(part, robot, options)
    return cutoffs, (*health.faults, *health.warnings)


def described(span: RecordSpan) -> dict[str, Any]:
    """Return what the report says of a part of a log."""
    return {'bag': span.name, 'start': span.start, 'stop': span.stop, 'samples': span.samples}


def _cut(log: OpenLog, start: float, stop: float, purpose: str) -> OpenPart:
    first, last = np.searchsorted(log.stamps, [start, stop]).tolist()
    if last - first < FEWEST:
        raise ConfigurationError(
            f'{log.name} has {last - first} samples {purpose}, expected at least {FEWEST}; '
            f'it runs from 0 to {log.stamps[-1]:.4g} s'
        )
    return OpenPart(log, slice(first, last))
