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
Friction of joints for simulation: viscous, Coulomb, Stribeck, and true sticking.

Sliding friction is

.. math:: \tau_f(v) = b\,v + \mathrm{sgn}(v)\,F(v), \qquad
          F(v) = F_c\,\bigl(1 + (r - 1)\,e^{-(v / v_S)^2}\bigr)

with the ratio `r` of static to Coulomb level. At ``v = 0`` the friction takes any value up to
``F(0)`` that is needed to keep the joint there. A joint with such a jump cannot be integrated as a
function of velocity: it would chatter. So each step solves for the velocity at its end, see
`stick_slip`.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.friction.friction_file import read_friction_file
from robot_dynamics_ros.core.friction.friction_values import (
    DEFAULT_STRIBECK_VELOCITY,
    friction_per_joint,
    require_stated_friction,
)

if TYPE_CHECKING:
    from robot_dynamics_ros.core.model.robot_model import RobotModel

_KEYS = ('viscous', 'coulomb_positive', 'coulomb_negative', 'static_ratio', 'stribeck_velocity')


@dataclass(frozen=True, eq=False)
class DryFriction:
    """
    Viscous, Coulomb and Stribeck friction of `n` degrees of freedom.

    Attributes
    ----------
    joint_names : tuple of str
    viscous : ndarray, shape (n,)
        Viscous friction [N m s/rad | N s/m].
    coulomb_positive, coulomb_negative : ndarray, shape (n,)
        Magnitude of the sliding friction for positive and for negative velocity [N m | N].
    static_ratio : ndarray, shape (n,)
        Static level over Coulomb level, >= 1.
    stribeck_velocity : ndarray, shape (n,)
        Velocity over which the static level falls to the Coulomb level [rad/s | m/s]. As for the
        others, a scalar counts for every joint.

    Raises
    ------
    ConfigurationError
        If a value is out of range or shapes differ.

    """

    joint_names: tuple[str, ...]
    viscous: Vector
    coulomb_positive: Vector
    coulomb_negative: Vector
    static_ratio: Vector
    stribeck_velocity: Vector

    def __post_init__(self) -> None:
        names = tuple(self.joint_names)
        object.__setattr__(self, 'joint_names', names)
        for key in _KEYS:
            object.__setattr__(self, key, friction_per_joint(names, key, getattr(self, key)))

    @classmethod
    def from_model(cls, model: RobotModel) -> DryFriction:
        """
        Return the friction of the robot's description, the static like the Coulomb level.

        Raises
        ------
        ConfigurationError
            If a value is negative or not finite, with the name of the joint, or if all are zero,
            as where the description does not state them.

        """
        require_stated_friction(model)
        level = model.friction
        one, stribeck = np.array(1.0), np.array(DEFAULT_STRIBECK_VELOCITY)
        return cls(model.v_names, model.damping, level, level, one, stribeck)

    @classmethod
    def from_file(cls, path: str | Path, joint_names: Sequence[str]) -> DryFriction:
        """
        Read the friction from a YAML file, see `friction_file`.

        Raises
        ------
        ConfigurationError
            If the file cannot be read or a value is refused; one line with file, joint and key.

        """
        joints = read_friction_file(path, joint_names)
        columns = (np.array([getattr(joint, key) for joint in joints]) for key in _KEYS)
        return cls(tuple(joint_names), *columns)

    @property
    def packed(self) -> Matrix:
        """Return the values as rows for the compiled step, in order, shape (5, n)."""
        return np.array([getattr(self, key) for key in _KEYS])

    def levels(self, v: Vector) -> tuple[Vector, Vector]:
        """
        Return the levels of the dry friction at the speeds of `v`, each of shape (n,), >= 0.

        The first counts for motion in the positive direction, the second for the negative one.

        """
        rise = 1.0 + (self.static_ratio - 1.0) * np.exp(-((v / self.stribeck_velocity) ** 2))
        return self.coulomb_positive * rise, self.coulomb_negative * rise

    def torque(self, v: Vector) -> Vector:
        """Return the torque of sliding friction, with the sign of `v`; zero at zero [N m | N]."""
        positive, negative = self.levels(v)
        dry: Vector = np.where(v > 0.0, positive, np.where(v < 0.0, -negative, 0.0))
        return self.viscous * v + dry
