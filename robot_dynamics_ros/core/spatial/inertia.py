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

"""Rigid-body inertia: mass, first moment and rotational inertia about the origin of a frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.spatial.rotation import skew


@dataclass(frozen=True, eq=False)
class SpatialInertia:
    """
    Inertia of a rigid body with respect to the origin and axes of one frame.

    Attributes
    ----------
    mass : float
        Mass [kg].
    first_moment : ndarray, shape (3,)
        Mass times centre of mass [kg m].
    rotational : ndarray, shape (3, 3)
        Rotational inertia about the frame's origin [kg m^2].

    """

    mass: float
    first_moment: Vector
    rotational: Matrix

    @staticmethod
    def zero() -> SpatialInertia:
        """Return the inertia of nothing."""
        return SpatialInertia(0.0, np.zeros(3), np.zeros((3, 3)))

    @staticmethod
    def from_center_of_mass(mass: float, com: Vector, inertia: Matrix) -> SpatialInertia:
        """
        Return the inertia of a body given about its centre of mass (parallel axis theorem).

        Parameters
        ----------
        mass : float
            Mass [kg].
        com : ndarray, shape (3,)
            Centre of mass [m].
        inertia : ndarray, shape (3, 3)
            Rotational inertia about the centre of mass, in axes parallel to the frame [kg m^2].

        """
        cross = skew(com)
        return SpatialInertia(mass, mass * com, inertia - mass * cross @ cross)

    def moved(self, rotation: Matrix, translation: Vector) -> SpatialInertia:
        """
        Return the same body with respect to a frame in which this one has the given pose.

        Parameters
        ----------
        rotation : ndarray, shape (3, 3)
            Rotation of this frame in the new one.
        translation : ndarray, shape (3,)
            Origin of this frame in the new one [m].

        """
        first = rotation @ self.first_moment
        # I' = R I R^T - [p][h] - [h][p] - m [p]^2, with h the rotated first moment
        shift = skew(translation)
        cross = skew(first)
        rotational = (
            rotation @ self.rotational @ rotation.T
            - shift @ cross
            - cross @ shift
            - self.mass * shift @ shift
        )
        return SpatialInertia(self.mass, first + self.mass * translation, rotational)

    def __add__(self, other: SpatialInertia) -> SpatialInertia:
        """Return the inertia of both bodies held together."""
        return SpatialInertia(
            self.mass + other.mass,
            self.first_moment + other.first_moment,
            self.rotational + other.rotational,
        )


def pseudo_inertia(mass: float, first_moment: Vector, rotational: Matrix) -> Matrix:
    """
    Return the pseudo-inertia matrix of a body.

    It is positive semidefinite exactly if the body is possible.

    Parameters
    ----------
    mass : float
        Mass [kg].
    first_moment : ndarray, shape (3,)
        Mass times centre of mass [kg m].
    rotational : ndarray, shape (3, 3)
        Rotational inertia about the frame's origin [kg m^2].

    Returns
    -------
    pseudo : ndarray, shape (4, 4)
        ``[[trace(I)/2 E - I, h], [h^T, m]]``.

    References
    ----------
    .. [1] P. Wensing, S. Kim, J.-J. Slotine, "Linear Matrix Inequalities for Physically Consistent
       Inertial Parameter
       Identification", IEEE RA-L 3(1), 2018.

    """
    pseudo = np.empty((4, 4))
    pseudo[:3, :3] = 0.5 * np.trace(rotational) * np.eye(3) - rotational
    pseudo[:3, 3] = pseudo[3, :3] = first_moment
    pseudo[3, 3] = mass
    return pseudo
