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
The YAML file of joint friction.

One entry for every joint of the robot, none for others. `viscous` and `coulomb` are required::

    friction:
      joint_1: {viscous: 8.0, coulomb: 7.0}
      joint_2: {viscous: 8.0, coulomb_positive: 7.0, coulomb_negative: 6.5, static_ratio: 1.3}

======================  ==================  ====================================================
key                     unit                meaning
======================  ==================  ====================================================
viscous                 N m s/rad | N s/m   viscous friction
viscous_negative        N m s/rad | N s/m   that for negative velocity, where it differs
coulomb                 N m | N             Coulomb level of both directions
coulomb_positive        N m | N             with coulomb_negative instead of `coulomb`: the level
                                            for positive velocity
coulomb_negative        N m | N             magnitude of the level for negative velocity
smoothing_velocity      rad/s | m/s         width of the smooth form for commands
static_ratio            1                   static over Coulomb level, >= 1, for simulation
stribeck_velocity       rad/s | m/s         for simulation: speed at which the static level has
                                            fallen to the Coulomb level
load_coefficient        1                   for simulation: rise of the Coulomb level for each
                                            N m | N of load on the joint
bristle_stiffness       N m/rad | N/m       for simulation with LuGre's or Dahl's model
bristle_damping         N m s/rad | N s/m   for simulation with LuGre's model
======================  ==================  ====================================================

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.friction_values import (
    check_friction_value,
    DEFAULT_SMOOTHING_VELOCITY,
    DEFAULT_STRIBECK_VELOCITY,
)


@dataclass(frozen=True)
class JointFriction:
    """Friction of one joint; the attributes are the keys of the file, with their units."""

    viscous: float
    coulomb_positive: float
    coulomb_negative: float
    smoothing_velocity: float = DEFAULT_SMOOTHING_VELOCITY
    static_ratio: float = 1.0
    stribeck_velocity: float = DEFAULT_STRIBECK_VELOCITY
    viscous_negative: float | None = None
    load_coefficient: float = 0.0
    bristle_stiffness: float | None = None
    bristle_damping: float = 0.0

    @property
    def backward_viscous(self) -> float:
        """Viscous friction for negative velocity, stated or not [N m s/rad | N s/m]."""
        return self.viscous if self.viscous_negative is None else self.viscous_negative


KEYS = ('coulomb', *JointFriction.__dataclass_fields__)


def read_friction_file(path: str | Path, joint_names: Sequence[str]) -> tuple[JointFriction, ...]:
    """
    Read the friction of every joint.

    Parameters
    ----------
    path : str or Path
        YAML file.
    joint_names : sequence of str
        Joints of the robot.

    Returns
    -------
    friction : tuple of JointFriction
        In the order of `joint_names`.

    Raises
    ------
    ConfigurationError
        If the file cannot be read, joints are missing or unknown, or a value is refused; one line.

    """
    try:
        text = Path(path).read_text(encoding='utf-8')
        _refuse_repeated_keys(yaml.compose(text, Loader=yaml.SafeLoader))
        content = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = ' '.join(str(error).split())
        raise ConfigurationError(f'friction file {path} cannot be read: {reason}') from error
    except ConfigurationError as error:
        raise ConfigurationError(f'friction file {path}: {error}') from error
    joints = content.get('friction') if isinstance(content, Mapping) else None
    if not isinstance(joints, Mapping):
        raise ConfigurationError(
            f"friction file {path}: expected a mapping of joints under 'friction'"
        )
    missing = [name for name in joint_names if name not in joints]
    unknown = [str(name) for name in joints if name not in joint_names]
    if missing or unknown:
        said = [f'no entry for {", ".join(missing)}'] if missing else []
        said += [f'unknown joint {", ".join(unknown)}'] if unknown else []
        raise ConfigurationError(
            f'friction file {path}: {"; ".join(said)}; the robot has: {", ".join(joint_names)}'
        )
    try:
        return tuple(_joint_friction(name, joints[name]) for name in joint_names)
    except ConfigurationError as error:
        raise ConfigurationError(f'friction file {path}: {error}') from error


def _joint_friction(name: str, entry: Any) -> JointFriction:
    if not isinstance(entry, Mapping):
        raise ConfigurationError(f"joint '{name}': expected keys such as viscous and coulomb")
    for key, value in entry.items():
        if key not in KEYS:
            raise ConfigurationError(
                f"joint '{name}': unknown key '{key}'; there are: {', '.join(KEYS)}"
            )
        check_friction_value(name, key, value)
    values = dict(entry)
    if 'coulomb' in values:
        if 'coulomb_positive' in values or 'coulomb_negative' in values:
            raise ConfigurationError(
                f"joint '{name}': give either coulomb, or coulomb_positive and coulomb_negative"
            )
        values['coulomb_positive'] = values['coulomb_negative'] = values.pop('coulomb')
    for key in ('viscous', 'coulomb_positive', 'coulomb_negative'):
        if key not in values:
            raise ConfigurationError(f"joint '{name}': {key} is missing")
    return JointFriction(**{key: float(value) for key, value in values.items()})


def _refuse_repeated_keys(node: Any) -> None:
    """
    Look for keys that stand twice, of which YAML would silently take the last.

    Raises
    ------
    ConfigurationError
        If there are any.

    """
    if isinstance(node, yaml.MappingNode):
        keys = [key.value for key, _ in node.value]
        repeated = sorted({key for key in keys if keys.count(key) > 1})
        if repeated:
            raise ConfigurationError(f'{", ".join(repeated)} stands twice')
        for _, value in node.value:
            _refuse_repeated_keys(value)
