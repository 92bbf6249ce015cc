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

"""From parameters and a robot description to the model of a node."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

import numpy as np

from robot_dynamics_ros.core.control.gravity import gravity_from_mounting, validate_gravity
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import (
    driven_joints,
    require_single_joints,
    RobotModel,
)
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.model.urdf_gate import parse_xml
from robot_dynamics_ros.core.model.urdf_source import read_source
from robot_dynamics_ros.core.model.xacro_source import expand_xacro, is_xacro
from robot_dynamics_ros.resources import config_path, PACKAGE, urdf_path
from robot_dynamics_ros.ros.conversions import symmetric_matrix
from robot_dynamics_ros.ros.robot_parameters import RobotParameters


class _HasFriction(Protocol):
    """Parameters that name a friction."""

    @property
    def friction_source(self) -> str: ...

    @property
    def friction_file(self) -> str: ...


_SCHEME = 'package://'
_XACRO = '<xacro:'


def load_robot(
    parameters: RobotParameters, description: str, *, floating_base: bool = False
) -> RobotModel:
    """
    Build the model that the parameters ask for.

    Parameters
    ----------
    parameters : RobotParameters
        Which robot.
    description : str
        Text from the topic ``robot_description``; not used if the parameters name a file.
    floating_base : bool
        Whether the root link floats in the world.

    Returns
    -------
    model : RobotModel
        Robot with joints of one coordinate, but for a floating base, in model order.

    Raises
    ------
    ConfigurationError
        If a parameter does not fit the robot.
    ModelError
        If the description is refused, or a joint has several coordinates or is neither in
        ``joints`` nor locked.

    """
    model = load_urdf(
        description_source(parameters, description),
        strict=parameters.strict_urdf,
        xacro_args=xacro_arguments(parameters),
        gravity=_gravity(parameters),
        active_joints=parameters.joints or None,
        locked=dict(zip(parameters.locked_joints, parameters.locked_positions)),
        floating_base=floating_base,
    )
    if not floating_base:
        require_single_joints(model, 'the node')
    if not model.joint_names:
        raise ConfigurationError(f"robot '{model.name}' has no joint that moves")
    if parameters.armature:
        model = model.with_armature(dict(zip(joint_order(parameters, model), parameters.armature)))
    payload = payload_of(parameters)
    return model if payload is None else model.with_payload(payload)


def description_source(parameters: RobotParameters, description: str) -> Path | str:
    """
    Return the file that the parameters name, or else the text of the topic.

    Raises
    ------
    ConfigurationError
        If there is no such file, or the text is no plain URDF.

    """
    if parameters.robot_description_file:
        return resolved_path(parameters.robot_description_file)
    _require_plain_urdf(description)
    return description


def description_text(parameters: RobotParameters, description: str) -> str:
    """
    Return the description as plain URDF.

    Raises
    ------
    ConfigurationError
        If there is no such file, or the text of the topic is no plain URDF.
    UrdfError
        If the file is refused.

    """
    chosen = description_source(parameters, description)
    if isinstance(chosen, str):
        return chosen
    source = read_source(chosen)
    if is_xacro(source, parse_xml(source.text, source.name)):
        return expand_xacro(source, xacro_arguments(parameters) or {})
    return source.text


def xacro_arguments(parameters: RobotParameters) -> dict[str, str] | None:
    """Return the arguments for a xacro file, or None without any."""
    return dict(argument.split(':=', 1) for argument in parameters.xacro_args) or None


def _require_plain_urdf(description: str) -> None:
    """Refuse what a stranger could make us open files with."""
    if not description.lstrip('\ufeff \t\r\n').startswith('<'):
        raise ConfigurationError(
            f'robot_description is no XML: it begins with {description[:40]!r}'
        )
    if _XACRO in description:
        raise ConfigurationError(
            'robot_description holds xacro; publish it expanded, as robot_state_publisher does '
            'with the output of the command xacro'
        )


def _gravity(parameters: RobotParameters) -> tuple[float, ...]:
    if parameters.base_roll or parameters.base_pitch:
        gravity = gravity_from_mounting(parameters.base_roll, parameters.base_pitch)
    else:
        gravity = validate_gravity(parameters.gravity)
    return tuple(gravity.tolist())


def joint_order(parameters: RobotParameters, model: RobotModel) -> tuple[str, ...]:
    """
    Return the joints in the order of the parameters and of the controller.

    Raises
    ------
    ConfigurationError
        If an array has another size than there are joints.

    """
    order = parameters.joints or driven_joints(model)
    for name in (
        'armature',
        'effort_limits',
        'effort_rate_limits',
        'max_joint_speed',
        'torque_constants',
        'gear_ratios',
        'effort_signs',
        'initial_positions',
        'joint_stiffness',
        'joint_damping',
    ):
        size = len(getattr(parameters, name, ()))
        if size not in (0, len(order)):
            raise ConfigurationError(f'{name} has {size} entries, expected {len(order)}')
    return order


def payload_of(parameters: RobotParameters) -> Payload | None:
    """
    Return the payload that the parameters describe, or None.

    Raises
    ------
    ModelError
        If no body has this inertia.

    """
    if parameters.payload_mass == 0.0:
        return None
    return Payload(
        parameters.payload_mass,
        parameters.payload_frame,
        np.array(parameters.payload_com),
        symmetric_matrix(parameters.payload_inertia),
    )


def payload_values(parameters: RobotParameters) -> tuple[object, ...]:
    """Return the parameters of the payload, to see whether they have changed."""
    return (
        parameters.payload_mass,
        parameters.payload_frame,
        parameters.payload_com,
        parameters.payload_inertia,
    )


def friction_of(parameters: _HasFriction, model: RobotModel) -> FrictionModel | None:
    """
    Return the smooth friction that the parameters name, or None.

    Raises
    ------
    ConfigurationError
        If the file or a value is refused.

    """
    if parameters.friction_source == 'urdf':
        return FrictionModel.from_model(model)
    if parameters.friction_source == 'file':
        return FrictionModel.from_file(resolved_path(parameters.friction_file), model.joint_names)
    return None


def continuous_joints(model: RobotModel) -> tuple[str, ...]:
    """Return the names of the joints that turn without limit."""
    return tuple(
        joint.name
        for joint in model.joints
        if joint.type is JointType.CONTINUOUS and joint.mimic is None
    )


def resolved_path(text: str) -> Path:
    """
    Return the path that a parameter names: a plain path, or ``package://PACKAGE/PATH``.

    Raises
    ------
    ConfigurationError
        If there is no such file or package.

    """
    path = _package_path(text[len(_SCHEME) :]) if text.startswith(_SCHEME) else Path(text)
    if not os.path.isfile(path):
        raise ConfigurationError(f"there is no file '{text}'")
    return path


def local_path(name: str, text: str) -> Path:
    """
    Return the path that the parameter `name` gives, with ``~`` for the user's folder.

    Raises
    ------
    ConfigurationError
        If there is no such user.

    """
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ConfigurationError(
            f"{name} is '{text}': the folder of that user is not known; give the whole path"
        ) from error


def _package_path(text: str) -> Path:
    package, _, rest = text.partition('/')
    folder, _, name = rest.partition('/')
    if package == PACKAGE and folder in ('urdf', 'config'):
        return urdf_path(name) if folder == 'urdf' else config_path(name)
    try:
        from ament_index_python.packages import get_package_share_directory

        return Path(get_package_share_directory(package)) / rest
    except (ImportError, LookupError, ValueError, OSError) as error:
        raise ConfigurationError(
            f"package '{package}' in '{_SCHEME}{text}' is not found"
        ) from error
