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

"""Open the logs that arguments name, of whatever kind, and watch them; see `log_arguments`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from robot_dynamics_ros.bags.bag_samples import BagSamples
from robot_dynamics_ros.bags.csv_samples import CSV_SUFFIXES, CsvSamples
from robot_dynamics_ros.bags.joint_blocks import JointLogStream
from robot_dynamics_ros.bags.joint_log import JointLog
from robot_dynamics_ros.bags.joint_rows import FIELDS
from robot_dynamics_ros.bags.log_source import LogSource
from robot_dynamics_ros.core.drive.coupled_gears import read_coupled_gears
from robot_dynamics_ros.core.exceptions import BagError, ConfigurationError
from robot_dynamics_ros.core.log_health.log_health import LogWatch, LONGEST_EXCERPT

ADVANCE = Callable[[int], None]


def open_streams(
    args: argparse.Namespace, *, advance: ADVANCE | None = None
) -> tuple[JointLogStream, ...]:
    """Open all logs as they were recorded; errors as of `samples_of` and `open_stream`."""
    return tuple(open_stream(samples_of(path, args), args, advance=advance) for path in args.logs)


def open_stream(
    samples: BagSamples | CsvSamples, args: argparse.Namespace, *, advance: ADVANCE | None = None
) -> JointLogStream:
    """
    Survey a log, with the gears that the arguments name.

    Raises
    ------
    BagError
        If the log cannot be read.
    ConfigurationError
        If the time window is empty, or the file of gears cannot be used.

    """
    if args.since >= args.until:
        raise ConfigurationError(
            f'--since {args.since:g} s is not before --until {args.until:g} s'
        )
    gears = None if args.gears is None else read_coupled_gears(args.gears)
    return JointLogStream(samples, gears=gears, advance=advance)


def samples_of(path: str, args: argparse.Namespace) -> BagSamples | CsvSamples:
    """
    Open one log of whatever kind.

    Raises
    ------
    BagError
        If it cannot be read.
    ConfigurationError
        If options for CSV files are given for a bag, or topics for a CSV file.

    """
    files: str | dict[str, str] = path
    if path.startswith(tuple(f'{field}=' for field in FIELDS)):
        parts = [part.partition('=') for part in path.split(',')]
        files = {field: file for field, _, file in parts}
    elif not path.lower().endswith(CSV_SUFFIXES):
        if args.csv_rate is not None or args.csv_columns:
            raise ConfigurationError(f'--csv-rate and --csv-columns are not for the bag {path}')
        return BagSamples(path, args.topic)
    if args.topic:
        raise ConfigurationError(f'--topic is not for the CSV file {path}')
    return CsvSamples(files, rate=args.csv_rate, columns=args.csv_columns)


def watch_source(
    source: LogSource, *, advance: ADVANCE | None = None
) -> tuple[LogWatch, JointLog]:
    """
    Read a log once in blocks and watch it; ``watch.judge(model)`` then says what it is worth.

    Parameters
    ----------
    source : LogSource
        The log.
    advance : callable, optional
        Called with half the number of messages read since the last call.

    Returns
    -------
    watch : LogWatch
        What was seen.
    last : JointLog
        The last block, with the counts and notes of the log.

    Raises
    ------
    BagError
        If the log cannot be read, or has fewer than two samples to use.

    """
    watch = LogWatch(source.joint_names)
    last: JointLog | None = None
    for last in source.blocks(LONGEST_EXCERPT, advance=advance):
        watch.add(last.stamps, last.position, last.velocity, last.effort)
    if last is None:
        raise BagError(f'{source.name} is empty')
    return watch, last
