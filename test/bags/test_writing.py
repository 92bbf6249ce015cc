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
from rosbags.highlevel import AnyReader
from ruamel.yaml import YAML

from robot_dynamics_ros.bags.joint_blocks import read_joint_log
from robot_dynamics_ros.bags.writing import BagWriter
from robot_dynamics_ros.core.exceptions import BagError, DimensionError, OutputError

START = 1_700_000_000_000_000_000


def write_run(path: Path, *, overwrite: bool = False, count: int = 20) -> None:
    with BagWriter(path, overwrite=overwrite) as bag:
        bag.write_string('/robot_description', START, '<robot name="ä"/>')
        for index in range(count):
            stamp = START + index * 1_000_000
            bag.write_clock(stamp)
            bag.write_joint_state('/joint_states', stamp, ['a', 'b'], [index, 2.0], effort=[3, 4])
            bag.write_float64_multi_array('/commands', stamp, [1.0, -2.0, index])
        bag.write_joint_trajectory(
            '/reference', START, ['a', 'b'], [0.0, 1.25], np.eye(2), accelerations=2.0 * np.eye(2)
        )


def test_bag_reads_back_with_nothing_but_its_own_definitions(tmp_path: Path) -> None:
    write_run(tmp_path / 'run')
    assert sorted(file.name for file in (tmp_path / 'run').iterdir()) == [
        'metadata.yaml',
        'run.mcap',
    ]
    # No type store is given: the embedded definitions must do.
    messages: dict[str, list[object]] = {}
    with AnyReader([tmp_path / 'run']) as reader:
        for connection, time, data in reader.messages():
            messages.setdefault(connection.topic, []).append(
                reader.deserialize(data, connection.msgtype)
            )
            assert time >= START
    assert {topic: len(values) for topic, values in messages.items()} == {
        '/robot_description': 1,
        '/clock': 20,
        '/joint_states': 20,
        '/commands': 20,
        '/reference': 1,
    }
    state, command = messages['/joint_states'][7], messages['/commands'][7]
    trajectory, clock = messages['/reference'][0], messages['/clock'][7]
    assert state.header.stamp.nanosec == 7_000_000  # type: ignore[attr-defined]
    assert state.position.tolist() == [7.0, 2.0]  # type: ignore[attr-defined]
    assert state.velocity.size == 0  # type: ignore[attr-defined]
    assert command.data.tolist() == [1.0, -2.0, 7.0]  # type: ignore[attr-defined]
    assert clock.clock.nanosec == 7_000_000  # type: ignore[attr-defined]
    point = trajectory.points[1]  # type: ignore[attr-defined]
    assert (point.time_from_start.sec, point.time_from_start.nanosec) == (1, 250_000_000)
    assert (point.positions.tolist(), point.velocities.tolist()) == ([0.0, 1.0], [])
    assert point.accelerations.tolist() == [0.0, 2.0]
    log = read_joint_log(tmp_path / 'run')
    assert log.start == START and log.notes == ('the log has no velocity',)


def test_wrench_odometry_and_empty_positions_read_back(tmp_path: Path) -> None:
    wrench, pose, twist = np.arange(6) + 0.5, np.arange(7) + 1.0, np.arange(6) - 2.0
    with BagWriter(tmp_path / 'run') as bag:
        bag.write_wrench('/contacts/foot', START + 5, 'foot', wrench)
        bag.write_odometry('/base', START, ('world', 'pelvis'), pose, twist)
        bag.write_joint_trajectory('/motion', START, ['a'], [0.0], None, [[3.0]])
        with pytest.raises(DimensionError, match='wrench has'):
            bag.write_wrench('/contacts/foot', START, 'foot', [1.0])
        with pytest.raises(DimensionError, match='pose has'):
            bag.write_odometry('/base', START, ('world', 'pelvis'), wrench, twist)
    with AnyReader([tmp_path / 'run']) as reader:
        found: dict[str, Any] = {
            connection.topic: reader.deserialize(data, connection.msgtype)
            for connection, _, data in reader.messages()
        }
    push = found['/contacts/foot']
    assert (push.header.frame_id, push.header.stamp.nanosec) == ('foot', 5)
    force, torque = push.wrench.force, push.wrench.torque
    numbers = [force.x, force.y, force.z, torque.x, torque.y, torque.z]
    assert numbers == wrench.tolist()
    base = found['/base']
    assert (base.header.frame_id, base.child_frame_id) == ('world', 'pelvis')
    place, turn = base.pose.pose.position, base.pose.pose.orientation
    assert [place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w] == pose.tolist()
    linear, angular = base.twist.twist.linear, base.twist.twist.angular
    assert [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z] == twist.tolist()
    point = found['/motion'].points[0]
    assert (point.positions.tolist(), point.velocities.tolist()) == ([], [3.0])


def test_metadata_is_of_the_version_that_humble_and_later_read(tmp_path: Path) -> None:
    write_run(tmp_path / 'run')
    content = YAML(typ='safe').load((tmp_path / 'run' / 'metadata.yaml').read_text())
    information = content['rosbag2_bagfile_information']
    assert information['version'] == 8
    assert information['storage_identifier'] == 'mcap'
    assert information['message_count'] == 62
    assert information['relative_file_paths'] == ['run.mcap']
    assert information['starting_time']['nanoseconds_since_epoch'] == START
    assert information['duration']['nanoseconds'] == 19_000_000
    topics = {
        entry['topic_metadata']['name']: entry['topic_metadata']
        for entry in information['topics_with_message_count']
    }
    # Up to version 8 the QoS profiles are YAML in a string; 1 is transient local, 2 is volatile.
    for name, durability in (('/robot_description', 1), ('/joint_states', 2)):
        (profile,) = YAML(typ='safe').load(topics[name]['offered_qos_profiles'])
        assert (profile['reliability'], profile['durability']) == (1, durability)
    assert topics['/joint_states']['type_description_hash'].startswith('RIHS01_')


def test_mcap_file_is_valid_for_the_reference_reader(tmp_path: Path) -> None:
    reader_module = pytest.importorskip('mcap.reader', reason='needs the PyPI package mcap')
    write_run(tmp_path / 'run', count=20_000)  # several chunks
    with (tmp_path / 'run' / 'run.mcap').open('rb') as stream:
        reader = reader_module.make_reader(stream, validate_crcs=True)
        summary = reader.get_summary()
        assert summary.statistics.message_count == 60_002
        assert summary.statistics.chunk_count > 3
        assert {channel.message_encoding for channel in summary.channels.values()} == {'cdr'}
        assert {schema.encoding for schema in summary.schemas.values()} == {'ros2msg'}
        times = [message.log_time for _, _, message in reader.iter_messages()]
    assert len(times) == 60_002
    assert times == sorted(times)


def test_nothing_is_left_of_an_unfinished_bag(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), BagWriter(tmp_path / 'run') as bag:
        bag.write_clock(START)
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_existing_bag_is_only_replaced_when_told(tmp_path: Path) -> None:
    write_run(tmp_path / 'run')
    with pytest.raises(OutputError, match='run exists'):
        BagWriter(tmp_path / 'run')
    before = (tmp_path / 'run' / 'run.mcap').read_bytes()
    with pytest.raises(ZeroDivisionError), BagWriter(tmp_path / 'run', overwrite=True) as bag:
        bag.write_clock(START)
        raise ZeroDivisionError
    assert (tmp_path / 'run' / 'run.mcap').read_bytes() == before
    (tmp_path / 'run' / 'old_0.db3').touch()
    write_run(tmp_path / 'run', overwrite=True, count=5)
    assert len(read_joint_log(tmp_path / 'run').stamps) == 5
    assert not (tmp_path / 'run' / 'old_0.db3').exists()
    assert [entry.name for entry in tmp_path.iterdir()] == ['run']


def test_folder_that_is_no_bag_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / 'thesis.tex').write_text('years of work')
    with pytest.raises(OutputError, match='is not a bag'):
        BagWriter(tmp_path, overwrite=True)


def test_wrong_use_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BagError, match='not open'):
        BagWriter(tmp_path / 'run').write_clock(START)
    with BagWriter(tmp_path / 'run') as bag:
        with pytest.raises(DimensionError, match='effort has shape'):
            bag.write_joint_state('/joint_states', START, ['a'], [1.0], effort=[1.0, 2.0])
        bag.write_joint_state('/joint_states', START, ['a'], [1.0])
        with pytest.raises(BagError, match='has type sensor_msgs/msg/JointState'):
            bag.write_clock(START, '/joint_states')
        with pytest.raises(BagError, match='is negative'):
            bag.write_clock(-1)
        with pytest.raises(BagError, match='acme_msgs/msg/Secret is not known'):
            bag.write_serialized('/secret', 'acme_msgs/msg/Secret', START, b'')
        with pytest.raises(DimensionError, match='positions has shape'):
            bag.write_joint_trajectory('/t', START, ['a', 'b'], [0.0], np.zeros((1, 3)))
