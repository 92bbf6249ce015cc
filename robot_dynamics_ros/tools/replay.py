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
`robot_dynamics replay BAG --urdf FILE --output DIR`: model torques beside measured ones.

Exit code 0; 1 if the bag, the model or the output folder is refused, with one line on stderr.

"""

from __future__ import annotations

import argparse
from math import inf
from typing import Any

from robot_dynamics_ros.bags.joint_blocks import read_joint_log
from robot_dynamics_ros.bags.joint_log import JointLog
from robot_dynamics_ros.core.control.gravity import validate_gravity
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.signals.zero_phase import ZeroPhaseFilter
from robot_dynamics_ros.report.atomic import refuse_filled_directory
from robot_dynamics_ros.report.progress import Progress
from robot_dynamics_ros.report.torque_replay import replay_torques, TorqueReplay
from robot_dynamics_ros.tools.argument_types import (
    add_gravity_argument,
    finite,
    number_between,
    robot_file,
)
from robot_dynamics_ros.tools.joint_matching import match_joints
from robot_dynamics_ros.tools.replay_output import ReplayRun, summary, write_results
from robot_dynamics_ros.tools.robot_arguments import (
    add_friction_argument,
    add_reading_arguments,
    friction_model,
    parse_xacro_args,
)

DEFAULT_CUTOFF = 5.0
"""Above the bandwidth of usual motions, below that of noise and elastic joints [Hz]."""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the command line."""
    parser = subparsers.add_parser(
        'replay',
        help='compute the model torques of a recorded bag and compare them with the measured ones',
        description='Compute the torque and its terms along the joint states of a bag and compare '
        'them with the measured effort. Writes report.json, plots and a bag (MCAP) with both.',
    )
    parser.add_argument('bag', help='rosbag2 folder or file (sqlite3, MCAP), or ROS 1 bag')
    parser.add_argument(
        '--urdf',
        type=robot_file,
        required=True,
        metavar='FILE',
        help='URDF or xacro file of the robot',
    )
    parser.add_argument('--output', required=True, metavar='DIR', help='folder for the results')
    parser.add_argument('--overwrite', action='store_true', help='replace results in the folder')
    parser.add_argument(
        '--topic',
        action='append',
        default=[],
        help='joint state topic; several are merged by joint names; found by its type if there '
        'is only one',
    )
    parser.add_argument(
        '--map',
        nargs='+',
        action='extend',
        default=[],
        metavar='LOG:=MODEL',
        help='joint names: a whole name, or a prefix that is replaced in every name',
    )
    parser.add_argument(
        '--lock',
        nargs='+',
        action='extend',
        default=[],
        metavar='JOINT:=VALUE',
        help='hold joints of the model that are not in the log [rad | m]; * fits any letters',
    )
    parser.add_argument(
        '--cutoff',
        type=number_between(0.0, inf, 'Hz'),
        metavar='HZ',
        help=f'cutoff of the zero-phase filter; {DEFAULT_CUTOFF:g} Hz by default, or a fifth of '
        'the sampling rate if that is less; 0 filters nothing',
    )
    parser.add_argument(
        '--since',
        type=finite,
        default=0.0,
        metavar='S',
        help='compare from this time after the beginning of the log on',
    )
    add_friction_argument(parser)
    parser.add_argument(
        '--payload',
        nargs=4,
        type=finite,
        metavar=('MASS', 'X', 'Y', 'Z'),
        help='point mass [kg] at x, y, z [m] in --payload-frame',
    )
    parser.add_argument('--payload-frame', metavar='FRAME', help='link that carries the payload')
    add_gravity_argument(parser)
    add_reading_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Read, compute, write and print; return 0."""
    # First what can be refused at once, then the long work.
    refuse_filled_directory(args.output, overwrite=args.overwrite)
    full_model = _load_model(args)
    with Progress('reading messages') as progress:
        log = read_joint_log(args.bag, args.topic, advance=progress.advance)
    matched = match_joints(full_model, log.joint_names, args.map, args.lock)
    log = log.select(matched.model.joint_names, matched.joint_map)
    _require_samples_since(args.since, log)
    low_pass = _low_pass(args.cutoff, log.rate)
    with Progress('computing torques', len(log.stamps)) as progress:
        replay = replay_torques(
            matched.model,
            log.stamps,
            log.position,
            log.velocity,
            log.effort,
            low_pass=low_pass,
            friction=friction_model(args.friction, matched.model),
            advance=progress.advance,
        )
    _require_comparison(args.since, log, replay)
    result = ReplayRun(
        bag=args.bag,
        urdf=args.urdf,
        log=log,
        matched=matched,
        replay=replay,
        friction=args.friction,
        since=args.since,
        command=args.command_line,
    )
    with Progress('writing the bag', len(log.stamps)) as progress:
        written = write_results(
            args.output, result, overwrite=args.overwrite, advance=progress.advance
        )
    print(summary(result))
    print(f'\nwritten to {args.output}: {", ".join(written)}')
    return 0


def _load_model(args: argparse.Namespace) -> RobotModel:
    payload = None
    if args.payload is not None:
        if args.payload_frame is None:
            raise ConfigurationError('--payload needs --payload-frame, the link that carries it')
        mass, *com = args.payload
        payload = Payload(mass, args.payload_frame, com)
    return load_urdf(
        args.urdf,
        strict=not args.lenient,
        xacro_args=parse_xacro_args(args.xacro_arg),
        gravity=validate_gravity(args.gravity),
        payload=payload,
    )


def _require_samples_since(since: float, log: JointLog) -> None:
    if since > log.stamps[-1]:
        raise ConfigurationError(
            f'--since {since:g} s is after the end of the log, which runs from 0 to '
            f'{log.stamps[-1]:g} s: there is nothing to compare'
        )


def _require_comparison(since: float, log: JointLog, replay: TorqueReplay) -> None:
    comparison = replay.comparison(since)
    if comparison is not None and not any(error.samples for error in comparison.joints):
        raise ConfigurationError(
            f'nothing can be compared from {since:g} s on: the log runs from 0 to '
            f'{log.stamps[-1]:g} s, and no sample of that time has both a measured effort and a '
            'known acceleration (which those at the ends of a log do not have)'
        )


def _low_pass(cutoff: float | None, rate: float) -> ZeroPhaseFilter:
    if cutoff is None:
        cutoff = min(DEFAULT_CUTOFF, 0.2 * rate)
    return ZeroPhaseFilter(cutoff or None)
