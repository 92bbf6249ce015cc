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

"""Remarks on links and joints as a whole, whatever their source: tree, mimics, masses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.core.model.description import (
    Finding,
    Inertial,
    Joint,
    JointType,
    Link,
    RobotDescription,
)
from robot_dynamics_ros.core.model.finding_codes import finding

TENSOR_TOLERANCE = 1e-9
"""How far a principal moment may be out, relative to the largest: above rounding, below faults."""

_SINGLE = (JointType.REVOLUTE, JointType.CONTINUOUS, JointType.PRISMATIC)


def description_findings(description: RobotDescription) -> list[Finding]:
    """Return the remarks on the tree, and if it is one, those on its masses."""
    found = [*_tree_findings(description), *_mimic_findings(description)]
    for link in description.links:
        found.extend(_inertial_findings(link))
    if not any(item.severity == 'error' for item in found):
        found.extend(_mass_findings(description))
    shared = {link.name for link in description.links} & {j.name for j in description.joints}
    for name in sorted(shared):
        message = 'a link and a joint have this name, which is legal'
        found.append(finding('name_shared', f"'{name}'", message))
    return found


def with_mimics_independent(
    description: RobotDescription,
) -> tuple[RobotDescription, list[Finding]]:
    """Return the description with mimic joints of unknown target free, and remarks on them."""
    names = {joint.name for joint in description.joints}
    found: list[Finding] = []
    joints: list[Joint] = []
    for joint in description.joints:
        if joint.mimic is not None and joint.mimic.joint not in names:
            message = f"mimics '{joint.mimic.joint}', which does not exist: it moves independently"
            found.append(finding('mimic_independent', f"joint '{joint.name}'", message))
            joint = replace(joint, mimic=None)
        joints.append(joint)
    return replace(description, joints=tuple(joints)), found


def tensor_fault(inertia: np.ndarray) -> tuple[str, float] | None:
    """
    Return what makes a tensor about the centre of mass impossible, or None.

    Parameters
    ----------
    inertia : ndarray, shape (3, 3)
        Symmetric rotational inertia [kg m^2].

    Returns
    -------
    fault : (str, float) or None
        ``inertia_not_positive`` with the negative principal moment, or ``inertia_triangle`` with
        the excess of the largest one over the sum of the other two [kg m^2].

    """
    scale = float(np.abs(inertia).max())
    if scale == 0.0:
        return None
    moments = np.linalg.eigvalsh(inertia / scale)
    if moments[0] < -TENSOR_TOLERANCE:
        return 'inertia_not_positive', float(moments[0]) * scale
    excess = float(moments[2] - moments[1] - moments[0])
    if excess > TENSOR_TOLERANCE:
        return 'inertia_triangle', excess * scale
    return None


def _tree_findings(description: RobotDescription) -> Iterator[Finding]:
    links = {link.name for link in description.links}
    if not links:
        yield finding('no_link', 'robot', 'there is no link')
        return
    for kind, names in (
        ('link', [link.name for link in description.links]),
        ('joint', [joint.name for joint in description.joints]),
    ):
        for name, count in Counter(names).items():
            if count > 1:
                message = f'{count} {kind}s have this name'
                yield finding('name_repeated', f"{kind} '{name}'", message, float(count))
    parents: dict[str, list[Joint]] = {name: [] for name in links}
    complete = True
    for joint in description.joints:
        for role, name in (('parent', joint.parent), ('child', joint.child)):
            if name not in links:
                complete = False
                message = f"its {role} link '{name}' does not exist"
                yield finding('link_unknown', f"joint '{joint.name}'", message)
        if joint.child in links:
            parents[joint.child].append(joint)
    for name, joints in parents.items():
        if len(joints) > 1:
            complete = False
            names_ = ' and '.join(f"'{joint.name}'" for joint in joints)
            message = f'it is the child of joints {names_}: a closed loop; cut it at one of them'
            yield finding('link_two_parents', f"link '{name}'", message, float(len(joints)))
    if complete:
        yield from _root_findings({name: j[0] for name, j in parents.items() if j}, description)


def _root_findings(parent: dict[str, Joint], description: RobotDescription) -> Iterator[Finding]:
    """Look for cycles and roots where every link has at most one parent joint."""
    state: dict[str, int] = {}
    for number, start in enumerate(description.links):
        path: list[Joint] = []
        name = start.name
        while name not in state:
            state[name] = number
            if name not in parent:
                break
            path.append(parent[name])
            name = parent[name].parent
        else:
            if state[name] == number and path:
                loop = path[[joint.child for joint in path].index(name) :]
                joints = ', '.join(f"'{joint.name}'" for joint in loop)
                message = f'it is its own ancestor through joints {joints}'
                yield finding('kinematic_cycle', f"link '{name}'", message, float(len(loop)))
    roots = [link.name for link in description.links if link.name not in parent]
    if len(roots) > 1:
        shown = ', '.join(f"'{name}'" for name in roots[:6]) + (', ...' if roots[6:] else '')
        message = f'{len(roots)} links have no parent, expected one: {shown}; connect them'
        yield finding('several_roots', 'robot', message, float(len(roots)))


def _mimic_findings(description: RobotDescription) -> Iterator[Finding]:
    joints = {joint.name: joint for joint in description.joints}
    for joint in description.joints:
        if joint.mimic is None:
            continue
        subject, target = f"joint '{joint.name}'", joints.get(joint.mimic.joint)
        if joint.type not in _SINGLE:
            message = f'a {joint.type.value} joint cannot mimic another'
            yield finding('mimic_type', subject, message)
        elif target is joint:
            yield finding('mimic_self', subject, 'it mimics itself')
        elif target is None:
            message = (
                f"it mimics joint '{joint.mimic.joint}', which does not exist; correct the name, "
                "or load with unknown_mimic='independent'"
            )
            yield finding('mimic_target_unknown', subject, message)
        elif target.type not in _SINGLE:
            message = f"it mimics joint '{target.name}', which is {target.type.value}"
            yield finding('mimic_type', subject, message)
    seen: set[str] = set()
    for joint in description.joints:
        path: list[str] = []
        current: Joint | None = joint
        while current is not None and current.name not in seen and current.mimic is not None:
            seen.add(current.name)
            path.append(current.name)
            current = joints.get(current.mimic.joint)
        if current is not None and current.name in path[:-1]:
            circle = ' -> '.join([*path[path.index(current.name) :], current.name])
            message = f'mimic joints follow each other in a circle: {circle}'
            yield finding('mimic_cycle', f"joint '{current.name}'", message)


def _inertial_findings(link: Link) -> Iterator[Finding]:
    if link.inertial is None:
        return
    subject, mass = f"link '{link.name}'", link.inertial.mass
    if mass < 0.0:
        yield finding('mass_negative', subject, f'the mass is {mass:g} kg', mass)
    largest = float(np.abs(link.inertial.inertia).max())
    if mass == 0.0 and largest > 0.0:
        message = f'it has rotational inertia (up to {largest:g} kg m^2) but no mass'
        yield finding('inertia_without_mass', subject, message, largest)
    fault = tensor_fault(link.inertial.inertia)
    if fault is not None:
        code, value = fault
        if code == 'inertia_not_positive':
            message = f'the inertia tensor has the principal moment {value:.6g} kg m^2'
        else:
            message = (
                'the largest principal moment exceeds the sum of the others by '
                f'{value:.6g} kg m^2; no body has such a tensor'
            )
        yield finding(code, subject, message, value)


def _mass_findings(description: RobotDescription) -> Iterator[Finding]:
    """Remark on bodies without mass; links that fixed joints connect are one body."""
    parent = {joint.child: joint for joint in description.joints}
    root = next(link for link in description.links if link.name not in parent)
    head: dict[str, str] = {}
    for link in description.links:
        path = []
        name = link.name
        while name not in head and name in parent and parent[name].type is JointType.FIXED:
            path.append(name)
            name = parent[name].parent
        body = head.get(name, name)
        head.update(dict.fromkeys([*path, name], body))
    masses: dict[str, float] = {}
    for link in description.links:
        mass = 0.0 if link.inertial is None else link.inertial.mass
        masses[head[link.name]] = masses.get(head[link.name], 0.0) + mass
    if _has_inertia(root.inertial):
        mass = root.inertial.mass if root.inertial else 0.0
        message = f'the root link has inertia ({mass:g} kg): it counts only on a floating base'
        yield finding('root_inertia', f"link '{root.name}'", message, mass)
    moving = {name: mass for name, mass in masses.items() if name != root.name}
    for name, mass in moving.items():
        if mass == 0.0:
            message = 'neither it nor a link fixed to it has mass'
            yield finding('link_massless', f"link '{name}'", message, 0.0)
    if not moving:
        yield finding('no_moving_joint', 'robot', 'no joint moves', 0.0)
    elif sum(moving.values()) == 0.0:
        message = 'the moving links have no mass at all: gravity compensation would be zero'
        yield finding('moving_mass_zero', 'robot', message, 0.0)


def _has_inertia(inertial: Inertial | None) -> bool:
    return inertial is not None and (inertial.mass != 0.0 or bool(inertial.inertia.any()))
