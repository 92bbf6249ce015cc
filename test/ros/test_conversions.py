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

import numpy as np
import pytest

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time  # noqa: E402, I100
from geometry_msgs.msg import InertiaStamped  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

from robot_dynamics_ros.core.exceptions import ModelError  # noqa: E402
from robot_dynamics_ros.core.model.payload import Payload  # noqa: E402
from robot_dynamics_ros.ros.conversions import (  # noqa: E402
    array_from_sequence,
    command_from_message,
    duration_from_seconds,
    message_from_command,
    message_from_payload,
    message_from_points,
    message_from_state,
    named_efforts_from_message,
    NamedState,
    payload_from_bytes,
    points_from_message,
    seconds_from_time,
    sequence_from_array,
    state_from_message,
    time_from_seconds,
    TrajectoryPoints,
)


@pytest.mark.parametrize('seconds', [0.0, 1e-9, 0.5, 1.999999999, 12.25, -0.5, -3.75])
def test_times_survive_a_round_trip(seconds: float) -> None:
    # Half a nanosecond of rounding.
    assert abs(seconds_from_time(time_from_seconds(seconds)) - seconds) <= 5e-10
    assert abs(seconds_from_time(duration_from_seconds(seconds)) - seconds) <= 5e-10


def test_times_are_rounded_and_cut_to_what_the_message_holds() -> None:
    assert time_from_seconds(1.9999999999) == Time(sec=2, nanosec=0)
    assert time_from_seconds(1e12).sec == 2**31 - 1
    assert time_from_seconds(-1e12).sec == -(2**31) + 1


def test_empty_arrays_mean_not_given() -> None:
    assert array_from_sequence([]) is None
    assert len(sequence_from_array(None)) == 0
    np.testing.assert_array_equal(array_from_sequence(sequence_from_array([1, 2])), [1.0, 2.0])


def test_sequences_take_arrays_of_any_layout() -> None:
    matrix = np.arange(6.0).reshape(2, 3)
    assert sequence_from_array(matrix[:, 1]).tolist() == [1.0, 4.0]
    assert sequence_from_array(np.arange(3, dtype=np.float32)).tolist() == [0.0, 1.0, 2.0]


def test_command_survives_a_round_trip() -> None:
    values = np.array([1.0, -2.5, 1e-17])
    np.testing.assert_array_equal(command_from_message(message_from_command(values)), values)


def test_state_survives_a_round_trip() -> None:
    state = NamedState(('a', 'b'), 3.25, np.array([1.0, 2.0]), None, np.array([np.nan, 1.0]))
    message = message_from_state(state, 'base_link')
    back = state_from_message(message)
    assert message.header.frame_id == 'base_link'
    assert back.joint_names == state.joint_names
    assert back.stamp == state.stamp
    assert back.velocity is None
    np.testing.assert_array_equal(back.position, state.position)
    np.testing.assert_array_equal(back.effort, state.effort)


@pytest.mark.parametrize(
    ('names', 'efforts', 'expected'),
    [
        (['b', 'a'], [1.0, 2.0], {'b': 1.0, 'a': 2.0}),
        (['a', 'b'], [1.0], {}),
        (['a', 'a'], [1.0, 2.0], {}),
        ([], [], {}),
    ],
)
def test_named_efforts(names: list[str], efforts: list[float], expected: dict) -> None:
    assert named_efforts_from_message(JointState(name=names, effort=efforts)) == expected


def test_trajectory_survives_a_round_trip() -> None:
    points = TrajectoryPoints(
        ('b', 'a'),
        7.5,
        np.array([0.5, 1.0]),
        [np.array([1.0, 2.0]), np.array([3.0, 4.0])],
        [None, np.array([0.1, 0.2])],
        [None, None],
        [np.array([9.0, 8.0]), None],
    )
    back = points_from_message(message_from_points(points))
    assert back.joint_names == points.joint_names
    assert back.stamp == points.stamp
    np.testing.assert_array_equal(back.times, points.times)
    for key in ('positions', 'velocities', 'accelerations', 'efforts'):
        for mine, given in zip(getattr(back, key), getattr(points, key)):
            assert (mine is None) == (given is None)
            if given is not None:
                np.testing.assert_array_equal(mine, given)


def test_trajectory_message_survives_a_round_trip() -> None:
    message = JointTrajectory(joint_names=['a'])
    message.header.stamp = Time(sec=4, nanosec=500_000_000)
    message.points = [
        JointTrajectoryPoint(positions=[1.0], time_from_start=duration_from_seconds(0.25)),
        JointTrajectoryPoint(positions=[2.0], effort=[5.0]),
    ]
    assert message_from_points(points_from_message(message)) == message


def test_payload_survives_a_round_trip() -> None:
    inertia = np.array([[0.3, 0.01, 0.02], [0.01, 0.2, 0.03], [0.02, 0.03, 0.25]])
    payload = Payload(2.0, 'tool0', np.array([0.1, 0.2, 0.3]), inertia)
    back = payload_from_bytes(serialize_message(message_from_payload(payload)))
    assert (back.mass, back.frame) == (2.0, 'tool0')
    np.testing.assert_array_equal(back.com, payload.com)
    np.testing.assert_array_equal(back.inertia, payload.inertia)


def test_payload_takes_the_default_frame_and_is_judged() -> None:
    message = InertiaStamped()
    message.inertia.m = 1.0
    assert payload_from_bytes(serialize_message(message), 'flange').frame == 'flange'
    message.inertia.m = -1.0
    with pytest.raises(ModelError, match='mass is -1'):
        payload_from_bytes(serialize_message(message))
