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

"""Strict reading of small YAML files: no unknown, missing or repeated keys, numbers in range."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import yaml

from robot_dynamics_ros.core.exceptions import ConfigurationError


def read_mapping(path: str | Path, root: str) -> Mapping[str, Any]:
    """
    Return the mapping under the key `root`, which must be the only one of the file.

    Raises
    ------
    ConfigurationError
        If the file cannot be read, has another form, or a key stands twice; one line.

    """
    try:
        text = Path(path).read_text(encoding='utf-8')
        repeated = _repeated_keys(yaml.compose(text, Loader=yaml.SafeLoader))
        content = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = ' '.join(str(error).split())
        raise ConfigurationError(f'file {path} cannot be read: {reason}') from error
    if repeated:
        raise ConfigurationError(f'file {path}: {", ".join(repeated)} stands twice')
    entry = content.get(root) if isinstance(content, Mapping) and len(content) == 1 else None
    if not isinstance(entry, Mapping):
        raise ConfigurationError(f"file {path}: expected '{root}' with keys below it, only")
    return entry


def check_keys(
    where: str, entry: Any, required: Sequence[str], optional: Sequence[str] = ()
) -> Mapping[str, Any]:
    """
    Return `entry` when it is a mapping with these keys.

    Raises
    ------
    ConfigurationError
        If it is none, a required key is missing, or another key is there; the message starts with
        `where`.

    """
    if not isinstance(entry, Mapping):
        raise ConfigurationError(f'{where}: expected keys such as {", ".join(required[:2])}')
    unknown = [str(key) for key in entry if key not in required and key not in optional]
    if unknown:
        raise ConfigurationError(
            f'{where}: unknown key {", ".join(unknown)}; '
            f'there are: {", ".join((*required, *optional))}'
        )
    missing = [key for key in required if key not in entry]
    if missing:
        raise ConfigurationError(f'{where}: {", ".join(missing)} is missing')
    return entry


def check_joints(where: str, joints: Any, joint_names: Sequence[str]) -> Mapping[str, Any]:
    """
    Return `joints` when it has an entry for every joint of the robot and for none else.

    Raises
    ------
    ConfigurationError
        If that is not so.

    """
    if not isinstance(joints, Mapping):
        raise ConfigurationError(f'{where}: expected one entry for each joint')
    missing = [name for name in joint_names if name not in joints]
    unknown = [str(name) for name in joints if name not in joint_names]
    if missing or unknown:
        said = [f'no entry for {", ".join(missing)}'] if missing else []
        said += [f'unknown joint {", ".join(unknown)}'] if unknown else []
        raise ConfigurationError(
            f'{where}: {"; ".join(said)}; the robot has: {", ".join(joint_names)}'
        )
    return joints


def check_number(
    where: str,
    key: str,
    value: Any,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
) -> float:
    """
    Return a finite number in its range.

    Raises
    ------
    ConfigurationError
        If it is something else; the message names `where` and `key`.

    """
    if isinstance(value, str) and _is_number(value):
        raise ConfigurationError(
            f"{where}: {key} is the text '{value}'; YAML reads a number with an exponent only in "
            f'the form {float(value):.1e}'
        )
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        raise ConfigurationError(f'{where}: {key} is {value!r}, expected a finite number')
    if above is not None and not value > above:
        raise ConfigurationError(f'{where}: {key} is {value:g}, expected > {above:g}')
    if least is not None and not value >= least:
        raise ConfigurationError(f'{where}: {key} is {value:g}, expected >= {least:g}')
    if most is not None and not value <= most:
        raise ConfigurationError(f'{where}: {key} is {value:g}, expected <= {most:g}')
    return float(value)


def check_assumed(where: str, value: Any, keys: Collection[str]) -> tuple[str, ...]:
    """
    Return the keys whose values are marked as assumptions.

    Raises
    ------
    ConfigurationError
        If `value` is no list of keys that are given.

    """
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ConfigurationError(f'{where}: assumed is {value!r}, expected a list of keys')
    unknown = [str(key) for key in value if key not in keys]
    if unknown:
        raise ConfigurationError(f'{where}: assumed names {", ".join(unknown)}, not given there')
    return tuple(value)


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _repeated_keys(node: Any) -> list[str]:
    """Return the keys that stand twice, of which YAML would silently take the last."""
    if isinstance(node, yaml.SequenceNode):
        return [key for value in node.value for key in _repeated_keys(value)]
    if not isinstance(node, yaml.MappingNode):
        return []
    keys = [key.value for key, _ in node.value]
    found = sorted({str(key) for key in keys if keys.count(key) > 1})
    return found + [key for _, value in node.value for key in _repeated_keys(value)]
