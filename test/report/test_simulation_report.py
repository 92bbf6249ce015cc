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

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from matplotlib.image import imread
import numpy as np
import pytest

from contact_scenes import drop, floor
from robot_dynamics_ros.core.contact.geometry import Plane
from robot_dynamics_ros.core.exceptions import OutputError
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.closed_loop import no_torque, run_closed_loop
from robot_dynamics_ros.core.simulation.hardware import SimulatedHardware
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.core.simulation.world import World
from robot_dynamics_ros.report.simulation_plots import plot_contacts, plot_energy, plot_motion
from robot_dynamics_ros.report.simulation_report import SimulationRun, summary, write_pages
from robot_dynamics_ros.resources import urdf_path

FACTS = {'controller': 'none', 'world': 'a < b'}


def simulated(
    plant: Plant, periods: int, world: World | None = None, reference: Any = None
) -> SimulationRun:
    hardware = SimulatedHardware(plant)
    law = no_torque(len(hardware.joint_names))
    record = run_closed_loop(hardware, law, dt=1e-3, periods=periods)
    return SimulationRun(record, FACTS, reference, world, wall_time=0.5)


@pytest.fixture(scope='module')
def bounces() -> SimulationRun:
    """Return a ball that falls 5 cm and bounces with half of its speed."""
    world = floor(restitution=0.5)
    return simulated(drop(0.05, world), 265, world)


def test_bouncing_ball_is_told(bounces: SimulationRun) -> None:
    fall = np.sqrt(2.0 * 0.05 / 9.81)
    report = bounces.as_dict()
    (contact,) = report['contacts']
    assert contact['first_touch'] == pytest.approx(fall, abs=1e-3)  # on the grid of samples
    # Flights of 2 e^n of the time of the fall: impacts at 1, 2, 2.5 of it.
    assert report['impacts'] == contact['touches'] == 3
    assert contact['time_in_contact'] == pytest.approx(0.003)
    assert report['energy']['start'] == pytest.approx(9.81 * 0.15)
    # Each impact leaves a quarter of the kinetic energy.
    lost = 9.81 * 0.05 * (1.0 - 0.25**3)
    assert report['energy']['contacts'] == pytest.approx(-lost, rel=1e-6)
    assert abs(report['energy']['rest']) < 1e-9
    assert bounces.real_time_factor == pytest.approx(0.53)
    assert bounces.ground == 0.0
    assert json.loads(json.dumps(report, allow_nan=False))['samples'] == 266
    text = summary(bounces)
    assert 'body: 0.265 s with controller none' in text
    assert '3 impacts, largest residual of the contact solver' in text
    assert '0.53 times as fast as real time' in text


def test_pages_are_written(tmp_path: Path, bounces: SimulationRun) -> None:
    write_pages(tmp_path, bounces)
    names = {entry.name for entry in tmp_path.iterdir()}
    assert names == {
        'report.html', 'report.json', 'motion.png', 'torques.png', 'energy.png', 'contacts.png'
    }  # fmt: skip
    page = (tmp_path / 'report.html').read_text()
    assert 'a &lt; b' in page
    assert page.count('<img') == 4
    assert '"ground":0.0' in page


def test_what_was_not_there_is_not_told(tmp_path: Path) -> None:
    model = load_urdf(urdf_path('planar_2r_rods.urdf'))
    reference = np.full((21, 2), 0.25)
    run = simulated(Plant(model, q=[0.25, 0.25]), 20, reference=reference)
    assert run.ground is None
    assert run.contact_rows == []
    assert [row[0] for row in run.tracking_rows] == list(model.joint_names)
    assert float(run.tracking_rows[0][1] or 0.0) == pytest.approx(
        abs(run.record.q[:, 0] - 0.25).max()
    )
    assert 'Tracking' in summary(run)
    assert 'touched' not in summary(run)
    write_pages(tmp_path, run)
    assert not (tmp_path / 'contacts.png').exists()
    assert '"contacts"' not in (tmp_path / 'report.html').read_text()


def test_ground_is_the_first_level_plane(bounces: SimulationRun) -> None:
    planes = [
        Plane('wall', np.array([1.0, 0.0, 0.0]), np.zeros(3)),
        Plane('ceiling', np.array([0.0, 0.0, -1.0]), np.array([0.0, 0.0, 3.0])),
        Plane('floor', np.array([0.0, 0.0, 2.0]), np.array([1.0, 0.0, -0.25])),
    ]
    run = SimulationRun(bounces.record, FACTS, None, World(tuple(planes)), 1.0)
    assert run.ground == -0.25
    assert SimulationRun(bounces.record, FACTS, None, World(tuple(planes[:2])), 1.0).ground is None


def test_figures_show_something_and_are_not_replaced(
    tmp_path: Path, bounces: SimulationRun
) -> None:
    for plot in (plot_motion, plot_energy, plot_contacts):
        path = tmp_path / f'{plot.__name__}.png'
        plot(path, bounces.record, subtitle='a ball')
        assert np.ptp(imread(path)[..., :3]) > 0.5
        with pytest.raises(OutputError, match='exists'):
            plot(path, bounces.record)
