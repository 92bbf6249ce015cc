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

"""Jacobians of frames and their rates of change."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Matrix, Vector
from robot_dynamics_ros.core.dynamics.kinematics import (
    express_motion,
    place_frame,
    Placement,
    ReferenceFrame,
)
from robot_dynamics_ros.core.dynamics.samples import refuse_non_finite
from robot_dynamics_ros.core.dynamics.world_kinematics import jacobian_kernel, V
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.spatial.rotation import skew


def frame_jacobian(
    model: RobotModel,
    q: Any,
    frame: str,
    reference_frame: ReferenceFrame = ReferenceFrame.LOCAL,
) -> Matrix:
    """
    Compute the Jacobian of a frame.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].
    frame : str
        Name of a link or joint frame.
    reference_frame : ReferenceFrame
        Where the frame's velocity is expressed.

    Returns
    -------
    J : ndarray, shape (6, nv)
        ``J @ v`` is the velocity ``[v; w]`` of the frame [m/s, rad/s].

    Raises
    ------
    DimensionError
        If `q` has another shape.
    NonFiniteError
        If an entry of `q` is NaN or infinite.
    UnknownFrameError
        If no frame has this name.

    """
    jacobian, _, placement, _ = _world_jacobian(model, q, np.zeros(model.nv), frame)
    return express_motion(jacobian, placement, reference_frame)


def frame_jacobian_time_variation(
    model: RobotModel,
    q: Any,
    v: Any,
    frame: str,
    reference_frame: ReferenceFrame = ReferenceFrame.LOCAL,
) -> Matrix:
    """
    Compute the rate of change of a frame's Jacobian along a motion.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].
    v : array_like, shape (nv,)
        Joint velocities [rad/s | m/s].
    frame : str
        Name of a link or joint frame.
    reference_frame : ReferenceFrame
        Where the frame's velocity is expressed.

    Returns
    -------
    dJ : ndarray, shape (6, nv)
        ``J(q) a + dJ v`` is the rate of change of the frame's velocity as expressed there.

    Raises
    ------
    DimensionError
        If a vector has another shape.
    NonFiniteError
        If an entry is NaN or infinite.
    UnknownFrameError
        If no frame has this name.

    """
    jacobian, rate, placement, velocity = _world_jacobian(model, q, v, frame)
    if reference_frame is ReferenceFrame.WORLD:
        return rate
    if reference_frame is ReferenceFrame.LOCAL:
        # d/dt (X J) = X (dJ - V x J), with V the velocity of the frame
        linear, angular = skew(velocity[:3]), skew(velocity[3:])
        rate = rate.copy()
        rate[:3] -= angular @ jacobian[:3] + linear @ jacobian[3:]
        rate[3:] -= angular @ jacobian[3:]
        return express_motion(rate, placement, reference_frame)
    # only the origin moves: d/dt (J_w x p) = dJ_w x p + J_w x dp/dt
    moving = velocity[:3] + skew(velocity[3:]) @ placement.translation
    rate = express_motion(rate, placement, reference_frame)
    rate[:3] -= skew(moving) @ jacobian[3:]
    return rate


def _world_jacobian(
    model: RobotModel, q: Any, v: Any, frame: str
) -> tuple[Matrix, Matrix, Placement, Vector]:
    """Return Jacobian, its rate, the frame's pose and velocity, all in the world frame."""
    found = model.frame(frame)
    q = as_vector('q', q, model.nq)
    v = as_vector('v', v, model.nv)
    work = np.empty(model.work_shape)
    jacobian = np.empty((6, model.nv))
    rate = np.empty((6, model.nv))
    body = int(found.kernel[0])
    if not jacobian_kernel(model.kernel, work, body, q, v, jacobian, rate):
        refuse_non_finite('Jacobian', q=q, v=v)
    velocity = work[body, V : V + 6] if body >= 0 else np.zeros(6)
    return jacobian, rate, place_frame(found, work), velocity
