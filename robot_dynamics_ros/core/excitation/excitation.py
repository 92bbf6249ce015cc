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
Optimal excitation trajectories: motions that show the parameters of a robot well.

The start are the best of many random motions within the limits. From each of these, sequential
quadratic programming (SLSQP) goes on with exact derivatives of loss and constraints
(`excitation_problem`, `excitation_constraints`). The best motion within the limits is kept at all
times, so that more work is never for the worse, and each result is checked finely, as it will be
played (`motion_check`). Where it comes too near to something between the samples, the clearance at
the samples is raised and the optimisation goes on.

References
----------
.. [1] J. Swevers et al., "Optimal robot excitation and identification", IEEE Transactions on
   Robotics and Automation 13(5), 1997.
.. [2] D. Kraft, "A software package for sequential quadratic programming", DFVLR-FB 88-28, 1988.

"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from robot_dynamics_ros.core.arrays import frozen, Matrix, Vector
from robot_dynamics_ros.core.excitation.excitation_constraints import (
    CLEARANCE_RESERVE,
    ExcitationConstraints,
)
from robot_dynamics_ros.core.excitation.excitation_problem import ExcitationProblem
from robot_dynamics_ros.core.excitation.information import (
    condition_number,
    information_measure,
    mean_deviation,
)
from robot_dynamics_ros.core.excitation.motion_check import check_motion, MotionCheck
from robot_dynamics_ros.core.excitation.random_excitation import random_feasible
from robot_dynamics_ros.core.trajectory.fourier import FourierSeries
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory

ROUNDS = 3
"""Of raising the clearance at the samples."""

SETTLED = 1e-5
"""Change of the loss at which an optimisation ends."""

RESTORING = 30
"""Iterations that lead a motion back into the limits at most."""

Advance = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Excitation:
    """
    An excitation trajectory and how it was found.

    Attributes
    ----------
    series : FourierSeries
        The motion.
    trajectory : JointTrajectory
        Whole periods of it, from rest to rest.
    condition : float
        Condition number of the weighted base regressor, columns scaled to unit length.
    deviation : float
        Geometric mean of the parameters' standard deviations in one period.
    check : MotionCheck
        What it uses of the limits.
    random_measures : ndarray, shape (n_random,)
        Of the random motions what was optimised: condition or deviation.
    history : ndarray, shape (n, 2)
        For each iteration the measure of its motion, which may break limits, and that of the best
        motion so far within all limits.

    """

    series: FourierSeries
    trajectory: JointTrajectory
    condition: float
    deviation: float
    check: MotionCheck
    random_measures: Vector
    history: Matrix


@dataclass(frozen=True)
class ExcitationBudget:
    """
    How much work is done, which decides the result together with the seed.

    Attributes
    ----------
    random : int
        Random motions to choose from.
    starts : int
        The best of them that are optimised.
    iterations : int
        Of each optimisation.

    """

    random: int = 1000
    starts: int = 2
    iterations: int = 80

    @property
    def total_iterations(self) -> int:
        """Return how many iterations there are at most."""
        return (self.starts + ROUNDS - 1) * self.iterations


def measure(problem: ExcitationProblem, free: Matrix) -> float:
    """Return what is optimised: condition number, or mean standard deviation."""
    weighted = problem.weighted_regressor(*problem.motion(free))
    return information_measure(weighted.T @ weighted, problem.objective)


def optimal_excitation(
    problem: ExcitationProblem,
    periods: int,
    rate: float,
    rng: np.random.Generator,
    budget: ExcitationBudget = ExcitationBudget(),  # noqa: B008  # frozen
    *,
    on_random: Advance | None = None,
    on_iteration: Advance | None = None,
) -> Excitation:
    """
    Find a motion that shows the parameters well.

    Parameters
    ----------
    problem : ExcitationProblem
        Model, limits and surroundings.
    periods : int
        How often the period is repeated.
    rate : float
        Points of the trajectory per second, at least.
    rng : numpy.random.Generator
        Of the random motions; the rest has no randomness.
    budget : ExcitationBudget
        How much work is done.
    on_random, on_iteration : callable, optional
        Called with 1 after each random motion and each iteration.

    Raises
    ------
    TrajectoryError
        If hardly any random motion keeps the limits, or the result does not pass the check.

    """
    constraints = ExcitationConstraints(problem)
    candidates = random_feasible(constraints, budget.random, rng, on_random)
    measures = np.array([measure(problem, free) for free in candidates])
    order = np.argsort(measures, kind='stable')
    search = _Search(problem, candidates[order[0]], float(measures[order[0]]), on_iteration)
    for k in order[: budget.starts]:
        search.run(constraints, candidates[k], budget.iterations)
    for reserve in (2.0, 4.0, 8.0)[: ROUNDS - 1]:
        if not _checked(problem, search.best, periods, rate)[1].violation:
            break
        constraints = ExcitationConstraints(problem, reserve * CLEARANCE_RESERVE)
        start, search.value = search.best, np.inf
        search.run(constraints, start, budget.iterations)
    trajectory, check = _checked(problem, search.best, periods, rate)
    check.require()
    weighted = problem.weighted_regressor(*problem.motion(search.best))
    return Excitation(
        problem.series(search.best),
        trajectory,
        condition_number(weighted),
        mean_deviation(weighted),
        check,
        frozen(measures),
        frozen(np.array(search.history)),
    )


def _checked(
    problem: ExcitationProblem, free: Matrix, periods: int, rate: float
) -> tuple[JointTrajectory, MotionCheck]:
    series = problem.series(free)
    trajectory = series.trajectory(problem.limits.joint_names, periods, rate)
    check = check_motion(
        trajectory, problem.limits, problem.torques, problem.scene, problem.clearance
    )
    return trajectory, check


class _Search:
    """The best motion so far, and the way to it."""

    def __init__(
        self, problem: ExcitationProblem, best: Matrix, value: float, advance: Advance | None
    ) -> None:
        self.problem, self.best, self.value = problem, best, value
        self.history: list[tuple[float, float]] = [(value, value)]
        self._advance = advance

    def run(self, constraints: ExcitationConstraints, start: Matrix, iterations: int) -> None:
        """Optimise from a motion; what is better and feasible becomes the best."""
        problem, scale = self.problem, self.problem.scale

        def free(x: Vector) -> Matrix:
            return np.asarray(x.reshape(problem.shape) * scale)

        def after_iteration(x: Vector) -> None:
            self._offer(constraints, free(x))
            if self._advance is not None:
                self._advance(1)

        result = minimize(
            lambda x: problem.loss(free(x)),
            (start / scale).ravel(),
            jac=lambda x: (problem.loss_gradient(free(x)) * scale).ravel(),
            method='SLSQP',
            constraints={
                'type': 'ineq',
                'fun': lambda x: constraints.values(free(x)),
                'jac': lambda x: (constraints.gradient(free(x)) * scale).reshape(-1, scale.size),
            },
            options={'maxiter': iterations, 'ftol': SETTLED},
            callback=after_iteration,
        )
        self._offer(constraints, free(result.x))
        if not constraints.is_feasible(free(result.x)):
            self._offer(constraints, _restored(constraints, free(result.x)))

    def _offer(self, constraints: ExcitationConstraints, free: Matrix) -> None:
        if not np.isfinite(free).all():
            return
        value = measure(self.problem, free)
        if value < self.value and constraints.is_feasible(free):
            self.best, self.value = free, value
        self.history.append((value, self.value))


def _restored(constraints: ExcitationConstraints, near: Matrix) -> Matrix:
    """Return the motion within the limits that is nearest to one that breaks them."""
    scale, shape = constraints.problem.scale, constraints.problem.shape
    wanted = (near / scale).ravel()

    def free(x: Vector) -> Matrix:
        return np.asarray(x.reshape(shape) * scale)

    result = minimize(
        lambda x: 0.5 * float(np.sum((x - wanted) ** 2)),
        wanted,
        jac=lambda x: x - wanted,
        method='SLSQP',
        constraints={
            'type': 'ineq',
            'fun': lambda x: constraints.values(free(x)),
            'jac': lambda x: (constraints.gradient(free(x)) * scale).reshape(-1, scale.size),
        },
        options={'maxiter': RESTORING, 'ftol': SETTLED},
    )
    return free(result.x)
