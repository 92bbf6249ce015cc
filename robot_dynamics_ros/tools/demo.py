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
`robot_dynamics demo`: a simulated ES5 arm follows trajectories on model torques, over real DDS.

Exit code 0; 1 if feedforward does not cut the error as it should, if a node died or something was
refused, with one line on stderr; 130 after Ctrl-C.

"""

from __future__ import annotations

import argparse
import importlib
import json
from pathlib import Path
import time
from typing import Any

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.report.atomic import (
    refuse_filled_directory,
    staged_directory,
    write_text,
)
from robot_dynamics_ros.report.progress import Progress
from robot_dynamics_ros.tools.argument_types import number_between, whole_number_between

DEFAULT_OUTPUT = Path('results/demo')


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the command line."""
    parser = subparsers.add_parser(
        'demo',
        help='drive a simulated ES5 along trajectories on model torques',
        description='Start the simulated ES5 arm and the controller in processes of their own, '
        'let the arm follow trajectories under four control laws, and measure how well it does. '
        'Prints a table; writes a picture, the figures as JSON, a bag (MCAP) and the logs of the '
        'nodes.',
    )
    parser.add_argument(
        '--output',
        type=Path,
        metavar='DIR',
        help=f'folder for the results; {DEFAULT_OUTPUT} by default, or with a number after it if '
        'that is taken',
    )
    parser.add_argument('--overwrite', action='store_true', help='replace results in the folder')
    parser.add_argument(
        '--quick', action='store_true', help='leave the longer one of the two motions out'
    )
    pace = parser.add_mutually_exclusive_group()
    pace.add_argument(
        '--lockstep',
        action='store_true',
        help='let each step of the simulation wait for its command in all runs, so that the '
        'result does not depend on the load of the machine',
    )
    pace.add_argument(
        '--rate',
        type=number_between(50.0, 5000.0, 'Hz'),
        metavar='HZ',
        help='joint states and commands per second, in real time; by default 1000, or less if '
        'this machine does not keep up with it',
    )
    parser.add_argument(
        '--domain',
        type=whole_number_between(0, 101),
        metavar='N',
        help='DDS domain; by default one that nobody uses on this machine. The ROS_DOMAIN_ID of '
        'the environment is not used: a robot may listen there',
    )


def run(args: argparse.Namespace) -> int:
    """Perform the runs, write and print the results; return 0, or 1 if they are not good."""
    _require_rclpy()
    from robot_dynamics_ros.demo.demonstration import demonstrate
    from robot_dynamics_ros.demo.graph import isolate
    from robot_dynamics_ros.demo.plan import LOCKSTEP, Pace, plan_runs, WANTED_RATIO
    from robot_dynamics_ros.demo.processes import interrupt_on_signals
    from robot_dynamics_ros.demo.results import (
        feedforward_ratio,
        report,
        tables,
        verdict,
        write_bag,
        write_figure,
    )

    folder = output_folder(args.output, args.overwrite)
    pace = LOCKSTEP if args.lockstep else Pace(args.rate, False) if args.rate else None
    domain = isolate(args.domain)
    began = time.monotonic()
    _say(f'starting the simulated arm and its controller, on DDS domain {domain}\n')
    interrupt_on_signals()
    try:
        with staged_directory(folder, overwrite=args.overwrite) as staging:
            logs = staging / 'logs'
            logs.mkdir()
            records = demonstrate(plan_runs(args.quick), pace, logs, _say)
            _say('drawing and writing the bag ...\n')
            write_figure(staging / 'demo.png', records)
            write_text(staging / 'report.json', json.dumps(report(records), indent=2) + '\n')
            with Progress('writing the bag') as progress:
                write_bag(staging / 'bag', records, progress.over)
    except KeyboardInterrupt:
        _say('\ninterrupted; the nodes have ended\n')
        raise
    ratio = feedforward_ratio(records)
    print(f'\n{tables(records)}\n\n{verdict(ratio)}')
    print(f'{time.monotonic() - began:.0f} s. {folder}/: demo.png, bag/, report.json, logs/')
    return 0 if ratio >= WANTED_RATIO else 1


def _require_rclpy() -> None:
    """
    Pass if there is a ROS 2 to run on.

    Raises
    ------
    ConfigurationError
        If there is none.

    """
    try:
        importlib.import_module('rclpy.node')
    except ImportError as error:
        raise ConfigurationError(
            f'there is no rclpy ({error}); run `make demo`, or source a ROS 2 '
            '(. /opt/ros/<distro>/setup.sh)'
        ) from error


def output_folder(given: Path | None, overwrite: bool) -> Path:
    """
    Return where the results go; see the help of ``--output``.

    Raises
    ------
    OutputError
        If the folder is taken, and may not be overwritten.

    """
    folder = given or DEFAULT_OUTPUT
    number = 1
    while given is None and not overwrite and folder.exists():
        number += 1
        folder = DEFAULT_OUTPUT.with_name(f'{DEFAULT_OUTPUT.name}-{number}')
    refuse_filled_directory(folder, overwrite=overwrite)
    return folder


def _say(text: str) -> None:
    print(text, end='', flush=True)
