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
The YAML file of the drives.

One entry for every joint of the robot, none for others::

    drives:
      joint_1:
        torque_constant: 0.1418     # [N m/A]
        back_emf_constant: 0.12     # [V s/rad]
        resistance: 0.7             # [ohm]
        inductance: 0.0009          # [H]
        ratio: 101                  # turns of the motor for one of the joint
        rotor_inertia: 7.0e-5       # [kg m^2], before the gear
        efficiency: 1.0             # of the gear, optional
        voltage_limit: 48.0         # [V], optional
        current_limit: 10.5         # [A], optional
        assumed: [rotor_inertia]    # keys whose values are assumptions, optional

"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from pathlib import Path

import numpy as np

from robot_dynamics_ros.core.drive.motor import Drives
from robot_dynamics_ros.core.drive.strict_yaml import (
    check_assumed,
    check_joints,
    check_keys,
    check_number,
    read_mapping,
)
from robot_dynamics_ros.core.exceptions import ConfigurationError

REQUIRED = (
    'torque_constant',
    'back_emf_constant',
    'resistance',
    'inductance',
    'ratio',
    'rotor_inertia',
)
DEFAULTS = {'efficiency': 1.0, 'voltage_limit': inf, 'current_limit': inf}


def read_drive_file(path: str | Path, joint_names: Sequence[str]) -> Drives:
    """
    Read the drives of every joint.

    Parameters
    ----------
    path : str or Path
        YAML file.
    joint_names : sequence of str
        Joints of the robot.

    Returns
    -------
    drives : Drives
        In the order of `joint_names`.

    Raises
    ------
    ConfigurationError
        If the file cannot be read, joints or keys are missing or unknown, or a value is refused;
        one line with file, joint and key.

    """
    entries = check_joints(f'drive file {path}', read_mapping(path, 'drives'), joint_names)
    columns: dict[str, list[float]] = {key: [] for key in (*REQUIRED, *DEFAULTS)}
    assumed: list[str] = []
    for name in joint_names:
        where = f"drive file {path}: joint '{name}'"
        entry = check_keys(where, entries[name], REQUIRED, (*DEFAULTS, 'assumed'))
        for key, column in columns.items():
            given = key in entry
            column.append(check_number(where, key, entry[key]) if given else DEFAULTS[key])
        keys = check_assumed(where, entry.get('assumed', []), entry)
        assumed += [f'{name}/{key}' for key in keys]
    arrays = {key: np.array(column) for key, column in columns.items()}
    try:
        return Drives(tuple(joint_names), **arrays, assumed=tuple(assumed))
    except ConfigurationError as error:
        raise ConfigurationError(f'drive file {path}: {error}') from error
