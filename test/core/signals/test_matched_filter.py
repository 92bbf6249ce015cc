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

"""A causal filter whose derivatives and signals have the same delay, on irregular stamps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.signal import butter, lsim

from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
)
from robot_dynamics_ros.core.signals.matched_filter import MatchedFilter

CUTOFF = 5.0


def stamps(end: float) -> np.ndarray:
    """Return stamps with steps between 0.2 and 2 ms."""
    steps = np.random.default_rng(0).uniform(2e-4, 2e-3, int(end / 1.1e-3))
    return np.concatenate([[0.0], np.cumsum(steps)])


def run(filters: MatchedFilter, times: np.ndarray, signal: Callable[[float], float]) -> np.ndarray:
    filters.reset(np.array([signal(0.0)]))
    found = [
        filters.step(h, np.array([signal(t)])).copy()[:, 0]
        for h, t in zip(np.diff(times), times[1:])
    ]
    return np.array(found)


@pytest.mark.parametrize('order', [1, 2, 3, 4, 5])
def test_gain_and_phase_of_every_derivative_are_those_of_butterworth(order: int) -> None:
    times = stamps(4.0)
    omega = 2.0 * np.pi * 2.0
    highest = min(order - 1, 2)
    found = run(
        MatchedFilter(CUTOFF, 1, order, highest), times, lambda t: float(np.cos(omega * t))
    )
    numerator, denominator = butter(order, 2.0 * np.pi * CUTOFF, analog=True)
    response = np.polyval(numerator, 1j * omega) / np.polyval(denominator, 1j * omega)
    for j in range(highest + 1):
        expected = (response * (1j * omega) ** j * np.exp(1j * omega * times[1:])).real
        # A straight line between samples 2 ms apart misses the wave by (omega h)^2 / 8 = 8e-5;
        # of the start, e^-20 is left.
        np.testing.assert_allclose(
            found[-500:, j], expected[-500:], atol=1e-4 * (2.0 * np.pi * 20.0) ** j
        )


def test_step_is_exact_for_straight_lines_of_any_length() -> None:
    # Corners at 0, 0.3 and 0.5 s, sampled there and at few times besides: lsim's first-order hold
    # on a fine grid that holds all of them is exact, too.
    numerator, denominator = butter(3, 2.0 * np.pi * CUTOFF, analog=True)
    grid = np.linspace(0.0, 1.0, 1001)

    def signal(t: float | np.ndarray) -> np.ndarray:
        return np.interp(t, [0.0, 0.3, 0.5, 1.0], [0.0, 2.0, -1.0, 0.0])

    _, expected, _ = lsim((numerator, denominator), signal(grid), grid)
    few = np.array([0.0, 0.001, 0.3, 0.31, 0.5, 0.9, 1.0])
    found = run(MatchedFilter(CUTOFF, 1, 3), few, lambda t: float(signal(t)))
    # lsim takes the exponential of a matrix: 1e-12 in each of a thousand steps.
    np.testing.assert_allclose(
        found[:, 0], expected[(few[1:] * 1000).round().astype(int)], atol=1e-8
    )


def test_slow_signals_are_late_by_the_delay_and_derivatives_alike() -> None:
    filters = MatchedFilter(CUTOFF, 1, 3, 2)
    times = stamps(3.0)
    found = run(filters, times, lambda t: 0.5 * t * t)
    # (t - d)^2 / 2 and the filter's second moment, which is a constant.
    late = times[1:] - filters.delay
    np.testing.assert_allclose(found[-100:, 2], 1.0, atol=1e-3)  # the line between samples
    np.testing.assert_allclose(found[-100:, 1], late[-100:], atol=1e-4)


def test_settling_time_tells_when_a_wrong_start_is_forgotten() -> None:
    filters = MatchedFilter(CUTOFF, 2, 3)
    filters.reset(np.array([1.0, 0.0]))
    for _ in range(100):
        left = filters.step(filters.settling_time / 100, np.zeros(2))
    assert abs(left[0, 0]) < 5e-3  # a thousandth of each state, and some states together
    assert left[0, 1] == 0.0


def test_reset_is_the_state_of_rest() -> None:
    filters = MatchedFilter(CUTOFF, 3, 3, 2)
    values = np.array([1.0, -2.0, 0.5])
    filters.reset(values)
    found = filters.step(0.01, values)
    np.testing.assert_allclose(found, [values, np.zeros(3), np.zeros(3)], atol=1e-10)


def test_senseless_filters_are_refused() -> None:
    with pytest.raises(ConfigurationError, match='cutoff of the filter is -1'):
        MatchedFilter(-1.0, 1)
    with pytest.raises(ConfigurationError, match='derivative 3 of a filter of order 3'):
        MatchedFilter(1.0, 1, 3, 3)
    with pytest.raises(DimensionError, match='values has'):
        MatchedFilter(1.0, 2).reset(np.zeros(3))
    with pytest.raises(NonFiniteError, match='values'):
        MatchedFilter(1.0, 1).reset(np.array([np.nan]))
