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

from __future__ import annotations

from collections.abc import Sequence
from math import nan, pi
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from robot_dynamics_ros.core.exceptions import TrajectoryError
from robot_dynamics_ros.core.trajectory.scenarios import scenario
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory

NAMES = ('a', 'b', 'c')


def random_points(seed: int, count: int = 7) -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.2, 1.0, count))
    return (times, *(rng.normal(size=(count, 3)) for _ in range(3)))


def assert_continuous(trajectory: JointTrajectory, tolerance: float) -> None:
    """Position, velocity and acceleration agree on both sides of every inner point."""
    step = 1e-12
    before = trajectory.sample_many(trajectory.times[1:-1] - step)
    after = trajectory.sample_many(trajectory.times[1:-1] + step)
    for left, right in zip(before, after):
        np.testing.assert_allclose(left, right, atol=tolerance)


def assert_derivatives_fit(trajectory: JointTrajectory) -> None:
    """Velocity and acceleration are the derivatives of the position (central differences)."""
    t = np.linspace(trajectory.start + 1e-3, trajectory.end - 1e-3, 501)
    t = t[np.abs(t[:, None] - trajectory.times).min(axis=1) > 1e-4]
    step = 1e-5
    q0, v0, _ = trajectory.sample_many(t - step)
    q1, v1, _ = trajectory.sample_many(t + step)
    _, v, a = trajectory.sample_many(t)
    scale = np.abs(a).max()  # the error of central differences is step^2 times high derivatives
    np.testing.assert_allclose((q1 - q0) / (2 * step), v, atol=1e-6 * scale)
    np.testing.assert_allclose((v1 - v0) / (2 * step), a, atol=1e-6 * scale)


def test_everything_given_is_met_at_every_point() -> None:
    times, q, v, a = random_points(0)
    trajectory = JointTrajectory.from_points(NAMES, times, q, v, a)
    for k, t in enumerate(times):
        for got, wanted in zip(trajectory.sample(t), (q[k], v[k], a[k])):
            np.testing.assert_allclose(got, wanted, atol=1e-10)  # rounding of quintics
    assert_continuous(trajectory, 1e-7)  # the third derivative reaches 1e4
    assert_derivatives_fit(trajectory)


@pytest.mark.parametrize('given', ['', 'v', 'a', 'mixed'])
def test_missing_derivatives_make_a_smooth_motion(given: str) -> None:
    times, q, v, a = random_points(1)
    velocities: Any = None
    accelerations: Any = None
    if given == 'v':
        velocities = v
    if given == 'a':
        accelerations = a
    if given == 'mixed':
        velocities = [row if k % 2 else [] for k, row in enumerate(v)]
        accelerations = [row if k % 3 == 0 else None for k, row in enumerate(a)]
    trajectory = JointTrajectory.from_points(NAMES, times, q, velocities, accelerations)
    np.testing.assert_allclose(trajectory.sample_many(times)[0], q, atol=1e-10)  # rounding
    assert_continuous(trajectory, 1e-7)  # the third derivative reaches 1e4
    assert_derivatives_fit(trajectory)
    assert (np.abs(trajectory.accelerations[1:-1]) > 1e-6).all()
    for rows, derived in ((velocities, 'velocities'), (accelerations, 'accelerations')):
        for k, row in enumerate(rows if rows is not None else []):
            if row is not None and len(row):
                np.testing.assert_array_equal(getattr(trajectory, derived)[k], row)


def test_positions_alone_start_and_end_at_rest_with_the_velocities_of_a_cubic_spline() -> None:
    times, q, _, _ = random_points(2)
    trajectory = JointTrajectory.from_points(NAMES, times, q)
    spline = CubicSpline(times, q, bc_type='clamped')
    np.testing.assert_allclose(trajectory.velocities, spline(times, 1), atol=1e-12)  # rounding
    assert not trajectory.velocities[[0, -1]].any()


def test_accelerations_are_those_of_least_jerk() -> None:
    times, q, v, _ = random_points(3)
    best = JointTrajectory.from_points(NAMES, times, q, v)
    assert not np.isclose(best.accelerations, 0.0).any()

    def jerk(trajectory: JointTrajectory) -> Any:
        """Integral of the squared third derivative; Gauss rule of 5 points, exact to degree 9."""
        nodes, weights = np.polynomial.legendre.leggauss(5)
        half = np.diff(times)[:, None] / 2.0
        t = times[:-1, None] + half * (1.0 + nodes)
        step = 1e-4
        a1 = trajectory.sample_many((t + step).ravel())[2]
        a0 = trajectory.sample_many((t - step).ravel())[2]
        third = ((a1 - a0) / (2 * step)).reshape(*t.shape, 3)
        return np.einsum('kg,g,kgj->j', half * np.ones_like(t), weights, third**2)

    least = jerk(best)
    rng = np.random.default_rng(4)
    for _ in range(10):
        other = best.accelerations + rng.normal(scale=0.1, size=q.shape)
        assert (jerk(JointTrajectory.from_points(NAMES, times, q, v, other)) > least).all()


@pytest.mark.parametrize(
    ('name', 'with_velocity'), [('pick_place', False), ('pick_place', True), ('all_axes', True)]
)
def test_derived_accelerations_are_close_to_the_true_ones(name: str, with_velocity: bool) -> None:
    motion = scenario(name)
    times = np.linspace(0.0, 1.0 - 1e-9, 41)  # pick_place: its first, smooth half
    q, v, _ = motion.sample_many(times)
    names = list('abcdef')
    trajectory = JointTrajectory.from_points(names, times, q, v if with_velocity else None)
    t = np.linspace(0.0, 0.999, 777)
    _, _, a = motion.sample_many(t)
    error = np.abs(trajectory.sample_many(t)[2] - a).max()
    # 25 ms between points; all_axes does not begin with zero jerk, as least jerk has it there.
    assert error < (1e-3 if name == 'pick_place' else 0.01) * np.abs(a).max()


def test_one_segment_is_the_least_jerk_motion_from_rest_to_rest() -> None:
    trajectory = JointTrajectory.from_points(['a'], [0.0, 2.0], [[0.0], [1.0]])
    for t in (0.0, 0.3, 1.0, 1.7, 2.0):
        s = t / 2.0
        expected = 10 * s**3 - 15 * s**4 + 6 * s**5  # Flash and Hogan 1985
        assert trajectory.sample(t)[0][0] == pytest.approx(expected, abs=1e-14)


def test_single_goal_is_reached_from_the_present_state() -> None:
    start = (np.array([0.1]), np.array([0.5]), np.array([-1.0]))
    trajectory = JointTrajectory.from_points(['a'], [1.5], [[2.0]], start=start)
    np.testing.assert_allclose(np.ravel(trajectory.sample(0.0)), [0.1, 0.5, -1.0], atol=1e-13)
    np.testing.assert_allclose(np.ravel(trajectory.sample(1.5)), [2.0, 0.0, 0.0], atol=1e-13)
    assert trajectory.duration == 1.5


def test_start_of_a_continuous_joint_is_taken_on_the_nearest_turn() -> None:
    start = (np.array([-3.1, -3.1]), np.zeros(2), np.zeros(2))
    trajectory = JointTrajectory.from_points(
        ['c', 'r'], [1.0], [[3.1, 3.1]], start=start, continuous=['c']
    )
    assert trajectory.positions[0].tolist() == pytest.approx([2.0 * pi - 3.1, -3.1])


def test_single_point_at_time_zero_holds() -> None:
    trajectory = JointTrajectory.from_points(NAMES, [0.0], [[1.0, 2.0, 3.0]])
    for t in (-1.0, 0.0, 5.0):
        q, v, a = trajectory.sample(t)
        assert q.tolist() == [1.0, 2.0, 3.0]
        assert not v.any() and not a.any()
    assert trajectory.sample_many([0.0, 1.0])[0].shape == (2, 3)
    assert trajectory.duration == 0.0


def test_before_the_first_and_after_the_last_point_the_arm_is_held() -> None:
    times, q, v, a = random_points(5)
    trajectory = JointTrajectory.from_points(NAMES, times, q, v, a)
    for t, k in ((times[0] - 0.01, 0), (times[-1] + 0.01, -1)):
        held = trajectory.sample(t)
        np.testing.assert_array_equal(held[0], q[k])
        assert not held[1].any() and not held[2].any()
    many = trajectory.sample_many([times[0] - 1.0, times[-1] + 1.0])
    np.testing.assert_allclose(many[0], q[[0, -1]], atol=1e-13)  # rounding of a quintic
    assert not many[1].any() and not many[2].any()


def test_sample_many_agrees_with_sample() -> None:
    trajectory = JointTrajectory.from_points(NAMES, *random_points(6))
    t = np.linspace(trajectory.start, trajectory.end, 101)
    many = trajectory.sample_many(t)
    for k in range(len(t)):
        for one, row in zip(trajectory.sample(t[k]), many):
            np.testing.assert_allclose(
                one, row[k], atol=1e-9
            )  # rounding of two forms of a quintic


def test_joints_are_put_in_another_order_by_name() -> None:
    times, q, v, a = random_points(7)
    trajectory = JointTrajectory.from_points(NAMES, times, q, v, a)
    other = trajectory.ordered(['c', 'a', 'b'])
    t = float(times[2] + 0.1)
    for one, two in zip(trajectory.sample(t), other.sample(t)):
        np.testing.assert_array_equal(one[[2, 0, 1]], two)
    assert trajectory.ordered(['c', 'a'], ignore_extra=True).joint_names == ('c', 'a')
    with pytest.raises(TrajectoryError, match='unknown joints: b'):
        trajectory.ordered(['c', 'a'])
    with pytest.raises(TrajectoryError, match='lacks these joints: d, e'):
        trajectory.ordered(['d', 'a', 'e'])


@pytest.mark.parametrize('seed', range(20))
def test_overshoot_stays_within_the_ways_for_any_spacing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    times = np.append(0.0, np.cumsum(10.0 ** rng.uniform(-2.0, 1.0, 9)))
    q = rng.uniform(-1.0, 1.0, (10, 1))
    low, high, _, _ = JointTrajectory.from_points(['a'], times, q).extremes()
    # Both ends of a segment may each carry the motion away, by speed and by acceleration.
    largest = 4.0 * np.abs(np.diff(q, axis=0)).max()
    assert low[0] > q.min() - largest
    assert high[0] < q.max() + largest


def test_long_segment_after_a_short_one_does_not_swing_out() -> None:
    points = np.array([[0.0], [1.0], [1.0]])
    _, high, _, _ = JointTrajectory.from_points(['a'], [0.0, 0.1, 5.0], points).extremes()
    assert high[0] < 2.0  # the cubic spline goes to 11.7


def test_extremes_bound_the_motion() -> None:
    trajectory = JointTrajectory.from_points(NAMES, *random_points(8))
    q, v, a = trajectory.sample_many(np.linspace(trajectory.start, trajectory.end, 5000))
    low, high, speed, acceleration = trajectory.extremes()
    # Between two of ten samples of a segment a smooth curve goes on by a few percent.
    np.testing.assert_allclose(low, q.min(axis=0), atol=0.05 * np.ptp(q))
    np.testing.assert_allclose(high, q.max(axis=0), atol=0.05 * np.ptp(q))
    np.testing.assert_allclose(speed, np.abs(v).max(axis=0), rtol=0.05)
    np.testing.assert_allclose(acceleration, np.abs(a).max(axis=0), rtol=0.05)


def test_many_points_of_uneven_spacing_stay_accurate() -> None:
    rng = np.random.default_rng(9)
    times = np.append(0.0, np.cumsum(10.0 ** rng.uniform(-3.0, -1.0, 3000)))
    rate = np.array([1.0, 2.0, 3.0])
    q = np.sin(times[:, None] * rate)
    v = rate * np.cos(times[:, None] * rate)
    trajectory = JointTrajectory.from_points(NAMES, times, q, v)
    inside = slice(10, -10)
    true = -(rate**2) * q
    error = np.abs(trajectory.accelerations - true)[inside].max()
    assert error < 1e-3  # 0.1 s between points: the fourth power of 0.1 * 3, over 9


def bad(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        'joint_names': ['a', 'b'],
        'times': [0.0, 1.0],
        'positions': [[0.0, 0.0], [1.0, 1.0]],
    }
    values.update(changes)
    return values


@pytest.mark.parametrize(
    ('arguments', 'match'),
    [
        (bad(joint_names=[]), 'names no joints'),
        (bad(joint_names=['a', 'a']), 'joints twice: a'),
        (bad(times=[], positions=[]), 'no points'),
        (bad(times=[1.0, 1.0]), r'point 1 \(1 s\) is not later than point 0'),
        (bad(times=[1.0, 0.5]), 'times must increase'),
        (bad(times=[-1.0, 0.5]), 'time of point 0 is -1 s'),
        (bad(times=[0.0, nan]), 'time of point 1 is not finite'),
        (bad(positions=[[0.0, 0.0], [1.0]]), 'point 1 has 1 positions for 2 joints'),
        (bad(positions=[[0.0, 0.0], []]), 'point 1 has no positions'),
        (bad(positions=[[0.0, 0.0]]), 'positions for 1 points, but 2 times'),
        (bad(positions=[[0.0, 0.0], [1.0, nan]]), "positions of joint 'b' at point 1 is nan"),
        (bad(velocities=[[0.0], []]), 'point 0 has 1 velocities for 2 joints'),
        (bad(velocities=[[0.0, nan], []]), "velocities of joint 'b' at point 0"),
        (bad(accelerations=[[], [0.0, nan]]), "accelerations of joint 'b' at point 1"),
        (bad(times=[1.0, 2.0], start=([0.0], [0.0], [0.0])), 'start of the trajectory'),
        (bad(times=[1.0, 2.0], start=([nan, 0], [0, 0], [0, 0])), 'start of the trajectory'),
    ],
)
def test_bad_points_are_refused_by_joint_and_point(arguments: Any, match: str) -> None:
    with pytest.raises(TrajectoryError, match=match):
        JointTrajectory.from_points(**arguments)


def test_arguments_are_not_changed_and_results_are_read_only() -> None:
    times, q, v, a = random_points(10)
    copies: Sequence[Any] = [x.copy() for x in (times, q, v, a)]
    trajectory = JointTrajectory.from_points(NAMES, times, q, v, a)
    for one, two in zip(copies, (times, q, v, a)):
        np.testing.assert_array_equal(one, two)
    assert not trajectory.positions.flags.writeable


def test_single_point_with_velocity_and_no_acceleration_is_taken() -> None:
    trajectory = JointTrajectory.from_points(['j'], [1.0], [[1.0]], [[0.5]])
    q, v, a = trajectory.sample(1.0)
    assert q.tolist() == [1.0]
    assert a.tolist() == [0.0]
    q, v, a = trajectory.sample(2.0)
    assert (q.tolist(), v.tolist(), a.tolist()) == ([1.0], [0.0], [0.0])
