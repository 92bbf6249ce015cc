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
`robot_dynamics torque-report FILE`: what a motion asks of the drives of a robot.

Exit code 0; 1 if the robot, the motion or the output folder is refused, with one line on stderr.

"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.drive.drive_file import read_drive_file
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.trajectory.scenarios import N_JOINTS, scenario, SCENARIOS
from robot_dynamics_ros.core.trajectory.trajectory_file import columns_of, read_trajectory
from robot_dynamics_ros.report.atomic import refuse_filled_directory
from robot_dynamics_ros.report.drive_sizing import drive_sizing
from robot_dynamics_ros.tools.argument_types import add_gravity_argument, number_between
from robot_dynamics_ros.tools.robot_arguments import (
    add_armature_argument,
    add_friction_argument,
    add_payload_arguments,
    add_reading_arguments,
    friction_model,
    loaded_model,
    parse_armature,
    parse_xacro_args,
)

Sampled = tuple[Vector, Matrix, Matrix, Matrix]


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the command line."""
    parser = subparsers.add_parser(
        'torque-report',
        help='say what a motion asks of each drive',
        description='Compute the torques of a motion and say what it asks of each drive: peak and '
        'rms torque, peak speed, peak power, energy of a cycle, split into gravity, inertia, '
        'Coriolis and friction, and which drive is critical.',
    )
    parser.add_argument('file', help='URDF or xacro file')
    motion = parser.add_mutually_exclusive_group(required=True)
    motion.add_argument('--scenario', choices=SCENARIOS, help='one of the motions of a 6-axis arm')
    motion.add_argument(
        '--trajectory', type=Path, metavar='FILE', help='YAML of a trajectory_msgs/JointTrajectory'
    )
    positive = number_between(1e-3, 1e3, '')
    parser.add_argument(
        '--amplitude', type=positive, default=1.0, metavar='X', help='factor on a scenario'
    )
    parser.add_argument(
        '--time-scale', type=positive, default=1.0, metavar='X', help='factor on the duration'
    )
    parser.add_argument(
        '--rate',
        type=number_between(10.0, 1e5, 'Hz'),
        default=1000.0,
        metavar='HZ',
        help='samples per second; 1000 by default',
    )
    add_payload_arguments(parser)
    add_gravity_argument(parser)
    add_friction_argument(parser)
    rotors = parser.add_mutually_exclusive_group()
    add_armature_argument(rotors)
    rotors.add_argument(
        '--drives',
        metavar='FILE',
        help='YAML file of the drives, for their currents, voltages and rotor inertias',
    )
    add_reading_arguments(parser)
    parser.add_argument(
        '--output', type=Path, metavar='DIR', help='folder for report.html, report.json, pictures'
    )
    parser.add_argument('--overwrite', action='store_true', help='replace what is in the folder')
    parser.add_argument('--json', action='store_true', help='print JSON instead of tables')


def run(args: argparse.Namespace) -> int:
    """Compute, write and print; return 0."""
    # matplotlib takes half a second to import: not for a mistake in the arguments.
    if args.output is not None:
        refuse_filled_directory(args.output, overwrite=args.overwrite)
    model = _load_model(args)
    drives = None if args.drives is None else read_drive_file(args.drives, model.joint_names)
    if drives is not None:
        model = model.with_armature(drives.reflected_inertia)
    t, q, v, a = _motion(args, model)
    sizing = drive_sizing(model, t, q, v, a, friction_model(args.friction, model), drives)
    facts = {
        'robot': model.name,
        'motion': args.scenario or str(args.trajectory),
        'amplitude': args.amplitude,
        'time_scale': args.time_scale,
        'payload': args.payload,
        'friction': args.friction,
        'drives': args.drives or 'not given',
        'gravity': list(args.gravity),
    }
    title = f'{facts["motion"]} on {model.name}, {t[-1] - t[0]:.4g} s, payload {args.payload:g} kg'
    if args.json:
        print(json.dumps({**facts, **sizing.as_dict()}, indent=2, allow_nan=False))
    else:
        from robot_dynamics_ros.report.sizing_report import summary

        print(summary(sizing, title))
    if args.output is not None:
        from robot_dynamics_ros.report.sizing_report import write_report

        written = write_report(args.output, sizing, title, facts, overwrite=args.overwrite)
        if not args.json:
            print(f'\nwritten to {args.output}: {", ".join(written)}')
    return 0


def _load_model(args: argparse.Namespace) -> RobotModel:
    model = load_urdf(
        args.file,
        strict=not args.lenient,
        xacro_args=parse_xacro_args(args.xacro_arg),
        gravity=tuple(args.gravity),  # any: for arms in orbit, too
        armature=parse_armature(args.armature),
    )
    return loaded_model(model, args)


def _motion(args: argparse.Namespace, model: RobotModel) -> Sampled:
    if args.scenario is None:
        trajectory = columns_of(read_trajectory(args.trajectory)).spline()
        if args.amplitude != 1.0:
            raise ConfigurationError('--amplitude is for a scenario, not for --trajectory')
        trajectory = trajectory.ordered(model.joint_names)
        t = _times(trajectory.duration, args.rate)
        rows = [trajectory.sample(trajectory.start + moment) for moment in t]
        q, v, a = (np.array(column) for column in zip(*rows))
        scale = args.time_scale
        return scale * t, q, v / scale, a / scale**2
    if model.nv != N_JOINTS:
        raise ConfigurationError(
            f'the scenarios are for arms of {N_JOINTS} joints, {model.name} has {model.nv}; '
            'give --trajectory'
        )
    chosen = scenario(args.scenario, args.amplitude, args.time_scale)
    t = _times(chosen.duration, args.rate)
    return t, *chosen.sample_many(t)


def _times(duration: float, rate: float) -> Vector:
    count = max(2, round(duration * rate) + 1)
    times: Vector = np.linspace(0.0, duration, count)
    return times
