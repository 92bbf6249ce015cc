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
`robot_dynamics bag-info LOG [--urdf FILE]`: what is in a log, and whether it is fit for a model.

Exit code 0; 1 if the log cannot be used for identification, with the reasons in the report, or if
it is refused, with one line on stderr.

"""

from __future__ import annotations

import argparse
from dataclasses import asdict
import json
from math import inf, isfinite
from typing import Any

from robot_dynamics_ros.bags.bag_samples import BagSamples
from robot_dynamics_ros.bags.joint_blocks import JointLogStream
from robot_dynamics_ros.bags.joint_log import JointLog
from robot_dynamics_ros.bags.joint_map import resolve_joint_map
from robot_dynamics_ros.bags.log_source import LogSource
from robot_dynamics_ros.bags.storage import Topic
from robot_dynamics_ros.core.control.gravity import validate_gravity
from robot_dynamics_ros.core.exceptions import BagError, ModelError
from robot_dynamics_ros.core.log_health.effort_meaning import refuse_gravity_compensated
from robot_dynamics_ros.core.log_health.log_health import LogHealth
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.report.progress import Progress
from robot_dynamics_ros.tools.argument_types import (
    add_gravity_argument,
    number_between,
    robot_file,
)
from robot_dynamics_ros.tools.bag_info_text import as_text
from robot_dynamics_ros.tools.joint_matching import match_joints
from robot_dynamics_ros.tools.log_arguments import add_log_arguments, effort_meaning
from robot_dynamics_ros.tools.log_opening import open_stream, samples_of, watch_source
from robot_dynamics_ros.tools.robot_arguments import add_reading_arguments, parse_xacro_args


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the command line."""
    parser = subparsers.add_parser(
        'bag-info',
        help='show what is in a log of joint states, and whether it is fit for identification',
        description='Show what is in a log: topics, rate, gaps, jitter, which joints move, which '
        'efforts live. With a model: what the efforts seem to be, their sign and delay, and '
        'whether gravity has the direction of the model.',
    )
    add_log_arguments(parser, several=False)
    parser.add_argument('--json', action='store_true', help='print JSON')
    robot = parser.add_argument_group('comparison with a model')
    robot.add_argument(
        '--urdf', type=robot_file, metavar='FILE', help='URDF or xacro file of the robot'
    )
    robot.add_argument(
        '--lock',
        nargs='+',
        action='extend',
        default=[],
        metavar='JOINT:=VALUE',
        help='hold joints of the model that are not in the log [rad | m]; * fits any letters',
    )
    robot.add_argument(
        '--cutoff',
        type=number_between(1e-3, inf, 'Hz'),
        metavar='HZ',
        help='cutoff of the zero-phase filter; 5 Hz by default, or a fifth of the sampling rate '
        'if that is less',
    )
    add_gravity_argument(robot)
    add_reading_arguments(robot)


def run(args: argparse.Namespace) -> int:
    """Print the report; return 0, or 1 if the log cannot be used for identification."""
    refuse_gravity_compensated(args.effort)
    model = _load_model(args)
    samples = samples_of(args.log, args)
    topics = samples.contents if isinstance(samples, BagSamples) else ()
    with Progress('reading messages', samples.message_count) as progress:
        stream = open_stream(samples, args, advance=progress.advance)
        source, model, notes = _source(args, stream, model)
        watch, log = watch_source(source, advance=progress.advance)
    health = watch.judge(model, args.cutoff)
    report = _report(args, topics, source, log, health, notes)
    print(json.dumps(report, indent=2, allow_nan=False) if args.json else as_text(report))
    return 0 if health.is_usable else 1


def _load_model(args: argparse.Namespace) -> RobotModel | None:
    if args.urdf is None:
        return None
    model = load_urdf(
        args.urdf,
        strict=not args.lenient,
        xacro_args=parse_xacro_args(args.xacro_arg),
        gravity=validate_gravity(args.gravity),
    )
    if not model.has_only_single_joints:
        raise ModelError(f'{model.name} has joints of several coordinates; lock them')
    return model


def _source(
    args: argparse.Namespace, stream: JointLogStream, model: RobotModel | None
) -> tuple[LogSource, RobotModel | None, tuple[str, ...]]:
    """Return the samples in the order of the model, or of the log without one, and notes."""
    if model is not None:
        matched = match_joints(model, stream.joint_names, args.map, args.lock)
        names, joint_map, notes = matched.model.joint_names, matched.joint_map, matched.notes
        model = matched.model
    else:
        joint_map = resolve_joint_map(args.map, stream.joint_names)
        placed = [name for name in stream.joint_names if stream.has('position', [name])]
        if not placed:
            raise BagError(f'{stream.name} has no position of any joint')
        names = tuple(joint_map.get(name, name) for name in placed)
        lost = [name for name in stream.joint_names if name not in placed]
        notes = (f'{", ".join(lost)} have no position and are not shown',) if lost else ()
    meaning = effort_meaning(args, names)
    source = LogSource(stream, names, joint_map, meaning, since=args.since, until=args.until)
    return source, model, (*notes, meaning.sentence)


def _report(
    args: argparse.Namespace,
    topics: tuple[Topic, ...],
    source: LogSource,
    log: JointLog,
    health: LogHealth,
    notes: tuple[str, ...],
) -> dict[str, Any]:
    content = asdict(health)
    content['time']['rate'] = health.time.rate
    report = {
        'log': args.log,
        'contents': [
            {'topic': topic.name, 'type': topic.msgtype, 'messages': topic.count}
            for topic in topics
        ],
        'topics': list(source.stream.topics) if topics else [],
        'joint_names': list(source.joint_names),
        'model': args.urdf,
        'counts': dict(log.counts),
        'usable': health.is_usable,
        **content,
        'notes': [*log.notes, *notes],
    }
    finite: dict[str, Any] = _without_nan(report)
    return finite


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(entry) for entry in value]
    return None if isinstance(value, float) and not isfinite(value) else value
