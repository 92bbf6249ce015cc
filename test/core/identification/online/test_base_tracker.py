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

"""All base parameters, row by row: equal to offline fits, sound for ever, frozen bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
)
from robot_dynamics_ros.core.identification.consistent_fit import consistent_fit
from robot_dynamics_ros.core.identification.least_squares import weighted_least_squares
from robot_dynamics_ros.core.identification.online.base_tracker import BaseTracker
from robot_dynamics_ros.core.identification.online.online_start import (
    OnlineStart,
    start_of_description,
)
from robot_dynamics_ros.core.identification.regression_rows import RegressionRows
from robot_dynamics_ros.core.identification.triangular_factors import accumulated
from tracker_rows import drives, es5_model, motion, NOISE, rows_of

ALL = np.ones(6, dtype=bool)


def test_without_forgetting_it_is_the_offline_fit_of_the_same_rows() -> None:
    model = es5_model()
    rows = rows_of(model, *motion(800), drives(model))
    block = RegressionRows(
        np.array([row.stamp for row in rows]),
        np.array([row.regressor for row in rows]),
        np.array([row.tau for row in rows]),
        np.ones((800, 6), dtype=bool),
    )
    factors = accumulated([block], model.columns_of_joint, model.base.rank)
    offline = weighted_least_squares(factors)
    tracker = BaseTracker(start_of_description(model, offline.spread, 9.0))
    for row in rows:
        tracker.step(row, ALL)
        tracker.work()
    # The open prior counts like a part of one row in 4800; errors are compared in efforts.
    predicted = block.regressor @ tracker.estimate, block.regressor @ offline.base
    assert np.abs(predicted[0] - predicted[1]).max() < 0.02 * NOISE.min()
    online, offline_bodies = (consistent_fit(model, fit, 10.0) for fit in (tracker.fit, offline))
    apart = block.regressor @ (online.base - offline_bodies.base)
    assert np.abs(apart).max() < 0.05 * NOISE.min()
    np.testing.assert_allclose(tracker.seconds, 20.0, rtol=1e-12)


def test_estimates_are_as_good_as_their_deviations_say() -> None:
    model = es5_model()
    truth = drives(model)
    tracker = BaseTracker(start_of_description(model, NOISE, 1.0))
    for row in rows_of(model, *motion(2000), truth):
        tracker.step(row, ALL)
    errors = (tracker.estimate - model.base.to_base(truth)) / tracker.deviations
    # About as many standard normal numbers as parameters: rms one, none beyond five.
    assert 0.7 < float(np.sqrt(np.mean(errors**2))) < 1.3
    assert np.abs(errors).max() < 5.0


def test_equations_are_taken_in_one_by_one_and_none_is_lost() -> None:
    model = es5_model()
    start = start_of_description(model, NOISE, 1.0)
    spread_out, at_once = BaseTracker(start), BaseTracker(start)
    for row in rows_of(model, *motion(100), drives(model)):
        for tracker in (spread_out, at_once):
            tracker.step(row, ALL)
        spread_out.work()
        at_once.finish()
    np.testing.assert_array_equal(spread_out.estimate, at_once.estimate)


def test_standstill_leaves_all_bits_and_memory_as_they_are() -> None:
    model = es5_model()
    tracker = BaseTracker(start_of_description(model, NOISE, 1.0), memory=60.0)
    rows = rows_of(model, *motion(300), drives(model))
    for row in rows:
        tracker.step(row, ALL)
    kept, estimate = tracker.state(), tracker.estimate
    for _ in range(480):  # an hour at 40 Hz
        for row in rows:
            tracker.step(row, ~ALL)
            tracker.work()
    assert all(np.array_equal(kept[key], value) for key, value in tracker.state().items())
    np.testing.assert_array_equal(tracker.estimate, estimate)


@pytest.mark.soak
def test_millions_of_equations_stay_sound() -> None:
    model = es5_model()
    truth = drives(model)
    start = start_of_description(model, NOISE, 1.0)
    tracker = BaseTracker(start, memory=60.0)
    # One joint at a time, so that most parameters are not seen most of the time.
    q, v, a = motion(2400)
    for j in range(6):
        other = np.arange(6) != j
        v[400 * j : 400 * j + 400, other] = a[400 * j : 400 * j + 400, other] = 0.0
    rows = rows_of(model, q, v, a, truth)
    for _ in range(200):
        for row in rows:
            tracker.step(row, np.abs(row.state.v) > 0.03)
            tracker.work()
    assert np.isfinite(tracker.estimate).all()
    assert (tracker.deviations <= 1.0001 * start.open_deviations).all()
    errors = np.array([row.regressor @ (tracker.estimate - model.base.to_base(truth))
                       for row in rows])  # fmt: skip
    assert np.sqrt(np.mean(errors**2)) < 0.1


def test_state_goes_on_where_it_was_and_broken_ones_are_refused() -> None:
    model = es5_model()
    start = start_of_description(model, NOISE, 1.0)
    one, other = BaseTracker(start, 60.0), BaseTracker(start, 60.0)
    rows = rows_of(model, *motion(200), drives(model))
    for row in rows[:100]:
        one.step(row, ALL)
    other.restore(one.state())
    for row in rows[100:]:
        one.step(row, ALL)
        other.step(row, ALL)
    np.testing.assert_array_equal(one.estimate, other.estimate)
    state = one.state()
    for broken, error in (
        ({'seconds': state['seconds'], 'rows': state['rows']}, DimensionError),
        ({**state, 'root': state['root'] * np.nan}, NonFiniteError),
        ({**state, 'root': 0.0 * state['root']}, ConfigurationError),
    ):
        with pytest.raises(error):
            other.restore(broken)
    np.testing.assert_array_equal(one.estimate, other.estimate)


def test_senseless_starts_are_refused() -> None:
    model = es5_model()
    with pytest.raises(ConfigurationError, match='memory of the base parameters is 0'):
        BaseTracker(start_of_description(model), 0.0)
    with pytest.raises(ConfigurationError, match='spread of the errors'):
        start_of_description(model, np.zeros(6))
    with pytest.raises(ConfigurationError, match='inflation'):
        start_of_description(model, NOISE, 0.5)
    with pytest.raises(DimensionError, match='covariance'):
        OnlineStart(model, model.base.to_base(model.prior), np.eye(3),
                    np.ones(model.base.rank), NOISE)  # fmt: skip
