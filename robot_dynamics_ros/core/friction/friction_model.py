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
Friction of joints as a smooth function of velocity, for commands.

.. math:: \tau_f(v) = b\,v + F_c(\mathrm{sgn}\,v)\,\tanh(v / v_s)

with viscous friction `b` and a Coulomb level `F_c` that may differ between the two directions. It
has the sign of `v`: it is what the actuator must add. Its slope is nowhere more than ``b + F_c /
v_s``, so that noise on `v` near zero does not become chatter. Load-dependent levels are left out:
a command compensates the friction of the unloaded joint.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.friction.friction_file import JointFriction, read_friction_file
from robot_dynamics_ros.core.friction.friction_values import (
    DEFAULT_SMOOTHING_VELOCITY,
    friction_per_joint,
    require_stated_friction,
    viscous_per_joint,
)

if TYPE_CHECKING:
    from robot_dynamics_ros.core.model.robot_model import RobotModel


TERMS = ('viscous', 'viscous_negative', 'coulomb_positive', 'coulomb_negative')
"""What makes up the friction of a joint, by its names here and in friction files."""


@dataclass(frozen=True, eq=False)
class FrictionModel:
    """
    Viscous and smooth Coulomb friction of `n` degrees of freedom.

    Attributes
    ----------
    joint_names : tuple of str
    viscous : ndarray, shape (n,)
        Viscous friction [N m s/rad | N s/m].
    coulomb_positive, coulomb_negative : ndarray, shape (n,)
        Magnitude of the Coulomb friction for positive and for negative velocity [N m | N].
    smoothing_velocity : ndarray, shape (n,)
        Scale `v_s` of the smooth transition [rad/s | m/s]. As for the others, a scalar counts for
        every joint.
    viscous_negative : ndarray, shape (n,)
        Viscous friction for negative velocity; like `viscous` unless it is given.
    is_symmetric : bool
        Whether both directions have the same friction.

    Raises
    ------
    ConfigurationError
        If a value is negative or not finite, a smoothing velocity is not positive, or shapes
        differ.

    """

    joint_names: tuple[str, ...]
    viscous: Vector
    coulomb_positive: Vector
    coulomb_negative: Vector
    smoothing_velocity: Vector
    viscous_negative: Vector = field(default_factory=partial(np.empty, 0))
    is_symmetric: bool = field(init=False)

    def __post_init__(self) -> None:
        names = tuple(self.joint_names)
        object.__setattr__(self, 'joint_names', names)
        viscous, backward = viscous_per_joint(names, self.viscous, self.viscous_negative)
        object.__setattr__(self, 'viscous', viscous)
        object.__setattr__(self, 'viscous_negative', backward)
        for key in ('coulomb_positive', 'coulomb_negative', 'smoothing_velocity'):
            object.__setattr__(self, key, friction_per_joint(names, key, getattr(self, key)))
        symmetric = np.array_equal(self.coulomb_positive, self.coulomb_negative)
        symmetric = symmetric and np.array_equal(viscous, backward)
        object.__setattr__(self, 'is_symmetric', symmetric)

    @classmethod
    def from_model(
        cls, model: RobotModel, smoothing_velocity: float = DEFAULT_SMOOTHING_VELOCITY
    ) -> FrictionModel:
        """
        Return the friction that the robot's description states (``<dynamics damping friction>``).

        Raises
        ------
        ConfigurationError
            If a value is negative or not finite, with the name of the joint, or if all are zero,
            as where the description does not state them.

        """
        require_stated_friction(model)
        level = model.friction
        return cls(model.v_names, model.damping, level, level, np.array(smoothing_velocity))

    @classmethod
    def from_file(cls, path: str | Path, joint_names: Sequence[str]) -> FrictionModel:
        """
        Read the friction from a YAML file, see `friction_file`.

        Raises
        ------
        ConfigurationError
            If the file cannot be read or a value is refused; one line with file, joint and key.

        """
        return cls.from_joints(dict(zip(joint_names, read_friction_file(path, joint_names))))

    @classmethod
    def from_joints(cls, joints: Mapping[str, JointFriction]) -> FrictionModel:
        """
        Return the friction of joints as friction files state it, in the order given.

        What a file says beside viscous and Coulomb friction is no part of this law.

        Raises
        ------
        ConfigurationError
            If a value is refused, with the name of the joint.

        """
        values = joints.values()
        return cls(
            tuple(joints),
            np.array([joint.viscous for joint in values]),
            np.array([joint.coulomb_positive for joint in values]),
            np.array([joint.coulomb_negative for joint in values]),
            np.array([joint.smoothing_velocity for joint in values]),
            np.array([joint.backward_viscous for joint in values]),
        )

    def torque(self, v: Vector) -> Vector:
        """
        Return the friction torque, in the shape of `v` and with its sign [N m | N].

        Parameters
        ----------
        v : ndarray, shape (n,) or (n_samples, n)
            Joint velocities [rad/s | m/s].

        """
        if not self.is_symmetric:
            terms = [getattr(self, term) for term in TERMS]
            return directed_torque(v, terms, self.smoothing_velocity)
        torque: Vector = np.tanh(v / self.smoothing_velocity)
        torque *= self.coulomb_positive
        torque += self.viscous * v
        return torque


def directed_torque(v: Vector, terms: Sequence[Vector] | Matrix, smoothing: Vector) -> Vector:
    """
    Return friction torque that may differ between the directions, with the sign of `v` [N m | N].

    Parameters
    ----------
    v : ndarray, shape (n,) or (n_samples, n)
        Joint velocities [rad/s | m/s].
    terms : sequence of four ndarray, shape (n,)
        Those of `TERMS`, in their order.
    smoothing : ndarray, shape (n,)
        Scale of the smooth transition [rad/s | m/s].

    """
    viscous, backward, level, level_backward = terms
    is_backward = v < 0.0
    torque: Vector = np.tanh(v / smoothing)
    torque *= np.where(is_backward, level_backward, level)
    torque += np.where(is_backward, backward, viscous) * v
    return torque
