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

"""Wrenches that the joints transmit."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Matrix
from robot_dynamics_ros.core.dynamics.external_wrench import external_efforts_and_wrenches
from robot_dynamics_ros.core.dynamics.rnea import rnea_kernel, WRENCH
from robot_dynamics_ros.core.dynamics.samples import refuse_non_finite
from robot_dynamics_ros.core.model.kernel_layout import LINK, PUBLIC
from robot_dynamics_ros.core.model.robot_model import RobotModel


def joint_reaction_wrenches(
    model: RobotModel, q: Any, v: Any, a: Any, f_ext: Any = None
) -> Matrix:
    """
    Compute the wrench through every moving joint.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].
    v, a : array_like, shape (nv,)
        Joint velocities and accelerations [rad/s | m/s], [rad/s^2 | m/s^2].
    f_ext : array_like, shape (nbodies, 6), optional
        Wrench ``[f; n]`` that acts on each body, expressed in the body's own (link) frame, about
        its origin [N, N m].

    Returns
    -------
    wrenches : ndarray, shape (nbodies, 6)
        ``[f; n]`` that the parent exerts on each body through its joint, the actuator's effort
        included, expressed in the body's own (link) frame, about its origin [N, N m]. Its part
        along the joint's axis is the effort without armature.

    Raises
    ------
    DimensionError
        If an array has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    q = as_vector('q', q, model.nq)
    v = as_vector('v', v, model.nv)
    a = as_vector('a', a, model.nv)
    work = np.empty(model.work_shape)
    if not rnea_kernel(model.kernel, work, q, v, a, np.empty(model.nv)):
        refuse_non_finite('wrenches', q=q, v=v, a=a)
    wrenches = work[:-1, WRENCH : WRENCH + 6]
    if f_ext is not None:
        wrenches = wrenches - external_efforts_and_wrenches(model, q, f_ext)[1]
    named = np.flatnonzero(model.kernel[1:, PUBLIC] >= 0)
    link = model.kernel[1 + named, LINK : LINK + 9].reshape(-1, 3, 3)
    # link^T takes coordinates from the kernel frame to the link frame
    force = np.einsum('bji,bj->bi', link, wrenches[named, :3])
    moment = np.einsum('bji,bj->bi', link, wrenches[named, 3:])
    return np.hstack([force, moment])
