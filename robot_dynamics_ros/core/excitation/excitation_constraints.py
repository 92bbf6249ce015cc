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
The limits of an excitation trajectory as smooth constraints, with their derivatives.

Each limit at all times is one constraint, :math:`1 - \mathrm{KS}(r) \ge 0`, with the utilisation
:math:`r` (1 at the limit) at the samples and

.. math:: \mathrm{KS}(r) = \tfrac{1}{\rho} \log \sum_k e^{\rho r_k} \ge \max_k r_k .

There is one for the position, velocity, acceleration and torque of each joint, and one for the
distance of each pair of solids.

References
----------
.. [1] G. Kreisselmeier, R. Steinhauser, "Systematic control design by optimizing a vector
   performance index", IFAC Symposium on Computer Aided Design of Control Systems, 1979.

"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.excitation.excitation_problem import ExcitationProblem
from robot_dynamics_ros.core.excitation.motion_derivatives import motion_derivatives

SHARPNESS = 200.0
"""Of the smooth maximum: 0.5 % of the limit is given away for each e-fold of times near it."""

NEAR = 0.1
"""Pairs are measured when they are this much above their clearance, or less [m]."""

LIMIT_RESERVE = 0.99
"""Share of the limits that is used at the samples: between them there may be a little more."""

TOLERANCE = 1e-3
"""Of the constraints, well within the reserves: optimisers end a little beside them."""

CLEARANCE_RESERVE = 0.005
"""What is added to the clearance at the samples [m]."""


@dataclass(frozen=True)
class ExcitationConstraints:
    """
    The constraints of a problem; feasible is where none is negative.

    Attributes
    ----------
    problem : ExcitationProblem
    clearance_reserve : float
        What is added to the clearance at the samples [m].

    """

    problem: ExcitationProblem
    clearance_reserve: float = CLEARANCE_RESERVE

    @cached_property
    def clearance(self) -> Vector:
        """Return the least distance of each pair at the samples, shape (n_pairs,) [m]."""
        scene = self.problem.scene
        if scene is None:
            return np.zeros(0)
        required = scene.required(self.problem.clearance)
        return required + np.minimum(self.clearance_reserve, 0.5 * scene.most)

    def utilisations(self, q: Matrix, v: Matrix, a: Matrix) -> dict[str, Matrix]:
        """
        Return how much of each limit is used, 1 at the limit, with signs.

        Returns
        -------
        used : dict of str to ndarray, shape (n_samples, nv)
            ``position`` (from the middle of the range), ``velocity``, ``acceleration`` and
            ``effort``.

        """
        limits = self.problem.limits
        return {
            'position': (q - limits.middle) / limits.half_range,
            'velocity': v / limits.velocity,
            'acceleration': a / limits.acceleration,
            'effort': self.problem.torques(q, v, a) / limits.effort,
        }

    def values(self, free: Matrix) -> Vector:
        """Return the constraints, shape (4 nv + n_pairs,)."""
        q, v, a = self.problem.motion(free)
        parts = [_slack(used) for used in self.utilisations(q, v, a).values()]
        if self.problem.scene is not None:
            distance = self.problem.scene.distances(q, self.clearance + NEAR)
            parts.append(1.0 - smooth_maximum(self._closeness(distance))[0])
        return np.concatenate(parts)

    def is_feasible(self, free: Matrix) -> bool:
        """Whether limits and clearance are kept at the samples."""
        q, v, a = self.problem.motion(free)
        if any((_slack(used) < -TOLERANCE).any() for used in self.utilisations(q, v, a).values()):
            return False
        if self.problem.scene is None:
            return True
        # Most collisions show in a few samples.
        for step in (len(q) // 4, len(q) // 16, 1):
            chosen = np.ascontiguousarray(q[:: max(1, step)])
            enough = self.clearance - TOLERANCE * NEAR
            if (self.problem.scene.distances(chosen, enough) < enough).any():
                return False
        return True

    def obstacles(self, free: Matrix) -> list[str]:
        """Return which joints break which limit, and which pairs come too near, as text."""
        q, v, a = self.problem.motion(free)
        found = [
            f"joint '{self.problem.limits.joint_names[j]}' is beyond its {key} limit"
            for key, used in self.utilisations(q, v, a).items()
            for j in np.flatnonzero(_slack(used) < -TOLERANCE)
        ]
        scene = self.problem.scene
        if scene is not None:
            near = (scene.distances(q, self.clearance) < self.clearance).any(axis=0)
            for one, other in (scene.names[k] for k in np.flatnonzero(near)):
                found.append(f"'{one}' and '{other}' are too near")
        return found

    def gradient(self, free: Matrix) -> Matrix:
        """Return the derivatives of the constraints, shape (n_constraints, *shape)."""
        problem = self.problem
        q, v, a = problem.motion(free)
        limits, used = problem.limits, self.utilisations(q, v, a)
        eye = np.eye(problem.n_joints)
        bounds = (limits.half_range, limits.velocity, limits.acceleration)
        rows = []
        for basis, key, bound in zip(problem.basis, used, bounds):
            slope = basis.T @ (_weights(used[key]) / bound)  # (n_free, nv)
            rows.append(np.einsum('sj,ij->isj', -slope, eye))
        weights = _weights(used['effort']) / limits.effort
        rows.append(np.zeros((problem.n_joints, *problem.shape)))
        for basis, slope in zip(problem.basis, motion_derivatives(problem.torques, q, v, a)):
            rows[-1] -= np.einsum('ks,ki,jki->isj', basis, weights, slope, optimize=True)
        if problem.scene is not None:
            distance, by_joint = problem.scene.distances_with_gradient(q, self.clearance + NEAR)
            closeness = self._closeness(distance)
            weights = smooth_maximum(closeness)[1] * (closeness > 0.0) / NEAR
            by_position = weights[:, :, np.newaxis] * by_joint  # (n_samples, n_pairs, nv)
            rows.append(np.einsum('ks,kpj->psj', problem.basis[0], by_position, optimize=True))
        return np.concatenate(rows)

    def _closeness(self, distance: Matrix) -> Matrix:
        """Return the utilisation of the room between pairs: 1 at the clearance, 0 when far."""
        return np.maximum(0.0, 1.0 - (distance - self.clearance) / NEAR)


def smooth_maximum(values: Matrix) -> tuple[Vector, Matrix]:
    """Return an upper bound of the largest value of each column, and its derivatives."""
    highest = values.max(axis=0)
    weight = np.exp(SHARPNESS * (values - highest))
    total = weight.sum(axis=0)
    return highest + np.log(total) / SHARPNESS, weight / total


def _slack(used: Matrix) -> Vector:
    """Return what is left of a limit for both signs."""
    return 1.0 - smooth_maximum(np.vstack((used, -used)) / LIMIT_RESERVE)[0]


def _weights(used: Matrix) -> Matrix:
    """Return the derivative of the used part of a limit by each sample."""
    weight = smooth_maximum(np.vstack((used, -used)) / LIMIT_RESERVE)[1]
    return np.asarray(weight[: len(used)] - weight[len(used) :]) / LIMIT_RESERVE
