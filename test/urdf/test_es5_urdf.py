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

"""The ES5 file against the published tables, written out here a second time."""

from __future__ import annotations

from collections.abc import Mapping
import math

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import UrdfError
from robot_dynamics_ros.core.model.description import Joint, Link
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import urdf_path

JOINTS = tuple(f'joint_{number}' for number in range(1, 7))

# alpha [quarter turns], a [m], d [m], position limit [rad]
GEOMETRY = [
    (0, 0.0, 0.0, math.pi),
    (1, 0.0, 0.0, math.pi),
    (0, 0.425, 0.0, math.pi),
    (0, 0.395, 0.1105, math.pi),
    (-1, 0.0, 0.101, math.pi),
    (1, 0.0, 0.0765, 2 * math.pi),
]

# mass [kg], centre of mass [m], length, radius [m], index of the cylinder's axis
ES5 = [
    (3.931, (0.0, -0.008, -0.031), 0.16, 0.060, 2),
    (10.442, (0.207, 0.0, 0.124), 0.425, 0.055, 0),
    (2.846, (0.228, 0.0, 0.018), 0.395, 0.045, 0),
    (1.370, (0.0, -0.010, -0.005), 0.10, 0.035, 1),
    (1.300, (0.0, -0.010, -0.005), 0.10, 0.035, 1),
    (0.365, (0.0, 0.0, -0.012), 0.05, 0.030, 2),
]

# mass [kg], centre of mass [m], diagonal of the tensor [kg m^2]
ES5_CYLINDER = [
    (3.7, (0.0, 0.0, 0.0), (0.011, 0.011, 0.018)),
    (8.4, (0.43 / 2, 0.0, 0.0), (0.137, 0.137, 0.013)),
    (2.3, (0.40 / 2, 0.0, 0.0), (0.034, 0.034, 0.003)),
    (1.2, (0.0, 0.0, 0.0), (0.002, 0.002, 0.001)),
    (1.2, (0.0, 0.0, 0.0), (0.001, 0.001, 0.001)),
    (0.3, (0.0, 0.0, 0.0), (0.0003, 0.0003, 0.0002)),
]

# Assumed, of UR5 class: effort [N m], damping [N m s/rad], friction [N m]
ASSUMED = [
    (150, 8.0, 7.0),
    (150, 8.0, 7.0),
    (150, 6.0, 5.0),
    (28, 1.5, 1.5),
    (28, 1.5, 1.5),
    (28, 1.0, 1.0),
]


def load(**arguments: str) -> RobotModel:
    return load_urdf(urdf_path('es5.urdf.xacro'), xacro_args=arguments)


def links(model: RobotModel) -> Mapping[str, Link]:
    return {link.name: link for link in model.description.links}


def joints(model: RobotModel) -> Mapping[str, Joint]:
    return {joint.name: joint for joint in model.description.joints}


def test_es5_has_six_joints_and_its_frames() -> None:
    model = load()
    assert model.name == 'es5'
    assert model.joint_names == JOINTS
    assert {'base_link', 'link_6', 'tool0'} <= set(model.frames)
    assert model.moving_mass == pytest.approx(20.254, abs=1e-12)  # sum of six decimal numbers
    assert model.total_mass == pytest.approx(20.254 + 4.0, abs=1e-12)  # the base's is assumed


def test_es5_has_no_errors_or_warnings_in_its_findings() -> None:
    for inertia_set in ('es5', 'es5_cylinder'):
        findings = load(inertia_set=inertia_set).findings
        assert [f.message for f in findings if f.severity in ('error', 'warning')] == []


def test_es5_inertials_are_those_of_uniform_cylinders() -> None:
    found = links(load())
    for number, (mass, com, length, radius, axis) in enumerate(ES5, start=1):
        inertial = found[f'link_{number}'].inertial
        assert inertial is not None
        across = mass * (3 * radius**2 + length**2) / 12
        diagonal = np.full(3, across)
        diagonal[axis] = mass * radius**2 / 2
        assert inertial.mass == mass
        np.testing.assert_array_equal(inertial.com, com)
        # rounding of one product in xacro
        np.testing.assert_allclose(inertial.inertia, np.diag(diagonal), rtol=1e-14)


def test_es5_cylinder_inertials_are_as_printed() -> None:
    model = load(inertia_set='es5_cylinder')
    found = links(model)
    for number, (mass, com, diagonal) in enumerate(ES5_CYLINDER, start=1):
        inertial = found[f'link_{number}'].inertial
        assert inertial is not None
        assert inertial.mass == mass
        np.testing.assert_array_equal(inertial.com, com)
        np.testing.assert_array_equal(inertial.inertia, np.diag(diagonal))


def test_es5_joints_follow_the_modified_dh_table() -> None:
    found = joints(load())
    for name, (alpha, a, d, limit) in zip(JOINTS, GEOMETRY):
        joint = found[name]
        sine, cosine = float(alpha), float(alpha == 0)
        rotation = [[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]]
        np.testing.assert_array_equal(joint.translation, [a, -d * sine, d * cosine])
        # cos(pi/2) of the rpy angle is 6e-17
        np.testing.assert_allclose(joint.rotation, rotation, atol=1e-16)
        np.testing.assert_array_equal(joint.axis, [0, 0, 1])
        assert (joint.limits.lower, joint.limits.upper) == (-limit, limit)


def test_es5_limits_and_friction_are_the_assumed_ones() -> None:
    model = load()
    effort, damping, friction = np.transpose(ASSUMED)
    np.testing.assert_array_equal(model.limits.effort, effort)
    np.testing.assert_array_equal(model.limits.velocity, np.full(6, math.pi))
    np.testing.assert_array_equal(model.damping, damping)
    np.testing.assert_array_equal(model.friction, friction)


def test_es5_refuses_an_unknown_inertia_set() -> None:
    with pytest.raises(UrdfError, match="inertia_set must be 'es5' or 'es5_cylinder', got 'ur5'"):
        load(inertia_set='ur5')
