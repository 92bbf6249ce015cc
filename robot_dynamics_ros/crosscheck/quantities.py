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
The quantities of the whole robot that both sides know, for one state.

Each function yields `Comparison` objects: our value, Pinocchio's value in our coordinates, and a
bound on the terms that add up to it. Quantities at frames are in `frame_quantities`.

"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros.core import dynamics
from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.exceptions import SingularMassMatrixError
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.crosscheck.sample import Reference, size

ILL_CONDITIONED = 1e12
"""Condition number of the mass matrix from which forward dynamics may be refused as singular."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """
    One value on both sides.

    Attributes
    ----------
    quantity : str
    ours, reference : array_like
    natural_size : float
        Bound on the terms that add up to the value; 0 where nothing cancels.
    labels : str or sequence of str
        Where it is, or the name of each entry along `axis`.
    axis : int
    condition : float
        Condition number of the problem: rounding of the inputs (1e-16) alone changes the relative
        value by this much as many times.

    """

    quantity: str
    ours: Any
    reference: Any
    natural_size: float = 0.0
    labels: str | Sequence[str] = 'the whole robot'
    axis: int = 0
    condition: float = 1.0


def efforts(reference: Reference) -> Iterator[Comparison]:
    """Compare inverse dynamics and its parts."""
    twin, state, robot = reference.twin, reference.state, reference.twin.robot
    pin, model, data = twin.pin, twin.model, twin.data
    q, v, a = state.q, state.v, state.a
    at = reference.q, reference.v

    def compared(quantity: str, ours: Vector, theirs: Vector, natural_size: float) -> Comparison:
        return Comparison(quantity, ours, reference.T.T @ theirs, natural_size, reference.labels)

    theirs = pin.rnea(model, data, *at, reference.a) + reference.rotor_efforts(reference.a)
    yield compared('rnea', dynamics.rnea(robot, q, v, a), theirs, reference.effort_size)
    forces = twin.wrenches(state.f_ext)
    theirs = pin.rnea(model, data, *at, reference.a, forces) + reference.rotor_efforts(reference.a)
    ours = dynamics.rnea(robot, q, v, a, state.f_ext)
    yield compared('rnea (with wrenches)', ours, theirs, reference.effort_size)
    reactions = dynamics.joint_reaction_wrenches(robot, q, v, a, state.f_ext)
    for name, ours, theirs in zip(robot.body_names, reactions, reference.joint_wrenches()):
        yield Comparison(
            'joint_reaction_wrenches', ours, theirs, reference.wrench_size, f"body '{name}'"
        )
    # At a = 0 in our coordinates Pinocchio's acceleration is T' v.
    drift = reference.T_rate @ v
    theirs = pin.rnea(model, data, *at, drift) + reference.rotor_efforts(drift)
    ours = dynamics.nonlinear_effects(robot, q, v)
    yield compared('nonlinear_effects', ours, theirs, reference.effort_size)
    theirs = pin.computeGeneralizedGravity(model, data, reference.q)
    ours = dynamics.generalized_gravity(robot, q)
    yield compared('generalized_gravity', ours, theirs, reference.weight_size)


def matrices(reference: Reference) -> Iterator[Comparison]:
    """Compare mass and Coriolis matrix."""
    robot, state = reference.twin.robot, reference.state
    ours = dynamics.crba(robot, state.q)
    yield Comparison('crba', ours, reference.M, 0.0, reference.labels)
    ours = dynamics.coriolis_matrix(robot, state.q, state.v)
    natural_size = reference.mass_size * reference.speed
    yield Comparison('coriolis_matrix', ours, reference.C, natural_size, reference.labels)


def forward(reference: Reference) -> Iterator[Comparison]:
    """
    Compare forward dynamics and the inverse of the mass matrix.

    Raises
    ------
    SingularMassMatrixError
        If ours refuse and the mass matrix is indeed close to singular.

    """
    twin, state, robot = reference.twin, reference.state, reference.twin.robot
    try:
        inverse = dynamics.mass_matrix_inverse(robot, state.q)
        free = dynamics.aba(robot, state.q, state.v, state.tau)
        pushed = dynamics.aba(robot, state.q, state.v, state.tau, state.f_ext)
    except SingularMassMatrixError:
        if reference.condition > ILL_CONDITIONED:
            raise
        inverse = np.full_like(reference.M, np.nan)
        free = pushed = inverse[0]
    natural_size = size(reference.inverse) * (size(state.tau) + reference.effort_size)

    def compared(quantity: str, ours: Any, theirs: Any, natural_size: float = 0.0) -> Comparison:
        condition = reference.condition
        return Comparison(
            quantity, ours, theirs, natural_size, reference.labels, condition=condition
        )

    yield compared('mass_matrix_inverse', inverse, reference.inverse)
    yield compared('aba', free, reference.forward_dynamics(None), natural_size)
    theirs = reference.forward_dynamics(twin.wrenches(state.f_ext))
    yield compared('aba (with wrenches)', pushed, theirs, natural_size)


def energies(reference: Reference) -> Iterator[Comparison]:
    """Compare kinetic and potential energy."""
    twin, state, robot = reference.twin, reference.state, reference.twin.robot
    pin, model, data = twin.pin, twin.model, twin.data
    rotors = 0.5 * float(reference.v @ (twin.armature * reference.v))
    theirs = pin.computeKineticEnergy(twin.rigid, data, reference.q, reference.v) + rotors
    yield Comparison('kinetic_energy', dynamics.kinetic_energy(robot, state.q, state.v), theirs)
    theirs = pin.computePotentialEnergy(model, data, reference.q)
    natural_size = robot.moving_mass * reference.gravity_size * reference.reach
    ours = dynamics.potential_energy(robot, state.q)
    yield Comparison('potential_energy', ours, theirs, natural_size)


def center_of_mass(reference: Reference) -> Iterator[Comparison]:
    """Compare the centre of mass and the momentum about it, if anything that moves has mass."""
    twin, state, robot = reference.twin, reference.state, reference.twin.robot
    pin, model, data = twin.pin, twin.model, twin.data
    q, v, labels = state.q, state.v, reference.labels
    if robot.moving_mass == 0.0:
        return
    # Pinocchio gives a matrix with one column as a vector.
    theirs = pin.computeCentroidalMap(model, data, reference.q).reshape(6, model.nv)
    theirs = theirs @ reference.T
    ours = dynamics.centroidal_map(robot, q)
    yield Comparison('centroidal_map', ours, theirs, 0.0, labels, axis=1)
    momentum = pin.computeCentroidalMomentum(model, data, reference.q, reference.v).vector
    ours = dynamics.centroidal_momentum(robot, q, v)
    yield Comparison('centroidal_momentum', ours, momentum, size(theirs) * reference.speed)
    theirs = pin.centerOfMass(model, data, reference.q)
    ours = dynamics.center_of_mass(robot, q)
    yield Comparison('center_of_mass', ours, theirs, reference.reach)
    theirs = pin.jacobianCenterOfMass(model, data, reference.q).reshape(3, model.nv)
    theirs = theirs @ reference.T
    natural_size = float(np.sqrt(reference.mass_size / robot.moving_mass))
    ours = dynamics.center_of_mass_jacobian(robot, q)
    yield Comparison('center_of_mass_jacobian', ours, theirs, natural_size, labels, axis=1)


def regressors(reference: Reference) -> Iterator[Comparison]:
    """Compare what is linear in the inertial parameters, and these parameters."""
    twin, state, robot = reference.twin, reference.state, reference.twin.robot
    pin, model, data = twin.pin, twin.model, twin.data
    motion, rate = state.f_ext[0], state.f_ext[-1] - state.f_ext[0]
    theirs = pin.bodyRegressor(pin.Motion(motion), pin.Motion(rate))
    yield Comparison('body_regressor', dynamics.body_regressor(motion, rate), theirs)
    theirs = pin.computeJointTorqueRegressor(model, data, reference.q, reference.v, reference.a)
    theirs = theirs.reshape(model.nv, -1)
    blocks = [
        theirs[:, 10 * (joint_id - 1) : 10 * joint_id] @ map_
        for joint_id, map_ in zip(twin.joint_ids, twin.parameter_maps)
    ]
    theirs = reference.T.T @ np.hstack(blocks)
    ours = dynamics.joint_torque_regressor(robot, state.q, state.v, state.a)
    yield Comparison('joint_torque_regressor', ours, theirs, 0.0, reference.labels)
    ours = dynamics.dynamic_parameters(robot)
    theirs = np.concatenate(
        [
            placement.actInv(model.inertias[joint_id]).toDynamicParameters()
            for joint_id, placement in zip(twin.joint_ids, twin.placements)
        ]
    )
    labels = [f"body '{name}'" for name in robot.body_names for _ in range(10)]
    yield Comparison('dynamic_parameters', ours, theirs, 0.0, labels)


def configurations(reference: Reference) -> Iterator[Comparison]:
    """
    Compare `integrate` and `difference`, joint by joint.

    Joints that mimic have no coordinates of their own. Planar joints are left out: Pinocchio moves
    them along a screw in the plane, we move x, y and theta each at its own rate.

    """
    twin, state, robot = reference.twin, reference.state, reference.twin.robot
    pin, model = twin.pin, twin.model
    moved = dynamics.integrate(robot, state.q, state.v)
    theirs_moved = pin.integrate(model, reference.q, reference.v)
    far = dynamics.difference(robot, state.q, state.other_q)
    theirs_far = pin.difference(model, reference.q, twin.configuration(state.other_q))
    ours_moved = twin.configuration(moved)
    for slot in twin.slots:
        if slot.follows or slot.kind is JointType.PLANAR:
            continue
        where = f"joint '{slot.name}'"
        ours, theirs = ours_moved[slot.pin_q], theirs_moved[slot.pin_q]
        if slot.kind is JointType.FLOATING and ours[3:] @ theirs[3:] < 0.0:
            ours = np.concatenate([ours[:3], -ours[3:]])  # the same rotation
        yield Comparison('integrate', ours, theirs, 1.0, where)
        yield Comparison('difference', far[slot.v], theirs_far[slot.pin_v], 1.0, where)
