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

"""The tree that links and joints form: its root, its order, and who follows whom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from robot_dynamics_ros.core.exceptions import ModelError
from robot_dynamics_ros.core.model.description import (
    Joint,
    JointType,
    Link,
    Mimic,
    RobotDescription,
)

_SINGLE = (JointType.REVOLUTE, JointType.CONTINUOUS, JointType.PRISMATIC)


@dataclass(frozen=True, eq=False)
class Tree:
    """
    Links and joints in the order of the model.

    Attributes
    ----------
    root : str
        The link that is no joint's child.
    joints : tuple of Joint
        Depth first from the root, children in the order of the source.
    links : tuple of Link
        The root, then the child of each joint.

    """

    root: str
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]


def arrange_tree(description: RobotDescription) -> Tree:
    """
    Arrange a description as a tree.

    Raises
    ------
    ModelError
        If a name repeats, a joint names a link that does not exist, a link has two parents, there
        is not exactly one root, or joints form a loop.

    """
    links = {link.name: link for link in description.links}
    if len(links) != len(description.links):
        names = [link.name for link in description.links]
        twice = next(name for name in names if names.count(name) > 1)
        raise ModelError(f"two links have the name '{twice}'")
    if not links:
        raise ModelError(f"robot '{description.name}' has no link")
    children: dict[str, list[Joint]] = {name: [] for name in links}
    parents: dict[str, Joint] = {}
    names_seen: set[str] = set()
    for joint in description.joints:
        if joint.name in names_seen:
            raise ModelError(f"two joints have the name '{joint.name}'")
        names_seen.add(joint.name)
        for role, name in (('parent', joint.parent), ('child', joint.child)):
            if name not in links:
                raise ModelError(f"joint '{joint.name}': {role} link '{name}' does not exist")
        if joint.child in parents:
            other = parents[joint.child].name
            raise ModelError(
                f"link '{joint.child}' has two parents, by joints '{other}' and '{joint.name}': "
                'closed loops are not supported; cut one of the joints'
            )
        parents[joint.child] = joint
        children[joint.parent].append(joint)
    roots = [name for name in links if name not in parents]
    if not roots:
        loop = ', '.join(f"'{joint.name}'" for joint in description.joints)
        raise ModelError(f'no root link: joints {loop} form a loop')
    if len(roots) > 1:
        listed = ', '.join(f"'{name}'" for name in roots)
        raise ModelError(f'{len(roots)} root links ({listed}), expected one: connect them')
    order: list[Joint] = []
    stack = list(reversed(children[roots[0]]))
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack.extend(reversed(children[joint.child]))
    if len(order) != len(description.joints):
        reached = {joint.name for joint in order}
        loop = ', '.join(f"'{j.name}'" for j in description.joints if j.name not in reached)
        raise ModelError(f'joints {loop} form a loop that the root does not reach')
    sorted_links = (links[roots[0]], *(links[joint.child] for joint in order))
    return Tree(roots[0], tuple(order), sorted_links)


def resolve_mimics(joints: Iterable[Joint]) -> dict[str, Mimic]:
    """
    Return for each mimic joint the independent joint that it follows; chains are composed.

    Raises
    ------
    ModelError
        If a target does not exist, is fixed, or has several coordinates, if a joint that cannot
        follow another is told to, or if joints follow each other in a circle.

    """
    by_name = {joint.name: joint for joint in joints}
    resolved: dict[str, Mimic] = {}
    for joint in by_name.values():
        if joint.mimic is None or joint.type is JointType.FIXED:
            continue
        if joint.type not in _SINGLE:
            raise ModelError(
                f"joint '{joint.name}' is {joint.type.value}: it cannot mimic another"
            )
        multiplier, offset = 1.0, 0.0
        visited = [joint.name]
        current = joint
        while current.mimic is not None:
            offset += multiplier * current.mimic.offset
            multiplier *= current.mimic.multiplier
            target = by_name.get(current.mimic.joint)
            if target is None:
                raise ModelError(
                    f"joint '{current.name}' mimics '{current.mimic.joint}', which does not exist"
                )
            if target.name in visited:
                circle = ' -> '.join([*visited, target.name])
                raise ModelError(f"joint '{joint.name}' mimics itself: {circle}")
            if target.type not in _SINGLE:
                raise ModelError(
                    f"joint '{current.name}' mimics '{target.name}', which is {target.type.value}"
                )
            visited.append(target.name)
            current = target
        resolved[joint.name] = Mimic(current.name, multiplier, offset)
    return resolved
