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
from robot_dynamics_ros.core.identification.cross_validation import (
    candidates_of,
    choose_prior_weight,
    choose_structure,
    Folds,
    folds_of,
)
from robot_dynamics_ros.core.identification.identification_model import identification_model
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.joint_samples import joint_samples
from robot_dynamics_ros.core.identification.least_squares import weighted_least_squares
from robot_dynamics_ros.core.identification.regression_rows import regression_rows
from robot_dynamics_ros.core.identification.triangular_factors import accumulated
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robots import prismatic, two_link

Array = NDArray[np.float64]


def folds_from(robot: RobotModel, log: SimulatedLog) -> Folds:
    candidates = candidates_of(robot, ModelStructure('stribeck'))
    samples = joint_samples(log.stamps, log.position, log.velocity, log.effort, 40.0)
    # The motion begins slowly; and where joints stick, friction is anything.
    samples = samples.between(2.0, np.inf).without_standstill(0.05)
    return folds_of(candidates, list(regression_rows(candidates, samples, 5.0)))


@pytest.fixture(scope='module')
def arm() -> RobotModel:
    return build_model(two_link(), gravity=(0.0, -9.81, 0.0))


def test_friction_that_rises_at_rest_is_chosen_where_it_is_there(arm: RobotModel) -> None:
    viscous, coulomb = np.array([0.5, 0.2]), np.array([1.0, 0.5])
    chosen = {}
    for ratio in (1.0, 2.5):
        friction = dry_friction(arm, viscous, coulomb, ratio, 0.15)
        log = simulated_log(arm, friction, 12.0, rate=500.0, size=0.5)
        noisy = log.with_noise(np.random.default_rng(0), 0.0, 1e-4, np.array([1.5, 1.0]))
        chosen[ratio] = choose_structure(folds_from(arm, noisy))
    assert chosen[1.0].model.structure.friction == 'coulomb'
    assert max(chosen[1.0].model.velocities) <= 0.02  # dry friction jumps
    assert chosen[2.5].model.structure.friction == 'stribeck'
    assert chosen[2.5].errors['stribeck'] < 0.9 * chosen[2.5].errors['coulomb']


def test_folds_put_together_are_all_rows_and_a_candidate_is_its_own_model(arm: RobotModel) -> None:
    friction = dry_friction(arm, np.array([0.5, 0.2]), np.array([1.0, 0.5]))
    log = simulated_log(arm, friction, 6.0, rate=500.0, size=0.5)
    candidates = candidates_of(arm, ModelStructure('stribeck'))
    samples = joint_samples(log.stamps, log.position, log.velocity, log.effort, 40.0)
    folds = folds_of(candidates, list(regression_rows(candidates, samples, 5.0)))
    assert len(folds.parts) == 5
    model = identification_model(arm, ModelStructure('coulomb'), (0.02, 0.05))
    rows = list(regression_rows(model, samples, 5.0))
    expected = weighted_least_squares(accumulated(rows, model.columns_of_joint, model.base.rank))
    found = weighted_least_squares(folds.restricted_to(model).whole())
    assert found.base == pytest.approx(expected.base, abs=1e-7)  # rounding


def test_weight_of_the_prior_follows_its_worth() -> None:
    robot = build_model(prismatic()).with_armature([0.3, 0.2, 0.05])
    friction = dry_friction(robot, np.array([4.0, 3.0, 0.3]), np.array([2.0, 1.5, 0.2]))
    log = simulated_log(robot, friction, 10.0, rate=500.0)
    noisy = log.with_noise(np.random.default_rng(1), 0.0, 1e-3, np.array([400.0, 300.0, 30.0]))
    weight, errors = choose_prior_weight(_coulomb(folds_from(robot, noisy)))
    assert weight >= 10.0  # the bodies are exact and the efforts are not
    assert set(errors) == {1.0, 10.0, 100.0, 1000.0}


def _coulomb(folds: Folds) -> Folds:
    robot = folds.model.robot
    return folds.restricted_to(identification_model(robot, ModelStructure('coulomb')))
