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

`deserialize_message` would make a Python object of every point in one call, in which no other
thread can run; this takes as long for many points, but step by step. See also `cdr`.

"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.ros.cdr import CdrReader
from robot_dynamics_ros.ros.conversions import TrajectoryPoints

_MOST_NAMES = 1000


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

    """
    reader = CdrReader(data)
    stamp = _seconds(*reader.time())
    reader.text()  # frame_id
    names = tuple(reader.texts(_MOST_NAMES))
    count = reader.count(24)  # four empty arrays and a duration
    times = np.empty(count)
    columns: list[list[Vector | None]] = [[], [], [], []]
    for k in range(count):
        for column in columns:
            values = reader.numbers()
            column.append(values if len(values) else None)
        times[k] = _seconds(*reader.time())
    return TrajectoryPoints(names, stamp, times, *columns)


def _seconds(sec: int, nanosec: int) -> float:
    return sec + nanosec * 1e-9
