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

"""Fourier series: derivatives, rest at the ends, periods, and the trajectory through them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from robot_dynamics_ros.core.exceptions import ConfigurationError, DimensionError
from robot_dynamics_ros.core.trajectory.fourier import (
    fourier_basis,
    FourierSeries,
    rest_basis,
    rest_motion_basis,
)

NAMES = ('one', 'two', 'three')


def random_series(harmonics: int = 5, period: float = 7.0, seed: int = 0) -> FourierSeries:
    rng = np.random.default_rng(seed)
    return FourierSeries.from_free(period, rng.normal(size=(2 * harmonics - 1, len(NAMES))))


@pytest.mark.parametrize('harmonics', [2, 3, 5, 8])
def test_motion_is_at_rest_at_the_ends_of_every_period(harmonics: int) -> None:
    series = random_series(harmonics)
    q, v, a = series.sample_many(series.period * np.arange(4))
    # Sums of at most 16 sines and cosines of size 1, at phases up to 150: rounding errors.
    np.testing.assert_allclose(v, 0.0, atol=1e-12)
    np.testing.assert_allclose(a, 0.0, atol=1e-11)
    np.testing.assert_allclose(q, np.tile(q[0], (4, 1)), atol=1e-12)


def test_derivatives_match_finite_differences() -> None:
    series = random_series()
    t, h = np.linspace(0.0, 7.0, 50), 1e-5
    before, here, after = (series.sample_many(t + shift) for shift in (-h, 0.0, h))
    # Central differences: h^2 / 6 times the third derivative (about 1e2), and rounding / h.
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), here[1], atol=1e-7)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), here[2], atol=1e-7)


def test_derivatives_match_a_periodic_spline_of_scipy() -> None:
    series = random_series()
    t = np.linspace(0.0, series.period, 4001)
    q, v, a = series.sample_many(t)
    q[-1] = q[0]
    spline = CubicSpline(t, q, bc_type='periodic')
    # A cubic spline is exact to h^3 and h^2 in its first and second derivative, h = 1.75 ms.
    np.testing.assert_allclose(spline(t, 1), v, atol=1e-6)
    np.testing.assert_allclose(spline(t, 2), a, atol=1e-3)


def test_basis_of_free_coefficients_is_the_series() -> None:
    free = np.random.default_rng(1).normal(size=(9, 3))
    t = np.linspace(0.0, 9.0, 40)
    sampled = FourierSeries.from_free(4.0, free).sample_many(t)
    for part, basis in zip(sampled, rest_motion_basis(t, 4.0, 5)):
        np.testing.assert_allclose(basis @ free, part, atol=1e-12)  # rounding errors


def test_rest_basis_is_orthonormal_and_spans_all_motions_at_rest() -> None:
    basis = rest_basis(5)
    np.testing.assert_allclose(basis.T @ basis, np.eye(8), atol=1e-14)  # rounding errors
    _, velocity, acceleration = fourier_basis([0.0], 3.0, 5)
    np.testing.assert_allclose(np.vstack((velocity, acceleration))[:, 1:] @ basis, 0.0, atol=1e-13)


def test_trajectory_repeats_the_period_and_is_exact_between_its_points() -> None:
    series = random_series()
    trajectory = series.trajectory(NAMES, periods=3, rate=30.0)
    assert trajectory.duration == pytest.approx(21.0, abs=1e-12)
    assert not trajectory.velocities[[0, -1]].any()
    assert not trajectory.accelerations[[0, -1]].any()
    t = np.linspace(0.0, 21.0, 1777)
    for part, expected, tolerance in zip(
        trajectory.sample_many(t), series.sample_many(t), (1e-7, 1e-5, 2e-3)
    ):
        # Quintic Hermite between points of distance h: errors h^6, h^5, h^4 times the sixth
        # derivative, of the order of (2 pi 5 / 7 Hz)^5 = 2000, by 46080, 1000 and 100.
        np.testing.assert_allclose(part, expected, atol=tolerance)


def test_points_of_a_period_repeat_exactly() -> None:
    trajectory = random_series(period=5.0).trajectory(NAMES, periods=2, rate=20.0)
    np.testing.assert_array_equal(trajectory.positions[:100], trajectory.positions[100:200])


def test_what_cannot_be_a_series_is_refused() -> None:
    with pytest.raises(ConfigurationError, match='at least 2'):
        rest_basis(1)
    with pytest.raises(ConfigurationError, match='period'):
        FourierSeries.from_free(0.0, np.zeros((9, 2)))
    with pytest.raises(DimensionError, match='center'):
        FourierSeries(1.0, np.zeros(3), np.zeros((5, 2)), np.zeros((5, 2)))
