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
All estimation while the robot moves, in order: rows, gate, residuals, trackers.

1. Joint states become rows of the regression (`online_rows`), some tens a second.
2. For each joint is decided whether its row may be learnt from (`excitation_gate`).
3. The residual is what the arm and its friction, as they are tracked, do not explain. Whoever
   looks for other reasons (a payload, a contact, a fault) gets every row, as `explainer`, with
   what the arm as it was at the start leaves of it: so what is tracked here does not move there.
4. Rows wait for `patience` before the trackers learn from them, so that a reason has time to be
   found: while the explainer says ``on_hold`` nothing is learnt, and rows since a change that is
   none of friction are discarded, as those are that came just before a contact was seen.
5. `FrictionTracker` follows the friction, `BaseTracker` gathers all base parameters, of joints
   whose friction is neither on trial nor in doubt. One equation is taken in with each joint state,
   so that no state costs much more than others.

"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import as_vector, frozen, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.consistent_fit import consistent_fit, ConsistentFit
from robot_dynamics_ros.core.identification.online.base_tracker import BaseTracker
from robot_dynamics_ros.core.identification.online.excitation_gate import ExcitationGate, RowUse
from robot_dynamics_ros.core.identification.online.friction_tracker import FrictionTracker
from robot_dynamics_ros.core.identification.online.joint_friction_fit import FitState
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow, OnlineRows
from robot_dynamics_ros.core.identification.online.online_settings import OnlineSettings
from robot_dynamics_ros.core.identification.online.online_start import OnlineStart
from robot_dynamics_ros.core.identification.online.online_state import digests, part_of
from robot_dynamics_ros.core.identification.online.row_explainer import (
    ExplainedChange,
    RowExplainer,
)

BEFORE_CONTACT = 0.2
"""Rows of this time before a contact was seen may hold it already [s]."""

LONGEST_WAIT = 10.0
"""Rows that wait longer, because somebody holds them, are dropped [s]."""

CATCH_UP = 0.5
"""Rows that have waited are learnt from within about this time [s]."""


class _Waiting(NamedTuple):
    """A row, what a payload adds to it, and that with the friction that `base` has not."""

    row: OnlineRow
    use: NDArray[np.bool_]
    effort: Vector | None
    known: Vector


@dataclass(frozen=True, eq=False)
class OnlineReport:
    """
    What came of a row.

    Attributes
    ----------
    row : OnlineRow
    use : RowUse
        Which joints' equations may be learnt from, and why not.
    residual : ndarray, shape (nv,)
        Filtered efforts less those of the arm with its tracked friction, and of what the explainer
        explains [N m | N].
    deviation : ndarray, shape (nv,)
        Standard deviation of the errors of a row, as at the start [N m | N].
    changed : ndarray of bool, shape (nv,)
        Joints whose friction was found to change since the last report.

    """

    row: OnlineRow
    use: RowUse
    residual: Vector
    deviation: Vector
    changed: NDArray[np.bool_]


class OnlineIdentification:
    """
    The estimators of a robot.

    Parameters
    ----------
    start : OnlineStart
        What to start from.
    settings : OnlineSettings, optional
        Choices.
    explainer : RowExplainer, optional
        Whoever looks for reasons beside friction.

    Attributes
    ----------
    rows : OnlineRows
    gate : ExcitationGate
    friction : FrictionTracker
    base : BaseTracker
        The parts.
    is_frozen : bool
        While it is set, nothing is learnt, and no estimate changes in any bit.
    learnt : int
        Equations that were learnt from.
    refused : int
        Joint states with a number that was not finite.
    digests : dict of str to str
        What a saved state has to fit, see `online_state`.

    Raises
    ------
    ModelError
        If a joint has several coordinates.
    UnknownFrameError
        If the robot has no such frame.
    ConfigurationError
        If a setting is out of its range, the model has no friction, or the start makes no sense.

    """

    def __init__(
        self,
        start: OnlineStart,
        settings: OnlineSettings | None = None,
        explainer: RowExplainer | None = None,
    ) -> None:
        settings = settings or OnlineSettings()
        if not 0.0 <= settings.patience < LONGEST_WAIT:
            raise ConfigurationError(
                f'patience is {settings.patience} s, expected 0 to {LONGEST_WAIT}'
            )
        self.start = start
        self.settings = settings
        self.explainer = explainer
        self.rows = OnlineRows(
            start.model, settings.cutoff, settings.payload_frame, settings.effort_delay,
            motion_cutoff=settings.motion_cutoff,
            stribeck_velocities=settings.stribeck_velocities,
        )  # fmt: skip
        robot = start.model.robot
        self.gate = ExcitationGate(robot.limits.effort, self.rows.memory, settings.slowest)
        self.friction = self.friction_tracker(start)
        self.base = BaseTracker(start, settings.base_memory)
        self.is_frozen = False
        self.refused = self.learnt = 0
        self.digests = digests(start, settings.of_rows)
        self._nv = robot.nv
        self._deviation = start.spread
        self._waiting: deque[_Waiting] = deque()
        self._one = np.zeros(robot.nv, dtype=bool)
        self._touched = False
        self._stamp = -np.inf
        self._changed = np.zeros(robot.nv, dtype=bool)

    def step(
        self, stamp: float, q: Vector, tau: Vector, *, in_contact: bool = False
    ) -> OnlineReport | None:
        """
        Take in a joint state.

        Parameters
        ----------
        stamp : float
            When it was measured [s].
        q, tau : ndarray, shape (nv,)
            Positions and efforts; a state with a number that is not finite is left out.
        in_contact : bool
            Whether something touches the robot.

        Returns
        -------
        report : OnlineReport or None
            None most of the time: rows come at their own rate.

        Raises
        ------
        DimensionError
            If a vector has another size.
        NotNumericError
            If it does not consist of real numbers.

        """
        q, tau = as_vector('q', q, self._nv), as_vector('tau', tau, self._nv)
        if not isfinite(float(q.dot(q) + tau.dot(tau)) + stamp):
            self.refused += 1
            return None
        self._touched |= in_contact
        self.base.work()
        self._learn(stamp)
        self._stamp = stamp
        row = self.rows.step(stamp, q, tau)
        return None if row is None else self._report(row)

    def discard(self, since: float) -> None:
        """Say that rows since a stamp [s] are of something else: they are not learnt from."""
        while self._waiting and self._waiting[-1].row.stamp >= since:
            self._waiting.pop()

    def finish(self) -> None:
        """Learn from all rows that wait, as at the end of a log."""
        while self._waiting and not self.is_frozen:
            self._learn_joint()
        self.base.finish()

    def finish_rows(self) -> None:
        """Take in what was begun, so that nothing changes from here on without new rows."""
        self.base.finish()

    def consistent_fit(self, prior_weight: float = 1.0) -> ConsistentFit:
        """
        Return bodies that can exist and friction that takes energy, of all that was learnt.

        It takes some tenths of a second. The friction is that of its tracker, which follows it;
        the bodies are the fit to everything.

        Parameters
        ----------
        prior_weight : float
            Of the description, see `consistent_fit`.

        Raises
        ------
        ConfigurationError
            If the weight is not above zero.

        """
        model = self.start.model
        found = consistent_fit(model, self.base.fit, prior_weight)
        parameters = found.parameters.copy()
        tracked = np.array(model.base.independent)[self.friction.columns]
        parameters[tracked] = self.friction.possible
        base = model.base.to_base(parameters)
        return replace(found, parameters=frozen(parameters), base=frozen(base))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what was learnt, as arrays; rows that wait are not in it."""
        parts = {'friction': self.friction.state(), 'base': self.base.state()}
        return {f'{name}/{key}': a for name, part in parts.items() for key, a in part.items()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """
        Go on from a state, or leave everything as it is.

        Raises
        ------
        ConfigurationError
            If an array is missing or makes no sense.
        DimensionError, NonFiniteError
            If it is of another size, or not finite.

        """
        friction = self.friction_tracker(self.start)
        base = BaseTracker(self.start, self.settings.base_memory)
        friction.restore(part_of(state, 'friction/'))
        base.restore(part_of(state, 'base/'))
        self.friction, self.base = friction, base
        self._waiting.clear()

    def reset(self) -> None:
        """Begin again at the start."""
        self.friction = self.friction_tracker(self.start)
        self.base = BaseTracker(self.start, self.settings.base_memory)
        self._waiting.clear()

    def friction_tracker(self, start: OnlineStart) -> FrictionTracker:
        """Return a new tracker of the friction, with the settings that are here."""
        settings = self.settings
        return FrictionTracker(start, settings.friction_memory, settings.stribeck_velocities)

    def _report(self, row: OnlineRow) -> OnlineReport:
        static = self.friction.static_effort(row)
        residual = row.tau - row.regressor @ self.friction.base - static
        use = self.gate.step(row, in_contact=self._touched)
        if self._touched:
            self.discard(row.stamp - BEFORE_CONTACT)
            self._touched = False
        deviation = np.hypot(self._deviation, self.friction.static_deviation(row))
        effort, is_blind = None, False
        if self.explainer is not None:
            left = row.tau - row.regressor @ self.start.base - static
            said = self.explainer.step(row, left, deviation, use.use)
            self._leave_out(said.change)
            effort, is_blind = self.explainer.effort(row), self.explainer.is_blind
        if use.use.any() and not (self.is_frozen or is_blind):
            known = static if effort is None else effort + static
            self._waiting.append(_Waiting(row, use.use.copy(), effort, known))
        rest = residual if effort is None else residual - effort
        changed, self._changed = self._changed, np.zeros_like(self._changed)
        return OnlineReport(row, use, rest, deviation, changed)

    def _leave_out(self, change: ExplainedChange | None) -> None:
        """Discard rows of what is not friction, and of what was there before a change."""
        if change is None:
            return
        if change.before is not None:
            self.discard(change.before)
        elif change.kind != 'friction':
            self.discard(change.since)

    def _learn(self, now: float) -> None:
        """Learn from one joint of the oldest row that has waited long enough."""
        waiting, due = self._waiting, now - self.settings.patience
        if not waiting or waiting[0].row.stamp > due:
            return
        if self.is_frozen:
            waiting.clear()
            return
        if self.explainer is not None and self.explainer.on_hold:
            if now - waiting[0].row.stamp > LONGEST_WAIT:
                waiting.popleft()
            return
        # One equation a state, and more where states come slowly or many rows have waited.
        period = min(max(now - self._stamp, 0.0), CATCH_UP)
        for _ in range(1 + int(len(waiting) * self._nv * period / CATCH_UP)):
            if not waiting or waiting[0].row.stamp > due:
                return
            self._learn_joint()

    def _learn_joint(self) -> None:
        row, use, effort, known = self._waiting[0]
        if self.explainer is not None:
            use &= self.explainer.known
            if not use.any():
                self._waiting.popleft()
                return
        joint = int(np.argmax(use))
        self._one[:] = False
        self._one[joint] = True
        use[joint] = False
        self.learnt += 1
        self._changed |= self.friction.step(row, self._one, effort)
        if self.friction.fits[joint].state is FitState.TRACKING:
            self.base.step(row, self._one, known)
        if not use.any():
            self._waiting.popleft()
