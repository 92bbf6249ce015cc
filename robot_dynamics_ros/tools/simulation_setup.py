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

"""The robot, plant, motion and pushes that the arguments of `robot_dynamics simulate` mean."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape, read_collisions
from robot_dynamics_ros.core.contact.disabled_pairs import read_disabled_pairs
from robot_dynamics_ros.core.drive.drive_file import read_drive_file
from robot_dynamics_ros.core.drive.sensor_file import SensorSettings
from robot_dynamics_ros.core.drive.sensors import JointSensors
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_law import JointFrictionLaw, read_friction_law
from robot_dynamics_ros.core.model.robot_model import driven_joints, neutral, RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.closed_loop import Push
from robot_dynamics_ros.core.simulation.contact_wrenches import require_clear_start
from robot_dynamics_ros.core.simulation.elastic_joints import ElasticJoints
from robot_dynamics_ros.core.simulation.elastic_plant import ElasticPlant
from robot_dynamics_ros.core.simulation.hardware import SimulatedHardware
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.core.simulation.world import World
from robot_dynamics_ros.core.trajectory.scenarios import N_JOINTS, scenario
from robot_dynamics_ros.core.trajectory.trajectory_file import columns_of, read_trajectory
from robot_dynamics_ros.tools.robot_arguments import (
    loaded_model,
    parse_armature,
    parse_xacro_args,
    robot_options,
)

FOLLOWING = ('pd', 'pd_gravity', 'pd_feedforward', 'computed_torque')
"""Laws that follow a motion."""

DEFAULT_DURATION = 2.0
"""Where no motion says how long it lasts [s]."""


class Start(NamedTuple):
    """Position and velocity at the start, of shape (nq,) and (nv,)."""

    q: Vector
    v: Vector


class Motion(NamedTuple):
    """
    What the driven joints are to do.

    Attributes
    ----------
    duration : float
        [s]
    sample : callable
        Times of shape (n,) to positions, velocities and accelerations, each of shape (n, joints).

    """

    duration: float
    sample: Any


def load_model(args: argparse.Namespace) -> RobotModel:
    """
    Return the robot with its payload.

    Raises
    ------
    ConfigurationError
        If nothing of it moves.

    """
    model = load_urdf(
        args.file,
        **robot_options(args),
        gravity=tuple(args.gravity),
        armature=parse_armature(args.armature),
    )
    if model.nv == 0:
        raise ConfigurationError(f"robot '{model.name}' has no joint that moves")
    return loaded_model(model, args)


def make_motion(args: argparse.Namespace, model: RobotModel) -> Motion | None:
    """
    Return the motion that is to be followed, if there is one.

    Raises
    ------
    ConfigurationError
        If law and motion do not belong together, or the scenario is for another robot.

    """
    is_given = args.scenario is not None or args.trajectory is not None
    if is_given and args.controller not in FOLLOWING:
        raise ConfigurationError(
            f'controller {args.controller} follows no motion; leave --scenario, --trajectory out'
        )
    if not is_given and args.controller in FOLLOWING:
        raise ConfigurationError(
            f'controller {args.controller} follows a motion: give --scenario or --trajectory, '
            'or take hold, which keeps the start'
        )
    names = driven_joints(model)
    if args.trajectory is not None:
        trajectory = columns_of(read_trajectory(args.trajectory)).spline().ordered(names)
        return Motion(trajectory.end, trajectory.sample_many)
    if args.scenario is None:
        return None
    if len(names) != N_JOINTS:
        raise ConfigurationError(
            f'the scenarios are for arms of {N_JOINTS} joints, {model.name} has {len(names)}; '
            'give --trajectory'
        )
    chosen = scenario(args.scenario, args.amplitude, args.time_scale)
    return Motion(chosen.duration, chosen.sample_many)


def make_start(args: argparse.Namespace, model: RobotModel, motion: Motion | None) -> Start:
    """
    Return the state at the start: of the motion, changed by the arguments.

    Raises
    ------
    ConfigurationError
        If a coordinate is unknown, there are too many or too few, or the pose of the base is none.

    """
    q, v = neutral(model), np.zeros(model.nv)
    if motion is not None:
        positions, velocities, _ = motion.sample(np.zeros(1))
        joints = {joint.name: joint for joint in model.joints}
        for k, name in enumerate(driven_joints(model)):
            q[joints[name].q_index] = positions[0, k]
            v[joints[name].v_index] = velocities[0, k]
    base = 7 if args.floating_base else 0
    if args.base_pose is not None:
        q[:7] = _base_pose(args.base_pose, is_floating=args.floating_base)
    _put('--q', args.q, q, model.q_names, base)
    _put('--v', args.v, v, model.v_names, 6 if args.floating_base else 0)
    return Start(q, v)


def _base_pose(values: Sequence[float], *, is_floating: bool) -> Vector:
    if not is_floating:
        raise ConfigurationError('--base-pose needs --floating-base')
    if len(values) not in (3, 7):
        raise ConfigurationError(
            f'--base-pose has {len(values)} numbers, expected X Y Z or X Y Z QX QY QZ QW'
        )
    pose = np.array([*values, 0.0, 0.0, 0.0, 1.0][:7])
    norm = float(np.linalg.norm(pose[3:]))
    if abs(norm - 1.0) > 1e-3:
        raise ConfigurationError(
            f'the quaternion of --base-pose has length {norm:.4g}, expected 1'
        )
    pose[3:] /= norm
    return pose


def _put(
    option: str, texts: Sequence[str] | None, x: Vector, names: Sequence[str], first: int
) -> None:
    """Enter values that are given by name, or for all joints in order."""
    if texts is None:
        return
    named = [text.partition('=') for text in texts]
    if not any(separator for _, separator, _ in named):
        if len(texts) != len(x) - first:
            raise ConfigurationError(
                f'{option} has {len(texts)} numbers, expected {len(x) - first}: '
                f'{", ".join(names[first:])}; or give NAME=VALUE'
            )
        x[first:] = [_number(option, text) for text in texts]
        return
    seen: set[str] = set()
    for name, separator, value in named:
        if not separator:
            raise ConfigurationError(f"{option} '{name}' is not NAME=VALUE, as others are")
        if name not in names:
            raise ConfigurationError(
                f"{option}: no coordinate '{name}'; there are: {', '.join(names)}"
            )
        if name in seen:
            raise ConfigurationError(f"{option}: '{name}' is given twice")
        seen.add(name)
        x[list(names).index(name)] = _number(f'{option} {name}', value)


def _number(what: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.inf
    if not np.isfinite(value):
        raise ConfigurationError(f"{what}: '{text}' is not a finite number")
    return value


def make_pushes(options: Iterable[Sequence[str]]) -> list[Push]:
    """
    Return the pushes that ``--push`` stands for.

    Raises
    ------
    ConfigurationError
        If something is no number.

    """
    pushes = []
    for link, *texts in options:
        fx, fy, fz, start, end = (_number(f"--push '{link}'", text) for text in texts)
        pushes.append(Push(link, np.array([fx, fy, fz]), start, end))
    return pushes


def make_world(args: argparse.Namespace) -> World | None:
    """
    Return the surroundings, or None.

    Raises
    ------
    ConfigurationError
        If the file cannot be used.

    """
    return None if args.world is None else World.from_file(args.world)


def make_hardware(
    args: argparse.Namespace, model: RobotModel, world: World | None, start: Start
) -> SimulatedHardware:
    """
    Return the plant with its drives and sensors, in its state at the start.

    Raises
    ------
    ConfigurationError, ModelError
        If an option or file does not fit the robot.

    """
    names = driven_joints(model)
    drives = None if args.drives is None else read_drive_file(args.drives, names)
    if drives is not None:
        if args.armature:
            raise ConfigurationError(
                '--armature and --drives both state the inertia of the rotors; give one of them'
            )
        model = model.with_armature(dict(zip(names, drives.reflected_inertia.tolist())))
    sensors = None
    if args.sensors is not None:
        settings = SensorSettings.from_file(args.sensors, names)
        sensors = JointSensors(settings, np.random.default_rng(args.seed))
    shapes: tuple[CollisionShape, ...] = ()
    touches = world is not None or args.self_collision
    if (args.collisions or ('urdf' if touches else 'none')) == 'urdf':
        shapes = read_collisions(args.file, xacro_args=parse_xacro_args(args.xacro_arg))
        if not shapes:
            raise ConfigurationError(
                f"robot '{model.name}' has no collision shapes, so it touches nothing; "
                '--collisions none says that this is meant'
            )
    options: dict[str, Any] = {
        'world': world,
        'collisions': shapes,
        'self_collision': args.self_collision,
        'disabled_pairs': args.disabled_pairs and read_disabled_pairs(args.disabled_pairs),
        'contact_model': args.contact_model,
        'joint_limits': args.joint_limits,
        'dt_internal': args.step,
        'integrator': args.integrator,
    }
    friction, elastic = _friction(args, model), _elastic(args, model)
    plant: Plant | ElasticPlant
    if elastic is None:
        plant = Plant(model, friction, **options)
    else:
        plant = ElasticPlant(model, elastic, friction, **options)
    plant.reset(start.q, start.v)
    require_clear_start(plant.state.contacts)
    return SimulatedHardware(plant, drives=drives, sensors=sensors)


def _friction(args: argparse.Namespace, model: RobotModel) -> JointFrictionLaw | None:
    source, law = args.friction, args.friction_model
    if law != 'dry' and source in ('none', 'urdf'):
        raise ConfigurationError(f'--friction-model {law} needs --friction FILE')
    if source == 'none':
        return None
    if source == 'urdf':
        return DryFriction.from_model(model)
    return read_friction_law(law, source, driven_joints(model))


def _elastic(args: argparse.Namespace, model: RobotModel) -> ElasticJoints | None:
    """Return the elastic joints, or None."""
    if args.joint_stiffness is None:
        if args.joint_damping is not None:
            raise ConfigurationError('--joint-damping is for elastic joints: --joint-stiffness')
        return None
    values = []
    for option, texts in (
        ('--joint-stiffness', args.joint_stiffness),
        ('--joint-damping', args.joint_damping),
    ):
        values.append(_by_name(option, texts or (), driven_joints(model)))
    return ElasticJoints.of_joints(model, *values)


def _by_name(option: str, texts: Sequence[str], names: Sequence[str]) -> dict[str, float]:
    """Return values by name: those that are given, or of all joints in order."""
    if len(texts) == 0:
        return {}
    x = np.full(len(names), np.nan)
    _put(option, texts, x, names, 0)
    return {name: value for name, value in zip(names, x.tolist()) if not np.isnan(value)}
