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

from robot_dynamics_ros.core.arrays import as_vector, Vector
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
from robot_dynamics_ros.core.external_torque.momentum_observer import MomentumObserver
from robot_dynamics_ros.core.external_torque.threshold_learning import (
    DEFAULT_MARGIN,
    ThresholdLearner,
)
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.robot_model import RobotModel


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
    friction : DryFriction or FrictionModel, optional
        That of the balance, for a change of payload.

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
        friction: DryFriction | FrictionModel | None = None,
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
        self._friction = friction
        self._wrench_options = (frame, reference_frame, smallest_lever)
        self._q = np.zeros(model.nq)
        self._kept: ContactThresholds | None = None
        self._build(model)

    def _build(self, model: RobotModel) -> None:
        frame, reference_frame, smallest_lever = self._wrench_options
        self.locator = ContactLocator(model, smallest_lever=smallest_lever)
        self.solver: ExternalWrench | None = None
        if frame:
            self.solver = ExternalWrench(
                model, frame, reference_frame, smallest_lever=smallest_lever
            )

    def change_model(self, model: RobotModel) -> None:
        """Go on with another payload; the observer begins afresh."""
        self.observer.balance.change(model, self._friction)
        self.reset()
        self._build(model)

    def use_friction(self, friction: DryFriction | FrictionModel | None) -> None:
        """
        Go on with other friction, such as a newer estimate, without a fresh start.

        Raises
        ------
        ConfigurationError
            If it is that of other joints.

        """
        self.observer.balance.use_friction(friction)
        self._friction = friction

    def reset(self) -> None:
        """Begin afresh, as after a jump of time."""
        self.observer.balance.reset()
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
        model = self.observer.balance.model
        gravity = generalized_gravity(model, q) if self._needs_gravity else self._no_gravity
        tau = self._effort.torque(self._signs * effort, gravity)
        self.observer.step(time, q, v, tau)
        self.detector.update()
        self._q[:] = q
        if self.learner is not None:
            self.learner.update(v, tau)
        return self.detector.is_ready

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
        return self.solver.step(self._q, self.observer.tau_ext)

    def contact_link(self) -> ContactLink:
        """Return which link is touched, as far as the torques tell."""
        return self.locator.find(self._q, self.observer.tau_ext, self.detector.is_significant)

    def start_learning(self) -> None:
        """Begin to learn thresholds; no contact is found meanwhile."""
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
        return self.learner.thresholds(margin)

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
