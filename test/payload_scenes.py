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

"""An arm that picks something up, puts it down or changes otherwise while it is being watched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from identification_scenes import multisine
from robot_dynamics_ros.core.drive.drive_file import read_drive_file
from robot_dynamics_ros.core.drive.sensor_file import SensorSettings
from robot_dynamics_ros.core.drive.sensors import JointSensors
from robot_dynamics_ros.core.dynamics import dynamic_parameters, rnea_batch
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.identification.identification_model import (
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.online.arm_errors import parameter_uncertainty
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow, OnlineRows
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.core.trajectory.scenarios import scenario
from robot_dynamics_ros.resources import config_path, urdf_path

Array = NDArray[np.float64]

DT = 1e-3
KP = np.array([4000.0, 4000.0, 2500.0, 400.0, 400.0, 200.0])
KD = 0.06 * KP
EFFORT_DELAY = 1.5 * DT
"""An effort is that of the step before, and comes a sample late."""


@dataclass(frozen=True)
class Push:
    """A force on a joint from outside, as of someone who leans on the arm [N m]."""

    start: float
    end: float
    tau: Array


@dataclass(frozen=True)
class Story:
    """
    What happens to an arm while it moves.

    Attributes
    ----------
    duration : float
        [s]
    motion : str
        ``sines``, ``pick_place`` or ``all_axes``.
    seed : int
        Of the motion and the sensors.
    payloads : sequence of (float, Payload or None)
        From when on what is at the flange.
    frictions : sequence of (float, mapping of str to array)
        From when on which values of the friction are multiplied by what.
    offsets : sequence of (float, array)
        From when on what the effort sensors add [N m].
    tilts : sequence of (float, array)
        From when on which gravity there is [m/s^2].
    pushes : sequence of Push
    speed : float
        1 for the motion as it is.

    """

    duration: float = 20.0
    motion: str = 'sines'
    seed: int = 0
    payloads: Sequence[tuple[float, Payload | None]] = ()
    frictions: Sequence[tuple[float, Mapping[str, Array]]] = ()
    offsets: Sequence[tuple[float, Array]] = ()
    tilts: Sequence[tuple[float, Array]] = ()
    pushes: Sequence[Push] = ()
    speed: float = 1.0


@dataclass(frozen=True)
class Recording:
    """What arrives of the joint states."""

    stamps: Array
    q: Array
    tau: Array
    v: Array


@lru_cache(maxsize=1)
def es5() -> RobotModel:
    names = load_urdf(urdf_path('es5.urdf.xacro')).v_names
    drives = read_drive_file(config_path('es5_drives.yaml'), names)
    armature = dict(zip(names, drives.reflected_inertia.tolist()))
    return load_urdf(urdf_path('es5.urdf.xacro'), armature=armature)


def es5_friction() -> DryFriction:
    return DryFriction.from_file(config_path('es5_friction.yaml'), es5().v_names)


@lru_cache(maxsize=1)
def watched_model() -> IdentificationModel:
    return identification_model(es5(), ModelStructure('coulomb'), 6 * (0.02,))


def true_parameters(friction: DryFriction | None = None) -> Array:
    """Return all parameters of the simulated arm in the form of `watched_model`."""
    model, friction = watched_model(), friction or es5_friction()
    values = {
        'viscous': friction.viscous,
        'coulomb': friction.coulomb_positive,
        'offset': np.zeros(6),
        'rotor_inertia': es5().armature,
    }
    drives = [values[term.kind][term.weights[0][0]] for term in model.terms]
    return np.concatenate([dynamic_parameters(es5()), drives])


def offline_parameters(seed: int, error: float = 0.02) -> Array:
    """Return parameters that are wrong, as after an identification: `error` of each of them."""
    rng = np.random.default_rng([seed, 77])
    parameters = true_parameters()
    n = watched_model().n_inertial
    bodies = parameters[:n].reshape(-1, 10)
    factor = 1.0 + error * rng.normal(size=len(bodies))
    bodies *= factor[:, None]
    bodies[:, 1:4] += bodies[:, :1] * error * 0.1 * rng.normal(size=(len(bodies), 3))
    parameters[n:] *= 1.0 + error * rng.normal(size=len(parameters) - n)
    return parameters


def reference(story: Story) -> tuple[Array, Array, Array]:
    """Return the wanted motion at every period."""
    t = DT * np.arange(round(story.duration / DT) + 1)
    if story.motion == 'sines':
        q, v, a = multisine(6, t * story.speed, story.seed, 0.8, 0.6)
        q += np.array([0.0, 0.6, -0.9, 0.3, 0.5, 0.0]) * (q[:, :1] * 0.0 + 1.0)
        return q, v * story.speed, a * story.speed**2
    if story.motion == 'poses':
        return between_poses(story, t)
    run = scenario(story.motion, 1.0, 1.0 / story.speed)
    phase = t % (2.0 * run.duration)
    there = run.sample_many(np.minimum(phase, run.duration))
    back = run.sample_many(np.clip(2.0 * run.duration - phase, 0.0, run.duration))
    is_back = (phase > run.duration)[:, None]
    q = np.where(is_back, back[0], there[0])
    return q, np.where(is_back, -back[1], there[1]), np.where(is_back, back[2], there[2])


def between_poses(story: Story, t: Array) -> tuple[Array, Array, Array]:
    """Go from pose to pose, all joints at once, as a robot that picks and places."""
    rng = np.random.default_rng([story.seed, 11])
    middle = np.array([0.0, 0.6, -0.9, 0.3, 0.5, 0.0])
    q, v, a = (np.zeros((len(t), 6)) for _ in range(3))
    start, pose = 0.0, middle
    while start < t[-1] + DT:
        other = middle + rng.uniform(-1.0, 1.0, 6) * np.array([1.2, 0.7, 0.7, 1.0, 1.0, 1.5])
        length = max(0.8, float(np.abs(other - pose).max()) / 0.8) / story.speed
        s = (t - start) / length
        part = (s >= 0.0) & (s < 1.0)
        s = np.pi * s[part, None]
        half = 0.5 * (other - pose)
        q[part] = pose + half * (1.0 - np.cos(s))
        v[part] = half * np.sin(s) * np.pi / length
        a[part] = half * np.cos(s) * (np.pi / length) ** 2
        start, pose = start + length, other
    return q, v, a


def recorded(story: Story) -> Recording:
    """Simulate a story."""
    robot, rng = es5(), np.random.default_rng([story.seed, 5])
    settings = SensorSettings.from_file(config_path('es5_sensors.yaml'), robot.v_names)
    sensors = JointSensors(settings, rng)
    q, v, a = reference(story)
    friction = es5_friction()
    ahead = rnea_batch(robot, q, v, a) + friction.viscous * v
    ahead += friction.coulomb_positive * np.tanh(v / 0.02)
    plant = Plant(robot, friction, q=q[0], v=v[0])
    changes = sorted({c[0] for c in (*story.payloads, *story.frictions, *story.tilts)})
    stamps, positions, efforts, speeds = [], [], [], []
    state, x, w = plant.state, q[0], v[0]
    for k in range(len(q) - 1):
        t = k * DT
        if changes and t >= changes[0]:
            changes.pop(0)
            changed = _plant_at(story, t)
            changed.take_over(plant)
            plant = changed
        tau = ahead[k] + KP * (q[k] - x) + KD * (v[k] - w)
        pushed = sum((p.tau for p in story.pushes if p.start <= t < p.end), np.zeros(6))
        state = plant.step(tau + pushed, DT)
        told = tau + _latest(story.offsets, t, np.zeros(6))
        reading = sensors.step(state.time, state.q, state.v, told)
        if reading is not None:
            x, w = reading.q, reading.v
            stamps.append(reading.stamp)
            positions.append(reading.q)
            efforts.append(reading.tau)
            speeds.append(reading.v)
    return Recording(*(np.array(x) for x in (stamps, positions, efforts, speeds)))


EFFORT_DEVIATION = np.array([0.15, 0.2, 0.1, 0.04, 0.04, 0.03])
"""What noise and the form of friction leave of the rows, as a fit would say [N m]."""

CUTOFF = 5.0


@dataclass(frozen=True)
class WatchedRow:
    """A row and which joints count: those that have turned one way for its memory."""

    row: OnlineRow
    use: NDArray[np.bool_]


def watched_rows(recording: Recording, slowest: float = 0.1) -> list[WatchedRow]:
    """Return all rows of a recording."""
    rows = OnlineRows(watched_model(), CUTOFF, 'flange', EFFORT_DELAY)
    since, before, found = np.full(6, np.inf), np.zeros(6), []
    for stamp, q, tau in zip(recording.stamps.tolist(), recording.q, recording.tau):
        row = rows.step(stamp, q, tau)
        if row is not None:
            v = row.state.v
            sign = np.where(np.abs(v) > slowest, np.sign(v), 0.0)
            since = np.where((sign != 0.0) & (sign == before), since, stamp)
            before = sign
            found.append(WatchedRow(row, (sign != 0.0) & (stamp - since > 0.3)))
    return found


@lru_cache(maxsize=1)
def quiet_recording() -> Recording:
    """Return 14 s in which nothing happens; made once for all tests."""
    return recorded(Story(14.0, 'poses', 0))


@lru_cache(maxsize=2)
def quiet_rows(slowest: float = 0.1) -> tuple[WatchedRow, ...]:
    """Return the rows of `quiet_recording`."""
    return tuple(watched_rows(quiet_recording(), slowest))


def identified(seed: int, error: float = 0.02) -> tuple[Array, Array]:
    """Return base parameters that are wrong, as after an identification, and their covariance."""
    parameters = offline_parameters(seed, error)
    model = watched_model()
    return model.base.to_base(parameters), parameter_uncertainty(model, parameters)


def _latest(changes: Sequence[tuple[float, Array]], t: float, first: Array) -> Array:
    for start, value in changes:
        first = value if t >= start else first
    return first


def _plant_at(story: Story, t: float) -> Plant:
    robot, friction = es5(), es5_friction()
    for start, payload in story.payloads:
        if t >= start:
            robot = es5().with_payload(payload)
    for start, factors in story.frictions:
        if t >= start:
            values = {key: getattr(es5_friction(), key) * value for key, value in factors.items()}
            if 'viscous' in values:
                values['viscous_negative'] = values['viscous']
            friction = replace(es5_friction(), **values)
    for start, gravity in story.tilts:
        if t >= start:
            robot = robot.with_gravity(gravity)
    return Plant(robot, friction)
