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
How much later the efforts of a log are stamped than its motion.

A delay :math:`\delta` looks like friction: of :math:`J a` at the circular frequency :math:`\omega`
it leaves :math:`J \omega \sin(\omega \delta)\,v`. The efforts are shifted by candidates, the model
is fitted to each, and the one that leaves the smallest errors, refined by a parabola, is the
delay. Filtered efforts are shifted as well as raw ones, since a filter does not depend on time;
and one orthogonal factor of the columns serves all candidates.

References
----------
.. [1] L. Ljung, *System Identification*, 2nd ed., 1999, section 16.4 (the choice of a delay by
   the errors that it leaves).

"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.interpolate import CubicSpline

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.identification.regression_rows import RegressionRows

LARGEST_DELAY = 0.06
"""That is looked for, in both directions [s]."""

CANDIDATES = 25

MOST_ROWS = 5000
"""Samples that are looked at; more would not change the third digit."""


def effort_delay(
    rows: Iterable[RegressionRows], weights: Vector, largest: float = LARGEST_DELAY
) -> tuple[float, float]:
    """
    Estimate the delay of the efforts, and what it costs.

    Parameters
    ----------
    rows : iterable of RegressionRows
        The regression, filtered on both sides, in the order of time.
    weights : ndarray, shape (nv,)
        Weight of each joint, one over the standard deviation of its errors.
    largest : float
        Largest delay to look for [s]; the estimate is cut there.

    Returns
    -------
    delay : float
        Positive if the efforts are stamped too late [s].
    share : float
        Part of the errors that would be left if it were made good, 0 to 1.

    """
    shifts = np.linspace(-largest, largest, CANDIDATES)
    total = np.zeros(CANDIDATES)
    kept, columns = 0, []
    for block in rows:
        if kept > MOST_ROWS:
            break
        inside = (block.stamps > block.stamps[0] + largest) & (
            block.stamps < block.stamps[-1] - largest
        )
        use = block.use & inside[:, None]
        if len(block.stamps) < 4 or not use.any():
            continue
        kept += len(block.stamps)
        spline = CubicSpline(block.stamps, block.tau)
        moved = np.stack([spline(block.stamps + shift) for shift in shifts], axis=2)
        scaled = block.regressor * weights[:, None]
        columns.append(np.column_stack([scaled[use], (moved * weights[:, None])[use]]))
    if not columns:
        return 0.0, 1.0
    stacked = np.concatenate(columns)
    rank = stacked.shape[1] - CANDIDATES
    regressor, efforts = stacked[:, :rank], stacked[:, rank:]
    lengths = np.linalg.norm(regressor, axis=0)
    moving = lengths > 1e-9 * lengths.max(initial=0.0)
    orthogonal, _ = np.linalg.qr(regressor[:, moving] / lengths[moving])
    total = np.sum(efforts**2, axis=0) - np.sum((orthogonal.T @ efforts) ** 2, axis=0)
    # The efforts as they are stand in the middle.
    present = max(float(total[CANDIDATES // 2]), 1e-300)
    share = float(np.sqrt(max(float(total.min()), 0.0) / present))
    return _lowest(shifts, total), min(share, 1.0)


def _lowest(shifts: Vector, errors: Vector) -> float:
    """Return where a parabola through the smallest value and its neighbours is lowest."""
    best = int(np.argmin(errors))
    if 0 < best < len(shifts) - 1:
        before, at, after = errors[best - 1 : best + 2]
        curvature = before - 2.0 * at + after
        if curvature > 0.0:
            step = shifts[1] - shifts[0]
            return float(shifts[best] + 0.5 * step * (before - after) / curvature)
    return float(shifts[best])
