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

"""Placements, velocities and accelerations of bodies and frames."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Matrix, Vector
from robot_dynamics_ros.core.dynamics.samples import refuse_non_finite
from robot_dynamics_ros.core.dynamics.world_kinematics import A, kinematics_kernel, O, R, V
from robot_dynamics_ros.core.model.kernel_layout import LINK, PUBLIC
from robot_dynamics_ros.core.model.robot_model import Frame, RobotModel
from robot_dynamics_ros.core.spatial.rotation import skew


class ReferenceFrame(Enum):
    """
    Axes and origin in which a motion of a frame is expressed.

    ``LOCAL``: axes and origin of the frame. ``WORLD``: axes and origin of the world; the linear
    part is the velocity of the point of the body that is at the world's origin.
    ``LOCAL_WORLD_ALIGNED``: origin of the frame, axes of the world.

    """

    LOCAL = 'local'
    WORLD = 'world'
    LOCAL_WORLD_ALIGNED = 'local_world_aligned'


@dataclass(frozen=True, eq=False)
class Placement:
    """
    Pose of one frame, or of several, in the world.

    Attributes
    ----------
    rotation : ndarray, shape (3, 3) or (n, 3, 3)
        Maps coordinates from the frame to the world.
    translation : ndarray, shape (3,) or (n, 3)
        Origin of the frame in the world [m].

    """

    rotation: Matrix
    translation: Vector


def world_state(model: RobotModel, q: Any, v: Any = None, a: Any = None) -> Matrix:
    """
    Return the work array after `kinematics_kernel`, and check the inputs.

    See there for its columns.

    """
    q = as_vector('q', q, model.nq)
    v = np.zeros(model.nv) if v is None else as_vector('v', v, model.nv)
    a = np.zeros(model.nv) if a is None else as_vector('a', a, model.nv)
    work = np.empty(model.work_shape)
    if not kinematics_kernel(model.kernel, work, q, v, a):
        refuse_non_finite('kinematics', q=q, v=v, a=a)
    return work


def forward_kinematics(model: RobotModel, q: Any) -> Placement:
    """
    Compute the pose of every body's link frame in the world.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].

    Returns
    -------
    placement : Placement
        Rotations, shape (nbodies, 3, 3), and origins, shape (nbodies, 3) [m], in the order of
        `model.body_names`.

    Raises
    ------
    DimensionError
        If `q` has another shape.
    NonFiniteError
        If an entry of `q` is NaN or infinite.

    """
    work = world_state(model, q)
    named = np.flatnonzero(model.kernel[1:, PUBLIC] >= 0)
    kernel_rotation = work[named, R : R + 9].reshape(-1, 3, 3)
    link = model.kernel[1 + named, LINK : LINK + 9].reshape(-1, 3, 3)
    return Placement(kernel_rotation @ link, work[named, O : O + 3])


def place_frame(frame: Frame, work: Matrix) -> Placement:
    """Return the pose of a frame in the world from the work array of `world_state`."""
    body = int(frame.kernel[0])
    translation = frame.kernel[1:4]
    rotation = frame.kernel[4:].reshape(3, 3)
    if body < 0:
        return Placement(rotation.copy(), translation.copy())
    base = work[body, R : R + 9].reshape(3, 3)
    return Placement(base @ rotation, work[body, O : O + 3] + base @ translation)


def frame_placement(model: RobotModel, q: Any, frame: str) -> Placement:
    """
    Compute the pose of one frame in the world.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].
    frame : str
        Name of a link or joint frame.

    Returns
    -------
    placement : Placement
        Rotation, shape (3, 3), and origin, shape (3,) [m].

    Raises
    ------
    DimensionError
        If `q` has another shape.
    NonFiniteError
        If an entry of `q` is NaN or infinite.
    UnknownFrameError
        If no frame has this name.

    """
    return place_frame(model.frame(frame), world_state(model, q))


def express_motion(
    motion: Matrix, placement: Placement, reference_frame: ReferenceFrame
) -> Matrix:
    """
    Express motions, given about the world's origin in world axes, in another reference frame.

    Parameters
    ----------
    motion : ndarray, shape (6,) or (6, n)
        Spatial motions ``[v; w]``.
    placement : Placement
        Pose of the frame in the world.
    reference_frame : ReferenceFrame
        Where the result is expressed.

    Returns
    -------
    motion : ndarray
        The same motions, shape as given.

    """
    if reference_frame is ReferenceFrame.WORLD:
        return np.array(motion)
    linear: Matrix = motion[:3] - skew(placement.translation) @ motion[3:]
    if reference_frame is ReferenceFrame.LOCAL_WORLD_ALIGNED:
        return np.concatenate([linear, motion[3:]])
    turn: Matrix = placement.rotation.T
    return np.concatenate([turn @ linear, turn @ motion[3:]])


def frame_velocity(
    model: RobotModel,
    q: Any,
    v: Any,
    frame: str,
    reference_frame: ReferenceFrame = ReferenceFrame.LOCAL,
) -> Vector:
    """
    Compute the velocity of a frame.

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
        Where the result is expressed.

    Returns
    -------
    velocity : ndarray, shape (6,)
        ``[v; w]`` [m/s, rad/s].

    Raises
    ------
    DimensionError
        If a vector has another shape.
    NonFiniteError
        If an entry is NaN or infinite.
    UnknownFrameError
        If no frame has this name.

    """
    found = model.frame(frame)
    work = world_state(model, q, v)
    return express_motion(_body_motion(found, work, V), place_frame(found, work), reference_frame)


def frame_acceleration(
    model: RobotModel,
    q: Any,
    v: Any,
    a: Any,
    frame: str,
    reference_frame: ReferenceFrame = ReferenceFrame.LOCAL,
) -> Vector:
    """
    Compute the spatial acceleration of a frame, without gravity.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].
    v, a : array_like, shape (nv,)
        Joint velocities and accelerations [rad/s | m/s], [rad/s^2 | m/s^2].
    frame : str
        Name of a link or joint frame.
    reference_frame : ReferenceFrame
        Where the result is expressed.

    Returns
    -------
    acceleration : ndarray, shape (6,)
        ``[a; dw]`` [m/s^2, rad/s^2]. Its linear part is not the acceleration of a point, which
        `frame_classical_acceleration` gives.

    Raises
    ------
    DimensionError
        If a vector has another shape.
    NonFiniteError
        If an entry is NaN or infinite.
    UnknownFrameError
        If no frame has this name.

    """
    found = model.frame(frame)
    work = world_state(model, q, v, a)
    return express_motion(_body_motion(found, work, A), place_frame(found, work), reference_frame)


def frame_classical_acceleration(
    model: RobotModel,
    q: Any,
    v: Any,
    a: Any,
    frame: str,
    reference_frame: ReferenceFrame = ReferenceFrame.LOCAL,
) -> Vector:
    """
    Compute the acceleration of a frame's origin and its angular acceleration, without gravity.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].
    v, a : array_like, shape (nv,)
        Joint velocities and accelerations [rad/s | m/s], [rad/s^2 | m/s^2].
    frame : str
        Name of a link or joint frame.
    reference_frame : ReferenceFrame
        Where the result is expressed.

    Returns
    -------
    acceleration : ndarray, shape (6,)
        ``[a; dw]`` [m/s^2, rad/s^2]; `a` is the second derivative of the position of the point of
        the body at the reference frame's origin.

    Raises
    ------
    DimensionError
        If a vector has another shape.
    NonFiniteError
        If an entry is NaN or infinite.
    UnknownFrameError
        If no frame has this name.

    """
    acceleration = frame_acceleration(model, q, v, a, frame, reference_frame)
    velocity = frame_velocity(model, q, v, frame, reference_frame)
    acceleration[:3] += skew(velocity[3:]) @ velocity[:3]
    return acceleration


def _body_motion(frame: Frame, work: Matrix, column: int) -> Vector:
    body = int(frame.kernel[0])
    return work[body, column : column + 6] if body >= 0 else np.zeros(6)
