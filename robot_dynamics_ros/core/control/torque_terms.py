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
"""The torque of a motion, split into what it is needed for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.dynamics import (
    generalized_gravity_batch,
    nonlinear_effects_batch,
    rnea_batch,
)
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.robot_model import RobotModel


class TorqueTerms(NamedTuple):
    """
    Terms of ``tau = M(q) a + C(q, v) v + g(q) + tau_friction(v)``, each (n_samples, nv) [N m | N].

    Attributes
    ----------
    inertia, coriolis, gravity, friction : ndarray, shape (n_samples, nv)

    """

    inertia: Matrix
    coriolis: Matrix
    gravity: Matrix
    friction: Matrix

    @property
    def total(self) -> Matrix:
        """Return their sum."""
        total: Matrix = self.inertia + self.coriolis + self.gravity + self.friction
        return total


def torque_terms(
    model: RobotModel, q: Any, v: Any, a: Any, friction: FrictionModel | None = None
) -> TorqueTerms:
    """
    Compute the terms of the torque along a motion.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (n_samples, nq)
        Joint positions [rad | m].
    v, a : array_like, shape (n_samples, nv)
        Joint velocities and accelerations [rad/s | m/s, rad/s^2 | m/s^2].
    friction : FrictionModel, optional
        Friction; none by default.

    Returns
    -------
    terms : TorqueTerms

    Raises
    ------
    DimensionError
        If an array has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    total = rnea_batch(model, q, v, a)
    nonlinear = nonlinear_effects_batch(model, q, v)
    gravity = generalized_gravity_batch(model, q)
    rubbing = np.zeros_like(total) if friction is None else friction.torque(np.asarray(v))
    return TorqueTerms(total - nonlinear, nonlinear - gravity, gravity, rubbing)
