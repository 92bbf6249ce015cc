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

"""QoS profiles that are written into bags, so that a player offers the topics as a node would."""

from __future__ import annotations

from rosbags.interfaces import (
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)

_INFINITE = QosTime(9223372036, 854775807)


def reliable(depth: int = 10) -> Qos:
    """Return the default profile of ROS 2: reliable, volatile, the last `depth` messages."""
    return _profile(QosDurability.VOLATILE, depth)


def latched() -> Qos:
    """Return the profile of descriptions: reliable, and kept for subscribers that come later."""
    return _profile(QosDurability.TRANSIENT_LOCAL, 1)


def _profile(durability: QosDurability, depth: int) -> Qos:
    return Qos(
        history=QosHistory.KEEP_LAST,
        depth=depth,
        reliability=QosReliability.RELIABLE,
        durability=durability,
        deadline=_INFINITE,
        lifespan=_INFINITE,
        liveliness=QosLiveliness.AUTOMATIC,
        liveliness_lease_duration=_INFINITE,
        avoid_ros_namespace_conventions=False,
    )
