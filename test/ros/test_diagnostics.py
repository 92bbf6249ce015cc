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

import pytest

pytest.importorskip('rclpy')

from robot_dynamics_ros.ros.diagnostics import Changes, LoopStatistics  # noqa: E402


def test_loop_statistics_give_rate_and_latency_since_the_last_call() -> None:
    statistics = LoopStatistics()
    statistics.take(10.0)
    for latency in (0.001, 0.002, 0.003):
        statistics.add(latency)
    figures = statistics.take(12.0)
    assert figures['rate [Hz]'] == 1.5
    assert figures['latency median [ms]'] == pytest.approx(2.0)
    assert figures['latency max [ms]'] == pytest.approx(3.0)
    assert statistics.take(13.0) == {'rate [Hz]': 0.0}


def test_loop_statistics_keep_the_newest_of_many() -> None:
    statistics = LoopStatistics()
    statistics.take(0.0)
    for number in range(10000):
        statistics.add(1e-3 * (number >= 5000))
    figures = statistics.take(1.0)
    assert figures['rate [Hz]'] == 10000.0
    assert figures['latency median [ms]'] == pytest.approx(1.0)
    assert statistics.total == 10000


def test_changes_tell_what_has_grown() -> None:
    changes = Changes()
    assert changes.take({'a': 2, 'b': 0}) == {'a': 2}
    assert changes.take({'a': 2, 'b': 1}) == {'b': 1}
    assert changes.take({'a': 2, 'b': 1}) == {}
