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
A mobile base on two driven wheels, with the limit of their grip.

The state is the pose :math:`(x, y, \theta)` of the axle's midpoint, its forward speed :math:`u`,
the yaw rate :math:`\omega`, and the angles :math:`\varphi` and rates :math:`p` of the wheels. The
axle does not move sideways. With the traction :math:`F` of the ground on the left and the right
wheel and a centre of mass :math:`d` ahead of the axle

.. math::
   m\,(\dot u - d\,\omega^2) &= F_l + F_r \\
   I\,\dot\omega + m\,d\,u\,\omega &= \tfrac b2 (F_r - F_l) \\
   J\,\dot p_i &= \tau_i - c\,p_i - r\,F_i

A wheel grips while its slip :math:`s_i = r\,p_i - (u \mp \tfrac b2 \omega)` is zero and
:math:`|F_i| \le \mu N`; else :math:`F_i = \mu N\,\mathrm{sign}(s_i)`; see `wheel_grip`.

References
----------
.. [1] R. Dhaouadi, A. Abu Hatab, "Dynamic Modelling of Differential-Drive Mobile Robots using
   Lagrange and Newton-Euler Methodologies", Advances in Robotics & Automation 2(2), 2013 (without
   slip).

"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from robot_dynamics_ros.core.arrays import as_finite
from robot_dynamics_ros.core.exceptions import ConfigurationError, NonFiniteError
from robot_dynamics_ros.core.simulation.wheel_grip import WheelGrip

Pair = tuple[float, float]
"""A number for the left wheel and one for the right wheel."""


@dataclass(frozen=True)
class DifferentialDriveState:
    """
    State of a `DifferentialDrive`.

    Attributes
    ----------
    x, y, heading : float
        Pose of the axle's midpoint in the world [m, rad]; the heading counts its turns.
    wheel_angles : tuple of float
        Angles of the left and the right wheel [rad], positive forward.
    forward_speed, yaw_rate : float
        Speed of the axle's midpoint [m/s] and rate of the heading [rad/s].
    wheel_rates : tuple of float
        Rates of the left and the right wheel [rad/s].
    tractions : tuple of float
        Forces of the ground on the left and the right wheel at the end of the step, positive
        forward [N].
    lateral_force : float
        Force of the ground on the axle to the left at the end of the step [N].
    slipping : tuple of bool
        Whether the left and the right wheel slip.
    time : float
        Simulated time [s].

    """

    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0
    wheel_angles: Pair = (0.0, 0.0)
    forward_speed: float = 0.0
    yaw_rate: float = 0.0
    wheel_rates: Pair = (0.0, 0.0)
    tractions: Pair = (0.0, 0.0)
    lateral_force: float = 0.0
    slipping: tuple[bool, bool] = (False, False)
    time: float = 0.0


@dataclass(frozen=True)
class DifferentialDrive:
    """
    Parameters of a base on two driven wheels; castors count with their mass only.

    Attributes
    ----------
    mass : float
        Mass of all, wheels included [kg].
    yaw_inertia : float
        Inertia of all about the vertical through the axle's midpoint [kg m^2].
    wheel_radius, track : float
        Radius of the wheels and distance between them [m].
    wheel_inertia : float
        Inertia of one wheel about its axle, with the rotor behind its gear [kg m^2].
    com_offset : float
        Distance of the centre of mass ahead of the axle [m].
    viscous : float
        Viscous friction of one wheel [N m s/rad].
    friction : float
        Coefficient of friction between wheels and ground; infinite for wheels that never slip. It
        limits the traction alone: the force that keeps the axle from moving sideways comes on top.
    wheel_load : float
        Force that presses each wheel to the ground [N]; half of the weight by default.

    Raises
    ------
    ConfigurationError
        If a parameter is not possible; the message names it.

    Examples
    --------
    >>> base = DifferentialDrive(20.0, 0.8, 0.1, 0.4, 0.02, viscous=0.5)
    >>> state = base.step(DifferentialDriveState(), [1.0, 1.0], 30.0)
    >>> print(f'{state.forward_speed:.3f} m/s')  # r tau / c
    0.200 m/s

    """

    mass: float
    yaw_inertia: float
    wheel_radius: float
    track: float
    wheel_inertia: float
    com_offset: float = 0.0
    viscous: float = 0.0
    friction: float = inf
    wheel_load: float | None = None

    def __post_init__(self) -> None:
        for name in ('mass', 'yaw_inertia', 'wheel_radius', 'track', 'wheel_inertia'):
            self._require(name, 0.0 < getattr(self, name) < inf, 'a finite number > 0')
        self._require('com_offset', isfinite(self.com_offset), 'a finite number')
        self._require('viscous', 0.0 <= self.viscous < inf, 'a finite number >= 0')
        self._require('friction', self.friction >= 0.0, 'a number >= 0')
        load = 0.5 * self.mass * 9.81 if self.wheel_load is None else self.wheel_load
        object.__setattr__(self, 'wheel_load', load)
        self._require('wheel_load', 0.0 <= load < inf, 'a finite number >= 0')
        least = self.mass * self.com_offset**2
        if self.yaw_inertia < least:
            raise ConfigurationError(
                f'yaw_inertia is {self.yaw_inertia:g} kg m^2, expected at least mass '
                f'com_offset^2 = {least:g}: it is about the axle, not about the centre of mass'
            )

    def _require(self, name: str, is_good: bool, expected: str) -> None:
        if not is_good:
            raise ConfigurationError(f'{name} is {getattr(self, name)}, expected {expected}')

    @property
    def grip(self) -> float:
        """Return the largest traction of a wheel [N]."""
        return inf if self.friction == inf else self.friction * float(self.wheel_load or 0.0)

    def kinetic_energy(self, state: DifferentialDriveState) -> float:
        """Return the kinetic energy of base and wheels [J]."""
        wheels = sum(rate**2 for rate in state.wheel_rates)
        return 0.5 * (
            self.mass * state.forward_speed**2
            + self.yaw_inertia * state.yaw_rate**2
            + self.wheel_inertia * wheels
        )

    def slips(self, state: DifferentialDriveState) -> Pair:
        """Return the speed of each wheel's rim over the ground, positive if it spins [m/s]."""
        return WheelGrip(self).slips(*state.wheel_rates, state.forward_speed, state.yaw_rate)

    def rolling(
        self, forward_speed: float = 0.0, yaw_rate: float = 0.0, **fields: Any
    ) -> DifferentialDriveState:
        """Return a state in which both wheels roll without slip, other fields as given."""
        half = 0.5 * self.track * yaw_rate
        return DifferentialDriveState(
            forward_speed=forward_speed,
            yaw_rate=yaw_rate,
            wheel_rates=(
                (forward_speed - half) / self.wheel_radius,
                (forward_speed + half) / self.wheel_radius,
            ),
            **fields,
        )

    def step(self, state: DifferentialDriveState, tau: Any, dt: float) -> DifferentialDriveState:
        """
        Move on under wheel torques that are held.

        Parameters
        ----------
        state : DifferentialDriveState
            State at the start.
        tau : array_like, shape (2,)
            Torques on the left and the right wheel, positive forward [N m].
        dt : float
            Time [s]; it is divided as the motion needs.

        Returns
        -------
        state : DifferentialDriveState
            State at the end.

        Raises
        ------
        ConfigurationError
            If `dt` is not positive.
        DimensionError
            If there are not two torques.
        NonFiniteError
            If a torque or the new state is not finite.
        NotNumericError
            If the torques are not real numbers.

        """
        left, right = (float(value) for value in as_finite('tau', tau, (2,)))
        if not 0.0 < dt < inf:
            raise ConfigurationError(f'dt is {dt} s, expected > 0')
        wheels, torques = WheelGrip(self), (left, right)
        start = (
            state.x, state.y, state.heading, *state.wheel_angles,
            *state.wheel_rates, state.forward_speed, state.yaw_rate,
        )  # fmt: skip
        try:
            y, modes = wheels.advance(start, torques, float(dt))
        except (ValueError, OverflowError) as error:  # the cosine of an infinite heading
            raise NonFiniteError('the simulated state', f' at {state.time + dt:.6g} s') from error
        if not all(isfinite(value) for value in y):
            raise NonFiniteError('the simulated state', f' at {state.time + dt:.6g} s')
        tractions = wheels.tractions(y, torques, modes)
        turn = wheels.rates(y, torques, tractions)[8]
        return DifferentialDriveState(
            x=y[0],
            y=y[1],
            heading=y[2],
            wheel_angles=(y[3], y[4]),
            wheel_rates=(y[5], y[6]),
            forward_speed=y[7],
            yaw_rate=y[8],
            tractions=tractions,
            lateral_force=self.mass * (self.com_offset * turn + y[7] * y[8]),
            slipping=(modes[0] != 0, modes[1] != 0),
            time=state.time + dt,
        )
