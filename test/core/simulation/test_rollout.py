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

from __future__ import annotations

import numpy as np
import pytest

from contact_scenes import at_height, box_body, floor
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.core.simulation.rollout import plants_for_rollout, rollout


def test_rollouts_are_what_single_plants_do() -> None:
    model, shapes = box_body()
    options = {'world': floor(friction=0.5), 'collisions': shapes}
    plants = plants_for_rollout(model, 2, **options)
    rng = np.random.default_rng(0)
    q = np.tile(at_height(model, 0.12), (5, 1))
    v, tau = rng.normal(size=(5, 6)), rng.normal(size=(5, 20, 6))
    positions, velocities = rollout(plants, q, v, tau, 0.01)
    for i in range(5):
        plant = Plant(model, q=q[i], v=v[i], **options)  # type: ignore[arg-type]
        for k in range(20):
            state = plant.step(tau[i, k], 0.01)
            np.testing.assert_allclose(positions[i, k], state.q, atol=1e-12)
            np.testing.assert_allclose(velocities[i, k], state.v, atol=1e-12)


def test_rollout_needs_plants() -> None:
    with pytest.raises(ConfigurationError, match='needs a plant'):
        rollout([], np.zeros((1, 7)), np.zeros((1, 6)), np.zeros((1, 1, 6)), 0.01)
