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
Shapes as what contact between two of them needs: supports, heights and a body for `coal`.

A solid is a *core* with a radius around it: a point (sphere), a segment (capsule), a polytope
(box, convex hull of a mesh), or a cylinder. Its *support* in a direction :math:`n` is
:math:`\max n \cdot x`, and the *front* are the corners that come near it. `coal` gets the solid a
little smaller than it is, as its normals are exact between bodies that do not touch.

"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape
from robot_dynamics_ros.core.contact.geometry import hull_vertices, Material
from robot_dynamics_ros.core.exceptions import ConfigurationError

INSET = 2e-5
"""By how much a body for coal is smaller, at most [m]."""

DISC_POINTS = 8
"""Corners of the polygon that stands for the end of a cylinder."""

POINT_RADIUS = 1e-6
"""Radius of a shape that is a point, for coal [m]."""

ROUNDNESS = ('point', 'sphere', 'capsule', 'cylinder', 'mesh', 'box')
"""Of two solids the one whose kind comes first here has the contact points."""

_FLAT = 1e-5
"""Sine of the angle between a direction and a face below which the face is not crossed."""


def load_coal() -> Any:
    """
    Return the module.

    Raises
    ------
    ConfigurationError
        If it is not installed.

    """
    try:
        import coal  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError as error:
        raise ConfigurationError(
            f'contact with boxes, spheres and between links needs coal: pip install coal ({error})'
        ) from error
    return coal


@dataclass(frozen=True, eq=False)
class Solid:
    """
    A convex solid that is fixed to a kernel body, or to the world.

    Attributes
    ----------
    name : str
        Link, or body of the world.
    kind : str
        As that of `CollisionShape`.
    body : int
        Kernel body, or -1.
    rotation, translation : ndarray
        Pose in the kernel frame.
    corners : ndarray, shape (n, 3)
        Of the core; for a cylinder the centres of its ends.
    normals, offsets : ndarray, shape (m, 3) and (m,)
        Faces of a polytope: inside is where ``normals @ x <= offsets``.
    radius : float
        Around the core; that of a cylinder [m].
    bound : float
        Radius of a sphere about the origin that contains it [m].
    inset : float
        By how much `geometry` is smaller [m].
    material : Material or None
        None takes that of what it touches.
    geometry : object
        The body for coal.

    """

    name: str
    kind: str
    body: int
    rotation: Matrix
    translation: Vector
    corners: Matrix
    normals: Matrix
    offsets: Vector
    radius: float
    bound: float
    inset: float
    material: Material | None
    geometry: Any

    @property
    def is_polytope(self) -> bool:
        """Whether it has flat faces and corners only."""
        return len(self.normals) > 0

    def support(self, n: Vector) -> float:
        """Return the largest component of its points along a unit vector, both in its frame."""
        most = float((self.corners @ n).max())
        if self.kind == 'cylinder':
            return most + self.radius * sqrt(max(0.0, 1.0 - n[2] * n[2]))
        return most + self.radius

    def front(self, n: Vector, depth: float) -> Matrix:
        """Return points that span what lies within `depth` of the support, in its frame."""
        if self.kind == 'cylinder':
            return self._front_of_cylinder(n, depth)
        along = self.corners @ n
        return np.asarray(self.corners[along >= along.max() - depth])

    def _front_of_cylinder(self, n: Vector, depth: float) -> Matrix:
        side = sqrt(max(0.0, 1.0 - n[2] * n[2]))
        along = self.corners @ n
        near = self.corners[along >= along.max() - depth]
        if 2.0 * self.radius * side > depth:
            return np.asarray(near + self._rim(n))
        angles = 2.0 * pi / DISC_POINTS * np.arange(DISC_POINTS)
        ring = self.radius * np.column_stack((np.cos(angles), np.sin(angles), 0.0 * angles))
        return np.asarray(self.corners[int(np.argmax(along))] + ring)

    def stands(self, n: Vector, depth: float) -> bool:
        """Whether it is a cylinder that looks along `n` with its flat end."""
        is_flat = 2.0 * self.radius * sqrt(max(0.0, 1.0 - n[2] * n[2])) <= depth
        return self.kind == 'cylinder' and is_flat

    def nearest_on_axis(self, n: Vector, p: Vector) -> Vector:
        """
        Return the point of the core of a round solid for a contact point on the line ``p + t n``.

        `n` points out of the solid there.

        """
        if self.kind == 'cylinder':
            p = p - self._rim(n)
        if len(self.corners) == 1:
            return np.asarray(self.corners[0])
        a, b = self.corners
        along = b - a
        across = along - (along @ n) * n
        square = float(across @ across)
        if square < 1e-12 * float(along @ along):
            return np.asarray(a if a @ n > b @ n else b)
        t = min(1.0, max(0.0, float(across @ (p - a)) / square))
        return np.asarray(a + t * along)

    def surface(self, n: Vector, p: Vector, depth: float) -> Vector:
        """Return where the line ``p + t n`` leaves the solid."""
        if self.is_polytope:
            slope = self.normals @ n
            crossed = slope > _FLAT
            t = float(((self.offsets - self.normals @ p)[crossed] / slope[crossed]).min())
            return p + t * n
        if self.stands(n, depth):
            end = self.corners[int(np.argmax(self.corners @ n))]
            return np.asarray(p + (end[2] - p[2]) / n[2] * n)
        core = self.nearest_on_axis(n, p)
        if self.kind == 'cylinder':
            return np.asarray(core + self._rim(n))
        return np.asarray(core + self.radius * n)

    def _rim(self, n: Vector) -> Vector:
        """Return the way from the axis of a cylinder to its farthest points along `n`."""
        side = sqrt(max(1e-18, 1.0 - n[2] * n[2]))
        return self.radius / side * np.array([n[0], n[1], 0.0])


def solid_of_shape(
    shape: CollisionShape,
    body: int,
    rotation: Matrix,
    translation: Vector,
    material: Material | None,
) -> Solid:
    """
    Return the solid of a shape; rotation and translation are those of the link's frame.

    Raises
    ------
    ConfigurationError
        If coal is not installed, or a mesh has no volume.

    """
    coal = load_coal()
    radius, inset = 0.0, 0.0
    corners, normals, offsets = np.zeros((1, 3)), np.zeros((0, 3)), np.zeros(0)
    if shape.kind in ('point', 'sphere'):
        radius = float(shape.size[0]) if len(shape.size) else 0.0
        geometry = coal.Sphere(max(radius, POINT_RADIUS))
    elif shape.kind == 'box':
        half = 0.5 * shape.size
        inset = min(INSET, 0.1 * float(half.min()))
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        corners, normals = half * signs, np.vstack((np.eye(3), -np.eye(3)))
        offsets = np.concatenate((half, half))
        geometry = coal.Box(*(shape.size - 2.0 * inset))
    elif shape.kind == 'mesh':
        corners = hull_vertices(shape.vertices)
        normals, offsets = _faces(shape.link, corners)
        middle = corners.mean(axis=0)
        depth = float((offsets - normals @ middle).min())
        inset = min(INSET, 0.1 * depth)
        geometry = _hull_geometry(coal, middle + (1.0 - inset / depth) * (corners - middle))
    else:
        radius, length = (float(x) for x in shape.size)
        corners = np.array([[0.0, 0.0, -0.5 * length], [0.0, 0.0, 0.5 * length]])
        if shape.kind == 'capsule':
            geometry = coal.Capsule(radius, length)
        else:
            inset = min(INSET, 0.1 * radius, 0.05 * length)
            geometry = coal.Cylinder(radius - inset, length - 2.0 * inset)
    far = float(np.linalg.norm(corners, axis=1).max())
    bound = sqrt(far**2 + radius**2) if shape.kind == 'cylinder' else far + radius
    return Solid(
        shape.link, shape.kind, body, rotation @ shape.rotation,
        translation + rotation @ shape.translation, corners, normals, offsets, radius, bound,
        inset, material, geometry,
    )  # fmt: skip


def _faces(link: str, corners: Matrix) -> tuple[Matrix, Vector]:
    from scipy.spatial import ConvexHull, QhullError

    try:
        equations = np.unique(ConvexHull(corners).equations.round(12), axis=0)
    except (QhullError, ValueError) as error:
        raise ConfigurationError(
            f"link '{link}': its mesh has no volume, so only planes can touch it"
        ) from error
    return equations[:, :3], -equations[:, 3]


def _hull_geometry(coal: Any, corners: Matrix) -> Any:
    points = coal.StdVec_Vec3s()
    for corner in corners:
        points.append(corner)
    return coal.Convex.convexHull(points, True, None)
