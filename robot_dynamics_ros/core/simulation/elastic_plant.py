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

r"""
A simulated robot with elastic joints: motor torque in, motion of links and motors out.

The equations stand in `elastic_joints`, the two methods in `elastic_steps`. The explicit one is
refused where it would be unstable; the message states the longest step that is not.

"""

from __future__ import annotations

from math import ceil
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Vector
from robot_dynamics_ros.core.dynamics import aba, mass_matrix_inverse
from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    NonFiniteError,
    SingularMassMatrixError,
)
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.model.robot_model import require_single_joints, RobotModel
from robot_dynamics_ros.core.simulation.elastic_joints import ElasticJoints, largest_stable_step
from robot_dynamics_ros.core.simulation.elastic_steps import (
    elastic_block_kernel,
    LAW_ROWS,
    NOT_CONVERGED,
    SCRATCH_ROWS,
)

ELASTIC_INTEGRATORS = ('rk4', 'implicit')

_SURELY_STABLE = 2.6
"""Radius of the half disk of the left half-plane in which the Runge-Kutta method is stable."""


class ElasticState(NamedTuple):
    """
    State of an `ElasticPlant`; every array is a copy.

    Attributes
    ----------
    time : float
        Simulated time [s].
    q, v : ndarray, shape (n,)
        Position and velocity of the links [rad | m, rad/s | m/s].
    theta, v_motor : ndarray, shape (n,)
        Position and velocity of the motors on the joint's side of the gear; those of the link
        where the joint is rigid [rad | m, rad/s | m/s].
    tau : ndarray, shape (n,)
        Motor torque during the last step [N m | N].
    tau_friction : ndarray, shape (n,)
        Friction at the motors during the last internal step, with the sign of the velocity [N m |
        N].
    tau_joint : ndarray, shape (n,)
        Torque in the springs, as a torque sensor behind the gear would show it; nan where the
        joint is rigid [N m | N].

    """

    time: float
    q: Vector
    v: Vector
    theta: Vector
    v_motor: Vector
    tau: Vector
    tau_friction: Vector
    tau_joint: Vector


class ElasticPlant:
    """
    A robot in free motion whose joints are elastic, all or some of them.

    Parameters
    ----------
    model : RobotModel
        Robot with joints of one coordinate. Its armatures do not count, see `elastic`.
    elastic : ElasticJoints
        Stiffness, damping and the inertias of all rotors.
    friction : DryFriction, optional
        Friction at the motors. Its load is the torque in the spring, or that of the motor where
        the joint is rigid.
    dt_internal : float
        Longest internal step [s].
    integrator : str
        ``rk4`` or ``implicit``.
    q, v, theta, v_motor : array_like, shape (n,), optional
        State at the start: links at zero and at rest by default, motors like the links.

    Raises
    ------
    ConfigurationError
        If the integrator is unknown, the step is not positive or too long for ``rk4``, or
        elasticity or friction have other joints.
    ModelError
        If a joint has several coordinates.
    SingularMassMatrixError
        If a link moves no inertia.

    """

    def __init__(
        self,
        model: RobotModel,
        elastic: ElasticJoints,
        friction: DryFriction | None = None,
        *,
        dt_internal: float = 1e-3,
        integrator: str = 'rk4',
        q: Any = None,
        v: Any = None,
        theta: Any = None,
        v_motor: Any = None,
    ) -> None:
        require_single_joints(model, 'simulation')
        if integrator not in ELASTIC_INTEGRATORS:
            raise ConfigurationError(
                f"integrator '{integrator}' is not one of: {', '.join(ELASTIC_INTEGRATORS)}"
            )
        if not 0.0 < dt_internal < np.inf:
            raise ConfigurationError(f'dt_internal is {dt_internal} s, expected > 0')
        if friction is not None and friction.joint_names != model.v_names:
            raise ConfigurationError(
                f'the friction is for {friction.joint_names}, the robot has {model.v_names}'
            )
        self.link_model = elastic.link_model(model)
        self.elastic = elastic
        self.friction = friction
        self.dt_internal = float(dt_internal)
        self.integrator = integrator
        n, self._index = model.nv, elastic.indices
        size = n + len(self._index)
        # What acts on the joint acts on its motor, or on its link if it has none of its own.
        self._actuated = np.arange(n)
        self._actuated[self._index] = np.arange(n, size)
        self._motors = np.array(
            [
                self._index.astype(float),
                elastic.stiffness[self._index],
                elastic.damping[self._index],
                elastic.motor_inertia[self._index],
            ]
        )
        self._law = np.zeros((0, size))
        if friction is not None:
            self._law = np.zeros((LAW_ROWS, size))
            self._law[3:5] = 1.0
            self._law[:-1, self._actuated] = friction.packed
            self._law[-1, self._actuated] = friction.load_coefficient
        self._tau = np.zeros(n)
        self._push, self._friction = np.zeros(size), np.zeros(size)
        self._work = np.empty(self.link_model.work_shape)
        self._scratch = (
            np.zeros_like(self._law),
            np.zeros((SCRATCH_ROWS, size)),
            np.zeros((4, n)),
            np.zeros((n, n)),
            np.zeros((size, size)),
        )
        self._time = 0.0
        self.reset(q, v, theta, v_motor)
        aba(self.link_model, self._x[:n], np.zeros(n), np.zeros(n))  # refuses a singular matrix
        self._require_stable_step(self.dt_internal)
        self._advance(self._x.copy(), self._u.copy(), np.zeros(size), self.dt_internal, 0)

    @property
    def state(self) -> ElasticState:
        """Return the present state."""
        n, act, index = len(self._tau), self._actuated, self._index
        x, u = self._x, self._u
        tau_joint = np.full(n, np.nan)
        stretch, rate = x[n:] - x[index], u[n:] - u[index]
        tau_joint[index] = self._motors[1] * stretch + self._motors[2] * rate
        return ElasticState(
            self._time,
            x[:n].copy(),
            u[:n].copy(),
            x[act],
            u[act],
            self._tau.copy(),
            self._friction[act],
            tau_joint,
        )

    def reset(
        self,
        q: Any = None,
        v: Any = None,
        theta: Any = None,
        v_motor: Any = None,
        time: float = 0.0,
    ) -> ElasticState:
        """
        Put the robot into a state; links at zero and at rest by default, motors like the links.

        Raises
        ------
        DimensionError
            If a vector has the wrong shape.
        NonFiniteError
            If a number is not finite.

        """
        n = len(self._tau)
        q = as_finite('q', np.zeros(n) if q is None else q, (n,))
        v = as_finite('v', np.zeros(n) if v is None else v, (n,))
        theta = q if theta is None else as_finite('theta', theta, (n,))
        v_motor = v if v_motor is None else as_finite('v_motor', v_motor, (n,))
        self._x = np.concatenate((q, theta[self._index]))
        self._u = np.concatenate((v, v_motor[self._index]))
        self._tau[:] = 0.0
        self._friction[:] = 0.0
        self._time = time
        return self.state

    def step(self, tau: Any, dt: float) -> ElasticState:
        """
        Move on by `dt` under motor torques that are held.

        Parameters
        ----------
        tau : array_like, shape (n,)
            Torques of the motors on the joint's side of the gear [N m | N].
        dt : float
            Time [s]; it is split into equal internal steps.

        Raises
        ------
        ConfigurationError
            If `dt` is not positive, or the internal step is too long for the method here.
        DimensionError
            If `tau` has the wrong shape.
        NonFiniteError
            If `tau` or the new state is not finite; the state then stays as it was.
        SingularMassMatrixError
            If a link moves no inertia.

        """
        tau = as_finite('tau', tau, (len(self._tau),))
        if not 0.0 < dt < np.inf:
            raise ConfigurationError(f'dt is {dt} s, expected > 0')
        count = max(1, ceil(dt / self.dt_internal * (1.0 - 1e-9)))
        self._require_stable_step(dt / count)
        self._push[self._actuated] = tau
        x, u, friction = self._x.copy(), self._u.copy(), self._friction.copy()
        self._advance(x, u, friction, dt / count, count)
        self._x, self._u, self._friction = x, u, friction
        self._tau[:] = tau
        self._time += dt
        return self.state

    def _advance(self, x: Vector, u: Vector, friction: Vector, dt: float, count: int) -> None:
        status, done = elastic_block_kernel(
            self.link_model.kernel, self._work, self._motors, self._law, self._push, x, u,
            friction, dt, count, self.integrator == 'implicit', *self._scratch,
        )  # fmt: skip
        if done == count:
            return
        time = self._time + done * dt
        if status == NOT_CONVERGED:
            raise ConfigurationError(
                f'the implicit step of {dt:g} s did not converge at {time:.6g} s: the links move '
                'too fast for it; choose a smaller dt_internal'
            )
        if status >= 0:
            raise SingularMassMatrixError(self.link_model.v_names[status])
        raise NonFiniteError('the simulated state', f' at {time:.6g} s')

    def _require_stable_step(self, dt: float) -> None:
        """
        Refuse a step that is too long for the explicit method where the robot is now.

        The modes are looked at only if a cheap bound of them does not settle it: the trace of the
        stiffness over the mass is more than the square of every frequency.

        Raises
        ------
        ConfigurationError
            If the step is too long.

        """
        if self.integrator != 'rk4' or not len(self._index):
            return
        n = len(self._tau)
        mobility = np.diag(mass_matrix_inverse(self.link_model, self._x[:n]))[self._index]
        mobility = mobility + 1.0 / self._motors[3]
        fastest = float(np.sqrt(self._motors[1] @ mobility) + self._motors[2] @ mobility)
        if dt * fastest <= _SURELY_STABLE:
            return
        limit = largest_stable_step(*self.elastic.pencil(self.link_model, self._x[:n]))
        if dt > limit:
            raise ConfigurationError(
                f'an internal step of {dt:.4g} s makes rk4 unstable with these elastic joints: '
                f'here it must be {limit:.4g} s or less; choose a smaller dt_internal or the '
                "integrator 'implicit'"
            )
