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

"""What is too heavy for a robot."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.control.payload_limits import require_bearable
from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.exceptions import ConfigurationError, NonFiniteError
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import urdf_path

MODEL = load_urdf(urdf_path('es5.urdf.xacro'))
BENT = np.array([0.3, -1.2, 1.0, -0.5, 0.4, 0.1])
LIMIT = MODEL.limits.effort


def loaded(mass: float) -> Any:
    return MODEL.with_payload(Payload(mass, 'tool0', np.zeros(3)))


def test_payload_that_the_joints_hold_is_taken() -> None:
    heaviest = 0.0
    for mass in np.arange(0.5, 60.0, 0.5):
        if (abs(generalized_gravity(loaded(mass), BENT)) > LIMIT).any():
            break
        require_bearable(loaded(mass), MODEL, LIMIT, BENT)
        heaviest = mass
    assert 5.0 < heaviest < 50.0
    with pytest.raises(ConfigurationError, match='too heavy: joint_2 would need'):
        require_bearable(loaded(heaviest + 0.5), MODEL, LIMIT, BENT)


def test_mass_beyond_all_numbers_is_refused() -> None:
    with pytest.raises(ConfigurationError, match='too heavy'):
        require_bearable(loaded(1e300), MODEL, LIMIT, BENT)
    with pytest.raises(NonFiniteError, match='too large'):
        require_bearable(loaded(1e308), MODEL, LIMIT, BENT)


def test_unknown_pose_counts_as_the_neutral_one() -> None:
    neutral = generalized_gravity(loaded(2000.0), np.zeros(6))
    assert (abs(neutral) > LIMIT).any(), 'of the ES5 that is a stretched arm'
    for q in (None, np.full(6, nan)):
        with pytest.raises(ConfigurationError, match='too heavy'):
            require_bearable(loaded(2000.0), MODEL, LIMIT, q)


def test_overloaded_joint_may_be_relieved() -> None:
    require_bearable(MODEL, loaded(100.0), LIMIT, BENT)
    require_bearable(loaded(90.0), loaded(100.0), LIMIT, BENT)
    with pytest.raises(ConfigurationError, match='too heavy'):
        require_bearable(loaded(110.0), loaded(100.0), LIMIT, BENT)


def test_joint_without_limit_carries_anything() -> None:
    require_bearable(loaded(2000.0), MODEL, np.full(6, nan), BENT)
