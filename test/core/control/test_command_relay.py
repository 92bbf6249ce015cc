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

"""The relay of commands to something that keeps the last one for ever."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from robot_dynamics_ros.core.control.command_relay import CommandRelay


def test_good_command_is_passed_on() -> None:
    relay = CommandRelay(2, 0.1)
    assert relay.take([1.0, -2.0], 5.0)
    assert relay.counts == {'passed on': 1, 'wrong length': 0, 'not finite': 0}
    assert not relay.is_silent(5.1)
    assert relay.replacement(5.1) is None


@pytest.mark.parametrize('values', [[], [1.0], [1.0, 2.0, 3.0], [nan, 0.0], [0.0, -inf]])
def test_bad_command_is_refused_and_is_no_sign_of_life(values: list[float]) -> None:
    relay = CommandRelay(2, 0.1)
    assert relay.take([1.0, 2.0], 0.0)
    assert not relay.take(values, 0.09)
    assert relay.is_silent(0.11)
    assert relay.counts['wrong length'] + relay.counts['not finite'] == 1


def test_silence_is_filled_with_zeros_until_a_command_comes() -> None:
    relay = CommandRelay(3, 0.1)
    relay.take([1.0, 2.0, 3.0], 0.0)
    for now in (0.11, 0.2, 1000.0):
        np.testing.assert_array_equal(relay.replacement(now), np.zeros(3))
    relay.take([1.0, 2.0, 3.0], 1000.1)
    assert relay.replacement(1000.15) is None


def test_nothing_is_sent_before_the_first_command() -> None:
    relay = CommandRelay(3, 0.1)
    assert relay.is_silent(0.0)
    assert relay.replacement(10.0) is None
