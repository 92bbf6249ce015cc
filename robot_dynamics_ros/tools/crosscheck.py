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
`robot_dynamics crosscheck FILE`: compare every quantity of a robot with Pinocchio.

Exit code 0 if all are within tolerance, 1 if one is not (or the file is refused), 2 if nothing
could be compared.

"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.crosscheck import crosscheck_model, CrosscheckReport
from robot_dynamics_ros.report.table import format_table
from robot_dynamics_ros.tools.argument_types import whole_number_between
from robot_dynamics_ros.tools.robot_arguments import add_robot_arguments, robot_options

HELP = 'compare every quantity with Pinocchio on a URDF file'


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the command line."""
    parser = subparsers.add_parser('crosscheck', help=HELP, description=HELP)
    parser.add_argument(
        '--samples',
        type=whole_number_between(1),
        default=20,
        metavar='N',
        help='random states (default 20)',
    )
    parser.add_argument(
        '--seed',
        type=whole_number_between(0),
        default=0,
        metavar='N',
        help='of the random states (default 0)',
    )
    parser.add_argument('--json', action='store_true', help='print JSON')
    add_robot_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Print the comparison; return 0 (passed), 1 (failed) or 2 (nothing compared)."""
    model = load_urdf(args.file, **robot_options(args))
    return show(crosscheck_model(model, samples=args.samples, seed=args.seed), args.json)


def show(report: CrosscheckReport, as_json: bool) -> int:
    """Print a report and return the exit code that belongs to it."""
    if as_json:
        print(json.dumps(report.as_dict(), indent=2, allow_nan=False))
    elif report.rows:
        print(as_text(report))
    else:
        print(report.summary, file=sys.stderr)
    if report.skipped:
        return 2
    return 0 if report.ok else 1


def as_text(report: CrosscheckReport) -> str:
    """Return the table of quantities with the verdict below it."""
    table = format_table(
        ['quantity', 'relative difference', 'tolerance', 'verdict', 'largest at'],
        [
            [
                row.quantity,
                f'{row.max_relative_difference:.2e}',
                f'{row.tolerance:.0e}',
                'ok' if row.ok else 'DIFFERS',
                row.worst,
            ]
            for row in report.rows
        ],
        right=['relative difference', 'tolerance'],
    )
    notes = [f'note: {note}' for note in report.notes]
    return '\n'.join([table, *notes, report.summary])
