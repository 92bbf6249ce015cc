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

"""The conversions to Pinocchio's conventions, against the oracle instead of our dynamics."""

from __future__ import annotations

import numpy as np
import pytest

from oracles import Oracle
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.crosscheck.sample import Reference, State
from robot_dynamics_ros.crosscheck.twin import PinocchioTwin
from robots import named_models, random_model, random_state

pin = pytest.importorskip('pinocchio')

MODELS = {**named_models(), **{f'random_{seed}': random_model(seed) for seed in range(6, 18)}}
TOLERANCE = 1e-12  # two ways to sum over at most 20 bodies


@pytest.fixture(params=MODELS, ids=str)
def model(request: pytest.FixtureRequest) -> RobotModel:
    return MODELS[request.param]


def reference(model: RobotModel, seed: int = 0) -> Reference:
    s = random_state(model, np.random.default_rng(seed))
    return Reference(PinocchioTwin(pin, model), State(s.q, s.v, s.a, s.tau, s.f_ext, s.q))


def relative(got: object, wanted: object) -> float:
    got, wanted = np.asarray(got), np.asarray(wanted)
    return float(np.abs(got - wanted).max() / max(np.abs(wanted).max(), 1e-3))


def test_mass_matrix_and_efforts_come_over(model: RobotModel) -> None:
    ref, oracle = reference(model), Oracle(model)
    s, twin = ref.state, ref.twin
    assert relative(ref.M, oracle.mass_matrix(s.q)) < TOLERANCE
    forces = twin.wrenches(s.f_ext)
    tau = pin.rnea(twin.model, twin.data, ref.q, ref.v, ref.a, forces) + ref.rotor_efforts(ref.a)
    assert relative(ref.T.T @ tau, oracle.rnea(s.q, s.v, s.a, s.f_ext)) < TOLERANCE


def test_coriolis_matrix_comes_over(model: RobotModel) -> None:
    ref, oracle = reference(model, seed=1), Oracle(model)
    s = ref.state
    still = np.zeros(model.nv)
    speeds = oracle.rnea(s.q, s.v, still) - oracle.rnea(s.q, still, still)
    size = np.abs(ref.M).max()
    assert np.abs(ref.C @ s.v - speeds).max() < TOLERANCE * size
    defect = oracle.directional_derivative(oracle.mass_matrix, s.q, s.v) - 2.0 * ref.C
    # Central differences at 1e-5.
    assert np.abs(defect + defect.T).max() < 1e-6 * size


def test_forward_dynamics_come_over(model: RobotModel) -> None:
    ref, oracle = reference(model, seed=2), Oracle(model)
    s = ref.state
    a = ref.forward_dynamics(ref.twin.wrenches(s.f_ext))
    # Rounding of the accelerations, times the mass matrix.
    size = np.abs(ref.M).max() * np.abs(a).max()
    assert np.abs(oracle.rnea(s.q, s.v, a, s.f_ext) - s.tau).max() < 1e-10 * size
    assert np.abs(ref.inverse @ ref.M - np.eye(model.nv)).max() < 1e-15 * ref.condition + 1e-14


def test_velocity_map_rate_is_its_derivative(model: RobotModel) -> None:
    ref, oracle = reference(model, seed=3), Oracle(model)
    s = ref.state
    rate = oracle.directional_derivative(ref.twin.velocity_map, s.q, s.v)
    assert np.abs(rate - ref.T_rate).max(initial=0.0) < 1e-8


def test_velocity_map_agrees_with_pinocchios_own_steps(model: RobotModel) -> None:
    """A short step of ours, converted, is Pinocchio's step along the converted velocity."""
    ref, oracle = reference(model, seed=4), Oracle(model)
    s, twin = ref.state, ref.twin
    dt = 1e-5
    moved = twin.configuration(oracle.step(s.q, s.v, dt))
    back = twin.configuration(oracle.step(s.q, s.v, -dt))
    velocity = pin.difference(twin.model, back, moved) / (2.0 * dt)
    assert np.abs(velocity - ref.v).max() < 1e-6 * max(1.0, np.abs(ref.v).max())


def test_inertial_parameters_turn_with_the_frame_of_a_planar_joint() -> None:
    model = MODELS['mobile']
    twin = PinocchioTwin(pin, model)
    inertial = next(li.inertial for li in model.description.links if li.name == 'platform')
    assert inertial is not None
    body = model.body_names.index('platform')
    inertia = pin.Inertia(inertial.mass, np.array(inertial.com), np.array(inertial.inertia))
    wanted = twin.placements[body].act(inertia).toDynamicParameters()
    got = twin.parameter_maps[body] @ inertia.toDynamicParameters()
    assert np.abs(got - wanted).max() < 1e-14
    assert np.abs(got - inertia.toDynamicParameters()).max() > 0.01
