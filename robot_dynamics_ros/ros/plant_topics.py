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
"""What a simulated robot tells beside its joint states: contacts, and the truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import Point, WrenchStamped
from nav_msgs.msg import Odometry
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import ColorRGBA
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import Marker, MarkerArray

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.simulation.contact_wrenches import link_wrenches
from robot_dynamics_ros.core.simulation.plant import Contact, PlantState
from robot_dynamics_ros.ros.qos import TORQUES

_ARROW_PER_NEWTON = 0.005
"""Length of the arrow of a force [m/N], up to `_LONGEST_ARROW`."""

_LONGEST_ARROW = 0.5
_LIFETIME = 200_000_000
"""How long a marker is shown without another message [ns]."""


class PlantTopics:
    """
    Publish contacts and truth of a simulated robot, each only while someone listens.

    Parameters
    ----------
    node : Node
        Node that has the topics.
    model : RobotModel
        The robot.
    world_frame : str
        Name of the world, for headers.
    touching_links : sequence of str
        Links that may touch something: each gets a topic for its wrench.

    """

    def __init__(
        self, node: Node, model: RobotModel, world_frame: str, touching_links: Sequence[str]
    ) -> None:
        self._node = node
        self._model = model
        self._world_frame = world_frame
        self._markers = node.create_publisher(MarkerArray, '~/contacts', TORQUES)
        self._wrenches = {
            link: node.create_publisher(WrenchStamped, f'~/contacts/{link}', TORQUES)
            for link in touching_links
        }
        self._motion = node.create_publisher(JointTrajectory, '~/truth/motion', TORQUES)
        self._friction = node.create_publisher(JointState, '~/truth/friction', TORQUES)
        self._base = None
        if model.nq != model.nv:
            self._base = node.create_publisher(Odometry, '~/truth/base', TORQUES)

    def publish(self, state: PlantState, stamp: int) -> None:
        """Publish a state with a stamp [ns] to those who listen."""
        time = divmod(stamp, 1_000_000_000)
        if _is_heard(self._markers):
            self._markers.publish(self._marker_array(state.contacts, time))
        heard = [link for link, publisher in self._wrenches.items() if _is_heard(publisher)]
        if heard:
            wrenches = link_wrenches(self._model, state.q, state.contacts)
            for link in heard:
                wrench = wrenches.get(link, np.zeros(6))
                self._wrenches[link].publish(_wrench_message(link, wrench, time))
        if _is_heard(self._motion):
            self._motion.publish(self._motion_message(state, time))
        if _is_heard(self._friction):
            message = JointState(
                name=list(self._model.v_names), effort=state.tau_friction.tolist()
            )
            message.header.stamp.sec, message.header.stamp.nanosec = time
            self._friction.publish(message)
        if self._base is not None and _is_heard(self._base):
            self._base.publish(self._base_message(state, time))

    def destroy(self) -> None:
        """Take the topics away."""
        for publisher in (
            self._markers, *self._wrenches.values(), self._motion, self._friction, self._base
        ):  # fmt: skip
            if publisher is not None:
                self._node.destroy_publisher(publisher)

    def _motion_message(self, state: PlantState, time: tuple[int, int]) -> JointTrajectory:
        """Return position, velocity, acceleration and torque of every degree of freedom."""
        names = self._model.v_names
        has_same_size = self._model.nq == self._model.nv
        message = JointTrajectory(joint_names=list(names))
        message.header.frame_id = self._world_frame
        message.header.stamp.sec, message.header.stamp.nanosec = time
        message.points = [
            JointTrajectoryPoint(
                # A floating base has more positions than names: it is on ~/truth/base.
                positions=state.q.tolist() if has_same_size else [],
                velocities=state.v.tolist(),
                accelerations=state.a.tolist(),
                effort=state.tau.tolist(),
            )
        ]
        return message

    def _base_message(self, state: PlantState, time: tuple[int, int]) -> Odometry:
        """Return pose and twist of the floating base, the first joint of the model."""
        message = Odometry(child_frame_id=self._model.body_names[0])
        message.header.frame_id = self._world_frame
        message.header.stamp.sec, message.header.stamp.nanosec = time
        pose, twist = message.pose.pose, message.twist.twist
        position, quaternion = pose.position, pose.orientation
        position.x, position.y, position.z = state.q[:3].tolist()
        quaternion.x, quaternion.y, quaternion.z, quaternion.w = state.q[3:7].tolist()
        twist.linear.x, twist.linear.y, twist.linear.z = state.v[:3].tolist()
        twist.angular.x, twist.angular.y, twist.angular.z = state.v[3:6].tolist()
        return message

    def _marker_array(self, contacts: Sequence[Contact], time: tuple[int, int]) -> MarkerArray:
        """Return an arrow for each contact, from its point along its force."""
        message = MarkerArray()
        clear = Marker(action=Marker.DELETEALL)
        clear.header.frame_id = self._world_frame
        message.markers = [clear]
        for number, contact in enumerate(contacts):
            marker = Marker(type=Marker.ARROW, action=Marker.ADD, ns=contact.link, id=number)
            marker.header.frame_id = self._world_frame
            marker.header.stamp.sec, marker.header.stamp.nanosec = time
            marker.lifetime.nanosec = _LIFETIME
            marker.scale.x, marker.scale.y = 0.01, 0.02
            marker.color = ColorRGBA(r=0.9, g=0.34, b=0.18, a=1.0)
            marker.pose.orientation.w = 1.0
            size = float(np.linalg.norm(contact.force))
            length = min(_ARROW_PER_NEWTON * size, _LONGEST_ARROW)
            direction = contact.force / size if size > 0.0 else contact.normal
            marker.points = [
                _point(contact.point),
                _point(contact.point + max(length, 0.01) * direction),
            ]
            message.markers.append(marker)
        return message


def _is_heard(publisher: Any) -> bool:
    return bool(publisher.get_subscription_count())


def _point(position: Vector) -> Point:
    x, y, z = position.tolist()
    return Point(x=x, y=y, z=z)


def _wrench_message(link: str, wrench: Vector, time: tuple[int, int]) -> WrenchStamped:
    message = WrenchStamped()
    message.header.frame_id = link
    message.header.stamp.sec, message.header.stamp.nanosec = time
    force, torque = message.wrench.force, message.wrench.torque
    force.x, force.y, force.z, torque.x, torque.y, torque.z = wrench.tolist()
    return message
