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
from numpy.typing import NDArray
import pytest

from identification_scenes import dry_friction, simulated_log, SimulatedLog
from robot_dynamics_ros.core.dynamics import rnea_batch
from robot_dynamics_ros.core.exceptions import ConfigurationError, UnknownFrameError
from robot_dynamics_ros.core.identification.identification_model import identification_model
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.joint_samples import joint_samples, JointSamples
from robot_dynamics_ros.core.identification.payload_columns import payload_regressor
from robot_dynamics_ros.core.identification.payload_fit import (
    payload_from_two_motions,
    payload_of_known_arm,
    PayloadFit,
)
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robots import six_axis

Array = NDArray[np.float64]
TOOL = Payload(2.8, 'tool', [0.03, -0.02, 0.11], np.diag([0.012, 0.010, 0.006]))
VISCOUS, COULOMB = np.linspace(3.0, 0.3, 6), np.linspace(4.0, 0.4, 6)
NOISE = np.array([1.0, 1.0, 0.7, 0.3, 0.2, 0.1])


@pytest.fixture(scope='module')
def arm() -> RobotModel:
    return build_model(six_axis())


def samples_of(log: SimulatedLog) -> JointSamples:
    samples = joint_samples(log.stamps, log.position, log.velocity, log.effort, 40.0)
    return samples.between(2.0, np.inf)  # the motion begins slowly, with joints at rest


@pytest.fixture(scope='module')
def motions(arm: RobotModel) -> tuple[JointSamples, JointSamples]:
    """Return the same motion without and with payload; friction rises at rest, unlike the fit."""
    found = []
    for seed, robot in enumerate((arm, arm.with_payload(TOOL))):
        friction = dry_friction(robot, VISCOUS, COULOMB, 1.3)
        log = simulated_log(robot, friction, 20.0, rate=500.0, size=1.0)
        found.append(samples_of(log.with_noise(np.random.default_rng(seed), 1e-5, 1e-3, NOISE)))
    return found[0], found[1]


def require_tool(found: PayloadFit) -> None:
    payload = found.payload
    assert payload.mass == pytest.approx(TOOL.mass, rel=0.02)
    assert payload.com == pytest.approx(TOOL.com, abs=0.004)
    # Slow motion shows little of the inertia beside friction that the fit does not have.
    assert payload.inertia == pytest.approx(TOOL.inertia, abs=0.015)
    # The deviations hold noise and its correlation, and of the friction that the fit does not have
    # only what looks like noise: within ten of them instead of two.
    truth = TOOL.spatial_inertia()
    errors = np.abs(found.linear[:4] - np.array([truth.mass, *truth.first_moment]))
    assert (errors < 10.0 * found.deviation[:4]).all()
    assert found.deviation[0] < 0.05


def test_payload_from_motions_without_and_with_it(
    arm: RobotModel, motions: tuple[JointSamples, JointSamples]
) -> None:
    # The prior arm is 20 % too light: nothing of it is used.
    model = identification_model(arm, ModelStructure())
    require_tool(payload_from_two_motions(model, [motions[0]], [motions[1]], 'tool', 5.0))


def test_payload_of_a_known_arm(
    arm: RobotModel, motions: tuple[JointSamples, JointSamples]
) -> None:
    model = identification_model(arm, ModelStructure())
    parameters = np.array(model.prior)
    for kind, values in (('viscous', VISCOUS), ('coulomb', COULOMB)):
        for joint, value in zip(arm.v_names, values):
            parameters[model.names.index(f'{joint}/{kind}')] = value
    require_tool(payload_of_known_arm(model, parameters, [motions[1]], 'tool', 5.0))


def test_columns_of_the_payload_are_what_it_adds_to_rnea(arm: RobotModel) -> None:
    q, v, a = np.random.default_rng(0).normal(size=(3, 30, 6))
    body = TOOL.spatial_inertia()
    r = body.rotational
    tensor = (r[0, 0], r[0, 1], r[1, 1], r[0, 2], r[1, 2], r[2, 2])
    parameters = np.array([body.mass, *body.first_moment, *tensor])
    expected = rnea_batch(arm.with_payload(TOOL), q, v, a) - rnea_batch(arm, q, v, a)
    found = payload_regressor(arm, 'tool', q, v, a) @ parameters
    assert found == pytest.approx(expected, abs=1e-10)  # rounding


def test_errors_say_what_was_expected(
    arm: RobotModel, motions: tuple[JointSamples, JointSamples]
) -> None:
    model = identification_model(arm, ModelStructure())
    with pytest.raises(UnknownFrameError, match="frame 'hand' is not in the model"):
        payload_from_two_motions(model, [motions[0]], [motions[1]], 'hand', 5.0)
    with pytest.raises(ConfigurationError, match="frame 'base' does not move"):
        payload_from_two_motions(model, [motions[0]], [motions[1]], 'base', 5.0)
