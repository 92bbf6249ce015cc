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

"""A log prepared for comparison with a model: filtered alike, thinned, ends left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.signals.joint_motion import joint_motion, JointMotion
from robot_dynamics_ros.core.signals.zero_phase import bridge_missing, ZeroPhaseFilter

LONGEST_DELAY = 0.25
"""Delays are looked for up to this, early or late [s]."""

_SAMPLES_PER_PERIOD = 20.0


@dataclass(frozen=True)
class FilteredLog:
    """
    A log prepared for comparison: filtered alike, thinned, ends left out.

    Attributes
    ----------
    stamps : ndarray, shape (n,)
        [s]
    q, v, a : ndarray, shape (n, nj)
        Filtered motion.
    dry : ndarray, shape (n, nj)
        Signs of the velocities, filtered in the same way.
    effort : callable
        Filtered efforts at any times near these, (m,) to (m, nj).
    independent : float
        Number of independent samples.
    motion : JointMotion
        The whole motion, not thinned.

    """

    stamps: Vector
    q: Matrix
    v: Matrix
    a: Matrix
    dry: Matrix
    effort: Callable[[Vector], Matrix]
    independent: float
    motion: JointMotion


def filtered_log(
    stamps: Vector,
    position: Matrix,
    velocity: Matrix | None,
    effort: Matrix,
    low_pass: ZeroPhaseFilter,
) -> FilteredLog | None:
    """
    Prepare the longest part of a log without a gap.

    Parameters
    ----------
    stamps : ndarray, shape (n,)
        Strictly increasing times [s].
    position, velocity, effort : ndarray, shape (n, nj)
        Finite positions; velocities (or None) and efforts with NaN where missing.
    low_pass : ZeroPhaseFilter
        Filter of all signals, with a cutoff.

    Returns
    -------
    log : FilteredLog or None
        None if too little of it is left.

    Raises
    ------
    ConfigurationError
        If the filter's cutoff does not suit the sampling rate.

    """
    motion = joint_motion(stamps, position, velocity, low_pass)
    cutoff = low_pass.cutoff or 0.5 / float(np.median(np.diff(stamps)))
    begin, end = _longest_stretch(motion.reliable)
    margin = LONGEST_DELAY + 1.0 / cutoff
    inside = np.arange(begin, end)
    if len(inside) < 2:
        return None
    times = stamps[inside]
    rows = inside[(times >= times[0] + margin) & (times <= times[-1] - margin)]
    every = max(1, int(1.0 / (_SAMPLES_PER_PERIOD * cutoff * np.median(np.diff(stamps)))))
    rows = rows[::every]
    if len(rows) < 50:
        return None
    dry = low_pass.filtered(stamps, np.sign(np.where(np.isfinite(motion.v), motion.v, 0.0)))
    smooth = low_pass.filtered(stamps[inside], bridge_missing(stamps[inside], effort[inside]))
    return FilteredLog(
        stamps=stamps[rows],
        q=motion.q[rows],
        v=motion.v[rows],
        a=motion.a[rows],
        dry=dry[rows],
        effort=make_interp_spline(stamps[inside], smooth, k=3),
        independent=2.0 * cutoff * float(stamps[rows[-1]] - stamps[rows[0]]),
        motion=motion,
    )


def _longest_stretch(mask: NDArray[np.bool_]) -> tuple[int, int]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(int)))
    pairs = list(zip(edges[::2], edges[1::2]))
    if not pairs:
        return 0, 0
    begin, end = max(pairs, key=lambda pair: int(pair[1] - pair[0]))
    return int(begin), int(end)
