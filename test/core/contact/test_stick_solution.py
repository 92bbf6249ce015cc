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

"""Contacts that all stick, against the equations of a robot that is pinned there."""

from __future__ import annotations

import numpy as np
import pytest

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.contact_layout import (
    JOINT_ROWS,
    LAW_WIDTH,
    MU,
    SMALL_SHAPE,
    VECTORS,
)
from robot_dynamics_ros.core.contact.rigid_contact import BUDGET, solve_contacts


def solved(
    mass: Matrix, momentum: Vector, rows: Matrix, mu: float, guess: Vector
) -> tuple[Vector, Vector, float, int]:
    """Return velocity, impulses, residual and number of factored matrices."""
    n, count = len(momentum), len(rows) // 3
    law = np.zeros((count, LAW_WIDTH))
    law[:, MU] = mu
    v, impulse = guess.copy(), np.zeros((count, 3))
    residual, iterations = solve_contacts(
        mass, momentum, rows, np.zeros((count, 3)), law, count, np.zeros((JOINT_ROWS, n)), False,
        1e-3, v, impulse, np.zeros((count, 3)), np.zeros((n, n)), np.zeros((n, n)),
        np.zeros((VECTORS, n)), np.zeros(SMALL_SHAPE), BUDGET,
    )  # fmt: skip
    return v, impulse.ravel(), residual, iterations


def pinned(mass: Matrix, momentum: Vector, rows: Matrix) -> tuple[Vector, Vector]:
    """Return velocity and impulses of the linear system with all rows held at zero."""
    n, m = len(momentum), len(rows)
    system = np.block([[mass, -rows.T], [rows, np.zeros((m, m))]])
    x = np.linalg.lstsq(system, np.append(momentum, np.zeros(m)), rcond=1e-13)[0]
    return x[:n], x[n:]


@pytest.mark.parametrize('count', [1, 2, 3, 4])
@pytest.mark.parametrize('seed', range(20))
def test_pinned_robot(seed: int, count: int) -> None:
    rng = np.random.default_rng([seed, count])
    n = 3 * count + 2
    a = rng.normal(size=(n, n))
    mass = a @ a.T / n + 0.2 * np.eye(n)
    rows = rng.normal(size=(3 * count, n))
    inside = np.tile([1.0, -0.1, 0.2], count) + 0.05 * rng.normal(size=3 * count)  # the cones
    momentum = -rows.T @ inside
    v, impulse, residual, iterations = solved(mass, momentum, rows, 0.5, rng.normal(size=n))
    expected_v, expected = pinned(mass, momentum, rows)
    assert iterations == 1 and residual < 1e-12
    scale = np.linalg.cond(mass) * np.linalg.cond(rows) ** 2 * 1e-15  # of both linear systems
    np.testing.assert_allclose(impulse, expected, atol=10.0 * scale)
    np.testing.assert_allclose(v, expected_v, atol=10.0 * scale)
    np.testing.assert_allclose(impulse, inside, atol=10.0 * scale)


def test_directions_out_of_the_plane_carry_nothing() -> None:
    mass = np.diag([2.0, 2.0, 0.1])
    rows = np.zeros((6, 3))  # two feet of a planar robot: up, along, across
    for k, x in enumerate((-0.3, 0.3)):
        rows[3 * k] = 0.0, 1.0, x
        rows[3 * k + 1] = 1.0, 0.0, 0.5
    momentum = np.array([0.1, -2.0, 0.05])
    v, impulse, residual, _ = solved(mass, momentum, rows, 0.9, np.zeros(3))
    assert residual < 1e-10 and (impulse[[2, 5]] == 0.0).all()
    np.testing.assert_allclose(v, 0.0, atol=1e-10)  # of the residual
    np.testing.assert_allclose(rows.T @ impulse, -momentum, atol=1e-10)


@pytest.mark.parametrize('mu', [0.05, 0.5])
def test_what_does_not_stick_is_left_to_the_general_method(mu: float) -> None:
    mass = np.eye(3)
    rows = np.eye(3)[[2, 0, 1]]
    v, impulse, residual, iterations = solved(
        mass, np.array([0.3, 0.0, -1.0]), rows, mu, np.zeros(3)
    )
    assert residual < 1e-10
    np.testing.assert_allclose(impulse, [1.0, -min(mu, 0.3), 0.0], atol=1e-10)
    np.testing.assert_allclose(v, [0.3 - min(mu, 0.3), 0.0, 0.0], atol=1e-10)
    assert (iterations == 1) == (mu > 0.3)
