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
Reasons why efforts are not those of the arm: what they mean, and what the arm carries.

`OnlineIdentification` asks this for every row (`RowExplainer`). First it is judged what the
efforts mean; only while they may be believed, a watch looks for payloads and other changes.

"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.identification.online.change_detection import Change
from robot_dynamics_ros.core.identification.online.effort_semantics import EffortSemantics
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow
from robot_dynamics_ros.core.identification.online.payload_watch import PayloadWatch, WatchReport
from robot_dynamics_ros.core.identification.payload_columns import ten_parameters
from robot_dynamics_ros.core.model.payload import are_alike, Payload

SETTLING = 1.0
"""A payload that has not changed for so long is known [s]."""

SAME = 0.05
"""Part of its mass, and of a metre, by which an estimate may change without being another one."""

NOTHING = WatchReport(False, None)

AFTER_CONTACT = 3.0
"""Within this time of a contact a payload that was taken or put down in it is told [s]."""

KEPT_CHANGES = 20
"""Changes that are remembered."""


class RowReasons:
    """
    What the trackers of friction and bodies need to know of each row.

    Parameters
    ----------
    semantics : EffortSemantics
        Judge of the efforts.
    watch : PayloadWatch, optional
        Who follows the payload, if anybody does.
    stated : Payload, optional
        What the arm carries at the start; without a watch it is taken to stay.

    Attributes
    ----------
    changes : deque of Change
        The last ones that were told.
    is_frozen : bool
        While it is set, only the meaning of efforts is judged.
    watched : int
        Rows that the watch has taken in.
    touched_at : float
        Stamp of the last state in which something touched the robot [s].

    """

    def __init__(
        self,
        semantics: EffortSemantics,
        watch: PayloadWatch | None = None,
        stated: Payload | None = None,
    ) -> None:
        self.semantics = semantics
        self.watch = watch
        self.changes: deque[Change] = deque(maxlen=KEPT_CHANGES)
        self.is_frozen = False
        self.watched = 0
        self.touched_at = -np.inf
        self._stated = None if stated is None else ten_parameters(stated.spatial_inertia())
        self._told: Change | None = None
        self._settled_at: float | None = None
        self.carry(stated)

    def carry(self, payload: Payload | None) -> None:
        """Say that the arm carries this, from now on and for sure."""
        self._carried, self._settled_at = payload, None
        self.semantics.carry(payload)

    def take_change(self) -> Change | None:
        """Return the change that the last row told, once."""
        change, self._told = self._told, None
        return change

    @property
    def on_hold(self) -> bool:
        """Whether nothing may be learnt now."""
        held = self.watch is not None and (self.watch.on_hold or self.watch.is_blind)
        return held or not self.semantics.may_learn

    @property
    def known(self) -> NDArray[np.bool_]:
        """Return the joints whose efforts may be learnt from, shape (nv,)."""
        return self.semantics.known

    @property
    def is_blind(self) -> bool:
        """Whether rows of now can never be learnt from: what the arm carries is not known yet."""
        return self.watch is not None and self.watch.is_blind

    def effort(self, row: OnlineRow) -> Vector | None:
        """Return what the payload adds to the efforts, shape (nv,) [N m | N]; None without one."""
        if self.watch is not None:
            return self.watch.effort(row)
        return None if self._stated is None else np.asarray(row.payload @ self._stated)

    def step(
        self, row: OnlineRow, residual: Vector, deviation: Vector, use: NDArray[np.bool_]
    ) -> WatchReport:
        """
        Take in a row.

        Parameters
        ----------
        row : OnlineRow
            The row.
        residual : ndarray, shape (nv,)
            What the arm at the start, without payload, leaves of it [N m | N].
        deviation : ndarray, shape (nv,)
            That of one row's error [N m | N].
        use : ndarray of bool, shape (nv,)
            Joints that are fit to be learnt from.

        Returns
        -------
        report : WatchReport
            Whether learning has to wait, and a change if one has just been told.

        """
        if self.watch is None:
            self.semantics.step(row)
            return NOTHING
        is_touched = row.stamp - self.touched_at < AFTER_CONTACT
        self._judge_efforts(row, self.watch, is_touched=is_touched)
        # A scale or a weight that is missing may be a payload: the watch looks at those.
        if self.is_frozen or not (self.semantics.may_learn or self.semantics.may_be_payload):
            return NOTHING
        self.watched += 1
        report = self.watch.step(row, residual, deviation, use)
        if report.change is not None:
            self._told = report.change
            self.changes.append(report.change)
        return report

    def _judge_efforts(self, row: OnlineRow, watch: PayloadWatch, *, is_touched: bool) -> None:
        """Look what the efforts mean, but not while the payload is becoming another one."""
        payload = watch.payload
        if self._settled_at is None and not are_alike(payload, self._carried, SAME, SAME):
            self._settled_at = row.stamp + SETTLING
            self.semantics.interrupt()
        if self._settled_at is not None:
            if row.stamp < self._settled_at:
                return
            self.carry(payload)
        is_unexplained = bool(self.changes) and self.changes[-1].kind == 'unexplained'
        is_open = watch.on_hold and not is_unexplained
        self.semantics.step(row, is_open=is_open, is_touched=is_touched)
