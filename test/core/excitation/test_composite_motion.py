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

"""Friction sweep and gravity poses: what they do, within limits, and joined to one motion."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from excitation_scenes import es5_problem, PinocchioArm
from robot_dynamics_ros.core.exceptions import TrajectoryError
from robot_dynamics_ros.core.excitation.composite_motion import (
    composite_motion,
    CompositeMotion,
)
from robot_dynamics_ros.core.excitation.connection import connection, free_poses
from robot_dynamics_ros.core.excitation.excitation import (
    ExcitationBudget,
    optimal_excitation,
)
from robot_dynamics_ros.core.excitation.gravity_poses import HOLD

pytest.importorskip('coal')

POSES = 5


@cache
def motion() -> CompositeMotion:
    problem, rng = es5_problem(), np.random.default_rng(0)
    budget = ExcitationBudget(random=2, starts=1, iterations=1)
    found = optimal_excitation(problem, 1, 50.0, rng, budget)
    return composite_motion(problem, found, rng, with_friction_sweep=True, n_gravity_poses=POSES)


def part(name: str) -> tuple[float, float]:
    return next((begin, end) for each, begin, end in motion().parts if each == name)


def test_parts_follow_each_other_from_rest_to_rest() -> None:
    names = [name for name, _, _ in motion().parts]
    assert names == ['excitation', 'friction_sweep', 'gravity_poses']
    edges = [edge for _, begin, end in motion().parts for edge in (begin, end)]
    assert edges == sorted(edges)
    assert edges[-1] == pytest.approx(motion().trajectory.end, abs=1e-9)
    _, v, a = motion().trajectory.sample_many(edges)
    np.testing.assert_allclose(v, 0.0, atol=1e-9)  # rounding errors of times up to 300 s
    np.testing.assert_allclose(a, 0.0, atol=1e-6)


def test_sweep_moves_one_joint_at_a_time_both_ways_at_constant_speeds() -> None:
    begin, end = part('friction_sweep')
    _, v, a = motion().trajectory.sample_many(np.arange(begin, end, 0.01))
    moves = np.abs(v) > 1e-9
    assert moves.sum(axis=1).max() == 1
    for joint in range(6):
        steady = moves[:, joint] & (np.abs(a[:, joint]) < 1e-6)
        speeds = np.unique(v[steady, joint].round(6))
        assert len(speeds[speeds > 0.0]) >= 5
        np.testing.assert_allclose(np.sort(-speeds), speeds, atol=1e-6)
        assert steady.sum() > 0.5 * moves[:, joint].sum()


def test_gravity_poses_are_held_and_differ() -> None:
    begin, end = part('gravity_poses')
    t = np.arange(begin, end, 0.01)
    q, v, _ = motion().trajectory.sample_many(t)
    still = (np.abs(v) < 1e-9).all(axis=1)
    assert still.sum() >= 0.95 * POSES * HOLD / 0.01
    held = np.unique(q[still & (t > begin + 0.1)].round(3), axis=0)
    assert len(held) == POSES
    apart = np.abs(held[:, np.newaxis] - held).max(axis=-1)
    assert apart[~np.eye(POSES, dtype=bool)].min() > 0.1


def test_all_of_it_keeps_limits_and_clearance_by_pinocchio() -> None:
    problem, arm = es5_problem(), PinocchioArm()
    q, v, a = motion().trajectory.sample_many(np.arange(0.0, motion().trajectory.end, 0.1))
    limits = problem.limits
    assert (q >= limits.lower).all() and (q <= limits.upper).all()
    assert (np.abs(v) <= limits.velocity).all() and (np.abs(a) <= limits.acceleration).all()
    # Twice the inset of the bodies for coal, and its accuracy.
    assert min(arm.least_distance(row) for row in q) >= problem.clearance - 1e-4


def test_connection_is_found_over_the_base_and_refused_through_the_floor() -> None:
    problem, rng = es5_problem(), np.random.default_rng(1)
    start, over, under = np.zeros((3, 6))
    start[1], over[1], under[1] = 0.1, np.pi - 0.1, -3.08
    way = connection(problem, start, over, rng)
    np.testing.assert_array_equal(way.positions[[0, -1]], [start, over])
    # Within the limits of joint 2 it has to pass where the upper arm points down.
    with pytest.raises(TrajectoryError, match='no simple way from'):
        connection(problem, start, under, rng)


def test_free_poses_are_apart_from_everything() -> None:
    problem, arm = es5_problem(), PinocchioArm()
    poses = free_poses(problem, 20, np.random.default_rng(2))
    assert poses.shape == (20, 6)
    assert min(arm.least_distance(q) for q in poses) >= problem.clearance
