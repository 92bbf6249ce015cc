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

"""How the friction of joints rises at slow speed, as it is found while they move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from robot_dynamics_ros.core.friction.friction_file import JointFriction

STATIC_OPEN, STATIC_WIDEST = 0.25, 0.25
"""Deviation of the level at rest above the Coulomb level at the start, and that which forgetting
does not lead beyond, as parts of the Coulomb level."""

STATIC_SEEN = 40.0
"""Rows at the level at rest that show it."""


class StaticFriction(NamedTuple):
    """
    How the friction of a joint rises at slow speed.

    Attributes
    ----------
    excess, deviation : float
        Level at rest above the Coulomb level, 0 or more, and its standard deviation [N m | N].
    velocity, velocity_deviation : float
        Stribeck velocity and its standard deviation [rad/s | m/s].

    """

    excess: float
    deviation: float
    velocity: float
    velocity_deviation: float


def with_static_friction(
    joints: Mapping[str, JointFriction], found: Sequence[StaticFriction | None]
) -> dict[str, JointFriction]:
    """Return the friction of joints, in their order, with the levels at rest that were found."""
    raised = dict(joints)
    for (name, joint), static in zip(joints.items(), found):
        level = 0.5 * (joint.coulomb_positive + joint.coulomb_negative)
        if static is not None and level > 0.0:
            ratio = 1.0 + static.excess / level
            raised[name] = replace(joint, static_ratio=ratio, stribeck_velocity=static.velocity)
    return raised
