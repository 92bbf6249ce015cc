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

"""The last states and commands of a robot, for checks that need more than one."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector


class RecentStates:
    """
    Keep the newest samples.

    Parameters
    ----------
    n : int
        Number of joints.
    size : int
        Number of samples that are kept.

    """

    def __init__(self, n: int, size: int) -> None:
        self._rows = np.empty((size, 4, n))
        self._count = 0

    def add(self, q: Vector, v: Vector, effort: Vector, tau: Vector | float) -> None:
        """
        Add a sample; the oldest one goes.

        Parameters
        ----------
        q, v, effort : ndarray, shape (n,)
            Position, velocity and measured effort; NaN where unknown.
        tau : ndarray, shape (n,), or float
            Commanded torque [N m | N]; NaN for none.

        """
        row = self._rows[self._count % len(self._rows)]
        row[0] = q
        row[1] = v
        row[2] = effort
        row[3] = tau
        self._count += 1

    def clear(self) -> None:
        """Forget all samples."""
        self._count = 0

    def take(self) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """Return positions, velocities, efforts and commands, each of shape (n_samples, n)."""
        rows = self._rows[: min(self._count, len(self._rows))].copy()
        q, v, effort, tau = (rows[:, k] for k in range(4))
        return q, v, effort, tau
