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
Recording at full rate beside two nodes that need the processor more.

The middleware takes messages in by itself and notes when. Here they are fetched from its history
now and then, as bytes, without an executor, a callback or a conversion for each.

Streams are heard best effort. A reliable reader that misses one message holds back all that follow
until the writer tells it that the message is gone for good, which may take seconds.

"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message

_DEPTH = 2000
"""Messages that may wait: two seconds at 1 kHz."""


class Record(NamedTuple):
    """
    A message as it came.

    Attributes
    ----------
    data : bytes
        CDR bytes.
    sent, received : int
        When its sender published it and when it arrived here, both on the system clock [ns].

    """

    data: bytes
    sent: int
    received: int


class Recorder:
    """
    Record topics.

    Parameters
    ----------
    node : Node
        Owner of the subscriptions; its executor must not spin it.
    topics : mapping of str to type
        Message type by topic.
    rare : collection of str
        Topics on which messages are rare, and each one counts: they are heard reliably.

    """

    def __init__(self, node: Node, topics: Mapping[str, Any], rare: Collection[str] = ()) -> None:
        self.types = dict(topics)
        self._subscriptions = {
            topic: node.create_subscription(
                message_type, topic, _unused, _quality(topic in rare), raw=True
            )
            for topic, message_type in topics.items()
        }
        self.records: dict[str, list[Record]] = {topic: [] for topic in topics}

    def poll(self) -> None:
        """Fetch what has come; to be called at least once a second."""
        for topic, subscription in self._subscriptions.items():
            records, handle = self.records[topic], subscription.handle
            with handle:
                while (taken := handle.take_message(self.types[topic], True)) is not None:
                    data, info = taken
                    records.append(
                        Record(data, info['source_timestamp'], info['received_timestamp'])
                    )

    def take(self) -> dict[str, list[Record]]:
        """Return what was recorded since the last call, by topic."""
        self.poll()
        taken = self.records
        self.records = {topic: [] for topic in self._subscriptions}
        return taken

    def newest(self, topic: str) -> Any:
        """Return the newest message of a topic, or None."""
        records = self.records[topic]
        return deserialize_message(records[-1].data, self.types[topic]) if records else None


def _quality(is_reliable: bool) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=_DEPTH,
        reliability=(ReliabilityPolicy.RELIABLE if is_reliable else ReliabilityPolicy.BEST_EFFORT),
    )


def _unused(message: bytes) -> None:
    """Do nothing: messages are fetched, not delivered."""
