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

"""Kinds of faulty robots beyond the files of group A, as small own inputs."""

from __future__ import annotations

from math import inf, isnan
from pathlib import Path

import pytest

from robot_dynamics_ros.core.exceptions import ConfigurationError, UrdfError
from robot_dynamics_ros.core.model.description import Finding, JointType, RobotDescription
from robot_dynamics_ros.core.model.finding_codes import FINDING_CODES
from robot_dynamics_ros.core.model.urdf import load_urdf, read_urdf

LIMIT = '<limit lower="-1" upper="1" effort="50" velocity="5"/>'
EYE = 'ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"'


def link(name: str, mass: str = '1', tensor: str = EYE) -> str:
    inertial = f'<inertial><mass value="{mass}"/><inertia {tensor}/></inertial>'
    return f'<link name="{name}">{inertial}</link>'


def joint(name: str, parent: str, child: str, inner: str = LIMIT, kind: str = 'revolute') -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    axis = '' if '<axis' in inner else '<axis xyz="0 1 0"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{axis}{inner}</joint>'


def robot(*parts: str) -> str:
    return f'<robot name="r"><link name="base"/>{"".join(parts)}</robot>'


ONE = robot(link('l1'), joint('j1', 'base', 'l1'))


def with_joint(inner: str, kind: str = 'revolute') -> str:
    return robot(link('l1'), joint('j1', 'base', 'l1', inner, kind))


def findings(text: str, **options: object) -> tuple[Finding, ...]:
    try:
        return read_urdf(text, **options).findings  # type: ignore[arg-type]
    except UrdfError as error:
        assert '\n' not in str(error)
        return tuple(item for item in error.findings if isinstance(item, Finding))


def found(text: str, **options: object) -> list[tuple[str, str, str]]:
    return [(f.severity, f.code, f.subject) for f in findings(text, **options)]


def test_clean_robot_has_no_findings() -> None:
    assert found(ONE) == []


ERRORS = {
    'no links': ('<robot name="r"/>', 'no_link', 'robot'),
    'link twice': (robot(link('l1'), link('l1')), 'name_repeated', "link 'l1'"),
    'joint twice': (
        robot(link('a'), link('b'), joint('j', 'base', 'a'), joint('j', 'base', 'b')),
        'name_repeated',
        "joint 'j'",
    ),
    'parent unknown': (robot(link('l1'), joint('j1', 'x', 'l1')), 'link_unknown', "joint 'j1'"),
    'child unknown': (robot(joint('j1', 'base', 'x')), 'link_unknown', "joint 'j1'"),
    'no parent': (
        ONE.replace('<parent link="base"/>', ''),
        'link_not_given',
        "joint 'j1'",
    ),
    'link without name': (robot('<link/>'), 'name_missing', "/robot[@name='r']/link[2]"),
    'two roots': (robot(link('l1')), 'several_roots', 'robot'),
    'self loop': (robot(link('a'), joint('j', 'a', 'a')), 'kinematic_cycle', "link 'a'"),
    'cycle beside the tree': (
        robot(link('a'), link('b'), joint('ab', 'a', 'b'), joint('ba', 'b', 'a')),
        'kinematic_cycle',
        "link 'a'",
    ),
    'type unknown': (ONE.replace('revolute', 'ball'), 'joint_type_unknown', "joint 'j1'"),
    'type missing': (ONE.replace(' type="revolute"', ''), 'joint_type_unknown', "joint 'j1'"),
    'axis zero, prismatic': (
        with_joint('<axis xyz="0 0 0"/>' + LIMIT, 'prismatic'),
        'axis_zero',
        "joint 'j1'",
    ),
    'axis zero, planar': (with_joint('<axis xyz="0 -0 0"/>', 'planar'), 'axis_zero', "joint 'j1'"),
    'prismatic without limit': (with_joint('', 'prismatic'), 'limit_missing', "joint 'j1'"),
    'limit without effort': (
        with_joint('<limit lower="-1" upper="1" velocity="1"/>'),
        'limit_incomplete',
        "joint 'j1'",
    ),
    'mimic of nobody': (
        with_joint(LIMIT + '<mimic joint="finger"/>'),
        'mimic_target_unknown',
        "joint 'j1'",
    ),
    'mimic without joint': (with_joint(LIMIT + '<mimic/>'), 'mimic_target_unknown', "joint 'j1'"),
    'mimic of itself': (with_joint(LIMIT + '<mimic joint="j1"/>'), 'mimic_self', "joint 'j1'"),
    'mimic circle': (
        robot(
            link('a'),
            link('b'),
            joint('ja', 'base', 'a', LIMIT + '<mimic joint="jb"/>'),
            joint('jb', 'base', 'b', LIMIT + '<mimic joint="ja"/>'),
        ),
        'mimic_cycle',
        "joint 'ja'",
    ),
    'mimic of a fixed joint': (
        robot(
            link('a'),
            link('b'),
            joint('ja', 'base', 'a', '', 'fixed'),
            joint('jb', 'base', 'b', LIMIT + '<mimic joint="ja"/>'),
        ),
        'mimic_type',
        "joint 'jb'",
    ),
    'planar mimic': (
        robot(
            link('a'),
            link('b'),
            joint('ja', 'base', 'a'),
            joint('jb', 'base', 'b', '<mimic joint="ja"/>', 'planar'),
        ),
        'mimic_type',
        "joint 'jb'",
    ),
    'negative mass': (
        robot(link('l1', '-2'), joint('j1', 'base', 'l1')),
        'mass_negative',
        "link 'l1'",
    ),
    'no mass': (ONE.replace('<mass value="1"/>', ''), 'mass_missing', "link 'l1'"),
    'no inertia': (ONE.replace(f'<inertia {EYE}/>', ''), 'inertia_incomplete', "link 'l1'"),
    'half a tensor': (ONE.replace('iyz="0"', ''), 'inertia_incomplete', "link 'l1'"),
}


@pytest.mark.parametrize('name', ERRORS)
def test_errors(name: str) -> None:
    text, code, subject = ERRORS[name]
    errors = [item for item in found(text) if item[0] == 'error']
    assert ('error', code, subject) in errors
    with pytest.raises(UrdfError):
        load_urdf(text)


WARNINGS = {
    'tensor breaks the triangle': (
        robot(link('l1', '1', EYE.replace('izz="1"', 'izz="2.5"')), joint('j1', 'base', 'l1')),
        'inertia_triangle',
        "link 'l1'",
        0.5,
    ),
    'tensor with a negative moment': (
        robot(link('l1', '1', EYE.replace('ixy="0"', 'ixy="1.5"')), joint('j1', 'base', 'l1')),
        'inertia_not_positive',
        "link 'l1'",
        -0.5,
    ),
    'inertia without mass': (
        robot(link('l1', '0'), link('l2'), joint('j1', 'base', 'l1'), joint('j2', 'l1', 'l2')),
        'inertia_without_mass',
        "link 'l1'",
        1.0,
    ),
    'nothing that moves weighs anything': (
        '<robot name="r"><link name="b"/><link name="l"/>' + joint('j', 'b', 'l') + '</robot>',
        'moving_mass_zero',
        'robot',
        0.0,
    ),
    'inertial twice': (
        ONE.replace(
            '</link><joint', f'<inertial><mass value="9"/><inertia {EYE}/></inertial></link><joint'
        ),
        'element_repeated',
        "link 'l1'",
        2.0,
    ),
    'mass twice': (
        ONE.replace('<mass value="1"/>', '<mass value="1"/><mass value="9"/>'),
        'element_repeated',
        "link 'l1'",
        2.0,
    ),
    'range is empty': (
        with_joint('<limit effort="5" velocity="5"/>'),
        'limit_range_empty',
        "joint 'j1'",
        0.0,
    ),
    'safety gain is zero': (
        with_joint(LIMIT + '<safety_controller k_velocity="0"/>'),
        'safety_velocity_gain_zero',
        "joint 'j1'",
        0.0,
    ),
    'robot without name': (ONE.replace(' name="r"', '', 1), 'robot_name_missing', 'robot', None),
}


@pytest.mark.parametrize('name', WARNINGS)
def test_warnings(name: str) -> None:
    text, code, subject, value = WARNINGS[name]
    warnings = [f for f in findings(text) if f.severity == 'warning']
    assert [(f.code, f.subject) for f in warnings] == [(code, subject)]
    # Eigenvalues of a 3 by 3 matrix of ones.
    assert warnings[0].value == (value if value is None else pytest.approx(value, abs=1e-14))
    load_urdf(text)


def test_infos() -> None:
    text = ONE.replace('<mass', '<masss value="2"/><mass').replace('<axis', '<dynamic/><axis')
    assert found(text) == [('info', 'element_ignored', "joint 'j1'")]
    assert found('<robot name="r"><link name="base"/></robot>') == [
        ('info', 'no_moving_joint', 'robot')
    ]


def test_meshes_are_found_beside_the_file_and_in_the_package_around_it(tmp_path: Path) -> None:
    folder = tmp_path / 'arm_description' / 'urdf'
    folder.mkdir(parents=True)
    (folder / 'here.stl').touch()
    (folder.parent / 'there.stl').touch()
    names = ['here.stl', f'file://{folder}/here.stl', 'package://arm_description/there.stl']
    meshes = [f'<visual><geometry><mesh filename="{name}"/></geometry></visual>' for name in names]
    path = folder / 'arm.urdf'
    path.write_text(robot(link('l1').replace('</link>', f'{"".join(meshes)}</link>')))
    joined = path.read_text().replace('</robot>', joint('j1', 'base', 'l1') + '</robot>')
    path.write_text(joined)
    assert found(str(path)) == []
    path.write_text(joined.replace('//arm_description', '//leg_description'))
    (finding,) = findings(str(path))
    assert (finding.code, finding.value) == ('mesh_missing', 1.0)
    assert '1 of 3 mesh files' in finding.message


def only_joint(text: str, **options: object) -> tuple[RobotDescription, float, float]:
    description = read_urdf(text, **options)  # type: ignore[arg-type]
    limits = description.joints[0].limits
    return description, limits.lower, limits.upper


def test_range_of_zero_is_read_as_unlimited_and_another_one_as_it_is() -> None:
    *_, lower, upper = only_joint(with_joint('<limit effort="5" velocity="5"/>'))
    assert (lower, upper) == (-inf, inf)
    text = with_joint('<limit lower="0.5" upper="0.5" effort="5" velocity="5"/>')
    *_, lower, upper = only_joint(text)
    assert (lower, upper) == (0.5, 0.5)


def test_continuous_joint_keeps_effort_and_velocity_but_no_positions() -> None:
    text = with_joint(LIMIT, 'continuous')
    description, lower, upper = only_joint(text)
    assert (lower, upper) == (-inf, inf)
    assert description.joints[0].limits.effort == 50.0
    assert found(text) == []


def test_lenient_reading_warns_instead() -> None:
    text = with_joint('<limit lower="-1" upper="1" velocity="1"/>')
    assert found(text, strict=False) == [('warning', 'limit_incomplete', "joint 'j1'")]
    description, *_ = only_joint(text, strict=False)
    assert isnan(description.joints[0].limits.effort)
    text = ONE.replace('iyz="0"', '')
    assert found(text, strict=False) == [('warning', 'inertia_incomplete', "link 'l1'")]


def test_unresolved_mimic_may_move_on_its_own() -> None:
    text = with_joint(LIMIT + '<mimic joint="Left_j0"/>')
    assert found(text, unknown_mimic='independent') == [
        ('warning', 'mimic_independent', "joint 'j1'")
    ]
    assert load_urdf(text, unknown_mimic='independent').joint_names == ('j1',)
    itself = with_joint(LIMIT + '<mimic joint="j1"/>')
    assert ('error', 'mimic_self', "joint 'j1'") in found(itself, unknown_mimic='independent')
    with pytest.raises(ConfigurationError, match='unknown_mimic'):
        read_urdf(ONE, unknown_mimic='maybe')


def test_mimic_between_continuous_joints_is_fine() -> None:
    text = robot(
        link('a'),
        link('b'),
        joint('ja', 'base', 'a', '', 'continuous'),
        joint('jb', 'a', 'b', '<mimic joint="ja" multiplier="-1"/>', 'continuous'),
    )
    assert load_urdf(text).joint_names == ('ja',)


def test_mimic_and_axis_of_a_fixed_joint_mean_nothing() -> None:
    text = with_joint('<axis xyz="0 0 0"/><mimic joint="gone"/>', 'fixed')
    description = read_urdf(text)
    assert description.joints[0].type is JointType.FIXED
    assert description.joints[0].mimic is None


def test_rods_and_points_are_bodies() -> None:
    for tensor in ('ixx="0" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"', EYE.replace('1', '0')):
        assert found(robot(link('l1', '1', tensor), joint('j1', 'base', 'l1'))) == []


def test_tiny_and_huge_axes_are_normalised() -> None:
    for size in ('1e-200', '1e200'):
        axis = f'<axis xyz="0 {size} 0"/>'
        description = read_urdf(with_joint(axis + LIMIT))
        assert tuple(description.joints[0].axis) == (0.0, 1.0, 0.0)
    assert found(with_joint('<axis xyz="0.5773503 0.5773503 0.5773503"/>' + LIMIT)) == []


def test_every_error_is_listed_not_only_the_first() -> None:
    text = ONE.replace('value="1"', 'value="1,0"').replace('upper="1"', 'upper="nan"')
    assert [code for _, code, _ in found(text)] == ['number_wrong', 'number_wrong']
    with pytest.raises(UrdfError, match='and 1 more error'):
        read_urdf(text)


def test_codes_are_in_the_table() -> None:
    texts = [text for text, *_ in (*ERRORS.values(), *WARNINGS.values())]
    used = {f.code for text in texts for f in findings(text)}
    assert used <= set(FINDING_CODES)
    assert all(severity in ('error', 'warning', 'info') for severity, _ in FINDING_CODES.values())


def test_long_fixed_chain_needs_no_recursion() -> None:
    parts = [joint(f'j{k}', f'k{k}', f'k{k + 1}', '', 'fixed') for k in range(3000)]
    links = [f'<link name="k{k}"/>' for k in range(3001)]
    text = f'<robot name="r">{"".join(links)}{"".join(reversed(parts))}</robot>'
    assert len(read_urdf(text).joints) == 3000
