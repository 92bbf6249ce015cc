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
Estimates as messages.

Named values go out as sensor_msgs/JointState, which every plot tool shows by name: ``position`` is
the value, ``effort`` its variance, ``velocity`` where the estimate began.

"""

from __future__ import annotations

from collections.abc import Sequence

from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState

from robot_dynamics_ros.core.arrays import Vector


def named_values(
    names: Sequence[str], values: Vector, variances: Vector, start: Vector, stamp: Time
) -> JointState:
    """Return named values with variances, and where they began."""
    message = JointState(
        name=list(names),
        position=values.tolist(),
        velocity=start.tolist(),
        effort=variances.tolist(),
    )
    message.header.stamp = stamp
    return message


def joint_efforts(names: Sequence[str], efforts: Vector, stamp: Time) -> JointState:
    """Return efforts by joint [N m | N]."""
    message = JointState(name=list(names), effort=efforts.tolist())
    message.header.stamp = stamp
    return message
