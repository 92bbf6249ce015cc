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
The drives and sensors of a simulated robot, around its mechanics.

A command passes the delay of the actuators, the limit of the effort, and the drives with their
currents and voltages, before it is a torque; and what is reported is what the sensors make of the
motion. Where nothing of that is given, the command acts as it is and the motion is reported as it
is.

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Vector
from robot_dynamics_ros.core.drive.motor import Drives
from robot_dynamics_ros.core.drive.motor_currents import MotorCurrents
from robot_dynamics_ros.core.drive.sensors import Delay, JointReading, JointSensors
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.robot_model import driven_joints
from robot_dynamics_ros.core.simulation.elastic_plant import ElasticPlant
from robot_dynamics_ros.core.simulation.plant import Plant


class SimulatedHardware:
    """
    A plant with what lies between it and a controller.

    Parameters
    ----------
    plant : Plant or ElasticPlant
        The mechanics.
    effort_limit : array_like, shape (n,), optional
        Limits of the efforts of the driven joints [N m | N]; none by default.
    drives : Drives, optional
        Their motors; ideal by default.
    sensors : JointSensors, optional
        Their sensors, with the delay of the actuators; ideal by default.

    Attributes
    ----------
    joint_names : tuple of str
        The driven joints, in the order of all vectors here.
    model : RobotModel
        The robot as a controller sees it, the rotors of elastic joints included.
    state : PlantState
        The true state.
    tau : ndarray, shape (n,)
        Torques that acted during the last step [N m | N].

    Raises
    ------
    ConfigurationError
        If drives or sensors have other joints.

    """

    def __init__(
        self,
        plant: Plant | ElasticPlant,
        *,
        effort_limit: Any = None,
        drives: Drives | None = None,
        sensors: JointSensors | None = None,
    ) -> None:
        model = plant.model
        self.plant = plant
        self.model = plant.rigid_model if isinstance(plant, ElasticPlant) else model
        self.joint_names = driven_joints(model)
        n = len(self.joint_names)
        if drives is not None:
            self._require_joints('drives', drives.joint_names)
        if sensors is not None:
            self._require_joints('sensors', sensors.settings.joint_names)
        joints = {joint.name: joint for joint in model.joints}
        self._iq = np.array([joints[name].q_index for name in self.joint_names], dtype=np.intp)
        self._iv = np.array([joints[name].v_index for name in self.joint_names], dtype=np.intp)
        limit = np.full(n, np.inf) if effort_limit is None else np.asarray(effort_limit)
        self._limit = np.where(np.isnan(limit), np.inf, limit)
        self._currents = None if drives is None else MotorCurrents(drives)
        self._sensors = sensors
        self.state = plant.state
        self.tau: Vector = np.zeros(n)
        self._delay: Delay | None = None
        if sensors is not None:
            self._delay = sensors.actuator_delay(self.tau)

    def _require_joints(self, what: str, names: tuple[str, ...]) -> None:
        if names != self.joint_names:
            raise ConfigurationError(
                f'the {what} are for {", ".join(names)}; '
                f'the robot has {", ".join(self.joint_names)}'
            )

    def step(self, tau: Any, dt: float, f_ext: Any = None) -> JointReading | None:
        """
        Move on under a command that is held.

        Parameters
        ----------
        tau : array_like, shape (n,)
            Command [N m | N].
        dt : float
            Time [s].
        f_ext : array_like, shape (nbodies, 6), optional
            As in `Plant.step`.

        Returns
        -------
        reading : JointReading or None
            What the sensors report, with a stamp in simulated time; None if it gets lost.

        Raises
        ------
        ConfigurationError, DimensionError, NonFiniteError, NotNumericError
            As `Plant.step`.

        """
        wanted = as_finite('tau', tau, (len(self.joint_names),))
        if self._delay is not None:
            wanted = self._delay.step(wanted)
        acting = np.minimum(np.maximum(wanted, -self._limit), self._limit)
        if self._currents is not None:
            motors = self.state.motors  # of elastic joints, whose speed is not that of the links
            v = self.state.v if motors is None else motors.v
            acting = self._currents.step(acting, v[self._iv], dt)
        full = np.zeros(self.plant.model.nv)
        full[self._iv] = acting
        self.state = self.plant.step(full, dt, f_ext)
        self.tau = acting
        return self.read()

    def take_over(self, other: SimulatedHardware) -> None:
        """
        Go on where the same robot with another payload is: motion, bristles, currents, sensors.

        Raises
        ------
        ConfigurationError
            If only one of both has elastic joints.
        DimensionError
            If the other has other joints.
        NonFiniteError
            If a number is not finite.

        """
        if isinstance(self.plant, ElasticPlant) and isinstance(other.plant, ElasticPlant):
            self.state = self.plant.take_over(other.plant)
        elif isinstance(self.plant, Plant) and isinstance(other.plant, Plant):
            self.state = self.plant.take_over(other.plant)
        else:
            raise ConfigurationError('elastic and rigid joints cannot be exchanged')
        self._currents, self._sensors, self._delay = other._currents, other._sensors, other._delay
        self.tau = other.tau

    def read_held(self, tau: Any) -> JointReading | None:
        """Return what is reported while brakes hold the robot under a command [N m | N]."""
        self.tau = np.minimum(
            np.maximum(as_finite('tau', tau, self.tau.shape), -self._limit), self._limit
        )
        return self.read()

    def read(self) -> JointReading | None:
        """Return what the sensors report now; None if it gets lost."""
        state = self.state
        q, v = state.q[self._iq], state.v[self._iv]
        if self._sensors is None:
            return JointReading(state.time, q, v, self.tau.copy())
        return self._sensors.step(state.time, q, v, self.tau)
