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

import numpy as np

from robot_dynamics_ros.core.signals.spikes import find_spikes


def test_lone_samples_are_marked_and_nothing_else() -> None:
    rng = np.random.default_rng(2)
    t = 0.01 * np.arange(3000)
    smooth = 10.0 * np.sin(3.0 * t) + 2.0 * np.sign(np.cos(3.0 * t))  # with steps
    rough = smooth + rng.normal(size=3000)
    values = np.column_stack([smooth, rough, smooth, np.zeros(3000)])
    assert not find_spikes(values).any()
    rows = rng.choice(3000, 20, replace=False)
    values[rows, 2] += 500.0
    values[7, 2] = np.nan
    mask = find_spikes(values)
    assert set(np.flatnonzero(mask[:, 2])) == set(rows) - {7}
    assert not mask[:, [0, 1, 3]].any()


def test_two_samples_beside_one_another_are_found_and_a_step_is_not() -> None:
    values = np.zeros((200, 2))
    values[:, 0] = np.linspace(0.0, 1.0, 200)
    values[50:52, 0] = 9.0
    values[100:, 1] = 5.0
    mask = find_spikes(values)
    assert list(np.flatnonzero(mask[:, 0])) == [50, 51]
    assert not mask[:, 1].any()


def test_short_signals_have_none() -> None:
    assert not find_spikes(np.array([[0.0], [9.0], [0.0]])).any()
