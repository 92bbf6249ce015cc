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
Regressors: inverse dynamics as a product with the inertial parameters.

Force and moment of one body are linear in mass :math:`m`, first moment :math:`h` and inertia
:math:`I` about its origin,

.. math::

    f &= m a + (\dot\omega \times + \omega \times \omega \times) h \\
    n &= h \times a + I \dot\omega + \omega \times I \omega ,

with :math:`a` the acceleration of the body's origin against free fall. A joint :math:`j` on the
way to the base, whose axis is seen from the body as the velocity :math:`s` of the body's origin
and the angular velocity :math:`z`, takes :math:`s \cdot f + z \cdot n`, whose coefficients are

.. math::

    m: \; s \cdot a \qquad
    h: \; (s \times \omega) \times \omega + s \times \dot\omega + a \times z \qquad
    I: \; \mathrm{sym}(z, \dot\omega) + \mathrm{sym}(z \times \omega, \omega)

where sym collects the products that multiply Ixx, Ixy, Iyy, Ixz, Iyz, Izz.

The parameters of a body are ``[m, hx, hy, hz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz]`` in its link frame,
as in Pinocchio.

References
----------
.. [1] C. G. Atkeson, C. H. An, J. M. Hollerbach, "Estimation of Inertial Parameters of Manipulator
   Loads and Links",
   International Journal of Robotics Research 5(3), 1986.

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, as_vector, Matrix, Vector
from robot_dynamics_ros.core.dynamics.joint_transform import is_finite, local_pose, world_pose
from robot_dynamics_ros.core.dynamics.regressor_block import regressor_block_kernel
from robot_dynamics_ros.core.dynamics.rnea import body_motion, W
from robot_dynamics_ros.core.dynamics.samples import as_samples, in_parallel, refuse_non_finite
from robot_dynamics_ros.core.jit import inner, kernel, Quick
from robot_dynamics_ros.core.model.kernel_layout import (
    FIRST_MOMENT,
    FREE,
    INERTIA,
    IV,
    KIND,
    LINK,
    MASS,
    MULTIPLIER,
    NBODIES,
    NPUBLIC,
    PARENT,
    PUBLIC,
    REVOLUTE,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel

# Columns of a body's row of the work array, after its local pose and motion.
R = 21  # 9: rotation of the kernel frame in the world
O = 30  # 3: its origin  # noqa: E741
# Columns of the scratch row.
LR = 0  # 9: rotation of the link frame in the world
LW = 9  # 9: angular velocity, angular acceleration and acceleration in link axes
S = 18  # 3: velocity of the link's origin by a joint, in link axes
Z = 21  # 3: angular velocity by a joint, in link axes


@inner
def _link_motion(robot: Matrix, work: Matrix, i: int, s: int) -> None:
    """Write rotation and motion of a body's link frame to the scratch row."""
    b = 1 + i
    for r in range(3):
        for c in range(3):
            work[s, LR + 3 * r + c] = (
                work[i, R + 3 * r] * robot[b, LINK + c]
                + work[i, R + 3 * r + 1] * robot[b, LINK + 3 + c]
                + work[i, R + 3 * r + 2] * robot[b, LINK + 6 + c]
            )
            work[s, LW + 3 * r + c] = (
                work[i, W + 3 * r] * robot[b, LINK + c]
                + work[i, W + 3 * r + 1] * robot[b, LINK + 3 + c]
                + work[i, W + 3 * r + 2] * robot[b, LINK + 6 + c]
            )


@inner
def _axis_in_link(work: Matrix, i: int, j: int, kind: float, column: int, s: int) -> None:
    """Write `S` and `Z` of one axis of joint `j`, as body `i` sees it, to the scratch row."""
    k = column % 3 if kind == FREE else 2
    x = work[j, R + k]
    y = work[j, R + 3 + k]
    z = work[j, R + 6 + k]
    if kind == REVOLUTE or (kind == FREE and column >= 3):
        dx = work[i, O] - work[j, O]
        dy = work[i, O + 1] - work[j, O + 1]
        dz = work[i, O + 2] - work[j, O + 2]
        vx = y * dz - z * dy
        vy = z * dx - x * dz
        vz = x * dy - y * dx
    else:
        vx = x
        vy = y
        vz = z
        x = 0.0
        y = 0.0
        z = 0.0
    for c in range(3):
        work[s, S + c] = work[s, LR + c] * vx + work[s, LR + 3 + c] * vy + work[s, LR + 6 + c] * vz
        work[s, Z + c] = work[s, LR + c] * x + work[s, LR + 3 + c] * y + work[s, LR + 6 + c] * z


@inner
def _add_coefficients(
    work: Matrix, s: int, scale: float, regressor: Matrix, r: int, first: int
) -> None:
    """Add the coefficients of `S` and `Z`, times `scale`, to ``regressor[r, first:]``."""
    sx = scale * work[s, S]
    sy = scale * work[s, S + 1]
    sz = scale * work[s, S + 2]
    zx = scale * work[s, Z]
    zy = scale * work[s, Z + 1]
    zz = scale * work[s, Z + 2]
    wx = work[s, LW]
    wy = work[s, LW + 1]
    wz = work[s, LW + 2]
    dx = work[s, LW + 3]
    dy = work[s, LW + 4]
    dz = work[s, LW + 5]
    ax = work[s, LW + 6]
    ay = work[s, LW + 7]
    az = work[s, LW + 8]
    # s x w and z x w
    cx = sy * wz - sz * wy
    cy = sz * wx - sx * wz
    cz = sx * wy - sy * wx
    ux = zy * wz - zz * wy
    uy = zz * wx - zx * wz
    uz = zx * wy - zy * wx
    regressor[r, first] += sx * ax + sy * ay + sz * az
    regressor[r, first + 1] += cy * wz - cz * wy + sy * dz - sz * dy + ay * zz - az * zy
    regressor[r, first + 2] += cz * wx - cx * wz + sz * dx - sx * dz + az * zx - ax * zz
    regressor[r, first + 3] += cx * wy - cy * wx + sx * dy - sy * dx + ax * zy - ay * zx
    regressor[r, first + 4] += zx * dx + ux * wx
    regressor[r, first + 5] += zx * dy + zy * dx + ux * wy + uy * wx
    regressor[r, first + 6] += zy * dy + uy * wy
    regressor[r, first + 7] += zx * dz + zz * dx + ux * wz + uz * wx
    regressor[r, first + 8] += zy * dz + zz * dy + uy * wz + uz * wy
    regressor[r, first + 9] += zz * dz + uz * wz


@kernel
def regressor_kernel(
    robot: Matrix, work: Matrix, q: Vector, v: Vector, a: Vector, regressor: Matrix
) -> bool:
    """Write the regressor of one sample; return whether all numbers are finite."""
    n = int(robot[0, NBODIES])
    s = work.shape[0] - 1
    for r in range(regressor.shape[0]):
        for c in range(regressor.shape[1]):
            regressor[r, c] = 0.0
    for i in range(n):
        b = 1 + i
        local_pose(robot, i, q, work)
        body_motion(robot, i, v, a, work)
        world_pose(work, i, int(robot[b, PARENT]), R, O)
        first = 10 * int(robot[b, PUBLIC])
        if first < 0:
            continue
        _link_motion(robot, work, i, s)
        j = i
        while j >= 0:
            k = 1 + j
            for column in range(6 if robot[k, KIND] == FREE else 1):
                _axis_in_link(work, i, j, robot[k, KIND], column, s)
                _add_coefficients(
                    work, s, robot[k, MULTIPLIER], regressor, int(robot[k, IV]) + column, first
                )
            j = int(robot[k, PARENT])
    return is_finite(q) and is_finite(v) and is_finite(a)


_regressor = Quick(regressor_kernel)


def joint_torque_regressor(model: RobotModel, q: Any, v: Any, a: Any) -> Matrix:
    """
    Compute the matrix that maps the inertial parameters to the joint efforts.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].
    v, a : array_like, shape (nv,)
        Joint velocities and accelerations [rad/s | m/s], [rad/s^2 | m/s^2].

    Returns
    -------
    Y : ndarray, shape (nv, 10 * nbodies)
        ``Y @ dynamic_parameters(model)`` are the efforts of `rnea` without armature [N m | N].

    Raises
    ------
    DimensionError
        If a vector has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    q = as_vector('q', q, model.nq)
    v = as_vector('v', v, model.nv)
    a = as_vector('a', a, model.nv)
    regressor = np.empty((model.nv, 10 * model.nbodies))
    if not _regressor.call(model.kernel, model.scratch.work, q, v, a, regressor):
        refuse_non_finite('regressor', q=q, v=v, a=a)
    return regressor


def joint_torque_regressor_batch(
    model: RobotModel, q: Any, v: Any, a: Any, out: Matrix | None = None
) -> Matrix:
    """
    Compute the regressors of many samples.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (n_samples, nq)
        Joint positions [rad | m].
    v, a : array_like, shape (n_samples, nv)
        Joint velocities and accelerations [rad/s | m/s], [rad/s^2 | m/s^2].
    out : ndarray, shape (n_samples, nv, 10 * nbodies), optional
        Where the result goes.

    Returns
    -------
    Y : ndarray, shape (n_samples, nv, 10 * nbodies)
        One regressor for each sample; ``Y.reshape(-1, 10 * nbodies)`` stacks them.

    Raises
    ------
    DimensionError
        If an array has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    q = as_samples('q', q, model.nq)
    v = as_samples('v', v, model.nv, len(q))
    a = as_samples('a', a, model.nv, len(q))
    if out is None:
        out = np.empty((len(q), model.nv, 10 * model.nbodies))
    in_parallel(regressor_block_kernel, model.kernel, (q, v, a), out)
    return out


def body_regressor(v_body: Any, a_body: Any) -> Matrix:
    """
    Compute the matrix that maps one body's inertial parameters to the wrench on it.

    Parameters
    ----------
    v_body : array_like, shape (6,)
        Spatial velocity ``[v; w]`` of the body, expressed in its own frame [m/s, rad/s].
    a_body : array_like, shape (6,)
        Spatial acceleration ``[a; dw]``, gravity subtracted by the caller, expressed in its own
        frame.

    Returns
    -------
    Y : ndarray, shape (6, 10)
        ``Y @ [m, hx, hy, hz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz]`` is the wrench ``[f; n]`` [N, N m].

    Raises
    ------
    DimensionError
        If a vector has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    v_body = as_finite('v_body', v_body, (6,))
    a_body = as_finite('a_body', a_body, (6,))
    w, dw = v_body[3:], a_body[3:]
    acceleration = a_body[:3] + np.cross(w, v_body[:3])
    regressor = np.zeros((6, 10))
    regressor[:3, 0] = acceleration
    eye = np.eye(3)
    for k in range(3):
        regressor[:3, 1 + k] = np.cross(dw, eye[k]) + np.cross(w, np.cross(w, eye[k]))
        regressor[3:, 1 + k] = np.cross(eye[k], acceleration)
    regressor[3:, 4:] = _inertia_columns(dw)
    regressor[3:, 4:] += np.cross(w, _inertia_columns(w), axis=0)
    return regressor


def _inertia_columns(w: Vector) -> Matrix:
    """Return the matrix that maps ``[Ixx, Ixy, Iyy, Ixz, Iyz, Izz]`` to ``I w``, shape (3, 6)."""
    x, y, z = w
    return np.array(
        [
            [x, y, 0.0, z, 0.0, 0.0],
            [0.0, x, y, 0.0, z, 0.0],
            [0.0, 0.0, 0.0, x, y, z],
        ]
    )


def dynamic_parameters(model: RobotModel) -> Vector:
    """
    Return the inertial parameters of all bodies.

    Parameters
    ----------
    model : RobotModel
        The robot.

    Returns
    -------
    parameters : ndarray, shape (10 * nbodies,)
        For each body ``[m, hx, hy, hz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz]`` in its link frame, inertia
        about its origin [kg, kg m, kg m^2]; lumped links and the payload included.

    """
    parameters = np.empty((int(model.kernel[0, NPUBLIC]), 10))
    for body in model.kernel[1:]:
        if body[PUBLIC] < 0:
            continue
        turn = body[LINK : LINK + 9].reshape(3, 3).T
        xx, xy, yy, xz, yz, zz = body[INERTIA : INERTIA + 6]
        inertia = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
        row = parameters[int(body[PUBLIC])]
        row[0] = body[MASS]
        row[1:4] = turn @ body[FIRST_MOMENT : FIRST_MOMENT + 3]
        row[4:] = inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    return parameters.ravel()
