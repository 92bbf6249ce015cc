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

"""Limits and times of a torque guard, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import Any, TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.core.arrays import frozen, Vector
from robot_dynamics_ros.core.control.state_limits import StateLimits
from robot_dynamics_ros.core.exceptions import (
    ArmingRefusedError,
    ConfigurationError,
    UnknownJointError,
)

if TYPE_CHECKING:
    from robot_dynamics_ros.core.model.robot_model import RobotModel


class StaleStatePolicy(str, Enum):
    """What becomes of the torque when the joint states fail to come."""

    RAMP_DOWN = 'ramp_down'
    """To zero at once: for arms whose brakes fall in, or that rest at zero torque."""
    HOLD_GRAVITY = 'hold_gravity'
    """To the last gravity torque, which holds an arm up for the grace time, then to zero."""


@dataclass(frozen=True, eq=False)
class GuardSettings:
    """
    Limits and times of a `TorqueGuard`.

    Attributes
    ----------
    joint_names : tuple of str
    effort_limit : ndarray, shape (n,)
        Largest magnitude [N m | N]; nan where none is stated, with which the guard does not arm.
    effort_rate_limit : ndarray, shape (n,)
        Largest rate of change [N m/s | N/s], inf for none. A scalar counts for every joint.
    ramp_up_time, ramp_down_time : float
        Duration of the ramps [s].
    state_timeout : float
        Age of the state beyond which it is stale, and longest time without a wanted torque [s].
    longest_step : float
        Longest time between two calls of `step` that the rate limit takes into account [s].
    stale_state_policy : StaleStatePolicy
    grace_time : float
        How long the gravity torque is held under `HOLD_GRAVITY` before the ramp to zero [s].
    state_limits : StateLimits, optional
        Positions and speeds beyond which the robot is not armed, or fails.
    glide_time : float
        Duration of the passage to another torque after the law has changed [s].
    recover_from_stale_state : bool
        Whether a state that comes back while the torque still ramps down ramps it up again.
        Otherwise, and once the torque is zero, a stale state is a fault.

    Raises
    ------
    ConfigurationError
        If a number is out of range.

    """

    joint_names: tuple[str, ...]
    effort_limit: Vector
    effort_rate_limit: Vector
    ramp_up_time: float = 1.0
    ramp_down_time: float = 0.5
    state_timeout: float = 0.1
    longest_step: float = 0.02
    stale_state_policy: StaleStatePolicy = StaleStatePolicy.RAMP_DOWN
    grace_time: float = 0.0
    state_limits: StateLimits | None = None
    glide_time: float = 1.0
    recover_from_stale_state: bool = False

    def __post_init__(self) -> None:
        names = tuple(self.joint_names)
        object.__setattr__(self, 'joint_names', names)
        for key, unstated in (('effort_limit', True), ('effort_rate_limit', False)):
            values = self._per_joint(key)
            for name, value in zip(names, values):
                if not value > 0.0 and not (unstated and np.isnan(value)):
                    raise ConfigurationError(f"{key} of joint '{name}' is {value:g}, expected > 0")
            object.__setattr__(self, key, values)
        for key in ('ramp_up_time', 'ramp_down_time', 'grace_time', 'glide_time'):
            if not 0.0 <= getattr(self, key) < inf:
                raise ConfigurationError(f'{key} is {getattr(self, key)} s, expected >= 0')
        for key in ('state_timeout', 'longest_step'):
            if not 0.0 < getattr(self, key) < inf:
                raise ConfigurationError(f'{key} is {getattr(self, key)} s, expected > 0')

    def _per_joint(self, key: str) -> Vector:
        n = len(self.joint_names)
        values = np.asarray(getattr(self, key), dtype=np.float64)
        if values.shape not in ((), (1,), (n,)):
            raise ConfigurationError(f'{key} has {values.size} entries, expected one or {n}')
        return frozen(np.broadcast_to(values, n))

    @classmethod
    def from_model(
        cls,
        model: RobotModel,
        *,
        effort_limit: Mapping[str, float] | None = None,
        effort_rate_limit: Any = inf,
        **times: Any,
    ) -> GuardSettings:
        """
        Take the effort limits from the robot's description.

        Parameters
        ----------
        model : RobotModel
            Arm with joints of one coordinate.
        effort_limit : mapping of str to float, optional
            Limits by joint name that replace those of the description [N m | N].
        effort_rate_limit : float or array_like, shape (n,)
            Largest rate of change [N m/s | N/s].
        **times
            Further attributes.

        Raises
        ------
        ConfigurationError
            If a number is out of range.
        UnknownJointError
            If `effort_limit` names a joint that is not in the model.

        """
        limits = model.limits.effort.copy()
        for name, value in (effort_limit or {}).items():
            if name not in model.joint_names:
                raise UnknownJointError(name, model.joint_names)
            limits[model.joint_names.index(name)] = value
        return cls(model.joint_names, limits, effort_rate_limit, **times)

    @property
    def unstated_limits(self) -> tuple[str, ...]:
        """Names of the joints without effort limit."""
        return tuple(n for n, x in zip(self.joint_names, self.effort_limit) if np.isnan(x))

    def require_stated_limits(self) -> None:
        """
        Refuse to command joints whose effort limit nobody has stated.

        Raises
        ------
        ArmingRefusedError
            If there are such joints; the message names them.

        """
        if self.unstated_limits:
            raise ArmingRefusedError(
                f'no effort limit is stated for {", ".join(self.unstated_limits)}; give one by '
                'parameter or in the robot description'
            )

    @property
    def longest_ramp_down(self) -> float:
        """Longest time from any torque to zero [s]."""
        stated = np.nan_to_num(self.effort_limit, nan=0.0, posinf=inf)
        with np.errstate(invalid='ignore'):
            slew = np.where(np.isinf(self.effort_rate_limit), 0.0, stated / self.effort_rate_limit)
        return self.ramp_down_time + float(slew.max(initial=0.0))
