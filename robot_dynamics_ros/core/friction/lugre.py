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
Joint friction after LuGre: sticking that is elastic, for simulation.

Below the level of dry friction a joint with bristles gives way like a spring of stiffness
:math:`\sigma_0`, with hysteresis; beyond it the joint slides along the Stribeck curve of
`DryFriction`. The model and its time step are in `bristle_step`.

References
----------
.. [1] C. Canudas de Wit, H. Olsson, K. J. Astrom, P. Lischinsky, "A new model for control of
       systems with friction", IEEE Trans. Automatic Control 40, 1995.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_file import read_friction_file
from robot_dynamics_ros.core.friction.friction_values import (
    friction_per_joint,
    require_brush_levels,
    stated_stiffness,
)


@dataclass(frozen=True, eq=False)
class LuGreFriction:
    """
    Bristle friction of `n` degrees of freedom.

    Attributes
    ----------
    sliding : DryFriction
        The friction in steady sliding, with its levels.
    bristle_stiffness : ndarray, shape (n,)
        Stiffness against small displacements, a scalar counts for every joint [N m/rad | N/m].
    bristle_damping : ndarray, shape (n,)
        Damping of small displacements [N m s/rad | N s/m]. About ``2 sqrt(stiffness inertia)``
        lets a joint that stops come to rest without swinging.

    Raises
    ------
    ConfigurationError
        If a value is out of range, shapes differ, or a joint has dry friction in one direction
        only.

    """

    sliding: DryFriction
    bristle_stiffness: Vector
    bristle_damping: Vector

    def __post_init__(self) -> None:
        require_brush_levels(
            self.joint_names, self.sliding.coulomb_positive, self.sliding.coulomb_negative
        )
        for key in ('bristle_stiffness', 'bristle_damping'):
            values = friction_per_joint(self.joint_names, key, getattr(self, key))
            object.__setattr__(self, key, values)

    @classmethod
    def from_file(cls, path: str | Path, joint_names: Sequence[str]) -> LuGreFriction:
        """
        Read the friction from a YAML file, see `friction_file`.

        Raises
        ------
        ConfigurationError
            If the file cannot be read, a value is refused, or a joint has no `bristle_stiffness`.

        """
        joints = read_friction_file(path, joint_names)
        stiffness = stated_stiffness(path, joint_names, [j.bristle_stiffness for j in joints])
        damping = np.array([joint.bristle_damping for joint in joints])
        return cls(DryFriction.from_file(path, joint_names), stiffness, damping)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Return the names of the joints."""
        return self.sliding.joint_names

    @property
    def load_coefficient(self) -> Vector:
        """Return the rise of the Coulomb level for each N m | N of load, shape (n,)."""
        return self.sliding.load_coefficient

    @property
    def packed(self) -> Matrix:
        """Return the law as rows for the compiled step, shape (9, n); see `bristle_step`."""
        rest = (self.bristle_stiffness, self.bristle_damping, np.ones(len(self.joint_names)))
        return np.vstack((self.sliding.packed, *rest))

    @property
    def is_passive(self) -> bool:
        """Whether the model takes energy without its damping being bounded, see `bristle_step`."""
        law = self.sliding
        need = self.bristle_damping * (law.static_ratio - 1.0)
        return bool((np.minimum(law.viscous, law.viscous_negative) >= need).all())

    def torque(self, z: Vector, v: Vector, load: Any = 0.0) -> Vector:
        """
        Return the friction torque of the continuous model [N m | N].

        Parameters
        ----------
        z, v : ndarray, shape (n,)
            Deflection of the bristles and velocity [rad | m, rad/s | m/s].
        load : array_like, in a shape that fits
            Load of either sign [N m | N].

        """
        viscous = np.where(v < 0.0, self.sliding.viscous_negative, self.sliding.viscous)
        damped = self.bristle_damping * self.deflection_rate(z, v, load)
        torque: Vector = self.bristle_stiffness * z + damped + viscous * v
        return torque

    def deflection_rate(self, z: Vector, v: Vector, load: Any = 0.0) -> Vector:
        """Return the rate of the deflection in the continuous model [rad/s | m/s]."""
        positive, negative = self.sliding.levels(v, load)
        level = np.where(v < 0.0, negative, positive)
        slides = np.abs(v) * self.bristle_stiffness * z
        rate: Vector = v - np.divide(slides, level, out=np.array(v, float), where=level > 0.0)
        return rate
