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
A simulated robot: torque in, motion out.

The equation of motion is ``M(q) a + C(q, v) v + g(q) + tau_friction(v) = tau``. Without friction a
step is one of the fourth-order Runge-Kutta method (`rk4`) or of the semi-implicit Euler method
(`semi_implicit`), with the torque held.

With friction the step is split. The friction of the previous step is held like the torque and
gives a predicted state; then the velocity is corrected such that it fulfils the friction law at
the end of the step (`stick_slip`). Joints that stick keep a velocity of exactly zero and do not
creep. Viscous friction is taken at the mean velocity of the step, which is of second order, and at
the end velocity for joints where it decays within the step.

"""

from __future__ import annotations

from math import ceil, isfinite
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Vector
from robot_dynamics_ros.core.dynamics import aba, BoundDynamics
from robot_dynamics_ros.core.exceptions import ConfigurationError, NonFiniteError
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.stick_slip import friction_step_kernel
from robot_dynamics_ros.core.model.robot_model import require_single_joints, RobotModel

INTEGRATORS = ('rk4', 'semi_implicit')


class PlantState(NamedTuple):
    """
    State of a `Plant`; every array is a copy.

    Attributes
    ----------
    time : float
        Simulated time [s].
    q, v : ndarray, shape (nv,)
        Position and velocity [rad | m, rad/s | m/s].
    tau : ndarray, shape (nv,)
        Torque that acted during the last step [N m | N].
    tau_friction : ndarray, shape (nv,)
        Friction during the last internal step, with the sign of the velocity [N m | N].

    """

    time: float
    q: Vector
    v: Vector
    tau: Vector
    tau_friction: Vector


class Plant:
    """
    A robot in free motion.

    Parameters
    ----------
    model : RobotModel
        Robot with joints of one coordinate; armature included.
    friction : DryFriction, optional
        Joint friction.
    dt_internal : float
        Longest internal step [s].
    integrator : str
        ``rk4`` or ``semi_implicit``.
    q, v : array_like, shape (nv,), optional
        State at the start; zeros by default.

    Raises
    ------
    ConfigurationError
        If the integrator is unknown, the step is not positive, or the friction has other joints.
    ModelError
        If a joint has several coordinates.
    SingularMassMatrixError
        If a joint moves no inertia.

    """

    def __init__(
        self,
        model: RobotModel,
        friction: DryFriction | None = None,
        *,
        dt_internal: float = 1e-3,
        integrator: str = 'rk4',
        q: Any = None,
        v: Any = None,
    ) -> None:
        require_single_joints(model, 'simulation')
        if integrator not in INTEGRATORS:
            raise ConfigurationError(
                f"integrator '{integrator}' is not one of: {', '.join(INTEGRATORS)}"
            )
        if not 0.0 < dt_internal < np.inf:
            raise ConfigurationError(f'dt_internal is {dt_internal} s, expected > 0')
        if friction is not None and friction.joint_names != model.v_names:
            raise ConfigurationError(
                f'the friction is for {friction.joint_names}, the robot has {model.v_names}'
            )
        n = model.nv
        self.model = model
        self.friction = friction
        self.dt_internal = float(dt_internal)
        self.integrator = integrator
        self._law = None if friction is None else friction.packed
        self._dynamics = BoundDynamics(model)
        self._tau = np.zeros(n)
        self._tau_friction = np.zeros(n)
        self._mass = np.zeros((n, n))
        self._rates = np.zeros((4, n))
        self._time = 0.0
        self.reset(q, v)
        aba(model, self._q, np.zeros(n), np.zeros(n))  # refuses a singular mass matrix by name
        if self._law is not None:  # compiled here, not in the first step
            friction_step_kernel(
                self._law, np.eye(n), self._v, self._v, 1.0, np.zeros(n), np.zeros(n)
            )

    @property
    def state(self) -> PlantState:
        """Return the present state."""
        return PlantState(
            self._time,
            self._q.copy(),
            self._v.copy(),
            self._tau.copy(),
            self._tau_friction.copy(),
        )

    def reset(self, q: Any = None, v: Any = None, time: float = 0.0) -> PlantState:
        """
        Put the robot into a state; zeros by default.

        Raises
        ------
        DimensionError
            If a vector has the wrong shape.
        NonFiniteError
            If a number is not finite.

        """
        n = self.model.nv
        self._q = np.array(as_finite('q', np.zeros(n) if q is None else q, (n,)))
        self._v = np.array(as_finite('v', np.zeros(n) if v is None else v, (n,)))
        self._tau[:] = 0.0
        self._tau_friction[:] = 0.0
        self._time = time
        return self.state

    def step(self, tau: Any, dt: float) -> PlantState:
        """
        Move on by `dt` under a torque that is held.

        Parameters
        ----------
        tau : array_like, shape (nv,)
            Actuator torque [N m | N].
        dt : float
            Time [s]; it is split into equal internal steps.

        Raises
        ------
        ConfigurationError
            If `dt` is not positive.
        DimensionError
            If `tau` has the wrong shape.
        NonFiniteError
            If `tau` or the new state is not finite; the state then stays as it was.

        """
        tau = as_finite('tau', tau, (self.model.nv,))
        if not 0.0 < dt < np.inf:
            raise ConfigurationError(f'dt is {dt} s, expected > 0')
        count = max(1, ceil(dt / self.dt_internal * (1.0 - 1e-9)))
        q, v, friction = self._q, self._v, self._tau_friction
        for _ in range(count):
            q, v, friction = self._internal_step(q, v, tau, friction, dt / count)
        if not isfinite(q.dot(q) + v.dot(v)):
            raise NonFiniteError('the simulated state', f' at {self._time + dt:.6g} s')
        self._q, self._v, self._tau_friction = q, v, friction
        self._tau[:] = tau
        self._time += dt
        return self.state

    def _internal_step(
        self, q: Vector, v: Vector, tau: Vector, friction: Vector, dt: float
    ) -> tuple[Vector, Vector, Vector]:
        """Return position, velocity and friction at the end of a step."""
        smooth = self._rk4 if self.integrator == 'rk4' else self._semi_implicit
        if self._law is None:
            return *smooth(q, v, tau, dt), friction
        q_new, v_smooth = smooth(q, v, tau - friction, dt)
        friction, v_new = friction.copy(), np.empty_like(v)
        self._dynamics.crba(q_new, self._mass)
        friction_step_kernel(self._law, self._mass, v, v_smooth, dt, friction, v_new)
        change = v_new - v_smooth
        q_new = q_new + (0.5 * dt if self.integrator == 'rk4' else dt) * change
        return np.where((v == 0.0) & (v_new == 0.0), q, q_new), v_new, friction

    def _rk4(self, q: Vector, v: Vector, tau: Vector, dt: float) -> tuple[Vector, Vector]:
        a1, a2, a3, a4 = self._rates
        aba = self._dynamics.aba
        half = 0.5 * dt
        aba(q, v, tau, a1)
        v2 = v + half * a1
        aba(q + half * v, v2, tau, a2)
        v3 = v + half * a2
        aba(q + half * v2, v3, tau, a3)
        v4 = v + dt * a3
        aba(q + dt * v3, v4, tau, a4)
        sixth = dt / 6.0
        return q + sixth * (v + 2.0 * (v2 + v3) + v4), v + sixth * (a1 + 2.0 * (a2 + a3) + a4)

    def _semi_implicit(
        self, q: Vector, v: Vector, tau: Vector, dt: float
    ) -> tuple[Vector, Vector]:
        a = self._rates[0]
        self._dynamics.aba(q, v, tau, a)
        v_new = v + dt * a
        return q + dt * v_new, v_new

    def joints_beyond_limits(self) -> tuple[str, ...]:
        """Return the names of the joints outside their position limits, which do not stop them."""
        limits = self.model.limits
        beyond = (self._q < limits.lower) | (self._q > limits.upper)
        return tuple(n for n, is_beyond in zip(self.model.joint_names, beyond) if is_beyond)
