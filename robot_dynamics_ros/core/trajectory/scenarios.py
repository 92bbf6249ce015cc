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
The test motions of the six-axis arm ES5, with exact derivatives.

``shoulder_up``
    Joint 2 turns by 90 degrees in 2 s.
``pick_place``
    In the first second joint 2 turns by 60 degrees, in the second one joint 1 by 90 degrees.
``all_axes``
    All joints swing at once for 2 s, each 30 degrees of phase after the one before. It neither
    starts nor ends at rest.
``aggressive``
    Joints 1, 2 and 4 turn by 135, 90 and 180 degrees and back, in 0.4 s each way. As it stands it
    is beyond what the drives can do.

"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.exceptions import TrajectoryError
from robot_dynamics_ros.core.trajectory.half_cosine import half_cosine

N_JOINTS = 6

Motion = tuple[Matrix, Matrix, Matrix]


@dataclass(frozen=True)
class Scenario:
    """
    A motion of six joints.

    Attributes
    ----------
    name : str
        One of `SCENARIOS`.
    amplitude : float
        Factor on the positions.
    time_scale : float
        Factor on the duration.

    Raises
    ------
    TrajectoryError
        If the name is not one of `SCENARIOS`, or a factor is not positive.

    """

    name: str
    amplitude: float = 1.0
    time_scale: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in _MOTIONS:
            raise TrajectoryError(f"no scenario '{self.name}'; there are: {', '.join(SCENARIOS)}")
        for key in ('amplitude', 'time_scale'):
            if not 0.0 < getattr(self, key) < np.inf:
                raise TrajectoryError(f'{key} of a scenario must be > 0, got {getattr(self, key)}')

    @property
    def duration(self) -> float:
        """Duration [s]."""
        return _MOTIONS[self.name][0] * self.time_scale

    def sample(self, t: float) -> tuple[Vector, Vector, Vector]:
        """
        Return position, velocity and acceleration at time `t`, each of shape (6,).

        Before 0 and after `duration` the arm is held: velocity and acceleration are zero.

        """
        q, v, a = self.sample_many(np.array([t]))
        return q[0], v[0], a[0]

    def sample_many(self, t: Any) -> Motion:
        """Return position, velocity and acceleration, each of shape (n_samples, 6)."""
        t = np.asarray(t, dtype=np.float64)
        inside = np.clip(t, 0.0, self.duration)
        q, v, a = _MOTIONS[self.name][1](inside / self.time_scale)
        moves = (inside == t)[:, np.newaxis]
        rate = 1.0 / self.time_scale
        scaled_v = self.amplitude * rate * v
        scaled_a = self.amplitude * rate * rate * a
        return self.amplitude * q, np.where(moves, scaled_v, 0.0), np.where(moves, scaled_a, 0.0)


def scenario(name: str, amplitude: float = 1.0, time_scale: float = 1.0) -> Scenario:
    """
    Return a scenario by name.

    Raises
    ------
    TrajectoryError
        If the name is not one of `SCENARIOS`, or a factor is not positive.

    """
    return Scenario(name, amplitude, time_scale)


def _motion(n_samples: int) -> Motion:
    return tuple(np.zeros((n_samples, N_JOINTS)) for _ in range(3))  # type: ignore[return-value]


def _shoulder_up(t: Vector) -> Motion:
    motion = _motion(len(t))
    for values, profile in zip(motion, half_cosine(np.pi / 2, 2.0, t)):
        values[:, 1] = profile
    return motion


def _pick_place(t: Vector) -> Motion:
    motion = _motion(len(t))
    first = t < 1.0
    lift = half_cosine(np.pi / 3, 1.0, np.minimum(t, 1.0))
    turn = half_cosine(np.pi / 2, 1.0, np.maximum(t - 1.0, 0.0))
    for order, values in enumerate(motion):
        values[:, 1] = np.where(first | (order == 0), lift[order], 0.0)
        values[:, 0] = np.where(first, 0.0, turn[order])
    return motion


def _all_axes(t: Vector) -> Motion:
    rate = np.pi / 2.0
    phase = rate * t[:, np.newaxis] + np.arange(N_JOINTS) * (np.pi / 6.0)
    eighth = np.pi / 8.0
    return (
        eighth * (1.0 - np.cos(phase)),
        eighth * rate * np.sin(phase),
        eighth * rate * rate * np.cos(phase),
    )


def _aggressive(t: Vector) -> Motion:
    motion = _motion(len(t))
    back = t > 0.4
    mirrored = np.where(back, 0.8 - t, t)
    for joint, amplitude in ((0, 0.75 * np.pi), (1, 0.5 * np.pi), (3, np.pi)):
        q, v, a = half_cosine(amplitude, 0.4, mirrored)
        motion[0][:, joint] = q
        motion[1][:, joint] = np.where(back, -v, v)
        motion[2][:, joint] = a
    return motion


_MOTIONS: dict[str, tuple[float, Callable[[Vector], Motion]]] = {
    'shoulder_up': (2.0, _shoulder_up),
    'pick_place': (2.0, _pick_place),
    'all_axes': (2.0, _all_axes),
    'aggressive': (0.8, _aggressive),
}

SCENARIOS = tuple(_MOTIONS)
"""Names of the scenarios."""
