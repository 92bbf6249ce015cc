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
Generalized momentum, and its rate of change but for the actuators.

From ``M a + C v + g = tau`` and :math:`\dot M = C + C^T` follows for :math:`p = M v`

.. math:: \dot p = \tau + C^T v - g,

without accelerations. Neither matrix is needed. Let all motions be in world axes about the
world's origin, :math:`h_i` the momentum of all that joint :math:`i` carries, :math:`w_i` its
weight and :math:`V_i` the velocity of the body. The axis :math:`S_i` changes by
:math:`V_i \times S_i`, so that

.. math:: p_i = S_i^T h_i, \qquad (C^T v - g)_i = (V_i \times S_i)^T h_i + S_i^T w_i :

one pass to the tips for the velocities and one back for the sums. The inertia of the rotors adds
to the momentum only.

References
----------
.. [1] A. De Luca, R. Mattone, "Actuator failure detection and isolation using generalized
   momenta", IEEE Int. Conf. on Robotics and Automation, 2003.
.. [2] R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, sections 2.10 and 5.3 (there:
   angular part first).

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Matrix, Vector
from robot_dynamics_ros.core.dynamics.joint_transform import is_finite
from robot_dynamics_ros.core.dynamics.samples import refuse_non_finite
from robot_dynamics_ros.core.dynamics.world_kinematics import (
    cross_motion,
    DS,
    joint_axis,
    O,
    R,
    S,
    V,
    world_poses,
    world_velocities,
)
from robot_dynamics_ros.core.jit import inner, kernel
from robot_dynamics_ros.core.model.kernel_layout import (
    ARMATURE,
    FIRST_MOMENT,
    FREE,
    GRAVITY,
    INERTIA,
    IV,
    KIND,
    MASS,
    MULTIPLIER,
    NBODIES,
    PARENT,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel

# Columns of a body's row of the work array, after its velocity.
H = 36
"""First of six columns: momentum of the body and of all that it carries."""
M = 42
"""First of four columns: their mass and first moment about the world's origin."""


@inner
def _own_momentum(body: Vector, row: Vector) -> None:
    """Write momentum, mass and first moment of one body."""
    m = body[MASS]
    # first moment about the body's origin, then about the world's, in world axes
    b0 = body[FIRST_MOMENT]
    b1 = body[FIRST_MOMENT + 1]
    b2 = body[FIRST_MOMENT + 2]
    h0 = row[R] * b0 + row[R + 1] * b1 + row[R + 2] * b2
    h1 = row[R + 3] * b0 + row[R + 4] * b1 + row[R + 5] * b2
    h2 = row[R + 6] * b0 + row[R + 7] * b1 + row[R + 8] * b2
    o0 = row[O]
    o1 = row[O + 1]
    o2 = row[O + 2]
    wx = row[V + 3]
    wy = row[V + 4]
    wz = row[V + 5]
    # velocity of the body's origin
    u0 = row[V] + wy * o2 - wz * o1
    u1 = row[V + 1] + wz * o0 - wx * o2
    u2 = row[V + 2] + wx * o1 - wy * o0
    l0 = m * u0 + wy * h2 - wz * h1
    l1 = m * u1 + wz * h0 - wx * h2
    l2 = m * u2 + wx * h1 - wy * h0
    # angular velocity and angular momentum about the body's origin, in its axes
    a0 = row[R] * wx + row[R + 3] * wy + row[R + 6] * wz
    a1 = row[R + 1] * wx + row[R + 4] * wy + row[R + 7] * wz
    a2 = row[R + 2] * wx + row[R + 5] * wy + row[R + 8] * wz
    c0 = body[INERTIA] * a0 + body[INERTIA + 1] * a1 + body[INERTIA + 3] * a2
    c1 = body[INERTIA + 1] * a0 + body[INERTIA + 2] * a1 + body[INERTIA + 4] * a2
    c2 = body[INERTIA + 3] * a0 + body[INERTIA + 4] * a1 + body[INERTIA + 5] * a2
    n0 = row[R] * c0 + row[R + 1] * c1 + row[R + 2] * c2
    n1 = row[R + 3] * c0 + row[R + 4] * c1 + row[R + 5] * c2
    n2 = row[R + 6] * c0 + row[R + 7] * c1 + row[R + 8] * c2
    row[H] = l0
    row[H + 1] = l1
    row[H + 2] = l2
    row[H + 3] = n0 + h1 * u2 - h2 * u1 + o1 * l2 - o2 * l1
    row[H + 4] = n1 + h2 * u0 - h0 * u2 + o2 * l0 - o0 * l2
    row[H + 5] = n2 + h0 * u1 - h1 * u0 + o0 * l1 - o1 * l0
    row[M] = m
    row[M + 1] = h0 + m * o0
    row[M + 2] = h1 + m * o1
    row[M + 3] = h2 + m * o2


@inner
def _weight_along(robot: Matrix, row: Vector, axis: Vector) -> float:
    """Return the effort of the weight along an axis, ``S^T w``."""
    gx = robot[0, GRAVITY]
    gy = robot[0, GRAVITY + 1]
    gz = robot[0, GRAVITY + 2]
    effort: float = (
        row[M] * (axis[S] * gx + axis[S + 1] * gy + axis[S + 2] * gz)
        + axis[S + 3] * (row[M + 2] * gz - row[M + 3] * gy)
        + axis[S + 4] * (row[M + 3] * gx - row[M + 1] * gz)
        + axis[S + 5] * (row[M + 1] * gy - row[M + 2] * gx)
    )
    return effort


@kernel
def momentum_kernel(
    robot: Matrix, work: Matrix, q: Vector, v: Vector, momentum: Vector, rate: Vector
) -> bool:
    """Write ``M v`` and ``C^T v - g``; return whether all numbers are finite."""
    n = int(robot[0, NBODIES])
    world_poses(robot, q, work, True)
    world_velocities(robot, v, work)
    for i in range(n):
        _own_momentum(robot[1 + i], work[i])
    for j in range(momentum.size):
        momentum[j] = 0.0
        rate[j] = 0.0
    scratch = work[work.shape[0] - 1]
    # Tips to base
    for i in range(n - 1, -1, -1):
        body = robot[1 + i]
        row = work[i]
        scale = body[MULTIPLIER]
        is_free = body[KIND] == FREE
        for column in range(6 if is_free else 1):
            joint_axis(robot, i, column, work, scratch, S)
            cross_motion(row, V, scratch, S, scratch, DS)
            along = 0.0
            turning = 0.0
            for k in range(6):
                along += scratch[S + k] * row[H + k]
                turning += scratch[DS + k] * row[H + k]
            iv = int(body[IV]) + column
            momentum[iv] += scale * along
            rate[iv] += scale * (turning + _weight_along(robot, row, scratch))
            if not is_free:
                momentum[iv] += scale * scale * body[ARMATURE] * v[iv]
        parent = int(body[PARENT])
        if parent >= 0:
            for k in range(M + 4 - H):
                work[parent, H + k] += row[H + k]
    return is_finite(q) and is_finite(v) and is_finite(momentum) and is_finite(rate)


def momentum_terms(model: RobotModel, q: Any, v: Any) -> tuple[Vector, Vector]:
    """
    Compute the generalized momentum, and its rate of change without actuators and friction.

    Parameters
    ----------
    model : RobotModel
        The robot, on a fixed or floating base.
    q : array_like, shape (nq,)
        Joint positions [rad | m].
    v : array_like, shape (nv,)
        Joint velocities [rad/s | m/s].

    Returns
    -------
    momentum : ndarray, shape (nv,)
        ``M(q) v``, armature included [kg m^2/s | kg m/s].
    rate : ndarray, shape (nv,)
        ``C(q, v)^T v - g(q)`` [N m | N]: the momentum changes by this and by the efforts that act
        on the joints.

    Raises
    ------
    DimensionError
        If a vector has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    q = as_vector('q', q, model.nq)
    v = as_vector('v', v, model.nv)
    momentum, rate = np.empty(model.nv), np.empty(model.nv)
    if not momentum_kernel(model.kernel, model.scratch.work, q, v, momentum, rate):
        refuse_non_finite('momentum', q=q, v=v)
    return momentum, rate
