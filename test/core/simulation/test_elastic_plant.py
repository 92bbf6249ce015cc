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

from math import nan
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

from robot_dynamics_ros.core.dynamics import aba, generalized_gravity, mechanical_energy
from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
    NotNumericError,
    SingularMassMatrixError,
)
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.simulation.elastic_joints import ElasticJoints
from robot_dynamics_ros.core.simulation.elastic_plant import ElasticPlant
from robot_dynamics_ros.core.simulation.plant import Plant, PlantState
import robots

ROTORS = [0.7, 0.7, 0.7, 0.2, 0.2, 0.2]


def arm() -> Any:
    """Return the six-axis arm with motors behind gears."""
    return build_model(robots.six_axis()).with_armature(ROTORS)


def wheel(inertia: float, motor: float) -> Any:
    """Return a balanced body on a motor: two inertias and a spring."""
    bob = robots.body('bob', 1.0, (0.0, 0.0, 0.0), (inertia, inertia, inertia))
    description = robots.robot('wheel', [bob], [robots.joint('x', 'continuous', 'base', 'bob')])
    return build_model(description, armature={'x': motor})


def planar(motors: tuple[float, float] = (0.6, 0.3), gravity: float = 0.0) -> Any:
    model = build_model(robots.two_link()).with_armature(motors)
    return model.with_gravity((0.0, -gravity, 0.0))


def planar_mass(q2: float) -> Any:
    """Return the mass matrix of two uniform rods: 2 and 1 kg, 0.5 and 0.4 m long."""
    l1, i1, i2, c2 = 0.5, 2.0 * 0.5**2 / 3.0, 1.0 * 0.4**2 / 3.0, 1.0 * 0.5 * 0.4 / 2.0
    off = i2 + c2 * np.cos(q2)
    return np.array([[i1 + l1**2 + i2 + 2.0 * c2 * np.cos(q2), off], [off, i2]])


def friction(model: Any, viscous: Any, coulomb: Any, ratio: float = 1.0) -> DryFriction:
    n = model.nv
    level = np.broadcast_to(np.asarray(coulomb, dtype=float), n)
    return DryFriction(
        model.v_names, np.broadcast_to(viscous, n), level, level, np.array(ratio), np.array(0.05)
    )


def total_energy(plant: ElasticPlant, state: PlantState) -> float:
    assert state.motors is not None
    return float(mechanical_energy(plant.model, state.q, state.v) + state.motors.energy)


def frequency(signal: Any, dt: float) -> float:
    """Return the angular frequency from the first to the last upward zero crossing."""
    up = np.flatnonzero((signal[:-1] < 0.0) & (signal[1:] >= 0.0))
    crossing = up - signal[up] / (signal[up + 1] - signal[up])
    return float(2.0 * np.pi * (len(up) - 1) / ((crossing[-1] - crossing[0]) * dt))


def test_two_inertias_and_a_spring_swing_with_the_closed_form() -> None:
    stiffness, motor, inertia = 800.0, 0.7, 0.25
    model = wheel(inertia, motor)
    law = ElasticJoints.from_model(model, stiffness)
    expected = np.sqrt(stiffness * (1.0 / motor + 1.0 / inertia))
    frequencies = law.natural_frequencies(model, [0.3])
    np.testing.assert_allclose(frequencies, [0.0, expected], rtol=1e-12)
    dt = 1e-3  # omega dt = 0.066: implicit 3.6e-4 low, rk4 1.6e-7
    plant = ElasticPlant(model, law, dt_internal=dt, theta=[0.01])
    twist = []
    for _ in range(4000):
        state = plant.step([0.0], dt)
        twist.append(float(state.motors.theta[0] - state.q[0]))
    assert frequency(np.array(twist), dt) == pytest.approx(expected, rel=1e-3)
    # The centre of inertia stays where it was.
    mean = (motor * state.motors.theta[0] + inertia * state.q[0]) / (motor + inertia)
    assert mean == pytest.approx(motor * 0.01 / (motor + inertia), rel=1e-10)


@pytest.mark.parametrize('mode', [2, 3])
def test_two_link_arm_swings_with_the_eigenfrequencies(mode: int) -> None:
    model, stiffness, q = planar(), np.array([3000.0, 900.0]), np.array([0.4, 0.9])
    law = ElasticJoints.from_model(model, stiffness)
    k = np.diag(stiffness)
    zero = np.zeros((2, 2))
    mass = np.block([[planar_mass(q[1]), zero], [zero, np.diag([0.6, 0.3])]])
    squares, shapes = eigh(np.block([[k, -k], [-k, k]]), mass)
    expected = np.sqrt(squares[mode])
    np.testing.assert_allclose(law.natural_frequencies(model, q)[2:], squares[2:] ** 0.5, 1e-10)
    shape = 1e-5 * shapes[:, mode]  # small: the equations are not linear
    dt = 0.08 / expected  # implicit: 5e-4 low
    plant = ElasticPlant(model, law, dt_internal=dt, q=q + shape[:2], theta=q + shape[2:])
    modal = []
    for _ in range(2500):
        state = plant.step(np.zeros(2), dt)
        away = np.concatenate((state.q - q, state.motors.theta - q))
        modal.append(float(shape @ mass @ away))
    assert frequency(np.array(modal), dt) == pytest.approx(expected, rel=1e-3)


def test_pendulum_on_a_spring_swings_with_gravity_and_spring() -> None:
    # Motor held by friction: link alone, J q'' + m g r q + K q = 0 about the hanging pose.
    model = build_model(robots.pendulum()).with_armature([0.5])
    law = ElasticJoints.from_model(model, 40.0)
    q0 = float(np.arctan2(0.1, 0.6))
    moment = 0.06 + 1.5 * (0.1**2 + 0.6**2)
    arm_length = float(np.hypot(0.1, 0.6))
    rest = [q for q in (q0, -q0) if abs(generalized_gravity(model, [q])[0]) < 1e-9]
    expected = np.sqrt((1.5 * 9.81 * arm_length + 40.0) / moment)
    held = friction(model, 0.0, 100.0)
    plant = ElasticPlant(model, law, held, dt_internal=1e-3, q=[rest[0] + 1e-4], theta=rest)
    swing = [float(plant.step([0.0], 1e-3).q[0]) - rest[0] for _ in range(6000)]
    assert frequency(np.array(swing), 1e-3) == pytest.approx(expected, rel=1e-3)
    assert plant.state.motors.theta[0] == rest[0]


def test_motion_matches_an_independent_integrator() -> None:
    model = planar(gravity=9.81)
    law = ElasticJoints.from_model(model, [3000.0, 900.0], [2.0, 0.5])
    links = law.link_model(model)
    q, v, tau = np.array([0.3, -0.8]), np.array([0.5, -1.0]), np.array([8.0, 1.0])

    def rate(_: float, y: Any) -> Any:
        q, theta, v, w = y.reshape(4, 2)
        spring = law.stiffness * (theta - q) + law.damping * (w - v)
        acceleration = aba(links, q, v, spring)
        return np.concatenate((v, w, acceleration, (tau - spring) / law.motor_inertia))

    start = np.concatenate((q, q, v, v))
    true = solve_ivp(rate, (0.0, 0.5), start, 'DOP853', rtol=1e-12, atol=1e-12).y[:, -1]
    errors = []
    for dt in (2e-4, 1e-4):  # the fastest mode is at 200 rad/s
        plant = ElasticPlant(model, law, dt_internal=dt, q=q, v=v)
        state = plant.step(tau, 0.5)
        end = np.concatenate((state.q, state.motors.theta, state.v, state.motors.v))
        errors.append(float(np.abs(end - true).max()))
    order = np.log2(errors[0] / errors[1])
    assert order == pytest.approx(2.0, abs=0.2)
    assert errors[1] < 1e-3


def test_energy_is_kept_without_damping() -> None:
    model = arm()
    law = ElasticJoints.from_model(model, [2e4, 2e4, 1e4, 4e3, 4e3, 2e3])
    drift = []
    for dt in (4e-4, 2e-4):
        plant = ElasticPlant(
            model, law, dt_internal=dt, q=np.linspace(-0.5, 0.5, 6),
            v=np.linspace(0.5, -0.5, 6),
        )  # fmt: skip
        start = total_energy(plant, plant.state)
        worst = 0.0
        for _ in range(100):
            state = plant.step(np.zeros(6), 0.01)
            worst = max(worst, abs(total_energy(plant, state) - start))
        drift.append(worst)
    assert drift[0] / drift[1] > 3.0  # it swings with dt^2
    assert drift[1] < 1e-4  # of some 50 J


def test_linear_energy_is_kept_exactly_by_the_implicit_rule() -> None:
    model = wheel(0.25, 0.7)
    for stiffness in (1e2, 1e3, 1e4):  # omega dt of 0.1 to 1.2
        law = ElasticJoints.from_model(model, stiffness)
        plant = ElasticPlant(model, law, dt_internal=5e-3, theta=[1e-3], v=[0.2])
        start = total_energy(plant, plant.state)
        state = plant.step([0.0], 5.0)
        assert total_energy(plant, state) == pytest.approx(start, rel=1e-8)  # 1000 roundings


@pytest.mark.parametrize('make', [arm, lambda: planar(gravity=9.81)])
def test_stiff_joints_tend_to_the_rigid_robot(make: Any) -> None:
    model = make()
    n = model.nv
    tau = np.linspace(5.0, -1.0, n)
    q = np.linspace(-0.4, 0.6, n)
    rigid = Plant(model, dt_internal=1e-3, q=q).step(tau, 0.3)
    errors = []
    for stiffness in (1e5, 1e6, 1e7):
        # Damping of the stretch at 1 / (2 ms): the transient is gone at the end.
        law = ElasticJoints.from_model(model, stiffness, 2e-3 * stiffness)
        plant = ElasticPlant(model, law, dt_internal=1e-4, q=q)
        state = plant.step(tau, 0.3)
        errors.append(float(np.abs(np.concatenate((state.q - rigid.q, state.v - rigid.v))).max()))
    assert errors[0] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(10.0, rel=0.3)  # the order of the steps shows


@pytest.mark.parametrize('has_friction', [False, True])
def test_all_rigid_joints_are_the_rigid_plant(has_friction: bool) -> None:
    model = arm()
    law = ElasticJoints.from_model(model, np.inf)
    dry = friction(model, 1.0, 0.8, 1.3) if has_friction else None
    q, tau = np.linspace(-0.4, 0.6, 6), np.linspace(5.0, -1.0, 6)
    one = ElasticPlant(model, law, dry, q=q).step(tau, 0.2)
    other = Plant(model, dry, q=q).step(tau, 0.2)
    # Without friction aba and crba differ by rounding; with it two solvers do.
    atol = 1e-8 if has_friction else 1e-10
    np.testing.assert_allclose(one.q, other.q, atol=atol)
    np.testing.assert_allclose(one.v, other.v, atol=atol)
    np.testing.assert_array_equal(one.motors.theta, one.q)
    assert np.isnan(one.motors.tau_joint).all()


def test_rigid_and_elastic_joints_mix() -> None:
    model = arm()
    stiffness = np.array([np.inf, 3e4, np.inf, 3e3, 3e3, np.inf])
    law = ElasticJoints.from_model(model, stiffness, np.where(np.isfinite(stiffness), 20.0, 0.0))
    assert law.natural_frequencies(model, np.zeros(6)).shape == (9,)
    plant = ElasticPlant(model, law, dt_internal=5e-4)
    state = plant.step(np.zeros(6), 0.2)
    rigid = Plant(model).step(np.zeros(6), 0.2)
    elastic = law.is_elastic
    assert (state.motors.theta[~elastic] == state.q[~elastic]).all()
    assert (state.motors.theta[elastic] != state.q[elastic]).all()
    np.testing.assert_array_equal(np.isnan(state.motors.tau_joint), ~elastic)
    np.testing.assert_allclose(state.q, rigid.q, atol=0.02)  # of the order of torque / stiffness


def test_load_stretches_the_springs_by_torque_over_stiffness() -> None:
    model = arm()
    law = ElasticJoints.from_model(model, [2e4, 2e4, 1e4, 4e3, 4e3, 2e3], 30.0)
    q = np.array([0.2, -1.2, 0.8, 0.3, -0.4, 0.1])
    plant = ElasticPlant(model, law, friction(model, 0.0, 500.0), q=q, dt_internal=2e-4)
    state = plant.step(np.zeros(6), 6.0)
    np.testing.assert_array_equal(state.motors.theta, q)  # stuck: they do not move at all
    assert not state.motors.v.any()
    gravity = generalized_gravity(model, state.q)
    np.testing.assert_allclose(state.motors.theta - state.q, gravity / law.stiffness, atol=1e-10)
    np.testing.assert_allclose(state.motors.tau_joint, gravity, atol=1e-6)
    np.testing.assert_allclose(state.tau_friction, -gravity, atol=1e-6)


def test_motor_breaks_away_at_the_static_level() -> None:
    model = wheel(0.25, 0.7)
    law = ElasticJoints.from_model(model, 800.0, 1.0)
    dry = friction(model, 0.5, 2.0, ratio=1.5)
    plant = ElasticPlant(model, law, dry)
    state = plant.step([2.99], 1.0)
    assert not state.motors.v.any() and not state.motors.theta.any()
    # With rk4 the first push reaches the link within its step: a kick of 1e-7.
    assert state.tau_friction[0] == pytest.approx(2.99, rel=1e-6)
    state = plant.step([3.01], 5.0)
    assert state.motors.v[0] > 1.0
    # Sliding: tau - F_c - b v = (B + J) a, once the swing has gone.
    before = state
    state = plant.step([3.01], 1e-3)
    expected = (3.01 - 2.0 - 0.5 * before.v[0]) / 0.95
    assert (state.v[0] - before.v[0]) / 1e-3 == pytest.approx(expected, rel=0.01)


def test_torque_in_the_spring_loads_the_friction_of_the_motor() -> None:
    # A stretched spring pulls at a motor that its own load holds, or does not.
    model = wheel(0.25, 0.7)
    law = ElasticJoints.from_model(model, 800.0, 1.0)
    for coefficient, moves in ((0.9, True), (1.1, False)):
        dry = DryFriction(('x',), 0.0, 0.0, 0.0, 1.0, 0.05, coefficient)  # type: ignore[arg-type]
        plant = ElasticPlant(model, law, dry, theta=[0.01])
        state = plant.step([0.0], 1e-5)
        assert bool(state.motors.v[0] < 0.0) is moves
        if moves:
            assert state.tau_friction[0] == pytest.approx(-0.9 * 8.0, rel=1e-9)
            expected = (0.9 * 8.0 - 8.0) / 0.7 * 1e-5
            assert state.motors.v[0] == pytest.approx(expected, rel=1e-3)  # the spring lets go


def test_friction_and_damping_only_take_energy() -> None:
    model = arm()
    law = ElasticJoints.from_model(model, [2e4, 2e4, 1e4, 4e3, 4e3, 2e3], 5.0)
    dry = friction(model, 0.3, [2.0, 2.0, 2.0, 0.8, 0.8, 0.5], ratio=1.3)
    plant = ElasticPlant(model, law, dry, dt_internal=2.5e-4, q=np.full(6, 0.7), v=np.ones(6))
    last = total_energy(plant, plant.state)
    for _ in range(300):
        state = plant.step(np.zeros(6), 0.01)
        energy = total_energy(plant, state)
        assert energy <= last + 2e-3  # the order of the step, of some 50 J
        last = energy
    assert np.abs(state.v).max() < 2.0


@pytest.mark.parametrize('stiffness', [1e4, 1e7, 1e9])
@pytest.mark.parametrize('is_dry', [False, True])
def test_implicit_steps_of_5_ms_stay_bounded(stiffness: float, is_dry: bool) -> None:
    model = arm()
    law = ElasticJoints.from_model(model, stiffness, 10.0)
    dry = friction(model, 2.0, 1.0, 1.3) if is_dry else None
    plant = ElasticPlant(model, law, dry, dt_internal=5e-3, q=np.full(6, 0.5))
    start = total_energy(plant, plant.state)
    for _ in range(100):
        state = plant.step(np.zeros(6), 0.01)
        assert total_energy(plant, state) < start + 0.05 * abs(start) + 1.0  # second order


def test_gravity_torque_of_the_motor_holds_what_sags() -> None:
    # A mass on a vertical slide with a spring in the drive: the stretch is m g / K.
    description = robots.robot(
        'lift',
        [robots.body('load', 4.0, (0.0, 0.0, 0.0), (0.1, 0.1, 0.1))],
        [robots.joint('z', 'prismatic', 'base', 'load', axis=robots.Z)],
    )
    model = build_model(description, armature={'z': 1.0})
    plant = ElasticPlant(model, ElasticJoints.from_model(model, 2e4, 200.0), dt_internal=5e-4)
    state = plant.step([4.0 * 9.81], 2.0)
    assert state.motors.theta[0] - state.q[0] == pytest.approx(4.0 * 9.81 / 2e4, rel=1e-9)
    assert state.motors.tau_joint[0] == pytest.approx(4.0 * 9.81, rel=1e-9)
    # The sag left the two with the momentum that gravity gave before the spring held it.
    assert 4.0 * state.v[0] + 1.0 * state.motors.v[0] == pytest.approx(0.0, abs=1e-9)


def test_split_of_a_step_does_not_matter() -> None:
    model = arm()
    law = ElasticJoints.from_model(model, 1e4, 5.0)
    tau = np.linspace(-3.0, 3.0, 6)
    one = ElasticPlant(model, law).step(tau, 0.1)
    plant = ElasticPlant(model, law)
    for _ in range(100):
        many = plant.step(tau, 0.001)
    np.testing.assert_allclose(one.q, many.q, atol=1e-12)  # rounding of dt
    assert many.time == pytest.approx(0.1)


def test_reset_and_copies() -> None:
    model = arm()
    plant = ElasticPlant(model, ElasticJoints.from_model(model, 1e4), q=np.full(6, 0.1))
    state = plant.state
    plant.step(np.ones(6), 0.01)
    assert state.q.tolist() == state.motors.theta.tolist() == [0.1] * 6
    state = plant.reset(q=np.full(6, 0.2), theta=np.full(6, 0.21), time=5.0)
    assert (state.time, state.q.tolist(), state.motors.theta.tolist()) == (
        5.0,
        [0.2] * 6,
        [0.21] * 6,
    )
    np.testing.assert_allclose(state.motors.tau_joint, 100.0, rtol=1e-12)


@pytest.mark.parametrize(
    ('tau', 'dt', 'error', 'match'),
    [
        (np.zeros(5), 0.01, DimensionError, 'tau has'),
        (np.full(6, nan), 0.01, NonFiniteError, 'tau'),
        (np.zeros(6), 0.0, ConfigurationError, 'dt is 0'),
        (np.full(6, 1e300), 0.01, NonFiniteError, 'the simulated state'),
    ],
)
def test_bad_input_is_refused_and_leaves_the_state(
    tau: Any, dt: float, error: type[Exception], match: str
) -> None:
    model = arm()
    plant = ElasticPlant(model, ElasticJoints.from_model(model, 1e4))
    before = plant.state
    with np.errstate(all='ignore'), pytest.raises(error, match=match):
        plant.step(tau, dt)
    np.testing.assert_array_equal(plant.state.q, before.q)
    assert plant.state.time == 0.0


def test_wrong_joints_are_refused() -> None:
    names = ('a', 'b')
    with pytest.raises(ConfigurationError, match="joint 'b': stiffness is 0, expected > 0"):
        ElasticJoints(names, [1.0, 0.0], 0.0, 1.0)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="joint 'a': damping is -1, expected >= 0"):
        ElasticJoints(names, 1.0, [-1.0, 0.0], 1.0)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="joint 'a': an elastic joint needs a motor_in"):
        ElasticJoints(names, [1.0, np.inf], 0.0, 0.0)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="joint 'a': motor_inertia is nan"):
        ElasticJoints(names, 1.0, 0.0, nan)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r'stiffness has shape \(3,\)'):
        ElasticJoints(names, np.ones(3), 0.0, 1.0)  # type: ignore[arg-type]
    with pytest.raises(NotNumericError, match='damping'):
        ElasticJoints(names, 1.0, 'x', 1.0)  # type: ignore[arg-type]


def test_wrong_plants_are_refused() -> None:
    model = arm()
    law = ElasticJoints.from_model(model, 1e4)
    with pytest.raises(ConfigurationError, match="integrator 'euler' is not one of"):
        ElasticPlant(model, law, integrator='euler')
    with pytest.raises(ConfigurationError, match='dt_internal'):
        ElasticPlant(model, law, dt_internal=0.0)
    with pytest.raises(ConfigurationError, match='the friction is for'):
        ElasticPlant(model, law, DryFriction(('x',), *np.ones((5, 1))))
    with pytest.raises(ConfigurationError, match='the elastic joints are'):
        ElasticPlant(planar(), law)
    massless = build_model(
        robots.robot('none', [robots.Link('l')], [robots.joint('j', 'revolute', 'base', 'l')]),
        armature={'j': 1.0},
    )
    with pytest.raises(SingularMassMatrixError, match="'j' moves no inertia"):
        ElasticPlant(massless, ElasticJoints.from_model(massless, 1e4))
    with pytest.raises(DimensionError, match='theta has'):
        ElasticPlant(model, law).reset(theta=[0.0])
    with pytest.raises(NonFiniteError, match='v_motor holds'):
        ElasticPlant(model, law).reset(v_motor=[nan] * 6)
