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
A simulated robot in free motion with any friction law of the joints.

For what `Plant` does not solve together with contacts: bristles (LuGre, Dahl), levels that grow
with the load of the joint, and viscous friction that differs with the direction. Each internal
step is split. The friction of the step before is held like the torque and gives a predicted state,
by the fourth-order Runge-Kutta method or by semi-implicit Euler; then the velocity is corrected
such that it fulfils the law at the end of the step (`stick_slip`, `bristle_step`). The load of a
joint is the torque of its motor. Position limits do not stop the joints.

"""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.dynamics import aba, BoundDynamics
from robot_dynamics_ros.core.dynamics.external_wrench import external_efforts
from robot_dynamics_ros.core.exceptions import ConfigurationError, NonFiniteError
from robot_dynamics_ros.core.friction.bristle_step import bristle_step_kernel, bristle_work
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_law import JointFrictionLaw
from robot_dynamics_ros.core.friction.stick_slip import friction_step_kernel, loaded_law_kernel
from robot_dynamics_ros.core.model.robot_model import require_single_joints, RobotModel
from robot_dynamics_ros.core.simulation.free_motion import FreeMotion
from robot_dynamics_ros.core.simulation.plant import (
    INTEGRATORS,
    names_beyond_limits,
    Plant,
    PlantState,
    untouched_state,
    Works,
)


def plant_with_friction(
    model: RobotModel,
    friction: JointFrictionLaw | None,
    *,
    dt_internal: float = 1e-3,
    integrator: str = 'rk4',
    **surroundings: Any,
) -> Plant | FrictionPlant:
    """
    Return the plant that can have a friction law: `Plant` if possible, else `FrictionPlant`.

    Parameters
    ----------
    model : RobotModel
        The robot.
    friction : DryFriction, LuGreFriction, DahlFriction or None
        Joint friction.
    dt_internal : float
        Longest internal step [s].
    integrator : str
        ``rk4`` or ``semi_implicit``.
    **surroundings
        What else `Plant` takes.

    Raises
    ------
    ConfigurationError
        If the friction law and the surroundings do not go together, or as `Plant`.

    """
    if friction is None or (isinstance(friction, DryFriction) and friction.is_plain):
        return Plant(
            model, friction, dt_internal=dt_internal, integrator=integrator, **surroundings
        )
    if surroundings.get('world') or surroundings.get('self_collision'):
        raise ConfigurationError(
            'bristles, friction that grows with the load and viscous friction that differs with '
            'the direction are not simulated together with contacts: leave out one of them'
        )
    return FrictionPlant(model, friction, dt_internal=dt_internal, integrator=integrator)


class FrictionPlant:
    """
    A robot in free motion with joint friction, in the form of a `Plant`.

    Parameters
    ----------
    model : RobotModel
        Robot with joints of one coordinate; armature included.
    friction : DryFriction, LuGreFriction or DahlFriction
        Joint friction.
    dt_internal : float
        Longest internal step [s].
    integrator : str
        ``rk4`` or ``semi_implicit``.
    q, v : array_like, shape (n,), optional
        State at the start; zeros by default.

    Attributes
    ----------
    model : RobotModel
    deflection : ndarray, shape (n,)
        Deflection of the bristles, zero without any [rad | m].

    Raises
    ------
    ConfigurationError
        If the integrator is unknown, the step is not positive, or the friction has other joints.
    ModelError
        If a joint has several coordinates.

    """

    def __init__(
        self,
        model: RobotModel,
        friction: JointFrictionLaw,
        *,
        dt_internal: float = 1e-3,
        integrator: str = 'rk4',
        q: Any = None,
        v: Any = None,
    ) -> None:
        require_single_joints(model, 'simulation with joint friction')
        if integrator not in INTEGRATORS:
            raise ConfigurationError(
                f"integrator '{integrator}' is not one of: {', '.join(INTEGRATORS)}"
            )
        if not 0.0 < dt_internal < np.inf:
            raise ConfigurationError(f'dt_internal is {dt_internal} s, expected > 0')
        if friction.joint_names != model.v_names:
            raise ConfigurationError(
                f'the friction is for {friction.joint_names}, the robot has {model.v_names}'
            )
        n = model.nv
        self.model = model
        self.friction = friction
        self.dt_internal = float(dt_internal)
        self.integrator = integrator
        self._motion = FreeMotion(model, integrator)
        self._dynamics = BoundDynamics(model)
        self._law = np.array(friction.packed)
        self._loaded = self._law.copy()
        self._coefficient = np.array(friction.load_coefficient)
        self._mass: Matrix = np.zeros((n, n))
        self._work = None if isinstance(friction, DryFriction) else bristle_work(n)
        self._tau, self._tau_friction = np.zeros(n), np.zeros(n)
        self._works = np.zeros(3)  # of actuators, friction and wrenches
        self.deflection: Vector = np.zeros(n)
        self._time = 0.0
        self.reset(q, v)
        self._correct(self._q, self._v, self._v.copy(), 1e-3, self._v.copy(), self._v.copy())

    @property
    def state(self) -> PlantState:
        """Return the present state."""
        tau, friction = self._tau.copy(), self._tau_friction.copy()
        a = aba(self.model, self._q, self._v, tau - friction)
        by_actuators, by_friction, by_wrenches = self._works.tolist()
        works = Works(by_actuators, by_friction, 0.0, 0.0, by_wrenches)
        return untouched_state(
            self.model, self._time, self._q.copy(), self._v.copy(), tau, friction, a, works
        )

    @property
    def solver_counts(self) -> tuple[int, int]:
        """Return no linear systems of contacts and no impacts."""
        return 0, 0

    def reset(self, q: Any = None, v: Any = None, time: float = 0.0) -> PlantState:
        """
        Put the robot into a state, the bristles relaxed; zeros by default.

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
        for array in (self._tau, self._tau_friction, self.deflection, self._works):
            array[:] = 0.0
        self._time = time
        return self.state

    def step(self, tau: Any, dt: float, f_ext: Any = None) -> PlantState:
        """
        Move on by `dt` under a torque that is held.

        Parameters
        ----------
        tau : array_like, shape (n,)
            Actuator torque [N m | N].
        dt : float
            Time [s]; it is split into equal internal steps.
        f_ext : array_like, shape (nbodies, 6), optional
            Wrench on each body, as in `Plant.step`.

        Raises
        ------
        ConfigurationError
            If `dt` is not positive.
        DimensionError
            If an input has the wrong shape.
        NonFiniteError
            If an input or the new state is not finite; the state then stays as it was.

        """
        model = self.model
        tau = as_finite('tau', tau, (model.nv,))
        if not 0.0 < dt < np.inf:
            raise ConfigurationError(f'dt is {dt} s, expected > 0')
        count = max(1, ceil(dt / self.dt_internal * (1.0 - 1e-9)))
        loaded_law_kernel(self._law, self._coefficient, tau, self._loaded)
        q, v = self._q.copy(), self._v.copy()
        friction, deflection = self._tau_friction.copy(), self.deflection.copy()
        works = self._works.copy()
        for _ in range(count):
            acting = tau if f_ext is None else tau + external_efforts(model, q, f_ext)
            before = q.copy()
            self._internal_step(q, v, acting, dt / count, friction, deflection)
            way = q - before
            with np.errstate(over='ignore', invalid='ignore'):  # judged below
                works += (tau @ way, -friction @ way, (acting - tau) @ way)
        if not np.isfinite((q, v, friction, deflection)).all():
            raise NonFiniteError('the simulated state', f' at {self._time + dt:.6g} s')
        self._q, self._v, self._tau_friction, self.deflection = q, v, friction, deflection
        self._works = works
        self._tau[:] = tau
        self._time += dt
        return self.state

    def _internal_step(
        self, q: Vector, v: Vector, tau: Vector, dt: float, friction: Vector, z: Vector
    ) -> None:
        """Move `q`, `v`, `friction` and the deflection `z` on by one step, in place."""
        before, old = q.copy(), v.copy()
        self._motion.advance(q, v, tau - friction, dt, 1, self._time)
        v_new = self._correct(q, old, v, dt, friction, z)
        q += (0.5 * dt if self.integrator == 'rk4' else dt) * (v_new - v)
        stuck = (old == 0.0) & (v_new == 0.0)
        q[stuck] = before[stuck]
        v[:] = v_new

    def _correct(
        self, q: Vector, old: Vector, smooth: Vector, dt: float, friction: Vector, z: Vector
    ) -> Vector:
        """Return the velocity that fulfils the friction law at the end of a step."""
        v_new = np.empty_like(smooth)
        self._dynamics.crba(q, self._mass)
        law, mass = self._loaded, self._mass
        if self._work is None:
            friction_step_kernel(law, mass, old, smooth, dt, friction, v_new)
        else:
            bristle_step_kernel(law, mass, old, smooth, dt, z, friction, v_new, self._work)
        return v_new

    def joints_beyond_limits(self) -> tuple[str, ...]:
        """Return the names of the joints outside their position limits, which do not stop them."""
        return names_beyond_limits(self.model, self._q)
