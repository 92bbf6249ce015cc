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

from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import ConfigurationError, NotNumericError
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import (
    Inertial,
    Joint,
    JointType,
    Link,
    RobotDescription,
)

NAMES = ('j1', 'j2')


def model_with(damping: float, friction: float) -> Any:
    inertial = Inertial(1.0, np.zeros(3), np.eye(3))
    joint = Joint('j1', JointType.REVOLUTE, 'base', 'link', damping=damping, friction=friction)
    return build_model(
        RobotDescription('pendulum', (Link('base'), Link('link', inertial)), (joint,))
    )


def smooth(**changes: Any) -> FrictionModel:
    values: dict[str, Any] = {
        'joint_names': NAMES,
        'viscous': [0.7, 0.2],
        'coulomb_positive': [0.4, 0.5],
        'coulomb_negative': [0.4, 0.3],
        'smoothing_velocity': 0.05,
    }
    values.update(changes)
    return FrictionModel(**values)


def test_torque_has_the_closed_form_and_the_sign_of_the_velocity() -> None:
    law = smooth()
    v = np.array([0.03, -0.03])
    expected = [0.7 * 0.03 + 0.4 * np.tanh(0.6), -0.2 * 0.03 - 0.3 * np.tanh(0.6)]
    np.testing.assert_allclose(law.torque(v), expected, rtol=1e-15)
    many = np.random.default_rng(0).normal(size=(1000, 2))
    assert (many * law.torque(many) >= 0.0).all()
    np.testing.assert_allclose(law.torque(many)[3], law.torque(many[3]), rtol=1e-15)


def test_far_from_zero_it_is_coulomb_and_viscous_friction() -> None:
    # A36: damping 0.7, friction 0.4, at 1 rad/s; tanh(20) is 1 to 1e-17.
    assert smooth().torque(np.array([1.0, 0.0]))[0] == pytest.approx(1.1, rel=1e-15)


def test_c07_noise_near_zero_does_not_chatter() -> None:
    rng = np.random.default_rng(1)
    v = rng.uniform(-0.01, 0.01, (5000, 2))
    law = smooth()
    steps = np.abs(np.diff(law.torque(v), axis=0)).max(axis=0)
    # Slope at most viscous + level / v_s, on a velocity step of at most 0.02; sign() gives 0.8.
    assert (steps <= (law.viscous + law.coulomb_positive / 0.05) * 0.02).all()
    assert law.torque(np.zeros(2)).tolist() == [0.0, 0.0]


def test_urdf_values_are_taken_over() -> None:
    model = model_with(0.7, 0.4)
    law = FrictionModel.from_model(model, smoothing_velocity=0.01)
    assert law.joint_names == ('j1',)
    assert law.torque(np.array([-1.0]))[0] == pytest.approx(-1.1, rel=1e-15)
    dry = DryFriction.from_model(model)
    assert dry.torque(np.array([-1.0]))[0] == pytest.approx(-1.1, rel=1e-15)
    for cls in (FrictionModel, DryFriction):
        with pytest.raises(ConfigurationError, match="joint 'j1': viscous is -0.7"):
            cls.from_model(model_with(-0.7, 0.4))  # A36b: negative friction


@pytest.mark.parametrize('cls', [FrictionModel, DryFriction])
def test_description_that_states_no_friction_is_no_friction_model(cls: Any) -> None:
    with pytest.raises(ConfigurationError, match="'pendulum' states neither damping.*file"):
        cls.from_model(model_with(0.0, 0.0))
    assert cls.from_model(model_with(0.7, 0.0)).viscous.tolist() == [0.7]
    assert cls.from_model(model_with(0.0, 0.4)).coulomb_positive.tolist() == [0.4]
    nothing_moves = build_model(RobotDescription('table', (Link('base'),), ()))
    assert cls.from_model(nothing_moves).joint_names == ()


@pytest.mark.parametrize('value', ['0.7', [0.7, None], [0.7, 0.2j]])
def test_values_that_are_not_numbers_are_refused_by_name(value: Any) -> None:
    with pytest.raises(NotNumericError, match='^viscous '):
        smooth(viscous=value)


@pytest.mark.parametrize(
    ('changes', 'match'),
    [
        ({'viscous': [0.7, -0.1]}, "joint 'j2': viscous is -0.1, expected >= 0"),
        ({'coulomb_positive': [nan, 0.1]}, "joint 'j1': coulomb_positive is nan"),
        ({'coulomb_negative': inf}, 'coulomb_negative is inf'),
        ({'smoothing_velocity': 0.0}, 'smoothing_velocity is 0, expected > 0'),
        ({'viscous': [1.0, 1.0, 1.0]}, r'viscous has shape \(3,\)'),
    ],
)
def test_impossible_values_are_refused(changes: dict[str, Any], match: str) -> None:
    with pytest.raises(ConfigurationError, match=match):
        smooth(**changes)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / 'friction.yaml'
    path.write_text(text)
    return path


def test_file_gives_both_forms(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        'friction:\n'
        '  j2: {viscous: 2, coulomb_positive: 3.0, coulomb_negative: 2.5, static_ratio: 1.3,\n'
        '       stribeck_velocity: 0.02, smoothing_velocity: 0.1}\n'
        '  j1: {viscous: 8.0, coulomb: 7.0}\n',
    )
    law = FrictionModel.from_file(path, NAMES)
    assert law.viscous.tolist() == [8.0, 2.0]
    assert law.coulomb_positive.tolist() == [7.0, 3.0]
    assert law.coulomb_negative.tolist() == [7.0, 2.5]
    assert law.smoothing_velocity.tolist() == [0.05, 0.1]
    dry = DryFriction.from_file(path, NAMES)
    assert dry.static_ratio.tolist() == [1.0, 1.3]
    assert dry.stribeck_velocity.tolist() == [0.05, 0.02]


BOTH = '  j1: {viscous: 1, coulomb: 1}\n'


@pytest.mark.parametrize(
    ('text', 'match'),
    [
        ('', "expected a mapping of joints under 'friction'"),
        ('friction: [1, 2]\n', "expected a mapping of joints under 'friction'"),
        ('friction:\n' + BOTH, 'no entry for j2'),
        ('friction:\n' + BOTH + BOTH.replace('1:', '2:') + '  j9: {}\n', 'unknown joint j9'),
        ('friction:\n' + BOTH + BOTH, 'j1 stands twice'),
        ('friction:\n' + BOTH + '  j2: 3\n', "joint 'j2': expected keys"),
        ('friction:\n' + BOTH + '  j2: {viscous: -1, coulomb: 1}\n', 'viscous is -1, expected'),
        ('friction:\n' + BOTH + '  j2: {viscous: .nan, coulomb: 1}\n', 'viscous is nan'),
        ('friction:\n' + BOTH + '  j2: {viscous: yes, coulomb: 1}\n', 'viscous is True'),
        ('friction:\n' + BOTH + '  j2: {viscous: 1}\n', "joint 'j2': coulomb_positive is missing"),
        ('friction:\n' + BOTH + '  j2: {viscous: 1, dry: 1}\n', "unknown key 'dry'; there are"),
        ('friction:\n' + BOTH + '  j2: {viscous: 1, coulomb: 1, coulomb_negative: 1}\n', 'either'),
        (
            'friction:\n' + BOTH + '  j2: {viscous: 1, coulomb: 1, static_ratio: 0.9}\n',
            'static_ratio is 0.9, expected >= 1',
        ),
        ('friction: {j1: [}\n', 'cannot be read'),
    ],
)
def test_bad_files_are_refused_in_one_line(tmp_path: Path, text: str, match: str) -> None:
    path = write(tmp_path, text)
    for cls in (FrictionModel, DryFriction):
        with pytest.raises(ConfigurationError, match=match) as caught:
            cls.from_file(path, NAMES)
        assert '\n' not in str(caught.value)
        assert 'friction.yaml' in str(caught.value)


def test_missing_or_binary_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match='cannot be read'):
        FrictionModel.from_file(tmp_path / 'none.yaml', NAMES)
    binary = tmp_path / 'binary.yaml'
    binary.write_bytes(b'\xff\xfe\x00')
    with pytest.raises(ConfigurationError, match='cannot be read'):
        FrictionModel.from_file(binary, NAMES)
