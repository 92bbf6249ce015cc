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

"""What a simulation came to: text, JSON and a page with a moving picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
import json
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.simulation.closed_loop import (
    energy_balance,
    EnergyBalance,
    tracking_error,
    TrackingError,
)
from robot_dynamics_ros.core.simulation.simulation_record import PairRecord, SimulationRecord
from robot_dynamics_ros.core.simulation.world import World
from robot_dynamics_ros.report.animation import animation_markup, ContactTrace
from robot_dynamics_ros.report.atomic import write_text
from robot_dynamics_ros.report.html_page import HtmlPage
from robot_dynamics_ros.report.table import Cell, format_table

_ENERGY = ['part', 'energy [J]']
_CONTACTS = [
    'link',
    'surface',
    'first touch [s]',
    'touches',
    'in contact [s]',
    'mean normal force [N]',
    'peak normal force [N]',
    'deepest [m]',
]
_TRACKING = ['joint', 'largest error', 'rms error', 'error at the end']
_PICTURE_RATE = 60.0
"""Twice what the moving picture shows [1/s]."""

_PARTS = {
    'start': 'mechanical energy at the start',
    'actuators': 'work of the actuators',
    'friction': 'work of joint friction',
    'limits': 'work of the position limits',
    'contacts': 'work of the contacts',
    'pushes': 'work of the pushes',
    'rest': 'left over',
    'end': 'mechanical energy at the end',
}


@dataclass(frozen=True, eq=False)
class SimulationRun:
    """
    A finished simulation, with all that its report tells.

    Attributes
    ----------
    record : SimulationRecord
        What happened.
    facts : mapping
        How it was asked for: plain values.
    reference : ndarray, shape (n_samples, n), or None
        Wanted positions of the driven joints at the samples [rad | m].
    world : World or None
        What surrounds the robot.
    wall_time : float
        How long the simulation took [s].

    """

    record: SimulationRecord
    facts: Mapping[str, Any]
    reference: Matrix | None
    world: World | None
    wall_time: float

    @property
    def duration(self) -> float:
        """Return the simulated time [s]."""
        return float(self.record.t[-1])

    @property
    def real_time_factor(self) -> float:
        """Return simulated time over the time that it took."""
        return self.duration / max(self.wall_time, 1e-9)

    @property
    def ground(self) -> float | None:
        """Height of the first level plane that faces up [m]."""
        for plane in () if self.world is None else self.world.planes:
            if plane.normal[2] > 1.0 - 1e-9:
                return float(plane.point[2])
        return None

    @cached_property
    def balance(self) -> EnergyBalance:
        """Balance of the energy."""
        return energy_balance(self.record)

    @cached_property
    def tracking(self) -> TrackingError | None:
        """Errors against the reference, if there is one."""
        return None if self.reference is None else tracking_error(self.record, self.reference)

    @property
    def title(self) -> str:
        """Return what it is about."""
        model = self.record.model
        return f'{model.name}: {self.duration:.4g} s with controller {self.facts["controller"]}'

    @property
    def energy_rows(self) -> list[list[Cell]]:
        """Return a row for each part of the balance."""
        return [[text, getattr(self.balance, key)] for key, text in _PARTS.items()]

    @property
    def contact_rows(self) -> list[list[Cell]]:
        """Return a row for each pair that touched."""
        contacts = [pair_summary(pair, self.record) for pair in self.record.pairs.values()]
        return [list(contact.values()) for contact in contacts]

    @property
    def tracking_rows(self) -> list[list[Cell]]:
        """Return a row for each driven joint."""
        error = self.tracking
        if error is None:
            return []
        columns = zip(self.record.joint_names, error.largest, error.rms, error.last)
        return [[name, *map(float, values)] for name, *values in columns]

    @property
    def solver_line(self) -> str:
        """Say how well contacts were solved and how fast it went."""
        record = self.record
        impacts = int(record.impacts.sum())
        return (
            f'{impacts} impact{"" if impacts == 1 else "s"}, '
            f'largest residual of the contact solver {record.residual.max():.3g}, '
            f'{self.real_time_factor:.3g} times as fast as real time'
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values for JSON."""
        record, error = self.record, self.tracking
        tracking: list[dict[str, Any]] = [
            {'joint': name, 'largest': largest, 'rms': rms, 'last': last}
            for name, largest, rms, last in self.tracking_rows
        ]
        return {
            **self.facts,
            'samples': len(record.t),
            'samples_received': int(record.received.sum()),
            'joint_names': list(record.joint_names),
            'q_names': list(record.model.q_names),
            'v_names': list(record.model.v_names),
            'q_end': record.q[-1].tolist(),
            'v_end': record.v[-1].tolist(),
            'energy': self.balance._asdict(),
            'contacts': [pair_summary(pair, record) for pair in record.pairs.values()],
            'tracking': None if error is None else tracking,
            'impacts': int(record.impacts.sum()),
            'largest_residual': float(record.residual.max()),
            'peak_torque': np.abs(record.tau).max(axis=0).tolist(),
            'wall_time': self.wall_time,
            'real_time_factor': self.real_time_factor,
        }


def pair_summary(pair: PairRecord, record: SimulationRecord) -> dict[str, Any]:
    """
    Return what the contacts of a pair came to.

    The mean force is that over the samples in contact; forces of impacts, which are impulses, are
    not in it.

    """
    closed = pair.count > 0.0
    return {
        'link': pair.link,
        'surface': pair.surface,
        'first_touch': float(record.t[int(np.argmax(closed))]),
        'touches': pair.touches,
        'time_in_contact': float(np.count_nonzero(closed[1:]) * record.dt),
        'mean_normal_force': float(pair.normal_force[closed].mean()),
        'peak_normal_force': float(pair.normal_force.max()),
        'largest_penetration': float(pair.penetration.max()),
    }


def summary(run: SimulationRun) -> str:
    """Return the tables as text."""
    blocks = [format_table(_ENERGY, run.energy_rows, title=run.title)]
    if run.contact_rows:
        blocks.append(format_table(_CONTACTS, run.contact_rows, title='Contacts'))
    elif run.world is not None:
        blocks.append('nothing was touched')
    if run.tracking is not None:
        title = 'Tracking [rad | m]'
        blocks.append(format_table(_TRACKING, run.tracking_rows, title=title))
    return '\n\n'.join([*blocks, run.solver_line])


def write_pages(folder: Path, run: SimulationRun) -> None:
    """
    Write report.json, pictures and a page that holds everything into an empty folder.

    Raises
    ------
    OutputError
        If something cannot be written.

    """
    # matplotlib takes half a second to import: only when there is something to draw.
    from robot_dynamics_ros.report import simulation_plots as plots

    note = '; '.join(
        f'{key}: {value}' for key, value in run.facts.items() if value not in (None, [])
    )
    record = run.record
    values = json.dumps(run.as_dict(), indent=2, allow_nan=False)
    write_text(folder / 'report.json', values + '\n')
    plots.plot_motion(folder / 'motion.png', record, run.reference, subtitle=run.title)
    plots.plot_torques(folder / 'torques.png', record, subtitle=run.title)
    plots.plot_energy(folder / 'energy.png', record, subtitle=run.title)
    if record.pairs:
        plots.plot_contacts(folder / 'contacts.png', record, subtitle=run.title)
    page = HtmlPage(run.title, note)
    page.add_markup(_moving_picture(run))
    page.add_note(run.solver_line)
    page.add_heading('Energy')
    page.add_table(_ENERGY, run.energy_rows)
    page.add_picture(folder / 'energy.png', 'energy and its parts over time')
    if record.pairs:
        page.add_heading('Contacts')
        page.add_table(_CONTACTS, run.contact_rows)
        page.add_picture(folder / 'contacts.png', 'normal force of each contact over time')
    page.add_heading('Motion')
    if run.tracking is not None:
        page.add_table(_TRACKING, run.tracking_rows)
    page.add_picture(folder / 'motion.png', 'position, velocity and acceleration over time')
    page.add_heading('Torques')
    page.add_picture(folder / 'torques.png', 'torques of the actuators and of friction over time')
    page.write(folder / 'report.html')


def _moving_picture(run: SimulationRun) -> str:
    record = run.record
    count = round(run.duration * _PICTURE_RATE) + 1
    rows = np.unique(np.linspace(0, len(record.t) - 1, count).round().astype(int))
    trace = None
    if record.pairs:
        pairs = list(record.pairs.values())
        closed = np.array([pair.count[rows] > 0.0 for pair in pairs])  # (pairs, pictures)
        points = np.array([pair.point[rows] for pair in pairs])
        forces = np.array([pair.force[rows] for pair in pairs])
        pictures = range(len(rows))
        trace = ContactTrace(
            [points[closed[:, k], k] for k in pictures],
            [forces[closed[:, k], k] for k in pictures],
        )
    return animation_markup(record.model, record.t[rows], record.q[rows], trace, ground=run.ground)
