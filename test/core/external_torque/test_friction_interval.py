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
import pytest

from robot_dynamics_ros.core.exceptions import ConfigurationError, DimensionError
from robot_dynamics_ros.core.external_torque.friction_interval import FrictionInterval
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_model import FrictionModel

DRY = DryFriction(
    ('a', 'b'),
    np.array([2.0, 1.0]),
    np.array([4.0, 3.0]),
    np.array([3.0, 2.0]),
    np.array([1.5, 1.0]),
    np.array([0.05, 0.05]),
    viscous_negative=np.array([1.5, 1.0]),
)


@pytest.mark.parametrize('v', [-0.8, -0.05, 0.05, 0.3])
def test_sliding_friction_is_that_of_the_law(v: float) -> None:
    low, high = FrictionInterval(DRY.joint_names, DRY, 0.02).bounds(np.full(2, v))
    np.testing.assert_allclose(low, DRY.torque(np.full(2, v)), rtol=1e-12)
    np.testing.assert_array_equal(low, high)


@pytest.mark.parametrize('v', np.linspace(-0.05, 0.05, 41).tolist())
def test_range_holds_the_law_and_near_rest_all_that_can_stick(v: float) -> None:
    low, high = FrictionInterval(DRY.joint_names, DRY, 0.02).bounds(np.full(2, v))
    law = DRY.torque(np.full(2, v))
    assert (low <= law + 1e-12).all() and (law <= high + 1e-12).all()
    if abs(v) <= 0.02:
        # viscous friction moves the range by no more than 2 N m s/rad * 0.02 rad/s
        np.testing.assert_allclose(high, [6.0, 3.0], atol=0.05)
        np.testing.assert_allclose(low, [-4.5, -2.0], atol=0.05)


def test_levels_of_a_smooth_law_count_without_its_transition() -> None:
    smooth = FrictionModel(('a',), *(np.array(x) for x in (2.0, 4.0, 3.0, 0.05)))
    low, high = FrictionInterval(('a',), smooth).bounds(np.array([0.1]))
    assert low[0] == high[0] == pytest.approx(4.2)
    none = FrictionInterval(('a',)).bounds(np.array([0.0]))
    assert none[0][0] == none[1][0] == 0.0


def test_bad_input_is_refused() -> None:
    with pytest.raises(ConfigurationError, match='expected b, a'):
        FrictionInterval(('b', 'a'), DRY)
    with pytest.raises(ConfigurationError, match="joint 'b': rest_speed is 0"):
        FrictionInterval(('a', 'b'), DRY, [0.1, 0.0])
    with pytest.raises(DimensionError, match='v has'):
        FrictionInterval(('a', 'b'), DRY).bounds(np.zeros(3))
