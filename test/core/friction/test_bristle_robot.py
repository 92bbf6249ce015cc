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

"""The ES5 arm with bristle friction: light wrist, stiff bristles, long steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.dynamics import aba, crba, generalized_gravity, mechanical_energy
from robot_dynamics_ros.core.friction.dahl import DahlFriction
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.lugre import LuGreFriction
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import urdf_path
from solved_steps import bristle_step

VISCOUS = np.array([8.0, 8.0, 6.0, 1.5, 1.5, 1.0])
COULOMB = np.array([7.0, 7.0, 5.0, 1.5, 1.5, 1.0])
ROTORS = [0.7141, 1.0249, 0.7141, 0.2040, 0.2040, 0.2040]


@pytest.fixture(scope='module', params=['rotors', 'bare'])
def es5(request: Any) -> Any:
    """Return the arm with its motors, and without: then joint 6 moves 2e-4 kg m^2."""
    model = load_urdf(urdf_path('es5.urdf.xacro'))
    return model.with_armature(ROTORS) if request.param == 'rotors' else model


def law_of(kind: str, level: Any, stiffness: float) -> Any:
    names = tuple(f'joint_{i}' for i in range(1, 7))
    ratio = np.array(1.3 if kind == 'lugre' else 1.0)
    curve = DryFriction(names, VISCOUS, level, level, ratio, np.array(0.05))
    if kind == 'dahl':
        return DahlFriction(curve, np.array(stiffness))
    return LuGreFriction(curve, np.array(stiffness), 0.5 * np.sqrt(stiffness * np.ones(6)))


class Arm:
    """A plant of first order, as small as can be."""

    def __init__(self, model: Any, law: Any, q: Any, v: Any) -> None:
        self.model, self.law = model, law.packed
        self.q, self.v = np.array(q, dtype=float), np.array(v, dtype=float)
        self.z, self.friction = np.zeros(6), np.zeros(6)
        self.worst = 0.0

    def step(self, tau: Any, dt: float) -> None:
        v_free = self.v + dt * aba(self.model, self.q, self.v, tau - self.friction)
        v_new = np.empty(6)
        mass = crba(self.model, self.q)
        residual = bristle_step(self.law, mass, self.v, v_free, dt, self.z, self.friction, v_new)
        self.worst = max(self.worst, residual)
        self.v = v_new
        self.q = self.q + dt * v_new

    @property
    def energy(self) -> float:
        stored = 0.5 * float(self.law[6] @ self.z**2)
        return mechanical_energy(self.model, self.q, self.v) + stored


@pytest.mark.parametrize('kind', ['lugre', 'dahl'])
@pytest.mark.parametrize('stiffness', [1e5, 1e6])
@pytest.mark.parametrize('dt', [1e-3, 5e-3])
def test_arm_falls_and_comes_to_rest(es5: Any, kind: str, stiffness: float, dt: float) -> None:
    arm = Arm(es5, law_of(kind, COULOMB, stiffness), np.full(6, 0.7), np.ones(6))
    start = last = arm.energy
    for _ in range(round(4.0 / dt)):
        arm.step(np.zeros(6), dt)
        # The step of first order may gain what it does without friction: dt v of the weight.
        assert arm.energy <= last + 20.0 * dt
        last = arm.energy
    assert last < start
    assert arm.worst < 1e-10
    assert np.abs(arm.v).max() < 0.2


@pytest.mark.parametrize('kind', ['lugre', 'dahl'])
@pytest.mark.parametrize('dt', [1e-3, 5e-3])
def test_arm_held_by_bristles_does_not_creep(es5: Any, kind: str, dt: float) -> None:
    q = np.array([0.2, -1.2, 0.8, 0.3, -0.4, 0.1])
    level = 1.5 * np.abs(generalized_gravity(es5, q)) + 2.0
    arm = Arm(es5, law_of(kind, level, 1e6), q, np.zeros(6))
    for _ in range(round(5.0 / dt)):
        arm.step(np.zeros(6), dt)
    settled = arm.q.copy()
    np.testing.assert_allclose(arm.friction, -generalized_gravity(es5, arm.q), atol=1e-6)
    assert np.abs(settled - q).max() < 1e-3
    for _ in range(round(5.0 / dt)):
        arm.step(np.zeros(6), dt)
    assert np.abs(arm.q - settled).max() < 1e-9
