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
Going back to what was known before efforts were wrong, as soon as they are found to be.

A fault of efforts is known some seconds of motion after it began. Whatever was learnt since the
efforts were last judged to be right, and for some motion before that, may come from wrong ones:
all estimates go back to a state before (`LearntHistory`). What changed in between is found again
when the efforts are right: nothing is lost but time.

While something is wrong with the weight that efforts show, the watch may find out that it was a
payload. If it does not, what it made of the efforts does not count.

"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.identification.online.effort_semantics import EffortSemantics
from robot_dynamics_ros.core.identification.online.learnt_history import LearntHistory

SPAN = 15.0
"""Motion before efforts were last judged to be right that they may have been wrong for [s]."""

Arrays = dict[str, NDArray[Any]]


class _Learning(Protocol):
    """What is needed of a running model."""

    @property
    def semantics(self) -> EffortSemantics: ...

    def present_state(self) -> Arrays: ...

    def go_to(self, state: Mapping[str, NDArray[Any]]) -> None: ...


class FaultRecovery:
    """
    Takes back what was learnt from wrong efforts.

    Parameters
    ----------
    learning : RunningModel
        Whose estimates go back.

    Attributes
    ----------
    before_fault : dict of str to ndarray, or None
        What was learnt up to the fault that is there now.
    is_payload : bool
        Whether a payload has been found since: then the watch knows better.
    taken_back : float
        Time from which nothing is left [s].

    """

    def __init__(self, learning: _Learning) -> None:
        self._learning = learning
        self.before_fault: Arrays | None = None
        self.is_payload = False
        self.taken_back = 0.0
        self._wrong: set[tuple[str, str]] = set()
        self._pending: tuple[Vector, NDArray[np.bool_]] | None = None
        nv = len(learning.semantics.moved)
        self._history = LearntHistory(learning.present_state, nv)

    @property
    def sentence(self) -> str:
        """Return what was taken back, to be said after what is wrong; empty if nothing was."""
        if not self.taken_back:
            return ''
        return f'; what was learnt in the last {self.taken_back:.0f} s was taken back'

    def restart(self) -> None:
        """Hear that the semantics are going to begin anew."""
        self._history.restart(self._learning.semantics.moved)
        self.before_fault, self._pending, self.taken_back = None, None, 0.0
        self._wrong.clear()

    def step(self, period: float, learnt: int, *, is_frozen: bool) -> None:
        """
        Look at the faults after a row.

        Parameters
        ----------
        period : float
            Time that the row stands for [s].
        learnt : int
            How often anything was learnt up to now.
        is_frozen : bool
            Whether not a bit may change.

        """
        semantics = self._learning.semantics
        self._hear(semantics)
        self._history.clock += period
        if is_frozen:
            return
        if self._pending is not None:
            self._take_back(*self._pending, learnt)
            self._pending = None
        if not semantics.faults and self.before_fault is not None:
            before, self.before_fault = self.before_fault, None
            if not self.is_payload:
                self._learning.go_to(before)
            self.taken_back = 0.0
        if self.before_fault is None:
            self._history.keep(semantics.moved, learnt)

    def _hear(self, semantics: EffortSemantics) -> None:
        """Take note of faults that are new."""
        wrong = {(fault.kind, joint) for fault in semantics.faults for joint in fault.joints}
        new = wrong - self._wrong
        self._wrong = wrong
        if not new or self._pending is not None:
            return
        whose = {joint for kind, joint in new if kind != 'late'}
        if whose:
            mask = np.array([name in whose for name in semantics.names])
            self._pending = semantics.right_until.copy(), mask
        else:  # the joint that moved most had most to say of the time
            most = semantics.moved == semantics.moved.max()
            self._pending = semantics.timely_until.copy(), most

    def _take_back(self, moved: Vector, joints: NDArray[np.bool_], learnt: int) -> None:
        """Go back to what was known before the efforts of some joints can have been wrong."""
        self.before_fault, self.is_payload = None, False
        before = self._history.before(moved, joints, SPAN)
        if before.learnt != learnt:
            self.taken_back = self._history.clock - before.clock
            self._learning.go_to(before.arrays)
        self._history.go_back(before, learnt)
        self.before_fault = self._learning.present_state()
