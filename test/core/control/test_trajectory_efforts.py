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

import numpy as np
import pytest

from robot_dynamics_ros.core.control.trajectory_efforts import trajectory_efforts
from robot_dynamics_ros.core.dynamics import generalized_gravity, rnea
from robot_dynamics_ros.core.exceptions import ModelError, NonFiniteError, TrajectoryError
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory
from robot_dynamics_ros.resources import urdf_path

MODEL = load_urdf(urdf_path('es5.urdf.xacro'))
NAMES = [f'joint_{i}' for i in (2, 1, 6, 5, 4, 3)]
TIMES = [0.0, 0.4, 1.0]
POINTS = [np.random.default_rng(k).uniform(-1.0, 1.0, 6) for k in range(3)]


def test_efforts_are_inverse_dynamics_along_the_spline() -> None:
    friction = FrictionModel.from_model(MODEL)
    efforts = trajectory_efforts(MODEL, NAMES, TIMES, POINTS, friction=friction)
    spline = JointTrajectory.from_points(NAMES, TIMES, POINTS).ordered(MODEL.joint_names)
    for k in range(3):
        q, v, a = spline.positions[k], spline.velocities[k], spline.accelerations[k]
        by_name = dict(zip(MODEL.joint_names, rnea(MODEL, q, v, a) + friction.torque(v)))
        # Batched and single kernels round differently: 1e-12 of 100 N m.
        np.testing.assert_allclose(efforts[k], [by_name[name] for name in NAMES], atol=1e-10)


def test_given_derivatives_are_used() -> None:
    v, a = [np.full(6, 0.5)] * 3, [np.full(6, 2.0)] * 3
    efforts = trajectory_efforts(MODEL, MODEL.joint_names, TIMES, POINTS, v, a)
    np.testing.assert_allclose(efforts[1], rnea(MODEL, POINTS[1], v[1], a[1]), atol=1e-10)


def test_single_point_is_held() -> None:
    efforts = trajectory_efforts(MODEL, MODEL.joint_names, [0.0], POINTS[:1])
    np.testing.assert_allclose(efforts[0], generalized_gravity(MODEL, POINTS[0]), atol=1e-10)


def test_other_joints_are_refused() -> None:
    with pytest.raises(TrajectoryError, match='joint_3'):
        trajectory_efforts(MODEL, NAMES[:5], TIMES, [point[:5] for point in POINTS])


def test_joints_of_several_coordinates_are_refused() -> None:
    floating = load_urdf(urdf_path('pendulum.urdf'), floating_base=True)
    with pytest.raises(ModelError, match='one coordinate'):
        trajectory_efforts(floating, ['root_joint'], [0.0], [[0.0]])


def test_efforts_that_are_not_finite_are_refused() -> None:
    huge = [np.full(6, 1e200)] * 2  # whose squares are beyond the range of floats
    with pytest.raises(NonFiniteError, match='sample 0'):
        trajectory_efforts(MODEL, NAMES, [0.0, 1.0], [POINTS[0]] * 2, huge)
