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

from math import inf, nan
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from robot_dynamics_ros.core.control.laws import InverseDynamicsLaw
from robot_dynamics_ros.core.dynamics import (
    aba,
    generalized_gravity,
    kinetic_energy,
    mechanical_energy,
)
from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
    SingularMassMatrixError,
)
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.core.trajectory.half_cosine import half_cosine
from robot_dynamics_ros.resources import urdf_path
import robots


def friction(model: Any, viscous: Any, coulomb: Any, ratio: float = 1.0) -> DryFriction:
    n = model.nv
    level = np.broadcast_to(np.asarray(coulomb, dtype=float), n)
    return DryFriction(
        model.v_names, np.broadcast_to(viscous, n), level, level, np.array(ratio), np.array(0.05)
    )


def arm() -> Any:
    """Return the six-axis arm with motors behind gears."""
    return build_model(robots.six_axis()).with_armature([0.7, 0.7, 0.7, 0.2, 0.2, 0.2])


@pytest.mark.parametrize(
    ('mode', 'largest_error'), [('pd', 489.55488), ('pd_feedforward', 2.69752)]
)
def test_planar_demonstration_comes_out_to_the_printed_digits(
    mode: str, largest_error: float
) -> None:
    model = load_urdf(urdf_path('planar_2r_point_mass.urdf'))
    start, target = np.array([np.pi / 4, -np.pi / 4]), np.array([3 * np.pi / 4, np.pi / 2])
    law = InverseDynamicsLaw(model, mode, kp=50.0, kd=10.0, gravity_compensated_by_hardware=False)
    plant = Plant(model, dt_internal=2e-3, q=start)
    worst, state = 0.0, plant.state
    for k in range(1001):
        # The profile of period 2 s: there and back.
        profile = half_cosine(1.0, 1.0, 0.002 * k)
        reference = tuple(float(x) * (target - start) for x in profile)
        reference = (start + reference[0], reference[1], reference[2])
        worst = max(worst, float(np.linalg.norm(reference[0] - state.q)))
        state = plant.step(law.command(state.q, state.v, reference), 0.002)
    assert 1e3 * worst == pytest.approx(largest_error, abs=6e-6)  # five digits are printed


def test_free_motion_matches_an_independent_integrator() -> None:
    model = arm()
    rng = np.random.default_rng(0)
    q, v, tau = rng.uniform(-1, 1, 6), rng.normal(size=6), rng.normal(size=6) * 5.0

    def rate(_: float, x: Any) -> Any:
        return np.concatenate((x[6:], aba(model, x[:6], x[6:], tau)))

    true = solve_ivp(rate, (0.0, 0.5), np.concatenate((q, v)), rtol=1e-11, atol=1e-11).y[:, -1]
    errors = {}
    for step in (2e-3, 1e-3):
        plant = Plant(model, dt_internal=step, q=q, v=v)
        state = plant.step(tau, 0.5)
        errors[step] = np.abs(np.concatenate((state.q, state.v)) - true).max()
    assert errors[1e-3] < 1e-7
    assert errors[2e-3] / errors[1e-3] == pytest.approx(16.0, rel=0.3)  # fourth order
    first = Plant(model, dt_internal=1e-3, q=q, v=v, integrator='semi_implicit').step(tau, 0.5)
    assert 1e-6 < np.abs(np.concatenate((first.q, first.v)) - true).max() < 0.1


def test_d14_energy_of_a_free_double_pendulum() -> None:
    model = load_urdf(urdf_path('planar_2r_rods.urdf'))
    plant = Plant(model, dt_internal=1e-3)
    start = mechanical_energy(model, plant.state.q, plant.state.v)
    drift = 0.0
    for _ in range(1000):
        state = plant.step(np.zeros(2), 0.01)
        drift = max(drift, abs(mechanical_energy(model, state.q, state.v) - start))
    assert drift < 1e-4 * max(1.0, abs(start))  # fourth order at 1 ms


def test_viscous_friction_matches_an_independent_integrator_to_second_order() -> None:
    model = arm()
    q, viscous = np.linspace(-0.5, 0.5, 6), np.array([8.0, 8.0, 6.0, 1.5, 1.5, 1.0])

    def rate(_: float, x: Any) -> Any:
        return np.concatenate((x[6:], aba(model, x[:6], x[6:], -viscous * x[6:])))

    start = np.concatenate((q, np.zeros(6)))
    true = solve_ivp(rate, (0.0, 0.5), start, rtol=1e-11, atol=1e-11).y[:, -1]
    errors = {}
    for step in (2e-3, 1e-3):
        state = Plant(model, friction(model, viscous, 0.0), dt_internal=step, q=q).step(
            np.zeros(6), 0.5
        )
        errors[step] = np.abs(np.concatenate((state.q, state.v)) - true).max()
    assert errors[1e-3] < 1e-5
    assert errors[2e-3] / errors[1e-3] == pytest.approx(4.0, rel=0.3)


def test_block_slides_and_stops_like_the_closed_form() -> None:
    bob = robots.body('bob', 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    model = build_model(
        robots.robot('slider', [bob], [robots.joint('x', 'prismatic', 'base', 'bob')])
    )
    plant = Plant(model, friction(model, 0.0, 2.0), v=[1.0])
    state = plant.step([0.0], 0.25)
    assert state.v[0] == pytest.approx(1.0 - 2.0 * 0.25, rel=1e-9)
    assert state.q[0] == pytest.approx(0.25 - 0.25**2, rel=1e-9)
    state = plant.step([0.0], 1.0)
    assert state.v[0] == 0.0
    assert state.q[0] == pytest.approx(0.25, abs=1e-6)  # v^2 / (2 a), on a grid of steps
    # A push below the level moves nothing; above it the block goes with the difference.
    assert plant.step([1.999], 1.0).q[0] == state.q[0]
    assert plant.state.tau_friction[0] == pytest.approx(1.999, rel=1e-9)
    assert plant.step([3.0], 1.0).v[0] == pytest.approx(1.0, rel=1e-9)


def test_static_level_holds_and_falls_off_when_it_breaks() -> None:
    bob = robots.body('bob', 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    model = build_model(
        robots.robot('slider', [bob], [robots.joint('x', 'prismatic', 'base', 'bob')])
    )
    plant = Plant(model, friction(model, 0.0, 2.0, ratio=1.5))
    assert plant.step([2.99], 2.0).v[0] == 0.0
    state = plant.step([3.01], 3.0)
    assert state.v[0] > 0.5  # once it moves, only 2 N hold it
    assert state.tau_friction[0] == pytest.approx(2.0, rel=1e-6)  # exp(-(v / v_s)^2)


def test_arm_that_sticks_under_gravity_does_not_creep() -> None:
    model = arm()
    q = np.array([0.2, -1.2, 0.8, 0.3, -0.4, 0.1])
    need = np.abs(generalized_gravity(model, q))
    plant = Plant(model, friction(model, 1.0, need + 0.5), q=q)
    for _ in range(50):
        state = plant.step(np.zeros(6), 0.02)
        assert not state.v.any()
    np.testing.assert_array_equal(state.q, q)
    gravity = generalized_gravity(model, q)
    np.testing.assert_allclose(state.tau_friction, -gravity, atol=1e-9)  # rounding over dt


def test_one_joint_may_stick_while_the_others_fall() -> None:
    model = arm()
    q = np.array([0.2, -1.2, 0.8, 0.3, -0.4, 0.1])
    level = np.array([0.1, 500.0, 0.1, 0.1, 500.0, 0.1])
    plant = Plant(model, friction(model, 0.5, level), q=q)
    for _ in range(50):
        state = plant.step(np.zeros(6), 0.01)
    assert state.v[1] == 0.0 and state.v[4] == 0.0
    assert state.q[1] == q[1] and state.q[4] == q[4]
    assert np.abs(state.v[[2, 3]]).min() > 0.01


@pytest.mark.parametrize('integrator', ['rk4', 'semi_implicit'])
def test_friction_takes_energy_and_ends_the_swing(integrator: str) -> None:
    model = arm()
    law = friction(model, 0.3, [2.0, 2.0, 2.0, 0.8, 0.8, 0.5], ratio=1.3)
    plant = Plant(model, law, q=np.full(6, 0.7), v=np.ones(6), integrator=integrator)
    last = mechanical_energy(model, plant.state.q, plant.state.v)
    for _ in range(600):
        state = plant.step(np.zeros(6), 0.01)
        energy = mechanical_energy(model, state.q, state.v)
        # The integrator may gain what its order allows: the first-order one some 1e-3 of 50 J.
        assert energy <= last + (1e-4 if integrator == 'rk4' else 0.05)
        last = energy
    assert not state.v.any()
    rest = state.q
    np.testing.assert_array_equal(plant.step(np.zeros(6), 1.0).q, rest)


def test_friction_does_no_work_on_the_robot() -> None:
    model = arm()
    law = friction(model, 0.3, [2.0, 2.0, 2.0, 0.8, 0.8, 0.5], ratio=1.3)
    plant = Plant(model, law, dt_internal=1e-3, v=np.full(6, 0.3))
    rng = np.random.default_rng(3)
    for _ in range(500):
        state = plant.step(rng.normal(scale=20.0, size=6), 1e-3)
        power = state.tau_friction * state.v
        # Where a joint turns within the step, the viscous part is that of its mean velocity.
        assert (power >= -law.viscous * np.abs(state.v) * 0.3 - 1e-9).all()


def test_dry_friction_does_not_chatter() -> None:
    bob = robots.body('bob', 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    model = build_model(
        robots.robot('slider', [bob], [robots.joint('x', 'prismatic', 'base', 'bob')])
    )
    plant = Plant(model, friction(model, 0.0, 5.0), v=[0.5])
    signs = [np.sign(plant.step([1.0], 1e-3).v[0]) for _ in range(500)]
    assert (np.diff(signs) != 0).sum() == 1  # from 1 to 0, once


def test_light_joint_with_strong_viscous_friction_stays_stable() -> None:
    bob = robots.body('bob', 0.365, (0.0, 0.0, 0.0), (1.6e-4, 1.6e-4, 1.6e-4))
    model = build_model(
        robots.robot('wrist', [bob], [robots.joint('x', 'revolute', 'base', 'bob')])
    )
    plant = Plant(model, friction(model, 1.0, 0.0), v=[10.0])  # decays in 0.16 ms
    speeds = [abs(plant.step([0.0], 1e-3).v[0]) for _ in range(20)]
    assert all(b <= a for a, b in zip(speeds, speeds[1:]))
    assert speeds[-1] < 1e-9
    assert plant.step([2.0], 0.1).v[0] == pytest.approx(2.0, rel=1e-6)


def test_armature_counts() -> None:
    bob = robots.body('bob', 1.0, (0.0, 0.0, 0.0), (0.25, 0.25, 0.25))
    model = build_model(
        robots.robot('wheel', [bob], [robots.joint('x', 'continuous', 'base', 'bob')]),
        armature={'x': 0.75},
    )
    assert Plant(model).step([1.0], 1.0).v[0] == pytest.approx(1.0, rel=1e-12)


def test_split_of_a_step_does_not_matter_without_friction() -> None:
    model = arm()
    tau = np.linspace(-3.0, 3.0, 6)
    one = Plant(model, dt_internal=1e-3).step(tau, 0.1)
    plant = Plant(model, dt_internal=1e-3)
    for _ in range(100):
        many = plant.step(tau, 0.001)
    np.testing.assert_allclose(one.q, many.q, atol=1e-12)  # rounding of dt
    assert many.time == pytest.approx(0.1)
    assert kinetic_energy(model, one.q, one.v) > 0.0


def test_reset_and_copies() -> None:
    model = arm()
    plant = Plant(model, q=np.full(6, 0.1))
    state = plant.state
    plant.step(np.ones(6), 0.01)
    assert state.q.tolist() == [0.1] * 6
    state = plant.reset(q=np.full(6, 0.2), time=5.0)
    assert (state.time, state.q.tolist(), state.v.tolist()) == (5.0, [0.2] * 6, [0.0] * 6)


def test_joints_beyond_limits_are_named() -> None:
    plant = Plant(arm(), q=[0.0, 4.0, 0.0, 0.0, -4.0, 0.0])
    assert plant.joints_beyond_limits() == ('joint_2', 'joint_5')


@pytest.mark.parametrize(
    ('tau', 'dt', 'error', 'match'),
    [
        (np.zeros(5), 0.01, DimensionError, 'tau has'),
        (np.full(6, nan), 0.01, NonFiniteError, 'tau'),
        (np.zeros(6), inf, ConfigurationError, 'dt is inf'),
        (np.zeros(6), 0.0, ConfigurationError, 'dt is 0'),
        (np.full(6, 1e300), 0.01, NonFiniteError, 'the simulated state'),
    ],
)
def test_bad_input_is_refused_and_leaves_the_state(
    tau: Any, dt: float, error: type[Exception], match: str
) -> None:
    plant = Plant(arm())
    before = plant.state
    with np.errstate(all='ignore'), pytest.raises(error, match=match):
        plant.step(tau, dt)
    np.testing.assert_array_equal(plant.state.q, before.q)
    assert plant.state.time == 0.0


def test_wrong_plants_are_refused() -> None:
    model = arm()
    with pytest.raises(ConfigurationError, match="integrator 'euler' is not one of"):
        Plant(model, integrator='euler')
    with pytest.raises(ConfigurationError, match='dt_internal'):
        Plant(model, dt_internal=0.0)
    with pytest.raises(ConfigurationError, match='the friction is for'):
        Plant(model, DryFriction(('x',), *np.ones((5, 1))))
    mobile = build_model(robots.mobile())
    with pytest.raises(ConfigurationError, match='the friction is for'):
        Plant(mobile, DryFriction(('x',), *np.ones((5, 1))))
    massless = robots.robot(
        'none', [robots.Link('l')], [robots.joint('j', 'revolute', 'base', 'l')]
    )
    with pytest.raises(SingularMassMatrixError, match="'j' moves no inertia"):
        Plant(build_model(massless))
    with pytest.raises(DimensionError, match='q has'):
        Plant(model).reset(q=[0.0])
    with pytest.raises(NonFiniteError, match='v holds'):
        Plant(model).reset(v=[nan] * 6)
