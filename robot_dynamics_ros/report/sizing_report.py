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
"""Text, JSON, pictures and a page about what a motion asks of the drives."""

from __future__ import annotations

from collections.abc import Sequence
import json
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
import numpy as np

from robot_dynamics_ros.report.animation import animation_markup
from robot_dynamics_ros.report.atomic import staged_directory, write_text
from robot_dynamics_ros.report.drive_sizing import DriveSizing, ELECTRICAL, METRICS
from robot_dynamics_ros.report.figure import label_panel, MODEL, MUTED, new_figure, PALETTE
from robot_dynamics_ros.report.html_page import HtmlPage
from robot_dynamics_ros.report.table import format_table
from robot_dynamics_ros.report.torque_plots import plot_torque_terms

_HEADERS = ['joint', *METRICS.values(), 'of effort limit', 'of speed limit']
_ELECTRICAL = ['joint', *ELECTRICAL.values(), 'of current limit', 'of voltage limit']
_SPLIT = {
    'peak_torque': 'Peak torque of each term [N m]',
    'rms_torque': 'Root mean square torque of each term [N m]',
    'energy': 'Energy of a cycle by term, integral of |torque x speed| [J]',
}


def summary(sizing: DriveSizing, title: str) -> str:
    """Return the tables as text."""
    names = list(sizing.by_term)
    electrical = format_table(
        _ELECTRICAL, sizing.electrical_rows(), title='Electrical demand', right=_ELECTRICAL[-2:]
    )
    blocks = [
        format_table(_HEADERS, sizing.rows(), title=title, right=_HEADERS[-2:]),
        *(
            format_table(['joint', *names, 'whole'], sizing.term_rows(metric), title=text)
            for metric, text in _SPLIT.items()
        ),
        *([electrical] if sizing.demand is not None else []),
        '\n'.join(verdict(sizing)),
    ]
    return '\n\n'.join(blocks)


def verdict(sizing: DriveSizing) -> list[str]:
    """Return which drive is critical, and what is beyond its limit, one sentence each."""
    names, total = sizing.model.joint_names, sizing.total
    critical = sizing.critical
    lines = [
        f'critical drive: {names[critical]}, peak torque {total.peak_torque[critical]:.4g} N m'
    ]
    most = sizing.most_used
    if most is not None and most != critical:
        is_beyond = max(sizing.effort_use[most], sizing.velocity_use[most]) > 1.0
        where = 'farthest beyond its limits' if is_beyond else 'nearest to its limits'
        lines.append(f'{where}: {names[most]}')
    for use, values, limits, what in (
        (sizing.effort_use, total.peak_torque, sizing.model.limits.effort, 'torque'),
        (sizing.velocity_use, total.peak_velocity, sizing.model.limits.velocity, 'speed'),
    ):
        for i in np.flatnonzero(use > 1.0):
            lines.append(
                f'beyond the limit: {names[i]} needs a {what} of {values[i]:.4g}, '
                f'its limit is {limits[i]:.4g}'
            )
    if sizing.demand is not None and sizing.demand.overloaded:
        lines.append(f'beyond current or voltage: {", ".join(sizing.demand.overloaded)}')
    return lines


def write_report(
    folder: str | Path,
    sizing: DriveSizing,
    title: str,
    facts: dict[str, Any],
    *,
    overwrite: bool = False,
) -> list[str]:
    """
    Write report.json, pictures and a page that holds everything, all or nothing.

    Parameters
    ----------
    folder : str or Path
        Where to.
    sizing : DriveSizing
        The demands.
    title : str
        Heading.
    facts : dict
        What else is to be kept in the JSON, and told in the small print.
    overwrite : bool
        Replace what is there.

    Returns
    -------
    names : list of str
        What was written.

    Raises
    ------
    OutputError
        If the folder has something in it and `overwrite` is false, or cannot be written.

    """
    note = '; '.join(f'{key}: {value}' for key, value in facts.items())
    names = sizing.model.joint_names
    with staged_directory(folder, overwrite=overwrite) as staging:
        values = {**facts, **sizing.as_dict()}
        write_text(staging / 'report.json', json.dumps(values, indent=2, allow_nan=False) + '\n')
        plot_torque_terms(
            staging / 'terms.png', sizing.t, sizing.terms._asdict(), names, subtitle=note
        )
        plot_operating_points(staging / 'operating_points.png', sizing, subtitle=note)
        plot_motion(staging / 'motion.png', sizing, subtitle=note)
        page = HtmlPage(title, note)
        page.add_table(_HEADERS, sizing.rows(), marked=sizing.critical)
        for line in verdict(sizing):
            page.add_note(line)
        page.add_markup(animation_markup(sizing.model, sizing.t, sizing.q))
        page.add_heading('Torque over time')
        page.add_picture(staging / 'terms.png', 'terms of the torque of each joint over time')
        for metric, text in _SPLIT.items():
            page.add_heading(text)
            page.add_table(['joint', *sizing.by_term, 'whole'], sizing.term_rows(metric))
        if sizing.demand is not None:
            page.add_heading('Electrical demand')
            page.add_table(_ELECTRICAL, sizing.electrical_rows())
        page.add_heading('Torque over speed')
        page.add_picture(staging / 'operating_points.png', 'torque over speed of each joint')
        page.add_heading('Motion')
        page.add_picture(staging / 'motion.png', 'position, speed and acceleration over time')
        page.write(staging / 'report.html')
        return sorted(entry.name for entry in staging.iterdir())


def plot_operating_points(
    path: str | Path, sizing: DriveSizing, *, subtitle: str = '', overwrite: bool = False
) -> None:
    """
    Draw torque over speed, one panel for each joint, with the limits as a box.

    Raises
    ------
    OutputError
        If the file exists and `overwrite` is false, or cannot be written.

    """
    names = sizing.model.joint_names
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    with new_figure(
        path,
        12.0,
        1.1 + 2.6 * rows,
        title='Operating points',
        subtitle=subtitle,
        overwrite=overwrite,
    ) as figure:
        panels = figure.subplots(rows, columns, squeeze=False).flat
        torque = sizing.terms.total
        for axes in list(panels)[len(names) :]:
            axes.set_visible(False)
        for i, (axes, name) in enumerate(zip(figure.axes, names)):
            axes.plot(sizing.v[:, i], torque[:, i], color=MODEL, lw=1.0)
            effort, speed = sizing.model.limits.effort[i], sizing.model.limits.velocity[i]
            if np.isfinite(effort) and np.isfinite(speed):
                box = np.array([-1.0, 1.0, 1.0, -1.0, -1.0])
                axes.plot(speed * box, effort * np.roll(box, 1), color=MUTED, lw=0.8, ls='--')
            label_panel(axes, name, f'rms {sizing.total.rms_torque[i]:.3g}')
            axes.set_xlabel('speed [rad/s]')
            axes.set_ylabel('torque [N m]')


def plot_motion(
    path: str | Path, sizing: DriveSizing, *, subtitle: str = '', overwrite: bool = False
) -> None:
    """
    Draw position, velocity and acceleration of all joints over time.

    Raises
    ------
    OutputError
        If the file exists and `overwrite` is false, or cannot be written.

    """
    with new_figure(
        path, 12.0, 6.4, title='Motion', subtitle=subtitle, overwrite=overwrite
    ) as figure:
        _draw_motion(figure, sizing.t, (sizing.q, sizing.v, sizing.a), sizing.model.joint_names)


def _draw_motion(
    figure: Figure, t: Any, motion: Sequence[Any], joint_names: Sequence[str]
) -> None:
    grid = figure.subplots(3, 1, sharex=True)
    labels = ('position [rad]', 'velocity [rad/s]', 'acceleration [rad/s^2]')
    for axes, values, label in zip(grid, motion, labels):
        for i, name in enumerate(joint_names):
            axes.plot(t, values[:, i], color=PALETTE[i % len(PALETTE)], label=name)
        axes.set_ylabel(label)
        axes.margins(x=0.01)
    grid[-1].set_xlabel('time [s]')
    figure.legend(
        *grid[0].get_legend_handles_labels(), loc='outside lower right', ncols=len(joint_names)
    )
