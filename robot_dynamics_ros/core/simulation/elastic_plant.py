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

The equations stand in `elastic_joints`. They are those of a robot in which the rotor of every
elastic joint is a body of its own, which turns about a fixed axis with the inertia `B` and is
coupled to its joint by a spring. So `Plant` solves springs, friction at the motors, position
limits of the links, contacts and impacts together. In an impact the springs, whose torque is
finite, do not act: what strikes is the link alone.

"""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Vector
from robot_dynamics_ros.core.contact.step_arrays import Spring
from robot_dynamics_ros.core.friction.friction_law import JointFrictionLaw
from robot_dynamics_ros.core.model.build import build_from_options
from robot_dynamics_ros.core.model.description import Joint, JointLimits, JointType, Link
from robot_dynamics_ros.core.model.robot_model import neutral, RobotModel
from robot_dynamics_ros.core.model.tree import arrange_tree
from robot_dynamics_ros.core.simulation.elastic_joints import ElasticJoints
from robot_dynamics_ros.core.simulation.plant import MotorState, Plant, PlantState


def model_with_motors(model: RobotModel, elastic: ElasticJoints) -> RobotModel:
    """
    Return the robot in which the motors of elastic joints are bodies that follow its own.

    Raises
    ------
    ConfigurationError
        If the robot has other joints.

    """
    links = elastic.link_model(model)
    armature = dict(links.options.armature)
    root = arrange_tree(model.description).root
    types = {joint.name: joint.type for joint in model.joints}
    bodies, joints = list(model.description.links), list(model.description.joints)
    motors = []
    for i in elastic.indices:
        name = model.v_names[i]
        kind = types[name] if types[name] is JointType.PRISMATIC else JointType.CONTINUOUS
        motors.append(f'{name}/motor')
        bodies.append(Link(f'{name}/rotor'))
        joints.append(
            Joint(motors[-1], kind, root, f'{name}/rotor', limits=JointLimits(-inf, inf, nan, nan))
        )
        armature[motors[-1]] = float(elastic.motor_inertia[i])
    options = replace(model.options, armature=armature)
    if options.active_joints is not None:
        options = replace(options, active_joints=(*options.active_joints, *motors))
    return build_from_options(
        replace(model.description, links=tuple(bodies), joints=tuple(joints)), options
    )


class ElasticPlant:
    """
    A robot whose joints are elastic, all or some of them, in the form of a `Plant`.

    Its state is that of the links, with the `motors` besides; torques and friction are those of
    the motors.

    Parameters
    ----------
    model : RobotModel
        The robot. Its armatures do not count, see `elastic`.
    elastic : ElasticJoints
        Stiffness, damping and the inertias of all rotors.
    friction : DryFriction, LuGreFriction or DahlFriction, optional
        Friction at the motors. Its load is the torque in the spring, or that of the motor where
        the joint is rigid.
    q, v, theta, v_motor : array_like, optional
        State at the start, of shape (nq,) for `q` and (nv,) for the others: links in the neutral
        position and at rest by default, motors like the links.
    **options
        What else `Plant` takes: world, limits, steps.

    Attributes
    ----------
    model : RobotModel
        The links: the robot whose armatures are the rotors of the rigid joints only.
    rigid_model : RobotModel
        The robot that was given, with all rotors as armatures.
    elastic : ElasticJoints

    Raises
    ------
    ConfigurationError
        If the elasticity has other joints, or as `Plant`.
    SingularMassMatrixError
        If a link moves no inertia.
    UnknownFrameError
        If a shape belongs to no link of the robot.

    """

    def __init__(
        self,
        model: RobotModel,
        elastic: ElasticJoints,
        friction: JointFrictionLaw | None = None,
        *,
        q: Any = None,
        v: Any = None,
        theta: Any = None,
        v_motor: Any = None,
        **options: Any,
    ) -> None:
        self.model = elastic.link_model(model)
        self.rigid_model = model
        self.elastic = elastic
        n, self._index = model.nv, elastic.indices
        motors = np.arange(n, n + len(self._index))
        self._springs = tuple(
            Spring(int(i), int(j), float(elastic.stiffness[i]), float(elastic.damping[i]))
            for i, j in zip(self._index, motors)
        )
        joints = {joint.v_index: joint.q_index for joint in model.joints if joint.mimic is None}
        self._q_index = np.array([joints[i] for i in self._index], dtype=np.intp)
        # What acts on a joint acts on its motor, or on its link if it has none of its own.
        self._actuated = np.arange(n)
        self._actuated[self._index] = motors
        self._plant = Plant(
            model_with_motors(model, elastic), friction, springs=self._springs, **options
        )
        self.reset(q, v, theta=theta, v_motor=v_motor)

    @property
    def state(self) -> PlantState:
        """Return the present state."""
        return self._seen(self._plant.state)

    @property
    def deflection(self) -> Vector:
        """Return the deflection of the bristles at the motors, zero without any [rad | m]."""
        deflection: Vector = self._plant.deflection[self._actuated]
        return deflection

    @property
    def solver_counts(self) -> tuple[int, int]:
        """Return the linear systems solved and the impacts met during the last call."""
        return self._plant.solver_counts

    def reset(
        self,
        q: Any = None,
        v: Any = None,
        time: float = 0.0,
        *,
        theta: Any = None,
        v_motor: Any = None,
    ) -> PlantState:
        """
        Put the robot into a state; at rest in the neutral one by default, motors like the links.

        Parameters
        ----------
        q, v, theta, v_motor : array_like, optional
            See `ElasticPlant`.
        time : float
            Time [s].

        Raises
        ------
        DimensionError
            If a vector has the wrong shape.
        NonFiniteError
            If a number is not finite.

        """
        model = self.model
        q = as_finite('q', neutral(model) if q is None else q, (model.nq,))
        v = as_finite('v', np.zeros(model.nv) if v is None else v, (model.nv,))
        at = q[self._q_index]
        if theta is not None:
            at = as_finite('theta', theta, (model.nv,))[self._index]
        fast = v if v_motor is None else as_finite('v_motor', v_motor, (model.nv,))
        return self._seen(
            self._plant.reset(
                np.concatenate((q, at)), np.concatenate((v, fast[self._index])), time
            )
        )

    def take_over(self, other: ElasticPlant) -> PlantState:
        """
        Go on where another plant of the same robot is; see `Plant.take_over`.

        Raises
        ------
        DimensionError
            If the other has other joints or other possible contacts.
        NonFiniteError
            If a number is not finite.

        """
        return self._seen(self._plant.take_over(other._plant))

    def step(self, tau: Any, dt: float, f_ext: Any = None) -> PlantState:
        """
        Move on by `dt` under motor torques that are held.

        Parameters
        ----------
        tau : array_like, shape (nv,)
            Torques of the motors on the joint's side of the gear [N m | N].
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
        full = np.zeros(self._plant.model.nv)
        full[self._actuated] = as_finite('tau', tau, (model.nv,))
        if f_ext is not None:
            wrenches = as_finite('f_ext', f_ext, (model.nbodies, 6))
            f_ext = np.vstack((wrenches, np.zeros((len(self._index), 6))))
        return self._seen(self._plant.step(full, dt, f_ext))

    def joints_beyond_limits(self) -> tuple[str, ...]:
        """Return the names of the joints outside their position limits."""
        return self._plant.joints_beyond_limits()

    def _seen(self, state: PlantState) -> PlantState:
        """Return the state of the links, with that of the motors."""
        model, act, index = self.model, self._actuated, self._index
        n = model.nv
        theta = self._at_joints(state.q)
        theta[index] = state.q[model.nq :]
        tau_joint = np.full(n, np.nan)
        tau_joint[index] = self._plant.tau_spring[index]
        speed, stretch = state.v[n:], (state.q[model.nq :] - state.q[self._q_index])
        law = self.elastic
        energy = 0.5 * float(
            law.motor_inertia[index] @ speed**2 + law.stiffness[index] @ stretch**2
        )
        return state._replace(
            q=state.q[: model.nq],
            v=state.v[:n],
            tau=state.tau[act],
            tau_friction=state.tau_friction[act],
            tau_limit=state.tau_limit[:n],
            a=state.a[:n],
            wrenches=state.wrenches[: model.nbodies],
            motors=MotorState(theta, state.v[act], tau_joint, energy),
        )

    def _at_joints(self, q: Vector) -> Vector:
        """Return the coordinate of each joint of one coordinate, zero elsewhere."""
        values = np.zeros(self.model.nv)
        several = (JointType.FLOATING, JointType.PLANAR)
        for joint in self.model.joints:
            if joint.mimic is None and joint.type not in several:
                values[joint.v_index] = q[joint.q_index]
        return values
