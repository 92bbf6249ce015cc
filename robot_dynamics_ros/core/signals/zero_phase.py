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
Filter recorded samples without delay and differentiate them, on their real, irregular stamps.

A Butterworth filter of order :math:`N` with cutoff :math:`f_c` is run forwards and backwards, so
that its phases cancel and its magnitudes multiply:

.. math:: |H(f)|^2 = \frac{1}{1 + (\tan(\pi f / f_s) / \tan(\pi f_c / f_s))^{2N}}

The gain at the cutoff is one half (-6 dB) and the slope that of order :math:`2N`. Filtering needs
an even grid, so samples are brought to one by a cubic spline, filtered there, and read back at
their own stamps from a quintic spline through the filtered values. That spline also gives the
derivatives; its error is of the fourth order in the step, where central differences have the
second. A long gap splits the signal, and each part is filtered alone.

References
----------
.. [1] F. Gustafsson, "Determining the initial states in forward-backward filtering", IEEE TSP
44(4), 1996.
.. [2] C. de Boor, *A Practical Guide to Splines*, 1978, chapter XII.

"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.signal import butter, sosfiltfilt

from robot_dynamics_ros.core.arrays import as_matrix, as_real, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError, NonFiniteError

GAP_STEPS = 5.0
"""A step of more median steps, and of more than half a period of the cutoff, splits the signal."""

SHORTEST_PART = 8
"""Parts with fewer samples cannot be filtered and become NaN."""


@dataclass(frozen=True)
class ZeroPhaseFilter:
    """
    A forward-backward Butterworth low-pass.

    Attributes
    ----------
    cutoff : float or None
        Frequency where the gain is one half [Hz]; None leaves the values as they are.
    order : int
        Order of the filter that is run twice.

    """

    cutoff: float | None
    order: int = 4

    def filtered(self, stamps: Vector, values: Matrix) -> Matrix:
        """
        Filter columns.

        Parameters
        ----------
        stamps : ndarray, shape (n,)
            Strictly increasing times [s].
        values : ndarray, shape (n, k)
            Finite samples.

        Returns
        -------
        filtered : ndarray, shape (n, k)
            At the same stamps; NaN in parts that are too short.

        Raises
        ------
        DimensionError
            If the shapes do not agree.
        NonFiniteError
            If a value is not finite.
        ConfigurationError
            If the cutoff is not between 0 and half the sampling rate.

        """
        return self.derivatives(stamps, values, 0)[0]

    def derivatives(self, stamps: Vector, values: Matrix, highest: int) -> tuple[Matrix, ...]:
        """
        Filter columns and differentiate them.

        Parameters
        ----------
        stamps : ndarray, shape (n,)
            Strictly increasing times [s].
        values : ndarray, shape (n, k)
            Finite samples.
        highest : int
            Highest derivative, 0 to 2.

        Returns
        -------
        derivatives : tuple of ndarray, each of shape (n, k)
            The filtered values and their derivatives, from the zeroth to the highest.

        Raises
        ------
        DimensionError
            If the shapes do not agree.
        NonFiniteError
            If a value is not finite.
        ConfigurationError
            If the cutoff is not between 0 and half the sampling rate.

        """
        stamps = as_matrix('stamps', stamps, (-1,))
        values = as_matrix('values', values, (len(stamps), -1))
        if not np.isfinite(values).all():
            raise NonFiniteError('values', '; bridge gaps first')
        if self.cutoff is not None and len(stamps) > 1:
            _check_cutoff(self.cutoff, 1.0 / float(np.median(np.diff(stamps))))
        results = tuple(np.full(values.shape, np.nan) for _ in range(highest + 1))
        for part in split_at_gaps(stamps, self.cutoff):
            times = stamps[part]
            if len(times) < SHORTEST_PART:
                continue
            spline = self._filtered_spline(times, values[part])
            for degree, result in enumerate(results):
                result[part] = spline(times, degree)
        return results

    def _filtered_spline(self, times: Vector, values: Matrix) -> make_interp_spline:
        grid = even_grid(times)
        rate = 1.0 / (grid[1] - grid[0])
        even = values if _is_even(times, grid) else make_interp_spline(times, values, k=3)(grid)
        if self.cutoff is not None:
            _check_cutoff(self.cutoff, rate)
            sections = butter(self.order, self.cutoff, fs=rate, output='sos')
            # Point reflection over four periods of the cutoff: the start has died out to 1e-6.
            margin = min(len(grid) - 1, int(np.ceil(4.0 * rate / self.cutoff)))
            even = sosfiltfilt(sections, even, axis=0, padlen=margin)
        return make_interp_spline(grid, even, k=5)


def even_grid(times: Vector) -> Vector:
    """Return an even grid from the first to the last time, with about the median step."""
    step = float(np.median(np.diff(times)))
    count = max(SHORTEST_PART, int(np.ceil((times[-1] - times[0]) / step - 1e-6)) + 1)
    grid: Vector = np.linspace(times[0], times[-1], count)
    return grid


def split_at_gaps(stamps: Vector, cutoff: float | None) -> Iterator[slice]:
    """
    Split at steps that a filter of this cutoff must not bridge.

    Yields
    ------
    part : slice
        Indices of one part without a long gap.

    """
    steps = np.diff(stamps)
    if not len(steps):
        yield slice(0, len(stamps))
        return
    longest = GAP_STEPS * float(np.median(steps))
    if cutoff is not None:
        longest = max(longest, 0.5 / cutoff)
    borders = [0, *(np.flatnonzero(steps > longest) + 1), len(stamps)]
    for begin, end in zip(borders, borders[1:]):
        yield slice(int(begin), int(end))


def bridge_missing(stamps: Vector, values: Matrix) -> Matrix:
    """
    Replace NaN and infinite samples by linear interpolation in time, for a filter.

    Parameters
    ----------
    stamps : ndarray, shape (n,)
        Strictly increasing times [s].
    values : ndarray, shape (n, k)
        Samples.

    Returns
    -------
    bridged : ndarray, shape (n, k)
        A copy; a column without any finite sample is zero. Leave the bridged samples out of
        statistics.

    """
    bridged = as_real('values', values)
    for column in bridged.T:
        known = np.isfinite(column)
        if not known.any():
            column[:] = 0.0
        elif not known.all():
            column[~known] = np.interp(stamps[~known], stamps[known], column[known])
    return bridged


def _check_cutoff(cutoff: float, rate: float) -> None:
    if not 0.0 < cutoff < 0.5 * rate:
        raise ConfigurationError(
            f'cutoff {cutoff:g} Hz is not between 0 and {0.5 * rate:.4g} Hz, '
            'half the sampling rate of the log'
        )


def _is_even(times: Vector, grid: Vector) -> bool:
    step = grid[1] - grid[0]
    return len(times) == len(grid) and bool(np.abs(times - grid).max() < 1e-3 * step)
