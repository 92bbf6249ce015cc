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

"""A pendulum whose encoder is noisy and not filtered: who is biased, and who is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
import pytest

from identification_scenes import dry_friction, multisine, simulated_log
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.durbin_wu_hausman import durbin_wu_hausman
from robot_dynamics_ros.core.identification.identification_model import (
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.instrumental_variables import (
    instrumental_variables,
    simulated_instruments,
)
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.joint_samples import joint_samples, JointSamples
from robot_dynamics_ros.core.identification.least_squares import (
    LinearFit,
    weighted_least_squares,
)
from robot_dynamics_ros.core.identification.regression_rows import regression_rows, RegressionRows
from robot_dynamics_ros.core.identification.total_least_squares import (
    error_covariance,
    total_least_squares,
)
from robot_dynamics_ros.core.identification.triangular_factors import (
    accumulated,
    TriangularFactors,
)
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.resources import urdf_path
from robots import body, joint, robot, Y

Array = NDArray[np.float64]
RATE = 100.0
NOISE = 2e-4  # [rad]: 4.9 rad/s^2 in a second difference, a third of the motion's accelerations
TRUTH = np.array([0.0, -1.0, 0.51, 0.7])  # hx, hz [kg m], Iyy [kg m^2], viscous [N m s/rad]


def pendulum(parameters: Array = TRUTH) -> RobotModel:
    """Return a pendulum of 4 kg with given moments; its first moment lies on the z axis."""
    height = parameters[1] / 4.0
    about = parameters[2] - 4.0 * height**2
    bob = body('bob', 4.0, (0.0, 0.0, height), (about, about, 0.5 * about))
    return build_model(
        robot('pendulum', [bob], [joint('swing', 'continuous', 'base', 'bob', axis=Y)])
    )


def reference(t: Array) -> tuple[Array, Array, Array]:
    w, phase, size = 2.0 * np.pi * np.array([0.5, 0.9]), np.array([0.0, 1.0]), np.array([1.0, 0.4])
    angle = w * t[:, None] + phase
    q = (size * np.sin(angle)).sum(axis=1)
    v = (size * w * np.cos(angle)).sum(axis=1)
    return q[:, None], v[:, None], -(size * w**2 * np.sin(angle)).sum(axis=1)[:, None]


@dataclass(frozen=True)
class Motion:
    stamps: Array
    position: Array
    effort: Array


def closed_loop(parameters: Array, duration: float = 20.0) -> Motion:
    """Follow the reference by a soft position controller that knows nothing of the pendulum."""
    arm = pendulum(parameters)
    friction = dry_friction(arm, parameters[3:], np.zeros(1))
    t = np.arange(0.0, duration, 1e-3)
    q_ref, v_ref, _ = reference(t)
    plant = Plant(arm, friction, q=q_ref[0], v=v_ref[0])
    q, tau = np.zeros((2, len(t), 1))
    state = plant.state
    for k in range(len(t)):
        q[k] = state.q
        tau[k] = 200.0 * (q_ref[k] - state.q) + 12.0 * (v_ref[k] - state.v)
        state = plant.step(tau[k], 1e-3)
    tau[1:] = 0.5 * (tau[1:] + tau[:-1])
    kept = slice(None, None, round(1000.0 / RATE))
    return Motion(t[kept], q[kept], tau[kept])


def model_of() -> IdentificationModel:
    structure = ModelStructure('viscous', offset=False, rotor_inertia=False)
    model = identification_model(pendulum(), structure)
    assert model.base.base_names == ('bob/hx', 'bob/hz', 'bob/Iyy', 'swing/viscous')
    return model


def samples_of(motion: Motion, cutoff: float | None = None) -> JointSamples:
    samples = joint_samples(motion.stamps, motion.position, None, motion.effort, cutoff, rate=RATE)
    return samples.between(1.0, motion.stamps[-1] - 1.0)


def noisy(motion: Motion, rng: np.random.Generator, effort: float = 0.05) -> Motion:
    return replace(
        motion,
        position=motion.position + NOISE * rng.normal(size=motion.position.shape),
        effort=motion.effort + effort * rng.normal(size=motion.effort.shape),
    )


def rows_of(samples: JointSamples) -> list[RegressionRows]:
    return list(regression_rows(model_of(), samples, None))


def factors_of(rows: Sequence[RegressionRows]) -> TriangularFactors:
    model = model_of()
    return accumulated(rows, model.columns_of_joint, model.base.rank)


def commanded(samples: JointSamples) -> list[RegressionRows]:
    q, v, a = reference(samples.stamps)
    return rows_of(replace(samples, q=q, v=v, a=a))


@pytest.fixture(scope='module')
def motion() -> Motion:
    return closed_loop(TRUTH, 40.0)


@pytest.fixture
def log(motion: Motion) -> Motion:
    return noisy(motion, np.random.default_rng(4))


def least_squares(samples: JointSamples) -> LinearFit:
    return weighted_least_squares(factors_of(rows_of(samples)))


def test_least_squares_is_right_without_noise_and_too_small_with_it(
    motion: Motion, log: Motion
) -> None:
    exact = least_squares(samples_of(motion))
    # Torques are held over steps of 1 ms: their mean is right to the second order.
    assert np.allclose(exact.base, TRUTH, atol=2e-3)
    attenuated = least_squares(samples_of(log))
    assert attenuated.base[2] < 0.95 * 0.51


def test_total_least_squares_with_known_noise_is_right(log: Motion) -> None:
    samples = samples_of(log)
    rows = rows_of(samples)
    rng = np.random.default_rng(5)
    linear = least_squares(samples)
    again = (rows_of(samples_of(noisy(log, rng))) for _ in range(4))
    errors = error_covariance(rows, again, linear.spread)
    fit = total_least_squares(factors_of(rows), errors, linear.spread)
    # 3800 samples; noise of the accelerations alone leaves 1 % of the inertia.
    assert abs(fit.base[2] / 0.51 - 1.0) < 0.02
    assert np.allclose(fit.base, TRUTH, atol=0.03)


def test_commanded_motion_as_instrument_is_right(log: Motion) -> None:
    samples = samples_of(log)
    fit = instrumental_variables(rows_of(samples), commanded(samples))
    assert abs(fit.base[2] / 0.51 - 1.0) < 0.02
    assert np.all(np.abs(fit.base - TRUTH) < 4.0 * fit.deviation)
    assert fit.deviation[2] < 0.01
    assert fit.rounds == 0


def test_simulated_motion_as_instrument_settles_from_a_wrong_start(log: Motion) -> None:
    samples = samples_of(log)

    def simulate(base: Array) -> list[RegressionRows]:
        motion = closed_loop(np.array([0.0, *base[1:]]), 40.0)
        return rows_of(replace(samples_of(motion), use=samples.use))

    start = np.array([0.0, -0.7, 0.35, 1.4])
    fit = simulated_instruments(rows_of(samples), simulate, start)
    assert fit.rounds <= 4
    assert abs(fit.base[2] / 0.51 - 1.0) < 0.02
    assert np.all(np.abs(fit.base - TRUTH) < 4.0 * fit.deviation)


def test_intervals_of_instruments_hold_the_truth(motion: Motion) -> None:
    held = []
    for seed in range(30):
        samples = samples_of(noisy(motion, np.random.default_rng(seed)))
        fit = instrumental_variables(rows_of(samples), commanded(samples))
        held.append(np.abs(fit.base - TRUTH) < 1.96 * fit.deviation)
    # 120 intervals of 95 %: 4 standard deviations.
    assert np.mean(held) > 0.87


def test_hausman_tells_biased_from_unbiased(motion: Motion, log: Motion) -> None:
    samples = samples_of(log)
    test = durbin_wu_hausman(rows_of(samples), commanded(samples), least_squares(samples))
    assert test.p_value < 1e-6
    assert test.degrees == 4
    only_effort = replace(log, position=motion.position)
    samples = samples_of(only_effort)
    test = durbin_wu_hausman(rows_of(samples), commanded(samples), least_squares(samples))
    assert test.p_value > 0.01
    rows = rows_of(samples)
    assert durbin_wu_hausman(rows, rows, least_squares(samples)).degrees == 0


def test_commanded_motion_of_a_six_axis_arm_is_the_better_regressor() -> None:
    arm = load_urdf(urdf_path('es5.urdf.xacro'))
    viscous = np.array([8.0, 8.0, 6.0, 1.5, 1.5, 1.0])
    friction = dry_friction(arm, viscous, np.zeros(6))
    log = simulated_log(arm, friction, 20.0, seed=1, size=1.0, is_compensated=True)
    model = identification_model(arm, ModelStructure('viscous', offset=False, rotor_inertia=False))
    truth = np.array(model.prior)
    truth[model.n_inertial :] = viscous
    expected = model.base.to_base(truth)
    rng = np.random.default_rng(3)
    kept = slice(None, None, 10)  # 100 Hz, without a filter
    stamps, exact = log.stamps[kept], log.position[kept]
    position = exact + 1e-4 * rng.normal(size=exact.shape)
    effort = log.effort[kept] + 0.1 * rng.normal(size=exact.shape)
    samples = joint_samples(stamps, position, None, effort, None).between(2.0, 19.0)
    rows = list(regression_rows(model, samples, None))
    q, v, a = (motion[kept] for motion in multisine(6, log.stamps, 1, 1.0, 1.0))
    there = np.searchsorted(stamps, samples.stamps - 1e-6)
    ideal = replace(samples, q=q[there], v=v[there], a=a[there])
    instruments = list(regression_rows(model, ideal, None))

    def error(base: Array) -> float:
        change = instruments[0].regressor @ (base - expected)
        return float(np.linalg.norm(change) / np.linalg.norm(effort))

    plain = weighted_least_squares(accumulated(rows, model.columns_of_joint, model.base.rank))
    assert error(plain.base) > 0.05
    fit = instrumental_variables(rows, instruments)
    # 10 200 efforts with errors of 0.1 N m, those of the accelerations on top of it.
    assert error(fit.base) < 0.002
    assert np.mean(np.abs(fit.base - expected) < 1.96 * fit.deviation) > 0.8
    assert durbin_wu_hausman(rows, instruments, plain).p_value < 1e-6


def test_equilibrated_total_least_squares_is_that_of_the_singular_values() -> None:
    rng = np.random.default_rng(6)
    matrix = rng.normal(size=(500, 1, 3)) * np.array([1.0, 10.0, 0.1])
    tau = matrix @ np.array([1.0, 0.2, 30.0]) + 0.5 * rng.normal(size=(500, 1))
    rows = [RegressionRows(np.arange(500.0), matrix, tau, np.ones((500, 1), dtype=bool))]
    factors = accumulated(rows, [np.arange(3)], 3)
    whole = np.column_stack([matrix[:, 0], tau])
    scale = np.linalg.norm(whole, axis=0)
    last = np.linalg.svd(whole / scale)[2][-1] / scale
    assert np.allclose(total_least_squares(factors).base, -last[:3] / last[3], rtol=1e-9)
    # Errors in the efforts alone are ordinary least squares.
    errors = np.diag([0.0, 0.0, 0.0, 1.0])
    expected = np.linalg.lstsq(whole[:, :3], whole[:, 3], rcond=None)[0]
    assert np.allclose(total_least_squares(factors, errors).base, expected, rtol=1e-9)


def test_errors_say_what_was_expected(log: Motion) -> None:
    samples = samples_of(log)
    rows, factors = rows_of(samples), factors_of(rows_of(samples))
    with pytest.raises(ConfigurationError, match='not positive semidefinite'):
        total_least_squares(factors, -np.eye(5))
    still = [replace(block, regressor=0.0 * block.regressor) for block in rows]
    with pytest.raises(ConfigurationError, match='samples that show all parameters'):
        total_least_squares(factors_of(still))
    with pytest.raises(ConfigurationError, match='instruments do not show all'):
        instrumental_variables(rows, still)
    with pytest.raises(ConfigurationError, match='not of the same times'):
        instrumental_variables(rows, rows_of(samples.picked(slice(0, 100))))
    with pytest.raises(ConfigurationError, match='no rows with further noise'):
        error_covariance(rows, [], np.ones(1))
    with pytest.raises(ConfigurationError, match='differ in number'):
        error_covariance(rows, [rows_of(samples.picked(slice(0, 100)))], np.ones(1))
    rng = np.random.default_rng(7)

    def wander(base: Array) -> list[RegressionRows]:
        return [
            replace(b, regressor=b.regressor + 9.0 * rng.normal(size=b.regressor.shape))
            for b in rows
        ]

    with pytest.raises(ConfigurationError, match='did not settle'):
        simulated_instruments(rows, wander, TRUTH)
