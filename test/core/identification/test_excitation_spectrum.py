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

from robot_dynamics_ros.core.exceptions import ConfigurationError, DimensionError
from robot_dynamics_ros.core.identification.excitation_spectrum import (
    chosen_cutoff,
    highest_frequency,
)

T = np.arange(4000) * 0.01


def test_highest_frequency_is_that_of_the_motion_whatever_its_size() -> None:
    large = np.sin(2.0 * np.pi * 0.3 * T)
    small = 1e-2 * np.sin(2.0 * np.pi * 1.5 * T)
    still = np.full_like(T, 0.7)
    # The window widens a line by two steps of 1/40 Hz.
    found = highest_frequency([(T, np.column_stack([large, small, still]))])
    assert found == pytest.approx(1.5, abs=0.05)
    noise = 1e-6 * np.random.default_rng(0).normal(size=(len(T), 2))
    noisy = np.column_stack([large, small]) + noise
    assert highest_frequency([(T, noisy)]) == pytest.approx(1.5, abs=0.05)


def test_cutoffs_lie_above_the_motion_and_below_the_rate() -> None:
    position = np.sin(2.0 * np.pi * 0.5 * T)[:, None]
    found = chosen_cutoff(T, position)
    assert found.cutoff == pytest.approx(4.0, rel=0.1)
    assert found.motion_cutoff == pytest.approx(16.0, rel=0.1)
    assert '99 % of the power' in found.reason
    slow = chosen_cutoff(T[::20], position[::20])
    assert slow.cutoff <= slow.motion_cutoff <= 1.0 + 1e-9  # a fifth of 5 Hz
    given = chosen_cutoff(T, position, 6.0)
    assert (given.cutoff, given.reason, given.highest_frequency) == (6.0, 'given', None)


def test_errors_say_what_was_expected() -> None:
    position = np.sin(T)[:, None]
    with pytest.raises(ConfigurationError, match='cutoff 45 Hz is not between 0 and 40 Hz'):
        chosen_cutoff(T, position, 45.0)
    with pytest.raises(ConfigurationError, match='expected at least 20'):
        chosen_cutoff(T[:5], position[:5])
    with pytest.raises(ConfigurationError, match='no joint of the log moves'):
        highest_frequency([(T, 0.0 * position)])
    with pytest.raises(ConfigurationError, match='no joint of the log moves'):
        chosen_cutoff(T, 0.0 * position)
    with pytest.raises(DimensionError, match='position'):
        chosen_cutoff(T, position[:-1])
