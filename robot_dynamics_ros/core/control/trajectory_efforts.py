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

"""The efforts that a trajectory needs at its points, by inverse dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix
from robot_dynamics_ros.core.dynamics import rnea_batch
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.robot_model import require_single_joints, RobotModel
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory


def trajectory_efforts(
    model: RobotModel,
    joint_names: Sequence[str],
    times: Any,
    positions: Any,
    velocities: Any = None,
    accelerations: Any = None,
    *,
    friction: FrictionModel | None = None,
) -> Matrix:
    """
    Compute ``M(q) a + C(q, v) v + g(q) + tau_friction(v)`` at every point of a trajectory.

    Parameters
    ----------
    model : RobotModel
        Arm with joints of one coordinate. A model without gravity leaves out ``g(q)``.
    joint_names : sequence of str
        Joints in the order of the points: all of the robot, in any order.
    times, positions, velocities, accelerations
        The points, see `JointTrajectory.from_points`; derivatives that they lack are derived.
    friction : FrictionModel, optional
        Friction to add.

    Returns
    -------
    tau : ndarray, shape (n_points, n)
        Actuator torques [N m | N], in the order of `joint_names`.

    Raises
    ------
    ModelError
        If a joint has several coordinates.
    NonFiniteError
        If an effort is not finite.
    TrajectoryError
        If the trajectory cannot be used, or its joints are not those of the robot.

    """
    require_single_joints(model, 'annotating a trajectory')
    given = JointTrajectory.from_points(joint_names, times, positions, velocities, accelerations)
    trajectory = given.ordered(model.joint_names)
    tau = rnea_batch(model, trajectory.positions, trajectory.velocities, trajectory.accelerations)
    if friction is not None:
        tau = tau + friction.torque(trajectory.velocities)
    return np.ascontiguousarray(tau[:, [model.joint_names.index(name) for name in joint_names]])
