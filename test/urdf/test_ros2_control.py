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

"""The ros2_control block of the ES5 file, which the model does not read."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import xacro

from robot_dynamics_ros.resources import urdf_path


def expanded(**arguments: str) -> ElementTree.Element:
    document = xacro.process_file(str(urdf_path('es5.urdf.xacro')), mappings=arguments)
    return ElementTree.fromstring(document.toxml())


def test_block_takes_the_plugin_and_commands_effort() -> None:
    robot = expanded(hardware_plugin='vendor/Es5System')
    block = robot.find('ros2_control')
    assert block is not None
    assert block.findtext('hardware/plugin') == 'vendor/Es5System'
    names = [joint.get('name') for joint in block.findall('joint')]
    assert names == [joint.get('name') for joint in robot.findall("joint[@type='revolute']")]
    for joint in block.findall('joint'):
        commands = [element.get('name') for element in joint.findall('command_interface')]
        states = [element.get('name') for element in joint.findall('state_interface')]
        assert commands == ['effort']
        assert states == ['position', 'velocity', 'effort']


def test_block_is_for_mock_components_by_default_and_can_be_left_out() -> None:
    assert expanded().findtext('.//plugin') == 'mock_components/GenericSystem'
    assert expanded(hardware_plugin='none').find('ros2_control') is None


def test_every_moving_link_can_be_seen_and_touched() -> None:
    robot = expanded()
    for number in range(1, 7):
        link = robot.find(f"link[@name='link_{number}']")
        assert link is not None
        assert link.find('visual/geometry/cylinder') is not None
        assert link.find('collision/geometry/cylinder') is not None
