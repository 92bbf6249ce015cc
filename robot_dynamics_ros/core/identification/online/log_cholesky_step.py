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
The possible body that fits quadratic information best, by steps in log-Cholesky coordinates.

Every positive definite pseudo-inertia is :math:`P = U U^T` with

.. math:: U = e^\alpha \begin{bmatrix}
          e^{d_1} & s_{12} & s_{13} & t_1 \\ & e^{d_2} & s_{23} & t_2 \\
          & & e^{d_3} & t_3 \\ & & & 1 \end{bmatrix}

for exactly one :math:`\theta = (\alpha, d, s, t)`, and each of these ten numbers may have any
value: no step leaves what is possible. They are kept to bodies of a size that can be held: where
:math:`e^{d_i}` vanishes, so do the slopes, and no step leads back. Minimised is

.. math:: \|R\,\varphi(\theta) - z\|^2 + \lambda\,D(P(\theta) \| P_0)

with the information `R`, `z` on the ten parameters and the divergence of `possible_bodies` from
a prior, whose Hessian makes the steps of Gauss-Newton well posed. A step that does not decrease
it is made shorter, with more damping. In the ten parameters the sum is convex, in the coordinates
it is not: `best_body` begins elsewhere where that is better.

References
----------
.. [1] C. Rucker, P. Wensing, "Smooth Parameterization of Rigid-Body Inertia", IEEE RA-L 7(2),
   2022.
.. [2] J. Nocedal, S. Wright, *Numerical Optimization*, 2nd ed., 2006, section 10.3
   (Levenberg-Marquardt).

"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.identification.possible_bodies import (
    body_pseudo_inertia,
    parameters_of_pseudo_inertia,
    SIZE,
)

LARGEST_DAMPING = 1e8
"""With which a step that still does not help is given up."""

LONGEST = 2.0
"""Largest change of a coordinate in a step, relative to the body's size."""

_LOWEST = np.array([-6.0, -7.0, -7.0, -7.0, *(-5.0 for _ in range(6))])
_HIGHEST = np.array([6.0, 2.0, 2.0, 2.0, *(5.0 for _ in range(6))])
# Root of the mass from 2 mg to 160 t; sizes from 1 mm to 7 m.

_LINEAR = np.column_stack(
    [parameters_of_pseudo_inertia(unit.reshape(4, 4)) for unit in np.eye(16)]
)
_UPPER = ((0, 1), (1, 2), (0, 2))


@dataclass(frozen=True, eq=False)
class BodyProblem:
    """
    What is minimised.

    Attributes
    ----------
    root : ndarray, shape (r, 10)
        ``R``.
    right : ndarray, shape (r,)
        ``z``.
    prior : ndarray, shape (10,)
        A possible body.
    weight : float
        Of the prior, more than 0.

    """

    root: Matrix
    right: Vector
    prior: Vector
    weight: float = 1.0

    @cached_property
    def prior_inverse(self) -> Matrix:
        """Return the inverse of the prior's pseudo-inertia, shape (4, 4)."""
        return np.asarray(np.linalg.inv(body_pseudo_inertia(self.prior)))


def log_cholesky(parameters: Vector) -> Vector:
    """Return the ten coordinates of a possible body."""
    turned = np.linalg.cholesky(body_pseudo_inertia(parameters)[::-1, ::-1])[::-1, ::-1]
    scale = turned[3, 3]
    unit = turned / scale
    upper = [unit[i, j] for i, j in _UPPER]
    return np.array([np.log(scale), *np.log(np.diag(unit)[:3]), *upper, *unit[:3, 3]])


def body_of(theta: Vector) -> tuple[Vector, Matrix]:
    """Return the ten parameters of coordinates and their Jacobian, shapes (10,) and (10, 10)."""
    root = _root_of(theta)
    return _LINEAR @ (root @ root.T).ravel(), _LINEAR @ _changes(root).reshape(SIZE, 16).T


def objective(problem: BodyProblem, theta: Vector) -> float:
    """Return what is minimised, at coordinates."""
    root = _root_of(theta)
    pseudo = root @ root.T
    errors = problem.root @ (_LINEAR @ pseudo.ravel()) - problem.right
    logarithm = 8.0 * float(theta[0]) + 2.0 * float(theta[1] + theta[2] + theta[3])
    apart = float(np.vdot(problem.prior_inverse, pseudo)) - logarithm
    return float(errors @ errors) + problem.weight * apart


def _root_of(theta: Vector) -> Matrix:
    """Return ``U``."""
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = theta.tolist()
    unit = np.array([
        [exp(d1), s12, s13, t1], [0.0, exp(d2), s23, t2], [0.0, 0.0, exp(d3), t3],
        [0.0, 0.0, 0.0, 1.0],
    ])  # fmt: skip
    return np.asarray(exp(alpha) * unit)


def _changes(root: Matrix) -> Matrix:
    """Return the derivatives of ``U @ U.T`` by the coordinates, shape (10, 4, 4)."""
    scale = root[3, 3]
    changes = np.zeros((SIZE, 4, 4))
    changes[0] = root
    for i in range(3):
        changes[1 + i, i, i] = root[i, i]
        changes[7 + i, i, 3] = scale
    for k, (i, j) in enumerate(_UPPER):
        changes[4 + k, i, j] = scale
    turned = np.asarray(changes @ root.T)
    turned += turned.transpose(0, 2, 1)
    return turned


def best_body(problem: BodyProblem, theta: Vector | None, fresh: Vector) -> Vector:
    """
    Find the best body.

    Parameters
    ----------
    problem : BodyProblem
        What is minimised.
    theta : ndarray, shape (10,), optional
        The best one of before, for a problem that has changed little.
    fresh : ndarray, shape (10,)
        Where else to begin; it counts where the few steps from `theta` end at something worse.

    Returns
    -------
    theta : ndarray, shape (10,)
        Its coordinates.

    """
    if theta is not None:
        theta = log_cholesky_steps(problem, theta)
        if objective(problem, theta) <= objective(problem, fresh):
            return theta
    return log_cholesky_steps(problem, fresh, 60)


def log_cholesky_steps(problem: BodyProblem, theta: Vector, steps: int = 5) -> Vector:
    """
    Go some steps towards the best body.

    Parameters
    ----------
    problem : BodyProblem
        What is minimised.
    theta : ndarray, shape (10,)
        Where to start.
    steps : int
        How many at most.

    Returns
    -------
    theta : ndarray, shape (10,)
        Where it is not larger.

    """
    value, damping = objective(problem, theta), 1e-6
    for _ in range(steps):
        gradient, hessian = _slopes(problem, theta)
        diagonal = np.diag(hessian)
        while damping < LARGEST_DAMPING:
            change = np.linalg.solve(hessian + np.diag(damping * diagonal), -gradient)
            change *= min(1.0, LONGEST / float(np.abs(change).max(initial=1e-300)))
            goal = np.minimum(np.maximum(theta + change, _LOWEST), _HIGHEST)
            trial = objective(problem, goal)
            if trial <= value:
                break
            damping *= 10.0
        else:
            break
        gain, theta, value = value - trial, goal, trial
        damping = max(0.1 * damping, 1e-9)
        if gain <= 1e-9 * abs(value):
            break
    return theta


def _slopes(problem: BodyProblem, theta: Vector) -> tuple[Vector, Matrix]:
    """Return half the gradient, and half the Hessian without what bends."""
    root = _root_of(theta)
    pseudo, changes = root @ root.T, _changes(root)
    flat = changes.reshape(SIZE, 16)
    image = problem.root @ (_LINEAR @ flat.T)
    gradient = image.T @ (problem.root @ (_LINEAR @ pseudo.ravel()) - problem.right)
    inverse = np.linalg.inv(root)
    present = inverse.T @ inverse
    pull = flat @ (problem.prior_inverse - present).ravel()
    turned = present @ changes
    bend = turned.reshape(SIZE, 16) @ turned.transpose(0, 2, 1).reshape(SIZE, 16).T
    weight = 0.5 * problem.weight
    return gradient + weight * pull, image.T @ image + weight * bend
