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
Rows of the regression while the robot moves: regressor and efforts through the same causal filter.

The motion comes from a first, quicker filter (`CausalMotion`). The columns that it gives are
filtered once more, at the cutoff of the identification, and the efforts, which went through the
first filter already, beside them:

.. math:: F \tau = F\bigl(Y(q, v, a)\bigr)\,\beta

as offline (`regression_rows`), but with a delay instead of zero phase. The first filter must be
quick against the second: :math:`Y` is not linear in the motion, so what the first takes from the
motion is not what it takes from the efforts. The columns of a payload are filtered beside those
of the arm.

"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics import joint_torque_regressor
from robot_dynamics_ros.core.identification.identification_model import IdentificationModel
from robot_dynamics_ros.core.identification.joint_samples import RATE_PER_CUTOFF
from robot_dynamics_ros.core.identification.online.causal_motion import CausalMotion, CausalState
from robot_dynamics_ros.core.identification.online.stribeck_columns import StribeckColumns
from robot_dynamics_ros.core.identification.online.term_table import TermTable
from robot_dynamics_ros.core.identification.payload_columns import (
    moving_frame,
    parameter_transform,
)
from robot_dynamics_ros.core.identification.possible_bodies import SIZE
from robot_dynamics_ros.core.signals.matched_filter import MatchedFilter

MOTION_CUTOFF = 4.0
"""Cutoff of the motion's filter over that of the rows."""

ROW_ORDER = 2
"""Poles of the second filter; the first has four at its higher cutoff."""

COLUMNS_PER_CUTOFF = 40.0
"""Times per period of the cutoff that columns are computed: what lies between is a line."""


@dataclass(frozen=True, eq=False)
class OnlineRow:
    """
    One equation for each joint.

    Attributes
    ----------
    stamp : float
        When the last sample came [s].
    step : float
        Time since the row before [s].
    regressor : ndarray, shape (nv, rank)
        Filtered columns of the base parameters.
    payload : ndarray, shape (nv, 10)
        Filtered columns of a payload in its frame: mass, first moment, inertia.
    tau : ndarray, shape (nv,)
        Filtered efforts [N m | N].
    state : CausalState
        The motion before the second filter.
    stribeck : ndarray, shape (nv, K)
        Filtered columns of levels at rest, if there are any.

    """

    stamp: float
    step: float
    regressor: Matrix
    payload: Matrix
    tau: Vector
    state: CausalState
    stribeck: Matrix = field(default_factory=partial(np.zeros, (0, 0)))


class OnlineRows:
    """
    Makes rows from joint states.

    Parameters
    ----------
    model : IdentificationModel
        Whose columns to compute.
    cutoff : float
        Of the rows [Hz].
    payload_frame : str, optional
        Link or joint frame that would hold a payload; without it there are no columns of one.
    effort_delay : float
        See `CausalMotion`.
    rate : float, optional
        Rows per second [Hz]; `RATE_PER_CUTOFF` times the cutoff by default.
    motion_cutoff : float, optional
        Of the first filter [Hz], `MOTION_CUTOFF` times the other by default; for slow states that
        would have gaps under it.
    stribeck_velocities : ndarray, shape (K,), optional
        For which rows have columns of a level at rest [rad/s | m/s].

    Attributes
    ----------
    motion : CausalMotion
        The first filter.
    delay : float
        Of the rows against the stamps [s].
    memory : float
        How long the second filter feels what was before [s].

    Raises
    ------
    ModelError
        If a joint has several coordinates.
    UnknownFrameError
        If the robot has no such frame.
    ConfigurationError
        If the frame does not move, or the cutoff is not positive and finite.

    """

    def __init__(
        self,
        model: IdentificationModel,
        cutoff: float,
        payload_frame: str | None = None,
        effort_delay: float = 0.0,
        rate: float | None = None,
        motion_cutoff: float | None = None,
        stribeck_velocities: Vector | None = None,
    ) -> None:
        robot = model.robot
        self.model = model
        first = motion_cutoff or MOTION_CUTOFF * cutoff
        self.motion = CausalMotion(robot, first, effort_delay)
        self._held: tuple[slice, Matrix] | None = None
        if payload_frame is not None:
            frame = moving_frame(robot, payload_frame)
            own = slice(SIZE * frame.body, SIZE * frame.body + SIZE)
            self._held = own, parameter_transform(frame.rotation, frame.translation)
        self._place_signals()
        self._filter = MatchedFilter(cutoff, len(self._values), ROW_ORDER)
        self._stribeck = (
            None
            if stribeck_velocities is None
            else StribeckColumns(robot.nv, stribeck_velocities, cutoff, ROW_ORDER)
        )
        self._column_period = 1.0 / (COLUMNS_PER_CUTOFF * cutoff)
        self._row_period = 1.0 / (rate or RATE_PER_CUTOFF * cutoff)
        self._filtered_at: float | None = None
        self._row_at = self._settled_at = 0.0
        self.delay = self.motion.delay + self._filter.delay
        self.memory = self._filter.settling_time

    def step(self, stamp: float, q: Vector, tau: Vector) -> OnlineRow | None:
        """
        Take in a sample.

        Parameters
        ----------
        stamp : float
            When it was measured [s].
        q, tau : ndarray, shape (nv,)
            Positions and efforts; finite, this is not checked.

        Returns
        -------
        row : OnlineRow or None
            None most of the time: rows come at their own rate, and only from settled filters.

        """
        motion = self.motion
        is_next = motion.advance(stamp, q, tau)
        if motion.began == stamp:
            self._filtered_at = None  # the first sample, or the first after a gap
        if not is_next or not motion.is_settled:
            return None
        if self._filtered_at is None:
            self._begin(motion.state)
            return None
        h = stamp - self._filtered_at
        if h < self._column_period:
            return None
        self._filtered_at = stamp
        state = motion.state
        filtered = self._filter.step(h, self._signals(state))[0]
        if self._stribeck is not None:
            self._stribeck.step(h, state.v)
        if stamp < self._settled_at:
            self._row_at = stamp
        since = stamp - self._row_at
        if since < self._row_period:
            return None
        self._row_at = stamp
        return self._row(since, filtered, state)

    def _begin(self, state: CausalState) -> None:
        self._filter.reset(self._signals(state))
        if self._stribeck is not None:
            self._stribeck.reset(state.v)
        self._filtered_at = self._row_at = state.stamp
        self._settled_at = state.stamp + self._filter.settling_time

    def _place_signals(self) -> None:
        """Find the entries that are not always zero: where from, and where to in a row."""
        model, nv, rank = self.model, self.model.robot.nv, self.model.base.rank
        independent = np.array(model.base.independent, dtype=np.intp)
        bodies = independent[independent < model.n_inertial]
        terms = independent[len(bodies) :] - model.n_inertial
        self._terms = TermTable([model.terms[k] for k in terms], nv)
        self._shape = nv, rank + SIZE + 1
        joints = np.repeat(np.arange(nv), [len(c) for c in model.columns_of_joint])
        columns = np.concatenate(model.columns_of_joint)
        of_body = columns < len(bodies)
        self._body_cells = joints[of_body] * model.n_inertial + bodies[columns[of_body]]
        self._term_cells = joints[~of_body] * len(terms) + columns[~of_body] - len(bodies)
        cells = np.arange(nv * self._shape[1]).reshape(self._shape)
        held = slice(rank, rank + SIZE if self._held is not None else rank)
        self._present = np.concatenate([
            cells[joints[of_body], columns[of_body]], cells[joints[~of_body], columns[~of_body]],
            cells[:, held].ravel(), cells[:, -1],
        ])  # fmt: skip
        self._values = np.zeros(len(self._present))

    def _signals(self, state: CausalState) -> Vector:
        """Return the columns and efforts that are not always zero; the same array every time."""
        values, nv = self._values, self._shape[0]
        full = joint_torque_regressor(self.model.robot, state.q, state.v, state.a)
        n = len(self._body_cells)
        full.take(self._body_cells, out=values[:n])
        at = n + len(self._term_cells)
        self._terms.columns(state.v, state.a).take(self._term_cells, out=values[n:at])
        if self._held is not None:
            own, transform = self._held
            np.matmul(full[:, own], transform, out=values[at:-nv].reshape(nv, SIZE))
        values[-nv:] = state.tau
        return values

    def _row(self, since: float, filtered: Vector, state: CausalState) -> OnlineRow:
        rows = np.zeros(self._shape)
        rows.put(self._present, filtered)
        rank = self.model.base.rank
        row = (state.stamp, since, rows[:, :rank], rows[:, rank:-1], rows[:, -1].copy(), state)
        return (
            OnlineRow(*row) if self._stribeck is None else OnlineRow(*row, self._stribeck.columns)
        )
