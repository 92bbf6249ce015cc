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

"""Joint states of a simulated ES5 with its assumed sensors and friction, for online tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from identification_scenes import multisine
from robot_dynamics_ros.core.control.laws import InverseDynamicsLaw
from robot_dynamics_ros.core.drive.drive_file import read_drive_file
from robot_dynamics_ros.core.drive.sensor_file import SensorSettings
from robot_dynamics_ros.core.drive.sensors import JointSensors
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.build import build_from_options
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.closed_loop import run_closed_loop
from robot_dynamics_ros.core.simulation.hardware import SimulatedHardware
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.resources import config_path, urdf_path

Array = NDArray[np.float64]

KP = np.array([1500.0, 1500.0, 1000.0, 100.0, 100.0, 60.0])
DT = 1e-3
EFFORT_DELAY = 1.5 * DT
"""An effort is that of the last step, and comes a sample late."""


@dataclass(frozen=True)
class JointStates:
    """What came over the topic: stamps, positions, efforts; lost messages are not there."""

    stamps: Array
    position: Array
    effort: Array

    def between(self, start: float, stop: float) -> JointStates:
        """Return the messages from `start` to `stop` [s]."""
        part = (self.stamps >= start) & (self.stamps < stop)
        return JointStates(self.stamps[part], self.position[part], self.effort[part])


def described_es5() -> RobotModel:
    """Return the arm as described."""
    names = load_urdf(urdf_path('es5.urdf.xacro')).v_names
    drives = read_drive_file(config_path('es5_drives.yaml'), names)
    armature = dict(zip(names, drives.reflected_inertia.tolist()))
    return load_urdf(urdf_path('es5.urdf.xacro'), armature=armature)


def perturbed_es5(size: float, seed: int) -> RobotModel:
    """Return the arm with masses, centres of mass and tensors that are off by a part of them."""
    rng = np.random.default_rng(seed)
    robot = described_es5()
    links = []
    for link in robot.description.links:
        inertial = link.inertial
        if inertial is not None and inertial.mass > 0.0:
            factor = 1.0 + size * rng.uniform(-1.0, 1.0, 3)
            inertial = replace(
                inertial,
                mass=factor[0] * inertial.mass,
                com=factor[1] * inertial.com,
                inertia=factor[0] * factor[2] * inertial.inertia,
            )
        links.append(replace(link, inertial=inertial))
    description = replace(robot.description, links=tuple(links))
    return build_from_options(description, robot.options)


def es5_friction() -> DryFriction:
    """Return the assumed friction: with a static level, and so of no form that is fitted."""
    return DryFriction.from_file(config_path('es5_friction.yaml'), described_es5().v_names)


def paced(stamps: Array, seed: int, pace: Array) -> tuple[Array, Array, Array]:
    """Return a multisine that is gone along at a pace, 1 at each stamp for its own."""
    step = np.diff(stamps, prepend=stamps[0])
    along = np.cumsum(step * pace)
    ticks = np.arange(0.0, along[-1] + 0.1, DT)
    course = CubicSpline(ticks, multisine(6, ticks, seed, 0.9, 1.0)[0], axis=0)
    v = course(along, 1) * pace[:, None]
    return course(along), v, np.gradient(v, stamps, axis=0)


def now_and_then_slow(stamps: Array, seed: int, slow: float = 0.08) -> tuple[Array, ...]:
    """Return a multisine that is gone along slowly in four of ten seconds."""
    time = stamps % 10.0
    rise, fall = (np.clip((time - first) / 0.7, 0.0, 1.0) for first in (0.0, 5.5))
    share = rise**2 * (3.0 - 2.0 * rise) - fall**2 * (3.0 - 2.0 * fall)
    return paced(stamps, seed, slow + (1.0 - slow) * share)


def joint_states(
    robot: RobotModel,
    friction: Callable[[float], DryFriction],
    duration: float,
    *,
    seed: int = 0,
    size: float = 0.9,
    highest: float = 1.0,
    piece: float = 8.0,
    reference: Callable[[Array], tuple[Array, ...]] | None = None,
) -> JointStates:
    """
    Let the arm follow a motion under PD control with feedforward, at 1 kHz.

    Parameters
    ----------
    robot : RobotModel
        The true arm; the controller knows it.
    friction : callable
        Friction at a time [s]; asked for once in every `piece`.
    duration : float
        [s]
    seed : int
        Of motion and noise.
    size, highest : float
        See `multisine`.
    piece : float
        [s]
    reference : callable, optional
        Positions, velocities and accelerations at times; a multisine by default.

    """
    names = robot.v_names
    settings = SensorSettings.from_file(config_path('es5_sensors.yaml'), names)
    count = round(duration / DT)
    stamps = DT * np.arange(count + 1)
    q, v, a = multisine(6, stamps, seed, size, highest) if reference is None else reference(stamps)
    ahead = FrictionModel.from_file(config_path('es5_friction.yaml'), names)
    law = InverseDynamicsLaw(
        robot, 'pd_feedforward', gravity_compensated_by_hardware=False,
        kp=KP, kd=0.05 * KP, friction=ahead,
    )  # fmt: skip
    sensors = JointSensors(settings, np.random.default_rng(seed))
    hardware = SimulatedHardware(Plant(robot, friction(0.0), q=q[0]), sensors=sensors)
    parts: list[tuple[Array, Array, Array]] = []
    for first in range(0, count, round(piece / DT)):
        last = min(first + round(piece / DT), count)
        changed = SimulatedHardware(Plant(robot, friction(first * DT), q=q[0]), sensors=sensors)
        changed.take_over(hardware)
        hardware = changed

        def command(k: int, x: Array, w: Array, first: int = first) -> Array:
            return law.command(x, w, (q[first + k], v[first + k], a[first + k]))

        record = run_closed_loop(hardware, command, dt=DT, periods=last - first)
        came = np.isfinite(record.stamp)
        came[0] = first == 0
        parts.append((record.stamp[came], record.measured_q[came], record.measured_tau[came]))
    return JointStates(*(np.concatenate(arrays) for arrays in zip(*parts)))
