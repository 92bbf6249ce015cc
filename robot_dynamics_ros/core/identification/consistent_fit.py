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
The physically consistent fit: bodies that can exist, friction that takes energy.

.. math:: \min_{P_i \succ 0,\; \phi_k \ge 0} \; \|A\,[\pi(P); \phi] - b\|^2
          + \lambda \sum_i D(P_i \| P_{0,i}) + \lambda \sum_k ((\phi_k - \phi_{0,k}) / s_k)^2

with the weighted triangular system :math:`A, b` of all samples (`triangular_factors`), and the
divergence `D` of `possible_bodies`. The robot's description is the prior: it decides where the
data do not, in the null space of the base parameters and where the motion shows little. The data's
errors are in units of their standard deviation, so that :math:`\lambda = 1` counts a divergence of
one like one squared standard deviation of a single sample. The divergence is a barrier at the same
time: no body comes to the border of what is possible.

The problem is convex and its solution the only one. Each step of Newton's method writes
:math:`P_i = U_i (E + S_i) U_i^T` around the present bodies, in which the data are linear and the
barrier is :math:`-\log\det(E + S) = -\operatorname{tr} S + \|S\|^2 / 2 + \dots`: a linear least
squares problem with bounds on :math:`\phi`. The weight of the prior falls in stages to the
one that was asked for, which keeps every step within reach of the next.

References
----------
.. [1] T. Lee, P. Wensing, F. Park, "Geometric Robot Dynamic Identification: A Convex Programming
   Approach", IEEE T-RO 36(2), 2020.
.. [2] C. D. Sousa, R. Cortesao, "Physical feasibility of robot base inertial parameter
   identification: A linear matrix inequality approach", IJRR 33(6), 2014.
.. [3] S. Boyd, L. Vandenberghe, *Convex Optimization*, 2004, sections 9.5 and 11.3.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, qr
from scipy.optimize import lsq_linear

from robot_dynamics_ros.core.arrays import frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.identification_model import IdentificationModel
from robot_dynamics_ros.core.identification.least_squares import LinearFit
from robot_dynamics_ros.core.identification.possible_bodies import (
    body_pseudo_inertia,
    parameters_of_pseudo_inertia,
    possible_prior,
    SIZE,
)

MOST_STEPS = 300
"""Of Newton's method, all weights together; it needs twenty to sixty."""

SETTLED = 1e-10
"""Decrease that a step still promises, relative to the objective, with which it ends."""

FALL = 0.2
"""The weight of the prior falls to this part of itself, down to the one that was asked for."""

CENTRED = 0.1
"""Decrease that a step promises, relative to the weight, with which the weight falls again."""

LONGEST_STEP = 1e3
"""Longest step, in steps of Newton's method."""

_ROW, _COLUMN = np.triu_indices(4)
_BASIS = np.zeros((SIZE, 4, 4))
_BASIS[range(SIZE), _ROW, _COLUMN] = np.where(_ROW == _COLUMN, 1.0, np.sqrt(0.5))
_BASIS[range(SIZE), _COLUMN, _ROW] = np.where(_ROW == _COLUMN, 1.0, np.sqrt(0.5))


@dataclass(frozen=True, eq=False)
class ConsistentProblem:
    """
    The weighted data and the prior of a consistent fit.

    Attributes
    ----------
    triangle : ndarray, shape (r, p)
        ``A``: the data, in all `p` parameters.
    right : ndarray, shape (r,)
        ``b``.
    prior : ndarray, shape (p,)
        The prior, made possible.
    scales : ndarray, shape (p - n_inertial,)
        Widths `s` of the prior of the terms of drives.
    lower : ndarray, shape (p - n_inertial,)
        Zero where a term cannot be negative, else -inf.
    n_inertial : int
        Number of inertial parameters, which come first.

    """

    triangle: Matrix
    right: Vector
    prior: Vector
    scales: Vector
    lower: Vector
    n_inertial: int

    def objective(self, bodies: Matrix, drives: Vector, weight: float) -> float:
        """
        Return what is minimised.

        Parameters
        ----------
        bodies : ndarray, shape (nbodies, 4, 4)
            Pseudo-inertias; infinity is returned if one is not positive definite.
        drives : ndarray, shape (p - n_inertial,)
            Terms of drives.
        weight : float
            Of the prior.

        """
        try:  # the factor that the next step needs: small eigenvalues may be positive without it
            np.linalg.cholesky(bodies)
        except np.linalg.LinAlgError:
            return np.inf
        errors = self.triangle @ self.parameters(bodies, drives) - self.right
        ratio = np.linalg.solve(self.prior_bodies, bodies)
        apart = np.trace(ratio, axis1=1, axis2=2) - np.linalg.slogdet(ratio)[1] - 4.0
        away = (drives - self.prior[self.n_inertial :]) / self.scales
        return float(errors @ errors + weight * (apart.sum() + away @ away))

    @property
    def prior_bodies(self) -> Matrix:
        """Return the pseudo-inertias of the prior, shape (nbodies, 4, 4)."""
        inertial = self.prior[: self.n_inertial].reshape(-1, SIZE)
        return np.array([body_pseudo_inertia(body) for body in inertial]).reshape(-1, 4, 4)

    def parameters(self, bodies: Matrix, drives: Vector) -> Vector:
        """Return all parameters, bodies first."""
        inertial = [parameters_of_pseudo_inertia(body) for body in bodies]
        return np.concatenate([*inertial, drives])


@dataclass(frozen=True, eq=False)
class ConsistentFit:
    """
    A physically consistent fit.

    Attributes
    ----------
    parameters : ndarray, shape (p,)
        All parameters, bodies first.
    base : ndarray, shape (rank,)
        Their base parameters.
    objective : float
        The minimum.
    steps : int
        How many it took.
    is_settled : bool
        Whether it is the minimum; if not, its bodies are possible all the same. Data that
        contradict every possible robot (efforts with the wrong sign) lead there.

    """

    parameters: Vector
    base: Vector
    objective: float
    steps: int
    is_settled: bool


def consistent_problem(model: IdentificationModel, fit: LinearFit) -> ConsistentProblem:
    """
    Set up a consistent fit on the data and with the weights of a linear fit.

    Parameters
    ----------
    model : IdentificationModel
        What is fitted; its robot is the prior.
    fit : LinearFit
        The linear fit.

    """
    triangle, right = fit.factors.stacked(1.0 / fit.spread)
    n = model.n_inertial
    stated = model.prior[n:]
    projected = triangle @ model.base.projection
    lengths = np.linalg.norm(projected[:, n:], axis=0)
    size = float(np.linalg.norm(right)) or 1.0
    # A term of this size would explain all efforts by itself.
    scales = np.where(lengths > 1e-9 * size, size / np.maximum(lengths, 1e-300), 1.0)
    drives = np.where(model.nonnegative, np.maximum(stated, 0.0), stated)
    return ConsistentProblem(
        triangle=projected,
        right=right,
        prior=frozen(np.concatenate([possible_prior(model.prior[:n]), drives])),
        scales=scales,
        lower=np.where(model.nonnegative, 0.0, -np.inf),
        n_inertial=n,
    )


def consistent_fit(
    model: IdentificationModel, fit: LinearFit, weight: float = 1.0
) -> ConsistentFit:
    """
    Fit bodies that can exist and friction that takes energy.

    Parameters
    ----------
    model : IdentificationModel
        What is fitted; its robot is the prior.
    fit : LinearFit
        A linear fit of the same data, for its weights.
    weight : float
        Of the prior, above zero.

    Raises
    ------
    ConfigurationError
        If the weight is not above zero.

    """
    check_prior_weight(weight)
    found = solved(consistent_problem(model, fit), weight)
    return ConsistentFit(
        parameters=frozen(found.parameters),
        base=frozen(model.base.to_base(found.parameters)),
        objective=found.objective,
        steps=found.steps,
        is_settled=found.is_settled,
    )


@dataclass(frozen=True, eq=False)
class Solution:
    """What `solved` found; the attributes are those of `ConsistentFit`."""

    parameters: Vector
    objective: float
    steps: int
    is_settled: bool


def solved(problem: ConsistentProblem, weight: float) -> Solution:
    """
    Solve a consistent fit.

    Parameters
    ----------
    problem : ConsistentProblem
        The data and the prior.
    weight : float
        Of the prior, above zero.

    """
    bodies = problem.prior_bodies
    drives = np.array(problem.prior[problem.n_inertial :])
    present = max(weight, 0.1 * float(problem.right @ problem.right))
    steps, is_settled = 0, False
    while not is_settled and steps < MOST_STEPS:
        steps += 1
        value = problem.objective(bodies, drives, present)
        try:
            turns, push, promised = _newton_step(problem, bodies, drives, present)
        except np.linalg.LinAlgError:  # weights so far apart that nothing is left of the others
            break
        enough = SETTLED * value if present == weight else CENTRED * present
        is_settled = promised <= enough
        trial = _searched(problem, bodies, drives, turns, push, present)
        if problem.objective(*trial, present) < value:
            bodies, drives = trial
        else:
            is_settled = True  # to the last digit
        if is_settled and present > weight:
            present, is_settled = max(weight, FALL * present), False
    return Solution(
        parameters=problem.parameters(bodies, drives),
        objective=problem.objective(bodies, drives, weight),
        steps=steps,
        is_settled=is_settled,
    )


def check_prior_weight(weight: float) -> None:
    """
    Refuse a prior without weight, which would leave what the data do not show undetermined.

    Raises
    ------
    ConfigurationError
        If the weight is not above zero.

    """
    if not weight > 0.0:
        raise ConfigurationError(f'weight of the prior is {weight:g}, expected above zero')


def _newton_step(
    problem: ConsistentProblem, bodies: Matrix, drives: Vector, weight: float
) -> tuple[Matrix, Vector, float]:
    """Return the changes of bodies, shape (nbodies, 4, 4), and drives, and what they promise."""
    n = problem.n_inertial
    rows = len(problem.triangle)
    matrix = np.zeros((rows + n + len(drives), n + len(drives)))
    right = np.zeros(len(matrix))
    matrix[:rows, n:] = problem.triangle[:, n:]
    right[:rows] = problem.right - problem.triangle @ problem.parameters(bodies, drives)
    changes = np.zeros((len(bodies), SIZE, 4, 4))
    for i, (body, prior) in enumerate(zip(bodies, problem.prior_bodies)):
        root = cholesky(body, lower=True)
        changes[i] = root @ _BASIS @ root.T
        maps = np.column_stack([parameters_of_pseudo_inertia(change) for change in changes[i]])
        part = slice(SIZE * i, SIZE * i + SIZE)
        matrix[:rows, part] = problem.triangle[:, part] @ maps
        pull = np.eye(4) - root.T @ np.linalg.solve(prior, root)
        right[rows + part.start : rows + part.stop] = np.sqrt(0.5 * weight) * np.einsum(
            'kij,ij->k', _BASIS, pull
        )
    matrix[range(rows, rows + n), range(n)] = np.sqrt(0.5 * weight)
    below = range(rows + n, len(matrix))
    matrix[below, range(n, matrix.shape[1])] = np.sqrt(weight) / problem.scales
    right[rows + n :] = np.sqrt(weight) * (problem.prior[n:] - drives) / problem.scales
    solution = _bounded_least_squares(matrix, right, n, problem.lower - drives)
    turns = np.einsum('ik,ikab->iab', solution[:n].reshape(-1, SIZE), changes)
    promised = float(right @ right - np.sum((right - matrix @ solution) ** 2))
    return turns, solution[n:], promised


def _bounded_least_squares(matrix: Matrix, right: Vector, free: int, lower: Vector) -> Vector:
    """Solve least squares with lower bounds on the variables after the first `free` ones."""
    count = matrix.shape[1]
    (triangle,) = qr(np.column_stack([matrix, right]), mode='r', check_finite=False)
    triangle = triangle[:count]
    last, wanted = triangle[free:, free:count], triangle[free:, count]
    scale = 1.0 / np.linalg.norm(last, axis=0) if count > free else np.ones(0)
    bounded = np.zeros(0)
    if count > free:
        bounded = scale * _bvls(last * scale, wanted, lower / scale)
    rest = triangle[:free, count] - triangle[:free, free:count] @ bounded
    return np.concatenate([np.linalg.solve(triangle[:free, :free], rest), bounded])


def _bvls(matrix: Matrix, right: Vector, lower: Vector) -> Vector:
    found: Vector = np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    if (found >= lower).all():
        return found
    bounds = (np.minimum(lower, 0.0), np.inf)
    return np.asarray(lsq_linear(matrix, right, bounds, method='bvls', tol=1e-12).x)


def _searched(
    problem: ConsistentProblem,
    bodies: Matrix,
    drives: Vector,
    turns: Matrix,
    push: Vector,
    weight: float,
) -> tuple[Matrix, Vector]:
    """
    Return the bodies and drives at the minimum along a step.

    Along it the objective is a parabola and the logarithms of the eigenvalues; its slope is zero
    at one place. A step that only had to decrease the objective could end next to the border of
    what is possible, and the next ones would be short.

    """
    n = problem.n_inertial
    inverse = np.linalg.inv(np.linalg.cholesky(bodies))
    rates = np.linalg.eigvalsh(inverse @ turns @ inverse.transpose(0, 2, 1)).ravel()
    errors = problem.triangle @ problem.parameters(bodies, drives) - problem.right
    change = problem.triangle @ problem.parameters(turns, push)
    away = (drives - problem.prior[n:]) / problem.scales
    pushed = push / problem.scales
    pull = float(np.trace(np.linalg.solve(problem.prior_bodies, turns), axis1=1, axis2=2).sum())
    constant = 2.0 * float(errors @ change) + weight * (pull + 2.0 * float(away @ pushed))
    linear = 2.0 * float(change @ change) + 2.0 * weight * float(pushed @ pushed)

    def slope(t: float) -> float:
        return constant + linear * t - weight * float(np.sum(rates / (1.0 + t * rates)))

    low, high = 0.0, LONGEST_STEP
    if rates.size and rates.min() < 0.0:
        high = min(high, (1.0 - 1e-9) / -float(rates.min()))
    backwards = push < 0.0
    if np.isfinite(problem.lower[backwards]).any():
        room = (drives - problem.lower)[backwards] / -push[backwards]
        high = min(high, max(1.0, float(room.min())))
    if slope(high) > 0.0:
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    length = 0.5 * (low + high) if low else high
    return bodies + length * turns, np.maximum(drives + length * push, problem.lower)
