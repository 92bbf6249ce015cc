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

"""Bodies and surroundings to test contact on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape
from robot_dynamics_ros.core.contact.geometry import Material
from robot_dynamics_ros.core.dynamics import mechanical_energy
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.robot_model import neutral, RobotModel
from robot_dynamics_ros.core.simulation.plant import Plant, PlantState
from robot_dynamics_ros.core.simulation.world import World
import robots

Array = NDArray[np.float64]
GRAVITY = 9.81


def free_body(
    mass: float = 1.0,
    moments: Sequence[float] = (0.004, 0.004, 0.004),
    gravity: Sequence[float] = (0.0, 0.0, -GRAVITY),
) -> RobotModel:
    """Return one floating rigid body, the link ``base`` with its centre of mass at the origin."""
    base = robots.body('base', mass, (0.0, 0.0, 0.0), moments)
    return build_model(
        robots.robot('body', [], [], base=base), floating_base=True, gravity=gravity
    )


def box_body(
    mass: float = 1.0,
    edges: Sequence[float] = (0.2, 0.2, 0.2),
    gravity: Sequence[float] = (0.0, 0.0, -GRAVITY),
) -> tuple[RobotModel, list[CollisionShape]]:
    """Return a uniform box and its shape."""
    x, y, z = np.square(edges)
    moments = mass / 12.0 * np.array([y + z, x + z, x + y])
    return free_body(mass, moments.tolist(), gravity), [CollisionShape('base', 'box', edges)]


def inclined(angle: float) -> tuple[float, float, float]:
    """Return gravity as seen from a floor that falls towards +x by `angle`."""
    return (GRAVITY * float(np.sin(angle)), 0.0, -GRAVITY * float(np.cos(angle)))


def at_height(model: RobotModel, height: float) -> Array:
    """Return the neutral configuration of a floating body with its origin at a height."""
    q = neutral(model)
    q[2] = height
    return q


def floor(**material: float) -> World:
    """Return a level floor of a material."""
    return World.with_floor(0.0, Material(**material))


def energy(plant: Plant, state: PlantState | None = None) -> float:
    """Return the mechanical energy of a plant."""
    state = state or plant.state
    return mechanical_energy(plant.model, state.q, state.v)


def run(plant: Plant, duration: float, tau: Any = None) -> PlantState:
    """Let time run in one call, without torque by default."""
    return plant.step(np.zeros(plant.model.nv) if tau is None else tau, duration)


def drop(height: float, world: World, **options: Any) -> Plant:
    """Return a ball of 1 kg whose lowest point is at a height."""
    model = free_body()
    ball = CollisionShape('base', 'sphere', 0.1)
    q = at_height(model, height + 0.1)
    return Plant(model, world=world, collisions=[ball], q=q, **options)
