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

from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest

from robot_dynamics_ros.core.control.guard_settings import GuardSettings
from robot_dynamics_ros.core.control.guard_state import GuardResult, GuardState
from robot_dynamics_ros.core.control.torque_guard import TorqueGuard
from robot_dynamics_ros.core.exceptions import (
    ArmingRefusedError,
    ConfigurationError,
    DimensionError,
    UnknownJointError,
)
from robot_dynamics_ros.core.model.build import build_model
import robots

NAMES = ('j1', 'j2')
FRESH = 0.001
PERIOD = 0.002
LIMIT = np.array([50.0, 20.0])
RATE = np.array([500.0, 200.0])


def settings(**changes: Any) -> GuardSettings:
    values: dict[str, Any] = {
        'joint_names': NAMES,
        'effort_limit': LIMIT,
        'effort_rate_limit': RATE,
        'ramp_up_time': 0.5,
        'ramp_down_time': 0.2,
    }
    values.update(changes)
    return GuardSettings(**values)


class Run:
    """A guard with its clock, and everything that it sent."""

    def __init__(self, guard: TorqueGuard, now: float = 1000.0) -> None:
        self.guard = guard
        self.now = now
        self.sent: list[NDArray[np.float64]] = []
        self.last: GuardResult | None = None

    def go(self, wanted: Any, duration: float, state_age: float = FRESH) -> GuardResult:
        for _ in range(round(duration / PERIOD)):
            self.now += PERIOD
            tau = None if wanted is None else np.array(wanted, dtype=float)
            self.last = self.guard.step(tau, self.now, state_age)
            self.sent.append(self.last.tau)
        assert self.last is not None
        return self.last

    def largest_rates(self) -> Any:
        return np.abs(np.diff(np.array(self.sent), axis=0)).max(axis=0) / PERIOD


def armed(wanted: Any = (10.0, -5.0), **changes: Any) -> Run:
    run = Run(TorqueGuard(settings(**changes)))
    run.guard.arm(run.now, FRESH)
    run.go(wanted, 1.0)
    return run


def test_idle_guard_gives_zero_and_says_nothing() -> None:
    result = TorqueGuard(settings()).step(np.array([10.0, 10.0]), 0.0, FRESH)
    assert result.state is GuardState.READY
    assert not result.must_publish
    assert result.tau.tolist() == [0.0, 0.0]


def test_ramp_up_starts_at_zero_and_reaches_the_command() -> None:
    run = Run(TorqueGuard(settings()))
    run.guard.arm(run.now, FRESH)
    first = run.go([10.0, -5.0], PERIOD)
    assert first.state is GuardState.RAMPING_UP
    assert np.abs(first.tau).max() < 1e-2  # 3 s^2 of 10 Nm at s = 0.004 is 5e-4
    assert run.go([10.0, -5.0], 0.6).state is GuardState.ACTIVE
    assert run.sent[-1].tolist() == [10.0, -5.0]
    steps = np.diff(np.array(run.sent), axis=0)
    assert (steps[:, 0] >= 0.0).all()
    assert (steps[:, 1] <= 0.0).all()


def test_ramp_up_is_bumpless_from_the_torque_that_acts() -> None:
    run = Run(TorqueGuard(settings()))
    run.guard.arm(run.now, FRESH, start=[12.0, nan])
    first = run.go([10.0, -5.0], PERIOD)
    np.testing.assert_allclose(first.tau, [12.0, 0.0], atol=1e-2)
    beyond = Run(TorqueGuard(settings()))
    beyond.guard.arm(beyond.now, FRESH, start=[1000.0, inf])
    assert beyond.go([10.0, 0.0], PERIOD).tau[0] <= 50.0


def test_c08_saturation_cuts_only_its_joint_and_names_it() -> None:
    run = armed(wanted=(9.81, 3.0), effort_limit=[5.0, 20.0])
    assert run.last is not None
    assert run.last.tau.tolist() == [5.0, 3.0]
    assert run.last.saturated.tolist() == [True, False]
    assert run.guard.saturation_report(run.last) == 'cannot hold j1: 9.81 wanted, limit 5'
    assert run.guard.saturation_counts[0] > 0
    assert run.guard.saturation_counts[1] == 0
    result = run.go([1.0, 3.0], 0.1)
    assert run.guard.saturation_report(result) == ''


def test_rate_limit_holds_for_steps_of_the_command() -> None:
    run = armed()
    result = run.go([50.0, 20.0], PERIOD)
    assert result.rate_limited.tolist() == [True, True]
    run.go([50.0, 20.0], 0.3)
    run.go([-50.0, -20.0], 0.3)
    assert run.sent[-1].tolist() == [-50.0, -20.0]
    assert (run.largest_rates() <= RATE * (1.0 + 1e-9)).all()  # rounding of a difference


def test_long_gap_between_steps_does_not_allow_a_jump() -> None:
    run = armed(wanted=(0.0, 0.0))
    run.now += 10.0
    result = run.guard.step(np.array([50.0, 0.0]), run.now, FRESH)
    assert result.tau[0] == pytest.approx(500.0 * 0.02)  # longest_step
    assert run.guard.step(np.array([50.0, 0.0]), run.now - 1.0, FRESH).tau[0] == result.tau[0]


def test_disarm_ramps_down_and_ends_with_an_explicit_zero() -> None:
    run = armed()
    run.guard.disarm(run.now)
    first = run.go([10.0, -5.0], PERIOD)
    assert first.state is GuardState.RAMPING_DOWN
    assert first.reason == 'deactivated'
    np.testing.assert_allclose(first.tau, [10.0, -5.0], atol=1e-2)  # no step at the start
    results = [run.go([10.0, -5.0], PERIOD) for _ in range(110)]
    final = next(r for r in results if r.state is GuardState.READY)
    assert final.must_publish
    assert final.tau.tolist() == [0.0, 0.0]
    assert not results[-1].must_publish
    assert (run.largest_rates() <= RATE * (1.0 + 1e-9)).all()


def test_ramp_down_follows_the_live_command() -> None:
    run = armed(wanted=(10.0, 0.0))
    run.guard.disarm(run.now)
    halfway = run.go([20.0, 0.0], 0.1)
    assert halfway.tau[0] == pytest.approx(10.0, rel=1e-6)  # half of 20, not half of 10


def test_ramp_up_again_during_a_ramp_down_starts_from_the_present_torque() -> None:
    run = armed(wanted=(10.0, 0.0))
    run.guard.disarm(run.now)
    before = run.go([10.0, 0.0], 0.1).tau[0]
    run.guard.arm(run.now, FRESH)
    after = run.go([10.0, 0.0], PERIOD)
    assert after.state is GuardState.RAMPING_UP
    assert after.tau[0] == pytest.approx(before, abs=0.05)
    assert run.go([10.0, 0.0], 0.6).tau[0] == 10.0


def test_c10_stale_state_ramps_down_to_a_fault_that_needs_a_reset() -> None:
    run = armed()
    assert run.go(None, 0.05, state_age=0.05).state is GuardState.ACTIVE
    first = run.go(None, PERIOD, state_age=0.102)
    assert first.state is GuardState.RAMPING_DOWN
    assert first.reason == 'joint state is 0.102 s old'
    last = run.go(None, 0.3, state_age=0.4)
    assert last.state is GuardState.FAULT
    assert last.tau.tolist() == [0.0, 0.0]
    assert (run.largest_rates() <= RATE * (1.0 + 1e-9)).all()
    with pytest.raises(ArmingRefusedError, match='reset first'):
        run.guard.arm(run.now, FRESH)
    run.guard.reset()
    run.guard.arm(run.now, FRESH)
    assert run.go([10.0, 0.0], 0.6).state is GuardState.ACTIVE


def test_state_that_comes_back_ramps_up_again_only_if_asked_for() -> None:
    run = armed(recover_from_stale_state=True)
    run.go(None, 0.05, state_age=0.2)
    before = run.sent[-1][0]
    result = run.go([10.0, -5.0], PERIOD)
    assert result.state is GuardState.RAMPING_UP
    assert result.tau[0] == pytest.approx(before, abs=0.05)
    assert run.go([10.0, -5.0], 0.6).state is GuardState.ACTIVE
    strict = armed()
    strict.go(None, 0.05, state_age=0.2)
    assert strict.go([10.0, -5.0], 0.3).state is GuardState.FAULT


def test_unknown_age_counts_as_stale() -> None:
    assert armed().go([10.0, 0.0], PERIOD, state_age=nan).state is GuardState.RAMPING_DOWN


def test_command_that_stays_away_is_a_fault() -> None:
    run = armed()
    assert run.go(None, 0.09).state is GuardState.ACTIVE
    assert run.go(None, 0.02).state is GuardState.RAMPING_DOWN
    assert 'no wanted torque' in run.guard.reason


@pytest.mark.parametrize('bad', [nan, inf, -inf])
def test_nonfinite_command_never_gets_out(bad: float) -> None:
    run = armed()
    result = run.go([bad, 0.0], PERIOD)
    assert result.state is GuardState.RAMPING_DOWN
    assert run.go([bad, bad], 0.3).state is GuardState.FAULT
    assert np.isfinite(np.array(run.sent)).all()
    assert (run.largest_rates() <= RATE * (1.0 + 1e-9)).all()


def test_absurd_but_finite_command_is_cut_and_leaves_no_trace() -> None:
    run = armed()
    run.go([1e300, 0.0], 0.2)
    assert run.sent[-1].tolist() == [50.0, 0.0]
    run.guard.disarm(run.now)
    assert (np.array([run.go([10.0, 0.0], PERIOD).tau for _ in range(150)])[:, 0] >= 0.0).all()
    assert (run.largest_rates() <= RATE * (1.0 + 1e-9)).all()


def test_disarm_while_ramping_up_goes_on_without_a_step() -> None:
    run = Run(TorqueGuard(settings(effort_rate_limit=inf)))
    run.guard.arm(run.now, FRESH)
    before = run.go([10.0, -5.0], 0.25).tau
    np.testing.assert_allclose(before, [5.0, -2.5], rtol=1e-9)
    run.guard.disarm(run.now)
    np.testing.assert_allclose(run.go([10.0, -5.0], PERIOD).tau, before, atol=0.01)
    assert run.go([10.0, -5.0], 0.25).state is GuardState.READY


def test_external_fault_ramps_down_and_keeps_the_first_reason() -> None:
    run = armed()
    run.guard.fail(run.now, 'cross-check failed')
    run.guard.fail(run.now, 'another')
    result = run.go([10.0, -5.0], 0.3)
    assert (result.state, result.reason) == (GuardState.FAULT, 'cross-check failed')
    idle = TorqueGuard(settings())
    idle.fail(0.0, 'at rest')
    assert idle.state is GuardState.FAULT


def test_fault_during_a_deactivation_ends_in_fault() -> None:
    run = armed()
    run.guard.disarm(run.now)
    run.guard.fail(run.now, 'emergency')
    assert run.go([10.0, -5.0], 0.3).state is GuardState.FAULT


def test_ramp_down_ends_in_the_promised_time_even_at_the_rate_limit() -> None:
    slow = settings(effort_rate_limit=40.0)
    assert slow.longest_ramp_down == pytest.approx(0.2 + 50.0 / 40.0)
    run = Run(TorqueGuard(slow))
    run.guard.arm(run.now, FRESH, start=[50.0, 0.0])
    run.go([50.0, 0.0], 1.0)
    run.guard.disarm(run.now)
    assert run.go([50.0, 0.0], slow.longest_ramp_down + PERIOD).state is GuardState.READY


def test_arming_is_refused_with_a_line_that_says_why() -> None:
    unstated = TorqueGuard(settings(effort_limit=[nan, 20.0]))
    with pytest.raises(ArmingRefusedError, match='no effort limit is stated for j1;'):
        unstated.arm(0.0, FRESH)
    guard = TorqueGuard(settings())
    with pytest.raises(ArmingRefusedError, match='not complete yet'):
        guard.arm(0.0, inf)
    with pytest.raises(ArmingRefusedError, match='0.200 s old'):
        guard.arm(0.0, 0.2)
    with pytest.raises(DimensionError, match='start has'):
        guard.arm(0.0, FRESH, start=[1.0])
    guard.arm(0.0, FRESH)
    with pytest.raises(ArmingRefusedError, match='already armed'):
        guard.arm(0.0, FRESH)
    with pytest.raises(DimensionError, match='tau_wanted has'):
        guard.step(np.zeros(3), 0.0, FRESH)


def test_new_settings_count_at_once() -> None:
    run = armed(wanted=(10.0, 0.0))
    run.guard.change_settings(settings(effort_limit=[4.0, 20.0]))
    assert run.go([10.0, 0.0], PERIOD).tau[0] == 4.0
    with pytest.raises(ConfigurationError, match='cannot change'):
        run.guard.change_settings(settings(joint_names=('a', 'b')))
    with pytest.raises(ConfigurationError, match='no effort limit for j2'):
        run.guard.change_settings(settings(effort_limit=[4.0, nan]))


@pytest.mark.parametrize(
    ('changes', 'match'),
    [
        ({'effort_limit': [0.0, 1.0]}, "effort_limit of joint 'j1' is 0"),
        ({'effort_limit': [1.0, 1.0, 1.0]}, 'effort_limit has 3 entries'),
        ({'effort_rate_limit': nan}, 'effort_rate_limit'),
        ({'effort_rate_limit': -1.0}, 'effort_rate_limit'),
        ({'ramp_up_time': -1.0}, 'ramp_up_time'),
        ({'ramp_down_time': inf}, 'ramp_down_time'),
        ({'state_timeout': 0.0}, 'state_timeout'),
        ({'longest_step': nan}, 'longest_step'),
    ],
)
def test_settings_out_of_range_are_refused(changes: dict[str, Any], match: str) -> None:
    with pytest.raises(ConfigurationError, match=match):
        settings(**changes)


def test_limits_come_from_the_description_unless_a_parameter_replaces_them() -> None:
    model = build_model(robots.six_axis())
    taken = GuardSettings.from_model(model, effort_limit={'joint_2': 20.0}, ramp_up_time=2.0)
    assert taken.joint_names == model.joint_names
    assert taken.effort_limit.tolist() == [50.0, 20.0, 50.0, 50.0, 50.0, 50.0]
    assert taken.ramp_up_time == 2.0
    unstated = GuardSettings.from_model(build_model(robots.pendulum()))
    assert unstated.unstated_limits == ('swing',)
    with pytest.raises(UnknownJointError, match="joint 'joint_9'"):
        GuardSettings.from_model(model, effort_limit={'joint_9': 1.0})
    with pytest.raises(ConfigurationError, match="effort_limit of joint 'joint_2'"):
        GuardSettings.from_model(model, effort_limit={'joint_2': -1.0})


def test_any_sequence_of_events_stays_finite_inside_limits_and_rate() -> None:
    rng = np.random.default_rng(11)
    guard = TorqueGuard(settings(recover_from_stale_state=True, longest_step=0.01))
    now, last = 0.0, np.zeros(2)
    for _ in range(20000):
        dt = float(rng.choice([0.0, 0.001, 0.002, 0.3], p=[0.05, 0.5, 0.4, 0.05]))
        now += dt
        event = rng.integers(0, 200)
        commanding = guard.state.is_commanding
        if event == 0:
            guard.disarm(now)
        elif event == 1:
            guard.fail(now, 'random')
        elif event in (2, 3, 4):
            guard.reset()
        elif event < 12:
            try:
                guard.arm(now, float(rng.choice([0.0, 0.2])))
            except ArmingRefusedError:
                pass
        kind = rng.integers(0, 60)
        wanted: Any = rng.normal(0.0, 60.0, 2)
        if kind == 0:
            wanted = np.array([nan, 1.0])
        elif kind < 5:
            wanted = None
        age = float(rng.choice([0.001, 0.2, inf], p=[0.98, 0.015, 0.005]))
        result = guard.step(wanted, now, age)
        assert np.isfinite(result.tau).all()
        assert (np.abs(result.tau) <= LIMIT).all()
        if commanding:
            allowed = RATE * min(dt, 0.01)
            assert (np.abs(result.tau - last) <= allowed + 1e-9).all()  # rounding
        last = result.tau
