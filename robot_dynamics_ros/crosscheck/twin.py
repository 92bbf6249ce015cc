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

Two joints that differ only in convention keep their difference in the description too: the frame
that Pinocchio moves with a planar joint is turned against the link frame (see `clean_urdf`), so
that wrenches, inertial parameters and regressors of that body are turned back.

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.core.model.robot_model import MovingJoint, RobotModel
from robot_dynamics_ros.core.model.tree import resolve_mimics
from robot_dynamics_ros.crosscheck.abilities import knows_armature, right_jacobian_rates
from robot_dynamics_ros.crosscheck.clean_urdf import clean_urdf, CleanUrdf

ROOT_JOINT = 'root_joint'
"""The name that Pinocchio gives to the joint of a floating base."""


class PinocchioTwin:
    """
    A Pinocchio model of the same robot.

    Attributes
    ----------
    model, data : pinocchio.Model, pinocchio.Data
    joint_ids : list of int
        Pinocchio's joint for each of our bodies.
    placements : list of pinocchio.SE3
        Our body frame in the frame of that joint.
    frame_ids : dict of str to int
        Pinocchio's frame for each link.
    parameter_maps : list of ndarray, shape (10, 10)
        For each body, the map from our inertial parameters to those in the frame of Pinocchio's
        joint.
    rigid : pinocchio.Model
        The robot without armature. The energy of the rotors is wrong in Pinocchio 4.1 for axes
        that are not along x, y or z; kinetic energy is taken from here, and theirs is added.
    armature : ndarray, shape (model.nv,)
    missing_armature : ndarray, shape (model.nv,)
        Armature that Pinocchio's algorithms leave out; zero but for old versions.
    right_jacobian_rates : set of str
        Reference frames in which Pinocchio's rate of a frame's Jacobian is right; see `abilities`.

    """

    def __init__(self, pin: Any, robot: RobotModel) -> None:
        self.pin = pin
        self.robot = robot
        clean = clean_urdf(robot.description)
        options = robot.options
        arguments = [pin.JointModelFreeFlyer()] if options.floating_base else []
        model = pin.buildModelFromXML(clean.text, *arguments)
        self._carry_payload(model, clean)
        model = self._hold_joints(model, clean)
        model.gravity = pin.Motion(np.array(options.gravity, dtype=float), np.zeros(3))
        self.joints = sorted(robot.joints, key=lambda joint: joint.body)
        names = {ROOT_JOINT: ROOT_JOINT, **clean.joints} if options.floating_base else clean.joints
        self.joint_ids = [model.getJointId(names[joint.name]) for joint in self.joints]
        self.model = model
        # (idx_q, nq, idx_v, nv) of each joint: reading them from the model anew is slow
        found = [model.joints[joint_id] for joint_id in self.joint_ids]
        self.slots = [(joint.idx_q, joint.nq, joint.idx_v, joint.nv) for joint in found]
        self.frame_ids = {
            name: model.getFrameId(alias, pin.FrameType.BODY)
            for name, alias in clean.links.items()
        }
        body_frames = [model.frames[self.frame_ids[name]] for name in robot.body_names]
        self.placements = [frame.placement for frame in body_frames]
        self.parameter_maps = [_parameter_map(np.array(p.rotation)) for p in self.placements]
        armature = np.zeros(model.nv)
        for joint, (_, _, index, _) in zip(self.joints, self.slots):
            armature[index] = options.armature.get(joint.name, 0.0)
        self.armature = armature
        self.rigid = model.copy() if armature.any() else model
        used = knows_armature(pin)
        if used:
            model.armature = armature
        self.missing_armature = np.zeros(model.nv) if used else armature
        self.right_jacobian_rates = right_jacobian_rates(pin)
        self.data = model.createData()

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

    def _hold_joints(self, model: Any, clean: CleanUrdf) -> Any:
        """Return the model with locked joints, and those that mimic them, held where they are."""
        description = self.robot.description
        held = {name: np.atleast_1d(value) for name, value in self.robot.options.locked.items()}
        for name, mimic in resolve_mimics(description.joints).items():
            if mimic.joint in held:
                held[name] = mimic.multiplier * held[mimic.joint] + mimic.offset
        if not held:
            return model
        q = self.pin.neutral(model)
        types = {joint.name: joint.type for joint in description.joints}
        types[ROOT_JOINT] = types.get(ROOT_JOINT, JointType.FLOATING)
        joint_ids = []
        for name, value in held.items():
            joint_id = model.getJointId(clean.joints.get(name, ROOT_JOINT))
            joint_ids.append(joint_id)
            joint = model.joints[joint_id]
            q[joint.idx_q : joint.idx_q + joint.nq] = _position(types[name], joint.nq, value)
        return self.pin.buildReducedModel(model, joint_ids, q)

    def configuration(self, q: Vector) -> Vector:
        """Return Pinocchio's configuration vector for our `q`, shape (model.nq,)."""
        result = np.empty(self.model.nq)
        for ours, (start, nq, _, _) in zip(self.joints, self.slots):
            result[start : start + nq] = _position(ours.type, nq, _own_position(ours, q))
        return result

    def velocity_map(self, q: Vector) -> Matrix:
        """Return `T` of ``v_pin = T(q) v``, shape (model.nv, nv)."""
        result = np.zeros((self.model.nv, self.robot.nv))
        for ours, (_, _, row, nv) in zip(self.joints, self.slots):
            block, column = np.eye(nv), ours.v_index
            if ours.mimic is not None:
                block = np.array([[ours.mimic.multiplier]])
            elif ours.type is JointType.PLANAR:
                block[:2, :2] = _plane_to_moved_frame(q[ours.q_index + 2])
            result[row : row + nv, column : column + nv] = block
        return result

    def velocity_map_rate(self, q: Vector, v: Vector) -> Matrix:
        """Return the time derivative of `velocity_map`, shape (model.nv, nv)."""
        result = np.zeros((self.model.nv, self.robot.nv))
        for ours, (_, _, row, _) in zip(self.joints, self.slots):
            if ours.type is JointType.PLANAR:
                column = ours.v_index
                # d/dt R(theta)^T: the angle a quarter turn further, times the rate
                turned = _plane_to_moved_frame(q[ours.q_index + 2] + 0.5 * np.pi)
                result[row : row + 2, column : column + 2] = v[column + 2] * turned
        return result

    def wrenches(self, f_ext: Matrix) -> Any:
        """Return Pinocchio's external forces for one wrench per body in that body's frame."""
        forces = [self.pin.Force.Zero() for _ in range(self.model.njoints)]
        for joint_id, placement, wrench in zip(self.joint_ids, self.placements, f_ext):
            forces[joint_id] = placement.act(self.pin.Force(wrench))
        result = self.pin.StdVec_Force()
        result.extend(forces)
        return result


def _own_position(joint: MovingJoint, q: Vector) -> Vector:
    size = {JointType.PLANAR: 3, JointType.FLOATING: 7}.get(joint.type, 1)
    value = q[joint.q_index : joint.q_index + size]
    if joint.mimic is not None:
        return joint.mimic.multiplier * value + joint.mimic.offset
    return value


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
