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
What the sensors of the joints are like, and the YAML file that says so.

One entry for every joint of the robot, none for others; the rest is optional and zero by default::

    sensors:
      joints:
        joint_1:
          encoder_bits: 20        # marks of the encoder: 2^20 for one turn of the joint, or
                                  # encoder_resolution [rad | m] between two marks, 0 for none
          velocity_noise: 2.0e-3  # rms [rad/s | m/s]
          effort_noise: 0.3       # rms [N m | N]
      effort_delay: 1             # [samples], parts of one allowed
      actuator_delay: 0           # of commands [samples], parts of one allowed
      loss_probability: 0.005     # of a message
      stamp_jitter: 2.0e-4        # rms [s]
      assumed: true               # whether the values are assumptions

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import tau as full_turn
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_real, frozen, Vector
from robot_dynamics_ros.core.drive.strict_yaml import (
    check_joints,
    check_keys,
    check_number,
    read_mapping,
)
from robot_dynamics_ros.core.exceptions import ConfigurationError

_PER_JOINT = ('encoder_resolution', 'velocity_noise', 'effort_noise')
_COMMON = ('effort_delay', 'actuator_delay', 'loss_probability', 'stamp_jitter')


@dataclass(frozen=True, eq=False)
class SensorSettings:
    """
    Sensors of `n` joints; a scalar counts for every joint.

    Attributes
    ----------
    joint_names : tuple of str
    encoder_resolution : ndarray, shape (n,)
        Distance of two marks; 0 for an encoder that is exact [rad | m].
    velocity_noise, effort_noise : ndarray, shape (n,)
        Root of the mean square [rad/s | m/s, N m | N].
    effort_delay, actuator_delay : float
        Delay of reported efforts, and of commands [samples].
    loss_probability : float
        Of a message.
    stamp_jitter : float
        Root of the mean square [s].
    is_assumed : bool
        Whether the values are assumptions.

    Raises
    ------
    ConfigurationError
        If a value is out of range or shapes differ.
    NotNumericError
        If a value is not a real number.

    """

    joint_names: tuple[str, ...]
    encoder_resolution: Vector
    velocity_noise: Vector
    effort_noise: Vector
    effort_delay: float = 0.0
    actuator_delay: float = 0.0
    loss_probability: float = 0.0
    stamp_jitter: float = 0.0
    is_assumed: bool = False

    def __post_init__(self) -> None:
        names = tuple(self.joint_names)
        object.__setattr__(self, 'joint_names', names)
        for key in _PER_JOINT:
            array = as_real(key, getattr(self, key))
            if array.shape not in ((), (len(names),)):
                raise ConfigurationError(
                    f'{key} has shape {array.shape}, expected one number or {len(names)}'
                )
            array = frozen(np.broadcast_to(array, len(names)))
            for name, value in zip(names, array.tolist()):
                check_number(f"joint '{name}'", key, value, least=0.0)
            object.__setattr__(self, key, array)
        for key in _COMMON:
            most = 1.0 if key == 'loss_probability' else None
            value = check_number('sensors', key, getattr(self, key), least=0.0, most=most)
            object.__setattr__(self, key, value)

    @classmethod
    def from_file(cls, path: str | Path, joint_names: Sequence[str]) -> SensorSettings:
        """
        Read the settings of every joint, in the order of `joint_names`.

        Raises
        ------
        ConfigurationError
            If the file cannot be read, joints or keys are missing or unknown, or a value is
            refused; one line with file, joint and key.

        """
        file = f'sensor file {path}'
        entry = read_mapping(path, 'sensors')
        check_keys(file, entry, ('joints',), (*_COMMON, 'assumed'))
        joints = check_joints(file, entry['joints'], joint_names)
        rows = [_joint(f"{file}: joint '{name}'", joints[name]) for name in joint_names]
        assumed = entry.get('assumed', False)
        if not isinstance(assumed, bool):
            raise ConfigurationError(f'{file}: assumed is {assumed!r}, expected true or false')
        common = {key: entry[key] for key in _COMMON if key in entry}
        table = np.array(rows, dtype=np.float64).reshape(len(rows), len(_PER_JOINT))
        resolution, velocity, effort = table.T
        try:
            return cls(
                tuple(joint_names), resolution, velocity, effort, is_assumed=assumed, **common
            )
        except ConfigurationError as error:
            raise ConfigurationError(f'{file}: {error}') from error


def _joint(where: str, entry: Any) -> tuple[float, float, float]:
    """Return resolution and noises of one joint."""
    marks = ('encoder_bits', 'encoder_resolution')
    entry = check_keys(where, entry, _PER_JOINT[1:], marks)
    velocity = check_number(where, 'velocity_noise', entry['velocity_noise'], least=0.0)
    effort = check_number(where, 'effort_noise', entry['effort_noise'], least=0.0)
    return _resolution(where, entry), velocity, effort


def _resolution(where: str, entry: Mapping[str, Any]) -> float:
    if ('encoder_bits' in entry) == ('encoder_resolution' in entry):
        raise ConfigurationError(f'{where}: give either encoder_bits or encoder_resolution')
    if 'encoder_resolution' in entry:
        return check_number(where, 'encoder_resolution', entry['encoder_resolution'], least=0.0)
    bits = check_number(where, 'encoder_bits', entry['encoder_bits'], least=1.0, most=64.0)
    if bits != int(bits):
        raise ConfigurationError(f'{where}: encoder_bits is {bits:g}, expected a whole number')
    return float(full_turn / 2.0**bits)
