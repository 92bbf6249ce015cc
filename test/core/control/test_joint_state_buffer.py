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

import array
import json
from math import inf, isfinite, isnan, nan, pi
from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.control.joint_state_buffer import JointStateBuffer, UpdateOutcome
from robot_dynamics_ros.core.exceptions import ConfigurationError, UnknownJointError
from shared_data import shared_path

NAMES = ('j1', 'j2')


def send(
    buffer: JointStateBuffer,
    stamp: float,
    position: Any,
    velocity: Any = (),
    effort: Any = (),
    names: Any = NAMES,
    now: float | None = None,
) -> UpdateOutcome:
    received = stamp if now is None else now
    return buffer.update(list(names), stamp, position, velocity, effort, received)


def replay(case: str, buffer: JointStateBuffer, start: float = 100.0) -> list[UpdateOutcome]:
    """Feed a recorded sequence; messages are received 10 ms apart on the steady clock."""
    sequences = json.loads(shared_path('cases', 'joint_state_sequences.json').read_text())
    outcomes = []
    for k, m in enumerate(sequences[case]['seq']):
        fields = (array.array('d', m[key]) for key in ('position', 'velocity', 'effort'))
        outcomes.append(buffer.update(m['name'], m['stamp'], *fields, start + 0.01 * k))
    return outcomes


def test_b01_alphabetical_order_is_mapped_by_name() -> None:
    names = ('shoulder_pan', 'shoulder_lift', 'elbow', 'wrist_1', 'wrist_2', 'wrist_3')
    buffer = JointStateBuffer([f'{name}_joint' for name in names])
    assert replay('B01_alphabetical_order', buffer) == [UpdateOutcome.ACCEPTED]
    assert buffer.q.tolist() == [0.3, -1.2, 1.0, -0.5, 0.4, 0.0]
    assert buffer.v.tolist() == [0.0] * 6


def test_b02_order_may_change_between_messages() -> None:
    buffer = JointStateBuffer(NAMES)
    replay('B02_order_changes_between_messages', buffer)
    assert buffer.q.tolist() == [0.1, 0.2]
    estimating = JointStateBuffer(NAMES)
    send(estimating, 1.0, [0.1, 0.2])
    send(estimating, 1.01, [0.2, 0.1], names=('j2', 'j1'))
    assert estimating.v.tolist() == [0.0, 0.0]


def test_b03_missing_velocity_is_unknown_and_then_estimated() -> None:
    buffer = JointStateBuffer(NAMES)
    send(buffer, 1.0, [0.1, 0.2])
    assert buffer.is_complete
    assert not buffer.has_velocity
    assert np.isnan(buffer.v).all()
    buffer = JointStateBuffer(NAMES)
    replay('B03_velocity_effort_empty', buffer)
    assert buffer.has_velocity
    assert not buffer.has_effort
    # Rounding of the stamps (1.01 - 1.0) is all that stands between.
    np.testing.assert_allclose(buffer.v, [1.0, 0.0], rtol=1e-12)


def test_b04_short_arrays_are_rejected_and_counted() -> None:
    buffer = JointStateBuffer(NAMES)
    assert replay('B04_short_arrays', buffer) == [UpdateOutcome.ARRAY_LENGTH]
    assert send(buffer, 2.0, [0.1]) is UpdateOutcome.ARRAY_LENGTH
    assert send(buffer, 2.0, [0.1, 0.2], effort=[1.0]) is UpdateOutcome.ARRAY_LENGTH
    assert send(buffer, 2.0, []) is UpdateOutcome.ARRAY_LENGTH
    assert buffer.counters['array_length'] == 4
    assert not buffer.is_complete
    assert send(buffer, 2.0, [0.1, 0.2]) is UpdateOutcome.ACCEPTED


def test_b05_nan_position_is_rejected_and_the_state_grows_old() -> None:
    buffer = JointStateBuffer(NAMES)
    outcomes = replay('B05_nan_position', buffer)
    assert outcomes == [UpdateOutcome.ACCEPTED, UpdateOutcome.POSITION_NOT_FINITE]
    assert buffer.q.tolist() == [0.1, 0.2]
    assert buffer.age(100.01) == pytest.approx(0.01)
    assert send(buffer, 1.02, [inf, 0.2]) is UpdateOutcome.POSITION_NOT_FINITE


def test_b06_nan_in_unused_fields_does_no_harm() -> None:
    buffer = JointStateBuffer(NAMES)
    assert replay('B06_nan_effort_wheels', buffer) == [UpdateOutcome.ACCEPTED]
    assert buffer.q.tolist() == [0.1, 0.2]
    assert buffer.v.tolist() == [0.0, 0.0]
    assert buffer.effort.tolist() == [1.0, 1.0]


def test_nan_velocity_of_a_used_joint_is_estimated() -> None:
    buffer = JointStateBuffer(NAMES)
    send(buffer, 1.0, [0.1, 0.2], [nan, 0.5])
    assert isnan(buffer.v[0])
    assert buffer.v[1] == 0.5
    send(buffer, 1.01, [0.12, 0.2], [nan, 0.6])
    np.testing.assert_allclose(buffer.v, [2.0, 0.6], rtol=1e-12)  # rounding of the stamps


@pytest.mark.parametrize(('max_speed', 'absurd'), [(None, 1e308), ([5.0, 5.0], 6.0)])
def test_implausible_velocity_is_estimated_instead(max_speed: Any, absurd: float) -> None:
    buffer = JointStateBuffer(NAMES, max_speed=max_speed)
    send(buffer, 100.0, [0.0, 0.0], [0.0, 0.0])
    assert send(buffer, 100.01, [0.01, 0.02], [-absurd, 0.3]).is_accepted
    np.testing.assert_allclose(buffer.v, [1.0, 0.3], rtol=1e-9)  # 0.01 rad in 10 ms
    assert buffer.counters['velocity_replaced'] == 1


def test_zero_stamp_is_replaced_by_the_time_of_the_clock_that_stamps() -> None:
    buffer = JointStateBuffer(NAMES)
    buffer.update(list(NAMES), 0.0, [0.0, 0.0], (), (), 7.0, 1.7e9)
    assert buffer.stamp == 1.7e9
    assert buffer.age(7.5) == 0.5


def test_b07_extra_joints_are_ignored_and_named_once() -> None:
    buffer = JointStateBuffer(NAMES)
    assert replay('B07_extra_joints', buffer) == [UpdateOutcome.ACCEPTED]
    send(buffer, 2.0, [0.0, 0.1, 0.2], names=('gripper_finger', 'j1', 'j2'))
    assert buffer.ignored_names == ('gripper_finger',)
    assert send(buffer, 3.0, [0.0], names=('gripper_finger',)) is UpdateOutcome.NO_KNOWN_JOINT


def test_b08_two_publishers_are_merged_with_an_age_per_joint() -> None:
    buffer = JointStateBuffer(NAMES)
    send(buffer, 1.0, [0.1], [0.0], names=('j1',), now=100.0)
    assert not buffer.is_complete
    assert buffer.age(100.0) == inf
    buffer = JointStateBuffer(NAMES)
    assert replay('B08_partial_two_publishers', buffer) == [UpdateOutcome.ACCEPTED] * 3
    assert buffer.q.tolist() == [0.1, 0.2]
    np.testing.assert_allclose(buffer.ages(100.03), [0.01, 0.02])
    assert buffer.age(100.03) == pytest.approx(0.02)
    assert buffer.silent_joints(100.115, 0.1) == ('j2',)


def test_b10_repeated_stamp_is_dropped() -> None:
    buffer = JointStateBuffer(NAMES)
    outcomes = replay('B10_repeated_stamp', buffer)
    assert outcomes == [UpdateOutcome.ACCEPTED, UpdateOutcome.REPEATED_STAMP]
    assert not np.isinf(buffer.v).any()
    assert buffer.age(100.05) == pytest.approx(0.05)  # a repeated sample is no sign of life


def test_b11_far_backwards_resets_and_a_little_backwards_drops() -> None:
    buffer = JointStateBuffer(NAMES)
    outcomes = replay('B11_backwards_stamp', buffer)
    expected = [UpdateOutcome.ACCEPTED, UpdateOutcome.TIME_RESET, UpdateOutcome.ACCEPTED]
    assert outcomes == expected
    assert buffer.v.tolist() == [0.0, 0.0]
    assert send(buffer, 9.5, [0.5, 0.5]) is UpdateOutcome.BACKWARDS_STAMP
    assert buffer.q.tolist() == [0.1, 0.2]
    assert send(buffer, 1.0, [0.5, 0.5]).is_accepted
    assert np.isnan(buffer.v).all()


def test_stamp_far_in_the_future_does_not_block_what_follows() -> None:
    buffer = JointStateBuffer(NAMES)
    send(buffer, 10.0, [0.1, 0.2])
    send(buffer, 1e9, [0.1, 0.2])
    assert np.isnan(buffer.v).all()  # no velocity from two positions that far apart
    assert send(buffer, 10.02, [0.1, 0.2]) is UpdateOutcome.TIME_RESET
    assert send(buffer, 10.03, [0.1, 0.2]) is UpdateOutcome.ACCEPTED


@pytest.mark.parametrize('stamp', [-1.0, nan, inf])
def test_impossible_stamp_is_rejected(stamp: float) -> None:
    assert send(JointStateBuffer(NAMES), stamp, [0.1, 0.2]) is UpdateOutcome.INVALID_STAMP


def test_b12_zero_stamp_falls_back_to_the_time_of_receipt() -> None:
    buffer = JointStateBuffer(NAMES)
    assert replay('B12_zero_stamp', buffer) == [UpdateOutcome.ACCEPTED] * 2
    assert buffer.counters['zero_stamp_replaced'] == 2
    assert buffer.age(100.01) == 0.0
    assert buffer.stamp == 100.01
    np.testing.assert_allclose(buffer.v, [1.0, 0.0], rtol=1e-9)  # rounding of 100.01 - 100
    refusing = JointStateBuffer(NAMES, refuse_zero_stamp=True)
    assert replay('B12_zero_stamp', refusing) == [UpdateOutcome.ZERO_STAMP] * 2


def test_b13_continuous_joint_wraps_the_short_way() -> None:
    buffer = JointStateBuffer(['c1'], continuous=['c1'])
    replay('B13_continuous_wrap', buffer)
    assert buffer.v[0] == pytest.approx((2.0 * pi - 6.28) / 0.01, rel=1e-9)
    buffer.update(['c1'], 1.02, [-3.13 + 20.0 * pi], [], [], 0.0)  # B14: many turns
    assert buffer.v[0] == pytest.approx(1.0, rel=1e-9)


def test_b20_duplicate_names_are_rejected() -> None:
    buffer = JointStateBuffer(NAMES)
    outcome = send(buffer, 1.0, [0.1, 0.2, 0.3], names=('j1', 'j2', 'j1'))
    assert outcome is UpdateOutcome.DUPLICATE_NAME
    assert not buffer.is_complete


def test_names_and_signs_are_mapped_at_the_door() -> None:
    buffer = JointStateBuffer(NAMES, name_map={'axis_2': 'j2'}, signs={'j2': -1})
    send(buffer, 1.0, [0.1, 0.2], [1.0, 2.0], [3.0, 4.0], names=('j1', 'axis_2'))
    assert buffer.q.tolist() == [0.1, -0.2]
    assert buffer.v.tolist() == [1.0, -2.0]
    assert buffer.effort.tolist() == [3.0, -4.0]
    assert send(buffer, 2.0, [0.5], names=('j2',)) is UpdateOutcome.NO_KNOWN_JOINT


def test_position_jump_is_rejected_until_it_is_plausible() -> None:
    buffer = JointStateBuffer(NAMES, max_speed=[3.0, 3.0])
    send(buffer, 1.0, [0.1, 0.2])
    assert send(buffer, 1.01, [0.6, 0.2]) is UpdateOutcome.POSITION_JUMP
    assert send(buffer, 1.02, [0.12, 0.2]) is UpdateOutcome.ACCEPTED
    assert send(buffer, 1.30, [0.6, 0.2]) is UpdateOutcome.ACCEPTED


def test_velocity_filter_settles_on_a_constant_speed() -> None:
    buffer = JointStateBuffer(['j1'], velocity_time_constant=0.02)
    for k in range(400):
        buffer.update(['j1'], 1.0 + 0.001 * k, [0.5 * 0.001 * k], [], [], 0.0)
    assert buffer.v[0] == pytest.approx(0.5, abs=1e-6)  # 20 time constants: exp(-20) = 2e-9


def test_clear_forgets_the_state_and_keeps_the_counters() -> None:
    buffer = JointStateBuffer(NAMES)
    send(buffer, 1.0, [0.1, 0.2], [0.0, 0.0])
    buffer.clear()
    assert not buffer.is_complete
    assert not buffer.has_velocity
    assert buffer.counters['accepted'] == 1
    assert send(buffer, 0.5, [0.1, 0.2]) is UpdateOutcome.ACCEPTED


def test_flood_of_names_keeps_memory_bounded() -> None:
    buffer = JointStateBuffer(NAMES)
    for k in range(1000):
        send(buffer, 1.0, [0.0], names=(f'joint_{k}',))
    assert len(buffer.ignored_names) == 32
    assert len(buffer._map._layouts) <= 16
    assert buffer.counters['no_known_joint'] == 1000


def test_random_messages_never_put_nonfinite_numbers_into_the_position() -> None:
    rng = np.random.default_rng(3)
    buffer = JointStateBuffer(NAMES, continuous=['j2'], velocity_time_constant=0.01)
    values = np.array([0.0, 0.1, -3.0, nan, inf, -inf, 1e308])
    send(buffer, 1.0, [0.0, 0.0])
    with np.errstate(all='ignore'):
        for k in range(3000):
            names = rng.choice(['j1', 'j2', 'x'], size=rng.integers(0, 4)).tolist()
            arrays = [rng.choice(values, size=rng.integers(0, 4)).tolist() for _ in range(3)]
            stamp = float(rng.choice([0.0, nan, 1.0 + 0.01 * k, 5.0, -1.0]))
            buffer.update(names, stamp, *arrays, 0.01 * k)
            assert np.isfinite(buffer.q).all()
            assert not np.isinf(buffer.v).any()
    assert sum(buffer.counters.values()) >= 3000
    assert isfinite(buffer.stamp)


@pytest.mark.parametrize(
    ('arguments', 'error', 'match'),
    [
        ({'continuous': ['x']}, UnknownJointError, "joint 'x'"),
        ({'name_map': {'a': 'x'}}, UnknownJointError, "joint 'x'"),
        ({'signs': {'x': 1}}, UnknownJointError, "joint 'x'"),
        ({'signs': {'j1': 2.0}}, ConfigurationError, "sign of joint 'j1'"),
        ({'timeout': 0.0}, ConfigurationError, 'timeout'),
        ({'velocity_time_constant': nan}, ConfigurationError, 'velocity_time_constant'),
    ],
)
def test_wrong_parameters_are_refused(
    arguments: dict[str, Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        JointStateBuffer(NAMES, **arguments)
