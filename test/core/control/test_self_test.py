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

"""The check of sign and scale, on numbers and on a real log."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import pytest

from example_robots import example_urdf
from robot_dynamics_ros.bags.joint_blocks import read_joint_log
from robot_dynamics_ros.core.control.self_test import compare_torques, Verdict
from robot_dynamics_ros.core.drive.measured_effort import MeasuredEffort
from robot_dynamics_ros.core.dynamics import generalized_gravity_batch
from robot_dynamics_ros.core.exceptions import ConfigurationError, DimensionError
from robot_dynamics_ros.core.model.urdf import load_urdf
from shared_data import shared_path

N = 100


def judge(measured: Any, expected: float = 10.0, velocity: float = 0.0, noise: float = 0.1) -> Any:
    rng = np.random.default_rng(0)
    values = measured + noise * rng.normal(size=(N, 1))
    verdicts = compare_torques(
        ['j1'], np.full((N, 1), velocity), values, np.full((N, 1), expected)
    )
    return verdicts[0]


@pytest.mark.parametrize(
    ('measured', 'verdict'),
    [
        (10.0, Verdict.AGREES),
        (7.0, Verdict.AGREES),  # friction holds 30 %
        (14.0, Verdict.AGREES),
        (-9.0, Verdict.INVERTED),
        (0.5, Verdict.ABSENT),
        (-0.5, Verdict.ABSENT),
        (3.0, Verdict.WRONG_SCALE),
        (1000.0, Verdict.WRONG_SCALE),  # N mm
        (-100.0, Verdict.WRONG_SCALE),
    ],
)
def test_verdict_follows_the_ratio(measured: float, verdict: Verdict) -> None:
    found = judge(measured)
    assert found.verdict is verdict
    assert found.ratio == pytest.approx(measured / 10.0, abs=0.02)
    assert str(found).startswith(f'j1: {verdict.value}')


@pytest.mark.parametrize(
    ('found', 'said'),
    [
        (judge(0.3, expected=0.3), 'too few; bend the arm'),
        (judge(10.0, noise=40.0), 'too few'),
        (judge(10.0, velocity=0.1), 'has to stand still'),
        (judge(nan), '0 measured efforts'),
    ],
)
def test_nothing_is_said_without_ground(found: Any, said: str) -> None:
    assert found.verdict is Verdict.UNKNOWN
    assert said in str(found)


def test_robot_that_swings_does_not_stand_still() -> None:
    time = np.arange(N)[:, None] / 100.0
    held = np.full((N, 1), 10.0)
    swing = 1.5 * np.cos(2.0 * np.pi * time)
    assert abs(swing.mean()) < 1e-12
    (found,) = compare_torques(['j1'], swing, held, held)
    assert 'has to stand still' in str(found)
    # The estimate from an encoder of 1e-4 rad at 500 Hz, at rest: one step to and fro.
    flicker = 0.05 * np.where(np.arange(N) % 2, 1.0, -1.0)[:, None]
    (found,) = compare_torques(['j1'], flicker, held, held)
    assert found.verdict is Verdict.AGREES


@pytest.mark.parametrize(
    ('measured', 'verdict', 'is_good'),
    [
        (0.3, Verdict.ABSENT_AS_STATED, True),
        (10.0, Verdict.PRESENT, False),
        (-10.0, Verdict.PRESENT, False),
    ],
)
def test_effort_that_is_said_to_lack_gravity(measured: float, verdict: Any, is_good: bool) -> None:
    torque, gravity = np.full((N, 1), measured), np.full((N, 1), 10.0)
    (found,) = compare_torques(['j1'], np.zeros((N, 1)), torque, gravity, is_absent=True)
    assert found.verdict is verdict
    assert found.verdict.is_good is is_good
    assert 'gravity needs 10 N m or N' in str(found)


def test_arrays_have_to_fit() -> None:
    with pytest.raises(DimensionError, match='expected'):
        compare_torques(['j1'], np.zeros((3, 1)), np.zeros((3, 1)), np.zeros((2, 1)))


def test_panda_log_agrees_and_its_negative_is_inverted() -> None:
    # Means over a motion that ends where it began, so that little but gravity is left in them.
    bag = shared_path('data', 'panda_unisa_rosbag2', 'panda_exciting_trajectory.db3')
    names = [f'panda_joint{i}' for i in range(1, 8)]
    model = load_urdf(
        example_urdf('panda.urdf'), active_joints=names, locked={'panda_finger_joint1': 0.0}
    )
    log = read_joint_log(bag)
    assert list(log.joint_names) == [name.replace('panda', 'fer') for name in names]
    gravity = generalized_gravity_batch(model, log.position)
    meaning = MeasuredEffort('torque', model.nv)
    measured = meaning.torque(log.effort, gravity)
    moves = {'still': np.inf}
    right = [v.verdict for v in compare_torques(names, log.velocity, measured, gravity, **moves)]
    wrong = [v.verdict for v in compare_torques(names, log.velocity, -measured, gravity, **moves)]
    assert right[1:4] == [Verdict.AGREES] * 3
    assert wrong[1:4] == [Verdict.INVERTED] * 3
    assert Verdict.INVERTED not in right
    assert right[0] is Verdict.UNKNOWN, 'the axis of joint 1 is vertical'


def test_semantics_give_the_torque_with_gravity() -> None:
    effort, gravity = np.array([1.0, 2.0]), np.array([5.0, -3.0])
    torque = MeasuredEffort('torque', 2)
    assert torque.torque(effort, gravity).tolist() == [1.0, 2.0]
    without = MeasuredEffort('gravity_compensated', 2)
    assert without.torque(effort, gravity).tolist() == [6.0, -1.0]
    current = MeasuredEffort('current', 2, [0.1, 0.2], [100.0, -50.0])
    assert current.torque(effort, gravity).tolist() == [10.0, -20.0]
    assert current.unit == 'A'
    assert torque.unit == 'N m | N'


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (('amps', 2), "'amps' is not one of: torque, current, gravity_compensated"),
        (('current', 2), 'current needs torque_constants'),
        (('torque', 2, [1.0, 1.0]), 'torque_constants are given, but'),
        (('torque', 2, None, [1.0, 1.0]), 'gear_ratios are given, but'),
        (('current', 2, [0.0, 1.0]), 'must be > 0'),
        (('current', 2, [1.0, 1.0], [0.0, 1.0]), 'other than 0'),
    ],
)
def test_semantics_that_do_not_fit_are_refused(arguments: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        MeasuredEffort(*arguments)
