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
What the efforts of a running robot mean: whether they are torques, of what sign, and how late.

The question is that of `log_health` for a log, with the same answers (`joint_verdict`): each
joint's effort is fitted by the motion's and gravity's part of the model's torque and by friction,

.. math:: e(t + d) = k_m\,(M a + C v)_j + k_g\,g_j + f_v\,v_j + f_c\,\mathrm{sign}(v_j) + c

All columns and efforts pass one filter, which gives the derivatives of efforts, too; so the sums
of products are all that has to be kept, for any delay (`effort_sums`). There are two sets of them.
One remembers for long, so that joints that move now and then are judged, too; one for a short
time, which is believed where it says something, so that a driver that is started again with
another setting is found out.

A fault of which only the model's torque tells counts where that torque, taken as it is, leaves
much of the effort, and gains explain most of that: those of a short piece of motion are not
always those of the robot, and efforts of two kinds have no gain. The short sums begin anew then.

Nothing may be learnt from efforts that are refused here, nor of a joint before it is known what
its efforts are.

References
----------
.. [1] M. Gautier, S. Briot, "Global identification of joint drive gains and dynamic parameters of
   robots", ASME J. Dyn. Sys. Meas. Control 136(5), 2014 (gains of efforts by least squares).

"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics import generalized_gravity, rnea
from robot_dynamics_ros.core.identification.online.effort_faults import (
    EffortFault,
    EffortFaults,
    is_right,
    LATE,
)
from robot_dynamics_ros.core.identification.online.effort_sums import (
    COUNT,
    dead_efforts,
    EFFORT,
    EffortSums,
    left_by_model,
    model_share,
)
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow
from robot_dynamics_ros.core.log_health.effort_verdict import (
    CANNOT_TELL,
    joint_verdict,
    JointVerdict,
)
from robot_dynamics_ros.core.log_health.torque_match import Delay
from robot_dynamics_ros.core.model.payload import are_alike, Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.signals.matched_filter import MatchedFilter

STEADY = 1.5
"""Periods of the cutoff for which a joint must have turned one way: before, it may have stuck."""

WIDTH = 0.05
"""Of the smooth sign of the velocity [rad/s | m/s]."""

MEMORY, SHORT_MEMORY = 20.0, 5.0
"""Motion that the two sets of sums remember [s]."""

ENOUGH = 3.0
"""Motion of a joint after which its effort is judged [s]."""

LONG_ENOUGH = 20.0
"""Motion after which what has not shown yet will not show: it is learnt then [s]."""

SOON_ENOUGH = 6.0
"""The same where a description judges, which tells less [s]."""

SLOWEST = 0.1
"""A joint that turns no faster does not count as moving [rad/s | m/s]."""

PERIOD = 0.5
"""Time from one verdict to the next [s]."""

ALIKE_MASS, ALIKE_CENTRE = 0.3, 0.1
"""Sums go on over payloads whose masses differ by less than this part, centres by less [m]."""

LEAST_SHARE = 0.05
"""Part of an effort's variation that motion and gravity must make: of friction nothing follows."""

UNEXPLAINED = 0.1
"""Part of an effort's squares that the model must leave where its meaning is wrong."""

MIXED = 0.25
"""Where gains leave more than this part of what the model leaves, there were several kinds."""


class EffortSemantics:
    """
    Judges the efforts of all joints, row by row.

    Parameters
    ----------
    robot : RobotModel
        The arm, as well as it is known.
    cutoff : float
        Of the rows [Hz].
    is_identified : bool
        Whether the arm's torques are known well enough to judge a factor by. A mere description
        may be wrong by more than that; then only sign, time and presence are judged.

    Attributes
    ----------
    verdicts : tuple of JointVerdict
        The last ones; empty before the first.
    delay : Delay or None
        By which efforts are later than was taken into account.
    known : ndarray of bool, shape (nv,)
        Joints whose efforts were found to be what they should be, or do not tell.
    moved : ndarray, shape (nv,)
        Motion of each joint that was looked at since the beginning [s].
    right_until, timely_until : ndarray, shape (nv,)
        The same when the joint's effort, and when the time of all efforts, was last judged to be
        right [s].

    """

    def __init__(self, robot: RobotModel, cutoff: float, is_identified: bool = True) -> None:
        self._robot = robot
        self._is_identified = is_identified
        self._filter = MatchedFilter(cutoff, (COUNT + 1) * robot.nv, 3, 1)
        self._steady = STEADY / cutoff
        self._sets = tuple(
            EffortSums(robot.nv, memory, 2.0 * cutoff) for memory in (SHORT_MEMORY, MEMORY)
        )
        self.reset()

    def reset(self) -> None:
        """Begin anew, as after the driver was started again."""
        nv = self._robot.nv
        for sums in self._sets:
            sums.clear()
        self._loaded = self._summed = self._robot
        self._since = np.zeros(nv)
        self._sign = np.zeros(nv)
        self._judged_at = self._began = -np.inf
        self._found = EffortFaults(self._robot.v_names, self._is_identified)
        self._is_timed = self._is_torque = False
        self.known: NDArray[np.bool_] = np.zeros(nv, dtype=bool)
        self.moved: Vector = np.zeros(nv)
        self.right_until: Vector = np.zeros(nv)
        self.timely_until: Vector = np.zeros(nv)
        self.verdicts: tuple[JointVerdict, ...] = ()
        self.delay: Delay | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the joints."""
        return self._robot.v_names

    @property
    def faults(self) -> tuple[EffortFault, ...]:
        """Return what is wrong now."""
        return self._found.faults

    @property
    def may_be_payload(self) -> bool:
        """Whether all that is wrong may be a payload that nobody knows of."""
        return self._found.may_be_payload

    @property
    def is_known(self) -> bool:
        """Whether there was motion enough to judge any joint, and the time of the efforts."""
        return self._is_timed and self._is_torque

    @property
    def may_learn(self) -> bool:
        """Whether the efforts are known to be torques of the joints at the right time."""
        return self.is_known and not self._found.is_suspect

    def carry(self, payload: Payload | None) -> None:
        """
        Count a payload, or that there is none, to what the robot moves.

        If it is quite another one, what was summed up before says nothing about what comes: the
        sums begin anew, and the verdicts stay until there are new ones.

        """
        self._loaded = self._robot.with_payload(payload)
        if are_alike(payload, self._summed.payload, ALIKE_MASS, ALIKE_CENTRE):
            return
        self._summed = self._loaded
        for sums in self._sets:
            sums.clear()
        self._found.forget_suspicions()

    def interrupt(self) -> None:
        """Say that rows are left out from here on: the filter begins anew with the next one."""
        self._began = -np.inf

    def step(self, row: OnlineRow, *, is_open: bool = False, is_touched: bool = False) -> None:
        """
        Take in a row.

        Rows must come in turn, all of them, whether or not they may be learnt from.

        Parameters
        ----------
        row : OnlineRow
            The row.
        is_open : bool
            Whether the payload may just have changed: it is no fault then that there is more or
            less weight than the model has.
        is_touched : bool
            Whether something touches the robot, or did a moment ago, so that the payload may be
            another one that nobody has looked for yet: neither sign nor time of efforts is judged.

        """
        signals = self._signals(row)
        if row.step > 0.5 or self._began == -np.inf:
            self._filter.reset(signals.ravel())
            self._began = row.stamp
            return
        filtered = self._filter.step(row.step, signals.ravel())
        if row.stamp - self._began < self._filter.settling_time:
            return
        nv = self._robot.nv
        values, rates = filtered.reshape(2, COUNT + 1, nv).transpose(0, 2, 1)
        both = np.column_stack([values, rates[:, EFFORT]])
        sign = np.where(np.abs(values[:, 2]) > SLOWEST, np.sign(values[:, 2]), 0.0)
        self._since = np.where((sign == self._sign) & (sign != 0.0), self._since, row.stamp)
        self._sign = sign
        moves = row.stamp - self._since > self._steady
        for sums in self._sets:
            sums.add(both, row.step, moves)
        self.moved = self.moved + np.where(moves, row.step, 0.0)
        if row.stamp - self._judged_at > PERIOD:
            self._judged_at = row.stamp
            self._judge(is_open, is_touched)

    def _signals(self, row: OnlineRow) -> Matrix:
        """Return motion, gravity, velocity, its sign, one and effort, shape (6, nv)."""
        state = row.state
        gravity = generalized_gravity(self._loaded, state.q)
        motion = rnea(self._loaded, state.q, state.v, state.a) - gravity
        dry, one = np.tanh(state.v / WIDTH), np.ones(len(gravity))
        return np.array([motion, gravity, state.v, dry, one, state.tau])

    def _judge(self, is_open: bool, is_touched: bool) -> None:
        """Look at all joints that have moved enough, as short a time ago as they have."""
        nv = self._robot.nv
        self.delay = None
        dead = np.zeros(nv, dtype=bool)
        verdicts: list[JointVerdict | None] = [None for _ in range(nv)]
        for sums in self._sets:
            ready = sums.weights > ENOUGH
            if not ready.any():
                continue
            means = sums.means
            delay = sums.delay(means, ready)
            self.delay = self.delay or delay
            still = dead_efforts(means) & ready
            for j, found in enumerate(self._verdicts(sums, means, ready & ~still, delay)):
                before = verdicts[j]
                if before is None or (_is_undecided(before) and not dead[j]):
                    verdicts[j], dead[j] = found, still[j]
        told = [verdict for verdict in verdicts if verdict is not None]
        if len(told) == nv:
            self.verdicts = tuple(told)
            self._found.tell(told, dead, self.delay, is_open=is_open, is_touched=is_touched)
            self._know(dead)

    def _verdicts(
        self, sums: EffortSums, means: Matrix, tells: NDArray[np.bool_], delay: Delay | None
    ) -> list[JointVerdict]:
        """Return what one set of sums says of each joint."""
        at = 0.0 if delay is None else delay.value
        left = left_by_model(means, at)
        matches = sums.matches(self._robot.v_names, means, at)
        found = []
        for j, match in enumerate(matches):
            weight = float(sums.weights[j])
            can_tell = bool(tells[j]) and model_share(means[j], match) > LEAST_SHARE
            verdict = joint_verdict(match, can_tell=can_tell)
            is_mixed = tells[j] and left[j] > UNEXPLAINED and match.residual**2 > MIXED * left[j]
            if is_mixed:
                verdict = _undecided(verdict)
                if sums is self._sets[0]:
                    sums.clear(j)
            elif left[j] < UNEXPLAINED and not is_right(verdict):
                verdict = _undecided(verdict)
            if tells[j] and not can_tell and not is_mixed:
                # Friction always takes energy: that shows the sign where nothing else does.
                sign = sums.friction_sign(means[j], weight, at)
                verdict = replace(
                    verdict, sign=('inverted', CANNOT_TELL, 'as the model')[sign + 1]
                )
            found.append(verdict)
        return found

    def _know(self, dead: NDArray[np.bool_]) -> None:
        """Remember of which joints the efforts are known, and whether their time is."""
        long_ago = self.moved > (LONG_ENOUGH if self._is_identified else SOON_ENOUGH)
        for j, verdict in enumerate(self.verdicts):
            # The scale of efforts is nothing that a description could judge.
            is_known = is_right(verdict) or (
                verdict.sign == 'as the model'
                and (verdict.meaning == CANNOT_TELL or not self._is_identified)
            )
            self.known[j] |= not dead[j] and (is_known or bool(long_ago[j]))
            if is_known and not dead[j]:
                self.right_until[j] = self.moved[j]
        if self.delay is not None and abs(self.delay.value) < LATE:
            self.timely_until = self.moved
        self._is_torque |= any(is_right(v) for v in self.verdicts) or bool(long_ago.any())
        is_timed = self.delay is not None or bool(long_ago.any())
        self._is_timed |= is_timed or not self._is_identified


def _is_undecided(verdict: JointVerdict) -> bool:
    return verdict.meaning == CANNOT_TELL and verdict.sign == CANNOT_TELL


def _undecided(verdict: JointVerdict) -> JointVerdict:
    return replace(verdict, sign=CANNOT_TELL, meaning=CANNOT_TELL, gain=None)
