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

import importlib.util

import numpy as np
from numpy.typing import NDArray
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.core.dynamics import crba_batch, dynamic_parameters, rnea_batch
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.base_parameters import random_positions
from robot_dynamics_ros.core.identification.consistent_fit import (
    consistent_fit,
    consistent_problem,
    ConsistentFit,
)
from robot_dynamics_ros.core.identification.identification_model import (
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.least_squares import (
    LinearFit,
    weighted_least_squares,
)
from robot_dynamics_ros.core.identification.lmi_fit import lmi_fit
from robot_dynamics_ros.core.identification.possible_bodies import (
    body_pseudo_inertia,
    divergence,
    parameters_of_pseudo_inertia,
    possible_prior,
)
from robot_dynamics_ros.core.identification.regression_rows import RegressionRows
from robot_dynamics_ros.core.identification.triangular_factors import accumulated
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robots import branched, pendulum, random_inertial, six_axis

Array = NDArray[np.float64]


def changed(robot: RobotModel, seed: int, size: float) -> Array:
    """Return inertial parameters of possible bodies near those of the robot."""
    rng = np.random.default_rng(seed)
    bodies = possible_prior(dynamic_parameters(robot)).reshape(-1, 10)
    result = []
    for body in bodies:
        root = np.linalg.cholesky(body_pseudo_inertia(body))
        turn = np.eye(4) + size * rng.normal(size=(4, 4))
        result.append(parameters_of_pseudo_inertia(root @ turn @ turn.T @ root.T))
    return np.concatenate(result)


def noisy_fit(
    model: IdentificationModel, parameters: Array, noise: float, count: int = 300
) -> LinearFit:
    robot = model.robot
    rng = np.random.default_rng(9)
    q, v, a = rng.normal(size=(3, count, robot.nv))
    tau = model.efforts(parameters, q, v, a)
    tau = tau + noise * np.abs(tau).mean(axis=0) * rng.normal(size=tau.shape)
    use = np.ones(tau.shape, dtype=bool)
    rows = RegressionRows(np.arange(count), model.regressor(q, v, a), tau, use)
    return weighted_least_squares(accumulated([rows], model.columns_of_joint, model.base.rank))


def truth_of(model: IdentificationModel, seed: int = 1, size: float = 0.2) -> Array:
    rng = np.random.default_rng(seed)
    drives = rng.uniform(0.1, 1.0, len(model.terms))
    return np.concatenate([changed(model.robot, seed, size), drives])


def smallest_eigenvalues(fit: ConsistentFit, model: IdentificationModel) -> Array:
    bodies = fit.parameters[: model.n_inertial].reshape(-1, 10)
    return np.array([np.linalg.eigvalsh(body_pseudo_inertia(body))[0] for body in bodies])


@pytest.mark.parametrize('description', [six_axis(), branched()])
def test_exact_data_give_the_base_parameters_back(description: object) -> None:
    model = identification_model(build_model(description))  # type: ignore[arg-type]
    truth = truth_of(model)
    linear = noisy_fit(model, truth, 1e-4)
    fit = consistent_fit(model, linear, 1e-3)
    expected = model.base.to_base(truth)
    # 1e-4 of noise, and a prior whose pull is small beside it.
    assert np.linalg.norm(fit.base - expected) < 1e-3 * np.linalg.norm(expected)
    assert smallest_eigenvalues(fit, model).min() > 0.0
    assert (fit.parameters[model.n_inertial :][model.nonnegative] >= 0.0).all()


def test_noisy_data_cost_little_and_the_mass_matrix_stays_positive() -> None:
    robot = build_model(six_axis())
    model = identification_model(robot, ModelStructure(rotor_inertia=False))
    truth = truth_of(model)
    linear = noisy_fit(model, truth, 1.0, 150)
    fit = consistent_fit(model, linear, 1.0)
    norms = linear.factors.residual_norms
    weighted = np.linalg.norm(norms(linear.base) / linear.spread)
    consistent = np.linalg.norm(norms(fit.base) / linear.spread)
    assert weighted <= consistent < 1.05 * weighted
    # The plain fit has bodies that cannot exist: some kinetic energy would be negative.
    rng = np.random.default_rng(3)
    q = random_positions(robot, 200, rng)
    plain = model.base.nearest_standard(linear.base, 0.0 * truth)
    unit = np.eye(6)

    def mass_matrices(parameters: Array) -> Array:
        columns = []
        for j in range(6):
            a = np.broadcast_to(unit[j], (200, 6))
            at_rest = model.efforts(parameters, q, 0.0 * a, 0.0 * a)
            columns.append(model.efforts(parameters, q, 0.0 * a, a) - at_rest)
        return np.stack(columns, axis=2)

    assert np.linalg.eigvalsh(mass_matrices(fit.parameters))[:, 0].min() > 0.0
    assert np.linalg.eigvalsh(mass_matrices(plain))[:, 0].min() < 0.0
    # And the function above is right.
    inertial = np.append(dynamic_parameters(robot), np.zeros(len(model.terms)))
    assert mass_matrices(inertial) == pytest.approx(crba_batch(robot, q), abs=1e-9)


def test_data_of_negative_friction_give_zero_friction() -> None:
    model = identification_model(build_model(pendulum()))
    truth = truth_of(model)
    place = model.names.index('swing/viscous')
    truth[place] = -0.5
    fit = consistent_fit(model, noisy_fit(model, truth, 0.01), 1.0)
    assert fit.parameters[place] == 0.0


def test_heavy_prior_keeps_the_description_and_hidden_parameters_stay_near_it() -> None:
    robot = build_model(six_axis())
    model = identification_model(robot)
    linear = noisy_fit(model, truth_of(model), 0.01)
    prior = possible_prior(dynamic_parameters(robot))
    heavy = consistent_fit(model, linear, 1e12)
    assert heavy.parameters[:60] == pytest.approx(prior, rel=1e-3, abs=1e-3)
    # The mass of the first link has no effect: with it stays what was said of it.
    light = consistent_fit(model, linear, 0.1)
    assert 'link_1/m' in model.base.without_effect
    assert 0.3 < light.parameters[0] / prior[0] < 3.0


def test_no_feasible_change_lowers_the_minimum() -> None:
    model = identification_model(build_model(six_axis()))
    linear = noisy_fit(model, truth_of(model, 5, 0.5), 0.2)
    fit = consistent_fit(model, linear, 3.0)
    problem = consistent_problem(model, linear)
    bodies = np.array(
        [body_pseudo_inertia(b) for b in fit.parameters[: model.n_inertial].reshape(-1, 10)]
    )
    drives = fit.parameters[model.n_inertial :]
    assert problem.objective(bodies, drives, 3.0) == pytest.approx(fit.objective)
    rng = np.random.default_rng(7)
    roots = np.linalg.cholesky(bodies)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(50):
            turn = np.eye(4) + size * rng.normal(size=bodies.shape)
            others = roots @ turn @ turn.transpose(0, 2, 1) @ roots.transpose(0, 2, 1)
            moved = drives + size * problem.scales * rng.normal(size=drives.shape)
            moved = np.maximum(moved, problem.lower)
            found = problem.objective(others, moved, 3.0)
            assert found >= fit.objective * (1.0 - 1e-9)  # to the decrease that ends the search


@pytest.mark.parametrize('weight', [0.1, 10.0])
def test_matrix_inequalities_give_the_same_minimum(weight: float) -> None:
    if importlib.util.find_spec('cvxpy') is None or importlib.util.find_spec('clarabel') is None:
        pytest.skip('cvxpy and clarabel are not installed')
    model = identification_model(build_model(branched()))
    linear = noisy_fit(model, truth_of(model, 5, 0.5), 0.2)
    fit, other = consistent_fit(model, linear, weight), lmi_fit(model, linear, weight)
    # The interior-point method ends at 1e-8 of the squared efforts.
    size = float(np.sum((linear.factors.effort_norms() / linear.spread) ** 2))
    assert abs(other.objective - fit.objective) < 1e-7 * size
    assert fit.objective <= other.objective + 1e-9 * size
    assert np.linalg.norm(other.base - fit.base) < 1e-2 * np.linalg.norm(fit.base)


def test_divergence_is_zero_for_the_same_body_and_does_not_depend_on_the_frame() -> None:
    rng = np.random.default_rng(4)
    bodies = []
    for _ in range(2):
        found = random_inertial(rng)
        moved = np.eye(4)
        moved[:3, 3] = found.com
        second = 0.5 * np.trace(found.inertia) * np.eye(3) - found.inertia
        pseudo = np.zeros((4, 4))
        pseudo[:3, :3], pseudo[3, 3] = second, found.mass
        bodies.append(moved @ pseudo @ moved.T)
    first, other = (parameters_of_pseudo_inertia(body) for body in bodies)
    assert divergence(first, first) == pytest.approx(0.0, abs=1e-12)
    apart = divergence(first, other)
    assert apart > 0.0
    frame = np.eye(4)
    frame[:3, :3] = 3.0 * Rotation.from_euler('xyz', [0.3, 1.0, -0.4]).as_matrix()  # and units
    frame[:3, 3] = (0.2, -1.0, 0.4)
    turned = (parameters_of_pseudo_inertia(frame @ body @ frame.T) for body in bodies)
    assert divergence(*turned) == pytest.approx(apart)
    assert divergence(-first, other) == np.inf


def test_prior_bodies_have_mass_and_extent_and_possible_ones_stay() -> None:
    robot = build_model(branched())
    inertial = dynamic_parameters(robot)
    prior = possible_prior(inertial).reshape(-1, 10)
    massless = robot.body_names.index('right_1')
    assert inertial.reshape(-1, 10)[massless, 0] == 0.0
    assert 0.0 < prior[massless, 0] < 0.01
    # Nor has the torso any depth: 0.3 = 0.2 + 0.1 is the border of the triangle inequality.
    others = [i for i in range(1, len(prior)) if i != massless]
    assert prior[others] == pytest.approx(inertial.reshape(-1, 10)[others], abs=1e-12)
    point = possible_prior(np.array([2.0, 0.2, 0.0, 0.0, 0.0, 0.0, 0.02, 0.0, 0.0, 0.02]))
    assert np.linalg.eigvalsh(body_pseudo_inertia(point))[0] > 1e-6
    assert point[:4] == pytest.approx([2.0, 0.2, 0.0, 0.0])


def test_description_without_any_mass_is_a_prior_that_data_can_overrule() -> None:
    bodies = possible_prior(np.zeros(20)).reshape(-1, 10)
    assert (bodies == bodies[0]).all()
    # A link of 3 kg, 30 cm away, is no more than some ten units from it: some tens of samples.
    pseudo = np.diag([0.3, 0.3, 0.3, 3.0])
    pseudo[0, 3] = pseudo[3, 0] = 0.9
    assert divergence(parameters_of_pseudo_inertia(pseudo), bodies[0]) < 100.0


def test_friction_and_torque_of_the_fit_are_those_of_rnea() -> None:
    robot = build_model(six_axis())
    model = identification_model(robot)
    linear = noisy_fit(model, np.append(dynamic_parameters(robot), np.ones(24)), 1e-6)
    fit = consistent_fit(model, linear, 1e-3)
    rng = np.random.default_rng(2)
    q, v, a = rng.normal(size=(3, 20, 6))
    drives = v + np.sign(v) + 1.0 + a
    expected = rnea_batch(robot, q, v, a) + drives
    found = model.efforts(fit.parameters, q, v, a)
    assert np.abs(found - expected).max() < 1e-4 * np.abs(expected).max()  # noise and prior


def test_errors_say_what_was_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    model = identification_model(build_model(pendulum()))
    linear = noisy_fit(model, truth_of(model), 0.1)
    with pytest.raises(ConfigurationError, match='weight of the prior is 0, expected above zero'):
        consistent_fit(model, linear, 0.0)
    with pytest.raises(ConfigurationError, match='expected above zero'):
        lmi_fit(model, linear, -1.0)
    monkeypatch.setitem(__import__('sys').modules, 'cvxpy', None)
    with pytest.raises(ConfigurationError, match='pip install cvxpy clarabel'):
        lmi_fit(model, linear)
