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

"""Errors of the arm beside a payload: the answer of batch least squares, none at all, state."""

from __future__ import annotations

import numpy as np
import pytest

from payload_scenes import offline_parameters, true_parameters, watched_model
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.online.arm_errors import (
    ArmErrors,
    CORRELATED,
    parameter_uncertainty,
    WIDEST_PAYLOAD,
)
from robot_dynamics_ros.core.identification.online.causal_motion import CausalState
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow

RANK = 7


def row(rng: np.random.Generator, stamp: float = 0.0) -> OnlineRow:
    zero = np.zeros(3)
    state = CausalState(stamp, 0.025, zero, zero, zero, zero, True)
    regressor, payload = rng.normal(size=(3, RANK)), rng.normal(size=(3, 10))
    return OnlineRow(stamp, 0.025, regressor, payload, zero, state)


def test_estimate_and_covariance_are_those_of_all_rows_at_once() -> None:
    rng = np.random.default_rng(0)
    use = np.array([True, False, True])
    deviation = np.array([0.1, 1.0, 0.3])
    arm = ArmErrors(0.04 * np.eye(RANK), forgetting=1.0)
    information = np.diag(np.concatenate([np.full(RANK, 25.0), WIDEST_PAYLOAD**-2.0]))
    right = np.zeros(RANK + 10)
    for k in range(60):
        if k == 20:
            arm.grasp()
        one, residual = row(rng), rng.normal(size=3)
        arm.update(one, residual, deviation, use)
        full = np.hstack([one.regressor, one.payload * (k >= 20)])[use]
        weight = (CORRELATED * deviation[use]) ** -2.0
        information += full.T @ (weight[:, None] * full)
        right += full.T @ (weight * residual[use])
    expected = np.linalg.solve(information, right)
    np.testing.assert_allclose(arm.errors, expected[:RANK], rtol=1e-8)
    np.testing.assert_allclose(arm.payload, expected[RANK:], rtol=1e-8)
    root, _ = arm.payload_root
    covariance = np.linalg.inv(information)[RANK:, RANK:]
    np.testing.assert_allclose(np.linalg.inv(root.T @ root), covariance, rtol=1e-7)


def test_payload_that_was_released_is_zero_and_leaves_what_is_known_of_the_arm() -> None:
    rng = np.random.default_rng(1)
    arm = ArmErrors(0.04 * np.eye(RANK))
    arm.grasp()
    for _ in range(50):
        arm.update(row(rng), rng.normal(size=3), np.ones(3), np.ones(3, dtype=bool))
    errors = arm.errors
    arm.release()
    np.testing.assert_array_equal(arm.payload, np.zeros(10))
    np.testing.assert_allclose(arm.errors, errors, rtol=1e-9)
    one = row(rng)
    innovation, _ = arm.innovation(one, np.zeros(3))
    np.testing.assert_allclose(innovation, -one.regressor @ errors, rtol=1e-8)


def test_state_goes_on_where_it_was() -> None:
    rng = np.random.default_rng(2)
    arm, other = ArmErrors(np.eye(RANK)), ArmErrors(np.eye(RANK))
    arm.grasp()
    for _ in range(20):
        arm.update(row(rng), rng.normal(size=3), np.ones(3), np.ones(3, dtype=bool))
    other.restore(arm.state())
    assert other.is_loaded
    np.testing.assert_allclose(other.errors, arm.errors, rtol=1e-9)
    np.testing.assert_allclose(other.payload, arm.payload, rtol=1e-9)


def test_uncertainty_covers_parameters_that_are_wrong_by_as_much() -> None:
    model = watched_model()
    covariance = parameter_uncertainty(model, true_parameters(), 0.02)
    size = np.sqrt(np.diag(covariance))
    assert np.linalg.eigvalsh(covariance / np.outer(size, size))[0] > 0.0
    true = model.base.to_base(true_parameters())
    errors = np.array([model.base.to_base(offline_parameters(seed)) - true for seed in range(30)])
    scores = errors / size
    # The largest of a kind counts for all, so that scores are rather too small than too large.
    assert np.sqrt(np.mean(scores**2)) < 1.1
    assert np.abs(scores).max() < 5.0


def test_nonsense_is_refused() -> None:
    with pytest.raises(ConfigurationError, match='not positive definite'):
        ArmErrors(-np.eye(RANK))
    with pytest.raises(ConfigurationError, match='relative uncertainty'):
        parameter_uncertainty(watched_model(), true_parameters(), 0.0)
