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

"""The bank of fits for several Stribeck velocities against Bayes' rule for all rows at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
)
from robot_dynamics_ros.core.identification.online.stribeck_columns import (
    stribeck_velocities,
    StribeckColumns,
)
from robot_dynamics_ros.core.identification.online.stribeck_grid import StribeckGrid

VELOCITIES = np.array([0.03, 0.05, 0.05**2 / 0.03])
START = np.array([4.0, 3.0, 0.1, 0.5])  # viscous, Coulomb, offset, static level
COVARIANCE = np.diag([0.3, 0.4, 0.1, 0.7]) ** 2
SIGMA = 0.3


def grid() -> StribeckGrid:
    return StribeckGrid(START, COVARIANCE, np.full(4, 2.0), VELOCITIES)


def rows(v: np.ndarray) -> np.ndarray:
    """Return the columns of all terms, and of the static level for each velocity."""
    shapes = np.sign(v)[:, None] * np.exp(-((v[:, None] / VELOCITIES) ** 2))
    return np.column_stack([v, np.sign(v), np.ones(len(v)), shapes])


def drawn(count: int, slowest: float, fastest: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    v = rng.uniform(slowest, fastest, count) * rng.choice([-1.0, 1.0], count)
    made = rows(v)
    truth = np.array([4.2, 3.1, 0.0, 0.0, 0.9, 0.0])
    return made, made @ truth + SIGMA * rng.normal(size=count)


def test_mean_and_covariance_are_those_of_bayes_rule() -> None:
    made, values = drawn(40, 0.03, 0.3)
    tested = grid()
    for row, value in zip(made, values):
        tested.update(row, float(value), SIGMA)
    fits, spreads, evidence = [], [], []
    for k in range(3):
        y = made[:, [0, 1, 2, 3 + k]]
        joint = y @ COVARIANCE @ y.T + SIGMA**2 * np.eye(40)
        evidence.append(multivariate_normal(y @ START, joint).logpdf(values))
        gain = COVARIANCE @ y.T @ np.linalg.inv(joint)
        fits.append(START + gain @ (values - y @ START))
        spreads.append(COVARIANCE - gain @ y @ COVARIANCE)
    # Weights fade by a thousandth in each row at the static level: here by up to two per cent.
    weights = np.exp(np.array(evidence) - max(evidence))
    weights /= weights.sum()
    found = tested.estimate
    expected = np.concatenate([(weights @ np.array(fits))[:3], weights * np.array(fits)[:, 3]])
    np.testing.assert_allclose(found, expected, atol=0.01)
    apart = np.array(fits) - weights @ np.array(fits)
    cell = np.log(5.0 / 3.0)
    slopes = np.gradient(
        np.array(fits), cell, axis=0
    )  # any velocity of a cell may be the true one
    between = (weights * apart.T) @ apart + (weights * slopes.T) @ slopes * cell**2 / 12.0
    spread = np.einsum('k,kij->ij', weights, np.array(spreads)) + between
    np.testing.assert_allclose(tested.covariance, spread, atol=0.01 * spread.max())
    assert tested.velocity == pytest.approx(np.exp(weights @ np.log(VELOCITIES)), rel=0.02)
    # What a row owes to the level: its mean square over fits and velocities.
    row = made[0]
    levels, variances = np.array(fits)[:, 3], np.array(spreads)[:, 3, 3]
    square = weights @ (row[3:] ** 2 * (levels**2 + variances))
    deviation = np.sqrt(square - (weights @ (row[3:] * levels)) ** 2)
    assert tested.unsure(row[3:]) == pytest.approx(deviation, rel=0.05)


def test_fast_motion_says_nothing_of_the_level_and_winds_nothing_up() -> None:
    made, values = drawn(20_000, 0.6, 1.0)
    tested = grid()
    tested.forgetting = 0.999
    for row, value in zip(made, values):
        tested.update(row, float(value), SIGMA)
    # exp(-56): neither weights nor level move; the deviation ends at the widest one.
    np.testing.assert_allclose(tested.estimate[3:], START[3] / 3.0, rtol=1e-6)
    assert np.sqrt(tested.covariance[3, 3]) == pytest.approx(2.0, rel=1e-3)
    assert tested.seen < 1e-6
    np.testing.assert_allclose(tested.estimate[:2], [4.2, 3.1], atol=0.2)


def test_opened_fits_keep_their_estimates_and_the_state_comes_back() -> None:
    made, values = drawn(30, 0.03, 0.3)
    one, other = grid(), grid()
    for row, value in zip(made, values):
        one.update(row, float(value), SIGMA)
    other.restore(one.state())
    before, spread = one.estimate, one.covariance
    added = np.array([0.1, 0.5, 0.2, 0.4])
    one.open(added)
    np.testing.assert_allclose(one.estimate, before, rtol=1e-10)
    np.testing.assert_allclose(one.covariance, spread + np.diag(added**2), atol=1e-10)
    other.open(added)
    for row, value in zip(made, values):
        one.update(row, float(value), SIGMA)
        other.update(row, float(value), SIGMA)
    np.testing.assert_array_equal(one.estimate, other.estimate)
    assert one.seen == other.seen


def test_senseless_input_is_refused() -> None:
    with pytest.raises(ConfigurationError, match='widest deviations'):
        StribeckGrid(START, COVARIANCE, np.zeros(4), VELOCITIES)
    with pytest.raises(ConfigurationError, match='not positive definite'):
        StribeckGrid(START, 0.0 * COVARIANCE, np.ones(4), VELOCITIES)
    state = grid().state()
    for broken, error in (
        ({**state, 'roots': 0.0 * state['roots']}, ConfigurationError),
        ({**state, 'log_weights': np.full(3, np.nan)}, NonFiniteError),
        ({**state, 'roots': state['roots'][:2]}, DimensionError),
    ):
        with pytest.raises(error):
            grid().restore(broken)
    with pytest.raises(ConfigurationError, match='Stribeck velocities are'):
        StribeckColumns(1, [0.05, 0.0], 5.0, 2)


def test_columns_of_a_steady_speed_are_the_shapes_themselves() -> None:
    tried = stribeck_velocities(0.03)
    # From below the slowest speed that is learnt from to where all rows show the level.
    assert tried[0] < 0.03
    assert tried[-1] == pytest.approx(0.2)
    tested = StribeckColumns(2, tried, 5.0, 2)
    tested.reset(np.zeros(2))
    v = np.array([0.04, -0.1])
    for _ in range(400):
        tested.step(0.005, v)
    # Two seconds: the filter has settled to a thousandth after a third of one.
    expected = np.sign(v)[:, None] * np.exp(-((v[:, None] / tried) ** 2))
    np.testing.assert_allclose(tested.columns, expected, atol=1e-9)
