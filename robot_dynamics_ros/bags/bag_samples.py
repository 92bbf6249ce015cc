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

"""Joint states of one or several topics of a bag, as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from robot_dynamics_ros.bags.compression import UnpackedFiles
from robot_dynamics_ros.bags.joint_rows import CHUNK, JointGatherer, JointRows
from robot_dynamics_ros.bags.joint_states import joint_samples, JOINT_STATE
from robot_dynamics_ros.bags.reading import BagReader


class BagSamples:
    """
    The joint states of a bag.

    Parameters
    ----------
    path : str or Path
        Bag folder or storage file.
    topics : sequence of str
        Names of joint state topics; found by their type if there is only one.

    Attributes
    ----------
    name : str
        Path and topics, for messages.
    contents : tuple of Topic
        All topics of the bag.
    topics : tuple of str
        Names of the topics that are read.
    message_count : int or None
        Messages of these topics, if the bag says so.
    counts : dict
        Messages by what happened to them, after a reading.
    notes : list of str
        What should be known of the last reading.

    Raises
    ------
    BagError
        If there is no readable bag, or no such topic.

    """

    def __init__(self, path: str | Path, topics: Sequence[str] = ()) -> None:
        self._path = path
        self._unpacked = UnpackedFiles()
        with BagReader(path, self._unpacked) as bag:
            self.contents = bag.topics
            found = [bag.topic(JOINT_STATE, name) for name in topics or (None,)]
        self.topics = tuple(dict.fromkeys(topic.name for topic in found))
        counts = {topic.name: topic.count for topic in found}
        known = [count for count in counts.values() if count is not None]
        self.message_count = sum(known) if len(known) == len(counts) else None
        self.name = f'{path}: {", ".join(self.topics)}'
        self.counts: dict[str, int] = {}
        self.notes: list[str] = []

    def chunks(self, advance: Callable[[int], None] | None = None) -> Iterator[list[JointRows]]:
        """
        Stream all samples, see `SampleSource.chunks`.

        Parameters
        ----------
        advance : callable, optional
            Called with the number of messages since the last call.

        Raises
        ------
        BagError
            If the bag cannot be read any more.

        """
        with BagReader(self._path, self._unpacked) as bag:
            gatherer = JointGatherer()
            found = [bag.topic(JOINT_STATE, name) for name in self.topics]
            for number, sample in enumerate(joint_samples(bag, *found), start=1):
                gatherer.add(sample)
                if number % CHUNK == 0:
                    yield gatherer.take()
                    if advance is not None:
                        advance(CHUNK)
            yield gatherer.take()
            if advance is not None:
                advance(gatherer.counts['messages'] % CHUNK)
            self.counts = gatherer.counts
            self.notes = [*bag.warnings, *gatherer.notes]
