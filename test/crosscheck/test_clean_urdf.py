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

from __future__ import annotations

import numpy as np
import pytest

from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.core.model.urdf import read_urdf
from robot_dynamics_ros.core.spatial.rotation import rotation_from_rpy
from robot_dynamics_ros.crosscheck.clean_urdf import clean_urdf, rpy_exact
from robots import random_model, random_rotation, random_tree


@pytest.mark.parametrize('distance', [0.0, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize('side', [-1.0, 1.0])
def test_angles_near_the_poles_give_the_rotation_back(distance: float, side: float) -> None:
    rotation = rotation_from_rpy(0.7, side * (0.5 * np.pi - distance), -1.1)
    back = rotation_from_rpy(*rpy_exact(rotation))
    assert np.abs(back - rotation).max() < 1e-15  # rounding of one product


def test_angles_of_any_rotation_give_it_back() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        rotation = random_rotation(rng)
        assert np.abs(rotation_from_rpy(*rpy_exact(rotation)) - rotation).max() < 2e-15


@pytest.mark.parametrize('seed', range(5))
def test_clean_text_is_the_same_robot_to_our_own_reader(seed: int) -> None:
    """But for friction, limits, mimics, and the frame of planar joints."""
    description = random_tree(np.random.default_rng(seed))
    clean = clean_urdf(description)
    read = read_urdf(clean.text)
    assert set(clean.links.values()) <= {link.name for link in read.links}
    masses = {link.name: link.inertial for link in read.links}
    for link in description.links:
        copied = masses[clean.links[link.name]]
        if link.inertial is None:
            assert copied is None
            continue
        assert copied is not None
        assert copied.mass == link.inertial.mass
        assert np.array_equal(copied.com, link.inertial.com)
        assert np.array_equal(copied.inertia, link.inertial.inertia)
    joints = {joint.name: joint for joint in read.joints}
    for joint in description.joints:
        copied_joint = joints[clean.joints[joint.name]]
        assert copied_joint.type is joint.type
        assert copied_joint.mimic is None
        assert np.array_equal(copied_joint.translation, joint.translation)
        if joint.type is JointType.PLANAR:
            assert np.array_equal(copied_joint.axis, [0.0, 0.0, 1.0])
            normal = copied_joint.rotation @ copied_joint.axis
            assert np.abs(normal - joint.rotation @ joint.axis).max() < 1e-15
        elif joint.type not in (JointType.FIXED, JointType.FLOATING):
            assert np.abs(copied_joint.axis - joint.axis).max() < 1e-15
            assert np.abs(copied_joint.rotation - joint.rotation).max() < 2e-15


def test_names_of_the_robot_do_not_appear() -> None:
    model = random_model(1)
    clean = clean_urdf(model.description)
    assert not any(f'"{name}"' in clean.text for name in model.joint_names)
    assert build_model(read_urdf(clean.text)).nv > 0
