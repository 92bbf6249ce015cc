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
from robot_dynamics_ros.core.exceptions import ConfigurationError, ModelError
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
        require_bearable(loaded(1e90), MODEL, LIMIT, BENT)


@pytest.mark.filterwarnings('error')
def test_numbers_that_no_body_has_are_refused_without_a_warning() -> None:
    with pytest.raises(ModelError, match='no body has that'):
        loaded(1e308)
    with pytest.raises(ModelError, match='no body has that'):
        Payload(1.0, 'tool0', np.array([0.0, -1e300, 0.0]))
    with pytest.raises(ConfigurationError, match='too heavy'):
        require_bearable(loaded(1e99), MODEL, LIMIT, BENT)


@pytest.mark.parametrize(
    ('mass', 'away', 'inertia', 'reason'),
    [
        (0.01, 50.0, 0.0, 'centre of mass is 50 m from tool0, expected at most 2 m'),
        (0.001, 0.0, 1e9, r'radius of gyration is 1e\+06 m, the root of inertia over mass'),
    ],
)
def test_light_payload_that_reaches_too_far_is_refused(
    mass: float, away: float, inertia: float, reason: str
) -> None:
    payload = Payload(mass, 'tool0', np.array([0.0, 0.0, away]), inertia * np.eye(3))
    with pytest.raises(ConfigurationError, match=reason):
        require_bearable(MODEL.with_payload(payload), MODEL, LIMIT, BENT)
    # A rod of 3 m held at its end is still a payload.
    rod = Payload(1.0, 'tool0', np.array([0.0, 0.0, 1.5]), np.diag([0.75, 0.75, 0.0]))
    require_bearable(MODEL.with_payload(rod), MODEL, LIMIT, BENT)


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
