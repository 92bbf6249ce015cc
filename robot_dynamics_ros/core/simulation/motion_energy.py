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
How well an integrator keeps the energy of a free motion.

Without friction and efforts the mechanical energy is constant; what it changes by is the error of
the integrator. That is a check of integrator and model at once, since energy and acceleration come
from different algorithms.

"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import frozen, Vector
from robot_dynamics_ros.core.dynamics import (
    aba,
    kinetic_energy_batch,
    neutral,
    potential_energy_batch,
)
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.simulation.integrators import simulate_motion

MOST_STEPS = 2_000_000
"""Steps of a run, all of which are kept."""


@dataclass(frozen=True, eq=False)
class MotionEnergy:
    """
    The energy along a free motion.

    Attributes
    ----------
    integrator : str
        Name of the integrator.
    dt : float
        Step [s]; of the record for ``adaptive``.
    time, kinetic, potential : ndarray, shape (n,)
        Instants [s] and energies [J], step by step.

    """

    integrator: str
    dt: float
    time: Vector
    kinetic: Vector
    potential: Vector

    def __post_init__(self) -> None:
        for name in ('time', 'kinetic', 'potential'):
            object.__setattr__(self, name, frozen(getattr(self, name), name))

    @property
    def energy(self) -> Vector:
        """Return kinetic and potential energy together [J], shape (n,)."""
        return np.asarray(self.kinetic + self.potential)

    @property
    def error(self) -> Vector:
        """Return the energy minus that of the start [J], shape (n,)."""
        return np.asarray(self.energy - self.energy[0])

    @property
    def largest_error(self) -> float:
        """Return the largest absolute error [J]."""
        return float(np.abs(self.error).max())


def motion_energy(
    model: RobotModel, q: Any, v: Any, *, dt: float, duration: float, integrator: str
) -> MotionEnergy:
    """
    Follow the energy along a free motion.

    Parameters
    ----------
    model : RobotModel
        The robot; its friction and its limits do not act.
    q : array_like, shape (nq,)
        Joint positions at the start [rad | m].
    v : array_like, shape (nv,)
        Joint velocities at the start [rad/s | m/s].
    dt : float
        Step [s].
    duration : float
        Length of the motion, rounded to whole steps [s].
    integrator : str
        One of `integrators.INTEGRATORS`.

    Returns
    -------
    result : MotionEnergy

    Raises
    ------
    ConfigurationError
        If the step is not positive or longer than the motion, the steps are too many, or the
        integrator is unknown.
    DimensionError
        If a vector has another shape.
    NonFiniteError
        If the state does not stay finite; the message says when.
    SingularMassMatrixError
        If a degree of freedom moves no inertia.

    """
    if not 0.0 < dt <= duration:
        raise ConfigurationError(
            f'a step of {dt:g} s in a motion of {duration:g} s, expected 0 < step <= motion'
        )
    steps = round(duration / dt)
    if steps > MOST_STEPS:
        raise ConfigurationError(
            f'{duration:g} s in steps of {dt:g} s are {steps} steps, expected at most '
            f'{MOST_STEPS}: take longer steps or a shorter motion'
        )
    motion = simulate_motion(
        model, q, v, np.zeros(model.nv), dt=dt, steps=steps, integrator=integrator
    )
    kinetic = kinetic_energy_batch(model, motion.q, motion.v)
    potential = potential_energy_batch(model, motion.q)
    return MotionEnergy(integrator, dt, motion.time, kinetic, potential)


def moving_start(model: RobotModel) -> Vector:
    """
    Return a configuration from which the robot moves when it is let go.

    That is the neutral one, unless it is an equilibrium: then every joint of one coordinate is put
    to 1 rad or 0.1 m.

    Raises
    ------
    SingularMassMatrixError
        If a degree of freedom moves no inertia.

    """
    q = neutral(model)
    if model.nv and np.abs(aba(model, q, np.zeros(model.nv), np.zeros(model.nv))).max() > 1e-9:
        return q
    for joint in model.joints:
        if joint.mimic is None and joint.type not in (JointType.FLOATING, JointType.PLANAR):
            q[joint.q_index] = 0.1 if joint.type is JointType.PRISMATIC else 1.0
    return q
