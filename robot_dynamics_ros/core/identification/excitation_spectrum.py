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
The cutoff of the filter, from the spectrum of the motion.

A cutoff below the motion distorts the model; one far above lets noise and the oscillations of
elastic joints in. The frequency :math:`f_h` below which nearly all power of the velocities lies
is where the motion ends, and the cutoff is a small multiple of it.

References
----------
.. [1] J. Swevers, C. Ganseman, D. B. Tukel, J. De Schutter, H. Van Brussel, "Optimal robot
   excitation and identification", IEEE T-RA 13(5), 1997 (a band-limited motion and its filter).
.. [2] P. D. Welch, "The use of fast Fourier transform for the estimation of power spectra", IEEE
   Trans. Audio Electroacoust. 15(2), 1967.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.signal import detrend, get_window

from robot_dynamics_ros.core.arrays import as_matrix, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.signals.time_axis import even_grid

POWER = 0.99
"""Part of the power of the velocities that counts as the motion."""

CUTOFF_PER_FREQUENCY = 8.0
"""Cutoff over the highest frequency of the motion: products of motions reach twice as far."""

LOWEST_CUTOFF = 1.0
"""[Hz]"""

HIGHEST_PART = 0.2
"""Of the sampling rate, for the cutoff."""

MOTION_CUTOFF = 4.0
"""Cutoff of positions and efforts before the regressor, over that of both sides after it."""

MOTION_PART = 0.2
"""Of the sampling rate, for that cutoff: derivatives of a slow log are worth nothing beyond."""


FEWEST = 20
"""Samples of a log."""

SHORTEST_STRETCH = 0.5
"""Of a log, over the longest one, that its spectrum is taken from."""


@dataclass(frozen=True)
class CutoffChoice:
    """
    The cutoffs of the two filters.

    Attributes
    ----------
    cutoff : float
        Of regressor and efforts [Hz].
    motion_cutoff : float
        Of the samples before [Hz].
    highest_frequency : float or None
        Of the motion [Hz]; None if the cutoff was given.
    reason : str
        In words.

    """

    cutoff: float
    motion_cutoff: float
    highest_frequency: float | None
    reason: str


def chosen_cutoff(stamps: Vector, position: Matrix, cutoff: float | None = None) -> CutoffChoice:
    """
    Choose the cutoffs for a log.

    Parameters
    ----------
    stamps : ndarray, shape (n,)
        Strictly increasing times [s].
    position : ndarray, shape (n, nv)
        Finite positions [rad | m].
    cutoff : float, optional
        Given by the user [Hz].

    Raises
    ------
    ConfigurationError
        If the log is too short or does not move, or the cutoff does not suit its rate.
    DimensionError
        If shapes do not agree.

    """
    stamps = as_matrix('stamps', stamps, (-1,))
    position = as_matrix('position', position, (len(stamps), -1))
    if len(stamps) < 2:
        raise ConfigurationError(f'the log has {len(stamps)} samples, expected at least {FEWEST}')
    rate = 1.0 / float(np.median(np.diff(stamps)))
    return cutoff_of_stretches([(stamps, position)], rate, cutoff)


def cutoff_of_stretches(
    stretches: Sequence[tuple[Vector, Matrix]], rate: float, cutoff: float | None = None
) -> CutoffChoice:
    """
    Choose the cutoffs for a log of which there are stretches.

    Parameters
    ----------
    stretches : sequence of tuple of ndarray
        Stamps and finite positions of parts of the log.
    rate : float
        Samples per second of the log [Hz].
    cutoff : float, optional
        Given by the user [Hz].

    Raises
    ------
    ConfigurationError
        If the log is too short or does not move, or the cutoff does not suit its rate.

    """
    longest = max(len(stamps) for stamps, _ in stretches)
    if longest < FEWEST:
        raise ConfigurationError(f'the log has {longest} samples, expected at least {FEWEST}')
    highest = None
    reason = 'given'
    if cutoff is None:
        highest = highest_frequency(stretches)
        wanted = CUTOFF_PER_FREQUENCY * highest
        cutoff = float(np.clip(wanted, LOWEST_CUTOFF, HIGHEST_PART * rate))
        reason = f'{100.0 * POWER:g} % of the power of the velocities lies below {highest:.3g} Hz'
    if not 0.0 < cutoff < 0.4 * rate:
        raise ConfigurationError(
            f'cutoff {cutoff:g} Hz is not between 0 and {0.4 * rate:.4g} Hz, 0.4 times the '
            'sampling rate of the log'
        )
    motion = max(cutoff, min(MOTION_CUTOFF * cutoff, MOTION_PART * rate))
    return CutoffChoice(cutoff, float(motion), highest, reason)


def highest_frequency(stretches: Sequence[tuple[Vector, Matrix]]) -> float:
    """
    Return the frequency below which `POWER` of the power of the velocities lies [Hz].

    Joints count alike, whatever their range; the highest of them is returned. Powers of several
    stretches of a log are added; those much shorter than the longest, whose frequencies are
    coarse, are left out.

    Raises
    ------
    ConfigurationError
        If no joint moves.

    """
    longest = max(len(stamps) for stamps, _ in stretches)
    spectra = [
        _spectrum(stamps, position)
        for stamps, position in stretches
        if len(stamps) >= max(FEWEST, SHORTEST_STRETCH * longest)
    ]
    frequency = np.concatenate([axis for axis, _ in spectra])
    power = np.concatenate([of_axis for _, of_axis in spectra])
    order = np.argsort(frequency, kind='stable')
    frequency, power = frequency[order], power[order]
    total = power.sum(axis=0)
    moving = total > 1e-6 * total.max(initial=0.0)
    if not moving.any():
        raise ConfigurationError('no joint of the log moves: there is nothing to identify')
    share = np.cumsum(power[:, moving], axis=0) / total[moving]
    return float(frequency[(share >= POWER).argmax(axis=0)].max())


def _spectrum(stamps: Vector, position: Matrix) -> tuple[Vector, Matrix]:
    """Return frequencies [Hz], and the energy of the velocities at each."""
    grid = even_grid(stamps)
    even = np.column_stack([np.interp(grid, stamps, column) for column in position.T])
    velocity = np.gradient(even, grid, axis=0)
    window = get_window('hann', len(grid))[:, None]
    power = np.abs(np.fft.rfft(detrend(velocity, axis=0) * window, axis=0)) ** 2
    return np.fft.rfftfreq(len(grid), grid[1] - grid[0]), power / len(grid)
