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
`robot_dynamics energy FILE`: how well each integrator keeps the energy of a free motion.

The robot is let go without friction, limits and efforts. Exit code 0; 1 if the model, a state or
the output folder is refused, with one line on stderr. An integrator that leaves the numbers is a
result, not an error.

"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
import json
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError, NonFiniteError
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.report.atomic import refuse_filled_directory, staged_directory, write_text
from robot_dynamics_ros.report.progress import Progress
from robot_dynamics_ros.report.table import Cell, format_table
from robot_dynamics_ros.tools.argument_types import (
    add_gravity_argument,
    finite,
    number_between,
)
from robot_dynamics_ros.tools.robot_arguments import add_robot_arguments, robot_options

INTEGRATORS = ('euler', 'semi_implicit', 'midpoint', 'heun', 'rk4', 'adaptive')
"""Those of the core, written here so that ``--help`` does not wait for compiled kernels."""


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the command line."""
    parser = subparsers.add_parser(
        'energy',
        help='show how well each integrator keeps the energy of a free motion',
        description='Let the robot go without friction, limits and efforts, with every integrator '
        'and step, and show the largest error of the energy. With --output a plot and report.json '
        'are written.',
    )
    parser.add_argument(
        '--duration',
        type=_positive('s'),
        default=10.0,
        metavar='S',
        help='length of the motion; 10 s by default',
    )
    parser.add_argument(
        '--steps',
        type=_listed(_positive('s')),
        default=[1e-3, 1e-2],
        metavar='S,S',
        help='steps of the integrators, separated by commas; 0.001,0.01 s by default',
    )
    parser.add_argument(
        '--integrators',
        type=_listed(_integrator),
        default=list(INTEGRATORS),
        metavar='NAME,NAME',
        help=f'all by default: {",".join(INTEGRATORS)}',
    )
    parser.add_argument(
        '--q',
        nargs='+',
        type=finite,
        metavar='Q',
        help='position at the start [rad | m]; by default zeros, or 1 rad | 0.1 m at every joint '
        'where nothing would move from zeros',
    )
    parser.add_argument(
        '--v', nargs='+', type=finite, metavar='V', help='velocity at the start; zeros by default'
    )
    parser.add_argument('--output', metavar='DIR', help='folder for the plot and report.json')
    parser.add_argument('--overwrite', action='store_true', help='replace results in the folder')
    parser.add_argument('--json', action='store_true', help='print JSON')
    add_gravity_argument(parser)
    add_robot_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Integrate, write and print; return 0."""
    if args.output is not None:
        refuse_filled_directory(args.output, overwrite=args.overwrite)
    model = load_urdf(args.file, **robot_options(args), gravity=args.gravity)
    if model.nv == 0:
        raise ConfigurationError(f"robot '{model.name}' has no joint that moves")
    study = _study(model, args)
    report = as_dict(study, args)
    text = json.dumps(report, indent=2, allow_nan=False)
    written: list[str] = []
    if args.output is not None:
        written = write_results(args.output, study, text, overwrite=args.overwrite)
    print(text if args.json else as_text(study))
    if written and not args.json:
        print(f'\nwritten to {args.output}: {", ".join(written)}')
    return 0


@dataclass(frozen=True, eq=False)
class EnergyStudy:
    """
    The runs of one robot.

    Attributes
    ----------
    model : RobotModel
    q, v : ndarray
        State at the start.
    duration : float
        Length of the motion [s].
    runs : list of tuple
        Integrator, step [s] (None for its own), and the `MotionEnergy` or the reason why there is
        none.

    """

    model: RobotModel
    q: Vector
    v: Vector
    duration: float
    runs: list[tuple[str, float | None, Any]]


def _study(model: RobotModel, args: argparse.Namespace) -> EnergyStudy:
    # Here, so that a refused file and --help do not wait for compiled kernels.
    from robot_dynamics_ros.core.simulation.motion_energy import motion_energy, moving_start

    q = moving_start(model) if args.q is None else as_vector('q', args.q, model.nq)
    v = np.zeros(model.nv) if args.v is None else as_vector('v', args.v, model.nv)
    plan: list[tuple[str, float | None]] = []
    for name in dict.fromkeys(args.integrators):
        steps = dict.fromkeys(args.steps)
        plan += [(name, None)] if name == 'adaptive' else [(name, dt) for dt in steps]
    runs: list[tuple[str, float | None, Any]] = []
    with Progress('integrating', len(plan)) as progress:
        for name, dt in progress.over(plan):
            step = max(args.steps) if dt is None else dt
            result: Any
            try:
                result = motion_energy(
                    model, q, v, dt=step, duration=args.duration, integrator=name
                )
            except NonFiniteError as error:
                result = str(error)
            runs.append((name, dt, result))
    return EnergyStudy(model, q, v, args.duration, runs)


def as_dict(study: EnergyStudy, args: argparse.Namespace) -> dict[str, Any]:
    """Return the report as plain values for JSON."""
    rows = []
    for name, dt, result in study.runs:
        row: dict[str, Any] = {'integrator': name, 'step': dt, 'largest_error': None}
        if isinstance(result, str):
            row['reason'] = result
        else:
            row['largest_error'] = result.largest_error
            row['final_error'] = float(result.error[-1])
            row['steps'] = None if dt is None else len(result.time) - 1
        rows.append(row)
    return {
        'file': str(args.file),
        'robot': study.model.name,
        'gravity': study.model.gravity.tolist(),
        'duration': study.duration,
        'q_names': list(study.model.q_names),
        'q': study.q.tolist(),
        'v': study.v.tolist(),
        'start_energy': _start_energy(study),
        'runs': rows,
    }


def _start_energy(study: EnergyStudy) -> float:
    from robot_dynamics_ros.core.dynamics import mechanical_energy

    return float(mechanical_energy(study.model, study.q, study.v))


def as_text(study: EnergyStudy) -> str:
    """Return the report for the terminal."""
    model = study.model
    state = ', '.join(f'{name} {value:g}' for name, value in zip(model.q_names, study.q))
    rows: list[list[Cell]] = []
    notes = []
    for name, dt, result in study.runs:
        if isinstance(result, str):
            notes.append(f'{name} with {dt:g} s: {result}' if dt else f'{name}: {result}')
            rows.append([name, dt, None, None])
        else:
            rows.append([name, dt, result.largest_error, float(result.error[-1])])
    headers = ['integrator', 'step [s]', 'largest error [J]', 'error at the end [J]']
    return '\n'.join(
        [
            f'{model.name}: free motion of {study.duration:g} s, no friction',
            f'start   {state}',
            f'energy  {_start_energy(study):.6g} J at the start',
            '',
            format_table(headers, rows),
            *notes,
        ]
    )


def write_results(
    folder: str | Path, study: EnergyStudy, text: str, *, overwrite: bool = False
) -> list[str]:
    """
    Write plot and report, all or nothing; return what was written.

    Raises
    ------
    OutputError
        If the folder has something in it and `overwrite` is false, or cannot be written.

    """
    # matplotlib takes half a second to import: only when there is something to draw.
    from robot_dynamics_ros.report.energy_plot import plot_motion_energies

    runs = [result for _, _, result in study.runs if not isinstance(result, str)]
    model = study.model
    gravity = ', '.join(f'{value:g}' for value in model.gravity)
    with staged_directory(folder, overwrite=overwrite) as staging:
        write_text(staging / 'report.json', text + '\n')
        if runs:
            plot_motion_energies(
                staging / 'energy.png',
                runs,
                title=f'Energy of the free motion of {model.name}',
                subtitle=f'no friction, gravity ({gravity}) m/s^2, '
                f'{_start_energy(study):.6g} J at the start',
            )
        return sorted(entry.name for entry in staging.iterdir())


def _positive(unit: str) -> Callable[[str], float]:
    return number_between(1e-9, inf, unit)


def _integrator(text: str) -> str:
    if text not in INTEGRATORS:
        raise argparse.ArgumentTypeError(f"'{text}' is not one of: {', '.join(INTEGRATORS)}")
    return text


def _listed(item: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """Return the type of a list of items that are separated by commas."""

    def listed(text: str) -> list[Any]:
        return [item(part.strip()) for part in text.split(',')]

    return listed
