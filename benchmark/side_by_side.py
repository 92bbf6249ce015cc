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

"""Timing of two calls in turn, so that a change of the machine's speed meets both alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
import time


@dataclass(frozen=True)
class Pair:
    """Medians of the times of two calls [s], and the median of their ratio, round by round."""

    ours: float
    theirs: float
    ratio: float


def time_pair(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    calls: int = 2000,
    rounds: int = 25,
    before: Callable[[], object] = lambda: None,
) -> Pair:
    """Time both callables in turn for `rounds` rounds of `calls` calls each, after `before`."""
    before(), ours(), theirs()
    times: list[tuple[float, float]] = []
    for _ in range(rounds):
        before()
        times.append((_time(ours, calls), _time(theirs, calls)))
    return Pair(
        median(t for t, _ in times),
        median(t for _, t in times),
        median(t / u for t, u in times),
    )


def _time(call: Callable[[], object], calls: int) -> float:
    numbers = range(calls)
    start = time.perf_counter()
    for _ in numbers:
        call()
    return (time.perf_counter() - start) / calls
