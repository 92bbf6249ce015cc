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
The secure gate in front of the URDF parser: bounded XML without a DOCTYPE, and strict numbers.

Expat reads the text without namespace processing, so a default ``xmlns`` changes nothing and an
undeclared prefix breaks nothing: elements with a prefix are simply not elements of URDF. Every
element remembers its line, for messages, and its place in the text, for the writer.

"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
import re
from xml.parsers import expat

from robot_dynamics_ros.core.model.finding_codes import one_line, refusal

MAX_DEPTH = 100
"""Deepest nesting of XML elements. It has nothing to do with the length of a kinematic chain."""

MAX_ELEMENTS = 200_000
"""Largest number of XML elements; the chain of 1500 links of our tests has 13 000."""

_NUMBER = re.compile(r'[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?')
_LONGEST_NUMBER = 100
_XML_BLANK = re.compile('[ \t\r\n]+')


@dataclass(eq=False, slots=True)
class XmlElement:
    """
    One element of the raw tree.

    Attributes
    ----------
    tag : str
        Name as written, prefix included.
    attributes : dict
    parent : XmlElement or None
    line : int
        Line of its start tag, from 1.
    number : int
        Which child of this tag it is, from 1.
    start, end : int
        Offsets of its start tag and of its end tag in the UTF-8 bytes; `end` is where an empty
        element stops.
    children : list of XmlElement

    """

    tag: str
    attributes: dict[str, str]
    parent: XmlElement | None
    line: int
    number: int
    start: int
    end: int = -1
    children: list[XmlElement] = field(default_factory=list)

    def all(self, tag: str) -> list[XmlElement]:
        """Return the children with this tag."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> XmlElement | None:
        """Return the first child with this tag, or None."""
        return next((child for child in self.children if child.tag == tag), None)

    def descend(self, *tags: str) -> list[XmlElement]:
        """Return all elements below this one along a path of tags."""
        level = [self]
        for tag in tags:
            level = [child for element in level for child in element.all(tag)]
        return level

    def walk(self) -> Iterator[XmlElement]:
        """Yield this element and all below it, in the order of the text."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))

    @property
    def path(self) -> str:
        """Return the path from the root, for example ``/robot/link[@name='l1']/inertial/mass``."""
        steps = []
        element: XmlElement | None = self
        while element is not None:
            name = element.attributes.get('name')
            step = element.tag if name is None else f"{element.tag}[@name='{one_line(name, 60)}']"
            steps.append(
                f'{step}[{element.number}]' if name is None and element.number > 1 else step
            )
            element = element.parent
        return '/' + '/'.join(reversed(steps))


class _TreeBuilder:
    """Collects the events of expat; raises at the first thing that is not let through."""

    def __init__(self, name: str, skipped_lines: int, skipped_bytes: int) -> None:
        self.name = name
        self.skipped_lines = skipped_lines
        self.skipped_bytes = skipped_bytes
        self.root: XmlElement | None = None
        self.open: list[XmlElement] = []
        self.counts: list[dict[str, int]] = [{}]
        self.elements = 0
        self.parser = expat.ParserCreate('utf-8')
        self.parser.StartDoctypeDeclHandler = self.refuse_doctype
        self.parser.EntityDeclHandler = self.refuse_doctype
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end

    def refuse_doctype(self, *_: object) -> None:
        message = 'has a DOCTYPE, which could expand entities or read files; remove it'
        raise refusal('xml_doctype', self.name, message)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.open) >= MAX_DEPTH:
            message = f'XML elements are nested more than {MAX_DEPTH} deep'
            raise refusal('xml_too_deep', self.name, message, float(MAX_DEPTH))
        self.elements += 1
        if self.elements > MAX_ELEMENTS:
            message = f'has more than {MAX_ELEMENTS} XML elements'
            raise refusal('source_too_large', self.name, message, float(MAX_ELEMENTS))
        number = self.counts[-1][tag] = self.counts[-1].get(tag, 0) + 1
        self.counts.append({})
        parent = self.open[-1] if self.open else None
        line = self.parser.CurrentLineNumber + self.skipped_lines
        offset = self.parser.CurrentByteIndex + self.skipped_bytes
        element = XmlElement(tag, attributes, parent, line, number, offset)
        if parent is None:
            self.root = element
        else:
            parent.children.append(element)
        self.open.append(element)

    def end(self, _: str) -> None:
        self.counts.pop()
        self.open.pop().end = self.parser.CurrentByteIndex + self.skipped_bytes


def parse_xml(text: str, name: str = 'text') -> XmlElement:
    """
    Parse XML text through the gate.

    White space in front of the XML declaration is let through, as tinyxml2 does.

    Parameters
    ----------
    text : str
        Decoded text; an encoding that it declares is ignored.
    name : str
        What to call it in messages.

    Raises
    ------
    UrdfError
        If there is a DOCTYPE, nesting is too deep, or the text is not well-formed.

    """
    data = text.encode('utf-8')
    body = data.lstrip(b' \t\r\n')
    skipped = data[: len(data) - len(body)]
    builder = _TreeBuilder(name, skipped.count(b'\n'), len(skipped))
    try:
        builder.parser.Parse(body, True)
    except expat.ExpatError as error:
        line = error.lineno + builder.skipped_lines
        reason = expat.ErrorString(error.code) if error.code else str(error)
        message = f'XML is not well-formed: {reason}, line {line}, column {error.offset + 1}'
        raise refusal('xml_broken', name, message, float(line)) from error
    if builder.root is None:
        raise refusal('xml_broken', name, 'XML has no element')
    return builder.root


def unbound_prefixes(root: XmlElement) -> dict[str, int]:
    """Return each namespace prefix that is used but not declared, with its first line."""
    declared = {'xml', 'xmlns'}
    used: dict[str, int] = {}
    for element in root.walk():
        for name in (element.tag, *element.attributes):
            prefix, colon, local = name.partition(':')
            if colon and prefix == 'xmlns':
                declared.add(local)
            elif colon:
                used.setdefault(prefix, element.line)
    return {prefix: line for prefix, line in used.items() if prefix not in declared}


def parse_numbers(text: str, count: int) -> tuple[float, ...]:
    """
    Return `count` finite numbers separated by white space.

    Only plain decimal notation with ASCII digits and a decimal point counts, whatever the locale:
    no ``2,5``, ``1_0``, ``0x10``, ``nan`` or ``inf``.

    Raises
    ------
    ValueError
        With the reason in one line.

    """
    words = [word for word in _XML_BLANK.split(text) if word]
    expected = 'one number' if count == 1 else f'{count} numbers'
    if len(words) != count:
        raise ValueError(f"expected {expected}, got {len(words)} in '{one_line(text, 60)}'")
    values = []
    for word in words:
        if len(word) > _LONGEST_NUMBER or _NUMBER.fullmatch(word) is None:
            hint = '; write a decimal point' if re.fullmatch(r'[+-]?[0-9]+,[0-9]+', word) else ''
            raise ValueError(f"'{one_line(word, 40)}' is not a plain decimal number{hint}")
        value = float(word)
        if not isfinite(value):
            raise ValueError(f"'{one_line(word, 40)}' is too large for a finite number")
        values.append(value)
    return tuple(values)
