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
Learn the thresholds of the contact detector from a motion without contact.

For every joint the largest value of both channels is kept, and the thresholds are a margin above
it. The largest of `N` independent normal values lies near :math:`\sigma \sqrt{2 \ln N}`: some
minutes give about 4.2 standard deviations of the noise, and a margin of 1.3 makes 5.4 of it, which
ten minutes of six joints exceed with a probability of some percent. What the model is wrong by is
in the values, too, as far as the motion shows it: it should be the motion that follows later, and
take some minutes.

A model that does not explain most of the measured torque makes thresholds that are worth nothing:
efforts with the wrong sign, currents, or efforts without gravity look like that. They are refused.

"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.external_torque.contact_detector import ContactDetector
from robot_dynamics_ros.core.external_torque.contact_thresholds import ContactThresholds

DEFAULT_MARGIN = 1.3
"""Thresholds over the largest values seen."""

SHORTEST_LEARNING = 10.0
"""Time of motion below which nothing is learnt [s]."""

SHORTEST_MOTION = 1.0
"""Time for which each joint has to move for that [s]."""


LARGEST_UNEXPLAINED = 0.5
"""Root mean square of external over measured torques up to which thresholds are learnt."""


class ThresholdLearner:
    """
    Keep the largest values of a detector.

    Parameters
    ----------
    detector : ContactDetector
        What is looked at; it should have no thresholds while it learns.
    moving_speed : float
        Speed from which on a joint moves [rad/s | m/s].

    Attributes
    ----------
    duration : float
        Time that has been looked at [s].
    change, level : ndarray, shape (nv,)
        Largest values of both channels [N m | N].

    """

    def __init__(self, detector: ContactDetector, moving_speed: float = 0.05) -> None:
        n = detector.observer.balance.model.nv
        self.detector = detector
        self.moving_speed = float(moving_speed)
        self.duration = 0.0
        self.change = np.zeros(n)
        self.level = np.zeros(n)
        self._moving = np.zeros(n)
        self._external = np.zeros(n)
        self._measured = np.zeros(n)

    def update(self, v: Vector, tau: Vector) -> None:
        """
        Look at what the detector has got last.

        Parameters
        ----------
        v : ndarray, shape (nv,)
            Joint velocities [rad/s | m/s].
        tau : ndarray, shape (nv,)
            Measured torques [N m | N].

        """
        dt = self.detector.observer.balance.dt
        if not (dt > 0.0 and self.detector.is_ready):
            return
        self.duration += dt
        self._moving += dt * (np.abs(v) > self.moving_speed)
        np.maximum(self.change, self.detector.change, out=self.change)
        tau_ext = self.detector.observer.tau_ext
        np.maximum(self.level, np.abs(tau_ext), out=self.level)
        self._external += dt * tau_ext**2
        self._measured += dt * tau**2

    @property
    def missing(self) -> str:
        """Return what is missing for thresholds, or an empty text."""
        if self.duration < SHORTEST_LEARNING:
            return (
                f'only {self.duration:.1f} s of states without a gap have come, '
                f'expected {SHORTEST_LEARNING:g} s or more'
            )
        names = self.detector.observer.balance.model.v_names
        still = [name for name, time in zip(names, self._moving) if time < SHORTEST_MOTION]
        if still:
            return (
                f'{", ".join(still)} did not move: move each joint for {SHORTEST_MOTION:g} s or '
                f'more, faster than {self.moving_speed:g} rad/s or m/s'
            )
        external, measured = float(self._external.sum()), float(self._measured.sum())
        if external > LARGEST_UNEXPLAINED**2 * measured:
            worst = int(np.argmax(self._external))
            rms = np.sqrt(np.array([self._external[worst], self._measured[worst]]) / self.duration)
            return (
                f'the model does not explain the efforts: {rms[0]:.3g} of {rms[1]:.3g} N m or N '
                f'(rms) are left at {names[worst]}. Is the sign wrong, is it a current, or does '
                'the effort lack what carries the weight? See effort_semantics; or payload, '
                'friction or the direction of gravity are not those of the model'
            )
        return ''

    def thresholds(self, margin: float = DEFAULT_MARGIN) -> ContactThresholds:
        """
        Return the thresholds.

        Parameters
        ----------
        margin : float
            Over the largest values, >= 1.

        Raises
        ------
        ConfigurationError
            If the margin is too small, the time was too short, or a joint did not move.

        """
        if not 1.0 <= margin < np.inf:
            raise ConfigurationError(f'margin is {margin:g}, expected >= 1')
        missing = self.missing
        if missing:
            raise ConfigurationError(f'no thresholds are learnt: {missing}')
        names = self.detector.observer.balance.model.v_names
        # Noise-free states of a simulation leave nothing; a threshold of zero would always be met.
        smallest = 1e-6
        return ContactThresholds(
            names,
            np.maximum(margin * self.change, smallest),
            np.maximum(margin * self.level, smallest),
        )
