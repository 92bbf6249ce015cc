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

"""Which rows may be learnt from."""

from __future__ import annotations

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.online.causal_motion import CausalState
from robot_dynamics_ros.core.identification.online.excitation_gate import (
    ExcitationGate,
    RowState,
    RowUse,
)
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow

LIMIT = np.array([100.0, np.nan])
STEP, MEMORY = 0.025, 0.3


def row(stamp: float, v: list[float], tau: float = 0.0) -> OnlineRow:
    zero = np.zeros(2)
    state = CausalState(stamp, 1e-3, zero, np.array(v), zero, np.array([tau, 0.0]), True)
    return OnlineRow(stamp, STEP, np.zeros((2, 1)), np.zeros((2, 10)), zero, state)


def passed(gate: ExcitationGate, count: int, v: list[float], start: float = 0.0) -> list[RowUse]:
    return [gate.step(row(start + STEP * k, v)) for k in range(count)]


def test_a_joint_at_rest_is_not_learnt_from() -> None:
    gate = ExcitationGate(LIMIT, MEMORY, 0.02)
    last = passed(gate, 40, [0.0, 0.5])[-1]
    np.testing.assert_array_equal(last.use, [False, True])
    np.testing.assert_array_equal(last.states, [RowState.SLOW, RowState.USED])
    assert not last.is_frozen


def test_a_row_counts_once_the_whole_filter_has_moved_in_one_direction() -> None:
    gate = ExcitationGate(LIMIT, MEMORY, 0.02)
    passed(gate, 40, [0.5, 0.5])
    after = passed(gate, 40, [-0.5, 0.5], start=1.0)
    waits = [bool(use.use[0]) for use in after].index(True) * STEP
    assert MEMORY <= waits < MEMORY + 2 * STEP
    assert after[0].states[0] == RowState.TURNING
    assert all(use.use[1] for use in after)


def test_limits_of_efforts_and_contacts_block_as_long_as_rows_feel_them() -> None:
    gate = ExcitationGate(LIMIT, MEMORY, 0.02)
    passed(gate, 40, [0.5, 0.5])
    clipped = gate.step(row(1.0, [0.5, 0.5], tau=99.0))
    np.testing.assert_array_equal(clipped.states, [RowState.SATURATED, RowState.USED])
    assert passed(gate, 5, [0.5, 0.5], start=1.025)[-1].states[0] == RowState.SATURATED
    assert passed(gate, 20, [0.5, 0.5], start=1.15)[-1].use.all()
    touched = gate.step(row(2.0, [0.5, 0.5]), in_contact=True)
    assert touched.is_frozen
    np.testing.assert_array_equal(touched.states, RowState.CONTACT)
    later = passed(gate, 20, [0.5, 0.5], start=2.025)
    assert later[4].is_frozen
    assert later[-1].use.all()


def test_hold_blocks_everything_at_once() -> None:
    gate = ExcitationGate(LIMIT, MEMORY, 0.02)
    passed(gate, 40, [0.5, 0.5])
    held = gate.step(row(1.0, [0.5, 0.5]), hold=True)
    assert held.is_frozen
    np.testing.assert_array_equal(held.states, RowState.HELD)
    assert gate.step(row(1.025, [0.5, 0.5])).use.all()


def test_zero_speed_lets_every_row_pass() -> None:
    gate = ExcitationGate(LIMIT, MEMORY, 0.0)
    assert gate.step(row(0.0, [0.0, -1.0])).use.all()


@pytest.mark.parametrize(('memory', 'slowest'), [(-1.0, 0.1), (0.1, -1.0), (np.inf, 0.1)])
def test_senseless_settings_are_refused(memory: float, slowest: float) -> None:
    with pytest.raises(ConfigurationError, match='expected finite'):
        ExcitationGate(LIMIT, memory, slowest)
