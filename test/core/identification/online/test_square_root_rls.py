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

"""Recursive least squares: equal to a fit of everything, and without wind-up."""

from __future__ import annotations

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
)
from robot_dynamics_ros.core.identification.online.square_root_rls import (
    information_root,
    SquareRootRls,
)

SIZE = 6


def data(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, values with noise of 0.1, and the parameters behind them."""
    rows = rng.normal(size=(count, SIZE)) * rng.uniform(0.1, 3.0, SIZE)
    truth = rng.normal(size=SIZE)
    return rows, rows @ truth + 0.1 * rng.normal(size=count), truth


def spread(rng: np.random.Generator) -> np.ndarray:
    """Return a random covariance."""
    root = rng.normal(size=(SIZE, SIZE))
    return np.asarray(root @ root.T + np.eye(SIZE))


def test_without_forgetting_it_is_the_fit_of_all_rows_with_the_prior() -> None:
    rng = np.random.default_rng(1)
    rows, values, _ = data(rng, 200)
    prior, start = spread(rng), rng.normal(size=SIZE)
    fit = SquareRootRls(start, prior, np.full(SIZE, 10.0))
    for row, value in zip(rows, values):
        fit.update(row, value, 0.1)
    information = np.linalg.inv(prior) + rows.T @ rows / 0.01
    expected = np.linalg.solve(information, np.linalg.solve(prior, start) + rows.T @ values / 0.01)
    np.testing.assert_allclose(fit.estimate, expected, rtol=1e-10)
    np.testing.assert_allclose(fit.covariance, np.linalg.inv(information), rtol=1e-9)
    root, right = fit.information_root
    np.testing.assert_allclose(root.T @ root, information, rtol=1e-10, atol=1e-6)
    np.testing.assert_allclose(root @ fit.estimate, right, atol=1e-8)
    images = fit.images(rows[:5])
    expected = rows[:5] @ np.linalg.solve(information, rows[:5].T)
    np.testing.assert_allclose(images @ images.T, expected, rtol=1e-9)
    assert fit.rows == 200


def test_forgetting_takes_information_along_the_row_only() -> None:
    rng = np.random.default_rng(2)
    rows, values, _ = data(rng, 50)
    prior, keep = spread(rng), 0.9
    fit = SquareRootRls(np.zeros(SIZE), prior, np.full(SIZE, 1e3), keep)
    information, right = np.linalg.inv(prior), np.zeros(SIZE)
    for row, value in zip(rows, values):
        fit.update(row, value, 0.1)
        along = information @ row
        estimate = np.linalg.solve(information, right)
        information = information - (1.0 - keep) * np.outer(along, along) / (row @ along)
        information = information + np.outer(row, row) / 0.01
        right = information @ estimate + row * (value - row @ estimate) / 0.01
    root, _ = fit.information_root
    np.testing.assert_allclose(root.T @ root, information, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(fit.estimate, np.linalg.solve(information, right), rtol=1e-8)


def test_repetition_does_not_make_the_rest_uncertain() -> None:
    rng = np.random.default_rng(3)
    prior = spread(rng)
    fit = SquareRootRls(np.zeros(SIZE), prior, 3.0 * np.sqrt(np.diag(prior)), 0.95)
    row = np.eye(SIZE)[0]
    for _ in range(20_000):
        fit.update(row, 1.0 + 0.1 * rng.normal(), 0.1)
    # What row 0 says of the others through the prior stays; nothing else is known or lost.
    along = prior[1:, 0]
    expected = prior[1:, 1:] - np.outer(along, along) / prior[0, 0]
    found = fit.covariance
    least = np.linalg.eigvalsh(found[1:, 1:] - expected)[0]
    assert least > -1e-9
    assert (np.sqrt(np.diag(found)) <= 3.0 * np.sqrt(np.diag(prior)) + 1e-9).all()
    # Along the row it settles at the last 1 / (1 - 0.95) = 20 rows.
    np.testing.assert_allclose(found[0, 0], 0.01 * 0.05 / 0.95 / (1.0 + 0.05 / 0.95), rtol=0.06)


def test_plain_forgetting_would_wind_up_where_this_does_not() -> None:
    rng = np.random.default_rng(4)
    plain = np.eye(SIZE)  # covariance of P <- P / lambda, the textbook's
    fit = SquareRootRls(np.zeros(SIZE), np.eye(SIZE), np.full(SIZE, 2.0), 0.98)
    weak = 1e-3 * np.eye(SIZE)[1]
    for _ in range(3000):
        row = np.eye(SIZE)[0] if rng.random() < 0.5 else weak
        gain = plain @ row / (0.98 * 0.01 + row @ plain @ row)
        plain = (plain - np.outer(gain, row @ plain)) / 0.98
        fit.update(row, 0.1 * rng.normal(), 0.1)
    assert plain[5, 5] > 1e20
    # Never excited: as at the start. Hardly excited: up to the bound.
    np.testing.assert_allclose(np.diag(fit.covariance)[2:], 1.0, rtol=1e-9)
    assert 1.0 < fit.covariance[1, 1] <= 4.0 * (1.0 + 1e-9)
    assert abs(fit.estimate[2:]).max() == 0.0


def test_parameters_that_change_are_followed() -> None:
    rng = np.random.default_rng(5)
    rows, values, truth = data(rng, 4000)
    change = np.where(np.arange(SIZE) == 2, 1.0, 0.0)
    values[2000:] += rows[2000:] @ change
    fit = SquareRootRls(np.zeros(SIZE), 10.0 * np.eye(SIZE), np.full(SIZE, 10.0), 0.98)
    for row, value in zip(rows, values):
        fit.update(row, value, 0.1)
    # Small columns are followed slowest: of the change of one, at most a tenth is still to come.
    np.testing.assert_allclose(fit.estimate, truth + change, atol=0.1)


def test_millions_of_rows_leave_a_sound_root() -> None:
    rng = np.random.default_rng(6)
    rows, values, truth = data(rng, 1000)
    rows[:, 5] = rows[:, 4] * (1.0 + 1e-9)  # as good as dependent
    values = rows @ truth
    fit = SquareRootRls(np.zeros(SIZE), np.eye(SIZE), np.full(SIZE, 2.0), 0.99)
    for _ in range(200):
        for row, value in zip(rows, values):
            fit.update(row, value, 0.1)
    covariance = fit.covariance
    assert np.isfinite(fit.estimate).all()
    assert np.linalg.eigvalsh(covariance)[0] > 0.0
    np.testing.assert_allclose(rows[:50] @ fit.estimate, values[:50], atol=1e-3)


def test_root_of_the_information_is_upper_triangular() -> None:
    covariance = spread(np.random.default_rng(7))
    root = information_root(covariance)
    assert np.all(np.tril(root, -1) == 0.0)
    np.testing.assert_allclose(root.T @ root, np.linalg.inv(covariance), atol=1e-10)


def test_senseless_starts_are_refused() -> None:
    ones = np.ones(2)
    with pytest.raises(ConfigurationError, match='forgetting is 0'):
        SquareRootRls(ones, np.eye(2), ones, 0.0)
    with pytest.raises(ConfigurationError, match='widest deviations'):
        SquareRootRls(ones, np.eye(2), np.zeros(2))
    with pytest.raises(ConfigurationError, match='not positive definite'):
        SquareRootRls(ones, -np.eye(2), ones)
    with pytest.raises(DimensionError, match='covariance has'):
        SquareRootRls(ones, np.eye(3), ones)
    with pytest.raises(NonFiniteError, match='estimate'):
        SquareRootRls(np.array([np.nan, 0.0]), np.eye(2), ones)
