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

"""The choice of a friction model by name, from one file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.dahl import DahlFriction
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_values import FRICTION_LAWS
from robot_dynamics_ros.core.friction.lugre import LuGreFriction

JointFrictionLaw = DryFriction | LuGreFriction | DahlFriction

_LAWS: dict[str, type[DryFriction] | type[LuGreFriction] | type[DahlFriction]] = {
    'dry': DryFriction,
    'lugre': LuGreFriction,
    'dahl': DahlFriction,
}


def read_friction_law(name: str, path: str | Path, joint_names: Sequence[str]) -> JointFrictionLaw:
    """
    Read the friction of every joint for a model chosen by name.

    Parameters
    ----------
    name : str
        ``dry`` (sticks exactly), ``lugre`` or ``dahl`` (stick elastically).
    path : str or Path
        YAML file, see `friction_file`.
    joint_names : sequence of str
        Joints of the robot.

    Raises
    ------
    ConfigurationError
        If the name is unknown, the file cannot be read, or a value is refused; one line.

    """
    if name not in _LAWS:
        raise ConfigurationError(
            f"friction model '{name}' is not one of: {', '.join(FRICTION_LAWS)}"
        )
    return _LAWS[name].from_file(path, joint_names)
