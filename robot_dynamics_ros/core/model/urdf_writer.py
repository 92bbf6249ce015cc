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
Putting changed masses, centres of mass, tensors, damping and friction back into URDF text.

Only the attributes that change are touched; comments, order, white space and everything unknown
stay byte for byte. What no body or joint can have is refused, so that the result can always be
loaded again.

"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
import os
from pathlib import Path

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Matrix
from robot_dynamics_ros.core.exceptions import ModelError, UnknownFrameError, UnknownJointError
from robot_dynamics_ros.core.model.description import Inertial, JointType, RobotDescription
from robot_dynamics_ros.core.model.description_findings import tensor_fault
from robot_dynamics_ros.core.model.finding_codes import refusal
from robot_dynamics_ros.core.model.urdf import read_urdf
from robot_dynamics_ros.core.model.urdf_elements import INERTIA_ENTRIES
from robot_dynamics_ros.core.model.urdf_gate import parse_numbers, parse_xml, XmlElement
from robot_dynamics_ros.core.model.urdf_source import read_source, UrdfSource
from robot_dynamics_ros.core.model.xacro_source import is_xacro
from robot_dynamics_ros.core.model.xml_edit import XmlEdit
from robot_dynamics_ros.core.spatial.rotation import rotation_from_rpy

_TENSOR_INDEX = {
    entry: ('xyz'.index(entry[1]), 'xyz'.index(entry[2])) for entry in INERTIA_ENTRIES
}


def rewrite_urdf(
    text: str,
    *,
    inertials: Mapping[str, Inertial] | None = None,
    damping: Mapping[str, float] | None = None,
    friction: Mapping[str, float] | None = None,
) -> str:
    """
    Return URDF text with changed values.

    Parameters
    ----------
    text : str
        URDF text, no xacro.
    inertials : mapping of str to Inertial, optional
        New mass distribution by link name, in the link frame. The rotation of the inertial frame
        in the text stays; the tensor is turned into it.
    damping : mapping of str to float, optional
        New viscous friction by joint name, zero or more [N m s/rad | N s/m].
    friction : mapping of str to float, optional
        New Coulomb friction by joint name, zero or more [N m | N].

    Returns
    -------
    text : str
        The same text with these attributes changed. A value that the text already holds is not
        touched.

    Raises
    ------
    UrdfError
        If the text is refused, or is xacro, whose numbers may be expressions.
    ModelError
        If a value is not possible: a negative mass, damping or friction, a tensor that is not
        positive or breaks the triangle inequality, inertia without mass, or friction of a fixed
        joint.
    UnknownFrameError, UnknownJointError
        If no link or joint has the name.
    NonFiniteError
        If a mass distribution holds NaN or infinity.

    Examples
    --------
    >>> text = '''<robot name="r"><link name="base"/><link name="arm"/>
    ...   <joint name="j" type="continuous"><parent link="base"/><child link="arm"/>
    ...     <dynamics damping="0.1"/></joint></robot>'''
    >>> rewrite_urdf(text, damping={'j': 0.25}) == text.replace('0.1', '0.25')
    True

    """
    return _rewritten(UrdfSource(text, 'text'), inertials, damping, friction)


def rewrite_urdf_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    inertials: Mapping[str, Inertial] | None = None,
    damping: Mapping[str, float] | None = None,
    friction: Mapping[str, float] | None = None,
) -> None:
    """
    Write a copy of a URDF file with changed values, in the encoding of the file.

    The changes are those of `rewrite_urdf`. The target appears complete or not at all; it may be
    the source itself.

    Raises
    ------
    OSError
        If the target cannot be written.

    """
    found = read_source(Path(source))
    text = _rewritten(found, inertials, damping, friction)
    target = Path(target)
    partial = target.with_name(target.name + '.part')
    partial.write_bytes(found.byte_order_mark + text.encode(found.encoding))
    os.replace(partial, target)


def _rewritten(
    source: UrdfSource,
    inertials: Mapping[str, Inertial] | None,
    damping: Mapping[str, float] | None,
    friction: Mapping[str, float] | None,
) -> str:
    root = parse_xml(source.text, source.name)
    if is_xacro(source, root):
        message = 'is xacro, whose numbers may be expressions; expand it first'
        raise refusal('xacro_failed', source.name, message)
    description = read_urdf(source.text, strict=False, unknown_mimic='independent')
    edit = XmlEdit(source.text)
    links = {element.attributes.get('name', ''): element for element in root.all('link')}
    for name, inertial in (inertials or {}).items():
        if name not in links:
            raise UnknownFrameError(name, links)
        _check_inertial(name, inertial)
        _change_inertial(edit, links[name], inertial, _present(description, name))
    changes: dict[str, dict[str, float]] = {}
    for key, values in (('damping', damping), ('friction', friction)):
        for name, value in (values or {}).items():
            _check_friction(description, name, key, value)
            changes.setdefault(name, {})[key] = float(value)
    joints = {element.attributes.get('name', ''): element for element in root.all('joint')}
    for name, named in changes.items():
        _change_dynamics(edit, joints[name], named)
    return edit.text()


def _present(description: RobotDescription, name: str) -> Inertial | None:
    return next(link.inertial for link in description.links if link.name == name)


def _check_inertial(name: str, inertial: Inertial) -> None:
    as_finite(f"mass of link '{name}'", inertial.mass, ())
    as_finite(f"centre of mass of link '{name}'", inertial.com, (3,))
    tensor = as_finite(f"inertia of link '{name}'", inertial.inertia, (3, 3))
    largest = float(np.abs(tensor).max())
    if inertial.mass < 0.0:
        raise ModelError(f"link '{name}': the mass {inertial.mass:g} kg is negative; not written")
    if inertial.mass == 0.0 and largest > 0.0:
        raise ModelError(f"link '{name}': rotational inertia without mass; not written")
    if float(np.abs(tensor - tensor.T).max()) > 1e-12 * largest:
        raise ModelError(f"link '{name}': the tensor is not symmetric; not written")
    fault = tensor_fault(tensor)
    if fault is not None:
        code, value = fault
        reason = {
            'inertia_not_positive': f'has the negative principal moment {value:.6g} kg m^2',
            'inertia_triangle': f'breaks the triangle inequality by {value:.6g} kg m^2',
        }[code]
        raise ModelError(f"link '{name}': the tensor {reason}; not written")


def _check_friction(description: RobotDescription, name: str, key: str, value: float) -> None:
    joints = {joint.name: joint for joint in description.joints}
    if name not in joints:
        raise UnknownJointError(name, joints)
    if joints[name].type is JointType.FIXED:
        raise ModelError(f"joint '{name}' is fixed: it has no {key}")
    if not isfinite(value) or value < 0.0:
        raise ModelError(f"joint '{name}': {key} {value:g} is not zero or more; not written")


def _change_dynamics(edit: XmlEdit, joint: XmlElement, values: Mapping[str, float]) -> None:
    dynamics = joint.first('dynamics')
    if dynamics is not None:
        for key, value in values.items():
            _change_number(edit, dynamics, key, value, default=0.0)
    elif any(values.values()):
        attributes = ' '.join(f'{key}="{_written(value)}"' for key, value in values.items())
        edit.add_child(joint, f'<dynamics {attributes}/>')


def _change_inertial(
    edit: XmlEdit, link: XmlElement, inertial: Inertial, present: Inertial | None
) -> None:
    element = link.first('inertial')
    if element is None:
        edit.add_child(link, _new_inertial(inertial), first=True)
        return
    origin, inertia = element.first('origin'), element.first('inertia')
    rotation = np.eye(3)
    if origin is not None and 'rpy' in origin.attributes:
        rotation = rotation_from_rpy(*parse_numbers(origin.attributes['rpy'], 3))
    if present is None or not np.array_equal(present.com, inertial.com):
        xyz = ' '.join(_written(value) for value in inertial.com)
        if origin is not None:
            edit.set_attribute(origin, 'xyz', xyz)
        else:
            edit.add_child(element, f'<origin xyz="{xyz}"/>', first=True)
    mass = element.first('mass')
    if mass is not None:
        _change_number(edit, mass, 'value', inertial.mass)
    if present is None or not np.array_equal(present.inertia, inertial.inertia):
        tensor = _turned(inertial.inertia, rotation)
        if inertia is None:
            edit.add_child(element, f'<inertia {_tensor_attributes(tensor)}/>')
        else:
            for entry, index in _TENSOR_INDEX.items():
                _change_number(edit, inertia, entry, float(tensor[index]))


def _turned(tensor: Matrix, rotation: Matrix) -> Matrix:
    """Return the tensor in the axes of the inertial frame; without rotation bit for bit."""
    if not np.array_equal(rotation, np.eye(3)):
        tensor = rotation.T @ tensor @ rotation
    symmetric: Matrix = 0.5 * (tensor + tensor.T)
    return symmetric


def _new_inertial(inertial: Inertial) -> str:
    xyz = ' '.join(_written(value) for value in inertial.com)
    return (
        f'<inertial><origin xyz="{xyz}"/><mass value="{_written(inertial.mass)}"/>'
        f'<inertia {_tensor_attributes(_turned(inertial.inertia, np.eye(3)))}/></inertial>'
    )


def _tensor_attributes(tensor: Matrix) -> str:
    items = _TENSOR_INDEX.items()
    return ' '.join(f'{entry}="{_written(float(tensor[index]))}"' for entry, index in items)


def _change_number(
    edit: XmlEdit, element: XmlElement, name: str, value: float, default: float | None = None
) -> None:
    text = element.attributes.get(name)
    present = default if text is None else parse_numbers(text, 1)[0]
    if present != value:
        edit.set_attribute(element, name, _written(value))


def _written(value: float) -> str:
    """Return the shortest text that reads back as exactly this number."""
    return repr(float(value) + 0.0)
