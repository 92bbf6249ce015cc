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
Sensors and signal paths of simulated joints, for logs like those of a real robot.

Each is a small object with a `step` for one sample. Randomness comes from a numpy generator that
the caller seeds, so that a log can be made again.

"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, as_real, Vector
from robot_dynamics_ros.core.drive.sensor_file import SensorSettings
from robot_dynamics_ros.core.exceptions import ConfigurationError


class Encoder:
    """
    Positions rounded to the marks of an encoder.

    Parameters
    ----------
    resolution : array_like, shape (n,)
        Distance of two marks; 0 for none [rad | m].

    """

    def __init__(self, resolution: Any) -> None:
        self.resolution = as_real('resolution', resolution)
        self._divisor = np.where(self.resolution > 0.0, self.resolution, 1.0)

    def step(self, q: Vector) -> Vector:
        """Return the nearest mark to each position [rad | m]."""
        marks: Vector = np.rint(q / self._divisor) * self.resolution
        return np.where(self.resolution > 0.0, marks, q)


class WhiteNoise:
    """
    Independent normal noise on every sample.

    Parameters
    ----------
    deviation : array_like, shape (n,)
        Standard deviation, in the unit of the signal.
    rng : numpy.random.Generator
        Source of randomness.

    """

    def __init__(self, deviation: Any, rng: np.random.Generator) -> None:
        self.deviation = as_real('deviation', deviation)
        self._rng = rng

    def step(self, x: Vector) -> Vector:
        """Return the signal with noise."""
        noisy: Vector = x + self.deviation * self._rng.standard_normal(np.shape(x))
        return noisy


class Delay:
    """
    A signal that comes a number of samples later.

    Parts of a sample are interpolated linearly. Until the first samples arrive the output is the
    `initial` value.

    Parameters
    ----------
    samples : float
        Delay, >= 0 [samples].
    initial : array_like, shape (n,)
        What stands in the line at the start.

    Raises
    ------
    ConfigurationError
        If the delay is negative or not finite.

    """

    def __init__(self, samples: float, initial: Any) -> None:
        if not 0.0 <= samples < np.inf:
            raise ConfigurationError(f'the delay is {samples} samples, expected >= 0')
        self.samples = float(samples)
        self._whole = int(samples)
        self._part = self.samples - self._whole
        self.reset(initial)

    def reset(self, initial: Any) -> None:
        """Fill the line with one value."""
        first = as_real('initial', initial)
        self._line = np.tile(first, (self._whole + 2, *(1,) * first.ndim))
        self._at = 0

    def step(self, x: Vector) -> Vector:
        """Take the newest sample in and return the delayed one."""
        line, size = self._line, len(self._line)
        line[self._at] = x
        newer, older = line[(self._at - self._whole) % size], line[(self._at + 1) % size]
        self._at = (self._at + 1) % size
        delayed: Vector = newer + self._part * (older - newer)
        return delayed


class MessageLoss:
    """
    Messages that get lost, each with the same probability.

    Raises
    ------
    ConfigurationError
        If the probability is not within 0 and 1.

    """

    def __init__(self, probability: float, rng: np.random.Generator) -> None:
        if not 0.0 <= probability <= 1.0:
            raise ConfigurationError(f'the probability is {probability}, expected 0 to 1')
        self.probability = float(probability)
        self._rng = rng

    def step(self) -> bool:
        """Return whether the next message arrives."""
        return bool(self._rng.random() >= self.probability)


class StampJitter:
    """
    Time stamps with normal jitter that still increase.

    Parameters
    ----------
    deviation : float
        Standard deviation [s].
    rng : numpy.random.Generator
        Source of randomness.

    Raises
    ------
    ConfigurationError
        If the deviation is negative or not finite.

    """

    def __init__(self, deviation: float, rng: np.random.Generator) -> None:
        if not 0.0 <= deviation < np.inf:
            raise ConfigurationError(f'the jitter is {deviation} s, expected >= 0')
        self.deviation = float(deviation)
        self._rng = rng
        self._last = -np.inf

    def step(self, time: float) -> float:
        """Return the stamp of a message that was made at `time`, later than the last one [s]."""
        stamp = time + self.deviation * float(self._rng.standard_normal())
        if stamp <= self._last:
            stamp = self._last + 1e-9  # the resolution of ROS stamps
        self._last = stamp
        return stamp


class JointReading(NamedTuple):
    """
    What the sensors of the joints report.

    Attributes
    ----------
    stamp : float
        Time that the message claims [s].
    q, v, tau : ndarray, shape (n,)
        Position, velocity and effort [rad | m, rad/s | m/s, N m | N].

    """

    stamp: float
    q: Vector
    v: Vector
    tau: Vector


class JointSensors:
    """
    The sensors of all joints of a robot.

    Parameters
    ----------
    settings : SensorSettings
        What they are like.
    rng : numpy.random.Generator
        Source of randomness.
    tau : array_like, shape (n,), optional
        Effort before the first sample; zeros by default [N m | N].

    Raises
    ------
    DimensionError, NonFiniteError, NotNumericError
        If the effort is no finite vector with `n` entries.

    """

    def __init__(
        self, settings: SensorSettings, rng: np.random.Generator, tau: Any = None
    ) -> None:
        n = len(settings.joint_names)
        self.settings = settings
        self._encoder = Encoder(settings.encoder_resolution)
        self._velocity = WhiteNoise(settings.velocity_noise, rng)
        self._effort = WhiteNoise(settings.effort_noise, rng)
        self._loss = MessageLoss(settings.loss_probability, rng)
        self._jitter = StampJitter(settings.stamp_jitter, rng)
        start = np.zeros(n) if tau is None else as_finite('tau', tau, (n,))
        self._delay = Delay(settings.effort_delay, start)

    def step(self, time: float, q: Vector, v: Vector, tau: Vector) -> JointReading | None:
        """
        Return what a sample of the true motion is reported as, or None if the message gets lost.

        Parameters
        ----------
        time : float
            True time [s].
        q, v, tau : ndarray, shape (n,)
            True position, velocity and effort [rad | m, rad/s | m/s, N m | N].

        """
        # All take part in every sample, so that a lost message does not shift the others' noise.
        reading = JointReading(
            self._jitter.step(time),
            self._encoder.step(q),
            self._velocity.step(v),
            self._effort.step(self._delay.step(tau)),
        )
        return reading if self._loss.step() else None

    def actuator_delay(self, tau: Any) -> Delay:
        """Return the delay of the commands, with the effort `tau` standing in it [N m | N]."""
        return Delay(self.settings.actuator_delay, tau)
