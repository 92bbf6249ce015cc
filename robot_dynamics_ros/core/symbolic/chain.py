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

r"""
Where the links of a robot are, as formulas of the joint positions.

The chain is followed from the base with one rotation matrix for each joint. Joints about parallel
axes, one after the other, are one rotation about the sum of their angles, which keeps the formulas
of planar robots short: the orientation of a link is :math:`A\,R(e, \theta)\,B` with a numeric unit
vector :math:`e`, a numeric matrix :math:`B` and a matrix :math:`A` of formulas, and a further
joint about :math:`\pm e` changes :math:`\theta` alone. The angular velocity is kept in the axes
of :math:`A`, as :math:`w + e\,\dot\theta`.

Nothing here is shared with the compiled kernels but the description of the robot.

"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.description import Joint, JointType
from robot_dynamics_ros.core.model.robot_model import RobotModel

Formula = Any
"""An expression or a matrix of sympy, which has no type information."""

_ROUNDING = 1e-12
"""An entry of a rotation matrix this close to -1, 0 or 1 is meant to be it."""


def require_sympy() -> Any:
    """
    Return the module sympy.

    Raises
    ------
    ConfigurationError
        If it is not installed.

    """
    try:
        return import_module('sympy')
    except ImportError as error:
        raise ConfigurationError(
            'the symbolic derivation needs sympy, which is not installed: pip install sympy'
        ) from error


def exact(values: Any) -> Formula:
    """Return numbers as a matrix of sympy, whole numbers as such."""
    sympy = require_sympy()
    rows = np.atleast_2d(np.asarray(values, dtype=float).T).T

    def number(value: float) -> Formula:
        return sympy.Integer(int(value)) if value == int(value) else sympy.Float(value)

    return sympy.Matrix([[number(float(value)) for value in row] for row in rows])


def _clean(rotation: Matrix) -> Matrix:
    whole = np.round(rotation)
    return np.where(np.abs(rotation - whole) < _ROUNDING, whole, rotation)


@dataclass(frozen=True, eq=False)
class LinkMotion:
    """
    Place and spin of a link.

    Attributes
    ----------
    position : Matrix of sympy, shape (3, 1)
        Origin of the link frame in world coordinates [m].
    before : Matrix of sympy, shape (3, 3)
        The factor `A` of the orientation.
    axis : ndarray, shape (3,)
        Unit vector `e`.
    angle : expression
        Angle about it [rad].
    after : ndarray, shape (3, 3)
        The factor `B` of the orientation.
    spin : Matrix of sympy, shape (3, 1)
        The part `w` of the angular velocity, in the axes of `A` [rad/s].
    rate : expression
        Time derivative of `angle` [rad/s].
    moves : bool
        Whether a joint moves the link.

    """

    position: Formula
    before: Formula
    axis: Vector
    angle: Formula
    after: Matrix
    spin: Formula
    rate: Formula
    moves: bool = False

    def turned(self, vector: Any) -> Formula:
        """Return a vector of the link frame in world axes."""
        middle = _rotation(self.axis, self.angle)
        return self.before * (middle * exact(self.after @ np.asarray(vector)))

    def angular_velocity(self) -> Formula:
        """Return the angular velocity in the link's own axes [rad/s]."""
        back = _rotation(self.axis, -self.angle)
        return exact(self.after.T) * (back * self.spin + exact(self.axis) * self.rate)


def _rotation(axis: Vector, angle: Formula) -> Formula:
    """Return the rotation by `angle` about a unit vector."""
    sympy = require_sympy()
    if angle == 0:
        return sympy.eye(3)
    x, y, z = exact(axis)
    cross = sympy.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    along = exact(np.outer(axis, axis))
    return along + sympy.cos(angle) * (sympy.eye(3) - along) + sympy.sin(angle) * cross


def _carried(parent: LinkMotion, joint: Joint) -> LinkMotion:
    """Return the motion of a joint's frame, which is fixed to the parent link."""
    return replace(
        parent,
        position=parent.position + parent.turned(joint.translation),
        after=parent.after @ _clean(joint.rotation),
    )


def _slid(frame: LinkMotion, axis: Vector, distance: Formula) -> LinkMotion:
    return replace(frame, position=frame.position + frame.turned(axis) * distance)


def _turned(frame: LinkMotion, axis: Vector, angle: Formula, rate: Formula) -> LinkMotion:
    axis = _clean(frame.after @ axis)
    if np.linalg.norm(np.cross(axis, frame.axis)) < _ROUNDING:
        sign = 1 if axis @ frame.axis > 0.0 else -1
        return replace(frame, angle=frame.angle + sign * angle, rate=frame.rate + sign * rate)
    middle, back = _rotation(frame.axis, frame.angle), _rotation(frame.axis, -frame.angle)
    return replace(
        frame,
        before=frame.before * middle,
        spin=back * frame.spin + exact(frame.axis) * frame.rate,
        axis=axis,
        angle=angle,
        rate=rate,
    )


def link_motions(model: RobotModel, q: Formula, v: Formula) -> dict[str, LinkMotion]:
    """
    Return the motion of every link.

    Parameters
    ----------
    model : RobotModel
        A robot on a fixed base with joints of one coordinate.
    q, v : sequence of expressions, length nv
        Joint positions [rad | m] and velocities [rad/s | m/s].

    Returns
    -------
    motions : dict of str to LinkMotion
        By link name.

    Raises
    ------
    ConfigurationError
        If sympy is not installed.

    """
    sympy = require_sympy()
    zero = sympy.Integer(0)
    moving = {joint.name: joint for joint in model.joints}
    described = {joint.name: joint for joint in model.description.joints}

    def coordinate(joint: Joint) -> tuple[Formula, Formula]:
        found = moving.get(joint.name)
        if found is not None:
            position, rate, mimic = q[found.v_index], v[found.v_index], found.mimic
        elif joint.name in model.options.locked:
            return exact(np.atleast_1d(model.options.locked[joint.name]))[0], zero
        else:  # it follows a locked joint
            mimic = described[joint.name].mimic
            position, rate = coordinate(described[mimic.joint]) if mimic else (zero, zero)
        if mimic is None:
            return position, rate
        factor, offset = exact([mimic.multiplier, mimic.offset])
        return factor * position + offset, factor * rate

    children = {joint.child for joint in described.values()}
    root = next(li.name for li in model.description.links if li.name not in children)
    at_rest = LinkMotion(
        sympy.zeros(3, 1), sympy.eye(3), np.array([0.0, 0.0, 1.0]), zero, np.eye(3),
        sympy.zeros(3, 1), zero,
    )  # fmt: skip
    motions = {root: at_rest}
    left = list(described.values())
    while left:
        joint = next(joint for joint in left if joint.parent in motions)
        left.remove(joint)
        frame = _carried(motions[joint.parent], joint)
        if joint.type is not JointType.FIXED:
            position, rate = coordinate(joint)
            if joint.type is JointType.PRISMATIC:
                frame = _slid(frame, joint.axis, position)
            else:
                frame = _turned(frame, joint.axis, position, rate)
            frame = replace(frame, moves=frame.moves or joint.name in moving)
        motions[joint.child] = frame
    return motions
