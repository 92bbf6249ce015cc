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
Steps of a configuration inside compiled kernels.

A joint with one coordinate moves by the mean of its velocities at both ends of the step. A free
body turns by the mean angular velocity about its own axes, :math:`\exp(h\,(\omega_0 +
\omega_1) / 2)`, and its origin moves by the mean of the velocities at both ends, each in the
world: of second order, exact for a body that flies straight and spins, and the quaternion stays
unit.

"""

from __future__ import annotations

import math

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.compiled_part import part
from robot_dynamics_ros.core.jit import inner
from robot_dynamics_ros.core.model.kernel_layout import FREE, IQ, IV, KIND, NBODIES, PARENT


@inner
def _add_turned(q: Vector, iq: int, v: Vector, iv: int, h: float, to: Vector) -> None:
    """Add `h` times a velocity, turned by the quaternion of `q`, to the position in `to`."""
    x = q[iq + 3]
    y = q[iq + 4]
    z = q[iq + 5]
    w = q[iq + 6]
    k = 2.0 / (x * x + y * y + z * z + w * w)
    a = v[iv]
    b = v[iv + 1]
    c = v[iv + 2]
    cx = y * c - z * b
    cy = z * a - x * c
    cz = x * b - y * a
    to[iq] += h * (a + k * (w * cx + y * cz - z * cy))
    to[iq + 1] += h * (b + k * (w * cy + z * cx - x * cz))
    to[iq + 2] += h * (c + k * (w * cz + x * cy - y * cx))


@inner
def _turn(q: Vector, iq: int, x: float, y: float, z: float, to: Vector) -> None:
    """Write the quaternion of `q` times that of a rotation vector to `to`, of unit length."""
    square = x * x + y * y + z * z
    angle = math.sqrt(square)
    if angle < 1e-4:
        s = 0.5 - square / 48.0
        c = 1.0 - square / 8.0
    else:
        s = math.sin(0.5 * angle) / angle
        c = math.cos(0.5 * angle)
    x *= s
    y *= s
    z *= s
    qx = q[iq + 3]
    qy = q[iq + 4]
    qz = q[iq + 5]
    qw = q[iq + 6]
    rx = qw * x + qx * c + qy * z - qz * y
    ry = qw * y - qx * z + qy * c + qz * x
    rz = qw * z + qx * y - qy * x + qz * c
    rw = qw * c - qx * x - qy * y - qz * z
    n = math.sqrt(rx * rx + ry * ry + rz * rz + rw * rw)
    to[iq + 3] = rx / n
    to[iq + 4] = ry / n
    to[iq + 5] = rz / n
    to[iq + 6] = rw / n


@part
def step_configuration(
    robot: Matrix, q: Vector, v0: Vector, v1: Vector, h: float, to: Vector
) -> None:
    """Write the configuration after a step of length `h` with the velocities at its ends."""
    half = 0.5 * h
    if q.size == v0.size:  # no free joint: both run in parallel
        for k in range(q.size):
            to[k] = q[k] + half * (v0[k] + v1[k])
        return
    for i in range(int(robot[0, NBODIES])):
        b = robot[1 + i]
        iq = int(b[IQ])
        iv = int(b[IV])
        if b[KIND] == FREE:
            _turn(
                q,
                iq,
                half * (v0[iv + 3] + v1[iv + 3]),
                half * (v0[iv + 4] + v1[iv + 4]),
                half * (v0[iv + 5] + v1[iv + 5]),
                to,
            )
            for k in range(3):
                to[iq + k] = q[iq + k]
            _add_turned(q, iq, v0, iv, half, to)
            _add_turned(to, iq, v1, iv, half, to)
        else:
            to[iq] = q[iq] + half * (v0[iv] + v1[iv])


@part
def configuration_rate(robot: Matrix, q: Vector, v: Vector, rate: Vector) -> None:
    """Write the rate of change of the coordinates."""
    for i in range(int(robot[0, NBODIES])):
        b = robot[1 + i]
        iq = int(b[IQ])
        iv = int(b[IV])
        if b[KIND] == FREE:
            for k in range(3):
                rate[iq + k] = 0.0
            _add_turned(q, iq, v, iv, 1.0, rate)
            x = 0.5 * v[iv + 3]
            y = 0.5 * v[iv + 4]
            z = 0.5 * v[iv + 5]
            rate[iq + 3] = q[iq + 6] * x + q[iq + 4] * z - q[iq + 5] * y
            rate[iq + 4] = q[iq + 6] * y - q[iq + 3] * z + q[iq + 5] * x
            rate[iq + 5] = q[iq + 6] * z + q[iq + 3] * y - q[iq + 4] * x
            rate[iq + 6] = -q[iq + 3] * x - q[iq + 4] * y - q[iq + 5] * z
        else:
            rate[iq] = v[iv]


@part
def normalise_quaternions(robot: Matrix, q: Vector) -> None:
    """Give the quaternions of free joints unit length; their poses do not depend on it."""
    for i in range(int(robot[0, NBODIES])):
        b = robot[1 + i]
        if b[KIND] == FREE:
            iq = int(b[IQ]) + 3
            square = 0.0
            for k in range(4):
                square += q[iq + k] * q[iq + k]
            length = math.sqrt(square)
            for k in range(4):
                q[iq + k] /= length


@part
def turn_free_roots(robot: Matrix, turning: Vector, h: float, v: Vector, a: Vector) -> None:
    """
    Give the linear velocities of free roots in the axes that they have after a step.

    Parameters
    ----------
    robot : ndarray
        Packed model.
    turning : ndarray, shape (nv,)
        Velocity during the step; its angular part turns the axes.
    h : float
        Length of the step [s].
    v : ndarray, shape (nv,)
        In and out: velocities.
    a : ndarray, shape (nv,)
        Out, in the entries of such linear velocities: the rate at which they change only because
        the axes turn.

    """
    for i in range(int(robot[0, NBODIES])):
        b = robot[1 + i]
        if b[KIND] != FREE or b[PARENT] >= 0.0:
            continue
        iv = int(b[IV])
        wx = turning[iv + 3]
        wy = turning[iv + 4]
        wz = turning[iv + 5]
        a[iv] = turning[iv + 1] * wz - turning[iv + 2] * wy
        a[iv + 1] = turning[iv + 2] * wx - turning[iv] * wz
        a[iv + 2] = turning[iv] * wy - turning[iv + 1] * wx
        rate = math.sqrt(wx * wx + wy * wy + wz * wz)
        angle = -h * rate
        if rate == 0.0:
            continue
        sine = math.sin(angle) / rate
        cosine = (1.0 - math.cos(angle)) / (rate * rate)
        x = v[iv]
        y = v[iv + 1]
        z = v[iv + 2]
        cx = wy * z - wz * y
        cy = wz * x - wx * z
        cz = wx * y - wy * x
        v[iv] += sine * cx + cosine * (wy * cz - wz * cy)
        v[iv + 1] += sine * cy + cosine * (wz * cx - wx * cz)
        v[iv + 2] += sine * cz + cosine * (wx * cy - wy * cx)
