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
The efforts that a control node computes from the files of an identification.

URDF and friction file hold less than what was fitted: no offset of a joint at rest, no offset
beyond the Coulomb level, no motor that turns with two joints, no static friction for commands.
With the friction :math:`\tau_f(v)` of the file their efforts are

.. math:: \hat\tau = Y(q, v, a)\,\beta_0 + \tau_f(v)

with the base parameters :math:`\beta_0` of bodies and rotors alone. The friction is one more
column of the regression, which passes the same filter as all others, so that files are judged on
the same rows as the fit.

"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.identification.identification_model import IdentificationModel


@dataclass(frozen=True, eq=False)
class ModelWithFileFriction(IdentificationModel):
    """
    A model with one more column: the friction of a file, whose parameter is 0 or 1.

    Attributes
    ----------
    friction : FrictionModel
        What the file says, joints in the order of the robot.

    """

    friction: FrictionModel

    @staticmethod
    def of(model: IdentificationModel, friction: FrictionModel) -> ModelWithFileFriction:
        """Return the model with the column."""
        own = {field.name: getattr(model, field.name) for field in fields(model)}
        return ModelWithFileFriction(**own, friction=friction)

    @cached_property
    def columns_of_joint(self) -> tuple[NDArray[np.intp], ...]:
        """For each degree of freedom: the columns that can differ from zero in its row."""
        last = np.array([self.base.rank], dtype=np.intp)
        return tuple(np.concatenate([own, last]) for own in super().columns_of_joint)

    def regressor(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """
        Compute the base regressor and the column, shape (n_samples, nv, base.rank + 1).

        Raises
        ------
        DimensionError, NonFiniteError
            As `IdentificationModel.regressor`.

        """
        own = super().regressor(q, v, a)
        return np.concatenate([own, self.friction.torque(v)[:, :, None]], axis=2)

    def without_file(self, base: Vector) -> Vector:
        """Return base parameters for these columns that leave the file out."""
        return np.append(base, 0.0)

    def with_file(self, parameters: Vector) -> Vector:
        """Return base parameters for these columns: bodies and rotors, and the file's friction."""
        bare = np.array(parameters)
        for k, term in enumerate(self.terms, start=self.n_inertial):
            if term.kind != 'rotor_inertia' or len(term.weights) > 1:
                bare[k] = 0.0
        return np.append(self.base.to_base(bare), 1.0)
