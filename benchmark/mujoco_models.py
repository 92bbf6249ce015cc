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

"""The robots of this package as MuJoCo models, with shapes against planes, for comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco  # type: ignore[import-untyped,unused-ignore]
import numpy as np
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape
from robot_dynamics_ros.core.model import RobotModel
from robot_dynamics_ros.core.model.description import Joint, JointType
from robot_dynamics_ros.core.simulation.world import World

_GEOMS = {'point': 'sphere', 'sphere': 'sphere', 'box': 'box', 'cylinder': 'cylinder',
          'capsule': 'capsule'}  # fmt: skip


def numbers(values: Any) -> str:
    """Return numbers as text without loss."""
    return ' '.join(repr(float(value)) for value in np.ravel(values))


def mujoco_model(
    model: RobotModel,
    shapes: Sequence[CollisionShape] = (),
    world: World | None = None,
    *,
    option: str = '',
    geom: str = '',
    friction_loss: Sequence[float] | None = None,
) -> Any:
    """
    Return the MuJoCo model of a robot; armature, damping and friction loss as asked for.

    Parameters
    ----------
    model : RobotModel
        The robot, without mimic and planar joints.
    shapes : sequence of CollisionShape
        Shapes against planes; they do not touch each other.
    world : World, optional
        Its planes are taken.
    option : str
        Attributes of ``<option>``.
    geom : str
        Attributes of all geoms, such as ``solref``.
    friction_loss : sequence of float, optional
        By degree of freedom [N m | N].

    """
    children = {joint.child for joint in model.description.joints}
    root = next(li.name for li in model.description.links if li.name not in children)
    planes = []
    for plane in (world or World()).planes:
        x, y, z, w = Rotation.align_vectors([plane.normal], [[0.0, 0.0, 1.0]])[0].as_quat()
        mu = plane.material.friction
        planes.append(
            f'<geom type="plane" size="0 0 1" pos="{numbers(plane.point)}" '
            f'quat="{numbers([w, x, y, z])}" contype="2" conaffinity="1" condim="3" '
            f'friction="{mu} 0 0" {geom}/>'
        )
    loss = [0.0] * model.nv if friction_loss is None else list(friction_loss)
    body = _body(model, root, None, shapes, geom, loss)
    text = (
        '<mujoco><compiler angle="radian" inertiafromgeom="false"/>'
        f'<option gravity="{numbers(model.gravity)}" {option}/>'
        f'<worldbody>{"".join(planes)}{body}</worldbody></mujoco>'
    )
    return mujoco.MjModel.from_xml_string(text)


def _body(
    model: RobotModel,
    link: str,
    joint: Joint | None,
    shapes: Sequence[CollisionShape],
    geom: str,
    loss: list[float],
    inside: bool = False,
) -> str:
    lines = []
    inertial = next(li.inertial for li in model.description.links if li.name == link)
    below = [child for child in model.description.joints if child.parent == link]
    if joint is None:
        lines.append(f'<body name="{link}">')
        if model.options.floating_base:
            lines.append('<freejoint name="root_joint"/>')
    else:
        x, y, z, w = Rotation.from_matrix(joint.rotation).as_quat()
        pose = f'pos="{numbers(joint.translation)}" quat="{numbers([w, x, y, z])}"'
        if not inside:
            lines.append(f'<body name="{link}" {pose}>')
        if joint.type is JointType.FLOATING:
            lines.append(f'<freejoint name="{joint.name}"/>')
        elif joint.type is not JointType.FIXED:
            kind = 'slide' if joint.type is JointType.PRISMATIC else 'hinge'
            rotor = model.options.armature.get(joint.name, 0.0)
            lines.append(
                f'<joint name="{joint.name}" type="{kind}" axis="{numbers(joint.axis)}" '
                f'armature="{float(rotor)!r}" limited="false" '
                f'frictionloss="{loss[model.v_names.index(joint.name)]}"/>'
            )
    if joint is not None and inertial is None and len(below) == 1 and _is_in_place(below[0]):
        # MuJoCo has no massless bodies that move, but bodies with several joints.
        lines.append(_body(model, below[0].child, below[0], shapes, geom, loss, True))
        return '\n'.join([*lines, '' if inside else '</body>'])
    if inertial is not None:
        i = inertial.inertia
        entries = (i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
        lines.append(
            f'<inertial pos="{numbers(inertial.com)}" mass="{float(inertial.mass)!r}" '
            f'fullinertia="{numbers(entries)}"/>'
        )
    lines += [_geom(shape, geom) for shape in shapes if shape.link == link]
    lines += [_body(model, child.child, child, shapes, geom, loss) for child in below]
    return '\n'.join([*lines, '' if inside else '</body>'])


def _is_in_place(joint: Joint) -> bool:
    fixed = joint.type is JointType.FIXED
    return not fixed and not joint.translation.any() and np.allclose(joint.rotation, np.eye(3))


def _geom(shape: CollisionShape, geom: str) -> str:
    x, y, z, w = Rotation.from_matrix(shape.rotation).as_quat()
    size = {'point': [1e-6], 'sphere': shape.size, 'box': 0.5 * np.asarray(shape.size)}.get(
        shape.kind
    )
    if size is None:
        size = [shape.size[0], 0.5 * shape.size[1]]
    return (
        f'<geom type="{_GEOMS[shape.kind]}" size="{numbers(size)}" '
        f'pos="{numbers(shape.translation)}" quat="{numbers([w, x, y, z])}" '
        f'contype="1" conaffinity="2" condim="3" friction="0 0 0" {geom}/>'
    )
