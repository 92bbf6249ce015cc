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
A slow and plain second opinion on the dynamics: Kane's equations in world coordinates.

Every link's pose, velocity and acceleration follow from its parent's by the rules for a point and
a frame that move in a moving frame. Partial velocities are the velocities at unit speeds. Then

    tau_j = sum over links of  (dv_com/dv_j) . m (a_com - g)  +  (dw/dv_j) . (I w' + w x I w)

No recursion of wrenches, no spatial algebra, no joint subspaces: only the description of the
robot is shared with what is tested.

"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.core.model.description import Joint, JointType
from robot_dynamics_ros.core.model.robot_model import RobotModel

Array = NDArray[np.float64]

WIDTHS = {JointType.FLOATING: (7, 6), JointType.PLANAR: (3, 3)}
"""Entries in q and in v, where they are not (1, 1)."""


@dataclass(frozen=True)
class Motion:
    """Pose, velocity and acceleration of a link's origin, all expressed in world axes."""

    rotation: Array
    position: Array
    v: Array
    w: Array
    v_dot: Array
    w_dot: Array


@dataclass(frozen=True)
class Relative:
    """Motion of a joint's child in the joint frame: what is added is seen from the joint frame."""

    rotation: Array
    displacement: Array
    rate: Array
    second_rate: Array
    spin: Array
    spin_rate: Array


REST = Motion(np.eye(3), *np.zeros((5, 3)))


def cross(left: Array, right: Array) -> Array:
    """Return the cross product."""
    return np.asarray(np.cross(left, right))


def plane_axes(normal: Array) -> Array:
    """Return a plane's axes: z, or -z by half a turn about x, turned the short way to `normal`."""
    start = np.diag([1.0, 1.0, 1.0] if normal[2] >= 0.0 else [1.0, -1.0, -1.0])
    sine = cross(start[:, 2], normal)
    if np.linalg.norm(sine) == 0.0:
        return start
    angle = np.arctan2(np.linalg.norm(sine), start[:, 2] @ normal)
    turn = Rotation.from_rotvec(angle * sine / np.linalg.norm(sine))
    return np.asarray(turn.as_matrix() @ start)


def relative_motion(joint: Joint, q: Array, v: Array, a: Array) -> Relative:
    """Return how the child moves in the joint frame."""
    none = np.zeros(3)
    kind, axis = joint.type, joint.axis
    if kind is JointType.FIXED:
        return Relative(np.eye(3), none, none, none, none, none)
    if kind is JointType.PRISMATIC:
        return Relative(np.eye(3), q[0] * axis, v[0] * axis, a[0] * axis, none, none)
    if kind is JointType.PLANAR:
        in_plane = plane_axes(axis)[:, :2]
        turn = Rotation.from_rotvec(q[2] * axis).as_matrix()
        return Relative(
            turn, in_plane @ q[:2], in_plane @ v[:2], in_plane @ a[:2], v[2] * axis, a[2] * axis
        )
    if kind is JointType.FLOATING:
        # v is given in the child's axes: d/dt (R v) = R (v' + w x v), d/dt (R w) = R w'
        turn = Rotation.from_quat(q[3:]).as_matrix()
        second = turn @ (a[:3] + cross(v[3:], v[:3]))
        return Relative(turn, q[:3], turn @ v[:3], second, turn @ v[3:], turn @ a[3:])
    turn = Rotation.from_rotvec(q[0] * axis).as_matrix()
    return Relative(turn, none, none, none, v[0] * axis, a[0] * axis)


def moved(parent: Motion, joint: Joint, relative: Relative) -> Motion:
    """Return the child's motion from its parent's."""
    arm = parent.rotation @ joint.translation
    axes = parent.rotation @ joint.rotation
    r = arm + axes @ relative.displacement
    rate, spin = axes @ relative.rate, axes @ relative.spin
    return Motion(
        rotation=axes @ relative.rotation,
        position=parent.position + r,
        v=parent.v + cross(parent.w, r) + rate,
        w=parent.w + spin,
        v_dot=parent.v_dot
        + cross(parent.w_dot, r)
        + cross(parent.w, cross(parent.w, r))
        + 2.0 * cross(parent.w, rate)
        + axes @ relative.second_rate,
        w_dot=parent.w_dot + axes @ relative.spin_rate + cross(parent.w, spin),
    )


class Oracle:
    """Dynamics of one model, from its description and its options."""

    def __init__(self, model: RobotModel) -> None:
        self.model = model
        self.description = model.description
        self.gravity = np.array(model.options.gravity)
        self.joints: list[Joint] = []
        self.slices: dict[str, tuple[slice, slice]] = {}
        children = {joint.child for joint in self.description.joints}
        self.root = next(li.name for li in self.description.links if li.name not in children)
        self.nq = self.nv = 0
        self.base: Joint | None = None
        if model.options.floating_base:
            self.base = Joint('root_joint', JointType.FLOATING, '', self.root)
            self._number(self.base)
        self._visit(self.root)

    def _visit(self, link: str) -> None:
        for joint in self.description.joints:
            if joint.parent == link:
                self.joints.append(joint)
                held = joint.type is JointType.FIXED or joint.name in self.model.options.locked
                if not held and joint.mimic is None:
                    self._number(joint)
                self._visit(joint.child)

    def _number(self, joint: Joint) -> None:
        nq, nv = WIDTHS.get(joint.type, (1, 1))
        self.slices[joint.name] = (
            slice(self.nq, self.nq + nq),
            slice(self.nv, self.nv + nv),
        )
        self.nq, self.nv = self.nq + nq, self.nv + nv

    def _coordinates(self, joint: Joint, q: Array, v: Array, a: Array) -> tuple[Array, ...]:
        """Return the joint's own q, v, a: its entries, its lock value, or what it mimics."""
        if joint.mimic is not None and joint.type is not JointType.FIXED:
            leader = next(j for j in self.joints if j.name == joint.mimic.joint)
            lead_q, lead_v, lead_a = self._coordinates(leader, q, v, a)
            k = joint.mimic.multiplier
            return k * lead_q + joint.mimic.offset, k * lead_v, k * lead_a
        if joint.type is JointType.FIXED:
            return np.zeros(0), np.zeros(0), np.zeros(0)
        if joint.name in self.model.options.locked:
            nv = WIDTHS.get(joint.type, (1, 1))[1]
            value = np.atleast_1d(np.asarray(self.model.options.locked[joint.name], dtype=float))
            return value, np.zeros(nv), np.zeros(nv)
        in_q, in_v = self.slices[joint.name]
        return q[in_q], v[in_v], a[in_v]

    def motions(self, q: Array, v: Any = None, a: Any = None) -> dict[str, Motion]:
        """Return the motion of every link."""
        v = np.zeros(self.nv) if v is None else v
        a = np.zeros(self.nv) if a is None else a
        result = {self.root: REST}
        if self.base is not None:
            relative = relative_motion(self.base, *self._coordinates(self.base, q, v, a))
            result[self.root] = moved(REST, self.base, relative)
        for joint in self.joints:
            relative = relative_motion(joint, *self._coordinates(joint, q, v, a))
            result[joint.child] = moved(result[joint.parent], joint, relative)
        return result

    def jacobians(self, q: Array) -> dict[str, tuple[Array, Array]]:
        """Return for each link the Jacobians of its origin and of its rotation, each (3, nv)."""
        columns = [self.motions(q, unit) for unit in np.eye(self.nv)]
        return {
            name: (
                np.array([column[name].v for column in columns]).reshape(self.nv, 3).T,
                np.array([column[name].w for column in columns]).reshape(self.nv, 3).T,
            )
            for name in self.motions(q)
        }

    def masses(self) -> list[tuple[str, float, Array, Array]]:
        """Return (link, mass, com, inertia about com) of every mass that moves, in link axes."""
        rigid = [
            (link.name, link.inertial.mass, link.inertial.com, link.inertial.inertia)
            for link in self.description.links
            if link.inertial is not None and self.model.frames[link.name].body >= 0
        ]
        payload = self.model.payload
        if payload is not None:
            rigid.append((payload.frame, payload.mass, payload.com, payload.inertia))
        return rigid

    def armature(self) -> Array:
        """Return the diagonal-like part of M that armatures add: sum of k^2 I at the leader."""
        total = np.zeros(self.nv)
        for name, value in self.model.options.armature.items():
            joint, k = next(j for j in self.joints if j.name == name), 1.0
            while joint.mimic is not None:
                k *= joint.mimic.multiplier
                leader = joint.mimic.joint
                joint = next(j for j in self.joints if j.name == leader)
            total[self.slices[joint.name][1]] += k * k * value
        return total

    def rnea(self, q: Array, v: Array, a: Array, f_ext: Any = None) -> Array:
        """Return the efforts; `f_ext` holds one wrench [f; n] for each body, in its own frame."""
        motions, jacobians = self.motions(q, v, a), self.jacobians(q)
        tau = self.armature() * a
        for name, mass, com, inertia in self.masses():
            m, (jv, jw) = motions[name], jacobians[name]
            c, tensor = m.rotation @ com, m.rotation @ inertia @ m.rotation.T
            a_com = m.v_dot + cross(m.w_dot, c) + cross(m.w, cross(m.w, c))
            force = mass * (a_com - self.gravity)
            moment = tensor @ m.w_dot + cross(m.w, tensor @ m.w)
            tau += (jv + cross(jw.T, c).T).T @ force + jw.T @ moment
        if f_ext is not None:
            for name, wrench in zip(self.model.body_names, f_ext):
                rotation, (jv, jw) = motions[name].rotation, jacobians[name]
                tau -= jv.T @ rotation @ wrench[:3] + jw.T @ rotation @ wrench[3:]
        return tau

    def mass_matrix(self, q: Array) -> Array:
        """Return M from the kinetic energy's quadratic form."""
        motions, jacobians = self.motions(q), self.jacobians(q)
        matrix = np.diag(self.armature())
        for name, mass, com, inertia in self.masses():
            rotation, (jv, jw) = motions[name].rotation, jacobians[name]
            j_com = jv + cross(jw.T, rotation @ com).T
            matrix += mass * j_com.T @ j_com + jw.T @ rotation @ inertia @ rotation.T @ jw
        return matrix

    def potential_energy(self, q: Array) -> float:
        """Return minus the sum of m g . com over what moves."""
        motions = self.motions(q)
        return -sum(
            mass * float(self.gravity @ (motions[name].position + motions[name].rotation @ com))
            for name, mass, com, _ in self.masses()
        )

    def center_of_mass(self, q: Array) -> Array:
        """Return the centre of mass of what moves, in world coordinates."""
        motions = self.motions(q)
        first = sum(
            mass * (motions[name].position + motions[name].rotation @ com)
            for name, mass, com, _ in self.masses()
        )
        return np.asarray(first / sum(mass for _, mass, _, _ in self.masses()))

    def step(self, q: Array, v: Array, dt: float) -> Array:
        """Return q after `dt` at constant v: exact turn, and a shift along the mean direction."""
        result = np.array(q, dtype=float)
        joints = [*([self.base] if self.base else []), *self.joints]
        for joint in joints:
            if joint.name not in self.slices:
                continue
            in_q, in_v = self.slices[joint.name]
            if joint.type is not JointType.FLOATING:
                result[in_q] += dt * v[in_v]
                continue
            turn = Rotation.from_quat(q[in_q][3:])
            linear, spin = v[in_v][:3], v[in_v][3:]
            halfway = turn * Rotation.from_rotvec(0.5 * dt * spin)
            end = turn * Rotation.from_rotvec(dt * spin)
            shift = dt * halfway.apply(linear)
            result[in_q] = np.concatenate([q[in_q][:3] + shift, end.as_quat()])
        return result

    def directional_derivative(
        self, function: Callable[[Array], Any], q: Array, v: Array, dt: float = 1e-5
    ) -> Any:
        """Return d/dt function(q(t)) along v by central differences: error of order dt^2."""
        ahead, behind = function(self.step(q, v, dt)), function(self.step(q, v, -dt))
        return (np.asarray(ahead) - np.asarray(behind)) / (2.0 * dt)

    def gradient(self, function: Callable[[Array], Any], q: Array) -> Array:
        """Return the derivative of a scalar function along each degree of freedom."""
        return np.array(
            [self.directional_derivative(function, q, unit) for unit in np.eye(self.nv)]
        )
