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
All that follows from measured efforts about what touches the robot, in one step for a message.

The parts are those of this folder: balance, observer, detector, wrench and link. Thresholds are
learnt while the robot moves untouched; what was learnt is refused if the model does not explain
the measured efforts, as with a wrong sign or currents in place of torques.

"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_vector, Matrix, Vector
from robot_dynamics_ros.core.drive.measured_effort import EffortSemantics, MeasuredEffort
from robot_dynamics_ros.core.dynamics.gravity import generalized_gravity
from robot_dynamics_ros.core.dynamics.kinematics import ReferenceFrame
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.external_torque.contact_detector import (
    ContactDetector,
    DetectorSettings,
)
from robot_dynamics_ros.core.external_torque.contact_link import ContactLink, ContactLocator
from robot_dynamics_ros.core.external_torque.contact_thresholds import ContactThresholds
from robot_dynamics_ros.core.external_torque.external_wrench import (
    DEFAULT_SMALLEST_LEVER,
    ExternalWrench,
)
from robot_dynamics_ros.core.external_torque.model_glide import ModelGlide
from robot_dynamics_ros.core.external_torque.momentum_balance import MomentumBalance
from robot_dynamics_ros.core.external_torque.momentum_observer import MomentumObserver
from robot_dynamics_ros.core.external_torque.threshold_learning import (
    DEFAULT_MARGIN,
    ThresholdLearner,
)
from robot_dynamics_ros.core.model.payload import are_alike, Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel

LEVER_PERIOD = 0.004
"""Least time between two poses that the levers of the wrench are taken from [s]."""

SAME = 0.05
"""Part of its mass, and of a metre, up to which a payload is the same one."""


class ContactMonitor:
    """
    External torques, wrench and contacts from joint states.

    Parameters
    ----------
    observer : MomentumObserver
        The observer, with its balance.
    effort : MeasuredEffort
        What the efforts mean.
    signs : array_like, shape (nv,), optional
        1 or -1: factor on the effort of each joint.
    thresholds : ContactThresholds, optional
        Without them no contact is found.
    settings : DetectorSettings, optional
        Of the detector.
    frame : str
        Frame of the wrench; empty for none.
    reference_frame : ReferenceFrame
        How the wrench is expressed.
    smallest_lever : float
        See `ExternalWrench` [m].

    Attributes
    ----------
    observer, detector, locator
        The parts.
    solver : ExternalWrench or None
        Solver of the wrench.
    learner : ThresholdLearner or None
        There while thresholds are learnt.

    Raises
    ------
    ConfigurationError
        If signs are not 1 or -1, thresholds are those of other joints, or the frame does not move.
    UnknownFrameError
        If no frame has this name.

    """

    def __init__(
        self,
        observer: MomentumObserver,
        effort: MeasuredEffort,
        *,
        signs: Any = None,
        thresholds: ContactThresholds | None = None,
        settings: DetectorSettings | None = None,
        frame: str = '',
        reference_frame: ReferenceFrame = ReferenceFrame.LOCAL,
        smallest_lever: float = DEFAULT_SMALLEST_LEVER,
    ) -> None:
        model = observer.balance.model
        self.observer = observer
        self.detector = ContactDetector(observer, thresholds, settings)
        self.learner: ThresholdLearner | None = None
        self._effort = effort
        self._needs_gravity = effort.semantics is EffortSemantics.GRAVITY_COMPENSATED
        self._no_gravity = np.zeros(model.nv)
        self._signs = np.ones(model.nv)
        if signs is not None:
            self._signs = as_vector('signs', signs, model.nv).copy()
            for name, sign in zip(model.v_names, self._signs.tolist()):
                if abs(sign) != 1.0:
                    raise ConfigurationError(
                        f"joint '{name}': the sign of the effort is {sign:g}, expected 1 or -1"
                    )
        self._q, self._v = np.zeros(model.nq), np.zeros(model.nv)
        self._not_followed = 0.0
        self._kept: ContactThresholds | None = None
        self._lesson: Payload | None = None
        self._glide: ModelGlide | None = None
        self._awaited: tuple[RobotModel, float] | None = None
        # Both need the geometry only, which is that of every payload.
        self.locator = ContactLocator(model, smallest_lever=smallest_lever)
        self.solver: ExternalWrench | None = None
        if frame:
            self.solver = ExternalWrench(
                model, frame, reference_frame, smallest_lever=smallest_lever
            )

    @property
    def model(self) -> RobotModel:
        """Return the robot as it is known now, whose payload may still be gliding in."""
        if self._awaited is not None:
            return self._awaited[0]
        return self._balance.model

    @property
    def _balance(self) -> MomentumBalance:
        """Return the balance of the newest model."""
        return self.observer.balance if self._glide is None else self._glide.following

    def change_model(self, model: RobotModel, glide_time: float = 0.0) -> None:
        """
        Go on with another payload.

        Parameters
        ----------
        model : RobotModel
            The robot with it.
        glide_time : float
            In which the external torques pass to those of the new model, without a contact of
            that alone; with zero, or before the first message, everything begins afresh [s].

        """
        if not (glide_time > 0.0 and self.observer.balance.dt > 0.0):
            self._awaited = (model, 0.0)
            self.reset()
        elif self._glide is None:
            self._begin_glide(model, glide_time)
        else:  # one after the other
            self._awaited = (model, glide_time)

    def _begin_glide(self, model: RobotModel, glide_time: float) -> None:
        bandwidth = self.detector.settings.bandwidth
        self._glide = ModelGlide(self.observer.balance, model, glide_time, bandwidth)

    def _end_glide(self) -> None:
        if self._glide is not None:
            self.observer.balance, self._glide = self._glide.following, None

    def follow_friction(self, values: Matrix) -> None:
        """
        Go on with other values of friction; no contact is found for that alone.

        Parameters
        ----------
        values : ndarray, shape (4, nv)
            See `MomentumBalance.follow_friction`.

        """
        balance, v = self.observer.balance, self._v
        before = balance.friction(v)
        balance.follow_friction(values)
        if self._glide is not None:
            self._glide.following.follow_friction(values)
        if balance.dt > 0.0:
            self.detector.shift(balance.friction(v) - before)

    def reset(self) -> None:
        """Begin afresh, as after a jump of time, with the newest model."""
        newest, self._awaited = self.model, None
        self._end_glide()
        self.observer.balance.change(newest)
        self.observer.reset()
        self.detector.reset()

    def step(self, time: float, q: Vector, v: Vector, effort: Vector) -> bool:
        """
        Take in one message.

        Parameters
        ----------
        time : float
            Stamp of the state [s].
        q, v, effort : ndarray, shape (nv,)
            Joint positions, velocities and measured efforts.

        Returns
        -------
        is_ready : bool
            Whether there is an estimate. There is none after a start or a gap, for the time that
            the observer needs to settle.

        Raises
        ------
        DimensionError
            If a vector has another shape.

        """
        balance, measured = self.observer.balance, self._signs * effort
        tau = self._torque(balance.model, q, measured)
        balance.step(time, q, v, tau)
        if self._glide is not None:
            self._glide_on(self._glide, time, q, v, measured)
        self.observer.update()
        self.detector.update()
        self._q[:], self._v[:] = q, v
        if self.solver is not None:
            self._follow(self.solver)
        if self.learner is not None:
            self.learner.update(v, tau)
        return self.detector.is_ready

    def _torque(self, model: RobotModel, q: Vector, effort: Vector) -> Vector:
        gravity = generalized_gravity(model, q) if self._needs_gravity else self._no_gravity
        return self._effort.torque(effort, gravity)

    def _follow(self, solver: ExternalWrench) -> None:
        """Let the levers be as old as the external torques, every few milliseconds."""
        dt = self.observer.balance.dt
        if dt > 0.0:
            self._not_followed += dt
            if self._not_followed >= LEVER_PERIOD:
                self._follow_now(solver)
        else:
            solver.forget()
            self._not_followed = 0.0

    def _follow_now(self, solver: ExternalWrench) -> None:
        solver.follow(self._q, self.observer.kept(self._not_followed))
        self._not_followed = 0.0

    def _glide_on(
        self, glide: ModelGlide, time: float, q: Vector, v: Vector, effort: Vector
    ) -> None:
        tau = self._torque(glide.following.model, q, effort)
        self.detector.shift(glide.step(time, q, v, tau))
        if glide.is_over:
            self._end_glide()
            if self._awaited is not None:
                awaited, self._awaited = self._awaited, None
                self._begin_glide(*awaited)

    @property
    def has_thresholds(self) -> bool:
        """Whether contacts can be found."""
        return self.detector.thresholds is not None

    def wrench(self) -> Vector:
        """
        Return the wrench at the frame ``[f; n]`` [N, N m].

        Raises
        ------
        ConfigurationError
            If no frame was chosen.

        """
        if self.solver is None:
            raise ConfigurationError('there is no wrench: no frame was chosen')
        if self._not_followed > 0.0:
            self._follow_now(self.solver)
        return self.solver.solve(self.observer.tau_ext)

    def contact_link(self) -> ContactLink:
        """Return which link is touched, as far as the torques tell."""
        return self.locator.find(self._q, self.observer.tau_ext, self.detector.is_significant)

    def start_learning(self) -> None:
        """
        Begin to learn thresholds; no contact is found meanwhile.

        Raises
        ------
        ConfigurationError
            If the payload is changing just now.

        """
        self._lesson = self.observer.balance.model.payload
        self._require_payload_of_lesson()
        if self.learner is None:
            self._kept = self.detector.thresholds
        self.detector.use(None)
        self.detector.reset()
        self.learner = ThresholdLearner(self.detector)

    def cancel_learning(self) -> None:
        """Go back to the thresholds from before."""
        if self.learner is not None:
            self.learner = None
            self.detector.use(self._kept)
            self.detector.reset()

    def learnt_thresholds(self, margin: float = DEFAULT_MARGIN) -> ContactThresholds:
        """
        Return what has been learnt so far, without using it.

        Raises
        ------
        ConfigurationError
            If nothing is being learnt, or what was seen does not make thresholds.

        """
        if self.learner is None:
            raise ConfigurationError('no thresholds are being learnt')
        self._require_payload_of_lesson()
        return self.learner.thresholds(margin)

    def _require_payload_of_lesson(self) -> None:
        """Refuse thresholds of which some are learnt with one payload, and some with another."""
        then, now = self._lesson, self.model.payload
        if not are_alike(now, then, SAME, SAME):
            raise ConfigurationError(
                f'no thresholds are learnt: the payload has changed from {_said(then)} to '
                f'{_said(now)}; learn from a motion with one payload'
            )

    def finish_learning(self, thresholds: ContactThresholds) -> None:
        """
        Use thresholds from now on and end the learning.

        Raises
        ------
        ConfigurationError
            If they are those of other joints.

        """
        self.detector.use(thresholds)
        self.detector.reset()
        self.learner = None


def _said(payload: Payload | None) -> str:
    return 'none' if payload is None else f'{payload.mass:.3g} kg at {payload.frame}'
