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
import pinocchio
import pytest

from example_robots import example_urdf
from robot_dynamics_ros.core.dynamics import (
    coriolis_matrix,
    crba,
    generalized_gravity,
    integrate,
    rnea,
)
from robot_dynamics_ros.core.exceptions import DimensionError, NonFiniteError
from robot_dynamics_ros.core.external_torque.momentum_terms import momentum_terms
from robot_dynamics_ros.core.model import load_urdf
from robot_dynamics_ros.core.model.urdf_source import read_source
from robot_dynamics_ros.core.model.xacro_source import expand_xacro
from robot_dynamics_ros.resources import urdf_path
from robots import named_models, random_model, random_state

MODELS = named_models()


@pytest.mark.parametrize('seed', range(8))
def test_terms_are_those_of_the_matrices_for_random_trees(seed: int) -> None:
    model = random_model(seed)
    state = random_state(model, np.random.default_rng(seed))
    momentum, rate = momentum_terms(model, state.q, state.v)
    coriolis = coriolis_matrix(model, state.q, state.v)
    # sums of the same products in another order, up to some 100 in size
    np.testing.assert_allclose(momentum, crba(model, state.q) @ state.v, atol=1e-10)
    expected = coriolis.T @ state.v - generalized_gravity(model, state.q)
    np.testing.assert_allclose(rate, expected, atol=1e-10)


@pytest.mark.parametrize('name', sorted(MODELS))
def test_momentum_changes_by_rate_and_efforts(name: str) -> None:
    model = MODELS[name]
    state = random_state(model, np.random.default_rng(3))
    tau = rnea(model, state.q, state.v, state.a)
    h = 1e-6

    def momentum(t: float) -> np.ndarray:
        q = integrate(model, state.q, t * state.v + 0.5 * t * t * state.a)
        return momentum_terms(model, q, state.v + t * state.a)[0]

    slope = (momentum(h) - momentum(-h)) / (2.0 * h)
    # central differences: h^2 in truncation, 1e-16 / h in rounding, of momenta up to some 100
    scale = 1.0 + np.abs(tau).max()
    np.testing.assert_allclose(
        slope, momentum_terms(model, state.q, state.v)[1] + tau, atol=2e-7 * scale
    )


@pytest.mark.parametrize('source', ['es5', 'ur5_robot.urdf', 'panda.urdf'])
def test_terms_are_those_of_pinocchio(source: str) -> None:
    path = urdf_path('es5.urdf.xacro') if source == 'es5' else example_urdf(source)
    text = expand_xacro(read_source(path)) if source == 'es5' else path.read_text()
    theirs = pinocchio.buildModelFromXML(text)
    locked = {'panda_finger_joint1': 0.0} if source.startswith('panda') else {}
    if locked:
        fingers = [theirs.getJointId(f'panda_finger_joint{i}') for i in (1, 2)]
        theirs = pinocchio.buildReducedModel(theirs, fingers, pinocchio.neutral(theirs))
    model = load_urdf(path, strict=False, locked=locked)
    data = theirs.createData()
    rng = np.random.default_rng(1)
    for _ in range(5):
        q, v = rng.uniform(-1.0, 1.0, model.nv), rng.normal(size=model.nv)
        mass = pinocchio.crba(theirs, data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T
        coriolis = pinocchio.computeCoriolisMatrix(theirs, data, q, v)
        gravity = pinocchio.computeGeneralizedGravity(theirs, data, q)
        momentum, rate = momentum_terms(model, q, v)
        np.testing.assert_allclose(momentum, mass @ v, atol=1e-10)
        np.testing.assert_allclose(rate, coriolis.T @ v - gravity, atol=1e-9)


def test_bad_input_is_refused() -> None:
    model = MODELS['two_link']
    with pytest.raises(DimensionError, match='q has'):
        momentum_terms(model, np.zeros(3), np.zeros(2))
    with pytest.raises(NonFiniteError, match='v'):
        momentum_terms(model, np.zeros(2), np.array([0.0, np.nan]))
