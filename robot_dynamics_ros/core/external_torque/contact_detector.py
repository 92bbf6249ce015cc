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

r"""
Find contacts in the impulses that the model does not explain.

A push is a fast change of the external torque; what is wrong in the model changes slowly, with the
motion. So two channels look for a contact.

**Change.** The filter of `momentum_kalman` gives the external torque :math:`\hat f` at a bandwidth
:math:`\omega` of some 100 rad/s, and a slow mean `b` of it (rate 6 1/s) what was there before. The
joint is touched when

.. math:: |\hat f - b| - h > \theta_{change} .

The width `h` is what friction may explain near rest. The true friction differs from the middle of
its range by at most the half width :math:`w(t)`, so that the filter with the impulse response `g`
errs by at most :math:`|g| * w`; `g` of the Butterworth filter is negative for 4.3 % of its area
after half a period, hence :math:`h = g * w` plus 9 % of the recent maximum of `w`. The mean stands
still while `h` is large, and while there is a contact, for `longest_freeze` at most: a contact
that stays longer is taken into the mean, and its end then is a change of its own.

**Level.** The external torque of `momentum_observer` is compared with a threshold of its own. This
finds what comes slowly or stays, but model errors count in full.

The thresholds are learnt from nominal motion, see `threshold_learning`. Noise is nearly normal
after the filter, with about :math:`\omega / 2` independent values a second; a threshold a third
above the largest of some minutes lies beyond 5 standard deviations.

References
----------
.. [1] S. Haddadin, A. De Luca, A. Albu-Schaeffer, "Robot collisions: a survey on detection,
   isolation, and identification", IEEE Trans. on Robotics 33(6), 2017, section IV.
.. [2] M. Basseville, I. V. Nikiforov, *Detection of Abrupt Changes*, 1993, chapter 2.

"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.external_torque.contact_thresholds import ContactThresholds
from robot_dynamics_ros.core.external_torque.momentum_kalman import (
    kalman_gains,
    kalman_update,
    settled_covariance,
)
from robot_dynamics_ros.core.external_torque.momentum_observer import MomentumObserver
from robot_dynamics_ros.core.jit import entry_point, kernel

SETTLING_TIME = 0.1
"""After a start, in which nothing is found and the mean is made [s]."""

_LOBE = 0.09  # twice the negative part of the impulse response, and a little
_LOBE_RATE = 4.5  # of the recent maximum: the bandwidth over this
_KNOWN = 0.05  # share of the largest width below which friction is known well enough for the mean
# Rows of the state
_OFFSET = 0
_FORCE = 1
_MEAN = 2
_WIDTH_OFFSET = 3
_WIDTH = 4
_PEAK = 5
_LARGEST = 6
_ROWS = 7


@kernel
def detector_kernel(
    bandwidth: float,
    forgetting: float,
    age: float,
    is_contact: bool,
    is_frozen: bool,
    dt: float,
    impulse: Vector,
    slack: Vector,
    tau_ext: Vector,
    threshold: Vector,
    level: Vector,
    covariance: Vector,
    state: Matrix,
    deviation: Vector,
    excess: Vector,
) -> float:
    """
    Move on by one impulse.

    Write the deviation from the mean, and what of its size friction cannot explain. Return the
    largest of the latter, or of the external torques, over its threshold.

    """
    gain_s, gain_f = kalman_gains(bandwidth, dt, covariance)
    kalman_update(gain_s, gain_f, dt, impulse, state[_OFFSET], state[_FORCE])
    kalman_update(gain_s, gain_f, dt, slack, state[_WIDTH_OFFSET], state[_WIDTH])
    fade = exp(-bandwidth / _LOBE_RATE * dt)
    share = max(1.0 - exp(-forgetting * dt), dt / (age + dt))
    worst = 0.0
    for j in range(impulse.size):
        half = slack[j] / dt
        state[_PEAK, j] = max(half, fade * state[_PEAK, j])
        state[_LARGEST, j] = max(half, state[_LARGEST, j])
        width = max(state[_WIDTH, j], 0.0) + _LOBE * state[_PEAK, j]
        deviation[j] = state[_FORCE, j] - state[_MEAN, j]
        excess[j] = abs(deviation[j]) - width
        worst = max(worst, excess[j] / threshold[j], abs(tau_ext[j]) / level[j])
        if not is_frozen and (is_contact or excess[j] < threshold[j]):
            known = 1.0
            if state[_LARGEST, j] > 0.0:
                known = max(1.0 - width / (_KNOWN * state[_LARGEST, j]), 0.0)
            state[_MEAN, j] += known * share * deviation[j]
    return worst


@dataclass(frozen=True)
class DetectorSettings:
    """
    How the detector works.

    Attributes
    ----------
    bandwidth : float
        Of the fast filter [rad/s].
    forgetting : float
        Rate of the slow mean [1/s].
    confirmations : int
        Messages in a row beyond a threshold that make a contact.
    hysteresis : float
        Share of the threshold below which a contact ends.
    hold_time : float
        How long it must stay below that [s].
    longest_freeze : float
        How long the slow mean stands still in a contact [s].

    Raises
    ------
    ConfigurationError
        If a value is out of range.

    """

    bandwidth: float = 100.0
    forgetting: float = 6.0
    confirmations: int = 2
    hysteresis: float = 0.6
    hold_time: float = 0.1
    longest_freeze: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 < self.forgetting < self.bandwidth < np.inf:
            raise ConfigurationError(
                f'bandwidth is {self.bandwidth:g} rad/s and forgetting {self.forgetting:g} 1/s, '
                'expected both > 0 and the first larger'
            )
        if self.confirmations < 1 or not 0.0 < self.hysteresis <= 1.0:
            raise ConfigurationError(
                f'confirmations is {self.confirmations} and hysteresis {self.hysteresis:g}, '
                'expected >= 1, and > 0 to 1'
            )
        if not (0.0 <= self.hold_time < np.inf and 0.0 <= self.longest_freeze < np.inf):
            raise ConfigurationError(
                f'hold_time is {self.hold_time:g} s and longest_freeze {self.longest_freeze:g} s, '
                'expected >= 0'
            )


class ContactDetector:
    """
    Say whether the robot is touched.

    Parameters
    ----------
    observer : MomentumObserver
        Where impulses and external torques come from.
    thresholds : ContactThresholds, optional
        Without them nothing is found, as while they are learnt.
    settings : DetectorSettings
        How it works.

    Attributes
    ----------
    is_contact : bool
        Whether the robot is touched.
    joint : int
        Joint by which the present, or else the last, contact was found; -1 before the first.
    count : int
        How many contacts have begun.
    deviation : ndarray, shape (nv,)
        Change of the external torque; written in place [N m | N].
    change : ndarray, shape (nv,)
        What of its size friction cannot explain, below zero while it can; in place [N m | N].

    Raises
    ------
    ConfigurationError
        If the thresholds are those of other joints.

    """

    def __init__(
        self,
        observer: MomentumObserver,
        thresholds: ContactThresholds | None = None,
        settings: DetectorSettings | None = None,
    ) -> None:
        n = observer.balance.model.nv
        self.observer = observer
        self.settings = settings or DetectorSettings()
        self._state = np.zeros((_ROWS, n))
        self._covariance = settled_covariance(self.settings.bandwidth)
        self.deviation = np.zeros(n)
        self.change = np.zeros(n)
        self.is_contact = False
        self.joint = -1
        self.count = 0
        self._age = 0.0
        self.use(thresholds)
        self._kernel = entry_point(detector_kernel, *self._arguments(1e-3, False))
        self.reset()

    def _arguments(self, dt: float, is_frozen: bool) -> tuple[Any, ...]:
        balance = self.observer.balance
        return (
            self.settings.bandwidth,
            self.settings.forgetting,
            self._age,
            self.is_contact,
            is_frozen,
            dt,
            balance.impulse,
            balance.slack,
            self.observer.tau_ext,
            self._change,
            self._level,
            self._covariance,
            self._state,
            self.deviation,
            self.change,
        )

    def use(self, thresholds: ContactThresholds | None) -> None:
        """
        Use other thresholds from now on.

        Raises
        ------
        ConfigurationError
            If they are those of other joints.

        """
        names = self.observer.balance.model.v_names
        if thresholds is not None and thresholds.joint_names != names:
            raise ConfigurationError(
                f'the thresholds are those of {", ".join(thresholds.joint_names)}; '
                f'the robot has {", ".join(names)}'
            )
        endless = np.full(len(names), np.inf)
        self.thresholds = thresholds
        self._change = endless if thresholds is None else thresholds.change.copy()
        self._level = endless if thresholds is None else thresholds.level.copy()

    def reset(self) -> None:
        """Begin afresh, without contact."""
        largest = self._state[_LARGEST].copy()
        self._state.fill(0.0)
        self._state[_LARGEST] = largest
        self._covariance[:] = settled_covariance(self.settings.bandwidth)
        self.deviation.fill(0.0)
        self.change.fill(0.0)
        self.is_contact = False
        self._age = 0.0
        self._hits = 0
        self._quiet = 0.0
        self._contact_time = 0.0

    def shift(self, torque: Vector) -> None:
        """
        Say that the external torque has changed because the model has.

        Parameters
        ----------
        torque : ndarray, shape (nv,)
            By how much, as the filter of changes sees it [N m | N].

        """
        self._state[_MEAN] += torque

    @property
    def is_ready(self) -> bool:
        """Whether the time after a start in which nothing is found is over."""
        return self._age >= SETTLING_TIME

    @property
    def is_significant(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Whether the torque of each joint is beyond one of its thresholds, shape (nv,)."""
        level = np.abs(self.observer.tau_ext)
        return (self.change > self._change) | (level > self._level)

    def update(self) -> bool:
        """
        Take in what the observer has got last; without an impulse the detector begins afresh.

        Returns
        -------
        is_contact : bool
            Whether the robot is touched.

        """
        dt = self.observer.balance.dt
        if not dt > 0.0:
            self.reset()
            return False
        is_frozen = self.is_contact and self._contact_time < self.settings.longest_freeze
        worst = self._kernel(*self._arguments(dt, is_frozen))
        self._age += dt
        if not self.is_ready:
            return False
        self._judge(worst, dt)
        return self.is_contact

    def _judge(self, ratio: float, dt: float) -> None:
        """Begin or end a contact from the largest torque over its threshold."""
        settings = self.settings
        if not self.is_contact:
            self._hits = self._hits + 1 if ratio > 1.0 else 0
            if self._hits >= settings.confirmations:
                self.is_contact = True
                self.count += 1
                self.joint = int(np.argmax(self.ratios))
                self._contact_time = self._quiet = 0.0
            return
        self._contact_time += dt
        self._quiet = self._quiet + dt if ratio < settings.hysteresis else 0.0
        if self._quiet > settings.hold_time:
            self.is_contact = False
            self._hits = 0

    @property
    def ratios(self) -> Vector:
        """Return the larger of both torques over its threshold for every joint, shape (nv,)."""
        levels: Vector = np.abs(self.observer.tau_ext) / self._level
        changes: Vector = self.change / self._change
        return np.asarray(np.maximum(levels, changes))
