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
Where candidates are, how far from their planes, how fast, and their Jacobians.

The gap of a point with radius :math:`r` is :math:`n \cdot (x - o) - r`. The contact point lies on
the body. For the rim of a disc with axis :math:`a` the deepest point lies from the centre along
:math:`-n + (n \cdot a)\,a`. As the gap is least there, its rate is the normal velocity of the
material point, although the contact point wanders over the body.

"""

from __future__ import annotations

import math

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.compiled_part import part
from robot_dynamics_ros.core.contact.contact_layout import (
    AXIS,
    BODY,
    LEVEL,
    NORMAL,
    OTHER,
    POINT,
    RADIUS,
    RIM,
    SHAPE,
)
from robot_dynamics_ros.core.dynamics.world_kinematics import O, R, world_poses
from robot_dynamics_ros.core.jit import inner, lean_kernel
from robot_dynamics_ros.core.model.kernel_layout import (
    FREE,
    IV,
    KIND,
    MULTIPLIER,
    PARENT,
    REVOLUTE,
)

_FLAT = 1e-9
"""Sine of the tilt below which a disc lies flat and its centre stands for the deepest point."""


@part
def poses_kernel(robot: Matrix, work: Matrix, q: Vector) -> None:
    """Write the world poses of all bodies into the work array."""
    world_poses(robot, q, work, False)


@inner
def place_contact(row: Vector, work: Matrix, place: Vector) -> float:
    """
    Write contact point and normal in the world (6 columns) of a candidate; return its gap.

    The poses are known.

    """
    nx = row[NORMAL]
    ny = row[NORMAL + 1]
    nz = row[NORMAL + 2]
    level = row[LEVEL]
    other = int(row[OTHER])
    if other >= 0:
        o = work[other]
        ox = o[R] * nx + o[R + 1] * ny + o[R + 2] * nz
        oy = o[R + 3] * nx + o[R + 4] * ny + o[R + 5] * nz
        oz = o[R + 6] * nx + o[R + 7] * ny + o[R + 8] * nz
        nx = ox
        ny = oy
        nz = oz
        level += nx * o[O] + ny * o[O + 1] + nz * o[O + 2]
    b = work[int(row[BODY])]
    px = row[POINT]
    py = row[POINT + 1]
    pz = row[POINT + 2]
    x = b[O] + b[R] * px + b[R + 1] * py + b[R + 2] * pz
    y = b[O + 1] + b[R + 3] * px + b[R + 4] * py + b[R + 5] * pz
    z = b[O + 2] + b[R + 6] * px + b[R + 7] * py + b[R + 8] * pz
    radius = row[RADIUS]
    if row[SHAPE] == RIM:
        ax = b[R] * row[AXIS] + b[R + 1] * row[AXIS + 1] + b[R + 2] * row[AXIS + 2]
        ay = b[R + 3] * row[AXIS] + b[R + 4] * row[AXIS + 1] + b[R + 5] * row[AXIS + 2]
        az = b[R + 6] * row[AXIS] + b[R + 7] * row[AXIS + 1] + b[R + 8] * row[AXIS + 2]
        along = nx * ax + ny * ay + nz * az
        dx = along * ax - nx
        dy = along * ay - ny
        dz = along * az - nz
        sine = math.sqrt(dx * dx + dy * dy + dz * dz)
        factor = radius / max(sine, _FLAT)
        x += factor * dx
        y += factor * dy
        z += factor * dz
    else:
        x -= radius * nx
        y -= radius * ny
        z -= radius * nz
    place[0] = x
    place[1] = y
    place[2] = z
    place[3] = nx
    place[4] = ny
    place[5] = nz
    gap: float = nx * x + ny * y + nz * z - level
    return gap


@lean_kernel
def place_contacts(candidates: Matrix, work: Matrix, gap: Vector, place: Matrix) -> None:
    """Place every candidate, see `place_contact`."""
    for c in range(candidates.shape[0]):
        gap[c] = place_contact(candidates[c], work, place[c])


@inner
def contact_basis(place: Vector, basis: Vector) -> None:
    """Write normal and two tangents, nine entries; for a level floor the tangents are x and y."""
    nx = place[3]
    ny = place[4]
    nz = place[5]
    ax = abs(nx)
    ay = abs(ny)
    az = abs(nz)
    if ax <= ay and ax <= az:
        tx = 1.0 - nx * nx
        ty = -nx * ny
        tz = -nx * nz
    elif ay <= az:
        tx = -ny * nx
        ty = 1.0 - ny * ny
        tz = -ny * nz
    else:
        tx = -nz * nx
        ty = -nz * ny
        tz = 1.0 - nz * nz
    length = math.sqrt(tx * tx + ty * ty + tz * tz)
    tx /= length
    ty /= length
    tz /= length
    basis[0] = nx
    basis[1] = ny
    basis[2] = nz
    basis[3] = tx
    basis[4] = ty
    basis[5] = tz
    basis[6] = ny * tz - nz * ty
    basis[7] = nz * tx - nx * tz
    basis[8] = nx * ty - ny * tx


@inner
def _enter(
    basis: Vector, x: float, y: float, z: float, scale: float, jacobian: Matrix, at: int, iv: int
) -> None:
    """Add the components of a point's velocity along the contact frame to one column."""
    for k in range(3):
        along = basis[3 * k] * x + basis[3 * k + 1] * y + basis[3 * k + 2] * z
        jacobian[at + k, iv] += scale * along


@part
def contact_jacobian(
    robot: Matrix, candidate: Vector, work: Matrix, place: Vector, jacobian: Matrix, at: int
) -> None:
    """
    Write the Jacobian of one contact, rows normal, tangent and tangent, from row `at` on.

    The nine scratch numbers of the basis lie in the last row of the work array.

    """
    basis = work[work.shape[0] - 1, :9]
    contact_basis(place, basis)
    for k in range(3):
        for j in range(jacobian.shape[1]):
            jacobian[at + k, j] = 0.0
    px = place[0]
    py = place[1]
    pz = place[2]
    for side in range(2):
        i = int(candidate[BODY]) if side == 0 else int(candidate[OTHER])
        sign = 1.0 if side == 0 else -1.0
        while i >= 0:
            b = robot[1 + i]
            row = work[i]
            iv = int(b[IV])
            scale = sign * b[MULTIPLIER]
            if b[KIND] == REVOLUTE:
                x = row[R + 2]
                y = row[R + 5]
                z = row[R + 8]
                dx = px - row[O]
                dy = py - row[O + 1]
                dz = pz - row[O + 2]
                vx = y * dz - z * dy
                vy = z * dx - x * dz
                vz = x * dy - y * dx
                _enter(basis, vx, vy, vz, scale, jacobian, at, iv)
            elif b[KIND] == FREE:
                dx = px - row[O]
                dy = py - row[O + 1]
                dz = pz - row[O + 2]
                for k in range(3):
                    x = row[R + k]
                    y = row[R + 3 + k]
                    z = row[R + 6 + k]
                    _enter(basis, x, y, z, scale, jacobian, at, iv + k)
                    vx = y * dz - z * dy
                    vy = z * dx - x * dz
                    vz = x * dy - y * dx
                    _enter(basis, vx, vy, vz, scale, jacobian, at, iv + 3 + k)
            else:
                x = row[R + 2]
                y = row[R + 5]
                z = row[R + 8]
                _enter(basis, x, y, z, scale, jacobian, at, iv)
            i = int(b[PARENT])


@part
def contact_velocity(
    robot: Matrix, candidate: Vector, work: Matrix, place: Vector, v: Vector, velocity: Vector
) -> None:
    """Write the velocity of one contact: its Jacobian times `v`."""
    basis = work[work.shape[0] - 1, :9]
    contact_basis(place, basis)
    sx = 0.0
    sy = 0.0
    sz = 0.0
    for side in range(2):
        i = int(candidate[BODY]) if side == 0 else int(candidate[OTHER])
        sign = 1.0 if side == 0 else -1.0
        while i >= 0:
            b = robot[1 + i]
            row = work[i]
            iv = int(b[IV])
            dx = place[0] - row[O]
            dy = place[1] - row[O + 1]
            dz = place[2] - row[O + 2]
            first = 0 if b[KIND] == FREE else 2
            for k in range(first, 3):
                turns = 0.0
                moves = 0.0
                if b[KIND] == REVOLUTE:
                    turns = sign * b[MULTIPLIER] * v[iv]
                elif b[KIND] == FREE:
                    moves = sign * v[iv + k]
                    turns = sign * v[iv + 3 + k]
                else:
                    moves = sign * b[MULTIPLIER] * v[iv]
                x = row[R + k]
                y = row[R + 3 + k]
                z = row[R + 6 + k]
                sx += moves * x + turns * (y * dz - z * dy)
                sy += moves * y + turns * (z * dx - x * dz)
                sz += moves * z + turns * (x * dy - y * dx)
            i = int(b[PARENT])
    for k in range(3):
        velocity[k] = basis[3 * k] * sx + basis[3 * k + 1] * sy + basis[3 * k + 2] * sz
