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
Everything that keeps a robot's model true while it runs, as one object.

1. `EffortSemantics` finds out what the efforts mean. Until it knows, and while something is wrong
   with them, nothing is learnt; and what was learnt while the fault had not been found out yet is
   taken back (`FaultRecovery`).
2. `OnlineIdentification` makes rows, and follows friction and base parameters.
3. `PayloadWatch` explains changes and follows the payload, where an identification says how well
   the arm is known; while a change is being explained, the trackers wait (`RowReasons`).
4. `HealthMonitor` compares what is left with what the identification left.

Where nothing was identified, the friction cannot be told from wrong bodies. Then the friction
tracker begins anew, with the bodies that all efforts show, once every joint has moved for some
time, and twice more later.

"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.exceptions import RobotDynamicsError
from robot_dynamics_ros.core.identification.identified_model import identified_robot
from robot_dynamics_ros.core.identification.offline_result import OfflineResult
from robot_dynamics_ros.core.identification.online.arm_errors import parameter_uncertainty
from robot_dynamics_ros.core.identification.online.change_columns import ChangeColumns
from robot_dynamics_ros.core.identification.online.change_detection import Change
from robot_dynamics_ros.core.identification.online.effort_semantics import EffortSemantics
from robot_dynamics_ros.core.identification.online.fault_recovery import FaultRecovery
from robot_dynamics_ros.core.identification.online.model_health import HealthMonitor, ModelHealth
from robot_dynamics_ros.core.identification.online.online_identification import (
    OnlineIdentification,
    OnlineReport,
)
from robot_dynamics_ros.core.identification.online.online_settings import OnlineSettings
from robot_dynamics_ros.core.identification.online.online_start import (
    OnlineStart,
    start_of_result,
)
from robot_dynamics_ros.core.identification.online.online_state import part_of
from robot_dynamics_ros.core.identification.online.payload_watch import PayloadWatch
from robot_dynamics_ros.core.identification.online.row_reasons import RowReasons
from robot_dynamics_ros.core.model.payload import Payload

ADOPTIONS = (10.0, 30.0, 90.0)
"""Motion of every joint after which the friction tracker takes the bodies that were found [s]."""

LEARNT = ('payload', 'payload removed', 'friction', 'over')
"""Kinds of change after which learning goes on."""


class RunningModel:
    """
    Follow the model of a robot.

    Parameters
    ----------
    start : OnlineStart or OfflineResult
        What was identified, or where to begin without.
    settings : OnlineSettings
        Choices. Its frame is that of the payload; without one the last body's counts, and no
        payload is looked for.
    stated : Payload, optional
        What is said to be there at the start, in that frame; where no payload is looked for, it
        is taken to stay.

    Attributes
    ----------
    online : OnlineIdentification
    reasons : RowReasons
        What the efforts mean, and what else they show than the arm; nobody looks for a payload
        where the arm is not known well enough, or no frame was given.

    Raises
    ------
    ModelError
        If a joint has several coordinates.
    UnknownFrameError
        If the robot has no such frame.
    ConfigurationError
        If a setting is out of its range, or the start makes no sense.

    """

    def __init__(
        self,
        start: OnlineStart | OfflineResult,
        settings: OnlineSettings,
        stated: Payload | None = None,
    ) -> None:
        found = start if isinstance(start, OfflineResult) else None
        begun = start_of_result(start) if isinstance(start, OfflineResult) else start
        model = begun.model
        self._frame = frame = settings.payload_frame or model.robot.body_names[-1]
        self._begun, self._given, self._is_open = begun, stated, found is None
        self._settings = replace(settings, payload_frame=frame)
        # How unsure the arm is, where a payload is looked for.
        self._unsure: Matrix | None = None
        if found is not None and settings.payload_frame:
            self._unsure = parameter_uncertainty(model, found.parameters) + begun.covariance
        # Efforts are judged by the arm that was identified; by its scale only if one was.
        self._arm = model.robot if found is None else identified_robot(model, found.parameters)
        self._columns = ChangeColumns(model, begun.base, frame, settings.cutoff)
        self._build()
        self._recovery = FaultRecovery(self)

    def _build(self) -> None:
        """Make all parts as they are at the start."""
        begun, stated, settings = self._begun, self._given, self._settings
        model = begun.model
        watch = None
        if self._unsure is not None:
            watch = PayloadWatch(
                model, begun.base, self._unsure, self._frame, settings.cutoff, stated
            )
        semantics = EffortSemantics(self._arm, settings.cutoff, not self._is_open)
        self.reasons = RowReasons(semantics, watch, stated)
        self._monitor = HealthMonitor(model.robot.v_names, begun.spread, self._columns)
        self.online = OnlineIdentification(begun, settings, self.reasons)
        self._adopted = 0

    @property
    def semantics(self) -> EffortSemantics:
        """Return who knows what the efforts mean."""
        return self.reasons.semantics

    @property
    def watch(self) -> PayloadWatch | None:
        """Return who follows the payload; None if nobody looks for one."""
        return self.reasons.watch

    @property
    def changes(self) -> deque[Change]:
        """Return the last changes that were told."""
        return self.reasons.changes

    @property
    def payload(self) -> Payload | None:
        """Return the payload; None if there is none, or none is looked for."""
        return None if self.watch is None else self.watch.payload

    @property
    def is_payload_known(self) -> bool:
        """Whether it is known now what the arm carries, or that it carries nothing."""
        watch = self.watch
        return (
            watch is not None
            and self.semantics.may_learn
            and not (watch.on_hold or watch.is_blind)
        )

    @property
    def is_friction_known(self) -> bool:
        """Whether the friction is told from the bodies."""
        return not self._is_open or self._adopted > 0

    @property
    def refusal(self) -> str:
        """Return why nothing is learnt, in one sentence; empty if it is."""
        if self.online.is_frozen:
            return 'frozen'
        if self.semantics.faults:
            said = '; '.join(fault.sentence for fault in self.semantics.faults)
            return said + self._recovery.sentence
        if not self.semantics.may_learn:
            return 'it is not known yet what the efforts mean: the robot has to move'
        if self.watch is not None and self.watch.on_hold:
            lasting = bool(self.changes) and self.changes[-1].kind not in LEARNT
            return self.changes[-1].sentence if lasting else 'a change is being explained'
        return ''

    def health(self) -> ModelHealth:
        """Return how well the model fits now."""
        return self._monitor.health()

    def step(
        self, stamp: float, q: Vector, tau: Vector, *, in_contact: bool = False
    ) -> tuple[OnlineReport | None, Change | None]:
        """
        Take in a joint state; arguments as of `OnlineIdentification.step`.

        Returns
        -------
        report : OnlineReport or None
            Of a row, if it made one.
        change : Change or None
            A change that has just been told.

        Raises
        ------
        DimensionError
            If a vector has another size.
        NotNumericError
            If it does not consist of real numbers.

        """
        if self.watch is not None and not self.online.is_frozen:
            self.watch.work()
        self._monitor.work()
        if in_contact:
            self.reasons.touched_at = stamp
        report = self.online.step(stamp, q, tau, in_contact=in_contact)
        change = self.reasons.take_change()
        if change is not None:
            self._recovery.is_payload |= change.kind == 'payload'
            self._monitor.note(change)
        if report is not None:
            learnt = self.online.learnt + self.reasons.watched
            self._recovery.step(report.row.step, learnt, is_frozen=self.online.is_frozen)
            if not self.online.is_frozen:
                self._monitor.step(report.row, report.residual, report.deviation, report.use.use)
            self._adopt()
        return report, change

    def reset(self) -> None:
        """Begin again at the start."""
        is_frozen = self.online.is_frozen
        self._build()
        self._set_frozen(is_frozen)
        self._recovery = FaultRecovery(self)

    def freeze(self, is_on: bool) -> None:
        """Keep every estimate as it is, bit by bit, or learn again."""
        self.online.finish_rows()
        if self.watch is not None:
            _ = self.watch.payload  # fitted now, if it has to be
        self._set_frozen(is_on)

    def _set_frozen(self, is_on: bool) -> None:
        self.online.is_frozen = self.reasons.is_frozen = is_on

    def forget_motion(self) -> None:
        """Begin all filters and waits anew, as when stamps went back; what was learnt stays."""
        state, is_frozen = self.state(), self.online.is_frozen
        self._recovery.restart()
        self._build()
        self.go_to(state)
        self._set_frozen(is_frozen)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what was learnt, as arrays; while efforts are wrong what was before."""
        return self._recovery.before_fault or self.present_state()

    def present_state(self) -> dict[str, NDArray[Any]]:
        """Return what is there now, as arrays."""
        state = self.online.state()
        state['adopted/count'] = np.array([float(self._adopted)])
        if self._adopted:
            begun = self.online.friction.start
            state['adopted/base'] = np.array(begun.base)
            state['adopted/covariance'] = np.array(begun.covariance)
        if self.watch is not None:
            state.update({f'payload/{key}': value for key, value in self.watch.state().items()})
        return state

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """
        Go on from a state, or begin anew.

        Raises
        ------
        ConfigurationError
            If an array is missing or makes no sense.
        DimensionError, NonFiniteError
            If it is of another size, or not finite.

        """
        try:
            self.go_to(state)
        except RobotDynamicsError:
            self._build()
            raise
        finally:
            self._recovery = FaultRecovery(self)

    def go_to(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Let what was learnt be that of a state; all else goes on."""
        adopted = part_of(state, 'adopted/')
        count = as_finite('adopted/count', adopted.get('count', np.zeros(1)), (1,))
        self.online.restore(state)
        if count[0]:
            rank = len(self.online.start.base)
            begun = replace(
                self.online.start,
                base=as_finite('adopted/base', adopted.get('base', ()), (rank,)),
                covariance=as_finite(
                    'adopted/covariance', adopted.get('covariance', ()), (rank, rank)
                ),
            )
            self.online.friction = self.online.friction_tracker(begun)
            self.online.friction.restore(part_of(state, 'friction/'))
        self._adopted = int(count[0])
        if self.watch is not None:
            self.watch.restore(part_of(state, 'payload/'))
            self.reasons.carry(self.watch.payload)

    def _adopt(self) -> None:
        """Let the friction tracker begin with the bodies found, where none were known."""
        if not self._is_open or self._adopted == len(ADOPTIONS) or self.online.is_frozen:
            return
        base = self.online.base
        if float(base.seconds.min(initial=np.inf)) < ADOPTIONS[self._adopted]:
            return
        self._adopted += 1
        begun = replace(self.online.start, base=base.estimate, covariance=base.covariance)
        self.online.friction = self.online.friction_tracker(begun)
