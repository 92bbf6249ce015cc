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

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
import pytest

from identification_scenes import dry_friction, simulated_log
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.drive_gains import drive_gains
from robot_dynamics_ros.core.identification.identification_model import identification_model
from robot_dynamics_ros.core.identification.joint_samples import joint_samples, JointSamples
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robots import six_axis

Array = NDArray[np.float64]
WEIGHT = Payload(4.0, 'tool', [0.05, 0.03, 0.12], np.diag([0.02, 0.02, 0.01]))
GAINS = np.array([12.0, 15.0, 9.0, 6.0, 5.0, 3.0])
"""Newton metres per ampere."""


def motion(robot: RobotModel, seed: int, noise: float) -> JointSamples:
    """Return a motion with currents instead of efforts."""
    friction = dry_friction(robot, np.linspace(3.0, 0.3, 6), np.linspace(4.0, 0.4, 6), 1.2)
    log = simulated_log(robot, friction, 22.0, rate=250.0, size=1.0)
    noisy = log.with_noise(np.random.default_rng(seed), 1e-5, 1e-3, np.full(6, noise))
    current = noisy.effort / GAINS
    samples = joint_samples(noisy.stamps, noisy.position, noisy.velocity, current, 20.0)
    return samples.between(2.0, np.inf)


@pytest.fixture(scope='module')
def arm() -> RobotModel:
    return build_model(six_axis())


def test_gains_come_out_of_a_known_payload(arm: RobotModel) -> None:
    model = identification_model(arm)
    motions = motion(arm, 0, 0.1), motion(arm.with_payload(WEIGHT), 1, 0.1)
    found = drive_gains(model, [motions[0]], [motions[1]], WEIGHT, 5.0)
    # Some percent, and low, as published: friction that the fit does not have is in the columns.
    assert found.gains == pytest.approx(GAINS, rel=0.1)
    assert (found.deviation < 0.05 * GAINS).all()


def test_payload_without_effect_is_refused(arm: RobotModel) -> None:
    model = identification_model(arm)
    only = motion(arm, 0, 0.1).picked(slice(0, 500))
    still = replace(only, v=0.0 * only.v, a=0.0 * only.a)
    with pytest.raises(ConfigurationError, match='no effect on any joint'):
        drive_gains(model, [still], [still], Payload(0.0, 'tool'), None)
