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

"""The logs of `robot_dynamics payload`, filtered, with joints at rest left out."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.excitation_spectrum import CutoffChoice
from robot_dynamics_ros.core.identification.joint_samples import JointSamples
from robot_dynamics_ros.core.identification.sample_stream import (
    LogFilter,
    record_cutoffs,
    SampleStream,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.tools.identify_data import OpenPart
from robot_dynamics_ros.tools.joint_matching import MatchedJoints
from robot_dynamics_ros.tools.log_arguments import open_logs
from robot_dynamics_ros.tools.log_reader import LogReader

FEWEST = 20
"""Samples of a log."""


@dataclass(frozen=True, eq=False)
class PayloadMotions:
    """
    Motions with a payload, and perhaps without it.

    Attributes
    ----------
    matched : MatchedJoints
        The arm, and how its joints were matched.
    loaded, unloaded : tuple of JointSamples
        The motions; efforts in the unit that the arguments lead to.
    cutoffs : CutoffChoice
        Of the filters, from the longest loaded log.
    notes : tuple of str
        What a reader should know about the logs.

    """

    matched: MatchedJoints
    loaded: tuple[JointSamples, ...]
    unloaded: tuple[JointSamples, ...]
    cutoffs: CutoffChoice
    notes: tuple[str, ...]

    @property
    def still(self) -> tuple[str, ...]:
        """Return the joints that are at rest in all loaded motions."""
        used = np.any([part.use.any(axis=0) for part in self.loaded], axis=0)
        names = self.matched.model.v_names
        return tuple(name for name, moves in zip(names, used.tolist()) if not moves)


def payload_motions(args: argparse.Namespace, model: RobotModel) -> PayloadMotions:
    """
    Read the logs that the arguments name, loaded ones and those of ``--unloaded``.

    Raises
    ------
    BagError
        If a log cannot be read, or lacks a joint that the first one has.
    ConfigurationError
        If joints cannot be matched, efforts are missing, or a log is too short or does not move.
    ModelError
        If the model cannot be built with these joints held.

    """
    every = argparse.Namespace(**{**vars(args), 'logs': [*args.logs, *args.unloaded]})
    opened = open_logs(every, model, args.lock)
    robot = opened.matched.model
    reader = LogReader.of(every, opened)
    count = len(args.logs)
    cutoffs = _cutoffs(reader, args, robot)
    how = LogFilter(cutoffs, args.standstill, args.effort_delay)
    samples = tuple(_samples(_opened(reader, name), robot, how) for name in every.logs)
    notes = (*opened.matched.notes, opened.meaning.sentence)
    return PayloadMotions(opened.matched, samples[:count], samples[count:], cutoffs, notes)


def _opened(reader: LogReader, name: str) -> OpenPart:
    log = reader.opened(name)
    if len(log.stamps) < FEWEST:
        raise ConfigurationError(
            f'{name} has {len(log.stamps)} samples, expected at least {FEWEST}'
        )
    return OpenPart(log, slice(0, len(log.stamps)))


def _cutoffs(reader: LogReader, args: argparse.Namespace, robot: RobotModel) -> CutoffChoice:
    """Return the cutoffs from the longest of the loaded logs."""
    if len(args.logs) == 1:
        return record_cutoffs(robot, _opened(reader, args.logs[0]), args.cutoff)
    longest = max(args.logs, key=lambda name: len(_opened(reader, name).stamps))
    return record_cutoffs(robot, _opened(reader, longest), args.cutoff)


def _samples(record: OpenPart, robot: RobotModel, how: LogFilter) -> JointSamples:
    samples = SampleStream(robot, record, how, is_fitted=True).whole()
    if not samples.use.any():
        raise ConfigurationError(
            f'{record.name}: no joint is ever faster than {how.standstill:g} rad/s '
            '(--standstill): nothing is left to fit'
        )
    return samples
