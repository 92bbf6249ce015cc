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

"""Drive gains from a payload that is known: ``robot_dynamics payload --known-mass``."""

from __future__ import annotations

import argparse
import json
from math import inf
from typing import Any

import numpy as np

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.covariance import TWO_SIDED_95
from robot_dynamics_ros.core.identification.drive_gains import drive_gains, DriveGains
from robot_dynamics_ros.core.identification.identification_model import identification_model
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.report.atomic import staged_directory, write_text
from robot_dynamics_ros.report.table import Cell, format_table
from robot_dynamics_ros.tools.argument_types import finite, number_between
from robot_dynamics_ros.tools.payload_data import PayloadMotions

LEAST_CLEAR = 6.0
"""A gain must be so many of its standard deviations away from zero: known to a third."""


def add_gain_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the known payload, which makes the gains of the drives the unknowns."""
    group = parser.add_argument_group('gains of drives from a known payload (with --unloaded)')
    group.add_argument(
        '--known-mass',
        type=number_between(1e-6, inf, 'kg'),
        metavar='KG',
        help='its mass: find what one unit of the efforts is in N m, instead of the payload',
    )
    group.add_argument(
        '--known-com',
        nargs=3,
        type=finite,
        metavar=('X', 'Y', 'Z'),
        help='its centre of mass, expressed in the frame [m]',
    )
    group.add_argument(
        '--known-inertia',
        nargs=6,
        type=finite,
        default=6 * (0.0,),
        metavar=('IXX', 'IXY', 'IXZ', 'IYY', 'IYZ', 'IZZ'),
        help='its inertia about the centre of mass [kg m^2]; zero by default',
    )


def known_payload(args: argparse.Namespace) -> Payload | None:
    """
    Return the payload that the arguments of `add_gain_arguments` state.

    Raises
    ------
    ConfigurationError
        If it is stated in part, or there is no log without it.
    ModelError
        If no body can have this inertia.

    """
    if args.known_mass is None and args.known_com is None:
        return None
    if args.known_mass is None or args.known_com is None or not args.unloaded:
        raise ConfigurationError(
            'gains of drives need --known-mass, --known-com and --unloaded, all of them'
        )
    xx, xy, xz, yy, yz, zz = args.known_inertia
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Payload(args.known_mass, args.frame, np.array(args.known_com), tensor)


def run_gains(
    args: argparse.Namespace, motions: PayloadMotions, payload: Payload, command: str
) -> int:
    """
    Identify the gains, write ``report.json`` and print them; return 0.

    Raises
    ------
    ConfigurationError
        If the payload has no effect, the efforts show no gain, or the cutoff does not suit the
        samples.
    OutputError
        If the folder cannot be written.

    """
    robot = motions.matched.model
    found = drive_gains(
        identification_model(robot),
        motions.unloaded,
        motions.loaded,
        payload,
        motions.cutoffs.cutoff,
    )
    clear = np.abs(found.gains) > LEAST_CLEAR * found.deviation
    shown = [name for name, is_clear in zip(robot.v_names, clear) if is_clear]
    if not shown:
        raise ConfigurationError(
            'the efforts show no gain of any joint: do the logs differ by this payload?'
        )
    with staged_directory(args.output, overwrite=args.overwrite) as staging:
        report = _as_dict(args, motions, payload, found, command)
        text = json.dumps(report, indent=2, allow_nan=False)
        write_text(staging / 'report.json', text + '\n')
    print(_table(robot.v_names, found))
    if hidden := [n for n, gain in zip(robot.v_names, found.gains) if not np.isfinite(gain)]:
        print(f'the payload has no effect on {", ".join(hidden)}: no gain')
    if vague := [name for name in robot.v_names if name not in (*shown, *hidden)]:
        print(f'the efforts of {", ".join(vague)} do not follow the payload: no gain')
    if np.all(found.gains[clear] < 0.0):
        print(
            'all gains are negative: either all efforts have the opposite sign, or the log with '
            'the payload is the one without it'
        )
    gains = dict(zip(robot.v_names, found.gains.tolist()))
    options = ' '.join(f'{name}={gains[name]:.4g}' for name in shown)
    print('friction that the model lacks makes gains too small')
    print(f'\nfor other commands: --effort-gain {options}')
    print(f'\nwritten to {args.output}: report.json')
    return 0


def _table(names: tuple[str, ...], found: DriveGains) -> str:
    rows: list[list[Cell]] = [
        [name, f'{gain:.4g}', f'{TWO_SIDED_95 * sigma:.2g}']
        for name, gain, sigma in zip(names, found.gains.tolist(), found.deviation.tolist())
    ]
    headers = ['joint', 'gain', '+- (95 %)']
    title = 'Torque or force of each joint per unit of the efforts as they are read'
    return format_table(headers, rows, title=title, right=headers[1:])


def _as_dict(
    args: argparse.Namespace,
    motions: PayloadMotions,
    payload: Payload,
    found: DriveGains,
    command: str,
) -> dict[str, Any]:
    def stated(values: np.ndarray) -> dict[str, float | None]:
        pairs = zip(motions.matched.model.v_names, values.tolist())
        return {name: value if np.isfinite(value) else None for name, value in pairs}

    return {
        'command': command,
        'loaded': list(args.logs),
        'unloaded': list(args.unloaded),
        'urdf': str(args.urdf),
        'known_payload': {
            'mass': payload.mass,
            'frame': payload.frame,
            'com': payload.com.tolist(),
            'inertia': list(args.known_inertia),
        },
        'cutoff': motions.cutoffs.cutoff,
        'standstill': args.standstill,
        'gains': stated(found.gains),
        'deviation': stated(found.deviation),
        'notes': list(motions.notes),
    }
