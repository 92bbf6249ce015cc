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

"""Read logs for a model again and again, here or in processes that were sent the reader."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any
import uuid

import numpy as np

from robot_dynamics_ros.bags.log_source import LogSource
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.joint_record import JointRecord
from robot_dynamics_ros.core.log_health.effort_meaning import EffortMeaning
from robot_dynamics_ros.report.progress import Progress
from robot_dynamics_ros.tools.log_arguments import OpenedLogs
from robot_dynamics_ros.tools.log_opening import open_stream, samples_of


class LogReader:
    """
    Reads logs whole; the last one and the surveys of all are remembered.

    A copy that another process gets remembers nothing at first, and is then the same for all that
    this process is sent.

    Parameters
    ----------
    args : argparse.Namespace
        Those of `add_log_arguments`.
    joint_names : tuple of str
        Joints of the model.
    joint_map : mapping of str to str
        Name in the model of each renamed joint of the logs.
    meaning : EffortMeaning
        How efforts become torques.

    """

    def __init__(
        self,
        args: argparse.Namespace,
        joint_names: tuple[str, ...],
        joint_map: Mapping[str, str],
        meaning: EffortMeaning,
    ) -> None:
        self._settings = (args, joint_names, dict(joint_map), meaning)
        self._key = uuid.uuid4().hex
        self._shows_progress = True
        self._sources: dict[str, LogSource] = {}
        self._last: tuple[str, JointRecord] | None = None

    @staticmethod
    def of(args: argparse.Namespace, opened: OpenedLogs) -> LogReader:
        """Return a reader for logs like those that were opened, which it remembers."""
        matched = opened.matched
        reader = LogReader(args, matched.model.joint_names, matched.joint_map, opened.meaning)
        reader._sources = dict(zip(args.logs, opened.sources))
        return reader

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what is sent to another process: the settings."""
        return _reader_here, (self._key, *self._settings)

    def expected_samples(self, name: str) -> int:
        """Return about how many samples a log has; 0 if it does not say so itself."""
        return samples_of(name, self._settings[0]).message_count or 0

    def read(self, name: str) -> JointRecord:
        """
        Read a log.

        Raises
        ------
        BagError
            If it cannot be read, or lacks a joint.
        ConfigurationError
            If efforts are missing.

        """
        if self._last is None or self._last[0] != name:
            self._last = None  # before the next one takes its place
            self._last = (name, self._record(name))
        return self._last[1]

    def _record(self, name: str) -> JointRecord:
        source = self._source(name)
        if self._shows_progress:
            with Progress(f'reading {source.name}') as progress:
                log = source.read(advance=progress.advance)
        else:
            log = source.read()
        effort = log.effort
        if effort is None:
            raise ConfigurationError(
                f'{source.name}: {log.topic} has no effort; an identification needs measured '
                'efforts'
            )
        silent = [joint for joint, e in zip(log.joint_names, effort.T) if not np.isfinite(e).any()]
        if silent:
            raise ConfigurationError(
                f'{source.name}: {log.topic} has no effort of {", ".join(silent)}'
            )
        return JointRecord(name, log.stamps, log.position, log.velocity, effort, log.notes)

    def _source(self, name: str) -> LogSource:
        if name not in self._sources:
            args, joint_names, joint_map, meaning = self._settings
            stream = open_stream(samples_of(name, args), args)
            source = LogSource(
                stream, joint_names, joint_map, meaning, since=args.since, until=args.until
            )
            source.require_joints()
            self._sources[name] = source
        return self._sources[name]


_HERE: dict[str, LogReader] = {}


def _reader_here(
    key: str,
    args: argparse.Namespace,
    joint_names: tuple[str, ...],
    joint_map: Mapping[str, str],
    meaning: EffortMeaning,
) -> LogReader:
    """Return the one reader of this process for a run; that of an earlier run is forgotten."""
    if key not in _HERE:
        _HERE.clear()
        reader = LogReader(args, joint_names, joint_map, meaning)
        reader._key = key
        reader._shows_progress = False
        _HERE[key] = reader
    return _HERE[key]
