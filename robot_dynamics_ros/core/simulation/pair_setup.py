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

"""The pairs of bodies of a robot and its world that are looked at for contact."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros.core.contact.body_pairs import BodyPairs
from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape
from robot_dynamics_ros.core.contact.geometry import ContactSet
from robot_dynamics_ros.core.contact.pair_filter import link_solids, pairs_to_watch
from robot_dynamics_ros.core.contact.solids import Solid, solid_of_shape
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.simulation.world import World


def body_pairs(
    model: RobotModel,
    world: World,
    shapes: Sequence[CollisionShape],
    planes: ContactSet,
    disabled: Sequence[tuple[str, str]] = (),
    *,
    self_collision: bool = False,
) -> BodyPairs | None:
    """
    Return the pairs, or None if there are none.

    Parameters
    ----------
    model : RobotModel
        The robot.
    world : World
        Its surroundings.
    shapes : sequence of CollisionShape
        Its shapes.
    planes : ContactSet
        Its contacts with planes, whose names of links and surfaces are kept.
    disabled : sequence of pairs of str
        Links, boxes and spheres that pass through each other, besides those of the world.
    self_collision : bool
        Whether links touch each other.

    Raises
    ------
    ConfigurationError
        If coal is not installed, a disabled pair is unknown, a mesh has no volume, or a surface
        has the name of a link.

    """
    solids = [*(box.name for box in world.boxes), *(ball.name for ball in world.spheres)]
    for name in (*planes.surfaces, *solids):
        if shapes and name in model.frames:
            raise ConfigurationError(
                f"the world has a surface '{name}', and the robot has a link of that name; "
                'rename the surface'
            )
    if not shapes or not (self_collision or solids):
        return None
    links = link_solids(model, shapes, world.link_materials)
    surroundings = world_solids(world)
    pairs = pairs_to_watch(
        model,
        links,
        surroundings,
        (*disabled, *world.disabled_pairs),
        self_collision=self_collision,
    )
    if not pairs:
        return None
    names = dict.fromkeys((*(solid.name for solid in surroundings), *planes.links))
    return BodyPairs([*links, *surroundings], pairs, planes.links, (*planes.surfaces, *names))


def world_solids(world: World) -> list[Solid]:
    """Return the boxes and spheres of a world as solids."""
    solids = []
    for box in world.boxes:
        shape = CollisionShape(box.name, 'box', box.size, box.rotation, box.position)
        solids.append(solid_of_shape(shape, -1, np.eye(3), np.zeros(3), box.material))
    for ball in world.spheres:
        shape = CollisionShape(ball.name, 'sphere', ball.radius, np.eye(3), ball.position)
        solids.append(solid_of_shape(shape, -1, np.eye(3), np.zeros(3), ball.material))
    return solids
