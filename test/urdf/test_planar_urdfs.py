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

"""The small robots against their closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from robot_dynamics_ros.core.dynamics import crba, frame_placement, generalized_gravity, rnea
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import urdf_path

GRAVITY = 9.81


def load(name: str, gravity: float = GRAVITY) -> RobotModel:
    return load_urdf(urdf_path(name), gravity=(0.0, 0.0, -gravity))


def test_rods_give_the_worked_torques() -> None:
    tau = rnea(load('planar_2r_rods.urdf'), [0.3, 0.7], [1.0, 2.0], [0.5, -1.0])
    np.testing.assert_allclose(tau, [10.098217, 1.136070], atol=5e-7)  # the printed digits


def test_rods_gravity_is_that_of_the_potential() -> None:
    model = load('planar_2r_rods.urdf')
    first, second = 0.4, -1.1
    elbow = 0.5 * GRAVITY * 0.4 * np.cos(first + second)
    shoulder = (1.0 + 1.0) * GRAVITY * 0.5 * np.cos(first) + elbow
    gravity = generalized_gravity(model, [first, second])
    np.testing.assert_allclose(gravity, [shoulder, elbow], rtol=1e-13)  # rounding


def test_point_masses_have_the_closed_mass_matrix() -> None:
    model = load('planar_2r_point_mass.urdf')
    second = 0.8
    m22 = 0.25
    m12 = m22 + 0.25 * np.cos(second)
    m11 = 0.25 + 0.25 + 0.25 + 0.5 * np.cos(second)
    matrix = crba(model, [0.3, second])
    np.testing.assert_allclose(matrix, [[m11, m12], [m12, m22]], rtol=1e-13)  # rounding


def test_point_masses_positive_angle_lifts() -> None:
    model = load('planar_2r_point_mass.urdf')
    gravity = generalized_gravity(model, [0.0, 0.0])
    # both masses at 0.5 and 1 m, the second at 0.5 m from its joint
    np.testing.assert_allclose(gravity, [1.5 * GRAVITY, 0.5 * GRAVITY], rtol=1e-13)


@pytest.mark.parametrize('q', [0.0, 0.5, np.pi / 2, np.pi])
def test_pendulum_is_measured_from_upright(q: float) -> None:
    model = load('pendulum.urdf', gravity=9.8)
    np.testing.assert_allclose(crba(model, [q]), [[0.1 / 3]], rtol=1e-13)
    # atol: sin(pi) is 1e-16
    expected = -0.1 * 9.8 * 0.5 * np.sin(q)
    np.testing.assert_allclose(generalized_gravity(model, [q]), [expected], atol=1e-15)


@pytest.mark.parametrize(
    ('name', 'q', 'tip'),
    [
        ('planar_2r_rods.urdf', [0.0, 0.0], [0.9, 0.0, 0.0]),
        ('planar_2r_rods.urdf', [np.pi / 2, 0.0], [0.0, 0.0, 0.9]),
        ('planar_2r_point_mass.urdf', [0.0, np.pi / 2], [0.5, 0.0, 0.5]),
        ('pendulum.urdf', [0.0], [0.0, 0.0, 1.0]),
        ('pendulum.urdf', [np.pi / 2], [1.0, 0.0, 0.0]),
    ],
)
def test_tip_moves_in_the_vertical_plane(name: str, q: list[float], tip: list[float]) -> None:
    position = frame_placement(load(name), q, 'tool0').translation
    np.testing.assert_allclose(position, tip, atol=1e-15)  # cos(pi/2) is 6e-17
