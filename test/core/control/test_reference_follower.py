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

from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.control.reference_follower import ReferenceFollower
from robot_dynamics_ros.core.exceptions import TrajectoryError
from robot_dynamics_ros.core.model.robot_model import Limits
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory

NAMES = ('a', 'b')
START = np.array([0.1, -0.2])
LIMITS = Limits(
    np.array([-1.0, -np.inf]), np.array([2.0, np.inf]), np.array([3.0, np.nan]), np.full(2, 9.0)
)


@pytest.fixture
def follower() -> ReferenceFollower:
    follower = ReferenceFollower(NAMES, LIMITS, continuous=['b'], largest_jump=0.05)
    follower.hold(START)
    return follower


def follow(follower: ReferenceFollower, points: Any, **options: Any) -> None:
    values = {
        'joint_names': NAMES,
        'stamp': 0.0,
        'times': [0.0, 1.0, 2.0][: len(points)],
        'velocities': None,
        'accelerations': None,
        'now': 10.0,
        **options,
    }
    follower.follow(positions=points, **values)


def test_hold_stays_where_it_is(follower: ReferenceFollower) -> None:
    for t in (0.0, 100.0):
        q, v, a = follower.sample(t)
        np.testing.assert_array_equal(q, START)
        assert not v.any()
        assert not a.any()


def test_trajectory_begins_now_or_at_its_stamp(follower: ReferenceFollower) -> None:
    points = [START, START + 0.3, START + 0.5]
    spline = JointTrajectory.from_points(NAMES, [0.0, 1.0, 2.0], points)
    follow(follower, points)
    for t in (0.0, 0.5, 1.5, 3.0):
        for mine, given in zip(follower.sample(10.0 + t), spline.sample(t)):
            np.testing.assert_array_equal(mine, given)
    follower.hold(START)
    follow(follower, points, stamp=12.0)
    np.testing.assert_array_equal(follower.sample(11.9)[0], START)
    np.testing.assert_array_equal(follower.sample(12.5)[0], spline.sample(0.5)[0])
    assert follower.end == 14.0


def test_first_point_later_than_zero_is_reached_from_the_present_motion(
    follower: ReferenceFollower,
) -> None:
    follow(follower, [START, START + 0.4, START + 0.8])
    before = follower.sample(10.7)
    target = START + 0.6
    follow(follower, [target], times=[1.0], now=10.7)
    # The new spline begins with position, velocity and acceleration of the old one.
    for mine, given in zip(follower.sample(10.7), before):
        np.testing.assert_allclose(mine, given, atol=1e-12)
    q, v, a = follower.sample(11.8)
    np.testing.assert_allclose(q, target, atol=1e-12)
    assert not v.any()
    assert not a.any()


def test_order_of_the_joints_does_not_matter(follower: ReferenceFollower) -> None:
    points = np.array([START, START + [0.1, 0.3]])
    follow(follower, points[:, ::-1], joint_names=NAMES[::-1])
    np.testing.assert_allclose(follower.sample(11.0)[0], points[1], atol=1e-12)
    follower.hold(START)
    follow(follower, points[1:, ::-1], joint_names=NAMES[::-1], times=[1.0])
    np.testing.assert_allclose(follower.sample(10.0)[0], START, atol=1e-12)
    np.testing.assert_allclose(follower.sample(11.0)[0], points[1], atol=1e-12)


def test_continuous_joint_may_stand_on_another_turn(follower: ReferenceFollower) -> None:
    follow(follower, [START + [0.0, 2 * np.pi], START + [0.2, 2 * np.pi + 0.2]])
    assert follower.kind == 'trajectory'


def test_stream_of_points_holds_when_it_ends(follower: ReferenceFollower) -> None:
    for k in range(4):
        follow(follower, [START + 0.01 * k], now=10.0 + 0.02 * k)
    assert follower.kind == 'stream'
    # 0.01 rad in 0.02 s, a straight line.
    np.testing.assert_allclose(follower.sample(10.06)[1], 0.5, atol=1e-9)
    q, v, _ = follower.sample(11.0)
    np.testing.assert_allclose(q, START + 0.03, atol=1e-12)
    assert not v.any()


def test_stream_and_trajectory_replace_each_other(follower: ReferenceFollower) -> None:
    follow(follower, [START + 0.01])
    follow(follower, [START + 0.02, START + 0.3], now=10.1)
    assert follower.kind == 'trajectory'
    follow(follower, [START + 0.3], now=12.0)
    assert follower.kind == 'stream'
    assert follower.end == -np.inf
    follower.hold(START)
    assert follower.kind == 'hold'


@pytest.mark.parametrize(
    ('points', 'options', 'message'),
    [
        ([START + 0.2, START], {}, 'a would jump by 0.2'),
        ([START + [0.0, 3.0], START], {}, 'b would jump by 3'),
        ([START, [2.1, 0.0]], {'times': [0.0, 9.0]}, 'a would go to 2.1'),
        ([START, START + 1.8], {'times': [0.0, 0.5]}, 'a would reach'),
        ([START, START], {'joint_names': ('a', 'c')}, 'b missing; c unknown'),
        ([START[:1], START[:1]], {'joint_names': ('a',)}, 'b missing'),
        ([START, START], {'joint_names': ('a', 'a')}, 'b missing'),
        ([START, START], {'stamp': 5.0}, 'ended 4.000 s before'),
        ([START, START], {'times': [1.0, 0.5]}, 'increas'),
        ([START, [np.nan, 0.0]], {}, 'finite'),
        ([START, START[:1]], {}, 'point 1'),
        ([], {}, 'no points'),
        ([[np.nan, 0.0]], {}, 'no finite positions'),
        ([START[:1]], {}, 'wrong length'),
        ([[2.1, 0.0]], {}, 'a would go to 2.1'),
        ([START + 0.1], {}, 'would jump'),
    ],
)
def test_what_cannot_be_followed_is_refused_and_changes_nothing(
    follower: ReferenceFollower, points: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(TrajectoryError, match=message):
        follow(follower, points, **options)
    assert follower.kind == 'hold'
    np.testing.assert_array_equal(follower.sample(11.0)[0], START)


def test_trajectory_that_is_under_way_is_joined_where_it_is(follower: ReferenceFollower) -> None:
    points = [START - 0.5, START + 0.5]
    spline = JointTrajectory.from_points(NAMES, [0.0, 2.0], points)
    middle = spline.sample(1.0)[0]
    follower.hold(middle)
    follow(follower, points, times=[0.0, 2.0], stamp=9.0)
    np.testing.assert_array_equal(follower.sample(10.0)[0], middle)


def test_later_trajectory_waits_and_what_runs_goes_on(follower: ReferenceFollower) -> None:
    points = [START, START + 0.3, START + 0.5]
    follow(follower, points)
    before = [follower.sample(t) for t in (10.5, 11.4)]
    turn = follower.sample(11.5)
    follow(follower, [turn[0] + 0.2, START], stamp=11.5, times=[1.0, 2.0], now=10.2)
    for t, expected in zip((10.5, 11.4), before):
        for mine, given in zip(follower.sample(t), expected):
            np.testing.assert_array_equal(mine, given)
    # Where it begins it takes over position and velocity of what runs.
    for mine, given in zip(follower.sample(11.5)[:2], turn[:2]):
        np.testing.assert_allclose(mine, given, atol=1e-12)
    assert follower.end == 13.5
    # A third one replaces the one that waits, and only that.
    follow(follower, [turn[0]], stamp=11.5, times=[2.0], now=10.3)
    np.testing.assert_array_equal(follower.sample(11.4)[0], before[1][0])
    assert follower.end == 13.5
    with pytest.raises(TrajectoryError, match='would jump'):
        follow(follower, [START + 1.0, START], stamp=11.9, now=10.4)
    # Seen again after it has begun, it is what runs.
    follow(follower, [START], stamp=14.0, times=[5.0], now=13.0)
    assert follower.kind == 'trajectory'
    follower.hold(START)
    np.testing.assert_array_equal(follower.sample(100.0)[0], START)


@pytest.mark.parametrize(
    ('points', 'options', 'said'),
    [
        ([START], {'stamp': 19.0, 'times': [0.0]}, 'stamped 9 s after the present'),
        ([START], {'stamp': 9.0, 'times': [0.0]}, 'stamped 1 s before the present'),
        ([START], {'times': [0.0], 'velocities': [[1000.0, 0.0]]}, 'a would reach 1000'),
        ([START], {'times': [0.0], 'accelerations': [[0.0, 1e9]]}, 'b would accelerate'),
        ([START] * 2, {'velocities': [[1e307, 0.0], None]}, 'not finite'),
        ([START] * 2, {'accelerations': [[0.0, 1e307], None]}, 'not finite'),
        ([START] * 2, {'velocities': [[0.0, 0.0], [0.0, 1e200]]}, 'b would reach'),
        ([START, START + 0.04], {'times': [0.0, 1e-300]}, 'not finite'),
        ([START] * 2, {'accelerations': [[0.0, 2e6], None]}, 'b would'),
        ([START], {'times': [0.0], 'accelerations': [[4e3, 0.0]]}, 'a would accelerate with 4000'),
        ([START] * 2, {'stamp': 1.7e9}, 'the same clock'),
    ],
)
def test_absurd_numbers_are_refused_and_change_nothing(
    follower: ReferenceFollower, points: Any, options: Any, said: str
) -> None:
    with pytest.raises(TrajectoryError, match=said):
        follow(follower, points, **options)
    assert follower.kind == 'hold'
    np.testing.assert_array_equal(follower.sample(10.0)[0], START)


def test_stream_faster_than_the_velocity_limit_is_refused(follower: ReferenceFollower) -> None:
    def push(k: int, speed: float) -> None:
        t = 10.0 + 1e-3 * k
        point = START + [speed * 1e-3 * k, 0.0]
        follow(follower, [point], stamp=t, times=[0.0], now=t)

    for k in range(100):
        push(k, 2.9)
    np.testing.assert_allclose(follower.sample(10.099)[1][0], 2.9, rtol=1e-6)
    follower.hold(START)
    with pytest.raises(TrajectoryError, match='its limit is 3'):
        for k in range(100):
            push(k, 6.0)


def test_points_in_one_go_are_no_motion(follower: ReferenceFollower) -> None:
    for k in range(7):
        t = 10.0 + 1e-6 * k
        follow(follower, [START + [0.002 * k, 0.0]], stamp=t, times=[0.0], now=t)
    _, v, a = follower.sample(10.0)
    assert not np.any(v) and not np.any(a)


def test_burst_after_a_pause_stays_inside_the_limits(follower: ReferenceFollower) -> None:
    for k in range(50):
        t = 10.0 + 0.01 * k
        follow(follower, [START + [0.2 * np.sin(t - 10.0), 0.0]], stamp=t, times=[0.0], now=t)
    for k in range(6):  # 60 ms of the stream at once
        t = 10.55 + 3e-4 * k
        q = START + [0.2 * np.sin(0.5 + 0.01 * k), 0.0]
        follow(follower, [q], stamp=t, times=[0.0], now=t)
    _, v, a = follower.sample(t)
    assert abs(v[0]) <= 3.0 * (1.0 + 1e-5)
    assert abs(a[0]) <= 3.0 / 0.05 * (1.0 + 1e-5)  # the limit within 50 ms


def test_uneven_stamps_do_not_break_the_fit(follower: ReferenceFollower) -> None:
    for t in (10.0, 10.09, 10.090000001, 10.0905, 10.18):
        follow(follower, [START + [0.01 * (t - 10.0), 0.0]], stamp=t, times=[0.0], now=t)
    assert abs(follower.sample(10.18)[1][0]) < 0.1
