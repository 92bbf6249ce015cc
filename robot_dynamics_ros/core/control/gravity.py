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

"""Gravity of a mounted robot, as a vector in its base frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Vector
from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
)

STANDARD_NORM = 9.81
"""Magnitude of gravity that the package uses [m/s^2]."""

TOLERANCE = 0.05
"""Largest accepted relative deviation from `STANDARD_NORM`."""


def validate_gravity(gravity: Any) -> Vector:
    """
    Return gravity as a vector, or refuse one that no place on Earth has.

    Parameters
    ----------
    gravity : array_like, shape (3,)
        Gravity, expressed in the base frame [m/s^2]; (0, 0, -9.81) for a robot that stands on the
        floor.

    Returns
    -------
    gravity : ndarray, shape (3,)

    Raises
    ------
    ConfigurationError
        If there are not three finite numbers or their norm is more than 5 % from 9.81 m/s^2.

    """
    try:
        vector = np.array(as_finite('gravity', gravity, (3,)))
    except (DimensionError, NonFiniteError, TypeError, ValueError) as error:
        raise ConfigurationError(
            'gravity must be three finite numbers in the base frame, such as [0, 0, -9.81]: '
            f'{error}'
        ) from error
    norm = float(np.linalg.norm(vector))
    if abs(norm - STANDARD_NORM) > TOLERANCE * STANDARD_NORM:
        shown = ', '.join(f'{x:g}' for x in vector)
        raise ConfigurationError(
            f'gravity ({shown}) has norm {norm:.4g} m/s^2, expected 9.81 within 5 %; '
            'give it in the base frame, for example [0, 0, 9.81] for a robot on the ceiling'
        )
    return vector


def gravity_from_mounting(roll: float, pitch: float, norm: float = STANDARD_NORM) -> Vector:
    """
    Return gravity in the base frame of a robot whose base is tilted.

    Parameters
    ----------
    roll, pitch : float
        Orientation of the base in a level frame, as in ``rpy`` of URDF: base = Ry(pitch) Rx(roll)
        [rad]. A turn about the vertical does not matter.
    norm : float
        Magnitude of gravity [m/s^2].

    Returns
    -------
    gravity : ndarray, shape (3,)
        Gravity, expressed in the base frame [m/s^2].

    """
    down = np.array([np.sin(pitch), -np.cos(pitch) * np.sin(roll), -np.cos(pitch) * np.cos(roll)])
    return norm * down
