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
Joint friction after Dahl: a hysteresis that depends on the displacement alone.

.. math:: \frac{dF}{dx} = \sigma_0\,\Bigl|1 - \frac{F}{F_c} \mathrm{sgn}\,\dot x\Bigr|^p\,
          \mathrm{sgn}\Bigl(1 - \frac{F}{F_c} \mathrm{sgn}\,\dot x\Bigr)

with the stiffness :math:`\sigma_0` at ``F = 0`` and an exponent `p` that shapes the loop: 1 for
most materials, less for brittle ones. There is no static level above the Coulomb level. Time step:
`bristle_step`.

References
----------
.. [1] P. R. Dahl, *A solid friction model*, Aerospace Corporation TOR-0158, 1968.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_file import read_friction_file
from robot_dynamics_ros.core.friction.friction_values import (
    friction_per_joint,
    require_brush_levels,
    stated_stiffness,
)


@dataclass(frozen=True, eq=False)
class DahlFriction:
    """
    Friction of `n` degrees of freedom after Dahl, with viscous friction.

    Attributes
    ----------
    sliding : DryFriction
        The friction in steady sliding; its static levels are its Coulomb levels.
    bristle_stiffness : ndarray, shape (n,)
        Stiffness against small displacements, a scalar counts for every joint [N m/rad | N/m].
    exponent : ndarray, shape (n,)
        The exponent `p`, >= 0; 1 by default.

    Raises
    ------
    ConfigurationError
        If a value is out of range, shapes differ, a joint has dry friction in one direction only,
        or a static level above the Coulomb level.

    """

    sliding: DryFriction
    bristle_stiffness: Vector
    exponent: Vector = field(default_factory=partial(np.array, 1.0))

    def __post_init__(self) -> None:
        law = self.sliding
        require_brush_levels(self.joint_names, law.coulomb_positive, law.coulomb_negative)
        for name, ratio in zip(self.joint_names, law.static_ratio.tolist()):
            if ratio != 1.0:
                raise ConfigurationError(
                    f"joint '{name}': static_ratio is {ratio:g}, but Dahl's model has no static "
                    "level above the Coulomb level; expected 1, or take LuGre's model"
                )
        for key in ('bristle_stiffness', 'exponent'):
            values = friction_per_joint(self.joint_names, key, getattr(self, key))
            object.__setattr__(self, key, values)

    @classmethod
    def from_file(cls, path: str | Path, joint_names: Sequence[str]) -> DahlFriction:
        """
        Read the friction from a YAML file, see `friction_file`; the exponent is 1.

        Raises
        ------
        ConfigurationError
            If the file cannot be read, a value is refused, or a joint has no `bristle_stiffness`.

        """
        joints = read_friction_file(path, joint_names)
        stiffness = stated_stiffness(path, joint_names, [j.bristle_stiffness for j in joints])
        return cls(DryFriction.from_file(path, joint_names), stiffness)

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
        n = len(self.joint_names)
        rest = (self.bristle_stiffness, np.zeros(n), self.exponent)
        return np.vstack((self.sliding.packed, *rest))
