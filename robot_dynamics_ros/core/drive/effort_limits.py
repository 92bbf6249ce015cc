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
Limits of effort and velocity that a drive's data sheet states without its electrics.

A servo drive holds its velocity limit by taking torque away. Here the torque that drives a joint
falls linearly to zero over the last part of the velocity range, ``taper V``, and beyond `V` it
brakes:

.. math:: \tau_\mathrm{max}(\dot q) = \min\bigl(E,\ s\,(V - \dot q)\bigr) \ge -E, \qquad
          s = E / (\mathrm{taper}\;V)

and likewise below. In a simulation with steps of length `h` a slope above ``inertia / h`` would
make the joint swing about the limit; give that value as `largest_slope`.

"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.core.arrays import as_real, frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError

if TYPE_CHECKING:
    from robot_dynamics_ros.core.model.robot_model import RobotModel


@dataclass(frozen=True, eq=False)
class EffortLimits:
    """
    Saturation of the efforts of `n` joints.

    Attributes
    ----------
    joint_names : tuple of str
    effort : ndarray, shape (n,)
        Greatest effort `E`; inf where there is none [N m | N].
    velocity : ndarray, shape (n,)
        Velocity limit `V`; inf where there is none. It counts only where an effort limit is
        [rad/s | m/s].
    taper : float
        Part of the velocity range over which the effort falls, in (0, 1].

    Raises
    ------
    ConfigurationError
        If a limit is not positive, shapes differ, or the taper is out of range.
    NotNumericError
        If a limit is not a real number.

    """

    joint_names: tuple[str, ...]
    effort: Vector
    velocity: Vector
    taper: float = 0.1

    def __post_init__(self) -> None:
        names = tuple(self.joint_names)
        object.__setattr__(self, 'joint_names', names)
        for key in ('effort', 'velocity'):
            array = as_real(key, getattr(self, key))
            if array.shape not in ((), (len(names),)):
                raise ConfigurationError(
                    f'{key} has shape {array.shape}, expected one number or {len(names)}'
                )
            array = frozen(np.broadcast_to(array, len(names)))
            for name, value in zip(names, array.tolist()):
                if not value > 0.0:
                    raise ConfigurationError(f"joint '{name}': {key} is {value:g}, expected > 0")
            object.__setattr__(self, key, array)
        if not 0.0 < self.taper <= 1.0:
            raise ConfigurationError(f'taper is {self.taper:g}, expected > 0 and <= 1')

    @classmethod
    def from_model(cls, model: RobotModel, taper: float = 0.1) -> EffortLimits:
        """
        Return the limits that the robot's description states.

        Raises
        ------
        ConfigurationError
            If a stated limit is zero, or the taper is out of range.

        """
        effort, velocity = model.limits.effort, model.limits.velocity
        return cls(
            model.v_names,
            np.where(np.isnan(effort), np.inf, effort),
            np.where(np.isnan(velocity), np.inf, velocity),
            taper,
        )

    def effort_range(self, v: Any, largest_slope: Any = np.inf) -> tuple[Matrix, Matrix]:
        """
        Return the least and the greatest effort at velocities [N m | N].

        Parameters
        ----------
        v : array_like, shape (n,) or (n_samples, n)
            Velocities [rad/s | m/s].
        largest_slope : array_like, shape (n,), optional
            Bound of the slope `s`, as inertia over time step [N m s/rad | N s/m].

        """
        v = np.asarray(v)
        counts = np.isfinite(self.effort) & np.isfinite(self.velocity)
        top = np.where(counts, self.velocity, 1.0)
        slope = np.minimum(np.where(counts, self.effort, 0.0) / (self.taper * top), largest_slope)
        high = np.where(counts, slope * (top - v), np.inf)
        low = np.where(counts, -slope * (top + v), -np.inf)
        effort = self.effort
        return np.clip(low, -effort, effort), np.clip(high, -effort, effort)

    def saturated(self, tau: Any, v: Any, largest_slope: Any = np.inf) -> Matrix:
        """
        Return the efforts within the limits, in the shape of `tau` [N m | N].

        Parameters
        ----------
        tau, v : array_like, shape (n,) or (n_samples, n)
            Wanted efforts [N m | N] and velocities [rad/s | m/s].
        largest_slope : array_like, shape (n,), optional
            As for `effort_range`.

        """
        low, high = self.effort_range(v, largest_slope)
        saturated: Matrix = np.clip(np.asarray(tau), low, high)
        return saturated
