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

"""Steps to the best possible body: coordinates, slopes, and the minimum of the convex solver."""

from __future__ import annotations

import numpy as np
import pytest

from robot_dynamics_ros.core.identification.consistent_fit import ConsistentProblem, solved
from robot_dynamics_ros.core.identification.online.log_cholesky_step import (
    best_body,
    body_of,
    BodyProblem,
    log_cholesky,
    log_cholesky_steps,
    objective,
)
from robot_dynamics_ros.core.identification.possible_bodies import body_pseudo_inertia


def random_body(rng: np.random.Generator) -> np.ndarray:
    body, _ = body_of(rng.normal(scale=0.5, size=10) - np.array([0, 2, 2, 2, 0, 0, 0, 0, 0, 0]))
    return body


def test_coordinates_give_the_body_back() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        theta = rng.normal(size=10)
        body, _ = body_of(theta)
        assert np.linalg.eigvalsh(body_pseudo_inertia(body))[0] > 0.0
        np.testing.assert_allclose(log_cholesky(body), theta, rtol=1e-8, atol=1e-8)


def test_jacobian_is_that_of_finite_differences() -> None:
    theta, step = np.random.default_rng(1).normal(size=10), 1e-6
    _, jacobian = body_of(theta)
    for k, unit in enumerate(np.eye(10)):
        slope = (body_of(theta + step * unit)[0] - body_of(theta - step * unit)[0]) / (2 * step)
        # Central differences: the error is step^2 times a third derivative, and rounding / step.
        np.testing.assert_allclose(jacobian[:, k], slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize('seed', range(5))
def test_minimum_is_that_of_the_convex_problem(seed: int) -> None:
    rng = np.random.default_rng(seed)
    prior, truth = random_body(rng), random_body(rng)
    root = rng.normal(size=(10, 10)) * 30.0
    right = root @ truth + rng.normal(size=10)
    found = log_cholesky_steps(BodyProblem(root, right, prior), log_cholesky(prior), 200)
    problem = ConsistentProblem(root, right, prior, np.zeros(0), np.zeros(0), n_inertial=10)
    # Both end where a step gains a billionth: parameters agree to its root, data weigh most.
    np.testing.assert_allclose(body_of(found)[0], solved(problem, 1.0).parameters, atol=2e-4)


def test_steps_never_go_up_and_stay_possible_where_the_data_are_not() -> None:
    rng = np.random.default_rng(3)
    prior = random_body(rng)
    impossible = np.concatenate([[-1.0], rng.normal(size=9)])
    problem = BodyProblem(100.0 * np.eye(10), 100.0 * impossible, prior)
    theta = log_cholesky(prior)
    values = [objective(problem, theta)]
    for _ in range(30):
        theta = log_cholesky_steps(problem, theta, 1)
        values.append(objective(problem, theta))
    assert all(later <= earlier for earlier, later in zip(values, values[1:]))
    assert np.linalg.eigvalsh(body_pseudo_inertia(body_of(theta)[0]))[0] > 0.0


def test_search_leaves_a_flat_body_far_away() -> None:
    """A few rows of a pick-up once showed one, from which steps led no further."""
    rng = np.random.default_rng(7)
    flat = np.array([0.27, -4.58, -5.1, -11.24, 0.04, 1.32, 0.56, 0.62, 0.0, 0.63])
    truth, prior = (
        np.array([mass, 0.0, 0.0, mass * 0.06, moment, 0.0, moment, 0.0, 0.0, moment])
        for mass, moment in ((3.0, 0.04), (2.3, 0.05))
    )
    axes = np.linalg.qr(rng.normal(size=(10, 10)))[0]
    root = np.linalg.qr(axes * np.geomspace(3.0, 500.0, 10), mode='r')
    problem = BodyProblem(root, root @ truth + rng.normal(size=10), prior)
    found = best_body(problem, flat, log_cholesky(prior))
    best = log_cholesky_steps(problem, log_cholesky(truth), 200)
    # Both end where a step gains a billionth of what is left.
    assert objective(problem, found) == pytest.approx(objective(problem, best), rel=1e-6)
    # Steps from there alone go down, and every one of them can be made.
    alone = log_cholesky_steps(problem, flat, 100)
    assert objective(problem, alone) < objective(problem, flat)
    assert np.abs(alone).max() < 10.0
