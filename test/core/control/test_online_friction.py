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

"""Friction that follows estimates: what is taken, how it glides, and when it goes back."""

from __future__ import annotations

import numpy as np
import pytest

from robot_dynamics_ros.core.control.online_friction import (
    OnlineFriction,
    OnlineFrictionBounds,
)
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.friction_model import FrictionModel, TERMS

JOINTS = ('shoulder', 'elbow')
NAMES = [f'{joint}/{term}' for joint in JOINTS for term in TERMS]
OFFLINE = np.array([[8.0, 8.0, 7.0, 6.0], [2.0, 3.0, 1.0, 1.0]])  # (joint, term)
BOUNDS = OnlineFrictionBounds(timeout=2.0, deviation=0.1, factor=2.0, glide_time=1.0)


def friction(bounds: OnlineFrictionBounds = BOUNDS) -> OnlineFriction:
    return OnlineFriction(offline(), bounds)


def offline() -> FrictionModel:
    viscous, backward, positive, negative = OFFLINE.T
    return FrictionModel(JOINTS, viscous, positive, negative, np.array(0.02), backward)


def offered(values: np.ndarray, now: float, to: OnlineFriction, variance: float = 1e-4) -> str:
    return to.offer(NAMES, values.ravel(), np.full(8, variance), now)


def test_without_estimates_it_is_the_offline_friction() -> None:
    v = np.random.default_rng(0).normal(size=(100, 2))
    subject = friction()
    subject.step(100.0)
    # The same formula in the same order.
    np.testing.assert_array_equal(subject.torque(v), offline().torque(v))
    assert subject.reason == 'no estimate has come'


def test_estimate_is_reached_by_gliding_and_torque_never_jumps() -> None:
    subject = friction()
    v = np.array([0.5, -0.3])
    assert offered(1.3 * OFFLINE, 10.0, subject) == ''
    torques = []
    for now in np.arange(10.0, 11.5, 0.001):
        subject.step(now)
        torques.append(subject.torque(v))
    np.testing.assert_allclose(torques[0], offline().torque(v), rtol=1e-12)
    np.testing.assert_allclose(torques[-1], 1.3 * offline().torque(v), rtol=1e-12)
    # A thousandth of the change in each of a thousand steps.
    change = 0.3 * abs(offline().torque(v))
    assert (abs(np.diff(torques, axis=0)) <= 1.001e-3 * change).all()
    assert subject.is_online.all()
    assert subject.reason == ''


def test_new_estimates_on_the_way_go_on_from_where_it_is() -> None:
    subject = friction()
    offered(1.5 * OFFLINE, 0.0, subject)
    subject.step(0.5)
    before = subject.values
    offered(0.9 * OFFLINE, 0.5, subject)
    subject.step(0.5)
    np.testing.assert_array_equal(subject.values, before)
    subject.step(0.75)
    np.testing.assert_allclose(subject.values, before + 0.25 * (0.9 * OFFLINE.T - before))


@pytest.mark.parametrize(
    ('factor', 'variance', 'reason'),
    [
        (2.1, 1e-4, 'coulomb_positive of elbow is 2.1, expected 0 to 2'),
        (-0.1, 1e-4, 'coulomb_positive of elbow is -0.1, expected 0 to 2'),
        (1.1, 0.0101, 'coulomb_positive of elbow is known to 0.1 only, expected 0.1'),
    ],
    ids=['too much', 'negative', 'uncertain'],
)
def test_joint_with_an_estimate_out_of_bounds_keeps_the_offline_values(
    factor: float, variance: float, reason: str
) -> None:
    subject = friction()
    values, variances = 1.2 * OFFLINE, np.full((2, 4), 1e-4)
    values[1, 2], variances[1, 2] = factor * OFFLINE[1, 2], variance
    assert subject.offer(NAMES, values.ravel(), variances.ravel(), 0.0) == ''
    subject.step(1.0)
    np.testing.assert_allclose(subject.values[:, 0], 1.2 * OFFLINE[0])
    np.testing.assert_array_equal(subject.values[:, 1], OFFLINE[1])
    assert subject.is_online.tolist() == [True, False]
    assert subject.reason == reason


def test_silence_and_withdrawal_lead_back_to_the_offline_values() -> None:
    for withdrawn in (True, False):
        subject = friction()
        offered(1.4 * OFFLINE, 0.0, subject)
        subject.step(1.0)
        if withdrawn:
            assert subject.offer([], np.empty(0), np.empty(0), 1.5) == ''
            assert subject.reason == 'the estimates are withdrawn'
            began = 1.5
        else:
            began = 2.01
            subject.step(began)
            assert subject.reason == 'no estimate for 2.0 s'
        assert not subject.is_online.any()
        subject.step(began + 0.5)
        np.testing.assert_allclose(subject.values, 1.2 * OFFLINE.T)
        subject.step(began + 1.0)
        np.testing.assert_array_equal(subject.values, OFFLINE.T)


def test_estimates_of_some_joints_leave_the_others() -> None:
    subject = friction()
    assert subject.offer(NAMES[:4], 1.1 * OFFLINE[0], np.zeros(4), 0.0) == ''
    subject.step(1.5)
    np.testing.assert_allclose(subject.values.T, [1.1 * OFFLINE[0], OFFLINE[1]])
    assert subject.reason == 'there is no estimate of elbow'


@pytest.mark.parametrize(
    ('names', 'values', 'variances', 'reason'),
    [
        (NAMES, OFFLINE.ravel()[:7], np.zeros(8), '8 names, 7 values and 8 variances'),
        (NAMES[:7] + NAMES[:1], OFFLINE.ravel(), np.zeros(8), 'a name stands twice'),
        (['wrist/viscous'], [1.0], [0.0], "'wrist/viscous' is no term of a joint"),
        (NAMES[:7], OFFLINE.ravel()[:7], np.zeros(7), 'terms are missing'),
        (NAMES, np.nan * OFFLINE.ravel(), np.zeros(8), 'not finite'),
        (NAMES, OFFLINE.ravel(), np.full(8, np.inf), 'not finite'),
        (NAMES, OFFLINE.ravel(), np.full(8, -1.0), 'a variance is negative'),
    ],
)
def test_messages_that_make_no_sense_change_nothing(
    names: list[str], values: list[float], variances: list[float], reason: str
) -> None:
    subject = friction()
    offered(1.2 * OFFLINE, 0.0, subject)
    subject.step(1.0)
    before = subject.values
    assert reason in subject.offer(names, np.array(values), np.array(variances), 1.0)
    subject.step(1.9)
    np.testing.assert_array_equal(subject.values, before)
    assert (subject.accepted, subject.refused) == (1, 1)


def test_senseless_bounds_are_refused() -> None:
    for name in ('timeout', 'deviation', 'factor'):
        with pytest.raises(ConfigurationError, match=f'{name} is nan'):
            OnlineFrictionBounds(**{name: float('nan')})
    with pytest.raises(ConfigurationError, match='factor is 0.5, expected at least 1'):
        OnlineFrictionBounds(factor=0.5)
