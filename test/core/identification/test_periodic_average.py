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

from robot_dynamics_ros.core.exceptions import ConfigurationError, DimensionError, NonFiniteError
from robot_dynamics_ros.core.identification.periodic_average import periodic_average


def test_mean_is_the_period_and_the_spread_is_the_noise() -> None:
    rng = np.random.default_rng(0)
    t = 3.0 + np.arange(10 * 500 + 37) * 0.004  # ten periods and a rest
    wave = np.column_stack([np.sin(np.pi * t), 5.0 + np.cos(3.0 * np.pi * t)])
    noise = np.array([0.1, 0.4])
    found = periodic_average(t, wave + noise * rng.normal(size=wave.shape), 2.0)
    assert (found.periods, len(found.stamps)) == (10, 500)
    expected = np.column_stack(
        [np.sin(np.pi * (3.0 + found.stamps)), 5.0 + np.cos(3.0 * np.pi * (3.0 + found.stamps))]
    )
    error = np.sqrt(np.mean((found.mean - expected) ** 2, axis=0))
    # A tenth of the variance is left; 500 samples tell it to 3 %, 4500 the noise to 1 %.
    assert error == pytest.approx(noise / np.sqrt(10.0), rel=0.1)
    assert found.deviation == pytest.approx(noise, rel=0.05)


def test_exact_repetition_has_no_spread() -> None:
    t = np.arange(300) * 0.01
    found = periodic_average(t, np.sin(2.0 * np.pi * t)[:, None], 1.0)
    assert found.periods == 3
    assert found.deviation[0] < 1e-9  # rounding of the stamps


def test_errors_say_what_was_expected() -> None:
    t = np.arange(100) * 0.01
    values = np.zeros((100, 1))
    with pytest.raises(ConfigurationError, match='at least two periods of 0.8 s'):
        periodic_average(t, values, 0.8)
    with pytest.raises(ConfigurationError, match='has 5 samples, expected at least 10'):
        periodic_average(t, values, 0.05)
    with pytest.raises(DimensionError, match='values'):
        periodic_average(t, values[:-1], 0.2)
    with pytest.raises(NonFiniteError, match='values'):
        periodic_average(t, values + np.nan, 0.2)
