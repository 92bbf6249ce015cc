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

"""The topics that carry torques; see `serialized` for how they are written."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.control.laws import Terms
from robot_dynamics_ros.ros.qos import COMMAND_OUT, TORQUES
from robot_dynamics_ros.ros.serialized import CommandTemplate, JointStateTemplate

COMMAND_TOPIC = 'effort_controller/commands'
_REMEMBERED = 64
"""Number of own commands that are told from those of others."""

TERMS = ('inertia', 'coriolis', 'gravity', 'friction', 'feedback')


class CommandPublisher:
    """
    Publish the positional command of an effort controller.

    Parameters
    ----------
    node : Node
        Node that has the topic.
    joint_names : sequence of str
        Order of the torques that come in.
    command_order : sequence of str
        Order of the controller's joints, the same names.

    Attributes
    ----------
    topic : str
        Full name of the topic.

    """

    def __init__(
        self, node: Node, joint_names: Sequence[str], command_order: Sequence[str]
    ) -> None:
        self._node = node
        self._order = np.array([list(joint_names).index(name) for name in command_order])
        self._command = CommandTemplate(len(joint_names))
        self._publisher = node.create_publisher(Float64MultiArray, COMMAND_TOPIC, COMMAND_OUT)
        self.topic = self._publisher.topic_name
        self._sent: deque[bytes] = deque(maxlen=_REMEMBERED)

    def ordered(self, tau: Vector) -> Vector:
        """Return torques in the order of the controller."""
        ordered: Vector = tau[self._order]
        return ordered

    def in_model_order(self, command: Vector) -> Vector | None:
        """Return a command of somebody in the order of the torques, None if it does not fit."""
        if command.shape != self._order.shape:
            return None
        tau = np.empty(len(command))
        tau[self._order] = command
        return tau

    def send(self, tau: Vector) -> None:
        """Publish torques, shape (n,) [N m | N]."""
        values = self._command.values
        values[:] = tau[self._order]
        self._publisher.publish(bytes(self._command))
        self._sent.append(values.tobytes())

    def has_sent(self, command: Vector) -> bool:
        """Return whether a command from the topic is one of the last own ones."""
        return command.tobytes() in self._sent

    def flush(self, timeout: float) -> None:
        """Wait until the last command has arrived, at most `timeout` [s]."""
        self._publisher.wait_for_all_acked(Duration(seconds=timeout))

    def destroy(self) -> None:
        """Take the topic away."""
        self._node.destroy_publisher(self._publisher)


class TorquePublishers:
    """
    Publish the command, the named torques and their terms.

    Parameters
    ----------
    node : Node
        Node that has the topics.
    joint_names : sequence of str
        Order of the torques that come in.
    command_order : sequence of str
        Order of the controller's joints, the same names.

    Attributes
    ----------
    topic : str
    send_command, flush, in_model_order, has_sent : callable
        Those of `CommandPublisher`.

    """

    def __init__(
        self, node: Node, joint_names: Sequence[str], command_order: Sequence[str]
    ) -> None:
        self._node = node
        self._command = CommandPublisher(node, joint_names, command_order)
        self.topic = self._command.topic
        self.send_command = self._command.send
        self.flush = self._command.flush
        self.in_model_order = self._command.in_model_order
        self.has_sent = self._command.has_sent
        self._torques = _Named(node, '~/torques', joint_names)
        self._terms = [_Named(node, f'~/torques/{term}', joint_names) for term in TERMS]

    def send_torques(self, tau: Vector, stamp: tuple[int, int]) -> None:
        """Publish the same torques with their names and the stamp of their state."""
        self._torques.send(tau, stamp)

    @property
    def has_listener_of_terms(self) -> bool:
        """Whether someone listens to one of the terms."""
        return any(named.has_listener for named in self._terms)

    def send_terms(self, terms: Terms, stamp: tuple[int, int]) -> None:
        """Publish each term that someone listens to."""
        for named, values in zip(self._terms, terms):
            if named.has_listener:
                named.send(values, stamp)

    def destroy(self) -> None:
        """Take the topics away."""
        self._command.destroy()
        for named in (self._torques, *self._terms):
            self._node.destroy_publisher(named.publisher)


class _Named:
    """One topic of named efforts."""

    def __init__(self, node: Node, topic: str, joint_names: Sequence[str]) -> None:
        self.publisher = node.create_publisher(JointState, topic, TORQUES)
        self._template = JointStateTemplate(joint_names, has_position=False, has_velocity=False)

    @property
    def has_listener(self) -> bool:
        return bool(self.publisher.get_subscription_count())

    def send(self, values: Vector, stamp: tuple[int, int]) -> None:
        self._template.set_stamp(*stamp)
        self._template.effort[:] = values
        self.publisher.publish(bytes(self._template))
