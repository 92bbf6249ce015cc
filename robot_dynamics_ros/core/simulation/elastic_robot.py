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
"""A robot with elastic joints in the form of a `Plant`, for what drives and observes plants."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.core.dynamics import aba
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.simulation.elastic_plant import ElasticPlant, ElasticState
from robot_dynamics_ros.core.simulation.plant import (
    names_beyond_limits,
    PlantState,
    untouched_state,
)


class ElasticRobot:
    """
    Wrap an `ElasticPlant`: links are reported, torques act on motors, nothing touches.

    Parameters
    ----------
    plant : ElasticPlant
        The robot.

    Attributes
    ----------
    model : RobotModel
        Its links.

    """

    def __init__(self, plant: ElasticPlant) -> None:
        self._plant = plant
        self.model = plant.link_model

    @property
    def state(self) -> PlantState:
        """Return the present state; works are not kept count of."""
        return self._seen(self._plant.state)

    @property
    def solver_counts(self) -> tuple[int, int]:
        """Return no linear systems of contacts and no impacts."""
        return 0, 0

    def step(self, tau: Any, dt: float, f_ext: Any = None) -> PlantState:
        """
        Move on by `dt` under motor torques that are held; see `ElasticPlant.step`.

        Raises
        ------
        ConfigurationError
            If there is a wrench, which elastic joints do not take.
        DimensionError, NonFiniteError
            As `ElasticPlant.step`.

        """
        if f_ext is not None:
            raise ConfigurationError('a push on a robot with elastic joints is not simulated')
        return self._seen(self._plant.step(tau, dt))

    def joints_beyond_limits(self) -> tuple[str, ...]:
        """Return the names of the joints outside their position limits, which do not stop them."""
        return names_beyond_limits(self.model, self._plant.state.q)

    def _seen(self, state: ElasticState) -> PlantState:
        model = self.model
        is_rigid = np.isnan(state.tau_joint)
        # A spring moves the link; a rigid joint is moved by its motor, which friction slows.
        on_link = np.where(is_rigid, state.tau - state.tau_friction, state.tau_joint)
        a = aba(model, state.q, state.v, on_link)
        return untouched_state(
            model, state.time, state.q, state.v, state.tau, state.tau_friction, a
        )
