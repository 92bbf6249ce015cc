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
Rotations: roll-pitch-yaw, axis and angle, quaternions, exponential and logarithm.

A rotation matrix ``R`` of frame `b` in frame `a` maps coordinates from `b` to `a`. Quaternions are
``[x, y, z, w]``.

"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector


def skew(vector: Vector) -> Matrix:
    """Return the matrix that takes `x` to ``vector x x``, shape (3, 3)."""
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> Matrix:
    """
    Return the rotation about fixed x, then y, then z [rad], as URDF defines ``rpy``.

    Returns
    -------
    rotation : ndarray, shape (3, 3)
        ``Rz(yaw) Ry(pitch) Rx(roll)``.

    """
    cr, sr = np.cos(roll), np.sin(roll)
    cp, sp = np.cos(pitch), np.sin(pitch)
    cy, sy = np.cos(yaw), np.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_from_rotation(rotation: Matrix) -> Vector:
    """
    Return roll, pitch and yaw [rad] of a rotation matrix, shape (3,).

    At a pitch of +-pi/2 only one combination of roll and yaw is determined; yaw is then zero.

    """
    pitch = np.arctan2(-rotation[2, 0], np.hypot(rotation[0, 0], rotation[1, 0]))
    if np.hypot(rotation[0, 0], rotation[1, 0]) < 1e-12:
        roll = np.arctan2(-rotation[1, 2], rotation[1, 1])
        return np.array([roll, pitch, 0.0])
    roll = np.arctan2(rotation[2, 1], rotation[2, 2])
    yaw = np.arctan2(rotation[1, 0], rotation[0, 0])
    return np.array([roll, pitch, yaw])


def rotation_from_axis_angle(axis: Vector, angle: float) -> Matrix:
    """Return the rotation by `angle` [rad] about the unit vector `axis`, shape (3, 3)."""
    cross = skew(axis)
    rotation: Matrix = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    return rotation


def rotation_from_z_to(axis: Vector) -> Matrix:
    """
    Return a rotation that takes the z axis to the unit vector `axis`.

    It is the smallest one for an axis in the upper half space. In the lower one it is half a turn
    about x, followed by the smallest rotation. For axes along +-x, +-y and +-z every entry is
    exactly 0 or +-1.

    Parameters
    ----------
    axis : ndarray, shape (3,)
        Unit vector.

    Returns
    -------
    rotation : ndarray, shape (3, 3)
        Its third column is `axis`.

    """
    x, y, z = (float(value) for value in axis)
    # 1 + z would cancel near -z: the lower half space mirrors the axis and turns the result back.
    side = 1.0 if z >= 0.0 else -1.0
    y, z = side * y, side * z
    k = 1.0 / (1.0 + z)
    upper = np.array(
        [
            [1.0 - k * x * x, -k * x * y, x],
            [-k * x * y, 1.0 - k * y * y, y],
            [-x, -y, z],
        ]
    )
    rotation: Matrix = np.array([[1.0], [side], [side]]) * upper
    return rotation


def rotation_from_quaternion(quaternion: Vector) -> Matrix:
    """Return the rotation of a quaternion ``[x, y, z, w]`` of any length, shape (3, 3)."""
    x, y, z, w = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_product(left: Vector, right: Vector) -> Vector:
    """
    Return the product of two quaternions ``[x, y, z, w]``.

    First `right`, then `left`, shape (4,).

    """
    lv, lw = left[:3], left[3]
    rv, rw = right[:3], right[3]
    return np.append(lw * rv + rw * lv + np.cross(lv, rv), lw * rw - lv @ rv)


def quaternion_from_rotation_vector(rotation_vector: Vector) -> Vector:
    """Return the unit quaternion ``[x, y, z, w]`` of the rotation vector [rad], shape (4,)."""
    half = 0.5 * np.linalg.norm(rotation_vector)
    # sin(x) / x without cancellation; np.sinc(x) is sin(pi x) / (pi x).
    return np.append(0.5 * np.sinc(half / np.pi) * rotation_vector, np.cos(half))


def rotation_vector_from_quaternion(quaternion: Vector) -> Vector:
    """Return the rotation vector [rad] of a unit quaternion, of norm at most pi, shape (3,)."""
    vector, w = quaternion[:3], quaternion[3]
    if w < 0.0:
        vector, w = -vector, -w
    norm = float(np.linalg.norm(vector))
    scale = 2.0 if norm < 1e-12 else 2.0 * float(np.arctan2(norm, w)) / norm
    rotation_vector: Vector = scale * vector
    return rotation_vector


def left_jacobian(rotation_vector: Vector) -> Matrix:
    """
    Return the left Jacobian of the exponential map of SO(3), shape (3, 3).

    References
    ----------
    .. [1] T. D. Barfoot, *State Estimation for Robotics*, 2017, eq. (7.77).

    """
    angle = float(np.linalg.norm(rotation_vector))
    cross = skew(rotation_vector)
    if angle < 1e-2:
        square = angle**2
        first = 0.5 - square / 24.0 * (1.0 - square / 30.0)
        second = 1.0 / 6.0 - square / 120.0 * (1.0 - square / 42.0)
    else:
        first = 2.0 * (np.sin(0.5 * angle) / angle) ** 2
        second = (angle - np.sin(angle)) / angle**3
    return np.eye(3) + first * cross + second * cross @ cross
