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

"""Logs that a verdict must not be taken in by, and files that hold less than the fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
import pytest

from identification_scenes import dry_friction, simulated_log, SimulatedLog
from robot_dynamics_ros.core.dynamics import rnea_batch
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.identification import (
    Identification,
    IdentificationOptions,
    identify,
    JointRecord,
    verdict_of,
)
from robot_dynamics_ros.core.identification.identified_model import (
    identified_model,
    inertial_of_parameters,
)
from robot_dynamics_ros.core.identification.joint_columns import Coupling, ModelStructure
from robot_dynamics_ros.core.identification.joint_samples import joint_samples
from robot_dynamics_ros.core.identification.verdict import check_delay, check_files, check_motion
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import RobotDescription
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.signals.zero_phase import ZeroPhaseFilter
from robots import six_axis

Array = NDArray[np.float64]
QUICK = IdentificationOptions(friction='coulomb', prior_weight=1.0, cutoff=5.0)
BORDER = 9.0
"""Between training and held-out data [s]."""


@pytest.fixture(scope='module')
def robot() -> RobotModel:
    return build_model(six_axis())


@pytest.fixture(scope='module')
def log(robot: RobotModel) -> SimulatedLog:
    friction = dry_friction(robot, np.linspace(3.0, 0.3, 6), np.linspace(4.0, 0.4, 6), 1.1)
    exact = simulated_log(robot, friction, 14.0, rate=250.0, size=1.0)
    noise = np.array([1.0, 1.0, 0.7, 0.3, 0.2, 0.1])
    return exact.with_noise(np.random.default_rng(0), 1e-5, 1e-3, noise).part(2.0, 99.0)


def identified(
    robot: RobotModel,
    log: SimulatedLog,
    options: IdentificationOptions = QUICK,
    end: float = 99.0,
) -> Identification:
    whole = JointRecord('log', log.stamps, log.position, log.velocity, log.effort)
    return identify(robot, [whole.between(2.0, BORDER)], [whole.between(BORDER, end)], options)


def failed(found: Identification) -> set[str]:
    return {c.name for c in verdict_of(found, found.model.robot).checks if not c.is_passed}


def with_effort(log: SimulatedLog, joint: int, effort: Array) -> SimulatedLog:
    efforts = log.effort.copy()
    efforts[:, joint] = effort
    return replace(log, effort=efforts)


def test_usual_log_passes_every_check(robot: RobotModel, log: SimulatedLog) -> None:
    assert not failed(identified(robot, log))


def test_small_joint_whose_effort_is_noise_is_not_hidden_by_large_ones(
    robot: RobotModel, log: SimulatedLog
) -> None:
    noise = np.random.default_rng(1).normal(size=len(log.stamps)) * np.std(log.effort[:, 5])
    found = identified(robot, with_effort(log, 5, noise))
    whole = found.held_out['identified']['filtered'].relative
    assert whole is not None and whole < 0.1  # all joints together look well
    reasons = verdict_of(found, robot).reasons
    assert any('joint_6 has' in reason for reason in reasons)


def test_efforts_of_two_small_joints_that_were_swapped_are_refused(
    robot: RobotModel, log: SimulatedLog
) -> None:
    swapped = replace(log, effort=log.effort[:, [0, 1, 2, 3, 5, 4]])
    assert 'joints' in failed(identified(robot, swapped))


def test_joint_without_effort_in_the_held_out_data_is_not_verified(
    robot: RobotModel, log: SimulatedLog
) -> None:
    effort = np.where(log.stamps < BORDER, log.effort[:, 4], np.nan)
    found = identified(robot, with_effort(log, 4, effort))
    assert any('joint_5 has hardly any effort' in r for r in verdict_of(found, robot).reasons)


def test_drive_that_does_not_measure_is_named(robot: RobotModel, log: SimulatedLog) -> None:
    for effort in (0.0, 1.3):
        dead = with_effort(log, 3, np.full(len(log.stamps), effort))
        with pytest.raises(ConfigurationError, match=f"'joint_4' is {effort:g} in all training"):
            identified(robot, dead)


def test_joint_without_any_effort_to_fit_is_named(robot: RobotModel, log: SimulatedLog) -> None:
    effort = np.where(log.stamps > BORDER, log.effort[:, 4], np.nan)
    with pytest.raises(ConfigurationError, match="no effort of joint 'joint_5'"):
        identified(robot, with_effort(log, 4, effort))
    with pytest.raises(ConfigurationError, match='slower than --standstill'):
        identified(robot, log, replace(QUICK, standstill=100.0))


def test_robot_that_rests_in_the_held_out_data_is_not_verified(
    robot: RobotModel, log: SimulatedLog
) -> None:
    rests = log.stamps >= BORDER
    rng = np.random.default_rng(2)
    position = np.where(rests[:, None], log.position[rests.argmax()], log.position)
    velocity = np.where(rests[:, None], 1e-3 * rng.normal(size=position.shape), log.velocity)
    zero = np.zeros_like(position)
    weight = rnea_batch(robot, position, zero, zero) + 0.1 * rng.normal(size=position.shape)
    effort = np.where(rests[:, None], weight, log.effort)
    found = identified(robot, SimulatedLog(log.stamps, position, velocity, effort))
    assert 'held-out motion' in failed(found)


def test_short_held_out_data_verify_nothing(robot: RobotModel, log: SimulatedLog) -> None:
    assert 'held-out motion' in failed(identified(robot, log, end=BORDER + 1.0))
    # Twenty independent values of a signal below 5 Hz take two seconds.
    speed = np.ones(1)
    assert not check_motion(('a',), speed, speed, 1.99, 5.0).is_passed
    assert check_motion(('a',), speed, speed, 2.01, 5.0).is_passed


def test_late_efforts_are_refused_with_the_way_out(robot: RobotModel, log: SimulatedLog) -> None:
    late = np.column_stack(
        [np.interp(log.stamps - 0.03, log.stamps, column) for column in log.effort.T]
    )
    found = identified(robot, replace(log, effort=late))
    assert any('--effort-delay 0.03' in r or '--effort-delay 0.02' in r
               for r in verdict_of(found, robot).reasons)  # fmt: skip
    right = identified(robot, replace(log, effort=late), replace(QUICK, effort_delay=0.03))
    assert 'delay' not in failed(right)
    # What would be gained by less than a tenth is not believed.
    assert check_delay(0.06, 0.95, 5.0).is_passed


def test_bias_of_a_sensor_is_no_other_mounting(robot: RobotModel, log: SimulatedLog) -> None:
    found = identified(robot, with_effort(log, 4, log.effort[:, 4] + 6.0))
    # The fit has it, the friction file can hold no more than the Coulomb level of 1.1 N m.
    assert failed(found) == {'files', 'joints'}
    assert found.held_out['identified']['filtered'].joints[4].relative == pytest.approx(0, abs=0.1)


def test_coupled_motor_is_missing_in_the_files_and_said_to_be(
    robot: RobotModel, log: SimulatedLog
) -> None:
    w = log.velocity[:, 4] + log.velocity[:, 5]
    smooth = ZeroPhaseFilter(20.0).filtered(log.stamps, w[:, None])[:, 0]
    torque = 8.0 * smooth + 6.0 * np.tanh(smooth / 0.02)
    effort = log.effort + torque[:, None] * np.array([0.0, 0.0, 0.0, 0.0, 1.0, 1.0])
    options = replace(QUICK, couplings=(Coupling('joint_5', 'joint_6'),))
    found = identified(robot, replace(log, effort=effort), options)
    assert 'files' in failed(found)
    assert found.held_out['identified']['filtered'].joints[5].relative == pytest.approx(0, abs=0.1)


def test_errors_of_the_files_are_those_of_newton_euler_and_friction_file(
    robot: RobotModel, log: SimulatedLog
) -> None:
    biased = with_effort(log, 4, log.effort[:, 4] + 0.3)
    found = identified(robot, biased)
    written = identified_model(found.model, found.consistent.parameters)
    robot_of_files = robot_with(robot, found.consistent.parameters, dict(written.armature))
    part = biased.part(BORDER, 99.0)
    samples = joint_samples(
        part.stamps, part.position, part.velocity, part.effort, found.cutoffs.motion_cutoff
    )
    torque = rnea_batch(robot_of_files, samples.q, samples.v, samples.a)
    torque += written.friction_model.torque(samples.v)
    low_pass = ZeroPhaseFilter(found.cutoffs.cutoff)
    rows = np.searchsorted(samples.stamps, found.series[1][0].stamps)  # those of the report
    error = low_pass.filtered(samples.stamps, samples.tau - torque)[rows]
    effort = low_pass.filtered(samples.stamps, samples.tau)[rows]
    stated = found.held_out['files']['filtered'].relative
    # Two ways to the same numbers, to rounding.
    assert stated == pytest.approx(np.linalg.norm(error) / np.linalg.norm(effort), rel=1e-9)
    fitted = found.held_out['identified']['filtered'].relative
    assert stated is not None and fitted is not None
    assert abs(stated - fitted) > 1e-4  # the offset at rest is not in the files


def robot_with(robot: RobotModel, parameters: Array, armature: dict[str, float]) -> RobotModel:
    """Return the robot with other bodies and rotors."""
    bodies = parameters[: 10 * robot.nbodies].reshape(-1, 10)
    inertials = dict(zip(robot.body_names, map(inertial_of_parameters, bodies)))
    links = tuple(
        replace(link, inertial=inertials.get(link.name, link.inertial))
        for link in robot.description.links
    )
    description: RobotDescription = replace(robot.description, links=links)
    return build_model(description, armature=armature)


def test_files_that_cost_much_are_refused() -> None:
    assert check_files(0.031, 0.03).is_passed
    assert 'cannot hold costs +10.00 points' in check_files(0.13, 0.03).message
    assert not check_files(None, None).is_passed


def test_couplings_without_sense_are_refused() -> None:
    for ratio in (0.0, np.nan, np.inf):
        with pytest.raises(ConfigurationError, match='a finite ratio that is not zero'):
            Coupling('a', 'b', ratio)
    with pytest.raises(ConfigurationError, match='expected two joints'):
        Coupling('a', 'a')
    with pytest.raises(ConfigurationError, match='two couplings of a and b'):
        ModelStructure(couplings=(Coupling('a', 'b'), Coupling('b', 'a', 2.0)))
