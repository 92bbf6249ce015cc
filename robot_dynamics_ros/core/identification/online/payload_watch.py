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

"""Payload and changes together: what came, what it is, and who may learn from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.identification.identification_model import IdentificationModel
from robot_dynamics_ros.core.identification.online.arm_errors import ArmErrors
from robot_dynamics_ros.core.identification.online.change_columns import ChangeColumns
from robot_dynamics_ros.core.identification.online.change_detection import Change, ChangeDetector
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow
from robot_dynamics_ros.core.identification.online.payload_tracker import (
    MIXED,
    PayloadEstimate,
    PayloadTracker,
    SMALLEST_MASS,
    SURE,
)
from robot_dynamics_ros.core.model.payload import Payload

QUICK = 0.1
"""Speed above which friction is its level and a part with the speed [rad/s | m/s]."""

STATIC = 0.5
"""Part of that level by which friction may differ from it below that speed."""

UNEQUAL = 0.3
"""Part of a change of friction by which the directions may differ."""

UNSURE, LEAST_UNSURE = 0.1, 0.05
"""Deviation up to which a mass is known: this part of it, and so much more [kg]."""

LOOK = 8
"""Rows from one look at whether the payload is none to the next."""


@dataclass(frozen=True, eq=False)
class WatchReport:
    """
    What a row led to.

    Attributes
    ----------
    hold : bool
        Something changed and is not explained, or is nothing to learn from: trackers of friction
        and of the arm must leave this row out.
    change : Change or None
        A change that has just been told.

    """

    hold: bool
    change: Change | None


class PayloadWatch:
    """
    Finds and explains changes, and follows the payload.

    Parameters
    ----------
    model : IdentificationModel
        The arm without payload.
    base : ndarray, shape (rank,)
        Its base parameters, as identified.
    covariance : ndarray, shape (rank, rank)
        Of these, see `parameter_uncertainty`.
    frame : str
        Link or joint frame that holds a payload; that of the rows.
    cutoff : float
        Of the rows [Hz].
    stated : Payload, optional
        What is said to be there at the start, in this frame.

    Attributes
    ----------
    arm : ArmErrors
    tracker : PayloadTracker
    detector : ChangeDetector
        The parts.
    report : WatchReport
        Of the last row.

    Raises
    ------
    UnknownFrameError, ConfigurationError
        If there is no such frame, it does not move, or the covariance is not positive definite.
    DimensionError, NonFiniteError
        If shapes do not agree or a number is not finite.

    """

    def __init__(
        self,
        model: IdentificationModel,
        base: Vector,
        covariance: Matrix,
        frame: str,
        cutoff: float,
        stated: Payload | None = None,
    ) -> None:
        self.arm = ArmErrors(covariance)
        self.tracker = PayloadTracker(self.arm, frame, stated)
        self._columns = ChangeColumns(model, base, frame, cutoff)
        self.detector = ChangeDetector(self._columns)
        self._names = model.robot.v_names
        self._offsets = {
            model.terms[column - model.n_inertial].weights[0][0]: k
            for k, column in enumerate(model.base.independent)
            if column >= model.n_inertial
            and model.terms[column - model.n_inertial].kind == 'offset'
        }
        self._levels = self._columns.levels
        self._slow_at = np.full(len(self._names), -np.inf)
        self._direction = np.zeros(len(self._names))
        self._until_look = LOOK
        self.report = WatchReport(False, None)

    @property
    def estimate(self) -> PayloadEstimate | None:
        """Return the payload, or None if there is none."""
        return self.tracker.estimate

    @property
    def payload(self) -> Payload | None:
        """Return the payload as models take it: None, not a small one, if there is none."""
        estimate = self.tracker.estimate
        return None if estimate is None else estimate.payload

    @property
    def on_hold(self) -> bool:
        """Whether a change is being explained, or is nothing to learn from."""
        return self.detector.is_explaining

    @property
    def is_blind(self) -> bool:
        """Whether there is a payload whose mass is not known well enough to take it off."""
        estimate = self.tracker.estimate
        if estimate is None:
            return False
        return estimate.mass_deviation > UNSURE * estimate.payload.mass + LEAST_UNSURE

    def effort(self, row: OnlineRow) -> Vector | None:
        """Return what the payload adds to the row's efforts, shape (nv,); None without one."""
        estimate = self.tracker.estimate
        return None if estimate is None else np.asarray(row.payload @ estimate.parameters)

    def step(
        self, row: OnlineRow, residual: Vector, deviation: Vector, use: NDArray[np.bool_]
    ) -> WatchReport:
        """
        Take in a row.

        Parameters
        ----------
        row : OnlineRow
            With columns of a payload.
        residual : ndarray, shape (nv,)
            Measured efforts less those of the arm without payload [N m | N].
        deviation : ndarray, shape (nv,)
            Standard deviations of the residuals by noise and by what the model's form lacks.
        use : ndarray of bool, shape (nv,)
            Which joints count.

        """
        deviation = self._near_rest(row, deviation)
        was_quiet = not self.detector.is_explaining
        change = self.detector.step(row, residual, deviation, use, self.arm)
        self.tracker.on_hold = self.detector.is_explaining
        self.tracker.step(row, residual, deviation, use)
        if was_quiet and self.detector.is_explaining:
            self._look_back()
        if change is not None:
            self._take_up(change)
            self.tracker.on_hold = self.detector.is_explaining
        self._until_look -= 1
        if self._until_look <= 0 and not self.detector.is_explaining:
            self._until_look = LOOK
            self._snap(row.stamp)
        self.report = WatchReport(self.detector.is_explaining, change)
        return self.report

    def work(self) -> None:
        """Do a part of what rows left to do; with each joint state, so that none costs much."""
        self.tracker.work()

    def state(self) -> dict[str, NDArray[np.float64]]:
        """Return everything that `restore` needs."""
        return self.tracker.state()

    def restore(self, state: Mapping[str, NDArray[np.float64]]) -> None:
        """
        Go on from a state, as if nothing had changed since.

        Raises
        ------
        ConfigurationError, DimensionError, NonFiniteError
            If it is not one of this arm.

        """
        self.tracker.restore(state)
        self.detector.reset()

    def _near_rest(self, row: OnlineRow, deviation: Vector) -> Vector:
        """Return deviations with what friction adds where joints start, stop or creep."""
        v = row.state.v
        direction = np.where(np.abs(v) > QUICK, np.sign(v), 0.0)
        self._slow_at[(direction == 0.0) | (direction != self._direction)] = row.stamp
        self._direction = direction
        is_slow = row.stamp - self._slow_at <= MIXED
        return np.where(is_slow, np.hypot(deviation, STATIC * self._levels), deviation)

    def _look_back(self) -> None:
        """Show the detector the rows since the change that came before the alarm."""
        for waited in self.tracker.waiting[:-1]:
            if waited.row.stamp > self.detector.since:
                self.detector.step(
                    waited.row, waited.residual, waited.deviation, waited.use, self.arm
                )

    def _take_up(self, change: Change) -> None:
        """Let the estimates follow a change."""
        if change.before is not None:
            self.tracker.discard(change.before, change.since + MIXED)
        if change.kind == 'payload':
            self.tracker.changed(change.since)
        elif change.kind == 'payload removed':
            self.tracker.vanished(change.since)
        elif change.kind == 'friction':
            columns, sizes = self._columns.friction_columns(change.where)
            joint = self._names.index(change.where)
            if joint in self._offsets:  # friction hardly changes alike in both directions
                columns = np.append(columns, self._offsets[joint])
                sizes = np.append(sizes, UNEQUAL * sizes.max())
            self.tracker.arm_changed(change.since, columns, sizes)
        elif not self.detector.is_explaining:
            self.tracker.discard(change.since)

    def _snap(self, stamp: float) -> None:
        """Let a payload that is clearly too small to be one be none."""
        estimate = self.tracker.estimate
        if estimate is not None:
            mass, deviation = estimate.payload.mass, estimate.mass_deviation
            if mass + SURE * deviation < SMALLEST_MASS:
                self.tracker.vanished(stamp)
