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

"""Ranges and defaults of friction values."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any, TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.core.arrays import as_real, frozen, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError

if TYPE_CHECKING:
    from robot_dynamics_ros.core.model.robot_model import RobotModel

DEFAULT_SMOOTHING_VELOCITY = 0.05
"""Velocity at which the smooth Coulomb torque reaches 76 % of its level [rad/s | m/s]."""

FRICTION_LAWS = ('dry', 'lugre', 'dahl')
"""Names of the friction models for simulation, see `friction_law`."""

DEFAULT_STRIBECK_VELOCITY = 0.05
"""Velocity over which the static level falls to the Coulomb level [rad/s | m/s]."""

_POSITIVE = ('smoothing_velocity', 'stribeck_velocity', 'bristle_stiffness')


def friction_per_joint(joint_names: Sequence[str], key: str, values: Any) -> Vector:
    """
    Return a read-only array with one value per joint.

    Parameters
    ----------
    joint_names : sequence of str
        Joints.
    key : str
        Name of the quantity, as in `friction_file`.
    values : float or array_like, shape (n,)
        A scalar counts for every joint.

    Raises
    ------
    ConfigurationError
        If a value is out of range or there are neither one nor `n`; the message names joint and
        key.
    NotNumericError
        If a value is not a real number.

    """
    array = as_real(key, values)
    n = len(joint_names)
    if array.shape not in ((), (n,)):
        raise ConfigurationError(f'{key} has shape {array.shape}, expected one number or {n}')
    array = frozen(np.broadcast_to(array, n))
    for name, value in zip(joint_names, array.tolist()):
        check_friction_value(name, key, value)
    return array


def viscous_per_joint(
    joint_names: Sequence[str], positive: Any, negative: Any
) -> tuple[Vector, Vector]:
    """
    Return the viscous friction for positive and for negative velocity, one value per joint.

    Without any entry the negative one is that of the positive velocity.

    Raises
    ------
    ConfigurationError, NotNumericError
        As `friction_per_joint` does.

    """
    viscous = friction_per_joint(joint_names, 'viscous', positive)
    if isinstance(negative, np.ndarray) and negative.size == 0:
        return viscous, viscous
    return viscous, friction_per_joint(joint_names, 'viscous_negative', negative)


def require_brush_levels(joint_names: Sequence[str], positive: Vector, negative: Vector) -> None:
    """
    Refuse dry friction in one direction only, which bristles cannot have.

    Raises
    ------
    ConfigurationError
        If one of the two Coulomb levels of a joint is zero and the other is not.

    """
    for name, up, down in zip(joint_names, positive.tolist(), negative.tolist()):
        if (up == 0.0) != (down == 0.0):
            raise ConfigurationError(
                f"joint '{name}': coulomb_positive is {up:g} and coulomb_negative {down:g}; "
                'bristle friction needs both above zero, or both zero'
            )


def stated_stiffness(
    path: str | Path, joint_names: Sequence[str], values: Sequence[float | None]
) -> Vector:
    """
    Return the bristle stiffness of every joint, as read from a file.

    Raises
    ------
    ConfigurationError
        If it is missing for a joint.

    """
    missing = [name for name, value in zip(joint_names, values) if value is None]
    if missing:
        raise ConfigurationError(
            f'friction file {path}: bristle_stiffness is missing for {", ".join(missing)}; '
            'the models of LuGre and Dahl need it'
        )
    return np.array(values, dtype=np.float64)


def check_friction_value(joint: str, key: str, value: Any) -> None:
    """
    Refuse an impossible value.

    Raises
    ------
    ConfigurationError
        If it is no finite number or out of the range of its key.

    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        raise ConfigurationError(f"joint '{joint}': {key} is {value!r}, expected a finite number")
    if key == 'static_ratio':
        if value < 1.0:
            raise ConfigurationError(f"joint '{joint}': {key} is {value:g}, expected >= 1")
    elif value < 0.0 or (key in _POSITIVE and value == 0.0):
        bound = '> 0' if key in _POSITIVE else '>= 0'
        raise ConfigurationError(f"joint '{joint}': {key} is {value:g}, expected {bound}")


def require_stated_friction(model: RobotModel) -> None:
    """
    Refuse a robot whose description says nothing about friction: its zeros are no friction model.

    Raises
    ------
    ConfigurationError
        If damping and friction are zero for every degree of freedom.

    """
    if model.nv and not model.damping.any() and not model.friction.any():
        raise ConfigurationError(
            f"the description (URDF) of '{model.name}' states neither damping nor friction for "
            'any joint that moves, so that none can be taken from it; give a friction file '
            'instead, or leave friction out'
        )
