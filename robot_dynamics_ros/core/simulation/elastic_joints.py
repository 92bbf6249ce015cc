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
Elastic joints: a spring and a damper between the motor, behind its gear, and the link.

With link positions `q` and motor positions :math:`\theta` (both on the joint's side of the gear)

.. math:: M(q)\,\ddot q + h(q, \dot q) = K (\theta - q) + D (\dot\theta - \dot q), \\
          B\,\ddot\theta + K (\theta - q) + D (\dot\theta - \dot q)
          = \tau - \tau_f(\dot\theta).

The inertial coupling between rotors and links is left out: the motors turn fast, and their
velocity is that of their own spin. A rigid joint has the rotor's inertia in the mass matrix
instead, as armature.

Around a configuration at rest, gravity aside, the modes are those of the pencil of

.. math:: \begin{bmatrix} K & -K \\ -K & K \end{bmatrix}, \qquad
          \begin{bmatrix} M(q) & 0 \\ 0 & B \end{bmatrix}.

References
----------
.. [1] M. W. Spong, "Modeling and control of elastic joint robots", J. Dyn. Sys. Meas. Control 109,
       1987.
.. [2] A. De Luca, W. Book, "Robots with flexible elements", Springer Handbook of Robotics, 2016,
       section 11.1.

"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from robot_dynamics_ros.core.arrays import as_real, frozen, Matrix, Vector
from robot_dynamics_ros.core.dynamics import crba
from robot_dynamics_ros.core.exceptions import ConfigurationError, UnknownJointError
from robot_dynamics_ros.core.model.robot_model import driven_joints, RobotModel


@dataclass(frozen=True, eq=False)
class ElasticJoints:
    """
    Elasticity of `n` joints; a scalar counts for every joint.

    Attributes
    ----------
    joint_names : tuple of str
    stiffness : ndarray, shape (n,)
        `K`; inf for a rigid joint [N m/rad | N/m].
    damping : ndarray, shape (n,)
        `D`, of the spring [N m s/rad | N s/m].
    motor_inertia : ndarray, shape (n,)
        `B`, the rotor's inertia on the joint's side of the gear; > 0 for an elastic joint [kg m^2
        | kg].

    Raises
    ------
    ConfigurationError
        If a value is out of range or shapes differ; the message names joint and value.
    NotNumericError
        If a value is not a real number.

    """

    joint_names: tuple[str, ...]
    stiffness: Vector
    damping: Vector
    motor_inertia: Vector

    def __post_init__(self) -> None:
        names = tuple(self.joint_names)
        object.__setattr__(self, 'joint_names', names)
        for key in ('stiffness', 'damping', 'motor_inertia'):
            array = as_real(key, getattr(self, key))
            if array.shape not in ((), (len(names),)):
                raise ConfigurationError(
                    f'{key} has shape {array.shape}, expected one number or {len(names)}'
                )
            object.__setattr__(self, key, frozen(np.broadcast_to(array, len(names))))
        for i, name in enumerate(names):
            _check(name, self.stiffness[i], self.damping[i], self.motor_inertia[i])

    @classmethod
    def from_model(cls, model: RobotModel, stiffness: Any, damping: Any = 0.0) -> ElasticJoints:
        """
        Return elastic joints whose motors have the armatures of the model as inertia.

        Raises
        ------
        ConfigurationError
            If a value is out of range, or an elastic joint has no armature.

        """
        return cls(model.v_names, stiffness, damping, model.armature)

    @classmethod
    def of_joints(
        cls, model: RobotModel, stiffness: Mapping[str, float], damping: Mapping[str, float]
    ) -> ElasticJoints:
        """
        Return elastic joints, given by name; the others are rigid.

        Raises
        ------
        ConfigurationError
            If a value is out of range, an elastic joint has no armature, or damping is given for a
            joint that is rigid.
        UnknownJointError
            If a name is not that of a joint of one coordinate.

        """
        names = driven_joints(model)
        for name in (*stiffness, *damping):
            if name not in names:
                raise UnknownJointError(name, names)
        for name in damping:
            if name not in stiffness:
                raise ConfigurationError(
                    f"joint '{name}': damping of an elastic joint needs its stiffness"
                )
        return cls.from_model(
            model,
            np.array([stiffness.get(name, np.inf) for name in model.v_names]),
            np.array([damping.get(name, 0.0) for name in model.v_names]),
        )

    @property
    def is_elastic(self) -> Any:
        """Return which joints are elastic, shape (n,)."""
        return np.isfinite(self.stiffness)

    @property
    def indices(self) -> Any:
        """Return the indices of the elastic joints, shape (n_elastic,)."""
        return np.flatnonzero(self.is_elastic)

    def link_model(self, model: RobotModel) -> RobotModel:
        """
        Return the robot whose armatures are the rotors of the rigid joints only.

        Raises
        ------
        ConfigurationError
            If the robot has other joints.

        """
        if self.joint_names != model.v_names:
            raise ConfigurationError(
                f'the elastic joints are {self.joint_names}, the robot has {model.v_names}'
            )
        return model.with_armature(np.where(self.is_elastic, 0.0, self.motor_inertia))

    def pencil(self, link_model: RobotModel, q: Any) -> tuple[Matrix, Matrix, Matrix]:
        """
        Return mass, damping and stiffness matrix of links and motors at rest, without gravity.

        The coordinates are the links and then the motors of the elastic joints, n + n_elastic.

        Parameters
        ----------
        link_model : RobotModel
            From `link_model`.
        q : array_like, shape (n,)
            Link positions [rad | m].

        Raises
        ------
        DimensionError, NonFiniteError
            If `q` is no finite vector with `n` entries.

        """
        n, index = len(self.joint_names), self.indices
        total = n + len(index)
        mass, damping, stiffness = np.zeros((3, total, total))
        mass[:n, :n] = crba(link_model, q)
        motors = np.arange(n, total)
        mass[motors, motors] = self.motor_inertia[index]
        for matrix, values in ((damping, self.damping), (stiffness, self.stiffness)):
            matrix[index, index] = matrix[motors, motors] = values[index]
            matrix[index, motors] = matrix[motors, index] = -values[index]
        return mass, damping, stiffness

    def natural_frequencies(self, model: RobotModel, q: Any) -> Vector:
        """
        Return the undamped natural frequencies, without gravity, in rising order [rad/s].

        There are n + n_elastic, of which `n` are zero: the robot may move as a whole.

        Raises
        ------
        ConfigurationError
            If the robot has other joints.
        DimensionError, NonFiniteError
            If `q` is no finite vector with `n` entries.

        """
        mass, _, stiffness = self.pencil(self.link_model(model), q)
        squares = eigh(stiffness, mass, eigvals_only=True)
        n = len(self.joint_names)
        squares[:n] = 0.0  # else the square root of rounding
        frequencies: Vector = np.sqrt(squares)
        return frequencies


def _check(joint: str, stiffness: float, damping: float, inertia: float) -> None:
    if not stiffness > 0.0:
        raise ConfigurationError(f"joint '{joint}': stiffness is {stiffness:g}, expected > 0")
    if not 0.0 <= damping < np.inf:
        raise ConfigurationError(f"joint '{joint}': damping is {damping:g}, expected >= 0")
    if not 0.0 <= inertia < np.inf:
        raise ConfigurationError(f"joint '{joint}': motor_inertia is {inertia:g}, expected >= 0")
    if inertia == 0.0 and stiffness < np.inf:
        raise ConfigurationError(
            f"joint '{joint}': an elastic joint needs a motor_inertia > 0 (the reflected inertia "
            'of its rotor); give it, or leave the joint rigid'
        )
