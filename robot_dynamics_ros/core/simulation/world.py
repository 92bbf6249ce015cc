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
What surrounds a robot: planes, boxes and spheres with their materials.

The YAML file; every part is optional. (YAML reads 1.0e6 as
text: write the sign of the exponent.) ::

    materials:
      rubber: {friction: 0.9, restitution: 0.2, stiffness: 1.0e+6, dissipation: 0.5}
    planes:
      floor: {normal: [0, 0, 1], point: [0, 0, 0], material: rubber}
    boxes:
      table: {size: [1.0, 0.6, 0.4], position: [0.8, 0, 0.2], rpy: [0, 0, 0], material: rubber}
    spheres:
      ball: {radius: 0.1, position: [0.5, 0, 0.5], material: rubber}
    links:
      left_foot: rubber
    disabled_pairs:
      - [table, link_1]

"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import yaml

from robot_dynamics_ros.core.arrays import as_finite, frozen, Matrix, Vector
from robot_dynamics_ros.core.contact.disabled_pairs import as_pairs
from robot_dynamics_ros.core.contact.geometry import Material, Plane
from robot_dynamics_ros.core.exceptions import ConfigurationError, RobotDynamicsError
from robot_dynamics_ros.core.spatial.rotation import rotation_from_rpy

_KEYS: dict[str, dict[str, Any]] = {
    'planes': {'normal': [0.0, 0.0, 1.0], 'point': [0.0, 0.0, 0.0], 'material': None},
    'boxes': {
        'size': ..., 'position': [0.0, 0.0, 0.0], 'rpy': [0.0, 0.0, 0.0], 'material': None
    },
    'spheres': {'radius': ..., 'position': [0.0, 0.0, 0.0], 'material': None},
    'materials': {'friction': 0.7, 'restitution': 0.0, 'stiffness': 1e6, 'dissipation': 1.0},
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Box:
    """
    A box that stands still.

    Attributes
    ----------
    name : str
    size : ndarray, shape (3,)
        Edges [m].
    position : ndarray, shape (3,)
        Its centre, expressed in the world [m].
    rotation : ndarray, shape (3, 3)
        Its orientation in the world.
    material : Material

    """

    name: str
    size: Vector
    position: Vector
    rotation: Matrix
    material: Material = Material()


@dataclass(frozen=True, eq=False)
class Sphere:
    """A sphere that stands still, with radius and centre in the world [m]."""

    name: str
    radius: float
    position: Vector
    material: Material = Material()


@dataclass(frozen=True, eq=False)
class World:
    """
    Surroundings of a robot.

    Attributes
    ----------
    planes : tuple of Plane
    boxes : tuple of Box
    spheres : tuple of Sphere
    materials : mapping of str to Material
        By name.
    link_materials : mapping of str to Material
        Materials of links of the robot; other links take that of what they touch.
    disabled_pairs : tuple of pairs of str
        Links, boxes and spheres that pass through each other.

    """

    planes: tuple[Plane, ...] = ()
    boxes: tuple[Box, ...] = ()
    spheres: tuple[Sphere, ...] = ()
    materials: Mapping[str, Material] = field(default_factory=dict)
    link_materials: Mapping[str, Material] = field(default_factory=dict)
    disabled_pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def with_floor(cls, height: float = 0.0, material: Material | None = None) -> World:
        """Return a world with nothing but a level floor called ``floor``."""
        point = np.array([0.0, 0.0, height])
        return cls((Plane('floor', np.array([0.0, 0.0, 1.0]), point, material or Material()),))

    @classmethod
    def from_file(cls, path: str | Path) -> World:
        """
        Read a world from a YAML file, see above.

        Raises
        ------
        ConfigurationError
            If the file cannot be read or something in it is unknown or out of range; one line.

        """
        try:
            content = yaml.safe_load(Path(path).read_text(encoding='utf-8'))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            reason = ' '.join(str(error).split())
            raise ConfigurationError(f'world file {path} cannot be read: {reason}') from error
        try:
            return cls.from_mapping({} if content is None else content)
        except RobotDynamicsError as error:
            raise ConfigurationError(f'world file {path}: {error}') from error

    @classmethod
    def from_mapping(cls, content: Any) -> World:
        """
        Make a world from the content of a file.

        Raises
        ------
        ConfigurationError
            If something in it is unknown or out of range.
        NotNumericError, DimensionError, NonFiniteError
            If a vector is none.

        """
        parts = _mapping('the world', content)
        _refuse_unknown('the world', parts, (*_KEYS, 'links', 'disabled_pairs'))
        materials = {
            name: Material(**values) for name, values in _entries(parts, 'materials').items()
        }

        def material(name: str | None) -> Material:
            if name is None:
                return Material()
            if name not in materials:
                known = ', '.join(materials) or 'none'
                raise ConfigurationError(f"material '{name}' is not defined; there are: {known}")
            return materials[name]

        planes, boxes, spheres = [], [], []
        for name, values in _entries(parts, 'planes').items():
            normal = as_finite(f"normal of plane '{name}'", values['normal'], (3,))
            point = as_finite(f"point of plane '{name}'", values['point'], (3,))
            planes.append(Plane(name, normal, point, material(values['material'])))
        for name, values in _entries(parts, 'boxes').items():
            size = as_finite(f"size of box '{name}'", values['size'], (3,))
            position = as_finite(f"position of box '{name}'", values['position'], (3,))
            rpy = as_finite(f"rpy of box '{name}'", values['rpy'], (3,))
            if (size <= 0.0).any():
                raise ConfigurationError(f"size of box '{name}' is {size}, expected > 0")
            boxes.append(
                Box(name, frozen(size), frozen(position), frozen(rotation_from_rpy(*rpy)),
                    material(values['material']))
            )  # fmt: skip
        for name, values in _entries(parts, 'spheres').items():
            radius = float(as_finite(f"radius of sphere '{name}'", values['radius'], ()))
            position = as_finite(f"position of sphere '{name}'", values['position'], (3,))
            if radius <= 0.0:
                raise ConfigurationError(f"radius of sphere '{name}' is {radius}, expected > 0")
            spheres.append(Sphere(name, radius, frozen(position), material(values['material'])))
        links = _mapping('links', parts.get('links') or {})
        return cls(
            tuple(planes),
            tuple(boxes),
            tuple(spheres),
            MappingProxyType(materials),
            MappingProxyType({str(link): material(name) for link, name in links.items()}),
            as_pairs(parts.get('disabled_pairs') or ()),
        )


def _mapping(what: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigurationError(f'{what} is {value!r:.60}, expected a mapping of keys')
    return value


def _refuse_unknown(what: str, entry: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in entry:
        if key not in known:
            raise ConfigurationError(f"{what}: unknown key '{key}'; there are: {', '.join(known)}")


def _entries(parts: Mapping[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    """Return the entries of one kind by name, with defaults for what they leave out."""
    entries = {}
    for name, raw in _mapping(kind, parts.get(kind) or {}).items():
        what = f"{kind}, '{name}'"
        entry = _mapping(what, {} if raw is None else raw)
        _refuse_unknown(what, entry, tuple(_KEYS[kind]))
        values = {**_KEYS[kind], **entry}
        for key, value in values.items():
            if value is ...:
                raise ConfigurationError(f'{what}: {key} is missing')
        entries[str(name)] = values
    return entries
