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

"""
Save the readable part of an MCAP file whose end is missing or whose index is damaged.

An MCAP file is a list of records, each an opcode (1 byte), a length (8 bytes, little endian) and
content. Messages lie in chunks or bare; schema and channel records, which name types and topics,
come before the messages that use them. So one pass from the front gives everything up to the
damage, without the index at the end.

References
----------
.. [1] MCAP format specification, section "Records", https://mcap.dev/spec

"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
import struct
from typing import BinaryIO

from robot_dynamics_ros.bags.compression import decompress_chunk, decompress_message
from robot_dynamics_ros.bags.storage import RawMessage, Topic
from robot_dynamics_ros.core.exceptions import BagError

MAGIC = b'\x89MCAP0\r\n'
_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END = 0x03, 0x04, 0x05, 0x06, 0x0F
_MESSAGE_HEADER = struct.Struct('<HIQQ')
_RECORD_HEADER = struct.Struct('<BQ')
_LARGEST_RECORD = 1 << 31


class SalvagedMcap:
    """
    An MCAP file read from the front, record by record.

    Parameters
    ----------
    path : Path
        The file.
    reason : str
        Why it is not read by its index, for the warning.

    Raises
    ------
    BagError
        If the file does not begin as MCAP.

    """

    is_ros1 = False

    def __init__(self, path: Path, reason: str = 'no usable index') -> None:
        self._path = path
        self.warnings = [
            f'{path.name} is truncated or damaged ({reason}): its readable part is used'
        ]
        with path.open('rb') as stream:
            if stream.read(len(MAGIC)) != MAGIC:
                raise BagError(f'{path.name} is not an MCAP file')
        self._schemas: dict[int, str] = {}
        self._channels: dict[int, tuple[str, str]] = {}
        self._counts: dict[int, int] = {}
        for channel, _, _ in self._scan():
            self._counts[channel] = self._counts.get(channel, 0) + 1
        if not self._channels:
            raise BagError(f'{path.name} is cut off before its first topic: nothing can be read')

    def topics(self) -> list[Topic]:
        """List the topics seen before the damage, with the number of messages that can be read."""
        counts: dict[tuple[str, str], int] = {}
        for channel, key in self._channels.items():
            counts[key] = counts.get(key, 0) + self._counts.get(channel, 0)
        return [Topic(name, msgtype, count) for (name, msgtype), count in counts.items()]

    def messages(self, topics: Collection[str]) -> Iterator[RawMessage]:
        """Stream the readable messages of some topics in file order."""
        for channel, log_time, data in self._scan():
            name = self._channels[channel][0]
            if name in topics:
                yield RawMessage(log_time, decompress_message(data), name)

    def close(self) -> None:
        """Do nothing: the file is only open while it is scanned."""

    def _scan(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield channel, log time and bytes of every message up to the damage."""
        with self._path.open('rb') as stream:
            stream.seek(len(MAGIC))
            for opcode, content in _records_of(stream):
                if opcode == _CHUNK:
                    yield from self._scan_chunk(content)
                elif opcode == _DATA_END:
                    return
                else:
                    yield from self._record(opcode, content)

    def _scan_chunk(self, content: bytes) -> Iterator[tuple[int, int, bytes]]:
        # start time, end time, unpacked size (8 each), crc (4), compression (string), packed size
        # (8), records
        if len(content) < 40:
            return
        (name_size,) = struct.unpack_from('<I', content, 28)
        compression = content[32 : 32 + name_size].decode('utf-8', 'replace')
        records = decompress_chunk(content[40 + name_size :], compression)
        position = 0
        while position + _RECORD_HEADER.size <= len(records):
            opcode, size = _RECORD_HEADER.unpack_from(records, position)
            position += _RECORD_HEADER.size
            if position + size > len(records):
                return
            yield from self._record(opcode, records[position : position + size])
            position += size

    def _record(self, opcode: int, content: bytes) -> Iterator[tuple[int, int, bytes]]:
        if opcode == _MESSAGE and len(content) >= _MESSAGE_HEADER.size:
            channel, _, log_time, _ = _MESSAGE_HEADER.unpack_from(content)
            if channel in self._channels:
                yield channel, log_time, content[_MESSAGE_HEADER.size :]
        elif opcode == _SCHEMA:
            (schema,) = struct.unpack_from('<H', content)
            self._schemas[schema] = _string(content, 2)[0]
        elif opcode == _CHANNEL:
            channel, schema = struct.unpack_from('<HH', content)
            topic = _string(content, 4)[0]
            self._channels[channel] = (topic, self._schemas.get(schema, 'unknown'))


def _records_of(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield opcode and content; the last content may be shorter than announced."""
    while len(header := stream.read(_RECORD_HEADER.size)) == _RECORD_HEADER.size:
        opcode, size = _RECORD_HEADER.unpack(header)
        if size > _LARGEST_RECORD:
            return
        content = stream.read(size)
        if len(content) < size and opcode != _CHUNK:
            return
        yield opcode, content


def _string(content: bytes, position: int) -> tuple[str, int]:
    (size,) = struct.unpack_from('<I', content, position)
    end = position + 4 + size
    return content[position + 4 : end].decode('utf-8', 'replace'), end
