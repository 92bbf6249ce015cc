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

from benchmark.pushed_arm import arm, ArmLog, EFFORT_DELAY, Load, Push, simulate
from robot_dynamics_ros.core.drive.measured_effort import MeasuredEffort
from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.exceptions import ConfigurationError, OutputError
from robot_dynamics_ros.core.external_torque.contact_detector import (
    ContactDetector,
    DetectorSettings,
)
from robot_dynamics_ros.core.external_torque.contact_monitor import ContactMonitor
from robot_dynamics_ros.core.external_torque.contact_thresholds import (
    ContactThresholds,
    robot_digest,
)
from robot_dynamics_ros.core.external_torque.momentum_balance import MomentumBalance
from robot_dynamics_ros.core.external_torque.momentum_observer import MomentumObserver
from robot_dynamics_ros.core.external_torque.threshold_learning import ThresholdLearner
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model import build_model
from robot_dynamics_ros.core.model.payload import Payload
from robots import pendulum

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


def test_a_payload_that_is_picked_up_and_told_is_no_further_contact(
    thresholds: ContactThresholds,
) -> None:
    kilogram = Payload(1.0, 'tool0')
    log = simulate(3, 6.0, load=Load(kilogram, 1.5, 3.5))
    watch = monitor(thresholds)
    bare = watch.model
    told = {2.0: bare.with_payload(kilogram), 4.0: bare}
    begins, found = [], []
    for k, now in enumerate(log.time):
        if told and now > min(told):
            watch.change_model(told.pop(min(told)), 0.5)
        count = watch.detector.count
        watch.step(log.stamp[k], log.q[k], log.v[k], log.tau[k])
        found.append(watch.detector.is_contact)
        if watch.detector.count > count:
            begins.append(now)
    at = {time: found[int(np.searchsorted(log.time, time))] for time in (1.4, 1.9, 3.4, 3.9, 5.9)}
    assert at == {1.4: False, 1.9: True, 3.4: False, 3.9: True, 5.9: False}
    # Taking it and putting it down are contacts; that the model learns of it is none.
    assert begins == pytest.approx([1.5, 3.5], abs=0.03)


def test_changes_are_judged_by_the_old_model_until_the_glide_is_over(lesson: ArmLog) -> None:
    thresholds = ContactThresholds(NAMES, np.full(6, 1e6), np.full(6, 1e6))
    told, untold = monitor(thresholds), monitor(thresholds)
    loaded = told.model.with_payload(Payload(1.0, 'tool0'))
    torques = []
    for k in range(2500):
        if k == 500:
            told.change_model(loaded, 1.0)
        if k == 800:
            told.change_model(loaded.with_payload(Payload(1.1, 'tool0')), 1.0)
        for watch in (told, untold):
            watch.step(lesson.stamp[k], lesson.q[k], lesson.v[k], lesson.tau[k])
        torques.append(told.observer.residual - untold.observer.residual)
        if k < 1480:  # lost messages make the glide a little longer in messages than in time
            # the covariance of the filter of the glide settles at its start
            np.testing.assert_allclose(
                told.detector.deviation, untold.detector.deviation, atol=1e-3
            )
    assert told.detector.is_ready and told.observer.balance.restarts == 0
    assert abs(torques[1500][1]) > 5.0
    # 1 kg m^2 times the noise of velocities and the gain, five times; no jump of 10 N m
    assert np.abs(np.diff(torques, axis=0)).max() < 5 * 1.0 * 2e-3 * 30.0
    assert told.model.payload is not None and told.model.payload.mass == 1.1


def test_other_friction_that_is_told_is_no_change() -> None:
    model = build_model(pendulum(), gravity=(0.0, 0.0, 0.0))
    law = np.array([[2.0], [2.0], [3.0], [3.0]])  # in the order of TERMS
    friction = FrictionModel(model.v_names, law[0], law[2], law[3], np.array(0.02))
    observer = MomentumObserver(MomentumBalance(model, friction))
    watch = ContactMonitor(observer, MeasuredEffort('torque', 1))
    v, tau = np.array([0.5]), np.array([4.0])  # 2 N m s/rad of it, and 3 N m
    largest = 0.0
    for k in range(2500):
        if 500 <= k <= 1500:
            watch.follow_friction((1.0 + 0.5e-3 * (k - 500)) * law)
        watch.step(1e-3 * k, 1e-3 * k * v, v, tau)
        if k > 200:
            largest = max(largest, float(np.abs(watch.detector.deviation).max()))
    assert observer.tau_ext[0] == pytest.approx(2.0, rel=1e-3)  # half as much friction again
    # 2 N m/s times the 14 ms of the filter; without a word it is 2 / 6
    assert largest < 0.05


def test_thresholds_are_not_learnt_across_a_change_of_payload(lesson: ArmLog) -> None:
    watch = monitor()
    bare = watch.model
    for k in range(100):
        watch.step(lesson.stamp[k], lesson.q[k], lesson.v[k], lesson.tau[k])
    watch.change_model(bare.with_payload(Payload(1.0, 'tool0')), 0.2)
    with pytest.raises(ConfigurationError, match='changed from none to 1 kg at tool0'):
        watch.start_learning()
    for k in range(100, 600):
        watch.step(lesson.stamp[k], lesson.q[k], lesson.v[k], lesson.tau[k])
    watch.start_learning()
    watch.change_model(bare.with_payload(Payload(1.01, 'tool0')), 0.2)  # an estimate wanders
    with pytest.raises(ConfigurationError, match='expected 10 s or more'):
        watch.learnt_thresholds()
    watch.change_model(bare, 0.2)
    with pytest.raises(ConfigurationError, match='from 1 kg at tool0 to none'):
        watch.learnt_thresholds()


def test_a_gap_within_a_glide_begins_afresh_with_the_newest_model(lesson: ArmLog) -> None:
    watch = monitor()
    loaded = [watch.model.with_payload(Payload(mass, 'tool0')) for mass in (1.0, 2.0)]
    for k in range(200):
        watch.step(lesson.stamp[k], lesson.q[k], lesson.v[k], lesson.tau[k])
        if k in (100, 150):
            watch.change_model(loaded[k // 150], 1.0)
    watch.reset()
    assert watch.observer.balance.model is loaded[1]
    watch.change_model(loaded[0], 1.0)  # nothing has come yet
    assert watch.observer.balance.model is loaded[0]
    assert not watch.step(0.0, lesson.q[0], lesson.v[0], lesson.tau[0])


def test_thresholds_know_what_they_were_learnt_for(tmp_path: Path) -> None:
    now = {'robot': 'a1', 'payload': 'none', 'effort_signs': '[1, -1]'}
    written = ContactThresholds(NAMES, np.ones(6), np.ones(6), now)
    path = tmp_path / 'thresholds.yaml'
    written.write(path)
    read = ContactThresholds.from_file(path, NAMES)
    assert read.conditions == now and not read.misfit(now)
    assert read.misfit({**now, 'payload': '1 kg'}) == (
        'learnt for payload none, but now it is 1 kg'
    )
    assert 'learnt for gain not stated' in read.misfit({**now, 'gain': '30'})
    assert not ContactThresholds(NAMES, np.ones(6), np.ones(6)).misfit(now)
    path.write_text(path.read_text().replace('learnt_for:', 'learnt_for: 3\n  joint_7:'))
    with pytest.raises(ConfigurationError, match='learnt_for is 3, expected keys'):
        ContactThresholds.from_file(path, NAMES)


def test_a_digest_tells_robots_and_frictions_but_not_payloads() -> None:
    model, friction = arm()
    digest = robot_digest(model, friction)
    assert robot_digest(model.with_payload(Payload(1.0, 'tool0')), friction) == digest
    others = (
        (model, None),
        (model, replace(friction, coulomb_positive=1.01 * friction.coulomb_positive)),
        (model.with_armature(1.01 * model.armature), friction),
        (model.with_gravity((0.0, 0.0, 9.81)), friction),
    )
    assert len({digest, *(robot_digest(*other) for other in others)}) == 1 + len(others)


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
