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
"""Joint trajectories as YAML, the way ``ros2 topic echo`` prints and ``pub`` takes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import yaml

from robot_dynamics_ros.core.exceptions import TrajectoryError
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory

_ARRAYS = ('positions', 'velocities', 'accelerations')


class TrajectoryColumns(NamedTuple):
    """
    What the points of a trajectory hold.

    Attributes
    ----------
    joint_names : list of str
    times : list of float
        Times from the start [s].
    positions, velocities, accelerations : list of (list of float or None)
        One entry for each point, None where the point does not give it.

    """

    joint_names: list[str]
    times: list[float]
    positions: list[list[float] | None]
    velocities: list[list[float] | None]
    accelerations: list[list[float] | None]

    def spline(self) -> JointTrajectory:
        """
        Return the motion through the points.

        Raises
        ------
        TrajectoryError
            If it cannot be used.

        """
        return JointTrajectory.from_points(*self)


def read_trajectory(path: Path) -> dict[str, Any]:
    """
    Return the trajectory in a YAML file.

    Raises
    ------
    TrajectoryError
        If it is none.

    """
    try:
        # `ros2 topic echo` ends each message with a line of dashes, which begins another document.
        documents = [each for each in yaml.safe_load_all(path.read_text(encoding='utf-8')) if each]
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise TrajectoryError(f'{path} cannot be read: {" ".join(str(error).split())}') from error
    if len(documents) != 1:
        raise TrajectoryError(f'{path} holds {len(documents)} trajectories, expected one')
    found: dict[str, Any] = documents[0]
    points = found.get('points') if isinstance(found, dict) else None
    names = found.get('joint_names') if isinstance(found, dict) else None
    if not isinstance(names, list) or not isinstance(points, list) or not points:
        raise TrajectoryError(f'{path}: expected joint_names and points')
    if not all(isinstance(point, dict) for point in points):
        raise TrajectoryError(f'{path}: expected positions and time_from_start in each point')
    return found


def columns_of(trajectory: dict[str, Any]) -> TrajectoryColumns:
    """
    Return the numbers of a trajectory that `read_trajectory` gave.

    Raises
    ------
    TrajectoryError
        If a point holds something that is no number.

    """
    points = trajectory['points']
    try:
        arrays = [[_numbers(point.get(key)) for point in points] for key in _ARRAYS]
        times = [_seconds(point.get('time_from_start')) for point in points]
    except (TypeError, ValueError, AttributeError) as error:
        raise TrajectoryError(f'a point holds something that is no number: {error}') from error
    return TrajectoryColumns([str(name) for name in trajectory['joint_names']], times, *arrays)


def _numbers(values: Any) -> list[float] | None:
    return [float(value) for value in values] if values else None


def _seconds(duration: Any) -> float:
    """Return a builtin_interfaces/Duration, or a plain number, in seconds."""
    if isinstance(duration, dict):
        return float(duration.get('sec', 0)) + 1e-9 * float(duration.get('nanosec', 0))
    return float(duration)
