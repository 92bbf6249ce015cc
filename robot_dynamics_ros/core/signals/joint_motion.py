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

"""Positions, velocities and accelerations of a recorded motion, filtered alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import as_matrix, Matrix, Vector
from robot_dynamics_ros.core.signals.time_axis import TimeWindow
from robot_dynamics_ros.core.signals.zero_phase import ZeroPhaseFilter

LARGEST_DISAGREEMENT = 0.2
"""Measured velocities that differ more from the derivative of the positions are not used."""


@dataclass(frozen=True)
class JointMotion:
    """
    A motion at the stamps of its log.

    Attributes
    ----------
    stamps : ndarray, shape (n,)
        [s]
    q, v, a : ndarray, shape (n, nv)
        Filtered positions, velocities and accelerations [rad | m, ... per s, ... per s^2]; NaN
        where the log has too few samples between gaps.
    reliable : ndarray of bool, shape (n,)
        False where the acceleration cannot be trusted: where it is NaN and, if positions were
        differentiated twice, next to the ends, since a filter cannot know how a curve goes on.
    velocity_source : str
        ``'measured'`` or ``'differentiated position'``.
    velocity_disagreement : float or None
        norm(measured - derivative of position) / norm(derivative), after filtering; None without
        measured velocity.

    """

    stamps: Vector
    q: Matrix
    v: Matrix
    a: Matrix
    reliable: NDArray[np.bool_]
    velocity_source: str
    velocity_disagreement: float | None


def joint_motion(
    stamps: Vector,
    position: Matrix,
    velocity: Matrix | None,
    low_pass: ZeroPhaseFilter,
) -> JointMotion:
    """
    Filter and differentiate a log.

    A measured velocity saves one differentiation and is used when it is complete and agrees with
    the positions; otherwise positions are differentiated twice.

    Parameters
    ----------
    stamps : ndarray, shape (n,)
        Strictly increasing times [s].
    position : ndarray, shape (n, nv)
        Finite positions [rad | m].
    velocity : ndarray, shape (n, nv), or None
        Measured velocities [rad/s | m/s]; NaN where missing.
    low_pass : ZeroPhaseFilter
        The filter of all signals.

    Raises
    ------
    DimensionError
        If shapes do not agree.
    NonFiniteError
        If a position is not finite.
    ConfigurationError
        If the filter's cutoff does not suit the sampling rate.

    """
    window = TimeWindow.whole(as_matrix('stamps', stamps, (-1,)))
    position = as_matrix('position', position, (len(stamps), -1))
    if velocity is not None:
        velocity = as_matrix('velocity', velocity, position.shape)
        if not np.isfinite(velocity).all():
            velocity = None
    return motion_within(window, position, velocity, low_pass)


def motion_within(
    window: TimeWindow,
    position: Matrix,
    velocity: Matrix | None,
    low_pass: ZeroPhaseFilter,
    *,
    trusts_velocity: bool | None = None,
) -> JointMotion:
    """
    Filter and differentiate a window of a longer log.

    Parameters
    ----------
    window : TimeWindow
        Where the samples are; see `ZeroPhaseFilter.derivatives_within` for its ends.
    position : ndarray, shape (n, nv)
        Finite positions [rad | m].
    velocity : ndarray, shape (n, nv), or None
        Measured velocities, all of them finite [rad/s | m/s].
    low_pass : ZeroPhaseFilter
        The filter of all signals.
    trusts_velocity : bool, optional
        Whether the measured velocity is used, as was found out for the whole log; by default it
        is found out here.

    Raises
    ------
    DimensionError, NonFiniteError, ConfigurationError
        See `joint_motion`.

    """
    q, v, a = low_pass.derivatives_within(window, position, 2)
    disagreement = None
    source = 'differentiated position'
    if velocity is not None and trusts_velocity is not False:
        measured, slope = low_pass.derivatives_within(window, velocity, 1)
        known = np.isfinite(v).all(axis=1)
        size = float(np.linalg.norm(v[known]))
        if size > 0.0:
            disagreement = float(np.linalg.norm((measured - v)[known])) / size
        trusts = disagreement is not None and disagreement <= LARGEST_DISAGREEMENT
        if trusts if trusts_velocity is None else trusts_velocity:
            v, a, source = measured, slope, 'measured'
    reliable = np.array(np.isfinite(a).all(axis=1), dtype=bool)
    if source != 'measured' and low_pass.cutoff is not None:
        reliable &= _away_from_ends(window, low_pass.cutoff)
    return JointMotion(window.stamps, q, v, a, reliable, source, disagreement)


def velocity_disagreement(
    stretches: Iterable[tuple[Vector, Matrix, Matrix]], low_pass: ZeroPhaseFilter
) -> float | None:
    """
    Return how far measured velocities are from the derivatives of positions.

    Parameters
    ----------
    stretches : iterable of tuple of ndarray
        Stamps, positions and velocities of parts of a log, all finite.
    low_pass : ZeroPhaseFilter
        The filter of all signals.

    Returns
    -------
    disagreement : float or None
        As of `JointMotion`, over all stretches; None without motion.

    Raises
    ------
    DimensionError, NonFiniteError, ConfigurationError
        See `joint_motion`.

    """
    apart = size = 0.0
    for stamps, position, velocity in stretches:
        window = TimeWindow.whole(stamps)
        _, v = low_pass.derivatives_within(window, position, 1)
        (measured,) = low_pass.derivatives_within(window, velocity, 0)
        known = np.isfinite(v).all(axis=1)
        apart += float(np.sum((measured - v)[known] ** 2))
        size += float(np.sum(v[known] ** 2))
    return float(np.sqrt(apart / size)) if size > 0.0 else None


def _away_from_ends(window: TimeWindow, cutoff: float) -> NDArray[np.bool_]:
    """Mark the samples that are further than half a period of the cutoff from a gap or an end."""
    away = np.zeros(window.end - window.begin, dtype=bool)
    for part, inside in window.parts(cutoff):
        times = window.stamps[inside]
        away[inside] = np.minimum(times - part.start, part.stop - times) >= 0.5 / cutoff
    return away
