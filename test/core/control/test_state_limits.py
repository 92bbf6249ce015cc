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

"""Limits on the measured motion."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.control.state_limits import StateLimits
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import urdf_path

NAMES = ('j1', 'j2')


def limits(**changes: Any) -> StateLimits:
    values: dict[str, Any] = {'lower': [-1.0, -inf], 'upper': [2.0, inf], 'speed': [3.0, inf]}
    values.update(changes)
    return StateLimits(NAMES, **values)


@pytest.mark.parametrize(
    ('q', 'v', 'said'),
    [
        ([2.0, 1e6], [-3.0, 1e6], ''),
        ([nan, 0.0], [nan, nan], ''),
        ([2.001, 0.0], [0.0, 0.0], 'j1 is at 2.001 rad or m, allowed are -1 to 2'),
        ([-1.5, 0.0], [nan, 0.0], 'j1 is at -1.5'),
        ([0.0, 0.0], [-3.01, 0.0], 'j1 moves with -3.01'),
    ],
)
def test_violation_names_joint_value_and_limit(q: Any, v: Any, said: str) -> None:
    found = limits().violation(np.array(q), np.array(v))
    assert found.startswith(said)
    assert bool(found) == bool(said)


def test_arming_needs_a_known_position_and_a_slow_robot() -> None:
    slow = limits(arming_speed=0.1)
    assert slow.obstacle([0.0, 0.0], [0.1, -0.1]) == ''
    assert slow.obstacle([0.0, 0.0], [0.1, nan]) == 'the speed of j2 is not known'
    assert limits().obstacle([0.0, 0.0], [0.1, nan]) == '', 'no limit, nothing to know'
    assert 'j2 moves with 0.2' in slow.obstacle([0.0, 0.0], [0.0, -0.2])
    assert 'position of j1 is not known' in slow.obstacle([nan, 0.0], [0.0, 0.0])
    assert 'j1 is at 3' in slow.obstacle([3.0, 0.0], [0.0, 0.0])


def test_description_gives_the_limits_with_margin_and_factor() -> None:
    model = load_urdf(urdf_path('es5.urdf.xacro'))
    found = StateLimits.from_limits(
        model.joint_names, model.limits, position_margin=0.1, velocity_factor=1.5
    )
    np.testing.assert_allclose(found.upper, model.limits.upper + 0.1, rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(found.lower, model.limits.lower - 0.1, rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(found.speed, 1.5 * model.limits.velocity, rtol=1e-15)


def test_unstated_speed_is_no_limit() -> None:
    model = load_urdf(urdf_path('pendulum.urdf'))
    unstated = np.full(model.nv, nan)
    stated = type(model.limits)(
        model.limits.lower, model.limits.upper, unstated, model.limits.effort
    )
    assert StateLimits.from_limits(model.joint_names, stated).speed.tolist() == [inf]


@pytest.mark.parametrize(
    ('changes', 'said'),
    [
        ({'lower': [2.0, 0.0]}, "no position is left for joint 'j1' between 2 and 2"),
        ({'speed': [0.0, 1.0]}, "speed of joint 'j1' is 0"),
        ({'arming_speed': 0.0}, 'arming_speed is 0'),
        ({'speed': [nan, 1.0]}, "speed of joint 'j1' is nan"),
    ],
)
def test_senseless_limits_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        limits(**changes)
