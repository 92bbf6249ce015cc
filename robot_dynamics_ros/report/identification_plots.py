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

"""Pictures of an identification: efforts over time with what is left, and friction over speed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.identification.effort_series import EffortSeries
from robot_dynamics_ros.core.identification.verdict import JointMeasure
from robot_dynamics_ros.report.figure import (
    label_panel,
    MEASURED,
    MODEL,
    MUTED,
    new_figure,
    PALETTE,
    thinned_rows,
)


def plot_effort_series(
    path: str | Path,
    series: EffortSeries,
    joint_names: Sequence[str],
    *,
    measures: Sequence[JointMeasure] = (),
    units: Sequence[str] = (),
    title: str = 'Efforts, measured and by the identified model',
    subtitle: str = '',
    overwrite: bool = False,
) -> None:
    """
    Draw for each joint the efforts over time, and below what the model leaves of them.

    Parameters
    ----------
    path : str or Path
        The PNG file.
    series : EffortSeries
        The efforts.
    joint_names : sequence of str
        Titles of the panels.
    measures : sequence of JointMeasure
        Errors to print above the panels; of each joint, or none.
    units : sequence of str
        Of each joint; ``N m`` by default.
    title, subtitle : str
        Text above the figure.
    overwrite : bool
        Replace an existing file.

    Raises
    ------
    OutputError
        If the file exists and `overwrite` is false, or cannot be written.

    """
    count = len(joint_names)
    with new_figure(
        path, 12.0, 1.2 + 2.3 * count, title=title, subtitle=subtitle, overwrite=overwrite
    ) as figure:
        panels = figure.subplots(
            2 * count, 1, sharex=True, squeeze=False, height_ratios=count * [2.2, 1.0]
        )[:, 0]
        for j, name in enumerate(joint_names):
            above, below = panels[2 * j], panels[2 * j + 1]
            measured = np.where(series.use[:, j], series.measured[:, j], np.nan)
            identified, described = series.identified[:, j], series.described[:, j]
            rows = thinned_rows(measured, identified, described)
            stamps = series.stamps[rows]
            above.plot(stamps, described[rows], color=MUTED, lw=0.9, ls='--', label='description')
            above.plot(stamps, measured[rows], color=MEASURED, label='measured')
            above.plot(stamps, identified[rows], color=MODEL, label='identified')
            below.plot(stamps, (measured - identified)[rows], color=MODEL, lw=0.9)
            below.axhline(0.0, color=MUTED, lw=0.8)
            label_panel(above, name, _error_text(measures[j]) if measures else '')
            above.set_ylabel(units[j] if units else 'N m')
            below.set_ylabel('left')
            low, high = _span(measured, identified)
            above.set_ylim(low, high)
            # no finer than the efforts themselves: a small rest is to look small
            rest = 1.1 * np.nanmax(np.abs(measured - identified), initial=0.0)
            rest = max(rest, 0.2 * (high - low))
            below.set_ylim(-rest, rest)
            above.margins(x=0.01)
        panels[-1].set_xlabel('time [s]')
        figure.legend(*panels[0].get_legend_handles_labels(), loc='outside upper right', ncols=3)


def plot_friction(
    path: str | Path,
    friction: FrictionModel,
    speeds: Sequence[float],
    *,
    units: Sequence[str] = (),
    title: str = 'Identified friction, as the nodes compute it',
    subtitle: str = '',
    overwrite: bool = False,
) -> None:
    """
    Draw the friction of each joint over its speed.

    Parameters
    ----------
    path : str or Path
        The PNG file.
    friction : FrictionModel
        Of all joints.
    speeds : sequence of float
        Largest speed of each joint in the data [rad/s | m/s].
    units : sequence of str
        Of the efforts of each joint; ``N m`` by default.
    title, subtitle : str
        Text above the figure.
    overwrite : bool
        Replace an existing file.

    Raises
    ------
    OutputError
        If the file exists and `overwrite` is false, or cannot be written.

    """
    names = friction.joint_names
    columns = min(4, len(names))
    lines = -(-len(names) // columns)
    v = np.linspace(-1.0, 1.0, 801)[:, None] * np.asarray(speeds)
    torque = friction.torque(v)
    with new_figure(
        path, 12.0, 0.9 + 2.1 * lines, title=title, subtitle=subtitle, overwrite=overwrite
    ) as figure:
        panels = list(figure.subplots(lines, columns, squeeze=False).flat)
        for axes in panels[len(names) :]:
            axes.set_visible(False)
        for j, (axes, name) in enumerate(zip(panels, names)):
            axes.plot(v[:, j], torque[:, j], color=PALETTE[0])
            label_panel(axes, name)
            unit = units[j] if units else 'N m'
            axes.set_ylabel(unit)
            axes.set_xlabel('m/s' if unit == 'N' else 'rad/s')


def _error_text(measure: JointMeasure) -> str:
    relative = '' if measure.relative is None else f', {100.0 * measure.relative:.3g} %'
    return f'left {measure.rmse:.3g} of {measure.rms:.3g} rms{relative}'


def _span(*values: Vector) -> tuple[float, float]:
    finite = np.concatenate([v[np.isfinite(v)] for v in values])
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (-1.0, 1.0)
    room = 0.06 * (high - low) or 1.0
    return low - room, high + room
