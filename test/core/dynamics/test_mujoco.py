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
MuJoCo as a second library, on robots with joints of one coordinate and on a floating base.

The robot goes over as MJCF text that is written here; MuJoCo reads, orders and solves on its own.
MuJoCo's free joint has its linear velocity in world axes, ours in those of the body.

"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.core.dynamics import (
    aba,
    center_of_mass,
    coriolis_matrix,
    crba,
    frame_jacobian,
    frame_placement,
    generalized_gravity,
    kinetic_energy,
    nonlinear_effects,
    ReferenceFrame,
    rnea,
)
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import Joint, JointType, RobotDescription
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import urdf_path
from robots import HEAVY_BASE, named_models, random_state, six_axis, State

mujoco = pytest.importorskip('mujoco')

Array = NDArray[np.float64]
TOLERANCE = 1e-12  # sums over at most 7 bodies, relative to the largest entry
SLIDING = JointType.PRISMATIC


def numbers(values: object) -> str:
    return ' '.join(repr(float(value)) for value in np.ravel(values))


def body_text(model: RobotModel, link: str, joint: Joint | None) -> str:
    """Return the MJCF of a link and all that hangs on it; `joint` leads to it."""
    lines = []
    if joint is None:
        lines.append(f'<body name="{link}">')
        if model.options.floating_base:
            lines.append('<freejoint name="root_joint"/>')
    else:
        x, y, z, w = Rotation.from_matrix(joint.rotation).as_quat()
        pose = f'pos="{numbers(joint.translation)}" quat="{numbers([w, x, y, z])}"'
        lines.append(f'<body name="{link}" {pose}>')
        if joint.type is not JointType.FIXED:
            kind = 'slide' if joint.type is SLIDING else 'hinge'
            rotor = model.options.armature.get(joint.name, 0.0)
            lines.append(
                f'<joint name="{joint.name}" type="{kind}" axis="{numbers(joint.axis)}" '
                f'armature="{float(rotor)!r}"/>'
            )
    inertial = next(li.inertial for li in model.description.links if li.name == link)
    if inertial is not None:
        i = inertial.inertia
        entries = (i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
        lines.append(
            f'<inertial pos="{numbers(inertial.com)}" mass="{float(inertial.mass)!r}" '
            f'fullinertia="{numbers(entries)}"/>'
        )
    for child in model.description.joints:
        if child.parent == link:
            lines.append(body_text(model, child.child, child))
    return '\n'.join([*lines, '</body>'])


class MujocoTwin:
    """The same robot in MuJoCo."""

    def __init__(self, model: RobotModel) -> None:
        self.robot = model
        children = {joint.child for joint in model.description.joints}
        root = next(li.name for li in model.description.links if li.name not in children)
        text = (
            '<mujoco><compiler angle="radian" inertiafromgeom="false"/>'
            f'<option gravity="{numbers(model.gravity)}"/>'
            f'<worldbody>{body_text(model, root, None)}</worldbody></mujoco>'
        )
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)

    def set_state(self, s: State) -> None:
        """Put the robot into a state, and keep the map `T` from our velocities to MuJoCo's."""
        robot, model, data = self.robot, self.model, self.data
        self.T = np.zeros((robot.nv, robot.nv))
        drift = np.zeros(robot.nv)
        for joint in robot.joints:
            there = model.joint(joint.name)
            iq, iv = int(there.qposadr[0]), int(there.dofadr[0])
            if joint.type is JointType.FLOATING:
                q = s.q[joint.q_index : joint.q_index + 7]
                data.qpos[iq : iq + 7] = [*q[:3], q[6], *q[3:6]]
                rotation = Rotation.from_quat(q[3:]).as_matrix()
                own = slice(joint.v_index, joint.v_index + 3)
                self.T[iv : iv + 3, own] = rotation
                self.T[iv + 3 : iv + 6, joint.v_index + 3 : joint.v_index + 6] = np.eye(3)
                spin = s.v[joint.v_index + 3 : joint.v_index + 6]
                drift[iv : iv + 3] = rotation @ np.cross(spin, s.v[own])
            else:
                data.qpos[iq] = s.q[joint.q_index]
                self.T[iv, joint.v_index] = 1.0
        data.qvel[:] = self.T @ s.v
        data.qacc[:] = self.T @ s.a + drift
        self.drift = drift
        acceleration = np.array(data.qacc)
        mujoco.mj_forward(model, data)
        data.qacc[:] = acceleration

    def mass_matrix(self) -> Array:
        """Return M in our coordinates, from the efforts of unit accelerations at rest."""
        model, data = self.model, self.data
        velocity, acceleration = np.array(data.qvel), np.array(data.qacc)
        data.qvel[:] = 0.0
        mujoco.mj_fwdVelocity(model, data)
        bias = self._rne(np.zeros(model.nv))
        columns = [self._rne(unit) - bias for unit in np.eye(model.nv)]
        data.qvel[:], data.qacc[:] = velocity, acceleration
        mujoco.mj_fwdVelocity(model, data)
        matrix = np.array(columns).T + np.diag(model.dof_armature)
        return np.asarray(self.T.T @ matrix @ self.T)

    def _rne(self, acceleration: Array) -> Array:
        self.data.qacc[:] = acceleration
        result = np.empty(self.model.nv)
        mujoco.mj_rne(self.model, self.data, 1, result)
        return result

    def inverse_dynamics(self) -> Array:
        """Return the efforts of the state's acceleration, in our coordinates."""
        acceleration = np.array(self.data.qacc)
        efforts = self._rne(acceleration) + self.model.dof_armature * acceleration
        return np.asarray(self.T.T @ efforts)


def robots() -> dict[str, RobotModel]:
    """Return robots that MuJoCo takes: each body has positive moments of inertia of its own."""
    models = named_models()
    chosen = {
        name: models[name] for name in ('pendulum', 'prismatic', 'six_axis', 'six_axis_armature')
    }
    chosen['es5'] = load_urdf(urdf_path('es5.urdf.xacro'))
    chosen['six_axis_floating'] = build_model(six_axis_on_a_base(), floating_base=True)
    return chosen


def six_axis_on_a_base() -> RobotDescription:
    arm = six_axis()
    return RobotDescription('six_axis', (HEAVY_BASE, *arm.links[1:]), arm.joints)


MODELS = robots()


@pytest.fixture(params=MODELS, ids=str)
def model(request: pytest.FixtureRequest) -> RobotModel:
    return MODELS[request.param]


def relative(got: object, wanted: object, floor: float = 1e-3) -> float:
    got, wanted = np.asarray(got), np.asarray(wanted)
    return float(np.abs(got - wanted).max() / max(np.abs(wanted).max(), floor))


def test_dynamics_agree_with_mujoco(model: RobotModel) -> None:
    twin = MujocoTwin(model)
    rng = np.random.default_rng(8)
    for _ in range(10):
        s = random_state(model, rng)
        twin.set_state(s)
        mass = twin.mass_matrix()
        assert relative(crba(model, s.q), mass) < TOLERANCE
        efforts = twin.inverse_dynamics()
        assert relative(rnea(model, s.q, s.v, s.a), efforts) < TOLERANCE
        bias = twin.T.T @ twin.data.qfrc_bias + twin.T.T @ (
            (np.linalg.inv(twin.T).T @ mass @ np.linalg.inv(twin.T)) @ twin.drift
        )
        assert relative(nonlinear_effects(model, s.q, s.v), bias, floor=1.0) < TOLERANCE
        speeds = bias - generalized_gravity(model, s.q)
        got = coriolis_matrix(model, s.q, s.v) @ s.v
        assert relative(got, speeds, floor=max(1.0, np.abs(bias).max())) < TOLERANCE
        # Accelerations carry the condition number of the mass matrix, up to 1e4.
        wanted = np.linalg.solve(mass, s.tau - bias)
        assert relative(aba(model, s.q, s.v, s.tau), wanted) < 1e-10
        assert kinetic_energy(model, s.q, s.v) == pytest.approx(0.5 * s.v @ mass @ s.v, rel=1e-12)


def test_frames_and_center_of_mass_agree_with_mujoco(model: RobotModel) -> None:
    twin = MujocoTwin(model)
    rng = np.random.default_rng(9)
    aligned = ReferenceFrame.LOCAL_WORLD_ALIGNED
    for _ in range(5):
        s = random_state(model, rng)
        twin.set_state(s)
        for link in model.body_names:
            theirs = twin.data.body(link)
            pose = frame_placement(model, s.q, link)
            assert relative(pose.rotation, theirs.xmat.reshape(3, 3)) < TOLERANCE
            assert relative(pose.translation, theirs.xpos) < TOLERANCE
            linear, angular = np.zeros((2, 3, model.nv))
            number = twin.model.body(link).id
            mujoco.mj_jacBody(twin.model, twin.data, linear, angular, number)
            jacobian = np.vstack([linear, angular]) @ twin.T
            assert relative(frame_jacobian(model, s.q, link, aligned), jacobian) < TOLERANCE
        if model.total_mass == model.moving_mass:
            root = twin.data.subtree_com[1]
            assert relative(center_of_mass(model, s.q), root) < TOLERANCE
