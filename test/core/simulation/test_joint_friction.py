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

from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.dynamics import generalized_gravity, mechanical_energy
from robot_dynamics_ros.core.exceptions import ConfigurationError, DimensionError, NonFiniteError
from robot_dynamics_ros.core.friction.dahl import DahlFriction
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.lugre import LuGreFriction
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.simulation.plant import Plant
import robots


def slider() -> Any:
    bob = robots.body('bob', 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    return build_model(
        robots.robot('slider', [bob], [robots.joint('x', 'prismatic', 'base', 'bob')])
    )


def dry(model: Any, viscous: float = 0.0, level: float = 2.0, **fields: Any) -> DryFriction:
    values = np.full(model.nv, level)
    one, stribeck = np.array(fields.pop('ratio', 1.0)), np.array(0.05)
    return DryFriction(
        model.v_names, np.full(model.nv, viscous), values, values, one, stribeck, **fields
    )


def arm() -> Any:
    return build_model(robots.six_axis()).with_armature([0.7, 0.7, 0.7, 0.2, 0.2, 0.2])


def test_viscous_friction_differs_with_the_direction() -> None:
    model = slider()
    law = dry(model, 1.0, 0.0, viscous_negative=np.array([4.0]))
    plant = Plant(model, law)
    for push, coefficient in ((2.0, 1.0), (-2.0, 4.0)):
        plant.reset()
        state = plant.step([push], 20.0)
        assert state.v[0] == pytest.approx(push / coefficient, rel=1e-6)


def test_level_grows_with_the_load_of_the_motor() -> None:
    model = slider()
    plant = Plant(model, dry(model, load_coefficient=np.array([0.5])))
    # 2 N + half of the push hold it up to 4 N.
    assert plant.step([3.9], 1.0).v[0] == 0.0
    state = plant.step([6.0], 1.0)
    assert state.v[0] == pytest.approx(6.0 - 2.0 - 3.0, rel=1e-6)


@pytest.mark.parametrize('kind', ['lugre', 'dahl'])
@pytest.mark.parametrize('dt', [1e-4, 1e-3, 5e-3])
def test_bristles_hold_the_arm_up_and_let_it_come_to_rest(kind: str, dt: float) -> None:
    model = arm()
    q = np.array([0.2, -1.2, 0.8, 0.3, -0.4, 0.1])
    level = 1.5 * np.abs(generalized_gravity(model, q)) + 5.0
    sliding = DryFriction(
        model.v_names, np.full(6, 8.0), level, level, np.array(1.0), np.array(0.05)
    )
    stiffness = np.full(6, 1e5)
    law: Any
    if kind == 'lugre':
        law = LuGreFriction(sliding, stiffness, np.full(6, 200.0))
    else:
        law = DahlFriction(sliding, stiffness)
    plant = Plant(model, law, dt_internal=dt, q=q, v=np.full(6, 0.1))
    for _ in range(20):
        state = plant.step(np.zeros(6), 0.1)
    # Dahl's bristles have no damping of their own: after a stop they ring for a while.
    rest = 1e-6 if kind == 'lugre' else 1e-4
    assert np.abs(state.v).max() < rest
    # What friction has to hold, and how far its bristles bend for that.
    np.testing.assert_allclose(
        state.tau_friction, -generalized_gravity(model, state.q), atol=1e3 * rest
    )
    assert np.abs(plant.deflection).max() < 2.0 * level.max() / 1e5
    if kind == 'lugre':  # Dahl's model creeps while it rings
        later = plant.step(np.zeros(6), 2.0)
        assert np.abs(later.q - state.q).max() < 1e-8, 'it does not creep'


@pytest.mark.parametrize('kind', ['dry', 'lugre'])
def test_friction_takes_energy_out_of_a_free_swing(kind: str) -> None:
    model = arm()
    sliding = dry(model, 0.3, 1.0, ratio=1.2)
    law: Any = sliding
    if kind == 'lugre':
        law = LuGreFriction(sliding, np.full(6, 1e5), np.full(6, 100.0))
    plant = Plant(model, law, q=np.full(6, 0.7), v=np.ones(6))
    last = mechanical_energy(model, plant.state.q, plant.state.v)
    for _ in range(300):
        state = plant.step(np.zeros(6), 0.01)
        energy = mechanical_energy(model, state.q, state.v)
        # Bristles give back what they have stored: F^2 / (2 k) each.
        assert energy <= last + 1e-4
        last = energy


@pytest.mark.parametrize('kind', ['dry', 'lugre'])
def test_works_add_up_to_the_change_of_the_energy(kind: str) -> None:
    model = arm()
    law: Any = dry(model, 0.3, 1.0)
    if kind == 'lugre':
        law = LuGreFriction(law, np.full(6, 1e5), np.full(6, 100.0))
    left = {}
    for step in (1e-3, 5e-4):
        plant = Plant(model, law, dt_internal=step, q=np.full(6, 0.4))
        start = mechanical_energy(model, plant.state.q, plant.state.v)
        for _ in range(20):
            state = plant.step([3.0, -20.0, -5.0, 1.0, 0.5, 0.2], 0.02)
        change = mechanical_energy(model, state.q, state.v) - start
        left[step] = abs(change - sum(state.works))
        assert state.works.friction < 0.0
    assert left[1e-3] < 0.01 * abs(state.works.actuators)
    assert left[5e-4] < 0.7 * left[1e-3], 'an error of the step'


def test_push_adds_to_the_torque() -> None:
    model = slider()
    plant = Plant(model, dry(model))
    wrench = np.zeros((1, 6))
    wrench[0, 0] = 5.0  # along x, where it slides
    assert plant.step([0.0], 1.0, wrench).v[0] == pytest.approx(5.0 - 2.0, rel=1e-6)


def test_bad_input_is_refused_and_changes_nothing() -> None:
    model = slider()
    law = dry(model)
    with pytest.raises(ConfigurationError, match="integrator 'euler'"):
        Plant(model, law, integrator='euler')
    with pytest.raises(ConfigurationError, match='dt_internal is 0'):
        Plant(model, law, dt_internal=0.0)
    with pytest.raises(ConfigurationError, match='the friction is for'):
        Plant(arm(), law)
    plant = Plant(model, law, v=[1.0])
    for tau, dt, error in (
        ([np.nan], 0.1, NonFiniteError),
        ([0.0, 0.0], 0.1, DimensionError),
        ([0.0], 0.0, ConfigurationError),
        ([1e308], 10.0, NonFiniteError),
    ):
        with pytest.raises(error):
            plant.step(tau, dt)
        assert plant.state.v[0] == 1.0
