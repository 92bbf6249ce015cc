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

from dataclasses import replace
from pathlib import Path
import tracemalloc

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer

from bags.making import cdr, JOINT_STATE, make_bag, START, State, STEP, STORE, swing
from robot_dynamics_ros.bags.bag_samples import BagSamples
from robot_dynamics_ros.bags.joint_blocks import (
    joint_log_blocks,
    JointLogStream,
    read_joint_log,
)
from robot_dynamics_ros.bags.writing import BagWriter
from robot_dynamics_ros.core.exceptions import BagError


def make_topics(path: Path, topics: dict[str, list[State]]) -> Path:
    """Write a bag of several joint state topics, merged by recording time."""
    writer = Writer(path, version=9, storage_plugin=StoragePlugin.MCAP)
    with writer:
        connections = {
            topic: writer.add_connection(topic, JOINT_STATE, typestore=STORE) for topic in topics
        }
        entries = [
            (state.stamp if state.log_time is None else state.log_time, topic, state)
            for topic, states in topics.items()
            for state in states
        ]
        for when, topic, state in sorted(entries, key=lambda entry: entry[0]):
            writer.write(connections[topic], when, cdr(state))
    return path


def messy(count: int = 9000) -> list[State]:
    """Return a swing with everything that is cleaned, some of it where chunks of reading end."""
    states = swing(count)
    for index in (100, 4095, 4096, 8191):
        states[index] = replace(states[index], stamp=states[index - 1].stamp)
    for index in (50, 4090, 8188):  # 40 ms late
        log_times = [START + k * STEP for k in range(index, index + 5)]
        moved = [states[index + 4], *states[index : index + 4]]
        states[index : index + 5] = [
            replace(state, log_time=when) for state, when in zip(moved, log_times)
        ]
    states[200] = replace(states[200], position=[1.0])
    states[300] = replace(states[300], effort=(np.nan, 1.0))
    del states[5000:5020]
    fingers = [State(START + k * 7 * STEP + 3, ('finger',), (0.01 * k,)) for k in range(800)]
    return sorted(states + fingers, key=lambda state: state.log_time or state.stamp)


@pytest.mark.parametrize(('size', 'overlap'), [(1000, 0), (1000, 150), (3333, 4000), (10**6, 9)])
def test_blocks_together_are_the_whole_log(tmp_path: Path, size: int, overlap: int) -> None:
    bag = make_bag(tmp_path / 'bag', messy(), storage='mcap')
    whole = read_joint_log(bag)
    assert {'repeated stamp', 'out of order', 'gaps'} < set(whole.counts)
    blocks = list(joint_log_blocks(bag, block_size=size, overlap=overlap))
    done = 0
    for block in blocks:
        repeated = min(overlap, done)
        rows = slice(done - repeated, done - repeated + len(block.stamps))
        assert len(block.stamps) == min(size, len(whole.stamps) - done) + repeated
        assert np.array_equal(block.stamps, whole.stamps[rows])
        assert block.velocity is not None and block.effort is not None
        assert whole.velocity is not None and whole.effort is not None
        assert np.array_equal(block.position, whole.position[rows], equal_nan=True)
        assert np.array_equal(block.velocity, whole.velocity[rows], equal_nan=True)
        assert np.array_equal(block.effort, whole.effort[rows], equal_nan=True)
        assert block.start == whole.start and block.joint_names == whole.joint_names
        done += len(block.stamps) - repeated
    assert done == len(whole.stamps)
    assert all(not block.counts and not block.notes for block in blocks[:-1])
    assert blocks[-1].counts == whole.counts and blocks[-1].notes == whole.notes


def test_cleaning_across_chunks_is_that_of_sorting_everything(tmp_path: Path) -> None:
    states = messy()
    log = read_joint_log(make_bag(tmp_path / 'bag', states))
    # The independent answer: all at once, with numpy alone.
    arm = [state for state in states if len(state.names) == 2 and len(state.position) == 2]
    stamps = np.array([state.stamp for state in arm])
    _, first = np.unique(stamps, return_index=True)
    assert np.array_equal(log.stamps, (stamps[first] - stamps.min()) * 1e-9)
    assert np.array_equal(log.position[:, :2], np.array([arm[k].position for k in first]))
    assert log.counts['repeated stamp'] == len(arm) - len(first)
    assert log.counts['out of order'] == np.count_nonzero(np.diff(stamps) < 0)
    fingers = [state for state in states if len(state.names) == 1]
    expected = np.interp(
        stamps[first] - START,
        [state.stamp - START for state in fingers],
        [state.position[0] for state in fingers],
        left=np.nan,
        right=np.nan,
    )
    # The origin of the differences is another one, which rounds times to 1e-16 of their size.
    assert np.allclose(log.position[:, 2], expected, rtol=0.0, atol=1e-9, equal_nan=True)


def test_efforts_of_another_topic_are_merged_by_name(tmp_path: Path) -> None:
    positions = [replace(state, effort=()) for state in swing(400)]
    efforts = [
        State(START + k * 2 * STEP + 1_000_000, ('b', 'a'), (), (), (2.0 * k, 1.0 * k))
        for k in range(200)
    ]
    bag = make_topics(tmp_path / 'bag', {'/joint_states': positions, '/torques': efforts})
    log = read_joint_log(bag, ['/joint_states', '/torques'])
    assert log.joint_names == ('a', 'b')
    assert log.topic == '/joint_states, /torques'
    assert log.effort is not None
    # k grows by one in 20 ms, from 1 ms on: exact under linear interpolation.
    k = (log.stamps - 0.001) / 0.02
    inside = (k >= 0.0) & (k <= 199.0)
    assert np.allclose(log.effort[inside], np.outer(k, [1.0, 2.0])[inside], atol=1e-9)
    assert np.isnan(log.effort[~inside]).all()
    assert any('effort of b, a come in 200 messages of /torques' in note for note in log.notes)
    with pytest.raises(BagError, match='several topics of type|has no topic'):
        read_joint_log(bag, ['/joint_states', '/nothing'])


def test_fastest_topic_gives_the_stamps(tmp_path: Path) -> None:
    slow = [replace(state, names=('c', 'd')) for state in swing(300)[::10]]
    bag = make_topics(tmp_path / 'bag', {'/a_slow': slow, '/fast': swing(300)})
    log = read_joint_log(bag, ['/a_slow', '/fast'])
    assert log.joint_names == ('a', 'b', 'c', 'd')
    assert len(log.stamps) == 300


def test_group_that_pauses_for_long_is_unknown_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fingers = [State(START + when * STEP, ('finger',), (1.0,)) for when in (0, 1, 8990)]
    states = sorted(swing(9000) + fingers, key=lambda state: state.stamp)
    bag = make_bag(tmp_path / 'bag', states)
    monkeypatch.setattr('robot_dynamics_ros.bags.joint_merge.MOST_WAITING', 3000)
    log = read_joint_log(bag)
    assert len(log.stamps) == 9000
    unknown = np.isnan(log.position[:, 2])
    assert 0 < log.counts['not awaited'] == np.count_nonzero(unknown[:8990])


def test_samples_that_come_too_late_are_counted(tmp_path: Path) -> None:
    # Each step back is less than a second, but together they are more: no reset, and no way to
    # put them in order while only the last second is held.
    states = swing(5000)
    back = [4990 - 90 * k for k in range(1, 5)]
    late = [replace(states[k], stamp=states[k].stamp + 1) for k in back]
    states = states + [
        replace(state, log_time=states[-1].stamp + k) for k, state in enumerate(late, start=1)
    ]
    log = read_joint_log(make_bag(tmp_path / 'bag', states))
    assert log.counts['out of order'] == 4
    whole = log.counts.get('too late', 0) + len(log.stamps)
    assert whole == 5004
    assert (np.diff(log.stamps) > 0.0).all()


def test_stream_tells_what_the_log_has(tmp_path: Path) -> None:
    states = [replace(state, velocity=()) for state in swing(50)]
    stream = JointLogStream(BagSamples(make_bag(tmp_path / 'bag', states)))
    assert stream.joint_names == ('a', 'b')
    assert stream.has('effort') and not stream.has('velocity')
    assert stream.has('effort', ['b'])
    # A second reading gives the same.
    first, second = (sum(len(p.stamps) for p in stream.pieces()) for _ in range(2))
    assert first == second == 50


@pytest.mark.soak
def test_long_log_streams_in_constant_memory(tmp_path: Path) -> None:
    peaks = []
    for count in (100_000, 400_000):
        with BagWriter(tmp_path / f'bag_{count}') as bag:
            for k in range(count):
                values = [1e-3 * k] * 7
                names = ['j1', 'j2', 'j3', 'j4', 'j5', 'j6', 'j7']
                bag.write_joint_state(
                    '/joint_states', k * 1_000_000, names, values, values, values
                )
        tracemalloc.start()
        blocks = joint_log_blocks(tmp_path / f'bag_{count}', block_size=8192)
        assert sum(len(block.stamps) for block in blocks) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # The whole log would be 168 bytes per sample: 17 MB and 67 MB.
    assert peaks[1] < peaks[0] + 5e6
