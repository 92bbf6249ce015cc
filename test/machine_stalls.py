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

"""
How long the machine held this process up, so that tests of deadlines judge the node alone.

A shared machine may stop everything for seconds. A thread that wakes every few milliseconds sees
that; what it was late by is added to the bounds of tests that run against real time.

"""

from __future__ import annotations

import threading
import time

TICK = 0.005
"""Time between two looks at the clock [s]."""
USUAL = 0.02
"""What a thread of a busy process may be late by [s]."""


class MachineStalls:
    """A thread that notes when it woke too late."""

    def __init__(self) -> None:
        self._stalls: list[tuple[float, float]] = []
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        last = time.monotonic()
        while True:
            time.sleep(TICK)
            now = time.monotonic()
            if now - last > TICK + USUAL:
                self._stalls.append((now, now - last - TICK))
            last = now

    def since(self, began: float) -> float:
        """Return how long in all the machine held the process up since a time [s]."""
        time.sleep(2.0 * TICK)  # a stall that has only just ended is noted first
        return sum(late for end, late in self._stalls if end > began)


MACHINE_STALLS = MachineStalls()
