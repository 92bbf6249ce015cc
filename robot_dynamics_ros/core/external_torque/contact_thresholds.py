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
Thresholds of the contact detector, and the YAML file that keeps them.

::

    contact_thresholds:
      learnt_for: {robot: 1f0c5a3e9b7d2468, effort_semantics: torque, payload: none}
      joint_1: {change: 1.1, level: 2.3}   # N m | N
      joint_2: {change: 1.4, level: 3.0}

`change` is for what an external torque has changed by within a fraction of a second, `level` for
the external torque itself; see `contact_detector`. Every joint of the robot has an entry.
Thresholds hold for the model and the settings that they were learnt with, which `learnt_for` says.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robot_dynamics_ros.core.arrays import as_finite, frozen, Vector
from robot_dynamics_ros.core.drive.strict_yaml import (
    check_joints,
    check_keys,
    check_number,
    read_mapping,
)
from robot_dynamics_ros.core.exceptions import ConfigurationError, OutputError
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.whole_file import write_whole

_ROOT = 'contact_thresholds'
_CONDITIONS = 'learnt_for'
_KEYS = ('change', 'level')


@dataclass(frozen=True, eq=False)
class ContactThresholds:
    """
    Thresholds of `n` joints.

    Attributes
    ----------
    joint_names : tuple of str
    change : ndarray, shape (n,)
        For fast changes of the external torque, > 0 [N m | N].
    level : ndarray, shape (n,)
        For the external torque, > 0 [N m | N].
    conditions : dict of str to str
        What they were learnt for, by name; empty if that is not known.

    Raises
    ------
    ConfigurationError
        If a threshold is not positive; the message names the joint.
    DimensionError, NonFiniteError, NotNumericError
        If the arrays are no finite vectors with one entry for each joint.

    """

    joint_names: tuple[str, ...]
    change: Vector
    level: Vector
    conditions: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'joint_names', tuple(self.joint_names))
        n = len(self.joint_names)
        for key in _KEYS:
            values = frozen(as_finite(key, getattr(self, key), (n,)))
            object.__setattr__(self, key, values)
            for name, value in zip(self.joint_names, values.tolist()):
                if not value > 0.0:
                    raise ConfigurationError(f"joint '{name}': {key} is {value:g}, expected > 0")

    @classmethod
    def from_file(cls, path: str | Path, joint_names: Sequence[str]) -> ContactThresholds:
        """
        Read thresholds.

        Raises
        ------
        ConfigurationError
            If the file cannot be read or a value is refused; one line with file, joint and key.

        """
        entries = dict(read_mapping(path, _ROOT))
        said = entries.pop(_CONDITIONS, {})
        if not isinstance(said, Mapping):
            raise ConfigurationError(f'file {path}: {_CONDITIONS} is {said!r}, expected keys')
        joints = check_joints(f'file {path}', entries, joint_names)
        rows = [_row(f"file {path}: joint '{name}'", joints[name]) for name in joint_names]
        change, level = np.array(rows).reshape(-1, len(_KEYS)).T
        conditions = {str(name): str(value) for name, value in said.items()}
        return cls(tuple(joint_names), change, level, conditions)

    def misfit(self, conditions: Mapping[str, str]) -> str:
        """
        Return which of the present conditions these thresholds were not learnt for.

        Parameters
        ----------
        conditions : mapping of str to str
            The present ones.

        Returns
        -------
        reason : str
            Empty if all are as they were, or nothing is known of them.

        """
        if not self.conditions:
            return ''
        for name, now in conditions.items():
            then = self.conditions.get(name, 'not stated')
            if then != now:
                return f'learnt for {name} {then}, but now it is {now}'
        return ''

    @property
    def text(self) -> str:
        """Return the content of the file."""
        rows: dict[str, dict[str, Any]] = {_CONDITIONS: dict(self.conditions)}
        if not self.conditions:
            rows.clear()
        rows |= {
            name: {'change': change, 'level': level}
            for name, change, level in zip(
                self.joint_names, self.change.tolist(), self.level.tolist()
            )
        }
        heading = '# Thresholds of the contact detector, from a motion without contact; N m | N.'
        return f'{heading}\n{yaml.safe_dump({_ROOT: rows}, sort_keys=False)}'

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """
        Write the file, whole or not at all.

        Raises
        ------
        OutputError
            If it exists and `overwrite` is false, or it cannot be written.

        """
        path = Path(path)
        if path.exists() and not overwrite:
            raise OutputError(f'{path} exists already; it is not overwritten unless told to')
        try:
            write_whole(path, self.text.encode('utf-8'), mode=0o644)
        except OSError as error:
            raise OutputError(f'cannot write {path}: {error.strerror}') from error


def robot_digest(model: RobotModel, friction: DryFriction | None) -> str:
    """Return a digest of a robot without its payload, and of its friction, in single precision."""
    bare = model.with_payload(None)
    digest = hashlib.sha256(repr((bare.v_names, bare.body_names)).encode())
    law = np.zeros(0) if friction is None else friction.packed
    for array in (bare.kernel, law):
        digest.update(np.ascontiguousarray(array, dtype=np.float32).tobytes())
    return digest.hexdigest()[:16]


def _row(where: str, entry: Any) -> list[float]:
    entry = check_keys(where, entry, _KEYS)
    return [check_number(where, key, entry[key], above=0.0) for key in _KEYS]
