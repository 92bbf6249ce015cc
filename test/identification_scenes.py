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

"""Logs of simulated robots that follow an exciting motion, for the tests of identification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.bags.writing import BagWriter
from robot_dynamics_ros.core.dynamics import rnea
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.simulation.plant import Plant

Array = NDArray[np.float64]

START = 1_700_000_000_000_000_000
"""Stamp zero of a log in a bag [ns]."""

_TWO_LINKS = """<robot name="arm"><link name="base"/>
  <link name="l1"><inertial><origin xyz="0.25 0.05 0.1"/><mass value="{mass}"/>
    <inertia ixx="0.02" iyy="0.06" izz="0.05" ixy="0" ixz="0.001" iyz="0"/></inertial></link>
  <link name="l2"><inertial><origin xyz="0.2 0.0 0.02"/><mass value="2.0"/>
    <inertia ixx="0.01" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0.001"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="l1"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="100" velocity="5"/></joint>
  <joint name="elbow" type="revolute"><parent link="l1"/><child link="l2"/>
    <origin xyz="{length} 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="50" velocity="5"/></joint>
</robot>"""


def two_link_urdf(mass: float = 3.0, length: float = 0.5) -> str:
    """Return an arm of two links; mass and length are those of the first."""
    return _TWO_LINKS.format(mass=mass, length=length)


@dataclass(frozen=True)
class SimulatedLog:
    """What a driver would record: stamps, positions, velocities, efforts."""

    stamps: Array
    position: Array
    velocity: Array
    effort: Array

    def with_noise(
        self, rng: np.random.Generator, position: float, velocity: float, effort: Array
    ) -> SimulatedLog:
        """Return the log with white noise on every signal."""
        return replace(
            self,
            position=self.position + position * rng.normal(size=self.position.shape),
            velocity=self.velocity + velocity * rng.normal(size=self.velocity.shape),
            effort=self.effort + effort * rng.normal(size=self.effort.shape),
        )

    def record(
        self, path: Path, joints: Sequence[str], sign: float = 1.0, *, effort: bool = True
    ) -> Path:
        """Write the log to a bag; return its path."""
        with BagWriter(path) as bag:
            for t, q, v, tau in zip(self.stamps, self.position, self.velocity, sign * self.effort):
                stamp = START + round(float(t) * 1e9)
                measured = tau if effort else ()
                bag.write_joint_state('/joint_states', stamp, tuple(joints), q, v, measured)
        return path

    def part(self, start: float, stop: float) -> SimulatedLog:
        """Return the log from `start` to `stop` [s]."""
        rows = (self.stamps >= start) & (self.stamps < stop)
        return SimulatedLog(
            self.stamps[rows], self.position[rows], self.velocity[rows], self.effort[rows]
        )


def dry_friction(
    model: RobotModel,
    viscous: Array,
    coulomb: Array,
    static_ratio: float = 1.0,
    stribeck_velocity: float = 0.05,
) -> DryFriction:
    """Return friction that sticks."""
    ratio, velocity = np.array(static_ratio), np.array(stribeck_velocity)
    return DryFriction(model.v_names, viscous, coulomb, coulomb, ratio, velocity)


def multisine(nv: int, stamps: Array, seed: int, size: float, highest: float) -> tuple[Array, ...]:
    """Return positions, velocities and accelerations of five harmonics that start at rest."""
    rng = np.random.default_rng(seed)
    w = 2.0 * np.pi * highest * np.arange(1, 6) / 5.0
    share = rng.uniform(-1.0, 1.0, (nv, 5)) * size / np.arange(1, 6)
    phase = rng.uniform(0.0, 2.0 * np.pi, (nv, 5))
    angle = w[:, None] * stamps + phase[..., None]  # (nv, 5, n)
    ramp = np.clip(stamps / 2.0, 0.0, 1.0)
    ramp = ramp**3 * (10.0 - 15.0 * ramp + 6.0 * ramp**2)  # smooth, only for the reference
    q = np.einsum('jk,jkt->tj', share, np.sin(angle)) * ramp[:, None]
    v = np.gradient(q, stamps, axis=0)
    return q, v, np.gradient(v, stamps, axis=0)


def simulated_log(
    model: RobotModel,
    friction: DryFriction | None,
    duration: float = 20.0,
    *,
    rate: float = 1000.0,
    seed: int = 0,
    size: float = 0.8,
    highest: float = 1.0,
    is_compensated: bool = False,
) -> SimulatedLog:
    """
    Let a robot follow a multisine under computed torque, and record it.

    The torque of a step is held; what is recorded at a stamp is the mean of the steps before and
    after, so that it belongs to that time. With `is_compensated` the controller feeds the friction
    of its reference forward, as a joint moves that has a stiff servo.

    """
    stamps = np.arange(round(duration * rate)) / rate
    q_ref, v_ref, a_ref = multisine(model.nv, stamps, seed, size, highest)
    ahead = np.zeros_like(v_ref)
    if is_compensated and friction is not None:
        ahead = friction.viscous * v_ref + friction.coulomb_positive * np.tanh(v_ref / 0.01)
    plant = Plant(model, friction, dt_internal=1.0 / rate, q=q_ref[0])
    q, v, tau = (np.zeros_like(q_ref) for _ in range(3))
    state = plant.state
    for k in range(len(stamps)):
        q[k], v[k] = state.q, state.v
        pull = 400.0 * (q_ref[k] - q[k]) + 40.0 * (v_ref[k] - v[k])
        tau[k] = rnea(model, q[k], v[k], a_ref[k] + pull) + ahead[k]
        state = plant.step(tau[k], 1.0 / rate)
    tau[1:] = 0.5 * (tau[1:] + tau[:-1])
    return SimulatedLog(stamps, q, v, tau)
