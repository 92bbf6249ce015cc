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

import gc

import pytest

pytest.importorskip('rclpy')

from robot_dynamics_ros.ros.diagnostics import (  # noqa: E402
    Changes,
    CollectorPauses,
    LoopStatistics,
)


def test_loop_statistics_give_rate_and_latency_since_the_last_call() -> None:
    statistics = LoopStatistics()
    statistics.take(10.0)
    for latency in (0.001, 0.002, 0.003):
        statistics.add(latency)
    figures = statistics.take(12.0)
    assert figures['rate [Hz]'] == 1.5
    assert figures['latency median [ms]'] == pytest.approx(2.0)
    assert figures['latency max [ms]'] == pytest.approx(3.0)
    assert figures['cycles late, all in all'] == 2  # 1 ms is in time
    assert statistics.take(13.0) == {'rate [Hz]': 0.0, 'cycles late, all in all': 2}


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


def test_latencies_fall_into_their_classes_and_late_ones_add_up() -> None:
    statistics = LoopStatistics(deadline=1e-3)
    statistics.take(0.0)
    for latency in (5e-5, 1.5e-4, 1.5e-4, 9e-4, 1.5e-3, 7e-3):
        statistics.add(latency)
    figures = statistics.take(1.0)
    classes = {key: value for key, value in figures.items() if key.startswith('cycles ')}
    assert classes == {
        'cycles up to 0.1 ms': 1,
        'cycles up to 0.2 ms': 2,
        'cycles up to 0.5 ms': 0,
        'cycles up to 1 ms': 1,
        'cycles up to 2 ms': 1,
        'cycles up to 5 ms': 0,
        'cycles above 5 ms': 1,
        'cycles late, all in all': 2,
    }
    statistics.add(2e-3)
    assert statistics.take(2.0)['cycles late, all in all'] == 3


def test_pauses_of_the_collector_are_measured() -> None:
    pauses = CollectorPauses()
    try:
        gc.collect()
        figures = pauses.take()
        assert figures['collections'] >= 1
        assert figures['collection max [ms]'] > 0.0
        assert pauses.take() == {'collections': 0, 'collection max [ms]': 0.0}
    finally:
        pauses.close()
