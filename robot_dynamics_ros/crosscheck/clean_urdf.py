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
A plain URDF text of a robot, for a reader that is an independent judge of ours.

Pinocchio reads the text with its own parser, so that tree, order, lumping and frames are judged as
well. What it would refuse or misread is put in order first, without changing the robot:

- links and joints have running names, so that no name of the robot can mean something to the
  reader (``universe``, ``root_joint``, a link and a joint of one name);
- axes have unit length; effort and velocity limits are positive; friction, which it refuses when
  negative and does not use, is left out;
- the plane of a planar joint, whose normal Pinocchio takes to be z, is turned by a rotated joint
  frame and turned back by a fixed joint behind it;
- a joint that mimics another is written as a free joint; the reduction happens in `PinocchioTwin`.

"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.model.description import Joint, JointType, Link, RobotDescription
from robot_dynamics_ros.core.spatial.rotation import rotation_from_z_to


@dataclass(frozen=True)
class CleanUrdf:
    """
    The text, and the names in it.

    Attributes
    ----------
    text : str
        The URDF.
    links, joints : dict of str to str
        Running name in the text by the robot's own name.

    """

    text: str
    links: dict[str, str]
    joints: dict[str, str]


def clean_urdf(description: RobotDescription) -> CleanUrdf:
    """Return the URDF text of a robot as described in this module's docstring."""
    links = {link.name: f'link_{i}' for i, link in enumerate(description.links)}
    joints = {joint.name: f'joint_{i}' for i, joint in enumerate(description.joints)}
    lines = ['<robot name="clean">']
    for link in description.links:
        lines.extend(_link_lines(links[link.name], link))
    for joint in description.joints:
        parent, child = links[joint.parent], links[joint.child]
        lines.extend(_joint_lines(joints[joint.name], parent, child, joint))
    lines.append('</robot>')
    return CleanUrdf('\n'.join(lines), links, joints)


def rpy_exact(rotation: Matrix) -> tuple[float, float, float]:
    """
    Return roll, pitch, yaw [rad] that give back `rotation` to rounding, at any pitch.

    Near a pitch of +-pi/2 any yaw serves there if roll and pitch are then read from what is left,
    ``Rz(yaw)^T R = Ry(pitch) Rx(roll)``.

    """
    yaw = np.arctan2(rotation[1, 0], rotation[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    rest = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ rotation
    pitch = np.arctan2(-rest[2, 0], rest[0, 0])
    roll = np.arctan2(-rest[1, 2], rest[1, 1])
    return float(roll), float(pitch), float(yaw)


def _numbers(values: Iterable[float]) -> str:
    return ' '.join(repr(float(value)) for value in values)


def _link_lines(name: str, link: Link) -> list[str]:
    if link.inertial is None:
        return [f'<link name="{name}"/>']
    inertia = link.inertial.inertia
    tensor = ' '.join(
        f'i{"xyz"[row]}{"xyz"[column]}="{float(inertia[row, column])!r}"'
        for row in range(3)
        for column in range(row, 3)
    )
    return [
        f'<link name="{name}"><inertial>',
        f'<origin xyz="{_numbers(link.inertial.com)}" rpy="0 0 0"/>',
        f'<mass value="{float(link.inertial.mass)!r}"/><inertia {tensor}/>',
        '</inertial></link>',
    ]


def _joint_lines(name: str, parent: str, child: str, joint: Joint) -> list[str]:
    if joint.type is not JointType.PLANAR:
        return _joint_element(name, parent, child, joint)
    axes = rotation_from_z_to(joint.axis)
    level = replace(joint, rotation=joint.rotation @ axes, axis=np.array([0.0, 0.0, 1.0]))
    back = Joint('', JointType.FIXED, '', '', rotation=axes.T)
    plane = f'{name}_plane'
    return [
        f'<link name="{plane}"/>',
        *_joint_element(name, parent, plane, level),
        *_joint_element(f'{name}_back', plane, child, back),
    ]


def _joint_element(name: str, parent: str, child: str, joint: Joint) -> list[str]:
    rpy = _numbers(rpy_exact(joint.rotation))
    lines = [
        f'<joint name="{name}" type="{joint.type.value}">',
        f'<parent link="{parent}"/><child link="{child}"/>',
        f'<origin xyz="{_numbers(joint.translation)}" rpy="{rpy}"/>',
    ]
    if joint.type not in (JointType.FIXED, JointType.FLOATING):
        lines.append(f'<axis xyz="{_numbers(joint.axis)}"/>')
    if joint.type in (JointType.REVOLUTE, JointType.PRISMATIC):
        lines.append('<limit lower="-1e3" upper="1e3" effort="1e3" velocity="1e3"/>')
    return [*lines, '</joint>']
