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
`robot_dynamics excite --urdf FILE --output DIR`: a motion that shows the parameters of a robot.

Exit code 0; 1 if the robot, a file, an option, the motion or the output folder is refused, with
one line on stderr.

"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import time
from typing import Any

import numpy as np

from robot_dynamics_ros.report.atomic import refuse_filled_directory
from robot_dynamics_ros.report.progress import Progress
from robot_dynamics_ros.tools.argument_types import (
    add_gravity_argument,
    number_between,
    robot_file,
    whole_number_between,
)
from robot_dynamics_ros.tools.robot_arguments import (
    add_armature_argument,
    add_payload_arguments,
    add_reading_arguments,
)

_WORK_OF_ITERATION = 10
"""In random motions, for the progress bar."""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the command line."""
    parser = subparsers.add_parser(
        'excite',
        help='make a motion for the identification of the dynamic parameters',
        description='Make a motion that shows the dynamic parameters of a robot well: finite '
        'Fourier series for all joints, from rest to rest, several periods, optimised for the '
        'regressor of the base parameters within position, velocity, acceleration and torque '
        'limits and without collisions. Look at it in a simulation before a robot plays it.',
    )
    parser.add_argument(
        '--urdf',
        type=robot_file,
        required=True,
        metavar='FILE',
        help="URDF or xacro file; es5 is this package's",
    )
    parser.add_argument(
        '--output', type=Path, required=True, metavar='DIR', help='folder for the results'
    )
    parser.add_argument('--overwrite', action='store_true', help='replace results in the folder')
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    _add_motion(parser.add_argument_group('motion'))
    _add_limits(parser.add_argument_group('limits'))
    _add_surroundings(parser.add_argument_group('surroundings'))
    _add_model(parser.add_argument_group('model'))
    _add_work(parser.add_argument_group('work'))
    add_reading_arguments(parser)


def _add_motion(group: Any) -> None:
    group.add_argument(
        '--duration',
        type=number_between(0.5, 3600.0, 's'),
        default=20.0,
        metavar='S',
        help='of all periods together; 20 by default',
    )
    group.add_argument(
        '--periods',
        type=whole_number_between(1, 1000),
        default=2,
        metavar='N',
        help='how many equal periods there are, for averaging; 2 by default',
    )
    group.add_argument(
        '--harmonics',
        type=whole_number_between(2, 40),
        default=5,
        metavar='N',
        help='of the series; 5 by default',
    )
    group.add_argument(
        '--rate',
        type=number_between(5.0, 1000.0, 'Hz'),
        default=50.0,
        metavar='HZ',
        help='points of the trajectory per second; 50 by default',
    )
    group.add_argument(
        '--objective',
        choices=('condition', 'log_det'),
        default='condition',
        help='condition number (default), or mean standard deviation of the parameters',
    )
    group.add_argument(
        '--friction-sweep',
        action='store_true',
        help='then each joint alone, back and forth at several constant speeds',
    )
    group.add_argument(
        '--gravity-poses',
        type=whole_number_between(0, 200),
        default=0,
        metavar='N',
        help='then so many poses in which the arm is held; none by default',
    )


def _add_limits(group: Any) -> None:
    share = number_between(0.01, 1.0, '')
    group.add_argument(
        '--position-margin',
        type=number_between(0.0, 10.0, 'rad or m'),
        default=0.05,
        metavar='X',
        help='distance from position limits [rad | m], 5 %% of the range at most; 0.05 by default',
    )
    for kind in ('velocity', 'effort'):
        group.add_argument(
            f'--{kind}-share',
            type=share,
            default=0.8,
            metavar='X',
            help=f'share of the {kind} limits that is used; 0.8 by default',
        )
    group.add_argument(
        '--position',
        action='append',
        default=[],
        metavar='JOINT=LOWER:UPPER',
        help='where a joint may move instead, within its limits; may be repeated',
    )
    for kind, unit in (('velocity', 'rad/s | m/s'), ('acceleration', 'rad/s^2 | m/s^2')):
        group.add_argument(
            f'--{kind}',
            action='append',
            default=[],
            metavar='JOINT=VALUE',
            help=f'{kind} limit of a joint [{unit}], used to the full; may be repeated',
        )


def _add_surroundings(group: Any) -> None:
    group.add_argument(
        '--world',
        metavar='FILE',
        help='YAML file of planes, boxes and spheres, or none; by default a floor under the base',
    )
    group.add_argument(
        '--collisions',
        choices=('urdf', 'none'),
        default='urdf',
        help="shapes that must not touch: the URDF's (default) or none",
    )
    group.add_argument(
        '--disabled-pairs', metavar='FILE', help='YAML or SRDF file of pairs that may touch'
    )
    group.add_argument(
        '--clearance',
        type=number_between(0.0, 1.0, 'm'),
        default=0.02,
        metavar='M',
        help='least distance of all pairs; 0.02 by default',
    )
    add_gravity_argument(group)


def _add_model(group: Any) -> None:
    group.add_argument(
        '--friction',
        metavar='none|urdf|FILE',
        help='friction in the torques; by default that of the URDF where it states one',
    )
    group.add_argument(
        '--friction-columns',
        choices=('none', 'viscous', 'coulomb', 'two_sided', 'stribeck'),
        default='coulomb',
        help='friction that is to be identified; coulomb (default) is viscous as well',
    )
    for name, what in (('offset', 'constant efforts'), ('rotor-inertia', 'rotor inertias')):
        group.add_argument(
            f'--{name}',
            action=argparse.BooleanOptionalAction,
            default=True,
            help=f'whether {what} are to be identified; they are by default',
        )
    group.add_argument(
        '--effort-noise',
        action='append',
        default=[],
        metavar='JOINT=VALUE',
        help='standard deviation of the measured effort [N m | N]; may be repeated',
    )
    group.add_argument(
        '--joints',
        nargs='+',
        metavar='JOINT',
        help='joints that move, the others stay at zero; all by default',
    )
    add_armature_argument(group)
    add_payload_arguments(group)


def _add_work(group: Any) -> None:
    for name, default, least, what in (
        ('random', 1000, 1, 'random motions to choose from'),
        ('starts', 2, 1, 'of them that are optimised, from the best on'),
        ('iterations', 80, 1, 'of each optimisation'),
        ('seed', 0, 0, 'of the random motions'),
    ):
        group.add_argument(
            f'--{name}',
            type=whole_number_between(least),
            default=default,
            metavar='N',
            help=f'{what}; {default} by default',
        )


def run(args: argparse.Namespace) -> int:
    """Find the motion, write and print; return 0."""
    refuse_filled_directory(args.output, overwrite=args.overwrite)
    # Here, so that --help and refused arguments do not wait for compiled kernels.
    from robot_dynamics_ros.core.exceptions import TrajectoryError
    from robot_dynamics_ros.core.excitation.composite_motion import composite_motion
    from robot_dynamics_ros.core.excitation.excitation import (
        ExcitationBudget,
        optimal_excitation,
    )
    from robot_dynamics_ros.core.identification.verdict import LARGEST_CONDITION
    from robot_dynamics_ros.tools.excitation_output import (
        ExcitationRun,
        summary,
        write_results,
    )
    from robot_dynamics_ros.tools.excitation_setup import make_setup

    setup = make_setup(args)
    budget = ExcitationBudget(args.random, min(args.starts, args.random), args.iterations)
    began = time.perf_counter()
    work = args.random + _WORK_OF_ITERATION * budget.starts * budget.iterations
    with Progress('searching a motion', work) as progress:
        found = optimal_excitation(
            setup.problem,
            args.periods,
            args.rate,
            np.random.default_rng(args.seed),
            budget,
            on_random=progress.advance,
            on_iteration=lambda n: progress.advance(_WORK_OF_ITERATION * n),
        )
    if not found.condition <= LARGEST_CONDITION:
        raise TrajectoryError(
            f'the best motion that was found has the condition number {found.condition:.3g}, more '
            f'than the {LARGEST_CONDITION:g} that identify takes: let it last longer '
            '(--duration), with fewer --harmonics, or allow more of the limits'
        )
    with Progress('joining') as progress:
        motion = composite_motion(
            setup.problem,
            found,
            np.random.default_rng(args.seed),
            with_friction_sweep=args.friction_sweep,
            n_gravity_poses=args.gravity_poses,
            advance=progress.advance,
        )
    command = args.command_line
    facts = {**_facts(args), 'command': command, 'notes': setup.notes}
    result = ExcitationRun(
        setup.problem, found, motion, args.rate, facts, time.perf_counter() - began
    )
    written = write_results(args.output, result, overwrite=args.overwrite)
    if args.json:
        print(json.dumps(result.as_dict(), indent=2, allow_nan=False))
    else:
        print(summary(result))
        print(f'\nwritten to {args.output}: {", ".join(written)}')
    return 0


def _facts(args: argparse.Namespace) -> dict[str, Any]:
    """Return how the motion was asked for, as plain values."""
    keys = (
        'urdf', 'duration', 'periods', 'harmonics', 'friction_sweep', 'gravity_poses',
        'objective', 'seed', 'random', 'starts', 'iterations', 'position_margin',
        'velocity_share', 'effort_share', 'clearance', 'world', 'collisions', 'disabled_pairs',
        'friction', 'friction_columns', 'offset', 'rotor_inertia', 'payload', 'gravity',
    )  # fmt: skip
    return {key: getattr(args, key) for key in keys}
