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

"""What a node tells about itself on ``/diagnostics``, once a second."""

from __future__ import annotations

import array
from collections.abc import Callable, Mapping
from enum import IntEnum
import gc
from math import inf
import time
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
import numpy as np
from rclpy.node import Node

from robot_dynamics_ros.ros.qos import DIAGNOSTICS
from robot_dynamics_ros.ros.timers import steady_timer

_KEPT = 4096
_BOUNDS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Upper bounds of the classes of latency [ms]."""


class Level(IntEnum):
    """Levels of diagnostic_msgs/DiagnosticStatus."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


class Report(NamedTuple):
    """One status: how bad, in one line, and the numbers behind it."""

    level: Level
    message: str
    values: Mapping[str, Any] = {}


class DiagnosticsReporter:
    """
    Publish the reports of a node.

    Parameters
    ----------
    node : Node
    period : float
        Time between two publications on a steady clock [s].

    Attributes
    ----------
    hardware_id : str
        Name of the robot, once it is known.

    """

    def __init__(self, node: Node, period: float = 1.0) -> None:
        self.hardware_id = ''
        self._node = node
        self._sources: dict[str, Callable[[], Report]] = {}
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', DIAGNOSTICS)
        self._timer = steady_timer(node, period, self.publish)

    def add(self, name: str, report: Callable[[], Report]) -> None:
        """Ask `report` for the status `name` each time, instead of whoever was asked before."""
        self._sources[name] = report

    def keep(self, *names: str) -> None:
        """Forget all reports but these, as far as they are there."""
        self._sources = {name: self._sources[name] for name in names if name in self._sources}

    def publish(self) -> None:
        """Publish all reports now."""
        message = DiagnosticArray()
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.status = [self._status(name, report()) for name, report in self._sources.items()]
        self._publisher.publish(message)

    def _status(self, name: str, report: Report) -> DiagnosticStatus:
        return DiagnosticStatus(
            level=bytes([report.level]),
            name=f'{self._node.get_fully_qualified_name().lstrip("/")}: {name}',
            message=report.message,
            hardware_id=self.hardware_id,
            values=[KeyValue(key=key, value=_text(value)) for key, value in report.values.items()],
        )


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f'{value:.6g}'
    if isinstance(value, (tuple, list)):
        return ', '.join(_text(entry) for entry in value)
    return str(value)


class LoopStatistics:
    """
    Rate and latency of a loop since they were last asked for; adding costs no allocation.

    Parameters
    ----------
    deadline : float
        Latency beyond which a cycle is late [s].

    Attributes
    ----------
    total, late : int
        Number of cycles, and of those beyond the deadline, up to the last report.

    """

    def __init__(self, deadline: float = 1e-3) -> None:
        self.total = 0
        self.late = 0
        self._deadline = deadline
        self._latency = array.array('d', bytes(8 * _KEPT))
        self._count = 0
        self._since = 0.0

    def add(self, latency: float) -> None:
        """Count one cycle that took `latency` [s]."""
        self._latency[self._count % _KEPT] = latency
        self._count += 1

    def take(self, now: float) -> dict[str, Any]:
        """
        Return the figures since the last call, and start afresh.

        Parameters
        ----------
        now : float
            Time on the steady clock [s].

        Returns
        -------
        figures : dict
            ``rate`` [Hz], ``late`` (all in all), and if there was a cycle median, p99 and maximum
            of the latency [ms] and how many cycles fell into each of its classes.

        """
        elapsed, count = now - self._since, self._count
        self._since, self._count = now, 0
        self.total += count
        figures: dict[str, Any] = {'rate [Hz]': count / elapsed if elapsed > 0.0 else 0.0}
        if count:
            latency = 1e3 * np.frombuffer(self._latency)[: min(count, _KEPT)]
            median, p99 = np.percentile(latency, (50.0, 99.0))
            figures['latency median [ms]'] = float(median)
            figures['latency p99 [ms]'] = float(p99)
            figures['latency max [ms]'] = float(latency.max())
            self.late += int(np.sum(latency > 1e3 * self._deadline))
            classes = np.bincount(np.digitize(latency, _BOUNDS), minlength=len(_BOUNDS) + 1)
            for bound, cycles in zip((*_BOUNDS, inf), classes.tolist()):
                name = f'up to {bound:g} ms' if bound < inf else f'above {_BOUNDS[-1]:g} ms'
                figures[f'cycles {name}'] = cycles
        figures['cycles late, all in all'] = self.late
        return figures


class CollectorPauses:
    """The longest pause for Python's collector of garbage since it was last asked for."""

    def __init__(self) -> None:
        self._began = 0.0
        self._longest = 0.0
        self._count = 0
        gc.callbacks.append(self._note)

    def _note(self, phase: str, _: Mapping[str, int]) -> None:
        now = time.monotonic()
        if phase == 'start':
            self._began = now
            return
        self._count += 1
        self._longest = max(self._longest, now - self._began)

    def take(self) -> dict[str, float]:
        """Return number of collections and longest pause [ms], and start afresh."""
        figures = {'collections': self._count, 'collection max [ms]': 1e3 * self._longest}
        self._count, self._longest = 0, 0.0
        return figures

    def close(self) -> None:
        """Stop measuring."""
        gc.callbacks.remove(self._note)


class Changes:
    """Growth of counters since they were last asked for."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}

    def take(self, counters: Mapping[str, int]) -> dict[str, int]:
        """Return by how much counters have grown since the last call, for those that have."""
        grown = {key: value - self._last.get(key, 0) for key, value in counters.items()}
        self._last = dict(counters)
        return {key: value for key, value in grown.items() if value}
