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

"""Batched calls and bound calls give the numbers of the single calls."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
import pytest

from robot_dynamics_ros.core import dynamics
from robot_dynamics_ros.core.dynamics import BoundDynamics
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robots import named_models, random_state

Array = NDArray[np.float64]
MODELS = named_models()
ARGUMENTS = {
    'rnea': ('q', 'v', 'a'),
    'generalized_gravity': ('q',),
    'nonlinear_effects': ('q', 'v'),
    'crba': ('q',),
    'aba': ('q', 'v', 'tau'),
    'joint_torque_regressor': ('q', 'v', 'a'),
    'kinetic_energy': ('q', 'v'),
    'potential_energy': ('q',),
}
COUNT = 37  # more than one block of lanes, and not a multiple of it


@pytest.fixture(params=MODELS, ids=str)
def model(request: pytest.FixtureRequest) -> RobotModel:
    return MODELS[request.param]


def states(model: RobotModel, count: int = COUNT) -> dict[str, Array]:
    rng = np.random.default_rng(12)
    drawn = [random_state(model, rng) for _ in range(count)]
    return {name: np.array([getattr(s, name) for s in drawn]) for name in ('q', 'v', 'a', 'tau')}


@pytest.mark.parametrize('function', ARGUMENTS)
def test_batch_equals_single_calls(model: RobotModel, function: str) -> None:
    data = [states(model)[name] for name in ARGUMENTS[function]]
    batch = getattr(dynamics, f'{function}_batch')(model, *data)
    single = np.array([getattr(dynamics, function)(model, *row) for row in zip(*data)])
    assert batch.shape == single.shape
    # The block kernels have their own sine and cosine, right to 1e-15; aba multiplies rounding by
    # the condition number of the mass matrix.
    tolerance = 1e-9 if function == 'aba' else 1e-12
    size = np.maximum(np.abs(single).max(), 1e-3)
    assert np.abs(batch - single).max() <= tolerance * size


@pytest.mark.parametrize('function', ARGUMENTS)
def test_result_of_a_sample_does_not_depend_on_its_neighbours(function: str) -> None:
    model = MODELS['random_1']
    data = [states(model, 70)[name] for name in ARGUMENTS[function]]
    whole = getattr(dynamics, f'{function}_batch')(model, *data)
    for part in (slice(0, 1), slice(3, 36), slice(69, 70)):
        alone = getattr(dynamics, f'{function}_batch')(model, *(array[part] for array in data))
        assert np.array_equal(alone, whole[part])


@pytest.mark.parametrize('function', ARGUMENTS)
def test_no_samples_give_an_empty_result(function: str) -> None:
    model = MODELS['six_axis']
    data = [np.empty((0, model.nv))] * len(ARGUMENTS[function])
    assert len(getattr(dynamics, f'{function}_batch')(model, *data)) == 0


@pytest.mark.parametrize('function', [n for n in ARGUMENTS if not n.endswith('energy')])
def test_batch_writes_to_the_given_array(function: str) -> None:
    model = MODELS['six_axis']
    data = [states(model)[name] for name in ARGUMENTS[function]]
    wanted = getattr(dynamics, f'{function}_batch')(model, *data)
    out = np.full_like(wanted, np.nan)
    assert getattr(dynamics, f'{function}_batch')(model, *data, out=out) is out
    assert np.array_equal(out, wanted)


def test_many_samples_on_several_cores_equal_few() -> None:
    model = MODELS['six_axis']
    rng = np.random.default_rng(5)
    q, v, a = rng.normal(size=(3, 20_000, 6))
    whole = dynamics.rnea_batch(model, q, v, a)
    parts = [dynamics.rnea_batch(model, q[i : i + 500], v[i : i + 500], a[i : i + 500])
             for i in range(0, 20_000, 500)]  # fmt: skip
    assert np.array_equal(whole, np.concatenate(parts))


@pytest.mark.parametrize('angle', [0.0, np.pi / 4, np.pi, -7.5, 1e3, -99_999.5, 1e7, 3e15])
def test_block_kernels_take_angles_of_any_size(angle: float) -> None:
    model = MODELS['pendulum']
    single = dynamics.generalized_gravity(model, [angle])
    batch = dynamics.generalized_gravity_batch(model, np.full((40, 1), angle))
    assert np.abs(batch - single).max() < 1e-13  # 9 N m times 1e-15, with a margin


def test_bound_calls_equal_the_checked_ones(model: RobotModel) -> None:
    bound = BoundDynamics(model)
    s = random_state(model, np.random.default_rng(4))
    efforts, accelerations = np.empty(model.nv), np.empty(model.nv)
    matrix = np.empty((model.nv, model.nv))
    regressor = np.empty((model.nv, 10 * model.nbodies))
    assert bound.rnea(s.q, s.v, s.a, efforts)
    assert np.array_equal(efforts, dynamics.rnea(model, s.q, s.v, s.a))
    assert bound.generalized_gravity(s.q, efforts)
    assert np.array_equal(efforts, dynamics.generalized_gravity(model, s.q))
    assert bound.nonlinear_effects(s.q, s.v, efforts)
    assert np.array_equal(efforts, dynamics.nonlinear_effects(model, s.q, s.v))
    assert bound.crba(s.q, matrix)
    assert np.array_equal(matrix, dynamics.crba(model, s.q))
    assert bound.aba(s.q, s.v, s.tau, accelerations) == -1
    assert np.array_equal(accelerations, dynamics.aba(model, s.q, s.v, s.tau))
    assert bound.joint_torque_regressor(s.q, s.v, s.a, regressor)
    assert np.array_equal(regressor, dynamics.joint_torque_regressor(model, s.q, s.v, s.a))


def test_bound_calls_tell_of_numbers_that_are_not_finite() -> None:
    model = MODELS['six_axis']
    bound = BoundDynamics(model)
    out, matrix = np.empty(6), np.empty((6, 6))
    fine, bad = np.zeros(6), np.array([0.0, 0.0, np.nan, 0.0, 0.0, 0.0])
    for arguments in ((bad, fine, fine), (fine, bad, fine), (fine, fine, bad)):
        assert not bound.rnea(*arguments, out)
        assert bound.aba(*arguments, out) == -2
    assert not bound.generalized_gravity(bad, out)
    assert not bound.nonlinear_effects(fine, bad, out)
    assert not bound.crba(bad, matrix)
