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

import numpy as np
import pytest

from robot_dynamics_ros.core.drive.coupled_gears import CoupledGears, read_coupled_gears
from robot_dynamics_ros.core.exceptions import ConfigurationError, DimensionError

FILE = """
coupled_gears:
  shoulder: {motor: m1, ratio: 32}
  elbow: {motor: m2, ratio: -45, offset: 1.5}
  wrist: {motor: m3, ratio: 32, turns_with: {elbow: 16}, torque_constant: 0.5}
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / 'gears.yaml'
    path.write_text(text)
    return path


def test_motors_turn_with_their_joints_and_those_they_are_coupled_to(tmp_path: Path) -> None:
    gears = read_coupled_gears(written(tmp_path, FILE))
    assert gears.motor_names == ('m1', 'm2', 'm3')
    assert gears.joint_names == ('shoulder', 'elbow', 'wrist')
    rng = np.random.default_rng(3)
    q = rng.normal(size=(20, 3))
    # By the words of the file: motor 3 turns 32 times with its joint and 16 times with the elbow.
    turned = q - [0.0, 1.5, 0.0]
    motors = np.column_stack(
        [32 * turned[:, 0], -45 * turned[:, 1], 32 * turned[:, 2] + 16 * turned[:, 1]]
    )
    assert np.allclose(gears.position(motors), q, rtol=0.0, atol=1e-13)  # rounding only
    assert np.allclose(gears.velocity(motors), turned, rtol=0.0, atol=1e-13)


def test_power_is_the_same_on_both_sides(tmp_path: Path) -> None:
    gears = read_coupled_gears(written(tmp_path, FILE))
    rng = np.random.default_rng(4)
    v_motor, current = rng.normal(size=(2, 20, 3))
    tau_motor = current * [1.0, 1.0, 0.5]
    power = np.sum(gears.effort(current) * gears.velocity(v_motor), axis=1)
    assert np.allclose(power, np.sum(tau_motor * v_motor, axis=1), rtol=1e-12)


def test_missing_value_spoils_only_what_depends_on_it(tmp_path: Path) -> None:
    gears = read_coupled_gears(written(tmp_path, FILE))
    joints = gears.position(np.array([[np.nan, 1.0, 2.0]]))
    assert np.isnan(joints[0, 0]) and np.isfinite(joints[0, 1:]).all()


@pytest.mark.parametrize(
    ('text', 'reason'),
    [
        ('gears: {}', "expected 'coupled_gears'"),
        (FILE.replace('ratio: -45, ', ''), "joint 'elbow': ratio is missing"),
        (FILE.replace('ratio: 32', 'ratio: many', 1), "joint 'shoulder': ratio is 'many'"),
        (
            FILE.replace('{elbow: 16}', '{hand: 16}'),
            "turns_with names 'hand'; there are: shoulder",
        ),
        (FILE.replace('{elbow: 16}', '7'), 'turns_with is 7, expected joint: ratio'),
        (FILE.replace('m2', 'm1'), 'motor m1 drives two joints'),
        (FILE.replace('ratio: -45', 'ratio: 0'), 'ratios of coupled gears cannot be inverted'),
        (FILE.replace('0.5}', '0}'), 'a torque constant of coupled gears is 0'),
        (FILE.replace('offset', 'ofset'), 'unknown key ofset'),
    ],
)
def test_wrong_file_is_refused_in_one_line(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason) as caught:
        read_coupled_gears(written(tmp_path, text))
    assert '\n' not in str(caught.value)


def test_shapes_are_checked() -> None:
    with pytest.raises(DimensionError, match='ratios'):
        CoupledGears(('m',), ('j',), np.eye(2), np.zeros(1), np.ones(1))
