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
`robot_dynamics inspect FILE`: what a URDF or xacro file holds, and every finding on it.

Exit code 0, or 1 if the model is refused.

"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import json
from math import isfinite
import os
from typing import Any

from robot_dynamics_ros.core.exceptions import RobotDynamicsError, UrdfError
from robot_dynamics_ros.core.model.description import Finding, Joint, JointType
from robot_dynamics_ros.core.model.finding_codes import one_line
from robot_dynamics_ros.core.model.robot_model import neutral, RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.model.urdf_joint import units_of
from robot_dynamics_ros.report.table import format_table
from robot_dynamics_ros.tools.robot_arguments import add_robot_arguments, robot_options

_COLUMNS = {
    'lower': 'lower',
    'upper': 'upper',
    'velocity': 'velocity',
    'effort': 'effort',
    'g(0)': 'gravity_effort_at_zero',
    'max |g|': 'gravity_effort_largest',
}

_SHOWN_OF_A_KIND = 12
SEVERITIES = ('error', 'warning', 'info')


def add_parser(subparsers: Any) -> None:
    """Add the subcommand to the command line."""
    parser = subparsers.add_parser(
        'inspect', help='show what a URDF or xacro file holds, and every finding on it'
    )
    parser.add_argument('--json', action='store_true', help='print JSON')
    add_robot_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Print the report; return 0, or 1 if the model is refused."""
    report = inspect_file(args.file, **robot_options(args))
    print(json.dumps(report, indent=2, allow_nan=False) if args.json else as_text(report))
    return 0 if report['accepted'] else 1


def inspect_file(source: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """
    Return the report on a file as JSON-ready values.

    Numbers that are not stated, and infinite ones, are None.

    Parameters
    ----------
    source : str or path-like
        URDF or xacro file.
    options
        As for `load_urdf`.

    """
    report: dict[str, Any] = {'file': one_line(os.fspath(source)), 'accepted': False}
    try:
        model = load_urdf(source, **options)
    except UrdfError as error:
        found = [item for item in error.findings if isinstance(item, Finding)]
        return {**report, 'reason': str(error), **_findings(found)}
    except RobotDynamicsError as error:
        return {**report, 'reason': str(error), **_findings([])}
    return {**report, 'accepted': True, **inspect_model(model)}


def inspect_model(model: RobotModel) -> dict[str, Any]:
    """Return the report on a loaded model as JSON-ready values."""
    # Here, so that a refused file and --help do not wait for compiled kernels.
    from robot_dynamics_ros.core.dynamics import center_of_mass, generalized_gravity
    from robot_dynamics_ros.core.dynamics.model_findings import model_findings, worst_gravity

    q = neutral(model)
    at_neutral, worst = generalized_gravity(model, q), worst_gravity(model)
    by_name = {joint.name: joint for joint in model.description.joints}
    joints = []
    for moving in model.joints:
        entry = _joint_entry(moving.name, moving.type, by_name.get(moving.name))
        if moving.mimic is not None:
            entry['mimics'] = {
                'joint': moving.mimic.joint,
                'multiplier': moving.mimic.multiplier,
                'offset': moving.mimic.offset,
            }
        elif entry['degrees_of_freedom'] == 1:
            entry['gravity_effort_at_zero'] = _number(at_neutral[moving.v_index])
            entry['gravity_effort_largest'] = _number(worst[moving.v_index])
        joints.append(entry)
    fixed = [j.name for j in model.description.joints if j.type is JointType.FIXED]
    com = center_of_mass(model, q) if model.moving_mass > 0.0 else None
    return {
        'robot': model.name,
        'nq': model.nq,
        'nv': model.nv,
        'joint_names': list(model.joint_names),
        'joints': joints,
        'fixed_joints': fixed,
        'moving_mass': model.moving_mass,
        'total_mass': model.total_mass,
        'center_of_mass': None if com is None else [_number(value) for value in com],
        'gravity': [float(value) for value in model.gravity],
        **_findings([*model.findings, *model_findings(model, worst)]),
    }


def _joint_entry(name: str, kind: JointType, joint: Joint | None) -> dict[str, Any]:
    position, velocity, effort = units_of(kind)
    entry: dict[str, Any] = {
        'name': name,
        'type': kind.value,
        'degrees_of_freedom': {JointType.FLOATING: 6, JointType.PLANAR: 3}.get(kind, 1),
        'units': {'position': position, 'velocity': velocity, 'effort': effort},
    }
    if joint is not None:
        limits = joint.limits
        entry.update(
            parent=joint.parent,
            child=joint.child,
            lower=_number(limits.lower),
            upper=_number(limits.upper),
            velocity=_number(limits.velocity),
            effort=_number(limits.effort),
            damping=joint.damping,
            friction=joint.friction,
        )
    return entry


def _findings(found: Sequence[Finding]) -> dict[str, Any]:
    ranked = sorted(found, key=lambda item: SEVERITIES.index(item.severity))
    return {
        'counts': {s: sum(item.severity == s for item in found) for s in SEVERITIES},
        'findings': [
            {
                'severity': item.severity,
                'code': item.code,
                'subject': item.subject,
                'message': item.message,
                'value': _number(item.value),
            }
            for item in ranked
        ],
    }


def _number(value: float | None) -> float | None:
    return float(value) if value is not None and isfinite(value) else None


def as_text(report: dict[str, Any]) -> str:
    """Return the report for the terminal."""
    lines = []
    if report['accepted']:
        com = report['center_of_mass']
        place = 'none' if com is None else ', '.join(f'{value:.4f}' for value in com) + ' m'
        lines += [
            f'{report["robot"]}  ({report["file"]})',
            '',
            *([_joint_table(report['joints']), ''] if report['joints'] else []),
            f'degrees of freedom  {report["nv"]} ({len(report["fixed_joints"])} fixed joints)',
            f'moving mass         {report["moving_mass"]:.6g} kg',
            f'total mass          {report["total_mass"]:.6g} kg',
            f'centre of mass      {place} (of what moves, all joints at zero)',
        ]
    else:
        lines.append(f'REFUSED  {report["reason"]}')
    counts = report['counts']
    summary = ', '.join(f'{counts[s]} {s}{"s" * (counts[s] != 1)}' for s in SEVERITIES)
    lines += ['', f'findings            {summary}']
    if report['findings']:
        rows = _finding_rows(report['findings'])
        lines += ['', format_table(('severity', 'code', 'subject', 'what'), rows)]
    return '\n'.join(lines)


def _finding_rows(findings: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return one row for each finding, but after the first ones of a kind only their number."""
    rows: list[tuple[str, ...]] = []
    for code in dict.fromkeys(item['code'] for item in findings):
        same = [item for item in findings if item['code'] == code]
        for item in same[:_SHOWN_OF_A_KIND]:
            rows.append((item['severity'], code, item['subject'], item['message']))
        more = len(same) - _SHOWN_OF_A_KIND
        if more > 0:
            rows.append((same[0]['severity'], code, f'{more} more', 'see --json'))
    return rows


def _joint_table(joints: Sequence[dict[str, Any]]) -> str:
    headers = ['joint', 'type', 'unit', *_COLUMNS]
    followers = any('mimics' in joint for joint in joints)
    rows = []
    for joint in joints:
        unit = f'{joint["units"]["position"]}, {joint["units"]["effort"]}'
        row = [joint['name'], joint['type'], unit, *map(joint.get, _COLUMNS.values())]
        if followers:
            mimic = joint.get('mimics')
            text = '{multiplier:g} {joint} {offset:+g}'.format(**mimic) if mimic else ''
            row.append(text)
        rows.append(row)
    return format_table([*headers, 'follows'] if followers else headers, rows)
