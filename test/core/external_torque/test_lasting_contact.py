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

"""What becomes of a contact that stays: a pendulum without gravity that a hand pushes along."""

from __future__ import annotations

import numpy as np
import pytest

from robot_dynamics_ros.core.external_torque.contact_detector import (
    ContactDetector,
    SETTLING_TIME,
)
from robot_dynamics_ros.core.external_torque.contact_thresholds import ContactThresholds
from robot_dynamics_ros.core.external_torque.momentum_balance import MomentumBalance
from robot_dynamics_ros.core.external_torque.momentum_observer import MomentumObserver
from robot_dynamics_ros.core.model import build_model
from robots import pendulum

BEGIN, END = 1.0, 4.0
DT = 1e-3


def contacts_of(push: float, change: float, level: float) -> tuple[np.ndarray, ContactDetector]:
    """Return for each step whether there is a contact, while drives hold against the hand."""
    model = build_model(pendulum(), gravity=(0.0, 0.0, 0.0))
    thresholds = ContactThresholds(model.v_names, np.array([change]), np.array([level]))
    detector = ContactDetector(MomentumObserver(MomentumBalance(model)), thresholds)
    found = []
    for k in range(5000):
        time = DT * k
        # the trapezoidal rule sees a step of the torque between two messages
        tau = -push if BEGIN <= time < END else 0.0
        detector.observer.step(time, np.zeros(1), np.zeros(1), np.array([tau]))
        found.append(detector.update())
    return np.array(found), detector


def at(found: np.ndarray, time: float) -> bool:
    return bool(found[round(time / DT)])


@pytest.mark.parametrize('push', [2.0, -2.0])
def test_a_contact_beyond_its_level_stays_until_it_ends(push: float) -> None:
    found, detector = contacts_of(push, 0.5, 1.0)
    assert not found[: round(BEGIN / DT)].any()
    first = float(np.flatnonzero(found)[0]) * DT
    # Butterworth reaches a quarter of the step at 9 ms; two messages confirm it
    assert 0.0 < first - BEGIN < 0.015
    assert found[round(first / DT) : round(END / DT)].all()
    assert detector.count == 1
    # the mean that has taken the contact in forgets it at 6 1/s
    assert not at(found, END + 0.9)


def test_a_contact_below_its_level_is_taken_for_the_model_and_its_end_is_another() -> None:
    found, detector = contacts_of(1.0, 0.5, 2.0)
    assert at(found, BEGIN + 0.1) and not at(found, BEGIN + 1.5)
    assert at(found, END + 0.1) and not at(found, END + 0.95)
    assert detector.count == 2


def test_nothing_is_found_below_both_thresholds_or_before_it_has_settled() -> None:
    found, _ = contacts_of(0.4, 0.5, 1.5)
    assert not found.any()
    model = build_model(pendulum(), gravity=(0.0, 0.0, 0.0))
    thresholds = ContactThresholds(model.v_names, np.array([0.1]), np.array([0.1]))
    detector = ContactDetector(MomentumObserver(MomentumBalance(model)), thresholds)
    for k in range(round(SETTLING_TIME / DT)):
        detector.observer.step(DT * k, np.zeros(1), np.zeros(1), np.array([-5.0]))
        assert not detector.update()
