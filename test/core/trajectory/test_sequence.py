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

"""Motions from rest to rest, strokes of constant speed, and their joins."""

from __future__ import annotations

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import TrajectoryError
from robot_dynamics_ros.core.trajectory.sequence import joined, rest_to_rest, stroke
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory

NAMES = ('one', 'two')
HERE = np.array([0.3, -0.2])


def fine(motion: JointTrajectory) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    t = np.linspace(motion.start, motion.end, 20001)
    return (t, *motion.sample_many(t))


@pytest.mark.parametrize('way', [0.01, 0.5, 3.0])
def test_rest_to_rest_reaches_one_of_its_limits_and_keeps_both(way: float) -> None:
    speed, acceleration = np.array([0.5, 1.0]), np.array([1.0, 0.8])
    _, q, v, a = fine(rest_to_rest(NAMES, HERE, HERE + [way, -0.4 * way], speed, acceleration))
    np.testing.assert_allclose(q[-1], HERE + [way, -0.4 * way], atol=1e-12)
    used = max((np.abs(v) / speed).max(), (np.abs(a) / acceleration).max())
    if way > 0.1:  # otherwise the shortest duration decides
        assert used == pytest.approx(1.0, abs=1e-6)  # samples beside the peak
    assert used <= 1.0 + 1e-9
    np.testing.assert_allclose([v[0], v[-1], a[0], a[-1]], 0.0, atol=1e-12)


@pytest.mark.parametrize('way', [1.2, -1.2])
def test_stroke_has_its_constant_speed_and_keeps_its_acceleration(way: float) -> None:
    motion = stroke(NAMES, HERE, 1, way, 0.6, 2.0)
    t, q, v, a = fine(motion)
    np.testing.assert_allclose(q[-1], HERE + [0.0, way], atol=1e-12)
    np.testing.assert_allclose(q[:, 0], HERE[0], atol=1e-12)  # rounding errors
    steady = (t > motion.times[1] + 1e-9) & (t < motion.times[2] - 1e-9)
    assert steady.mean() > 0.5
    np.testing.assert_allclose(v[steady, 1], np.sign(way) * 0.6, atol=1e-9)
    np.testing.assert_allclose(a[steady], 0.0, atol=1e-8)
    assert np.abs(v).max() == pytest.approx(0.6, abs=1e-9)
    assert np.abs(a).max() == pytest.approx(2.0, abs=1e-5)  # samples beside the peak


def test_stroke_too_short_for_its_speed_is_refused() -> None:
    with pytest.raises(TrajectoryError, match="joint 'two' does not reach 3 on a way of 0.1"):
        stroke(NAMES, HERE, 1, 0.1, 3.0, 1.0)


@pytest.mark.parametrize('pause', [0.0, 0.7])
def test_joined_motions_follow_each_other(pause: float) -> None:
    out = stroke(NAMES, HERE, 0, 1.0, 0.5, 2.0)
    back = rest_to_rest(NAMES, HERE + [1.0, 0.0], HERE, 0.5, 1.0)
    whole = joined([out, back], pause)
    assert whole.duration == pytest.approx(out.duration + pause + back.duration, abs=1e-12)
    t = np.linspace(0.0, back.duration, 100)
    for part, expected in zip(whole.sample_many(out.duration + pause + t), back.sample_many(t)):
        np.testing.assert_allclose(part, expected, atol=1e-9)  # rounding errors
    if pause:
        still = whole.sample_many(out.duration + np.array([0.1, 0.5]))
        np.testing.assert_allclose(still[0], [HERE + [1.0, 0.0]] * 2, atol=1e-12)
        np.testing.assert_allclose(still[1], 0.0, atol=1e-12)


def test_motions_that_do_not_meet_are_refused() -> None:
    one = rest_to_rest(NAMES, HERE, HERE + 1.0, 1.0, 1.0)
    with pytest.raises(TrajectoryError, match='does not begin where'):
        joined([one, one])
    with pytest.raises(TrajectoryError, match='different joints'):
        joined([one, rest_to_rest(('a', 'b'), HERE, HERE, 1.0, 1.0)])
    with pytest.raises(TrajectoryError, match='no motions'):
        joined([])
