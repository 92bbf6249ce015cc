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
What a joint does to one sample.

The pose that it gives its body, the effort that a wrench means, the wrench's way down.

The local pose goes into columns of the body's row of the work array: `E` (rotation, row by row; a
column of it is an axis of the body seen from the parent) and `P` (translation).

"""

from __future__ import annotations

import math

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.jit import inner
from robot_dynamics_ros.core.model.kernel_layout import (
    FREE,
    IQ,
    IV,
    KIND,
    MULTIPLIER,
    OFFSET,
    PARENT,
    REVOLUTE,
    ROTATION,
    TRANSLATION,
)

E = 0
P = 9


@inner
def local_pose(robot: Matrix, i: int, q: Vector, work: Matrix) -> None:
    """Write the pose of kernel body `i` in its parent into columns `E` and `P` of ``work[i]``."""
    b = 1 + i
    kind = robot[b, KIND]
    iq = int(robot[b, IQ])
    if kind == REVOLUTE:
        angle = robot[b, MULTIPLIER] * q[iq] + robot[b, OFFSET]
        sine = math.sin(angle)
        cosine = math.cos(angle)
        for r in range(3):
            x = robot[b, ROTATION + 3 * r]
            y = robot[b, ROTATION + 3 * r + 1]
            work[i, E + 3 * r] = cosine * x + sine * y
            work[i, E + 3 * r + 1] = cosine * y - sine * x
            work[i, E + 3 * r + 2] = robot[b, ROTATION + 3 * r + 2]
            work[i, P + r] = robot[b, TRANSLATION + r]
    elif kind == FREE:
        _free_pose(robot, i, q, iq, work)
    else:
        distance = robot[b, MULTIPLIER] * q[iq] + robot[b, OFFSET]
        for r in range(3):
            work[i, E + 3 * r] = robot[b, ROTATION + 3 * r]
            work[i, E + 3 * r + 1] = robot[b, ROTATION + 3 * r + 1]
            work[i, E + 3 * r + 2] = robot[b, ROTATION + 3 * r + 2]
            work[i, P + r] = robot[b, TRANSLATION + r] + distance * robot[b, ROTATION + 3 * r + 2]


@inner
def _free_pose(robot: Matrix, i: int, q: Vector, iq: int, work: Matrix) -> None:
    """Write the pose of a free joint; the quaternion is normalised."""
    b = 1 + i
    x = q[iq + 3]
    y = q[iq + 4]
    z = q[iq + 5]
    w = q[iq + 6]
    k = 2.0 / (x * x + y * y + z * z + w * w)
    for r in range(3):
        rx = robot[b, ROTATION + 3 * r]
        ry = robot[b, ROTATION + 3 * r + 1]
        rz = robot[b, ROTATION + 3 * r + 2]
        work[i, E + 3 * r] = (
            rx * (1.0 - k * (y * y + z * z)) + ry * k * (x * y + w * z) + rz * k * (x * z - w * y)
        )
        work[i, E + 3 * r + 1] = (
            rx * k * (x * y - w * z) + ry * (1.0 - k * (x * x + z * z)) + rz * k * (y * z + w * x)
        )
        work[i, E + 3 * r + 2] = (
            rx * k * (x * z + w * y) + ry * k * (y * z - w * x) + rz * (1.0 - k * (x * x + y * y))
        )
        work[i, P + r] = robot[b, TRANSLATION + r] + rx * q[iq] + ry * q[iq + 1] + rz * q[iq + 2]


@inner
def world_pose(work: Matrix, i: int, p: int, r: int, o: int) -> None:
    """
    Write rotation and origin of body `i` in the world to ``work[i, r:]`` and ``work[i, o:]``.

    Those of its parent `p`, or none if `p` is -1, and its local pose are known.

    """
    if p < 0:
        for k in range(9):
            work[i, r + k] = work[i, E + k]
        for k in range(3):
            work[i, o + k] = work[i, P + k]
        return
    for k in range(3):
        x = work[p, r + 3 * k]
        y = work[p, r + 3 * k + 1]
        z = work[p, r + 3 * k + 2]
        work[i, r + 3 * k] = x * work[i, E] + y * work[i, E + 3] + z * work[i, E + 6]
        work[i, r + 3 * k + 1] = x * work[i, E + 1] + y * work[i, E + 4] + z * work[i, E + 7]
        work[i, r + 3 * k + 2] = x * work[i, E + 2] + y * work[i, E + 5] + z * work[i, E + 8]
        work[i, o + k] = work[p, o + k] + x * work[i, P] + y * work[i, P + 1] + z * work[i, P + 2]


@inner
def wrench_to_parent(robot: Matrix, i: int, column: int, work: Matrix) -> None:
    """Add the wrench in ``work[i, column:column + 6]`` to that of the parent, if any."""
    p = int(robot[1 + i, PARENT])
    if p < 0:
        return
    fx = (
        work[i, E] * work[i, column]
        + work[i, E + 1] * work[i, column + 1]
        + work[i, E + 2] * work[i, column + 2]
    )
    fy = (
        work[i, E + 3] * work[i, column]
        + work[i, E + 4] * work[i, column + 1]
        + work[i, E + 5] * work[i, column + 2]
    )
    fz = (
        work[i, E + 6] * work[i, column]
        + work[i, E + 7] * work[i, column + 1]
        + work[i, E + 8] * work[i, column + 2]
    )
    work[p, column] += fx
    work[p, column + 1] += fy
    work[p, column + 2] += fz
    n0 = work[i, column + 3]
    n1 = work[i, column + 4]
    n2 = work[i, column + 5]
    work[p, column + 3] += (
        work[i, E] * n0
        + work[i, E + 1] * n1
        + work[i, E + 2] * n2
        + work[i, P + 1] * fz
        - work[i, P + 2] * fy
    )
    work[p, column + 4] += (
        work[i, E + 3] * n0
        + work[i, E + 4] * n1
        + work[i, E + 5] * n2
        + work[i, P + 2] * fx
        - work[i, P] * fz
    )
    work[p, column + 5] += (
        work[i, E + 6] * n0
        + work[i, E + 7] * n1
        + work[i, E + 8] * n2
        + work[i, P] * fy
        - work[i, P + 1] * fx
    )


@inner
def add_joint_effort(robot: Matrix, i: int, column: int, work: Matrix, tau: Vector) -> None:
    """Add the part of ``work[i, column:column + 6]`` along the joint of body `i` to `tau`."""
    b = 1 + i
    iv = int(robot[b, IV])
    if robot[b, KIND] == FREE:
        for r in range(6):
            tau[iv + r] += work[i, column + r]
    elif robot[b, KIND] == REVOLUTE:
        tau[iv] += robot[b, MULTIPLIER] * work[i, column + 5]
    else:
        tau[iv] += robot[b, MULTIPLIER] * work[i, column + 2]


@inner
def is_finite(values: Vector) -> bool:
    """Whether no entry is NaN or infinite."""
    total = 0.0
    for value in values:
        total += 0.0 * value
    return total == 0.0
