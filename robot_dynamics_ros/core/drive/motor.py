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
Electric drives: a motor behind a gear for each joint.

With the current `i`, the ratio `r`, and the joint's velocity :math:`\dot q`,

.. math:: \tau = r\,k_T\,i, \qquad
          u = R\,i + L\,\frac{di}{dt} + r\,k_e\,\dot q

The rotor adds :math:`r^2 J_r` to the joint's inertia. The efficiency of the gear, if one is given,
takes from the power that goes through it: the joint gets :math:`\eta r k_T i` while the motor
drives it, and :math:`r k_T i / \eta` while it drives the motor. (Give either an efficiency or a
friction model that covers the gear; else its losses count twice.)

Limits of current and voltage bound the torque, which is the torque-speed curve:

.. math:: -I \le i \le I, \qquad
          \frac{-U - r k_e \dot q}{R} \le i \le \frac{U - r k_e \dot q}{R}

References
----------
.. [1] B. Siciliano, L. Sciavicco, L. Villani, G. Oriolo, *Robotics: Modelling, Planning and
       Control*, 2009, sections 5.2 and 7.2.1.

"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_real, frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError

_UNLIMITED = partial(np.array, np.inf)

_POSITIVE = ('torque_constant', 'back_emf_constant', 'resistance', 'ratio')
_NOT_NEGATIVE = ('inductance', 'rotor_inertia')
_LIMITS = ('voltage_limit', 'current_limit')


@dataclass(frozen=True, eq=False)
class Drives:
    """
    The drives of `n` joints; a scalar counts for every joint.

    Attributes
    ----------
    joint_names : tuple of str
    torque_constant : ndarray, shape (n,)
        `k_T` [N m/A].
    back_emf_constant : ndarray, shape (n,)
        `k_e` [V s/rad].
    resistance, inductance : ndarray, shape (n,)
        `R` [ohm] and `L` [H].
    ratio : ndarray, shape (n,)
        Turns of the motor for one of the joint.
    rotor_inertia : ndarray, shape (n,)
        `J_r`, before the gear [kg m^2].
    efficiency : ndarray, shape (n,)
        Of the gear, in (0, 1]; 1 by default.
    voltage_limit, current_limit : ndarray, shape (n,)
        `U` [V] and `I` [A]; inf by default.
    assumed : tuple of str
        Values that are assumptions, as in ``joint_1/rotor_inertia``.

    Raises
    ------
    ConfigurationError
        If a value is out of range or shapes differ; the message names joint and value.
    NotNumericError
        If a value is not a real number.

    """

    joint_names: tuple[str, ...]
    torque_constant: Vector
    back_emf_constant: Vector
    resistance: Vector
    inductance: Vector
    ratio: Vector
    rotor_inertia: Vector
    efficiency: Vector = field(default_factory=partial(np.array, 1.0))
    voltage_limit: Vector = field(default_factory=_UNLIMITED)
    current_limit: Vector = field(default_factory=_UNLIMITED)
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = tuple(self.joint_names)
        object.__setattr__(self, 'joint_names', names)
        for key in (*_POSITIVE, *_NOT_NEGATIVE, 'efficiency', *_LIMITS):
            array = as_real(key, getattr(self, key))
            if array.shape not in ((), (len(names),)):
                raise ConfigurationError(
                    f'{key} has shape {array.shape}, expected one number or {len(names)}'
                )
            array = frozen(np.broadcast_to(array, len(names)))
            for name, value in zip(names, array.tolist()):
                _check(name, key, value)
            object.__setattr__(self, key, array)

    @property
    def reflected_inertia(self) -> Vector:
        """Return the inertia of the rotors at the joints [kg m^2]."""
        return self.ratio**2 * self.rotor_inertia

    @property
    def torque_per_ampere(self) -> Vector:
        """Return the joint torque for each ampere, before losses of the gear [N m/A]."""
        return self.ratio * self.torque_constant

    @property
    def volts_per_velocity(self) -> Vector:
        """Return the back-EMF for each rad/s of the joint [V s/rad]."""
        return self.ratio * self.back_emf_constant

    @property
    def back_emf_damping(self) -> Vector:
        """Return the damping of a joint whose motor is fed with a voltage [N m s/rad]."""
        return self.torque_per_ampere * self.volts_per_velocity / self.resistance

    @property
    def electrical_time_constant(self) -> Vector:
        """Return ``L / R`` [s]."""
        return self.inductance / self.resistance

    def torque(self, current: Any, v: Any) -> Matrix:
        """
        Return the joint torque that currents give, in their shape [N m].

        Parameters
        ----------
        current, v : array_like, shape (n,) or (n_samples, n)
            Currents [A] and joint velocities [rad/s].

        """
        ideal = self.torque_per_ampere * np.asarray(current)
        drives = np.sign(ideal) * np.asarray(v) >= 0.0  # a limit may be infinite
        torque: Matrix = np.where(drives, ideal * self.efficiency, ideal / self.efficiency)
        return torque

    def current(self, tau: Any, v: Any) -> Matrix:
        """
        Return the currents that joint torques need, in their shape [A].

        Parameters
        ----------
        tau, v : array_like, shape (n,) or (n_samples, n)
            Torques of the drives, what accelerates the rotors included [N m], and joint
            velocities [rad/s].

        """
        tau = np.asarray(tau)
        drives = tau * np.asarray(v) >= 0.0
        ideal = np.where(drives, tau / self.efficiency, tau * self.efficiency)
        current: Matrix = ideal / self.torque_per_ampere
        return current

    def voltage(self, current: Any, v: Any, current_rate: Any = 0.0) -> Matrix:
        """
        Return the voltages that currents need, in their shape [V].

        Parameters
        ----------
        current, v, current_rate : array_like, shape (n,) or (n_samples, n)
            Currents [A], joint velocities [rad/s] and rates of the currents [A/s].

        """
        inductive = self.inductance * np.asarray(current_rate)
        back_emf = self.volts_per_velocity * np.asarray(v)
        voltage: Matrix = self.resistance * np.asarray(current) + inductive + back_emf
        return voltage

    def torque_range(self, v: Any) -> tuple[Matrix, Matrix]:
        """
        Return the least and the greatest torque at joint velocities, currents being steady [N m].

        A joint that is faster than the voltage can follow has a greatest torque that brakes it.

        Parameters
        ----------
        v : array_like, shape (n,) or (n_samples, n)
            Joint velocities [rad/s].

        """
        v = np.asarray(v)
        back_emf = self.volts_per_velocity * v
        limit = self.current_limit
        low = np.clip((-self.voltage_limit - back_emf) / self.resistance, -limit, limit)
        high = np.clip((self.voltage_limit - back_emf) / self.resistance, -limit, limit)
        return self.torque(low, v), self.torque(high, v)

    def saturated(self, tau: Any, v: Any) -> Matrix:
        """
        Return the torques that the drives give when these are asked for, in their shape [N m].

        Parameters
        ----------
        tau, v : array_like, shape (n,) or (n_samples, n)
            Wanted torques [N m] and joint velocities [rad/s].

        """
        low, high = self.torque_range(v)
        saturated: Matrix = np.clip(np.asarray(tau), low, high)
        return saturated

    @property
    def no_load_velocity(self) -> Vector:
        """Return the joint velocity at which the back-EMF takes the whole voltage [rad/s]."""
        return self.voltage_limit / self.volts_per_velocity

    @property
    def stall_torque(self) -> Vector:
        """Return the greatest torque at rest [N m]."""
        return self.torque_range(np.zeros(len(self.joint_names)))[1]


def _check(joint: str, key: str, value: float) -> None:
    is_limit = key in _LIMITS
    if not np.isfinite(value) and not (is_limit and value == np.inf):
        raise ConfigurationError(f"joint '{joint}': {key} is {value}, expected a finite number")
    if key in _NOT_NEGATIVE:
        if value < 0.0:
            raise ConfigurationError(f"joint '{joint}': {key} is {value:g}, expected >= 0")
    elif value <= 0.0:
        raise ConfigurationError(f"joint '{joint}': {key} is {value:g}, expected > 0")
    elif key == 'efficiency' and value > 1.0:
        raise ConfigurationError(f"joint '{joint}': {key} is {value:g}, expected <= 1")
