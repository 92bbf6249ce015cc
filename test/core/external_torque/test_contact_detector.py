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
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
import pytest

from benchmark.pushed_arm import arm, ArmLog, EFFORT_DELAY, Push, simulate
from robot_dynamics_ros.core.drive.measured_effort import MeasuredEffort
from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.exceptions import ConfigurationError, OutputError
from robot_dynamics_ros.core.external_torque.contact_detector import (
    ContactDetector,
    DetectorSettings,
)
from robot_dynamics_ros.core.external_torque.contact_monitor import ContactMonitor
from robot_dynamics_ros.core.external_torque.contact_thresholds import ContactThresholds
from robot_dynamics_ros.core.external_torque.momentum_balance import MomentumBalance
from robot_dynamics_ros.core.external_torque.momentum_observer import MomentumObserver
from robot_dynamics_ros.core.external_torque.threshold_learning import ThresholdLearner

NAMES = tuple(f'joint_{i}' for i in range(1, 7))
PUSHES = (Push(4.0, 0.15, 1, 5.0), Push(6.0, 0.15, 1, -5.0), Push(9.0, 0.15, 1, 5.0))


def monitor(
    thresholds: ContactThresholds | None = None, semantics: str = 'torque', sign: float = 1.0
) -> ContactMonitor:
    model, friction = arm()
    observer = MomentumObserver(MomentumBalance(model, friction, effort_delay=EFFORT_DELAY))
    return ContactMonitor(
        observer,
        MeasuredEffort(semantics, 6),
        signs=np.full(6, sign),
        thresholds=thresholds,
        frame='link_6',
        friction=friction,
    )


def run(watch: ContactMonitor, log: ArmLog) -> list[bool]:
    found = []
    for stamp, q, v, tau in zip(log.stamp, log.q, log.v, log.tau):
        watch.step(stamp, q, v, tau)
        found.append(watch.detector.is_contact)
    return found


def weight(q: NDArray[np.float64]) -> NDArray[np.float64]:
    model = arm()[0]
    return np.array([generalized_gravity(model, row) for row in q])


@pytest.fixture(scope='module')
def lesson() -> ArmLog:
    return simulate(1, 14.5)


@pytest.fixture(scope='module')
def thresholds(lesson: ArmLog) -> ContactThresholds:
    watch = monitor()
    watch.start_learning()
    run(watch, lesson)
    return watch.learnt_thresholds(1.6)  # the lesson is short


def test_pushes_are_found_within_20_ms_and_nothing_else(thresholds: ContactThresholds) -> None:
    log = simulate(3, 10.0, PUSHES)
    watch = monitor(thresholds)
    found = np.array(run(watch, log))
    quiet = np.ones(len(found), dtype=bool)
    for push in PUSHES:
        first = int(np.searchsorted(log.time, push.start + 1e-9))
        assert np.abs(log.v[first : first + 20, 1]).min() > 0.1  # as is asked for
        hit = np.flatnonzero(found[first:])[0]
        assert log.time[first + hit] - push.start <= 0.02
        quiet &= (log.time < push.start) | (log.time > push.start + push.duration + 0.5)
    assert not found[quiet].any()
    # The end of a push, which takes longer than the mean stands still, is no contact of its own.
    assert watch.detector.count == len(PUSHES)
    assert watch.detector.joint == 1


def test_a_gap_in_the_states_ends_a_contact_and_begins_afresh(
    thresholds: ContactThresholds,
) -> None:
    log = simulate(3, 4.1, PUSHES[:1])
    watch = monitor(thresholds)
    assert run(watch, log)[-1]
    ready = [
        watch.step(log.stamp[-1] + 1.0 + 1e-3 * k, log.q[-1], log.v[-1], log.tau[-1])
        for k in range(200)
    ]
    assert not watch.detector.is_contact or watch.detector.count == 2
    assert not any(ready[:100]) and all(ready[110:])


@pytest.mark.parametrize('fault', ['sign', 'zero', 'without gravity'])
def test_wrong_efforts_are_not_learnt(lesson: ArmLog, fault: str) -> None:
    watch = monitor(sign=-1.0 if fault == 'sign' else 1.0)
    log = lesson
    if fault == 'zero':
        log = replace(lesson, tau=np.zeros_like(lesson.tau))
    if fault == 'without gravity':
        log = replace(lesson, tau=lesson.tau - weight(lesson.q))
    watch.start_learning()
    run(watch, log)
    with pytest.raises(ConfigurationError, match='does not explain the efforts'):
        watch.learnt_thresholds()


def test_efforts_without_gravity_are_understood(lesson: ArmLog) -> None:
    bare = lesson.tau - weight(lesson.q)
    one, other = monitor(), monitor(semantics='gravity_compensated')
    for k in range(1000):
        one.step(lesson.stamp[k], lesson.q[k], lesson.v[k], lesson.tau[k])
        other.step(lesson.stamp[k], lesson.q[k], lesson.v[k], bare[k])
    np.testing.assert_allclose(one.observer.tau_ext, other.observer.tau_ext, atol=1e-9)


def test_a_lesson_without_motion_or_too_short_is_refused(lesson: ArmLog) -> None:
    watch = monitor()
    with pytest.raises(ConfigurationError, match='no thresholds are being learnt'):
        watch.learnt_thresholds()
    watch.start_learning()
    with pytest.raises(ConfigurationError, match='only 0.0 s'):
        watch.learnt_thresholds()
    for k in range(11000):
        watch.step(1e-3 * k, lesson.q[0], np.zeros(6), lesson.tau[0])
    with pytest.raises(ConfigurationError, match='joint_6 did not move'):
        watch.learnt_thresholds()
    with pytest.raises(ConfigurationError, match='margin is 0.5'):
        watch.learnt_thresholds(0.5)


def test_learning_finds_no_contact_and_can_be_given_up(thresholds: ContactThresholds) -> None:
    watch = monitor(thresholds)
    watch.start_learning()
    assert not watch.has_thresholds
    log = simulate(3, 4.1, PUSHES[:1])
    assert not any(run(watch, log))
    watch.cancel_learning()
    assert watch.detector.thresholds is thresholds
    watch.start_learning()
    watch.finish_learning(thresholds)
    assert watch.has_thresholds and watch.learner is None


def test_a_change_of_payload_changes_what_is_external(lesson: ArmLog) -> None:
    watch = monitor()
    model = watch.observer.balance.model
    watch.change_model(model.with_gravity((0.0, 0.0, 0.0)))
    for k in range(500):
        watch.step(1e-3 * k, np.zeros(6), np.full(6, 0.0), np.zeros(6))
    assert np.abs(watch.observer.tau_ext).max() < 1e-9
    np.testing.assert_allclose(watch.wrench(), 0.0, atol=1e-9)


def test_thresholds_come_back_from_their_file(tmp_path: Path) -> None:
    written = ContactThresholds(NAMES, np.linspace(0.1, 1.3, 6), np.linspace(1e-5, 40.0, 6))
    path = tmp_path / 'thresholds.yaml'
    written.write(path)
    read = ContactThresholds.from_file(path, NAMES)
    np.testing.assert_array_equal(read.change, written.change)
    np.testing.assert_array_equal(read.level, written.level)
    with pytest.raises(OutputError, match='not overwritten'):
        written.write(path)
    written.write(path, overwrite=True)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    with pytest.raises(OutputError, match='cannot write'):
        written.write(tmp_path / 'nowhere' / 'thresholds.yaml')
    with pytest.raises(ConfigurationError, match='unknown joint joint_6'):
        ContactThresholds.from_file(path, NAMES[:5])
    path.write_text(path.read_text().replace('level: 40.0', 'level: -1'))
    with pytest.raises(ConfigurationError, match='joint_6.*level is -1'):
        ContactThresholds.from_file(path, NAMES)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(ConfigurationError, match='change is 0'):
        ContactThresholds(('a',), np.zeros(1), np.ones(1))
    with pytest.raises(ConfigurationError, match='the first larger'):
        DetectorSettings(bandwidth=1.0, forgetting=2.0)
    with pytest.raises(ConfigurationError, match='confirmations is 0'):
        DetectorSettings(confirmations=0)
    with pytest.raises(ConfigurationError, match='hold_time is -1'):
        DetectorSettings(hold_time=-1.0)
    with pytest.raises(ConfigurationError, match='thresholds are those of a'):
        monitor(ContactThresholds(('a',), np.ones(1), np.ones(1)))
    with pytest.raises(ConfigurationError, match='sign of the effort is 0.5'):
        monitor(sign=0.5)


def test_the_learner_keeps_the_largest_values() -> None:
    model, friction = arm()
    observer = MomentumObserver(MomentumBalance(model, friction))
    detector = ContactDetector(observer)
    learner = ThresholdLearner(detector)
    rng = np.random.default_rng(0)
    level = np.zeros(6)
    for k in range(400):
        v = rng.normal(size=6)
        observer.step(1e-3 * k, np.zeros(6), v, 10.0 * rng.normal(size=6))
        detector.update()
        learner.update(v, np.ones(6))
        if detector.is_ready:
            level = np.maximum(level, np.abs(observer.tau_ext))
    np.testing.assert_array_equal(learner.level, level)
    assert learner.duration == pytest.approx(0.3, abs=2e-3)  # less the time to settle
