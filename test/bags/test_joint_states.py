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
from numpy.typing import NDArray
import pytest

from bags.making import (
    cdr,
    JOINT_STATE,
    message,
    ROS1_STORE,
    START,
    State,
    STORE,
)
from robot_dynamics_ros.bags.joint_state_encoder import JointStateEncoder
from robot_dynamics_ros.bags.joint_states import JointStateDecoder
from robot_dynamics_ros.core.exceptions import BagError, DimensionError


def random_states(count: int) -> list[State]:
    rng = np.random.default_rng(3)
    states = []
    for index in range(count):
        size = int(rng.integers(0, 9))
        names = [f'joint{"x" * int(rng.integers(0, 9))}_ä{k}' for k in range(size)]

        def values(size: int = size) -> NDArray[np.float64]:
            return rng.normal(size=size if rng.random() < 0.7 else 0)

        states.append(State(START + index, names, rng.normal(size=size), values(), values()))
    return states


def test_decoder_agrees_with_the_general_one_on_any_layout() -> None:
    decoder = JointStateDecoder()
    for state in random_states(300):
        for _ in range(2):  # the second time from the remembered layout
            sample = decoder.decode(5, cdr(state))
            assert (sample.stamp, sample.log_time) == (state.stamp, 5)
            assert sample.names == tuple(state.names)
            assert np.array_equal(sample.position, state.position)
            assert np.array_equal(sample.velocity, state.velocity)
            assert np.array_equal(sample.effort, state.effort)


def test_names_stay_the_same_object_while_they_do_not_change() -> None:
    decoder = JointStateDecoder()
    first = decoder.decode(0, cdr(State(START, ['a', 'b'], [1, 2])))
    again = decoder.decode(0, cdr(State(START + 1, ['a', 'b'], [3, 4])))
    other = decoder.decode(0, cdr(State(START + 2, ['b', 'a'], [5, 6])))
    assert again.names is first.names
    assert other.names == ('b', 'a')


def test_big_endian_and_ros1_messages_are_decoded() -> None:
    state = State(START + 7, ['a', 'b'], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0])
    big = bytes(STORE.serialize_cdr(message(state), JOINT_STATE, little_endian=False))
    old = bytes(ROS1_STORE.serialize_ros1(message(state, ROS1_STORE), JOINT_STATE))
    for decoder, data in (
        (JointStateDecoder(), big),
        (JointStateDecoder(is_ros1=True), old),
    ):
        sample = decoder.decode(0, data)
        assert (sample.stamp, sample.names) == (state.stamp, ('a', 'b'))
        assert sample.effort.tolist() == [5.0, 6.0]


def test_cut_or_garbled_messages_raise_a_bag_error() -> None:
    data = cdr(State(START, ['a', 'b'], [1, 2], [3, 4], [5, 6]))
    for cut in range(len(data)):
        with pytest.raises(BagError, match='bytes are not a joint state'):
            JointStateDecoder().decode(0, data[:cut])
    rng = np.random.default_rng(1)
    for _ in range(300):
        garbled = bytearray(data)
        garbled[int(rng.integers(4, len(data)))] = int(rng.integers(256))
        try:
            JointStateDecoder().decode(0, bytes(garbled))
        except BagError as err:
            assert '\n' not in str(err)


def test_encoder_writes_the_same_bytes_as_the_general_one() -> None:
    for state in random_states(100):
        encoded = JointStateEncoder(state.names).encode(
            state.stamp, state.position, state.velocity, state.effort
        )
        assert encoded == cdr(state)


def test_encoder_refuses_an_array_of_another_length() -> None:
    with pytest.raises(DimensionError, match='velocity has shape'):
        JointStateEncoder(['a', 'b']).encode(START, [1, 2], [1], [])
