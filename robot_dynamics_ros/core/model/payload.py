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

"""A body that the robot carries."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ModelError
from robot_dynamics_ros.core.spatial.inertia import pseudo_inertia, SpatialInertia

LARGEST = 1e100
"""Of any number of a payload; beyond it, products with it are no numbers any more."""


@dataclass(frozen=True, eq=False)
class Payload:
    """
    A rigid body held by a frame of the robot.

    Attributes
    ----------
    mass : float
        Mass [kg]; zero is no payload.
    frame : str
        Name of the link or joint frame that holds it.
    com : ndarray, shape (3,)
        Centre of mass, expressed in `frame` [m].
    inertia : ndarray, shape (3, 3)
        Rotational inertia about the centre of mass, in axes parallel to `frame` [kg m^2].

    Raises
    ------
    ModelError
        If the mass is negative, a number is beyond `LARGEST`, or no body can have this inertia.
    NonFiniteError
        If a number is not finite.
    NotNumericError
        If something is not a real number.

    """

    mass: float
    frame: str
    com: Vector = field(default_factory=lambda: np.zeros(3))
    inertia: Matrix = field(default_factory=lambda: np.zeros((3, 3)))

    def __post_init__(self) -> None:
        object.__setattr__(self, 'mass', float(as_finite('payload mass', self.mass, ())))
        object.__setattr__(self, 'com', frozen(as_finite('payload com', self.com, (3,))))
        object.__setattr__(
            self, 'inertia', frozen(as_finite('payload inertia', self.inertia, (3, 3)))
        )
        largest = max(float(np.abs(x).max()) for x in (self.mass, self.com, self.inertia))
        if largest > LARGEST:
            raise ModelError(f'payload has {largest:g} among its numbers: no body has that')
        if self.mass < 0.0:
            raise ModelError(f'payload mass is {self.mass:g} kg, expected zero or more')
        if self.mass == 0.0 and self.inertia.any():
            raise ModelError('payload inertia is given without a mass')
        if not np.array_equal(self.inertia, self.inertia.T):
            raise ModelError('payload inertia is not symmetric')
        pseudo = pseudo_inertia(self.mass, np.zeros(3), self.inertia)
        scale = max(float(np.abs(self.inertia).max()), 1e-12)
        if np.linalg.eigvalsh(pseudo[:3, :3])[0] < -1e-9 * scale:
            raise ModelError(
                'payload inertia is not possible: it must be positive semidefinite and each '
                'principal moment at most the sum of the other two'
            )

    def spatial_inertia(self) -> SpatialInertia:
        """Return the inertia with respect to the origin of `frame`."""
        return SpatialInertia.from_center_of_mass(self.mass, self.com, self.inertia)


def are_alike(one: Payload | None, known: Payload | None, share: float, distance: float) -> bool:
    """
    Return whether a payload is as good as a known one; none is like none only.

    Parameters
    ----------
    one, known : Payload or None
        Held by the same frame; their inertias are not looked at.
    share : float
        Part of the known mass by which the other must differ less.
    distance : float
        By which each coordinate of the centres of mass must differ less [m].

    """
    if one is None or known is None:
        return one is known
    moved = float(np.abs(one.com - known.com).max())
    return abs(one.mass - known.mass) < share * known.mass and moved < distance
