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
The friction of one joint by a recursive fit that tells calm, drift, change and doubt apart.

How much is forgotten follows the data. In calm the memory is long, so that errors average out.
Two cumulated sums watch the normalised errors :math:`z` along and against the motion (that is
where more or less friction shows), two more their sign (an offset),

.. math:: g \leftarrow \max(0,\; g + u - k), \qquad u = \pm z\,\operatorname{sgn} v,\; \pm z

and one beyond `h` is a suspicion. For errors without a change that are normal with unit variance,
a false one comes about every :math:`e^{2 k h}` rows.

A suspicion begins a trial: what was learnt since the sums began to grow is taken back, the
friction becomes uncertain at once, and the memory begins again,
growing with the time since then, so that what was before does not count and all that came after
does. What was estimated before stays what the fit says, until the trial is over: if new friction
explains the errors, in both directions, it is a change and the new estimate is taken. If it does
not, as of a payload that nobody told of, the old estimate comes back and the joint is in doubt:
nothing is learnt until errors are small again, or, after some time, another trial.

References
----------
.. [1] E. S. Page, "Continuous inspection schemes", Biometrika 41, 1954.
.. [2] F. Gustafsson, *Adaptive Filtering and Change Detection*, 2000, sections 3.3 and 5.4.
.. [3] T. R. Fortescue, L. S. Kershenbaum, B. E. Ydstie, "Implementation of self-tuning regulators
   with variable forgetting factors", Automatica 17(6), 1981.

"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.identification.online.square_root_rls import SquareRootRls
from robot_dynamics_ros.core.identification.online.stribeck_grid import StribeckGrid

SHORTEST_MEMORY = 2.0
"""Just after a change [s of motion]."""

DRIFT = 0.5
"""`k`: errors that many deviations off are no change yet."""

THRESHOLD = 15.0
"""`h`: cumulated deviations beyond `DRIFT` that are a suspicion."""

LARGEST_ERROR = 5.0
"""Errors count up to so many deviations: one wrong message is no change."""

QUIET = 4.0
"""Cumulated deviations up to which nothing seems to happen."""

REMEMBERED = 0.5
"""How often what is known is kept for the case of a suspicion [s of motion]."""

BLIND = 0.4
"""At the beginning of a trial, until the fit has moved, errors say nothing [s of motion]."""

TRIAL = 1.0
"""A trial lasts at least so long [s of motion]."""

EACH_WAY = 0.3
"""And at least so long in each direction [s of motion]."""

ONE_WAY = 20.0
"""Unless the joint has moved in one direction all that time [s of motion]."""

EXPLAINED = 2.0
"""Mean square of the normalised errors up to which new friction explains them."""

CALM = 5.0
"""Time of small errors after which a joint in doubt is believed again [s of motion]."""

SMALL = 2.5
"""Such errors, in deviations."""

AGAIN = 30.0
"""Time in doubt after which there is another trial [s of motion]."""


class FitState(IntEnum):
    """What a joint's fit does."""

    TRACKING = 0
    TRIAL = 1
    DOUBT = 2


class JointFrictionFit:
    """
    The fit of one joint.

    Parameters
    ----------
    estimate : ndarray, shape (p,)
        To start from.
    covariance : ndarray, shape (p, p)
        Of the start.
    widest : ndarray, shape (p,)
        Standard deviations that forgetting does not lead beyond.
    opened : ndarray, shape (p,)
        Standard deviations that a suspicion adds.
    memory : float
        Seconds of motion after which rows count for a third, in calm.
    velocities : ndarray, shape (K,), optional
        Stribeck velocities to try; then the last of the parameters is the static level above the
        Coulomb level, and rows have its column for each of them (`stribeck_grid`).

    Attributes
    ----------
    state : FitState
    estimate : ndarray, shape (p,)
        What is to be used: during a trial that of before. With a grid (p - 1 + K,).
    grid : StribeckGrid or None
        The fits of the Stribeck velocities.
    changes, refused : int
        Trials that ended with new friction, and with the old one.

    Raises
    ------
    ConfigurationError
        If the covariance is not positive definite.
    DimensionError, NonFiniteError
        If shapes do not agree or a number is not finite.

    """

    def __init__(
        self,
        estimate: Vector,
        covariance: Matrix,
        widest: Vector,
        opened: Vector,
        memory: float,
        velocities: Vector | None = None,
    ) -> None:
        self.grid: StribeckGrid | None = None
        self._rls: SquareRootRls | StribeckGrid
        if velocities is None:
            self._rls = SquareRootRls(estimate, covariance, widest, everywhere=True)
        else:
            self._rls = self.grid = StribeckGrid(estimate, covariance, widest, velocities)
        self._opened = opened
        self._memory = memory
        self._age = memory
        self._sums = (0.0, 0.0, 0.0, 0.0)
        self._kept: dict[str, NDArray[Any]] | None = None
        self._calm_arrays = self._rls.state()
        self._unseen = 0.0
        self._kept_covariance = covariance
        self._ways = [0.0, 0.0]
        self._squares = self._seen = self._calm = self._doubted = 0.0
        self._fitted = np.array(estimate if self.grid is None else self.grid.estimate)
        self.estimate = self._fitted
        self.state = FitState.TRACKING
        self.changes = 0
        self.refused = 0

    @property
    def covariance(self) -> Matrix:
        """Return the covariance of `estimate`, shape (p, p)."""
        return self._kept_covariance if self._kept is not None else self._rls.covariance

    def step(self, columns: Vector, value: float, deviation: float, v: float, step: float) -> bool:
        """
        Take in a row.

        Parameters
        ----------
        columns : ndarray, shape (p,)
            Of the joint's terms.
        value : float
            What they have to explain [N m | N].
        deviation : float
            Standard deviation of its error [N m | N].
        v : float
            Velocity of the joint [rad/s | m/s].
        step : float
            Time that the row stands for [s].

        Returns
        -------
        changed : bool
            Whether new friction has just been found.

        """
        unsure = 0.0 if self.grid is None else self.grid.unsure(columns[-self.grid.count :])
        z = (value - float(columns @ self._fitted)) / hypot(deviation, unsure)
        if self.state is FitState.DOUBT:
            self._doubt(z, step)
            return False
        is_blind = self.state is FitState.TRIAL and self._age < BLIND
        suspicion = not is_blind and self._is_suspicious(z, v)
        changed = False
        if self.state is FitState.TRIAL:
            changed = self._try(z, v, step, suspicion)
            if self._kept is None and not changed:
                return False  # in doubt now
        elif suspicion:
            self._open()
        else:
            deviation *= max(1.0, abs(z) / LARGEST_ERROR)
            self._remember(step)
        self._age = min(self._memory, self._age + step)
        self._rls.forgetting = 1.0 - min(0.5, step / max(SHORTEST_MEMORY, self._age))
        self._rls.update(columns, value, deviation)
        self._fitted = self._rls.estimate
        if self.state is FitState.TRACKING:
            self.estimate = self._fitted
        return changed

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what makes up the fit; a trial is not in it."""
        kept = self._kept or self._rls.state()
        numbers = [self._age if self._kept is None else self._memory, self.changes, self.refused]
        return {**kept, 'numbers': np.array([*numbers, *self._sums])}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """
        Go back to such arrays.

        Raises
        ------
        ConfigurationError
            If an array makes no sense.
        DimensionError, NonFiniteError
            If it is missing, of another size, or not finite.

        """
        numbers = as_finite('numbers', arrays.get('numbers', ()), (7,)).tolist()
        self._rls.restore(arrays)
        self._age, self.changes, self.refused = numbers[0], int(numbers[1]), int(numbers[2])
        self._sums = (numbers[3], numbers[4], numbers[5], numbers[6])
        self._kept, self.state = None, FitState.TRACKING
        self._calm_arrays, self._unseen = self._rls.state(), 0.0
        self.estimate = self._fitted = self._rls.estimate

    def _is_suspicious(self, error: float, v: float) -> bool:
        z = min(max(error, -LARGEST_ERROR), LARGEST_ERROR)
        along = z if v > 0.0 else -z
        forward, backward, up, down = self._sums
        self._sums = (
            max(0.0, forward + along - DRIFT),
            max(0.0, backward - along - DRIFT),
            max(0.0, up + z - DRIFT),
            max(0.0, down - z - DRIFT),
        )
        return max(self._sums) > THRESHOLD

    def _remember(self, step: float) -> None:
        """Keep what is known while the sums are small: a suspicion goes back to it."""
        self._unseen += step
        if self._unseen >= REMEMBERED and max(self._sums) < QUIET:
            self._calm_arrays, self._unseen = self._rls.state(), 0.0

    def _open(self) -> None:
        """Begin a trial: make the friction uncertain, and keep what was known before."""
        self._rls.restore(self._calm_arrays)
        self.estimate = self._fitted = self._rls.estimate
        self._kept, self._kept_covariance = self._rls.state(), self._rls.covariance
        self.state = FitState.TRIAL
        self._rls.open(self._opened)
        self._sums = (0.0, 0.0, 0.0, 0.0)
        self._age = self._squares = self._seen = 0.0
        self._ways = [0.0, 0.0]

    def _try(self, z: float, v: float, step: float, suspicion: bool) -> bool:
        """Go on with a trial; return whether it has just ended with new friction."""
        if suspicion:
            self._reject()
            return False
        self._ways[v > 0.0] += step
        if self._age >= BLIND:
            self._squares += z * z * step
            self._seen += step
        long_enough = self._age >= TRIAL and min(self._ways) >= EACH_WAY
        if not long_enough and self._age < min(ONE_WAY, self._memory):
            return False
        if self._squares > EXPLAINED * self._seen:
            self._reject()
            return False
        self._kept = None
        self._calm_arrays, self._unseen = self._rls.state(), 0.0
        self.state = FitState.TRACKING
        self.changes += 1
        return True

    def _reject(self) -> None:
        """End a trial with the old friction."""
        if self._kept is not None:
            self._rls.restore(self._kept)
        self._kept = None
        self._fitted = self.estimate
        self.state = FitState.DOUBT
        self.refused += 1
        self._calm = self._doubted = 0.0
        self._age = self._memory
        self._sums = (0.0, 0.0, 0.0, 0.0)

    def _doubt(self, z: float, step: float) -> None:
        self._doubted += step
        self._calm = self._calm + step if abs(z) < SMALL else 0.0
        if self._calm >= CALM:
            self.state = FitState.TRACKING
        elif self._doubted >= AGAIN:
            self._open()
