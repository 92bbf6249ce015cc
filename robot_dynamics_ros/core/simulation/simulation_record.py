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
What a simulation leaves behind: arrays over time, of a size that is known from the start.

Row 0 is the start, before any torque has acted; row `k` is the state after `k` periods of the
control loop, with the forces of the last internal step. Contacts are summed up for each pair of
link and surface, since their number changes while the robot moves.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.drive.sensors import JointReading
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.simulation.contact_wrenches import link_wrenches
from robot_dynamics_ros.core.simulation.plant import Contact, PlantState, Works

LARGEST_MEMORY = 1e9
"""What the arrays of a record may take [bytes]."""


class Budget:
    """
    Arrays of zeros, as long as there is memory for them.

    Parameters
    ----------
    rows : int
        Rows of every array.
    memory : float
        What all of them may take [bytes].

    """

    def __init__(self, rows: int, memory: float) -> None:
        self._rows = rows
        self._memory = memory
        self._taken = 0.0

    def require(self, columns: int) -> None:
        """
        Take the memory of an array.

        Raises
        ------
        ConfigurationError
            If there is not enough left.

        """
        self._taken += 8.0 * self._rows * columns
        if self._taken > self._memory:
            raise ConfigurationError(
                f'recording {self._rows} samples takes more than {self._memory / 1e6:g} MB; '
                'simulate for a shorter time or record at a lower rate'
            )

    def zeros(self, columns: int) -> Matrix:
        """Return an array of zeros, shape (rows, columns); errors as in `require`."""
        self.require(columns)
        return np.zeros((self._rows, columns))

    def series(self) -> Vector:
        """Return a vector of zeros, shape (rows,); errors as in `require`."""
        return self.zeros(1)[:, 0]


@dataclass(frozen=True, eq=False)
class PairRecord:
    """
    The contacts of one link with one surface, over time.

    Attributes
    ----------
    link, surface : str
    count : ndarray, shape (n,)
        Number of closed contacts.
    force : ndarray, shape (n, 3)
        Sum of the forces on the link, expressed in the world [N].
    normal_force : ndarray, shape (n,)
        Sum of their parts along the normals [N].
    point : ndarray, shape (n, 3)
        Mean of the contact points, weighted with the normal forces, in the world [m].
    penetration : ndarray, shape (n,)
        How deep the deepest contact is, >= 0 [m].

    """

    link: str
    surface: str
    count: Vector
    force: Matrix
    normal_force: Vector
    point: Matrix
    penetration: Vector

    @property
    def touches(self) -> int:
        """Return how often the pair closes, as far as the samples show."""
        closed = self.count > 0.0
        return int(closed[0]) + int(np.count_nonzero(closed[1:] & ~closed[:-1]))

    def put(self, row: int, contacts: Sequence[Contact]) -> None:
        """Enter the closed contacts of a sample."""
        pushes = [float(contact.force @ contact.normal) for contact in contacts]
        total = sum(pushes)
        shares = [p / total for p in pushes] if total > 0.0 else [1.0 / len(pushes)] * len(pushes)
        self.count[row] = len(contacts)
        self.normal_force[row] = total
        self.penetration[row] = max(0.0, *(-contact.gap for contact in contacts))
        for contact, share in zip(contacts, shares):
            self.force[row] += contact.force
            self.point[row] += share * contact.point


@dataclass(frozen=True, eq=False)
class SimulationRecord:
    """
    The course of a simulation, see the arrays of `PlantState`.

    Attributes
    ----------
    model : RobotModel
        The robot, payload and rotors included.
    joint_names : tuple of str
        Its driven joints: the columns of `measured_q`, `measured_v`, `measured_tau`.
    dt : float
        Period of the samples [s].
    t : ndarray, shape (n,)
        Simulated times [s].
    q, v, a : ndarray, shape (n, nq), (n, nv), (n, nv)
        True motion [rad | m, rad/s | m/s, rad/s^2 | m/s^2].
    tau, tau_friction, tau_limit : ndarray, shape (n, nv)
        Torque of the actuators, friction, and torque of the position limits [N m | N].
    works : ndarray, shape (n, 5)
        Columns as in `Works` [J].
    motor_energy : ndarray, shape (n,)
        Energy in the motors and springs of elastic joints [J].
    residual : ndarray, shape (n,)
        Largest residual of the contact solver in each period.
    impacts : ndarray, shape (n,)
        Number of impacts in each period.
    stamp : ndarray, shape (n,)
        Times that the messages of the sensors claim [s]; nan where a message got lost.
    measured_q, measured_v, measured_tau : ndarray, shape (n, len(joint_names))
        What the sensors report [rad | m, rad/s | m/s, N m | N].
    pairs : dict of tuple to PairRecord
        By link and surface, in the order of their first touch.
    wrenches : dict of str to ndarray, shape (n, 6)
        For each link that touches: the wrench ``[f; n]`` of its contacts, expressed in the link's
        frame, about its origin [N, N m].

    """

    model: RobotModel
    joint_names: tuple[str, ...]
    dt: float
    t: Vector
    q: Matrix
    v: Matrix
    a: Matrix
    tau: Matrix
    tau_friction: Matrix
    tau_limit: Matrix
    works: Matrix
    motor_energy: Vector
    residual: Vector
    impacts: Vector
    stamp: Vector
    measured_q: Matrix
    measured_v: Matrix
    measured_tau: Matrix
    budget: Budget = field(repr=False)
    pairs: dict[tuple[str, str], PairRecord] = field(default_factory=dict)
    wrenches: dict[str, Matrix] = field(default_factory=dict)

    @classmethod
    def empty(
        cls,
        model: RobotModel,
        joint_names: tuple[str, ...],
        dt: float,
        periods: int,
        memory: float = LARGEST_MEMORY,
    ) -> SimulationRecord:
        """
        Return a record with room for the start and a number of periods.

        Raises
        ------
        ConfigurationError
            If it takes more than `memory` [bytes].

        """
        n, joints = model.nv, len(joint_names)
        columns = 1 + model.nq + 5 * n + len(Works._fields) + 4 + 3 * joints
        Budget(periods + 1, memory).require(columns)  # before anything is made
        budget = Budget(periods + 1, memory)
        t = budget.series()
        t[:] = dt * np.arange(periods + 1)
        stamp = budget.series()
        stamp[:] = np.nan
        return cls(
            model,
            joint_names,
            dt,
            t=t,
            q=budget.zeros(model.nq),
            v=budget.zeros(n),
            a=budget.zeros(n),
            tau=budget.zeros(n),
            tau_friction=budget.zeros(n),
            tau_limit=budget.zeros(n),
            works=budget.zeros(len(Works._fields)),
            motor_energy=budget.series(),
            residual=budget.series(),
            impacts=budget.series(),
            stamp=stamp,
            measured_q=budget.zeros(joints),
            measured_v=budget.zeros(joints),
            measured_tau=budget.zeros(joints),
            budget=budget,
        )

    @property
    def received(self) -> NDArray[np.bool_]:
        """Whether the message of each sample arrived, shape (n,)."""
        return ~np.isnan(self.stamp)

    def put(
        self, row: int, state: PlantState, reading: JointReading | None, impacts: int = 0
    ) -> None:
        """
        Enter a sample.

        Raises
        ------
        ConfigurationError
            If links touch for which there is no memory any more.

        """
        self.q[row], self.v[row], self.a[row] = state.q, state.v, state.a
        self.tau[row], self.tau_friction[row] = state.tau, state.tau_friction
        self.tau_limit[row] = state.tau_limit
        self.works[row] = state.works
        if state.motors is not None:
            self.motor_energy[row] = state.motors.energy
        self.residual[row] = state.residual
        self.impacts[row] = impacts
        if reading is not None:
            self.stamp[row] = reading.stamp
            self.measured_q[row], self.measured_v[row] = reading.q, reading.v
            self.measured_tau[row] = reading.tau
        if state.contacts:
            self._put_contacts(row, state)

    def _put_contacts(self, row: int, state: PlantState) -> None:
        by_pair: dict[tuple[str, str], list[Contact]] = {}
        for contact in state.contacts:
            by_pair.setdefault((contact.link, contact.surface), []).append(contact)
        for key, contacts in by_pair.items():
            if key not in self.pairs:
                zeros = self.budget.zeros
                series = self.budget.series
                self.pairs[key] = PairRecord(
                    *key, series(), zeros(3), series(), zeros(3), series()
                )
            self.pairs[key].put(row, contacts)
        for link, wrench in link_wrenches(self.model, state.q, state.contacts).items():
            if link not in self.wrenches:
                self.wrenches[link] = self.budget.zeros(6)
            self.wrenches[link][row] = wrench
