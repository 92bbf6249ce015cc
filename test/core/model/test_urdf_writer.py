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

from __future__ import annotations

import codecs
import difflib
from pathlib import Path
import sys

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import (
    ModelError,
    NonFiniteError,
    UnknownFrameError,
    UnknownJointError,
    UrdfError,
)
from robot_dynamics_ros.core.model.description import Inertial
from robot_dynamics_ros.core.model.urdf import read_urdf
from robot_dynamics_ros.core.model.urdf_writer import rewrite_urdf, rewrite_urdf_file

ROBOTS = Path(sys.prefix).glob('lib*/python3*/site-packages/cmeel.prefix/share/example-robot-data')
TEXT = """<?xml version="1.0"?>
<!-- a comment with <link name="upper"/> in it -->
<robot name='r' xmlns:x="http://x">
  <link name="base"/>
  <link   name = "upper" >
\t<inertial>
      <mass  value='2.50' />   <!-- weighed -->
      <origin xyz="0.1 0 0.30" rpy="0 0 1.5707963267948966"/>
      <inertia ixx="0.03" ixy="0" ixz="0.0" iyy="0.02" iyz="0" izz="1e-2"/>
    </inertial>
    <visual><geometry><box size="1 1 1"/></geometry></visual>
  </link>
  <link name="bare"><visual/></link>
  <joint name="j1" type="continuous">
    <parent link="base"/><child link="upper"/>
    <dynamics friction="0.10" damping='1.0'/>
  </joint>
  <joint type="continuous" name="j2">
    <parent link="upper"/>
    <child link="bare"/>
  </joint>
  <joint name="weld" type="fixed"><parent link="bare"/><child link="tip"/></joint>
  <link name="tip"></link>
  <x:extra a = "1>2" />
</robot>
<!-- the end -->
"""


def inertial(mass: float, com: object, moments: object) -> Inertial:
    return Inertial(mass, np.asarray(com), np.diag(np.asarray(moments, dtype=float)))


def of_link(text: str, name: str) -> Inertial:
    found = next(link.inertial for link in read_urdf(text).links if link.name == name)
    assert found is not None
    return found


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    diff = list(difflib.ndiff(before.splitlines(True), after.splitlines(True)))
    return [d[2:] for d in diff if d[0] == '-'], [d[2:] for d in diff if d[0] == '+']


def test_values_that_are_there_already_change_no_byte() -> None:
    description = read_urdf(TEXT)
    same = {link.name: link.inertial for link in description.links if link.inertial}
    damping = {j.name: j.damping for j in description.joints if j.type.value != 'fixed'}
    friction = {j.name: j.friction for j in description.joints if j.type.value != 'fixed'}
    assert rewrite_urdf(TEXT, inertials=same, damping=damping, friction=friction) == TEXT
    assert rewrite_urdf(TEXT) == TEXT


def test_only_the_attributes_that_change_are_written() -> None:
    old = of_link(TEXT, 'upper')
    heavier = Inertial(3.25, old.com, old.inertia)
    text = rewrite_urdf(TEXT, inertials={'upper': heavier}, friction={'j1': 0.125})
    assert text == TEXT.replace("'2.50'", "'3.25'").replace('friction="0.10"', 'friction="0.125"')


def test_rotation_of_the_inertial_frame_stays_and_the_tensor_is_turned_into_it() -> None:
    new = inertial(2.5, (0.1, 0.0, 0.3), (0.01, 0.02, 0.025))
    text = rewrite_urdf(TEXT, inertials={'upper': new})
    assert 'rpy="0 0 1.5707963267948966"' in text
    # Rounding of one rotation and back, about 1e-17 on moments of 1e-2.
    np.testing.assert_allclose(of_link(text, 'upper').inertia, new.inertia, atol=1e-16)
    before, after = changed_lines(TEXT, text)
    assert len(before) == len(after) == 1
    assert 'ixx="0.02' in after[0]


def test_missing_elements_are_added_where_they_belong() -> None:
    rod = inertial(0.5, (0.0, 0.0, 0.25), (0.01, 0.01, 0.0))
    text = rewrite_urdf(
        TEXT, inertials={'bare': rod, 'tip': rod, 'base': rod}, damping={'j2': 0.5, 'j1': 2.0}
    )
    for name in ('bare', 'tip', 'base'):
        assert of_link(text, name).mass == 0.5
        np.testing.assert_array_equal(of_link(text, name).inertia, rod.inertia)
        np.testing.assert_array_equal(of_link(text, name).com, rod.com)
    assert '    <child link="bare"/>\n    <dynamics damping="0.5"/>\n  </joint>' in text
    assert '<dynamics friction="0.10" damping=\'2.0\'/>' in text
    assert '</inertial><visual/></link>' in text
    joints = {joint.name: joint for joint in read_urdf(text).joints}
    assert (joints['j1'].damping, joints['j1'].friction) == (2.0, 0.1)
    assert (joints['j2'].damping, joints['j2'].friction) == (0.5, 0.0)


def test_zero_friction_adds_nothing() -> None:
    assert rewrite_urdf(TEXT, damping={'j2': 0.0}, friction={'j2': 0.0}) == TEXT


def test_missing_origin_is_added_only_for_a_new_centre_of_mass() -> None:
    text = TEXT.replace('      <origin xyz="0.1 0 0.30" rpy="0 0 1.5707963267948966"/>\n', '')
    old = of_link(text, 'upper')
    assert rewrite_urdf(text, inertials={'upper': old}) == text
    moved = rewrite_urdf(
        text, inertials={'upper': Inertial(2.5, np.array([0.2, 0, 0]), old.inertia)}
    )
    assert moved == text.replace('      <mass', '      <origin xyz="0.2 0.0 0.0"/>\n      <mass')


def test_negative_friction_in_the_file_can_be_mended() -> None:
    text = TEXT.replace('friction="0.10"', 'friction="-0.10"')
    assert 'friction="0.0"' in rewrite_urdf(text, friction={'j1': 0.0})
    assert rewrite_urdf(text, damping={'j1': 1.0}) == text


@pytest.mark.parametrize(
    ('value', 'text'),
    [
        (inertial(-1.0, (0, 0, 0), (1, 1, 1)), 'negative'),
        (inertial(1.0, (0, 0, 0), (1, 1, 2.1)), 'triangle inequality by 0.1'),
        (inertial(1.0, (0, 0, 0), (1, 1, -0.1)), 'negative principal moment -0.1'),
        (inertial(0.0, (0, 0, 0), (1, 1, 1)), 'without mass'),
        (Inertial(1.0, np.zeros(3), np.eye(3) + np.eye(3, k=1)), 'not symmetric'),
    ],
    ids=lambda value: value if isinstance(value, str) else '',
)
def test_impossible_bodies_are_refused(value: Inertial, text: str) -> None:
    with pytest.raises(ModelError, match=text):
        rewrite_urdf(TEXT, inertials={'upper': value})


@pytest.mark.parametrize('value', [-0.1, float('nan'), float('inf')])
def test_impossible_friction_is_refused(value: float) -> None:
    with pytest.raises(ModelError, match="joint 'j1': damping .* is not zero or more"):
        rewrite_urdf(TEXT, damping={'j1': value})
    with pytest.raises(ModelError, match="joint 'j1': friction .* is not zero or more"):
        rewrite_urdf(TEXT, friction={'j1': value})


def test_other_errors_name_their_object() -> None:
    with pytest.raises(NonFiniteError, match="mass of link 'upper'"):
        rewrite_urdf(TEXT, inertials={'upper': inertial(float('nan'), (0, 0, 0), (1, 1, 1))})
    with pytest.raises(UnknownFrameError, match="'no_link'"):
        rewrite_urdf(TEXT, inertials={'no_link': inertial(1.0, (0, 0, 0), (1, 1, 1))})
    with pytest.raises(UnknownJointError, match="'no_joint'"):
        rewrite_urdf(TEXT, friction={'no_joint': 1.0})
    with pytest.raises(ModelError, match="joint 'weld' is fixed"):
        rewrite_urdf(TEXT, friction={'weld': 1.0})
    with pytest.raises(UrdfError, match='DOCTYPE'):
        rewrite_urdf('<!DOCTYPE robot><robot name="r"/>')
    with pytest.raises(UrdfError, match='expand it first'):
        rewrite_urdf(TEXT.replace('x:extra', 'xacro:extra'), friction={'j1': 1.0})


@pytest.mark.parametrize(
    ('encoding', 'mark', 'newline'),
    [
        ('utf-8', b'', '\n'),
        ('utf-8', codecs.BOM_UTF8, '\r\n'),
        ('iso-8859-1', b'', '\r\n'),
        ('utf-16-le', codecs.BOM_UTF16_LE, '\n'),
    ],
)
def test_file_keeps_encoding_line_ends_and_mark(
    tmp_path: Path, encoding: str, mark: bytes, newline: str
) -> None:
    name = 'utf-16' if encoding.startswith('utf-16') else encoding
    text = TEXT.replace('"1.0"?>', f'"1.0" encoding="{name}"?>').replace('weighed', 'gewogen: ö')
    data = mark + text.replace('\n', newline).encode(encoding)
    path, target = tmp_path / 'arm.urdf', tmp_path / 'new.urdf'
    path.write_bytes(data)
    rewrite_urdf_file(path, target)
    assert target.read_bytes() == data
    rewrite_urdf_file(path, path, damping={'j2': 0.5})
    added = f'{newline}    <dynamics damping="0.5"/>'.encode(encoding)
    place = '<child link="bare"/>'.encode(encoding)
    assert path.read_bytes() == data.replace(place, place + added)
    assert sorted(tmp_path.iterdir()) == [path, target]


def test_public_robots_survive_a_change_of_everything() -> None:
    folder = next(ROBOTS, None)
    if folder is None:
        pytest.skip('the wheel example-robot-data is not installed')
    for name in ('ur_description/urdf/ur5_robot.urdf', 'panda_description/urdf/panda.urdf'):
        text = (folder / 'robots' / name).read_text()
        description = read_urdf(text)
        moving = [j.name for j in description.joints if j.type.value != 'fixed']
        inertials = {
            link.name: Inertial(link.inertial.mass + 0.1, 0.9 * link.inertial.com, np.eye(3))
            for link in description.links
            if link.inertial is not None
        }
        new = rewrite_urdf(
            text,
            inertials=inertials,
            damping=dict.fromkeys(moving, 0.25),
            friction=dict.fromkeys(moving, 0.5),
        )
        result = read_urdf(new)
        for link in result.links:
            if link.name in inertials:
                assert link.inertial is not None
                assert link.inertial.mass == inertials[link.name].mass
                np.testing.assert_array_equal(link.inertial.com, inertials[link.name].com)
                # One rotation of the unit tensor and back.
                np.testing.assert_allclose(link.inertial.inertia, np.eye(3), atol=1e-15)
        assert all(j.damping == 0.25 for j in result.joints if j.name in moving)
        assert len(result.links) == len(description.links)
