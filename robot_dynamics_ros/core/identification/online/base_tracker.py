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
All base parameters while the robot moves, by recursive least squares.

Each row of the regression comes in with the weight that its joint had in the identification; with
nothing forgotten the estimate is that of a fit to all rows that ever came, with the start as a
prior. With a memory of :math:`T` seconds of motion, rows count less the longer they are ago, along
what is seen anew only (`square_root_rls`).

A row of the regression is one equation for each joint. They are taken in one by one: `step` only
queues them, `work` takes one in, so that no single sample bears the cost of all.

The information that was gathered is the triangular system of an offline fit, so a physically
consistent model can be made of it at any time (`fit`, with `consistent_fit`).

"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import as_finite, frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.least_squares import LinearFit
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow
from robot_dynamics_ros.core.identification.online.online_start import OnlineStart
from robot_dynamics_ros.core.identification.online.square_root_rls import SquareRootRls
from robot_dynamics_ros.core.identification.triangular_factors import (
    JointFactor,
    TriangularFactors,
)

SHORTEST_MEMORY = 1.0
"""Shorter memories than this follow noise [s]."""


class BaseTracker:
    """
    Recursive estimate of the base parameters.

    Parameters
    ----------
    start : OnlineStart
        What to start from.
    memory : float
        Seconds of motion of a joint after which its rows count for a third; infinite by default.

    Attributes
    ----------
    start : OnlineStart
    seconds : ndarray, shape (nv,)
        Motion that each joint was learnt from [s].

    Raises
    ------
    ConfigurationError
        If the memory is less than `SHORTEST_MEMORY`, or the covariance of the start is not
        positive definite.

    """

    def __init__(self, start: OnlineStart, memory: float = np.inf) -> None:
        if not memory >= SHORTEST_MEMORY:
            raise ConfigurationError(
                f'memory of the base parameters is {memory} s, expected at least {SHORTEST_MEMORY}'
            )
        self.start = start
        self._memory = memory
        self._deviations = start.row_deviations.tolist()
        self._rls = SquareRootRls(start.base, start.covariance, start.open_deviations)
        self._waiting: deque[tuple[int, Vector, float, float]] = deque()
        self.seconds = np.zeros(start.model.robot.nv)

    def step(self, row: OnlineRow, use: NDArray[np.bool_], effort: Vector | None = None) -> None:
        """
        Queue a row.

        Parameters
        ----------
        row : OnlineRow
            The row.
        use : ndarray of bool, shape (nv,)
            Which joints' equations may be learnt from; without any nothing changes.
        effort : ndarray, shape (nv,), optional
            What of the row's effort something else explains, as a payload [N m | N].

        """
        tau = row.tau if effort is None else row.tau - effort
        for j in np.flatnonzero(use).tolist():
            self._waiting.append((j, row.regressor[j], float(tau[j]), row.step))

    def work(self) -> None:
        """Take in one of the equations that wait; more if many do, as when states come slowly."""
        if self._waiting:
            self._take_in(1 + len(self._waiting) // len(self.seconds))

    def _take_in(self, most: int) -> None:
        for _ in range(min(most, len(self._waiting))):
            j, columns, value, step = self._waiting.popleft()
            self._rls.forgetting = max(1e-3, 1.0 - step / self._memory)
            self._rls.update(columns, value, self._deviations[j])
            self.seconds[j] += step

    def finish(self) -> None:
        """Take in all equations that wait."""
        self._take_in(len(self._waiting))

    @property
    def estimate(self) -> Vector:
        """Return the base parameters, shape (rank,)."""
        self.finish()
        return self._rls.estimate

    @property
    def covariance(self) -> Matrix:
        """Return their covariance, shape (rank, rank)."""
        self.finish()
        return self._rls.covariance

    @property
    def deviations(self) -> Vector:
        """Return their standard deviations, shape (rank,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def fit(self) -> LinearFit:
        """
        Return what was gathered as a linear fit, for `consistent_fit`.

        Its factor stands for the rows of all joints, already weighted by their spreads.

        """
        self.finish()
        root, right = self._rls.information_root
        scale = np.sqrt(self.start.inflation)
        triangle = scale * np.column_stack([root, right])
        size = len(right)
        factor = JointFactor(np.arange(size), triangle, self._rls.rows)
        lengths = np.linalg.norm(root, axis=0)
        sizes = np.linalg.svd(root / lengths, compute_uv=False)
        return LinearFit(
            base=frozen(self._rls.estimate),
            spread=frozen(np.ones(1)),
            condition=float(sizes[0] / sizes[-1]),
            factors=TriangularFactors((factor,), size),
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what makes up the tracker, as arrays."""
        self.finish()
        return {**self._rls.state(), 'seconds': self.seconds.copy()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """
        Go back to a state.

        Raises
        ------
        ConfigurationError
            If an array is missing or makes no sense.
        DimensionError, NonFiniteError
            If it is of another size, or not finite.

        """
        seconds = as_finite('seconds', state.get('seconds', ()), self.seconds.shape)
        self._rls.restore(state)
        self._waiting.clear()
        self.seconds = seconds.copy()
