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

from math import nan, pi

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import TrajectoryError
from robot_dynamics_ros.core.trajectory.scenarios import scenario, SCENARIOS


@pytest.mark.parametrize('name', SCENARIOS)
@pytest.mark.parametrize(('amplitude', 'time_scale'), [(1.0, 1.0), (0.9, 4.0)])
def test_derivatives_are_exact(name: str, amplitude: float, time_scale: float) -> None:
    motion = scenario(name, amplitude, time_scale)
    t = np.linspace(0.0, motion.duration, 401)[1:-1]
    t = t[np.abs(t / time_scale - 1.0) > 1e-3]  # pick_place changes joints there
    step = 1e-5
    q0, v0, _ = motion.sample_many(t - step)
    q1, v1, _ = motion.sample_many(t + step)
    _, v, a = motion.sample_many(t)
    # Central differences: step^2 / 6 times the third derivative, about 2500 at most.
    np.testing.assert_allclose((q1 - q0) / (2 * step), v, atol=1e-6)
    np.testing.assert_allclose((v1 - v0) / (2 * step), a, atol=1e-5)


def test_durations_and_ends_are_those_of_the_source() -> None:
    assert [scenario(name).duration for name in SCENARIOS] == [2.0, 2.0, 2.0, 0.8]
    assert scenario('aggressive', 0.9, 4.0).duration == pytest.approx(3.2)
    np.testing.assert_allclose(scenario('shoulder_up').sample(2.0)[0], [0, pi / 2, 0, 0, 0, 0])
    pick = scenario('pick_place')
    np.testing.assert_allclose(pick.sample(1.0)[0], [0, pi / 3, 0, 0, 0, 0], atol=1e-15)
    np.testing.assert_allclose(pick.sample(2.0)[0], [pi / 2, pi / 3, 0, 0, 0, 0], atol=1e-15)
    peak = scenario('aggressive').sample(0.4)[0]
    np.testing.assert_allclose(peak, [0.75 * pi, 0.5 * pi, 0, pi, 0, 0], atol=1e-15)
    np.testing.assert_allclose(scenario('aggressive').sample(0.8)[0], np.zeros(6), atol=1e-15)
    axes = scenario('all_axes').sample(1.0)[0]
    expected = [pi / 8 * (1 - np.cos(pi / 2 + j * pi / 6)) for j in range(6)]
    np.testing.assert_allclose(axes, expected, atol=1e-15)


def test_aggressive_asks_for_the_speeds_of_the_source() -> None:
    _, v, _ = scenario('aggressive').sample_many(np.linspace(0.0, 0.8, 1601))
    np.testing.assert_allclose(np.abs(v).max(axis=0)[[0, 1, 3]], [9.3, 6.2, 12.3], atol=0.05)
    slow = scenario('aggressive', 0.9, 4.0)
    _, v, _ = slow.sample_many(np.linspace(0.0, slow.duration, 1601))
    assert np.abs(v).max() == pytest.approx(2.8, abs=0.05)


@pytest.mark.parametrize('name', SCENARIOS)
def test_outside_its_duration_the_arm_is_held(name: str) -> None:
    motion = scenario(name)
    for t, end in ((-0.1, 0.0), (motion.duration + 0.1, motion.duration)):
        q, v, a = motion.sample(t)
        np.testing.assert_array_equal(q, motion.sample(end)[0])
        assert not v.any() and not a.any()


def test_unknown_names_and_factors_are_refused() -> None:
    with pytest.raises(TrajectoryError, match="no scenario 'dance'; there are: shoulder_up"):
        scenario('dance')
    with pytest.raises(TrajectoryError, match='amplitude'):
        scenario('pick_place', amplitude=0.0)
    with pytest.raises(TrajectoryError, match='time_scale'):
        scenario('pick_place', time_scale=nan)
