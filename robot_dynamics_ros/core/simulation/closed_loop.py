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

r"""
A control law and a simulated robot in closed loop.

At the start of every period the law sees what the sensors last reported and gives a torque, which
is held for the period; the plant moves on by its own internal steps. A push is a constant force in
the world, so its wrench is turned into the body's frame anew for each period; where it begins or
ends within a period, the force is scaled so that its impulse is exact.

The balance of the energy `E` over a run is

.. math:: E(t) - E(0) = W_\mathrm{actuators} + W_\mathrm{friction} + W_\mathrm{limits}
          + W_\mathrm{contacts} + W_\mathrm{pushes} + \mathrm{rest}

with a rest of the order of the integrator.

"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.drive.sensors import JointReading
from robot_dynamics_ros.core.dynamics import kinetic_energy_batch, potential_energy_batch
from robot_dynamics_ros.core.dynamics.kinematics import place_frame, world_state
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.simulation.hardware import SimulatedHardware
from robot_dynamics_ros.core.simulation.plant import PlantState, Works
from robot_dynamics_ros.core.simulation.simulation_record import LARGEST_MEMORY, SimulationRecord

Law = Callable[[int, Vector, Vector], Vector]
"""Number of the period, measured positions and velocities to torques, of the driven joints."""


class Push(NamedTuple):
    """
    A force that acts on a link for some time.

    Attributes
    ----------
    link : str
        Where: at the origin of this link's frame.
    force : ndarray, shape (3,)
        Expressed in the world [N].
    start, end : float
        When [s].

    """

    link: str
    force: Vector
    start: float
    end: float


class EnergyBalance(NamedTuple):
    """
    Where the mechanical energy of a run came from and went [J].

    Attributes
    ----------
    start, end : float
        Mechanical energy.
    actuators, friction, limits, contacts, pushes : float
        Work on the robot.
    rest : float
        What the work does not explain.

    """

    start: float
    end: float
    actuators: float
    friction: float
    limits: float
    contacts: float
    pushes: float
    rest: float


class TrackingError(NamedTuple):
    """
    How far joints are from a reference.

    Attributes
    ----------
    error : ndarray, shape (n_samples, n)
        True minus wanted position, the short way round for continuous joints [rad | m].
    largest, rms, last : ndarray, shape (n,)
        Largest magnitude, root of the mean square, and value at the end [rad | m].

    """

    error: Matrix
    largest: Vector
    rms: Vector
    last: Vector


def no_torque(n: int) -> Law:
    """Return the law of a robot whose drives are off."""
    zeros = np.zeros(n)
    return lambda row, q, v: zeros


def run_closed_loop(
    hardware: SimulatedHardware,
    law: Law,
    *,
    dt: float,
    periods: int,
    pushes: Sequence[Push] = (),
    memory: float = LARGEST_MEMORY,
    advance: Callable[[], None] | None = None,
) -> SimulationRecord:
    """
    Simulate a robot under a control law, from its present state.

    Parameters
    ----------
    hardware : SimulatedHardware
        The robot with its drives and sensors.
    law : callable
        ``law(k, q, v)`` returns the torques that are held during period `k`; `q` and `v` are what
        the sensors reported last, for the driven joints.
    dt : float
        Period of the law and of the record [s].
    periods : int
        Number of periods, at least 1.
    pushes : sequence of Push
        Forces from outside.
    memory : float
        What the record may take [bytes].
    advance : callable, optional
        Called after each period, to show progress.

    Returns
    -------
    record : SimulationRecord
        With ``periods + 1`` samples.

    Raises
    ------
    ConfigurationError
        If the period or their number is out of range, a push is, or the record takes too much
        memory.
    NonFiniteError
        If a torque or the state is not finite any more.
    UnknownFrameError
        If a link of a push does not exist.

    """
    if not 0.0 < dt < np.inf or periods < 1:
        raise ConfigurationError(f'{periods} periods of {dt} s, expected at least one above 0 s')
    plant, names = hardware.plant, hardware.joint_names
    acting = _PushedBodies(plant.model, pushes)
    record = SimulationRecord.empty(plant.model, names, dt, periods, memory)
    state, reading = hardware.state, hardware.read()
    record.put(0, state, reading)
    if reading is None:  # the law has to start with something
        reading = _true_reading(plant.model, names, state)
    last = reading
    for k in range(periods):
        tau = law(k, last.q, last.v)
        reading = hardware.step(tau, dt, acting.wrenches(k * dt, dt, state.q))
        state = hardware.state
        record.put(k + 1, state, reading, plant.solver_counts[1])
        last = last if reading is None else reading
        if advance is not None:
            advance()
    return record


def _true_reading(model: RobotModel, names: Sequence[str], state: PlantState) -> JointReading:
    joints = {joint.name: joint for joint in model.joints}
    q = np.array([state.q[joints[name].q_index] for name in names])
    v = np.array([state.v[joints[name].v_index] for name in names])
    return JointReading(state.time, q, v, np.zeros(len(names)))


class _PushedBodies:
    """Turn pushes into wrenches on bodies."""

    def __init__(self, model: RobotModel, pushes: Sequence[Push]) -> None:
        self._model = model
        self._pushes = []
        for push in pushes:
            frame = model.frame(push.link)
            force = as_finite(f"force of the push on '{push.link}'", push.force, (3,))
            if frame.body < 0:
                raise ConfigurationError(f"link '{push.link}' does not move, so no push moves it")
            if not 0.0 <= push.start < push.end < np.inf:
                raise ConfigurationError(
                    f"the push on '{push.link}' lasts from {push.start:g} to {push.end:g} s, "
                    'expected 0 <= start < end'
                )
            self._pushes.append((frame, force, push.start, push.end))

    def wrenches(self, time: float, dt: float, q: Vector) -> Matrix | None:
        """Return the wrench on each body, shape (nbodies, 6), or None if nothing acts."""
        total, work = None, None
        for frame, force, start, end in self._pushes:
            share = (min(end, time + dt) - max(start, time)) / dt
            if share <= 1e-9:
                continue
            if total is None or work is None:
                total, work = np.zeros((self._model.nbodies, 6)), world_state(self._model, q)
            local = frame.rotation @ (place_frame(frame, work).rotation.T @ force)
            total[frame.body, :3] += share * local
            total[frame.body, 3:] += share * np.cross(frame.translation, local)
        return total


def energies(record: SimulationRecord) -> tuple[Vector, Vector]:
    """
    Return the kinetic and the potential energy of the links, each of shape (n,) [J].

    To the latter is added what motors and springs of elastic joints have.

    """
    model = record.model
    return (
        kinetic_energy_batch(model, record.q, record.v),
        potential_energy_batch(model, record.q) + record.motor_energy,
    )


def energy_balance(record: SimulationRecord) -> EnergyBalance:
    """Return the balance of the energy from the first to the last sample."""
    kinetic, potential = energies(record)
    energy = kinetic + potential
    works = Works(*(float(work) for work in record.works[-1] - record.works[0]))
    start, end = float(energy[0]), float(energy[-1])
    return EnergyBalance(
        start=start,
        end=end,
        actuators=works.actuators,
        friction=works.friction,
        limits=works.limits,
        contacts=works.contacts,
        pushes=works.wrenches,
        rest=end - start - sum(works),
    )


def tracking_error(record: SimulationRecord, q_ref: Any) -> TrackingError:
    """
    Compare the true positions of the driven joints with wanted ones.

    Parameters
    ----------
    record : SimulationRecord
        What happened.
    q_ref : array_like, shape (n_samples, n)
        Wanted positions of the driven joints at its samples [rad | m].

    Raises
    ------
    DimensionError, NonFiniteError, NotNumericError
        If the reference is no finite array of this shape.

    """
    wanted = as_finite('q_ref', q_ref, (len(record.t), len(record.joint_names)))
    joints = {joint.name: joint for joint in record.model.joints}
    columns = [joints[name].q_index for name in record.joint_names]
    error = record.q[:, columns] - wanted
    for column, name in enumerate(record.joint_names):
        if joints[name].type is JointType.CONTINUOUS:
            error[:, column] -= 2.0 * np.pi * np.round(error[:, column] / (2.0 * np.pi))
    rms = np.sqrt(np.mean(error**2, axis=0))
    return TrackingError(error, np.abs(error).max(axis=0), rms, error[-1])
