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

from identification_scenes import dry_friction, simulated_log, SimulatedLog
from robot_dynamics_ros.core.exceptions import ConfigurationError, DimensionError, NonFiniteError
from robot_dynamics_ros.core.identification.identification import (
    Identification,
    IdentificationOptions,
    identify,
    JointRecord,
    verdict_of,
)
from robot_dynamics_ros.core.identification.verdict import (
    check_bodies,
    check_condition,
    check_cost,
    check_friction,
    check_held_out,
    check_mass,
    check_mass_matrix,
    measured_agreement,
)
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robots import pendulum, prismatic, six_axis

Array = NDArray[np.float64]
QUICK = IdentificationOptions(friction='coulomb', prior_weight=1.0, cutoff=5.0)


@pytest.fixture(scope='module')
def robot() -> RobotModel:
    return build_model(six_axis())


@pytest.fixture(scope='module')
def log(robot: RobotModel) -> SimulatedLog:
    """Return a log with friction that rises at rest, which the quick fit does not have."""
    viscous, coulomb = np.linspace(3.0, 0.3, 6), np.linspace(4.0, 0.4, 6)
    friction = dry_friction(robot, viscous, coulomb, 1.3)
    exact = simulated_log(robot, friction, 24.0, rate=500.0, size=1.0)
    noise = np.array([1.0, 1.0, 0.7, 0.3, 0.2, 0.1])
    return exact.with_noise(np.random.default_rng(0), 1e-5, 1e-3, noise)


def record_of(log: SimulatedLog, name: str = 'log') -> JointRecord:
    return JointRecord(name, log.stamps, log.position, log.velocity, log.effort)


def identified(robot: RobotModel, log: SimulatedLog) -> Identification:
    return identify(
        robot, [record_of(log.part(2.0, 16.0))], [record_of(log.part(16.0, 99.0))], QUICK
    )


def failed(found: Identification) -> set[str]:
    written = build_model(six_axis())
    return {c.name for c in verdict_of(found, written).checks if not c.is_passed}


def test_simulated_robot_passes(robot: RobotModel, log: SimulatedLog) -> None:
    found = identified(robot, log)
    assert not failed(found)
    filtered = found.held_out['identified']['filtered']
    assert filtered.relative is not None
    assert filtered.relative < 0.05
    described = found.held_out['description']['filtered'].relative
    assert described is not None
    assert filtered.relative < 0.3 * described  # the description has no friction of this size
    raw = found.held_out['identified']['raw effort'].relative
    assert raw is not None
    assert raw > filtered.relative
    assert all(j.r_squared is not None and j.r_squared > 0.9 for j in filtered.joints)


def test_flipped_effort_is_refused(robot: RobotModel, log: SimulatedLog) -> None:
    flipped = SimulatedLog(log.stamps, log.position, log.velocity, -log.effort)
    assert 'effort' in failed(identified(robot, flipped))


def test_one_flipped_joint_is_named(robot: RobotModel, log: SimulatedLog) -> None:
    effort = log.effort * np.array([1.0, -1.0, 1.0, 1.0, 1.0, 1.0])
    flipped = SimulatedLog(log.stamps, log.position, log.velocity, effort)
    found = identified(robot, flipped)
    verdict = verdict_of(found, robot)
    assert not verdict.is_fit
    assert any('joint_2 has the opposite sign' in reason for reason in verdict.reasons)


def test_currents_instead_of_torques_are_refused(robot: RobotModel, log: SimulatedLog) -> None:
    current = SimulatedLog(log.stamps, log.position, log.velocity, 0.02 * log.effort)
    assert {'effort', 'mass'} <= failed(identified(robot, current))


def test_wrong_gravity_is_refused_and_the_right_one_named(
    robot: RobotModel, log: SimulatedLog
) -> None:
    found = identified(robot.with_gravity([9.81, 0.0, 0.0]), log)
    reasons = verdict_of(found, robot).reasons
    assert any('--gravity 0 0 -9.81' in reason or '--gravity -0 -0 -9.81' in reason
               for reason in reasons)  # fmt: skip


def test_poor_motion_is_refused(robot: RobotModel, log: SimulatedLog) -> None:
    # Joint 3 does not move: what turns with it is not seen.
    rng = np.random.default_rng(1)
    position = log.position.copy()
    position[:, 2] = 0.3
    velocity = log.velocity.copy()
    velocity[:, 2] = 1e-6 * rng.normal(size=len(velocity))
    found = identified(robot, SimulatedLog(log.stamps, position, velocity, log.effort))
    assert 'excitation' in failed(found)


def test_without_held_out_data_nothing_is_verified(robot: RobotModel, log: SimulatedLog) -> None:
    found = identify(robot, [record_of(log.part(2.0, 12.0))], [], QUICK)
    assert {'held-out', 'consistency cost'} <= failed(found)


def test_two_bags_are_fitted_together(robot: RobotModel, log: SimulatedLog) -> None:
    parts = [record_of(log.part(2.0, 9.0), 'a'), record_of(log.part(9.0, 16.0), 'b')]
    found = identify(robot, parts, [record_of(log.part(16.0, 99.0))], QUICK)
    whole = identified(robot, log)
    assert not failed(found)
    # The filter begins anew at 9 s; the samples are the same otherwise.
    gap = np.linalg.norm(found.consistent.base - whole.consistent.base)
    assert gap < 0.05 * np.linalg.norm(whole.consistent.base)


def test_continuous_joint_may_be_recorded_within_half_a_turn() -> None:
    bob = build_model(pendulum())
    friction = dry_friction(bob, np.array([0.3]), np.array([0.2]))
    log = simulated_log(bob, friction, 16.0, rate=250.0, size=6.0)
    assert np.ptp(log.position) > 2.0 * np.pi
    wrapped = replace(log, position=np.mod(log.position + np.pi, 2.0 * np.pi) - np.pi)
    assert np.abs(np.diff(wrapped.position, axis=0)).max() > 6.0
    found = []
    for each in (log, wrapped):
        parts = [record_of(each.part(2.0, 11.0))], [record_of(each.part(11.0, 99.0))]
        found.append(identify(bob, *parts, QUICK))
    # A whole turn more or less, to rounding.
    assert found[1].consistent.base == pytest.approx(found[0].consistent.base, rel=1e-6)
    held = found[1].held_out['identified']['filtered'].relative
    assert held is not None
    assert held < 0.05


def test_measures_are_those_of_the_formulas() -> None:
    rng = np.random.default_rng(3)
    measured, model = rng.normal(size=(2, 50, 2)) + 1.0
    use = np.ones((50, 2), dtype=bool)
    use[40:, 1] = False
    found = measured_agreement(('a', 'b'), measured, model, use)
    error = measured[:40, 1] - model[:40, 1]
    second = found.joints[1]
    assert second.samples == 40
    assert second.rmse == pytest.approx(np.sqrt(np.mean(error**2)))
    assert second.r_squared == pytest.approx(1.0 - np.mean(error**2) / np.var(measured[:40, 1]))
    both = np.where(use, measured - model, 0.0)
    expected = np.linalg.norm(both) / np.linalg.norm(np.where(use, measured, 0.0))
    assert found.relative == pytest.approx(expected)
    constant = measured_agreement(('a',), np.ones((5, 1)), np.ones((5, 1)), use[:5, :1])
    assert constant.joints[0].r_squared is None
    nothing = measured_agreement(('a',), np.ones((5, 1)), np.ones((5, 1)), ~use[:5, :1])
    assert nothing.relative is None


def test_checks_say_what_is_wrong(robot: RobotModel) -> None:
    assert 'expected at most 50 %' in check_held_out(0.6, None).message
    assert 'more than the 5 % of the description' in check_held_out(0.1, 0.05).message
    assert not check_cost(0.09, 0.05).is_passed
    assert 'record one that moves all joints' in check_condition(np.inf, 36).message
    assert not check_mass(100.0, 20.0).is_passed
    assert check_mass(100.0, 0.0).is_passed
    assert 'b' in check_friction(('a', 'b'), np.array([1.0, -1.0]), np.ones(2, bool)).message
    point = np.tile([1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.1], 6)
    assert 'link_1' in check_bodies(robot, point).message
    massless = build_model(prismatic()).with_armature([-0.0, 0.0, 0.0])
    assert check_mass_matrix(massless).is_passed


def test_errors_say_what_was_expected(robot: RobotModel, log: SimulatedLog) -> None:
    record = record_of(log.part(0.0, 5.0))
    with pytest.raises(ConfigurationError, match="'magic' is not one of: huber, wls, ols"):
        identify(robot, [record], [], IdentificationOptions(estimator='magic'))
    with pytest.raises(ConfigurationError, match='without a payload'):
        identify(robot.with_payload(Payload(1.0, 'tool')), [record], [])
    with pytest.raises(ConfigurationError, match='friction form'):
        identify(robot, [record], [], IdentificationOptions(friction='rubber'))
    narrow = replace(record, position=record.position[:, :5])
    with pytest.raises(DimensionError, match='position has shape'):
        identify(robot, [narrow], [])
    with pytest.raises(NonFiniteError, match='position'):
        identify(robot, [replace(record, position=np.nan * record.position)], [])
