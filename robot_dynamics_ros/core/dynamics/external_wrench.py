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
Efforts of external wrenches: :math:`J(q)^T f_{ext}`, by one pass from the tips to the base.

The same sums as pass 2 of the recursive Newton-Euler algorithm, see `rnea`.

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_matrix, as_vector, Matrix, Vector
from robot_dynamics_ros.core.dynamics.joint_transform import (
    add_joint_effort,
    is_finite,
    local_pose,
    wrench_to_parent,
)
from robot_dynamics_ros.core.dynamics.samples import refuse_non_finite
from robot_dynamics_ros.core.jit import lean_kernel
from robot_dynamics_ros.core.model.kernel_layout import LINK, NBODIES, PUBLIC
from robot_dynamics_ros.core.model.robot_model import RobotModel

WRENCH = 15
"""First of six columns of a body's row: the wrench on it and on all that it carries."""


@lean_kernel
def external_efforts_kernel(
    robot: Matrix, work: Matrix, q: Vector, f_ext: Matrix, tau: Vector
) -> bool:
    """Write ``J^T f_ext`` to `tau`; return whether all numbers are finite."""
    n = int(robot[0, NBODIES])
    for i in range(n):
        body = robot[1 + i]
        local_pose(robot, i, q, work)
        public = int(body[PUBLIC])
        for r in range(3):
            force = 0.0
            moment = 0.0
            if public >= 0:
                for c in range(3):
                    force += body[LINK + 3 * r + c] * f_ext[public, c]
                    moment += body[LINK + 3 * r + c] * f_ext[public, 3 + c]
            work[i, WRENCH + r] = force
            work[i, WRENCH + 3 + r] = moment
    for j in range(tau.size):
        tau[j] = 0.0
    for i in range(n - 1, -1, -1):
        add_joint_effort(robot, i, WRENCH, work, tau)
        wrench_to_parent(robot, i, WRENCH, work)
    return is_finite(q) and is_finite(tau)


def external_efforts(model: RobotModel, q: Any, f_ext: Any) -> Vector:
    """
    Compute the efforts that external wrenches stand for at the joints.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].
    f_ext : array_like, shape (nbodies, 6)
        Wrench ``[f; n]`` that acts on each body, expressed in the body's own (link) frame, about
        its origin [N, N m].

    Returns
    -------
    tau : ndarray, shape (nv,)
        ``J(q)^T f_ext`` [N m | N].

    Raises
    ------
    DimensionError
        If an array has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    efforts, _ = external_efforts_and_wrenches(model, q, f_ext)
    return efforts


def external_efforts_and_wrenches(model: RobotModel, q: Any, f_ext: Any) -> tuple[Vector, Matrix]:
    """Return `external_efforts` and each kernel body's summed wrench in its kernel frame."""
    q = as_vector('q', q, model.nq)
    f_ext = as_matrix('f_ext', f_ext, (model.nbodies, 6))
    tau = np.empty(model.nv)
    work = np.empty(model.work_shape)
    if not external_efforts_kernel(model.kernel, work, q, f_ext, tau):
        refuse_non_finite('efforts', q=q, f_ext=f_ext)
    return tau, work[:-1, WRENCH : WRENCH + 6]
