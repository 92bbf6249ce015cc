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

"""What the torque guard does when states fail, limits on the motion break, or the law changes."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest

from robot_dynamics_ros.core.control.guard_settings import GuardSettings, StaleStatePolicy
from robot_dynamics_ros.core.control.guard_state import GuardResult, GuardState
from robot_dynamics_ros.core.control.state_limits import StateLimits
from robot_dynamics_ros.core.control.torque_guard import TorqueGuard
from robot_dynamics_ros.core.exceptions import ArmingRefusedError

NAMES = ('j1', 'j2')
WANTED = np.array([30.0, -12.0])
GRAVITY = np.array([20.0, 5.0])
LIMIT = np.array([50.0, 20.0])
RATE = np.array([500.0, 200.0])
PERIOD, FRESH, STALE = 0.002, 0.001, 0.2
GRACE, DOWN = 1.0, 0.2


class Run:
    """An active guard with its clock, and everything that it sent."""

    def __init__(self, **changes: Any) -> None:
        values: dict[str, Any] = {
            'ramp_up_time': 0.1,
            'ramp_down_time': DOWN,
            'stale_state_policy': StaleStatePolicy.HOLD_GRAVITY,
            'grace_time': GRACE,
        }
        values.update(changes)
        self.guard = TorqueGuard(GuardSettings(NAMES, LIMIT, RATE, **values))
        self.now = 50.0
        self.sent: list[NDArray[np.float64]] = []
        self.guard.arm(self.now, FRESH)
        self.go(1.0)
        assert self.guard.state is GuardState.ACTIVE

    def go(self, duration: float, wanted: Any = WANTED) -> GuardResult:
        return self._run(duration, wanted, FRESH, None)

    def go_blind(self, duration: float, gravity: Any = GRAVITY) -> GuardResult:
        return self._run(duration, None, STALE, gravity)

    def _run(self, duration: float, wanted: Any, age: float, gravity: Any) -> GuardResult:
        for _ in range(round(duration / PERIOD)):
            self.now += PERIOD
            result = self.guard.step(wanted, self.now, age, gravity)
            self.sent.append(result.tau)
        return result

    def assert_bounded(self) -> None:
        sent = np.array(self.sent)
        assert np.isfinite(sent).all()
        assert (np.abs(sent) <= LIMIT).all()
        # 1e-9: rounding of the difference of two times
        assert (np.abs(np.diff(sent, axis=0)) <= RATE * PERIOD + 1e-9).all()


def test_gravity_torque_is_held_for_the_grace_time_and_then_let_go() -> None:
    run = Run()
    result = run.go_blind(0.3)
    assert result.tau.tolist() == GRAVITY.tolist()
    assert result.state is GuardState.RAMPING_DOWN
    assert 'holding the gravity torque for 1 s' in result.reason
    assert run.go_blind(GRACE - 0.3 - 2 * PERIOD).tau.tolist() == GRAVITY.tolist()
    run.go_blind(DOWN + 4 * PERIOD)
    assert run.guard.state is GuardState.FAULT
    assert run.sent[-1].tolist() == [0.0, 0.0]
    run.assert_bounded()


@pytest.mark.parametrize(
    ('changes', 'gravity'),
    [
        ({'stale_state_policy': StaleStatePolicy.RAMP_DOWN}, GRAVITY),
        ({'grace_time': 0.0}, GRAVITY),
        ({}, None),
        ({}, np.array([nan, 1.0])),
    ],
)
def test_without_grace_the_torque_goes_to_zero_at_once(changes: Any, gravity: Any) -> None:
    run = Run(**changes)
    run.go_blind(DOWN + 2 * PERIOD, gravity)
    assert run.guard.state is GuardState.FAULT
    assert run.sent[-1].tolist() == [0.0, 0.0]
    run.assert_bounded()


def test_held_torque_is_inside_the_effort_limits() -> None:
    run = Run()
    assert run.go_blind(0.5, np.array([400.0, -400.0])).tau.tolist() == [50.0, -20.0]
    run.assert_bounded()


@pytest.mark.parametrize('recovers', [True, False])
def test_switching_off_ends_the_grace_time_for_good(recovers: bool) -> None:
    run = Run(recover_from_stale_state=recovers)
    run.go_blind(0.3)
    run.guard.disarm(run.now)
    run.go(DOWN + 2 * PERIOD)  # the states come back
    assert run.guard.state is GuardState.FAULT
    assert run.sent[-1].tolist() == [0.0, 0.0]
    run.assert_bounded()


def test_states_that_come_back_in_the_grace_time_count_only_if_told_so() -> None:
    run = Run(recover_from_stale_state=True)
    run.go_blind(0.5)
    assert run.go(0.3).state is GuardState.ACTIVE
    assert run.sent[-1].tolist() == WANTED.tolist()
    run.assert_bounded()
    run = Run()
    run.go_blind(0.5)
    assert run.go(0.3).tau.tolist() == GRAVITY.tolist()
    run.go(0.2 + DOWN + 4 * PERIOD)
    assert run.guard.state is GuardState.FAULT
    with pytest.raises(ArmingRefusedError, match='reset first'):
        run.guard.arm(run.now, FRESH)
    run.guard.reset()
    run.guard.arm(run.now, FRESH)


def with_limits(**changes: Any) -> Run:
    limits = StateLimits(NAMES, [-1.0, -1.0], [1.0, 1.0], [2.0, 2.0], 0.1)
    return Run(state_limits=limits, **changes)


def test_limit_on_the_motion_counts_in_three_states_in_a_row() -> None:
    run = with_limits()
    beyond, inside = np.array([0.0, 1.2]), np.zeros(2)
    for q in (beyond, beyond, inside, beyond, beyond):
        run.guard.watch_state(q, inside, run.now)
    assert run.guard.state is GuardState.ACTIVE
    run.guard.watch_state(beyond, inside, run.now)
    assert run.guard.state is GuardState.RAMPING_DOWN
    assert run.guard.reason == 'j2 is at 1.2 rad or m, allowed are -1 to 1'
    # No grace: the torque may be what drives the robot there.
    run.go(DOWN + 2 * PERIOD)
    assert run.guard.state is GuardState.FAULT
    run.assert_bounded()


@pytest.mark.parametrize(
    ('q', 'v', 'said'),
    [
        ([0.0, -1.5], [0.0, 0.0], 'j2 is at -1.5'),
        ([0.0, 0.0], [0.2, 0.0], 'j1 moves with 0.2'),
        ([nan, 0.0], [0.0, 0.0], 'position of j1 is not known'),
    ],
)
def test_robot_outside_its_limits_is_not_armed(q: Any, v: Any, said: str) -> None:
    run = with_limits()
    run.guard.disarm(run.now)
    run.go(2.0 * DOWN)
    assert run.guard.state is GuardState.READY
    with pytest.raises(ArmingRefusedError, match=said):
        run.guard.arm(run.now, FRESH, q=q, v=v)
    assert run.guard.state is GuardState.READY


def test_change_of_the_law_fades_in() -> None:
    run = Run(glide_time=0.5)
    run.guard.glide()
    other = WANTED + np.array([-10.0, 4.0])
    first = run.go(PERIOD, other)
    np.testing.assert_array_equal(first.tau, WANTED)  # not a step
    middle = run.go(0.25, other)
    # at half of the time half of the way is done: 3 s^2 - 2 s^3 = 1/2
    np.testing.assert_allclose(middle.tau, (WANTED + other) / 2.0, atol=1e-9)
    assert run.go(0.26, other).tau.tolist() == other.tolist()
    # The steepest slope of that ramp is 1.5 times the mean one.
    slopes = np.abs(np.diff(np.array(run.sent)[500:, 0])) / PERIOD
    assert slopes.max() <= 1.5 * 10.0 / 0.5 + 1e-6


def test_without_glide_only_the_rate_limit_smoothes_a_change() -> None:
    run = Run()
    assert run.go(0.1, WANTED * 0.5).tau.tolist() == (WANTED * 0.5).tolist()
    run.assert_bounded()


def test_fault_on_the_way_down_does_not_make_it_longer() -> None:
    run = Run(ramp_down_time=1.0)
    run.guard.disarm(run.now)
    run.go(0.9)
    run.go(PERIOD, np.array([nan, 0.0]))
    assert 'not finite' in run.guard.reason
    run.go(0.1 + PERIOD)
    assert run.guard.state is GuardState.FAULT
    assert run.sent[-1].tolist() == [0.0, 0.0]
    run.assert_bounded()


@pytest.mark.parametrize('policy', list(StaleStatePolicy))
def test_torque_left_behind_is_brought_down_by_the_policy(policy: StaleStatePolicy) -> None:
    run = Run(stale_state_policy=policy)
    run.guard = TorqueGuard(run.guard.settings)
    run.sent = [np.array([44.0, -20.0])]
    run.guard.take_over(run.now, [44.0, -30.0], 'no command', GRAVITY)
    assert run.guard.reason.startswith('no command')
    held = policy is StaleStatePolicy.HOLD_GRAVITY
    run.go_blind(0.5 if held else 0.0 + DOWN + 2 * PERIOD)
    if held:
        # The arm has sunk a little: what carries it there is what counts.
        assert run.go_blind(0.1, 0.9 * GRAVITY).tau.tolist() == (0.9 * GRAVITY).tolist()
        run.go_blind(0.4 + DOWN + 4 * PERIOD)
    assert run.guard.state is GuardState.FAULT
    assert run.sent[-1].tolist() == [0.0, 0.0]
    run.assert_bounded()


def test_guard_that_commands_takes_nothing_over() -> None:
    run = Run()
    run.guard.take_over(run.now, np.zeros(2), 'no command', GRAVITY)
    assert run.guard.state is GuardState.ACTIVE


def test_fault_on_the_way_down_no_longer_follows_the_law() -> None:
    run = Run(ramp_down_time=1.0)
    run.guard.disarm(run.now)
    run.go(0.5)
    run.go(PERIOD, np.array([nan, 0.0]))
    before = abs(run.sent[-1])
    run.go(0.1, np.array([1e6, -1e6]))
    assert (np.diff(abs(np.array(run.sent[-50:])), axis=0) <= 0.0).all()
    assert (abs(run.sent[-1]) < before).all()
    run.go(0.4, np.array([1e6, -1e6]))
    assert run.guard.state is GuardState.FAULT
    run.assert_bounded()


@pytest.mark.parametrize('what', ['state', 'torque'])
def test_anything_worse_ends_the_grace_time(what: str) -> None:
    run = with_limits(grace_time=60.0)
    run.go_blind(0.5)
    for _ in range(3):
        if what == 'state':
            run.guard.watch_state(np.array([3.0, 0.0]), np.zeros(2), run.now)
        else:
            run.go(PERIOD, np.array([nan, 0.0]))
    run.go(DOWN + 2 * PERIOD, np.array([nan, 0.0]))
    assert run.guard.state is GuardState.FAULT
    run.assert_bounded()


def test_state_that_comes_back_beyond_a_limit_does_not_count_as_recovered() -> None:
    run = with_limits(recover_from_stale_state=True)
    run.go_blind(0.3)
    run.guard.watch_state(np.array([3.0, 0.0]), np.zeros(2), run.now)
    assert run.go(PERIOD).state is GuardState.RAMPING_DOWN


def test_joint_without_limit_is_brought_down_by_zero() -> None:
    limits = np.array([nan, 20.0])
    guard = TorqueGuard(GuardSettings(NAMES, limits, RATE, ramp_down_time=DOWN))
    guard.take_over(1.0, [5.0, 10.0], 'no command', GRAVITY)
    for k in range(200):
        result = guard.step(None, 1.0 + PERIOD * k, STALE, GRAVITY)
        assert np.isfinite(result.tau).all()
    assert guard.state is GuardState.FAULT


def test_way_down_that_was_over_is_forgotten_when_armed_again() -> None:
    run = Run(ramp_down_time=0.01)
    run.guard.disarm(run.now)
    run.go(0.02)  # over by its time, held back by the rate limit
    assert run.guard.state is GuardState.RAMPING_DOWN
    run.guard.arm(run.now, FRESH)
    assert run.go(1.0, np.zeros(2)).state is GuardState.ACTIVE


def test_failure_may_begin_at_what_somebody_else_commands() -> None:
    run = Run()
    run.guard.fail(run.now, 'held up', [3.0, -1.0])
    first = run.go(PERIOD)
    assert (abs(first.tau) <= [3.0, 1.0]).all()
    run.go(DOWN + PERIOD)
    assert run.guard.state is GuardState.FAULT


def test_recovery_is_announced_before_the_torque_that_ends_it() -> None:
    for recovers in (True, False):
        run = Run(recover_from_stale_state=recovers)
        assert not run.guard.is_recovering
        run.go_blind(0.3)
        assert run.guard.is_recovering is recovers
        run.go(PERIOD)
        assert not (recovers and run.guard.is_recovering)
    run = Run(recover_from_stale_state=True)
    run.go_blind(0.3)
    run.guard.fail(run.now, 'something else')
    assert not run.guard.is_recovering


def test_no_rounding_goes_beyond_a_limit() -> None:
    # a + (b - a) may end one bit beyond b: here, where the gravity torque is held at the limit.
    rng = np.random.default_rng(1)
    fast, hold = np.full(2, np.inf), StaleStatePolicy.HOLD_GRAVITY
    for _ in range(300):
        limit = rng.uniform(0.1, 30.0, 2)
        guard = TorqueGuard(
            GuardSettings(NAMES, limit, fast, stale_state_policy=hold, grace_time=2.0)
        )
        guard.take_over(0.0, limit * rng.uniform(-1.0, 1.0, 2), 'silence', 2.0 * limit)
        for now in (0.1, 0.5, 1.0, 1.9):
            assert (abs(guard.step(None, now, STALE).tau) <= limit).all()


def test_stale_states_are_answered_from_what_somebody_else_commands() -> None:
    run = Run()
    assert run.go(0.1).state is GuardState.ACTIVE
    other = 0.3 * WANTED
    run.guard.continue_from(run.now, other)
    result = run.guard.step(None, run.now + PERIOD, STALE, GRAVITY)
    assert result.state is GuardState.RAMPING_DOWN
    assert (abs(result.tau - other) <= PERIOD * RATE + 1e-12).all()
    ready = TorqueGuard(run.guard.settings)
    ready.continue_from(0.0, other)
    assert ready.tau.tolist() == [0.0, 0.0], 'who commands nothing has nothing to go on from'


def test_torque_that_somebody_else_has_is_left_without_a_word() -> None:
    run = Run()
    run.go(0.1)
    run.guard.let_go('held up')
    assert run.guard.state is GuardState.FAULT
    assert run.guard.reason == 'held up'
    assert not run.guard.step(WANTED, run.now + PERIOD, FRESH).must_publish
    run.guard.let_go('again')
    assert run.guard.reason == 'held up'
    run.guard.reset()
    run.guard.arm(run.now, FRESH)
    assert run.go(PERIOD).tau.tolist() != WANTED.tolist(), 'from zero'
