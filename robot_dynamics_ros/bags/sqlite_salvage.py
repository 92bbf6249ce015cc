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

"""Save the readable part of a rosbag2 sqlite3 file that is cut off or damaged."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
import sqlite3

from robot_dynamics_ros.bags.compression import decompress_message
from robot_dynamics_ros.bags.storage import one_line, RawMessage, Topic
from robot_dynamics_ros.core.exceptions import BagError

MAGIC = b'SQLite format 3\x00'


class SalvagedSqlite:
    """
    A sqlite3 bag read row by row, without its index, up to the first page that is missing.

    Parameters
    ----------
    path : Path
        The file.
    reason : str
        Why it is not read by its index, for the warning.

    Raises
    ------
    BagError
        If the file is not sqlite3, or its topics cannot be read.

    """

    is_ros1 = False

    def __init__(self, path: Path, reason: str = 'no usable index') -> None:
        self._path = path
        self.warnings = [
            f'{path.name} is truncated or damaged ({reason}): its readable part is used'
        ]
        with path.open('rb') as stream:
            if stream.read(len(MAGIC)) != MAGIC:
                raise BagError(f'{path.name} is not a sqlite3 file')
        self._connection = sqlite3.connect(f'{path.resolve().as_uri()}?immutable=1', uri=True)
        try:
            rows = self._connection.execute('SELECT id, name, type FROM topics').fetchall()
        except sqlite3.Error as err:
            self._connection.close()
            raise BagError(f'{path.name} is not a readable bag: {one_line(err)}') from err
        self._topics = {int(number): (str(name), str(kind)) for number, name, kind in rows}

    def topics(self) -> list[Topic]:
        """List the topics; how many messages can be read shows when they are read."""
        return [Topic(name, kind, None) for name, kind in dict.fromkeys(self._topics.values())]

    def messages(self, topics: Collection[str]) -> Iterator[RawMessage]:
        """Stream the readable messages of some topics in the order of the rows."""
        wanted = {number: name for number, (name, _) in self._topics.items() if name in topics}
        try:
            # NOT INDEXED: the index may point into pages that are gone.
            rows = self._connection.execute(
                'SELECT topic_id, timestamp, data FROM messages NOT INDEXED ORDER BY rowid'
            )
            for number, log_time, data in rows:
                if number in wanted:
                    data = decompress_message(bytes(data))
                    yield RawMessage(int(log_time), data, wanted[number])
        except sqlite3.Error as err:
            self.warnings.append(f'{self._path.name}: {one_line(err)}')

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
