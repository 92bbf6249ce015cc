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

from identification_scenes import dry_friction, simulated_log, SimulatedLog
from robot_dynamics_ros.core.identification.effort_delay import effort_delay
from robot_dynamics_ros.core.identification.identification import (
    Identification,
    IdentificationOptions,
    identify,
    JointRecord,
)
from robot_dynamics_ros.core.identification.identification_model import identification_model
from robot_dynamics_ros.core.identification.joint_samples import joint_samples
from robot_dynamics_ros.core.identification.regression_rows import regression_rows, RegressionRows
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robots import prismatic

NOISE = np.array([1.0, 0.7, 0.1])


@pytest.fixture(scope='module')
def robot() -> RobotModel:
    return build_model(prismatic())


@pytest.fixture(scope='module')
def log(robot: RobotModel) -> SimulatedLog:
    friction = dry_friction(robot, np.array([4.0, 3.0, 0.3]), np.array([2.0, 1.5, 0.2]), 1.2)
    exact = simulated_log(robot, friction, 14.0, rate=500.0)
    return exact.with_noise(np.random.default_rng(0), 1e-5, 1e-3, NOISE).part(2.0, 99.0)


def delayed(log: SimulatedLog, delay: float) -> SimulatedLog:
    """Return the log with efforts that come `delay` late."""
    effort = np.column_stack(
        [np.interp(log.stamps - delay, log.stamps, column) for column in log.effort.T]
    )
    return SimulatedLog(log.stamps, log.position, log.velocity, effort)


@pytest.mark.parametrize('delay', [-0.02, 0.0, 0.03])
def test_delay_is_found_within_a_millisecond(
    robot: RobotModel, log: SimulatedLog, delay: float
) -> None:
    late = delayed(log, delay)
    samples = joint_samples(late.stamps, late.position, late.velocity, late.effort, 40.0)
    rows = list(regression_rows(identification_model(robot), samples, 5.0))
    found, share = effort_delay(rows, 1.0 / NOISE)
    assert found == pytest.approx(delay, abs=1e-3)
    # Late efforts leave more errors, those in time hardly.
    assert share < 0.9 if delay else share > 0.99


def test_moving_the_efforts_back_gives_the_friction_back(
    robot: RobotModel, log: SimulatedLog
) -> None:
    late = delayed(log, 0.03)
    record = JointRecord('log', late.stamps, late.position, late.velocity, late.effort)

    def found(delay: float) -> Identification:
        options = IdentificationOptions(
            friction='coulomb', prior_weight=1.0, cutoff=5.0, effort_delay=delay
        )
        return identify(robot, [record], [], options)

    wrong, right = found(0.0), found(0.03)
    place = right.model.names.index('lift_joint/viscous')
    # Friction at rest, which this fit does not have, moves the estimate by some milliseconds.
    assert wrong.effort_delay == pytest.approx(0.03, abs=5e-3)
    assert right.effort_delay == pytest.approx(0.0, abs=5e-3)
    assert right.consistent.parameters[place] == pytest.approx(4.0, rel=0.1)
    # Case E06: late efforts look like viscous friction.
    assert wrong.consistent.parameters[place] > 1.1 * right.consistent.parameters[place]


def test_too_few_samples_have_no_delay() -> None:
    rows = RegressionRows(
        np.zeros(2), np.zeros((2, 1, 1)), np.zeros((2, 1)), np.ones((2, 1), bool)
    )
    assert effort_delay([rows], np.ones(1)) == (0.0, 1.0)
