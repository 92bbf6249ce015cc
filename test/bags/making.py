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

"""Make small bags of every kind with `rosbags` alone: reading and writing are checked apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from struct import pack
from typing import Any

import numpy as np
from rosbags.rosbag1 import Writer as Rosbag1Writer
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import get_typestore, Stores

JOINT_STATE = 'sensor_msgs/msg/JointState'
START = 1_700_000_000_000_000_000
STEP = 10_000_000

STORE = get_typestore(Stores.ROS2_JAZZY)
ROS1_STORE = get_typestore(Stores.ROS1_NOETIC)


@dataclass
class State:
    """One joint state to write; `stamp` and `log_time` in ns."""

    stamp: int
    names: Sequence[str]
    position: Sequence[float]
    velocity: Sequence[float] = ()
    effort: Sequence[float] = ()
    log_time: int | None = None


def swing(count: int = 200, names: Sequence[str] = ('a', 'b')) -> list[State]:
    """Return states of joints that swing, 10 ms apart."""
    states = []
    for index in range(count):
        t = 0.01 * index
        phases = np.arange(1, len(names) + 1)
        states.append(
            State(
                START + index * STEP,
                names,
                np.sin(phases * t),
                phases * np.cos(phases * t),
                phases**2 * np.sin(phases * t) + 0.5,
            )
        )
    return states


def message(state: State, store: Any = STORE) -> Any:
    """Return the message object."""
    types = store.types
    seconds, nanoseconds = divmod(state.stamp, 1_000_000_000)
    header: dict[str, Any] = {
        'stamp': types['builtin_interfaces/msg/Time'](sec=seconds, nanosec=nanoseconds),
        'frame_id': '',
    }
    if store is ROS1_STORE:
        header['seq'] = 0
    return types[JOINT_STATE](
        header=types['std_msgs/msg/Header'](**header),
        name=list(state.names),
        position=np.array(state.position, dtype=np.float64),
        velocity=np.array(state.velocity, dtype=np.float64),
        effort=np.array(state.effort, dtype=np.float64),
    )


def cdr(state: State) -> bytes:
    """Serialize a state as ROS 2 does."""
    return bytes(STORE.serialize_cdr(message(state), JOINT_STATE))


def make_bag(
    path: Path,
    states: Sequence[State],
    *,
    storage: str = 'sqlite3',
    compression: str = 'none',
    topic: str = '/joint_states',
    others: Sequence[str] = (),
) -> Path:
    """Write a rosbag2 folder; `others` are further topics of text messages."""
    plugin = StoragePlugin.MCAP if storage == 'mcap' else StoragePlugin.SQLITE3
    writer = Writer(path, version=9, storage_plugin=plugin)
    writer.set_compression(CompressionMode[compression.upper()], CompressionFormat.ZSTD)
    with writer:
        connection = writer.add_connection(topic, JOINT_STATE, typestore=STORE)
        texts = [
            writer.add_connection(name, 'std_msgs/msg/String', typestore=STORE) for name in others
        ]
        text = STORE.types['std_msgs/msg/String'](data='hello')
        for state in states:
            when = state.stamp if state.log_time is None else state.log_time
            writer.write(connection, when, cdr(state))
            for other in texts:
                writer.write(other, when, STORE.serialize_cdr(text, 'std_msgs/msg/String'))
    return path


def make_split_bag(
    path: Path, parts: Sequence[Sequence[State]], storage: str = 'mcap', *, metadata: bool = True
) -> Path:
    """Write a bag of several files, ``name_0`` and so on, as ``ros2 bag record -d`` does."""
    path.mkdir()
    suffix = 'mcap' if storage == 'mcap' else 'db3'
    names = []
    for index, states in enumerate(parts):
        part = make_bag(path.parent / f'part_{index}', states, storage=storage)
        names.append(f'{path.name}_{index}.{suffix}')
        (part / f'{part.name}.{suffix}').rename(path / names[-1])
        text = (part / 'metadata.yaml').read_text()
    if metadata:
        count = sum(len(states) for states in parts)
        lines = []
        for line in text.splitlines():
            if line.lstrip(' -').startswith('message_count:'):
                line = line.split(':')[0] + f': {count}'
            lines.append(line)
        listed = '\n'.join(f'  - {name}' for name in names)
        text = '\n'.join(lines).replace(f'  - {part.name}.{suffix}', listed, 1)
        (path / 'metadata.yaml').write_text(text)
    return path


def make_ros1_bag(path: Path, states: Sequence[State]) -> Path:
    """Write a ROS 1 bag."""
    with Rosbag1Writer(path) as writer:
        connection = writer.add_connection('/joint_states', JOINT_STATE, typestore=ROS1_STORE)
        for state in states:
            data = ROS1_STORE.serialize_ros1(message(state, ROS1_STORE), JOINT_STATE)
            writer.write(connection, state.stamp, data)
    return path


def make_chunkless_mcap(path: Path, states: Sequence[State]) -> Path:
    """Write an MCAP file as the storage preset ``fastwrite`` does: bare messages, as they come."""
    definition, _ = STORE.generate_msgdef(JOINT_STATE, ros_version=2)
    schema = _record(
        0x03, pack('<H', 1) + _text(JOINT_STATE) + _text('ros2msg') + _text(definition)
    )
    channel = _record(
        0x04, pack('<HH', 0, 1) + _text('/joint_states') + _text('cdr') + pack('<I', 0)
    )
    content = b'\x89MCAP0\r\n' + _record(0x01, _text('ros2') + _text('test')) + schema + channel
    times = [state.stamp if state.log_time is None else state.log_time for state in states]
    for number, (when, state) in enumerate(zip(times, states)):
        content += _record(0x05, pack('<HIQQ', 0, number, when, when) + cdr(state))
    content += _record(0x0F, pack('<I', 0))
    count = len(states)
    statistics = pack('<QHIIIIQQIHQ', count, 1, 1, 0, 0, 0, min(times), max(times), 10, 0, count)
    footer = _record(0x02, pack('<QQI', len(content), 0, 0))
    content += schema + channel + _record(0x0B, statistics) + footer + b'\x89MCAP0\r\n'
    path.write_bytes(content)
    return path


def _record(opcode: int, content: bytes) -> bytes:
    return pack('<BQ', opcode, len(content)) + content


def _text(text: str) -> bytes:
    data = text.encode()
    return pack('<I', len(data)) + data
