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

"""Coming to rest on the path of a trajectory."""

from __future__ import annotations

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import DimensionError, TrajectoryError
from robot_dynamics_ros.core.trajectory.braking import braking_trajectory
from robot_dynamics_ros.core.trajectory.fourier import FourierSeries
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory

LIMIT = np.array([6.0, 4.0])


def swing() -> JointTrajectory:
    free = np.random.default_rng(4).normal(size=(5, 2))
    series = FourierSeries.from_free(6.0, 0.4 * free)
    return series.trajectory(('one', 'two'), 2, 50.0)


@pytest.mark.parametrize('time', [0.0, 0.7, 2.9, 5.1, 11.9])
def test_motion_comes_to_rest_within_the_limit_and_without_a_jump(time: float) -> None:
    trajectory = swing()
    braking = braking_trajectory(trajectory, time, LIMIT)
    q, v, a = braking.sample_many(np.linspace(0.0, braking.end, 500))
    for part, expected in zip((q, v, a), trajectory.sample(time)):
        np.testing.assert_allclose(part[0], expected, atol=1e-9)  # rounding errors
    np.testing.assert_allclose([v[-1], a[-1]], 0.0, atol=1e-10)  # rounding errors
    # Between points the spline may be a little beyond the limit that they keep.
    assert (np.abs(a) <= 1.01 * LIMIT).all()


def test_motion_stays_on_the_path() -> None:
    trajectory = swing()
    path = trajectory.sample_many(np.linspace(2.0, 8.0, 60001))[0]
    braking = braking_trajectory(trajectory, 2.9, LIMIT)
    q = braking.sample_many(np.linspace(0.0, braking.end, 200))[0]
    away = [np.abs(path - row).max(axis=1).min() for row in q]
    # Points of the path are 1e-4 s apart, at speeds up to 2 rad/s.
    assert max(away) < 3e-4


def test_limits_below_those_of_the_motion_are_refused() -> None:
    with pytest.raises(TrajectoryError, match='cannot come to rest'):
        braking_trajectory(swing(), 2.9, np.array([1e-3, 1e-3]))
    with pytest.raises(DimensionError, match='acceleration limits'):
        braking_trajectory(swing(), 2.9, np.ones(3))
