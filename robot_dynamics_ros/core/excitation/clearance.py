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
Distances between links, and between links and what surrounds them, along a motion.

`coal` measures the distance :math:`d` of two convex solids, negative where they overlap, with the
nearest points :math:`p_1, p_2` and the normal :math:`n` from the first to the second. It changes
with the joints by

.. math:: \partial d / \partial q_j = n \cdot (\partial p_2 / \partial q_j
    - \partial p_1 / \partial q_j)

with the points moved along with their bodies. No point of a solid can move faster than

.. math:: \sum_j \rho_j \, |\dot q_j|

where :math:`\rho_j` is the length of the chain from axis `j` to the far end of the solid (1 for a
prismatic joint), whatever the configuration. Between two solids only the joints between them
count. So a distance at one time says how long it stays above another.

Meshes count by their convex hulls. Spheres around the solids spare coal the pairs that are far.

References
----------
.. [1] C. Ericson, *Real-Time Collision Detection*, 2005, section 9.5 (closest points).
.. [2] F. Schwarzer, M. Saha, J.-C. Latombe, "Adaptive dynamic collision checking for single and
   multiple articulated robots in complex environments", IEEE Transactions on Robotics 21(3), 2005.

"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.geometry import Plane
from robot_dynamics_ros.core.contact.pair_filter import pairs_to_watch
from robot_dynamics_ros.core.contact.solids import load_coal, Solid
from robot_dynamics_ros.core.dynamics.samples import as_samples
from robot_dynamics_ros.core.dynamics.world_kinematics import kinematics_kernel, O, R
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.kernel_layout import (
    IV,
    KIND,
    MULTIPLIER,
    NBODIES,
    PARENT,
    REVOLUTE,
)
from robot_dynamics_ros.core.model.robot_model import require_single_joints, RobotModel

_INSETS = 2.0
"""A body for coal may be smaller than the solid by this many insets, at its corners."""

LEAST_ROOM = 2e-3
"""Pairs that never are this far apart, but do not always overlap, are refused [m]."""


class ClearanceScene:
    """
    The pairs of solids whose distances are looked at.

    Parameters
    ----------
    model : RobotModel
        On a fixed base.
    links : sequence of Solid
        Solids of its links, see `link_solids`.
    surroundings : sequence of Solid
        Solids that stand still.
    planes : sequence of Plane
        Surfaces of half-spaces that no moving link may enter.
    disabled : sequence of pairs of str
        Names of links, solids and planes that are not compared.

    Attributes
    ----------
    names : tuple of pairs of str
        Names of each pair.
    most : ndarray, shape (n_pairs,)
        Clearance of pairs that never have more room, see `adapt_to_room`; infinite for others [m].
    reach : ndarray, shape (n_pairs, nv)
        By how much the distance of each pair changes at most, for each unit of each joint.

    Raises
    ------
    ConfigurationError
        If coal is not installed, or a disabled pair names a body that does not exist.
    ModelError
        If a joint has several coordinates.

    """

    def __init__(
        self,
        model: RobotModel,
        links: Sequence[Solid],
        surroundings: Sequence[Solid] = (),
        planes: Sequence[Plane] = (),
        disabled: Sequence[tuple[str, str]] = (),
    ) -> None:
        require_single_joints(model, 'the check for collisions')
        self._coal = load_coal()
        self._model = model
        grounds = [_PlaneSolid(self._coal, plane) for plane in planes]
        solids: list[Any] = [*links, *surroundings, *grounds]
        around: list[Any] = [*surroundings, *grounds]
        pairs = pairs_to_watch(model, links, around, disabled, self_collision=True)
        self._solids = solids
        self._body = np.array([solid.body for solid in solids], dtype=int)
        self._rotation = np.array([solid.rotation for solid in solids]).reshape(-1, 3, 3)
        self._center = np.array([solid.translation for solid in solids]).reshape(-1, 3)
        self._bound = np.array([solid.bound for solid in solids])
        self._inset = np.array([_INSETS * solid.inset for solid in solids])
        self._geometry = [solid.geometry for solid in solids]
        kernel = model.kernel[1 : 1 + int(model.kernel[0, NBODIES])]
        self._turns = kernel[:, KIND] == REVOLUTE
        self._coordinate = np.zeros((len(kernel), model.nv))  # of each kernel joint
        self._coordinate[np.arange(len(kernel)), kernel[:, IV].astype(int)] = kernel[:, MULTIPLIER]
        self._moved_by = _chains(kernel, self._body)
        self._keep(pairs)
        self.most = np.full(self.count, np.inf)

    def _keep(self, pairs: Sequence[tuple[int, int]]) -> None:
        self._pairs = np.array(pairs, dtype=int).reshape(-1, 2)
        self.names = tuple((self._solids[i].name, self._solids[j].name) for i, j in pairs)
        self.reach = self._reaches()

    def without(self, pairs: Sequence[int]) -> None:
        """Leave pairs out, by their indices."""
        left = [k for k in range(self.count) if k not in set(pairs)]
        most = self.most[left]
        self._keep([(int(i), int(j)) for i, j in self._pairs[left]])
        self.most = most

    def required(self, clearance: float) -> Vector:
        """Return the clearance of each pair: the wanted one, or what its room allows [m]."""
        required: Vector = np.minimum(clearance, self.most)
        return required

    @property
    def count(self) -> int:
        """Return the number of pairs."""
        return len(self._pairs)

    def distances(self, q: Any, cutoff: Any) -> Matrix:
        """
        Return the distances of all pairs.

        Parameters
        ----------
        q : array_like, shape (n_samples, nq)
            Joint positions [rad | m].
        cutoff : array_like, broadcast to shape (n_samples, n_pairs)
            A pair that is known to be farther apart gets a lower bound of its distance that is at
            least this [m].

        Returns
        -------
        distances : ndarray, shape (n_samples, n_pairs)
            Negative where solids overlap [m].

        Raises
        ------
        DimensionError
            If `q` has another shape.

        """
        return np.asarray(self._measured(q, cutoff)[0])

    def distances_with_gradient(self, q: Any, cutoff: Any) -> tuple[Matrix, NDArray[np.float64]]:
        """
        Return the distances, and their derivatives by the joints.

        Returns
        -------
        distances : ndarray, shape (n_samples, n_pairs)
            See `distances`.
        gradient : ndarray, shape (n_samples, n_pairs, nv)
            Zero where only a bound of the distance is known.

        Raises
        ------
        DimensionError
            If `q` has another shape.

        """
        distance, rotation, origin, near, contact = self._measured(q, cutoff)
        gradient = np.zeros((*distance.shape, self._model.nv))
        if len(near):
            sample, pair = near.T
            axis, at = rotation[sample, :, :, 2], origin[sample]  # (m, nbodies, 3)
            normal, first, second = contact[:, 0], contact[:, 1], contact[:, 2]
            rates = np.zeros(axis.shape[:2])
            for side, (which, point) in enumerate(((0, first), (1, second))):
                arm = np.cross(point[:, np.newaxis] - at, normal[:, np.newaxis])
                turning = np.einsum('mbi,mbi->mb', axis, arm)
                sliding = np.einsum('mbi,mi->mb', axis, normal)
                moved = self._moved_by[self._pairs[pair, which]]
                rates += (2 * side - 1) * moved * np.where(self._turns, turning, sliding)
            gradient[sample, pair] = rates @ self._coordinate
        return distance, gradient

    def _measured(self, q: Any, cutoff: Any) -> Any:
        """Return distances, poses of the bodies, which pairs are near, and normals and points."""
        q = as_samples('q', q, self._model.nq)
        rotation, origin = self._poses(q)
        turn, center = self._placed(rotation, origin)
        distance = self._bounded(center)
        near = np.argwhere(distance < cutoff)
        contact = np.zeros((len(near), 3, 3))
        request, result = self._coal.DistanceRequest(), self._coal.DistanceResult()
        one, other = self._coal.Transform3s(), self._coal.Transform3s()
        for row, (sample, pair) in enumerate(near.tolist()):
            i, j = self._pairs[pair].tolist()
            one.setRotation(turn[sample, i])
            one.setTranslation(center[sample, i])
            other.setRotation(turn[sample, j])
            other.setTranslation(center[sample, j])
            result.clear()
            distance[sample, pair] = self._coal.distance(
                self._geometry[i], one, self._geometry[j], other, request, result
            )
            contact[row, 0] = result.normal
            contact[row, 1] = result.getNearestPoint1()
            contact[row, 2] = result.getNearestPoint2()
        if len(near):
            sample, pair = near.T
            distance[sample, pair] -= self._inset[self._pairs[pair]].sum(axis=1)
        return distance, rotation, origin, near, contact

    def _poses(self, q: Matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return rotation and origin of all kernel bodies, (n_samples, nbodies, 3, 3 and 3)."""
        model = self._model
        zero, work = np.zeros(model.nv), model.scratch.work
        bodies = len(self._turns)
        rows = np.empty((len(q), bodies, 12))
        for row, sample in zip(rows, q):
            kinematics_kernel(model.kernel, work, sample, zero, zero)
            row[:] = work[:bodies, R : R + 12]
        return rows[:, :, :9].reshape(-1, bodies, 3, 3), rows[:, :, O - R :]

    def _placed(
        self, rotation: NDArray[np.float64], origin: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return rotation and centre of all solids."""
        count, solids = len(rotation), len(self._body)
        turn = np.broadcast_to(self._rotation, (count, solids, 3, 3)).copy()
        center = np.broadcast_to(self._center, (count, solids, 3)).copy()
        moves = self._body >= 0
        carrier = rotation[:, self._body[moves]]
        turn[:, moves] = carrier @ self._rotation[moves]
        offset = np.einsum('nsij,sj->nsi', carrier, self._center[moves])
        center[:, moves] = origin[:, self._body[moves]] + offset
        return turn, center

    def _bounded(self, center: NDArray[np.float64]) -> Matrix:
        """Return lower bounds of the distances from the spheres around the solids."""
        distance = np.empty((len(center), self.count))
        for k, (i, j) in enumerate(self._pairs.tolist()):
            plane = getattr(self._solids[j], 'plane', None)
            if plane is not None:
                height = (center[:, i] - plane.point) @ plane.normal
                distance[:, k] = height - self._bound[i]
            else:
                between = np.linalg.norm(center[:, i] - center[:, j], axis=1)
                distance[:, k] = between - self._bound[i] - self._bound[j]
        return distance

    def _reaches(self) -> Matrix:
        """Return by how much each joint can change the distance of each pair."""
        kernel = self._model.kernel[1 : 1 + len(self._turns)]
        _, origin = self._poses(np.zeros((1, self._model.nq)))
        parents = kernel[:, PARENT].astype(int)
        offset = origin[0] - np.where(parents[:, np.newaxis] >= 0, origin[0][parents], 0.0)
        length = np.linalg.norm(offset, axis=1)
        length += np.where(self._turns, 0.0, _longest_stroke(self._model, self._coordinate))
        reach = np.zeros((self.count, self._model.nv))
        for k, pair in enumerate(self._pairs.tolist()):
            shared = self._moved_by[pair[0]] & self._moved_by[pair[1]]
            for solid in pair:
                arm = float(np.linalg.norm(self._center[solid])) + self._bound[solid]
                body = int(self._body[solid])
                while body >= 0 and not shared[body]:
                    way = arm if self._turns[body] else 1.0
                    reach[k] += way * np.abs(self._coordinate[body])
                    arm, body = arm + length[body], int(parents[body])
        return reach


def adapt_to_room(scene: ClearanceScene, q: Any, clearance: float) -> tuple[str, ...]:
    """
    Leave out pairs that always overlap, and want less of those that never have the room.

    Of a pair that is never as far apart as the clearance, half of its largest distance is wanted.

    Parameters
    ----------
    scene : ClearanceScene
        Its pairs are changed.
    q : array_like, shape (n_samples, nq)
        Random positions.
    clearance : float
        That is wanted [m].

    Returns
    -------
    notes : tuple of str
        What was changed, one sentence for each pair.

    Raises
    ------
    ConfigurationError
        If a pair touches at some positions and hardly ever is apart.
    DimensionError
        If `q` has another shape.

    """
    largest = scene.distances(q, clearance).max(axis=0, initial=-np.inf)
    notes, always = [], []
    for k in np.flatnonzero(largest < clearance).tolist():
        names = ' and '.join(f"'{name}'" for name in scene.names[k])
        if largest[k] < 0.0:
            always.append(k)
            notes.append(f'{names} always overlap and are not compared')
        elif largest[k] < LEAST_ROOM:
            raise ConfigurationError(
                f'{names} are never farther apart than {1e3 * float(largest[k]):.1f} mm; disable '
                'the pair, or mend the collision shapes'
            )
        else:
            scene.most[k] = 0.5 * largest[k]
            notes.append(
                f'{names} are never farther apart than {1e3 * float(largest[k]):.1f} mm; half of '
                'it is kept'
            )
    scene.without(always)
    return tuple(notes)


class _PlaneSolid:
    """A half-space in the form of a `Solid`, as far as it is used here."""

    body, inset, bound = -1, 0.0, 0.0

    def __init__(self, coal: Any, plane: Plane) -> None:
        self.name, self.plane = plane.name, plane
        self.rotation, self.translation = np.eye(3), np.zeros(3)
        self.geometry = coal.Halfspace(plane.normal, float(plane.normal @ plane.point))


def _chains(kernel: Matrix, bodies: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which kernel joints move which solid, shape (n_solids, nbodies)."""
    moved = np.zeros((len(bodies), len(kernel)), dtype=bool)
    for row, body in zip(moved, bodies.tolist()):
        while body >= 0:
            row[body] = True
            body = int(kernel[body, PARENT])
    return moved


def _longest_stroke(model: RobotModel, coordinate: Matrix) -> Vector:
    """Return the largest travel of each kernel joint from zero; huge without limits."""
    limits = model.limits
    stroke = np.maximum(np.abs(limits.lower), np.abs(limits.upper))
    return np.asarray(np.abs(coordinate) @ np.where(np.isfinite(stroke), stroke, 1e3))
