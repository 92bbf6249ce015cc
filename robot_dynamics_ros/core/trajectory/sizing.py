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

"""What a motion asks of each drive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.arrays import as_matrix, frozen, Matrix, Vector


@dataclass(frozen=True, eq=False)
class SizingMetrics:
    """
    What a motion asks of each of `n` drives.

    Attributes
    ----------
    peak_torque : ndarray, shape (n,)
        Greatest magnitude of the torque [N m | N].
    rms_torque : ndarray, shape (n,)
        Root of the mean square of the torque over the cycle [N m | N].
    peak_velocity : ndarray, shape (n,)
        Greatest speed [rad/s | m/s].
    peak_power : ndarray, shape (n,)
        Greatest magnitude of torque times velocity [W].
    energy : ndarray, shape (n,)
        Integral of the magnitude of the power [J].

    """

    peak_torque: Vector
    rms_torque: Vector
    peak_velocity: Vector
    peak_power: Vector
    energy: Vector


def sizing_metrics(t: Vector, v: Matrix, tau: Matrix) -> SizingMetrics:
    """
    Return the metrics of a sampled motion; integrals by the trapezoidal rule.

    Parameters
    ----------
    t : ndarray, shape (n_samples,)
        Times, increasing [s].
    v, tau : ndarray, shape (n_samples, n)
        Velocities [rad/s | m/s] and torques [N m | N].

    Raises
    ------
    DimensionError
        If the shapes do not fit.

    """
    v = as_matrix('v', v, (len(t), -1))
    tau = as_matrix('tau', tau, v.shape)
    power = np.abs(tau * v)
    dt = np.diff(t)[:, np.newaxis]
    mean_square = np.sum(dt * (tau[1:] ** 2 + tau[:-1] ** 2), axis=0) / (2.0 * (t[-1] - t[0]))
    return SizingMetrics(
        peak_torque=frozen(np.abs(tau).max(axis=0)),
        rms_torque=frozen(np.sqrt(mean_square)),
        peak_velocity=frozen(np.abs(v).max(axis=0)),
        peak_power=frozen(power.max(axis=0)),
        energy=frozen(np.sum(dt * (power[1:] + power[:-1]), axis=0) / 2.0),
    )
