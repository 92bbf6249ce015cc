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

"""What is commanded on the topic of a node that commands itself: by whom, and what last."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
import time
from typing import Any

import numpy as np
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.ros.cdr import read_command
from robot_dynamics_ros.ros.qos import ECHO_IN
from robot_dynamics_ros.ros.serialized import RMW_ERROR
from robot_dynamics_ros.ros.torque_publishers import COMMAND_TOPIC, TorquePublishers


class CommandEcho:
    """
    Hear the commands, without a step in the loop: messages wait until somebody asks.

    Parameters
    ----------
    node : Node
        Node that commands.
    outputs : TorquePublishers
        Knows what the node itself has sent.

    Attributes
    ----------
    subscription : Subscription
    foreign_at : float
        When the last good command of somebody else came, on the steady clock [s].

    """

    def __init__(self, node: Node, outputs: TorquePublishers) -> None:
        self.foreign_at = -inf
        self._node = node
        self._outputs = outputs
        self._last: Vector | None = None
        self._last_at = -inf
        self._foreign: Vector | None = None
        self.subscription = node.create_subscription(
            Float64MultiArray, COMMAND_TOPIC, self._hear, ECHO_IN, raw=True
        )

    def poll(self) -> None:
        """Take in what waits, at most the depth of the queue."""
        for _ in range(ECHO_IN.depth):
            try:
                with self.subscription.handle:
                    taken = self.subscription.handle.take_message(Float64MultiArray, True)
            except RMW_ERROR:
                continue
            if taken is None:
                return
            self._hear(*taken)

    def _hear(self, message: bytes, info: Mapping[str, Any]) -> None:
        """Take in a message, which may have waited: it counts from when it came."""
        try:
            command = read_command(message)
        except ValueError:
            return
        tau = self._outputs.in_model_order(command)
        if tau is None or not np.isfinite(tau).all():
            return
        waited = max(1e-9 * (time.time_ns() - info['received_timestamp']), 0.0)
        self._last, self._last_at = tau, time.monotonic() - waited
        if not self._outputs.has_sent(command):
            self._foreign, self.foreign_at = tau, self._last_at

    def last(self, longest_age: float = inf) -> Vector | None:
        """
        Return the torque that the robot was commanded last, by whomever, shape (n,) [N m | N].

        None if nothing good was heard, or it is older than `longest_age` [s].

        """
        self.poll()
        return self._last if time.monotonic() - self._last_at <= longest_age else None

    def foreign_since(self, since: float) -> Vector | None:
        """Return the last torque of somebody else, None if that came before `since`."""
        self.poll()
        return self._foreign if self.foreign_at > since else None

    def destroy(self) -> None:
        """Take the subscription away."""
        self._node.destroy_subscription(self.subscription)
