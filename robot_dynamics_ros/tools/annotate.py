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
`robot_dynamics annotate`: fill in the efforts of a joint trajectory.

The trajectory is YAML as ``ros2 topic echo`` prints a trajectory_msgs/JointTrajectory and ``ros2
topic pub`` takes it. All else in it stays as it is.

"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import yaml

from robot_dynamics_ros.core.control.gravity import validate_gravity
from robot_dynamics_ros.core.control.trajectory_efforts import trajectory_efforts
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.trajectory.trajectory_file import columns_of, read_trajectory
from robot_dynamics_ros.report.atomic import refuse_existing, write_text
from robot_dynamics_ros.tools.argument_types import add_gravity_argument, robot_file
from robot_dynamics_ros.tools.robot_arguments import (
    add_armature_argument,
    add_friction_argument,
    friction_model,
    parse_armature,
)


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        'annotate',
        help='fill in the efforts of a joint trajectory by inverse dynamics',
        description='Fill in the efforts of a joint trajectory by inverse dynamics. Derivatives '
        'that its points lack are derived for it, and stay out of the output.',
    )
    parser.add_argument(
        'trajectory', type=Path, help='YAML file of a trajectory_msgs/JointTrajectory'
    )
    parser.add_argument(
        '--urdf', type=robot_file, required=True, help='URDF or xacro file of the robot'
    )
    parser.add_argument('--output', type=Path, required=True, help='YAML file to write')
    parser.add_argument('--overwrite', action='store_true', help='replace an existing file')
    gravity = parser.add_mutually_exclusive_group()
    add_gravity_argument(gravity)
    gravity.add_argument(
        '--without-gravity',
        action='store_true',
        help='leave gravity out of the efforts, for a robot that compensates it by itself',
    )
    add_friction_argument(parser)
    add_armature_argument(parser)


def run(args: argparse.Namespace) -> int:
    """
    Run the subcommand.

    Raises
    ------
    ConfigurationError
        If an option is refused.
    ModelError
        If the robot is refused.
    OutputError
        If the output exists and is not to be replaced, or cannot be written.
    TrajectoryError
        If the trajectory cannot be used.

    """
    refuse_existing(args.output, overwrite=args.overwrite)
    gravity = (0.0, 0.0, 0.0) if args.without_gravity else validate_gravity(args.gravity)
    trajectory = read_trajectory(args.trajectory)
    model = load_urdf(args.urdf, gravity=gravity, armature=parse_armature(args.armature))
    annotate(trajectory, model, friction_model(args.friction, model))
    text = yaml.safe_dump(trajectory, sort_keys=False)
    write_text(args.output, text, overwrite=args.overwrite)
    points = trajectory['points']
    print(f'{len(points)} points with efforts written to {args.output}')
    for name, *efforts in zip(trajectory['joint_names'], *(point['effort'] for point in points)):
        peak = max(abs(effort) for effort in efforts)
        limit = model.limits.effort[model.joint_index(name)]
        note = f', beyond the limit of {limit:.4g}' if peak > limit else ''
        print(f'  {name}: at most {peak:.4g} N m or N{note}')
    return 0


def annotate(
    trajectory: dict[str, Any], model: RobotModel, friction: FrictionModel | None
) -> None:
    """
    Write the efforts into the points of a trajectory.

    Raises
    ------
    TrajectoryError
        If the trajectory cannot be used.

    """
    efforts = trajectory_efforts(model, *columns_of(trajectory), friction=friction)
    for point, effort in zip(trajectory['points'], efforts.tolist()):
        point['effort'] = effort
