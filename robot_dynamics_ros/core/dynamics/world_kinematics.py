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
Poses, velocities and accelerations of all bodies, seen from the world.

Motions are spatial vectors in world axes about the world's origin, linear part first: the velocity
of the point of the body that is at the origin just now, and the angular velocity. In these
coordinates motions simply add up along the tree, :math:`V = V_p + S \dot q` and :math:`A = A_p + S
\ddot q + V \times S \dot q`, where :math:`S` is the joint's axis.

References
----------
.. [1] R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, sections 2.5 and 4.4 (there:
   angular part first).

"""

from __future__ import annotations

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics.joint_transform import is_finite, local_pose, world_pose
from robot_dynamics_ros.core.jit import inner, kernel
from robot_dynamics_ros.core.model.kernel_layout import (
    FREE,
    FREE_ROOT,
    IV,
    KIND,
    MULTIPLIER,
    NBODIES,
    PARENT,
    REVOLUTE,
)

# Columns of a body's row of the work array, after its local pose.
R = 12  # 9: rotation of the kernel frame in the world
O = 21  # 3: its origin in the world  # noqa: E741
V = 24  # 6: velocity
A = 30  # 6: acceleration
# Columns of the scratch row.
S = 0  # 6: a joint axis
DS = 6  # 6: its rate of change


@inner
def world_poses(robot: Matrix, q: Vector, work: Matrix, about_root: bool) -> None:
    """
    Write `R` and `O` of every body.

    With `about_root` the origin is that of a free root body: dynamics do not depend on where it
    is, and this keeps full precision far from the world's origin.

    """
    for i in range(int(robot[0, NBODIES])):
        parent = int(robot[1 + i, PARENT])
        local_pose(robot, i, q, work)
        world_pose(work, i, parent, R, O)
        if parent < 0 and about_root and robot[0, FREE_ROOT] != 0.0:
            for k in range(3):
                work[i, O + k] = 0.0


@inner
def joint_axis(robot: Matrix, i: int, column: int, work: Matrix, axis: Vector, at: int) -> None:
    """Write one axis of joint `i` to ``axis[at:at + 6]``."""
    row = work[i]
    kind = robot[1 + i, KIND]
    turning = kind == REVOLUTE or (kind == FREE and column >= 3)
    k = column % 3 if kind == FREE else 2
    x = row[R + k]
    y = row[R + 3 + k]
    z = row[R + 6 + k]
    if turning:
        axis[at] = row[O + 1] * z - row[O + 2] * y
        axis[at + 1] = row[O + 2] * x - row[O] * z
        axis[at + 2] = row[O] * y - row[O + 1] * x
        axis[at + 3] = x
        axis[at + 4] = y
        axis[at + 5] = z
    else:
        axis[at] = x
        axis[at + 1] = y
        axis[at + 2] = z
        axis[at + 3] = 0.0
        axis[at + 4] = 0.0
        axis[at + 5] = 0.0


@inner
def cross_motion(left: Vector, i: int, right: Vector, j: int, result: Vector, k: int) -> None:
    """Write ``left[i:] x right[j:]`` of two motions to ``result[k:k + 6]``."""
    for r in range(3):
        a = (r + 1) % 3
        b = (r + 2) % 3
        result[k + r] = (
            left[i + 3 + a] * right[j + b]
            - left[i + 3 + b] * right[j + a]
            + left[i + a] * right[j + 3 + b]
            - left[i + b] * right[j + 3 + a]
        )
        result[k + 3 + r] = left[i + 3 + a] * right[j + 3 + b] - left[i + 3 + b] * right[j + 3 + a]


@inner
def world_velocities(robot: Matrix, v: Vector, work: Matrix) -> None:
    """Write `V` of every body; poses are known."""
    scratch = work[work.shape[0] - 1]
    for i in range(int(robot[0, NBODIES])):
        body = robot[1 + i]
        row = work[i]
        parent = int(body[PARENT])
        for k in range(6):
            row[V + k] = work[parent, V + k] if parent >= 0 else 0.0
        for column in range(6 if body[KIND] == FREE else 1):
            joint_axis(robot, i, column, work, scratch, S)
            rate = body[MULTIPLIER] * v[int(body[IV]) + column]
            for k in range(6):
                row[V + k] += scratch[S + k] * rate


@inner
def world_accelerations(robot: Matrix, v: Vector, a: Vector, work: Matrix) -> None:
    """Write `A` of every body, without gravity; poses and velocities are known."""
    scratch = work[work.shape[0] - 1]
    for i in range(int(robot[0, NBODIES])):
        body = robot[1 + i]
        row = work[i]
        parent = int(body[PARENT])
        for k in range(6):
            row[A + k] = work[parent, A + k] if parent >= 0 else 0.0
        for column in range(6 if body[KIND] == FREE else 1):
            joint_axis(robot, i, column, work, scratch, S)
            cross_motion(row, V, scratch, S, scratch, DS)
            iv = int(body[IV]) + column
            for k in range(6):
                row[A + k] += body[MULTIPLIER] * (scratch[S + k] * a[iv] + scratch[DS + k] * v[iv])


@kernel
def kinematics_kernel(robot: Matrix, work: Matrix, q: Vector, v: Vector, a: Vector) -> bool:
    """Write `R`, `O`, `V` and `A` of every body; return whether all numbers are finite."""
    world_poses(robot, q, work, False)
    world_velocities(robot, v, work)
    world_accelerations(robot, v, a, work)
    return is_finite(q) and is_finite(v) and is_finite(a)


@kernel
def jacobian_kernel(
    robot: Matrix, work: Matrix, body: int, q: Vector, v: Vector, jacobian: Matrix, rate: Matrix
) -> bool:
    """
    Write the world Jacobian of a kernel body and its rate of change, shape (6, nv).

    Return whether all is finite.

    """
    world_poses(robot, q, work, False)
    world_velocities(robot, v, work)
    scratch = work[work.shape[0] - 1]
    jacobian[:] = 0.0
    rate[:] = 0.0
    i = body
    while i >= 0:
        for column in range(6 if robot[1 + i, KIND] == FREE else 1):
            joint_axis(robot, i, column, work, scratch, S)
            cross_motion(work[i], V, scratch, S, scratch, DS)
            iv = int(robot[1 + i, IV]) + column
            for k in range(6):
                jacobian[k, iv] += robot[1 + i, MULTIPLIER] * scratch[S + k]
                rate[k, iv] += robot[1 + i, MULTIPLIER] * scratch[DS + k]
        i = int(robot[1 + i, PARENT])
    return is_finite(q) and is_finite(v)
