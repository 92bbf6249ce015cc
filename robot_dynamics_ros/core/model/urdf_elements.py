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
Remarks on the raw elements of a URDF, before any number is used.

Numbers, names, repeated and foreign elements, namespace prefixes, meshes.

"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import inf
from pathlib import Path

from robot_dynamics_ros.core.model.description import Finding
from robot_dynamics_ros.core.model.finding_codes import finding, one_line, WARNING
from robot_dynamics_ros.core.model.urdf_gate import parse_numbers, unbound_prefixes, XmlElement

_POSE = {'xyz': 3, 'rpy': 3}
_SHAPE: dict[tuple[str, ...], dict[str, int]] = {
    ('origin',): _POSE,
    ('geometry', 'box'): {'size': 3},
    ('geometry', 'cylinder'): {'radius': 1, 'length': 1},
    ('geometry', 'capsule'): {'radius': 1, 'length': 1},
    ('geometry', 'sphere'): {'radius': 1},
    ('geometry', 'mesh'): {'scale': 3},
    ('material', 'color'): {'rgba': 4},
}
INERTIA_ENTRIES = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')

NUMBERS: dict[str, dict[tuple[str, ...], dict[str, int]]] = {
    'link': {
        ('inertial', 'origin'): _POSE,
        ('inertial', 'mass'): {'value': 1},
        ('inertial', 'inertia'): dict.fromkeys(INERTIA_ENTRIES, 1),
        **{('visual', *tags): numbers for tags, numbers in _SHAPE.items()},
        **{('collision', *tags): numbers for tags, numbers in _SHAPE.items()},
    },
    'joint': {
        ('origin',): _POSE,
        ('axis',): {'xyz': 3},
        ('limit',): {'lower': 1, 'upper': 1, 'effort': 1, 'velocity': 1},
        ('dynamics',): {'damping': 1, 'friction': 1},
        ('mimic',): {'multiplier': 1, 'offset': 1},
        ('safety_controller',): {
            'k_velocity': 1,
            'k_position': 1,
            'soft_lower_limit': 1,
            'soft_upper_limit': 1,
        },
    },
}
"""How many numbers each attribute holds, by element below a link or joint."""

LARGEST_NUMBER = 1e15
"""Largest mass, length and so on in SI units; products of larger ones could overflow."""

_MAY_BE_HUGE = (('limit',), ('safety_controller',), ('axis',))

_SINGLE = {
    'link': ('inertial',),
    'joint': (
        *('origin', 'axis', 'parent', 'child', 'limit'),
        *('dynamics', 'mimic', 'safety_controller', 'calibration'),
    ),
}
_SEVERAL = {'link': ('visual', 'collision'), 'joint': ()}


def element_findings(root: XmlElement, strict: bool, directory: Path | None) -> list[Finding]:
    """
    Return the remarks on a raw tree.

    Parameters
    ----------
    root : XmlElement
        The ``<robot>`` element.
    strict : bool
        Whether a wrong number in a shape that dynamics does not use is an error, too, or only a
        warning.
    directory : Path or None
        Folder of the file, for relative mesh names.

    """
    found: list[Finding] = []
    if not root.attributes.get('name'):
        found.append(finding('robot_name_missing', 'robot', '<robot> has no name'))
    for prefix, line in unbound_prefixes(root).items():
        message = (
            f"namespace prefix '{one_line(prefix, 40)}' (line {line}) is not declared; ignored"
        )
        found.append(finding('prefix_unbound', 'text', message, float(line)))
    for kind in ('link', 'joint'):
        for element in root.all(kind):
            if not element.attributes.get('name'):
                message = f'the <{kind}> in line {element.line} has no name'
                found.append(finding('name_missing', element.path, message, float(element.line)))
            found.extend(_wrong_numbers(element, strict))
            found.extend(_repeated(element))
    found.extend(_ignored(root))
    found.extend(_missing_meshes(root, directory))
    return found


def subject_of(element: XmlElement) -> str:
    """Return how messages call a link or joint, for example ``joint 'j1'``."""
    return f"{element.tag} '{one_line(element.attributes.get('name', '?'), 80)}'"


def _wrong_numbers(element: XmlElement, strict: bool) -> Iterator[Finding]:
    for tags, attributes in NUMBERS[element.tag].items():
        shape_only = tags[0] in ('visual', 'collision')
        largest = inf if tags in _MAY_BE_HUGE else LARGEST_NUMBER
        for holder in element.descend(*tags):
            for attribute in filter(holder.attributes.__contains__, attributes):
                try:
                    numbers = parse_numbers(holder.attributes[attribute], attributes[attribute])
                    if max(map(abs, numbers)) > largest:
                        raise ValueError(f'a number beyond {LARGEST_NUMBER:g} fits no robot')
                except ValueError as error:
                    where = f'{holder.path}/@{attribute}'
                    yield finding(
                        'number_wrong',
                        subject_of(element),
                        f'{where} (line {holder.line}): {error}',
                        float(holder.line),
                        WARNING if shape_only and not strict else None,
                    )


def _repeated(element: XmlElement) -> Iterator[Finding]:
    counts = Counter(child.tag for child in element.children)
    inertials = [element.descend('inertial', tag) for tag in ('origin', 'mass', 'inertia')]
    repeated = [(tag, counts[tag]) for tag in _SINGLE[element.tag] if counts[tag] > 1]
    if counts['inertial'] == 1:
        repeated += [(f'inertial/{found[0].tag}', len(found)) for found in inertials if found[1:]]
    for tag, count in repeated:
        message = f'<{tag}> stands {count} times; the first is used'
        yield finding('element_repeated', subject_of(element), message, float(count))


def _ignored(root: XmlElement) -> Iterator[Finding]:
    """Yield one remark for each kind of element that URDF does not know, such as a typo."""
    foreign: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], XmlElement] = {}
    for kind in ('link', 'joint'):
        known = _SINGLE[kind] + _SEVERAL[kind]
        for element in root.all(kind):
            for child in element.children:
                if child.tag not in known:
                    foreign[kind, child.tag] += 1
                    first.setdefault((kind, child.tag), child)
    for (kind, tag), count in foreign.items():
        element = first[kind, tag]
        message = (
            f'<{one_line(tag, 60)}> in <{kind}> is not part of URDF and ignored, {count} times'
        )
        subject = subject_of(element.parent or element)
        yield finding('element_ignored', subject, message, float(count))


def _missing_meshes(root: XmlElement, directory: Path | None) -> Iterator[Finding]:
    names = {
        mesh.attributes.get('filename', ''): mesh
        for shape in ('visual', 'collision')
        for mesh in root.descend('link', shape, 'geometry', 'mesh')
    }
    missing = [name for name in names if not _mesh_exists(name, directory)]
    if missing:
        message = (
            f'{len(missing)} of {len(names)} mesh files cannot be found here, '
            f"'{one_line(missing[0], 80)}' first; dynamics does not need them"
        )
        yield finding('mesh_missing', 'robot', message, float(len(missing)))


def _mesh_exists(name: str, directory: Path | None) -> bool:
    folders = [directory or Path()]
    if name.startswith('file://'):
        name = name[len('file://') :]
    elif name.startswith('package://'):
        # The package is often a folder around the file, or beside one of those.
        name = name[len('package://') :]
        folders = list(directory.resolve().parents) if directory else []
    elif '://' in name:
        return False
    try:
        return any((folder / name).is_file() for folder in folders)
    except (OSError, ValueError):
        return False
