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

A long signal can be filtered window by window. What lies outside a window takes part by the
impulse response alone, which falls by the largest pole :math:`|p|` in each step: after
:math:`n = \ln \epsilon / \ln |p|` steps, 12.4 periods of the cutoff for :math:`\epsilon =
10^{-13}`, nothing of it is left, nor of the splines (a factor of 0.43 for each sample). So samples
further than that from the ends of a window are those of the whole signal.

References
----------
.. [1] F. Gustafsson, "Determining the initial states in forward-backward filtering", IEEE TSP
44(4), 1996.
.. [2] C. de Boor, *A Practical Guide to Splines*, 1978, chapter XII.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline
from scipy.signal import butter, sosfiltfilt

from robot_dynamics_ros.core.arrays import as_matrix, as_real, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError, NonFiniteError
from robot_dynamics_ros.core.signals.time_axis import AxisPart, SHORTEST_PART, TimeWindow

SETTLED = 1e-13
"""What is left of a filter's impulse response after its settling time, relative."""

SPLINE_MARGIN = 64
"""Samples after which nothing is left of the end of a spline: 0.43**64 = 1e-23."""


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
        return self.derivatives_within(TimeWindow.whole(stamps), values, highest)

    def derivatives_within(
        self, window: TimeWindow, values: Matrix, highest: int
    ) -> tuple[Matrix, ...]:
        """
        Filter columns over a window of a longer signal, and differentiate them.

        The results are those of the whole signal where both ends of the window, unless they are
        ends of the signal or lie in a gap, are further than `settling_time` and `SPLINE_MARGIN`
        samples away.

        Parameters
        ----------
        window : TimeWindow
            Where the samples are.
        values : ndarray, shape (n, k)
            Finite samples of the window.
        highest : int
            Highest derivative, 0 to 2.

        Returns
        -------
        derivatives : tuple of ndarray, each of shape (n, k)
            See `derivatives`.

        Raises
        ------
        DimensionError, NonFiniteError, ConfigurationError
            See `derivatives`.

        """
        values = as_matrix('values', values, (window.end - window.begin, -1))
        if not np.isfinite(values).all():
            raise NonFiniteError('values', '; bridge gaps first')
        if self.cutoff is not None and window.axis.median_step > 0.0:
            _check_cutoff(self.cutoff, 1.0 / window.axis.median_step)
        stamps = window.stamps
        results = tuple(np.full(values.shape, np.nan) for _ in range(highest + 1))
        for part, inside in window.parts(self.cutoff):
            first = window.begin + inside.start - part.begin
            spline = self._filtered_spline(part, first, stamps[inside], values[inside])
            if spline is not None:
                for degree, result in enumerate(results):
                    result[inside] = spline(stamps[inside], degree)
        return results

    def settling_time(self, rate: float | None = None) -> float:
        """
        Return the time after which `SETTLED` of the filter's impulse response is left [s].

        Parameters
        ----------
        rate : float, optional
            Of the samples [Hz]; by default that of infinitely many.

        Raises
        ------
        ConfigurationError
            If the cutoff is not between 0 and half the rate.

        """
        if self.cutoff is None:
            return 0.0
        # The real part of the slowest pole, over the circular cutoff. Parts of a log may have
        # other rates than all of it, so this counts as well.
        slowest = np.sin(0.5 * np.pi / self.order)
        longest = -np.log(SETTLED) / (2.0 * np.pi * self.cutoff * slowest)
        if rate is not None:
            _check_cutoff(self.cutoff, rate)
            _, poles, _ = butter(self.order, self.cutoff, fs=rate, output='zpk')
            longest = max(longest, np.log(SETTLED) / np.log(np.abs(poles).max()) / rate)
        return float(longest)

    def _filtered_spline(
        self, part: AxisPart, first: int, times: Vector, values: Matrix
    ) -> make_interp_spline | None:
        """Return the spline over samples of a part; None if there are too few of them."""
        begin, end = 0, part.count - 1
        is_end = first + len(times) == part.end - part.begin
        if part.is_even:
            begin, end = first, first + len(times) - 1
        else:
            if first > 0:
                begin = int(np.ceil((times[0] - part.start) / part.step))
            if not is_end:
                end = int(np.floor((times[-1] - part.start) / part.step))
        if min(len(times), end - begin + 1) < SHORTEST_PART:
            return None
        grid = part.grid(begin, end)
        even = values if part.is_even else make_interp_spline(times, values, k=3)(grid)
        if self.cutoff is not None:
            rate = 1.0 / float(np.diff(part.grid(0, 1))[0])
            _check_cutoff(self.cutoff, rate)
            sections = butter(self.order, self.cutoff, fs=rate, output='sos')
            # Point reflection over four periods of the cutoff: the start has died out to 1e-6.
            margin = min(len(grid) - 1, int(np.ceil(4.0 * rate / self.cutoff)))
            even = sosfiltfilt(sections, even, axis=0, padlen=margin)
        return make_interp_spline(grid, even, k=5)


def bridge_missing(stamps: Vector, values: Matrix, longest: float = np.inf) -> Matrix:
    """
    Replace NaN and infinite samples by linear interpolation in time, for a filter.

    Parameters
    ----------
    stamps : ndarray, shape (n,)
        Strictly increasing times [s].
    values : ndarray, shape (n, k)
        Samples.
    longest : float
        Longest stretch that is bridged by a line [s]. In a longer one, each of its ends is held
        for half of that time, and what is between is zero: what a sample is replaced by depends
        on none that is further away.

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
            times, held = stamps[known], column[known]
            missing = stamps[~known]
            column[~known] = np.interp(missing, times, held)
            if longest < np.inf:
                _leave_long_stretches(column, ~known, missing, times, held, longest)
    return bridged


def _leave_long_stretches(
    column: Vector,
    lost: NDArray[np.bool_],
    missing: Vector,
    times: Vector,
    held: Vector,
    longest: float,
) -> None:
    """Hold the ends of long stretches, and set what is between to zero."""
    place = np.searchsorted(times, missing)
    since = missing - np.concatenate([[-np.inf], times])[place]
    until = np.concatenate([times, [np.inf]])[place] - missing
    zero = np.zeros(1)
    before, after = np.concatenate([zero, held])[place], np.concatenate([held, zero])[place]
    ends = np.where(since <= 0.5 * longest, before, np.where(until <= 0.5 * longest, after, 0.0))
    column[lost] = np.where(since + until <= longest, column[lost], ends)


def _check_cutoff(cutoff: float, rate: float) -> None:
    if not 0.0 < cutoff < 0.5 * rate:
        raise ConfigurationError(
            f'cutoff {cutoff:g} Hz is not between 0 and {0.5 * rate:.4g} Hz, '
            'half the sampling rate of the log'
        )
