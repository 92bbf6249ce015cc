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

"""States of a torque guard, and what one of its steps gives."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Vector


class GuardState(str, Enum):
    """State of a `TorqueGuard`."""

    READY = 'ready'
    RAMPING_UP = 'ramping_up'
    ACTIVE = 'active'
    RAMPING_DOWN = 'ramping_down'
    FAULT = 'fault'

    @property
    def is_up(self) -> bool:
        """Whether the torque is that of the control law, or on the way there."""
        return self is GuardState.RAMPING_UP or self is GuardState.ACTIVE

    @property
    def is_commanding(self) -> bool:
        """Whether the robot is under torque from here."""
        return self is not GuardState.READY and self is not GuardState.FAULT


class GuardResult(NamedTuple):
    """
    What one step of the guard gave.

    Attributes
    ----------
    tau : ndarray, shape (n,)
        Torque to command [N m | N]: finite, inside the limits. A new array each time.
    state : GuardState
    saturated : ndarray of bool, shape (n,)
        Joints whose wanted torque is beyond the effort limit: they cannot be held.
    rate_limited : ndarray of bool, shape (n,)
        Joints whose torque is held back by the rate limit.
    must_publish : bool
        Whether the torque must be sent: while commanding, and once more with zeros at the end of a
        ramp down.
    reason : str
        Why the guard ramps down or is in fault, else empty.

    """

    tau: Vector
    state: GuardState
    saturated: NDArray[np.bool_]
    rate_limited: NDArray[np.bool_]
    must_publish: bool
    reason: str
