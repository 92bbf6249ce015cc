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
Robots from Denavit-Hartenberg tables, standard or modified.

Frame ``i`` of the table is the frame of ``link_i``, and the z axis that joint ``i`` turns about or
slides along is

- *modified* (Craig): that of frame ``i``, with ``T(i-1 -> i) = Rx(alpha) Tx(a) Rz(theta) Tz(d)``,
  where `alpha` and `a`
  lead from axis ``i-1`` to axis ``i``;
- *standard* (Denavit and Hartenberg, Paul): that of frame ``i-1``, with ``T(i-1 -> i) = Rz(theta)
  Tz(d) Tx(a) Rx(alpha)``,
  where `a` and `alpha` lead from axis ``i`` to axis ``i+1``.

The joint variable adds to `theta` (revolute) or to `d` (prismatic). In the standard convention
frame ``i`` does not lie on the axis that moves it, so a massless link ``link_i_axis`` carries
``link_i`` by a fixed joint.

References
----------
.. [1] J. J. Craig, *Introduction to Robotics*, 3rd ed., 2005, sec. 3.4 (modified).
.. [2] B. Siciliano et al., *Robotics: Modelling, Planning and Control*, 2009, sec. 2.8.2
(standard).

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ModelError
from robot_dynamics_ros.core.model.description import (
    Inertial,
    Joint,
    JointLimits,
    JointType,
    Link,
    RobotDescription,
)
from robot_dynamics_ros.core.model.description_findings import description_findings
from robot_dynamics_ros.core.model.finding_codes import refuse_on_errors
from robot_dynamics_ros.core.spatial.rotation import rotation_from_rpy

_TYPES = (JointType.REVOLUTE, JointType.CONTINUOUS, JointType.PRISMATIC)
_Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class DhRow:
    """
    One row of a DH table, with what the joint and its link need besides.

    Attributes
    ----------
    alpha : float
        Link twist [rad].
    a : float
        Link length [m].
    d : float
        Link offset at joint position zero [m].
    theta : float
        Joint angle at joint position zero [rad].
    type : JointType
        Revolute, continuous or prismatic.
    inertial : Inertial or None
        Mass distribution of the link in frame ``i`` of the table.
    limits : JointLimits
    damping, friction : float
        Viscous [N m s/rad | N s/m] and Coulomb friction [N m | N].
    joint, link : str or None
        Names; by default ``joint_i`` and ``link_i`` with ``i`` from 1.

    """

    alpha: float = 0.0
    a: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    type: JointType = JointType.REVOLUTE
    inertial: Inertial | None = None
    limits: JointLimits = JointLimits()
    damping: float = 0.0
    friction: float = 0.0
    joint: str | None = None
    link: str | None = None


def description_from_dh(
    rows: Sequence[DhRow],
    *,
    convention: str,
    name: str = 'robot',
    base_link: str = 'base_link',
    tool_link: str | None = None,
) -> RobotDescription:
    """
    Return the serial robot that a DH table describes.

    Parameters
    ----------
    rows : sequence of DhRow
        From base to tip.
    convention : str
        ``'modified'`` or ``'standard'``; there is no default, since tables look alike.
    name : str
        Name of the robot.
    base_link : str
        Name of the link at frame 0.
    tool_link : str, optional
        Name of a further frame fixed at the last frame of the table.

    Returns
    -------
    description : RobotDescription

    Raises
    ------
    ModelError
        If the convention is unknown, there is no row, or a joint has no single axis.
    NonFiniteError
        If a number of the table is not finite.
    UrdfError
        If names repeat or a mass is negative.

    Examples
    --------
    >>> arm = description_from_dh([DhRow(a=0.5), DhRow(a=0.4)], convention='standard')
    >>> [joint.name for joint in arm.joints]
    ['joint_1', 'link_1_frame', 'joint_2', 'link_2_frame']

    """
    if convention not in ('modified', 'standard'):
        raise ModelError(f"DH convention '{convention}', expected 'modified' or 'standard'")
    if not rows:
        raise ModelError('a DH table needs at least one row')
    links: list[Link] = [Link(base_link)]
    joints: list[Joint] = []
    for number, row in enumerate(rows, start=1):
        if row.type not in _TYPES:
            raise ModelError(f'DH row {number} is {row.type.value}: it has no single axis')
        as_finite(f'DH row {number}', (row.alpha, row.a, row.d, row.theta), (4,))
        parent = links[-1].name
        link, joint = row.link or f'link_{number}', row.joint or f'joint_{number}'
        if convention == 'modified':
            rotation, translation = _modified_transform(row)
            joints.append(_joint(row, joint, parent, link, rotation, translation))
        else:
            axis_link = f'{link}_axis'
            links.append(Link(axis_link))
            turned = rotation_from_rpy(0.0, 0.0, row.theta)
            joints.append(_joint(row, joint, parent, axis_link, turned, np.zeros(3)))
            joints.append(_fixed(f'{link}_frame', axis_link, link, row.alpha, (row.a, 0.0, row.d)))
        links.append(Link(link, row.inertial))
    if tool_link is not None:
        joints.append(_fixed(f'{tool_link}_frame', links[-1].name, tool_link, 0.0, (0.0,) * 3))
        links.append(Link(tool_link))
    description = RobotDescription(name, tuple(links), tuple(joints))
    findings = description_findings(description)
    refuse_on_errors(f"DH table '{name}'", findings)
    return replace(description, findings=tuple(findings))


def _modified_transform(row: DhRow) -> tuple[Matrix, Vector]:
    """Return ``Rx(alpha) Tx(a) Rz(theta) Tz(d)`` as rotation and translation."""
    twist = rotation_from_rpy(row.alpha, 0.0, 0.0)
    # Rz and Tz commute; Tx comes before both.
    translation = np.array([row.a, 0.0, 0.0]) + row.d * twist[:, 2]
    return twist @ rotation_from_rpy(0.0, 0.0, row.theta), translation


def _joint(
    row: DhRow, name: str, parent: str, child: str, rotation: Matrix, translation: Vector
) -> Joint:
    return Joint(
        name=name,
        type=row.type,
        parent=parent,
        child=child,
        rotation=rotation,
        translation=translation,
        axis=_Z,
        limits=row.limits,
        damping=row.damping,
        friction=row.friction,
    )


def _fixed(
    name: str, parent: str, child: str, alpha: float, translation: tuple[float, ...]
) -> Joint:
    rotation = rotation_from_rpy(alpha, 0.0, 0.0)
    return Joint(name, JointType.FIXED, parent, child, rotation, np.array(translation))
