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

"""A filter makes of a window, away from its ends, what it makes of the whole signal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
import pytest

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.signals.time_axis import even_grid, TimeAxis, TimeWindow
from robot_dynamics_ros.core.signals.zero_phase import (
    bridge_missing,
    SPLINE_MARGIN,
    ZeroPhaseFilter,
)

Array = NDArray[np.float64]


def axis_of(kind: str) -> Array:
    rng = np.random.default_rng(0)
    steps = np.full(6000, 0.004)
    if kind != 'even':
        steps *= 1.0 + 0.3 * rng.uniform(-1.0, 1.0, len(steps))
    if kind == 'gaps':
        steps[[700, 2900, 2905, 4400]] = 3.0
    return np.cumsum(steps)


@pytest.mark.parametrize('kind', ['even', 'jitter', 'gaps'])
@pytest.mark.parametrize('cutoff', [4.0, 40.0])
def test_windows_give_what_the_whole_gives(kind: str, cutoff: float) -> None:
    stamps = axis_of(kind)
    walk = np.random.default_rng(1).normal(size=(len(stamps), 2)).cumsum(axis=0)
    low_pass = ZeroPhaseFilter(cutoff)
    whole = low_pass.derivatives(stamps, walk, 2)
    axis = TimeAxis(stamps)
    margin = low_pass.settling_time(250.0)
    for start, stop in ((0, 1), (0, 2000), (2000, 3100), (3100, 3101), (3101, 6000)):
        begin, end = np.searchsorted(stamps, [stamps[start] - margin, stamps[stop - 1] + margin])
        begin, end = max(0, begin - SPLINE_MARGIN), min(len(stamps), end + SPLINE_MARGIN)
        window = TimeWindow(axis, int(begin), int(end))
        assert (begin, end) != (0, len(stamps))
        found = low_pass.derivatives_within(window, walk[begin:end], 2)
        for mine, its in zip(found, whole):
            # What the filter remembers of what is outside is 1e-13 of the signal, which grows with
            # the steps of the walk and with each derivative by (2 pi cutoff).
            part = mine[start - begin : stop - begin]
            assert np.isnan(part).any() == (kind == 'gaps' and start <= 2903 < stop)
            assert np.array_equal(np.isnan(part), np.isnan(its[start:stop]))
            size = np.nanmax(np.abs(its))
            assert np.nanmax(np.abs(part - its[start:stop])) < 1e-10 * size


def test_settling_time_is_twelve_periods_and_less_reaches_further() -> None:
    low_pass = ZeroPhaseFilter(5.0)
    # exp(-2 pi f sin(22.5 deg) t) = 1e-13
    expected = np.log(1e13) / (2.0 * np.pi * 5.0 * np.sin(np.pi / 8.0))
    assert low_pass.settling_time() == pytest.approx(expected)
    assert low_pass.settling_time(1000.0) == pytest.approx(expected, rel=1e-3)
    stamps = axis_of('even')
    pulse = np.zeros((len(stamps), 1))
    pulse[3000] = 1.0
    response = np.abs(low_pass.filtered(stamps, pulse)[:, 0])
    distance = np.abs(stamps - stamps[3000])
    # Run both ways, the slowest pole decays times a line in time.
    assert response[distance > expected].max() < 1e-11 * response.max()
    assert response[distance > 0.4 * expected].max() > 1e-7 * response.max()
    assert ZeroPhaseFilter(None).settling_time(100.0) == 0.0
    with pytest.raises(ConfigurationError, match='half the sampling rate'):
        low_pass.settling_time(9.0)


def test_grid_of_a_piece_is_that_of_the_whole() -> None:
    for kind in ('even', 'jitter'):
        stamps = axis_of(kind)
        (part,) = TimeAxis(stamps).parts(5.0)
        grid = even_grid(stamps)
        assert part.is_even == (kind == 'even')
        assert np.array_equal(part.grid(100, 200), grid[100:201])
        assert part.grid(0, part.count - 1)[-1] == stamps[-1]


def test_long_stretch_is_bridged_by_what_is_near() -> None:
    stamps = np.arange(0.0, 100.0)
    values = stamps[:, None] + 1.0
    values[10:12] = values[30:60] = values[90:] = np.nan
    bridged = bridge_missing(stamps, values, 10.0)[:, 0]
    assert bridged[10:12].tolist() == [11.0, 12.0]  # a line
    assert bridged[30:35].tolist() == 5 * [30.0]
    assert not bridged[35:55].any()
    assert bridged[55:60].tolist() == 5 * [61.0]
    assert bridged[90:95].tolist() == 5 * [90.0]
    assert not bridged[95:].any()
    # A window that holds what is near gives the same.
    part = slice(40, 80)
    near = bridge_missing(stamps[part], values[part], 10.0)[:, 0]
    assert np.array_equal(near[10:-10], bridged[50:70])
