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

"""Figures of an excitation trajectory: the motion against its limits, and how it was found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.report.figure import (
    INK,
    label_panel,
    MODEL,
    MUTED,
    new_figure,
    PALETTE,
    thinned_rows,
)


def plot_motion(
    path: str | Path,
    t: Vector,
    values: Matrix,
    joint_names: Sequence[str],
    lower: Vector,
    upper: Vector,
    *,
    title: str = '',
    unit: str = '',
    overwrite: bool = False,
) -> None:
    """
    Draw one panel for each joint, with its limits.

    Parameters
    ----------
    path : str or Path
        The PNG file.
    t : ndarray, shape (n,)
        Times [s].
    values : ndarray, shape (n, len(joint_names))
        What is drawn.
    joint_names : sequence of str
        Panel titles.
    lower, upper : ndarray, shape (len(joint_names),)
        Limits; infinite ones are left out.
    title, unit : str
        Text above the figure, and its unit.
    overwrite : bool
        Replace an existing file.

    Raises
    ------
    OutputError
        If the file exists and `overwrite` is false, or cannot be written.

    """
    count = len(joint_names)
    rows, columns = (count + 1) // 2, min(2, count)
    with new_figure(
        path, 6.0 * columns, 1.1 + 1.75 * rows, title=f'{title} [{unit}]',
        subtitle='dashed: limits that are kept', overwrite=overwrite,
    ) as figure:  # fmt: skip
        panels = list(figure.subplots(rows, columns, sharex=True, squeeze=False).T.flat)
        for axes in panels[count:]:
            axes.set_visible(False)
        for j, axes in enumerate(panels[:count]):
            shown = thinned_rows(values[:, j])
            axes.plot(t[shown], values[shown, j], color=MODEL)
            for limit in (lower[j], upper[j]):
                if np.isfinite(limit):
                    axes.axhline(limit, color=MUTED, lw=0.9, ls='--')
            peak = float(np.abs(values[:, j]).max())
            label_panel(axes, joint_names[j], f'at most {peak:.3g}')
            axes.margins(x=0.01)
        for axes in panels[rows - 1 : count : rows] or panels[-1:]:
            axes.set_xlabel('time [s]')


def plot_condition(
    path: str | Path,
    history: Matrix,
    random_measures: Vector,
    *,
    objective: str,
    overwrite: bool = False,
) -> None:
    """
    Draw what was optimised over the iterations, beside the random motions.

    Parameters
    ----------
    path : str or Path
        The PNG file.
    history : ndarray, shape (n, 2)
        Measure of each iteration's motion, and of the best one within all limits so far.
    random_measures : ndarray, shape (n_random,)
        Measures of the random motions.
    objective : str
        ``condition`` or ``log_det``.
    overwrite : bool
        Replace an existing file.

    Raises
    ------
    OutputError
        If the file exists and `overwrite` is false, or cannot be written.

    """
    what = 'condition number' if objective == 'condition' else 'mean standard deviation'
    best, reached = float(random_measures.min()), float(history[-1, 1])
    subtitle = (
        f'best of {len(random_measures)} random motions {best:.4g}, optimised {reached:.4g}: '
        f'{best / reached:.3g} times better'
    )
    with new_figure(
        path, 10.0, 4.0, title=what.capitalize(), subtitle=subtitle, overwrite=overwrite
    ) as figure:
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 1))
        left.semilogy(history[:, 0], color=PALETTE[1], lw=0.9, label='iterate, may break limits')
        left.semilogy(history[:, 1], color=MODEL, label='best within all limits')
        left.axhline(best, color=MUTED, ls='--', lw=0.9, label='best random motion')
        left.set_xlabel('iteration')
        left.legend(labelcolor=INK)
        label_panel(left, what)
        finite = random_measures[np.isfinite(random_measures)]
        low, high = np.log10(finite.min()), np.log10(finite.max())
        bins = np.logspace(low - 1e-3, high + 1e-3, 40)
        right.hist(finite, bins=bins.tolist(), orientation='horizontal', color=MUTED)
        right.set_xlabel('random motions')
        label_panel(right, 'random')
