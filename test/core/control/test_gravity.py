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

from math import nan, pi
from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.control.gravity import gravity_from_mounting, validate_gravity
from robot_dynamics_ros.core.control.laws import GravityCompensationLaw
from robot_dynamics_ros.core.exceptions import ConfigurationError


@pytest.mark.parametrize(
    'gravity',
    [
        [0.0, 0.0, 0.0],
        [0.0, 0.0, nan],
        [0.0, 0.0, -981.0],
        [0.0, 0.0, -9.3],
        [0.0, 9.81, 9.81],
        [0.0, -9.81],
        'down',
        None,
    ],
)
def test_c01_impossible_gravity_is_refused(gravity: Any) -> None:
    with pytest.raises(ConfigurationError, match='gravity'):
        validate_gravity(gravity)


def test_c01_gravity_of_a_place_on_earth_is_taken() -> None:
    for gravity in ([0.0, 0.0, -9.81], [0.0, 0.0, 9.78], [-9.83, 0.0, 0.0]):
        assert validate_gravity(gravity).tolist() == gravity


def test_mounting_turns_gravity_into_the_base_frame() -> None:
    # Rounding of sine and cosine, times 9.81.
    np.testing.assert_allclose(gravity_from_mounting(0.0, 0.0), [0, 0, -9.81], atol=1e-15)
    np.testing.assert_allclose(gravity_from_mounting(pi, 0.0), [0, 0, 9.81], atol=1e-14)
    for roll, pitch in ((0.3, -0.8), (-2.0, 0.4)):
        cr, sr, cp, sp = np.cos(roll), np.sin(roll), np.cos(pitch), np.sin(pitch)
        rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
        ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        expected = (ry @ rx).T @ [0.0, 0.0, -9.81]
        np.testing.assert_allclose(gravity_from_mounting(roll, pitch), expected, atol=1e-14)


def test_c01_wall_ceiling_and_tilt_of_the_ur5() -> None:
    from example_robots import example_urdf
    from robot_dynamics_ros.core.model.urdf import load_urdf

    model = load_urdf(example_urdf('ur5_robot.urdf'))
    q = np.array([0.3, -1.2, 1.0, -0.5, 0.4, 0.0])
    floor = [0.0, -31.24143, -15.48359, -0.1124, 0.0, 0.0]
    cases = [
        ([0.0, 0.0, -9.81], floor),
        (gravity_from_mounting(pi, 0.0), [-x for x in floor]),
        ([-9.81, 0.0, 0.0], [-21.88616, 41.57052, 2.84925, -0.12748, 0.0, 0.0]),
        (gravity_from_mounting(0.0, -pi / 4), [-15.47585, 7.30377, -8.93383, -0.16962, 0, 0]),
    ]
    for gravity, expected in cases:
        law = GravityCompensationLaw(model.with_gravity(validate_gravity(gravity)))
        # The figures are printed with five digits after the point.
        np.testing.assert_allclose(law.command(q, np.zeros(6)), expected, atol=6e-6)
