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

from math import inf, nan
from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import ConfigurationError, TrajectoryError
from robot_dynamics_ros.core.trajectory.streamed_reference import StreamedReference


def motion(t: float) -> tuple[Any, Any, Any]:
    rate = np.array([2.0, 3.0])
    return np.sin(rate * t), rate * np.cos(rate * t), -(rate**2) * np.sin(rate * t)


def test_missing_derivatives_are_derived_from_successive_points() -> None:
    reference = StreamedReference(2)
    for k in range(50):
        reference.push(0.01 * k, motion(0.01 * k)[0])
    for got, true in zip(reference.sample(0.49), motion(0.49)):
        # A parabola over 60 ms of a motion with 3 rad/s: the cubic remainder is 0.06^2 * 27 / 6.
        np.testing.assert_allclose(got, true, atol=1.0)
    np.testing.assert_allclose(reference.sample(0.49)[1], motion(0.49)[1], atol=0.02)


def test_constant_acceleration_is_met_exactly() -> None:
    reference = StreamedReference(1)
    for k in range(10):
        t = 0.004 * k
        reference.push(t, [0.3 * t * t + t])
    q, v, a = reference.sample(0.036)
    assert a[0] == pytest.approx(0.6, rel=1e-6)  # second difference: rounding / 0.004^2
    assert v[0] == pytest.approx(1.0 + 0.6 * 0.036, rel=1e-9)
    ahead = reference.sample(0.038)
    assert ahead[0][0] == pytest.approx(0.3 * 0.038**2 + 0.038, rel=1e-9)


def test_jitter_of_stamps_is_smoothed() -> None:
    rng = np.random.default_rng(2)
    reference = StreamedReference(1)
    errors, naive, last = [], [], []
    for k in range(400):
        t = 0.01 * k
        reference.push(t + rng.normal(scale=2e-4), [t])  # speed 1, acceleration 0
        last = [*last[-2:], reference._times[-1]]
        if k >= 10:
            errors.append(reference.sample(reference._times[-1])[2][0])
            first, second = 0.01 / (last[1] - last[0]), 0.01 / (last[2] - last[1])
            naive.append((second - first) / 0.01)
    assert np.std(errors) < 0.25 * np.std(naive)


def test_given_derivatives_are_used() -> None:
    reference = StreamedReference(2)
    reference.push(0.0, [0.0, 0.0], [1.0, 2.0], [3.0, 4.0])
    _, v, a = reference.sample(0.0)
    assert v.tolist() == [1.0, 2.0]
    assert a.tolist() == [3.0, 4.0]
    reference.push(0.01, [0.01, 0.02], [1.01, 2.02])
    _, v, a = reference.sample(0.01)
    assert v.tolist() == [1.01, 2.02]
    np.testing.assert_allclose(a, [1.0, 2.0], rtol=1e-9)  # from the velocities


def test_silence_holds_the_last_point() -> None:
    reference = StreamedReference(1, timeout=0.05)
    reference.push(0.0, [0.0])
    reference.push(0.01, [0.01])
    assert reference.sample(0.015)[0][0] == pytest.approx(0.015)
    assert reference.sample(0.04)[0][0] == pytest.approx(0.02)  # no further than one interval
    q, v, a = reference.sample(0.07)
    assert (q[0], v[0], a[0]) == (0.01, 0.0, 0.0)


def test_pause_or_reset_of_time_starts_afresh() -> None:
    reference = StreamedReference(1, timeout=0.05)
    reference.push(10.0, [0.0])
    reference.push(10.01, [0.1])
    reference.push(3.0, [5.0])
    assert reference.sample(3.0)[1][0] == 0.0
    reference.push(3.2, [6.0])
    assert reference.sample(3.2)[1][0] == 0.0
    assert reference.age(3.3) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ('point', 'match'),
    [
        ((0.5, [1.0]), 'not later'),
        ((nan, [1.0]), 'time of a point'),
        ((1.0, []), 'no positions'),
        ((1.0, [1.0, 2.0]), '2 positions for 1 joints'),
        ((1.0, [nan]), 'positions of a point are not finite'),
        ((1.0, [1.0], [inf]), 'velocities of a point'),
        ((1.0, [1.0], [1.0], [1.0, 2.0]), '2 accelerations'),
    ],
)
def test_bad_points_are_refused_and_change_nothing(point: Any, match: str) -> None:
    reference = StreamedReference(1, timeout=1.0)
    reference.push(0.5, [7.0])
    with pytest.raises(TrajectoryError, match=match):
        reference.push(*point)
    assert reference.sample(0.5)[0][0] == 7.0


def test_without_a_point_there_is_no_reference() -> None:
    reference = StreamedReference(1)
    assert not reference.has_point
    assert reference.age(0.0) == inf
    with pytest.raises(TrajectoryError, match='no point'):
        reference.sample(0.0)
    with pytest.raises(ConfigurationError, match='window'):
        StreamedReference(1, window=2)
