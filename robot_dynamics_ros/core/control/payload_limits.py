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
Whether a robot can carry a payload at all.

A mass in grams, or one of a typing error, would drive joints to their effort limits at once. So a
payload is refused whose weight no joint torque inside the limits holds in the present pose. Weight
says nothing of what little mass far away, or with the inertia of a house, does to a joint that
accelerates. So a payload is also refused whose mass is farther from its frame, or from its own
centre, than anything that an arm holds.

"""

from __future__ import annotations

from math import sqrt

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.robot_model import neutral, RobotModel

REACH = 2.0
"""Largest distance of a payload's centre of mass from its frame, and radius of gyration [m]."""


def require_bearable(
    loaded: RobotModel, present: RobotModel, effort_limit: Vector, q: Vector | None = None
) -> None:
    """
    Refuse a payload that nothing held can be, or too heavy for a joint where the robot is.

    A joint that is overloaded already may be relieved, not loaded more.

    Parameters
    ----------
    loaded, present : RobotModel
        The robot with the new payload, and as it is; the same joints.
    effort_limit : ndarray, shape (n,)
        Largest effort of each joint [N m | N]; NaN or inf for none.
    q : ndarray, shape (n,), optional
        Where the robot is [rad | m]; its neutral pose if that is not known.

    Raises
    ------
    ConfigurationError
        If the payload is too heavy, where the message names the joint, or reaches farther than
        `REACH`.

    """
    _require_reach(loaded)
    if q is None or not np.isfinite(q).all():
        q = neutral(loaded)
    needed = generalized_gravity(loaded, q)
    before = generalized_gravity(present, q)
    for i, name in enumerate(loaded.joint_names):
        if abs(needed[i]) > effort_limit[i] and abs(needed[i]) > abs(before[i]):
            raise ConfigurationError(
                f'the payload is too heavy: {name} would need {abs(needed[i]):.4g} N m or N to '
                f'hold it here, its effort limit is {effort_limit[i]:.4g}'
            )


def _require_reach(loaded: RobotModel) -> None:
    payload = loaded.payload
    if payload is None or payload.mass == 0.0:
        return
    distance = float(np.linalg.norm(payload.com))
    # About the axis where the mass is farthest out.
    radius = sqrt(float(np.linalg.eigvalsh(payload.inertia)[-1]) / payload.mass)
    for what, value, unit in (
        ('centre of mass', distance, f'm from {payload.frame}'),
        ('radius of gyration', radius, 'm, the root of inertia over mass'),
    ):
        if value > REACH:
            raise ConfigurationError(
                f'the payload is not possible: its {what} is {value:.4g} {unit}, expected at most '
                f'{REACH:g} m'
            )
