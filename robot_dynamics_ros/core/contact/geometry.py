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
Possible contacts of a robot's shapes with planes.

A box counts by its eight corners, a sphere by its centre and radius, a capsule by the two spheres
at its ends, a cylinder by the deepest points of both rims and by `RIM_POINTS` fixed points on each
so that it stands as well as it rolls, and a mesh by the vertices of its convex hull. Against a
plane these points are as good as the whole shape.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np

from robot_dynamics_ros.core.arrays import frozen, Matrix, Vector
from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape
from robot_dynamics_ros.core.contact.contact_layout import (
    AXIS,
    BALL,
    BODY,
    DISSIPATION,
    FRICTION,
    LEVEL,
    LINK,
    NORMAL,
    OTHER,
    POINT,
    RADIUS,
    RESTITUTION,
    RIM,
    SHAPE,
    STIFFNESS,
    SURFACE,
    WIDTH,
)
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.robot_model import RobotModel

RIM_POINTS = 6
"""Fixed points on each rim of a cylinder."""


@dataclass(frozen=True)
class Material:
    """
    What a surface is like in contact.

    Attributes
    ----------
    friction : float
        Coefficient of Coulomb's friction.
    restitution : float
        Newton's coefficient of restitution, 0 to 1, for rigid contact.
    stiffness : float
        Stiffness of compliant contact [N/m].
    dissipation : float
        Dissipation of Hunt and Crossley for compliant contact [s/m].

    Raises
    ------
    ConfigurationError
        If a value is out of range.

    """

    friction: float = 0.7
    restitution: float = 0.0
    stiffness: float = 1e6
    dissipation: float = 1.0

    def __post_init__(self) -> None:
        for key, most in (
            ('friction', 1e3), ('restitution', 1.0), ('stiffness', 1e12), ('dissipation', 1e9)
        ):  # fmt: skip
            value = getattr(self, key)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not 0.0 <= value <= most or (key == 'stiffness' and value == 0.0):
                raise ConfigurationError(
                    f'{key} of a material is {value!r}, expected a number from 0 to {most:g}'
                )


@dataclass(frozen=True, eq=False)
class Plane:
    """
    The surface of a half-space: positions below it are inside.

    Attributes
    ----------
    name : str
    normal : ndarray, shape (3,)
        Unit normal out of the half-space, expressed in the world; any length is taken.
    point : ndarray, shape (3,)
        A point of the surface [m].
    material : Material

    Raises
    ------
    ConfigurationError
        If the normal is zero or not finite.

    """

    name: str
    normal: Vector
    point: Vector
    material: Material = Material()

    def __post_init__(self) -> None:
        normal, point = np.asarray(self.normal, float), np.asarray(self.point, float)
        length = float(np.linalg.norm(normal)) if normal.shape == (3,) else 0.0
        if not 1e-9 < length < 1e9 or point.shape != (3,) or not np.isfinite(point).all():
            raise ConfigurationError(
                f"plane '{self.name}': normal {self.normal} and point {self.point} are no plane"
            )
        object.__setattr__(self, 'normal', frozen(normal / length))
        object.__setattr__(self, 'point', frozen(point))


@dataclass(frozen=True, eq=False)
class ContactSet:
    """
    Possible contacts, packed.

    Attributes
    ----------
    rows : ndarray, shape (n, WIDTH)
        See `contact_layout`.
    links, surfaces : tuple of str
        Names by the indices in the rows.

    """

    rows: Matrix
    links: tuple[str, ...] = ()
    surfaces: tuple[str, ...] = ()


def plane_contacts(
    model: RobotModel,
    shapes: Sequence[CollisionShape],
    planes: Sequence[Plane],
    link_materials: dict[str, Material] | None = None,
) -> ContactSet:
    """
    Return the possible contacts of shapes with planes.

    Shapes of links that do not move are left out. Where a link has a material of its own, friction
    and restitution are the smaller ones of both and the compliances add.

    Parameters
    ----------
    model : RobotModel
        The robot.
    shapes : sequence of CollisionShape
        Its shapes.
    planes : sequence of Plane
        Surfaces of the world.
    link_materials : dict of str to Material, optional
        Materials of links.

    Returns
    -------
    contacts : ContactSet
        One row for each point of a shape and plane.

    Raises
    ------
    UnknownFrameError
        If the robot has no such link.

    """
    links = tuple(dict.fromkeys(shape.link for shape in shapes))
    rows = []
    for shape in shapes:
        frame = model.frame(shape.link)
        body = int(frame.kernel[0])
        if body < 0:
            continue
        rotation = frame.kernel[4:].reshape(3, 3) @ shape.rotation
        translation = frame.kernel[1:4] + frame.kernel[4:].reshape(3, 3) @ shape.translation
        own = (link_materials or {}).get(shape.link)
        for kind, point, radius in _points(shape):
            for surface, plane in enumerate(planes):
                row = np.zeros(WIDTH)
                row[BODY], row[OTHER], row[SHAPE] = body, -1, kind
                row[POINT : POINT + 3] = translation + rotation @ point
                row[RADIUS] = radius
                row[AXIS : AXIS + 3] = rotation[:, 2]
                row[NORMAL : NORMAL + 3] = plane.normal
                row[LEVEL] = plane.normal @ plane.point
                set_material(row, plane.material, own)
                row[LINK], row[SURFACE] = links.index(shape.link), surface
                rows.append(row)
    return ContactSet(
        np.array(rows).reshape(-1, WIDTH), links, tuple(plane.name for plane in planes)
    )


def set_material(row: Vector, surface: Material, own: Material | None) -> None:
    """Write what two materials make of a contact."""
    other = own or surface
    row[FRICTION] = min(surface.friction, other.friction)
    row[RESTITUTION] = min(surface.restitution, other.restitution)
    row[STIFFNESS] = surface.stiffness
    row[DISSIPATION] = surface.dissipation
    if own is not None:
        row[STIFFNESS] = 1.0 / (1.0 / surface.stiffness + 1.0 / own.stiffness)
        row[DISSIPATION] = max(surface.dissipation, own.dissipation)


def _points(shape: CollisionShape) -> list[tuple[int, Vector, float]]:
    """Return kind, position in the shape's frame and radius of each point."""
    if shape.kind == 'box':
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return [(BALL, 0.5 * shape.size * sign, 0.0) for sign in signs]
    if shape.kind == 'mesh':
        return [(BALL, vertex, 0.0) for vertex in hull_vertices(shape.vertices)]
    if shape.kind in ('point', 'sphere'):
        return [(BALL, np.zeros(3), float(shape.size[0]) if len(shape.size) else 0.0)]
    radius, length = shape.size
    ends = [np.array([0.0, 0.0, 0.5 * sign * length]) for sign in (-1, 1)]
    if shape.kind == 'capsule':
        return [(BALL, end, float(radius)) for end in ends]
    points = [(RIM, end, float(radius)) for end in ends]
    for end in ends:
        for k in range(RIM_POINTS):
            angle = 2.0 * pi * k / RIM_POINTS
            points.append((BALL, end + radius * np.array([cos(angle), sin(angle), 0.0]), 0.0))
    return points


def hull_vertices(vertices: Matrix) -> Matrix:
    """Return the corners of the convex hull; all vertices if they lie in a plane."""
    from scipy.spatial import ConvexHull, QhullError

    if len(vertices) <= 4:
        return vertices
    try:
        return np.asarray(vertices[ConvexHull(vertices).vertices])
    except QhullError:
        return vertices
