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

"""Joint states from arrays; see `serialized` for how they are written."""

from __future__ import annotations

from collections.abc import Sequence

from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.ros.serialized import JointStateTemplate


class StatePublisher:
    """
    Publish ``joint_states``.

    Parameters
    ----------
    node : Node
        Node that has the topic.
    joint_names : sequence of str
        Order of the arrays.
    frame_id : str
        Frame in the header.
    qos : QoSProfile
        Quality of service.

    Attributes
    ----------
    stamp : tuple of int
        Seconds and nanoseconds of the last state.

    """

    def __init__(
        self, node: Node, joint_names: Sequence[str], frame_id: str, qos: QoSProfile
    ) -> None:
        self.stamp = (0, 0)
        self._node = node
        self._publisher = node.create_publisher(JointState, 'joint_states', qos)
        self._template = JointStateTemplate(joint_names, frame_id)

    def send(self, stamp: int, q: Vector, v: Vector, effort: Vector) -> None:
        """
        Publish a state.

        Parameters
        ----------
        stamp : int
            Time of the state [ns].
        q, v, effort : ndarray, shape (n,)
            Position, velocity and effort [rad | m, rad/s | m/s, N m | N].

        """
        template = self._template
        self.stamp = divmod(stamp, 1_000_000_000)
        template.set_stamp(*self.stamp)
        template.position[:] = q
        template.velocity[:] = v
        template.effort[:] = effort
        self._publisher.publish(bytes(template))

    def destroy(self) -> None:
        """Take the topic away."""
        self._node.destroy_publisher(self._publisher)
