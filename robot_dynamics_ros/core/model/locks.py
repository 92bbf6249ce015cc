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

"""What stands still: joints held at a position, and how a floating base is written as a joint."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, as_real, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ModelError, UnknownJointError
from robot_dynamics_ros.core.model.description import Joint, JointType, Link, RobotDescription
from robot_dynamics_ros.core.model.robot_model import BuildOptions
from robot_dynamics_ros.core.model.tree import arrange_tree, resolve_mimics, Tree
from robot_dynamics_ros.core.spatial.rotation import (
    rotation_from_axis_angle,
    rotation_from_quaternion,
    rotation_from_z_to,
)

ROOT_JOINT = 'root_joint'
"""Name of the joint between the world and a floating base; with a number if it is taken."""

Q_SUFFIXES = {
    JointType.PLANAR: ('x', 'y', 'theta'),
    JointType.FLOATING: ('x', 'y', 'z', 'qx', 'qy', 'qz', 'qw'),
}
V_SUFFIXES = {
    JointType.PLANAR: ('x', 'y', 'theta'),
    JointType.FLOATING: ('vx', 'vy', 'vz', 'wx', 'wy', 'wz'),
}


def with_root_joint(description: RobotDescription) -> RobotDescription:
    """Return the description with a floating joint between a new world link and its root."""
    root = arrange_tree(description).root
    world = 'world' if all(link.name != 'world' for link in description.links) else 'universe'
    taken = {joint.name for joint in description.joints}
    names = (ROOT_JOINT, *(f'{ROOT_JOINT}_{k}' for k in range(1, len(taken) + 1)))
    name = next(name for name in names if name not in taken)
    joint = Joint(name, JointType.FLOATING, parent=world, child=root)
    return RobotDescription(
        description.name,
        (Link(world), *description.links),
        (joint, *description.joints),
        description.findings,
    )


def held_positions(tree: Tree, options: BuildOptions) -> dict[str, Any]:
    """Return the position of every joint that is held, those that mimic a held joint included."""
    moving = {j.name: j for j in tree.joints if j.type is not JointType.FIXED}
    independent = [name for name, joint in moving.items() if joint.mimic is None]
    locks: dict[str, Any] = {}
    for name, value in options.locked.items():
        if name not in independent:
            raise UnknownJointError(name, independent)
        size = len(Q_SUFFIXES.get(moving[name].type, ('',)))
        what = f"lock value of joint '{name}'"
        locks[name] = as_finite(what, np.atleast_1d(as_real(what, value)), (size,))
    if options.active_joints is not None:
        for name in options.active_joints:
            if name not in independent:
                raise UnknownJointError(name, independent)
            if name in locks:
                raise ModelError(f"joint '{name}' is both active and locked")
        chosen = {*locks, *options.active_joints, ROOT_JOINT}
        unknown = [name for name in independent if name not in chosen]
        if unknown:
            names = ', '.join(f"'{name}'" for name in unknown)
            raise ModelError(
                f'joint {names} is neither active nor locked: '
                'give the position at which it is held'
            )
    for name, mimic in resolve_mimics(tree.joints).items():
        if mimic.joint in locks:
            locks[name] = mimic.multiplier * locks[mimic.joint] + mimic.offset
    return locks


def displacement(joint: Joint, value: Vector | None) -> tuple[Matrix, Vector]:
    """Return rotation and translation of a joint held at `value`; None for a fixed joint."""
    if joint.type is JointType.FIXED or value is None:
        return np.eye(3), np.zeros(3)
    if joint.type is JointType.PRISMATIC:
        return np.eye(3), value[0] * joint.axis
    if joint.type is JointType.PLANAR:
        axes = rotation_from_z_to(joint.axis)
        turn = rotation_from_axis_angle(joint.axis, float(value[2]))
        return turn, axes @ np.array([value[0], value[1], 0.0])
    if joint.type is JointType.FLOATING:
        if np.linalg.norm(value[3:]) < 1e-6:
            raise ModelError(f"lock value of joint '{joint.name}': the quaternion has no length")
        return rotation_from_quaternion(value[3:]), value[:3]
    return rotation_from_axis_angle(joint.axis, float(value[0])), np.zeros(3)
