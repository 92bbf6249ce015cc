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
Samples for identification: a log, filtered, differentiated and decimated.

Positions, velocities, accelerations and efforts pass the same zero-phase filter at
:math:`f_m`. After it nothing is left above about :math:`2 f_m`, so of a faster log only every
k-th sample is kept, :math:`f_s \ge 8 f_m`.

References
----------
.. [1] M. Gautier, P. Vandanjon, C. Presse, "Identification of inertial and drive gain parameters
   of robots", IEEE CDC, 1994 (decimation of the filtered system).

"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import as_matrix, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.excitation_spectrum import MOTION_CUTOFF
from robot_dynamics_ros.core.signals.joint_motion import motion_within
from robot_dynamics_ros.core.signals.time_axis import TimeAxis, TimeWindow
from robot_dynamics_ros.core.signals.zero_phase import bridge_missing, ZeroPhaseFilter

RATE_PER_CUTOFF = 8.0
"""Samples per period of the cutoff that are kept: aliasing is below 1e-4 of the signal there."""

_ARRAYS = ('stamps', 'q', 'v', 'a', 'tau', 'use')


@dataclass(frozen=True, eq=False)
class JointSamples:
    """
    Motion and efforts at times with steps that are about even, gaps apart.

    Attributes
    ----------
    stamps : ndarray, shape (n,)
        [s], strictly increasing.
    q, v, a : ndarray, shape (n, nv)
        Positions, velocities and accelerations [rad | m, ... per s, ... per s^2].
    tau : ndarray, shape (n, nv)
        Efforts [N m | N].
    use : ndarray of bool, shape (n, nv)
        Which efforts may be fitted or compared.
    velocity_source : str
        See `JointMotion`.

    """

    stamps: Vector
    q: Matrix
    v: Matrix
    a: Matrix
    tau: Matrix
    use: NDArray[np.bool_]
    velocity_source: str = 'given'

    def between(self, start: float, stop: float) -> JointSamples:
        """Return the samples with ``start <= stamp < stop``."""
        return self.picked(slice(*np.searchsorted(self.stamps, [start, stop])))

    def picked(self, part: slice | NDArray[np.intp]) -> JointSamples:
        """Return some of the samples."""
        return replace(self, **{name: getattr(self, name)[part] for name in _ARRAYS})

    def copied(self) -> JointSamples:
        """Return samples that keep no others in memory."""
        arrays: dict[str, Any] = {name: getattr(self, name).copy() for name in _ARRAYS}
        return replace(self, **arrays)

    def cut(self, slices: Sequence[slice]) -> Iterator[JointSamples]:
        """Yield some of the samples after others."""
        return (self.picked(part) for part in slices)

    @staticmethod
    def joined(parts: Sequence[JointSamples]) -> JointSamples:
        """Return the samples of parts that follow one another."""
        if len(parts) == 1:
            return parts[0]
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS
        }
        return replace(parts[-1], **arrays)

    def without_standstill(self, threshold: float | Vector) -> JointSamples:
        """
        Return the samples with efforts at rest left out, where friction can be anything.

        Parameters
        ----------
        threshold : float or ndarray, shape (nv,)
            Slower joints are taken to rest [rad/s | m/s].

        """
        return replace(self, use=self.use & (np.abs(self.v) >= threshold))


def joint_samples(
    stamps: Vector,
    position: Matrix,
    velocity: Matrix | None,
    effort: Matrix,
    cutoff: float | None,
    rate: float | None = None,
) -> JointSamples:
    """
    Filter, differentiate and decimate a log.

    Parameters
    ----------
    stamps : ndarray, shape (n,)
        Strictly increasing times [s].
    position : ndarray, shape (n, nv)
        Finite positions [rad | m].
    velocity : ndarray, shape (n, nv), or None
        Measured velocities; used where they agree with the positions, see `joint_motion`.
    effort : ndarray, shape (n, nv)
        Measured efforts [N m | N]; where one is missing, it is bridged and not used.
    cutoff : float or None
        Of the zero-phase filter [Hz]; None filters nothing.
    rate : float, optional
        Samples per second to keep at least [Hz]; `RATE_PER_CUTOFF` times the cutoff by default.

    Raises
    ------
    DimensionError
        If shapes do not agree.
    NonFiniteError
        If a position is not finite.
    ConfigurationError
        If the filter's cutoff does not suit the sampling rate, or fewer than 10 samples are left.

    """
    stamps = as_matrix('stamps', stamps, (-1,))
    position = as_matrix('position', position, (len(stamps), -1))
    effort = as_matrix('effort', effort, position.shape)
    if velocity is not None:
        velocity = as_matrix('velocity', velocity, position.shape)
        if not np.isfinite(velocity).all():
            velocity = None
    window = TimeWindow.whole(stamps)
    samples = window_samples(window, position, velocity, effort, ZeroPhaseFilter(cutoff))
    return samples.picked(decimated_rows(window.axis, cutoff, rate))


def window_samples(
    window: TimeWindow,
    position: Matrix,
    velocity: Matrix | None,
    effort: Matrix,
    low_pass: ZeroPhaseFilter,
    *,
    trusted: NDArray[np.bool_] | None = None,
) -> JointSamples:
    """
    Filter and differentiate a window of a log.

    Parameters
    ----------
    window : TimeWindow
        Where the samples are; see `ZeroPhaseFilter.derivatives_within` for its ends.
    position, velocity, effort : ndarray, shape (n, nv)
        Finite positions, finite velocities or None, efforts with NaN where missing.
    low_pass : ZeroPhaseFilter
        Of all signals.
    trusted : ndarray of bool, shape (nv,), optional
        See `motion_within`.

    Returns
    -------
    samples : JointSamples
        At all stamps of the window; NaN where they cannot be filtered.

    Raises
    ------
    DimensionError, NonFiniteError, ConfigurationError
        See `joint_samples`.

    """
    motion = motion_within(window, position, velocity, low_pass, trusted=trusted)
    bridged = bridge_missing(window.stamps, effort, bridged_stretch(low_pass))
    (tau,) = low_pass.derivatives_within(window, bridged, 0)
    use = np.isfinite(effort) & motion.reliable[:, None] & np.isfinite(tau)
    return JointSamples(
        motion.stamps, motion.q, motion.v, motion.a, tau, use, motion.velocity_source
    )


def bridged_stretch(low_pass: ZeroPhaseFilter) -> float:
    """
    Return how long a stretch of missing efforts may be to be bridged by a line [s].

    It is what a filter of a quarter of the cutoff remembers: the regression's filter has at least
    that, and must not see the middle of a stretch that is not bridged.

    """
    return MOTION_CUTOFF * low_pass.settling_time() or np.inf


def decimated_rows(
    axis: TimeAxis, cutoff: float | None, rate: float | None = None
) -> NDArray[np.intp]:
    """
    Return which samples of a log are kept.

    Parameters
    ----------
    axis : TimeAxis
        Its times.
    cutoff : float or None
        Of the zero-phase filter [Hz].
    rate : float, optional
        See `joint_samples`.

    Raises
    ------
    ConfigurationError
        If fewer than 10 samples can be filtered.

    """
    parts = axis.parts(cutoff)
    count = sum(part.end - part.begin for part in parts)
    if count < 10:
        raise ConfigurationError(
            f'{count} of {len(axis.stamps)} samples can be filtered, expected at least 10: the '
            'log is too short or full of gaps'
        )
    step = 1
    if cutoff is not None:
        wanted = rate or RATE_PER_CUTOFF * cutoff
        step = max(1, int(1.0 / (axis.median_step * wanted) + 1e-6))
    rows, passed = [], 0
    for part in parts:  # the count goes on from part to part
        rows.append(np.arange(part.begin + -passed % step, part.end, step, dtype=np.intp))
        passed += part.end - part.begin
    return np.concatenate(rows)
