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

"""
DART as a third library, on arms whose links all have mass.

DART reads the cleaned URDF text that Pinocchio gets, with its own reader.

"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
import pytest

from robot_dynamics_ros.core.dynamics import (
    aba,
    coriolis_matrix,
    crba,
    frame_jacobian,
    generalized_gravity,
    kinetic_energy,
    mass_matrix_inverse,
    potential_energy,
    ReferenceFrame,
    rnea,
)
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import JointType, RobotDescription
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import read_urdf
from robot_dynamics_ros.crosscheck.clean_urdf import clean_urdf
from robot_dynamics_ros.resources import urdf_path
from robots import gripper, prismatic, random_state, six_axis, two_link

dart = pytest.importorskip('dartpy')

Array = NDArray[np.float64]
TOLERANCE = 1e-12  # sums over at most 6 bodies, relative to the largest entry


def without_massless_frames(description: RobotDescription) -> RobotDescription:
    """Leave out fixed links without inertia, to which DART gives 1 kg; none carries another."""
    empty = {link.name for link in description.links if link.inertial is None}
    joints = tuple(
        joint
        for joint in description.joints
        if not (joint.type is JointType.FIXED and joint.child in empty)
    )
    used = {joint.parent for joint in joints} | {joint.child for joint in joints}
    links = tuple(link for link in description.links if link.name in used)
    return replace(description, links=links, joints=joints)


def unmimicked(description: RobotDescription) -> RobotDescription:
    joints = tuple(replace(joint, mimic=None) for joint in description.joints)
    return replace(description, joints=joints)


MODELS = {
    'two_link': build_model(without_massless_frames(two_link()), gravity=(0.0, -9.81, 0.0)),
    'prismatic': build_model(prismatic()),
    'six_axis': build_model(without_massless_frames(six_axis())),
    'gripper': build_model(unmimicked(gripper())),
    'es5': build_model(without_massless_frames(read_urdf(urdf_path('es5.urdf.xacro')))),
}


class DartTwin:
    """The same robot in DART."""

    def __init__(self, model: RobotModel) -> None:
        self.names = clean_urdf(model.description)
        loader = dart.utils.DartLoader()
        options = dart.utils.DartLoaderOptions()
        options.mDefaultRootJointType = dart.utils.DartLoaderRootJointType.FIXED
        loader.setOptions(options)
        self.skeleton = loader.parseSkeletonString(self.names.text, 'file:///robot.urdf')
        self.skeleton.setGravity(np.array(model.gravity))
        # `order[j]` is DART's index of our degree of freedom j.
        self.order = [
            self.skeleton.getDof(self.names.joints[name]).getIndexInSkeleton()
            for name in model.joint_names
        ]

    def theirs(self, ours: Array) -> Array:
        result = np.empty(len(self.order))
        result[self.order] = ours
        return result


@pytest.mark.parametrize('name', MODELS)
def test_dynamics_agree_with_dart(name: str) -> None:
    model = MODELS[name]
    twin = DartTwin(model)
    skeleton, order = twin.skeleton, twin.order
    pick = np.ix_(order, order)
    rng = np.random.default_rng(10)
    for _ in range(10):
        s = random_state(model, rng)
        skeleton.setPositions(twin.theirs(s.q))
        skeleton.setVelocities(twin.theirs(s.v))
        mass = skeleton.getMassMatrix()[pick]
        check = [
            (crba(model, s.q), mass),
            (generalized_gravity(model, s.q), skeleton.getGravityForces()[order]),
            (coriolis_matrix(model, s.q, s.v) @ s.v, skeleton.getCoriolisForces()[order]),
        ]
        skeleton.setAccelerations(twin.theirs(s.a))
        skeleton.computeInverseDynamics(False, False, False)
        check.append((rnea(model, s.q, s.v, s.a), skeleton.getForces()[order]))
        size = max(float(np.abs(check[-1][1]).max()), float(np.abs(mass).max()))
        for got, wanted in check:
            assert np.abs(got - wanted).max() < TOLERANCE * size
        kinetic = kinetic_energy(model, s.q, s.v)
        assert kinetic == pytest.approx(skeleton.computeKineticEnergy(), rel=1e-12)
        skeleton.setForces(twin.theirs(s.tau))
        skeleton.computeForwardDynamics()
        wanted = skeleton.getAccelerations()[order]
        # Accelerations carry the condition number of the mass matrix, up to 1e5.
        got = aba(model, s.q, s.v, s.tau)
        assert np.abs(got - wanted).max() < 1e-10 * np.abs(wanted).max()
        inverse = skeleton.getInvMassMatrix()[pick]
        got = mass_matrix_inverse(model, s.q)
        assert np.abs(got - inverse).max() < 1e-10 * np.abs(inverse).max()


@pytest.mark.parametrize('name', MODELS)
def test_potential_energy_differs_from_darts_by_a_constant(name: str) -> None:
    """DART counts the root link too, which does not move."""
    model = MODELS[name]
    twin = DartTwin(model)
    rng = np.random.default_rng(11)
    offsets = []
    for _ in range(5):
        s = random_state(model, rng)
        twin.skeleton.setPositions(twin.theirs(s.q))
        offsets.append(twin.skeleton.computePotentialEnergy() - potential_energy(model, s.q))
    assert max(offsets) - min(offsets) < 1e-11  # rounding of 100 J


@pytest.mark.parametrize('name', MODELS)
def test_jacobians_agree_with_dart(name: str) -> None:
    model = MODELS[name]
    twin = DartTwin(model)
    s = random_state(model, np.random.default_rng(12))
    twin.skeleton.setPositions(twin.theirs(s.q))
    for link in model.body_names:
        node = twin.skeleton.getBodyNode(twin.names.links[link])
        # DART: angular part first, only the columns of joints between the root and the body
        theirs = twin.skeleton.getWorldJacobian(node)
        ours = frame_jacobian(model, s.q, link, ReferenceFrame.LOCAL_WORLD_ALIGNED)
        assert np.abs(ours - np.vstack([theirs[3:], theirs[:3]])[:, twin.order]).max() < 1e-12
