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
Positions, velocities and accelerations of a recorded motion, filtered alike.

Whether a measured velocity :math:`\dot q_m` is used is decided for each joint, by

.. math:: \|\dot q_m - \dot q\| \le 0.2 \, \max(\|\dot q\|, \, 0.02 \max_i \|\dot q_i\|)

with :math:`\dot q` from the positions. The second term is for joints that hardly move: noise is
all that can be compared there.

"""

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

SLOWEST_PART = 0.02
"""Of the velocity of the fastest joint: the difference of a slower one is relative to that."""


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
    uses_measured : ndarray of bool, shape (nv,)
        Of which joints the measured velocity is used; the positions of the others were
        differentiated twice.
    velocity_disagreements : ndarray, shape (nv,), or None
        Of each joint: norm(measured - derivative of position) / norm(derivative), after filtering
        and bounded as above; None without measured velocity or motion.

    """

    stamps: Vector
    q: Matrix
    v: Matrix
    a: Matrix
    reliable: NDArray[np.bool_]
    uses_measured: NDArray[np.bool_]
    velocity_disagreements: Vector | None

    @property
    def velocity_source(self) -> str:
        """Return ``'measured'``, ``'differentiated position'``, or ``'both'`` for some joints."""
        if self.uses_measured.all():
            return 'measured'
        return 'both' if self.uses_measured.any() else 'differentiated position'

    @property
    def velocity_disagreement(self) -> float | None:
        """Return the largest of the disagreements; None if there are none."""
        apart = self.velocity_disagreements
        return None if apart is None else float(apart.max(initial=0.0))


def joint_motion(
    stamps: Vector,
    position: Matrix,
    velocity: Matrix | None,
    low_pass: ZeroPhaseFilter,
) -> JointMotion:
    """
    Filter and differentiate a log.

    Measured velocities save one differentiation. If they are complete, those of each joint that
    agree with its positions are used; the positions of the others are differentiated twice.

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
    trusted: NDArray[np.bool_] | None = None,
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
    trusted : ndarray of bool, shape (nv,), optional
        Of which joints the measured velocity is used, as was found out for the whole log; by
        default it is found out here.

    Raises
    ------
    DimensionError, NonFiniteError, ConfigurationError
        See `joint_motion`.

    """
    q, v, a = low_pass.derivatives_within(window, position, 2)
    used = np.zeros(position.shape[1], dtype=bool)
    disagreements = None
    if velocity is not None and (trusted is None or trusted.any()):
        measured, slope = low_pass.derivatives_within(window, velocity, 1)
        disagreements = _relative(*_squares(measured, v))
        used = trusted_joints(disagreements, len(used)) if trusted is None else trusted
        v, a = np.where(used, measured, v), np.where(used, slope, a)
    reliable = np.array(np.isfinite(a).all(axis=1), dtype=bool)
    if not used.all() and low_pass.cutoff is not None:
        reliable &= _away_from_ends(window, low_pass.cutoff)
    return JointMotion(window.stamps, q, v, a, reliable, used, disagreements)


def trusted_joints(disagreements: Vector | None, count: int) -> NDArray[np.bool_]:
    """Return of which of `count` joints the measured velocity is used."""
    if disagreements is None:
        return np.zeros(count, dtype=bool)
    return np.asarray(disagreements <= LARGEST_DISAGREEMENT)


def velocity_disagreements(
    stretches: Iterable[tuple[Vector, Matrix, Matrix]], low_pass: ZeroPhaseFilter
) -> Vector | None:
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
    disagreements : ndarray, shape (nv,), or None
        As of `JointMotion`, over all stretches; None without motion.

    Raises
    ------
    DimensionError, NonFiniteError, ConfigurationError
        See `joint_motion`.

    """
    total: tuple[Vector, Vector] | None = None
    for stamps, position, velocity in stretches:
        window = TimeWindow.whole(stamps)
        _, v = low_pass.derivatives_within(window, position, 1)
        (measured,) = low_pass.derivatives_within(window, velocity, 0)
        apart, size = _squares(measured, v)
        total = (apart, size) if total is None else (total[0] + apart, total[1] + size)
    return None if total is None else _relative(*total)


def _squares(measured: Matrix, derived: Matrix) -> tuple[Vector, Vector]:
    """Return the sums of squares of the differences and of what was derived, for each joint."""
    known = np.isfinite(derived).all(axis=1)
    apart = np.sum((measured - derived)[known] ** 2, axis=0)
    return apart, np.sum(derived[known] ** 2, axis=0)


def _relative(apart: Vector, size: Vector) -> Vector | None:
    """Return the disagreement of each joint from sums of squares; None without motion."""
    fastest = float(size.max(initial=0.0))
    if not fastest > 0.0:
        return None
    return np.asarray(np.sqrt(apart / np.maximum(size, SLOWEST_PART**2 * fastest)))


def _away_from_ends(window: TimeWindow, cutoff: float) -> NDArray[np.bool_]:
    """Mark the samples that are further than half a period of the cutoff from a gap or an end."""
    away = np.zeros(window.end - window.begin, dtype=bool)
    for part, inside in window.parts(cutoff):
        times = window.stamps[inside]
        away[inside] = np.minimum(times - part.start, part.stop - times) >= 0.5 / cutoff
    return away
