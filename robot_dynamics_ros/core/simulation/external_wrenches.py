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
"""Pushes on a simulated robot: wrenches at frames, each for some time."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Matrix
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.robot_model import RobotModel

_ROUNDING = 1e-9
"""What sums of time steps may be off by [s]."""


class ExternalWrenches:
    """
    Wrenches that act on a robot from outside.

    Parameters
    ----------
    model : RobotModel
        The robot.

    """

    def __init__(self, model: RobotModel) -> None:
        self._model = model
        self._acting: dict[str, tuple[int, Matrix, float]] = {}

    def put(self, frame: str, wrench: Any, until: float) -> None:
        """
        Let a wrench act at a frame, in place of the one that acts there.

        Parameters
        ----------
        frame : str
            Name of a link or joint.
        wrench : array_like, shape (6,)
            ``[f; n]`` on the robot, expressed in that frame, about its origin [N, N m].
        until : float
            Simulated time at which it ends [s].

        Raises
        ------
        ConfigurationError
            If the frame does not move, so that nothing would come of it.
        DimensionError, NonFiniteError, NotNumericError
            If the wrench is no finite vector with six entries.
        UnknownFrameError
            If the robot has no such frame.

        """
        found = self._model.frame(frame)
        values = as_finite('wrench', wrench, (6,))
        if found.body < 0:
            raise ConfigurationError(f"frame '{frame}' does not move; a wrench there does nothing")
        force = found.rotation @ values[:3]
        moment = found.rotation @ values[3:] + np.cross(found.translation, force)
        self._acting[frame] = (found.body, np.concatenate((force, moment)), until)

    def total(self, time: float) -> Matrix | None:
        """
        Return what acts at a simulated time, shape (nbodies, 6), or None if nothing does.

        Each row is ``[f; n]`` on a body, expressed in its own frame, about its origin [N, N m].

        """
        acting = self._acting.items()
        self._acting = {frame: entry for frame, entry in acting if entry[2] > time + _ROUNDING}
        if not self._acting:
            return None
        total = np.zeros((self._model.nbodies, 6))
        for body, wrench, _ in self._acting.values():
            total[body] += wrench
        return total

    def clear(self) -> None:
        """Let nothing act any more."""
        self._acting.clear()
