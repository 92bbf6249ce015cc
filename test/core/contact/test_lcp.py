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

from itertools import product

import numpy as np
from numpy.typing import NDArray
import pytest

from robot_dynamics_ros.core.contact.lcp import RayTerminationError, solve_lcp
from robot_dynamics_ros.core.exceptions import DimensionError, NonFiniteError

Array = NDArray[np.float64]


def enumerated(m: Array, q: Array) -> list[Array]:
    """Return the solutions of all bases that have one."""
    n, found = len(q), []
    for choice in product((False, True), repeat=n):
        active = np.array(choice)
        z = np.zeros(n)
        if active.any():
            block = m[np.ix_(active, active)]
            if abs(np.linalg.det(block)) < 1e-12:
                continue
            z[active] = np.linalg.solve(block, -q[active])
        if (z >= -1e-10).all() and (m @ z + q >= -1e-10).all():
            found.append(z)
    return found


@pytest.mark.parametrize('seed', range(60))
def test_positive_definite_problem_has_the_one_solution_of_enumeration(seed: int) -> None:
    rng = np.random.default_rng([seed, 1])
    n = int(rng.integers(1, 8))
    a = rng.normal(size=(n, n))
    m, q = a @ a.T + 0.1 * np.eye(n), rng.normal(size=n)
    z, w = solve_lcp(m, q)
    (expected,) = enumerated(m, q)[:1]
    np.testing.assert_allclose(z, expected, atol=1e-9)  # condition of some 1e4
    assert z.min() >= 0.0 and w.min() >= 0.0
    assert np.all((z == 0.0) | (w == 0.0))


@pytest.mark.parametrize('seed', range(60))
def test_copositive_problem_is_solved(seed: int) -> None:
    rng = np.random.default_rng([seed, 2])
    n = int(rng.integers(2, 9))
    m, q = rng.uniform(0.1, 2.0, size=(n, n)), rng.normal(size=n)  # strictly copositive
    z, w = solve_lcp(m, q)
    np.testing.assert_allclose(w, m @ z + q, atol=1e-8 * (1.0 + np.abs(z).max()))
    assert z.min() >= 0.0 and w.min() >= 0.0 and abs(z @ w) < 1e-8
    assert enumerated(m, q)


@pytest.mark.parametrize('seed', range(20))
def test_redundant_contacts_are_solved(seed: int) -> None:
    rng = np.random.default_rng([seed, 3])
    rows = rng.normal(size=(9, 4))
    m = rows @ rows.T  # rank 4 of 9
    q = rows @ rng.normal(size=4)
    z, w = solve_lcp(m, q)
    np.testing.assert_allclose(w, m @ z + q, atol=1e-8)
    assert abs(z @ w) < 1e-8


def test_problem_without_solution_ends_on_a_ray() -> None:
    with pytest.raises(RayTerminationError, match='no solution'):
        solve_lcp([[0.0, 0.0], [0.0, 0.0]], [-1.0, 1.0])
    with pytest.raises(RayTerminationError, match='pivots'):
        solve_lcp([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0], most_pivots=1)


def test_wrong_input_is_refused() -> None:
    with pytest.raises(DimensionError, match='M has'):
        solve_lcp(np.eye(3), [1.0])
    with pytest.raises(NonFiniteError, match='q holds'):
        solve_lcp(np.eye(1), [np.nan])
