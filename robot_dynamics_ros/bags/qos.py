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
