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

"""Open a bag of any kind and stream the messages of its topics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from robot_dynamics_ros.bags.compression import UnpackedFiles
from robot_dynamics_ros.bags.location import locate_bag
from robot_dynamics_ros.bags.mcap_salvage import SalvagedMcap
from robot_dynamics_ros.bags.sqlite_salvage import SalvagedSqlite
from robot_dynamics_ros.bags.storage import IndexedFile, one_line, RawMessage, StorageFile, Topic
from robot_dynamics_ros.core.exceptions import BagError


class BagReader:
    """
    An open bag: rosbag2 (sqlite3 or MCAP, compressed, split, without metadata, damaged) or ROS 1.

    Use it as a context manager. Messages are streamed, so memory does not grow with the length of
    the bag.

    Parameters
    ----------
    path : str or Path
        A bag folder or one storage file.
    unpacked : UnpackedFiles, optional
        Where storage files that are packed as a whole are unpacked; a reader that is given those
        of another one finds them done.

    Attributes
    ----------
    path : Path
        As given.
    topics : tuple of Topic
        What is in it, by name.
    warnings : list of str
        What could not be read, and other things to know; complete after the messages were read.

    Raises
    ------
    BagError
        If there is no readable bag.

    """

    def __init__(self, path: str | Path, unpacked: UnpackedFiles | None = None) -> None:
        self.path = Path(path)
        self._unpacked = UnpackedFiles() if unpacked is None else unpacked
        location = locate_bag(path)
        self._stated_counts = location.counts
        self._warnings = location.warnings
        self._stack = ExitStack()
        self._files: list[StorageFile] = []
        try:
            self._open_files(location.files)
        except BaseException:
            self.close()
            raise
        self.topics = self._merge_topics()

    @property
    def is_ros1(self) -> bool:
        """Whether the messages are serialized as in ROS 1."""
        return any(file.is_ros1 for file in self._files)

    @property
    def warnings(self) -> list[str]:
        """Return what could not be read, and other things to know."""
        return self._warnings + [text for file in self._files for text in file.warnings]

    def topic(self, msgtype: str, name: str | None = None) -> Topic:
        """
        Find the topic of a type.

        Parameters
        ----------
        msgtype : str
            Wanted type, as in ``'sensor_msgs/msg/JointState'``.
        name : str, optional
            Its name; the leading slash may be left out. Without it there must be one topic of the
            type, or one of them that is called ``/joint_states``.

        Raises
        ------
        BagError
            If there is none, another type has that name, or there are several; the topics are
            listed.

        """
        of_type = [topic for topic in self.topics if topic.msgtype == msgtype]
        if name is not None:
            wanted = '/' + name.lstrip('/')
            for topic in self.topics:
                if '/' + topic.name.lstrip('/') == wanted and topic.msgtype == msgtype:
                    return topic
            raise BagError(
                f'{self.path} has no topic {wanted} of type {msgtype}; '
                f'it has: {self._topics_text()}'
            )
        if len(of_type) == 1:
            return of_type[0]
        if not of_type:
            raise BagError(
                f'{self.path} has no topic of type {msgtype}; it has: {self._topics_text()}'
            )
        for topic in of_type:
            if topic.name == '/joint_states':
                return topic
        names = ', '.join(topic.name for topic in of_type)
        raise BagError(
            f'{self.path} has several topics of type {msgtype}: {names}; name one of them'
        )

    def messages(self, *topics: Topic) -> Iterator[RawMessage]:
        """Stream raw messages in recording order; afterwards `warnings` tells what was lost."""
        done = dict.fromkeys((topic.name for topic in topics), 0)
        for file in self._files:
            for message in file.messages(done):
                yield message
                done[message.topic] += 1
        for name, count in done.items():
            stated = self._stated_counts.get(name, count)
            if count != stated:
                self._warnings.append(f'{count} of {stated} messages of {name} were read')
            elif any(file.warnings for file in self._files):
                self._warnings.append(f'{count} messages of {name} were read')

    def add_warning(self, text: str) -> None:
        """Add what a later stage found."""
        self._warnings.append(text)

    def close(self) -> None:
        """Close all files."""
        self._stack.close()

    def __enter__(self) -> BagReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _open_files(self, paths: list[Path]) -> None:
        refused: list[str] = []
        for path in paths:
            try:
                file = open_storage(self._readable(path))
            except BagError as err:
                refused.append(str(err))
                continue
            self._stack.callback(file.close)
            self._files.append(file)
        if not self._files:
            raise BagError(f'{self.path} cannot be read: {"; ".join(refused)}')
        self._warnings += refused

    def _readable(self, path: Path) -> Path:
        if path.suffix != '.zstd':
            return path
        target = self._unpacked.target(path)
        if path in self._unpacked.damaged:
            self._warnings.append(
                f'{path.name} is truncated or damaged: only its readable part is unpacked'
            )
        return target

    def _merge_topics(self) -> tuple[Topic, ...]:
        merged: dict[tuple[str, str], int | None] = {}
        for file in self._files:
            for topic in file.topics():
                key = (topic.name, topic.msgtype)
                before = merged.get(key, 0)
                known = before is not None and topic.count is not None
                merged[key] = before + topic.count if known else None  # type: ignore[operator]
        return tuple(Topic(name, kind, count) for (name, kind), count in sorted(merged.items()))

    def _topics_text(self) -> str:
        shown = [f'{topic.name} [{topic.msgtype}]' for topic in self.topics]
        return (', '.join(shown[:12]) + (', ...' if len(shown) > 12 else '')) or 'no topics'


def open_storage(path: Path) -> StorageFile:
    """
    Open one storage file, by its index if that is whole, or else as far as it can be saved.

    Raises
    ------
    BagError
        If nothing in it can be read.

    """
    try:
        return IndexedFile(path, SalvagedMcap)
    except BagError as err:
        if path.stat().st_size == 0:
            raise BagError(f'{path.name} is empty') from err
        if path.suffix == '.mcap':
            return SalvagedMcap(path, one_line(err.__cause__ or err))
        if path.suffix == '.db3':
            return SalvagedSqlite(path, one_line(err.__cause__ or err))
        if path.suffix == '.bag':
            raise BagError(f'{err}; `rosbag reindex` of ROS 1 may repair it') from err
        raise
