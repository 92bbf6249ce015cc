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
Shapes with which a robot touches: the ``<collision>`` elements of a description.

The dynamics do not need them, so they are read on their own, through the same gate as the rest of
the description (`urdf_gate`).

"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
import os
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, frozen, Matrix, Vector
from robot_dynamics_ros.core.contact.mesh_file import read_mesh_vertices
from robot_dynamics_ros.core.exceptions import ModelError
from robot_dynamics_ros.core.model.urdf import raw_tree
from robot_dynamics_ros.core.model.urdf_gate import parse_numbers, XmlElement
from robot_dynamics_ros.core.model.urdf_source import read_source
from robot_dynamics_ros.core.spatial.rotation import rotation_from_rpy

KINDS = {'point': 0, 'sphere': 1, 'box': 3, 'cylinder': 2, 'capsule': 2, 'mesh': 0}
"""Kinds of shapes, with the number of their dimensions."""


@dataclass(frozen=True, eq=False)
class CollisionShape:
    """
    A shape that is fixed to a link.

    Attributes
    ----------
    link : str
        Name of the link.
    kind : str
        ``point``, ``sphere``, ``box``, ``cylinder``, ``capsule`` or ``mesh``.
    size : ndarray
        Radius; the three edges; radius and length along z, without the caps of a capsule [m].
    rotation : ndarray, shape (3, 3)
        Orientation in the link frame.
    translation : ndarray, shape (3,)
        Position in the link frame [m].
    vertices : ndarray, shape (n, 3)
        Vertices of a mesh, in its own frame [m].

    Raises
    ------
    ModelError
        If the kind is unknown, or a dimension is missing or not positive.

    """

    link: str
    kind: str
    size: Any = ()
    rotation: Matrix = field(default_factory=lambda: np.eye(3))
    translation: Any = (0.0, 0.0, 0.0)
    vertices: Matrix = field(default_factory=lambda: np.zeros((0, 3)))

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ModelError(
                f"link '{self.link}': shape '{self.kind}' is not one of: {', '.join(KINDS)}"
            )
        name = f"size of the {self.kind} of link '{self.link}'"
        size = as_finite(name, np.atleast_1d(np.asarray(self.size)), (KINDS[self.kind],))
        if (size <= 0.0).any():
            raise ModelError(f'{name} is {size.tolist()}, expected > 0')
        object.__setattr__(self, 'size', frozen(size))
        object.__setattr__(self, 'rotation', frozen(self.rotation))
        object.__setattr__(self, 'translation', frozen(self.translation))
        object.__setattr__(self, 'vertices', frozen(self.vertices))


def read_collisions(
    source: str | bytes | os.PathLike[str],
    *,
    xacro_args: Mapping[str, Any] | None = None,
    package_paths: Mapping[str, str | os.PathLike[str]] | None = None,
) -> tuple[CollisionShape, ...]:
    """
    Read the collision shapes of a robot from URDF or xacro.

    Parameters
    ----------
    source : str, bytes or path-like
        Path of a file, or the XML itself.
    xacro_args : mapping of str to object, optional
        Values for the arguments of a xacro file.
    package_paths : mapping of str to path, optional
        Where packages of ``package://`` names are; without it they are looked for around the file.

    Returns
    -------
    shapes : tuple of CollisionShape
        In the order of the file. ``<capsule>``, which URDF does not have, is read as well.

    Raises
    ------
    UrdfError
        If the source does not pass the gate.
    ModelError
        If a shape or mesh cannot be read; one line that names the link.

    """
    found = read_source(source)
    root = raw_tree(found, xacro_args)
    directory = found.path.parent if found.path else None
    shapes = []
    for link in root.all('link'):
        for collision in link.all('collision'):
            shape = _shape(link, collision, directory, package_paths or {})
            if shape is not None:
                shapes.append(shape)
    return tuple(shapes)


def _numbers(link: str, element: XmlElement, name: str, count: int, default: str) -> Vector:
    text = element.attributes.get(name, default)
    try:
        return np.array(parse_numbers(text, count))
    except ValueError as error:
        raise ModelError(f"link '{link}': {element.path}/@{name}: {error}") from error


def _shape(
    link_element: XmlElement,
    collision: XmlElement,
    directory: Path | None,
    packages: Mapping[str, str | os.PathLike[str]],
) -> CollisionShape | None:
    link = link_element.attributes.get('name', '')
    geometry = collision.first('geometry')
    shape = next((c for c in geometry.children if c.tag in KINDS), None) if geometry else None
    if shape is None:
        return None
    rotation, translation = np.eye(3), np.zeros(3)
    origin = collision.first('origin')
    if origin is not None:
        translation = _numbers(link, origin, 'xyz', 3, '0 0 0')
        rotation = rotation_from_rpy(*_numbers(link, origin, 'rpy', 3, '0 0 0'))
    vertices, size = np.zeros((0, 3)), np.zeros(0)
    if shape.tag == 'box':
        size = _numbers(link, shape, 'size', 3, '')
    elif shape.tag == 'mesh':
        scale = _numbers(link, shape, 'scale', 3, '1 1 1')
        path = _mesh_path(link, shape.attributes.get('filename', ''), directory, packages)
        vertices = scale * read_mesh_vertices(path)
    else:
        size = _numbers(link, shape, 'radius', 1, '')
        if shape.tag != 'sphere':
            size = np.append(size, _numbers(link, shape, 'length', 1, ''))
    return CollisionShape(link, shape.tag, size, rotation, translation, vertices)


def _mesh_path(
    link: str,
    name: str,
    directory: Path | None,
    packages: Mapping[str, str | os.PathLike[str]],
) -> Path:
    """Return the file behind the name of a mesh."""
    places = []
    if name.startswith('package://'):
        package, _, rest = name[len('package://') :].partition('/')
        if package in packages:
            places = [Path(packages[package]) / rest]
        elif directory is not None:
            # The package is often a folder around the file, or beside one of those.
            around = (directory.resolve(), *directory.resolve().parents)
            places = [folder / package / rest for folder in around]
            places += [folder / rest for folder in around if folder.name == package]
    else:
        if name.startswith('file://'):
            name = name[len('file://') :]
        places = [(directory or Path()) / name]
    for place in places:
        if '://' not in name[10:] and place.is_file():
            return place
    raise ModelError(
        f"link '{link}': mesh '{name:.120}' cannot be found; state where its package is, or leave "
        'contact out'
    )
