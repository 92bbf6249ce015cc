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
Control laws on the robot's model.

With ``e = q_ref - q`` (the short way round for continuous joints) and ``de = v_ref - v`` the modes
of `InverseDynamicsLaw` are ::

    feedforward      M(q_ref) a_ref + C(q_ref, v_ref) v_ref + g(q_ref)
    pd_feedforward   the same + Kp e + Kd de
    computed_torque  M(q) (a_ref + Kp e + Kd de) + C(q, v) v + g(q)
    pd               Kp e + Kd de
    pd_gravity       Kp e + Kd de + g(q)

each plus ``tau_friction(v_ref)``. Gains of `computed_torque` are in 1/s^2 and 1/s, the others in N
m/rad and N m s/rad.

"""

from __future__ import annotations

from enum import Enum
from math import pi
from typing import Any, NamedTuple, Protocol

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Vector
from robot_dynamics_ros.core.dynamics import BoundDynamics
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.core.model.robot_model import require_single_joints, RobotModel

_TWO_PI = 2.0 * pi
_LARGEST_SCALE = 1.5

Reference = tuple[Vector, Vector, Vector]
"""Position, velocity and acceleration that the arm should have."""


class FrictionTorque(Protocol):
    """Friction of joints: a `FrictionModel`, or one that follows estimates (`OnlineFriction`)."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Return the joints that it is of."""

    def torque(self, v: Vector) -> Vector:
        """Return the friction torque, with the sign of the velocity [N m | N]."""


class ControlMode(str, Enum):
    """The control laws."""

    FEEDFORWARD = 'feedforward'
    PD_FEEDFORWARD = 'pd_feedforward'
    COMPUTED_TORQUE = 'computed_torque'
    PD = 'pd'
    PD_GRAVITY = 'pd_gravity'

    @property
    def has_feedback(self) -> bool:
        """Whether the law needs the measured position and velocity."""
        return self is not ControlMode.FEEDFORWARD


class Terms(NamedTuple):
    """
    The parts of a command, each of shape (nv,) in [N m | N].

    `total` is their sum, without `gravity` if the hardware compensates it.

    """

    inertia: Vector
    coriolis: Vector
    gravity: Vector
    friction: Vector
    feedback: Vector
    total: Vector


class InverseDynamicsLaw:
    """
    Follow a reference with the model's torque.

    Parameters
    ----------
    model : RobotModel
        Arm with joints of one coordinate.
    mode : ControlMode or str
    gravity_compensated_by_hardware : bool
        Whether the robot adds its own gravity torque, which is then left out of the command.
    kp, kd : float or array_like, shape (nv,)
        Gains on position and velocity errors.
    friction : FrictionTorque, optional
        Friction to add, evaluated at the reference velocity.

    Raises
    ------
    ConfigurationError
        If the mode is unknown, a gain is negative, not finite or of the wrong shape, or the
        friction has other joints.
    ModelError
        If a joint has several coordinates.

    """

    def __init__(
        self,
        model: RobotModel,
        mode: ControlMode | str,
        *,
        gravity_compensated_by_hardware: bool,
        kp: Any = 0.0,
        kd: Any = 0.0,
        friction: FrictionTorque | None = None,
    ) -> None:
        require_single_joints(model, 'inverse dynamics control')
        try:
            self.mode = ControlMode(mode)
        except ValueError as error:
            choices = ', '.join(choice.value for choice in ControlMode)
            raise ConfigurationError(f"mode '{mode}' is not one of: {choices}") from error
        n = model.nv
        _check_friction(friction, model)
        self.model = model
        self.kp = _gains('kp', kp, n)
        self.kd = _gains('kd', kd, n)
        self.gravity_compensated_by_hardware = gravity_compensated_by_hardware
        self.friction = friction
        weightless = model.with_gravity((0.0, 0.0, 0.0))
        self._full = BoundDynamics(model)
        self._command = (
            BoundDynamics(weightless) if gravity_compensated_by_hardware else self._full
        )
        self._continuous = _continuous_joints(model)
        self._tau = np.zeros(n)
        self._error = np.zeros(n)
        self._work = np.zeros(n)

    def command(self, q: Vector, v: Vector, reference: Reference) -> Vector:
        """
        Return the torque to command; the array is reused by the next call.

        Parameters
        ----------
        q, v : ndarray, shape (nv,)
            Measured position and velocity, contiguous float64 [rad | m, rad/s | m/s]. Not used by
            `feedforward`.
        reference : tuple of three ndarray, shape (nv,)
            Wanted position, velocity and acceleration.

        Returns
        -------
        tau : ndarray, shape (nv,)
            Actuator torque [N m | N].

        """
        mode, tau = self.mode, self._tau
        n = len(tau)
        q_ref = as_vector('q_ref', reference[0], n)
        v_ref = as_vector('v_ref', reference[1], n)
        a_ref = as_vector('a_ref', reference[2], n)
        if mode is ControlMode.FEEDFORWARD:
            self._command.rnea(q_ref, v_ref, a_ref, tau)
        else:
            q, v = as_vector('q', q, n), as_vector('v', v, n)
            feedback = self._feedback(q, v, q_ref, v_ref)
            if mode is ControlMode.COMPUTED_TORQUE:
                feedback += a_ref
                self._command.rnea(q, v, feedback, tau)
            else:
                if mode is ControlMode.PD_FEEDFORWARD:
                    self._command.rnea(q_ref, v_ref, a_ref, tau)
                elif mode is ControlMode.PD_GRAVITY:
                    self._command.generalized_gravity(q, tau)
                else:
                    tau.fill(0.0)
                tau += feedback
        if self.friction is not None:
            tau += self.friction.torque(v_ref)
        return tau

    def holding_torque(self, q: Vector) -> Vector:
        """Return the part of the command against gravity at `q`, a new array of shape (nv,)."""
        tau = np.empty(self.model.nv)
        self._command.generalized_gravity(q, tau)
        return tau

    def _feedback(self, q: Vector, v: Vector, q_ref: Vector, v_ref: Vector) -> Vector:
        """Return ``Kp e + Kd de``; the array is reused."""
        error, work = self._error, self._work
        np.subtract(q_ref, q, out=error)
        if self._continuous is not None:
            error -= self._continuous * np.round(error / _TWO_PI)
        error *= self.kp
        np.subtract(v_ref, v, out=work)
        work *= self.kd
        error += work
        return error

    def terms(self, q: Vector, v: Vector, reference: Reference) -> Terms:
        """Return the torque of `command` with its parts, as new arrays."""
        mode = self.mode
        n = self.model.nv
        q_ref, v_ref, a_ref = (as_vector('reference', part, n) for part in reference)
        q, v = as_vector('q', q, n), as_vector('v', v, n)
        inertia, coriolis, gravity = np.zeros(n), np.zeros(n), np.zeros(n)
        feedback = np.zeros(n)
        if mode.has_feedback:
            feedback += self._feedback(q, v, q_ref, v_ref)
        if mode is ControlMode.COMPUTED_TORQUE:
            inertia, coriolis, gravity = _parts(self._full, q, v, a_ref)
            feedback = _parts(self._full, q, v, feedback)[0]
        elif mode is ControlMode.PD_GRAVITY:
            self._full.generalized_gravity(q, gravity)
        elif mode is not ControlMode.PD:
            inertia, coriolis, gravity = _parts(self._full, q_ref, v_ref, a_ref)
        friction = np.zeros(n) if self.friction is None else self.friction.torque(v_ref)
        total = inertia + coriolis + friction + feedback
        if not self.gravity_compensated_by_hardware:
            total += gravity
        return Terms(inertia, coriolis, gravity, friction, feedback, total)


class GravityCompensationLaw:
    """
    Hold the arm's weight: ``scale * (g(q) + C(q, v) v) + tau_friction(v)``.

    Parameters
    ----------
    model : RobotModel
        Arm with joints of one coordinate.
    scale : float or array_like, shape (nv,)
        Factor on the model's torque, 0 to 1.5.
    coriolis : bool
        Whether ``C(q, v) v`` is added.
    friction : FrictionTorque, optional
        Friction to add, evaluated at the measured velocity.

    Raises
    ------
    ConfigurationError
        If the scale is out of range, or the friction has other joints.
    ModelError
        If a joint has several coordinates.

    """

    def __init__(
        self,
        model: RobotModel,
        *,
        scale: Any = 1.0,
        coriolis: bool = False,
        friction: FrictionTorque | None = None,
    ) -> None:
        require_single_joints(model, 'gravity compensation')
        n = model.nv
        _check_friction(friction, model)
        self.model = model
        self.scale = _gains('scale', scale, n)
        if self.scale.max(initial=0.0) > _LARGEST_SCALE:
            raise ConfigurationError(f'scale {self.scale.max():g} is more than {_LARGEST_SCALE}')
        self.coriolis = coriolis
        self.friction = friction
        self._dynamics = BoundDynamics(model)
        self._tau = np.zeros(n)

    @property
    def needs_velocity(self) -> bool:
        """Whether `v` must be known."""
        return self.coriolis or self.friction is not None

    def command(self, q: Vector, v: Vector) -> Vector:
        """
        Return the torque to command; the array is reused by the next call.

        Parameters
        ----------
        q, v : ndarray, shape (nv,)
            Measured position and velocity [rad | m, rad/s | m/s].

        Returns
        -------
        tau : ndarray, shape (nv,)
            Actuator torque [N m | N].

        """
        tau = self._tau
        q, v = as_vector('q', q, len(tau)), as_vector('v', v, len(tau))
        if self.coriolis:
            self._dynamics.nonlinear_effects(q, v, tau)
        else:
            self._dynamics.generalized_gravity(q, tau)
        tau *= self.scale
        if self.friction is not None:
            tau += self.friction.torque(v)
        return tau

    def holding_torque(self, q: Vector) -> Vector:
        """Return the part of the command against gravity at `q`, a new array of shape (nv,)."""
        tau = np.empty(self.model.nv)
        self._dynamics.generalized_gravity(q, tau)
        tau *= self.scale
        return tau

    def terms(self, q: Vector, v: Vector) -> Terms:
        """Return the torque of `command` with its parts, as new arrays."""
        n = self.model.nv
        q, v = as_vector('q', q, n), as_vector('v', v, n)
        gravity, coriolis = np.zeros(n), np.zeros(n)
        self._dynamics.generalized_gravity(q, gravity)
        if self.coriolis:
            self._dynamics.nonlinear_effects(q, v, coriolis)
            coriolis -= gravity
        gravity *= self.scale
        coriolis *= self.scale
        friction = np.zeros(n) if self.friction is None else self.friction.torque(v)
        total = gravity + coriolis + friction
        return Terms(np.zeros(n), coriolis, gravity, friction, np.zeros(n), total)


def _parts(
    dynamics: BoundDynamics, q: Vector, v: Vector, a: Vector
) -> tuple[Vector, Vector, Vector]:
    """Return ``M(q) a``, ``C(q, v) v`` and ``g(q)``."""
    tau, effects, gravity = np.empty_like(a), np.empty_like(a), np.empty_like(a)
    dynamics.rnea(q, v, a, tau)
    dynamics.nonlinear_effects(q, v, effects)
    dynamics.generalized_gravity(q, gravity)
    return tau - effects, effects - gravity, gravity


def _continuous_joints(model: RobotModel) -> Vector | None:
    """Return a full turn for each continuous joint, 0 for others; None if there is none."""
    turns = np.zeros(model.nv)
    for joint in model.joints:
        if joint.type is JointType.CONTINUOUS and joint.mimic is None:
            turns[joint.v_index] = _TWO_PI
    return turns if turns.any() else None


def _check_friction(friction: FrictionTorque | None, model: RobotModel) -> None:
    if friction is not None and friction.joint_names != model.joint_names:
        raise ConfigurationError(
            f'the friction is for {", ".join(friction.joint_names)}, '
            f'the robot has {", ".join(model.joint_names)}'
        )


def _gains(name: str, value: Any, n: int) -> Vector:
    """
    Return one gain per joint.

    Raises
    ------
    ConfigurationError
        If a gain is negative or not finite, or there are neither one nor `n`.

    """
    gains = np.asarray(value, dtype=np.float64)
    if gains.shape not in ((), (1,), (n,)):
        raise ConfigurationError(f'{name} has {gains.size} entries, expected one or {n}')
    gains = np.array(np.broadcast_to(gains, n))
    if not np.isfinite(gains).all() or (gains < 0.0).any():
        raise ConfigurationError(f'{name} must be finite and >= 0, got {gains.tolist()}')
    gains.setflags(write=False)
    return gains
