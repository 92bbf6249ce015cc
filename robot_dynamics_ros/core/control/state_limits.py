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

"""Limits on the measured motion: what forbids to arm, and what ends in a fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import any_true, frozen, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.robot_model import Limits


@dataclass(frozen=True, eq=False)
class StateLimits:
    """
    Positions and speeds that a robot under torque may have.

    Attributes
    ----------
    joint_names : tuple of str
    lower, upper : ndarray, shape (n,)
        Allowed positions, margin included [rad | m]; -inf and inf for none.
    speed : ndarray, shape (n,)
        Largest speed [rad/s | m/s]; inf for none.
    arming_speed : float
        Largest speed with which a robot may be put under torque [rad/s | m/s].

    Raises
    ------
    ConfigurationError
        If a lower bound is not below its upper one, or a speed is not positive.

    """

    joint_names: tuple[str, ...]
    lower: Vector
    upper: Vector
    speed: Vector
    arming_speed: float = inf

    def __post_init__(self) -> None:
        for key in ('lower', 'upper', 'speed'):
            values = np.asarray(getattr(self, key), dtype=np.float64)
            object.__setattr__(self, key, frozen(np.broadcast_to(values, len(self.joint_names))))
        for name, low, high, speed in zip(self.joint_names, self.lower, self.upper, self.speed):
            if not low < high:
                raise ConfigurationError(
                    f"no position is left for joint '{name}' between {low:g} and {high:g}: "
                    'the margin is too small'
                )
            if not speed > 0.0:
                raise ConfigurationError(f"speed of joint '{name}' is {speed:g}, expected > 0")
        if not self.arming_speed > 0.0:
            raise ConfigurationError(f'arming_speed is {self.arming_speed:g}, expected > 0')

    @classmethod
    def from_limits(
        cls,
        joint_names: Sequence[str],
        limits: Limits,
        *,
        position_margin: float = 0.0,
        velocity_factor: float = 1.0,
        arming_speed: float = inf,
    ) -> StateLimits:
        """
        Take the limits from the robot's description.

        Parameters
        ----------
        joint_names : sequence of str
            Joints in the order of `limits`.
        limits : Limits
            Their limits; what is not stated there is no limit.
        position_margin : float
            Way beyond a position limit that is still allowed [rad | m]; below zero, the way before
            it that no longer is.
        velocity_factor : float
            Allowed speed over the stated limit.
        arming_speed : float
            See the attributes.

        """
        return cls(
            tuple(joint_names),
            limits.lower - position_margin,
            limits.upper + position_margin,
            np.nan_to_num(velocity_factor * limits.velocity, nan=inf, posinf=inf),
            arming_speed,
        )

    def violation(self, q: Vector, v: Vector) -> str:
        """
        Return which joint is beyond a limit, or an empty text.

        Parameters
        ----------
        q, v : ndarray, shape (n,)
            Measured positions and velocities; NaN counts as inside.

        """
        outside = (q < self.lower) | (q > self.upper) | (abs(v) > self.speed)
        if not any_true(outside):
            return ''
        i = int(np.argmax(outside))
        name = self.joint_names[i]
        if abs(v[i]) > self.speed[i]:
            return f'{name} moves with {v[i]:.4g} rad/s or m/s, allowed are {self.speed[i]:.4g}'
        return (
            f'{name} is at {q[i]:.4g} rad or m, allowed are {self.lower[i]:.4g} to '
            f'{self.upper[i]:.4g}'
        )

    def obstacle(self, q: Any, v: Any) -> str:
        """
        Return what forbids to put the robot under torque, or an empty text.

        Parameters
        ----------
        q, v : array_like, shape (n,)
            Measured positions and velocities; NaN for one that is not known.

        """
        q, v = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
        for name, position, speed in zip(self.joint_names, q, abs(v)):
            if not isfinite(position):
                return f'the position of {name} is not known'
            if not isfinite(speed) and self.arming_speed < inf:
                return f'the speed of {name} is not known'
            if speed > self.arming_speed:
                return (
                    f'{name} moves with {speed:.4g} rad/s or m/s, the robot must be slower than '
                    f'{self.arming_speed:g}'
                )
        return self.violation(q, v)
