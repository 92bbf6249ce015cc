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
`robot_dynamics identify BAG... --urdf FILE --output DIR`: a verified model from recorded motion.

Exit code 0 if the model passes every check, or `--force` was given; 1 if it does not pass, or if a
bag, the model or the output folder is refused, with one line on stderr.

"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from math import inf
import shlex
import sys
from typing import Any

import numpy as np

from robot_dynamics_ros.bags.joint_blocks import read_joint_log
from robot_dynamics_ros.bags.joint_log import JointLog
from robot_dynamics_ros.core.control.gravity import validate_gravity
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.identification import (
    ESTIMATORS,
    IdentificationOptions,
    identify,
    JointRecord,
    verdict_of,
)
from robot_dynamics_ros.core.identification.identified_model import identified_model
from robot_dynamics_ros.core.identification.joint_columns import Coupling, FRICTION_FORMS
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.report.atomic import refuse_filled_directory
from robot_dynamics_ros.report.progress import Progress
from robot_dynamics_ros.tools.argument_types import add_gravity_argument, number_between
from robot_dynamics_ros.tools.identify_output import (
    formula_table,
    IdentifyRun,
    summary,
    urdf_text,
    write_results,
)
from robot_dynamics_ros.tools.joint_matching import match_joints, MatchedJoints
from robot_dynamics_ros.tools.robot_arguments import add_reading_arguments, parse_xacro_args

TRAINING_PART = 2.0 / 3.0
"""Of every bag, if nothing is said about training and test."""

STEPS = 5
"""Of `identify`, for the progress display."""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the command line."""
    parser = subparsers.add_parser(
        'identify',
        help='identify masses, inertias and friction from recorded motion and efforts',
        description='Identify the inertial and friction parameters of a robot from bags of joint '
        'states with efforts, and verify them on data that were held out. Writes identified.urdf, '
        'friction.yaml and report.json; a model that fails a check is not written.',
    )
    parser.add_argument(
        'bags', nargs='+', metavar='BAG', help='rosbag2 folders or files, or ROS 1 bags'
    )
    parser.add_argument(
        '--urdf', required=True, metavar='FILE', help='URDF or xacro file of the robot: the prior'
    )
    parser.add_argument('--output', required=True, metavar='DIR', help='folder for the results')
    parser.add_argument('--overwrite', action='store_true', help='replace results in the folder')
    parser.add_argument(
        '--force', action='store_true', help='write a model that fails a check, marked as unfit'
    )
    parser.add_argument(
        '--formulas',
        action='store_true',
        help='print the combinations of parameters that the efforts determine',
    )
    _add_data_arguments(parser)
    _add_model_arguments(parser)
    add_gravity_argument(parser)
    add_reading_arguments(parser)


def _add_data_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--train',
        type=time_span,
        metavar='START:STOP',
        help='part of every bag to fit [s after its beginning]; two thirds by default, or all of '
        'it if --test names bags',
    )
    parser.add_argument(
        '--test',
        nargs='+',
        default=['rest'],
        metavar='BAG',
        help='bags to verify with; "rest" (default) is what --train leaves of the bags',
    )
    parser.add_argument(
        '--topic', help='joint state topic; found by its type if there is only one'
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


def _add_model_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--cutoff',
        type=number_between(1e-3, inf, 'Hz'),
        metavar='HZ',
        help='cutoff of the zero-phase filter; from the spectrum of the motion by default',
    )
    parser.add_argument(
        '--friction',
        choices=('auto', *FRICTION_FORMS),
        default='auto',
        help='form of the friction; auto (default) chooses by cross-validation',
    )
    parser.add_argument(
        '--no-offset', action='store_true', help='no constant effort at the joints'
    )
    parser.add_argument(
        '--no-rotor-inertia', action='store_true', help='no inertia of rotors at the joints'
    )
    parser.add_argument(
        '--couple',
        nargs='+',
        action='extend',
        default=[],
        type=coupling,
        metavar='FIRST:SECOND[:RATIO]',
        help='a motor that turns with RATIO (1) times the first joint plus the second',
    )
    parser.add_argument(
        '--estimator', choices=ESTIMATORS, default='huber', help='huber (default) is robust'
    )
    parser.add_argument(
        '--prior-weight',
        type=number_between(1e-6, inf, ''),
        metavar='WEIGHT',
        help='weight of the URDF where data say little; by cross-validation by default',
    )
    parser.add_argument(
        '--standstill',
        type=number_between(0.0, inf, 'rad/s'),
        default=0.0,
        metavar='SPEED',
        help='do not fit joints that are slower [rad/s | m/s]; 0 by default',
    )
    parser.add_argument(
        '--effort-delay',
        type=number_between(-1.0, 1.0, 's'),
        default=0.0,
        metavar='S',
        help='the efforts are stamped so much too late [s]; they are moved back',
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


def coupling(text: str) -> Coupling:
    """
    Return the coupling of ``FIRST:SECOND`` or ``FIRST:SECOND:RATIO``.

    Raises
    ------
    argparse.ArgumentTypeError
        If the text is something else.

    """
    parts = text.split(':')
    try:
        if len(parts) not in (2, 3) or not all(parts):
            raise ValueError
        return Coupling(parts[0], parts[1], float(parts[2]) if len(parts) == 3 else 1.0)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not FIRST:SECOND or FIRST:SECOND:RATIO"
        ) from error


def run(args: argparse.Namespace) -> int:
    """Read, identify, judge, write and print; return 0, or 1 if the model is not usable."""
    # First what can be refused at once, then the long work.
    refuse_filled_directory(args.output, overwrite=args.overwrite)
    full_model = load_urdf(
        args.urdf,
        strict=not args.lenient,
        xacro_args=parse_xacro_args(args.xacro_arg),
        gravity=validate_gravity(args.gravity),
    )
    matched, training, held_out, notes = _records(args, full_model)
    with Progress('identifying', STEPS) as progress:
        found = identify(
            matched.model,
            training,
            held_out,
            _options(args),
            advance=lambda _: progress.advance(),
        )
    identified = identified_model(found.model, found.consistent.parameters)
    text = urdf_text(args.urdf, parse_xacro_args(args.xacro_arg), identified)
    written = load_urdf(
        text,
        strict=not args.lenient,
        gravity=matched.model.options.gravity,
        locked=dict(matched.locked),
        armature=dict(identified.armature),
    )
    result = IdentifyRun(
        bags=tuple(args.bags),
        urdf=args.urdf,
        training=tuple(_described(record) for record in training),
        held_out=tuple(_described(record) for record in held_out),
        matched=matched,
        found=found,
        identified=identified,
        verdict=verdict_of(found, written),
        is_forced=args.force,
        notes=(*notes, *matched.notes, *identified.notes),
        command=shlex.join(['robot_dynamics', *sys.argv[1:]]) if len(sys.argv) > 1 else '',
    )
    names = write_results(args.output, result, text, overwrite=args.overwrite)
    print(summary(result))
    if args.formulas:
        print(f'\n{formula_table(result)}')
    print(f'\nwritten to {args.output}: {", ".join(names)}')
    if not result.is_written:
        reasons = '; '.join(result.verdict.reasons)
        print(
            f'robot_dynamics identify: no model is written: {reasons} (--force writes it, marked '
            'as unfit)',
            file=sys.stderr,
        )
    return 0 if result.is_written else 1


def _options(args: argparse.Namespace) -> IdentificationOptions:
    return IdentificationOptions(
        friction=args.friction,
        offset=not args.no_offset,
        rotor_inertia=not args.no_rotor_inertia,
        couplings=tuple(args.couple),
        cutoff=args.cutoff,
        estimator=args.estimator,
        prior_weight=args.prior_weight,
        standstill=args.standstill,
        effort_delay=args.effort_delay,
    )


def _records(
    args: argparse.Namespace, full_model: RobotModel
) -> tuple[MatchedJoints, list[JointRecord], list[JointRecord], list[str]]:
    """Return the matched model and the logs, cut into training and held-out data."""
    others = [bag for bag in args.test if bag != 'rest']
    has_rest = 'rest' in args.test
    if others and has_rest:
        raise ConfigurationError('--test takes either bags or "rest"')
    training: list[JointRecord] = []
    held_out: list[JointRecord] = []
    notes: list[str] = []
    matched = None
    for bag in args.bags:
        log, fits = _log(bag, args, full_model)
        matched = matched or fits
        notes += log.notes
        record = _record(bag, log)
        start, stop = args.train or (0.0, inf if others else TRAINING_PART * log.duration)
        training.append(_cut(record, start, stop, 'to fit (--train)'))
        if has_rest:
            if stop > log.duration:
                raise ConfigurationError(
                    f'--train takes all of {bag}, which lasts {log.duration:.4g} s: nothing is '
                    'left to verify with; shorten it, or name a bag with --test'
                )
            held_out.append(_cut(record, stop, inf, 'to verify with'))
    for bag in others:
        log, _ = _log(bag, args, full_model)
        notes += log.notes
        held_out.append(_cut(_record(bag, log), 0.0, inf, 'to verify with'))
    if matched is None:
        raise ConfigurationError('no bag is given')
    return matched, training, held_out, list(dict.fromkeys(notes))


def _log(
    bag: str, args: argparse.Namespace, full_model: RobotModel
) -> tuple[JointLog, MatchedJoints]:
    with Progress(f'reading {bag}') as progress:
        log = read_joint_log(bag, args.topic, advance=progress.advance)
    matched = match_joints(full_model, log.joint_names, args.map, args.lock)
    log = log.select(matched.model.joint_names, matched.joint_map)
    if log.effort is None:
        raise ConfigurationError(
            f'{bag}: {log.topic} has no effort; an identification needs measured efforts'
        )
    silent = [
        name
        for name, column in zip(log.joint_names, log.effort.T)
        if not np.isfinite(column).any()
    ]
    if silent:
        raise ConfigurationError(f'{bag}: {log.topic} has no effort of {", ".join(silent)}')
    return log, matched


def _record(bag: str, log: JointLog) -> JointRecord:
    if log.effort is None:
        raise ConfigurationError(f'{bag}: {log.topic} has no effort')
    return JointRecord(str(bag), log.stamps, log.position, log.velocity, log.effort)


def _cut(record: JointRecord, start: float, stop: float, purpose: str) -> JointRecord:
    part = record.between(start, stop)
    if len(part.stamps) < 20:
        raise ConfigurationError(
            f'{record.name} has {len(part.stamps)} samples {purpose}, expected at least 20; it '
            f'runs from 0 to {record.stamps[-1]:.4g} s'
        )
    return part


def _described(record: JointRecord) -> dict[str, Any]:
    """Return what the report says of a part of a log."""
    return {
        'bag': record.name,
        'start': float(record.stamps[0]),
        'stop': float(record.stamps[-1]),
        'samples': len(record.stamps),
    }


__all__: Sequence[str] = ('add_parser', 'coupling', 'run', 'time_span')
