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
External joint torque by the observer of the generalized momentum.

The residual follows the external torque as a filter of first order for each joint,

.. math:: \dot r = K (\tau_{ext} - r), \qquad
          r = K \left( p - p_0 - \int (\tau - \tau_f + C^T v - g + r)\, dt \right),

without accelerations. Over a message that comes `dt` after the last one, with the mean of the
external torque :math:`w / dt` from the impulse of `momentum_balance`, its exact solution is

.. math:: r_k = e^{-K dt}\, r_{k-1} + (1 - e^{-K dt})\, w_k / dt,

which is stable for any gain and any time between messages.

Noise `s` on the velocities makes noise of about :math:`K M s` in `r`; noise `e` on the efforts at
the period `T` makes :math:`e \sqrt{K T / 2}`. The first grows faster: a gain of 20 to 50 1/s is a
good choice for arms that measure velocity with some 1e-3 rad/s.

Near rest friction is a range (see `friction_interval`). The residual then is one, too: ``r`` with
the same filter of the half widths to either side. What friction cannot explain is called external,
no more: the point of the range next to zero.

References
----------
.. [1] A. De Luca, R. Mattone, "Sensorless robot collision detection and hybrid force/motion
   control", IEEE Int. Conf. on Robotics and Automation, 2005.
.. [2] S. Haddadin, A. De Luca, A. Albu-Schaeffer, "Robot collisions: a survey on detection,
   isolation, and identification", IEEE Trans. on Robotics 33(6), 2017, section IV.

"""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.external_torque.momentum_balance import MomentumBalance
from robot_dynamics_ros.core.jit import entry_point, kernel

DEFAULT_GAIN = 30.0
"""Of the observer [1/s]."""


@kernel
def observer_kernel(
    gain: Vector,
    dt: float,
    impulse: Vector,
    slack: Vector,
    residual: Vector,
    half_width: Vector,
    tau_ext: Vector,
) -> None:
    """Move the residual and its half width on, and write what friction cannot explain."""
    for j in range(gain.size):
        keep = exp(-gain[j] * dt)
        residual[j] = keep * residual[j] + (1.0 - keep) * impulse[j] / dt
        half_width[j] = keep * half_width[j] + (1.0 - keep) * slack[j] / dt
        beyond = max(abs(residual[j]) - half_width[j], 0.0)
        tau_ext[j] = beyond if residual[j] >= 0.0 else -beyond


class MomentumObserver:
    """
    External torque of every joint.

    Parameters
    ----------
    balance : MomentumBalance
        Where its impulses come from.
    gain : float or array_like, shape (nv,)
        Gain `K`, one for all joints or one for each; the time constant is its inverse [1/s].

    Attributes
    ----------
    tau_ext : ndarray, shape (nv,)
        External torque, as far as friction cannot explain it; it acts on the robot like `tau`.
        Written in place [N m | N].
    residual : ndarray, shape (nv,)
        The residual `r` with the middle of the range of friction; in place [N m | N].
    half_width : ndarray, shape (nv,)
        How far it may be off either way because the joint may stick; in place [N m | N].

    Raises
    ------
    ConfigurationError
        If a gain is not positive and finite, or there are neither one nor `nv`.

    """

    def __init__(self, balance: MomentumBalance, gain: Any = DEFAULT_GAIN) -> None:
        n = balance.model.nv
        gains = np.asarray(gain, dtype=np.float64)
        if gains.shape not in ((), (n,)):
            raise ConfigurationError(f'gain has shape {gains.shape}, expected one number or {n}')
        if not ((gains > 0.0) & (gains < np.inf)).all():
            raise ConfigurationError(f'gain is {gain}, expected > 0 and finite [1/s]')
        self.balance = balance
        self.gain: Vector = np.broadcast_to(gains, n).copy()
        self.residual = np.zeros(n)
        self.half_width = np.zeros(n)
        self.tau_ext = np.zeros(n)
        self._kernel = entry_point(observer_kernel, *self._arguments(1.0))
        self.reset()

    def _arguments(self, dt: float) -> tuple[Any, ...]:
        balance = self.balance
        return (
            self.gain,
            dt,
            balance.impulse,
            balance.slack,
            self.residual,
            self.half_width,
            self.tau_ext,
        )

    def reset(self) -> None:
        """Begin afresh with no external torque."""
        for array in (self.residual, self.half_width, self.tau_ext):
            array.fill(0.0)

    def kept(self, time: float) -> Vector:
        """Return which part of its old value each residual keeps in a time [s], shape (nv,)."""
        kept: Vector = np.exp(-time * self.gain)
        return kept

    def update(self) -> None:
        """Take in the impulse that the balance holds; without one the observer begins afresh."""
        dt = self.balance.dt
        if dt > 0.0:
            self._kernel(*self._arguments(dt))
        else:
            self.reset()

    def step(self, time: float, q: Any, v: Any, tau: Any) -> bool:
        """
        Take in one message, see `MomentumBalance.step`; return whether there is an estimate.

        Raises
        ------
        DimensionError
            If a vector has another shape.

        """
        has_impulse = self.balance.step(time, q, v, tau)
        self.update()
        return has_impulse
