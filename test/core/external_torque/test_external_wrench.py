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

from robot_dynamics_ros.core.dynamics import frame_jacobian, ReferenceFrame
from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
    UnknownFrameError,
)
from robot_dynamics_ros.core.external_torque.external_wrench import ExternalWrench
from robot_dynamics_ros.core.external_torque.symmetric_eigen import symmetric_eigen_kernel
from robots import named_models

MODELS = named_models()
WRENCH = np.array([10.0, -7.0, 4.0, 0.6, -0.3, 0.8])


@pytest.mark.parametrize('reference', list(ReferenceFrame))
def test_wrench_is_found_where_all_of_it_is_felt(reference: ReferenceFrame) -> None:
    model = MODELS['six_axis']
    solver = ExternalWrench(model, 'tool', reference, smallest_lever=1e-3)
    q = np.array([0.4, -0.8, 1.1, 0.5, 0.9, 0.2])
    tau = frame_jacobian(model, q, 'tool', reference).T @ WRENCH
    found = solver.estimate(q, tau)
    assert found.is_observable
    np.testing.assert_allclose(found.wrench, WRENCH, atol=1e-9)  # condition below 1e3, squared
    jacobian = frame_jacobian(model, q, 'tool', ReferenceFrame.LOCAL_WORLD_ALIGNED)
    jacobian[3:] *= solver.length
    values = np.linalg.svd(jacobian, compute_uv=False)
    np.testing.assert_allclose(found.levers, values, rtol=1e-7)
    assert found.condition == pytest.approx(values[0] / values[-1], rel=1e-7)


def test_levers_as_old_as_the_torques_show_a_lasting_wrench_while_the_arm_moves() -> None:
    model = MODELS['six_axis']
    solver = ExternalWrench(model, 'tool', ReferenceFrame.LOCAL_WORLD_ALIGNED, smallest_lever=1e-3)
    prompt = ExternalWrench(model, 'tool', ReferenceFrame.LOCAL_WORLD_ALIGNED, smallest_lever=1e-3)
    kept = np.exp(-1e-3 * np.array([30.0, 30.0, 40.0, 25.0, 30.0, 50.0]))
    residual, begin = np.zeros(6), np.array([0.4, -0.8, 1.1, 0.5, 0.9, 0.2])
    worst = 0.0
    for k in range(300):
        q = begin + 0.3 * np.sin(3e-3 * k + np.arange(6))  # up to 0.9 rad/s
        jacobian = frame_jacobian(model, q, 'tool', ReferenceFrame.LOCAL_WORLD_ALIGNED)
        residual = kept * residual + (1.0 - kept) * (jacobian.T @ WRENCH)
        solver.follow(q, kept)
        if k > 100:
            # condition below 1e3, squared, and levers of a third at first
            np.testing.assert_allclose(solver.solve(residual), WRENCH, atol=1e-8)
            worst = max(worst, float(np.abs(prompt.step(q, residual) - WRENCH)[3:].max()))
    assert worst > 0.1  # of 1.04 N m: what levers of now make of the same torques
    solver.forget()
    solver.follow(begin, kept)
    jacobian = frame_jacobian(model, begin, 'tool', ReferenceFrame.LOCAL_WORLD_ALIGNED)
    solver.smallest_lever = 1e-9
    first = solver.solve((1.0 - kept) * (jacobian.T @ WRENCH))
    np.testing.assert_allclose(first, WRENCH, atol=1e-5)  # levers of 3 % only


def test_hidden_directions_are_named_and_the_rest_is_exact() -> None:
    model = MODELS['six_axis']
    q = np.array([0.4, -0.8, 1.1, 0.5, 0.0, 0.2])  # axes 4 and 6 are parallel
    solver = ExternalWrench(model, 'tool', smallest_lever=1e-2)
    jacobian = frame_jacobian(model, q, 'tool')
    found = solver.estimate(q, jacobian.T @ WRENCH)
    assert not found.is_observable
    scaled = np.diag([1.0, 1.0, 1.0, *(3 * [solver.length])])
    # the joints feel next to nothing of them
    felt = np.linalg.norm(jacobian.T @ scaled @ found.unobservable, axis=0)
    assert felt.max() < solver.smallest_lever
    # and the wrench that was found loads the joints like the true one
    seen = jacobian.T @ (found.wrench - WRENCH)
    assert np.abs(seen).max() < 1e-6


@pytest.mark.parametrize('name', ['branched', 'prismatic', 'two_link'])
def test_robots_with_few_joints_say_what_is_hidden(name: str) -> None:
    model = MODELS[name]
    frame = {'branched': 'right_2', 'prismatic': 'wrist', 'two_link': 'tip'}[name]
    q = np.full(model.nv, 0.4)
    jacobian = frame_jacobian(model, q, frame)
    rank = np.linalg.matrix_rank(jacobian)
    found = ExternalWrench(model, frame).estimate(q, jacobian.T @ WRENCH)
    assert found.unobservable.shape == (6, 6 - rank)
    np.testing.assert_allclose(jacobian.T @ found.wrench, jacobian.T @ WRENCH, atol=1e-9)


def test_damping_keeps_the_wrench_bounded_through_a_singularity() -> None:
    model = MODELS['six_axis']
    solver = ExternalWrench(model, 'tool')
    noise = np.array([0.3, -0.3, 0.3, -0.1, 0.1, -0.1])
    sizes = []
    for bend in np.linspace(-0.1, 0.1, 41):
        wrench = solver.step(np.array([0.4, -0.8, 1.1, 0.5, bend, 0.2]), noise)
        sizes.append(np.linalg.norm(np.append(wrench[:3], wrench[3:] / solver.length)))
    # at most the torque over the smallest lever
    assert max(sizes) < np.linalg.norm(noise) / solver.smallest_lever


@pytest.mark.parametrize('size', [1, 2, 6])
def test_eigenvalues_are_those_of_numpy(size: int) -> None:
    rng = np.random.default_rng(size)
    for rank in (1, size):
        root = rng.normal(size=(size, rank))
        a = root @ root.T
        values, vectors = a.copy(), np.empty((size, size))
        symmetric_eigen_kernel(values, vectors)
        found = np.diagonal(values)
        np.testing.assert_allclose(np.sort(found), np.linalg.eigvalsh(a), atol=1e-12)
        np.testing.assert_allclose(vectors @ np.diag(found) @ vectors.T, a, atol=1e-12)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(size), atol=1e-12)


def test_bad_input_is_refused() -> None:
    model = MODELS['six_axis']
    with pytest.raises(UnknownFrameError):
        ExternalWrench(model, 'hand')
    with pytest.raises(ConfigurationError, match='fixed to the base'):
        ExternalWrench(model, 'base')
    with pytest.raises(ConfigurationError, match='smallest_lever'):
        ExternalWrench(model, 'tool', smallest_lever=0.0)
    solver = ExternalWrench(model, 'tool')
    with pytest.raises(DimensionError, match='tau_ext has'):
        solver.step(np.zeros(6), np.zeros(5))
    with pytest.raises(NonFiniteError):
        solver.step(np.zeros(6), np.full(6, np.nan))
