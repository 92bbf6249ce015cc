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
From the raw tree to what has a meaning for dynamics.

What must be there, and the reduced tree that urdf-parser-py reads.

"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

from robot_dynamics_ros.core.model.description import Finding, JointType
from robot_dynamics_ros.core.model.finding_codes import ERROR, finding, one_line, WARNING
from robot_dynamics_ros.core.model.urdf_elements import INERTIA_ENTRIES, NUMBERS, subject_of
from robot_dynamics_ros.core.model.urdf_gate import XmlElement

_JOINT_TYPES = tuple(kind.value for kind in JointType)


def incomplete_elements(root: XmlElement, strict: bool) -> list[Finding]:
    """Return a remark on each link or joint that lacks what it needs to be read."""
    found: list[Finding] = []
    for link in root.all('link'):
        found.extend(_incomplete_inertial(link, strict))
    for joint in root.all('joint'):
        kind = joint.attributes.get('type')
        if kind not in _JOINT_TYPES:
            shown = 'not given' if kind is None else f"'{one_line(kind, 40)}'"
            message = f'its type is {shown}, expected one of {", ".join(_JOINT_TYPES)}'
            found.append(finding('joint_type_unknown', subject_of(joint), message))
        for role in ('parent', 'child'):
            element = joint.first(role)
            if element is None or not element.attributes.get('link'):
                message = f'it has no <{role} link="...">'
                found.append(finding('link_not_given', subject_of(joint), message))
    return found


def _incomplete_inertial(link: XmlElement, strict: bool) -> Iterable[Finding]:
    inertial = link.first('inertial')
    if inertial is None:
        return
    subject = subject_of(link)
    mass, inertia = inertial.first('mass'), inertial.first('inertia')
    if mass is None or 'value' not in mass.attributes:
        yield finding('mass_missing', subject, '<inertial> has no <mass value="...">')
    given = {} if inertia is None else inertia.attributes
    missing = [entry for entry in INERTIA_ENTRIES if entry not in given]
    if missing:
        end = '' if strict else '; read as zero'
        message = f'<inertial> lacks {", ".join(missing)}{end}'
        severity = ERROR if strict else WARNING
        yield finding('inertia_incomplete', subject, message, float(len(missing)), severity)


def reduced_tree(root: XmlElement) -> ElementTree.Element:
    """Return links and joints with the elements that mean something for dynamics."""
    reduced = ElementTree.Element('robot', name=root.attributes.get('name') or 'robot')
    for element in root.children:
        if element.tag == 'link':
            link = ElementTree.SubElement(reduced, 'link', name=element.attributes['name'])
            if (inertial := element.first('inertial')) is not None:
                _copy_inertial(inertial, ElementTree.SubElement(link, 'inertial'))
        elif element.tag == 'joint':
            keys = {key: element.attributes[key] for key in ('name', 'type')}
            _copy_joint(element, ElementTree.SubElement(reduced, 'joint', keys))
    return reduced


def _copy_inertial(element: XmlElement, target: ElementTree.Element) -> None:
    for tag in ('origin', 'mass', 'inertia'):
        _copy(element, tag, NUMBERS['link']['inertial', tag], target)
    inertia = target.find('inertia')
    if inertia is None:
        inertia = ElementTree.SubElement(target, 'inertia')
    for entry in INERTIA_ENTRIES:
        inertia.attrib.setdefault(entry, '0')


def _copy_joint(element: XmlElement, target: ElementTree.Element) -> None:
    _copy(element, 'parent', ('link',), target)
    _copy(element, 'child', ('link',), target)
    for (tag,), numbers in NUMBERS['joint'].items():
        _copy(element, tag, ('joint', *numbers) if tag == 'mimic' else tuple(numbers), target)
    limit, mimic = target.find('limit'), target.find('mimic')
    axis, safety = target.find('axis'), target.find('safety_controller')
    if limit is not None:
        limit.attrib.setdefault('effort', 'nan')
        limit.attrib.setdefault('velocity', 'nan')
    if mimic is not None:
        mimic.attrib.setdefault('joint', '')
    if axis is not None and 'xyz' not in axis.attrib:
        target.remove(axis)
    if safety is not None and 'k_velocity' not in safety.attrib:
        target.remove(safety)


def _copy(
    element: XmlElement, tag: str, attributes: Iterable[str], target: ElementTree.Element
) -> None:
    source = element.first(tag)
    if source is not None:
        kept = {key: source.attributes[key] for key in attributes if key in source.attributes}
        ElementTree.SubElement(target, tag, kept)
