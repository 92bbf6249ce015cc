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

from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402

from robot_dynamics_ros.ros.serialized import (  # noqa: E402
    CommandTemplate,
    JointStateReader,
    JointStateTemplate,
)


@pytest.mark.parametrize('n', [1, 6, 7])
def test_command_is_what_rclpy_writes(n: int) -> None:
    template = CommandTemplate(n)
    for values in (np.arange(n) - 2.5, np.zeros(n)):
        template.values[:] = values
        read = deserialize_message(bytes(template), Float64MultiArray)
        assert read == Float64MultiArray(data=values.tolist())


@pytest.mark.parametrize('names', [['a'], ['joint_1', 'j2', 'gelenk_3', 'ü4'], ['x' * 255, 'y']])
@pytest.mark.parametrize('frame_id', ['', 'base_link'])
@pytest.mark.parametrize('there', [(1, 1, 1), (1, 0, 0), (0, 0, 1), (1, 0, 1), (0, 0, 0)])
def test_joint_state_is_what_rclpy_writes_and_reads(
    names: list[str], frame_id: str, there: tuple[int, int, int]
) -> None:
    n = len(names)
    template = JointStateTemplate(
        names, frame_id, has_position=there[0], has_velocity=there[1], has_effort=there[2]
    )
    reader = JointStateReader()
    rng = np.random.default_rng(0)
    for k in range(3):
        arrays = [rng.normal(size=n) if is_there else np.zeros(0) for is_there in there]
        message = JointState(name=names)
        message.header.frame_id = frame_id
        message.header.stamp.sec, message.header.stamp.nanosec = 5 + k, 999_999_999 - k
        message.position, message.velocity, message.effort = (a.tolist() for a in arrays)
        template.set_stamp(5 + k, 999_999_999 - k)
        for view, array in zip((template.position, template.velocity, template.effort), arrays):
            view[:] = array
        data = serialize_message(message)
        assert deserialize_message(bytes(template), JointState) == message
        reader.read(data)
        assert reader.names == names
        assert (reader.sec, reader.nanosec) == (5 + k, 999_999_999 - k)
        for mine, given in zip((reader.position, reader.velocity, reader.effort), arrays):
            np.testing.assert_array_equal(mine, given)
    assert len(reader._layouts) == 1, 'two of three were read the quick way'


def test_reader_notices_every_change_of_shape() -> None:
    # Same length: an array that moves from one field to another, and names that change places.
    reader = JointStateReader()
    shapes = [
        (['a', 'b'], [1.0, 2.0], [3.0, 4.0], []),
        (['a', 'b'], [1.0, 2.0], [], [3.0, 4.0]),
        (['b', 'a'], [1.0, 2.0], [], [3.0, 4.0]),
        (['a', 'b'], [], [1.0, 2.0], [3.0, 4.0]),
        (['a', 'b'], [1.0, 2.0], [3.0], [4.0]),
        (['a', 'b'], [1.0], [], []),
        ([], [], [], []),
    ]
    for _ in range(3):
        for names, position, velocity, effort in shapes:
            message = JointState(name=names, position=position, velocity=velocity, effort=effort)
            reader.read(serialize_message(message))
            assert reader.names == names
            assert list(reader.position) == position
            assert list(reader.velocity) == velocity
            assert list(reader.effort) == effort


@pytest.mark.parametrize('data', [b'', b'abc', b'\0\1\0\0' + b'\xff' * 50])
def test_reader_refuses_what_is_no_message(data: bytes) -> None:
    reader = JointStateReader()
    good = serialize_message(JointState(name=['a'], position=[1.0]))
    assert reader.read(good)
    assert not reader.read(data)
    assert not reader.read(good[:30])
    assert reader.read(good)
    assert list(reader.position) == [1.0]


def test_reader_keeps_few_layouts() -> None:
    reader = JointStateReader()
    for k in range(100):
        reader.read(serialize_message(JointState(name=[f'joint_{k}'], position=[1.0])))
    assert len(reader._layouts) == 8


def test_reader_does_not_look_at_padding() -> None:
    # 'abc' and its terminator need none, 'abcd' needs three bytes, which nobody clears.
    message = JointState(name=['abcd', 'abc'], position=[1.0, 2.0], effort=[3.0, 4.0])
    data = serialize_message(message)
    reader = JointStateReader()
    reader.read(data)
    after = data.index(b'abcd\0') + 5
    spoiled = data[:after] + b'xyz' + data[after + 3 :]
    assert deserialize_message(spoiled, JointState) == message
    reader.read(spoiled)
    assert len(reader._layouts) == 1
    assert reader.names == message.name
    assert list(reader.position) == [1.0, 2.0]
