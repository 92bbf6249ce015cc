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
Which column of a CSV file is what.

A header names the field and the joint: ``position_elbow``, ``elbow.position``,
``/joint_states/elbow/position``, or shorter, ``q_elbow``. Where a file holds one field only, the
joint is enough. A file without a header needs the columns to be stated.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import re

from robot_dynamics_ros.bags.joint_rows import FIELDS
from robot_dynamics_ros.core.exceptions import ConfigurationError

TIME = 'time'
"""A column of times [s]."""

UNUSED = '-'
"""A column that is not read."""

_TIMES = re.compile(r'(time|t|stamp|timestamp|time_?stamp|secs?|seconds)(_s|\s*[\[(]s[\])])?')
_WORDS = {
    'position': ('position', 'positions', 'pos', 'q'),
    'velocity': ('velocity', 'velocities', 'vel', 'qd', 'dq', 'v'),
    'effort': ('effort', 'efforts', 'eff', 'torque', 'tau', 'current', 'curr', 'i'),
}
_FIELD_OF = {word: field for field, words in _WORDS.items() for word in words}
_BOUND = r'[_./:\[\] ]+'


@dataclass(frozen=True)
class CsvColumn:
    """
    Meaning of one column.

    Attributes
    ----------
    kind : str
        ``'position'``, ``'velocity'``, ``'effort'``, `TIME` or `UNUSED`.
    joint : str
        Name of the joint, of a field.

    """

    kind: str
    joint: str = ''


def columns_of_header(names: Sequence[str], field: str | None = None) -> tuple[CsvColumn, ...]:
    """
    Read the meaning of columns from their names; what is not understood is not used.

    Parameters
    ----------
    names : sequence of str
        Header of the file.
    field : str, optional
        The only field that the file holds; names are then those of joints.

    Examples
    --------
    >>> [column.kind for column in columns_of_header(['t', 'q_elbow', 'elbow.effort', 'comment'])]
    ['time', 'position', 'effort', '-']

    """
    return tuple(_column(name.strip().strip('"\'').strip(), field) for name in names)


def columns_of_rules(rules: Sequence[str]) -> tuple[CsvColumn, ...]:
    """
    Read the meaning of columns as it was stated.

    Parameters
    ----------
    rules : sequence of str
        One for each column: ``time``, ``-``, or ``FIELD:JOINT``.

    Raises
    ------
    ConfigurationError
        If one is written in another way.

    """
    columns = []
    for rule in rules:
        kind, _, joint = rule.partition(':')
        if rule in (TIME, UNUSED):
            columns.append(CsvColumn(rule))
        elif kind in FIELDS and joint:
            columns.append(CsvColumn(kind, joint))
        else:
            raise ConfigurationError(
                f"column '{rule}' is not time, - or one of {', '.join(FIELDS)} with a joint, as "
                'in position:elbow'
            )
    return tuple(columns)


def _column(name: str, field: str | None) -> CsvColumn:
    if _TIMES.fullmatch(name.lower()):
        return CsvColumn(TIME)
    if field is not None:
        kind, joint = _split(name)
        return CsvColumn(field, joint if kind == field else name)
    kind, joint = _split(name)
    return CsvColumn(kind, joint) if joint else CsvColumn(UNUSED)


def _split(name: str) -> tuple[str, str]:
    """Take the field off the front or the end of a name; no joint if there is none."""
    parts = [part for part in re.split(f'({_BOUND})', name) if part]
    if len(parts) >= 3:
        if (kind := _FIELD_OF.get(parts[0].lower())) is not None:
            return kind, ''.join(parts[2:]).strip('[]/ ')
        ends = [part for part in parts if not re.fullmatch(_BOUND, part)]
        if (kind := _FIELD_OF.get(ends[-1].lower())) is not None:
            joint = name[: name.rindex(ends[-1])].rstrip('_./:[ ')
            return kind, joint.rsplit('/', 1)[-1]
        # As in /joint_states/position[elbow]
        match = re.fullmatch(r'.*?([a-z]+)\[(.+)\]', name, re.IGNORECASE)
        if match and (kind := _FIELD_OF.get(match[1].lower())) is not None:
            return kind, match[2]
    # As in q1: a short word and a number
    match = re.fullmatch(r'([a-z]+)(\d+)', name, re.IGNORECASE)
    if match and (kind := _FIELD_OF.get(match[1].lower())) is not None:
        return kind, match[2]
    return UNUSED, ''
