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
From a description to a model.

Choice of base, joint order, locks, mimic chains, lumping, payload and armature.

Fixed and locked joints lump their child into the body that carries it by the parallel axis
theorem. The frames of lumped links stay.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, nan
from types import MappingProxyType
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ModelError, UnknownFrameError, UnknownJointError
from robot_dynamics_ros.core.model import kernel_layout as layout
from robot_dynamics_ros.core.model.description import (
    Joint,
    JointLimits,
    JointType,
    RobotDescription,
)
from robot_dynamics_ros.core.model.locks import (
    displacement,
    held_positions,
    Q_SUFFIXES,
    V_SUFFIXES,
    with_root_joint,
)
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import (
    BuildOptions,
    Frame,
    Limits,
    MovingJoint,
    RobotModel,
    STANDARD_GRAVITY,
)
from robot_dynamics_ros.core.model.tree import arrange_tree, resolve_mimics, Tree
from robot_dynamics_ros.core.spatial.inertia import SpatialInertia
from robot_dynamics_ros.core.spatial.rotation import (
    rotation_from_z_to,
)

# Columns are the kernel axes of a prismatic joint along x, along y and along z.
_ALONG_X = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
_ALONG_Y = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])


def build_model(
    description: RobotDescription,
    *,
    floating_base: bool = False,
    gravity: Sequence[float] | Vector = STANDARD_GRAVITY,
    active_joints: Sequence[str] | None = None,
    locked: Mapping[str, Any] | None = None,
    armature: Mapping[str, float] | None = None,
    payload: Payload | None = None,
) -> RobotModel:
    """
    Make a robot model from a description.

    Parameters
    ----------
    description : RobotDescription
        Links and joints.
    floating_base : bool
        Whether the root link floats freely in the world; its joint is then called ``root_joint``,
        or ``root_joint_1`` and so on if the robot has a joint of this name.
    gravity : array_like, shape (3,)
        Gravity, expressed in the base frame (fixed base) or the world frame (floating base)
        [m/s^2].
    active_joints : sequence of str, optional
        Joints that move. Each other joint needs a value in `locked`. By default all move that are
        not locked.
    locked : mapping of str to float or array_like, optional
        Position at which a joint is held: [rad | m], (x, y, theta) or (x, y, z, qx, qy, qz, qw).
    armature : mapping of str to float, optional
        Inertia at the joint itself, by joint name [kg m^2 | kg].
    payload : Payload, optional
        A body that the robot carries.

    Returns
    -------
    model : RobotModel
        The robot.

    Raises
    ------
    ModelError
        If the links and joints are no tree, a joint is neither active nor locked, or a value is
        impossible.
    UnknownJointError
        If a name in `active_joints`, `locked` or `armature` is not that of a moving joint.
    UnknownFrameError
        If the payload's frame does not exist.
    NonFiniteError
        If a number is not finite.
    NotNumericError
        If something is not a real number.

    """
    x, y, z = as_finite('gravity', gravity, (3,))
    if payload is not None and payload.mass == 0.0:
        payload = None
    options = BuildOptions(
        floating_base=floating_base,
        gravity=(float(x), float(y), float(z)),
        active_joints=None if active_joints is None else tuple(active_joints),
        locked=_by_joint_name('locked', locked),
        armature=_by_joint_name('armature', armature),
        payload=payload,
    )
    return build_from_options(description, options)


def _by_joint_name(option: str, values: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return an unchangeable copy of what the caller gives joint by joint."""
    if values is not None and not isinstance(values, Mapping):
        raise ModelError(
            f'{option} is {values!r:.60}, expected a mapping of joint names to values'
        )
    return MappingProxyType(dict(values or {}))


def build_from_options(description: RobotDescription, options: BuildOptions) -> RobotModel:
    """
    Make a robot model from a description and checked options.

    See `build_model` for what is raised.

    """
    if options.floating_base:
        description_with_root = with_root_joint(description)
    else:
        description_with_root = description
    tree = arrange_tree(description_with_root)
    locks = held_positions(tree, options)
    return _Builder(description, options, tree, locks).model()


@dataclass(eq=False)
class _Body:
    """A kernel body while the model is built; its inertia is gathered in its link frame."""

    row: Vector
    link_axes: Matrix
    inertia: SpatialInertia = field(default_factory=SpatialInertia.zero)


@dataclass(eq=False)
class _Carrier:
    """The body that carries a link, and the link's pose in that body's link frame."""

    body: int
    rotation: Matrix
    translation: Vector


class _Builder:
    """Walks the tree once and fills every array of the model."""

    def __init__(
        self,
        description: RobotDescription,
        options: BuildOptions,
        tree: Tree,
        locks: Mapping[str, Any],
    ) -> None:
        self.description = description
        self.options = options
        self.tree = tree
        self.locks = locks
        self.mimics = resolve_mimics(tree.joints)
        self.bodies: list[_Body] = []
        self.public: list[int] = []
        self.body_names: list[str] = []
        self.moving: list[MovingJoint] = []
        self.q_names: list[str] = []
        self.v_names: list[str] = []
        self.v_joints: list[Joint] = []
        self.carriers: dict[str, _Carrier] = {tree.root: _Carrier(-1, np.eye(3), np.zeros(3))}
        self.armature_left = dict(options.armature)

    def model(self) -> RobotModel:
        for joint in self.tree.joints:
            self._add_joint(joint)
        self._place_mimics()
        if self.armature_left:
            names = [j.name for j in self.moving]
            raise UnknownJointError(next(iter(self.armature_left)), names)
        frames = {name: self._frame(name, carrier) for name, carrier in self.carriers.items()}
        joint_frames = {
            j.name: self._frame(j.name, self.carriers[j.child]) for j in self.tree.joints
        }
        total = self._gather_inertias(frames, joint_frames)
        kernel = self._kernel()
        kernel_masses = [b.inertia.mass for b in self.bodies]
        limits = [joint.limits for joint in self.v_joints]
        return RobotModel(
            name=self.description.name,
            description=self.description,
            options=self.options,
            joints=tuple(self.moving),
            joint_names=tuple(j.name for j in self.moving if j.mimic is None),
            q_names=tuple(self.q_names),
            v_names=tuple(self.v_names),
            body_names=tuple(self.body_names),
            frames=MappingProxyType(frames),
            joint_frames=MappingProxyType(joint_frames),
            gravity=frozen(self.options.gravity),
            limits=Limits(
                frozen([limit.lower for limit in limits]),
                frozen([limit.upper for limit in limits]),
                frozen([limit.velocity for limit in limits]),
                frozen([limit.effort for limit in limits]),
            ),
            damping=frozen([joint.damping for joint in self.v_joints]),
            friction=frozen([joint.friction for joint in self.v_joints]),
            armature=frozen(
                [self.options.armature.get(joint.name, 0.0) for joint in self.v_joints]
            ),
            moving_mass=float(sum(kernel_masses)),
            total_mass=total,
            kernel=kernel,
        )

    def _add_joint(self, joint: Joint) -> None:
        parent = self.carriers[joint.parent]
        rotation = parent.rotation @ joint.rotation
        translation = parent.translation + parent.rotation @ joint.translation
        if joint.type is JointType.FIXED or joint.name in self.locks:
            offset_rotation, offset = displacement(joint, self.locks.get(joint.name))
            self.carriers[joint.child] = _Carrier(
                parent.body, rotation @ offset_rotation, translation + rotation @ offset
            )
            return
        if joint.type is JointType.PLANAR:
            body = self._add_planar(joint, parent.body, rotation, translation)
        else:
            axes = (
                np.eye(3) if joint.type is JointType.FLOATING else rotation_from_z_to(joint.axis)
            )
            body = self._add_body(joint, parent.body, rotation @ axes, translation, axes)
        self.public.append(body)
        self.body_names.append(joint.child)
        mimic = self.mimics.get(joint.name)
        q_index, v_index = len(self.q_names), len(self.v_names)
        if mimic is None:
            self._name_coordinates(joint)
            width = len(V_SUFFIXES.get(joint.type, ('',)))
            for k in range(width):
                row = self.bodies[body - (width - 1 - k if width == 3 else 0)].row
                row[layout.IQ] = q_index + (k if width == 3 else 0)
                row[layout.IV] = v_index + (k if width == 3 else 0)
        self.moving.append(
            MovingJoint(joint.name, joint.type, len(self.public) - 1, q_index, v_index, mimic)
        )
        self.carriers[joint.child] = _Carrier(body, np.eye(3), np.zeros(3))

    def _add_body(
        self, joint: Joint, parent: int, rotation: Matrix, translation: Vector, axes: Matrix
    ) -> int:
        """
        Append a kernel body whose pose is given in the link frame of its parent.

        Return its index.

        """
        parent_axes = self.bodies[parent].link_axes if parent >= 0 else np.eye(3)
        row = np.zeros(layout.WIDTH)
        row[layout.PARENT] = parent
        row[layout.KIND] = {
            JointType.PRISMATIC: layout.PRISMATIC,
            JointType.FLOATING: layout.FREE,
        }.get(joint.type, layout.REVOLUTE)
        row[layout.MULTIPLIER] = 1.0
        row[layout.TRANSLATION : layout.TRANSLATION + 3] = parent_axes.T @ translation
        row[layout.ROTATION : layout.ROTATION + 9] = (parent_axes.T @ rotation).ravel()
        row[layout.LINK : layout.LINK + 9] = axes.T.ravel()
        row[layout.PUBLIC] = -1.0
        row[layout.ARMATURE] = self._take_armature(joint)
        self.bodies.append(_Body(row, axes))
        return len(self.bodies) - 1

    def _add_planar(self, joint: Joint, parent: int, rotation: Matrix, translation: Vector) -> int:
        """
        Append prismatic x, prismatic y and revolute joints in the plane.

        Return the last body's index.

        """
        axes = rotation_from_z_to(joint.axis)
        plane = rotation @ axes
        slide = Joint(joint.name, JointType.PRISMATIC, joint.parent, joint.child)
        first = self._add_body(slide, parent, plane @ _ALONG_X, translation, _ALONG_X)
        second = self._add_body(slide, first, _ALONG_Y, np.zeros(3), _ALONG_Y)
        return self._add_body(joint, second, np.eye(3), np.zeros(3), axes)

    def _take_armature(self, joint: Joint) -> float:
        value = self.armature_left.pop(joint.name, 0.0)
        value = float(as_finite(f"armature of joint '{joint.name}'", value, ()))
        if value < 0.0:
            raise ModelError(f"armature of joint '{joint.name}' is {value:g}, expected >= 0")
        if value > 0.0 and joint.type in (JointType.FLOATING, JointType.PLANAR):
            raise ModelError(
                f"joint '{joint.name}' is {joint.type.value}: an armature needs "
                'one degree of freedom'
            )
        return value

    def _name_coordinates(self, joint: Joint) -> None:
        for suffixes, names in ((Q_SUFFIXES, self.q_names), (V_SUFFIXES, self.v_names)):
            if joint.type in suffixes:
                names.extend(f'{joint.name}/{suffix}' for suffix in suffixes[joint.type])
            else:
                names.append(joint.name)
        several = len(V_SUFFIXES.get(joint.type, ('',)))
        bare = JointLimits(-inf, inf, nan, nan)
        entry = joint if several == 1 else Joint('', joint.type, '', '', limits=bare)
        self.v_joints.extend([entry] * several)

    def _place_mimics(self) -> None:
        """Give each mimic joint the coordinate of the joint that it follows."""
        leaders = {j.name: j for j in self.moving if j.mimic is None}
        for index, joint in enumerate(self.moving):
            if joint.mimic is None:
                continue
            leader = leaders[joint.mimic.joint]
            row = self.bodies[self.public[joint.body]].row
            row[layout.IQ], row[layout.IV] = leader.q_index, leader.v_index
            row[layout.MULTIPLIER] = joint.mimic.multiplier
            row[layout.OFFSET] = joint.mimic.offset
            self.moving[index] = MovingJoint(
                joint.name, joint.type, joint.body, leader.q_index, leader.v_index, joint.mimic
            )

    def _frame(self, name: str, carrier: _Carrier) -> Frame:
        kernel = np.zeros(13)
        kernel[0] = carrier.body
        axes = self.bodies[carrier.body].link_axes if carrier.body >= 0 else np.eye(3)
        kernel[1:4] = axes.T @ carrier.translation
        kernel[4:] = (axes.T @ carrier.rotation).ravel()
        body = self.public.index(carrier.body) if carrier.body >= 0 else -1
        return Frame(
            name, body, frozen(carrier.rotation), frozen(carrier.translation), frozen(kernel)
        )

    def _gather_inertias(
        self, frames: Mapping[str, Frame], joint_frames: Mapping[str, Frame]
    ) -> float:
        """Add every link and the payload to the body that carries it; return the total mass."""
        total = 0.0
        for link in self.tree.links:
            if link.inertial is None:
                continue
            inertial = link.inertial
            inertia = SpatialInertia.from_center_of_mass(
                inertial.mass, inertial.com, inertial.inertia
            )
            self._carry(inertia, self.carriers[link.name])
            total += inertial.mass
        payload = self.options.payload
        if payload is not None:
            frame = frames.get(payload.frame) or joint_frames.get(payload.frame)
            if frame is None:
                raise UnknownFrameError(payload.frame, frames)
            if frame.body < 0:
                raise ModelError(f"payload frame '{payload.frame}' does not move")
            carrier = _Carrier(self.public[frame.body], frame.rotation, frame.translation)
            self._carry(payload.spatial_inertia(), carrier)
            total += payload.mass
        return total

    def _carry(self, inertia: SpatialInertia, carrier: _Carrier) -> None:
        if carrier.body >= 0:
            body = self.bodies[carrier.body]
            body.inertia = body.inertia + inertia.moved(carrier.rotation, carrier.translation)

    def _kernel(self) -> Matrix:
        kernel = np.zeros((1 + len(self.bodies), layout.WIDTH))
        header = kernel[0]
        header[layout.NBODIES] = len(self.bodies)
        header[layout.NQ] = len(self.q_names)
        header[layout.NV] = len(self.v_names)
        header[layout.NPUBLIC] = len(self.public)
        header[layout.GRAVITY : layout.GRAVITY + 3] = self.options.gravity
        header[layout.MIMIC] = any(joint.mimic is not None for joint in self.moving)
        for number, index in enumerate(self.public):
            self.bodies[index].row[layout.PUBLIC] = number
        for index, body in enumerate(self.bodies):
            row = kernel[1 + index]
            row[:] = body.row
            inertia = body.inertia.moved(body.link_axes.T, np.zeros(3))
            row[layout.MASS] = inertia.mass
            row[layout.FIRST_MOMENT : layout.FIRST_MOMENT + 3] = inertia.first_moment
            tensor = inertia.rotational
            row[layout.INERTIA : layout.INERTIA + 6] = (
                tensor[0, 0],
                tensor[0, 1],
                tensor[1, 1],
                tensor[0, 2],
                tensor[1, 2],
                tensor[2, 2],
            )
        if self.bodies:
            first = self.bodies[0].row
            lone = sum(1 for b in self.bodies if b.row[layout.PARENT] < 0) == 1
            header[layout.FREE_ROOT] = lone and first[layout.KIND] == layout.FREE
        kernel.setflags(write=False)
        return kernel
