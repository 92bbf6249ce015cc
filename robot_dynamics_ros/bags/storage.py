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
What every kind of log file gives: its topics and their raw messages.

Files are opened one by one and by what they are; ``metadata.yaml`` only tells their order. So a
bag without metadata, a bare file, a split bag of which one part is lost and a bag that was moved
are all read by the same few lines.

"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol

from rosbags.rosbag1 import Reader as Rosbag1Reader
from rosbags.rosbag2 import Reader as Rosbag2Reader

from robot_dynamics_ros.bags.compression import decompress_message
from robot_dynamics_ros.core.exceptions import BagError


@dataclass(frozen=True)
class Topic:
    """
    One topic of a log.

    Attributes
    ----------
    name : str
        Name with the leading slash.
    msgtype : str
        Type as ``package/msg/Name``.
    count : int or None
        Number of messages; None where only reading all of them would tell.

    """

    name: str
    msgtype: str
    count: int | None


class RawMessage(NamedTuple):
    """
    One serialized message.

    Attributes
    ----------
    log_time : int
        When it was recorded [ns].
    data : bytes
        CDR bytes (ROS 1 bytes in a ROS 1 bag).
    topic : str
        Name of its topic.

    """

    log_time: int
    data: bytes
    topic: str


class StorageFile(Protocol):
    """An open log file."""

    is_ros1: bool
    warnings: list[str]

    def topics(self) -> list[Topic]:
        """List the topics."""

    def messages(self, topics: Collection[str]) -> Iterator[RawMessage]:
        """Stream the messages of some topics, by name, in recording order."""

    def close(self) -> None:
        """Close the file."""


class IndexedFile:
    """
    A whole log file of any kind that `rosbags` reads.

    Parameters
    ----------
    path : Path
        The file.
    in_file_order : callable, optional
        Gives another reader of the same file, for one that is whole but not in order of time: an
        MCAP file without chunks, as recorders write that favour speed.

    Raises
    ------
    BagError
        If `rosbags` cannot open it; the caller may then try to save what is left.

    """

    def __init__(
        self, path: Path, in_file_order: Callable[[Path], StorageFile] | None = None
    ) -> None:
        self.is_ros1 = path.suffix == '.bag'
        self._in_file_order = in_file_order
        self.warnings: list[str] = []
        self._path = path
        try:
            self._reader: Rosbag1Reader | Rosbag2Reader = (
                Rosbag1Reader(path) if self.is_ros1 else Rosbag2Reader(path)
            )
            self._reader.open()
        except (
            Exception
        ) as err:  # rosbags raises its own, apsw's, struct's and plain errors on damage
            raise BagError(f'{path.name} cannot be opened: {one_line(err)}') from err

    def topics(self) -> list[Topic]:
        """List the topics; publishers of the same topic are one."""
        counts: dict[tuple[str, str], int] = {}
        for connection in self._reader.connections:
            key = (connection.topic, connection.msgtype)
            counts[key] = counts.get(key, 0) + connection.msgcount
        return [Topic(name, msgtype, count) for (name, msgtype), count in counts.items()]

    def messages(self, topics: Collection[str]) -> Iterator[RawMessage]:
        """Stream the messages of some topics; damage ends the stream with a warning."""
        connections = [c for c in self._reader.connections if c.topic in topics]
        if not connections:
            return
        done = 0
        try:
            for connection, log_time, data in self._reader.messages(connections=connections):
                whole = data if self.is_ros1 else decompress_message(data)
                yield RawMessage(log_time, whole, connection.topic)
                done += 1
        except BagError:
            raise
        except Exception as err:  # see above: damage shows as many kinds of errors
            if self._in_file_order is not None and 'not in timestamp order' in str(err):
                yield from islice(self._in_file_order(self._path).messages(topics), done, None)
                return
            self.warnings.append(f'{self._path.name} is damaged: {one_line(err)}')

    def close(self) -> None:
        """Close the file."""
        self._reader.close()

    def __enter__(self) -> IndexedFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def one_line(error: BaseException) -> str:
    """Return the text of an error on one line, cut to a readable length."""
    text = ' '.join(str(error).split()) or type(error).__name__
    return text if len(text) <= 160 else text[:157] + '...'
