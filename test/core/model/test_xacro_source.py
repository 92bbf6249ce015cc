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

import os
from pathlib import Path

import pytest

from robot_dynamics_ros.core.exceptions import UrdfError
from robot_dynamics_ros.core.model.urdf import read_urdf

XACRO = """<?xml version="1.0"?>
<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="mass" default="2"/>
  <xacro:arg name="long" default="false"/>
  <xacro:include filename="macros.xacro"/>
  <link name="base"/>
  <xacro:arm mass="$(arg mass)" length="${1.0 if '$(arg long)' == 'true' else 0.5}"/>
</robot>
"""
MACROS = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="hand" default="none"/>
  <xacro:macro name="arm" params="mass length">
    <link name="arm"><inertial><origin xyz="${length/2} 0 0"/><mass value="${mass}"/>
      <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>
    <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
  </xacro:macro>
</robot>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / 'arm.urdf.xacro').write_text(XACRO)
    (tmp_path / 'macros.xacro').write_text(MACROS)
    return tmp_path


def mass_and_com(source: str | Path, **arguments: object) -> tuple[float, float]:
    inertial = read_urdf(source, xacro_args=arguments or None).links[1].inertial
    assert inertial is not None
    return inertial.mass, float(inertial.com[0])


def test_arguments_reach_the_file(folder: Path) -> None:
    path = folder / 'arm.urdf.xacro'
    assert mass_and_com(path) == (2.0, 0.25)
    assert mass_and_com(path, mass=3.5, long=True) == (3.5, 0.5)
    assert mass_and_com(path, hand='gripper') == (2.0, 0.25)
    assert mass_and_com(path) == (2.0, 0.25)  # nothing of the calls before is left


def test_includes_are_found_from_any_folder(folder: Path) -> None:
    before = Path.cwd()
    os.chdir('/')
    try:
        assert mass_and_com(str(folder / 'arm.urdf.xacro')) == (2.0, 0.25)
    finally:
        os.chdir(before)


def test_text_with_xacro_elements_is_expanded() -> None:
    text = XACRO.replace('<xacro:include filename="macros.xacro"/>', '').replace(
        '<link name="base"/>',
        MACROS.split('\n', 1)[1].rsplit('</robot>', 1)[0] + '<link name="base"/>',
    )
    assert mass_and_com(text, mass='7') == (7.0, 0.25)


def refused(source: str | Path, **arguments: object) -> str:
    with pytest.raises(UrdfError) as caught:
        read_urdf(source, xacro_args=arguments or None)
    assert '\n' not in str(caught.value)
    return str(caught.value)


def test_unknown_argument_is_refused_with_the_choices(folder: Path) -> None:
    message = refused(folder / 'arm.urdf.xacro', mas=3)
    assert "'mas' is not declared; the file has: hand, long, mass" in message


def test_arguments_need_a_xacro_file(folder: Path) -> None:
    assert 'no xacro file' in refused('<robot name="r"><link name="base"/></robot>', mass=1)


@pytest.mark.parametrize(
    ('old', 'new', 'text'),
    [
        ('macros.xacro', 'missing.xacro', 'missing.xacro'),
        ('xacro:arm mass', 'xacro:leg mass', 'leg'),
        ('$(arg mass)', '${no_such_name}', 'no_such_name'),
        ('$(arg mass)', '${1/0}', 'division'),
        ('$(arg mass)', '$(find no_such_package)', 'xacro: '),
        ('length="', 'lengths="', 'length'),
        ('$(arg mass)', '2,5', "'2,5' is not a plain decimal number"),
    ],
)
def test_xacro_errors_are_one_line(folder: Path, old: str, new: str, text: str) -> None:
    path = folder / 'arm.urdf.xacro'
    path.write_text(XACRO.replace(old, new))
    assert text in refused(path)


def test_errors_in_included_files_name_them(folder: Path) -> None:
    (folder / 'macros.xacro').write_text('<robot><broken></robot>')
    assert 'macros.xacro' in refused(folder / 'arm.urdf.xacro')
    (folder / 'macros.xacro').write_text('<!DOCTYPE robot><robot/>')
    message = refused(folder / 'arm.urdf.xacro')
    assert 'macros.xacro' in message
    assert 'DOCTYPE' in message


def test_optional_include_may_be_missing(folder: Path) -> None:
    path = folder / 'arm.urdf.xacro'
    extra = '<xacro:include filename="more.xacro" optional="true"/><link name="base"/>'
    path.write_text(XACRO.replace('<link name="base"/>', extra))
    assert mass_and_com(path) == (2.0, 0.25)


def test_xacro_prints_nothing(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / 'macros.xacro').write_text(
        MACROS.replace('<link', '<xacro:property name="pi" value="3"/><link')
    )
    read_urdf(folder / 'arm.urdf.xacro')
    assert capfd.readouterr() == ('', '')
