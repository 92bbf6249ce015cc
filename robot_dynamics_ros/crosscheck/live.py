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

"""The comparison with Pinocchio in states of a robot that runs, one at a time."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.crosscheck.ledger import Ledger
from robot_dynamics_ros.crosscheck.report import CrosscheckReport, TOLERANCE
from robot_dynamics_ros.crosscheck.sample import Reference, State
from robot_dynamics_ros.crosscheck.twin import PinocchioTwin

FRAMES = 2
"""Frames compared in each state; the states take turns through all of them."""


class LiveCrosscheck:
    """
    Compare a robot with Pinocchio, state by state.

    Parameters
    ----------
    model : RobotModel
        The robot; a new one after a change of payload needs a new comparison.
    tolerance : float
        Largest relative difference that passes.

    Attributes
    ----------
    states : int
        Number of states compared.

    Raises
    ------
    ConfigurationError
        If Pinocchio is not installed or cannot build the robot.

    """

    def __init__(self, model: RobotModel, tolerance: float = TOLERANCE) -> None:
        try:
            import pinocchio
        except ImportError as error:
            raise ConfigurationError(
                f'Pinocchio is not installed (pip install pin): {error}'
            ) from error
        try:
            self._twin = PinocchioTwin(pinocchio, model)
        except (ValueError, RuntimeError) as error:
            reason = ' '.join(str(error).split())
            raise ConfigurationError(f'Pinocchio cannot build the robot: {reason}') from error
        self.model = model
        self.states = 0
        self._tolerance = tolerance
        self._version = str(pinocchio.__version__)
        self._frames = list(self._twin.frame_ids)

    def step(self, q: Vector, v: Vector, tau: Vector) -> CrosscheckReport:
        """
        Compare every quantity in one state.

        Parameters
        ----------
        q, v, tau : ndarray, shape (nq,), (nv,), (nv,)
            Positions, velocities and efforts; the efforts are also taken as accelerations where
            those are asked for.

        Raises
        ------
        DimensionError, NonFiniteError
            If the state does not suit the robot.

        """
        model = self.model
        q = as_finite('q', q, (model.nq,))
        v = as_finite('v', v, (model.nv,))
        tau = as_finite('tau', tau, (model.nv,))
        ledger = Ledger(self._tolerance)
        names = [
            self._frames[(FRAMES * self.states + k) % len(self._frames)]
            for k in range(min(FRAMES, len(self._frames)))
        ]
        state = State(q, v, tau, tau, np.zeros((model.nbodies, 6)), np.zeros_like(q) + q)
        ledger.add_state(Reference(self._twin, state), names)
        self.states += 1
        return CrosscheckReport(
            model.name, 1, 0, self._version, tuple(ledger.rows()), tuple(ledger.notes)
        )
