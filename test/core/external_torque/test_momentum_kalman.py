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

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.external_torque.momentum_kalman import (
    MomentumKalmanFilter,
    settled_covariance,
)


def test_settled_covariance_solves_the_riccati_equation() -> None:
    w = 70.0
    ss, sf, ff = settled_covariance(w)
    covariance = np.array([[ss, sf], [sf, ff]])
    a = np.array([[0.0, 1.0], [0.0, 0.0]])
    c = np.array([[1.0, 0.0]])
    rate = a @ covariance + covariance @ a.T + np.diag([0.0, w**4])
    rate -= covariance @ c.T @ c @ covariance
    np.testing.assert_allclose(rate, 0.0, atol=1e-9 * w**4)  # rounding


@pytest.mark.parametrize('jitter', [0.0, 0.4])
def test_step_response_is_that_of_the_butterworth_filter(jitter: float) -> None:
    w, dt = 50.0, 2e-4
    kalman = MomentumKalmanFilter(1, w)
    rng = np.random.default_rng(0)
    time = 0.0
    for _ in range(1000):
        step = dt * (1.0 + jitter * rng.uniform(-1.0, 1.0))
        time += step
        kalman.step(step, np.array([3.0 * step]))
        x = w * time / np.sqrt(2.0)
        expected = 3.0 * (1.0 - np.exp(-x) * (np.cos(x) + np.sin(x)))
        # the discrete filter is ahead by a part of a step of w dt = 1 %
        assert kalman.tau_ext[0] == pytest.approx(expected, abs=0.03)


def test_noise_of_the_momentum_passes_as_stated() -> None:
    w, dt = 100.0, 1e-3
    kalman = MomentumKalmanFilter(2000, w)
    rng = np.random.default_rng(1)
    before = np.zeros(2000)
    for _ in range(200):
        noise = rng.normal(size=2000)
        kalman.step(dt, noise - before)
        before = noise
    expected = np.sqrt(w**3 * dt / (2.0 * np.sqrt(2.0)))
    # 1.6 % of scatter, and w dt = 10 % between the continuous and the sampled filter
    assert kalman.tau_ext.std() == pytest.approx(expected, rel=0.15)


def test_any_time_between_messages_is_stable() -> None:
    kalman = MomentumKalmanFilter(1, 200.0)
    rng = np.random.default_rng(2)
    for dt in 10.0 ** rng.uniform(-5, 1, 3000):
        kalman.step(float(dt), np.array([2.0 * dt]))
        assert abs(kalman.tau_ext[0]) < 10.0
    assert kalman.tau_ext[0] == pytest.approx(2.0, rel=1e-6)
    kalman.reset()
    assert kalman.tau_ext[0] == 0.0


def test_bad_bandwidth_is_refused() -> None:
    with pytest.raises(ConfigurationError, match='bandwidth is -1'):
        MomentumKalmanFilter(2, -1.0)
