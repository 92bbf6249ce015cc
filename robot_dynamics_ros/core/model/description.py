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
What a robot description says.

Links and joints, before any choice of base, payload or active joints.

A URDF file, a DH table or a generator of test models all produce a `RobotDescription`;
`robot_dynamics_ros.core.model.build` turns it into a `RobotModel`.

"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from math import inf, nan

import numpy as np

from robot_dynamics_ros.core.arrays import frozen, Matrix, Vector


class JointType(str, Enum):
    """The joint types of URDF."""

    REVOLUTE = 'revolute'
    CONTINUOUS = 'continuous'
    PRISMATIC = 'prismatic'
    FIXED = 'fixed'
    FLOATING = 'floating'
    PLANAR = 'planar'


@dataclass(frozen=True)
class Finding:
    """
    One remark on a robot description.

    Attributes
    ----------
    code : str
        Stable identifier, for example ``axis_not_unit``.
    severity : str
        ``error`` (the model is refused), ``warning`` or ``info``.
    subject : str
        What it is about, for example ``joint 'j1'``.
    message : str
        One line: what was expected, what came, the way out.
    value : float or None
        The number behind the finding, where there is one.

    """

    code: str
    severity: str
    subject: str
    message: str
    value: float | None = None


@dataclass(frozen=True, eq=False)
class Inertial:
    """
    Mass distribution of one link.

    Attributes
    ----------
    mass : float
        Mass [kg].
    com : ndarray, shape (3,)
        Centre of mass, expressed in the link frame [m].
    inertia : ndarray, shape (3, 3)
        Rotational inertia about the centre of mass, in axes parallel to the link frame [kg m^2].

    """

    mass: float
    com: Vector
    inertia: Matrix

    def __post_init__(self) -> None:
        object.__setattr__(self, 'com', frozen(self.com, 'com'))
        object.__setattr__(self, 'inertia', frozen(self.inertia, 'inertia'))


@dataclass(frozen=True)
class JointLimits:
    """
    Limits of one joint; nan means that the source does not state the figure.

    Attributes
    ----------
    lower, upper : float
        Position limits [rad | m]; -inf and inf where there is none.
    velocity : float
        Velocity limit [rad/s | m/s], positive, or nan.
    effort : float
        Effort limit [N m | N], positive, or nan.

    """

    lower: float = -inf
    upper: float = inf
    velocity: float = nan
    effort: float = nan


@dataclass(frozen=True)
class Mimic:
    """Position of this joint = `multiplier` * position of `joint` + `offset`."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class Joint:
    """
    Connection of two links.

    Attributes
    ----------
    name : str
    type : JointType
    parent, child : str
        Link names.
    rotation : ndarray, shape (3, 3)
        Orientation of the joint frame (= child link frame at position 0) in the parent link frame.
    translation : ndarray, shape (3,)
        Origin of the joint frame in the parent link frame [m].
    axis : ndarray, shape (3,)
        Unit axis in the joint frame; the plane's normal of a planar joint.
    limits : JointLimits
    damping : float
        Viscous friction [N m s/rad | N s/m].
    friction : float
        Coulomb friction [N m | N].
    mimic : Mimic or None

    """

    name: str
    type: JointType
    parent: str
    child: str
    rotation: Matrix = field(default_factory=lambda: np.eye(3))
    translation: Vector = field(default_factory=lambda: np.zeros(3))
    axis: Vector = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    limits: JointLimits = field(default_factory=JointLimits)
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, 'rotation', frozen(self.rotation, 'rotation'))
        object.__setattr__(self, 'translation', frozen(self.translation, 'translation'))
        object.__setattr__(self, 'axis', frozen(self.axis, 'axis'))


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid body; without `inertial` it has neither mass nor inertia."""

    name: str
    inertial: Inertial | None = None


@dataclass(frozen=True, eq=False)
class RobotDescription:
    """Links and joints in the order of their source, and what was noticed while reading them."""

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    findings: tuple[Finding, ...] = ()
