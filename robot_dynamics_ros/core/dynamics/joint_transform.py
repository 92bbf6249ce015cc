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
    body = robot[1 + i]
    row = work[i]
    kind = body[KIND]
    iq = int(body[IQ])
    if kind == REVOLUTE:
        angle = body[MULTIPLIER] * q[iq] + body[OFFSET]
        sine = math.sin(angle)
        cosine = math.cos(angle)
        for r in range(3):
            x = body[ROTATION + 3 * r]
            y = body[ROTATION + 3 * r + 1]
            row[E + 3 * r] = cosine * x + sine * y
            row[E + 3 * r + 1] = cosine * y - sine * x
            row[E + 3 * r + 2] = body[ROTATION + 3 * r + 2]
            row[P + r] = body[TRANSLATION + r]
    elif kind == FREE:
        _free_pose(body, q, iq, row)
    else:
        distance = body[MULTIPLIER] * q[iq] + body[OFFSET]
        for r in range(3):
            row[E + 3 * r] = body[ROTATION + 3 * r]
            row[E + 3 * r + 1] = body[ROTATION + 3 * r + 1]
            row[E + 3 * r + 2] = body[ROTATION + 3 * r + 2]
            row[P + r] = body[TRANSLATION + r] + distance * body[ROTATION + 3 * r + 2]


@inner
def _free_pose(body: Vector, q: Vector, iq: int, row: Vector) -> None:
    """Write the pose of a free joint; the quaternion is normalised."""
    x = q[iq + 3]
    y = q[iq + 4]
    z = q[iq + 5]
    w = q[iq + 6]
    k = 2.0 / (x * x + y * y + z * z + w * w)
    for r in range(3):
        rx = body[ROTATION + 3 * r]
        ry = body[ROTATION + 3 * r + 1]
        rz = body[ROTATION + 3 * r + 2]
        row[E + 3 * r] = (
            rx * (1.0 - k * (y * y + z * z)) + ry * k * (x * y + w * z) + rz * k * (x * z - w * y)
        )
        row[E + 3 * r + 1] = (
            rx * k * (x * y - w * z) + ry * (1.0 - k * (x * x + z * z)) + rz * k * (y * z + w * x)
        )
        row[E + 3 * r + 2] = (
            rx * k * (x * z + w * y) + ry * k * (y * z - w * x) + rz * (1.0 - k * (x * x + y * y))
        )
        row[P + r] = body[TRANSLATION + r] + rx * q[iq] + ry * q[iq + 1] + rz * q[iq + 2]


@inner
def wrench_to_parent(robot: Matrix, i: int, column: int, work: Matrix) -> None:
    """Add the wrench in ``work[i, column:column + 6]`` to that of the parent, if any."""
    parent = int(robot[1 + i, PARENT])
    if parent < 0:
        return
    row = work[i]
    up = work[parent]
    fx = row[E] * row[column] + row[E + 1] * row[column + 1] + row[E + 2] * row[column + 2]
    fy = row[E + 3] * row[column] + row[E + 4] * row[column + 1] + row[E + 5] * row[column + 2]
    fz = row[E + 6] * row[column] + row[E + 7] * row[column + 1] + row[E + 8] * row[column + 2]
    up[column] += fx
    up[column + 1] += fy
    up[column + 2] += fz
    n0 = row[column + 3]
    n1 = row[column + 4]
    n2 = row[column + 5]
    up[column + 3] += (
        row[E] * n0 + row[E + 1] * n1 + row[E + 2] * n2 + row[P + 1] * fz - row[P + 2] * fy
    )
    up[column + 4] += (
        row[E + 3] * n0 + row[E + 4] * n1 + row[E + 5] * n2 + row[P + 2] * fx - row[P] * fz
    )
    up[column + 5] += (
        row[E + 6] * n0 + row[E + 7] * n1 + row[E + 8] * n2 + row[P] * fy - row[P + 1] * fx
    )


@inner
def add_joint_effort(robot: Matrix, i: int, column: int, work: Matrix, tau: Vector) -> None:
    """Add the part of ``work[i, column:column + 6]`` along the joint of body `i` to `tau`."""
    body = robot[1 + i]
    iv = int(body[IV])
    if body[KIND] == FREE:
        for r in range(6):
            tau[iv + r] += work[i, column + r]
    elif body[KIND] == REVOLUTE:
        tau[iv] += body[MULTIPLIER] * work[i, column + 5]
    else:
        tau[iv] += body[MULTIPLIER] * work[i, column + 2]


@inner
def is_finite(values: Vector) -> bool:
    """Whether no entry is NaN or infinite."""
    total = 0.0
    for value in values:
        total += 0.0 * value
    return total == 0.0
