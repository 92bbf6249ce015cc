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
from dataclasses import replace
from functools import partial
from math import inf
import os
import sys
from typing import Any

from robot_dynamics_ros.core.control.gravity import validate_gravity
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.identification import (
    ESTIMATORS,
    IdentificationOptions,
    identify,
    verdict_of,
)
from robot_dynamics_ros.core.identification.identified_model import identified_model
from robot_dynamics_ros.core.identification.joint_columns import Coupling, FRICTION_FORMS
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.report.atomic import refuse_filled_directory
from robot_dynamics_ros.report.progress import Progress
from robot_dynamics_ros.tools.argument_types import (
    add_gravity_argument,
    number_between,
    robot_file,
)
from robot_dynamics_ros.tools.identify_data import (
    add_data_arguments,
    described,
    identification_data,
    surveyed,
)
from robot_dynamics_ros.tools.identify_gravity import robot_with_found_gravity
from robot_dynamics_ros.tools.identify_output import (
    formula_table,
    IdentifyRun,
    summary,
    urdf_text,
    write_results,
)
from robot_dynamics_ros.tools.log_work import add_work_arguments, work_on_logs
from robot_dynamics_ros.tools.robot_arguments import add_reading_arguments, parse_xacro_args

STEPS = 5
"""Of `identify`, for the progress display."""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the command line."""
    parser = subparsers.add_parser(
        'identify',
        help='identify masses, inertias and friction from recorded motion and efforts',
        description='Identify the inertial and friction parameters of a robot from bags of joint '
        'states with efforts, and verify them on data that were held out. Writes identified.urdf, '
        'friction.yaml, report.json and report.html; a model that fails a check is not written.',
    )
    parser.add_argument(
        '--urdf',
        type=robot_file,
        required=True,
        metavar='FILE',
        help='URDF or xacro file of the robot: the prior',
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
    add_data_arguments(parser)
    add_work_arguments(parser)
    _add_model_arguments(parser)
    add_gravity_argument(parser)
    parser.add_argument(
        '--fit-gravity',
        action='store_true',
        help='look for the direction of gravity instead of taking the given one',
    )
    add_reading_arguments(parser)


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
    except ConfigurationError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not FIRST:SECOND or FIRST:SECOND:RATIO"
        ) from error


def run(args: argparse.Namespace) -> int:
    """Read, identify, judge, write and print; return 0, or 1 if the model is not usable."""
    # First what can be refused at once, then the long work.
    refuse_filled_directory(args.output, overwrite=args.overwrite)
    _refuse_repeated_logs(args)
    full_model = load_urdf(
        args.urdf,
        strict=not args.lenient,
        xacro_args=parse_xacro_args(args.xacro_arg),
        gravity=validate_gravity(args.gravity),
    )
    data = identification_data(args, full_model)
    matched = data.matched
    options = _options(args)
    longest = data.training[0]
    if len(data.training) > 1:
        longest = max(data.training, key=lambda part: part.expected_samples)
    if args.fit_gravity:
        robot, note = robot_with_found_gravity(matched.model, longest, options)
        matched = replace(matched, model=robot, notes=(*matched.notes, note))
    with work_on_logs(args, len(data.training)) as work, Progress('identifying', STEPS) as steps:
        survey = partial(surveyed, robot=matched.model, options=options)
        ((cutoffs, health),) = work(survey, [longest])
        found = identify(
            matched.model,
            data.training,
            data.held_out,
            options,
            cutoffs=cutoffs,
            work=work,
            advance=lambda _: steps.advance(),
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
        bags=tuple(args.logs),
        urdf=args.urdf,
        training=tuple(described(span) for span in found.spans[0]),
        held_out=tuple(described(span) for span in found.spans[1]),
        matched=matched,
        found=found,
        identified=identified,
        verdict=verdict_of(found, written),
        is_forced=args.force,
        notes=(*found.notes, *data.notes, *health, *matched.notes, *identified.notes),
        command=args.command_line,
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


def _refuse_repeated_logs(args: argparse.Namespace) -> None:
    """Refuse a log that is named twice: it would count double, or verify what it has taught."""
    named: dict[str, str] = {}
    for name in (*args.logs, *(name for name in args.test if name != 'rest')):
        files = [part.rpartition('=')[2] for part in name.split(',')]
        where = ','.join(os.path.realpath(file) for file in files)
        if where in named:
            both = name if named[where] == name else f'{named[where]} and {name}'
            raise ConfigurationError(
                f'{both}: the same log twice; a log counts once, and what verifies (--test) must '
                'not have been fitted (--train 0:18 leaves the rest of a log to verify with)'
            )
        named[where] = name


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
