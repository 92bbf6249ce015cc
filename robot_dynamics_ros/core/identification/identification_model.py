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
The model whose parameters are identified: bodies, friction, rotors, and their regressor.

.. math:: \tau = Y(q, v, a)\,\pi + \sum_k c_k(v, a)\,\phi_k

with the inertial parameters :math:`\pi` of every body and the terms of `joint_columns`. Of all
these columns only independent ones are kept (`base_parameters`), so that a rotor about the first
axis is added to the inertia of the first link, and so on; the projection leads back.

"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import as_finite, frozen, Matrix, Vector
from robot_dynamics_ros.core.dynamics import dynamic_parameters, joint_torque_regressor_batch
from robot_dynamics_ros.core.identification.base_parameters import (
    base_parameters,
    BaseParameters,
    random_positions,
    STRUCTURAL_TOLERANCE,
)
from robot_dynamics_ros.core.identification.joint_columns import (
    candidate_terms,
    joint_terms,
    JointTerm,
    ModelStructure,
)
from robot_dynamics_ros.core.identification.parameter_names import (
    inertial_parameter_names,
    INERTIAL_UNITS,
)
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.core.model.robot_model import require_single_joints, RobotModel

STATES = 300
"""Random states that show which columns are independent."""


@dataclass(frozen=True, eq=False)
class IdentificationModel:
    """
    A robot and the terms that its efforts are explained with; make it with `identification_model`.

    Attributes
    ----------
    robot : RobotModel
        Its inertial parameters and friction are the prior; its armature is not looked at.
    structure : ModelStructure
        Which terms there are.
    velocities : tuple of float
        Width of the smooth sign for each degree of freedom [rad/s | m/s]; 0 is the sign itself.
    terms : tuple of JointTerm
        The columns after the inertial ones.
    base : BaseParameters
        Independent columns and combinations.

    """

    robot: RobotModel
    structure: ModelStructure
    velocities: tuple[float, ...]
    terms: tuple[JointTerm, ...]
    base: BaseParameters

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all parameters, ``link/parameter`` and ``joint/term``."""
        return self.base.names

    @property
    def units(self) -> tuple[str, ...]:
        """Return the units of all parameters."""
        return (*self.robot.nbodies * INERTIAL_UNITS, *(term.unit for term in self.terms))

    @property
    def n_inertial(self) -> int:
        """Return the number of inertial parameters, which come first."""
        return 10 * self.robot.nbodies

    @cached_property
    def prior(self) -> Vector:
        """Return what the robot's description says, for all parameters."""
        robot = self.robot
        stated = {'viscous': robot.damping, 'coulomb': robot.friction}
        stated['rotor_inertia'] = robot.armature
        values = [
            float(stated[term.kind][term.weights[0][0]])
            if term.kind in stated and len(term.weights) == 1
            else 0.0
            for term in self.terms
        ]
        return frozen(np.concatenate([dynamic_parameters(robot), values]))

    @cached_property
    def nonnegative(self) -> NDArray[np.bool_]:
        """Mark the terms of drives that cannot be negative, shape (p - n_inertial,)."""
        return np.array([term.is_nonnegative for term in self.terms], dtype=bool)

    @cached_property
    def columns_of_joint(self) -> tuple[NDArray[np.intp], ...]:
        """For each degree of freedom: the base columns that can differ from zero in its row."""
        of_joint = []
        for j in range(self.robot.nv):
            present = [
                k
                for k, column in enumerate(self.base.independent)
                if column < self.n_inertial
                or any(j == joint for joint, _ in self.terms[column - self.n_inertial].weights)
            ]
            of_joint.append(np.array(present, dtype=np.intp))
        return tuple(of_joint)

    def regressor(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """
        Compute the base regressor of many samples.

        Parameters
        ----------
        q, v, a : ndarray, shape (n_samples, nv)
            Joint positions, velocities and accelerations.

        Returns
        -------
        Y : ndarray, shape (n_samples, nv, base.rank)
            ``Y @ base.to_base(parameters)`` are the efforts [N m | N].

        Raises
        ------
        DimensionError
            If an array has another shape.
        NonFiniteError
            If an entry is NaN or infinite.

        """
        leading = np.array(self.base.independent, dtype=np.intp)
        inertial = leading[leading < self.n_inertial]
        full = joint_torque_regressor_batch(self.robot, q, v, a)
        regressor = np.zeros((len(full), self.robot.nv, len(leading)))
        regressor[:, :, : len(inertial)] = full[:, :, inertial]
        for k, column in enumerate(leading[len(inertial) :], start=len(inertial)):
            _deal(self.terms[column - self.n_inertial], v, a, regressor[:, :, k])
        return regressor

    def efforts(self, parameters: Vector, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """
        Compute the efforts that all parameters stand for, shape (n_samples, nv) [N m | N].

        Raises
        ------
        DimensionError
            If an array has another shape.
        NonFiniteError
            If an entry is NaN or infinite.

        """
        parameters = as_finite('parameters', parameters, (len(self.names),))
        return self.base_efforts(self.base.to_base(parameters), q, v, a)

    def base_efforts(self, base: Vector, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """
        Compute the efforts that base parameters stand for, shape (n_samples, nv) [N m | N].

        Raises
        ------
        DimensionError
            If an array has another shape.
        NonFiniteError
            If an entry is NaN or infinite.

        """
        blocks = range(0, max(1, len(q)), 4096)
        parts = [slice(start, start + 4096) for start in blocks]
        return np.concatenate([self.regressor(q[s], v[s], a[s]) @ base for s in parts])


def identification_model(
    robot: RobotModel,
    structure: ModelStructure | None = None,
    velocities: tuple[float, ...] = (),
    tolerance: float = STRUCTURAL_TOLERANCE,
) -> IdentificationModel:
    """
    Make the model of a robot for identification.

    Parameters
    ----------
    robot : RobotModel
        With joints of one coordinate.
    structure : ModelStructure, optional
        Which terms there are; viscous and Coulomb friction, offset and rotor by default.
    velocities : tuple of float
        Width of the smooth sign for each degree of freedom [rad/s | m/s]; without any, signs are
        sharp.
    tolerance : float
        With which independent columns are told from others, see `base_parameters`.

    Raises
    ------
    ModelError
        If a joint has several coordinates.
    ConfigurationError
        If a coupling names a joint that does not exist, or the tolerance is out of its range.
    DimensionError, NonFiniteError
        If there is not one width for each degree of freedom, or one is not finite.

    """
    structure = structure or ModelStructure()
    widths = as_finite('velocities', velocities or robot.nv * (0.0,), (robot.nv,))
    chosen = tuple(float(width) for width in widths)
    terms = joint_terms(robot.v_names, linear_joints(robot), structure, chosen)
    return _model_of_terms(robot, structure, chosen, terms, tolerance)


def candidate_model(
    robot: RobotModel, structure: ModelStructure, widths: tuple[float, ...]
) -> IdentificationModel:
    """
    Make the model with the terms of every width of the smooth sign, for a choice among them.

    Raises
    ------
    ModelError
        If a joint has several coordinates.
    ConfigurationError
        If a coupling names a joint that does not exist.

    """
    terms = candidate_terms(robot.v_names, linear_joints(robot), structure, widths)
    return _model_of_terms(robot, structure, (), terms, STRUCTURAL_TOLERANCE)


def linear_joints(robot: RobotModel) -> tuple[bool, ...]:
    """
    Return for each degree of freedom whether it is a slide.

    Raises
    ------
    ModelError
        If a joint has several coordinates.

    """
    require_single_joints(robot, 'identification')
    linear = {j.v_index for j in robot.joints if j.type is JointType.PRISMATIC and not j.mimic}
    return tuple(j in linear for j in range(robot.nv))


def _model_of_terms(
    robot: RobotModel,
    structure: ModelStructure,
    velocities: tuple[float, ...],
    terms: tuple[JointTerm, ...],
    tolerance: float,
) -> IdentificationModel:
    names = (*inertial_parameter_names(robot), *(term.name for term in terms))
    base = base_parameters(_random_regressor(robot, terms), names, tolerance)
    return IdentificationModel(robot, structure, velocities, terms, base)


def _random_regressor(robot: RobotModel, terms: tuple[JointTerm, ...]) -> Matrix:
    """Return the stacked regressor of random states, slow ones among them, all columns."""
    rng = np.random.default_rng(0)
    q = random_positions(robot, STATES, rng)
    v, a = rng.normal(size=(2, STATES, robot.nv))
    # Speeds of every order of magnitude, so that signs of every width look different.
    v *= np.geomspace(1e-3, 1.0, STATES)[:, None]
    regressor = np.zeros((STATES, robot.nv, 10 * robot.nbodies + len(terms)))
    regressor[:, :, : 10 * robot.nbodies] = joint_torque_regressor_batch(robot, q, v, a)
    for k, term in enumerate(terms, start=10 * robot.nbodies):
        _deal(term, v, a, regressor[:, :, k])
    return regressor.reshape(STATES * robot.nv, -1)


def _deal(term: JointTerm, v: Matrix, a: Matrix, columns: Matrix) -> None:
    """Write one term to the rows of the joints that it acts on."""
    values = term.values(v, a)
    for joint, weight in term.weights:
        columns[:, joint] = weight * values
