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

"""The identities that tie the dynamics together, on every test robot."""

from __future__ import annotations

import numpy as np
import pytest

from oracles import Oracle
from robot_dynamics_ros.core.dynamics import (
    aba,
    center_of_mass,
    center_of_mass_jacobian,
    centroidal_map,
    centroidal_momentum,
    coriolis_matrix,
    crba,
    difference,
    dynamic_parameters,
    frame_acceleration,
    frame_classical_acceleration,
    frame_jacobian,
    frame_jacobian_time_variation,
    frame_placement,
    frame_velocity,
    generalized_gravity,
    integrate,
    joint_torque_regressor,
    kinetic_energy,
    mass_matrix_inverse,
    mechanical_energy,
    nonlinear_effects,
    Placement,
    potential_energy,
    ReferenceFrame,
    rnea,
)
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robots import named_models, random_state, State

MODELS = named_models()
STATES = 5

# Rounding of sums over at most 20 bodies, relative to the largest entry.
EXACT = 1e-11
# Central differences with a step of 1e-5: truncation near 1e-9, rounding near 1e-10 of the value.
FINITE_DIFFERENCE = 1e-6


@pytest.fixture(params=MODELS, ids=str)
def model(request: pytest.FixtureRequest) -> RobotModel:
    return MODELS[request.param]


@pytest.fixture
def states(model: RobotModel) -> list[State]:
    rng = np.random.default_rng(2024)
    return [random_state(model, rng) for _ in range(STATES)]


def pose(placement: Placement) -> np.ndarray:
    return np.column_stack([placement.rotation, placement.translation])


def assert_close(got: object, wanted: object, tolerance: float, floor: float = 1e-3) -> None:
    """Compare by the max-norm, relative to the wanted value or to `floor` if that is larger."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.shape == wanted.shape
    size = max(float(np.abs(wanted).max(initial=0.0)), floor)
    assert float(np.abs(got - wanted).max(initial=0.0)) <= tolerance * size


def test_rnea_is_mass_times_acceleration_plus_nonlinear_effects(
    model: RobotModel, states: list[State]
) -> None:
    for s in states:
        wanted = crba(model, s.q) @ s.a + nonlinear_effects(model, s.q, s.v)
        assert_close(rnea(model, s.q, s.v, s.a), wanted, EXACT)


def test_columns_of_mass_matrix_come_from_unit_accelerations(
    model: RobotModel, states: list[State]
) -> None:
    for s in states:
        gravity = generalized_gravity(model, s.q)
        still = np.zeros(model.nv)
        columns = [rnea(model, s.q, still, unit) - gravity for unit in np.eye(model.nv)]
        assert_close(np.array(columns).T, crba(model, s.q), EXACT)


def test_aba_inverts_rnea(model: RobotModel, states: list[State]) -> None:
    for s in states:
        # Rounding grows with the condition number, here up to 1e6.
        tau = rnea(model, s.q, s.v, s.a)
        assert_close(aba(model, s.q, s.v, tau), s.a, 1e-9)
        tau = rnea(model, s.q, s.v, s.a, s.f_ext)
        assert_close(aba(model, s.q, s.v, tau, s.f_ext), s.a, 1e-9)


def test_mass_matrix_is_symmetric_positive_definite_and_inverted(
    model: RobotModel, states: list[State]
) -> None:
    for s in states:
        mass = crba(model, s.q)
        assert np.array_equal(mass, mass.T)
        assert np.linalg.eigvalsh(mass)[0] > 0.0
        assert_close(mass_matrix_inverse(model, s.q) @ mass, np.eye(model.nv), 1e-9)


def test_mass_matrix_rate_minus_twice_coriolis_is_skew(
    model: RobotModel, states: list[State]
) -> None:
    oracle = Oracle(model)
    for s in states:
        rate = oracle.directional_derivative(lambda q: crba(model, q), s.q, s.v)
        defect = rate - 2.0 * coriolis_matrix(model, s.q, s.v)
        size = np.abs(crba(model, s.q)).max()
        assert_close(defect + defect.T, np.zeros_like(defect), FINITE_DIFFERENCE, floor=size)


def test_coriolis_and_gravity_make_the_nonlinear_effects(
    model: RobotModel, states: list[State]
) -> None:
    for s in states:
        wanted = nonlinear_effects(model, s.q, s.v)
        got = coriolis_matrix(model, s.q, s.v) @ s.v + generalized_gravity(model, s.q)
        assert_close(got, wanted, EXACT)


def test_gravity_is_the_gradient_of_the_potential_energy(
    model: RobotModel, states: list[State]
) -> None:
    oracle = Oracle(model)
    for s in states:
        gradient = oracle.gradient(lambda q: potential_energy(model, q), s.q)
        size = np.sqrt(model.moving_mass * np.abs(crba(model, s.q)).max()) * 9.81
        assert_close(generalized_gravity(model, s.q), gradient, FINITE_DIFFERENCE, floor=size)


def test_kinetic_energy_is_the_quadratic_form_of_the_mass_matrix(
    model: RobotModel, states: list[State]
) -> None:
    for s in states:
        wanted = 0.5 * s.v @ crba(model, s.q) @ s.v
        assert kinetic_energy(model, s.q, s.v) == pytest.approx(wanted, rel=EXACT)


def test_kinetic_energy_is_the_sum_over_bodies(model: RobotModel, states: list[State]) -> None:
    """Independent of the kernels: each body's energy from its velocity, rotors beside."""
    oracle = Oracle(model)
    for s in states:
        motions = oracle.motions(s.q, s.v)
        total = 0.5 * float(s.v @ (oracle.armature() * s.v))
        for name, mass, com, inertia in oracle.masses():
            m = motions[name]
            speed = m.v + np.cross(m.w, m.rotation @ com)
            turn = m.rotation.T @ m.w
            total += 0.5 * mass * speed @ speed + 0.5 * turn @ inertia @ turn
        assert kinetic_energy(model, s.q, s.v) == pytest.approx(total, rel=EXACT)


def test_energy_changes_by_the_power_of_the_efforts(
    model: RobotModel, states: list[State]
) -> None:
    oracle = Oracle(model)
    dt = 1e-5
    for s in states:
        a = aba(model, s.q, s.v, s.tau)
        # q(t) = q + v t + a t^2 / 2: the even part drops out of the central difference
        ahead = mechanical_energy(model, oracle.step(s.q, s.v, dt), s.v + dt * a)
        behind = mechanical_energy(model, oracle.step(s.q, s.v, -dt), s.v - dt * a)
        rate = (ahead - behind) / (2.0 * dt)
        size = abs(kinetic_energy(model, s.q, s.v)) + 10.0 * model.moving_mass
        size *= 1.0 + float(np.abs(a).max())
        assert rate == pytest.approx(float(s.v @ s.tau), abs=FINITE_DIFFERENCE * size)


def test_regressor_times_parameters_is_rnea(model: RobotModel, states: list[State]) -> None:
    parameters = dynamic_parameters(model)
    for s in states:
        rotors = Oracle(model).armature() * s.a
        got = joint_torque_regressor(model, s.q, s.v, s.a) @ parameters + rotors
        assert_close(got, rnea(model, s.q, s.v, s.a), EXACT)


@pytest.mark.parametrize('seen_from', list(ReferenceFrame), ids=lambda frame: frame.name.lower())
def test_frame_jacobian_gives_the_frame_velocity(
    model: RobotModel, states: list[State], seen_from: ReferenceFrame
) -> None:
    for s in states[:2]:
        for frame in model.frames:
            jacobian = frame_jacobian(model, s.q, frame, seen_from)
            velocity = frame_velocity(model, s.q, s.v, frame, seen_from)
            assert_close(velocity, jacobian @ s.v, EXACT)
            rate = frame_jacobian_time_variation(model, s.q, s.v, frame, seen_from)
            # Where the origin follows the frame, the rate of velocity is a point's acceleration.
            classical = seen_from is ReferenceFrame.LOCAL_WORLD_ALIGNED
            function = frame_classical_acceleration if classical else frame_acceleration
            acceleration = function(model, s.q, s.v, s.a, frame, seen_from)
            assert_close(acceleration, jacobian @ s.a + rate @ s.v, EXACT)


def test_frame_velocity_is_the_rate_of_the_placement(
    model: RobotModel, states: list[State]
) -> None:
    oracle = Oracle(model)
    aligned = ReferenceFrame.LOCAL_WORLD_ALIGNED
    for s in states[:2]:
        for frame in model.frames:
            rate = oracle.directional_derivative(
                lambda q, frame=frame: pose(frame_placement(model, q, frame)), s.q, s.v
            )
            spin = rate[:, :3] @ frame_placement(model, s.q, frame).rotation.T
            wanted = [*rate[:, 3], spin[2, 1], spin[0, 2], spin[1, 0]]
            got = frame_velocity(model, s.q, s.v, frame, aligned)
            assert_close(got, np.array(wanted), FINITE_DIFFERENCE, floor=1.0)


@pytest.mark.parametrize('seen_from', list(ReferenceFrame), ids=lambda frame: frame.name.lower())
def test_jacobian_time_variation_is_the_rate_of_the_jacobian(
    model: RobotModel, states: list[State], seen_from: ReferenceFrame
) -> None:
    oracle = Oracle(model)
    s = states[0]
    for frame in model.frames:
        rate = oracle.directional_derivative(
            lambda q, frame=frame: frame_jacobian(model, q, frame, seen_from), s.q, s.v
        )
        got = frame_jacobian_time_variation(model, s.q, s.v, frame, seen_from)
        assert_close(got, rate, FINITE_DIFFERENCE, floor=1.0)


def test_external_wrench_counts_by_the_jacobian_transposed(
    model: RobotModel, states: list[State]
) -> None:
    for s in states:
        pushed = rnea(model, s.q, s.v, s.a, s.f_ext)
        wanted = rnea(model, s.q, s.v, s.a)
        for name, wrench in zip(model.body_names, s.f_ext):
            wanted = wanted - frame_jacobian(model, s.q, name, ReferenceFrame.LOCAL).T @ wrench
        assert_close(pushed, wanted, EXACT)


def test_center_of_mass_moves_with_its_jacobian(model: RobotModel, states: list[State]) -> None:
    oracle = Oracle(model)
    for s in states:
        rate = oracle.directional_derivative(lambda q: center_of_mass(model, q), s.q, s.v)
        got = center_of_mass_jacobian(model, s.q) @ s.v
        assert_close(got, rate, FINITE_DIFFERENCE, floor=1.0)


def test_centroidal_momentum_is_linear_and_holds_the_momentum_of_the_center_of_mass(
    model: RobotModel, states: list[State]
) -> None:
    for s in states:
        momentum = centroidal_momentum(model, s.q, s.v)
        assert_close(momentum, centroidal_map(model, s.q) @ s.v, EXACT)
        linear = model.moving_mass * center_of_mass_jacobian(model, s.q) @ s.v
        assert_close(momentum[:3], linear, EXACT, floor=model.moving_mass)


def test_force_free_floating_robot_keeps_its_momentum(states: list[State]) -> None:
    """Seen from the world's origin: f = 0 and n = 0 but for gravity, which is off."""
    model = MODELS['branched_floating'].with_gravity((0.0, 0.0, 0.0))
    oracle = Oracle(model)
    rng = np.random.default_rng(7)
    for _ in range(STATES):
        s = random_state(model, rng)
        tau = np.concatenate([np.zeros(6), s.tau[6:]])
        a = aba(model, s.q, s.v, tau)
        dt = 1e-5
        ahead = centroidal_momentum(model, oracle.step(s.q, s.v, dt), s.v + dt * a)
        behind = centroidal_momentum(model, oracle.step(s.q, s.v, -dt), s.v - dt * a)
        size = np.abs(ahead).max() + np.abs(a).max()
        assert_close((ahead - behind) / (2 * dt), np.zeros(6), FINITE_DIFFERENCE, floor=size)


def test_difference_undoes_integrate(model: RobotModel, states: list[State]) -> None:
    for s in states:
        # Rotations below half a turn are told apart from their shorter way back.
        step = s.v * min(1.0, 2.5 / float(np.linalg.norm(s.v)))
        moved = integrate(model, s.q, step)
        assert_close(difference(model, s.q, moved), step, 1e-9)
        assert_close(difference(model, s.q, s.q), np.zeros(model.nv), EXACT)


def test_integrate_follows_the_velocity(model: RobotModel, states: list[State]) -> None:
    oracle = Oracle(model)
    for s in states:
        dt = 1e-4
        # Both are exact to second order in dt.
        wanted = oracle.step(s.q, s.v, dt)
        assert_close(integrate(model, s.q, dt * s.v), wanted, 1e-9, floor=1.0)


def test_results_do_not_change_their_inputs(model: RobotModel, states: list[State]) -> None:
    s = states[0]
    before = [array.copy() for array in (s.q, s.v, s.a, s.tau, s.f_ext)]
    rnea(model, s.q, s.v, s.a, s.f_ext)
    aba(model, s.q, s.v, s.tau, s.f_ext)
    crba(model, s.q)
    coriolis_matrix(model, s.q, s.v)
    integrate(model, s.q, s.v)
    joint_torque_regressor(model, s.q, s.v, s.a)
    for now, then in zip((s.q, s.v, s.a, s.tau, s.f_ext), before):
        assert np.array_equal(now, then)
