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
Arguments that say which logs are meant, how they are read, and what their efforts mean.

A command adds them with `add_log_arguments` and opens what was asked for with `open_logs`::

    add_log_arguments(parser)                       # positional LOG ..., and the options
    ...
    logs = open_logs(args, model, advance=progress.advance)
    logs.matched.model                              # the model, with held joints locked
    for source in logs.sources:                     # one LogSource for each LOG
        for block in source.blocks(32768, overlap=500, advance=progress.advance):
            block.stamps, block.position, block.velocity, block.effort
        log = source.read()                         # the same, whole
        watch, last = watch_source(source)          # of log_opening; watch.judge(model)

Columns are in the order of ``logs.matched.model.joint_names``; ``effort`` is the torque of the
joints [N m | N], already converted. The last block (and ``read()``) has ``counts`` and ``notes``.

"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from robot_dynamics_ros.bags.log_source import LogSource
from robot_dynamics_ros.core.drive.measured_effort import EffortSemantics
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.log_health.effort_meaning import (
    EffortMeaning,
    refuse_gravity_compensated,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.tools.argument_types import number_between
from robot_dynamics_ros.tools.joint_matching import match_joints, MatchedJoints
from robot_dynamics_ros.tools.log_opening import ADVANCE, open_streams


def add_log_arguments(parser: argparse.ArgumentParser, *, several: bool = True) -> None:
    """Add the logs and all options for reading them; `several` allows more than one log."""
    parser.add_argument(
        'logs' if several else 'log',
        nargs='+' if several else None,
        metavar='LOG',
        help='rosbag2 folder or file (sqlite3, MCAP), ROS 1 bag, or CSV file; of CSV files with a '
        'field each: position=FILE,effort=FILE',
    )
    reading = parser.add_argument_group('reading of logs')
    reading.add_argument(
        '--topic',
        action='append',
        default=[],
        help='joint state topic; several are merged by joint names; found by its type if there '
        'is only one',
    )
    reading.add_argument(
        '--map',
        '--joint-map',
        nargs='+',
        action='extend',
        default=[],
        metavar='LOG:=MODEL',
        help='joint names: a whole name, or a prefix that is replaced in every name',
    )
    reading.add_argument(
        '--since',
        type=number_between(0.0, inf, 's'),
        default=0.0,
        metavar='S',
        help='leave out what is before this time after the beginning of the log',
    )
    reading.add_argument(
        '--until',
        type=number_between(0.0, inf, 's'),
        default=inf,
        metavar='S',
        help='leave out what is after this time after the beginning of the log',
    )
    _add_file_arguments(parser)
    _add_effort_arguments(parser)


def _add_file_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group('CSV files and logs of motors')
    group.add_argument(
        '--csv-rate',
        type=number_between(1e-6, inf, 'Hz'),
        metavar='HZ',
        help='sampling rate of CSV files without a column of times',
    )
    group.add_argument(
        '--csv-columns',
        nargs='+',
        default=[],
        metavar='COLUMN',
        help='meaning of each column of a CSV file: time, - for none, or FIELD:JOINT (position, '
        'velocity, effort); by default from its header, as in position_elbow',
    )
    group.add_argument(
        '--gears',
        metavar='FILE',
        help='YAML file of gears, where the log has positions and torques (or currents) of motors',
    )


def _add_effort_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group('meaning of efforts (JOINT may hold * for any letters)')
    group.add_argument(
        '--effort',
        choices=[choice.value for choice in EffortSemantics],
        default=EffortSemantics.TORQUE.value,
        help='what the efforts are; torque by default. Gravity-compensated ones are refused',
    )
    for option, text in (
        ('--torque-constant', 'torque of the motor over its current [N m/A]'),
        ('--gear-ratio', 'turns of the motor for one of the joint'),
        ('--effort-gain', 'torque of the joint over the recorded effort [N m/A, or 1]'),
        ('--effort-sign', '1, or -1 where the effort has the opposite sign'),
    ):
        group.add_argument(
            option, nargs='+', action='extend', default=[], metavar='JOINT=VALUE', help=text
        )


@dataclass(frozen=True)
class OpenedLogs:
    """
    Logs for a model.

    Attributes
    ----------
    matched : MatchedJoints
        The model with exactly the joints that are read, and how names were matched.
    meaning : EffortMeaning
        How efforts become torques.
    sources : tuple of LogSource
        One for each log.

    """

    matched: MatchedJoints
    meaning: EffortMeaning
    sources: tuple[LogSource, ...]


def open_logs(
    args: argparse.Namespace,
    model: RobotModel,
    lock_rules: Iterable[str] = (),
    *,
    advance: ADVANCE | None = None,
) -> OpenedLogs:
    """
    Open the logs that the arguments of `add_log_arguments` name.

    Each log is read once, to know its joints, and once more by each reading of its source.

    Parameters
    ----------
    args : argparse.Namespace
        Parsed arguments.
    model : RobotModel
        With all of its joints.
    lock_rules : iterable of str
        ``joint:=position`` of joints that are held, see `match_joints`.
    advance : callable, optional
        Called with half the number of messages read since the last call.

    Raises
    ------
    BagError
        If a log cannot be read, or lacks a joint that the first one has.
    ConfigurationError
        If joints cannot be matched, or an option is wrong.
    ModelError
        If the model cannot be built with these joints held.

    """
    refuse_gravity_compensated(args.effort)
    streams = open_streams(args, advance=advance)
    matched = match_joints(model, streams[0].joint_names, args.map, tuple(lock_rules))
    meaning = effort_meaning(args, matched.model.joint_names)
    sources = tuple(
        LogSource(
            stream,
            matched.model.joint_names,
            matched.joint_map,
            meaning,
            since=args.since,
            until=args.until,
        )
        for stream in streams
    )
    for source in sources:
        source.require_joints()
    return OpenedLogs(matched, meaning, sources)


def effort_meaning(args: argparse.Namespace, joint_names: Iterable[str]) -> EffortMeaning:
    """
    Return what the arguments say about efforts.

    Raises
    ------
    ConfigurationError
        If they are contradictory or incomplete; the option is named.

    """
    return EffortMeaning.stated(
        tuple(joint_names),
        args.effort,
        torque_constants=_numbers('--torque-constant', args.torque_constant),
        gear_ratios=_numbers('--gear-ratio', args.gear_ratio),
        gains=_numbers('--effort-gain', args.effort_gain),
        signs=_numbers('--effort-sign', args.effort_sign),
    )


def _numbers(option: str, pairs: Iterable[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for pair in pairs:
        name, _, text = pair.partition('=')
        try:
            found[name] = float(text)
        except ValueError as error:
            raise ConfigurationError(f"{option} '{pair}' is not JOINT=VALUE") from error
    return found
