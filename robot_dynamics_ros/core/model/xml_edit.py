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
Changing attributes in XML text while every other byte stays: the hands of `urdf_writer`.

Places come from `urdf_gate`, as offsets in the UTF-8 bytes. Changes are gathered first and then
made together.

"""

from __future__ import annotations

import re

from robot_dynamics_ros.core.model.urdf_gate import XmlElement

_TAG = re.compile(rb'<[^\s/>]+')
_ATTRIBUTE = re.compile(rb'\s+([^\s=/>]+)\s*=\s*("[^"]*"|\'[^\']*\')')
_TAG_END = re.compile(rb'\s*(/?)>')


class XmlEdit:
    """
    A text and the changes to be made in it.

    Parameters
    ----------
    text : str
        The text that the elements come from.

    """

    def __init__(self, text: str) -> None:
        self._data = text.encode('utf-8')
        self._changes: list[tuple[int, int, bytes]] = []

    def text(self) -> str:
        """Return the text with all changes made."""
        pieces, position = [], 0
        for start, end, replacement in sorted(self._changes, key=lambda change: change[:2]):
            pieces += [self._data[position:start], replacement]
            position = end
        return b''.join([*pieces, self._data[position:]]).decode('utf-8')

    def set_attribute(self, element: XmlElement, name: str, value: str) -> None:
        """Put `value` between the quotes of an attribute, or add it behind the others."""
        spans, end, _ = self._start_tag(element)
        if name in spans:
            start, stop = spans[name]
            self._changes.append((start, stop, value.encode()))
        else:
            self._changes.append((end, end, f' {name}="{value}"'.encode()))

    def add_child(self, element: XmlElement, xml: str, first: bool = False) -> None:
        """Add a child in front of the others or behind them, on a line of its own if they are."""
        _, attributes_end, start_tag_end = self._start_tag(element)
        if self._data[start_tag_end - 2 : start_tag_end] == b'/>':
            text = f'>{xml}</{element.tag}>'
            self._changes.append((attributes_end, start_tag_end, text.encode()))
        elif not element.children:
            self._changes.append((start_tag_end, start_tag_end, xml.encode()))
        elif first:
            place = element.children[0].start
            gap = self._line_start(place)
            self._changes.append((place, place, xml.encode() + gap))
        else:
            last = element.children[-1]
            place = self._end_of(last)
            self._changes.append((place, place, self._line_start(last.start) + xml.encode()))

    def _start_tag(self, element: XmlElement) -> tuple[dict[str, tuple[int, int]], int, int]:
        """Return the places of the attributes' values, the end of the last, the tag's end."""
        tag = _TAG.match(self._data, element.start)
        position = tag.end() if tag else element.start
        spans = {}
        while match := _ATTRIBUTE.match(self._data, position):
            spans[match.group(1).decode()] = (match.start(2) + 1, match.end(2) - 1)
            position = match.end()
        end = _TAG_END.match(self._data, position)
        return spans, position, end.end() if end else position

    def _end_of(self, element: XmlElement) -> int:
        _, _, start_tag_end = self._start_tag(element)
        if self._data[start_tag_end - 2 : start_tag_end] == b'/>':
            return start_tag_end
        return self._data.index(b'>', element.end) + 1

    def _line_start(self, place: int) -> bytes:
        """Return the line break and indentation in front of a place that starts a line."""
        blank = place
        while blank > 0 and self._data[blank - 1] in b' \t':
            blank -= 1
        if blank == 0 or self._data[blank - 1] != ord('\n'):
            return b''
        newline = 2 if self._data[blank - 2 : blank - 1] == b'\r' else 1
        return self._data[blank - newline : place]
