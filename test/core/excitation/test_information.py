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

"""Measures of information: against singular values, and their derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from robot_dynamics_ros.core.excitation.information import (
    condition_number,
    information_loss,
    information_measure,
    mean_deviation,
    OBJECTIVES,
)

RNG = np.random.default_rng(3)
MATRIX = RNG.normal(size=(200, 7)) @ RNG.normal(size=(7, 7)) * 10.0 ** RNG.uniform(-2, 2, 7)


def test_condition_does_not_depend_on_units_of_parameters() -> None:
    unit = MATRIX / np.linalg.norm(MATRIX, axis=0)
    expected = np.linalg.cond(unit)
    assert condition_number(MATRIX) == pytest.approx(expected, rel=1e-10)  # the same SVD
    assert condition_number(MATRIX * 10.0 ** np.arange(7)) == pytest.approx(expected, rel=1e-9)


def test_condition_of_dependent_or_missing_columns_is_infinite() -> None:
    assert condition_number(np.column_stack((MATRIX, MATRIX[:, 0] + MATRIX[:, 1]))) == np.inf
    assert condition_number(np.column_stack((MATRIX, 0.0 * MATRIX[:, 0]))) == np.inf


def test_mean_deviation_is_that_of_the_covariance() -> None:
    _, logarithm = np.linalg.slogdet(np.linalg.inv(MATRIX.T @ MATRIX))
    # The Gram matrix squares the condition (about 1e4), so 1e-16 becomes 1e-8 at most.
    assert mean_deviation(MATRIX) == pytest.approx(np.exp(0.5 * logarithm / 7), rel=1e-7)


def test_smooth_loss_bounds_the_condition() -> None:
    loss, _ = information_loss(MATRIX.T @ MATRIX, 'condition')
    exact = condition_number(MATRIX)
    assert exact * (1.0 - 1e-9) <= np.exp(loss) <= exact * 7.0 ** (1.0 / 8.0)


def test_log_det_loss_is_the_logarithm_of_the_mean_deviation() -> None:
    loss, _ = information_loss(MATRIX.T @ MATRIX, 'log_det')
    assert np.exp(loss) == pytest.approx(mean_deviation(MATRIX), rel=1e-7)  # as above


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_gradient_matches_finite_differences(objective: str) -> None:
    matrix = MATRIX / np.linalg.norm(MATRIX, axis=0) * RNG.uniform(0.5, 2.0, 7)
    gram = matrix.T @ matrix
    _, gradient = information_loss(gram, objective)
    np.testing.assert_allclose(gradient, gradient.T, atol=1e-12)
    for _ in range(5):
        step = RNG.normal(size=(7, 7)) * 1e-6
        step = step + step.T
        ahead, behind = (information_loss(gram + s * step, objective)[0] for s in (1.0, -1.0))
        # Central differences of a function with slopes up to 1e3, steps 1e-6.
        assert (ahead - behind) / 2.0 == pytest.approx(np.sum(gradient * step), rel=1e-4, abs=1e-9)


def test_measures_of_the_gram_matrix_are_those_of_the_rows() -> None:
    gram = MATRIX.T @ MATRIX
    # Squared conditions of about 1e4 in float64.
    assert information_measure(gram, 'condition') == pytest.approx(
        condition_number(MATRIX), rel=1e-6
    )
    assert information_measure(gram, 'log_det') == pytest.approx(mean_deviation(MATRIX), rel=1e-6)
    assert information_measure(np.zeros((2, 2)), 'condition') == np.inf
