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
The optimisation problem of an excitation trajectory: variables, motion and loss.

Variables are the free coefficients of a Fourier series of each joint (`fourier`), so that
positions, velocities and accelerations at fixed times are linear in them. The loss and the
constraints (`excitation_constraints`) are functions of the motion at these times; their
derivatives by the variables are those by the samples, times the basis. Derivatives by a sample
need the regressor at neighbouring states only:

.. math:: \frac{\partial L}{\partial q_j(t_k)} = \Bigl\langle \frac{\partial L}{\partial Y_k},
    \frac{\partial Y_k}{\partial q_j} \Bigr\rangle

which takes five evaluations of the regressor for each joint, however many harmonics there are: it
is linear in the acceleration, and central differences do for the rest.

References
----------
.. [1] J. Swevers et al., "Optimal robot excitation and identification", IEEE Transactions on
   Robotics and Automation 13(5), 1997.

"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, frozen, Matrix, Vector
from robot_dynamics_ros.core.dynamics import rnea_batch
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.excitation.clearance import ClearanceScene
from robot_dynamics_ros.core.excitation.information import information_loss, OBJECTIVES
from robot_dynamics_ros.core.excitation.motion_derivatives import contracted_derivatives
from robot_dynamics_ros.core.excitation.motion_limits import MotionLimits
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.identification.identification_model import IdentificationModel
from robot_dynamics_ros.core.trajectory.fourier import FourierSeries, rest_motion_basis

SAMPLES_PER_HARMONIC = 40
"""In a period: of the highest harmonic, that many samples make one oscillation."""


@dataclass(frozen=True, eq=False)
class ExcitationProblem:
    """
    What is to be optimised.

    Attributes
    ----------
    model : IdentificationModel
        The parameters that are to be seen; its smooth signs need a width.
    limits : MotionLimits
    friction : FrictionModel or None
        Part of the torques.
    scene : ClearanceScene or None
        Pairs that must not come near each other.
    period : float
        Of the series [s].
    harmonics : int
    noise : ndarray, shape (nv,)
        Standard deviation of the measured efforts; only the ratios matter for the condition.
    clearance : float
        Least distance of all pairs [m].
    objective : str
        One of `OBJECTIVES`.

    Raises
    ------
    ConfigurationError
        If the objective is unknown, a value is out of its range or there are fewer samples than
        parameters.
    DimensionError
        If there is not one noise for each joint.
    NonFiniteError
        If one is not finite.

    """

    model: IdentificationModel
    limits: MotionLimits
    friction: FrictionModel | None
    scene: ClearanceScene | None
    period: float
    harmonics: int
    noise: Vector
    clearance: float = 0.02
    objective: str = 'condition'

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise ConfigurationError(
                f"objective '{self.objective}' is not one of: {', '.join(OBJECTIVES)}"
            )
        noise = as_finite('noise of the efforts', self.noise, (self.n_joints,))
        object.__setattr__(self, 'noise', frozen(noise))
        if not (noise > 0.0).all() or not 0.0 < self.period < np.inf or self.clearance < 0.0:
            raise ConfigurationError(
                'an excitation needs noise > 0, a period > 0 and a clearance >= 0, got '
                f'{noise.min():g}, {self.period:g} s and {self.clearance:g} m'
            )

    @property
    def n_joints(self) -> int:
        """Return the number of joints."""
        return self.model.robot.nv

    @property
    def rank(self) -> int:
        """Return the number of base parameters."""
        return self.model.base.rank

    @property
    def shape(self) -> tuple[int, int]:
        """Return the shape of the free coefficients."""
        return (2 * self.harmonics - 1, self.n_joints)

    @cached_property
    def times(self) -> Vector:
        """Return the times of the samples in a period [s]."""
        fewest = -(-2 * self.rank // self.n_joints)
        count = max(SAMPLES_PER_HARMONIC * self.harmonics, fewest)
        return frozen(self.period * np.arange(count) / count)

    @cached_property
    def basis(self) -> tuple[Matrix, Matrix, Matrix]:
        """Return what the motion at the samples is linear in, see `rest_motion_basis`."""
        return rest_motion_basis(self.times, self.period, self.harmonics)

    @cached_property
    def scale(self) -> Matrix:
        """Return what a unit of each variable stands for, shape `shape`."""
        rows = np.tile(self.limits.velocity, (self.shape[0], 1))
        rows[0] = self.limits.half_range
        return frozen(rows)

    def series(self, free: Matrix) -> FourierSeries:
        """Return the motion of free coefficients."""
        return FourierSeries.from_free(self.period, free)

    def motion(self, free: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """Return positions, velocities and accelerations at the samples, (n_samples, nv)."""
        position, velocity, acceleration = self.basis
        return position @ free, velocity @ free, acceleration @ free

    def torques(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """Return the torques with friction, shape (n_samples, nv) [N m | N]."""
        tau = rnea_batch(self.model.robot, q, v, a)
        return tau if self.friction is None else tau + self.friction.torque(v)

    def weighted_regressor(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """Return the stacked regressor, rows divided by the noise, shape (n_rows, rank)."""
        rows = self.model.regressor(q, v, a) / self.noise[:, np.newaxis]
        return rows.reshape(-1, self.rank)

    def loss(self, free: Matrix) -> float:
        """Return what is minimised, see `information_loss`."""
        weighted = self.weighted_regressor(*self.motion(free))
        return information_loss(weighted.T @ weighted, self.objective)[0]

    def loss_gradient(self, free: Matrix) -> Matrix:
        """Return the derivative of the loss by the free coefficients, shape `shape`."""
        q, v, a = self.motion(free)
        weighted = self.weighted_regressor(q, v, a)
        _, by_gram = information_loss(weighted.T @ weighted, self.objective)
        by_rows = (2.0 * weighted @ by_gram).reshape(len(q), self.n_joints, self.rank)
        by_rows /= self.noise[:, np.newaxis]
        by_motion = contracted_derivatives(self.model.regressor, q, v, a, by_rows)
        gradient = np.zeros(self.shape)
        for basis, part in zip(self.basis, by_motion):
            gradient += basis.T @ part
        return gradient
