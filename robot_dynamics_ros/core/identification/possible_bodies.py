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
Bodies that can exist, and how far one is from another.

A body is possible exactly if its pseudo-inertia :math:`P` is positive definite
(`pseudo_inertia`). The distance of a body from another that serves as a prior is the log-det
divergence

.. math:: D(P \| P_0) = \operatorname{tr}(P_0^{-1} P) - \log\det(P_0^{-1} P) - 4

which is zero for the same body, grows without bound towards bodies that cannot exist, and does
not depend on units or on the frame.

References
----------
.. [1] P. Wensing, S. Kim, J.-J. Slotine, "Linear Matrix Inequalities for Physically Consistent
   Inertial Parameter Identification", IEEE RA-L 3(1), 2018.
.. [2] T. Lee, P. Wensing, F. Park, "Geometric Robot Dynamic Identification: A Convex Programming
   Approach", IEEE T-RO 36(2), 2020.

"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.spatial.inertia import pseudo_inertia

SIZE = 10
"""Inertial parameters of a body."""

SMALLEST_GYRATION = 0.02
"""Radius of gyration that a prior body has at least in every direction [m]."""

BLANK_MASS, BLANK_GYRATION = 1.0, 0.1
"""Of every prior body where the description states no mass at all [kg], [m]."""

SMALLEST_MASS = 1e-3
"""Mass that a prior body has at least, relative to the mean of the robot's bodies."""


def divergence(parameters: Vector, prior: Vector) -> float:
    """Return the log-det divergence of a body from another; infinite if it is not possible."""
    body, other = body_pseudo_inertia(parameters), body_pseudo_inertia(prior)
    ratio = np.linalg.solve(other, body)
    sign, logarithm = np.linalg.slogdet(ratio)
    if sign <= 0.0 or np.linalg.eigvalsh(body)[0] <= 0.0:
        return np.inf
    return float(np.trace(ratio) - logarithm - 4.0)


def body_pseudo_inertia(parameters: Vector) -> Matrix:
    """Return the pseudo-inertia of ten parameters, shape (4, 4)."""
    _, _, _, _, xx, xy, yy, xz, yz, zz = parameters
    rotational = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return pseudo_inertia(float(parameters[0]), parameters[1:4], rotational)


UNIT_BODIES = np.array([body_pseudo_inertia(unit) for unit in np.eye(SIZE)])
"""Pseudo-inertias of the ten unit parameters, shape (10, 4, 4)."""


def parameters_of_pseudo_inertia(pseudo: Matrix) -> Vector:
    """Return ``[m, hx, hy, hz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz]``; a linear function."""
    trace = pseudo[0, 0] + pseudo[1, 1] + pseudo[2, 2]
    return np.array(
        [
            pseudo[3, 3],
            *pseudo[:3, 3],
            trace - pseudo[0, 0],
            -pseudo[0, 1],
            trace - pseudo[1, 1],
            -pseudo[0, 2],
            -pseudo[1, 2],
            trace - pseudo[2, 2],
        ]
    )


def possible_prior(inertial: Vector) -> Vector:
    """
    Return the nearest bodies that can serve as a prior.

    A description may hold links without mass, points and rods without extent, and tensors that no
    body has. As a prior they would forbid what they lack, so every body gets a mass of
    `SMALLEST_MASS` and a radius of gyration of `SMALLEST_GYRATION` at least. Where no body has a
    mass, as in descriptions of the kinematics alone, all get the same one around their frame.

    Parameters
    ----------
    inertial : ndarray, shape (10 * nbodies,)
        Inertial parameters.

    """
    bodies = np.array(inertial).reshape(-1, SIZE)
    mean = float(np.mean(np.maximum(bodies[:, 0], 0.0))) if len(bodies) else 0.0
    if mean == 0.0:
        moment = 2.0 * BLANK_MASS * BLANK_GYRATION**2
        blank = [BLANK_MASS, 0.0, 0.0, 0.0, moment, 0.0, moment, 0.0, 0.0, moment]
        return np.tile(blank, len(bodies))
    least = SMALLEST_MASS * mean
    result: Vector = np.concatenate([_possible(body, least) for body in bodies])
    return result


def _possible(body: Vector, least: float) -> Vector:
    if body[0] < least:
        body = np.zeros(SIZE)
    mass = max(float(body[0]), least)
    center = body[1:4] / mass
    pseudo = body_pseudo_inertia(body)
    central = pseudo[:3, :3] - mass * np.outer(center, center)
    sizes, axes = np.linalg.eigh(central)
    sizes = np.maximum(sizes, mass * SMALLEST_GYRATION**2)
    pseudo[:3, :3] = (axes * sizes) @ axes.T + mass * np.outer(center, center)
    pseudo[3, 3] = mass
    return parameters_of_pseudo_inertia(pseudo)
