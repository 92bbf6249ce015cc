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
Read a serialized JointTrajectory into arrays.

For trajectories of many points: `deserialize_message` makes a Python object of every point in one
call, in which no other thread can run. This takes as long, but step by step.

"""

from __future__ import annotations

import struct

import numpy as np
from rclpy.serialization import deserialize_message
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.ros.conversions import points_from_message, TrajectoryPoints

_LITTLE_ENDIAN_CDR = b'\x00\x01'
_HEADER = 4
_COUNT = struct.Struct('<I')
_TIME = struct.Struct('<iI')


def read_trajectory(data: bytes) -> TrajectoryPoints:
    """
    Return the trajectory in the bytes of a message.

    Parameters
    ----------
    data : bytes
        The serialized message.

    Raises
    ------
    ValueError
        If they are no JointTrajectory.
    RMWError
        The same, for formats other than little-endian CDR.

    """
    if data[:2] != _LITTLE_ENDIAN_CDR:
        return points_from_message(deserialize_message(data, JointTrajectory))
    try:
        return _Reader(data).trajectory()
    except (struct.error, UnicodeDecodeError) as error:
        raise ValueError(f'these bytes are no JointTrajectory: {error}') from error


class _Reader:
    """A place in the bytes, counted from the end of their header, as alignment is."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)[_HEADER:]
        self._at = 0

    def trajectory(self) -> TrajectoryPoints:
        stamp = self._time()
        self._text()  # frame_id
        names = tuple(self._text() for _ in range(self._count()))
        count = self._count()
        times = np.empty(count)
        columns: list[list[Vector | None]] = [[], [], [], []]
        for k in range(count):
            for column in columns:
                column.append(self._numbers())
            times[k] = self._time()
        return TrajectoryPoints(names, stamp, times, *columns)

    def _align(self, size: int) -> None:
        self._at += -self._at % size

    def _count(self) -> int:
        self._align(4)
        (count,) = _COUNT.unpack_from(self._data, self._at)
        self._at += 4
        if count > len(self._data) - self._at:  # each entry takes a byte at least
            raise ValueError(f'these bytes are no JointTrajectory: {count} entries are announced')
        return int(count)

    def _time(self) -> float:
        self._align(4)
        sec, nanosec = _TIME.unpack_from(self._data, self._at)
        self._at += 8
        return float(sec + 1e-9 * nanosec)

    def _text(self) -> str:
        size = self._count()
        text = bytes(self._data[self._at : self._at + size])
        self._at += size
        return text.rstrip(b'\0').decode()

    def _numbers(self) -> Vector | None:
        count = self._count()
        if count == 0:
            return None
        self._align(8)
        if 8 * count > len(self._data) - self._at:
            raise ValueError(f'these bytes are no JointTrajectory: {count} numbers are announced')
        values = np.frombuffer(self._data, '<f8', count, self._at)
        self._at += 8 * count
        return values
