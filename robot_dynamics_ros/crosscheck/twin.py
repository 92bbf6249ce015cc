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
The same robot in Pinocchio, and the maps between the two conventions.

Pinocchio orders joints by name; here each joint is found by name. With ``v_pin = T(q) v`` every
quantity of Pinocchio comes over by the chain rule:

    a_pin = T a + T' v        tau = T^T tau_pin         M = T^T M_pin T
    C = T^T C_pin T + T^T M_pin T'                       J = J_pin T,  J' = J_pin' T + J_pin T'

`T` has a one for a revolute, continuous or prismatic joint; the multiplier for a joint that mimics
another (our own reduction: Pinocchio's forward dynamics refuse mimic joints); the identity for a
floating joint, where both sides use the velocity in the body frame; and for a planar joint the
rotation from the joint's plane to the moved frame, since Pinocchio takes planar velocity in the
moved frame and we take ``v = d(x, y, theta)/dt``. A continuous joint is one angle here and ``(cos,
sin)`` there.

The frame that Pinocchio moves with a planar joint is turned against the link frame (see
`clean_urdf`); wrenches, inertial parameters and regressors of that body are turned back.

"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.model.description import Joint, JointType
from robot_dynamics_ros.core.model.robot_model import MovingJoint, RobotModel
from robot_dynamics_ros.crosscheck.abilities import knows_armature, right_jacobian_rates
from robot_dynamics_ros.crosscheck.clean_urdf import clean_urdf, CleanUrdf

ROOT_JOINT = 'root_joint'
"""The name that Pinocchio gives to the joint of a floating base."""


@dataclass(frozen=True)
class Slot:
    """
    Place of one moving joint on both sides.

    Attributes
    ----------
    name : str
    kind : JointType
    follows : bool
        Whether it mimics another joint, whose coordinates are then its own times `multiplier` plus
        `offset`.
    multiplier, offset : float
    q, v : slice
        Its entries, or those of the joint that it follows, in our vectors.
    pin_q, pin_v : slice
        Its entries in Pinocchio's vectors.

    """

    name: str
    kind: JointType
    follows: bool
    multiplier: float
    offset: float
    q: slice
    v: slice
    pin_q: slice
    pin_v: slice

    def position(self, q: Vector) -> Vector:
        """Return the entries of Pinocchio's configuration."""
        value = self.multiplier * q[self.q] + self.offset if self.follows else q[self.q]
        return _position(self.kind, self.pin_q.stop - self.pin_q.start, value)


class PinocchioTwin:
    """
    A Pinocchio model of the same robot.

    Attributes
    ----------
    model, data : pinocchio.Model, pinocchio.Data
    joint_ids : list of int
        Pinocchio's joint for each of our bodies.
    slots : list of Slot
        Where that joint's coordinates are.
    placements : list of pinocchio.SE3
        Our body frame in the frame of that joint.
    parameter_maps : list of ndarray, shape (10, 10)
        For each body, the map from our inertial parameters to those in the frame of that joint.
    frame_ids : dict of str to int
        Pinocchio's frame for each link.
    rigid : pinocchio.Model
        The robot without armature. The energy of the rotors is wrong in Pinocchio 4.1 for axes
        that are not along x, y or z; kinetic energy is taken from here, and theirs is added.
    armature : ndarray, shape (model.nv,)
    missing_armature : ndarray, shape (model.nv,)
        Armature that Pinocchio's algorithms leave out; zero but for old versions.
    base_joint : str
        Our name of the joint of a floating base.
    right_jacobian_rates : set of str
        Reference frames in which Pinocchio's rate of a frame's Jacobian is right; see `abilities`.

    """

    def __init__(self, pin: Any, robot: RobotModel) -> None:
        self.pin = pin
        self.robot = robot
        self.leaders = _leaders(robot.description.joints)
        clean = clean_urdf(robot.description)
        names = dict(clean.joints)
        arguments = []
        self.base_joint = ROOT_JOINT
        if robot.options.floating_base:
            self.base_joint = robot.joint_names[0]
            names[self.base_joint] = ROOT_JOINT
            self.leaders[self.base_joint] = (self.base_joint, 1.0, 0.0)
            arguments = [pin.JointModelFreeFlyer()]
        model = pin.buildModelFromXML(clean.text, *arguments)
        self._carry_payload(model, clean)
        model = self._hold_joints(model, names)
        model.gravity = pin.Motion(np.array(robot.options.gravity, dtype=float), np.zeros(3))
        bodies = sorted(robot.joints, key=lambda joint: joint.body)
        self.joint_ids = [model.getJointId(names[joint.name]) for joint in bodies]
        self.slots = [self._slot(j, model.joints[i]) for j, i in zip(bodies, self.joint_ids)]
        self.frame_ids = {
            name: model.getFrameId(alias, pin.FrameType.BODY)
            for name, alias in clean.links.items()
        }
        frames = [model.frames[self.frame_ids[name]] for name in robot.body_names]
        self.placements = [frame.placement for frame in frames]
        self.parameter_maps = [_parameter_map(np.array(p.rotation)) for p in self.placements]
        self._arm(model)
        self.model = model
        self.data = model.createData()
        self.right_jacobian_rates = right_jacobian_rates(pin)

    def _slot(self, ours: MovingJoint, theirs: Any) -> Slot:
        leader, multiplier, offset = self.leaders[ours.name]
        first = next(joint for joint in self.robot.joints if joint.name == leader)
        nq = {JointType.PLANAR: 3, JointType.FLOATING: 7}.get(ours.type, 1)
        return Slot(
            name=ours.name,
            kind=ours.type,
            follows=leader != ours.name,
            multiplier=multiplier,
            offset=offset,
            q=slice(first.q_index, first.q_index + nq),
            v=slice(first.v_index, first.v_index + theirs.nv),
            pin_q=slice(theirs.idx_q, theirs.idx_q + theirs.nq),
            pin_v=slice(theirs.idx_v, theirs.idx_v + theirs.nv),
        )

    def _arm(self, model: Any) -> None:
        """Give the joints their armature, as far as Pinocchio knows it."""
        self.armature = np.zeros(model.nv)
        for slot in self.slots:
            self.armature[slot.pin_v] = self.robot.options.armature.get(slot.name, 0.0)
        self.rigid = model.copy() if self.armature.any() else model
        self.missing_armature = self.armature
        if knows_armature(self.pin):
            model.armature = self.armature
            self.missing_armature = np.zeros(model.nv)

    def _carry_payload(self, model: Any, clean: CleanUrdf) -> None:
        payload = self.robot.payload
        if payload is None:
            return
        link = payload.frame
        if link not in clean.links:
            link = next(j.child for j in self.robot.description.joints if j.name == payload.frame)
        frame = model.frames[model.getFrameId(clean.links[link], self.pin.FrameType.BODY)]
        inertia = self.pin.Inertia(payload.mass, np.array(payload.com), np.array(payload.inertia))
        parent = frame.parentJoint if hasattr(frame, 'parentJoint') else frame.parent
        model.appendBodyToJoint(parent, inertia, frame.placement)

    def _hold_joints(self, model: Any, names: dict[str, str]) -> Any:
        """Return the model with locked joints, and those that mimic them, held where they are."""
        locked = self.robot.options.locked
        kinds = {joint.name: joint.type for joint in self.robot.description.joints}
        kinds.setdefault(self.base_joint, JointType.FLOATING)
        q = self.pin.neutral(model)
        joint_ids = []
        for name, (leader, multiplier, offset) in self.leaders.items():
            if leader not in locked or kinds[name] is JointType.FIXED:
                continue
            value = np.atleast_1d(locked[leader])
            if leader != name:
                value = multiplier * value + offset
            joint_ids.append(model.getJointId(names[name]))
            joint = model.joints[joint_ids[-1]]
            q[joint.idx_q : joint.idx_q + joint.nq] = _position(kinds[name], joint.nq, value)
        return self.pin.buildReducedModel(model, joint_ids, q) if joint_ids else model

    def configuration(self, q: Vector) -> Vector:
        """Return Pinocchio's configuration vector for our `q`, shape (model.nq,)."""
        result = np.empty(self.model.nq)
        for slot in self.slots:
            result[slot.pin_q] = slot.position(q)
        return result

    def velocity_map(self, q: Vector) -> Matrix:
        """Return `T` of ``v_pin = T(q) v``, shape (model.nv, nv)."""
        result = np.zeros((self.model.nv, self.robot.nv))
        for slot in self.slots:
            block = np.eye(slot.pin_v.stop - slot.pin_v.start) * slot.multiplier
            if slot.kind is JointType.PLANAR:
                block[:2, :2] = _plane_to_moved_frame(q[slot.q][2])
            result[slot.pin_v, slot.v] = block
        return result

    def velocity_map_rate(self, q: Vector, v: Vector) -> Matrix:
        """Return the time derivative of `velocity_map`, shape (model.nv, nv)."""
        result = np.zeros((self.model.nv, self.robot.nv))
        for slot in self.slots:
            if slot.kind is JointType.PLANAR:
                # d/dt R(theta)^T: the angle a quarter turn further, times the rate
                block = np.zeros((3, 3))
                block[:2, :2] = v[slot.v][2] * _plane_to_moved_frame(q[slot.q][2] + 0.5 * np.pi)
                result[slot.pin_v, slot.v] = block
        return result

    def wrenches(self, f_ext: Matrix) -> Any:
        """Return Pinocchio's external forces for one wrench per body in that body's frame."""
        forces = [self.pin.Force.Zero() for _ in range(self.model.njoints)]
        for joint_id, placement, wrench in zip(self.joint_ids, self.placements, f_ext):
            forces[joint_id] = placement.act(self.pin.Force(wrench))
        result = self.pin.StdVec_Force()
        result.extend(forces)
        return result


def _leaders(joints: Iterable[Joint]) -> dict[str, tuple[str, float, float]]:
    """
    Return for each joint the joint that it follows in the end, with multiplier and offset.

    A joint that mimics none follows itself. Chains are resolved here once more, so that an error
    in the model's own resolution shows.

    """
    by_name = {joint.name: joint for joint in joints}

    def follow(joint: Joint) -> tuple[str, float, float]:
        if joint.mimic is None or joint.type is JointType.FIXED:
            return joint.name, 1.0, 0.0
        leader, multiplier, offset = follow(by_name[joint.mimic.joint])
        return (
            leader,
            joint.mimic.multiplier * multiplier,
            joint.mimic.multiplier * offset + joint.mimic.offset,
        )

    return {name: follow(joint) for name, joint in by_name.items()}


def _position(kind: JointType, nq: int, value: Vector) -> Vector:
    """Return one joint's entries of Pinocchio's configuration."""
    if kind is JointType.PLANAR:
        return np.array([value[0], value[1], np.cos(value[2]), np.sin(value[2])])
    if kind is JointType.FLOATING:
        quaternion = value[3:] / np.linalg.norm(value[3:])
        return np.concatenate([value[:3], quaternion])
    if nq == 2:
        return np.array([np.cos(value[0]), np.sin(value[0])])
    return value


def _plane_to_moved_frame(angle: float) -> Matrix:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s], [-s, c]])


def _parameter_map(rotation: Matrix) -> Matrix:
    """Return how [m, mc, Ixx, Ixy, Iyy, Ixz, Iyz, Izz] turn under a rotation, shape (10, 10)."""
    rows, columns = [0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]
    result = np.zeros((10, 10))
    result[0, 0] = 1.0
    result[1:4, 1:4] = rotation
    for k in range(6):
        tensor = np.zeros((3, 3))
        tensor[rows[k], columns[k]] = tensor[columns[k], rows[k]] = 1.0
        result[4:, 4 + k] = (rotation @ tensor @ rotation.T)[rows, columns]
    return result
