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

"""The robot, limits, surroundings and problem that the arguments of `excite` mean."""

from __future__ import annotations

import argparse
from collections.abc import Container, Iterable
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape, read_collisions
from robot_dynamics_ros.core.contact.disabled_pairs import read_disabled_pairs
from robot_dynamics_ros.core.contact.pair_filter import link_solids
from robot_dynamics_ros.core.contact.solids import Solid
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.excitation.clearance import adapt_to_room, ClearanceScene
from robot_dynamics_ros.core.excitation.excitation_problem import ExcitationProblem
from robot_dynamics_ros.core.excitation.motion_limits import motion_limits, MotionLimits
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.identification.identification_model import identification_model
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.pair_setup import world_solids
from robot_dynamics_ros.core.simulation.world import World
from robot_dynamics_ros.tools.robot_arguments import (
    friction_model,
    loaded_model,
    parse_armature,
    parse_xacro_args,
)

SIGN_WIDTH = 0.02
"""Width of the smooth sign of Coulomb friction, as a share of the velocity limits."""

NOISE = 0.01
"""Noise of measured efforts, as a share of the effort limits."""

ROUNDING = 1e-9
"""By which a limit that is given may be beyond that of the description."""

_RANDOM_POSES = 200


class ExcitationSetup(NamedTuple):
    """The problem, and notes on what was assumed, one sentence each."""

    problem: ExcitationProblem
    notes: list[str]


def make_setup(args: argparse.Namespace) -> ExcitationSetup:
    """
    Return the problem that the arguments ask for.

    Raises
    ------
    ConfigurationError, ModelError
        If an argument or a file does not fit the robot.

    """
    xacro_args = parse_xacro_args(args.xacro_arg)
    model = _load(args, xacro_args)
    model = loaded_model(model, args)
    limits = _limits(args, model)
    notes = _notes_on_limits(limits)
    friction = _friction(args.friction, model, notes)
    shapes: tuple[CollisionShape, ...] = ()
    if args.collisions == 'urdf':
        shapes = read_collisions(args.urdf, xacro_args=xacro_args)
    scene = _scene(args, model, shapes, limits, notes)
    structure = ModelStructure(args.friction_columns, args.offset, args.rotor_inertia)
    widths = tuple(float(width) for width in SIGN_WIDTH * limits.velocity)
    problem = ExcitationProblem(
        model=identification_model(model, structure, widths),
        limits=limits,
        friction=friction,
        scene=scene,
        period=args.duration / args.periods,
        harmonics=args.harmonics,
        noise=_noise(args, model, notes),
        clearance=args.clearance,
        objective=args.objective,
    )
    return ExcitationSetup(problem, notes)


def _load(args: argparse.Namespace, xacro_args: dict[str, str]) -> RobotModel:
    """Return the robot; joints that are not to move are locked at zero, or as near as they can."""
    options: dict[str, Any] = {
        'strict': not args.lenient,
        'xacro_args': xacro_args,
        'gravity': tuple(args.gravity),
        'armature': parse_armature(args.armature),
    }
    model = load_urdf(args.urdf, **options)
    if args.joints is None:
        return model
    for name in args.joints:
        model.joint_index(name)
    limits = model.limits
    locked = {
        name: float(np.clip(0.0, limits.lower[j], limits.upper[j]))
        for j, name in enumerate(model.v_names)
        if name not in args.joints
    }
    return load_urdf(args.urdf, **options, locked=locked)


def _limits(args: argparse.Namespace, model: RobotModel) -> MotionLimits:
    ranges = {}
    for pair in args.position:
        name, _, value = pair.partition('=')
        lower, _, upper = value.partition(':')
        _refuse_repeated('--position', name, ranges)
        ranges[name] = (_number('--position', pair, lower), _number('--position', pair, upper))
    limits = motion_limits(
        model,
        position_margin=args.position_margin,
        velocity_share=args.velocity_share,
        effort_share=args.effort_share,
        velocities=_by_joint('--velocity', args.velocity),
        accelerations=_by_joint('--acceleration', args.acceleration),
        positions=ranges,
    )
    _refuse_beyond(limits, model)
    return limits


def _refuse_beyond(limits: MotionLimits, model: RobotModel) -> None:
    """Refuse positions and velocities that the description does not allow; degrees, say."""
    stated = model.limits
    for j, name in enumerate(limits.joint_names):
        room = ROUNDING * (1.0 + abs(limits.lower[j]) + abs(limits.upper[j]))
        # False where nothing is stated, which is NaN or infinite.
        if limits.lower[j] < stated.lower[j] - room or limits.upper[j] > stated.upper[j] + room:
            raise ConfigurationError(
                f"--position of joint '{name}' is {limits.lower[j]:g} to {limits.upper[j]:g}, the "
                f'description allows {stated.lower[j]:.4g} to {stated.upper[j]:.4g} [rad | m]; '
                'change the description if the joint can do it'
            )
        if limits.velocity[j] > stated.velocity[j] * (1.0 + ROUNDING):
            raise ConfigurationError(
                f"--velocity of joint '{name}' is {limits.velocity[j]:g}, the description allows "
                f'{stated.velocity[j]:.4g} [rad/s | m/s]; change the description if the joint can '
                'do it'
            )


def _refuse_repeated(option: str, name: str, given: Container[str]) -> None:
    if name in given:
        raise ConfigurationError(f"{option} names joint '{name}' twice")


def _by_joint(option: str, pairs: Iterable[str]) -> dict[str, float]:
    values: dict[str, float] = {}
    for pair in pairs:
        name, _, value = pair.partition('=')
        _refuse_repeated(option, name, values)
        values[name] = _number(option, pair, value)
    return values


def _number(option: str, pair: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.inf
    if not np.isfinite(value):
        raise ConfigurationError(f"{option} '{pair}': '{text}' is not a finite number")
    return value


def _notes_on_limits(limits: MotionLimits) -> list[str]:
    notes = []
    names = limits.joint_names
    derived = [name for name, is_derived in zip(names, limits.is_derived) if is_derived]
    if derived:
        notes.append(
            'acceleration limits are not stated: each velocity limit is reached within 0.5 s '
            f'({", ".join(derived)})'
        )
    unknown = [name for name, effort in zip(names, limits.effort) if not np.isfinite(effort)]
    if unknown:
        notes.append(f'without effort limits, torques are not bounded: {", ".join(unknown)}')
    return notes


def _friction(source: str | None, model: RobotModel, notes: list[str]) -> FrictionModel | None:
    """Return the friction of the torques; by default that of the description, if it has any."""
    if source is not None:
        return friction_model(source, model)
    if np.any(model.friction > 0.0) or np.any(model.damping > 0.0):
        return FrictionModel.from_model(model)
    notes.append('the description states no friction, torques are without it')
    return None


def _noise(args: argparse.Namespace, model: RobotModel, notes: list[str]) -> Vector:
    noise = NOISE * model.limits.effort
    is_known = np.isfinite(noise) & (noise > 0.0)
    noise = np.where(is_known, noise, 1.0)
    given = _by_joint('--effort-noise', args.effort_noise)
    for name, value in given.items():
        noise[model.joint_index(name)] = value
    if len(given) < model.nv:
        notes.append('noise of measured efforts is taken as 1 % of the effort limits')
    return np.asarray(noise)


def _scene(
    args: argparse.Namespace,
    model: RobotModel,
    shapes: tuple[CollisionShape, ...],
    limits: MotionLimits,
    notes: list[str],
) -> ClearanceScene | None:
    """Return what must not touch; pairs that always overlap are left out and noted."""
    if not shapes:
        if args.collisions == 'urdf':
            raise ConfigurationError(
                f"robot '{model.name}' has no collision shapes, so nothing says what it would "
                'hit; --collisions none says that this is meant'
            )
        notes.append('collisions are not checked')
        return None
    links = link_solids(model, shapes)
    world = _world(args.world, links, notes)
    disabled = [*world.disabled_pairs]
    if args.disabled_pairs is not None:
        disabled += read_disabled_pairs(args.disabled_pairs)
    scene = ClearanceScene(model, links, world_solids(world), world.planes, disabled)
    rng = np.random.default_rng(0)
    poses = rng.uniform(limits.lower, limits.upper, (_RANDOM_POSES, model.nv))
    notes += adapt_to_room(scene, poses, args.clearance)
    return scene


def _world(path: str | None, links: list[Solid], notes: list[str]) -> World:
    """Return the surroundings of a file, or a floor under what stands still."""
    if path == 'none':
        return World()
    if path is not None:
        return World.from_file(path)
    down = np.array([0.0, 0.0, -1.0])
    lowest = [
        float(link.translation[2]) - link.support(link.rotation.T @ down)
        for link in links
        if link.body < 0
    ]
    height = min(lowest, default=0.0)
    notes.append(f'a level floor is assumed at {height:.3g} m; --world FILE says otherwise')
    return World.with_floor(height)
