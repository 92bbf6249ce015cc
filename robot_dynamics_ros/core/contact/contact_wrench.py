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

"""Contact wrenches on the bodies, from the forces that a step found."""

from __future__ import annotations

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.contact_kinematics import (
    contact_basis,
    place_contact,
    poses_kernel,
)
from robot_dynamics_ros.core.contact.contact_layout import BODY, OTHER
from robot_dynamics_ros.core.dynamics.world_kinematics import O, R
from robot_dynamics_ros.core.jit import kernel
from robot_dynamics_ros.core.model.kernel_layout import LINK, PUBLIC


@kernel
def contact_wrenches_kernel(
    robot: Matrix,
    work: Matrix,
    candidates: Matrix,
    q: Vector,
    force: Matrix,
    place: Matrix,
    world: Matrix,
    wrenches: Matrix,
) -> None:
    """
    Write points and normals, forces in the world, and the sum of wrenches on each body.

    Parameters
    ----------
    robot, work : ndarray
        Packed model and scratch.
    candidates : ndarray, shape (n, WIDTH)
        Possible contacts.
    q : ndarray, shape (nq,)
        Configuration.
    force : ndarray, shape (n, 3)
        Normal and tangential forces [N].
    place : ndarray, shape (n, 6)
        Out: contact point and normal, expressed in the world [m].
    world : ndarray, shape (n, 3)
        Out: force on the body of the candidate, expressed in the world [N].
    wrenches : ndarray, shape (nbodies, 6)
        Out: wrench on each body, expressed in its link frame about its origin [N, N m].

    """
    poses_kernel(robot, work, q)
    wrenches[:] = 0.0
    basis = work[work.shape[0] - 1, :9]
    for c in range(candidates.shape[0]):
        place_contact(candidates[c], work, place[c])
        contact_basis(place[c], basis)
        for k in range(3):
            world[c, k] = (
                basis[k] * force[c, 0] + basis[3 + k] * force[c, 1] + basis[6 + k] * force[c, 2]
            )
        if force[c, 0] == 0.0:
            continue
        for side in range(2):
            i = int(candidates[c, BODY]) if side == 0 else int(candidates[c, OTHER])
            if i < 0:
                continue
            sign = 1.0 if side == 0 else -1.0
            row = work[i]
            body = robot[1 + i]
            fx = sign * world[c, 0]
            fy = sign * world[c, 1]
            fz = sign * world[c, 2]
            dx = place[c, 0] - row[O]
            dy = place[c, 1] - row[O + 1]
            dz = place[c, 2] - row[O + 2]
            nx = dy * fz - dz * fy
            ny = dz * fx - dx * fz
            nz = dx * fy - dy * fx
            public = int(body[PUBLIC])
            for k in range(3):
                # axis k of the link frame in the world
                ax = 0.0
                ay = 0.0
                az = 0.0
                for m in range(3):
                    ax += row[R + m] * body[LINK + 3 * m + k]
                    ay += row[R + 3 + m] * body[LINK + 3 * m + k]
                    az += row[R + 6 + m] * body[LINK + 3 * m + k]
                wrenches[public, k] += ax * fx + ay * fy + az * fz
                wrenches[public, 3 + k] += ax * nx + ay * ny + az * nz
