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

"""A log in windows that overlap, so that a filter makes of each what it makes of the whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.joint_record import (
    JointRecord,
    OpenedRecord,
    unwrapped_blocks,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.signals.time_axis import TimeAxis, TimeWindow
from robot_dynamics_ros.core.signals.zero_phase import SPLINE_MARGIN

WINDOW = 32768
"""Samples of a window without its margins, to bound the memory."""


@dataclass(frozen=True, eq=False)
class RecordWindow:
    """
    Samples of a log that follow one another, with margins on both sides.

    Attributes
    ----------
    window : TimeWindow
        Where they are.
    core : slice
        Samples of the window that are in no margin; those of all windows make up the log.
    record : JointRecord
        The samples, margins included; continuous joints count their turns, and efforts are moved
        back.

    """

    window: TimeWindow
    core: slice
    record: JointRecord


def record_windows(
    robot: RobotModel, record: OpenedRecord, axis: TimeAxis, margin: float, delay: float = 0.0
) -> Iterator[RecordWindow]:
    """
    Read a log in windows.

    Parameters
    ----------
    robot : RobotModel
        With the joints of the log.
    record : OpenedRecord
        The log.
    axis : TimeAxis
        Its times.
    margin : float
        Of a window on both sides, as far as the log reaches [s]; that of splines is added.
    delay : float
        Efforts are stamped so much too late [s].

    Raises
    ------
    BagError
        If the log cannot be read.
    ConfigurationError
        If it has changed since its times were read.
    DimensionError, NonFiniteError
        If it does not suit the robot or holds no finite positions.

    """
    stamps = axis.stamps
    count = len(stamps)
    first, last = float(stamps[0]), float(stamps[-1])
    blocks = unwrapped_blocks(robot, record.blocks())
    held: list[JointRecord] = []
    begin = end = 0  # of what is held
    edges = np.linspace(0, count, max(1, -(-count // WINDOW)) + 1).astype(int).tolist()
    for start, stop in zip(edges[:-1], edges[1:]):
        times = stamps[start] - margin - abs(delay), stamps[stop - 1] + margin + abs(delay)
        left, right = np.searchsorted(stamps, times).tolist()
        left, right = max(0, left - SPLINE_MARGIN), min(count, right + SPLINE_MARGIN)
        while end < right:
            block = next(blocks, None)
            if block is None:
                raise ConfigurationError(
                    f'{record.name} has {end} samples, and had {count} when it was read before: '
                    'it must not change while it is used'
                )
            held.append(block)
            end += len(block.stamps)
        joined = JointRecord.joined(held)
        held = [joined.picked(slice(left - begin, None))]
        begin = left
        window = held[0].picked(slice(0, right - left))
        yield RecordWindow(
            TimeWindow(axis, left, right),
            slice(start - left, stop - left),
            window.with_efforts_moved(delay, first, last),
        )
