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


"""Resets of time against two clocks."""

from __future__ import annotations

from robot_dynamics_ros.core.control.stamp_resets import CALM, StampResets


def test_one_reset_asks_for_one_new_beginning() -> None:
    resets = StampResets()
    assert not resets.take()
    resets.note(100.0, 5.0, 1.0)
    assert not resets.are_mixed(1.0)
    assert resets.take()
    assert not resets.take()
    assert resets.sentence(1.0) == ''


def test_two_clocks_ask_for_a_new_beginning_when_one_of_them_is_gone() -> None:
    resets, begun, now = StampResets(), 0, 0.0
    for i in range(500):  # a message each 10 ms, every other one of the other clock
        now = 0.01 * i
        if i % 2:
            resets.note(1000.0 + now, 5.0 + now, now)
        if not resets.are_mixed(now):
            begun += resets.take()
    assert begun == 1, 'with the first, which could have been one'
    assert resets.sentence(now) == 'stamps of two clocks take turns: 1004.990 s and 9.990 s'
    assert not resets.are_mixed(now + CALM)
    assert resets.take()
    assert not resets.take()
