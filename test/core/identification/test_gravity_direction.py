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

from identification_scenes import dry_friction, simulated_log
from robot_dynamics_ros.core.identification.gravity_direction import (
    gravity_direction,
    gravity_errors,
)
from robot_dynamics_ros.core.identification.joint_samples import joint_samples
from robot_dynamics_ros.core.model.build import build_model
from robots import six_axis


@pytest.mark.parametrize(
    ('gravity', 'bias'),
    [
        ((0.0, 0.0, -9.81), 0.0), ((6.0, 0.0, -7.75), 0.0), ((0.0, 9.0, 3.9), 0.0),
        ((6.0, 0.0, -7.75), 15.0),
    ],
)  # fmt: skip
def test_direction_of_gravity_is_found_whatever_the_mounting(
    gravity: tuple[float, float, float], bias: float
) -> None:
    robot = build_model(six_axis(), gravity=gravity)
    friction = dry_friction(robot, np.linspace(3.0, 0.3, 6), np.linspace(4.0, 0.4, 6), 1.3)
    log = simulated_log(robot, friction, 14.0, rate=250.0, size=1.0)
    noisy = log.with_noise(np.random.default_rng(0), 1e-5, 1e-3, np.full(6, 0.3))
    effort = noisy.effort + bias * np.array([0.0, 1.0, 0.0, 1.0, 0.0, 0.0])  # of two sensors
    samples = joint_samples(noisy.stamps, noisy.position, noisy.velocity, effort, 10.0)
    believed = build_model(six_axis())
    found = gravity_direction(believed, [samples.between(2.0, np.inf)])
    assert np.linalg.norm(found) == pytest.approx(9.81)
    cosine = float(found @ gravity) / float(np.linalg.norm(found) * np.linalg.norm(gravity))
    # The friction that the fit does not have moves it by less than a degree.
    assert np.degrees(np.arccos(min(cosine, 1.0))) < 1.5


def test_errors_are_given_for_the_axes_and_the_own_gravity() -> None:
    robot = build_model(six_axis(), gravity=(6.0, 0.0, -7.75))
    friction = dry_friction(robot, np.full(6, 0.1), np.full(6, 0.1))
    log = simulated_log(robot, friction, 6.0, rate=250.0, size=1.0)
    samples = joint_samples(log.stamps, log.position, log.velocity, log.effort, 10.0)
    errors = gravity_errors(robot, [samples])
    assert len(errors) == 7
    assert min(errors, key=lambda gravity: errors[gravity]) == (6.0, 0.0, -7.75)
