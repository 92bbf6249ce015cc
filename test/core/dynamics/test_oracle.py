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

"""The dynamics against Kane's equations in world coordinates (`oracles`)."""

from __future__ import annotations

import numpy as np
import pytest

from oracles import Oracle
from robot_dynamics_ros.core.dynamics import (
    center_of_mass,
    crba,
    frame_acceleration,
    frame_jacobian,
    frame_placement,
    frame_velocity,
    nonlinear_effects,
    potential_energy,
    ReferenceFrame,
    rnea,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robots import named_models, random_state, State

MODELS = named_models()
# Two different ways to sum over at most 20 bodies in double precision.
TOLERANCE = 1e-12


@pytest.fixture(params=MODELS, ids=str)
def model(request: pytest.FixtureRequest) -> RobotModel:
    return MODELS[request.param]


@pytest.fixture
def states(model: RobotModel) -> list[State]:
    rng = np.random.default_rng(99)
    return [random_state(model, rng) for _ in range(3)]


def relative(got: object, wanted: object) -> float:
    got, wanted = np.asarray(got), np.asarray(wanted)
    return float(np.abs(got - wanted).max() / max(np.abs(wanted).max(), 1e-3))


def test_coordinates_are_numbered_as_documented(model: RobotModel) -> None:
    oracle = Oracle(model)
    assert (oracle.nq, oracle.nv) == (model.nq, model.nv)
    assert tuple(oracle.slices) == model.joint_names


def test_rnea(model: RobotModel, states: list[State]) -> None:
    oracle = Oracle(model)
    for s in states:
        wanted = oracle.rnea(s.q, s.v, s.a, s.f_ext)
        assert relative(rnea(model, s.q, s.v, s.a, s.f_ext), wanted) < TOLERANCE
        wanted = oracle.rnea(s.q, s.v, np.zeros(model.nv))
        assert relative(nonlinear_effects(model, s.q, s.v), wanted) < TOLERANCE


def test_mass_matrix_energy_and_center_of_mass(model: RobotModel, states: list[State]) -> None:
    oracle = Oracle(model)
    for s in states:
        assert relative(crba(model, s.q), oracle.mass_matrix(s.q)) < TOLERANCE
        assert relative(center_of_mass(model, s.q), oracle.center_of_mass(s.q)) < TOLERANCE
        wanted = oracle.potential_energy(s.q)
        size = 10.0 * model.moving_mass
        assert potential_energy(model, s.q) == pytest.approx(wanted, abs=TOLERANCE * size)


def test_frames(model: RobotModel, states: list[State]) -> None:
    aligned = ReferenceFrame.LOCAL_WORLD_ALIGNED
    oracle = Oracle(model)
    for s in states:
        motions, jacobians = oracle.motions(s.q, s.v, s.a), oracle.jacobians(s.q)
        for name, m in motions.items():
            pose = frame_placement(model, s.q, name)
            assert relative(pose.rotation, m.rotation) < TOLERANCE
            assert relative(pose.translation, m.position) < TOLERANCE
            got = frame_velocity(model, s.q, s.v, name, aligned)
            assert relative(got, np.concatenate([m.v, m.w])) < TOLERANCE
            got = frame_jacobian(model, s.q, name, aligned)
            assert relative(got, np.vstack(jacobians[name])) < TOLERANCE
            # A spatial acceleration is that of the point less w x v.
            spatial = np.concatenate([m.v_dot - np.cross(m.w, m.v), m.w_dot])
            got = frame_acceleration(model, s.q, s.v, s.a, name, aligned)
            assert relative(got, spatial) < TOLERANCE
