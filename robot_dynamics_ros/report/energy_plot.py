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

"""Figure of the energy that integrators gain or lose along a free motion."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
import numpy as np

from robot_dynamics_ros.core.simulation.motion_energy import MotionEnergy
from robot_dynamics_ros.report.figure import (
    INK,
    label_panel,
    MUTED,
    new_figure,
    PALETTE,
    thinned_rows,
)


def plot_motion_energies(
    path: str | Path,
    runs: Sequence[MotionEnergy],
    *,
    title: str = 'Energy of the free motion',
    subtitle: str = '',
    overwrite: bool = False,
) -> None:
    """
    Draw the absolute energy error of every run over time, and the energies of the best run.

    Parameters
    ----------
    path : str or Path
        The PNG file.
    runs : sequence of MotionEnergy
        At least one run. There is a panel for each step; runs of the adaptive integrator, whose
        step is its own, are shown in all of them.
    title, subtitle : str
        Text above the figure.
    overwrite : bool
        Replace an existing file.

    Raises
    ------
    OutputError
        If the file exists and `overwrite` is false, or cannot be written.

    """
    names = list(dict.fromkeys(run.integrator for run in runs))
    colors = {name: PALETTE[index % len(PALETTE)] for index, name in enumerate(names)}
    fixed = [run for run in runs if run.integrator != 'adaptive']
    adaptive = [run for run in runs if run.integrator == 'adaptive']
    groups = [
        (f'step {1e3 * dt:g} ms', [run for run in fixed if run.dt == dt] + adaptive)
        for dt in sorted({run.dt for run in fixed})
    ] or [('adaptive step', adaptive)]
    best = min(runs, key=lambda run: run.largest_error)
    height = 0.9 + 2.6 * (len(groups) + 1)
    with new_figure(
        path, 9.0, height, title=title, subtitle=subtitle, overwrite=overwrite
    ) as figure:
        panels = figure.subplots(len(groups) + 1, 1, squeeze=False, sharex=True)[:, 0]
        for axes, (label, group) in zip(panels, groups):
            _draw_errors(axes, group, colors)
            label_panel(axes, label, 'absolute error of the energy [J]')
        _draw_energies(panels[-1], best)
        panels[-1].set_xlabel('time [s]')


def _draw_errors(axes: Axes, runs: Sequence[MotionEnergy], colors: dict[str, str]) -> None:
    for run in runs:
        error = np.abs(run.error)
        error[error == 0.0] = np.nan  # has no logarithm
        rows = thinned_rows(error)
        label = f'{run.integrator}  {run.largest_error:.3g} J'
        color = colors[run.integrator]
        axes.plot(run.time[rows], error[rows], color=color, label=label, linewidth=0.9)
    if any(run.error.any() for run in runs):
        axes.set_yscale('log')
    axes.margins(x=0.01)
    axes.legend(loc='center left', bbox_to_anchor=(1.0, 0.5), fontsize=8.0)


def _draw_energies(axes: Axes, run: MotionEnergy) -> None:
    rows = thinned_rows(run.kinetic, run.potential)
    for values, color, label in (
        (run.kinetic, PALETTE[0], 'kinetic'),
        (run.potential, PALETTE[1], 'potential'),
        (run.energy, INK, 'sum'),
    ):
        axes.plot(run.time[rows], values[rows], color=color, label=label)
    axes.axhline(run.energy[0], color=MUTED, linewidth=0.6, linestyle=':')
    axes.margins(x=0.01)
    axes.legend(loc='center left', bbox_to_anchor=(1.0, 0.5), fontsize=8.0)
    label_panel(axes, f'energies with {run.integrator}', '[J]')
