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
What a motion asks of the drives electrically: current, voltage, power and energy.

The torque of a trajectory gives the current, and with the velocity the voltage, for every sample.
The voltage of the inductance comes from the rate of the sampled current.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, as_matrix, frozen, Matrix, Vector
from robot_dynamics_ros.core.drive.motor import Drives
from robot_dynamics_ros.core.exceptions import TrajectoryError


@dataclass(frozen=True, eq=False)
class DriveDemand:
    """
    Electrical demand of a motion on each of `n` drives.

    Attributes
    ----------
    joint_names : tuple of str
    current, voltage : ndarray, shape (n_samples, n)
        [A] and [V].
    peak_current, rms_current, peak_voltage, peak_power : ndarray, shape (n,)
        Greatest magnitudes and root of the mean square [A, A, V, W].
    energy : ndarray, shape (n,)
        Electrical energy taken in, less what comes back [J].
    drawn_energy : ndarray, shape (n,)
        The part that is taken in; more if nothing can be fed back [J].
    copper_loss : ndarray, shape (n,)
        Heat in the windings [J].
    current_use, voltage_use : ndarray, shape (n,)
        Peaks over the limits; 0 where there is no limit.
    critical_joint : str
        Joint whose drive is nearest to a limit, or furthest beyond; empty without limits.
    overloaded : tuple of str
        Joints whose drives cannot do the motion.

    """

    joint_names: tuple[str, ...]
    current: Matrix
    voltage: Matrix
    peak_current: Vector
    rms_current: Vector
    peak_voltage: Vector
    peak_power: Vector
    energy: Vector
    drawn_energy: Vector
    copper_loss: Vector
    current_use: Vector
    voltage_use: Vector
    critical_joint: str
    overloaded: tuple[str, ...]


def drive_demand(drives: Drives, t: Vector, v: Matrix, tau: Matrix) -> DriveDemand:
    """
    Return what a sampled motion asks of the drives; integrals by the trapezoidal rule.

    Parameters
    ----------
    drives : Drives
        The drives.
    t : ndarray, shape (n_samples,)
        Times, increasing; two or more [s].
    v, tau : ndarray, shape (n_samples, n)
        Joint velocities [rad/s] and torques of the drives: with friction, and with what
        accelerates the rotors (`Drives.reflected_inertia` as armature of the model) [N m].

    Raises
    ------
    DimensionError
        If the shapes do not fit.
    NonFiniteError, NotNumericError
        If an entry is no finite number.
    TrajectoryError
        If there are less than two samples or the times do not increase.

    """
    t = as_finite('t', t, as_matrix('t', t, (-1,)).shape)
    shape = (len(t), len(drives.joint_names))
    v, tau = as_finite('v', v, shape), as_finite('tau', tau, shape)
    if len(t) < 2 or not (np.diff(t) > 0.0).all():
        raise TrajectoryError('the demand of drives needs two samples or more at rising times')
    current = drives.current(tau, v)
    voltage = drives.voltage(current, v, np.gradient(current, t, axis=0))
    power = voltage * current
    duration = t[-1] - t[0]
    peak_current, peak_voltage = np.abs(current).max(axis=0), np.abs(voltage).max(axis=0)
    current_use = peak_current / drives.current_limit
    voltage_use = peak_voltage / drives.voltage_limit
    use = np.maximum(current_use, voltage_use)
    has_limit = bool(len(use)) and bool(np.isfinite(drives.current_limit).any())
    has_limit |= bool(len(use)) and bool(np.isfinite(drives.voltage_limit).any())
    return DriveDemand(
        joint_names=drives.joint_names,
        current=frozen(current),
        voltage=frozen(voltage),
        peak_current=frozen(peak_current),
        rms_current=frozen(np.sqrt(_integral(t, current**2) / duration)),
        peak_voltage=frozen(peak_voltage),
        peak_power=frozen(np.abs(power).max(axis=0)),
        energy=frozen(_integral(t, power)),
        drawn_energy=frozen(_integral(t, np.maximum(power, 0.0))),
        copper_loss=frozen(_integral(t, drives.resistance * current**2)),
        current_use=frozen(current_use),
        voltage_use=frozen(voltage_use),
        critical_joint=drives.joint_names[int(use.argmax())] if has_limit else '',
        overloaded=tuple(n for n, u in zip(drives.joint_names, use.tolist()) if u > 1.0),
    )


def _integral(t: Vector, values: Matrix) -> Vector:
    dt = np.diff(t)[:, np.newaxis]
    integral: Vector = np.sum(dt * (values[1:] + values[:-1]), axis=0) / 2.0
    return integral
