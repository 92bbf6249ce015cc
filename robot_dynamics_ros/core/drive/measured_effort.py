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

"""What a robot means by the effort of its joint states."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError


class EffortSemantics(str, Enum):
    """Meaning of a measured effort."""

    TORQUE = 'torque'
    """Torque or force of the joint, gravity included."""
    CURRENT = 'current'
    """Current of the motor [A]."""
    GRAVITY_COMPENSATED = 'gravity_compensated'
    """Torque or force of the joint, less what carries the robot's weight."""


class MeasuredEffort:
    """
    Turn measured efforts into torques.

    Parameters
    ----------
    semantics : EffortSemantics or str
    n : int
        Number of joints.
    torque_constants : array_like, shape (n,), optional
        Torque of the motor over its current [N m/A]; needed for currents, and only for them.
    gear_ratios : array_like, shape (n,), optional
        Speed of the motor over that of the joint; negative where they turn in opposite directions,
        1 by default.

    Raises
    ------
    ConfigurationError
        If the semantics are unknown, a constant is missing, not positive or not needed, or a ratio
        is zero.

    """

    def __init__(
        self,
        semantics: EffortSemantics | str,
        n: int,
        torque_constants: Any = None,
        gear_ratios: Any = None,
    ) -> None:
        try:
            self.semantics = EffortSemantics(semantics)
        except ValueError as error:
            choices = ', '.join(choice.value for choice in EffortSemantics)
            raise ConfigurationError(
                f"effort_semantics '{semantics}' is not one of: {choices}"
            ) from error
        is_current = self.semantics is EffortSemantics.CURRENT
        if is_current != (torque_constants is not None):
            raise ConfigurationError(
                'effort_semantics current needs torque_constants'
                if is_current
                else f'torque_constants are given, but effort_semantics is {self.semantics.value}'
            )
        if gear_ratios is not None and not is_current:
            raise ConfigurationError(
                f'gear_ratios are given, but effort_semantics is {self.semantics.value}'
            )
        self._factor = np.ones(n)
        if is_current:
            constants = as_finite('torque_constants', torque_constants, (n,))
            ratios = np.ones(n) if gear_ratios is None else gear_ratios
            ratios = as_finite('gear_ratios', ratios, (n,))
            if (constants <= 0.0).any() or (ratios == 0.0).any():
                raise ConfigurationError(
                    'torque_constants must be > 0, and gear_ratios other than 0'
                )
            self._factor = constants * ratios

    @property
    def unit(self) -> str:
        """Return the unit of the measured effort."""
        return 'A' if self.semantics is EffortSemantics.CURRENT else 'N m | N'

    def torque(self, effort: Vector, gravity: Vector) -> Vector:
        """
        Return the torque of the joints, gravity included.

        Parameters
        ----------
        effort : ndarray, shape (..., n)
            Measured efforts [`unit`].
        gravity : ndarray, shape (..., n)
            Torque that carries the robot's weight there [N m | N].

        Returns
        -------
        tau : ndarray, shape (..., n)
            [N m | N]

        """
        if self.semantics is EffortSemantics.GRAVITY_COMPENSATED:
            return effort + gravity
        return effort * self._factor
