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

import pytest

from robot_dynamics_ros.core.simulation.pace import RealTimePace


@pytest.mark.parametrize('factor', [0.5, 1.0, 4.0])
def test_steps_follow_real_time(factor: float) -> None:
    pace = RealTimePace(0.01, factor)
    pace.start(100.0)
    made = sum(pace.due(100.0 + 0.003 * k) for k in range(1001))
    assert made == pytest.approx(3.0 * factor / 0.01, abs=1)  # one may be due just now
    assert pace.late_steps == 0


def test_long_silence_is_let_go_and_counted() -> None:
    pace = RealTimePace(0.01)
    pace.start(0.0)
    assert pace.due(0.1) == 10
    assert pace.due(5.105) == 1
    assert pace.late_steps == 499
    assert pace.due(5.206) == 10, 'from there on as before'


def test_it_may_be_started_again() -> None:
    pace = RealTimePace(0.1)
    pace.start(0.0)
    pace.due(1.0)
    pace.start(50.0)
    assert pace.due(50.0) == 0
    assert pace.due(50.31) == 3
