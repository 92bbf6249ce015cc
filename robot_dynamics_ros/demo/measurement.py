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

"""What a run was like: tracking error, torques, rates and latency, from what was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.trajectory.scenarios import Scenario

Nanoseconds = NDArray[np.int64]

_ROUNDING = 1000
"""Of stamps that went through floats [ns]."""

_QUIET = 0.05
"""Without a command for so long, the controller is taken to have stopped [s]."""


_LARGEST_HOLE = 0.05
"""Share of the states that may be lost on the way to the recorder, on a busy machine."""


@dataclass(frozen=True)
class States:
    """
    Joint states in the order of arrival; columns in the order of the motion's joints.

    Attributes
    ----------
    stamps : ndarray of int, shape (n,)
        Times in the headers [ns].
    sent, received : ndarray of int, shape (n,)
        When the plant published them and when they arrived here, on the system clock [ns].
    q, v : ndarray, shape (n, 6)
        Positions and velocities [rad], [rad/s].

    """

    stamps: Nanoseconds
    sent: Nanoseconds
    received: Nanoseconds
    q: Matrix
    v: Matrix


@dataclass(frozen=True)
class Torques:
    """
    Torques as they were commanded, with the time on the system clock at which they were [ns].

    Attributes
    ----------
    stamps : ndarray of int, shape (n,)
        Times of the states that they answer [ns].
    sent : ndarray of int, shape (n,)
        When the controller published them.
    tau : ndarray, shape (n, 6)
        [N m]

    """

    stamps: Nanoseconds
    sent: Nanoseconds
    tau: Matrix


@dataclass(frozen=True)
class Measurement:
    """
    The motion, from its begin to its end.

    Attributes
    ----------
    times : ndarray, shape (n,)
        Times of the states since the begin [s].
    received : ndarray of int, shape (n,)
        When they arrived, on the system clock [ns].
    error : ndarray, shape (n, 6)
        Measured minus wanted position [rad].
    reference_q, reference_v : ndarray, shape (n, 6)
        What was wanted at the same times [rad], [rad/s].
    torque_times : ndarray, shape (m,)
        Times of the torques [s].
    torque : ndarray, shape (m, 6)
        Commanded torques [N m].
    rate : float
        States per second of real time [Hz].
    answered : float
        Share of the states that were answered by a command.
    longest_gap : float
        Longest real time between two states [s].
    latency : ndarray, shape (m,)
        From the publication of a state to that of its command [s].
    failure : str
        Why the run does not count: the arm was not controlled until the end, or too much of the
        motion was not heard of. Empty if it counts.

    """

    times: Vector
    received: Nanoseconds
    error: Matrix
    reference_q: Matrix
    reference_v: Matrix
    torque_times: Vector
    torque: Matrix
    rate: float
    answered: float
    longest_gap: float
    latency: Vector
    failure: str

    @property
    def largest_error(self) -> float:
        """Largest absolute error of any joint [rad]."""
        return float(np.abs(self.error).max())

    @property
    def rms_error(self) -> float:
        """Root mean square over all joints and times [rad]."""
        return float(np.sqrt(np.mean(self.error**2)))

    @property
    def latency_quantiles(self) -> tuple[float, float]:
        """Median and 99th percentile of the latency [s]; nan if there was no command."""
        if not len(self.latency):
            return float('nan'), float('nan')
        median, p99 = np.percentile(self.latency, (50.0, 99.0))
        return float(median), float(p99)


def measure(
    motion: Scenario,
    begin: int,
    rate: float,
    states: States,
    torques: Torques,
    commands: Nanoseconds,
) -> Measurement:
    """
    Measure a run.

    Parameters
    ----------
    motion : Scenario
        What was wanted.
    begin : int
        Stamp at which it began [ns].
    rate : float
        States per second of simulated time [Hz].
    states, torques
        What was recorded, before and after the motion too.
    commands : ndarray of int, shape (n,)
        When the controller published its commands [ns].

    """
    end = begin + round(1e9 * motion.duration)
    inside = _between(states.stamps, begin, end)
    times = _seconds(states.stamps[inside] - begin)
    reference_q, reference_v, _ = motion.sample_many(np.clip(times, 0.0, motion.duration))
    during = _between(torques.stamps, begin, end)
    answered = np.isin(states.stamps[inside], torques.stamps[during])
    gaps = np.diff(states.sent[inside])
    return Measurement(
        times=times,
        received=states.received[inside],
        error=states.q[inside] - reference_q,
        reference_q=reference_q,
        reference_v=reference_v,
        torque_times=_seconds(torques.stamps[during] - begin),
        torque=torques.tau[during],
        rate=1e9 * len(gaps) / max(int(gaps.sum()), 1),
        answered=float(answered.mean()) if len(answered) else 0.0,
        longest_gap=1e-9 * float(gaps.max(initial=0)),
        latency=_latency(states, torques, commands, during),
        failure=_failure(torques, during, end) or _hole(len(times), motion.duration * rate + 1),
    )


def _seconds(nanoseconds: Nanoseconds) -> Vector:
    return 1e-9 * nanoseconds.astype(np.float64)


def _between(stamps: Nanoseconds, begin: int, end: int) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = (stamps >= begin - _ROUNDING) & (stamps <= end + _ROUNDING)
    return inside


def _latency(
    states: States, torques: Torques, commands: Nanoseconds, during: NDArray[np.bool_]
) -> Vector:
    """
    Return the latency of each torque.

    A command carries no stamp, but its torque, which the controller publishes right after it,
    does. So the last command before a torque is the one.

    """
    if not (len(states.stamps) and len(commands)):
        return np.zeros(0)
    by_stamp = np.argsort(states.stamps, kind='stable')
    stamps = states.stamps[by_stamp]
    state = np.searchsorted(stamps, torques.stamps[during]).clip(max=len(stamps) - 1)
    command = np.searchsorted(commands, torques.sent[during], side='right') - 1
    known = (stamps[state] == torques.stamps[during]) & (command >= 0)
    return _seconds(commands[command[known]] - states.sent[by_stamp][state[known]])


def _failure(torques: Torques, during: NDArray[np.bool_], end: int) -> str:
    if not during.any():
        return 'the controller commanded no torque'
    silence = 1e-9 * (end - int(torques.stamps[during][-1]))
    if silence > _QUIET:
        return f'the controller commanded no torque in the last {silence:.2f} s'
    return (
        ''
        if np.any(torques.tau[during][-1])
        else 'the controller commanded zero torque at the end'
    )


def _hole(heard: int, expected: float) -> str:
    missing = 1.0 - heard / expected
    return (
        ''
        if missing < _LARGEST_HOLE
        else f'{100.0 * missing:.0f} % of the joint states were missed by the recorder'
    )


def in_order(values: Sequence[Matrix], width: int) -> Matrix:
    """Stack rows, also if there are none, to shape (n, width)."""
    return np.array(values, dtype=np.float64).reshape(-1, width)
