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
from numpy.typing import NDArray
import pytest

from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
)
from robot_dynamics_ros.core.signals.time_axis import even_grid, split_at_gaps
from robot_dynamics_ros.core.signals.zero_phase import bridge_missing, ZeroPhaseFilter

Array = NDArray[np.float64]


def jittered(rate: float, duration: float, jitter: float, seed: int = 0) -> Array:
    """Return stamps with steps that vary by the fraction `jitter`."""
    rng = np.random.default_rng(seed)
    steps = (1.0 + jitter * rng.uniform(-1.0, 1.0, int(rate * duration))) / rate
    return np.concatenate([[0.0], np.cumsum(steps)])


def gain(frequency: float, cutoff: float, rate: float, order: int) -> float:
    """Return the gain of the filter run both ways, bilinear transform included."""
    ratio = np.tan(np.pi * frequency / rate) / np.tan(np.pi * cutoff / rate)
    return float(1.0 / (1.0 + ratio ** (2 * order)))


@pytest.mark.parametrize('jitter', [0.0, 0.3])
@pytest.mark.parametrize('frequency', [1.0, 5.0, 10.0])
def test_gain_is_that_of_the_formula_and_phase_is_zero(frequency: float, jitter: float) -> None:
    rate, cutoff = 200.0, 5.0
    stamps = jittered(rate, 20.0, jitter)
    wave = np.sin(2.0 * np.pi * frequency * stamps)[:, None]
    filtered = ZeroPhaseFilter(cutoff).filtered(stamps, wave)
    # The grid's own rate: its step is the median step or a little less.
    rate = 1.0 / np.diff(even_grid(stamps))[0]
    middle = slice(len(stamps) // 4, -len(stamps) // 4)
    expected = gain(frequency, cutoff, rate, 4) * wave
    # Cubic interpolation onto the grid errs by (pi f / rate)^4 or so: 1e-3 at 10 Hz with jitter.
    tolerance = 1e-6 if jitter == 0.0 else 2e-3
    assert np.abs(filtered - expected)[middle].max() < tolerance


def test_gain_at_the_cutoff_is_one_half() -> None:
    stamps = np.arange(0.0, 20.0, 0.005)
    wave = np.cos(2.0 * np.pi * 5.0 * stamps)[:, None]
    filtered = ZeroPhaseFilter(5.0).filtered(stamps, wave)
    assert np.abs(filtered[1000:-1000]).max() == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize('jitter', [0.0, 0.3])
def test_derivatives_of_a_slow_motion_are_exact_but_for_the_step(jitter: float) -> None:
    stamps = jittered(125.0, 10.0, jitter)
    w = 2.0 * np.pi * 0.5
    values = np.column_stack([np.sin(w * stamps), np.cos(w * stamps)])
    # The factor of the filter at a tenth of its cutoff is 1 - 1e-8.
    q, v, a = ZeroPhaseFilter(5.0).derivatives(stamps, values, 2)
    middle = slice(200, -200)
    assert np.abs(q - values)[middle].max() < 1e-6
    assert np.abs(v - w * values[:, ::-1] * [1.0, -1.0])[middle].max() < 2e-5
    assert np.abs(a + w**2 * values)[middle].max() < 1e-3


def test_without_cutoff_the_spline_alone_differentiates() -> None:
    stamps = np.arange(0.0, 2.0, 0.01)
    w = 3.0
    q, v, a = ZeroPhaseFilter(None).derivatives(stamps, np.sin(w * stamps)[:, None], 2)
    # Quintic spline: errors of the order (w h)^6 / h^k; the ends are worse than the middle.
    assert np.abs(q[:, 0] - np.sin(w * stamps)).max() < 1e-12
    assert np.abs(v[:, 0] - w * np.cos(w * stamps))[10:-10].max() < 1e-9
    assert np.abs(a[:, 0] + w**2 * np.sin(w * stamps))[10:-10].max() < 1e-7


def test_constant_and_line_pass_unchanged_up_to_the_ends() -> None:
    stamps = jittered(100.0, 5.0, 0.4)
    values = np.column_stack([np.full(len(stamps), 3.0), 2.0 * stamps - 1.0])
    q, v, a = ZeroPhaseFilter(4.0).derivatives(stamps, values, 2)
    # Point reflection at the ends keeps lines; 1e-6 of the start is left (see the margin), and
    # each derivative multiplies it by 100 Hz at most.
    assert np.abs(q - values).max() < 1e-5
    assert np.abs(v - [0.0, 2.0]).max() < 1e-3
    assert np.abs(a).max() < 1e-1


def test_long_gap_splits_and_short_parts_become_nan() -> None:
    stamps = np.concatenate(
        [np.arange(0.0, 2.0, 0.01), [5.0, 5.01, 5.02], np.arange(8.0, 10.0, 0.01)]
    )
    step = np.where(stamps < 4.0, 0.0, 100.0)[:, None]
    filtered = ZeroPhaseFilter(5.0).filtered(stamps, step)
    assert np.abs(filtered[:200]).max() < 1e-12  # the jump to 100 does not leak through the gap
    assert np.isnan(filtered[200:203]).all()
    # Rounding and starting values of the filter on a constant.
    assert np.abs(filtered[203:] - 100.0).max() < 1e-6
    assert [part.stop - part.start for part in split_at_gaps(stamps, 5.0)] == [200, 3, 200]


def test_short_gap_is_bridged() -> None:
    stamps = np.delete(np.arange(0.0, 4.0, 0.01), slice(100, 106))
    values = np.sin(2.0 * stamps)[:, None]
    assert len(list(split_at_gaps(stamps, 5.0))) == 1
    filtered = ZeroPhaseFilter(5.0).filtered(stamps, values)
    # (w / (2 pi f_c))^8 = 2.7e-10 from the filter, and from the cubic bridge over the gap of
    # 0.07 s, and from reading back next to it, a few times (w gap)^4 / 384 = 1e-6.
    assert np.abs(filtered - values)[50:-50].max() < 5e-6


def test_bridge_is_a_line_in_time_and_leaves_the_rest() -> None:
    stamps = np.array([0.0, 1.0, 3.0, 4.0])
    values = np.array([[0.0, np.nan], [np.nan, np.nan], [6.0, np.inf], [np.nan, np.nan]])
    bridged = bridge_missing(stamps, values)
    assert bridged[:, 0].tolist() == [0.0, 2.0, 6.0, 6.0]
    assert bridged[:, 1].tolist() == [0.0, 0.0, 0.0, 0.0]
    assert np.isnan(values[1, 0])


def test_wrong_input_is_refused() -> None:
    stamps = np.arange(0.0, 1.0, 0.01)
    low_pass = ZeroPhaseFilter(5.0)
    with pytest.raises(DimensionError, match='values has shape'):
        low_pass.filtered(stamps, np.zeros((5, 2)))
    with pytest.raises(NonFiniteError, match='values holds'):
        low_pass.filtered(stamps, np.full((len(stamps), 1), np.nan))
    for cutoff in (0.0, -1.0, 50.0, float('nan')):
        with pytest.raises(ConfigurationError, match='half the sampling rate'):
            ZeroPhaseFilter(cutoff).filtered(stamps, np.zeros((len(stamps), 1)))
