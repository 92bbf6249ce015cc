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

"""Rotations against scipy's, and the inertia of a moved body against its point masses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.core.spatial.inertia import pseudo_inertia, SpatialInertia
from robot_dynamics_ros.core.spatial.rotation import (
    left_jacobian,
    quaternion_from_rotation_vector,
    quaternion_product,
    rotation_from_axis_angle,
    rotation_from_quaternion,
    rotation_from_rpy,
    rotation_from_z_to,
    rotation_vector_from_quaternion,
    rpy_from_rotation,
    skew,
)

RNG = np.random.default_rng(3)


@pytest.mark.parametrize('rpy', RNG.uniform(-1.5, 1.5, (10, 3)))
def test_rpy_is_that_of_scipy_and_comes_back(rpy: np.ndarray) -> None:
    rotation = rotation_from_rpy(*rpy)
    expected = Rotation.from_euler('xyz', rpy).as_matrix()
    np.testing.assert_allclose(rotation, expected, atol=1e-15)
    np.testing.assert_allclose(rpy_from_rotation(rotation), rpy, atol=1e-14)


@pytest.mark.parametrize('pitch', [np.pi / 2, -np.pi / 2])
def test_rpy_of_a_vertical_pitch_gives_the_same_rotation(pitch: float) -> None:
    rotation = rotation_from_rpy(0.3, pitch, 0.8)
    again = rotation_from_rpy(*rpy_from_rotation(rotation))
    # cos(pi / 2) is 6e-17, not zero
    np.testing.assert_allclose(again, rotation, atol=1e-15)


@pytest.mark.parametrize(
    'axis',
    [
        *RNG.normal(size=(20, 3)),
        *np.eye(3),
        *-np.eye(3),
        np.array([1e-7, 0.0, -1.0]),
        np.array([0.0, 1e-9, -1.0]),
    ],
)
def test_rotation_from_z_to_an_axis_is_a_rotation(axis: np.ndarray) -> None:
    axis = axis / np.linalg.norm(axis)
    rotation = rotation_from_z_to(axis)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(rotation[:, 2], axis, atol=1e-16)
    assert np.linalg.det(rotation) > 0.0
    if np.count_nonzero(axis) == 1:
        assert set(np.abs(rotation).ravel()) == {0.0, 1.0}


@pytest.mark.parametrize('scale', [0.0, 1e-13, 1e-6, 1e-3, 9.9e-3, 1.01e-2, 1.0, 3.1])
def test_rotation_vector_and_its_jacobian(scale: float) -> None:
    vector = scale * np.array([0.36, -0.48, 0.8])
    quaternion = quaternion_from_rotation_vector(vector)
    rotation = rotation_from_quaternion(quaternion)
    np.testing.assert_allclose(rotation, expm(skew(vector)), atol=1e-14)
    np.testing.assert_allclose(rotation_vector_from_quaternion(quaternion), vector, atol=1e-14)
    # the left Jacobian is the integral of exp(s w) over s from 0 to 1: a block of this exponential
    block = np.zeros((6, 6))
    block[:3, :3], block[:3, 3:] = skew(vector), np.eye(3)
    np.testing.assert_allclose(left_jacobian(vector), expm(block)[:3, 3:], atol=1e-14)


def test_quaternions_multiply_as_rotations_do() -> None:
    left, right = RNG.normal(size=(2, 4))
    both = rotation_from_quaternion(quaternion_product(left, right))
    np.testing.assert_allclose(
        both, rotation_from_quaternion(left) @ rotation_from_quaternion(right), atol=1e-14
    )


def test_moved_inertia_is_that_of_its_point_masses() -> None:
    masses = RNG.uniform(0.1, 1.0, 8)
    points = RNG.normal(size=(8, 3))
    axis = np.array([0.6, 0.0, 0.8])
    rotation, translation = rotation_from_axis_angle(axis, 1.1), np.array([0.3, -2.0, 0.7])

    def gathered(where: np.ndarray) -> SpatialInertia:
        total = SpatialInertia.zero()
        for mass, point in zip(masses, where):
            total = total + SpatialInertia.from_center_of_mass(mass, point, np.zeros((3, 3)))
        return total

    moved = gathered(points).moved(rotation, translation)
    expected = gathered(points @ rotation.T + translation)
    assert moved.mass == pytest.approx(expected.mass, abs=1e-15)
    np.testing.assert_allclose(moved.first_moment, expected.first_moment, atol=1e-14)
    np.testing.assert_allclose(moved.rotational, expected.rotational, atol=1e-13)
    pseudo = pseudo_inertia(expected.mass, expected.first_moment, expected.rotational)
    homogeneous = np.hstack([points @ rotation.T + translation, np.ones((8, 1))])
    # the pseudo-inertia is the sum of m x x^T over the points
    np.testing.assert_allclose(pseudo, (homogeneous.T * masses) @ homogeneous, atol=1e-13)
