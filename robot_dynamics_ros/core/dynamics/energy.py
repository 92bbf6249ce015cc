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

"""Kinetic and potential energy."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Matrix, Vector
from robot_dynamics_ros.core.dynamics.joint_transform import is_finite
from robot_dynamics_ros.core.dynamics.samples import as_samples, in_parallel, refuse_non_finite
from robot_dynamics_ros.core.dynamics.world_kinematics import (
    O,
    R,
    V,
    world_poses,
    world_velocities,
)
from robot_dynamics_ros.core.jit import allocating_kernel, inner
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
    WORK_WIDTH,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel


@inner
def _body_kinetic_energy(body: Vector, row: Vector) -> float:
    """Return the kinetic energy of one body from its velocity about the world's origin."""
    wx = row[V + 3]
    wy = row[V + 4]
    wz = row[V + 5]
    px = row[V] + wy * row[O + 2] - wz * row[O + 1]
    py = row[V + 1] + wz * row[O] - wx * row[O + 2]
    pz = row[V + 2] + wx * row[O + 1] - wy * row[O]
    # in the body's axes
    v0 = row[R] * px + row[R + 3] * py + row[R + 6] * pz
    v1 = row[R + 1] * px + row[R + 4] * py + row[R + 7] * pz
    v2 = row[R + 2] * px + row[R + 5] * py + row[R + 8] * pz
    w0 = row[R] * wx + row[R + 3] * wy + row[R + 6] * wz
    w1 = row[R + 1] * wx + row[R + 4] * wy + row[R + 7] * wz
    w2 = row[R + 2] * wx + row[R + 5] * wy + row[R + 8] * wz
    spin = (
        body[INERTIA] * w0 * w0
        + body[INERTIA + 2] * w1 * w1
        + body[INERTIA + 5] * w2 * w2
        + 2.0
        * (body[INERTIA + 1] * w0 * w1 + body[INERTIA + 3] * w0 * w2 + body[INERTIA + 4] * w1 * w2)
    )
    coupling = (
        body[FIRST_MOMENT] * (v1 * w2 - v2 * w1)
        + body[FIRST_MOMENT + 1] * (v2 * w0 - v0 * w2)
        + body[FIRST_MOMENT + 2] * (v0 * w1 - v1 * w0)
    )
    energy: float = 0.5 * (body[MASS] * (v0 * v0 + v1 * v1 + v2 * v2) + spin) + coupling
    return energy


@allocating_kernel
def kinetic_energy_block_kernel(robot: Matrix, q: Matrix, v: Matrix, energy: Vector) -> int:
    """Write the kinetic energies of many samples; return the first that is not finite, or -1."""
    work = np.empty((robot.shape[0], WORK_WIDTH))
    bad = -1
    for s in range(q.shape[0]):
        world_poses(robot, q[s], work, True)
        world_velocities(robot, v[s], work)
        total = 0.0
        for i in range(int(robot[0, NBODIES])):
            body = robot[1 + i]
            total += _body_kinetic_energy(body, work[i])
            if body[KIND] != FREE:
                rate = body[MULTIPLIER] * v[s, int(body[IV])]
                total += 0.5 * body[ARMATURE] * rate * rate
        energy[s] = total
        # the position of a free root body is not in the energy
        if not (np.isfinite(total) and is_finite(q[s])) and bad < 0:
            bad = s
    return bad


@allocating_kernel
def potential_energy_block_kernel(robot: Matrix, q: Matrix, energy: Vector) -> int:
    """Write the potential energies of many samples; return the first that is not finite, or -1."""
    work = np.empty((robot.shape[0], WORK_WIDTH))
    bad = -1
    for s in range(q.shape[0]):
        world_poses(robot, q[s], work, False)
        total = 0.0
        for i in range(int(robot[0, NBODIES])):
            body = robot[1 + i]
            row = work[i]
            for r in range(3):
                moment = body[MASS] * row[O + r]
                for k in range(3):
                    moment += row[R + 3 * r + k] * body[FIRST_MOMENT + k]
                total -= robot[0, GRAVITY + r] * moment
        energy[s] = total
        if not np.isfinite(total) and bad < 0:
            bad = s
    return bad


def kinetic_energy(model: RobotModel, q: Any, v: Any) -> float:
    """
    Compute the kinetic energy.

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
    energy : float
        ``v^T M(q) v / 2``, armature included [J].

    Raises
    ------
    DimensionError
        If a vector has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    q = as_vector('q', q, model.nq)
    v = as_vector('v', v, model.nv)
    energy = np.empty(1)
    if kinetic_energy_block_kernel(model.kernel, q[None, :], v[None, :], energy) >= 0:
        refuse_non_finite('kinetic energy', q=q, v=v)
    return float(energy[0])


def potential_energy(model: RobotModel, q: Any) -> float:
    """
    Compute the potential energy of the moving bodies under gravity.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].

    Returns
    -------
    energy : float
        Zero with all mass at the world's origin [J].

    Raises
    ------
    DimensionError
        If `q` has another shape.
    NonFiniteError
        If an entry of `q` is NaN or infinite.

    """
    q = as_vector('q', q, model.nq)
    energy = np.empty(1)
    if potential_energy_block_kernel(model.kernel, q[None, :], energy) >= 0:
        refuse_non_finite('potential energy', q=q)
    return float(energy[0])


def mechanical_energy(model: RobotModel, q: Any, v: Any) -> float:
    """
    Compute the sum of kinetic and potential energy [J].

    Raises
    ------
    DimensionError
        If a vector has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    return kinetic_energy(model, q, v) + potential_energy(model, q)


def kinetic_energy_batch(model: RobotModel, q: Any, v: Any) -> Vector:
    """
    Compute the kinetic energies of many samples.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (n_samples, nq)
        Joint positions [rad | m].
    v : array_like, shape (n_samples, nv)
        Joint velocities [rad/s | m/s].

    Returns
    -------
    energy : ndarray, shape (n_samples,)
        Kinetic energies [J].

    Raises
    ------
    DimensionError
        If an array has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    q = as_samples('q', q, model.nq)
    v = as_samples('v', v, model.nv, len(q))
    energy = np.empty(len(q))
    in_parallel(kinetic_energy_block_kernel, model.kernel, (q, v), energy)
    return energy


def potential_energy_batch(model: RobotModel, q: Any) -> Vector:
    """
    Compute the potential energies of many samples.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (n_samples, nq)
        Joint positions [rad | m].

    Returns
    -------
    energy : ndarray, shape (n_samples,)
        Potential energies [J].

    Raises
    ------
    DimensionError
        If `q` has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    q = as_samples('q', q, model.nq)
    energy = np.empty(len(q))
    in_parallel(potential_energy_block_kernel, model.kernel, (q,), energy)
    return energy
