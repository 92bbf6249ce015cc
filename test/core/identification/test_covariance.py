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

from identification_scenes import dry_friction, simulated_log
from robot_dynamics_ros.core.identification.covariance import (
    base_covariance,
    correlation_length,
    parzen,
)
from robot_dynamics_ros.core.identification.identification_model import identification_model
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.joint_samples import joint_samples
from robot_dynamics_ros.core.identification.least_squares import (
    huber_least_squares,
    weighted_least_squares,
)
from robot_dynamics_ros.core.identification.regression_rows import regression_rows, RegressionRows
from robot_dynamics_ros.core.identification.triangular_factors import accumulated
from robot_dynamics_ros.core.model.build import build_model
from robots import prismatic

Array = NDArray[np.float64]
CUTOFF = 6.0


def coverage(runs: int) -> Array:
    """Return how often the 95 % interval of each base parameter holds the truth."""
    robot = build_model(prismatic()).with_armature([0.3, 0.2, 0.05])
    viscous, coulomb = np.array([4.0, 3.0, 0.3]), np.array([2.0, 1.5, 0.2])
    log = simulated_log(robot, dry_friction(robot, viscous, coulomb))
    model = identification_model(robot, ModelStructure())
    truth = np.array(model.prior)
    for joint, b, c in zip(robot.v_names, viscous, coulomb):
        truth[model.names.index(f'{joint}/viscous')] = b
        truth[model.names.index(f'{joint}/coulomb')] = c
    expected = model.base.to_base(truth)
    rng = np.random.default_rng(12)
    held = np.zeros(model.base.rank)
    for _ in range(runs):
        noisy = log.with_noise(rng, 1e-5, 1e-3, np.array([2.0, 1.0, 0.1]))
        samples = joint_samples(
            noisy.stamps, noisy.position, noisy.velocity, noisy.effort, 8.0 * CUTOFF
        )
        rows = list(regression_rows(model, samples.between(2.0, 19.5), CUTOFF))
        factors = accumulated(rows, model.columns_of_joint, model.base.rank)
        fit = weighted_least_squares(factors)
        found = base_covariance(rows, fit)
        held += np.abs(fit.base - expected) < 1.96 * found.deviation
    return held / runs


def test_intervals_hold_the_truth_in_simulation() -> None:
    # 40 runs of 14 parameters; the spread of the mean is at most 1.5 % (errors are correlated).
    share = coverage(40)
    assert 0.90 < share.mean() < 0.99
    assert share.min() >= 0.80  # one parameter in 40 runs: 4 standard deviations


@pytest.mark.soak
def test_every_interval_holds_the_truth_in_nine_to_ten_of_ten_runs() -> None:
    share = coverage(200)
    assert 0.90 <= share.min()
    assert share.max() <= 0.99 + 1e-9
    assert 0.92 < share.mean() < 0.98


def regression(errors: Array, seed: int) -> tuple[list[RegressionRows], Array]:
    rng = np.random.default_rng(seed)
    count = len(errors)
    regressor = rng.normal(size=(count, 1, 3))
    t = np.arange(count) * 0.01
    regressor[:, 0, 1] = np.sin(2.0 * np.pi * 0.2 * t)  # slow, as errors may be
    truth = np.array([1.0, 2.0, 3.0])
    tau = regressor @ truth + errors[:, None]
    half = count // 2
    use = np.ones((count, 1), dtype=bool)
    parts = [slice(0, half), slice(half, count)]
    return [RegressionRows(t[s], regressor[s], tau[s], use[s]) for s in parts], truth


def test_independent_errors_give_the_textbook_covariance() -> None:
    rng = np.random.default_rng(0)
    rows, _ = regression(0.5 * rng.normal(size=4000), 1)
    fit = weighted_least_squares(accumulated(rows, (np.arange(3),), 3))
    found = base_covariance(rows, fit)
    stacked = np.concatenate([block.regressor[:, 0] for block in rows])
    expected = 0.25 * np.linalg.inv(stacked.T @ stacked)
    # 4000 samples and lags up to 6: the spread of a variance is 4 %.
    assert np.diag(found.matrix) == pytest.approx(np.diag(expected), rel=0.15)
    assert found.inflation == pytest.approx(1.0, abs=0.12)
    assert np.linalg.eigvalsh(found.matrix)[0] > 0.0


def test_robust_fit_of_normal_errors_is_known_nearly_as_well() -> None:
    rng = np.random.default_rng(0)
    rows, _ = regression(0.5 * rng.normal(size=4000), 1)
    factors = accumulated(rows, (np.arange(3),), 3)
    plain = base_covariance(rows, weighted_least_squares(factors))
    robust = base_covariance(rows, huber_least_squares(rows, factors))
    # Its efficiency is 95 %; the spread of a variance is 4 %.
    assert np.diag(robust.matrix) == pytest.approx(np.diag(plain.matrix) / 0.95, rel=0.1)


def test_correlated_errors_widen_the_slow_column_only() -> None:
    spread, claimed = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        errors = np.zeros(3000)
        noise = rng.normal(size=3000)
        for k in range(1, 3000):
            errors[k] = 0.95 * errors[k - 1] + noise[k]
        rows, truth = regression(errors, 1)
        fit = weighted_least_squares(accumulated(rows, (np.arange(3),), 3))
        spread.append(fit.base - truth)
        claimed.append(base_covariance(rows, fit).deviation)
    real = np.std(spread, axis=0)
    # 60 runs: a spread of 9 %, and the estimate falls short by up to a tenth.
    assert np.mean(claimed, axis=0) == pytest.approx(real, rel=0.3)
    assert real[1] > 3.0 * real[0]


def test_correlation_length_of_a_moving_average() -> None:
    rng = np.random.default_rng(3)
    white = rng.normal(size=(20000, 2))
    assert correlation_length(white) == 1.0
    smooth = np.apply_along_axis(np.convolve, 0, white, np.ones(10) / 10.0)
    # Falls linearly to zero at lag 10: below a tenth from 9 on.
    assert correlation_length(smooth) == pytest.approx(9.0, abs=1.0)
    assert correlation_length(np.zeros((10, 1))) == 1.0


def test_parzen_falls_from_one_to_zero() -> None:
    assert parzen(np.array([0.0, 0.5, 1.0])) == pytest.approx([1.0, 0.25, 0.0])
