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
Gravity efforts: the recursive Newton-Euler algorithm at rest.

With no motion every body only feels the base's upward acceleration :math:`-g`, so that pass 1
turns that vector into each body's axes and pass 2 sums weights: :math:`f = m a`, :math:`n = h
\times a`. See `rnea` for the general case and symbols.

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Matrix, Vector
from robot_dynamics_ros.core.dynamics.joint_transform import (
    add_joint_effort,
    E,
    is_finite,
    local_pose,
    wrench_to_parent,
)
from robot_dynamics_ros.core.dynamics.rnea import rnea_batch
from robot_dynamics_ros.core.dynamics.samples import as_samples, refuse_non_finite
from robot_dynamics_ros.core.jit import kernel, Quick
from robot_dynamics_ros.core.model.kernel_layout import (
    FIRST_MOMENT,
    GRAVITY,
    MASS,
    NBODIES,
    PARENT,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel

# Columns of a body's row of the work array, after its local pose.
A = 12  # 3: acceleration
WRENCH = 15  # 6: force and moment


@kernel
def gravity_kernel(robot: Matrix, work: Matrix, q: Vector, g: Vector) -> bool:
    """Write the gravity efforts of one sample to `g`; return whether all numbers are finite."""
    n = int(robot[0, NBODIES])
    # Pass 1: base to tips
    for i in range(n):
        b = 1 + i
        local_pose(robot, i, q, work)
        p = int(robot[b, PARENT])
        if p < 0:
            ax = -robot[0, GRAVITY]
            ay = -robot[0, GRAVITY + 1]
            az = -robot[0, GRAVITY + 2]
        else:
            ax = work[p, A]
            ay = work[p, A + 1]
            az = work[p, A + 2]
        a0 = work[i, E] * ax + work[i, E + 3] * ay + work[i, E + 6] * az
        a1 = work[i, E + 1] * ax + work[i, E + 4] * ay + work[i, E + 7] * az
        a2 = work[i, E + 2] * ax + work[i, E + 5] * ay + work[i, E + 8] * az
        work[i, A] = a0
        work[i, A + 1] = a1
        work[i, A + 2] = a2
        m = robot[b, MASS]
        hx = robot[b, FIRST_MOMENT]
        hy = robot[b, FIRST_MOMENT + 1]
        hz = robot[b, FIRST_MOMENT + 2]
        work[i, WRENCH] = m * a0
        work[i, WRENCH + 1] = m * a1
        work[i, WRENCH + 2] = m * a2
        work[i, WRENCH + 3] = hy * a2 - hz * a1
        work[i, WRENCH + 4] = hz * a0 - hx * a2
        work[i, WRENCH + 5] = hx * a1 - hy * a0
    # Pass 2: tips to base
    for j in range(g.size):
        g[j] = 0.0
    for i in range(n - 1, -1, -1):
        add_joint_effort(robot, i, WRENCH, work, g)
        wrench_to_parent(robot, i, WRENCH, work)
    return is_finite(q) and is_finite(g)


_gravity = Quick(gravity_kernel)


def generalized_gravity(model: RobotModel, q: Any) -> Vector:
    """
    Compute the efforts that hold the robot still against gravity.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].

    Returns
    -------
    g : ndarray, shape (nv,)
        ``g(q)``, the gradient of the potential energy [N m | N].

    Raises
    ------
    DimensionError
        If `q` has another shape.
    NonFiniteError
        If an entry of `q` is NaN or infinite.

    """
    q = as_vector('q', q, model.nq)
    g = np.empty(model.nv)
    if not _gravity.call(model.kernel, model.scratch.work, q, g):
        refuse_non_finite('gravity efforts', q=q)
    return g


def generalized_gravity_batch(model: RobotModel, q: Any, out: Matrix | None = None) -> Matrix:
    """
    Compute the gravity efforts of many samples.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (n_samples, nq)
        Joint positions [rad | m].
    out : ndarray, shape (n_samples, nv), optional
        Where the result goes.

    Returns
    -------
    g : ndarray, shape (n_samples, nv)
        Gravity efforts [N m | N].

    Raises
    ------
    DimensionError
        If an array has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    q = as_samples('q', q, model.nq)
    rest = np.zeros((len(q), model.nv))
    return rnea_batch(model, q, rest, rest, out)
