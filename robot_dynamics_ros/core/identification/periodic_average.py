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
Averaging over the periods of a motion, and what the differences say of the noise.

A robot that repeats a motion with period :math:`T` repeats its efforts, but not the noise on them:
the mean over :math:`P` periods has :math:`1/P` of its variance, and the spread around the mean is
the noise itself, without any model. Its relation to the errors of a fit tells what the model
lacks.

References
----------
.. [1] J. Swevers, C. Ganseman, D. B. Tukel, J. De Schutter, H. Van Brussel, "Optimal robot
   excitation and identification", IEEE T-RA 13(5), 1997.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, as_matrix, frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError


@dataclass(frozen=True, eq=False)
class PeriodicAverage:
    """
    One period of a repeated motion.

    Attributes
    ----------
    stamps : ndarray, shape (n,)
        Times within the period [s], with even steps.
    mean : ndarray, shape (n, k)
        Mean over the periods.
    deviation : ndarray, shape (k,)
        Standard deviation of a single sample around the mean, root mean square over the period.
    periods : int
        Number of whole periods that were averaged.

    """

    stamps: Vector
    mean: Matrix
    deviation: Vector
    periods: int


def periodic_average(stamps: Vector, values: Matrix, period: float) -> PeriodicAverage:
    """
    Average samples over the periods of a motion.

    Parameters
    ----------
    stamps : ndarray, shape (n,)
        Strictly increasing times [s]; a period begins with the first.
    values : ndarray, shape (n, k)
        Finite samples, interpolated linearly.
    period : float
        Period of the motion [s].

    Raises
    ------
    ConfigurationError
        If the log does not hold two whole periods, or a period fewer than ten samples.
    DimensionError
        If the shapes do not agree.
    NonFiniteError
        If a number is not finite.

    """
    stamps = as_matrix('stamps', stamps, (-1,))
    values = as_matrix('values', values, (len(stamps), -1))
    values = as_finite('values', values, values.shape)
    step = float(np.median(np.diff(stamps))) if len(stamps) > 1 else 0.0
    duration = float(stamps[-1] - stamps[0]) + step if len(stamps) else 0.0
    if not period > 0.0 or duration < 2.0 * period * (1.0 - 1e-9):
        raise ConfigurationError(
            f'the log lasts {duration:.4g} s, expected at least two periods of {period:g} s'
        )
    count = int(round(period / step))
    if count < 10:
        raise ConfigurationError(
            f'a period of {period:g} s has {count} samples, expected at least 10'
        )
    periods = int(duration / period + 1e-9)
    within = np.arange(count) * (period / count)
    times = stamps[0] + (np.arange(periods)[:, None] * period + within)
    times = np.minimum(times, stamps[-1])
    grid = np.stack([np.interp(times, stamps, column) for column in values.T], axis=2)
    mean = grid.mean(axis=0)
    spread = np.sum((grid - mean) ** 2, axis=(0, 1)) / (count * (periods - 1))
    return PeriodicAverage(frozen(within), frozen(mean), frozen(np.sqrt(spread)), periods)
