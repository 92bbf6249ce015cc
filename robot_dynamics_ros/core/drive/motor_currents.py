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
Currents of the motors over time: the drive as a robot in simulation feels it.

Over a step of length `h`, with voltage and velocity held, the current is exactly

.. math:: i^+ = i_\infty + (i - i_\infty)\,e^{-R h / L}, \qquad
          i_\infty = (u - r\,k_e\,\dot q) / R,

and its mean over the step, which gives the torque, is :math:`i_\infty + (i - i_\infty) (1 - e^{-R
h / L})\,L / (R h)`. No inductance is too small for the step, and none at all is allowed.

A current loop gives the voltage that brings the current to what is commanded at the end of the
step (dead beat), or a part of the way if it has a bandwidth. Where the supply does not have that
voltage, the current lags or falls, as on the torque-speed curve.

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Vector
from robot_dynamics_ros.core.drive.motor import Drives
from robot_dynamics_ros.core.exceptions import ConfigurationError


class MotorCurrents:
    """
    Drives with electrical dynamics.

    Parameters
    ----------
    drives : Drives
        The drives.
    bandwidth : float
        Bandwidth of the current loop [rad/s]; inf for dead beat.

    Attributes
    ----------
    current : ndarray, shape (n,)
        Currents at the end of the last step [A].
    voltage : ndarray, shape (n,)
        Voltages during the last step [V].

    Raises
    ------
    ConfigurationError
        If the bandwidth is not positive.

    """

    def __init__(self, drives: Drives, bandwidth: float = np.inf) -> None:
        if not bandwidth > 0.0:
            raise ConfigurationError(f'bandwidth is {bandwidth} rad/s, expected > 0')
        self.drives = drives
        self.bandwidth = float(bandwidth)
        self.reset()

    def reset(self) -> None:
        """Switch the currents off."""
        self.current: Vector = np.zeros(len(self.drives.joint_names))
        self.voltage: Vector = np.zeros(len(self.drives.joint_names))

    def step(self, tau: Any, v: Any, dt: float) -> Vector:
        """
        Ask for torques and return what acts on the joints, as a mean over the step [N m].

        Parameters
        ----------
        tau, v : array_like, shape (n,)
            Wanted torques [N m] and joint velocities, held over the step [rad/s].
        dt : float
            Length of the step [s]. Where the voltage is at its limit the torque falls with the
            velocity at `Drives.back_emf_damping`; keep ``dt`` below inertia over that.

        Raises
        ------
        ConfigurationError
            If `dt` is not positive.
        DimensionError, NonFiniteError, NotNumericError
            If a vector is no finite one with `n` entries.

        """
        drives, n = self.drives, len(self.drives.joint_names)
        tau, v = as_finite('tau', tau, (n,)), as_finite('v', v, (n,))
        limit = drives.current_limit
        wanted = np.clip(drives.current(tau, v), -limit, limit)
        part = -np.expm1(-self.bandwidth * dt)
        target = self.current + part * (wanted - self.current)
        left, _ = self._decay(dt)
        settled = (target - left * self.current) / (1.0 - left)
        voltage = drives.resistance * settled + drives.volts_per_velocity * v
        voltage = np.clip(voltage, -drives.voltage_limit, drives.voltage_limit)
        return self.apply_voltage(voltage, v, dt)

    def apply_voltage(self, voltage: Any, v: Any, dt: float) -> Vector:
        """
        Put voltages on the motors and return the torque on the joints, a mean over the step [N m].

        Parameters
        ----------
        voltage, v : array_like, shape (n,)
            Voltages [V] and joint velocities, held over the step [rad/s].
        dt : float
            Length of the step [s].

        Raises
        ------
        ConfigurationError
            If `dt` is not positive.
        DimensionError, NonFiniteError, NotNumericError
            If a vector is no finite one with `n` entries.

        """
        drives, n = self.drives, len(self.drives.joint_names)
        voltage, v = as_finite('voltage', voltage, (n,)), as_finite('v', v, (n,))
        left, mean = self._decay(dt)
        settled = (voltage - drives.volts_per_velocity * v) / drives.resistance
        away = self.current - settled
        torque = drives.torque(settled + mean * away, v)
        self.current = settled + left * away
        self.voltage = np.array(voltage)
        return torque

    def torque_line(self, voltage: Any, dt: float) -> tuple[Vector, Vector]:
        """
        Return the mean torque of a step under voltages as ``offset - slope v`` [N m].

        For an integrator that takes the back-EMF implicitly, like viscous friction; without losses
        of the gear. It changes nothing here.

        Parameters
        ----------
        voltage : array_like, shape (n,)
            Voltages [V].
        dt : float
            Length of the step [s].

        Returns
        -------
        offset, slope : ndarray, shape (n,)
            [N m] and [N m s/rad], slope >= 0.

        Raises
        ------
        ConfigurationError
            If `dt` is not positive.
        DimensionError, NonFiniteError, NotNumericError
            If the voltages are no finite vector with `n` entries.

        """
        drives = self.drives
        voltage = as_finite('voltage', voltage, (len(drives.joint_names),))
        _, mean = self._decay(dt)
        settled = voltage / drives.resistance
        offset = drives.torque_per_ampere * (settled + mean * (self.current - settled))
        return offset, drives.back_emf_damping * (1.0 - mean)

    def _decay(self, dt: float) -> tuple[Vector, Vector]:
        """Return what is left of a current after the step, and in its mean."""
        if not 0.0 < dt < np.inf:
            raise ConfigurationError(f'dt is {dt} s, expected > 0')
        time = np.maximum(self.drives.electrical_time_constant, 1e-300)
        ratio = dt / time
        return np.exp(-ratio), -np.expm1(-ratio) / ratio
