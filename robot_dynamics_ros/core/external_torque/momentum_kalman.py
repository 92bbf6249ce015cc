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
External joint torque as the Kalman filter of the generalized momentum sees it.

The sum `s` of the impulses of `momentum_balance` is what the external torque `f` has done to the
momentum. It is measured with noise, most of which comes from the measured velocities, and `f` is
taken to wander:

.. math:: \dot s = f, \qquad \dot f = w, \qquad z_k = s_k + e_k .

With the noise of `z` white at a density of 1 per second and that of `w` at :math:`\omega^4`, the
filter that has settled is the Butterworth filter of second order with the bandwidth :math:`\omega`

.. math:: \hat f = \frac{\omega^2}{s^2 + \sqrt{2}\, \omega s + \omega^2}\, \tau_{ext},

whatever the true size of the noise: only the ratio of the two counts, and one covariance serves
all joints. Noise on the velocities passes with :math:`\sqrt{\omega^3 T / (2 \sqrt 2)}` of its
size in momentum, against :math:`K` for the observer of first order, which lets it pass at once:
for the same delay of a step the noise is about half. The covariance is carried along with the
true time between messages, so that the filter is stable for any.

References
----------
.. [1] A. Wahrburg, J. Boes, K. D. Listmann, F. Dai, B. Matthias, H. Ding, "Motor-current-based
   estimation of Cartesian contact forces and torques for robotic manipulators and its application
   to force control", IEEE Trans. on Automation Science and Engineering 15(2), 2018.

"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.jit import entry_point, inner, kernel

# Entries of the covariance
_SS = 0
_SF = 1
_FF = 2


@inner
def kalman_gains(bandwidth: float, dt: float, covariance: Vector) -> tuple[float, float]:
    """Move the covariance on to the next measurement; return the gains of sum and torque."""
    noise = 1.0 / dt
    q = bandwidth * bandwidth
    q *= q
    ss = covariance[_SS]
    sf = covariance[_SF]
    ff = covariance[_FF]
    ss += dt * (2.0 * sf + dt * (ff + q * dt / 3.0))
    sf += dt * (ff + 0.5 * q * dt)
    ff += q * dt
    gain_s = ss / (ss + noise)
    gain_f = sf / (ss + noise)
    covariance[_SS] = ss - gain_s * ss
    covariance[_SF] = sf - gain_s * sf
    covariance[_FF] = ff - gain_f * sf
    return gain_s, gain_f


@inner
def kalman_update(
    gain_s: float, gain_f: float, dt: float, impulse: Vector, offset: Vector, tau_ext: Vector
) -> None:
    """Move torque and offset (of the measured sum from the expected one) of all joints on."""
    for j in range(impulse.size):
        innovation = offset[j] + impulse[j] - tau_ext[j] * dt
        offset[j] = innovation - gain_s * innovation
        tau_ext[j] += gain_f * innovation


@kernel
def kalman_kernel(
    bandwidth: float,
    dt: float,
    impulse: Vector,
    covariance: Vector,
    offset: Vector,
    tau_ext: Vector,
) -> None:
    """Move the filter of all joints on by one impulse."""
    gain_s, gain_f = kalman_gains(bandwidth, dt, covariance)
    kalman_update(gain_s, gain_f, dt, impulse, offset, tau_ext)


def settled_covariance(bandwidth: float) -> Vector:
    """Return the entries of the covariance that has settled, for short times between messages."""
    root = sqrt(2.0)
    return np.array([root * bandwidth, bandwidth**2, root * bandwidth**3])


class MomentumKalmanFilter:
    """
    External torque of `n` joints from impulses.

    Parameters
    ----------
    n : int
        Number of joints.
    bandwidth : float
        Of all joints, > 0 [rad/s].

    Attributes
    ----------
    tau_ext : ndarray, shape (n,)
        External torque; it acts on the robot like `tau`. Written in place [N m | N].

    Raises
    ------
    ConfigurationError
        If the bandwidth is not positive and finite.

    """

    def __init__(self, n: int, bandwidth: float) -> None:
        if not 0.0 < bandwidth < np.inf:
            raise ConfigurationError(f'bandwidth is {bandwidth:g} rad/s, expected > 0')
        self.bandwidth = float(bandwidth)
        self.tau_ext = np.zeros(n)
        self._offset = np.zeros(n)
        self._covariance: Matrix = settled_covariance(self.bandwidth)
        self._kernel = entry_point(kalman_kernel, *self._arguments(1e-3, np.zeros(n)))
        self.reset()

    def _arguments(self, dt: float, impulse: Vector) -> tuple[Any, ...]:
        return (self.bandwidth, dt, impulse, self._covariance, self._offset, self.tau_ext)

    def reset(self) -> None:
        """Begin afresh with no external torque."""
        self.tau_ext.fill(0.0)
        self._offset.fill(0.0)
        self._covariance[:] = settled_covariance(self.bandwidth)

    def step(self, dt: float, impulse: Vector) -> None:
        """
        Take in the impulse of one message.

        Parameters
        ----------
        dt : float
            Its duration, > 0 [s].
        impulse : ndarray, shape (n,)
            See `MomentumBalance` [N m s | N s].

        """
        self._kernel(*self._arguments(float(dt), impulse))
