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
Samples that stand alone: far from both neighbours, and far beyond what the signal usually does.

A median over five samples keeps slopes and steps and removes what is at most two samples long. A
spike differs from it by more than `NOISE` times the usual difference (the median absolute one, as
a standard deviation) and by more than `RANGE` times the range in which 90 % of the signal lie: the
first spares rough signals, the second smooth ones.

References
----------
.. [1] F. R. Hampel, "The influence curve and its role in robust estimation", JASA 69(346), 1974.

"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector

NOISE = 12.0
"""A spike is more than this many usual deviations from the median of its neighbours."""

RANGE = 1.0
"""And further from it than so many usual ranges."""

_HALF = 2


def find_spikes(values: Matrix) -> NDArray[np.bool_]:
    """
    Mark spikes.

    Parameters
    ----------
    values : ndarray, shape (n, k)
        Signals in columns; samples that are not finite are no spikes.

    Returns
    -------
    mask : ndarray of bool, shape (n, k)

    """
    mask: NDArray[np.bool_] = np.zeros(values.shape, dtype=bool)
    for column, marked in zip(values.T, mask.T):
        known = np.flatnonzero(np.isfinite(column))
        if len(known) > 2 * _HALF + 1:
            marked[known] = _spikes(column[known])
    return mask


def _spikes(signal: Vector) -> NDArray[np.bool_]:
    padded = np.pad(signal, _HALF, mode='edge')
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * _HALF + 1)
    off = np.abs(signal - np.median(windows, axis=1))
    usual = 1.4826 * float(np.median(off))
    low, high = np.quantile(signal, [0.05, 0.95])
    found: NDArray[np.bool_] = (off > NOISE * usual) & (off > RANGE * (high - low)) & (off > 0.0)
    return found
