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

"""Arguments of the command line that say which robot is meant, and how its file is read."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from math import inf
from typing import Any

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.tools.argument_types import finite, number_between, robot_file


def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the robot's file and the options for reading it, see `robot_options`."""
    parser.add_argument('file', type=robot_file, help="URDF or xacro file; es5 is this package's")
    add_reading_arguments(parser)
    parser.add_argument(
        '--independent-mimics',
        action='store_true',
        help='let mimic joints whose target does not exist move on their own',
    )
    parser.add_argument(
        '--floating-base', action='store_true', help='let the root link float in the world'
    )


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--xacro-arg``, see `parse_xacro_args`, and ``--lenient``."""
    parser.add_argument(
        '--xacro-arg',
        action='append',
        default=[],
        metavar='NAME:=VALUE',
        help='argument of a xacro file; may be given several times',
    )
    parser.add_argument(
        '--lenient',
        action='store_true',
        help='take missing limits as none, with a warning, instead of refusing the file',
    )


def robot_options(args: argparse.Namespace) -> dict[str, Any]:
    """
    Return the options of `load_urdf` that the arguments of `add_robot_arguments` stand for.

    Raises
    ------
    ConfigurationError
        If an argument for xacro is not ``NAME:=VALUE``.

    """
    return {
        'xacro_args': parse_xacro_args(args.xacro_arg),
        'strict': not args.lenient,
        'unknown_mimic': 'independent' if args.independent_mimics else 'error',
        'floating_base': args.floating_base,
    }


def parse_xacro_args(pairs: Iterable[str]) -> dict[str, str]:
    """
    Return the mapping that ``NAME:=VALUE`` arguments describe.

    Raises
    ------
    ConfigurationError
        If one is written in another way.

    """
    found = {}
    for pair in pairs:
        name, separator, value = pair.partition(':=')
        if not separator or not name:
            raise ConfigurationError(f"xacro argument '{pair}', expected NAME:=VALUE")
        found[name] = value
    return found


def add_friction_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--friction``, see `friction_model`."""
    parser.add_argument(
        '--friction',
        default='none',
        metavar='none|urdf|FILE',
        help='friction to add: none (default), that of the URDF, or of a YAML file',
    )


def friction_model(source: str, model: RobotModel) -> FrictionModel | None:
    """
    Return the friction that ``--friction`` asks for.

    Raises
    ------
    ConfigurationError
        If the robot states none, or the file cannot be used.

    """
    if source == 'none':
        return None
    if source == 'urdf':
        return FrictionModel.from_model(model)
    return FrictionModel.from_file(source, model.joint_names)


def add_armature_argument(parser: Any) -> None:
    """Add ``--armature``, see `parse_armature`."""
    parser.add_argument(
        '--armature',
        nargs='+',
        action='extend',
        default=[],
        metavar='JOINT=VALUE',
        help='reflected rotor inertia of joints [kg m^2 | kg]',
    )


def parse_armature(pairs: Iterable[str]) -> dict[str, float]:
    """
    Return the mapping that ``JOINT=VALUE`` arguments describe.

    Raises
    ------
    ConfigurationError
        If one is written in another way, or given twice.

    """
    armature: dict[str, float] = {}
    for pair in pairs:
        name, _, value = pair.partition('=')
        if name in armature:
            raise ConfigurationError(f"armature of '{name}' is given twice")
        try:
            armature[name] = float(value)
        except ValueError as error:
            raise ConfigurationError(f"armature '{pair}' is not JOINT=VALUE") from error
    return armature


def add_payload_arguments(parser: Any) -> None:
    """Add ``--payload``, ``--payload-frame`` and ``--payload-com``, see `loaded_model`."""
    parser.add_argument(
        '--payload',
        type=number_between(0.0, inf, 'kg'),
        default=0.0,
        metavar='KG',
        help='mass of a load at the flange',
    )
    parser.add_argument(
        '--payload-frame', metavar='FRAME', help='link that carries it; the last one by default'
    )
    parser.add_argument(
        '--payload-com',
        nargs=3,
        type=finite,
        default=(0.0, 0.0, 0.0),
        metavar=('X', 'Y', 'Z'),
        help='its centre of mass in that frame [m]; the origin by default',
    )


def loaded_model(model: RobotModel, args: argparse.Namespace) -> RobotModel:
    """
    Return the robot with the load that the arguments ask for.

    Raises
    ------
    UnknownFrameError
        If the robot has no such link.

    """
    if args.payload == 0.0:
        return model
    frame = args.payload_frame or model.body_names[-1]
    return model.with_payload(Payload(args.payload, frame, args.payload_com))
