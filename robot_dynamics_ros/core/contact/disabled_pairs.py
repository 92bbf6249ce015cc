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
Pairs of bodies that may pass through each other, from a file.

YAML::

    disabled_pairs:
      - [link_2, link_4]
      - [table, link_1]

or an SRDF, whose ``<disable_collisions link1="..." link2="..."/>`` are taken.

"""

from __future__ import annotations

from pathlib import Path
from typing import Any
import xml.etree.ElementTree as ElementTree

import yaml

from robot_dynamics_ros.core.exceptions import ConfigurationError

Pairs = tuple[tuple[str, str], ...]


def read_disabled_pairs(path: str | Path) -> Pairs:
    """
    Read the pairs.

    Raises
    ------
    ConfigurationError
        If the file cannot be read or is not of this form; one line.

    """
    try:
        text = Path(path).read_text(encoding='utf-8')
        if Path(path).suffix == '.srdf':
            return _pairs_of_srdf(text)
        content = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ElementTree.ParseError) as error:
        reason = ' '.join(str(error).split())
        raise ConfigurationError(
            f'file of disabled pairs {path} cannot be read: {reason}'
        ) from error
    try:
        if not isinstance(content, dict) or list(content) != ['disabled_pairs']:
            raise ConfigurationError('expected one key, disabled_pairs')
        return as_pairs(content['disabled_pairs'])
    except ConfigurationError as error:
        raise ConfigurationError(f'file of disabled pairs {path}: {error}') from error


def as_pairs(content: Any) -> Pairs:
    """
    Return pairs of names from the content of a file.

    Raises
    ------
    ConfigurationError
        If an entry is not a pair of two names.

    """
    if not isinstance(content, (list, tuple)):
        raise ConfigurationError(f'disabled_pairs is {content!r:.60}, expected a list of pairs')
    for pair in content:
        is_pair = isinstance(pair, (list, tuple)) and len(pair) == 2
        if not is_pair or not all(isinstance(name, str) for name in pair) or pair[0] == pair[1]:
            raise ConfigurationError(
                f'disabled_pairs has {pair!r:.60}, expected two different names, [link_a, link_b]'
            )
    return tuple((pair[0], pair[1]) for pair in content)


def _pairs_of_srdf(text: str) -> Pairs:
    if '<!' in text.replace('<!--', ''):
        raise ElementTree.ParseError('a DTD or CDATA is not allowed')
    return as_pairs(
        [
            (entry.get('link1'), entry.get('link2'))
            for entry in ElementTree.fromstring(text).iter('disable_collisions')
        ]
    )
