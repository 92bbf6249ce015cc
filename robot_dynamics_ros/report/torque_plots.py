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

"""Figures of torques: measured and model, terms of the model, and errors joint by joint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.report.figure import (
    INK,
    label_panel,
    MEASURED,
    MODEL,
    MUTED,
    new_figure,
    PALETTE,
    thinned_rows,
)
from robot_dynamics_ros.report.table import format_percent
from robot_dynamics_ros.report.torque_comparison import TorqueComparison


def plot_torque_comparison(
    path: str | Path,
    stamps: Vector,
    measured: Matrix | None,
    model: Matrix,
    joint_names: Sequence[str],
    *,
    comparison: TorqueComparison | None = None,
    units: Sequence[str] = (),
    title: str = 'Measured and model torque',
    subtitle: str = '',
    overwrite: bool = False,
) -> None:
    """
    Draw one panel for each joint: measured torque, model torque, and their difference as a band.

    Parameters
    ----------
    path : str or Path
        The PNG file.
    stamps : ndarray, shape (n,)
        Times [s].
    measured : ndarray, shape (n, len(joint_names)), or None
        Measured torques [N m | N]; NaN leaves a gap.
    model : ndarray, shape (n, len(joint_names))
        Model torques [N m | N].
    joint_names : sequence of str
        Panel titles.
    comparison : TorqueComparison, optional
        Errors to print above the panels.
    units : sequence of str
        Unit of each joint; ``N m`` by default.
    title, subtitle : str
        Text above the figure.
    overwrite : bool
        Replace an existing file.

    Raises
    ------
    OutputError
        If the file exists and `overwrite` is false, or cannot be written.

    """
    with _panels(path, joint_names, title, subtitle, overwrite) as (figure, panels):
        for column, axes in enumerate(panels):
            computed = model[:, column]
            if measured is None:
                rows = thinned_rows(computed)
            else:
                known = measured[:, column]
                rows = thinned_rows(known, computed)
                axes.fill_between(
                    stamps[rows], known[rows], computed[rows], color=MODEL, alpha=0.15, lw=0
                )
                axes.plot(stamps[rows], known[rows], color=MEASURED, label='measured')
            axes.plot(stamps[rows], computed[rows], color=MODEL, label='model')
            label_panel(axes, joint_names[column], _error_text(comparison, column))
            axes.set_ylabel(_unit(units, column))
        _common_legend(figure, panels[0])


def plot_torque_terms(
    path: str | Path,
    stamps: Vector,
    terms: Mapping[str, Matrix],
    joint_names: Sequence[str],
    *,
    units: Sequence[str] = (),
    title: str = 'Terms of the model torque',
    subtitle: str = '',
    overwrite: bool = False,
) -> None:
    """
    Draw one panel for each joint with a line for each term that is not zero all the time.

    Parameters
    ----------
    path : str or Path
        The PNG file.
    stamps : ndarray, shape (n,)
        Times [s].
    terms : mapping of str to ndarray, shape (n, len(joint_names))
        Terms by name [N m | N].
    joint_names : sequence of str
        Panel titles.
    units : sequence of str
        Unit of each joint; ``N m`` by default.
    title, subtitle : str
        Text above the figure.
    overwrite : bool
        Replace an existing file.

    Raises
    ------
    OutputError
        If the file exists and `overwrite` is false, or cannot be written.

    """
    shown = {name: values for name, values in terms.items() if np.any(values != 0.0)}
    with _panels(path, joint_names, title, subtitle, overwrite) as (figure, panels):
        for column, axes in enumerate(panels):
            for (name, values), color in zip(shown.items(), PALETTE):
                rows = thinned_rows(values[:, column])
                axes.plot(stamps[rows], values[rows, column], color=color, label=name)
            label_panel(axes, joint_names[column])
            axes.set_ylabel(_unit(units, column))
        _common_legend(figure, panels[0])


def plot_torque_errors(
    path: str | Path,
    comparisons: Mapping[str, TorqueComparison],
    *,
    title: str = 'Torque error by joint',
    subtitle: str = '',
    overwrite: bool = False,
) -> None:
    """
    Draw relative and absolute errors as bars, side by side for each joint.

    Parameters
    ----------
    path : str or Path
        The PNG file.
    comparisons : mapping of str to TorqueComparison
        What to show, by the label of its bars; all with the same joints.
    title, subtitle : str
        Text above the figure.
    overwrite : bool
        Replace an existing file.

    Raises
    ------
    OutputError
        If the file exists and `overwrite` is false, or cannot be written.

    """
    names = [error.joint for error in next(iter(comparisons.values())).joints]
    height = 1.2 + max(2.4, 0.42 * len(names))
    with new_figure(
        path, 9.6, height, title=title, subtitle=subtitle, overwrite=overwrite
    ) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        thickness = 0.72 / len(comparisons)
        rows = np.arange(len(names))
        for index, ((label, comparison), color) in enumerate(zip(comparisons.items(), PALETTE)):
            at = rows + (index - (len(comparisons) - 1) / 2) * thickness
            relative = [100.0 * (error.relative or 0.0) for error in comparison.joints]
            rmse = [error.rmse for error in comparison.joints]
            for axes, values in ((left, relative), (right, rmse)):
                bars = axes.barh(at, values, height=0.92 * thickness, color=color, label=label)
                axes.bar_label(bars, [f'{value:.3g}' for value in values], padding=3, fontsize=7.5)
        left.set_yticks(rows, names)
        left.invert_yaxis()
        label_panel(left, 'relative error [%]')
        label_panel(right, 'root mean square error [N m | N]')
        for axes in (left, right):
            axes.grid(axis='y', visible=False)
            axes.margins(x=0.14)
        if len(comparisons) > 1:
            figure.legend(*left.get_legend_handles_labels(), loc='outside lower left', ncols=4)


@contextmanager
def _panels(
    path: str | Path, joint_names: Sequence[str], title: str, subtitle: str, overwrite: bool
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Give a figure with one panel for each joint: proximal left, distal right."""
    count = len(joint_names)
    rows, columns = (count + 1) // 2, min(2, count)
    width, height = (12.0, 1.1 + 1.75 * rows) if columns > 1 else (8.0, 3.7)
    with new_figure(
        path, width, height, title=title, subtitle=subtitle, overwrite=overwrite
    ) as figure:
        grid = figure.subplots(rows, columns, sharex=True, squeeze=False)
        panels: list[Axes] = list(grid.T.flat)
        for axes in panels[count:]:
            axes.set_visible(False)
        for axes in panels[:count]:
            axes.axhline(0.0, color=MUTED, lw=0.6, zorder=0)
            axes.margins(x=0.01)
        for axes in grid[-1]:
            axes.set_xlabel('time [s]')
        if count < len(panels):
            panels[count - 1].tick_params(labelbottom=True)
        yield figure, panels[:count]


def _common_legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc='outside lower right', ncols=len(labels), labelcolor=INK)


def _error_text(comparison: TorqueComparison | None, column: int) -> str:
    if comparison is None:
        return ''
    error = comparison.joints[column]
    return f'rmse {error.rmse:.3g},  {format_percent(error.relative)} of rms'


def _unit(units: Sequence[str], column: int) -> str:
    return f'[{units[column] if units else "N m"}]'
