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
The findings on a robot description: stable codes, their severity and their meaning.

An ``error`` refuses the model, a ``warning`` asks for a decision before torque goes to hardware,
an ``info`` is legal and harmless but worth knowing. Codes never change; messages may.

"""

from __future__ import annotations

from collections.abc import Iterable

from robot_dynamics_ros.core.exceptions import UrdfError
from robot_dynamics_ros.core.model.description import Finding

ERROR, WARNING, INFO = 'error', 'warning', 'info'

FINDING_CODES: dict[str, tuple[str, str]] = {
    # the source as a text
    'source_empty': (ERROR, 'the source holds nothing'),
    'source_missing': (ERROR, 'the source is neither XML nor a file that can be read'),
    'source_too_large': (ERROR, 'the source is larger than any robot needs'),
    'encoding_wrong': (ERROR, 'the bytes do not fit the declared encoding'),
    'encoding_assumed': (
        WARNING,
        'no encoding is declared and the bytes are not UTF-8: read as Latin-1',
    ),
    'xml_doctype': (ERROR, 'a DOCTYPE could expand entities or read files'),
    'xml_too_deep': (ERROR, 'XML elements are nested too deeply'),
    'xml_broken': (ERROR, 'the XML is not well-formed'),
    'prefix_unbound': (
        INFO,
        'a namespace prefix is used without a declaration; its elements are ignored',
    ),
    'xacro_failed': (ERROR, 'xacro cannot expand the file'),
    # elements and numbers
    'root_not_robot': (ERROR, 'the outermost element is not <robot>'),
    'number_wrong': (ERROR, 'an attribute is not the finite number or numbers it should be'),
    'name_missing': (ERROR, 'a link or joint has no name'),
    'name_repeated': (ERROR, 'two links, or two joints, have the same name'),
    'name_shared': (INFO, 'a link and a joint have the same name, which is legal'),
    'robot_name_missing': (WARNING, 'the robot has no name'),
    'element_repeated': (
        WARNING,
        'an element stands twice where one is allowed; the first is used',
    ),
    'element_ignored': (INFO, 'an element inside a link or joint is not part of URDF'),
    'mesh_missing': (INFO, 'meshes cannot be found here; dynamics does not need them'),
    # the tree
    'no_link': (ERROR, 'there is no link'),
    'link_not_given': (ERROR, 'a joint does not say its parent or child'),
    'link_unknown': (ERROR, 'a joint names a link that does not exist'),
    'link_two_parents': (ERROR, 'a link is the child of two joints: a closed loop'),
    'kinematic_cycle': (ERROR, 'links are their own ancestors'),
    'several_roots': (ERROR, 'more than one link has no parent'),
    # joints
    'joint_type_unknown': (ERROR, 'the joint type is not one of URDF'),
    'axis_zero': (ERROR, 'a moving joint has the axis 0 0 0'),
    'axis_not_unit': (WARNING, 'the axis is not of unit length and is normalised'),
    'axis_missing': (INFO, 'no axis is given: 1 0 0 by definition'),
    'limit_missing': (ERROR, 'a revolute or prismatic joint has no <limit>'),
    'limit_incomplete': (ERROR, 'a <limit> states no effort or no velocity'),
    'limit_reversed': (ERROR, 'the lower limit is above the upper one'),
    'limit_range_empty': (WARNING, 'lower and upper limit are equal'),
    'limit_not_stated': (
        WARNING,
        'an effort or velocity limit of zero or less is read as not stated',
    ),
    'limit_absent': (INFO, 'a continuous joint has no <limit>, which is legal'),
    'damping_negative': (WARNING, 'negative damping is not used'),
    'friction_negative': (WARNING, 'negative friction is not used'),
    'safety_velocity_gain_zero': (WARNING, 'the safety controller would never let the joint move'),
    'mimic_target_unknown': (ERROR, 'a mimic joint follows a joint that does not exist'),
    'mimic_self': (ERROR, 'a mimic joint follows itself'),
    'mimic_cycle': (ERROR, 'mimic joints follow each other in a circle'),
    'mimic_type': (
        ERROR,
        'a mimic joint or the one it follows has not exactly one degree of freedom',
    ),
    'mimic_independent': (
        WARNING,
        'a mimic joint whose target does not exist moves independently',
    ),
    # masses
    'mass_missing': (ERROR, 'an <inertial> has no mass'),
    'mass_negative': (ERROR, 'a mass is negative'),
    'inertia_incomplete': (ERROR, 'an <inertial> lacks entries of its tensor'),
    'inertia_not_positive': (WARNING, 'a tensor has a negative principal moment'),
    'inertia_triangle': (
        WARNING,
        'a principal moment exceeds the sum of the other two: no body has this',
    ),
    'inertia_without_mass': (WARNING, 'a link has rotational inertia but no mass'),
    'root_inertia': (INFO, 'the root link has inertia, which counts only on a floating base'),
    'link_massless': (INFO, 'a moving body has no mass'),
    'moving_mass_zero': (WARNING, 'all that moves weighs nothing: gravity compensation is zero'),
    'no_moving_joint': (INFO, 'nothing moves'),
    # the dynamics that follow
    'moves_no_inertia': (WARNING, 'a joint moves no inertia: forward dynamics is refused'),
    'mass_matrix_indefinite': (
        WARNING,
        'the mass matrix is indefinite: forward dynamics is refused',
    ),
    'gravity_exceeds_effort': (
        WARNING,
        'the effort limit is below the torque that holds the robot',
    ),
}


def finding(
    code: str, subject: str, message: str, value: float | None = None, severity: str | None = None
) -> Finding:
    """Return a finding with this code, of the code's own severity unless one is given."""
    return Finding(code, severity or FINDING_CODES[code][0], subject, message, value)


def refusal(code: str, subject: str, message: str, value: float | None = None) -> UrdfError:
    """Return the error that refuses a source for one reason, to be raised."""
    return UrdfError(f'{subject}: {message}', (finding(code, subject, message, value),))


def refuse_on_errors(name: str, findings: Iterable[Finding]) -> None:
    """
    Raise if there is an error among the findings.

    Raises
    ------
    UrdfError
        One line with the first error and the number of others; it carries all findings.

    """
    findings = tuple(findings)
    errors = [item for item in findings if item.severity == ERROR]
    if not errors:
        return
    others = len(errors) - 1
    more = f' (and {others} more error{"s" * (others > 1)})' if others else ''
    raise UrdfError(f'{name}: {errors[0].subject}: {errors[0].message}{more}', findings)


def one_line(text: object, limit: int = 200) -> str:
    """Return `text` on one line with single blanks, cut at `limit` characters."""
    line = ' '.join(str(text).split())
    return line if len(line) <= limit else line[: limit - 3] + '...'
