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

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import NotNumericError
from robot_dynamics_ros.core.signals.joint_motion import joint_motion
from robot_dynamics_ros.core.signals.zero_phase import ZeroPhaseFilter

STAMPS = np.arange(0.0, 10.0, 0.01)
W = np.array([1.0, 3.0])
POSITION = np.sin(np.outer(STAMPS, W))
VELOCITY = W * np.cos(np.outer(STAMPS, W))
ACCELERATION = -(W**2) * POSITION
MIDDLE = slice(100, -100)


def test_measured_velocity_saves_one_differentiation() -> None:
    rng = np.random.default_rng(0)
    noisy = POSITION + 1e-4 * rng.normal(size=POSITION.shape)
    low_pass = ZeroPhaseFilter(5.0)
    with_velocity = joint_motion(STAMPS, noisy, VELOCITY, low_pass)
    without = joint_motion(STAMPS, noisy, None, low_pass)
    assert with_velocity.velocity_source == 'measured'
    assert without.velocity_source == 'differentiated position'
    assert with_velocity.velocity_disagreement == pytest.approx(0.0, abs=0.01)
    assert without.velocity_disagreement is None
    error = np.abs(with_velocity.a - ACCELERATION)[MIDDLE].max()
    # The filter at w = 3 rad/s changes 1e-8; the spline's derivative errs less than 1e-6.
    assert error < 1e-5
    assert np.abs(without.a - ACCELERATION)[MIDDLE].max() > 100.0 * error


@pytest.mark.parametrize('spoil', ['unit', 'sign', 'nan'])
def test_velocity_that_contradicts_the_positions_is_not_used(spoil: str) -> None:
    velocity = VELOCITY.copy()
    if spoil == 'unit':
        velocity *= 180.0 / np.pi
    elif spoil == 'sign':
        velocity *= -1.0
    else:
        velocity[5, 1] = np.nan
    motion = joint_motion(STAMPS, POSITION, velocity, ZeroPhaseFilter(5.0))
    assert motion.velocity_source == 'differentiated position'
    # Two differentiations of an exact sine by a quintic spline, away from the ends.
    assert np.abs(motion.a - ACCELERATION)[MIDDLE].max() < 1e-4


def test_only_the_joint_whose_velocity_is_wrong_is_differentiated() -> None:
    # The slower joint's error is 9 % of the norm over both.
    rng = np.random.default_rng(0)
    noisy = POSITION + 1e-4 * rng.normal(size=POSITION.shape)
    low_pass = ZeroPhaseFilter(5.0)
    motion = joint_motion(STAMPS, noisy, VELOCITY * [1.3, 1.0], low_pass)
    assert motion.uses_measured.tolist() == [False, True]
    assert motion.velocity_source == 'both'
    assert motion.velocity_disagreements is not None
    # Noise of the positions, differentiated within 5 Hz, is 1e-3 of the velocity.
    assert motion.velocity_disagreements == pytest.approx([0.3, 0.0], abs=0.01)
    alone = joint_motion(STAMPS, noisy, None, low_pass)
    exact = joint_motion(STAMPS, noisy, VELOCITY, low_pass)
    for name in ('v', 'a'):
        mine = getattr(motion, name)
        assert np.array_equal(mine[:, 0], getattr(alone, name)[:, 0])
        assert np.array_equal(mine[:, 1], getattr(exact, name)[:, 1])
    assert np.array_equal(motion.reliable, alone.reliable)


def test_noise_of_a_joint_that_rests_is_no_disagreement() -> None:
    rng = np.random.default_rng(0)
    noise = 1e-3 * rng.normal(size=len(STAMPS))
    position = np.column_stack([np.ones_like(STAMPS), POSITION[:, 1]])
    velocity = np.column_stack([noise, VELOCITY[:, 1]])
    low_pass = ZeroPhaseFilter(5.0)
    assert joint_motion(STAMPS, position, velocity, low_pass).uses_measured.all()
    # Noise may be 0.2 * 0.02 of the other joint's 2.1 rad/s, and this is ten times as much.
    velocity[:, 0] += 0.1
    moved = joint_motion(STAMPS, position, velocity, low_pass)
    assert moved.uses_measured.tolist() == [False, True]


def test_robot_at_rest_has_no_disagreement_to_state() -> None:
    still = np.ones_like(POSITION)
    motion = joint_motion(STAMPS, still, 0.0 * still, ZeroPhaseFilter(5.0))
    assert np.abs(motion.a).max() < 1e-6  # rounding through two derivatives at 100 Hz


def test_velocity_that_is_not_real_numbers_is_refused() -> None:
    for wrong in (VELOCITY + 1j, 'abc', VELOCITY.astype(str)):
        with pytest.raises(NotNumericError, match='^velocity '):
            joint_motion(STAMPS, POSITION, wrong, ZeroPhaseFilter(5.0))
