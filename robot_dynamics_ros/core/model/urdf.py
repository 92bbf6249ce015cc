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
Reading URDF and xacro: `read_urdf` gives a description with findings, `load_urdf` a model.

A source goes through the secure gate (`urdf_gate`), its raw elements are checked
(`urdf_elements`), and what has a meaning for dynamics is handed to urdf-parser-py, whose objects
become a `RobotDescription`. Limits, friction and masses that no robot can have are findings, each
with a stable code (`finding_codes`); errors refuse the model.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
import os
from typing import Any
from xml.etree import ElementTree

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import (
    Finding,
    Inertial,
    Link,
    RobotDescription,
)
from robot_dynamics_ros.core.model.description_findings import (
    description_findings,
    with_mimics_independent,
)
from robot_dynamics_ros.core.model.finding_codes import one_line, refusal, refuse_on_errors
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel, STANDARD_GRAVITY
from robot_dynamics_ros.core.model.urdf_elements import element_findings
from robot_dynamics_ros.core.model.urdf_gate import parse_xml, XmlElement
from robot_dynamics_ros.core.model.urdf_joint import read_joint
from robot_dynamics_ros.core.model.urdf_reduction import incomplete_elements, reduced_tree
from robot_dynamics_ros.core.model.urdf_source import read_source, UrdfSource
from robot_dynamics_ros.core.model.xacro_source import expand_xacro, is_xacro
from robot_dynamics_ros.core.spatial.rotation import rotation_from_rpy


def load_urdf(
    source: str | bytes | os.PathLike[str],
    *,
    strict: bool = True,
    xacro_args: Mapping[str, Any] | None = None,
    unknown_mimic: str = 'error',
    floating_base: bool = False,
    gravity: Sequence[float] | Vector = STANDARD_GRAVITY,
    active_joints: Sequence[str] | None = None,
    locked: Mapping[str, Any] | None = None,
    armature: Mapping[str, float] | None = None,
    payload: Payload | None = None,
) -> RobotModel:
    """
    Load a robot model from URDF or xacro.

    Parameters
    ----------
    source, strict, xacro_args, unknown_mimic
        What to read and how: see `read_urdf`.
    floating_base, gravity, active_joints, locked, armature, payload
        What to make of it: see `robot_dynamics_ros.core.model.build.build_model`, also for what it
        raises.

    Returns
    -------
    model : RobotModel
        Its `findings` hold the warnings.

    Raises
    ------
    UrdfError
        If the source is refused.

    Examples
    --------
    >>> model = load_urdf('''<robot name="pendulum"><link name="base"/>
    ...   <link name="bob"><inertial><origin xyz="0 0 -1"/><mass value="2"/>
    ...     <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>
    ...   <joint name="hinge" type="continuous"><parent link="base"/><child link="bob"/>
    ...     <axis xyz="0 1 0"/></joint></robot>''')
    >>> model.joint_names, model.moving_mass
    (('hinge',), 2.0)

    """
    description = read_urdf(
        source, strict=strict, xacro_args=xacro_args, unknown_mimic=unknown_mimic
    )
    return build_model(
        description,
        floating_base=floating_base,
        gravity=gravity,
        active_joints=active_joints,
        locked=locked,
        armature=armature,
        payload=payload,
    )


def read_urdf(
    source: str | bytes | os.PathLike[str],
    *,
    strict: bool = True,
    xacro_args: Mapping[str, Any] | None = None,
    unknown_mimic: str = 'error',
) -> RobotDescription:
    """
    Read a robot description from URDF or xacro.

    Parameters
    ----------
    source : str, bytes or path-like
        Path of a file, or the XML itself. xacro is expanded if the file is called ``.xacro`` or
        has its elements.
    strict : bool
        Whether a revolute or prismatic joint without ``<limit>``, a ``<limit>`` without effort or
        velocity, an incomplete tensor or a wrong number in a visual or collision shape refuses the
        file. If False, limits are read as none or not stated, missing entries of a tensor as zero,
        each with a warning.
    xacro_args : mapping of str to object, optional
        Values for the arguments of a xacro file.
    unknown_mimic : str
        ``'error'``, or ``'independent'``: a mimic joint whose target does not exist then moves on
        its own.

    Returns
    -------
    description : RobotDescription
        Links and joints in file order, with the findings.

    Raises
    ------
    UrdfError
        If there is an error among the findings; it carries them all.
    ConfigurationError
        If `unknown_mimic` is something else.

    """
    if unknown_mimic not in ('error', 'independent'):
        message = f"unknown_mimic is '{unknown_mimic}', expected 'error' or 'independent'"
        raise ConfigurationError(message)
    found = read_source(source)
    root = raw_tree(found, xacro_args)
    directory = found.path.parent if found.path else None
    findings = [*found.findings, *element_findings(root, strict, directory)]
    findings += incomplete_elements(root, strict)
    refuse_on_errors(found.name, findings)
    description = _description(root, strict, findings)
    if unknown_mimic == 'independent':
        description, freed = with_mimics_independent(description)
        findings += freed
    findings += description_findings(description)
    refuse_on_errors(found.name, findings)
    return replace(description, findings=tuple(findings))


def raw_tree(source: UrdfSource, xacro_args: Mapping[str, Any] | None = None) -> XmlElement:
    """
    Return the ``<robot>`` element of a source, xacro expanded.

    Raises
    ------
    UrdfError
        If the source does not pass the gate, xacro fails, or the root is another element.

    """
    root = parse_xml(source.text, source.name)
    if is_xacro(source, root):
        root = parse_xml(expand_xacro(source, xacro_args), source.name)
    elif xacro_args:
        raise refusal('xacro_failed', source.name, 'is no xacro file, so it takes no arguments')
    if root.tag != 'robot':
        message = f'the root element is <{one_line(root.tag, 60)}>, expected <robot>'
        raise refusal('root_not_robot', source.name, message)
    return root


def _description(root: XmlElement, strict: bool, findings: list[Finding]) -> RobotDescription:
    from urdf_parser_py.urdf import URDF

    # urdf-parser-py gets only what it knows and we checked, so it has nothing to print.
    robot = URDF.from_xml_string(ElementTree.tostring(reduced_tree(root), encoding='unicode'))
    return RobotDescription(
        name=robot.name,
        links=tuple(Link(link.name, _inertial(link.inertial)) for link in robot.links),
        joints=tuple(read_joint(joint, strict, findings) for joint in robot.joints),
    )


def _inertial(raw: Any) -> Inertial | None:
    if raw is None:
        return None
    xyz = (raw.origin.xyz if raw.origin else None) or (0.0, 0.0, 0.0)
    rpy = (raw.origin.rpy if raw.origin else None) or (0.0, 0.0, 0.0)
    tensor = np.array(raw.inertia.to_matrix(), dtype=np.float64)
    if any(rpy):
        rotation = rotation_from_rpy(*rpy)
        tensor = rotation @ tensor @ rotation.T
        tensor = 0.5 * (tensor + tensor.T)
    return Inertial(float(raw.mass), np.array(xyz), tensor)
