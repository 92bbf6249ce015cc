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

"""The watch over somebody else's commands."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.control.command_watch import CommandOutcome, CommandWatch
from robot_dynamics_ros.core.exceptions import ConfigurationError


def test_silence_under_torque_is_noticed() -> None:
    watch = CommandWatch(2, 0.2)
    assert not watch.is_abandoned(1e9), 'nobody has commanded yet'
    assert watch.take([3.0, -1.0], 10.0) is CommandOutcome.ACCEPTED
    assert not watch.is_abandoned(10.2)
    assert watch.is_abandoned(10.21)
    assert watch.silence(10.5) == pytest.approx(0.5)
    watch.take([0.0, 0.0], 10.3)
    assert not watch.is_abandoned(20.0), 'a controller that ended properly'


def test_forgotten_torque_is_not_brought_down_again() -> None:
    watch = CommandWatch(2, 0.2)
    watch.take([3.0, -1.0], 10.0)
    watch.forget()
    assert not watch.is_abandoned(20.0)


@pytest.mark.parametrize(
    ('command', 'outcome'),
    [
        ([1.0], CommandOutcome.ARRAY_LENGTH),
        ([], CommandOutcome.ARRAY_LENGTH),
        ([1.0, nan], CommandOutcome.NOT_FINITE),
    ],
)
def test_bad_commands_are_counted_and_keep_nobody_awake(command: Any, outcome: Any) -> None:
    watch = CommandWatch(2, 0.2)
    watch.take([3.0, -1.0], 10.0)
    assert watch.take(command, 10.1) is outcome
    assert watch.counters[outcome.value] == 1
    assert watch.last.tolist() == [3.0, -1.0]
    assert watch.is_abandoned(10.25)


def test_own_commands_are_not_taken_for_those_of_others() -> None:
    watch = CommandWatch(2, 0.2)
    watch.take([3.0, -1.0], 10.0)
    for k in range(20):
        watch.note_sent(np.array([3.0, -1.0]) * (1.0 - 0.01 * k))
    own = np.array([3.0, -1.0]) * (1.0 - 0.01 * 10)
    assert watch.take(own, 10.1) is CommandOutcome.OWN
    assert watch.silence(10.2) == pytest.approx(0.2)
    assert watch.take([2.71, -0.9], 10.2) is CommandOutcome.ACCEPTED


def test_senseless_timeout_is_refused() -> None:
    with pytest.raises(ConfigurationError, match='timeout is 0'):
        CommandWatch(2, 0.0)


def test_constant_command_of_somebody_else_is_soon_known_as_such() -> None:
    watch = CommandWatch(2, 0.2)
    watch.take([10.0, 5.0], 10.0)
    watch.note_sent(np.array([10.0, 5.0]))  # the first one of a way down
    watch.note_sent(np.array([9.0, 4.5]))
    told = [watch.take([10.0, 5.0], 10.3 + 0.01 * k) for k in range(3)]
    assert told[0] is CommandOutcome.OWN
    assert told[1:] == [CommandOutcome.ACCEPTED] * 2


def test_echo_that_comes_late_is_still_known() -> None:
    watch = CommandWatch(2, 0.2)
    watch.take([10.0, 5.0], 10.0)
    watch.note_sent(np.zeros(2))
    watch.forget()
    assert watch.take([0.0, 0.0], 10.3) is CommandOutcome.OWN


def test_silence_while_the_watcher_itself_was_held_up_proves_nothing() -> None:
    watch = CommandWatch(2, 0.2)
    watch.take([3.0, -1.0], 10.0)
    for k in range(10):
        assert not watch.look(10.0 + 0.005 * k)
    assert watch.look(11.0), 'a pause of a second'
    assert not watch.is_abandoned(11.0), 'what came meanwhile has not been heard yet'
    assert not watch.look(11.005)
    assert not watch.is_abandoned(11.19)
    assert watch.is_abandoned(11.21), 'and now it is silence'


def test_watcher_that_is_held_up_again_and_again_comes_to_a_verdict() -> None:
    watch = CommandWatch(2, 0.25)
    watch.take([3.0, -1.0], 10.0)
    abandoned = []
    for k in range(10):
        watch.look(10.0 + 0.1 * k)
        abandoned.append(watch.is_abandoned(10.0 + 0.1 * k))
    assert abandoned == [False] * 4 + [True] * 6
    watch.take([3.0, -1.0], 11.0)
    watch.look(11.3)
    assert not watch.is_abandoned(11.3), 'another silence'


def test_first_look_is_no_pause() -> None:
    watch = CommandWatch(2, 0.2)
    watch.take([3.0, -1.0], 10.0)
    assert not watch.look(10.5)
    assert watch.is_abandoned(10.5)
