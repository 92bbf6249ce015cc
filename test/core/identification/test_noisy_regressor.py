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

from robot_dynamics_ros.core.identification.instrumental_variables import instrumental_variables
from robot_dynamics_ros.core.identification.least_squares import weighted_least_squares
from robot_dynamics_ros.core.identification.regression_rows import RegressionRows
from robot_dynamics_ros.core.identification.total_least_squares import total_least_squares
from robot_dynamics_ros.core.identification.triangular_factors import (
    accumulated,
    TriangularFactors,
)

Array = NDArray[np.float64]
TRUTH = np.array([0.51, 9.81, 0.7, 0.4])
COUNT = 8000


def pendulum_rows(noise: float) -> tuple[RegressionRows, RegressionRows]:
    """Return rows of a pendulum with noisy accelerations, and those of the exact motion."""
    rng = np.random.default_rng(0)
    t = np.arange(COUNT) * 0.01
    w = 2.0 * np.pi * np.array([0.5, 1.3])
    q = 0.8 * np.sin(w[0] * t) + 0.3 * np.sin(w[1] * t)
    v = 0.8 * w[0] * np.cos(w[0] * t) + 0.3 * w[1] * np.cos(w[1] * t)
    a = -0.8 * w[0] ** 2 * np.sin(w[0] * t) - 0.3 * w[1] ** 2 * np.sin(w[1] * t)
    exact = np.column_stack([a, np.cos(q), v, np.sign(v)])
    tau = exact @ TRUTH + 0.2 * rng.normal(size=COUNT)
    noisy = exact.copy()
    noisy[:, 0] += noise * rng.normal(size=COUNT)
    use = np.ones((COUNT, 1), dtype=bool)
    measured = RegressionRows(t, noisy[:, None, :], tau[:, None], use)
    return measured, RegressionRows(t, exact[:, None, :], 0.0 * tau[:, None], use)


def factors_of(rows: RegressionRows) -> TriangularFactors:
    return accumulated([rows], (np.arange(4),), 4)


def test_noise_of_accelerations_makes_the_inertia_small_and_instruments_do_not() -> None:
    measured, exact = pendulum_rows(10.0)
    plain = weighted_least_squares(factors_of(measured)).base
    assert plain[0] < 0.8 * TRUTH[0]
    # Errors of 5 N m from the accelerations over 8000 samples: 2 % of the inertia, three times.
    found = instrumental_variables([measured], [exact]).base
    assert found[0] == pytest.approx(TRUTH[0], rel=0.06)
    assert found[1] == pytest.approx(TRUTH[1], rel=0.03)


def test_without_noise_in_the_columns_instruments_are_least_squares() -> None:
    measured, _ = pendulum_rows(0.0)
    found = instrumental_variables([measured], [measured]).base
    assert found == pytest.approx(weighted_least_squares(factors_of(measured)).base)


def test_total_least_squares_is_right_where_the_sizes_of_the_errors_are() -> None:
    measured, _ = pendulum_rows(10.0)
    factors = factors_of(measured)
    errors = np.diag([10.0, 0.0, 0.0, 0.0, 0.2]) ** 2
    found = total_least_squares(factors, errors, np.ones(1)).base
    assert found[0] == pytest.approx(TRUTH[0], rel=0.06)
    assert found[1] == pytest.approx(TRUTH[1], rel=0.03)
    small = total_least_squares(factors, np.diag([1e-12] * 4 + [1.0])).base
    assert small == pytest.approx(weighted_least_squares(factors).base, rel=1e-4)
