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
Parameters of nodes as frozen dataclasses, described once.

A field made by `parameter` carries its default, text, unit and range. `declared_parameters`
declares all of them to a node and reads their values back, `instance_of` makes the dataclass of
values, and `read_yaml` makes the same of a file, without ROS. Type and range of every value are
checked here, those of arrays entry by entry (rclpy enforces ranges of scalars only). What depends
on several fields is checked by the dataclass in ``__post_init__``. Whatever is refused is a
`ConfigurationError` of one line.

Types are ``bool``, ``int``, ``float``, ``str``, and tuples of ``int``, ``float`` or ``str``. An
array without default is empty.

"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, MISSING
from math import inf, isfinite
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints, TypeVar

import yaml

from robot_dynamics_ros.core.exceptions import ConfigurationError

_KEY = 'parameter'

ParametersT = TypeVar('ParametersT')


@dataclass(frozen=True)
class ParameterSpec:
    """
    What is known about one parameter.

    Attributes
    ----------
    name : str
        Name, with dots where it stands in a group.
    kind : type
        Type of the value, or of the entries of an array.
    is_array : bool
    default : object
        None if the user must say.
    text : str
        One sentence.
    unit : str
    low, high : float
        Range, both ends included.
    choices : tuple of str
        Allowed values; empty for any.
    size : int
        Number of entries of an array; 0 for any.
    read_only : bool
        Whether it is set when the node starts and never again.
    is_live : bool
        Whether a change takes effect while the node is configured.

    """

    name: str
    kind: Any
    is_array: bool
    default: Any
    text: str
    unit: str = ''
    low: float = -inf
    high: float = inf
    choices: tuple[str, ...] = ()
    size: int = 0
    read_only: bool = False
    is_live: bool = False

    @property
    def is_required(self) -> bool:
        """Whether the user must give a value."""
        return self.default is None

    @property
    def description(self) -> str:
        """Return the text with the unit, for ``ros2 param describe`` and tables."""
        return f'{self.text} [{self.unit}]' if self.unit else self.text

    @property
    def type_name(self) -> str:
        """Type as ROS names it."""
        name = {bool: 'bool', int: 'integer', float: 'double', str: 'string'}[self.kind]
        return f'{name}[]' if self.is_array else name

    def checked(self, value: Any) -> Any:
        """
        Return the value in the form of the dataclass.

        Raises
        ------
        ConfigurationError
            If type, size or range are wrong.

        """
        if not self.is_array:
            return self._entry(value)
        if isinstance(value, (str, bytes)) or not hasattr(value, '__len__'):
            raise self._refusal(value)
        if self.size and len(value) not in (0, self.size):
            raise ConfigurationError(f'{self.name} has {len(value)} entries, expected {self.size}')
        return tuple(self._entry(entry) for entry in value)

    def _entry(self, value: Any) -> Any:
        if type(value) is not self.kind:
            raise self._refusal(value)
        if self.kind in (int, float) and not (isfinite(value) and self.low <= value <= self.high):
            raise ConfigurationError(f'{self.name} is {value}, expected {self.range_text()}')
        if self.choices and value not in self.choices:
            raise ConfigurationError(
                f"{self.name} is '{value}', expected one of: {', '.join(self.choices)}"
            )
        return value

    def range_text(self) -> str:
        if self.low == -inf and self.high == inf:
            return 'a finite number'
        if self.high == inf:
            return f'at least {self.low:g}'
        return f'{self.low:g} to {self.high:g}'

    def _refusal(self, value: Any) -> ConfigurationError:
        hint = ' (write 1.0, not 1)' if self.kind is float and not isinstance(value, str) else ''
        return ConfigurationError(f'{self.name} is {value!r}, expected {self.type_name}{hint}')


def parameter(
    text: str,
    default: Any = MISSING,
    *,
    unit: str = '',
    low: float = -inf,
    high: float = inf,
    choices: tuple[str, ...] = (),
    size: int = 0,
    read_only: bool = False,
    is_live: bool = False,
    name: str = '',
) -> Any:
    """Make a dataclass field, see `ParameterSpec`; without default the user must say."""
    described = {
        'text': text,
        'unit': unit,
        'low': low,
        'high': high,
        'choices': choices,
        'size': size,
        'read_only': read_only,
        'is_live': is_live,
        'name': name,
    }
    return field(default=default, metadata={_KEY: described}, kw_only=True)


def specs_of(cls: type) -> dict[str, ParameterSpec]:
    """Return the parameters of a dataclass by field name, in order."""
    types = get_type_hints(cls)
    found = {}
    for each in fields(cls):
        described = dict(each.metadata[_KEY])
        kind = types[each.name]
        is_array = get_origin(kind) is tuple
        found[each.name] = ParameterSpec(
            **{**described, 'name': described['name'] or each.name},
            kind=get_args(kind)[0] if is_array else kind,
            is_array=is_array,
            default=None if each.default is MISSING else each.default,
        )
    return found


def instance_of(cls: type[ParametersT], values: Mapping[str, Any]) -> ParametersT:
    """
    Build the dataclass from values by parameter name; None and what is missing count as not given.

    Raises
    ------
    ConfigurationError
        If a name is unknown, a value is refused, or one that the user must give is missing.

    """
    specs = specs_of(cls)
    by_name = {spec.name: key for key, spec in specs.items()}
    for name in values:
        if name not in by_name:
            raise ConfigurationError(
                f"there is no parameter '{name}'; there are: {', '.join(by_name)}"
            )
    given = {
        by_name[name]: specs[by_name[name]].checked(value)
        for name, value in values.items()
        if value is not None
    }
    for key, spec in specs.items():
        if spec.is_required and key not in given:
            raise ConfigurationError(f'parameter {spec.name} is not set. {spec.text}')
    return cls(**given)


def read_yaml(cls: type[ParametersT], path: str | Path) -> ParametersT:
    """
    Build the dataclass from the parameter file of one node.

    Raises
    ------
    ConfigurationError
        If the file is not one of ROS 2 parameters for one node, or a value is refused.

    """
    return instance_of(cls, yaml_values(path))


def yaml_values(path: str | Path) -> dict[str, Any]:
    """
    Return the values in the parameter file of one node, by name with dots.

    Raises
    ------
    ConfigurationError
        If the file is not one of ROS 2 parameters for one node.

    """
    content = yaml.safe_load(Path(path).read_text(encoding='utf-8'))
    if not isinstance(content, dict) or len(content) != 1:
        raise ConfigurationError(f'{path}: expected the parameters of one node')
    (node,) = content.values()
    parameters = node.get('ros__parameters') if isinstance(node, dict) else None
    if not isinstance(parameters, dict):
        raise ConfigurationError(f'{path}: expected ros__parameters')
    flat: dict[str, Any] = {}
    _flatten(parameters, '', flat)
    return flat


def _flatten(tree: Mapping[str, Any], prefix: str, flat: dict[str, Any]) -> None:
    for key, value in tree.items():
        if isinstance(value, dict):
            _flatten(value, f'{prefix}{key}.', flat)
        else:
            flat[f'{prefix}{key}'] = value


def refusal_of_changes(
    cls: type, values: Mapping[str, Any], changes: Mapping[str, Any], *, is_configured: bool
) -> str:
    """
    Return why a set of changes cannot be taken, or an empty text.

    Parameters
    ----------
    cls : type
        The dataclass.
    values : mapping of str to object
        Present values by parameter name.
    changes : mapping of str to object
        New values; names that are not in the dataclass are left alone.
    is_configured : bool
        Whether the node is configured, so that only live parameters may change.

    """
    specs = {spec.name: spec for spec in specs_of(cls).values()}
    changes = {name: value for name, value in changes.items() if name in specs}
    if is_configured:
        fixed = [name for name in changes if not specs[name].is_live]
        if fixed:
            return f'{", ".join(fixed)} is read when the node configures; clean it up first'
    candidate = {**values, **changes}
    for spec in specs.values():
        if spec.is_required and candidate.get(spec.name) is None:
            # Not said yet, which is for configure to refuse.
            candidate[spec.name] = spec.choices[0] if spec.choices else spec.kind()
    try:
        instance_of(cls, candidate)
    except ConfigurationError as error:
        return str(error)
    return ''
