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
The robot as the dynamics see it: a frozen tree of bodies, with names beside every array.

Order of the joints: depth first from the root link, children in the order in which the source
lists their joints. For a serial arm this is from base to tip. Joints that are fixed, locked or
mimic another have no coordinates of their own.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
import threading
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ModelError, UnknownFrameError, UnknownJointError
from robot_dynamics_ros.core.model.description import Finding, JointType, Mimic, RobotDescription
from robot_dynamics_ros.core.model.kernel_layout import WORK_WIDTH
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.pickled_state import PickledByFields

if TYPE_CHECKING:
    from typing import Any


STANDARD_GRAVITY = (0.0, 0.0, -9.81)


class Scratch(threading.local):
    """
    A work array for the kernels, another one in each thread: kernels run without the GIL.

    Attributes
    ----------
    work : ndarray
        The array; the next call of a kernel in this thread overwrites it.

    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self.work: Matrix = np.empty(shape)


@dataclass(frozen=True, eq=False)
class Limits:
    """
    Limits of the degrees of freedom, in the order of `RobotModel.v_names`.

    Attributes
    ----------
    lower, upper : ndarray, shape (nv,)
        Position limits [rad | m]; -inf and inf where there is none.
    velocity : ndarray, shape (nv,)
        Velocity limits [rad/s | m/s]; nan where the source does not state one.
    effort : ndarray, shape (nv,)
        Effort limits [N m | N]; nan where the source does not state one.

    """

    lower: Vector
    upper: Vector
    velocity: Vector
    effort: Vector


@dataclass(frozen=True, eq=False)
class MovingJoint:
    """
    A joint that moves in the model, with its place in the arrays.

    Attributes
    ----------
    name : str
    type : JointType
    body : int
        Index of the body that it moves, in `RobotModel.body_names`.
    q_index, v_index : int
        First entry in `q` and in `v`; those of the joint that it follows if it mimics one.
    mimic : Mimic or None
        The independent joint that it follows, chains of mimics already composed.

    """

    name: str
    type: JointType
    body: int
    q_index: int
    v_index: int
    mimic: Mimic | None = None


@dataclass(frozen=True, eq=False)
class Frame:
    """
    A frame fixed to a body.

    Attributes
    ----------
    name : str
    body : int
        Index in `RobotModel.body_names`, or -1 for the world.
    rotation : ndarray, shape (3, 3)
        Rotation of the frame in the body's own frame.
    translation : ndarray, shape (3,)
        Origin of the frame in the body's own frame [m].
    kernel : ndarray, shape (13,)
        For the compiled kernels: kernel body, then translation and rotation (row by row) in the
        kernel frame.

    """

    name: str
    body: int
    rotation: Matrix
    translation: Vector
    kernel: Vector = field(repr=False)


@dataclass(frozen=True)
class BuildOptions(PickledByFields):
    """How a model was made from its description; see `build_model`."""

    floating_base: bool = False
    gravity: tuple[float, float, float] = STANDARD_GRAVITY
    active_joints: tuple[str, ...] | None = None
    locked: Mapping[str, Any] = field(default_factory=dict)
    armature: Mapping[str, float] = field(default_factory=dict)
    payload: Payload | None = None


@dataclass(frozen=True, eq=False)
class RobotModel(PickledByFields):
    """
    A kinematic tree with inertias, on a fixed or floating base.

    Make one with `load_urdf` or `build_model`. ``M(q) a + C(q, v) v + g(q) + tau_friction(v) = tau
    + J(q)^T f_ext`` is its equation of motion.

    Attributes
    ----------
    name : str
    description : RobotDescription
        The links and joints that it was made from.
    options : BuildOptions
        The choices that it was made with.
    joints : tuple of MovingJoint
        All moving joints, those that mimic another included.
    joint_names : tuple of str
        Names of the joints with coordinates of their own.
    q_names, v_names : tuple of str
        One name for each entry of `q` and of `v`. A joint with several entries adds a suffix, as
        in ``base/x``.
    body_names : tuple of str
        Links that a joint moves; fixed links are part of the body that carries them.
    frames : mapping of str to Frame
        Link frames by link name. `frame` also finds joint frames.
    gravity : ndarray, shape (3,)
        Gravity, expressed in the world frame, which is the base frame of a robot on a fixed base
        [m/s^2].
    limits : Limits
    damping, friction, armature : ndarray, shape (nv,)
        Viscous friction [N m s/rad | N s/m], Coulomb friction [N m | N] and armature [kg m^2 | kg]
        from the source.
    moving_mass, total_mass : float
        Mass of the bodies that move, and of all links and the payload [kg].
    kernel : ndarray, shape (1 + nkernel, WIDTH)
        The packed array for the compiled kernels, see `kernel_layout`.

    """

    name: str
    description: RobotDescription
    options: BuildOptions
    joints: tuple[MovingJoint, ...]
    joint_names: tuple[str, ...]
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    body_names: tuple[str, ...]
    frames: Mapping[str, Frame]
    joint_frames: Mapping[str, Frame]
    gravity: Vector
    limits: Limits
    damping: Vector
    friction: Vector
    armature: Vector
    moving_mass: float
    total_mass: float
    kernel: Matrix = field(repr=False)

    @cached_property
    def nq(self) -> int:
        """Return the number of position coordinates."""
        return len(self.q_names)

    @cached_property
    def nv(self) -> int:
        """Return the number of degrees of freedom."""
        return len(self.v_names)

    @cached_property
    def nbodies(self) -> int:
        """Return the number of bodies that move."""
        return len(self.body_names)

    @cached_property
    def work_shape(self) -> tuple[int, int]:
        """Shape of the scratch array that a kernel needs."""
        return (len(self.kernel), WORK_WIDTH)

    @cached_property
    def scratch(self) -> Scratch:
        """Scratch of the calling thread, for kernels whose work nobody reads afterwards."""
        return Scratch(self.work_shape)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return what was noticed in the source."""
        return self.description.findings

    @property
    def payload(self) -> Payload | None:
        """Return the body that the robot carries, or None."""
        return self.options.payload

    @cached_property
    def mimics(self) -> Mapping[str, Mimic]:
        """For each joint that follows another: which, and how."""
        return MappingProxyType({j.name: j.mimic for j in self.joints if j.mimic is not None})

    @cached_property
    def has_only_single_joints(self) -> bool:
        """Whether `q`, `v` and `joint_names` run in parallel."""
        return self.nq == self.nv == len(self.joint_names)

    def joint_index(self, name: str) -> int:
        """
        Return the first index in `v` of the joint.

        Raises
        ------
        UnknownJointError
            If no independent joint has this name.

        """
        for joint in self.joints:
            if joint.name == name and joint.mimic is None:
                return joint.v_index
        raise UnknownJointError(name, self.joint_names)

    def frame(self, name: str) -> Frame:
        """
        Return a frame by name: a link's, or else a joint's (that of its child link).

        Raises
        ------
        UnknownFrameError
            If neither a link nor a joint has this name.

        """
        found = self.frames.get(name) or self.joint_frames.get(name)
        if found is None:
            raise UnknownFrameError(name, self.frames)
        return found

    def with_payload(self, payload: Payload | None) -> RobotModel:
        """
        Return this robot with another payload instead of the present one; None takes it away.

        Without payload the result is bit for bit the model before any payload.

        """
        if payload is not None and payload.mass == 0.0:
            payload = None
        return self._rebuilt(payload=payload)

    def with_armature(
        self, armature: Mapping[str, float] | Sequence[float] | Vector
    ) -> RobotModel:
        """
        Return this robot with other armatures.

        Parameters
        ----------
        armature : mapping of str to float, or array_like of shape (nv,)
            Inertia at the joint by joint name, or for every degree of freedom in order [kg m^2 |
            kg].

        Raises
        ------
        ModelError
            If an armature is negative or belongs to a joint with several degrees of freedom.
        NonFiniteError, NotNumericError
            If an armature is not a finite real number.
        UnknownJointError
            If a name is not that of a moving joint.

        """
        if not isinstance(armature, Mapping):
            values = as_finite('armature', armature, (self.nv,))
            named = zip(self.v_names, (float(value) for value in values))
            armature = {name: value for name, value in named if value != 0.0}
        return self._rebuilt(armature=dict(armature))

    def with_gravity(self, gravity: Sequence[float] | Vector) -> RobotModel:
        """
        Return this robot under another gravity, expressed in the world (base) frame.

        Raises
        ------
        NonFiniteError
            If an entry is not finite.
        NotNumericError
            If an entry is not a real number.

        """
        x, y, z = as_finite('gravity', gravity, (3,))
        return self._rebuilt(gravity=(float(x), float(y), float(z)))

    def _rebuilt(self, **changes: Any) -> RobotModel:
        from robot_dynamics_ros.core.model.build import build_from_options

        return build_from_options(self.description, replace(self.options, **changes))


def driven_joints(model: RobotModel) -> tuple[str, ...]:
    """Return the names of the joints of one coordinate, which may have a drive and a sensor."""
    several = (JointType.FLOATING, JointType.PLANAR)
    return tuple(
        joint.name for joint in model.joints if joint.mimic is None and joint.type not in several
    )


def require_single_joints(model: RobotModel, purpose: str) -> None:
    """
    Refuse a model with joints of several coordinates.

    Raises
    ------
    ModelError
        If a floating or planar joint moves; the message names it and the `purpose`.

    """
    for joint in model.joints:
        if joint.type in (JointType.FLOATING, JointType.PLANAR):
            raise ModelError(
                f"{purpose} needs joints of one coordinate, but joint '{joint.name}' is "
                f'{joint.type.value}; lock it or choose the active joints'
            )


def neutral(model: RobotModel) -> Vector:
    """Return the configuration of zeros and identity quaternions, shape (nq,)."""
    q = np.zeros(model.nq)
    for joint in model.joints:
        if joint.type is JointType.FLOATING:
            q[joint.q_index + 6] = 1.0
    return q
