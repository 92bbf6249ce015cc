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

"""The self-test of a node: whether the efforts that the robot measures agree with its model."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.control.recent_states import RecentStates
from robot_dynamics_ros.core.control.self_test import compare_torques, Verdict
from robot_dynamics_ros.core.drive.measured_effort import EffortSemantics, MeasuredEffort
from robot_dynamics_ros.core.dynamics import generalized_gravity_batch
from robot_dynamics_ros.core.model.robot_model import RobotModel

_SAMPLES = 500


class TorqueSelfTest:
    """
    Judge the efforts of the last states.

    Parameters
    ----------
    model : RobotModel
        The robot.
    effort : MeasuredEffort, optional
        What the measured efforts mean; None if nobody has said it.
    gravity_compensated_by_hardware : bool
        Whether the robot adds its own gravity torque to the command.

    """

    def __init__(
        self,
        model: RobotModel,
        effort: MeasuredEffort | None,
        *,
        gravity_compensated_by_hardware: bool,
    ) -> None:
        self._effort = effort
        self._by_hardware = gravity_compensated_by_hardware
        self._states = RecentStates(model.nv, _SAMPLES)
        if effort is not None:  # compile now, not in the loop
            generalized_gravity_batch(model, np.zeros((1, model.nq)))

    def add(self, q: Vector, v: Vector, effort: Vector, tau: Vector | None) -> None:
        """Take in a state, and the torque that was commanded when it came, if any."""
        self._states.add(q, v, effort, np.nan if tau is None else tau)

    def clear(self) -> None:
        """Forget the states."""
        self._states.clear()

    def judge(self, model: RobotModel) -> tuple[bool, str]:
        """
        Return whether nothing speaks against the model, and the verdicts.

        Where torque is commanded the command is expected, else what carries the robot's weight.

        """
        if self._effort is None:
            return False, 'effort_semantics is not set: say what the effort of this robot means'
        q, v, measured, tau = self._states.take()
        if not len(q):
            return False, 'no joint states have come'
        gravity = generalized_gravity_batch(model, np.ascontiguousarray(q))
        commanded = tau + gravity if self._by_hardware else tau
        expected = np.where(np.isfinite(tau), commanded, gravity)
        is_absent = self._effort.semantics is EffortSemantics.GRAVITY_COMPENSATED
        if is_absent:
            expected = gravity
        else:
            measured = self._effort.torque(measured, gravity)
        verdicts = compare_torques(model.joint_names, v, measured, expected, is_absent=is_absent)
        told = [each.verdict for each in verdicts if each.verdict is not Verdict.UNKNOWN]
        is_good = bool(told) and all(verdict.is_good for verdict in told)
        return is_good, '; '.join(map(str, verdicts))
