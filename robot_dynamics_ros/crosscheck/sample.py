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

"""One state on Pinocchio's side in our coordinates, and the natural size of its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics import random_configuration
from robot_dynamics_ros.crosscheck.twin import PinocchioTwin


@dataclass(frozen=True, eq=False)
class State:
    """A random state with efforts, one wrench for each body, and another configuration."""

    q: Vector
    v: Vector
    a: Vector
    tau: Vector
    f_ext: Matrix
    other_q: Vector


def random_state(twin: PinocchioTwin, rng: np.random.Generator) -> State:
    """Return a random state; all but the configurations are standard normal numbers."""
    robot = twin.robot
    v, a, tau = rng.normal(size=(3, robot.nv))
    wrenches = rng.normal(size=(robot.nbodies, 6))
    other_q = random_configuration(robot, rng)
    return State(random_configuration(robot, rng), v, a, tau, wrenches, other_q)


class Reference:
    """
    Pinocchio's side of one state.

    Attributes
    ----------
    T, T_rate : ndarray, shape (model.nv, nv)
        Map between the velocities and its time derivative, see `twin`.
    q, v, a : ndarray
        The state in Pinocchio's coordinates.
    M, C : ndarray, shape (nv, nv)
        Mass and Coriolis matrix in our coordinates.
    labels : list of str
        Each degree of freedom by name, for the report.
    mass_size, speed, gravity_size, weight_size, effort_size, wrench_size, reach : float
        Bounds on the terms that add up to a quantity.

    """

    def __init__(self, twin: PinocchioTwin, state: State) -> None:
        pin, model, data = twin.pin, twin.model, twin.data
        self.twin = twin
        self.state = state
        self.T = twin.velocity_map(state.q)
        self.T_rate = twin.velocity_map_rate(state.q, state.v)
        self.q = twin.configuration(state.q)
        self.v = self.T @ state.v
        self.a = self.T @ state.a + self.T_rate @ state.v
        upper = np.triu(np.reshape(pin.crba(model, data, self.q), (model.nv, model.nv)))
        mass = upper + np.triu(upper, 1).T + np.diag(twin.missing_armature)
        coriolis = np.array(pin.computeCoriolisMatrix(model, data, self.q, self.v))
        self.M = self.T.T @ mass @ self.T
        self.C = self.T.T @ (coriolis @ self.T + mass @ self.T_rate)
        self.labels = [f"joint '{name}'" for name in twin.robot.v_names]
        self.mass_size = size(self.M)
        self.speed = size(state.v)
        self.gravity_size = float(np.linalg.norm(twin.robot.gravity))
        # |g_i| <= |g| sum m |dc/dq_i| <= |g| sqrt(m M_ii), by Cauchy and Schwarz
        moving_mass = twin.robot.moving_mass
        self.weight_size = self.gravity_size * float(np.sqrt(moving_mass * self.mass_size))
        motion_size = size(state.a) + self.speed**2
        self.effort_size = self.mass_size * motion_size + self.weight_size + size(state.f_ext)
        forces = moving_mass * (self.gravity_size + motion_size) + size(state.f_ext)
        self.wrench_size = forces
        self.reach = self._reach()

    def _reach(self) -> float:
        """Return a bound on the distance of a joint and its body's centre from the origin."""
        pin, model, data = self.twin.pin, self.twin.model, self.twin.data
        pin.forwardKinematics(model, data, self.q)
        return max(
            size(data.oMi[i].translation) + size(model.inertias[i].lever)
            for i in range(model.njoints)
        )

    def rotor_efforts(self, a: Vector) -> Vector:
        """Return the efforts that an old Pinocchio leaves out: armature times acceleration."""
        return self.twin.missing_armature * a

    def joint_wrenches(self) -> list[Vector]:
        """Return what each joint passes on to its body, in the body's frame, after rnea."""
        return [
            np.array(placement.actInv(self.twin.data.f[joint_id]).vector)
            for joint_id, placement in zip(self.twin.joint_ids, self.twin.placements)
        ]

    @property
    def _direct(self) -> bool:
        """Whether Pinocchio's own forward dynamics apply: no mimic joints, armature known."""
        square = self.T.shape[0] == self.T.shape[1]
        return square and not self.twin.missing_armature.any()

    @cached_property
    def condition(self) -> float:
        """Condition number of the mass matrix."""
        return float(np.linalg.cond(self.M))

    @cached_property
    def inverse(self) -> Matrix:
        """Inverse of the mass matrix."""
        if not self._direct:
            return self._solve(np.eye(len(self.M)))
        pin, twin = self.twin.pin, self.twin
        upper = np.triu(np.array(pin.computeMinverse(twin.model, twin.data, self.q)))
        back = np.linalg.inv(self.T)
        return np.asarray(back @ (upper + np.triu(upper, 1).T) @ back.T)

    def _solve(self, right: Matrix) -> Matrix:
        """Return ``M^-1 right``; nan if M is singular, as Pinocchio says it."""
        try:
            return np.asarray(np.linalg.solve(self.M, right))
        except np.linalg.LinAlgError:
            return np.full_like(right, np.nan)

    def forward_dynamics(self, forces: Any) -> Vector:
        """Return the acceleration for the state's efforts and Pinocchio's `forces` (or None)."""
        pin, model, data = self.twin.pin, self.twin.model, self.twin.data
        arguments = () if forces is None else (forces,)
        if not self._direct:
            drift = self.T_rate @ self.state.v
            bias = pin.rnea(model, data, self.q, self.v, drift, *arguments)
            bias = self.T.T @ (bias + self.rotor_efforts(drift))
            return self._solve(self.state.tau - bias)
        tau = np.linalg.solve(self.T.T, self.state.tau)
        acceleration = pin.aba(model, data, self.q, self.v, tau, *arguments)
        return np.asarray(np.linalg.solve(self.T, acceleration - self.T_rate @ self.state.v))


def size(value: Any) -> float:
    """Return the max-norm; 0 for no entries."""
    array = np.abs(np.asarray(value, dtype=float))
    return float(array.max()) if array.size else 0.0
