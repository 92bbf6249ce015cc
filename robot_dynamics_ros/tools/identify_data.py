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
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from robot_dynamics_ros.bags.joint_log import JointLog
from robot_dynamics_ros.bags.log_source import LogSource
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.identification import JointRecord
from robot_dynamics_ros.core.log_health.log_health import judge_log
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.report.progress import Progress
from robot_dynamics_ros.tools.joint_matching import MatchedJoints
from robot_dynamics_ros.tools.log_arguments import add_log_arguments, open_logs

TRAINING_PART = 2.0 / 3.0
"""Of every log, if nothing is said about training and test."""

FEWEST = 20
"""Samples of a part of a log."""


@dataclass(frozen=True, eq=False)
class IdentificationData:
    """
    What is fitted, and what it is verified with.

    Attributes
    ----------
    matched : MatchedJoints
        The model, and how its joints were matched.
    training, held_out : tuple of JointRecord
        Parts of logs, efforts converted to torques.
    notes : tuple of str
        What a reader should know about the logs.

    """

    matched: MatchedJoints
    training: tuple[JointRecord, ...]
    held_out: tuple[JointRecord, ...]
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
    Read the logs that the arguments name.

    Raises
    ------
    BagError
        If a log cannot be read, or lacks a joint that the first one has.
    ConfigurationError
        If joints cannot be matched, efforts are missing, or a part is too short.
    ModelError
        If the model cannot be built with these joints held.

    """
    others = [name for name in args.test if name != 'rest']
    has_rest = 'rest' in args.test
    if others and has_rest:
        raise ConfigurationError('--test takes either logs or "rest"')
    training: list[JointRecord] = []
    held_out: list[JointRecord] = []
    notes: list[str] = []
    opened = open_logs(args, model, args.lock)
    for name, source in zip(args.logs, opened.sources):
        log, record = _read(name, source)
        notes += log.notes
        start, stop = args.train or (0.0, inf if others else TRAINING_PART * log.duration)
        training.append(_cut(record, start, stop, 'to fit (--train)'))
        if has_rest:
            if stop > log.duration:
                raise ConfigurationError(
                    f'--train takes all of {record.name}, which lasts {log.duration:.4g} s: '
                    'nothing is left to verify with; shorten it, or name a log with --test'
                )
            held_out.append(_cut(record, stop, inf, 'to verify with'))
    if others:
        named = argparse.Namespace(**{**vars(args), 'logs': others})
        for name, source in zip(others, open_logs(named, model, args.lock).sources):
            log, record = _read(name, source)
            notes += log.notes
            held_out.append(_cut(record, 0.0, inf, 'to verify with'))
    notes += [opened.meaning.sentence, *_health(training, opened.matched.model)]
    return IdentificationData(
        opened.matched, tuple(training), tuple(held_out), tuple(dict.fromkeys(notes))
    )


def described(record: JointRecord) -> dict[str, Any]:
    """Return what the report says of a part of a log."""
    return {
        'bag': record.name,
        'start': float(record.stamps[0]),
        'stop': float(record.stamps[-1]),
        'samples': len(record.stamps),
    }


def _read(name: str, source: LogSource) -> tuple[JointLog, JointRecord]:
    with Progress(f'reading {source.name}') as progress:
        log = source.read(advance=progress.advance)
    effort = log.effort
    if effort is None:
        raise ConfigurationError(
            f'{source.name}: {log.topic} has no effort; an identification needs measured efforts'
        )
    silent = [
        name for name, column in zip(log.joint_names, effort.T) if not np.isfinite(column).any()
    ]
    if silent:
        raise ConfigurationError(
            f'{source.name}: {log.topic} has no effort of {", ".join(silent)}'
        )
    return log, JointRecord(name, log.stamps, log.position, log.velocity, effort)


def _cut(record: JointRecord, start: float, stop: float, purpose: str) -> JointRecord:
    part = record.between(start, stop)
    if len(part.stamps) < FEWEST:
        raise ConfigurationError(
            f'{record.name} has {len(part.stamps)} samples {purpose}, expected at least {FEWEST}; '
            f'it runs from 0 to {record.stamps[-1]:.4g} s'
        )
    return part


def _health(training: Sequence[JointRecord], model: RobotModel) -> list[str]:
    """Return what is wrong or odd about the longest training data, whatever the model says."""
    longest = max(training, key=lambda record: len(record.stamps))
    health = judge_log(
        longest.stamps, longest.position, longest.velocity, longest.effort, model.joint_names
    )  # fmt: skip
    return [*health.faults, *health.warnings]
