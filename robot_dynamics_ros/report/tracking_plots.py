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

"""Figures of tracking errors: how well an arm follows its trajectory, by control mode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.report.figure import label_panel, new_figure, PALETTE, thinned_rows


@dataclass(frozen=True)
class TrackingError:
    """
    The tracking error of one run.

    Attributes
    ----------
    stamps : ndarray, shape (n,)
        Times since the start of the trajectory [s].
    error : ndarray, shape (n, nj)
        Measured minus reference position [rad | m].

    """

    stamps: Vector
    error: Matrix

    @property
    def largest(self) -> float:
        """Largest absolute error of any joint at any time [rad | m]."""
        return float(np.abs(self.error).max())

    @property
    def rms(self) -> float:
        """Root mean square over all joints and times [rad | m]."""
        return float(np.sqrt(np.mean(self.error**2)))


def plot_tracking_errors(
    path: str | Path,
    runs: Mapping[str, Mapping[str, TrackingError]],
    *,
    title: str = 'Tracking error by control mode',
    subtitle: str = '',
    unit: str = 'mrad',
    scale: float = 1e3,
    overwrite: bool = False,
) -> None:
    """
    Draw a row for each trajectory: the error over time, and the largest and the rms error.

    Both axes of the error are logarithmic, since modes differ by orders of magnitude.

    Parameters
    ----------
    path : str or Path
        The PNG file.
    runs : mapping of trajectory name to mapping of mode name to TrackingError
        What was measured.
    title, subtitle : str
        Text above the figure.
    unit : str
        Unit that errors are shown in.
    scale : float
        Factor from [rad | m] to `unit`.
    overwrite : bool
        Replace an existing file.

    Raises
    ------
    OutputError
        If the file exists and `overwrite` is false, or cannot be written.

    """
    modes = list(dict.fromkeys(mode for by_mode in runs.values() for mode in by_mode))
    colors = {mode: PALETTE[index % len(PALETTE)] for index, mode in enumerate(modes)}
    height = 1.2 + 2.9 * len(runs)
    with new_figure(
        path, 11.0, height, title=title, subtitle=subtitle, overwrite=overwrite
    ) as figure:
        grid = figure.subplots(len(runs), 2, squeeze=False, width_ratios=(1.9, 1.0))
        for (name, by_mode), (left, right) in zip(runs.items(), grid):
            _draw_over_time(left, name, by_mode, colors, unit, scale)
            _draw_bars(right, by_mode, colors, unit, scale)
        handles, labels = grid[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc='outside lower left', ncols=len(labels))


def _draw_over_time(
    axes: Axes,
    name: str,
    by_mode: Mapping[str, TrackingError],
    colors: Mapping[str, str],
    unit: str,
    scale: float,
) -> None:
    floor = np.inf
    for mode, run in by_mode.items():
        worst = scale * np.abs(run.error).max(axis=1)
        rows = thinned_rows(worst)
        axes.semilogy(run.stamps[rows], worst[rows], color=colors[mode], label=mode)
        floor = min(floor, 0.01 * scale * run.largest)
    if np.isfinite(floor) and floor > 0.0:
        axes.set_ylim(bottom=floor)
    axes.yaxis.set_major_formatter('{x:g}')
    axes.margins(x=0.01)
    axes.set_xlabel('time [s]')
    label_panel(axes, name, f'largest error of any joint [{unit}]')


def _draw_bars(
    axes: Axes,
    by_mode: Mapping[str, TrackingError],
    colors: Mapping[str, str],
    unit: str,
    scale: float,
) -> None:
    rows = np.arange(len(by_mode))
    tint = [colors[mode] for mode in by_mode]
    largest = [scale * run.largest for run in by_mode.values()]
    rms = [scale * run.rms for run in by_mode.values()]
    for at, values, alpha in ((rows - 0.2, largest, 1.0), (rows + 0.2, rms, 0.45)):
        bars = axes.barh(at, values, height=0.36, color=tint, alpha=alpha)
        axes.bar_label(bars, [f'{value:.3g}' for value in values], padding=3, fontsize=7.5)
    axes.set_yticks(rows, list(by_mode))
    axes.invert_yaxis()
    axes.set_xscale('log')
    axes.xaxis.set_major_formatter('{x:g}')
    axes.margins(x=0.2)
    axes.grid(axis='y', visible=False)
    label_panel(axes, 'max (dark) and rms (light)', f'[{unit}]')
