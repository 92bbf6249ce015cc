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

"""Excitation trajectories: derivatives of the problem, limits, clearance, and what is gained."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from excitation_scenes import es5, es5_problem, es5_scene, PinocchioArm
from robot_dynamics_ros.core.exceptions import ConfigurationError, TrajectoryError
from robot_dynamics_ros.core.excitation.excitation import (
    Excitation,
    ExcitationBudget,
    optimal_excitation,
)
from robot_dynamics_ros.core.excitation.excitation_constraints import (
    ExcitationConstraints,
    smooth_maximum,
)
from robot_dynamics_ros.core.excitation.information import OBJECTIVES
from robot_dynamics_ros.core.excitation.motion_check import check_motion
from robot_dynamics_ros.core.excitation.motion_limits import motion_limits
from robot_dynamics_ros.core.excitation.random_excitation import draw, random_feasible
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory

pytest.importorskip('coal')

BUDGET = ExcitationBudget(random=15, starts=1, iterations=25)


@cache
def excitation(seed: int = 0) -> Excitation:
    return optimal_excitation(es5_problem(), 2, 50.0, np.random.default_rng(seed), BUDGET)


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_gradient_of_the_loss_matches_finite_differences(objective: str) -> None:
    problem = es5_problem(objective)
    free = draw(problem, np.random.default_rng(1))
    gradient = problem.loss_gradient(free)
    for index in ((1, 1), (3, 2), (4, 3), (2, 5), (0, 4)):
        step = np.zeros(problem.shape)
        step[index] = 1e-6
        slope = (problem.loss(free + step) - problem.loss(free - step)) / 2e-6
        # Differences of a loss of size 1 with rounding errors 1e-12 of the Gram matrix, by 1e-6.
        assert gradient[index] == pytest.approx(slope, abs=3e-6)


def test_gradient_of_the_constraints_matches_finite_differences() -> None:
    problem = es5_problem()
    constraints = ExcitationConstraints(problem)
    (free,) = random_feasible(constraints, 1, np.random.default_rng(1))
    gradient = constraints.gradient(free)
    for index in ((1, 1), (3, 2), (4, 3), (2, 5), (0, 4)):
        step = np.zeros(problem.shape)
        step[index] = 1e-6
        slope = (constraints.values(free + step) - constraints.values(free - step)) / 2e-6
        # Normals of coal between cylinders are accurate to 1e-3.
        np.testing.assert_allclose(gradient[(slice(None), *index)], slope, atol=2e-2)


def test_smooth_maximum_is_a_close_upper_bound() -> None:
    values = np.random.default_rng(0).uniform(-1.0, 1.0, (300, 4))
    smooth, weight = smooth_maximum(values)
    excess = smooth - values.max(axis=0)
    assert (excess >= 0.0).all() and (excess < np.log(300) / 200.0).all()
    np.testing.assert_allclose(weight.sum(axis=0), 1.0, atol=1e-12)  # rounding errors


def test_result_is_better_than_all_random_motions_and_never_gets_worse() -> None:
    found = excitation()
    assert len(found.random_measures) == 15
    assert found.condition < 0.7 * found.random_measures.min()
    assert (np.diff(found.history[:, 1]) <= 0.0).all()
    # Of the same samples, by eigenvalues of the Gram matrix and by singular values.
    assert found.history[-1, 1] == pytest.approx(found.condition, rel=1e-9)


def test_condition_is_that_of_singular_values_of_the_whole_trajectory() -> None:
    found, problem = excitation(), es5_problem()
    q, v, a = found.trajectory.sample_many(np.arange(0.0, 12.0, 0.05))
    rows = problem.model.regressor(q, v, a) / problem.noise[:, np.newaxis]
    matrix = rows.reshape(-1, problem.rank)
    values = np.linalg.svd(matrix / np.linalg.norm(matrix, axis=0), compute_uv=False)
    # The same samples, twice, through a spline with errors of 1e-6.
    assert values[0] / values[-1] == pytest.approx(found.condition, rel=1e-3)


def test_trajectory_keeps_all_limits_by_pinocchio() -> None:
    found, limits, arm = excitation(), motion_limits(es5()), PinocchioArm()
    q, v, a = found.trajectory.sample_many(np.arange(0.0, 6.0, 0.004))
    assert (q >= limits.lower).all() and (q <= limits.upper).all()
    assert (np.abs(v) <= limits.velocity).all()
    assert (np.abs(a) <= limits.acceleration).all()
    friction = es5().damping * v + es5().friction * np.tanh(v / 0.02)
    tau = np.array([arm.torque(*state) for state in zip(q, v, a)]) + friction
    # The smoothing velocity of the friction may be another one: at most the Coulomb level apart.
    assert (np.abs(tau) <= limits.effort + 1e-6).all()
    for key, part in (
        ('velocity', v / limits.velocity),
        ('acceleration', a / limits.acceleration),
    ):
        np.testing.assert_allclose(found.check.used[key], np.abs(part).max(axis=0), rtol=1e-2)


def test_trajectory_keeps_its_clearance_by_pinocchio() -> None:
    found, arm = excitation(), PinocchioArm()
    q = found.trajectory.sample_many(np.arange(0.0, 6.0, 0.01))[0]
    least = min(arm.least_distance(row) for row in q)
    assert least >= 0.02 - 1e-4  # twice the inset of the bodies for coal, and its accuracy
    assert least == pytest.approx(found.check.least_distance, abs=2e-3)  # at other times


def test_trajectory_starts_and_ends_at_rest_and_has_whole_periods() -> None:
    trajectory = excitation().trajectory
    assert trajectory.duration == pytest.approx(12.0, abs=1e-9)
    assert not trajectory.velocities[[0, -1]].any()
    assert not trajectory.accelerations[[0, -1]].any()
    np.testing.assert_array_equal(trajectory.positions[0], trajectory.positions[300])


def test_result_is_decided_by_the_seed() -> None:
    small = ExcitationBudget(random=2, starts=1, iterations=1)
    first, again, other = (
        optimal_excitation(es5_problem(), 1, 20.0, np.random.default_rng(seed), small)
        for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(first.trajectory.positions, again.trajectory.positions)
    assert not np.array_equal(first.random_measures, other.random_measures)


def test_check_finds_a_touch_between_the_points() -> None:
    """The arm stretches out, and halfway of a single segment it is in the floor."""
    there, back = [0.0, -0.2, 0.0, 0.0, 0.0, 0.0], [0.0, -np.pi + 0.2, 0.0, 0.0, 0.0, 0.0]
    upside = np.array([there, back]) * [1, -1, 1, 1, 1, 1]
    problem = es5_problem()
    for ends, is_wrong in ((upside, False), (-upside, True)):
        motion = JointTrajectory.from_points(es5().v_names, [0.0, 4.0], ends)
        check = check_motion(motion, problem.limits, problem.torques, es5_scene(), 0.02)
        assert ("'floor' come to" in check.violation) is is_wrong, check.violation


def test_check_names_joint_limit_and_time() -> None:
    problem = es5_problem()
    ends = np.zeros((2, 6))
    ends[:, 1] = 1.5
    ends[1, 0] = 2.0
    motion = JointTrajectory.from_points(es5().v_names, [0.0, 1.0], ends)
    check = check_motion(motion, problem.limits, problem.torques, es5_scene(), 0.02)
    with pytest.raises(TrajectoryError, match="refused: joint 'joint_1' uses .* % of its accel"):
        check.require()


def test_torque_limits_that_no_motion_keeps_are_refused() -> None:
    problem = es5_problem()
    weak = motion_limits(es5(), effort_share=0.05)
    object.__setattr__(problem, 'limits', weak)
    with pytest.raises(
        TrajectoryError, match='random motions 0 keep all limits; in .* beyond its effort limit'
    ):
        optimal_excitation(problem, 1, 20.0, np.random.default_rng(0), BUDGET)


def test_limits_that_are_missing_or_empty_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="joint 'joint_1': from .* no room"):
        motion_limits(es5(), positions={'joint_1': (1.0, -1.0)})
    with pytest.raises(ConfigurationError, match='share of velocity limits is 1.5'):
        motion_limits(es5(), velocity_share=1.5)
    with pytest.raises(ConfigurationError, match='objective'):
        es5_problem('beauty')


def test_acceleration_limits_follow_from_velocities_where_none_are_given() -> None:
    limits = motion_limits(es5(), accelerations={'joint_2': 1.0})
    assert limits.is_derived == (True, False, True, True, True, True)
    assert limits.acceleration[1] == 1.0
    np.testing.assert_allclose(limits.acceleration[0], 0.8 * np.pi / 0.5)


@pytest.mark.soak
def test_yardstick_three_times_better_than_the_best_of_a_thousand_random_motions() -> None:
    problem = es5_problem(harmonics=5)
    found = optimal_excitation(problem, 2, 50.0, np.random.default_rng(0), ExcitationBudget())
    assert found.trajectory.duration == pytest.approx(20.0, abs=1e-9)
    assert len(found.random_measures) == 1000
    assert 3.0 * found.condition <= found.random_measures.min()
