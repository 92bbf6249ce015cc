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
Judge whether a log is fit for identification, and means what it is said to mean.

`LogWatch` takes a log block by block, in bounded memory, and keeps the liveliest stretch of it.
`LogWatch.judge` then says what was seen, and compares that stretch with a model if there is one.
`judge_log` does both for arrays at hand.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.log_health.channel_health import ChannelHealth, ChannelWatch
from robot_dynamics_ros.core.log_health.effort_verdict import joint_verdict, JointVerdict
from robot_dynamics_ros.core.log_health.filtered_log import filtered_log, FilteredLog
from robot_dynamics_ros.core.log_health.log_findings import (
    channel_faults,
    channel_warnings,
    limit_warnings,
    model_findings,
    velocity_warnings,
)
from robot_dynamics_ros.core.log_health.mounting import compare_mountings, Mounting
from robot_dynamics_ros.core.log_health.time_health import TimeHealth, TimeWatch
from robot_dynamics_ros.core.log_health.torque_match import Delay, match_torques
from robot_dynamics_ros.core.log_health.velocity_check import check_velocity, VelocityCheck
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.signals.spikes import find_spikes
from robot_dynamics_ros.core.signals.zero_phase import bridge_missing, ZeroPhaseFilter

DEFAULT_CUTOFF = 5.0
"""Above usual motions, below noise and elastic joints [Hz]."""

LONGEST_EXCERPT = 60000
"""Samples of the stretch that is compared with a model."""


@dataclass(frozen=True)
class LogHealth:
    """
    What a log is worth.

    Attributes
    ----------
    time : TimeHealth
        Rate, jitter, gaps.
    joints : tuple of ChannelHealth
        What moves, and which efforts live.
    velocities : tuple of VelocityCheck
        Recorded velocities against positions; empty without recorded ones.
    verdicts : tuple of JointVerdict
        Efforts against the model; empty without one, or where too little can be compared.
    delay : Delay or None
        How late efforts are against the motion; None if it cannot be told.
    mounting : Mounting or None
        Directions of gravity; None without a model.
    excerpt : tuple of two float
        Stretch that was compared, from and to [s].
    cutoff : float
        Of the filter of the comparison [Hz].
    faults : tuple of str
        Why the log cannot be used for identification, one sentence each.
    warnings : tuple of str
        What else should be known.

    """

    time: TimeHealth
    joints: tuple[ChannelHealth, ...]
    velocities: tuple[VelocityCheck, ...] = ()
    verdicts: tuple[JointVerdict, ...] = ()
    delay: Delay | None = None
    mounting: Mounting | None = None
    excerpt: tuple[float, float] = (0.0, 0.0)
    cutoff: float = 0.0
    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def is_usable(self) -> bool:
        """Whether nothing speaks against identification."""
        return not self.faults


@dataclass
class _Excerpt:
    """Samples next to one another, and how much moves in them."""

    stamps: Vector
    position: Matrix
    velocity: Matrix | None
    effort: Matrix | None
    liveliness: float = field(init=False)

    def __post_init__(self) -> None:
        # Distance travelled by all joints, each relative to itself elsewhere, would need the whole
        # log; the plain sum of ranges and paths is enough to prefer motion to rest.
        steps = np.abs(np.diff(self.position, axis=0))
        self.liveliness = float(np.ptp(self.position, axis=0).sum() + steps.sum())

    def without_spikes(self) -> _Excerpt:
        """Return it with lone positions bridged and lone efforts missing."""
        position = np.where(find_spikes(self.position), np.nan, self.position)
        effort = self.effort
        if effort is not None:
            effort = np.where(find_spikes(effort), np.nan, effort)
        position = bridge_missing(self.stamps, position)
        return _Excerpt(self.stamps, position, self.velocity, effort)


class LogWatch:
    """
    Watch a log block by block.

    Parameters
    ----------
    joint_names : sequence of str
        Columns.

    """

    def __init__(self, joint_names: Sequence[str]) -> None:
        self._names = tuple(joint_names)
        self._time = TimeWatch()
        self._channels = ChannelWatch(self._names)
        self._liveliest: _Excerpt | None = None

    def add(
        self, stamps: Vector, position: Matrix, velocity: Matrix | None, effort: Matrix | None
    ) -> None:
        """
        Take further samples, without overlap; a comparison uses samples of one call.

        Parameters
        ----------
        stamps : ndarray, shape (n,)
            Times [s].
        position, velocity, effort : ndarray, shape (n, nj), or None
            [rad | m], [rad/s | m/s], [N m | N, or A]; positions finite, NaN elsewhere where
            missing.

        """
        if not len(stamps):
            return
        self._time.add(stamps, position, effort)
        self._channels.add(stamps, position, velocity, effort)
        for begin in range(0, len(stamps), LONGEST_EXCERPT):
            part = slice(begin, begin + LONGEST_EXCERPT)
            excerpt = _Excerpt(
                stamps[part],
                position[part],
                None if velocity is None else velocity[part],
                None if effort is None else effort[part],
            )
            if self._liveliest is None or excerpt.liveliness > self._liveliest.liveliness:
                self._liveliest = excerpt

    def judge(self, model: RobotModel | None = None, cutoff: float | None = None) -> LogHealth:
        """
        Say what was seen.

        Parameters
        ----------
        model : RobotModel, optional
            Robot with exactly these joints, of one coordinate each, in this order.
        cutoff : float, optional
            Of the zero-phase filter of the comparison [Hz]; `DEFAULT_CUTOFF`, or a fifth of the
            sampling rate if that is less.

        Raises
        ------
        ConfigurationError
            If the model has other joints, or the cutoff does not suit the sampling rate.

        """
        if model is not None and model.joint_names != self._names:
            raise ConfigurationError(
                f'the model has joints {", ".join(model.joint_names)}, '
                f'the log {", ".join(self._names)}'
            )
        time, joints = self._time.health, self._channels.joints
        faults = channel_faults(time, joints)
        warnings = channel_warnings(joints)
        if self._liveliest is None or len(self._liveliest.stamps) < 2:
            return LogHealth(time, joints, faults=faults, warnings=warnings)
        excerpt = self._liveliest.without_spikes()
        cutoff = min(DEFAULT_CUTOFF, 0.2 * time.rate) if cutoff is None else cutoff
        low_pass = ZeroPhaseFilter(cutoff)
        velocities = (
            ()
            if excerpt.velocity is None
            else check_velocity(
                self._names, excerpt.stamps, excerpt.position, excerpt.velocity, low_pass
            )
        )
        health = LogHealth(
            time,
            joints,
            velocities,
            excerpt=(float(excerpt.stamps[0]), float(excerpt.stamps[-1])),
            cutoff=cutoff,
            faults=faults,
            warnings=(*warnings, *velocity_warnings(velocities, time.step)),
        )
        return health if model is None else _with_model(health, excerpt, model)


def judge_log(
    stamps: Vector,
    position: Matrix,
    velocity: Matrix | None,
    effort: Matrix | None,
    joint_names: Sequence[str],
    model: RobotModel | None = None,
    *,
    cutoff: float | None = None,
) -> LogHealth:
    """
    Judge a log that is at hand; arguments as of `LogWatch.add` and `LogWatch.judge`.

    Raises
    ------
    ConfigurationError
        If the model has other joints, or the cutoff does not suit the sampling rate.

    """
    watch = LogWatch(joint_names)
    watch.add(stamps, position, velocity, effort)
    return watch.judge(model, cutoff)


def _with_model(health: LogHealth, excerpt: _Excerpt, model: RobotModel) -> LogHealth:
    """Add what the comparison with a model says."""
    outside = limit_warnings(health.joints, model.limits)
    health = replace(health, warnings=health.warnings + outside)
    logs = _prepared(excerpt, health.cutoff) if excerpt.effort is not None else None
    if logs is None:
        text = 'too little motion without a gap, or no effort: nothing is compared with the model'
        return replace(health, warnings=(*health.warnings, text))
    matches, delay = match_torques(model, *logs)
    alive = {joint.joint for joint in health.joints if joint.effort_state in ('alive', 'frozen')}
    moving = {joint.joint for joint in health.joints if joint.moves}
    verdicts = tuple(
        joint_verdict(match, can_tell=match.joint in alive and match.joint in moving)
        for match in matches
    )
    mounting = compare_mountings(model, logs[0], 0.0 if delay is None else delay.value)
    health = replace(health, verdicts=verdicts, delay=delay, mounting=mounting)
    faults, warnings = model_findings(verdicts, delay, mounting)
    return replace(health, faults=health.faults + faults, warnings=health.warnings + warnings)


def _prepared(excerpt: _Excerpt, cutoff: float) -> tuple[FilteredLog, FilteredLog] | None:
    """Filter at the cutoff and, to see what depends on it, at twice of it if the rate allows."""
    stamps, effort = excerpt.stamps, excerpt.effort
    if effort is None:
        return None
    rate = 1.0 / float(np.median(np.diff(stamps)))
    logs = [
        filtered_log(stamps, excerpt.position, excerpt.velocity, effort, ZeroPhaseFilter(limit))
        for limit in (cutoff, min(2.0 * cutoff, 0.45 * rate))
    ]
    return None if logs[0] is None or logs[1] is None else (logs[0], logs[1])
