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
A simulated robot: torque in, motion out, in contact with its surroundings.

The equation of motion is ``M(q) a + C(q, v) v + g(q) + tau_friction(v) = tau + J(q)^T f_ext``.
Where nothing touches and nothing rubs, a step is one of the fourth-order Runge-Kutta method
(`rk4`) or of the semi-implicit Euler method (`semi_implicit`), with the torque held. Friction at
the joints, position limits and contacts are solved together at the end of each step
(`moreau_step`, `rigid_contact`); impacts cut the step (`impact_step`). Joints that stick keep a
velocity of exactly zero and do not creep. Viscous friction is taken at the mean velocity of the
step, which is of second order, and at the end velocity for joints where it decays within the step.

All steps of a call run compiled, in one go; with pairs of bodies that can touch (see `body_pairs`)
step by step, with the possible contacts found anew before each.

"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.contact.body_pairs import BodyPairs
from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape
from robot_dynamics_ros.core.contact.contact_layout import LINK, SURFACE
from robot_dynamics_ros.core.contact.contact_wrench import contact_wrenches_kernel
from robot_dynamics_ros.core.contact.disabled_pairs import as_pairs
from robot_dynamics_ros.core.contact.geometry import plane_contacts
from robot_dynamics_ros.core.contact.impact_step import advance_block, advance_sequence
from robot_dynamics_ros.core.contact.moreau_step import CLOSED
from robot_dynamics_ros.core.contact.step_arrays import (
    ACCELERATION,
    BY_ACTUATORS,
    BY_CONTACTS,
    BY_FRICTION,
    BY_LIMITS,
    BY_WRENCHES,
    DEFLECTION,
    DRY,
    DRY_NEW,
    EXTERNAL,
    IMPACTS,
    ITERATIONS,
    MOTOR,
    Q,
    REACTION,
    RESIDUAL,
    SHOCK,
    Spring,
    SPRING_DAMPING,
    SPRING_STIFFNESS,
    SPRINGS,
    step_arrays,
    TAU,
    V_,
)
from robot_dynamics_ros.core.dynamics import aba
from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
    SingularMassMatrixError,
)
from robot_dynamics_ros.core.friction.friction_law import JointFrictionLaw
from robot_dynamics_ros.core.model.robot_model import neutral, RobotModel
from robot_dynamics_ros.core.simulation.friction_rows import friction_rows
from robot_dynamics_ros.core.simulation.pair_setup import body_pairs
from robot_dynamics_ros.core.simulation.world import World

INTEGRATORS = ('rk4', 'semi_implicit')
CONTACT_MODELS = ('rigid', 'compliant')

UNSOLVED = 1e-4
"""Residual with which a step with pairs of bodies is made again in halves."""

MOST_HALVINGS = 4
"""How often such a step is halved."""


class Contact(NamedTuple):
    """
    A contact that is closed.

    Attributes
    ----------
    link, surface : str
        What touches what.
    point, normal : ndarray, shape (3,)
        Contact point [m] and normal out of the surface, expressed in the world.
    gap : float
        Distance; negative where compliant bodies enter each other [m].
    force : ndarray, shape (3,)
        Force on the link during the last internal step, expressed in the world [N].
    impulse : ndarray, shape (3,)
        Impulse on the link in impacts during the last internal step, in the frame of normal and
        tangents [N s].

    """

    link: str
    surface: str
    point: Vector
    normal: Vector
    gap: float
    force: Vector
    impulse: Vector


class Works(NamedTuple):
    """
    Work done on the robot since the last reset [J].

    The sum is the change of the mechanical energy, to the order of the integrator.

    Attributes
    ----------
    actuators, friction, limits, contacts, wrenches : float
        The damping of elastic joints counts as friction. What bristles and springs store is part
        of the energy.

    """

    actuators: float
    friction: float
    limits: float
    contacts: float
    wrenches: float


class MotorState(NamedTuple):
    """
    Motors and springs of a robot with elastic joints.

    Attributes
    ----------
    theta, v : ndarray, shape (nv,)
        Position and velocity of the motors on the joint's side of the gear; those of the link
        where the joint is rigid, zero at joints of several coordinates [rad | m, rad/s | m/s].
    tau_joint : ndarray, shape (nv,)
        Torque in the springs, as a torque sensor behind the gear would show it; nan where the
        joint is rigid [N m | N].
    energy : float
        Kinetic energy of these motors and energy in the springs [J].

    """

    theta: Vector
    v: Vector
    tau_joint: Vector
    energy: float


class PlantState(NamedTuple):
    """
    State of a `Plant`; every array is a copy.

    Attributes
    ----------
    time : float
        Simulated time [s].
    q : ndarray, shape (nq,)
        Position [rad | m].
    v : ndarray, shape (nv,)
        Velocity [rad/s | m/s].
    tau : ndarray, shape (nv,)
        Torque that acted during the last step [N m | N].
    tau_friction : ndarray, shape (nv,)
        Friction during the last internal step, with the sign of the velocity [N m | N].
    tau_limit : ndarray, shape (nv,)
        Torque of the position limits on the joints during the last internal step [N m | N].
    a : ndarray, shape (nv,)
        Acceleration at this state under the forces of the last internal step, impacts excluded
        [rad/s^2 | m/s^2]: ``rnea(q, v, a, wrenches)`` is ``tau - tau_friction + tau_limit``.
    contacts : tuple of Contact
        What is closed.
    wrenches : ndarray, shape (nbodies, 6)
        Wrench ``[f; n]`` of contacts and of `f_ext` on each body, expressed in the body's own
        (link) frame, about its origin [N, N m].
    residual : float
        Largest residual of the contact solver during the last call, see `rigid_contact`.
    works : Works
        Where the energy came from and went.
    motors : MotorState or None
        Motors and springs of elastic joints, see `ElasticPlant`.

    """

    time: float
    q: Vector
    v: Vector
    tau: Vector
    tau_friction: Vector
    tau_limit: Vector
    a: Vector
    contacts: tuple[Contact, ...]
    wrenches: Matrix
    residual: float
    works: Works
    motors: MotorState | None = None


class Plant:
    """
    A robot in motion.

    Parameters
    ----------
    model : RobotModel
        The robot, armature included.
    friction : DryFriction, LuGreFriction or DahlFriction, optional
        Friction of the joints of one coordinate. Its load is the torque of the motor, or that of
        the spring.
    world : World, optional
        Surroundings; without them nothing touches.
    collisions : sequence of CollisionShape
        Shapes with which the robot touches, see `read_collisions`.
    self_collision : bool
        Whether links touch each other; those at the same joint never do.
    disabled_pairs : sequence of pairs of str, optional
        Links, boxes and spheres that pass through each other, see `read_disabled_pairs`; those of
        the world are added.
    contact_model : str
        ``rigid``, with restitution, or ``compliant``, with stiffness and dissipation.
    joint_limits : bool
        Whether the position limits of the model stop the joints.
    limit_restitution : float
        Restitution at the limits, 0 to 1.
    dt_internal : float
        Longest internal step [s].
    integrator : str
        ``rk4`` or ``semi_implicit``, for free motion.
    q : array_like, shape (nq,), optional
        Position at the start; the neutral one by default.
    v : array_like, shape (nv,), optional
        Velocity at the start; zeros by default.
    springs : sequence of Spring
        Springs between degrees of freedom; `ElasticPlant` makes those of elastic joints. The
        friction of a joint with a spring acts at its motor. With springs `integrator` does not
        count: every step is one of the midpoint rule, see `moreau_step` and `joint_spring`.

    Raises
    ------
    ConfigurationError
        If an option is unknown, the step is not positive, the friction has other joints, a
        disabled pair is unknown, or coal is needed and not installed.
    SingularMassMatrixError
        If a joint moves no inertia.
    UnknownFrameError
        If a shape belongs to no link of the robot.

    """

    def __init__(
        self,
        model: RobotModel,
        friction: JointFrictionLaw | None = None,
        *,
        world: World | None = None,
        collisions: Sequence[CollisionShape] = (),
        self_collision: bool = False,
        disabled_pairs: Any = None,
        contact_model: str = 'rigid',
        joint_limits: bool = False,
        limit_restitution: float = 0.0,
        dt_internal: float = 1e-3,
        integrator: str = 'rk4',
        q: Any = None,
        v: Any = None,
        springs: Sequence[Spring] = (),
    ) -> None:
        _require('integrator', integrator, INTEGRATORS)
        _require('contact_model', contact_model, CONTACT_MODELS)
        if not 0.0 < dt_internal < np.inf:
            raise ConfigurationError(f'dt_internal is {dt_internal} s, expected > 0')
        if not 0.0 <= limit_restitution <= 1.0:
            raise ConfigurationError(f'limit_restitution is {limit_restitution}, expected 0 to 1')
        law = load_coefficient = None
        if friction is not None:
            law, load_coefficient = friction_rows(model, friction, springs)
        self.model = model
        self.friction = friction
        self.world = world or World()
        self.dt_internal = float(dt_internal)
        self.integrator = integrator
        self.contact_model = contact_model
        self._set = plane_contacts(
            model, collisions, self.world.planes, dict(self.world.link_materials)
        )
        self._pairs = body_pairs(
            model,
            self.world,
            collisions,
            self._set,
            as_pairs(disabled_pairs or ()),
            self_collision=self_collision,
        )
        self._arrays = step_arrays(
            model,
            self._set.rows
            if self._pairs is None
            else np.vstack((self._set.rows, self._pairs.rows())),
            law,
            load_coefficient,
            springs,
            has_limits=joint_limits,
            limit_restitution=limit_restitution,
            is_compliant=contact_model == 'compliant',
            is_semi_implicit=integrator == 'semi_implicit',
        )
        self._world_force = np.zeros_like(self._arrays.force)
        aba(
            model, neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        )  # names what is massless
        self.reset(q, v)

    @property
    def state(self) -> PlantState:
        """Return the present state."""
        s, model = self._arrays, self.model
        q, v, tau = s.qs[Q].copy(), s.vs[V_].copy(), s.vs[TAU].copy()
        friction, limit = s.vs[DRY].copy(), s.vs[REACTION].copy()
        contacts: tuple[Contact, ...] = ()
        wrenches = np.zeros((model.nbodies, 6))
        if len(s.candidates):
            contact_wrenches_kernel(
                s.robot, s.work, s.candidates, q, s.force, s.place, self._world_force, wrenches
            )
            contacts = self._contacts()
        if s.options[EXTERNAL]:
            wrenches += s.wrenches
        effort = tau - friction + limit
        if s.options[SPRINGS]:
            effort += self.tau_spring
        a = aba(model, q, v, effort, wrenches if wrenches.any() else None)
        works = Works(
            *(float(s.works[k]) for k in (
                BY_ACTUATORS, BY_FRICTION, BY_LIMITS, BY_CONTACTS, BY_WRENCHES
            ))
        )  # fmt: skip
        residual = float(s.report[RESIDUAL])
        return PlantState(
            self._time, q, v, tau, friction, limit, a, contacts, wrenches, residual, works
        )

    def _contacts(self) -> tuple[Contact, ...]:
        s, contacts = self._arrays, []
        count = len(s.candidates)
        surfaces = self._set.surfaces if self._pairs is None else self._pairs.surfaces
        closed = (s.gap[:count] <= CLOSED) | (s.force[:count, 0] > 0.0)
        for c in np.flatnonzero(closed | s.shock[:count].any(axis=1)):
            row = s.candidates[c]
            contacts.append(
                Contact(
                    self._set.links[int(row[LINK])],
                    surfaces[int(row[SURFACE])],
                    s.place[c, :3].copy(),
                    s.place[c, 3:].copy(),
                    float(s.gap[c]),
                    self._world_force[c].copy(),
                    s.shock[c].copy(),
                )
            )
        return tuple(contacts)

    @property
    def deflection(self) -> Vector:
        """Return the deflection of the bristles in the joints, zero without any [rad | m]."""
        deflection: Vector = self._arrays.vs[DEFLECTION].copy()
        return deflection

    @property
    def tau_spring(self) -> Vector:
        """Return the torques of the springs on the degrees of freedom [N m | N]."""
        s = self._arrays
        torque = np.zeros(self.model.nv)
        link = np.flatnonzero(s.constants[MOTOR] >= 0.0)
        motor = s.constants[MOTOR, link].astype(np.intp)
        stretch = s.qs[Q][s.coordinate[motor]] - s.qs[Q][s.coordinate[link]]
        rate = s.vs[V_][motor] - s.vs[V_][link]
        stiffness, damping = s.constants[SPRING_STIFFNESS : SPRING_DAMPING + 1, link]
        torque[link] = stiffness * stretch + damping * rate
        torque[motor] -= torque[link]
        return torque

    @property
    def limit_impulse(self) -> Vector:
        """Return the impulse of the limits in impacts during the last internal step [N m s]."""
        impulse: Vector = self._arrays.vs[SHOCK].copy()
        return impulse

    @property
    def solver_counts(self) -> tuple[int, int]:
        """Return the linear systems solved and the impacts met during the last call."""
        report = self._arrays.report
        return int(report[ITERATIONS]), int(report[IMPACTS])

    def reset(self, q: Any = None, v: Any = None, time: float = 0.0) -> PlantState:
        """
        Put the robot into a state; at rest in the neutral one by default.

        What is closed there and approaches collides at once.

        Raises
        ------
        DimensionError
            If a vector has the wrong shape.
        NonFiniteError
            If a number is not finite.

        """
        s, model = self._arrays, self.model
        position = as_finite('q', neutral(model) if q is None else q, (model.nq,))
        velocity = as_finite('v', np.zeros(model.nv) if v is None else v, (model.nv,))
        s.vs[:] = 0.0
        s.qs[Q], s.vs[V_] = position, velocity
        for array in (s.force, s.shock, s.bristle, s.works, s.report, s.joint, s.wrenches):
            array[:] = 0.0
        s.options[EXTERNAL] = 0.0
        self._time = time
        if self._pairs is not None:
            s.candidates[len(self._set.rows) :] = self._pairs.rows()
            self._pairs.forget()
            self._pairs.update(s, len(self._set.rows), self.dt_internal)
        self._check(advance_block(s, self.dt_internal, 0), time)
        return self.state

    def take_over(self, other: Plant) -> PlantState:
        """
        Go on where another plant of the same robot, with another payload, is.

        Bristles, springs of compliant contacts and held forces go on too; those of pairs of bodies
        begin anew.

        Raises
        ------
        DimensionError
            If the other has other joints or other possible contacts.
        NonFiniteError
            If a number is not finite.

        """
        s, o = self._arrays, other._arrays
        if s.vs.shape != o.vs.shape or s.triples.shape != o.triples.shape:
            raise DimensionError('plant to take over', o.vs.shape, s.vs.shape)
        self.reset(o.qs[Q], o.vs[V_], other._time)
        for row in (ACCELERATION, TAU, DRY, REACTION, DEFLECTION):
            s.vs[row] = o.vs[row]
        lasting = len(self._set.rows)
        s.force[:lasting] = o.force[:lasting]
        s.bristle[:lasting] = o.bristle[:lasting]
        s.works[:] = o.works
        return self.state

    def step(self, tau: Any, dt: float, f_ext: Any = None) -> PlantState:
        """
        Move on by `dt` under a torque that is held.

        Parameters
        ----------
        tau : array_like, shape (nv,)
            Actuator torque [N m | N].
        dt : float
            Time [s]; it is split into equal internal steps.
        f_ext : array_like, shape (nbodies, 6), optional
            Wrench ``[f; n]`` that acts on each body, expressed in the body's own (link) frame,
            about its origin, held there [N, N m].

        Raises
        ------
        ConfigurationError
            If `dt` is not positive.
        DimensionError
            If `tau` or `f_ext` has the wrong shape.
        NonFiniteError
            If an input or the new state is not finite; the state then stays as it was.

        """
        s, model = self._arrays, self.model
        tau = as_finite('tau', tau, (model.nv,))
        if not 0.0 < dt < np.inf:
            raise ConfigurationError(f'dt is {dt} s, expected > 0')
        wrenches = 0.0 if f_ext is None else as_finite('f_ext', f_ext, (model.nbodies, 6))
        count = max(1, ceil(dt / self.dt_internal * (1.0 - 1e-9)))
        kept = [array.copy() for array in self._memory()]
        s.vs[TAU] = tau
        s.wrenches[:] = wrenches
        s.options[EXTERNAL] = f_ext is not None
        s.report[:] = 0.0
        status = self._advance(dt / count, count)
        if status != -1:
            for array, old in zip(self._memory(), kept):
                array[:] = old
        self._check(status, self._time + dt)
        self._time += dt
        return self.state

    def advance(self, tau: Matrix, dt: float, q: Matrix, v: Matrix) -> None:
        """
        Move on under a sequence of torques, compiled, without making a state after each.

        Parameters
        ----------
        tau : ndarray, shape (steps, nv)
            Torques, each held for `dt` [N m | N].
        dt : float
            Time for which each is held [s].
        q, v : ndarray, shape (steps, nq) and (steps, nv)
            Out: position and velocity after each.

        Raises
        ------
        ConfigurationError
            If `dt` is not positive.
        DimensionError
            If an array has another shape.
        NonFiniteError
            If an input or the new state is not finite.

        """
        s, model = self._arrays, self.model
        tau = as_finite('tau', tau, (len(tau), model.nv))
        if not 0.0 < dt < np.inf:
            raise ConfigurationError(f'dt is {dt} s, expected > 0')
        if q.shape != (len(tau), model.nq):
            raise DimensionError('q', (len(tau), model.nq), q.shape)
        if v.shape != tau.shape:
            raise DimensionError('v', tau.shape, v.shape)
        count = max(1, ceil(dt / self.dt_internal * (1.0 - 1e-9)))
        s.options[EXTERNAL] = 0.0
        s.report[:] = 0.0
        status = -1
        if self._pairs is None:
            status = advance_sequence(s, dt / count, count, tau, q, v)
        else:
            for k, torque in enumerate(tau):
                s.vs[TAU] = torque
                status = self._advance(dt / count, count)
                if status != -1:
                    break
                q[k], v[k] = s.qs[Q], s.vs[V_]
        self._time += dt * len(tau)
        self._check(status, self._time)

    def _advance(self, h: float, count: int) -> int:
        """Make internal steps; return as `advance_block` does."""
        s = self._arrays
        if self._pairs is None:
            return advance_block(s, h, count)
        for _ in range(count):
            status = self._step_with_pairs(self._pairs, h, MOST_HALVINGS)
            if status != -1:
                return status
        return -1

    def _step_with_pairs(self, pairs: BodyPairs, h: float, halvings: int) -> int:
        """Make an internal step; in halves, without a guess, if the contacts are not solved."""
        s = self._arrays
        kept = [array.copy() for array in (*self._memory(), s.report)]
        shock: Any = 0.0
        status = -1
        if pairs.update(s, len(self._set.rows), h):
            s.shock[:] = 0.0
            status = advance_block(s, h, 0)
            shock = s.shock.copy()
        if status == -1:
            status = advance_block(s, h, 1)
            s.shock[:] += shock
        if halvings == 0 or (status == -1 and s.report[RESIDUAL] < UNSOLVED):
            return status
        for array, old in zip((*self._memory(), s.report), kept):
            array[:] = old
        s.force[:] = 0.0
        for _ in range(2):
            status = self._step_with_pairs(pairs, 0.5 * h, halvings - 1)
            if status != -1:
                break
        return status

    def _memory(self) -> tuple[Any, ...]:
        """Return the arrays that carry the state from step to step."""
        s = self._arrays
        pairs = () if self._pairs is None else (s.candidates, self._pairs.owner)
        return (
            s.qs[Q], s.vs[:DRY_NEW], s.vs[DEFLECTION], s.gap, s.force, s.bristle, s.works,
            s.options, s.wrenches, *pairs,
        )  # fmt: skip

    def _check(self, status: int, time: float) -> None:
        if status == -2:
            raise NonFiniteError('the simulated state', f' at {time:.6g} s')
        if status >= 0:
            raise SingularMassMatrixError(self.model.v_names[status])

    def joints_beyond_limits(self) -> tuple[str, ...]:
        """Return the names of the joints outside their position limits."""
        limits, s = self.model.limits, self._arrays
        has_one = s.coordinate >= 0
        q = np.where(has_one, s.qs[Q][s.coordinate], 0.0)
        beyond = has_one & ((q < limits.lower - CLOSED) | (q > limits.upper + CLOSED))
        return tuple(n for n, is_beyond in zip(self.model.v_names, beyond) if is_beyond)


def _require(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ConfigurationError(f"{name} '{value}' is not one of: {', '.join(choices)}")
