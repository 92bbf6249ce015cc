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

"""
Rows since something changed, in parts, so that causes can be compared over the last of them.

Whatever touched the arm before something was picked up belongs to no single cause together with
it. The rows since then do. So the products of rows are summed in parts, and a window is the sum
of the last ones.

"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix

PART = 0.5
"""Length of a part [s]."""

LONGEST = 10.0
"""Rows that are older count no more [s]."""


@dataclass(eq=False)
class Window:
    """
    Products of rows.

    Attributes
    ----------
    first : float
        Stamp of the first row [s].
    products : ndarray, shape (m, m)
        Sum over rows of all products of columns, in units of the deviation.
    counts : ndarray of int, shape (nv,)
        How many equations there are of each joint.

    """

    first: float
    products: Matrix
    counts: NDArray[np.intp]

    @property
    def count(self) -> int:
        """Return the number of equations."""
        return int(self.counts.sum())


class ChangeEvidence:
    """The rows since something changed."""

    def __init__(self) -> None:
        self._parts: deque[Window] = deque()

    def add(self, stamp: float, columns: Matrix, use: NDArray[np.bool_]) -> None:
        """
        Add a row.

        Parameters
        ----------
        stamp : float
            Of the row [s].
        columns : ndarray, shape (nv, m)
            In units of the deviation.
        use : ndarray of bool, shape (nv,)
            Which joints count.

        """
        if not self._parts or stamp - self._parts[-1].first >= PART:
            m = columns.shape[1]
            self._parts.append(Window(stamp, np.zeros((m, m)), np.zeros(len(use), np.intp)))
            if stamp - self._parts[0].first > LONGEST:
                self._parts.popleft()
        used = columns[use]
        self._parts[-1].products += used.T @ used
        self._parts[-1].counts += use

    @property
    def first(self) -> float:
        """Return the stamp of the first row, infinity if there is none [s]."""
        return self._parts[0].first if self._parts else np.inf

    def since(self, start: float = -np.inf) -> Window:
        """Return the parts that begin at some time or later, of which there must be one."""
        parts = [part for part in self._parts if part.first >= start]
        return Window(
            parts[0].first,
            np.sum([part.products for part in parts], axis=0),
            np.sum([part.counts for part in parts], axis=0),
        )
