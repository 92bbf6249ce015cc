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

"""Logs that are known exactly, and three real ones, are judged."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
import pytest

from robot_dynamics_ros.core.dynamics import generalized_gravity_batch, rnea_batch
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.log_health.log_health import judge_log, LogHealth, LogWatch
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robots import pendulum, six_axis

Array = NDArray[np.float64]


@dataclass
class Log:
    """A motion and the exact torques of a robot with friction."""

    model: RobotModel
    stamps: Array
    q: Array
    v: Array
    tau: Array

    def judge(self, **options: object) -> LogHealth:
        names = self.model.joint_names
        return judge_log(
            self.stamps,
            self.q,
            self.v,
            self.tau,
            names,
            self.model,
            **options,  # type: ignore[arg-type]
        )


def motion(t: Array, n: int) -> tuple[Array, Array, Array]:
    """Return the two sines of the case bags (0.5 and 0.9 Hz), other phases for each joint."""
    w = 2.0 * np.pi * np.array([0.5, 0.9])
    size, shift = np.array([1.0, 0.4]), np.array([0.0, 1.0]) + 1.3 * np.arange(n)[:, None]
    angle = t[:, None, None] * w + shift
    q = np.sum(size * np.sin(angle), axis=2)
    v = np.sum(size * w * np.cos(angle), axis=2)
    return q, v, np.sum(-size * w**2 * np.sin(angle), axis=2)


def swing(model: RobotModel, *, late: float = 0.0, noise: float = 0.0, jitter: float = 0.0) -> Log:
    """Return 20 s at 100 Hz; efforts are those of `late` seconds ago."""
    rng = np.random.default_rng(1)
    t = 0.01 * np.arange(2000) + jitter * rng.uniform(-1.0, 1.0, 2000)
    q, v, _ = motion(t, model.nv)
    was = motion(t - late, model.nv)
    tau = rnea_batch(model, *was) + 0.7 * was[1] + 0.4 * np.sign(was[1])
    tau += noise * rng.normal(size=tau.shape)
    return Log(model, t, q, v, tau)


@pytest.fixture(scope='module')
def arm() -> RobotModel:
    return build_model(six_axis())


@pytest.fixture(scope='module')
def one() -> RobotModel:
    return build_model(pendulum())


def test_exact_log_agrees_in_everything(arm: RobotModel) -> None:
    health = swing(arm).judge()
    assert health.is_usable and health.warnings == ()
    for verdict in health.verdicts:
        assert verdict.meaning in ('torque', 'cannot tell')
        assert verdict.sign in ('as the model', 'cannot tell')
    told = [verdict for verdict in health.verdicts if verdict.meaning == 'torque']
    assert len(told) >= 4
    for verdict in told:
        # What the filter takes from the corners of dry friction is not that of the sum: 2 %.
        assert verdict.match.residual < 0.02
    assert health.delay is not None and abs(health.delay.value) < 1e-3
    assert health.mounting is not None and health.mounting.better is None
    residuals = health.mounting.residuals  # type: ignore[union-attr]
    assert min(residuals, key=lambda axis: residuals[axis]) == '-z'
    assert all(check.disagreement < 0.02 for check in health.velocities)


@pytest.mark.parametrize('late', [0.030, -0.030, 0.004, 0.1])
@pytest.mark.parametrize('noise', [0.0, 0.1])
def test_delay_is_found_within_a_millisecond(one: RobotModel, late: float, noise: float) -> None:
    # Case E06: efforts that are 30 ms late or early change the apparent friction by half.
    health = swing(one, late=late, noise=noise, jitter=0.002).judge()
    assert health.delay is not None
    assert health.delay.value == pytest.approx(late, abs=1e-3)
    word = 'late' if late > 0.0 else 'early'
    assert any(f'ms {word} against the motion' in text for text in health.warnings)


def test_delay_of_an_arm_is_found_with_a_wrong_model(arm: RobotModel) -> None:
    # Gains of 0.8 on one joint and 1.3 on another, as where masses are wrong.
    log = swing(arm, late=0.02, noise=0.02)
    log.tau *= np.linspace(0.8, 1.3, arm.nv)
    health = log.judge()
    assert health.delay is not None
    assert health.delay.value == pytest.approx(0.02, abs=1e-3)


def test_delay_is_not_told_without_motion(one: RobotModel) -> None:
    log = swing(one, noise=0.2)
    rng = np.random.default_rng(5)
    still = replace(log, q=np.full_like(log.q, 0.3), v=np.zeros_like(log.v))
    still.q += 1e-4 * rng.normal(size=still.q.shape)
    still.tau = 2.0 + 0.2 * rng.normal(size=still.tau.shape)
    health = still.judge()
    assert health.delay is None
    assert [verdict.meaning for verdict in health.verdicts] == ['cannot tell']


def test_inverted_signs_are_named_with_the_option(arm: RobotModel) -> None:
    log = swing(arm)
    log.tau[:, 1] *= -1.0
    name = arm.joint_names[1]
    health = log.judge()
    assert [v.match.joint for v in health.verdicts if v.sign == 'inverted'] == [name]
    assert any(f'--effort-sign {name}=-1' in text for text in health.warnings)
    assert health.is_usable


def test_efforts_that_are_all_inverted_are_no_other_mounting(arm: RobotModel) -> None:
    log = swing(arm)
    log.tau *= -1.0
    health = log.judge()
    assert health.mounting is not None and health.mounting.better is None
    assert 'inverted' in {verdict.sign for verdict in health.verdicts}
    assert 'as the model' not in {verdict.sign for verdict in health.verdicts}


def test_currents_are_suspected_and_the_gain_guessed(arm: RobotModel) -> None:
    log = swing(arm)
    log.tau /= 12.0
    health = log.judge()
    told = [verdict for verdict in health.verdicts if verdict.meaning != 'cannot tell']
    assert told and all(verdict.meaning == 'current or scaled' for verdict in told)
    by_gravity = [v for v in told if v.match.gravity_gain.sigma < 0.001]
    assert by_gravity
    for verdict in by_gravity:
        assert verdict.gain == pytest.approx(12.0, rel=0.02)
    assert any('--effort current --effort-gain' in text for text in health.warnings)


def test_gravity_compensated_efforts_make_a_log_useless(arm: RobotModel) -> None:
    log = swing(arm)
    log.tau -= generalized_gravity_batch(arm, log.q)
    health = log.judge()
    assert not health.is_usable
    assert 'lack gravity' in health.faults[0] and 'use_currents_as_efforts' in health.faults[0]


def test_gravity_of_another_mounting_is_found(arm: RobotModel) -> None:
    hung = swing(arm.with_gravity((0.0, 0.0, 9.81)))
    health = Log(arm, hung.stamps, hung.q, hung.v, hung.tau).judge()
    assert health.mounting is not None and health.mounting.better == '+z'
    sideways = swing(arm.with_gravity((0.0, 9.81, 0.0)))
    health = Log(arm, sideways.stamps, sideways.q, sideways.v, sideways.tau).judge()
    assert health.mounting is not None and health.mounting.better == '+y'
    assert any('gravity along +y of the base' in text for text in health.warnings)


def test_dead_efforts_are_told_apart(arm: RobotModel) -> None:
    log = swing(arm)
    log.tau[:, 0] = np.nan
    log.tau[:, 1] = 0.0
    log.tau[:, 2] = 3.5
    log.tau[500:700, 3] = log.tau[500, 3]  # two seconds
    log.q[:, 4], log.v[:, 4] = 0.2, 0.0
    health = log.judge()
    states = [joint.effort_state for joint in health.joints]
    assert states[:4] == ['missing', 'zero', 'constant', 'frozen']
    assert health.joints[3].frozen_time == pytest.approx(1.99, abs=1e-9)
    assert not health.joints[4].moves and health.joints[5].moves
    names = arm.joint_names
    for verdict in health.verdicts[:3]:
        assert verdict.meaning == 'cannot tell'
    text = '; '.join(health.warnings)
    assert f'{names[4]} stand still' in text
    assert f'the effort of {names[3]} stands still for 1.99 s while it moves' in text


@pytest.mark.parametrize(
    ('change', 'reason'),
    [
        ('none', 'the log has no effort'),
        ('zero', 'no effort ever changes'),
        ('still', 'no joint moves'),
    ],
)
def test_useless_logs_say_why(arm: RobotModel, change: str, reason: str) -> None:
    log = swing(arm)
    effort: Array | None = log.tau
    if change == 'none':
        effort = None
    elif change == 'zero':
        effort = np.zeros(log.tau.shape)
    else:
        log.q[:], log.v[:] = 0.5, 0.0
    health = judge_log(log.stamps, log.q, log.v, effort, arm.joint_names, arm)
    assert not health.is_usable
    assert reason in health.faults[0]


def test_velocity_in_degrees_inverted_or_late_is_seen(arm: RobotModel) -> None:
    log = swing(arm)
    log.v[:, 0] *= 180.0 / np.pi
    log.v[:, 1] *= -1.0
    log.v[:, 2] = 0.0
    text = '; '.join(log.judge().warnings)
    names = arm.joint_names
    assert (
        f'velocity of {names[0]} is not the derivative of its position: it is in degrees' in text
    )
    assert f'{names[1]} is not the derivative of its position: it has the opposite sign' in text
    assert f'{names[2]} is not the derivative of its position: it stays near zero' in text
    late = swing(arm)
    late = replace(late, v=motion(late.stamps - 0.02, arm.nv)[1])
    delays = [check.delay for check in late.judge().velocities]
    # To first order: sin(w d) / w instead of d is 0.2 % less at 0.9 Hz.
    assert np.allclose(delays, 0.02, atol=5e-4)
    assert any('velocities are 20.0 ms late' in text for text in late.judge().warnings)


def test_quanta_jitter_gaps_and_repeated_rows_are_measured(one: RobotModel) -> None:
    log = swing(one, jitter=0.002)
    step = 2.0 * np.pi / 4096
    log.q = step * np.rint(log.q / step)
    log.tau = 0.05 * np.rint(log.tau / 0.05)
    keep = np.ones(2000, dtype=bool)
    keep[700:720] = False
    log = Log(one, log.stamps[keep], log.q[keep], log.v[keep], log.tau[keep])
    for row in (100, 900, 1500):
        log.q[row], log.tau[row] = log.q[row - 1], log.tau[row - 1]
    health = log.judge()
    assert health.joints[0].position_step == pytest.approx(step, rel=1e-6)
    assert health.joints[0].effort_step == pytest.approx(0.05, rel=1e-6)
    assert health.time.gaps == 1
    assert health.time.longest == pytest.approx(0.21, abs=0.004)
    # Steps are differences of two uniform errors of +-2 ms: sd sqrt(2/3) * 2 ms.
    assert health.time.jitter == pytest.approx(np.sqrt(2.0 / 3.0) * 0.002, rel=0.05)
    assert health.time.rate == pytest.approx(100.0, rel=0.02)
    assert 3 <= health.time.repeated_rows <= 30  # a coarse encoder repeats at turning points


def test_positions_outside_the_limits_are_named_and_degrees_suspected(arm: RobotModel) -> None:
    log = swing(arm)
    assert not any('limits' in text for text in replace(log, q=1.5 * log.q).judge().warnings)
    degrees = replace(log, q=np.degrees(log.q), v=np.degrees(log.v))
    assert any('--gears with ratio 57.29578' in text for text in degrees.judge().warnings)
    far = replace(log, q=log.q + [5.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    (text,) = [text for text in far.judge().warnings if 'limits' in text]
    assert text == f'positions of {arm.joint_names[0]} are outside the limits of the model'


def test_outliers_are_counted_and_do_no_harm(one: RobotModel) -> None:
    # Case E08: 20 of 2000 efforts are 500 N m off; a plain fit takes gravity for a third.
    log = swing(one, noise=0.02)
    rows = np.random.default_rng(8).choice(2000, 20, replace=False)
    log.tau[rows] += 500.0
    log.q[777] += 40.0
    health = log.judge()
    assert health.joints[0].effort_spikes == 20 and health.joints[0].position_spikes == 1
    (verdict,) = health.verdicts
    assert verdict.match.gravity_gain.value == pytest.approx(1.0, abs=0.02)
    assert verdict.match.motion_gain.value == pytest.approx(1.0, abs=0.02)
    assert any('effort samples that stand alone' in text for text in health.warnings)
    assert not any('not the derivative' in text for text in health.warnings)


def test_float_values_have_no_quantum(one: RobotModel) -> None:
    health = swing(one, noise=0.01).judge()
    assert health.joints[0].position_step is None and health.joints[0].effort_step is None


def test_blocks_and_the_whole_are_judged_alike(arm: RobotModel) -> None:
    log = swing(arm, noise=0.01)
    whole = log.judge()
    watch = LogWatch(arm.joint_names)
    for begin in range(0, 2000, 700):
        part = slice(begin, begin + 700)
        watch.add(log.stamps[part], log.q[part], log.v[part], log.tau[part])
    health = watch.judge(arm)
    assert health.time == whole.time
    for joint, expected in zip(health.joints, whole.joints):
        assert joint.lowest == expected.lowest and joint.highest == expected.highest
        assert joint.effort_state == expected.effort_state
        # The step from one block to the next is not counted.
        assert joint.rms_velocity == pytest.approx(expected.rms_velocity, rel=1e-2)
    assert health.excerpt[1] - health.excerpt[0] == pytest.approx(6.99, abs=1e-6)
    assert [v.meaning for v in health.verdicts[:4]] == [v.meaning for v in whole.verdicts[:4]]


def test_other_joints_and_short_logs_are_no_surprise(arm: RobotModel, one: RobotModel) -> None:
    log = swing(one)
    with pytest.raises(ConfigurationError, match='the model has joints .*, the log'):
        judge_log(log.stamps, log.q, log.v, log.tau, one.joint_names, arm)
    short = Log(one, log.stamps[:30], log.q[:30], log.v[:30], log.tau[:30]).judge()
    assert any('nothing is compared with the model' in text for text in short.warnings)
    empty = judge_log(log.stamps[:0], log.q[:0], None, None, one.joint_names)
    assert not empty.is_usable
