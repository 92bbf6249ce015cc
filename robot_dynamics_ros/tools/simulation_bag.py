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

"""
The bag of a simulation: what the sensors report, and the truth beside it.

Time begins at zero. ``/joint_states`` has only the messages that arrived, with their stamps, and
each is recorded at its true time. The other topics have every sample and are like those of the
simulation node: ``/truth/motion`` holds position, velocity, acceleration and torque of every
degree of freedom.

"""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from pathlib import Path
import re

from robot_dynamics_ros.bags.writing import BagWriter
from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.simulation.simulation_record import SimulationRecord

BAG_NAME = 'simulation'
MEASURED_TOPIC = '/joint_states'
REFERENCE_TOPIC = '/reference'
MOTION_TOPIC = '/truth/motion'
FRICTION_TOPIC = '/truth/friction'
BASE_TOPIC = '/truth/base'
CONTACT_TOPICS = '/contacts/'


def write_bag(
    path: Path,
    record: SimulationRecord,
    reference: tuple[Matrix, Matrix, Matrix] | None = None,
    advance: Callable[[int], None] | None = None,
) -> None:
    """
    Write a new bag.

    Parameters
    ----------
    path : Path
        Folder of the bag.
    record : SimulationRecord
        What happened.
    reference : tuple of three ndarray, shape (n_samples, n), optional
        Wanted motion of the driven joints.
    advance : callable, optional
        Called with the number of samples that were written.

    Raises
    ------
    OutputError
        If the path exists or cannot be written.

    """
    model, names = record.model, record.joint_names
    topics = {link: CONTACT_TOPICS + _topic_name(link) for link in record.wrenches}
    with BagWriter(path) as bag:
        for row, time in enumerate(record.t.tolist()):
            at = round(time * 1e9)
            _write_measured(bag, at, record, row)
            _write_motion(bag, at, record, row)
            bag.write_joint_state(
                FRICTION_TOPIC, at, model.v_names, effort=record.tau_friction[row]
            )
            if reference is not None:
                bag.write_joint_state(REFERENCE_TOPIC, at, names, *(x[row] for x in reference[:2]))
            for link, wrenches in record.wrenches.items():
                bag.write_wrench(topics[link], at, link, wrenches[row])
            if advance is not None:
                advance(1)


def _write_measured(bag: BagWriter, at: int, record: SimulationRecord, row: int) -> None:
    stamp = float(record.stamp[row])
    if isnan(stamp) or not record.joint_names:  # the message got lost, or there are no drives
        return
    bag.write_joint_state(
        MEASURED_TOPIC,
        max(0, round(stamp * 1e9)),
        record.joint_names,
        record.measured_q[row],
        record.measured_v[row],
        record.measured_tau[row],
        log_time=at,
    )


def _write_motion(bag: BagWriter, at: int, record: SimulationRecord, row: int) -> None:
    model, here = record.model, slice(row, row + 1)
    # The positions of joints of several coordinates have no place among the velocities.
    positions = record.q[here] if model.nq == model.nv else None
    bag.write_joint_trajectory(
        MOTION_TOPIC,
        at,
        model.v_names,
        [0.0],
        positions,
        record.v[here],
        record.a[here],
        record.tau[here],
    )
    if model.options.floating_base:
        frames = ('world', model.body_names[0])
        bag.write_odometry(BASE_TOPIC, at, frames, record.q[row, :7], record.v[row, :6])


def _topic_name(link: str) -> str:
    """Return a link's name with what a topic may not have replaced."""
    name = re.sub(r'\W', '_', link, flags=re.ASCII)
    return name if name[:1].isalpha() else f'link_{name}'
