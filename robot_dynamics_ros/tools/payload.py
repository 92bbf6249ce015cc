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
`robot_dynamics payload`: what the arm carries, from logs of its efforts.

With ``--unloaded`` the loaded logs are compared with others of the same arm, and nothing of the
description's inertias is used; without it the description is the known arm.

"""

from __future__ import annotations

import argparse
from math import inf
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.control.gravity import validate_gravity
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.identification.identification_model import (
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.payload_columns import moving_frame
from robot_dynamics_ros.core.identification.payload_fit import (
    payload_from_two_motions,
    payload_of_known_arm,
    PayloadFit,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.report.atomic import refuse_filled_directory
from robot_dynamics_ros.report.progress import Progress
from robot_dynamics_ros.tools.argument_types import (
    add_gravity_argument,
    number_between,
    robot_file,
)
from robot_dynamics_ros.tools.log_arguments import add_log_arguments
from robot_dynamics_ros.tools.payload_data import payload_motions, PayloadMotions
from robot_dynamics_ros.tools.payload_gains import add_gain_arguments, known_payload, run_gains
from robot_dynamics_ros.tools.payload_output import PayloadRun, summary, write_payload
from robot_dynamics_ros.tools.robot_arguments import (
    add_armature_argument,
    add_reading_arguments,
    parse_armature,
    parse_xacro_args,
)

STANDSTILL = 0.1
"""Slower joints are not fitted [rad/s | m/s]: at rest friction holds with any effort."""

SURE = 3.0
"""So many standard deviations above zero the mass of a payload must be."""

WORSE, NOTED = 1.2, 0.02
"""Part of a joint's error without the payload up to which it may be with it, if above this."""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the command line."""
    parser = subparsers.add_parser(
        'payload',
        help='identify what an arm carries: mass, centre of mass and inertia',
        description='Identify the mass, centre of mass and inertia of a payload from logs of the '
        'arm that carries it, and either logs of the same arm without it (--unloaded) or the '
        'URDF of the arm, as identify writes it. Writes payload.yaml, parameters for the nodes, '
        'and report.json.',
    )
    parser.add_argument(
        '--urdf',
        type=robot_file,
        required=True,
        metavar='FILE',
        help='URDF or xacro file of the arm without it',
    )
    parser.add_argument(
        '--frame', required=True, help='link that holds it, in which the result is expressed'
    )
    parser.add_argument('--output', required=True, metavar='DIR', help='folder for the results')
    parser.add_argument('--overwrite', action='store_true', help='replace results in the folder')
    parser.add_argument(
        '--unloaded',
        nargs='+',
        default=[],
        metavar='LOG',
        help='logs of the same arm without it; the motion may be another one',
    )
    add_log_arguments(parser)
    _add_fit_arguments(parser)
    add_gain_arguments(parser)
    add_gravity_argument(parser)
    add_reading_arguments(parser)


def _add_fit_arguments(parser: argparse.ArgumentParser) -> None:
    known = parser.add_argument_group('known arm (without --unloaded)')
    known.add_argument(
        '--friction-file',
        metavar='FILE',
        help='friction.yaml of identify; that of the URDF by default',
    )
    parser.add_argument(
        '--keep-friction',
        action='store_true',
        help='take friction as stated, or as without the payload, instead of fitting its change',
    )
    add_armature_argument(known)
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
        type=number_between(1e-3, inf, 'Hz'),
        metavar='HZ',
        help='cutoff of the zero-phase filter; from the spectrum of the motion by default',
    )
    parser.add_argument(
        '--standstill',
        type=number_between(0.0, inf, 'rad/s'),
        default=STANDSTILL,
        metavar='SPEED',
        help=f'do not fit joints that are slower [rad/s | m/s]; {STANDSTILL:g} by default',
    )
    parser.add_argument(
        '--effort-delay',
        type=number_between(-1.0, 1.0, 's'),
        default=0.0,
        metavar='S',
        help='the efforts are stamped so much too late [s]; they are moved back',
    )


def run(args: argparse.Namespace) -> int:
    """Read, identify the payload or the drives, write and print; return 0."""
    refuse_filled_directory(args.output, overwrite=args.overwrite)
    if args.unloaded and (args.friction_file or args.armature):
        raise ConfigurationError(
            '--friction-file and --armature are of a known arm; with --unloaded all is fitted'
        )
    model = load_urdf(
        args.urdf,
        strict=not args.lenient,
        xacro_args=parse_xacro_args(args.xacro_arg),
        gravity=validate_gravity(args.gravity),
        armature=parse_armature(args.armature),
    )
    moving_frame(model, args.frame)
    known = known_payload(args)
    motions = payload_motions(args, model)
    command = args.command_line
    if known is not None:
        return run_gains(args, motions, known, command)
    found = _identified(args, motions)
    result = PayloadRun(
        loaded=tuple(args.logs),
        unloaded=tuple(args.unloaded),
        urdf=args.urdf,
        matched=motions.matched,
        cutoffs=motions.cutoffs,
        standstill=args.standstill,
        still=motions.still,
        found=found,
        notes=motions.notes,
        command=command,
    )
    names = write_payload(args.output, result, overwrite=args.overwrite)
    print(summary(result))
    print(f'\nwritten to {args.output}: {", ".join(names)}')
    return 0


def _identified(args: argparse.Namespace, motions: PayloadMotions) -> PayloadFit:
    robot, cutoff = motions.matched.model, motions.cutoffs.cutoff
    loaded, unloaded = motions.loaded, motions.unloaded
    with Progress('identifying', 1) as progress:
        if unloaded:
            model = identification_model(robot)
            found = payload_from_two_motions(
                model, unloaded, loaded, args.frame, cutoff, refit_drives=not args.keep_friction
            )
        else:
            model, arm = _known_arm(args, robot)
            found = payload_of_known_arm(
                model, arm, loaded, args.frame, cutoff, refit_drives=not args.keep_friction
            )
        progress.advance()
    mass, deviation = float(found.linear[0]), float(found.deviation[0])
    if mass < SURE * deviation:
        raise ConfigurationError(
            f'the efforts show no payload: its mass would be {mass:.3g} kg, give or take '
            f'{deviation:.2g} kg; look at sign and meaning of the efforts, and at which log is '
            'the loaded one'
        )
    _require_agreement(found, motions)
    return found


def _require_agreement(found: PayloadFit, motions: PayloadMotions) -> None:
    """
    Refuse a payload that the effort of a joint contradicts.

    Raises
    ------
    ConfigurationError
        If the errors of a joint are larger with the payload than without it.

    """
    errors = zip(motions.matched.model.v_names, found.errors, found.errors_without)
    wrong = [
        f"'{joint}' from {100.0 * before:.3g} to {100.0 * after:.3g} %"
        for joint, after, before in errors
        if joint not in motions.still and after > max(WORSE * before, NOTED)
    ]
    if wrong:
        raise ConfigurationError(
            f'a payload of {found.payload.mass:.3g} kg would raise the errors of joint '
            f'{", ".join(wrong)}: the joints contradict each other; look at sign and meaning of '
            'each effort (robot_dynamics bag-info), and whether all logs are of this arm'
        )


def _known_arm(args: argparse.Namespace, robot: RobotModel) -> tuple[IdentificationModel, Vector]:
    """Return the model of the arm with all of its parameters."""
    if args.friction_file is None:
        model = identification_model(robot)
        return model, model.prior
    friction = FrictionModel.from_file(args.friction_file, robot.v_names)
    structure = ModelStructure('coulomb' if friction.is_symmetric else 'two_sided')
    widths = tuple(friction.smoothing_velocity.tolist())
    model = identification_model(robot, structure, widths)
    stated = {
        ('viscous', 0): friction.viscous,
        ('viscous', 1): friction.viscous,
        ('viscous', -1): friction.viscous_negative,
        ('coulomb', 0): friction.coulomb_positive,
        ('coulomb', 1): friction.coulomb_positive,
        ('coulomb', -1): friction.coulomb_negative,
    }
    arm = np.array(model.prior)
    for k, term in enumerate(model.terms, start=model.n_inertial):
        values = stated.get((term.kind, term.side))
        if values is not None:
            arm[k] = values[term.weights[0][0]]
    return model, arm
