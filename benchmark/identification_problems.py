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

"""Logs for comparing identification: a simulated arm with sensor noise, and a real one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.bags.joint_blocks import read_joint_log
from robot_dynamics_ros.core.dynamics import rnea
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.identification.excitation_spectrum import chosen_cutoff
from robot_dynamics_ros.core.identification.identification_model import (
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.joint_samples import joint_samples, JointSamples
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.resources import urdf_path

Array = NDArray[np.float64]
RATE = 1000.0
"""Of the simulated log [Hz]."""


@dataclass(frozen=True)
class Log:
    """A log: stamps [s], positions [rad], efforts [N m]."""

    stamps: Array
    position: Array
    effort: Array

    def part(self, start: float, stop: float) -> Log:
        """Return the samples with ``start <= stamp < stop``."""
        rows = slice(*np.searchsorted(self.stamps, [start, stop]))
        return Log(self.stamps[rows], self.position[rows], self.effort[rows])


@dataclass(frozen=True)
class Problem:
    """What both are given."""

    title: str
    model: IdentificationModel
    training: Log
    held_out: JointSamples
    cutoff: float
    motion_cutoff: float


def simulated_problem(samples: int) -> Problem:
    """Simulate the ES5: `samples` for training, and at least 10 s of another motion."""
    robot = load_urdf(urdf_path('es5.urdf.xacro')).with_armature([1.0, 1.0, 0.7, 0.1, 0.1, 0.05])
    viscous = np.array([8.0, 8.0, 6.0, 1.5, 1.5, 1.0])
    coulomb = np.array([7.0, 7.0, 5.0, 1.5, 1.5, 1.0])
    friction = DryFriction(robot.v_names, viscous, coulomb, coulomb, np.array(1.0), np.array(0.05))
    rng = np.random.default_rng(1)
    spread = np.array([0.8, 1.5, 1.0, 0.3, 0.3, 0.2])  # [N m]
    logs = []
    for seed, count in ((3, samples), (4, max(10_000, samples // 5))):
        log = simulated_log(robot, friction, count, seed)
        noise = rng.normal(size=(2, count, robot.nv))
        position = log.position + 2e-5 * noise[0]
        logs.append(Log(log.stamps, position, log.effort + spread * noise[1]))
    prior = disturbed(load_urdf(urdf_path('es5.urdf.xacro')), np.random.default_rng(2))
    model = identification_model(prior, ModelStructure())
    return prepared(f'simulated ES5, {samples} samples at {RATE:g} Hz', model, *logs)


def simulated_log(robot: RobotModel, friction: DryFriction, count: int, seed: int) -> Log:
    """Let the arm follow five harmonics up to 0.5 Hz; the effort at a stamp is that around it."""
    rng = np.random.default_rng(seed)
    stamps = np.arange(count) / RATE
    w = 2.0 * np.pi * 0.1 * np.arange(1, 6)
    share = rng.uniform(-1.0, 1.0, (robot.nv, 5)) * 1.2 / np.sqrt(np.arange(1, 6))
    angle = w[:, None] * stamps + rng.uniform(0.0, 2.0 * np.pi, (robot.nv, 5))[..., None]
    reference = [
        np.einsum('jk,jkt->tj', share * w**power, np.sin(angle + 0.5 * np.pi * power))
        for power in range(3)
    ]
    # Fed forward, so that the light joints move as those with a stiff servo do.
    dry = friction.coulomb_positive * np.tanh(reference[1] / 0.01)
    ahead = dry + friction.viscous * reference[1]
    plant = Plant(robot, friction, dt_internal=1.0 / RATE, q=reference[0][0], v=reference[1][0])
    q, tau = np.zeros((2, count, robot.nv))
    state = plant.state
    for k in range(count):
        q[k] = state.q
        pull = 400.0 * (reference[0][k] - state.q) + 40.0 * (reference[1][k] - state.v)
        tau[k] = rnea(robot, state.q, state.v, reference[2][k] + pull) + ahead[k]
        state = plant.step(tau[k], 1.0 / RATE)
    tau[1:] = 0.5 * (tau[1:] + tau[:-1])
    return Log(stamps, q, tau)


def real_problem(bag: str, urdf: str) -> Problem:
    """Read the log of a UR10."""
    robot = load_urdf(Path(urdf))
    log = read_joint_log(bag).select(robot.joint_names)
    assert log.effort is not None
    whole = Log(log.stamps, log.position, log.effort)
    model = identification_model(robot, ModelStructure())
    parts = whole.part(0.0, 18.0), whole.part(18.0, np.inf)
    return prepared(f'real UR10, {len(parts[0].stamps)} samples, {log.rate:.0f} Hz', model, *parts)


def disturbed(robot: RobotModel, rng: np.random.Generator) -> RobotModel:
    """Return the robot with each link's density changed by up to 20 %, a wrong description."""
    links = []
    for link in robot.description.links:
        if link.inertial is not None:
            scale = rng.uniform(0.8, 1.2)
            inertial = replace(
                link.inertial,
                mass=scale * link.inertial.mass,
                inertia=scale * np.asarray(link.inertial.inertia),
            )
            link = replace(link, inertial=inertial)
        links.append(link)
    return build_model(replace(robot.description, links=tuple(links)))


def prepared(title: str, model: IdentificationModel, training: Log, held_out: Log) -> Problem:
    """Choose the cutoffs and filter what is held out."""
    choice = chosen_cutoff(training.stamps, training.position)
    samples = joint_samples(
        held_out.stamps, held_out.position, None, held_out.effort, choice.motion_cutoff
    )
    inner = samples.between(samples.stamps[0] + 0.5, samples.stamps[-1] - 0.5)
    return Problem(title, model, training, inner, choice.cutoff, choice.motion_cutoff)
