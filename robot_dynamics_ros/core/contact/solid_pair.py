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
The contact points of two solids.

`coal` finds the direction in which they are apart. It is compared with the normals of their faces
by the separation :math:`s(n) = -h_A(-n) - h_B(n)` of the supports (see `solids`), whose maximum is
the distance where they are apart, and minus the least depth where they are not: so a face that
lies flat has its exact normal. The contact points are the corners of what the fronts of both have
in common along that normal, each with its own gap. A single point is against the supporting plane.

References
----------
.. [1] L. Montaut, Q. Le Lidec, V. Petrik, J. Sivic, J. Carpentier, "Collision Detection
   Accelerated: An Optimization Perspective", Robotics: Science and Systems, 2022.

"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.contact_layout import (
    AXIS,
    BALL,
    BODY,
    LEVEL,
    LINK,
    NORMAL,
    OTHER,
    POINT,
    RADIUS,
    RIM,
    SHAPE,
    SURFACE,
    WIDTH,
)
from robot_dynamics_ros.core.contact.contact_patch import convex_hull, nearest, overlap, Point
from robot_dynamics_ros.core.contact.geometry import Material, set_material
from robot_dynamics_ros.core.contact.solids import load_coal, Solid

POINTS = 8
"""Largest number of contact points of a pair."""

_BIAS = 1e-6
"""By how much the separation along a face may be less than along another direction [m]."""

_BELOW = 4e-3
"""How far behind the front corners may be that are contact points, at rest [m]."""


class Pose(NamedTuple):
    """Where a solid is in the world, and where its kernel body is."""

    rotation: Matrix
    translation: Vector
    body_rotation: Matrix
    body_translation: Vector


class SolidPair:
    """
    Two solids that may touch.

    Parameters
    ----------
    one, other : Solid
        The first moves and has the contact points, the second has the plane.
    link, surface : int
        Their indices among the names, see `contact_layout`.

    """

    def __init__(self, one: Solid, other: Solid, link: int, surface: int) -> None:
        self._coal = load_coal()
        self.one, self.other = one, other
        self._old: Vector | None = None
        self._request = self._coal.CollisionRequest()
        self._request.num_max_contacts = 1
        self._request.enable_contact = True
        self._request.gjk_tolerance = self._request.epa_tolerance = 1e-9
        self._row_start = np.zeros(WIDTH)
        row = self._row_start
        row[BODY], row[OTHER], row[SHAPE] = one.body, other.body, BALL
        row[AXIS : AXIS + 3] = one.rotation[:, 2]
        set_material(row, other.material or one.material or Material(), one.material)
        row[LINK], row[SURFACE] = link, surface

    def forget(self) -> None:
        """Forget the normal of the step before."""
        self._old = None

    def contacts(self, poses: Sequence[Pose], margin: float) -> tuple[float, list[Vector]]:
        """
        Return distance and candidates, none if it is larger than the margin.

        Parameters
        ----------
        poses : sequence of Pose
            Where both are.
        margin : float
            [m]

        """
        one, other = self.one, self.other
        normal = self._normal(poses, margin)
        self._old = normal
        if normal is None:
            return np.inf, []
        up, down = poses[1].rotation.T @ normal, -(poses[0].rotation.T @ normal)
        depth = margin + _BELOW
        fronts = []
        across = _tangents(normal)
        for solid, pose, n in ((one, poses[0], down), (other, poses[1], up)):
            front = pose.translation + solid.front(n, depth) @ pose.rotation.T
            fronts.append(convex_hull([(float(x), float(y)) for x, y in front @ across.T]))
        corners = overlap(*fronts)
        level = None
        if len(corners) < 2:
            corners = corners or [self._nearest(fronts, across)]
            level = float(normal @ poses[1].translation) + other.support(up)
        points = [across[0] * x + across[1] * y for x, y in corners]
        rows = [self._row(poses, normal, point, depth, level) for point in points]
        if len(rows) > POINTS:
            rows = _lowest(rows, points, poses, normal)
        return self._separation(normal, poses), rows

    def _normal(self, poses: Sequence[Pose], margin: float) -> Vector | None:
        """Return the direction out of the second solid along which they are apart most."""
        coal = self._coal
        self._request.security_margin = margin + self.one.inset + self.other.inset
        self._result = coal.CollisionResult()
        places = [coal.Transform3s(pose.rotation, pose.translation) for pose in poses]
        coal.collide(
            self.other.geometry, places[1], self.one.geometry, places[0], self._request,
            self._result,
        )  # fmt: skip
        if not self._result.isCollision():
            return None
        found: Vector = self._result.getContact(0).normal.copy()
        found /= np.linalg.norm(found)
        best, normal = self._separation(found, poses), found
        if self._old is not None and self._separation(self._old, poses) > best + _BIAS:
            best, normal = self._separation(self._old, poses), self._old
        bias = _BIAS
        for solid, pose, sign in ((self.other, poses[1], 1.0), (self.one, poses[0], -1.0)):
            for face in _faces_along(solid, sign * (pose.rotation.T @ found)):
                n = sign * (pose.rotation @ face)
                separation = self._separation(n, poses)
                if separation > best - bias:
                    best, normal, bias = separation, n, -_BIAS
        return normal

    def _separation(self, n: Vector, poses: Sequence[Pose]) -> float:
        """Return how far they are apart along a direction out of the second."""
        apart = float(n @ (poses[0].translation - poses[1].translation))
        apart -= self.one.support(-(poses[0].rotation.T @ n))
        return apart - self.other.support(poses[1].rotation.T @ n)

    def _nearest(self, fronts: Sequence[Sequence[Point]], across: Matrix) -> Point:
        """Return the point of the first front that is nearest to the second, near coal's."""
        contact = self._result.getContact(0)
        x, y = across @ (0.5 * (contact.getNearestPoint1() + contact.getNearestPoint2()))
        return nearest(fronts[0], nearest(fronts[1], (float(x), float(y))))

    def _row(
        self,
        poses: Sequence[Pose],
        normal: Vector,
        at: Vector,
        depth: float,
        level: float | None,
    ) -> Vector:
        """Return the candidate for a point of the patch; the level of a single one is known."""
        one, other, (pose, plane) = self.one, self.other, poses
        row: Vector = self._row_start.copy()
        down, local = -(pose.rotation.T @ normal), pose.rotation.T @ (at - pose.translation)
        if one.is_polytope or one.stands(down, depth):
            point = one.surface(down, local, depth)
        else:
            point, row[RADIUS] = one.nearest_on_axis(down, local), one.radius
            if one.kind == 'cylinder':
                row[SHAPE] = RIM
        row[POINT : POINT + 3] = one.translation + one.rotation @ point
        row[NORMAL : NORMAL + 3] = plane.body_rotation.T @ normal
        if level is None:
            up, local = plane.rotation.T @ normal, plane.rotation.T @ (at - plane.translation)
            surface = other.translation + other.rotation @ other.surface(up, local, depth)
            row[LEVEL] = row[NORMAL : NORMAL + 3] @ surface
        else:
            row[LEVEL] = level - normal @ plane.body_translation
        return row


def _lowest(
    rows: Sequence[Vector], points: Sequence[Vector], poses: Sequence[Pose], normal: Vector
) -> list[Vector]:
    """Return the candidates with the smallest gaps, of equal ones those farthest outside."""
    middle = np.mean(points, axis=0)

    def order(k: int) -> tuple[float, float]:
        row, (pose, plane) = rows[k], poses
        at = pose.body_translation + pose.body_rotation @ row[POINT : POINT + 3]
        gap = normal @ (at - plane.body_translation) - row[LEVEL] - row[RADIUS]
        return round(float(gap), 7), -float(np.linalg.norm(points[k] - middle))

    return [rows[k] for k in sorted(range(len(rows)), key=order)[:POINTS]]


def _faces_along(solid: Solid, n: Vector) -> Matrix:
    """Return normals of faces that look along a direction: all of a box, the best of a mesh."""
    if solid.kind == 'cylinder':
        return np.array([[0.0, 0.0, 1.0 if n[2] > 0.0 else -1.0]])
    if not solid.is_polytope:
        return np.zeros((0, 3))
    along = solid.normals @ n
    if solid.kind == 'box':
        return np.asarray(solid.normals[along > 0.0])
    return np.asarray(solid.normals[[int(np.argmax(along))]])


def _tangents(normal: Vector) -> Matrix:
    """Return two unit vectors across a normal."""
    axis = np.zeros(3)
    axis[int(np.argmin(np.abs(normal)))] = 1.0
    x = np.cross(normal, axis)
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(normal, x)])
