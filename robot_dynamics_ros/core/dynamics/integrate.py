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
Configurations as a space: steps along a velocity, differences, and random points.

For joints with one coordinate and for planar joints a step is an addition. For a free joint it is
a screw motion, :math:`q \oplus d = q \exp(d)` in SE(3), with :math:`d` in the body's own frame;
quaternions stay unit.

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Vector
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.spatial.rotation import (
    left_jacobian,
    quaternion_from_rotation_vector,
    quaternion_product,
    rotation_from_quaternion,
    rotation_vector_from_quaternion,
)


def integrate(model: RobotModel, q: Any, dv: Any) -> Vector:
    """
    Step from a configuration along a velocity for one unit of time.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q : array_like, shape (nq,)
        Joint positions [rad | m].
    dv : array_like, shape (nv,)
        Velocity times time step [rad | m].

    Returns
    -------
    q : ndarray, shape (nq,)
        The configuration reached. A continuous joint keeps counting its turns.

    Raises
    ------
    DimensionError
        If a vector has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    q = as_finite('q', q, (model.nq,))
    dv = as_finite('dv', dv, (model.nv,))
    result = np.empty(model.nq)
    for joint in model.joints:
        if joint.mimic is not None:
            continue
        iq, iv = joint.q_index, joint.v_index
        if joint.type is JointType.FLOATING:
            linear, angular = dv[iv : iv + 3], dv[iv + 3 : iv + 6]
            rotation = rotation_from_quaternion(q[iq + 3 : iq + 7])
            result[iq : iq + 3] = q[iq : iq + 3] + rotation @ left_jacobian(angular) @ linear
            turned = quaternion_product(
                q[iq + 3 : iq + 7], quaternion_from_rotation_vector(angular)
            )
            result[iq + 3 : iq + 7] = turned / np.linalg.norm(turned)
        else:
            width = 3 if joint.type is JointType.PLANAR else 1
            result[iq : iq + width] = q[iq : iq + width] + dv[iv : iv + width]
    return result


def difference(model: RobotModel, q0: Any, q1: Any) -> Vector:
    """
    Compute the velocity that leads from one configuration to another in one unit of time.

    Parameters
    ----------
    model : RobotModel
        The robot.
    q0, q1 : array_like, shape (nq,)
        Joint positions [rad | m].

    Returns
    -------
    dv : ndarray, shape (nv,)
        ``integrate(model, q0, dv)`` is `q1`, for a continuous joint and the angle of a planar one
        up to full turns: there it is the shortest turn, in (-pi, pi].

    Raises
    ------
    DimensionError
        If a vector has another shape.
    NonFiniteError
        If an entry is NaN or infinite.

    """
    q0 = as_finite('q0', q0, (model.nq,))
    q1 = as_finite('q1', q1, (model.nq,))
    result = np.empty(model.nv)
    for joint in model.joints:
        if joint.mimic is not None:
            continue
        iq, iv = joint.q_index, joint.v_index
        if joint.type is JointType.FLOATING:
            result[iv : iv + 6] = _screw_difference(q0[iq : iq + 7], q1[iq : iq + 7])
            continue
        width = 3 if joint.type is JointType.PLANAR else 1
        step = q1[iq : iq + width] - q0[iq : iq + width]
        if joint.type in (JointType.CONTINUOUS, JointType.PLANAR):
            step[-1] = shortest_turn(step[-1])
        result[iv : iv + width] = step
    return result


def shortest_turn(angle: float) -> float:
    """Return the angle [rad] that differs by full turns and lies in (-pi, pi]."""
    return float(np.pi - np.mod(np.pi - angle, 2.0 * np.pi))


def _screw_difference(pose0: Vector, pose1: Vector) -> Vector:
    inverse = np.append(-pose0[3:6], pose0[6]) / (pose0[3:] @ pose0[3:])
    relative = quaternion_product(inverse, pose1[3:])
    angular = rotation_vector_from_quaternion(relative / np.linalg.norm(relative))
    shift = rotation_from_quaternion(pose0[3:]).T @ (pose1[:3] - pose0[:3])
    return np.concatenate([np.linalg.solve(left_jacobian(angular), shift), angular])


def random_configuration(model: RobotModel, rng: np.random.Generator) -> Vector:
    """
    Draw a configuration inside the position limits.

    Without limits an angle lies in [-pi, pi] and a distance in [-1, 1] m; orientations are
    uniform.

    Parameters
    ----------
    model : RobotModel
        The robot.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    q : ndarray, shape (nq,)
        Joint positions [rad | m].

    """
    q = np.empty(model.nq)
    for joint in model.joints:
        if joint.mimic is not None:
            continue
        iq, iv = joint.q_index, joint.v_index
        if joint.type is JointType.FLOATING:
            quaternion = rng.normal(size=4)
            q[iq : iq + 3] = rng.uniform(-1.0, 1.0, 3)
            q[iq + 3 : iq + 7] = quaternion / np.linalg.norm(quaternion)
        elif joint.type is JointType.PLANAR:
            q[iq : iq + 3] = rng.uniform(-1.0, 1.0, 3) * (1.0, 1.0, np.pi)
        else:
            reach = 1.0 if joint.type is JointType.PRISMATIC else np.pi
            lower, upper = model.limits.lower[iv], model.limits.upper[iv]
            lower = lower if np.isfinite(lower) else -reach
            upper = upper if np.isfinite(upper) else reach
            q[iq] = rng.uniform(min(lower, upper), max(lower, upper))
    return q
