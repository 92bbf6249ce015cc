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

"""Reading of serialized messages, beside the middleware's own code and on damaged bytes."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

pytest.importorskip('rclpy')

from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Bool, Float64MultiArray, MultiArrayDimension  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

from robot_dynamics_ros.ros.cdr import CdrReader, read_command, read_flag  # noqa: E402
from robot_dynamics_ros.ros.conversions import points_from_message  # noqa: E402
from robot_dynamics_ros.ros.serialized import JointStateReader  # noqa: E402
from robot_dynamics_ros.ros.trajectory_reader import read_trajectory  # noqa: E402


def random_trajectory(rng: np.random.Generator) -> JointTrajectory:
    names = [
        ''.join(rng.choice(list('aé_関1'), rng.integers(0, 9))) for _ in range(rng.integers(5))
    ]
    message = JointTrajectory(joint_names=names)
    message.header.frame_id = 'x' * int(rng.integers(4))
    message.header.stamp.sec, message.header.stamp.nanosec = 12, 345
    for _ in range(rng.integers(6)):
        arrays = [rng.normal(size=rng.integers(4)) for _ in range(4)]
        point = JointTrajectoryPoint(
            positions=arrays[0], velocities=arrays[1], accelerations=arrays[2], effort=arrays[3]
        )
        point.time_from_start.sec, point.time_from_start.nanosec = int(rng.integers(-9, 9)), 7
        message.points.append(point)
    return message


def assert_same(mine: Any, theirs: Any) -> None:
    assert mine.joint_names == theirs.joint_names
    assert mine.stamp == theirs.stamp
    np.testing.assert_array_equal(mine.times, theirs.times)
    for field in ('positions', 'velocities', 'accelerations', 'efforts'):
        for a, b in zip(getattr(mine, field), getattr(theirs, field), strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize('seed', range(50))
def test_trajectories_are_read_as_by_the_middleware(seed: int) -> None:
    message = random_trajectory(np.random.default_rng(seed))
    data = serialize_message(message)
    assert_same(
        read_trajectory(data), points_from_message(deserialize_message(data, type(message)))
    )


@pytest.mark.parametrize('size', [0, 1, 6])
def test_commands_are_read_as_by_the_middleware(size: int) -> None:
    message = Float64MultiArray(data=np.arange(size, dtype=float))
    message.layout.dim = [MultiArrayDimension(label='joints', size=size, stride=1)] * (size % 2)
    assert read_command(serialize_message(message)).tolist() == list(message.data)


def test_numbers_of_the_other_byte_order_are_read() -> None:
    data = b'\x00\x00\x00\x00' + (3).to_bytes(4, 'big') + bytes(4)
    data += np.array([1.5, -2.0, 3.25], '>f8').tobytes()
    assert CdrReader(data).numbers().tolist() == [1.5, -2.0, 3.25]


@pytest.mark.parametrize('read', [read_trajectory, read_command])
def test_message_that_ends_too_early_is_refused(read: Any) -> None:
    rng = np.random.default_rng(4)
    trajectory = random_trajectory(rng)
    while not trajectory.points:
        trajectory = random_trajectory(rng)
    command = Float64MultiArray(data=[1.0, 2.0])
    data = serialize_message(trajectory if read is read_trajectory else command)
    whole, refused = read(data), 0
    for cut in range(len(data)):
        try:
            left = read(data[:cut])
        except ValueError:
            refused += 1
            continue
        # Only what pads the message was missing.
        if read is read_command:
            assert left.tolist() == whole.tolist()
        else:
            assert_same(left, whole)
    assert refused > 0.8 * len(data)


def test_garbage_is_refused_in_no_time() -> None:
    # The middleware allocates what a message announces before it looks further.
    rng = np.random.default_rng(0)
    reader = JointStateReader()
    began = time.monotonic()
    for _ in range(3000):
        data = b'\x00\x01\x00\x00' + rng.bytes(int(rng.integers(300)))
        for read in (read_trajectory, read_command, reader.read):
            try:
                read(data)
            except ValueError:
                continue
    assert time.monotonic() - began < 60.0  # one such message took minutes, and the memory with it


def test_names_by_the_thousand_million_are_refused() -> None:
    header = b'\x00\x01\x00\x00' + bytes(8) + b'\x01\x00\x00\x00\x00\x00\x00\x00'
    data = header + b'\xf0\xff\xff\xff' + bytes(100)
    assert not JointStateReader().read(data)
    with pytest.raises(ValueError, match='4294967280 entries are announced'):
        read_trajectory(data)


def test_joint_state_with_text_beyond_ascii_is_read() -> None:
    message = JointState(name=['関節', 'é'], position=[1.0, 2.0], effort=[3.0, 4.0])
    message.header.stamp.sec = 5
    reader = JointStateReader()
    for _ in range(2):  # the second time by its known shape
        assert reader.read(serialize_message(message))
        assert reader.names == ['関節', 'é']
        assert (reader.sec, list(reader.position), len(reader.velocity)) == (5, [1.0, 2.0], 0)
        assert list(reader.effort) == [3.0, 4.0]


def test_flags_are_read_and_nothing_else_is_one() -> None:
    for value in (False, True):
        assert read_flag(serialize_message(Bool(data=value))) is value
    whole = serialize_message(Bool(data=True))
    for wrong in (b'', whole[:4], whole[:4] + b'\2'):
        with pytest.raises(ValueError, match='boolean|serialized'):
            read_flag(wrong)
