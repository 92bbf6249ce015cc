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
from robot_dynamics_ros.core.dynamics import external_efforts, generalized_gravity
from robot_dynamics_ros.core.exceptions import ConfigurationError, DimensionError
from robot_dynamics_ros.core.external_torque.momentum_balance import MomentumBalance
from robot_dynamics_ros.core.external_torque.momentum_observer import MomentumObserver
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model import build_model, load_urdf, RobotModel
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.resources import config_path, urdf_path
from robots import branched, pendulum, prismatic

Array = NDArray[np.float64]

Sample = tuple[float, Array, Array, Array]


def es5() -> RobotModel:
    armature = np.array([0.7, 1.0, 0.7, 0.2, 0.2, 0.2])
    return load_urdf(urdf_path('es5.urdf.xacro')).with_armature(armature)


def es5_friction(model: RobotModel) -> DryFriction:
    return DryFriction.from_file(config_path('es5_friction.yaml'), model.v_names)


def example(name: str, **locked: float) -> RobotModel:
    return load_urdf(example_urdf(name), strict=False, locked=locked)


ROBOTS: dict[str, Callable[[], RobotModel]] = {
    'es5': es5,
    'ur5': lambda: example('ur5_robot.urdf'),
    'panda': lambda: example('panda.urdf', panda_finger_joint1=0.0),
    'branched': lambda: build_model(branched()),
    'prismatic': lambda: build_model(prismatic()),
}


def moved(
    model: RobotModel,
    tau_of: Callable[[float], Array],
    f_ext: Array | None,
    steps: list[float],
    friction: DryFriction | None = None,
    v: Array | None = None,
) -> tuple[list[Sample], Plant]:
    """Return what is measured where efforts are held over each step, in the middle of which."""
    plant = Plant(model, friction, q=np.full(model.nv, 0.3), v=v, dt_internal=2.5e-4)
    samples = []
    for dt in steps:
        tau = tau_of(plant.state.time)
        state = plant.step(tau, dt, f_ext)
        samples.append((state.time, state.q, state.v, tau))
    return samples, plant


@pytest.mark.parametrize('name', sorted(ROBOTS))
def test_torque_of_a_wrench_is_found_in_motion_at_irregular_stamps(name: str) -> None:
    model = ROBOTS[name]()
    rng = np.random.default_rng(5)
    steps = rng.uniform(0.5e-3, 1.5e-3, 400)
    steps[rng.random(400) < 0.05] *= 3.0  # lost messages
    f_ext = np.zeros((model.nbodies, 6))
    f_ext[-1] = [8.0, -5.0, 6.0, 0.5, 0.3, -0.4]
    drive = generalized_gravity(model, np.full(model.nv, 0.3)) + rng.uniform(-2.0, 2.0, model.nv)
    samples, plant = moved(model, lambda t: drive, f_ext, steps.tolist())
    gain = 40.0
    observer = MomentumObserver(MomentumBalance(model), gain)
    truth = [external_efforts(model, q, f_ext) for _, q, _, _ in samples]
    expected = np.zeros(model.nv)
    for k, sample in enumerate(samples):
        observer.step(*sample)
        if k:
            keep = np.exp(-gain * (sample[0] - samples[k - 1][0]))
            expected = keep * expected + (1.0 - keep) * 0.5 * (truth[k] + truth[k - 1])
    assert np.abs(plant.state.v).max() > 0.1  # it moves
    # trapezoidal rule over steps of up to 4.5 ms, against torques of 2 to 10 N m
    np.testing.assert_allclose(observer.tau_ext, expected, atol=5e-3)


def test_response_is_that_of_a_filter_of_first_order() -> None:
    """A pendulum without gravity at rest, whose momentum is the integral of the torque on it."""
    model = build_model(pendulum(), gravity=(0.0, 0.0, 0.0))
    gain, push = 30.0, 2.0
    balance = MomentumBalance(model)
    observer = MomentumObserver(balance, gain)
    inertia = 0.06 + 1.5 * (0.1**2 + 0.6**2)  # about the axis y
    time = 0.0
    rng = np.random.default_rng(0)
    observer.step(time, np.zeros(1), np.zeros(1), np.zeros(1))
    for dt in rng.uniform(1e-4, 2e-2, 60):
        time += float(dt)
        v = push * time / inertia
        assert observer.step(time, np.array([0.5 * v * time]), np.array([v]), np.zeros(1))
        # exact for a constant torque, whatever the steps
        assert observer.tau_ext[0] == pytest.approx(push * (1.0 - np.exp(-gain * time)), rel=1e-9)


def test_any_gain_and_step_is_stable() -> None:
    model = build_model(pendulum(), gravity=(0.0, 0.0, 0.0))
    observer = MomentumObserver(MomentumBalance(model, longest_gap=10.0), 1000.0)
    for k in range(50):
        observer.step(0.5 * k, np.zeros(1), np.zeros(1), np.ones(1))
    # a torque that moves nothing is met by the opposite one
    np.testing.assert_allclose(observer.tau_ext, -1.0, rtol=1e-12)


def test_friction_is_not_external_while_joints_slide() -> None:
    model = es5()
    friction = es5_friction(model)
    v = np.array([0.6, -0.5, 0.7, -0.8, 0.6, 0.9])
    level = friction.torque(v)
    push = np.zeros((model.nbodies, 6))
    push[-1, :3] = [5.0, 5.0, 5.0]
    gravity = generalized_gravity(model, np.full(6, 0.3))
    samples, plant = moved(
        model, lambda t: gravity + level, push, [1e-3] * 150, friction=friction, v=v
    )
    observer = MomentumObserver(MomentumBalance(model, friction), 60.0)
    for sample in samples:
        observer.step(*sample)
    assert np.abs(plant.state.v).min() > 0.05  # all slide, past Stribeck's velocity
    expected = external_efforts(model, plant.state.q, push)
    # 3 % of the friction of up to 12 N m and the lag of 17 ms
    np.testing.assert_allclose(observer.residual, expected, atol=0.35)


@pytest.mark.parametrize('hidden', [True, False])
def test_static_friction_is_a_dead_band_at_rest(hidden: bool) -> None:
    model = es5()
    friction = es5_friction(model)
    observer = MomentumObserver(MomentumBalance(model, friction), 50.0)
    q = np.array([0.1, 0.4, -0.5, 0.2, 0.3, 0.1])
    static = friction.coulomb_positive * friction.static_ratio
    # the drives give less than gravity by a part of what sticking can hold
    missing = static * (0.9 if hidden else 1.5)
    tau = generalized_gravity(model, q) - missing
    for k in range(300):
        observer.step(1e-3 * k, q, np.zeros(6), tau)
    expected = np.zeros(6) if hidden else missing - static
    # the filter has had 15 time constants
    np.testing.assert_allclose(observer.tau_ext, expected, atol=1e-4)
    np.testing.assert_allclose(observer.half_width, static, rtol=1e-4)


def test_old_efforts_are_set_against_the_states_of_their_time() -> None:
    model = es5()
    delay = 4e-3
    samples, _ = moved(model, lambda t: 20.0 * np.sin(60.0 * t + np.arange(6)), None, [1e-3] * 300)
    # means over a step stand for its middle: half a step older than the state
    plain = MomentumObserver(MomentumBalance(model, effort_delay=0.5e-3), 60.0)
    aligned = MomentumObserver(MomentumBalance(model, effort_delay=delay + 0.5e-3), 60.0)
    worst = np.zeros(2)
    for k in range(4, 300):
        time, q, v, _ = samples[k]
        late = samples[k - 4][3]
        plain.step(time, q, v, late)
        if aligned.step(time, q, v, late) and k > 50:
            worst = np.maximum(worst, [np.abs(plain.tau_ext).max(), np.abs(aligned.tau_ext).max()])
    assert worst[0] > 1.0  # unaligned: 20 N m * 60 rad/s * 4 ms, filtered
    assert worst[1] < 0.05  # linear interpolation within a step


def test_gaps_and_bad_stamps_begin_afresh() -> None:
    model = es5()
    balance = MomentumBalance(model, longest_gap=0.02)
    observer = MomentumObserver(balance, 30.0)
    q, zero = np.zeros(6), np.zeros(6)
    assert not observer.step(1.0, q, zero, zero)
    assert observer.step(1.001, q, zero, zero)
    assert np.abs(observer.tau_ext).max() > 0.0
    assert not observer.step(1.2, q, zero, zero)  # a gap
    assert balance.restarts == 1
    assert not observer.tau_ext.any()
    assert observer.step(1.201, q, zero, zero)
    assert not observer.step(1.1, q, zero, zero)  # back in time
    assert not observer.step(1.101, q, zero, np.full(6, np.nan))
    assert not observer.step(1.102, q, zero, zero)
    assert observer.step(1.103, q, zero, zero)
    assert balance.restarts == 3
    assert np.isfinite(observer.tau_ext).all()


def test_model_and_friction_change_without_a_jump() -> None:
    model = es5()
    balance = MomentumBalance(model)
    observer = MomentumObserver(balance)
    for k in range(3):
        observer.step(1e-3 * k, np.zeros(6), np.zeros(6), np.zeros(6))
    balance.change(model.with_gravity((0.0, 0.0, 0.0)))
    assert not observer.step(3e-3, np.zeros(6), np.zeros(6), np.zeros(6))
    assert observer.step(4e-3, np.zeros(6), np.zeros(6), np.zeros(6))
    assert np.abs(observer.tau_ext).max() < 1e-12  # no weight any more


def test_newer_friction_counts_without_a_fresh_start() -> None:
    model = es5().with_gravity((0.0, 0.0, 0.0))
    friction = es5_friction(model)
    v = np.full(6, 0.5)
    tau = friction.torque(v)
    balance = MomentumBalance(model)
    observer = MomentumObserver(balance, 100.0)
    q = np.zeros(6)
    drift = np.zeros(6)
    for k in range(400):
        if k == 200:
            # torque for a speed that stays shows as an external one, which brakes
            assert (observer.tau_ext[[0, 3, 4, 5]] < -1.0).all()
            drift = observer.tau_ext + tau
            balance.use_friction(friction)
        assert observer.step(1e-3 * k, q, v, tau) == (k > 0)
    # what is left is C^T v, with and without friction the same; twenty time constants
    np.testing.assert_allclose(observer.tau_ext, drift, atol=1e-6)


def test_bad_parameters_are_refused() -> None:
    model = es5()
    with pytest.raises(ConfigurationError, match='effort_delay is -1'):
        MomentumBalance(model, effort_delay=-1.0)
    with pytest.raises(ConfigurationError, match='longest_gap is 0'):
        MomentumBalance(model, longest_gap=0.0)
    with pytest.raises(ConfigurationError, match='rest_speed is 0'):
        MomentumBalance(model, rest_speed=0.0)
    other = FrictionModel(('a',) * 6, *(np.array(1.0) for _ in range(4)))
    with pytest.raises(ConfigurationError, match='friction is that of a'):
        MomentumBalance(model, other)
    balance = MomentumBalance(model)
    with pytest.raises(ConfigurationError, match='gain is 0'):
        MomentumObserver(balance, 0.0)
    with pytest.raises(ConfigurationError, match='expected one number or 6'):
        MomentumObserver(balance, [1.0, 2.0])
    with pytest.raises(DimensionError, match='q has'):
        balance.step(0.0, np.zeros(5), np.zeros(6), np.zeros(6))
