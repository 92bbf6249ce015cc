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
import shutil

import numpy as np
import pytest

from bags.making import (
    make_bag,
    make_chunkless_mcap,
    make_ros1_bag,
    make_split_bag,
    START,
    STEP,
    swing,
)
from robot_dynamics_ros.bags.joint_blocks import read_joint_log
from robot_dynamics_ros.bags.joint_log import JointLog
from robot_dynamics_ros.bags.joint_states import JOINT_STATE
from robot_dynamics_ros.bags.reading import BagReader
from robot_dynamics_ros.core.exceptions import BagError
from shared_data import shared_path


def same(log: JointLog, reference: JointLog) -> bool:
    """Tell whether two logs hold exactly the same numbers under the same names."""
    pairs = (
        (log.stamps, reference.stamps),
        (log.position, reference.position),
        (log.velocity, reference.velocity),
        (log.effort, reference.effort),
    )
    return log.joint_names == reference.joint_names and all(
        first is second
        or (first is not None and second is not None and np.array_equal(first, second))
        for first, second in pairs
    )


@pytest.fixture(scope='module')
def reference(tmp_path_factory: pytest.TempPathFactory) -> JointLog:
    """Return the log that every form of the bag must give."""
    return read_joint_log(make_bag(tmp_path_factory.mktemp('bags') / 'plain', swing()))


@pytest.mark.parametrize(
    ('storage', 'compression'),
    [
        ('sqlite3', 'none'),
        ('sqlite3', 'message'),
        ('sqlite3', 'file'),
        ('mcap', 'none'),
        ('mcap', 'message'),
        ('mcap', 'file'),
        ('mcap', 'storage'),
    ],
)
def test_every_storage_and_compression_gives_the_same_log(
    tmp_path: Path, reference: JointLog, storage: str, compression: str
) -> None:
    bag = make_bag(tmp_path / 'bag', swing(), storage=storage, compression=compression)
    log = read_joint_log(bag)
    assert same(log, reference)
    assert log.notes == ()
    # The storage file alone, and the folder without metadata.
    (file,) = (path for path in bag.iterdir() if path.name != 'metadata.yaml')
    assert same(read_joint_log(file), reference)
    (bag / 'metadata.yaml').unlink()
    log = read_joint_log(bag)
    assert same(log, reference)
    assert log.notes == ('no metadata.yaml: the storage files are read directly',)


def test_cut_off_packed_file_is_named_as_it_lies_there(tmp_path: Path) -> None:
    bag = make_bag(tmp_path / 'bag', swing(3000), storage='mcap', compression='file')
    (file,) = (path for path in bag.iterdir() if path.name != 'metadata.yaml')
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    log = read_joint_log(bag)
    assert 0 < len(log.stamps) < 3000
    assert any(note.startswith(f'{file.name} is truncated or damaged') for note in log.notes)


def test_ros1_bag_gives_the_same_log(tmp_path: Path, reference: JointLog) -> None:
    assert same(read_joint_log(make_ros1_bag(tmp_path / 'old.bag', swing())), reference)


def test_mcap_without_chunks_is_read_whatever_its_order(
    tmp_path: Path, reference: JointLog
) -> None:
    states = swing()
    file = make_chunkless_mcap(tmp_path / 'fast.mcap', states)
    assert same(read_joint_log(file), reference)
    states[50] = replace(states[50], log_time=states[48].stamp)
    log = read_joint_log(make_chunkless_mcap(file, states))
    assert same(log, reference) and log.notes == ()


@pytest.mark.parametrize('storage', ['sqlite3', 'mcap'])
@pytest.mark.parametrize('metadata', [True, False])
def test_split_bag_is_read_in_recording_order(
    tmp_path: Path, reference: JointLog, storage: str, metadata: bool
) -> None:
    states = swing()
    # Twelve parts: part 10 must come after part 9, not after part 1.
    parts = [states[begin : begin + 17] for begin in range(0, len(states), 17)]
    bag = make_split_bag(tmp_path / 'run', parts, storage, metadata=metadata)
    moved = tmp_path / 'elsewhere' / 'renamed'
    moved.parent.mkdir()
    shutil.move(bag, moved)
    assert same(read_joint_log(moved), reference)


def test_lost_part_of_a_split_bag_is_named_and_the_rest_read(tmp_path: Path) -> None:
    states = swing()
    bag = make_split_bag(tmp_path / 'run', [states[:80], states[80:120], states[120:]])
    (bag / 'run_1.mcap').unlink()
    log = read_joint_log(bag)
    assert len(log.stamps) == 160
    assert log.counts['gaps'] == 1
    assert any('run_1.mcap' in note for note in log.notes)
    assert '160 of 200 messages of /joint_states were read' in log.notes


@pytest.mark.parametrize('compression', ['none', 'storage'])
def test_truncated_mcap_gives_what_is_left(
    tmp_path: Path, reference: JointLog, compression: str
) -> None:
    bag = make_bag(tmp_path / 'bag', swing(), storage='mcap', compression=compression)
    file = bag / 'bag.mcap'
    whole = file.read_bytes()
    most = 0
    for cut in np.linspace(0, len(whole) - 1, 60).astype(int):
        file.write_bytes(whole[:cut])
        try:
            log = read_joint_log(bag)
        except BagError as err:
            assert '\n' not in str(err)
            assert most == 0, 'a longer part must not be worse'
            continue
        count = len(log.stamps)
        assert count >= most
        most = count
        assert np.array_equal(log.position, reference.position[:count])
        assert any('truncated or damaged' in note for note in log.notes)
        if count < 200:
            assert f'{count} of 200 messages of /joint_states were read' in log.notes
    assert most == 200  # only the index is cut off by then


def test_truncated_sqlite3_gives_what_is_left(tmp_path: Path, reference: JointLog) -> None:
    bag = make_bag(tmp_path / 'bag', swing())
    file = bag / 'bag.db3'
    whole = file.read_bytes()
    counts = []
    for cut in np.linspace(0, len(whole), 30).astype(int)[:-1]:
        file.write_bytes(whole[:cut])
        try:
            log = read_joint_log(bag)
        except BagError as err:
            assert '\n' not in str(err)
            continue
        counts.append(len(log.stamps))
        assert np.array_equal(log.position, reference.position[: counts[-1]])
        assert any('damaged' in note for note in log.notes)
    assert max(counts) > 100


def test_damaged_bytes_in_the_middle_never_raise_anything_but_a_bag_error(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    for storage in ('mcap', 'sqlite3'):
        bag = make_bag(tmp_path / storage, swing(60), storage=storage)
        file = bag / f'{storage}.{"mcap" if storage == "mcap" else "db3"}'
        whole = file.read_bytes()
        for _ in range(40):
            damaged = bytearray(whole)
            begin = int(rng.integers(len(whole) - 64))
            damaged[begin : begin + 64] = rng.bytes(64)
            file.write_bytes(damaged)
            try:
                read_joint_log(bag)
            except BagError as err:
                assert '\n' not in str(err)


def test_what_is_not_a_bag_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / 'notes').mkdir()
    (tmp_path / 'notes' / 'a.txt').write_text('x')
    (tmp_path / 'empty.mcap').write_bytes(b'')
    (tmp_path / 'text.db3').write_text('this is no database')
    (tmp_path / 'text.mcap').write_text('this is no log')
    (tmp_path / 'text.bag').write_text('this is no log')
    for name, reason in (
        ('nothing', 'does not exist'),
        ('notes', 'is not a bag: no file in it ends in .db3'),
        ('notes/a.txt', 'is not a bag: expected a folder or a file'),
        ('empty.mcap', 'is empty'),
        ('text.db3', 'is not a sqlite3 file'),
        ('text.mcap', 'is not an MCAP file'),
        ('text.bag', 'cannot be opened.*rosbag reindex'),
    ):
        with pytest.raises(BagError, match=reason) as caught:
            read_joint_log(tmp_path / name)
        assert '\n' not in str(caught.value)


def test_folder_of_bags_names_them(tmp_path: Path) -> None:
    make_bag(tmp_path / 'one', swing(5))
    make_bag(tmp_path / 'two', swing(5))
    with pytest.raises(BagError, match='there are bags inside it: one, two'):
        read_joint_log(tmp_path)
    mixed = tmp_path / 'mixed'
    mixed.mkdir()
    shutil.copy(tmp_path / 'one' / 'one.db3', mixed)
    shutil.copy(tmp_path / 'two' / 'two.db3', mixed)
    with pytest.raises(BagError, match=r'several bags \(one.db3, two.db3\)'):
        read_joint_log(mixed)


def test_unreadable_metadata_is_no_obstacle(tmp_path: Path, reference: JointLog) -> None:
    bag = make_bag(tmp_path / 'bag', swing())
    for text in ('', 'rosbag2_bagfile_information:\n  - 3', ': : :', '\x00\x01'):
        (bag / 'metadata.yaml').write_text(text)
        log = read_joint_log(bag)
        assert same(log, reference)
        assert 'metadata.yaml is not readable' in log.notes[0]


def test_topic_is_found_or_named(tmp_path: Path) -> None:
    bag = make_bag(tmp_path / 'bag', swing(5), topic='/arm/joint_states', others=['/a', '/b'])
    with BagReader(bag) as reader:
        assert reader.topic(JOINT_STATE).name == '/arm/joint_states'
        assert reader.topic(JOINT_STATE, 'arm/joint_states').count == 5
        with pytest.raises(BagError, match=r'/a \[std_msgs/msg/String\], /arm/joint_states'):
            reader.topic(JOINT_STATE, '/joint_states')
        with pytest.raises(BagError, match='no topic /a of type sensor_msgs'):
            reader.topic(JOINT_STATE, '/a')
        with pytest.raises(BagError, match='no topic of type trajectory_msgs'):
            reader.topic('trajectory_msgs/msg/JointTrajectory')
        with pytest.raises(BagError, match='several topics of type std_msgs/msg/String: /a, /b'):
            reader.topic('std_msgs/msg/String')


def test_one_bad_topic_type_does_not_hide_the_joint_states(
    tmp_path: Path, reference: JointLog
) -> None:
    bag = make_bag(tmp_path / 'bag', swing(), others=['/secret'])
    file = bag / 'bag.db3'
    data = file.read_bytes().replace(b'std_msgs/msg/String', b'acme_ms/msg/Gadget!')
    file.write_bytes(data)
    assert same(read_joint_log(bag), reference)


# The bags of cases/bags: 800 messages of one pendulum.

WHOLE = ['good_mcap', 'good_sqlite3_no_metadata', 'mcap_chunk_zstd', 'message_zstd',
         'unknown_type_extra', 'wrong_topic']  # fmt: skip


@pytest.mark.parametrize('name', WHOLE)
def test_case_bag_gives_all_messages(name: str) -> None:
    good = read_joint_log(shared_path('cases', 'bags', 'good_sqlite3'))
    log = read_joint_log(shared_path('cases', 'bags', name))
    assert log.counts['messages'] == 800
    assert log.start == START
    assert good.stamps[1] == pytest.approx(STEP * 1e-9, abs=1e-12)  # exact in nanoseconds
    assert same(log, good)


def test_case_truncated_bag_uses_the_readable_part_and_says_so() -> None:
    good = read_joint_log(shared_path('cases', 'bags', 'good_sqlite3'))
    log = read_joint_log(shared_path('cases', 'bags', 'good_mcap_truncated'))
    assert len(log.stamps) == 558
    assert np.array_equal(log.position, good.position[:558])
    assert '558 of 800 messages of /joint_states were read' in log.notes
    assert any('truncated' in note for note in log.notes)


def test_case_wrong_topic_lists_what_there_is() -> None:
    with pytest.raises(BagError, match=r'/robot1/joint_states \[sensor_msgs/msg/JointState\]'):
        read_joint_log(shared_path('cases', 'bags', 'wrong_topic'), '/joint_states')


def test_case_not_a_bag_is_refused_in_one_line() -> None:
    with pytest.raises(BagError, match='is not a bag') as caught:
        read_joint_log(shared_path('cases', 'bags', 'not_a_bag'))
    assert '\n' not in str(caught.value)


def test_case_nan_effort_and_missing_velocity_are_kept_apart_from_zero() -> None:
    good = read_joint_log(shared_path('cases', 'bags', 'good_sqlite3'))
    log = read_joint_log(shared_path('cases', 'bags', 'nan_effort_missing_velocity'))
    assert np.array_equal(log.position, good.position)
    assert log.velocity is not None and log.effort is not None
    assert good.velocity is not None
    missing = np.isnan(log.velocity)
    assert np.array_equal(log.velocity[~missing], good.velocity[~missing])
    assert np.count_nonzero(missing) == 73
    assert np.count_nonzero(np.isnan(log.effort)) == 115
    assert len([note for note in log.notes if 'lack a finite' in note]) == 2
