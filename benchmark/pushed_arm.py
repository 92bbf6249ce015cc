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
Logs of the simulated ES5 in motion, as its sensors report it, with and without pushes.

The arm follows a motion that never repeats, with pauses, under feedforward and feedback on what
the sensors report. A push is a torque on one joint for some time.

"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.drive.drive_file import read_drive_file
from robot_dynamics_ros.core.drive.sensor_file import SensorSettings
from robot_dynamics_ros.core.drive.sensors import JointSensors
from robot_dynamics_ros.core.dynamics import BoundDynamics, external_efforts, frame_placement
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model import load_urdf, RobotModel
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.resources import config_path, urdf_path

Array = NDArray[np.float64]

PERIOD = 1e-3
"""Of the messages [s]."""

EFFORT_DELAY = 1.5e-3
"""One sample, and half a sample because the efforts are held over a period [s]."""

KP = np.array([400.0, 400.0, 400.0, 100.0, 100.0, 100.0])
KD = np.array([40.0, 40.0, 40.0, 10.0, 10.0, 10.0])


def arm() -> tuple[RobotModel, DryFriction]:
    """Return the ES5 with its rotors, and its friction."""
    model = load_urdf(urdf_path('es5.urdf.xacro'))
    drives = read_drive_file(config_path('es5_drives.yaml'), model.v_names)
    friction = DryFriction.from_file(config_path('es5_friction.yaml'), model.v_names)
    return model.with_armature(drives.reflected_inertia), friction


class Wander:
    """
    A motion of `n` joints that does not repeat: three sines for each, with a pause at times.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    n : int
        Number of joints.
    spread : float
        Largest way of a joint from its middle [rad].
    pause_every, pause : float
        Time from one pause to the next, and how long it takes [s].

    """

    def __init__(
        self,
        rng: np.random.Generator,
        n: int = 6,
        spread: float = 1.2,
        pause_every: float = 15.0,
        pause: float = 2.0,
    ) -> None:
        self.middle = np.array([0.0, 0.9, -0.9, 0.0, 1.2, 0.0])[:n]
        share = rng.dirichlet(np.ones(3), n).T  # (3, n)
        self.amplitude = spread * rng.uniform(0.6, 1.0, n) * share
        self.pulsation = 2.0 * np.pi * rng.uniform(0.08, 0.35, (3, n))
        self.phase = rng.uniform(0.0, 2.0 * np.pi, (3, n))
        self.pause_every, self.pause = pause_every, pause

    def _progress(self, t: Array) -> tuple[Array, Array, Array]:
        """Return how far the motion is, with its first two derivatives."""
        ramp = 0.5
        length = self.pause + 2.0 * ramp
        inside = np.mod(t, self.pause_every)
        begin = self.pause_every - length
        # the speed falls as a half cosine, stays zero and comes back
        x = np.clip(inside - begin, 0.0, length)
        down, up = np.clip(x, 0.0, ramp), np.clip(x - ramp - self.pause, 0.0, ramp)
        w = np.pi / ramp
        whole = begin + ramp  # progress in one round: two halves of a ramp
        progress = (
            np.floor(t / self.pause_every) * whole
            + np.minimum(inside, begin)
            + 0.5 * (down + np.sin(w * down) / w)
            + 0.5 * (up - np.sin(w * up) / w)
        )
        speed = np.where(x <= ramp, 0.5 * (1.0 + np.cos(w * down)), 0.5 * (1.0 - np.cos(w * up)))
        change = np.where(x <= ramp, -0.5 * w * np.sin(w * down), 0.5 * w * np.sin(w * up))
        return progress, speed, change

    def sample_many(self, t: Array) -> tuple[Array, Array, Array]:
        """Return position, velocity and acceleration, each of shape (n_samples, n)."""
        s, ds, dds = (x[:, None, None] for x in self._progress(np.asarray(t)))
        angle = self.pulsation * s + self.phase
        q = self.middle + (self.amplitude * np.sin(angle)).sum(axis=1)
        first = (self.amplitude * self.pulsation * np.cos(angle)).sum(axis=1)
        second = -(self.amplitude * self.pulsation**2 * np.sin(angle)).sum(axis=1)
        ds, dds = ds[:, 0], dds[:, 0]
        return q, first * ds, second * ds**2 + first * dds


@dataclass(frozen=True)
class Push:
    """A torque on one joint: from when, for how long [s], which joint, how much [N m]."""

    start: float
    duration: float
    joint: int
    torque: float


@dataclass(frozen=True)
class Load:
    """A payload that is there from one time to another [s]."""

    payload: Payload
    start: float
    stop: float


@dataclass(frozen=True)
class ArmLog:
    """What arrived (stamps, positions, velocities, efforts), and the true time of each row."""

    time: Array
    stamp: Array
    q: Array
    v: Array
    tau: Array


def simulate(
    seed: int,
    duration: float,
    pushes: tuple[Push, ...] = (),
    *,
    wrench: Array | None = None,
    load: Load | None = None,
    with_friction: bool = True,
    with_noise: bool = True,
) -> ArmLog:
    """
    Move the arm and return what its sensors report.

    Parameters
    ----------
    seed : int
        Of motion and sensors.
    duration : float
        [s]
    pushes : tuple of Push
        In the order of their starts.
    wrench : ndarray, shape (6,), optional
        Wrench on link 6 all the time, about its origin, in the axes of the base [N, N m].
    load : Load, optional
        What it picks up, and puts down again; its control does not know.
    with_friction, with_noise : bool
        Whether there is friction, and whether the sensors are those of the file.

    """
    model, friction = arm()
    motion = Wander(np.random.default_rng([seed, 1]))
    steps = round(duration / PERIOD)
    q_d, v_d, a_d = motion.sample_many(PERIOD * np.arange(steps + 1))
    plant = Plant(model, friction if with_friction else None, q=q_d[0], v=v_d[0])
    settings = SensorSettings.from_file(config_path('es5_sensors.yaml'), model.v_names)
    sensors = JointSensors(settings, np.random.default_rng([seed, 2]))
    smooth = FrictionModel.from_file(config_path('es5_friction.yaml'), model.v_names)
    bound = BoundDynamics(model)
    tau = np.empty(model.nv)
    extra = np.zeros(model.nv)
    rows: list[tuple[float, float, Array, Array, Array]] = []
    q, v = q_d[0], v_d[0]
    coming = list(pushes)
    link = model.body_names.index('link_6')
    changes = {} if load is None else {load.start: load.payload, load.stop: None}
    exchanges = {round(time / PERIOD): payload for time, payload in changes.items()}
    for k in range(steps):
        if k in exchanges:
            loaded = Plant(model.with_payload(exchanges[k]), friction if with_friction else None)
            loaded.take_over(plant)
            plant = loaded
        bound.rnea(q_d[k], v_d[k], a_d[k], tau)
        if with_friction:
            tau += smooth.torque(v_d[k])
        tau += KP * (q_d[k] - q) + KD * (v_d[k] - v)
        now = k * PERIOD
        extra[:] = 0.0
        while coming and coming[0].start + coming[0].duration <= now:
            coming.pop(0)
        for push in coming:
            if push.start > now:
                break
            extra[push.joint] += push.torque
        if wrench is not None:
            f_ext = np.zeros((model.nbodies, 6))
            turn = frame_placement(model, plant.state.q, 'link_6').rotation.T
            f_ext[link] = np.concatenate((turn @ wrench[:3], turn @ wrench[3:]))
            extra += external_efforts(model, plant.state.q, f_ext)
        state = plant.step(tau + extra, PERIOD)
        if not with_noise:
            rows.append((state.time, state.time, state.q, state.v, tau.copy()))
            q, v = state.q, state.v
            continue
        reading = sensors.step(state.time, state.q, state.v, tau)
        if reading is not None:
            rows.append((state.time, reading.stamp, reading.q, reading.v, reading.tau))
            q, v = reading.q, reading.v
    columns = (np.array(column) for column in zip(*rows))
    return ArmLog(*columns)


def perturbed(
    model: RobotModel, friction: DryFriction, error: float, rng: np.random.Generator
) -> tuple[RobotModel, DryFriction]:
    """
    Return a wrong model: masses, centres of mass and friction off by up to `error`, each its own.

    The inertia of a link scales with its mass.

    """

    def factor(size: int) -> Array:
        return 1.0 + error * rng.uniform(-1.0, 1.0, size)

    links = []
    for link in model.description.links:
        if link.inertial is not None:
            scale = float(factor(1)[0])
            inertial = replace(
                link.inertial,
                mass=link.inertial.mass * scale,
                com=link.inertial.com * factor(3),
                inertia=link.inertial.inertia * scale,
            )
            link = replace(link, inertial=inertial)
        links.append(link)
    description = replace(model.description, links=tuple(links))
    n = model.nv
    level = factor(n)
    wrong = replace(
        friction,
        viscous=friction.viscous * factor(n),
        viscous_negative=np.empty(0),
        coulomb_positive=friction.coulomb_positive * level,
        coulomb_negative=friction.coulomb_negative * level,
    )
    armature = dict(zip(model.v_names, model.armature.tolist()))
    return build_model(description, armature=armature), wrong
