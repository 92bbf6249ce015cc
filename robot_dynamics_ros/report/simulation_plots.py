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

"""Figures of a simulation: motion, torques, energy and contact forces over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.simulation.closed_loop import energies
from robot_dynamics_ros.core.simulation.simulation_record import SimulationRecord
from robot_dynamics_ros.report.figure import (
    INK,
    label_panel,
    MUTED,
    new_figure,
    PALETTE,
    thinned_rows,
)


def plot_motion(
    path: str | Path,
    record: SimulationRecord,
    reference: Matrix | None = None,
    *,
    subtitle: str = '',
    overwrite: bool = False,
) -> None:
    """
    Draw position, velocity and acceleration of every coordinate over time.

    Parameters
    ----------
    path : str or Path
        The PNG file.
    record : SimulationRecord
        What happened.
    reference : ndarray, shape (n_samples, n), optional
        Wanted positions of the driven joints, dotted [rad | m].
    subtitle : str
        Small print above the figure.
    overwrite : bool
        Replace an existing file.

    Raises
    ------
    OutputError
        If the file exists and `overwrite` is false, or cannot be written.

    """
    with new_figure(
        path, 12.0, 7.2, title='Motion', subtitle=subtitle, overwrite=overwrite
    ) as figure:
        panels = figure.subplots(3, 1, sharex=True)
        model = record.model
        if reference is not None:
            for column in reference.T:
                rows = thinned_rows(column)
                panels[0].plot(record.t[rows], column[rows], color=INK, lw=0.8, ls=':', zorder=3)
        _draw_columns(panels[0], record.t, record.q, model.q_names, 'position [rad | m]')
        _draw_columns(panels[1], record.t, record.v, model.v_names, 'velocity [rad/s | m/s]')
        # At the start nothing has acted yet.
        _draw_columns(
            panels[2], record.t[1:], record.a[1:], model.v_names, 'acceleration [rad/s^2 | m/s^2]'
        )
        panels[-1].set_xlabel('time [s]')
        _add_legend(figure, panels[0])


def plot_torques(
    path: str | Path, record: SimulationRecord, *, subtitle: str = '', overwrite: bool = False
) -> None:
    """
    Draw the torques of the actuators, and those of friction and limits where there are any.

    Raises
    ------
    OutputError
        If the file exists and `overwrite` is false, or cannot be written.

    """
    kinds = [
        (values, label)
        for values, label in (
            (record.tau, 'actuators [N m | N]'),
            (record.tau_friction, 'friction [N m | N]'),
            (record.tau_limit, 'position limits [N m | N]'),
        )
        if values is record.tau or values.any()
    ]
    height = 1.1 + 2.2 * len(kinds)
    with new_figure(
        path, 12.0, height, title='Torques', subtitle=subtitle, overwrite=overwrite
    ) as figure:
        panels = figure.subplots(len(kinds), 1, squeeze=False, sharex=True)[:, 0]
        for axes, (values, label) in zip(panels, kinds):
            _draw_columns(axes, record.t[1:], values[1:], record.model.v_names, label)
        panels[-1].set_xlabel('time [s]')
        _add_legend(figure, panels[0])


def plot_energy(
    path: str | Path, record: SimulationRecord, *, subtitle: str = '', overwrite: bool = False
) -> None:
    """
    Draw the mechanical energy with its parts, and the work that changes it.

    Raises
    ------
    OutputError
        If the file exists and `overwrite` is false, or cannot be written.

    """
    kinetic, potential = energies(record)
    energy = kinetic + potential
    rest = energy - energy[0] - record.works.sum(axis=1)
    labels = ('actuators', 'friction', 'limits', 'contacts', 'pushes')
    works = [
        (values, PALETTE[k], label)
        for k, (values, label) in enumerate(zip(record.works.T, labels, strict=True))
        if values.any()
    ]
    with new_figure(
        path, 12.0, 7.2, title='Energy', subtitle=subtitle, overwrite=overwrite
    ) as figure:
        panels = figure.subplots(3, 1, sharex=True, height_ratios=(2.0, 2.0, 1.0))
        _draw_series(
            panels[0],
            record.t,
            [
                (kinetic, PALETTE[0], 'kinetic'),
                (potential, PALETTE[1], 'potential'),
                (energy, INK, 'sum'),
            ],
        )
        label_panel(panels[0], 'mechanical energy', '[J]')
        change = (energy - energy[0], INK, 'change of the energy')
        _draw_series(panels[1], record.t, [*works, change])
        label_panel(panels[1], 'work since the start', '[J]')
        _draw_series(panels[2], record.t, [(rest, MUTED, 'left over')])
        label_panel(panels[2], 'what the work does not explain', '[J]')
        panels[-1].set_xlabel('time [s]')


def plot_contacts(
    path: str | Path, record: SimulationRecord, *, subtitle: str = '', overwrite: bool = False
) -> None:
    """
    Draw normal force and penetration of each pair of link and surface over time.

    Raises
    ------
    OutputError
        If the file exists and `overwrite` is false, or cannot be written.

    """
    pairs = list(record.pairs.values())
    colors = [PALETTE[k % len(PALETTE)] for k in range(len(pairs))]
    names = [f'{pair.link} on {pair.surface}' for pair in pairs]
    with new_figure(
        path, 12.0, 5.4, title='Contacts', subtitle=subtitle, overwrite=overwrite
    ) as figure:
        panels = figure.subplots(2, 1, sharex=True, height_ratios=(2.0, 1.0))
        forces = [pair.normal_force for pair in pairs]
        _draw_series(panels[0], record.t, list(zip(forces, colors, names)))
        label_panel(panels[0], 'normal force', '[N]')
        depths = [pair.penetration for pair in pairs]
        _draw_series(panels[1], record.t, list(zip(depths, colors, names)), has_legend=False)
        label_panel(panels[1], 'penetration', '[m]')
        panels[-1].set_xlabel('time [s]')


def _draw_columns(axes: Axes, t: Vector, values: Matrix, names: Sequence[str], label: str) -> None:
    for k, (name, column) in enumerate(zip(names, values.T)):
        rows = thinned_rows(column)
        axes.plot(t[rows], column[rows], color=PALETTE[k % len(PALETTE)], label=name)
    axes.set_ylabel(label)
    axes.margins(x=0.01)


def _draw_series(
    axes: Axes,
    t: Vector,
    series: Sequence[tuple[Vector, str, str]],
    *,
    has_legend: bool = True,
) -> None:
    for values, color, label in series:
        rows = thinned_rows(np.asarray(values))
        axes.plot(t[rows], values[rows], color=color, label=label)
    axes.margins(x=0.01)
    if has_legend:
        axes.legend(loc='center left', bbox_to_anchor=(1.0, 0.5), fontsize=8.0)


def _add_legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc='outside lower right', ncols=min(7, len(labels)))
