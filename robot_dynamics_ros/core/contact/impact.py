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
Laws of impact as functions of their own.

The velocity of a contact point changes by :math:`u^+ - u^- = W \Lambda` with the Delassus matrix
`W`, normal first. Newton's law asks for :math:`u_n^+ = -e\,u_n^-`; Coulomb's for
:math:`|\Lambda_t| \le \mu \Lambda_n`, opposite to :math:`u_t^+` if the point slides afterwards.
The tangential velocity may stick, go on sliding, or reverse on the way.

References
----------
.. [1] B. Brogliato, *Nonsmooth Mechanics*, 3rd ed., 2016, section 4.3.
.. [2] Y. Hurmuzlu, D. B. Marghitu, "Rigid Body Collisions of Planar Kinematic Chains With
   Multiple Contact Points", International Journal of Robotics Research 13(1), 1994.

"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.contact.contact_layout import (
    JOINT_ROWS,
    LAW_WIDTH,
    MU,
    SMALL_SHAPE,
    VECTORS,
)
from robot_dynamics_ros.core.contact.rigid_contact import BUDGET, solve_contacts
from robot_dynamics_ros.core.dynamics import crba, frame_jacobian, ReferenceFrame
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.robot_model import RobotModel


class Outcome(str, Enum):
    """What a contact point does after an impact."""

    SEPARATES = 'separates'
    STICKS = 'sticks'
    SLIDES = 'slides'
    REVERSES = 'reverses'


class PointImpact(NamedTuple):
    """
    Outcome of the impact of one point.

    Attributes
    ----------
    impulse, velocity : ndarray, shape (3,)
        Impulse on the body [N s] and velocity after the impact [m/s]: normal, tangents.
    outcome : Outcome

    """

    impulse: Vector
    velocity: Vector
    outcome: Outcome


def point_impact(delassus: Any, velocity: Any, restitution: float, friction: float) -> PointImpact:
    """
    Let one point collide by Newton's law of restitution with Coulomb's friction.

    Parameters
    ----------
    delassus : array_like, shape (3, 3)
        Symmetric positive definite matrix of the contact, normal first [1/kg].
    velocity : array_like, shape (3,)
        Velocity before, normal first, negative if it approaches [m/s].
    restitution : float
        Coefficient of restitution, 0 to 1.
    friction : float
        Coefficient of friction, >= 0.

    Raises
    ------
    ConfigurationError
        If a coefficient is out of range, or the matrix is not positive definite.
    DimensionError, NonFiniteError
        If an array has the wrong shape or a number is not finite.

    """
    w = as_finite('delassus', delassus, (3, 3))
    before = as_finite('velocity', velocity, (3,))
    if not 0.0 <= restitution <= 1.0 or not 0.0 <= friction < np.inf:
        raise ConfigurationError(
            f'restitution is {restitution} and friction {friction}, expected 0 to 1, and >= 0'
        )
    if not (np.linalg.eigvalsh(w) > 0.0).all() or not np.allclose(w, w.T):
        raise ConfigurationError('the Delassus matrix is not symmetric positive definite')
    if before[0] >= 0.0:
        return PointImpact(np.zeros(3), before.copy(), Outcome.SEPARATES)
    mass = np.linalg.inv(w)
    after, impulses = impact_velocity(
        0.5 * (mass + mass.T), before, np.eye(3), [restitution], [friction]
    )
    slip = float(np.linalg.norm(after[1:]))
    scale = float(np.linalg.norm(before))
    if slip <= 1e-9 * scale:
        outcome = Outcome.STICKS
    else:
        outcome = Outcome.REVERSES if after[1:] @ before[1:] < 0.0 else Outcome.SLIDES
    return PointImpact(impulses[0], after, outcome)


def impact_velocity(
    mass: Any,
    velocity: Any,
    jacobian: Any,
    restitution: Sequence[float],
    friction: Sequence[float],
) -> tuple[Vector, Matrix]:
    """
    Let several contacts collide at the same instant.

    Parameters
    ----------
    mass : array_like, shape (nv, nv)
        Mass matrix.
    velocity : array_like, shape (nv,)
        Velocity before.
    jacobian : array_like, shape (3 n, nv)
        Three rows a contact: normal and two tangents.
    restitution, friction : sequence of float
        Coefficients of each contact.

    Returns
    -------
    velocity : ndarray, shape (nv,)
        Velocity after.
    impulses : ndarray, shape (n, 3)
        Impulses [N s].

    Raises
    ------
    ConfigurationError
        If the mass matrix is not positive definite.
    DimensionError, NonFiniteError
        If an array has the wrong shape or a number is not finite.

    """
    before = as_finite('velocity', velocity, (np.size(velocity),))
    n, count = len(before), len(restitution)
    m = as_finite('mass', mass, (n, n))
    rows = as_finite('jacobian', jacobian, (3 * count, n))
    law = np.zeros((count, LAW_WIDTH))
    law[:, MU] = as_finite('friction', friction, (count,))
    offset, impulses = np.zeros((count, 3)), np.zeros((count, 3))
    approach = np.minimum(rows[::3] @ before, 0.0)
    offset[:, 0] = as_finite('restitution', restitution, (count,)) * approach
    after = before.copy()
    residual, _ = solve_contacts(
        m, m @ before, rows, offset, law, count, np.zeros((JOINT_ROWS, n)), False, 0.0, after,
        impulses, np.zeros((count, 3)), np.zeros((n, n)), np.zeros((n, n)),
        np.zeros((VECTORS, n)), np.zeros(SMALL_SHAPE), BUDGET,
    )  # fmt: skip
    if residual < 0.0:
        raise ConfigurationError('the mass matrix is not positive definite')
    return after, impulses


def plastic_impact(
    model: RobotModel, q: Any, v: Any, frames: Sequence[str]
) -> tuple[Vector, Matrix]:
    r"""
    Return the velocity after the origins of frames stop dead, as a foot does in heel-strike.

    .. math:: v^+ = v - M^{-1} J^T (J M^{-1} J^T)^+ J v

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Configuration.
    v : array_like, shape (nv,)
        Velocity before.
    frames : sequence of str
        Frames whose origins are at rest afterwards.

    Returns
    -------
    v : ndarray, shape (nv,)
        Velocity after.
    impulses : ndarray, shape (n, 3)
        Impulse on each frame's origin, expressed in the world; the smallest one where several do
        the same [N s].

    Raises
    ------
    UnknownFrameError
        If a frame does not exist.
    DimensionError, NonFiniteError
        If an array has the wrong shape or a number is not finite.

    """
    v = as_finite('v', v, (model.nv,))
    mass = crba(model, q)
    rows = np.vstack(
        [
            frame_jacobian(model, q, frame, ReferenceFrame.LOCAL_WORLD_ALIGNED)[:3]
            for frame in frames
        ]
    )
    moved = np.linalg.solve(mass, rows.T)
    impulses = -np.linalg.lstsq(rows @ moved, rows @ v, rcond=1e-12)[0]
    return v + moved @ impulses, impulses.reshape(-1, 3)
