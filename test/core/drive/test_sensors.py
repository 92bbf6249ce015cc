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

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.drive.sensor_file import SensorSettings
from robot_dynamics_ros.core.drive.sensors import (
    Delay,
    Encoder,
    JointSensors,
    MessageLoss,
    StampJitter,
    WhiteNoise,
)
from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
    NotNumericError,
)
from robot_dynamics_ros.resources import config_path

JOINTS = tuple(f'joint_{i}' for i in range(1, 7))


def settings(**changes: Any) -> SensorSettings:
    values: dict[str, Any] = {
        'joint_names': ('a', 'b'),
        'encoder_resolution': [1e-3, 0.0],
        'velocity_noise': [2e-3, 0.0],
        'effort_noise': [0.3, 0.0],
    }
    values.update(changes)
    return SensorSettings(**values)


def test_es5_has_the_assumed_values() -> None:
    es5 = SensorSettings.from_file(config_path('es5_sensors.yaml'), JOINTS)
    np.testing.assert_allclose(es5.encoder_resolution, 2.0 * np.pi / 2**20, rtol=1e-15)
    assert es5.velocity_noise.tolist() == [2e-3] * 6
    assert es5.effort_noise.tolist() == [0.3] * 3 + [0.1] * 3
    assert (es5.effort_delay, es5.loss_probability, es5.stamp_jitter) == (1.0, 0.005, 2e-4)
    assert es5.is_assumed


def test_encoder_rounds_to_the_nearest_mark() -> None:
    encoder = Encoder([0.01, 0.0])
    assert encoder.step(np.array([0.0149, 0.0149])).tolist() == pytest.approx([0.01, 0.0149])
    assert encoder.step(np.array([-0.0151, -0.1])).tolist() == pytest.approx([-0.02, -0.1])
    q = np.linspace(-1.0, 1.0, 20011)[:, np.newaxis] * np.ones(2)
    error = np.array([encoder.step(row) for row in q])[:, 0] - q[:, 0]
    assert np.abs(error).max() <= 0.005 + 1e-12
    assert error.std() == pytest.approx(0.01 / np.sqrt(12.0), rel=0.01)  # uniform


def test_noise_has_its_size_and_is_white() -> None:
    noise = WhiteNoise([2e-3, 0.0], np.random.default_rng(0))
    x = np.array([noise.step(np.array([1.0, 5.0])) for _ in range(20000)])
    assert x[:, 0].std() == pytest.approx(2e-3, rel=0.02)  # 4 sigma of a deviation: 0.02
    assert x[:, 0].mean() == pytest.approx(1.0, abs=6e-5)  # 4 sigma of the mean
    assert abs(np.corrcoef(x[1:, 0], x[:-1, 0])[0, 1]) < 0.03  # 4 / sqrt(20000)
    assert (x[:, 1] == 5.0).all()


@pytest.mark.parametrize('samples', [0.0, 1.0, 3.0, 0.25, 2.75])
def test_delay_shifts_a_ramp_by_its_samples(samples: float) -> None:
    line = Delay(samples, [-7.0, -7.0])
    out = [line.step(np.array([float(k), 2.0 * k])) for k in range(12)]
    for k in range(int(np.ceil(samples)), 12):
        np.testing.assert_allclose(out[k], [k - samples, 2.0 * (k - samples)], atol=1e-12)
    if samples >= 1.0:
        assert out[0].tolist() == [-7.0, -7.0]
    line.reset([3.0, 3.0])
    expected = 3.0 * min(samples, 1.0)  # the new sample is 0
    assert line.step(np.zeros(2)).tolist() == [expected, expected]


def test_delay_keeps_its_own_copy() -> None:
    line, x = Delay(1.0, [0.0]), np.array([1.0])
    line.step(x)
    x[0] = 9.0
    first = line.step(np.array([2.0]))
    assert first[0] == 1.0
    line.step(np.array([5.0]))
    assert first[0] == 1.0


def test_loss_has_its_rate() -> None:
    loss = MessageLoss(0.005, np.random.default_rng(0))
    lost = 100000 - sum(loss.step() for _ in range(100000))
    assert lost == pytest.approx(500, abs=90)  # 4 sigma
    assert all(MessageLoss(0.0, np.random.default_rng(0)).step() for _ in range(100))
    assert not any(MessageLoss(1.0, np.random.default_rng(0)).step() for _ in range(100))


def test_stamps_jitter_but_increase() -> None:
    jitter = StampJitter(2e-4, np.random.default_rng(0))
    times = np.arange(20000) * 8e-3
    stamps = np.array([jitter.step(t) for t in times])
    assert (stamps - times).std() == pytest.approx(2e-4, rel=0.02)
    close = StampJitter(2e-3, np.random.default_rng(0))
    assert (np.diff([close.step(1e-3 * k) for k in range(1000)]) > 0.0).all()
    exact = StampJitter(0.0, np.random.default_rng(0))
    assert exact.step(0.1) == 0.1


def test_joint_sensors_report_the_motion() -> None:
    sensors = JointSensors(settings(effort_delay=1.0), np.random.default_rng(0), tau=[4.0, 5.0])
    readings = [
        sensors.step(0.01 * k, np.array([0.0026, 0.0026]), np.ones(2), np.array([0.0, float(k)]))
        for k in range(4)
    ]
    efforts = [reading.tau[1] for reading in readings if reading is not None]
    assert efforts == [5.0, 0.0, 1.0, 2.0]
    for k, reading in enumerate(readings):
        assert reading is not None
        assert reading.stamp == 0.01 * k
        np.testing.assert_allclose(reading.q, [0.003, 0.0026], rtol=1e-12)
        assert reading.v[1] == 1.0 and reading.v[0] != 1.0


def test_same_seed_gives_the_same_log_whatever_is_lost() -> None:
    logs = []
    for probability in (0.0, 0.3):
        law = settings(loss_probability=probability, stamp_jitter=1e-4)
        sensors = JointSensors(law, np.random.default_rng(7))
        zero = np.zeros(2)
        logs.append([sensors.step(0.01 * k, zero, zero, zero) for k in range(200)])
    arrived = [(one, two) for one, two in zip(*logs) if two is not None]
    assert 100 < len(arrived) < 180
    for one, two in arrived:
        assert one is not None
        assert one.stamp == two.stamp
        np.testing.assert_array_equal(one.v, two.v)


def test_actuator_delay_holds_the_first_command() -> None:
    sensors = JointSensors(settings(actuator_delay=1.5), np.random.default_rng(0))
    line = sensors.actuator_delay([2.0, 0.0])
    out = [line.step(np.array([4.0, 0.0]))[0] for _ in range(4)]
    assert out == [2.0, 3.0, 4.0, 4.0]


JOINT = '    j: {encoder_bits: 10, velocity_noise: 0, effort_noise: 0}\n'


@pytest.mark.parametrize(
    ('text', 'match'),
    [
        ('sensors:\n  joints: 3\n', 'expected one entry for each joint'),
        ('sensors:\n  joints:\n' + JOINT + JOINT.replace('j:', 'k:'), 'unknown joint k'),
        ('sensors: {joints: {}}\n', 'no entry for j'),
        ('sensors: {stamp_jitter: 0}\n', 'joints is missing'),
        ('sensors:\n  joints:\n' + JOINT + '  delay: 1\n', 'unknown key delay'),
        ('sensors:\n  joints:\n' + JOINT + '  effort_delay: -1\n', 'effort_delay is -1, expected'),
        ('sensors:\n  joints:\n' + JOINT + '  loss_probability: 2\n', 'expected <= 1'),
        ('sensors:\n  joints:\n' + JOINT + '  stamp_jitter: 2e-4\n', "is the text '2e-4'"),
        ('sensors:\n  joints:\n' + JOINT + '  assumed: 1\n', 'assumed is 1, expected true'),
        ('sensors:\n  joints:\n' + JOINT.replace('10', '2.5'), 'bits is 2.5, expected a whole'),
        ('sensors:\n  joints:\n' + JOINT.replace('10', '0'), 'encoder_bits is 0, expected >= 1'),
        ('sensors:\n  joints:\n' + JOINT.replace('encoder_bits: 10, ', ''), 'give either'),
        ('sensors:\n  joints:\n' + JOINT.replace('ity_noise: 0', 'ity_noise: -1'), 'noise is -1'),
    ],
)
def test_bad_sensor_files_are_refused_in_one_line(tmp_path: Path, text: str, match: str) -> None:
    path = tmp_path / 'sensors.yaml'
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=match) as caught:
        SensorSettings.from_file(path, ('j',))
    assert '\n' not in str(caught.value)
    assert 'sensors.yaml' in str(caught.value)


def test_resolution_may_stand_instead_of_bits(tmp_path: Path) -> None:
    path = tmp_path / 'sensors.yaml'
    joint = JOINT.replace('encoder_bits: 10', 'encoder_resolution: 1.0e-5')
    path.write_text('sensors:\n  joints:\n' + joint)
    law = SensorSettings.from_file(path, ('j',))
    assert law.encoder_resolution.tolist() == [1e-5]
    assert (law.effort_delay, law.is_assumed) == (0.0, False)


def test_bad_values_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="joint 'a': velocity_noise is -1"):
        settings(velocity_noise=[-1.0, 0.0])
    with pytest.raises(ConfigurationError, match='effort_noise has shape'):
        settings(effort_noise=[1.0, 0.0, 0.0])
    with pytest.raises(NotNumericError, match='effort_noise'):
        settings(effort_noise='x')
    with pytest.raises(ConfigurationError, match='the delay is -1'):
        Delay(-1.0, [0.0])
    with pytest.raises(ConfigurationError, match='the probability is 2'):
        MessageLoss(2.0, np.random.default_rng(0))
    with pytest.raises(ConfigurationError, match='the jitter is -1'):
        StampJitter(-1.0, np.random.default_rng(0))
    with pytest.raises(DimensionError, match='tau has'):
        JointSensors(settings(), np.random.default_rng(0), tau=[1.0])
    with pytest.raises(NonFiniteError, match='tau holds'):
        JointSensors(settings(), np.random.default_rng(0), tau=[1.0, np.inf])
    with pytest.raises(NotNumericError, match='tau'):
        JointSensors(settings(), np.random.default_rng(0), tau=['x', 'y'])
