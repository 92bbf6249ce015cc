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
Contact of links with boxes and spheres of the world, and with each other.

Before every internal step the possible contacts of pairs that may come near are found anew and
written as candidates (see `contact_layout`): some points of the rounder solid against a
plane that is fixed to the other one for that step (see `solid_pair`). Spheres that contain the
solids leave out what is far. Forces and bristles of the step before pass to the nearest point of
the same pair.

"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.contact_kinematics import place_contacts
from robot_dynamics_ros.core.contact.contact_layout import (
    BODY,
    LEVEL,
    NORMAL,
    OTHER,
    POINT,
    WIDTH,
)
from robot_dynamics_ros.core.contact.solid_pair import POINTS, Pose, SolidPair
from robot_dynamics_ros.core.contact.solids import ROUNDNESS, Solid
from robot_dynamics_ros.core.contact.step_arrays import Q, StepArrays, V_
from robot_dynamics_ros.core.dynamics.world_kinematics import kinematics_kernel, O, R, V

MOST_PAIRS = 32
"""Largest number of pairs that can be near at once; the others farther away are left out."""

NEAR = 2e-3
"""Distance that counts as near for bodies at rest [m]."""

ACCELERATION = 100.0
"""What is added to the way in a step for the acceleration [m/s^2]."""

_FAR = 1e6
"""Gap of a candidate that stands for nothing [m]."""

_SAME = 0.02
"""Distance on the body up to which a contact point is that of the step before [m]."""


class BodyPairs:
    """
    The pairs of solids that are looked at, and their rows among the candidates.

    Parameters
    ----------
    solids : sequence of Solid
        All of them.
    pairs : sequence of tuple of int
        Which two may touch, by their indices; not both of the world.
    links, surfaces : sequence of str
        Names by their indices in the rows, see `contact_layout`.

    """

    def __init__(
        self,
        solids: Sequence[Solid],
        pairs: Sequence[tuple[int, int]],
        links: Sequence[str],
        surfaces: Sequence[str],
    ) -> None:
        self._solids, self.surfaces = tuple(solids), tuple(surfaces)
        ordered = [self._ordered(*pair) for pair in pairs]
        self._first = np.array([pair[0] for pair in ordered], dtype=int)
        self._second = np.array([pair[1] for pair in ordered], dtype=int)
        self._pairs = [
            SolidPair(
                solids[i], solids[j], links.index(solids[i].name), surfaces.index(solids[j].name)
            )
            for i, j in ordered
        ]
        self._bodies = np.array([solid.body for solid in solids], dtype=int)
        self._centers = np.array([solid.translation for solid in solids]).reshape(-1, 3)
        self._bounds = np.array([solid.bound for solid in solids])
        self.count = POINTS * min(len(self._pairs), MOST_PAIRS)
        self.owner: NDArray[np.int64] = np.full(self.count, -1, dtype=np.int64)

    def rows(self) -> Matrix:
        """Return candidates that stand for nothing, to be filled before each step."""
        rows = np.zeros((self.count, WIDTH))
        rows[:, OTHER], rows[:, NORMAL + 2], rows[:, LEVEL] = -1, 1.0, -_FAR
        rows[:, BODY] = max(0, int(self._bodies.max(initial=0)))
        return rows

    def forget(self) -> None:
        """Forget the step before."""
        self.owner[:] = -1
        for pair in self._pairs:
            pair.forget()

    def update(self, s: StepArrays, first: int, h: float) -> bool:
        """
        Find the contacts that are possible during the next step.

        Parameters
        ----------
        s : StepArrays
            The robot; its state is read, its candidates from `first` on are written.
        first : int
            Index of the first of its rows.
        h : float
            Length of the step [s].

        Returns
        -------
        touches : bool
            Whether something is closed now that was not a contact before.

        """
        kinematics_kernel(s.robot, s.work, s.qs[Q], s.vs[V_], np.zeros(s.vs.shape[1]))
        rotation, translation, reach = self._motion(s.work, h)
        centers = translation + np.einsum('nij,nj->ni', rotation, self._centers)
        between = centers[self._first] - centers[self._second]
        distance = np.sqrt((between * between).sum(axis=1))
        distance -= self._bounds[self._first] + self._bounds[self._second]
        margin = NEAR + ACCELERATION * h * h + reach[self._first] + reach[self._second]
        found: list[tuple[float, int, list[Vector]]] = []
        for k in np.flatnonzero(distance < margin):
            poses = [
                Pose(rotation[i] @ self._solids[i].rotation, centers[i], rotation[i],
                     translation[i])
                for i in (self._first[k], self._second[k])
            ]  # fmt: skip
            gap, rows = self._pairs[k].contacts(poses, float(margin[k]))
            if rows:
                found.append((gap, int(k), rows))
        if len(found) * POINTS > self.count:
            found = sorted(found, key=lambda entry: entry[0])[: self.count // POINTS]
        return self._write(s, first, found)

    def _motion(self, work: Matrix, h: float) -> tuple[Matrix, Matrix, Vector]:
        """Return poses of the kernel bodies of the solids, and how far each may move in `h`."""
        count = len(self._solids)
        rotation, translation = np.tile(np.eye(3), (count, 1, 1)), np.zeros((count, 3))
        reach = np.zeros(count)
        moves = self._bodies >= 0
        state = work[self._bodies[moves]]
        rotation[moves] = state[:, R : R + 9].reshape(-1, 3, 3)
        translation[moves] = state[:, O : O + 3]
        linear, angular = state[:, V : V + 3], state[:, V + 3 : V + 6]
        at = translation[moves]
        at = at + np.einsum('nij,nj->ni', rotation[moves], self._centers[moves])
        speed = np.linalg.norm(linear + np.cross(angular, at), axis=1)
        speed += np.linalg.norm(angular, axis=1) * self._bounds[moves]
        reach[moves] = 1.5 * h * speed
        return rotation, translation, reach

    def _ordered(self, a: int, b: int) -> tuple[int, int]:
        """Return the solid that has the points first, and that of the plane second."""
        one, other = self._solids[a], self._solids[b]
        is_rounder = ROUNDNESS.index(other.kind) < ROUNDNESS.index(one.kind)
        if one.body < 0 or (other.body >= 0 and is_rounder):
            return b, a
        return a, b

    def _write(
        self, s: StepArrays, first: int, found: Sequence[tuple[float, int, list[Vector]]]
    ) -> bool:
        """Write candidates, forces, bristles and gaps; return whether something has closed."""
        mine = slice(first, first + self.count)
        old_rows, old_force = s.candidates[mine].copy(), s.force[mine].copy()
        old_bristle, old_gap = s.bristle[mine].copy(), s.gap[mine].copy()
        owner = self.owner.copy()
        s.candidates[mine], s.force[mine], s.bristle[mine] = self.rows(), 0.0, 0.0
        self.owner[:] = -1
        is_new = np.ones(self.count, dtype=bool)
        at = 0
        for _, k, rows in found:
            free = list(np.flatnonzero(owner == k))
            for row in rows:
                self.owner[at], s.candidates[first + at] = k, row
                if free:
                    offset = old_rows[free, POINT : POINT + 3] - row[POINT : POINT + 3]
                    away = np.linalg.norm(offset, axis=1)
                    if away.min() <= _SAME:
                        was = free.pop(int(np.argmin(away)))
                        s.force[first + at] = old_force[was]
                        s.bristle[first + at] = old_bristle[was]
                        is_new[at] = old_force[was, 0] <= 0.0 and old_gap[was] > 0.0
                at += 1
        place_contacts(s.candidates[mine], s.work, s.gap[mine], s.place[mine])
        return bool((is_new & (s.gap[mine] <= 0.0)).any())


def _roundness(solid: Solid) -> int:
    kinds = ('point', 'sphere', 'capsule', 'cylinder', 'mesh', 'box')
    return kinds.index(solid.kind)
