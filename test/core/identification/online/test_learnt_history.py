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

"""States of the past: old enough ones are found, however long ago, and there are few of them."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.core.identification.online.learnt_history import LearntHistory


def test_old_states_thin_out_and_an_old_enough_one_is_always_there() -> None:
    learnt = 0
    history = LearntHistory(lambda: {'learnt': np.array([float(learnt)])}, 2)
    moved = np.zeros(2)
    for _ in range(20_000):
        learnt += 1
        moved = moved + np.array([0.5, 1e-4])
        history.clock += 1.0
        history.keep(moved, learnt)
    # Every second one is a fifth of its age away: two for each factor of 1.2 or so, 2e4 in all.
    assert len(history) < 130
    for joint, span in ((0, 10.0), (0, 3000.0), (1, 1.0)):
        found = history.before(moved, np.arange(2) == joint, span)
        since = float((moved - found.moved)[joint])
        assert since >= span
        # No older than it has to be by more than a fifth of its age, and a second.
        assert since < 1.3 * span + 1.0
        assert found.arrays['learnt'][0] == found.learnt
    never = history.before(moved, np.array([True, True]), 1e9)
    assert never.clock == 0.0


def test_state_to_which_one_went_back_is_the_newest() -> None:
    value = [0.0]
    history = LearntHistory(lambda: {'value': np.array(value)}, 1)
    for k in range(1, 40):
        value[0] = float(k)
        history.clock += 1.0
        history.keep(np.array([float(k)]), k)
    back = history.before(np.array([39.0]), np.array([True]), 10.0)
    assert back.arrays['value'][0] <= 29.0
    history.go_back(back, 39)
    assert history.before(np.array([39.0]), np.array([True]), 0.0).arrays == back.arrays
    size = len(history)
    history.clock += 5.0
    history.keep(np.array([44.0]), 39)  # nothing was learnt since: nothing is kept
    assert len(history) == size
    history.restart(np.array([44.0]))
    # Motion counts anew: what was known before is as long ago as it was.
    again = history.before(np.array([0.0]), np.array([True]), 5.0)
    assert again.arrays == back.arrays
