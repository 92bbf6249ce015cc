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

"""The figure of the demonstration: errors and torques under each control law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.artist import Artist
from matplotlib.axes import Axes
import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.report.figure import INK, label_panel, new_figure, PALETTE, thinned_rows

_MRAD = 1e3
_FLOOR = 0.01
"""Lower end of the errors shown, over the largest error of the best law."""


@dataclass(frozen=True)
class Curve:
    """
    What one law did.

    Attributes
    ----------
    times : ndarray, shape (n,)
        Times since the begin of the motion [s].
    error : ndarray, shape (n, nj)
        Measured minus wanted position [rad].
    torque_times : ndarray, shape (m,)
        Times of the torques [s].
    torque : ndarray, shape (m, nj)
        Commanded torque [N m].

    """

    times: Vector
    error: Matrix
    torque_times: Vector
    torque: Matrix


def plot_demonstration(
    path: str | Path,
    groups: Mapping[str, Mapping[str, Curve]],
    joint_names: Sequence[str],
    *,
    notes: Mapping[str, str] | None = None,
    title: str,
    subtitle: str = '',
    overwrite: bool = False,
) -> None:
    """
    Draw a row for each group: error over time, largest and rms error, torque over time.

    The torque is that of the joint that needs most. Errors are on logarithmic axes, since laws
    differ by orders of magnitude.

    Parameters
    ----------
    path : str or Path
        The PNG file.
    groups : mapping of str to mapping of str to Curve
        Curves by the title of their row and the name of their law.
    joint_names : sequence of str
        Columns of the arrays.
    notes : mapping of str to str, optional
        Notes below the bars of a row, for which those of few laws leave room.
    title, subtitle : str
        Text above the figure.
    overwrite : bool
        Replace an existing file.

    Raises
    ------
    OutputError
        If the file exists and `overwrite` is false, or cannot be written.

    """
    most = max(groups.values(), key=len)
    laws = list(dict.fromkeys([*most, *(law for curves in groups.values() for law in curves)]))
    colors = {law: PALETTE[index % len(PALETTE)] for index, law in enumerate(laws)}
    height = 1.1 + 2.45 * len(groups)
    with new_figure(
        path, 12.0, height, title=title, subtitle=subtitle, overwrite=overwrite
    ) as figure:
        grid = figure.subplots(len(groups), 3, squeeze=False, width_ratios=(1.5, 1.0, 1.5))
        handles: dict[str, Artist] = {}
        for (name, curves), (left, middle, right) in zip(groups.items(), grid):
            _draw_errors(left, curves, colors)
            label_panel(left, name)
            _draw_bars(middle, curves, colors, (notes or {}).get(name, ''))
            _draw_torques(right, curves, colors, joint_names)
            for line, law in zip(*left.get_legend_handles_labels()):
                handles.setdefault(law, line)
        for axes in (grid[-1][0], grid[-1][2]):
            axes.set_xlabel('time [s]')
        figure.legend(
            [handles[law] for law in laws],
            laws,
            loc='outside lower left',
            ncols=len(laws),
            labelcolor=INK,
        )


def _draw_errors(axes: Axes, curves: Mapping[str, Curve], colors: Mapping[str, str]) -> None:
    floor = np.inf
    for law, curve in curves.items():
        worst = _MRAD * np.abs(curve.error).max(axis=1)
        rows = thinned_rows(worst)
        axes.semilogy(curve.times[rows], worst[rows], color=colors[law], label=law)
        floor = min(floor, _FLOOR * float(worst.max()))
    if 0.0 < floor < np.inf:
        axes.set_ylim(bottom=floor)
    axes.yaxis.set_major_formatter('{x:g}')
    axes.margins(x=0.01)
    axes.set_ylabel('worst joint error [mrad]')


def _draw_bars(
    axes: Axes, curves: Mapping[str, Curve], colors: Mapping[str, str], note: str
) -> None:
    rows = np.arange(len(curves))
    tint = [colors[law] for law in curves]
    largest = [_MRAD * float(np.abs(curve.error).max()) for curve in curves.values()]
    rms = [_MRAD * float(np.sqrt(np.mean(curve.error**2))) for curve in curves.values()]
    for at, values, alpha in ((rows - 0.2, largest, 1.0), (rows + 0.2, rms, 0.4)):
        bars = axes.barh(at, values, height=0.36, color=tint, alpha=alpha)
        axes.bar_label(bars, [f'{value:.3g}' for value in values], padding=3, fontsize=7.5)
    axes.set_yticks(rows, ['' for _ in curves])
    axes.tick_params(axis='y', length=0)
    axes.invert_yaxis()
    axes.set_ylim(max(len(curves), 3) - 0.4, -0.6)
    axes.set_xscale('log')
    decade = 10.0 ** np.floor(np.log10(max(0.6 * min(rms), 1e-9)))
    axes.set_xlim(decade, 4.0 * max(largest))
    axes.xaxis.set_major_formatter('{x:g}')
    axes.xaxis.set_minor_formatter('')
    axes.grid(axis='y', visible=False)
    axes.text(0.97, 0.08, note, ha='right', weight='bold', transform=axes.transAxes)
    label_panel(axes, '', 'largest (dark) and rms error [mrad]')


def _draw_torques(
    axes: Axes,
    curves: Mapping[str, Curve],
    colors: Mapping[str, str],
    joint_names: Sequence[str],
) -> None:
    peaks = np.max([np.abs(curve.torque).max(axis=0) for curve in curves.values()], axis=0)
    joint = int(np.argmax(peaks))
    for law, curve in curves.items():
        values = curve.torque[:, joint]
        rows = thinned_rows(values)
        axes.plot(curve.torque_times[rows], values[rows], color=colors[law])
    axes.margins(x=0.01)
    axes.set_ylabel('torque [N m]')
    label_panel(axes, '', f'commanded torque of {joint_names[joint]}')
