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
`robot_dynamics simulate FILE`: a robot under a control law, among what surrounds it.

Exit code 0; 1 if the robot, a file, the motion or the output folder is refused or the simulation
leaves the numbers, with one line on stderr.

"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import time
from typing import Any, TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.core.exceptions import ConfigurationError, NonFiniteError
from robot_dynamics_ros.core.friction.friction_values import FRICTION_LAWS
from robot_dynamics_ros.core.trajectory.scenarios import SCENARIOS
from robot_dynamics_ros.report.atomic import refuse_filled_directory, staged_directory
from robot_dynamics_ros.report.progress import Progress
from robot_dynamics_ros.tools.argument_types import (
    add_gravity_argument,
    finite,
    number_between,
    whole_number_between,
)
from robot_dynamics_ros.tools.robot_arguments import (
    add_armature_argument,
    add_friction_argument,
    add_payload_arguments,
    add_robot_arguments,
)

if TYPE_CHECKING:
    from robot_dynamics_ros.core.arrays import Matrix
    from robot_dynamics_ros.report.simulation_report import SimulationRun

CONTROLLERS = (
    'none', 'hold', 'gravity', 'pd', 'pd_gravity', 'pd_feedforward', 'computed_torque'
)  # fmt: skip


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the command line."""
    parser = subparsers.add_parser(
        'simulate',
        help='simulate a robot under a control law, with contact, friction, drives and sensors',
        description='Simulate a robot under a control law and show where its energy went, what it '
        'touched and how well it followed its motion. With --output a bag (MCAP) of what the '
        'sensors report and of the truth is written, with plots, report.json and a page with a '
        'moving picture.',
    )
    _add_surroundings(parser.add_argument_group('surroundings'))
    _add_control(parser.add_argument_group('control'))
    _add_robot(parser.add_argument_group('robot'))
    _add_time(parser.add_argument_group('time'))
    parser.add_argument('--output', type=Path, metavar='DIR', help='folder for the results')
    parser.add_argument('--overwrite', action='store_true', help='replace results in the folder')
    parser.add_argument('--json', action='store_true', help='print JSON instead of tables')
    add_robot_arguments(parser)


def _add_surroundings(group: Any) -> None:
    group.add_argument('--world', metavar='FILE', help='YAML file of planes, boxes and spheres')
    group.add_argument(
        '--collisions',
        choices=('none', 'urdf'),
        help="shapes that touch: the URDF's (default where there is a world) or none",
    )
    group.add_argument('--self-collision', action='store_true', help='links touch each other too')
    group.add_argument(
        '--disabled-pairs',
        metavar='FILE',
        help='YAML or SRDF file of links, boxes and spheres that pass through each other',
    )
    group.add_argument(
        '--contact-model',
        choices=('rigid', 'compliant'),
        default='rigid',
        help='rigid (default), with restitution, or compliant, with stiffness and dissipation',
    )
    group.add_argument(
        '--push',
        nargs=6,
        action='append',
        default=[],
        metavar=('LINK', 'FX', 'FY', 'FZ', 'T0', 'T1'),
        help="force at the origin of a link's frame, in the world [N], from T0 to T1 [s]; may be "
        'given several times',
    )
    add_gravity_argument(group)


def _add_control(group: Any) -> None:
    group.add_argument(
        '--controller',
        choices=CONTROLLERS,
        default='none',
        help='control law; none by default, hold keeps the start, gravity carries the weight, the '
        'others follow a motion',
    )
    gain = number_between(0.0, 1e9, '')
    for name, what in (('--kp', 'position'), ('--kd', 'velocity')):
        group.add_argument(
            name,
            nargs='+',
            type=gain,
            metavar='K',
            help=f'gain on the error of {what}, one or one for each driven joint; by default it '
            'suits the inertia at the start',
        )
    group.add_argument(
        '--passive',
        nargs='+',
        default=[],
        metavar='JOINT',
        help='joints that have no drive (with none, hold, pd)',
    )
    motion = group.add_mutually_exclusive_group()
    motion.add_argument('--scenario', choices=SCENARIOS, help='a motion of a 6-axis arm')
    motion.add_argument(
        '--trajectory', type=Path, metavar='FILE', help='YAML of a trajectory_msgs/JointTrajectory'
    )
    positive = number_between(1e-3, 1e3, '')
    group.add_argument(
        '--amplitude', type=positive, default=1.0, metavar='X', help='factor on a scenario'
    )
    group.add_argument(
        '--time-scale', type=positive, default=1.0, metavar='X', help='factor on its duration'
    )


def _add_robot(group: Any) -> None:
    for name, what in (('--q', 'position'), ('--v', 'velocity')):
        group.add_argument(
            name,
            nargs='+',
            metavar='VALUE',
            help=f'{what} at the start, of all joints in order or as NAME=VALUE; by default that '
            'of the motion, or zeros',
        )
    group.add_argument(
        '--base-pose',
        nargs='+',
        type=finite,
        metavar='X',
        help='X Y Z [QX QY QZ QW] of a floating base at the start [m]',
    )
    add_friction_argument(group)
    group.add_argument(
        '--friction-model',
        choices=FRICTION_LAWS,
        default='dry',
        help='how joints stick: exactly, or on bristles that give way; dry by default',
    )
    group.add_argument('--drives', metavar='FILE', help='YAML file of the drives')
    add_armature_argument(group)
    for name, what in (('--joint-stiffness', 'stiffness'), ('--joint-damping', 'damping')):
        group.add_argument(
            name,
            nargs='+',
            metavar='VALUE',
            help=f'{what} of elastic joints, of all in order or as NAME=VALUE; others are rigid. '
            'Their motors have the inertia of --armature or --drives',
        )
    group.add_argument('--sensors', metavar='FILE', help='YAML file of the sensors')
    group.add_argument(
        '--seed', type=whole_number_between(0), default=0, metavar='N', help='of their noise'
    )
    group.add_argument(
        '--joint-limits',
        action=argparse.BooleanOptionalAction,
        default=True,
        help='whether position limits stop the joints; they do by default',
    )
    add_payload_arguments(group)


def _add_time(group: Any) -> None:
    group.add_argument(
        '--duration',
        type=number_between(1e-6, 1e6, 's'),
        metavar='S',
        help='simulated time; by default that of the motion, or 2 s',
    )
    group.add_argument(
        '--rate',
        type=number_between(1.0, 1e5, 'Hz'),
        default=1000.0,
        metavar='HZ',
        help='of control and record; 1000 by default',
    )
    group.add_argument(
        '--step',
        type=number_between(1e-6, 0.1, 's'),
        default=1e-3,
        metavar='S',
        help='longest internal step; 0.001 by default',
    )
    group.add_argument(
        '--integrator',
        choices=('rk4', 'semi_implicit'),
        default='rk4',
        help='for free motion; rk4 by default',
    )


def run(args: argparse.Namespace) -> int:
    """Simulate, write and print; return 0."""
    if args.output is not None:
        refuse_filled_directory(args.output, overwrite=args.overwrite)
    result, reference = _simulated(args)
    written: list[str] = []
    if args.output is not None:
        written = write_results(args.output, result, reference, overwrite=args.overwrite)
    if args.json:
        print(json.dumps(result.as_dict(), indent=2, allow_nan=False))
    else:
        from robot_dynamics_ros.report.simulation_report import summary

        print(summary(result))
        if written:
            print(f'\nwritten to {args.output}: {", ".join(written)}')
    return 0


def _simulated(
    args: argparse.Namespace,
) -> tuple[SimulationRun, tuple[Matrix, Matrix, Matrix] | None]:
    # Here, so that --help and refused arguments do not wait for compiled kernels.
    from robot_dynamics_ros.core.simulation.closed_loop import run_closed_loop
    from robot_dynamics_ros.core.simulation.simulation_record import SimulationRecord
    from robot_dynamics_ros.report.simulation_report import SimulationRun
    from robot_dynamics_ros.tools import simulation_setup as setup
    from robot_dynamics_ros.tools.simulation_law import make_law

    model = setup.load_model(args)
    motion = setup.make_motion(args, model)
    start = setup.make_start(args, model, motion)
    duration = args.duration or (setup.DEFAULT_DURATION if motion is None else motion.duration)
    dt = 1.0 / args.rate
    periods = max(1, round(duration * args.rate))
    world = setup.make_world(args)
    hardware = setup.make_hardware(args, model, world, start)
    # What takes too much memory is refused before the motion is sampled.
    SimulationRecord.empty(hardware.plant.model, hardware.joint_names, dt, periods)
    reference = None if motion is None else motion.sample(dt * np.arange(periods + 1))
    law = make_law(args, hardware, reference)
    pushes = setup.make_pushes(args.push)
    began = time.perf_counter()
    try:
        with Progress('simulating', periods) as progress:
            record = run_closed_loop(
                hardware, law, dt=dt, periods=periods, pushes=pushes, advance=progress.advance
            )
    except NonFiniteError as error:
        raise ConfigurationError(
            f'the simulation becomes unstable: {error}; take lower gains, a higher --rate or a '
            'smaller --step'
        ) from error
    wall_time = time.perf_counter() - began
    q_ref = None if reference is None else reference[0]
    return SimulationRun(record, _facts(args, start.q), q_ref, world, wall_time), reference


def _facts(args: argparse.Namespace, q: Any) -> dict[str, Any]:
    """Return how the simulation was asked for, as plain values."""
    keys = (
        'file', 'world', 'collisions', 'self_collision', 'disabled_pairs', 'contact_model',
        'controller', 'kp', 'kd', 'passive',
        'scenario', 'trajectory', 'amplitude', 'time_scale', 'rate', 'step', 'integrator',
        'friction', 'friction_model', 'armature', 'joint_stiffness', 'joint_damping', 'drives',
        'sensors', 'seed', 'payload', 'joint_limits', 'floating_base',
        'push', 'gravity',
    )  # fmt: skip
    facts = {key: getattr(args, key) for key in keys}
    facts = {key: str(x) if isinstance(x, Path) else x for key, x in facts.items()}
    command = args.command_line
    return {'command': command, **facts, 'q_start': [float(x) for x in q]}


def write_results(
    folder: str | Path,
    run: SimulationRun,
    reference: tuple[Matrix, Matrix, Matrix] | None,
    *,
    overwrite: bool = False,
) -> list[str]:
    """
    Write bag, plots, report and page, all or nothing; return what was written.

    Raises
    ------
    OutputError
        If the folder has something in it and `overwrite` is false, or cannot be written.

    """
    from robot_dynamics_ros.report.simulation_report import write_pages
    from robot_dynamics_ros.tools.simulation_bag import BAG_NAME, write_bag

    with staged_directory(folder, overwrite=overwrite) as staging:
        with Progress('writing the bag', len(run.record.t)) as progress:
            write_bag(staging / BAG_NAME, run.record, reference, progress.advance)
        write_pages(staging, run)
        return sorted(entry.name for entry in staging.iterdir())
