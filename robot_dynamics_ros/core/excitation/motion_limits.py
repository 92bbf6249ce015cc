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
Within which limits a robot is moved to be identified: those of its model, with margins.

A description states positions, velocities and efforts. It states no accelerations; where nobody
else does, they are taken such that a joint reaches its velocity within `SPEED_UP`.

"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.arrays import frozen, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError, UnknownJointError
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.core.model.robot_model import require_single_joints, RobotModel

SPEED_UP = 0.5
"""Time in which a joint may reach its velocity, where no acceleration is stated [s]."""

LARGEST_MARGIN = 0.05
"""Of the range: joints with a short stroke keep a smaller distance from their limits."""

TURN = np.pi
"""Way to both sides of zero for a joint that turns without limit [rad]."""


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """
    What a motion keeps to, margins taken off.

    Attributes
    ----------
    joint_names : tuple of str
    lower, upper : ndarray, shape (nv,)
        Positions [rad | m].
    velocity, acceleration : ndarray, shape (nv,)
        Largest magnitudes [rad/s | m/s], [rad/s^2 | m/s^2].
    effort : ndarray, shape (nv,)
        Largest magnitude, infinite where none is known [N m | N].
    is_derived : tuple of bool
        Whether the acceleration follows from the velocity.

    Raises
    ------
    ConfigurationError
        If a range is empty or a limit is not positive.

    """

    joint_names: tuple[str, ...]
    lower: Vector
    upper: Vector
    velocity: Vector
    acceleration: Vector
    effort: Vector
    is_derived: tuple[bool, ...]

    def __post_init__(self) -> None:
        for key in ('lower', 'upper', 'velocity', 'acceleration', 'effort'):
            object.__setattr__(self, key, frozen(getattr(self, key)))
        for j, name in enumerate(self.joint_names):
            if not self.lower[j] < self.upper[j]:
                raise ConfigurationError(
                    f"joint '{name}': from {self.lower[j]:.4g} to {self.upper[j]:.4g} there is no "
                    'room to move'
                )
            for key in ('velocity', 'acceleration', 'effort'):
                if not getattr(self, key)[j] > 0.0:
                    raise ConfigurationError(
                        f"joint '{name}': {key} limit is {getattr(self, key)[j]:g}, expected > 0"
                    )

    @property
    def middle(self) -> Vector:
        """Return the middle of the positions."""
        middle: Vector = 0.5 * (self.lower + self.upper)
        return middle

    @property
    def half_range(self) -> Vector:
        """Return half of the range of positions."""
        half: Vector = 0.5 * (self.upper - self.lower)
        return half


def motion_limits(
    model: RobotModel,
    *,
    position_margin: float = 0.05,
    velocity_share: float = 0.8,
    effort_share: float = 0.8,
    velocities: Mapping[str, float] | None = None,
    accelerations: Mapping[str, float] | None = None,
    positions: Mapping[str, tuple[float, float]] | None = None,
) -> MotionLimits:
    """
    Take the limits of a model, with margins.

    Parameters
    ----------
    model : RobotModel
        With joints of one coordinate.
    position_margin : float
        Distance that is kept from position limits, `LARGEST_MARGIN` at most [rad | m].
    velocity_share, effort_share : float
        Share of the model's velocity and effort limits that is used, above 0 up to 1.
    velocities, accelerations : mapping of str to float, optional
        Limits by joint name that count as they are, instead of those of the model.
    positions : mapping of str to (float, float), optional
        The same for positions, lower and upper.

    Raises
    ------
    ConfigurationError
        If a share is out of its range, nothing says how fast or how far a joint may move, a range
        is empty or a limit is not positive.
    UnknownJointError
        If a name is not that of a joint.
    ModelError
        If a joint has several coordinates.

    """
    require_single_joints(model, 'an excitation trajectory')
    for key, share in (('velocity', velocity_share), ('effort', effort_share)):
        if not 0.0 < share <= 1.0:
            raise ConfigurationError(f'share of {key} limits is {share:g}, expected above 0 to 1')
    for given in (velocities, accelerations, positions):
        for name in given or ():
            if name not in model.v_names:
                raise UnknownJointError(name, model.v_names)
    velocity = _override(velocity_share * model.limits.velocity, model, velocities)
    for name, value in zip(model.v_names, velocity):
        if not np.isfinite(value) or value == 0.0:
            raise ConfigurationError(
                f"joint '{name}' states no velocity limit; say how fast it may move"
            )
    acceleration = _override(velocity / SPEED_UP, model, accelerations)
    lower, upper = _ranges(model, position_margin, positions or {})
    effort = effort_share * model.limits.effort
    return MotionLimits(
        joint_names=model.v_names,
        lower=lower,
        upper=upper,
        velocity=velocity,
        acceleration=acceleration,
        effort=np.where(np.isnan(effort), np.inf, effort),
        is_derived=tuple(name not in (accelerations or {}) for name in model.v_names),
    )


def _override(values: Vector, model: RobotModel, given: Mapping[str, float] | None) -> Vector:
    result = np.array(values, dtype=np.float64)
    for name, value in (given or {}).items():
        result[model.v_names.index(name)] = value
    return result


def _ranges(
    model: RobotModel, margin: float, given: Mapping[str, tuple[float, float]]
) -> tuple[Vector, Vector]:
    """Return lower and upper positions."""
    turning = {j.v_index for j in model.joints if j.type is JointType.CONTINUOUS and not j.mimic}
    with np.errstate(invalid='ignore'):  # of joints without limits
        margins = np.fmin(margin, LARGEST_MARGIN * (model.limits.upper - model.limits.lower))
        lower, upper = model.limits.lower + margins, model.limits.upper - margins
    for j, name in enumerate(model.v_names):
        if name in given:
            lower[j], upper[j] = given[name]
        elif j in turning:
            lower[j], upper[j] = -TURN, TURN
        elif not (np.isfinite(lower[j]) and np.isfinite(upper[j])):
            raise ConfigurationError(
                f"joint '{name}' states no position limits; say from where to where it may move"
            )
    return lower, upper
