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

from robot_dynamics_ros.core.dynamics import mechanical_energy
from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
    SingularMassMatrixError,
)
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import Link
from robot_dynamics_ros.core.simulation.motion_energy import motion_energy, moving_start
import robots

MODELS = robots.named_models()


@pytest.mark.parametrize('name', ['branched_floating', 'gripper', 'random_1'])
def test_energy_is_that_of_the_states(name: str) -> None:
    model = MODELS[name]
    s = robots.random_state(model, np.random.default_rng(1))
    run = motion_energy(model, s.q, s.v, dt=1e-3, duration=0.1, integrator='rk4')
    assert (len(run.time), run.time[-1]) == (101, pytest.approx(0.1))
    assert run.energy[0] == pytest.approx(mechanical_energy(model, s.q, s.v), rel=1e-12)
    assert run.largest_error < 1e-6 * max(1.0, run.kinetic.max())  # fourth order at 1 ms
    worse = motion_energy(model, s.q, s.v, dt=1e-3, duration=0.1, integrator='euler')
    assert worse.largest_error > 100.0 * run.largest_error


def test_start_moves() -> None:
    falling = moving_start(MODELS['two_link'])
    np.testing.assert_array_equal(falling, [0.0, 0.0])
    still = MODELS['mobile'].with_gravity([0.0, 0.0, 0.0])
    q = moving_start(still)
    assert q.tolist() == [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]


def test_wrong_motions_are_refused() -> None:
    model = MODELS['two_link']
    zero = np.zeros(2)
    cases = [
        (0.0, 1.0, 'a step of 0 s'),
        (2.0, 1.0, 'a step of 2 s in a motion of 1 s'),
        (1e-7, 1.0, '10000000 steps, expected at most 2000000'),
    ]
    for dt, duration, match in cases:
        with pytest.raises(ConfigurationError, match=match):
            motion_energy(model, zero, zero, dt=dt, duration=duration, integrator='rk4')
    with pytest.raises(ConfigurationError, match="'rk5' is not one of"):
        motion_energy(model, zero, zero, dt=0.1, duration=1.0, integrator='rk5')
    with pytest.raises(DimensionError, match='v has shape'):
        motion_energy(model, zero, [0.0], dt=0.1, duration=1.0, integrator='rk4')
    with pytest.raises(NonFiniteError, match='the simulated state'):
        motion_energy(model, zero, [1e150, 0.0], dt=0.1, duration=9.0, integrator='euler')
    massless = robots.robot('none', [Link('l')], [robots.joint('j', 'revolute', 'base', 'l')])
    with pytest.raises(SingularMassMatrixError, match="'j' moves no inertia"):
        moving_start(build_model(massless))
