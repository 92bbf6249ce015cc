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

from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from solved_steps import stick_slip_velocity


def random_problem(rng: Any, n: int) -> tuple[Any, ...]:
    root = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-1.0, 1.0, n)
    k = root @ root.T + 1e-3 * np.eye(n)
    bounds = rng.uniform(0.0, 3.0, (2, n)) * (rng.uniform(size=n) > 0.2)
    return k, rng.normal(scale=3.0, size=n), bounds[0], bounds[1]


@pytest.mark.parametrize('n', [1, 2, 6, 12])
def test_solution_fulfils_the_friction_law(n: int) -> None:
    rng = np.random.default_rng(n)
    stuck = 0
    for _ in range(300):
        k, r, positive, negative = random_problem(rng, n)
        v = stick_slip_velocity(k, r, positive, negative, rng.normal(size=n))
        impulse = r - k @ v
        scale = 1e-8 * (1.0 + np.abs(r).max())  # condition of k times rounding
        free = (positive == 0.0) & (negative == 0.0)
        np.testing.assert_allclose(impulse[free], 0.0, atol=scale)
        moving_up, moving_down = (v > 0.0) & ~free, (v < 0.0) & ~free
        np.testing.assert_allclose(impulse[moving_up], positive[moving_up], atol=scale)
        np.testing.assert_allclose(impulse[moving_down], -negative[moving_down], atol=scale)
        still = (v == 0.0) & ~free
        assert (impulse[still] <= positive[still] + scale).all()
        assert (impulse[still] >= -negative[still] - scale).all()
        stuck += int(still.sum())
    assert stuck > 50  # the test sees joints that stick


def test_guess_does_not_change_the_solution() -> None:
    rng = np.random.default_rng(5)
    for _ in range(100):
        k, r, positive, negative = random_problem(rng, 4)
        one = stick_slip_velocity(k, r, positive, negative, np.zeros(4))
        two = stick_slip_velocity(k, r, positive, negative, rng.normal(size=4))
        np.testing.assert_allclose(one, two, atol=1e-8 * (1.0 + np.abs(one).max()))  # condition


def test_levels_fall_from_static_to_sliding() -> None:
    law = DryFriction(('j1',), 2.0, 4.0, 3.0, 1.5, 0.05)  # type: ignore[arg-type]
    at_rest, fast = law.levels(np.zeros(1)), law.levels(np.array([1.0]))
    assert (at_rest[0][0], at_rest[1][0]) == (6.0, 4.5)
    np.testing.assert_allclose(np.ravel(fast), [4.0, 3.0], rtol=1e-12)  # exp(-400)
    at_stribeck = law.levels(np.array([-0.05]))[1][0]
    assert at_stribeck == pytest.approx(3.0 * (1.0 + 0.5 / np.e), rel=1e-12)
    assert law.torque(np.array([-1.0]))[0] == pytest.approx(-5.0, rel=1e-12)
    assert law.torque(np.zeros(1))[0] == 0.0


def test_static_level_below_the_sliding_one_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="joint 'j1': static_ratio is 0.5, expected >= 1"):
        DryFriction(('j1',), 2.0, 4.0, 3.0, 0.5, 0.05)  # type: ignore[arg-type]
