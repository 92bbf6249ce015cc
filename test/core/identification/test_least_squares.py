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

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
import pytest

from example_robots import example_urdf
from package_files import ROOT
from robot_dynamics_ros.core.dynamics import dynamic_parameters, rnea_batch
from robot_dynamics_ros.core.identification.identification_model import (
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.joint_samples import JointSamples
from robot_dynamics_ros.core.identification.least_squares import (
    huber_least_squares,
    ordinary_least_squares,
    weighted_least_squares,
)
from robot_dynamics_ros.core.identification.regression_rows import regression_rows, RegressionRows
from robot_dynamics_ros.core.identification.triangular_factors import (
    accumulated,
    TriangularFactors,
)
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robots import branched, prismatic, six_axis

Array = NDArray[np.float64]

ROBOTS: dict[str, Callable[[], RobotModel]] = {
    'es5': lambda: load_urdf(ROOT / 'urdf' / 'es5.urdf.xacro'),
    'ur5': lambda: load_urdf(example_urdf('ur5_robot.urdf')),
    'panda': lambda: load_urdf(example_urdf('panda.urdf'), locked={'panda_finger_joint1': 0.0}),
    'branched': lambda: build_model(branched()),
    'prismatic': lambda: build_model(prismatic()),
}


def harmonic_motion(nv: int, duration: float = 10.0, rate: float = 50.0) -> tuple[Array, ...]:
    """Return stamps and a motion of two harmonics for each joint, exact to any derivative."""
    rng = np.random.default_rng(8)
    t = np.arange(0.0, duration, 1.0 / rate)
    w = 2.0 * np.pi * rng.uniform(0.1, 0.9, (2, nv))
    phase = rng.uniform(0.0, 2.0 * np.pi, (2, nv))
    size = rng.uniform(0.3, 0.8, (2, nv))
    angle = w[:, None, :] * t[:, None] + phase[:, None, :]
    q = (size[:, None, :] * np.sin(angle)).sum(axis=0)
    v = (size[:, None, :] * w[:, None, :] * np.cos(angle)).sum(axis=0)
    a = -(size[:, None, :] * (w[:, None, :] ** 2) * np.sin(angle)).sum(axis=0)
    return t, q, v, a


def samples_of(robot: RobotModel, friction: Array | None = None) -> JointSamples:
    """Return exact samples with viscous and Coulomb friction."""
    t, q, v, a = harmonic_motion(robot.nv)
    tau = rnea_batch(robot, q, v, a)
    if friction is not None:
        tau = tau + friction[0] * v + friction[1] * np.sign(v)
    return JointSamples(t, q, v, a, tau, np.ones(tau.shape, dtype=bool))


def rows_of(model: IdentificationModel, samples: JointSamples) -> list[RegressionRows]:
    return list(regression_rows(model, samples, None))


def factors_of(model: IdentificationModel, rows: list[RegressionRows]) -> TriangularFactors:
    return accumulated(rows, model.columns_of_joint, model.base.rank)


@pytest.mark.parametrize('name', ROBOTS)
def test_exact_efforts_give_the_base_parameters_back(name: str) -> None:
    robot = ROBOTS[name]()
    robot = robot.with_armature(np.linspace(0.5, 0.05, robot.nv))
    friction = np.random.default_rng(3).uniform(0.2, 2.0, (2, robot.nv))
    model = identification_model(robot)
    parameters = np.array(model.prior)
    for kind, values in zip(('viscous', 'coulomb'), friction):
        for joint, number in zip(robot.v_names, values):
            parameters[model.names.index(f'{joint}/{kind}')] = number
    truth = model.base.to_base(parameters)
    factors = factors_of(model, rows_of(model, samples_of(robot, friction)))
    for fit in (ordinary_least_squares(factors), weighted_least_squares(factors)):
        # Rounding, 1e-16, times the condition of this motion, below 1e3.
        error = np.linalg.norm(fit.base - truth) / np.linalg.norm(truth)
        assert error < 1e-8
        assert np.abs(fit.base - truth).max() < 1e-8 * np.abs(truth).max()


def test_blocks_merged_and_whole_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = build_model(six_axis())
    model = identification_model(robot)
    samples = samples_of(robot)
    rng = np.random.default_rng(0)
    noisy = JointSamples(
        samples.stamps, samples.q, samples.v, samples.a,
        samples.tau + rng.normal(size=samples.tau.shape), samples.use,
    )  # fmt: skip
    whole = weighted_least_squares(factors_of(model, rows_of(model, noisy)))
    parts = [noisy.picked(slice(k, k + 100)) for k in range(0, 500, 100)]
    factors = [factors_of(model, rows_of(model, part)) for part in parts]
    merged = weighted_least_squares(factors[0].merged(factors[1:]))
    assert merged.base == pytest.approx(whole.base, abs=1e-9)  # rounding
    assert (merged.factors.samples == 500).all()
    assert merged.spread == pytest.approx(whole.spread)


def test_ordinary_least_squares_is_that_of_numpy_and_residuals_come_from_the_factors() -> None:
    robot = build_model(six_axis())
    model = identification_model(robot)
    samples = samples_of(robot)
    rng = np.random.default_rng(1)
    tau = samples.tau + rng.normal(size=samples.tau.shape)
    rows = RegressionRows(
        samples.stamps, model.regressor(samples.q, samples.v, samples.a), tau, samples.use
    )
    factors = factors_of(model, [rows])
    fit = ordinary_least_squares(factors)
    stacked = rows.regressor.reshape(-1, model.base.rank)
    expected = np.linalg.lstsq(stacked, tau.ravel(), rcond=None)[0]
    assert fit.base == pytest.approx(expected, abs=1e-8)  # rounding times condition
    errors = tau - rows.regressor @ expected
    assert factors.residual_norms(expected) == pytest.approx(np.linalg.norm(errors, axis=0))
    assert factors.effort_norms() == pytest.approx(np.linalg.norm(tau, axis=0))


def test_restricted_factors_are_those_of_the_smaller_model() -> None:
    robot = build_model(six_axis())
    large = identification_model(robot)
    samples = samples_of(robot, np.ones((2, 6)))
    full = factors_of(large, rows_of(large, samples))
    kept = [k for k, name in enumerate(large.base.base_names) if not name.endswith('/offset')]
    small = identification_model(robot, ModelStructure(offset=False))
    assert tuple(large.base.base_names[k] for k in kept) == small.base.base_names
    restricted = full.restricted(np.array(kept))
    expected = weighted_least_squares(factors_of(small, rows_of(small, samples))).base
    assert weighted_least_squares(restricted).base == pytest.approx(expected, abs=1e-7)


def test_weights_follow_the_noise_of_each_joint() -> None:
    robot = build_model(six_axis())
    model = identification_model(robot)
    samples = samples_of(robot)
    noise = np.array([5.0, 3.0, 1.0, 0.3, 0.1, 0.03])
    truth = model.base.to_base(model.prior * np.append(np.ones(60), np.zeros(24)))
    errors = {'ordinary': [], 'weighted': []}  # type: dict[str, list[float]]
    rng = np.random.default_rng(4)
    for _ in range(5):
        tau = samples.tau + noise * rng.normal(size=samples.tau.shape)
        rows = RegressionRows(
            samples.stamps, model.regressor(samples.q, samples.v, samples.a), tau, samples.use
        )
        factors = factors_of(model, [rows])
        weighted = weighted_least_squares(factors)
        # 500 samples: the spread of a spread is 3 %.
        assert weighted.spread == pytest.approx(noise, rel=0.15)
        last = [k for k, name in enumerate(model.base.base_names) if 'link_6' in name]
        for key, fit in (('ordinary', ordinary_least_squares(factors)), ('weighted', weighted)):
            errors[key].append(float(np.linalg.norm((fit.base - truth)[last])))
    assert np.mean(errors['weighted']) < 0.2 * np.mean(errors['ordinary'])


def test_robust_fit_gives_the_parameters_back_in_spite_of_outliers() -> None:
    # Case E08: 20 of 500 N m in 2000 samples of a pendulum, truth 0.51, 9.81, 0.7, 0.4.
    t = np.arange(2000) * 0.01
    w = 2.0 * np.pi * np.array([0.5, 1.3])
    q = 0.8 * np.sin(w[0] * t) + 0.3 * np.sin(w[1] * t)
    v = 0.8 * w[0] * np.cos(w[0] * t) + 0.3 * w[1] * np.cos(w[1] * t)
    a = -0.8 * w[0] ** 2 * np.sin(w[0] * t) - 0.3 * w[1] ** 2 * np.sin(w[1] * t)
    regressor = np.column_stack([a, np.cos(q), v, np.sign(v)])
    truth = np.array([0.51, 9.81, 0.7, 0.4])
    rng = np.random.default_rng(6)
    tau = regressor @ truth + 0.05 * rng.normal(size=2000)
    tau[rng.choice(2000, 20, replace=False)] = 500.0
    rows = RegressionRows(t, regressor[:, None, :], tau[:, None], np.ones((2000, 1), dtype=bool))
    factors = accumulated([rows], (np.arange(4),), 4)
    plain = weighted_least_squares(factors).base
    robust = huber_least_squares([rows], factors).base
    assert np.abs(plain / truth - 1.0).max() > 0.2
    assert np.abs(robust / truth - 1.0).max() < 0.02  # as the case asks


def test_columns_without_excitation_stay_zero_and_the_condition_says_so() -> None:
    robot = build_model(six_axis())
    model = identification_model(robot)
    samples = samples_of(robot)
    still = JointSamples(
        samples.stamps, samples.q, 0.0 * samples.v, 0.0 * samples.a,
        rnea_batch(robot, samples.q, 0.0 * samples.v, 0.0 * samples.a), samples.use,
    )  # fmt: skip
    fit = weighted_least_squares(factors_of(model, rows_of(model, still)))
    assert fit.condition == np.inf
    assert np.isfinite(fit.base).all()
    assert not fit.base[model.base.base_names.index('joint_2/viscous')]


def test_dynamic_parameters_lead_the_prior() -> None:
    robot = build_model(six_axis())
    model = identification_model(robot)
    assert (model.prior[:60] == dynamic_parameters(robot)).all()
