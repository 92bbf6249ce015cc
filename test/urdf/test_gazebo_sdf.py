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
What Gazebo makes of the world and of the ES5 file, by its own parser.

The parser is that of Debian's and Ubuntu's ``ign sdf`` or Gazebo's ``gz sdf``. Its SDF is read
here as text: every mass, centre, tensor, joint and limit is that of the URDF. (A link without mass
at the root, as the base once was, makes it drop the whole arm.)

"""

from __future__ import annotations

from pathlib import Path
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import numpy as np
from numpy.typing import NDArray
import pytest
import xacro

from robot_dynamics_ros.core.model.description import Joint, JointType, RobotDescription
from robot_dynamics_ros.core.model.urdf import read_urdf
from robot_dynamics_ros.core.spatial.rotation import rotation_from_rpy
from robot_dynamics_ros.resources import urdf_path

Array = NDArray[np.float64]
ROOT = Path(__file__).resolve().parents[2]
VARIANTS: dict[str, dict[str, str]] = {
    'as_it_is': {},
    'cylinder': {'inertia_set': 'es5_cylinder'},
    'gz_ros2_control': {
        'hardware_plugin': 'gz_ros2_control/GazeboSimSystem',
        'controllers_file': 'controllers.yaml',
        'namespace': 'arm',
    },
    'gazebo_topics': {'hardware_plugin': 'none', 'gazebo_topics': 'true'},
}
DIGITS = 1e-12  # relative; the parser writes all digits


@pytest.fixture(scope='module')
def parser() -> str:
    for program in ('gz', 'ign'):
        if shutil.which(program) and run(program, '--versions').returncode == 0:
            return program
    pytest.skip('the sdf parser of Gazebo is not installed')


def run(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, 'sdf', *words], capture_output=True, text=True, timeout=60, check=False
    )


def expanded(variant: str, folder: Path) -> Path:
    document = xacro.process_file(
        str(urdf_path('es5.urdf.xacro')), mappings=dict(VARIANTS[variant])
    )
    path = folder / 'es5.urdf'
    path.write_text(document.toxml(), encoding='utf-8')
    return path


def numbers(text: str | None) -> Array:
    return np.array([float(word) for word in str(text).split()])


def pose(element: ElementTree.Element) -> tuple[Array, Array]:
    """Return translation and rotation of an element in the frame that its pose names."""
    values = numbers(element.findtext('pose') or '0 0 0 0 0 0')
    return values[:3], rotation_from_rpy(*values[3:])


def tensor(element: ElementTree.Element) -> Array:
    i = {name: float(element.findtext(f'inertia/{name}') or 0.0) for name in ENTRIES}
    return np.array(
        [
            [i['ixx'], i['ixy'], i['ixz']],
            [i['ixy'], i['iyy'], i['iyz']],
            [i['ixz'], i['iyz'], i['izz']],
        ]
    )


ENTRIES = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


@pytest.mark.parametrize('name', [path.name for path in (ROOT / 'worlds').glob('*.sdf')])
def test_world_is_valid(parser: str, name: str) -> None:
    checked = run(parser, '--check', str(ROOT / 'worlds' / name))
    assert checked.stdout.strip() == 'Valid.'


@pytest.fixture(scope='module', params=VARIANTS)
def pair(
    request: pytest.FixtureRequest, parser: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[RobotDescription, ElementTree.Element]:
    """Return the description as we read it and Gazebo's model, once it is found valid."""
    path = expanded(request.param, tmp_path_factory.mktemp('es5'))
    assert run(parser, '--check', str(path)).stdout.strip() == 'Valid.'
    model = ElementTree.fromstring(run(parser, '-p', str(path)).stdout).find('model')
    assert model is not None
    return read_urdf(path), model


def test_every_mass_and_inertia_is_kept(
    pair: tuple[RobotDescription, ElementTree.Element],
) -> None:
    description, model = pair
    theirs = {link.get('name'): link for link in model.findall('link')}
    ours = {link.name: link.inertial for link in description.links if link.inertial is not None}
    assert set(theirs) == set(ours) == {'base_link', *(f'link_{i}' for i in range(1, 7))}
    for name, inertial in ours.items():
        element = theirs[name].find('inertial')
        assert element is not None
        com, rotation = pose(element)
        assert float(str(element.findtext('mass'))) == pytest.approx(inertial.mass, rel=DIGITS)
        np.testing.assert_allclose(com, inertial.com, rtol=DIGITS, atol=1e-12)
        turned = rotation @ tensor(element) @ rotation.T
        np.testing.assert_allclose(turned, inertial.inertia, rtol=DIGITS, atol=1e-12)


def kept(description: RobotDescription) -> dict[str, Joint]:
    """Return the joints that stay: fixed joints of links without mass are lumped away."""
    return {
        joint.name: joint
        for joint in description.joints
        if joint.type is not JointType.FIXED or joint.parent == 'world'
    }


def test_every_joint_is_kept(pair: tuple[RobotDescription, ElementTree.Element]) -> None:
    description, model = pair
    ours = kept(description)
    theirs = {joint.get('name'): joint for joint in model.findall('joint')}
    assert set(theirs) == set(ours)
    for name, joint in ours.items():
        element = theirs[name]
        assert element.get('type') == joint.type.value
        assert (element.findtext('parent'), element.findtext('child')) == (
            joint.parent,
            joint.child,
        )
        translation, rotation = pose(element)
        place = element.find('pose')
        assert place is not None
        expected = '__model__' if joint.parent == 'world' else joint.parent
        assert place.get('relative_to') == expected
        np.testing.assert_allclose(translation, joint.translation, rtol=DIGITS, atol=1e-12)
        np.testing.assert_allclose(rotation, joint.rotation, rtol=DIGITS, atol=1e-9)
        if joint.type is JointType.FIXED:
            continue
        np.testing.assert_allclose(numbers(element.findtext('axis/xyz')), joint.axis, atol=1e-12)
        limits = {
            'lower': joint.limits.lower,
            'upper': joint.limits.upper,
            'effort': joint.limits.effort,
            'velocity': joint.limits.velocity,
        }
        for key, value in limits.items():
            found = float(str(element.findtext(f'axis/limit/{key}')))
            assert found == pytest.approx(value, rel=DIGITS)
        for key, value in {'damping': joint.damping, 'friction': joint.friction}.items():
            found = float(str(element.findtext(f'axis/dynamics/{key}')))
            assert found == pytest.approx(value, rel=DIGITS)


def test_links_lie_in_the_frames_of_their_joints(
    pair: tuple[RobotDescription, ElementTree.Element],
) -> None:
    description, model = pair
    by_child = {joint.child: joint.name for joint in kept(description).values()}
    for link in model.findall('link'):
        place = link.find('pose')
        if place is None:
            assert link.get('name') == 'base_link'
            continue
        assert place.get('relative_to', '') == by_child.get(str(link.get('name')), '')
        assert np.abs(numbers(place.text)).max() < 1e-12


def test_systems_are_those_of_the_variant(
    pair: tuple[RobotDescription, ElementTree.Element], request: pytest.FixtureRequest
) -> None:
    _, model = pair
    found = [plugin.get('filename') for plugin in model.findall('plugin')]
    wanted = {
        'gz_ros2_control': ['gz_ros2_control-system'],
        'gazebo_topics': [
            *6 * ['gz-sim-apply-joint-force-system'],
            'gz-sim-joint-state-publisher-system',
        ],
    }
    assert found == wanted.get(request.node.callspec.params['pair'], [])
