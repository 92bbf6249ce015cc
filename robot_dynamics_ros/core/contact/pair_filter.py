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
Which pairs of bodies are looked at for contact.

Left out are bodies that cannot move against each other, neighbours at a joint, and pairs that are
disabled by name.

"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape
from robot_dynamics_ros.core.contact.geometry import Material
from robot_dynamics_ros.core.contact.solids import Solid, solid_of_shape
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.kernel_layout import PARENT, PUBLIC
from robot_dynamics_ros.core.model.robot_model import RobotModel


def link_solids(
    model: RobotModel,
    shapes: Sequence[CollisionShape],
    link_materials: Mapping[str, Material] | None = None,
) -> list[Solid]:
    """
    Return the solids of the links of a robot.

    Raises
    ------
    UnknownFrameError
        If the robot has no such link.
    ConfigurationError
        If coal is not installed, or a mesh has no volume.

    """
    solids = []
    for shape in shapes:
        frame = model.frame(shape.link)
        solids.append(
            solid_of_shape(
                shape,
                int(frame.kernel[0]),
                frame.kernel[4:].reshape(3, 3),
                frame.kernel[1:4],
                (link_materials or {}).get(shape.link),
            )
        )
    return solids


def pairs_to_watch(
    model: RobotModel,
    links: Sequence[Solid],
    surroundings: Sequence[Solid],
    disabled: Iterable[tuple[str, str]] = (),
    *,
    self_collision: bool = False,
) -> list[tuple[int, int]]:
    """
    Return pairs of indices among the links' solids and, after them, those of the surroundings.

    Raises
    ------
    ConfigurationError
        If a disabled pair names a body that does not exist.

    """
    off = {frozenset(pair) for pair in disabled}
    known = {*model.frames, *(solid.name for solid in surroundings)}
    for name in sorted(set().union(*off)):
        if name not in known:
            raise ConfigurationError(f"disabled_pairs names '{name}', which is not there")
    pairs = [
        (i, len(links) + j)
        for i, link in enumerate(links)
        for j, surface in enumerate(surroundings)
        if link.body >= 0 and frozenset((link.name, surface.name)) not in off
    ]
    if self_collision:
        pairs += [
            (i, j)
            for j, second in enumerate(links)
            for i, first in enumerate(links[:j])
            if not _are_neighbours(model, first.body, second.body)
            and frozenset((first.name, second.name)) not in off
        ]
    return pairs


def _are_neighbours(model: RobotModel, a: int, b: int) -> bool:
    """Whether two kernel bodies are the same, or joined by one joint."""
    return a == b or _parent(model, a) == b or _parent(model, b) == a


def _parent(model: RobotModel, body: int) -> int:
    """Return the parent that has a name, -1 for the world; -2 for the parent of the world."""
    if body < 0:
        return -2
    parent = int(model.kernel[1 + body, PARENT])
    while parent >= 0 and model.kernel[1 + parent, PUBLIC] < 0:
        parent = int(model.kernel[1 + parent, PARENT])
    return parent
