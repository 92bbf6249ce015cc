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

"""The player of trajectories: motions from where the arm is, and the ways in which they end."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest

from robot_dynamics_ros.core.control.trajectory_player import (
    PAUSE,
    PlayerSettings,
    PlayerState,
    TrajectoryPlayer,
)
from robot_dynamics_ros.core.exceptions import (
    ArmingRefusedError,
    ConfigurationError,
    TrajectoryError,
)
from robot_dynamics_ros.core.trajectory.fourier import FourierSeries
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory

NAMES = ('one', 'two')
SETTINGS = PlayerSettings(speed_scale=0.5, approach_speed=0.4, approach_acceleration=0.6)


def trajectory() -> JointTrajectory:
    free = 0.4 * np.random.default_rng(4).normal(size=(5, 2))
    return FourierSeries.from_free(6.0, free).trajectory(NAMES, 2, 50.0)


def started(begin: float = 100.0, offset: float = 0.4) -> tuple[TrajectoryPlayer, JointTrajectory]:
    player = TrajectoryPlayer(trajectory(), SETTINGS)
    q = trajectory().positions[0] + [offset, -0.1]
    return player, player.start(begin, q, np.zeros(2), 0.01)


def test_motion_begins_where_the_arm_is_and_ends_with_the_trajectory_at_half_speed() -> None:
    whole = trajectory()
    player, motion = started()
    np.testing.assert_array_equal(motion.positions[0], whole.positions[0] + [0.4, -0.1])
    follows = motion.end - 2.0 * whole.duration
    t = np.linspace(0.0, whole.duration, 400)
    played, meant = motion.sample_many(follows + 2.0 * t), whole.sample_many(t)
    for part, expected, share in zip(played, meant, (1.0, 0.5, 0.25)):
        # Quintic pieces through the same points; times differ by rounding errors.
        np.testing.assert_allclose(part, share * expected, atol=1e-8)
    assert player.state is PlayerState.PLAYING


def test_way_to_the_start_is_slow_and_from_rest_to_rest() -> None:
    _, motion = started()
    approach = motion.end - 2.0 * trajectory().duration - PAUSE
    _, v, a = motion.sample_many(np.linspace(0.0, approach + PAUSE, 2000))
    assert np.abs(v).max() <= 0.4 * (1.0 + 1e-9)
    assert np.abs(a).max() <= 0.6 * (1.0 + 1e-9)
    # One of both limits decides how long it takes.
    assert np.abs(v).max() > 0.39 or np.abs(a).max() > 0.59
    np.testing.assert_allclose(v[[0, -1]], 0.0, atol=1e-12)  # rounding errors


@pytest.mark.parametrize('at', [0.5, 3.0, 9.1])
def test_abort_brings_the_arm_to_rest_within_the_limits_and_without_a_jump(at: float) -> None:
    player, motion = started()
    braking = player.abort(100.0 + at, 'asked to')
    assert braking is not None and player.state is PlayerState.BRAKING
    q, v, a = braking.sample_many(np.linspace(0.0, braking.end, 400))
    for part, expected in zip((q, v, a), motion.sample(at)):
        np.testing.assert_allclose(part[0], expected, atol=1e-9)  # rounding errors
    np.testing.assert_allclose(v[-1], 0.0, atol=1e-10)
    limit = np.maximum(1.2 * np.abs(motion.accelerations).max(axis=0), 1.2)
    assert (np.abs(a) <= 1.01 * limit).all()  # between points a little more than at them
    assert player.abort(100.0 + at, 'again') is None
    assert player.watch(100.0 + at + braking.end + 0.01, q[-1], 0.0, 0.01) == ''
    assert player.state is PlayerState.ABORTED
    assert player.reason == 'asked to'


def test_watch_ends_the_motion_when_states_stay_away_or_the_arm_is_elsewhere() -> None:
    player, motion = started()
    here = motion.sample(3.0)[0]
    assert player.watch(103.0, here, 103.0, 0.01) == ''
    assert 'no joint states for 0.3 s' in player.watch(103.0, here, 103.0, 0.3)
    reason = player.watch(103.0, here + [0.0, 0.25], 103.0, 0.01)
    assert reason == "joint 'two' is 0.25 away from the motion, tolerance is 0.2"
    assert 'away from the motion' in player.watch(103.0, np.array([nan, 0.0]), 103.0, 0.01)


def test_motion_that_is_over_is_done_and_can_be_started_again() -> None:
    player, motion = started()
    assert player.watch(100.0 + motion.end + 0.1, motion.positions[-1], 0.0, 9.0) == ''
    assert player.state is PlayerState.DONE
    player.start(200.0, motion.positions[-1], np.zeros(2), 0.0)
    assert player.is_moving


@pytest.mark.parametrize(
    ('q', 'v', 'age', 'message'),
    [
        ([nan, 0.0], [0.0, 0.0], 0.0, 'no joint states of one'),
        ([0.0, 0.0], [0.0, 0.0], 0.5, 'the newest joint state is 0.5 s old'),
        ([0.0, 0.0], [0.0, 0.3], 0.0, "joint 'two' moves at 0.3"),
        ([0.0, 0.9], [0.0, 0.0], 0.0, "joint 'two' is at .* approach_limit is 0.5"),
        ([0.6, 0.9], [0.0, 0.0], 0.0, "joint 'two' is at .* approach_limit is 0.5"),
    ],
)
def test_start_is_refused_with_a_reason(
    q: list[float], v: list[float], age: float, message: str
) -> None:
    player = TrajectoryPlayer(trajectory(), SETTINGS)
    with pytest.raises(ArmingRefusedError, match=message):
        player.start(0.0, trajectory().positions[0] + q, np.array(v), age)
    assert player.state is PlayerState.IDLE


def test_start_is_refused_while_a_motion_is_played() -> None:
    player, motion = started()
    with pytest.raises(ArmingRefusedError, match='playing already'):
        player.start(1.0, motion.positions[0], np.zeros(2), 0.0)


def test_what_cannot_be_played_is_refused() -> None:
    moving = JointTrajectory.from_points(NAMES, [0.0, 1.0], np.eye(2), [[0.1, 0], [0, 0]])
    with pytest.raises(TrajectoryError, match='at rest'):
        TrajectoryPlayer(moving, SETTINGS)
    with pytest.raises(ConfigurationError, match='speed_scale is 1.5'):
        PlayerSettings(speed_scale=1.5)
    with pytest.raises(ConfigurationError, match='tolerance is 0'):
        PlayerSettings(tolerance=0.0)
