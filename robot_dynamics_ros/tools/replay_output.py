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

"""What `robot_dynamics replay` shows and writes: a summary, JSON, plots and a bag."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.bags.joint_log import JointLog
from robot_dynamics_ros.bags.writing import BagWriter
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.report.atomic import staged_directory, write_text
from robot_dynamics_ros.report.table import format_percent
from robot_dynamics_ros.report.torque_comparison import TorqueComparison
from robot_dynamics_ros.report.torque_replay import TorqueReplay
from robot_dynamics_ros.tools.joint_matching import MatchedJoints

BAG_NAME = 'replay'
MODEL_TOPIC = '/model/torques'
FILTERED_TOPIC = '/measured/filtered'
MEASURED_TOPIC = '/measured/joint_states'
SUSPICIOUS = 1.2
"""A model that errs by more than this (relative) is worse than none: something else is wrong."""


@dataclass(frozen=True)
class ReplayRun:
    """
    One finished replay, with all that its report tells.

    Attributes
    ----------
    bag, urdf : str
        The inputs.
    log : JointLog
        The joint states, in model order and under model names.
    matched : MatchedJoints
        The model and how its joints were matched.
    replay : TorqueReplay
        The torques.
    friction : str
        ``none``, ``urdf`` or the file.
    since : float
        Start of the comparison [s].
    command : str
        The command line, for the record.

    """

    bag: str
    urdf: str
    log: JointLog
    matched: MatchedJoints
    replay: TorqueReplay
    friction: str
    since: float
    command: str

    @property
    def filter_text(self) -> str:
        """Return the filter in words."""
        low_pass = self.replay.low_pass
        if low_pass.cutoff is None:
            return 'none'
        return (
            f'zero-phase Butterworth, {low_pass.cutoff:g} Hz, order {low_pass.order} run both ways'
        )

    @property
    def notes(self) -> list[str]:
        """Everything a reader should know, one sentence each."""
        motion = self.replay.motion
        notes = [*self.log.notes, *self.matched.notes]
        if left_out := int(np.count_nonzero(~motion.reliable)):
            notes.append(
                f'{left_out} samples next to ends and gaps, where the acceleration is not known, '
                'are not compared'
            )
        if motion.velocity_disagreements is not None:
            columns = zip(
                self.replay.joint_names, motion.uses_measured, motion.velocity_disagreements
            )
            notes += [
                f'the measured velocity of {joint} differs from the derivative of the position by '
                f'{format_percent(apart)} and is not used'
                for joint, is_used, apart in columns
                if not is_used
            ]
        comparison = self.replay.comparison(self.since)
        for error in comparison.joints if comparison is not None else ():
            if error.relative is not None and error.relative > SUSPICIOUS:
                notes.append(
                    f'{error.joint}: the error is {format_percent(error.relative)} of the torque; '
                    'are sign and unit of the effort, joint map and gravity right?'
                )
        return notes


def summary(run: ReplayRun) -> str:
    """Return the text that is printed."""
    log, replay = run.log, run.replay
    comparison = replay.comparison(run.since)
    raw = replay.comparison_with_raw(run.since)
    lines = [
        f'log       {run.bag}: {log.topic}, {len(log.stamps)} samples, {log.duration:.4g} s, '
        f'{log.rate:.4g} Hz',
        f'model     {run.matched.model.name}: {", ".join(replay.joint_names)}',
        f'filter    {run.filter_text}',
        f'velocity  {replay.motion.velocity_source}',
        f'friction  {run.friction}',
        *(f'note      {note}' for note in run.notes),
        '',
    ]
    if comparison is None or raw is None:
        return '\n'.join([*lines, 'The log has no effort: there is nothing to compare with.'])
    start = f' from {run.since:g} s on' if run.since else ''
    lines += [
        comparison.as_table(f'Measured (filtered) and model torque{start} [N m | N]'),
        '',
        f'global relative error {format_percent(comparison.global_relative)}; '
        f'{format_percent(raw.global_relative)} against the unfiltered effort',
    ]
    return '\n'.join(lines)


def write_results(
    folder: str | Path,
    run: ReplayRun,
    *,
    overwrite: bool = False,
    advance: Callable[[int], None] | None = None,
) -> list[str]:
    """
    Write the results, all or nothing.

    Returns
    -------
    names : list of str
        What was written, in the folder.

    Raises
    ------
    OutputError
        If the folder has something in it and `overwrite` is false, or cannot be written.

    """
    # matplotlib takes half a second to import: only when there is something to draw.
    from robot_dynamics_ros.report.torque_plots import (
        plot_torque_comparison,
        plot_torque_errors,
        plot_torque_terms,
    )

    replay = run.replay
    comparison = replay.comparison(run.since)
    subtitle = _subtitle(run, comparison)
    units = joint_units(run.matched)
    with staged_directory(folder, overwrite=overwrite) as staging:
        write_text(
            staging / 'report.json', json.dumps(as_dict(run), indent=2, allow_nan=False) + '\n'
        )
        stamps, names = run.log.stamps, replay.joint_names
        plot_torque_comparison(
            staging / 'torques.png',
            stamps,
            replay.measured_filtered,
            replay.torque,
            names,
            comparison=comparison,
            units=units,
            subtitle=subtitle,
        )
        plot_torque_terms(
            staging / 'terms.png', stamps, replay.terms, names, units=units, subtitle=subtitle
        )
        if comparison is not None:
            plot_torque_errors(staging / 'errors.png', {'model': comparison}, subtitle=subtitle)
        write_replay_bag(staging / BAG_NAME, run, advance)
        return sorted(entry.name + '/' * entry.is_dir() for entry in staging.iterdir())


def write_replay_bag(
    path: Path, run: ReplayRun, advance: Callable[[int], None] | None = None
) -> None:
    """Write the log, the filtered signals, the model torque and its terms as JointState topics."""
    log, replay = run.log, run.replay
    names = replay.joint_names
    nothing = np.zeros((len(log.stamps), 0))
    raw = (log.position, log.velocity, log.effort)
    motion = replay.motion
    # A bag that a replay wrote may be replayed.
    is_own = log.topic.startswith((MODEL_TOPIC, FILTERED_TOPIC))
    streams: dict[str, tuple[Any, ...]] = {
        MEASURED_TOPIC if is_own else log.topic: tuple(
            nothing if values is None else values for values in raw
        ),
        FILTERED_TOPIC: (
            motion.q,
            motion.v,
            nothing if replay.measured_filtered is None else replay.measured_filtered,
        ),
        MODEL_TOPIC: (motion.q, motion.v, replay.torque),
    }
    for term, values in replay.terms.items():
        streams[f'{MODEL_TOPIC}/{term}'] = (nothing, nothing, values)
    with BagWriter(path) as bag:
        for row, seconds in enumerate(log.stamps):
            stamp = log.start + round(float(seconds) * 1e9)
            for topic, columns in streams.items():
                bag.write_joint_state(topic, stamp, names, *(values[row] for values in columns))
            if advance is not None:
                advance(1)


def as_dict(run: ReplayRun) -> dict[str, Any]:
    """Return the report as plain values for JSON."""
    log, replay, model = run.log, run.replay, run.matched.model
    comparison = replay.comparison(run.since)
    raw = replay.comparison_with_raw(run.since)
    payload = model.payload
    return {
        'command': run.command,
        'bag': str(run.bag),
        'topic': log.topic,
        'samples': len(log.stamps),
        'duration': log.duration,
        'rate': log.rate,
        'counts': dict(log.counts),
        'urdf': str(run.urdf),
        'model': model.name,
        'joint_names': list(replay.joint_names),
        'joint_map': dict(run.matched.joint_map),
        'locked': dict(run.matched.locked),
        'gravity': model.gravity.tolist(),
        'payload': None
        if payload is None
        else {'mass': payload.mass, 'frame': payload.frame, 'com': payload.com.tolist()},
        'friction': run.friction,
        'filter': {
            'kind': 'zero-phase Butterworth',
            'cutoff': replay.low_pass.cutoff,
            'order': replay.low_pass.order,
        },
        'velocity': {
            'source': replay.motion.velocity_source,
            'disagreement': replay.motion.velocity_disagreement,
        },
        'since': run.since,
        'against_filtered_effort': None if comparison is None else comparison.as_dict(),
        'against_raw_effort': None if raw is None else raw.as_dict(),
        'notes': run.notes,
    }


def joint_units(matched: MatchedJoints) -> list[str]:
    """Return the unit of the effort of each joint."""
    kinds = {joint.name: joint.type for joint in matched.model.joints}
    return [
        'N' if kinds[name] is JointType.PRISMATIC else 'N m' for name in matched.model.joint_names
    ]


def _subtitle(run: ReplayRun, comparison: TorqueComparison | None) -> str:
    first = f'{Path(run.bag).name} on {run.matched.model.name}'
    second = f'filter: {run.filter_text}; friction: {run.friction}'
    if comparison is not None:
        first += f', global relative error {format_percent(comparison.global_relative)}'
    return f'{first}\n{second}'
