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
Friction of joints for simulation: viscous, Coulomb, Stribeck, under load, and true sticking.

Sliding friction is

.. math:: \tau_f(v) = b\,v + \mathrm{sgn}(v)\,F(v), \qquad
          F(v) = (F_c + c\,|\tau_\mathrm{load}|)\,\bigl(1 + (r - 1)\,e^{-(v / v_S)^2}\bigr)

with the ratio `r` of static to Coulomb level. Viscous friction `b` and Coulomb level :math:`F_c`
may differ between the directions. The load is the torque that the transmission carries, as in a
gear whose teeth are pressed together; whoever simulates gives it anew for each step. All terms
have the sign of `v`: friction only takes energy.

At ``v = 0`` the friction takes any value up to ``F(0)`` that is needed to keep the joint there. A
joint with such a jump cannot be integrated as a function of velocity: it would chatter. So each
step solves for the velocity at its end, see `rigid_contact`.

References
----------
.. [1] B. Armstrong-Helouvry, P. Dupont, C. Canudas de Wit, "A survey of models, analysis tools
       and compensation methods for the control of machines with friction", Automatica 30, 1994.
.. [2] A. C. Bittencourt, S. Gunnarsson, "Static friction in a robot joint: modeling and
       identification of load and temperature effects", J. Dyn. Sys. Meas. Control 134, 2012.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.friction.friction_file import read_friction_file
from robot_dynamics_ros.core.friction.friction_values import (
    DEFAULT_STRIBECK_VELOCITY,
    friction_per_joint,
    require_stated_friction,
    viscous_per_joint,
)

if TYPE_CHECKING:
    from robot_dynamics_ros.core.model.robot_model import RobotModel

_KEYS = (
    'coulomb_positive',
    'coulomb_negative',
    'static_ratio',
    'stribeck_velocity',
    'load_coefficient',
)
_ROWS = ('viscous', *_KEYS[:4], 'viscous_negative')


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
    load_coefficient : ndarray, shape (n,)
        Rise of the Coulomb level for each N m | N of load; zero by default.
    viscous_negative : ndarray, shape (n,)
        Viscous friction for negative velocity; like `viscous` unless it is given.

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
    load_coefficient: Vector = field(default_factory=partial(np.array, 0.0))
    viscous_negative: Vector = field(default_factory=partial(np.empty, 0))

    def __post_init__(self) -> None:
        names = tuple(self.joint_names)
        object.__setattr__(self, 'joint_names', names)
        viscous, backward = viscous_per_joint(names, self.viscous, self.viscous_negative)
        object.__setattr__(self, 'viscous', viscous)
        object.__setattr__(self, 'viscous_negative', backward)
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
        keys = ('viscous', *_KEYS, 'backward_viscous')
        columns = (np.array([getattr(joint, key) for joint in joints]) for key in keys)
        return cls(tuple(joint_names), *columns)

    @property
    def packed(self) -> Matrix:
        """
        Return the law without load as rows for the compiled step, shape (6, n).

        The rows are `viscous`, `coulomb_positive`, `coulomb_negative`, `static_ratio`,
        `stribeck_velocity` and `viscous_negative`; `loaded` raises the levels.

        """
        return np.array([getattr(self, key) for key in _ROWS])

    def levels(self, v: Vector, load: Any = 0.0) -> tuple[Vector, Vector]:
        """
        Return the levels of the dry friction at the speeds of `v`, each in its shape, >= 0.

        The first counts for motion in the positive direction, the second for the negative one.

        Parameters
        ----------
        v : ndarray, shape (n,) or (n_samples, n)
            Velocities [rad/s | m/s].
        load : array_like, in a shape that fits
            Load of either sign [N m | N].

        """
        rise = 1.0 + (self.static_ratio - 1.0) * np.exp(-((v / self.stribeck_velocity) ** 2))
        loaded = self.load_coefficient * np.abs(load)
        return (self.coulomb_positive + loaded) * rise, (self.coulomb_negative + loaded) * rise

    def torque(self, v: Vector, load: Any = 0.0) -> Vector:
        """Return the torque of sliding friction, with the sign of `v`; zero at zero [N m | N]."""
        positive, negative = self.levels(v, load)
        dry: Vector = np.where(v > 0.0, positive, np.where(v < 0.0, -negative, 0.0))
        return np.where(v < 0.0, self.viscous_negative, self.viscous) * v + dry

    def loaded(self, load: Any) -> Matrix:
        """
        Return the rows of `packed` for joints under load, shape (6, n).

        Parameters
        ----------
        load : array_like, shape (n,)
            Load of either sign [N m | N].

        Raises
        ------
        DimensionError, NonFiniteError, NotNumericError
            If the load is no finite vector with `n` entries.

        """
        law = self.packed
        load = as_finite('load', load, (len(self.joint_names),))
        law[1:3] += self.load_coefficient * np.abs(load)
        return law
