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
Centre of mass and centroidal momentum.

The momentum of all bodies about their common centre of mass is linear in the joint velocities,
:math:`h = A_G(q)\,v`. The column of a joint is the momentum of everything beyond it when only that
joint moves, from composite inertias as in `crba`. The first three rows are the total mass times
the Jacobian of the centre of mass.

References
----------
.. [1] D. E. Orin, A. Goswami, S.-H. Lee, "Centroidal dynamics of a humanoid robot", Autonomous
   Robots 35, 2013 (there:
   angular part first).

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, as_vector, Matrix, Vector
from robot_dynamics_ros.core.dynamics.joint_transform import is_finite
from robot_dynamics_ros.core.dynamics.samples import refuse_non_finite
from robot_dynamics_ros.core.dynamics.world_inertia import world_inertia
from robot_dynamics_ros.core.dynamics.world_kinematics import joint_axis, world_poses
from robot_dynamics_ros.core.exceptions import ModelError
from robot_dynamics_ros.core.jit import allocating_kernel
from robot_dynamics_ros.core.model.kernel_layout import (
    FREE,
    FREE_ROOT,
    IQ,
    IV,
    KIND,
    MULTIPLIER,
    NBODIES,
    PARENT,
    ROTATION,
    TRANSLATION,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel


@allocating_kernel
def centroidal_kernel(
    robot: Matrix, work: Matrix, q: Vector, com: Vector, momentum_map: Matrix
) -> bool:
    """Write the centre of mass and the centroidal map; return whether all numbers are finite."""
    n = int(robot[0, NBODIES])
    world_poses(robot, q, work, True)
    inertias = np.empty((n, 6, 6))
    com[:] = 0.0
    mass = 0.0
    for i in range(n):
        world_inertia(robot, i, work, inertias[i])
        mass += inertias[i, 0, 0]
        com[0] += inertias[i, 5, 1]
        com[1] += inertias[i, 3, 2]
        com[2] += inertias[i, 4, 0]
    com /= mass
    axis = np.empty(6)
    momentum = np.empty(6)
    momentum_map[:] = 0.0
    for i in range(n - 1, -1, -1):
        body = robot[1 + i]
        parent = int(body[PARENT])
        if parent >= 0:
            inertias[parent] += inertias[i]
        for column in range(6 if body[KIND] == FREE else 1):
            joint_axis(robot, i, column, work, axis, 0)
            for r in range(6):
                total = 0.0
                for k in range(6):
                    total += inertias[i, r, k] * axis[k]
                momentum[r] = total
            momentum[3] -= com[1] * momentum[2] - com[2] * momentum[1]
            momentum[4] -= com[2] * momentum[0] - com[0] * momentum[2]
            momentum[5] -= com[0] * momentum[1] - com[1] * momentum[0]
            for r in range(6):
                momentum_map[r, int(body[IV]) + column] += body[MULTIPLIER] * momentum[r]
    if robot[0, FREE_ROOT] != 0.0:
        # poses were taken about the root body
        iq = int(robot[1, IQ])
        for r in range(3):
            com[r] += robot[1, TRANSLATION + r]
            for k in range(3):
                com[r] += robot[1, ROTATION + 3 * r + k] * q[iq + k]
    return is_finite(q) and is_finite(com)


def _centroidal(model: RobotModel, q: Any) -> tuple[Vector, Matrix]:
    q = as_vector('q', q, model.nq)
    if not model.moving_mass > 0.0:
        raise ModelError(
            f"robot '{model.name}' moves a mass of {model.moving_mass:g} kg: "
            'it has no centre of mass'
        )
    com = np.empty(3)
    momentum_map = np.empty((6, model.nv))
    if not centroidal_kernel(model.kernel, model.scratch.work, q, com, momentum_map):
        refuse_non_finite('centre of mass', q=q)
    return com, momentum_map


def center_of_mass(model: RobotModel, q: Any) -> Vector:
    """
    Compute the centre of mass of the moving bodies.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].

    Returns
    -------
    com : ndarray, shape (3,)
        Expressed in the world frame [m].

    Raises
    ------
    DimensionError
        If `q` has another shape.
    NonFiniteError
        If an entry of `q` is NaN or infinite.
    ModelError
        If nothing that moves has mass.

    """
    return _centroidal(model, q)[0]


def center_of_mass_jacobian(model: RobotModel, q: Any) -> Matrix:
    """
    Compute the Jacobian of the centre of mass.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].

    Returns
    -------
    J : ndarray, shape (3, nv)
        ``J @ v`` is the velocity of the centre of mass in the world frame [m/s].

    Raises
    ------
    DimensionError
        If `q` has another shape.
    NonFiniteError
        If an entry of `q` is NaN or infinite.
    ModelError
        If nothing that moves has mass.

    """
    return _centroidal(model, q)[1][:3] / model.moving_mass


def centroidal_map(model: RobotModel, q: Any) -> Matrix:
    """
    Compute the centroidal momentum matrix.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].

    Returns
    -------
    A : ndarray, shape (6, nv)
        ``A @ v`` is the centroidal momentum, linear part first, in world axes.

    Raises
    ------
    DimensionError
        If `q` has another shape.
    NonFiniteError
        If an entry of `q` is NaN or infinite.
    ModelError
        If nothing that moves has mass.

    """
    return _centroidal(model, q)[1]


def centroidal_momentum(model: RobotModel, q: Any, v: Any) -> Vector:
    """
    Compute the momentum of the moving bodies about their centre of mass.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].
    v : array_like, shape (nv,)
        Joint velocities [rad/s | m/s].

    Returns
    -------
    h : ndarray, shape (6,)
        Linear and angular momentum in world axes [kg m/s, kg m^2/s].

    Raises
    ------
    DimensionError
        If a vector has another shape.
    NonFiniteError
        If an entry is NaN or infinite.
    ModelError
        If nothing that moves has mass.

    """
    v = as_finite('v', v, (model.nv,))
    momentum: Vector = _centroidal(model, q)[1] @ v
    if not np.isfinite(momentum).all():
        refuse_non_finite('momentum', v=v)
    return momentum
