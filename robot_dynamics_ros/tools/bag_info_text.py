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

"""The report of `robot_dynamics bag-info` as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_dynamics_ros.core.log_health.effort_verdict import CANNOT_TELL
from robot_dynamics_ros.report.table import format_number, format_percent, format_table

_MOST_TOPICS = 20


def as_text(report: Mapping[str, Any]) -> str:
    """Lay out a report, see `bag_info`."""
    parts = [_contents(report), _times(report), _joints(report)]
    if report['verdicts']:
        parts += [_verdicts(report), _overall(report)]
    for title, key in (('notes', 'notes'), ('warnings', 'warnings'), ('faults', 'faults')):
        if report[key]:
            parts.append('\n'.join([f'{title}:', *(f'- {text}' for text in report[key])]))
    usable = report['usable']
    parts.append('usable for identification' if usable else 'NOT usable for identification')
    return '\n\n'.join(part for part in parts if part)


def _contents(report: Mapping[str, Any]) -> str:
    contents = report['contents']
    if not contents:
        return str(report['log'])
    rows = [[entry['topic'], entry['type'], entry['messages']] for entry in contents]
    text = format_table(['topic', 'type', 'messages'], rows[:_MOST_TOPICS], title=report['log'])
    more = len(rows) - _MOST_TOPICS
    return text if more <= 0 else f'{text}\n... and {more} more topics'


def _times(report: Mapping[str, Any]) -> str:
    time = report['time']
    where = ', '.join(report['topics'])
    lines = [
        f'{where + ": " if where else ""}{time["samples"]} samples in {time["duration"]:.4g} s, '
        f'{format_number(time["rate"])} Hz',
        f'steps: 98 % between {1e3 * time["shortest_usual"]:.4g} and '
        f'{1e3 * time["longest_usual"]:.4g} ms, jitter {_milliseconds(time["jitter"])} ms '
        f'(standard deviation); {time["gaps"]} gaps, longest step {1e3 * time["longest"]:.4g} ms',
    ]
    if time['repeated_rows']:
        share = format_percent(time['repeated_rows'] / time['samples'])
        lines.append(f'{time["repeated_rows"]} rows ({share}) repeat the one before')
    return '\n'.join(lines)


def _joints(report: Mapping[str, Any]) -> str:
    checks = {check['joint']: check for check in report['velocities']}
    rows = []
    for joint in report['joints']:
        check = checks.get(joint['joint'])
        rows.append(
            [
                joint['joint'],
                joint['lowest'],
                joint['highest'],
                joint['rms_velocity'],
                'yes' if joint['moves'] else 'no',
                None if check is None else format_percent(check['disagreement']),
                joint['position_step'],
                joint['effort_state'],
                joint['lowest_effort'],
                joint['highest_effort'],
                joint['effort_step'],
            ]
        )
    headers = ['joint', 'lowest', 'highest', 'rms v', 'moves', 'v off', 'q step', 'effort']
    headers += ['lowest e', 'highest e', 'e step']
    title = 'positions [rad | m], velocities [rad/s | m/s], efforts as recorded or converted'
    return format_table(headers, rows, title=title, digits=3)


def _verdicts(report: Mapping[str, Any]) -> str:
    rows = []
    for verdict in report['verdicts']:
        match = verdict['match']
        rows.append(
            [
                match['joint'],
                match['correlation'],
                _gain(match['motion_gain']),
                _gain(match['gravity_gain']),
                format_percent(match['residual']),
                verdict['sign'],
                verdict['meaning'],
                _delay(match['delay']),
            ]
        )
    begin, end = report['excerpt']
    title = (
        f'efforts against {report["model"]}, {begin:.4g} to {end:.4g} s, zero-phase '
        f'{report["cutoff"]:.3g} Hz (gains: effort over model)'
    )
    headers = [
        'joint',
        'correlation',
        'motion',
        'gravity',
        'left',
        'sign',
        'seems to be',
        'delay [ms]',
    ]
    return format_table(headers, rows, title=title, digits=3)


def _overall(report: Mapping[str, Any]) -> str:
    lines = [
        f'delay of all joints together: {_delay(report["delay"])} ms (positive: efforts late)'
    ]
    if report['delay'] is None:
        lines = [f'delay of all joints together: {CANNOT_TELL}']
    mounting = report['mounting']
    if mounting is not None:
        own, others = mounting['residual'], mounting['residuals']
        best = min(others, key=lambda axis: others[axis])
        lines.append(
            f'direction of gravity: that of the model leaves {format_percent(own)} of the '
            f'efforts; best of the six axes: {best}, {format_percent(others[best])}'
        )
    return '\n'.join(lines)


def _gain(gain: Mapping[str, Any]) -> str:
    if gain['value'] is None or gain['sigma'] is None:
        return '-'
    return f'{format_number(gain["value"], 3)} +- {format_number(gain["sigma"], 2)}'


def _delay(delay: Mapping[str, Any] | None) -> str:
    return '-' if delay is None else f'{1e3 * delay["value"]:.1f} +- {1e3 * delay["sigma"]:.1f}'


def _milliseconds(seconds: float) -> str:
    return '0' if seconds < 1e-9 else f'{1e3 * seconds:.2g}'
