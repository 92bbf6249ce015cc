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

"""What the demonstration leaves behind: table, figure, report and bag."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.bags.writing import BagWriter
from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.model.urdf_source import read_source
from robot_dynamics_ros.core.model.xacro_source import expand_xacro
from robot_dynamics_ros.demo.graph import COMMANDS, REFERENCES, STATES, TORQUES
from robot_dynamics_ros.demo.plan import LAWS, LOCKSTEP, WANTED_RATIO
from robot_dynamics_ros.demo.session import RunRecord
from robot_dynamics_ros.report.demo_figure import Curve, plot_demonstration
from robot_dynamics_ros.report.table import format_number, format_table
from robot_dynamics_ros.resources import urdf_path

RUN_TOPIC = '/demo/run'
WANTED_TOPIC = '/demo/wanted'
"""The reference at the times of the joint states, to be drawn beside them."""

_TYPES = {
    STATES: 'sensor_msgs/msg/JointState',
    TORQUES: 'sensor_msgs/msg/JointState',
    COMMANDS: 'std_msgs/msg/Float64MultiArray',
    REFERENCES: 'trajectory_msgs/msg/JointTrajectory',
}
_LEAD_IN = 300_000_000
"""How much of what comes before the motion is kept [ns]."""


def feedforward_ratio(records: list[RunRecord]) -> float:
    """Return by what factor feedforward cuts the largest error of PD, without friction."""
    errors = {
        record.run.mode: record.measurement.largest_error
        for record in records
        if not record.run.has_friction
    }
    return errors['pd'] / errors['pd_feedforward']


def verdict(ratio: float) -> str:
    """Return the sentence on that factor."""
    outcome = 'reached' if ratio >= WANTED_RATIO else 'MISSED'
    return (
        'Without friction, feedforward cuts the largest error of PD alone on pick_place '
        f'{format_number(ratio, 3)} times (wanted {WANTED_RATIO:g} or more: {outcome}).'
    )


def tables(records: list[RunRecord]) -> str:
    """Return a table for each group of runs."""
    texts = []
    for group, members in _groups(records).items():
        rows = []
        for record in members:
            measured = record.measurement
            median, p99 = measured.latency_quantiles
            rows.append(
                [
                    LAWS[record.run.mode],
                    f'{1e3 * measured.largest_error:.2f}',
                    f'{1e3 * measured.rms_error:.2f}',
                    str(record.pace),
                    f'{measured.rate:.0f}',
                    f'{100.0 * measured.answered:.1f}',
                    f'{1e3 * median:.2f}',
                    f'{1e3 * p99:.2f}',
                ]
            )
        headers = [
            'control law'.ljust(max(map(len, LAWS.values()))),
            'max error [mrad]',
            'rms [mrad]',
            'pace',
            'states/s',
            'answered [%]',
            'latency [ms]',
            'p99 [ms]',
        ]
        texts.append(format_table(headers, rows, title=group, right=headers[1:3] + headers[4:]))
    return '\n\n'.join(texts)


def report(records: list[RunRecord]) -> dict[str, Any]:
    """Return the figures, ready for JSON."""
    runs = []
    for record in records:
        measured = record.measurement
        median, p99 = measured.latency_quantiles
        runs.append(
            {
                'motion': record.run.motion.name,
                'amplitude': record.run.motion.amplitude,
                'time_scale': record.run.motion.time_scale,
                'mode': record.run.mode,
                'has_friction': record.run.has_friction,
                'pace': 'lockstep' if record.pace.is_lockstep else 'real_time',
                'rate_wanted_hz': record.pace.rate,
                'rate_hz': measured.rate,
                'answered': measured.answered,
                'longest_gap_s': measured.longest_gap,
                'max_error_rad': measured.largest_error,
                'rms_error_rad': measured.rms_error,
                'latency_median_s': median,
                'latency_p99_s': p99,
            }
        )
    return {
        'feedforward_ratio': feedforward_ratio(records),
        'feedforward_ratio_wanted': WANTED_RATIO,
        'runs': runs,
    }


def write_figure(path: Path, records: list[RunRecord]) -> None:
    """Draw everything; errors as in `plot_demonstration`."""
    groups = {
        group: {
            LAWS[record.run.mode]: Curve(
                record.measurement.times,
                record.measurement.error,
                record.measurement.torque_times,
                record.measurement.torque,
            )
            for record in members
        }
        for group, members in _groups(records).items()
    }
    paces = sorted({str(r.pace) for r in records if r.run.has_friction})
    plot_demonstration(
        path,
        groups,
        records[0].joint_names,
        notes={
            record.run.group: f'{format_number(feedforward_ratio(records), 3)} times less error'
            for record in records
            if not record.run.has_friction
        },
        title='The ES5 arm follows its trajectory on model torques',
        subtitle='Simulated arm and controller in processes of their own, over DDS. Same gains '
        'under every law; the controller is not told of the friction.\n'
        f'Without friction: {LOCKSTEP}. With friction: {", ".join(paces)}.',
    )


def write_bag(
    path: Path,
    records: list[RunRecord],
    over: Callable[[list[Message]], Iterable[Message]],
) -> None:
    """
    Write what was recorded, and what was wanted, into one bag.

    Errors are those of `BagWriter`.

    Parameters
    ----------
    path : Path
        Folder of the bag.
    records : list of RunRecord
        The runs, in their order.
    over : callable
        Passes the messages on, so that progress can be shown.

    """
    names = records[0].joint_names
    messages = [message for record in records for message in _messages(record)]
    description = expand_xacro(read_source(urdf_path('es5.urdf.xacro')))
    with BagWriter(path) as bag:
        bag.write_string('/robot_description', messages[0].time, description)
        for message in over(messages):
            content = message.content
            if isinstance(content, str):
                bag.write_string(message.topic, message.time, content)
            elif isinstance(content, bytes):
                topic = message.topic
                bag.write_serialized(topic, _TYPES[topic], message.time, content)
            else:
                stamp, q, v = content
                bag.write_joint_state(message.topic, stamp, names, q, v, log_time=message.time)


class Message(NamedTuple):
    """
    A message for the bag.

    Attributes
    ----------
    time : int
        Time of recording [ns].
    topic : str
        Its topic.
    content : bytes, str or tuple
        CDR bytes, a text, or stamp, position and velocity.

    """

    time: int
    topic: str
    content: bytes | str | tuple[int, Vector, Vector]


def _messages(record: RunRecord) -> list[Message]:
    """Return the messages of a run in the order of arrival, from shortly before the motion on."""
    measured = record.measurement
    since = int(measured.received[0]) - _LEAD_IN
    recorded = [
        Message(message.received, topic, message.data)
        for topic, messages in record.records.items()
        for message in messages
        if topic == REFERENCES or message.received >= since
    ]
    stamps = (record.begin + np.rint(1e9 * measured.times)).astype(np.int64).tolist()
    wanted = [
        Message(time, WANTED_TOPIC, (stamp, q, v))
        for time, stamp, q, v in zip(
            measured.received.tolist(), stamps, measured.reference_q, measured.reference_v
        )
    ]
    messages = sorted([*recorded, *wanted], key=itemgetter(0))
    return [Message(messages[0].time, RUN_TOPIC, record.run.label), *messages]


def _groups(records: list[RunRecord]) -> dict[str, list[RunRecord]]:
    groups: dict[str, list[RunRecord]] = {}
    for record in records:
        groups.setdefault(record.run.group, []).append(record)
    return groups
