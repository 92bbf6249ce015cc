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

"""Systems whose dynamics are known by hand or printed in the literature."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
import pytest

from example_robots import example_urdf
from robot_dynamics_ros.core.dynamics import (
    aba,
    coriolis_matrix,
    crba,
    frame_acceleration,
    frame_jacobian,
    frame_placement,
    frame_velocity,
    generalized_gravity,
    joint_reaction_wrenches,
    joint_torque_regressor_batch,
    mechanical_energy,
    nonlinear_effects,
    ReferenceFrame,
    rnea,
)
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import urdf_path
from robots import body, joint, pendulum, robot, two_link, X, Z

Array = NDArray[np.float64]
G = 9.81
DOWN_Y = (0.0, -G, 0.0)


# ------------------------------------------------------------------ ES5, worked example


@pytest.fixture(scope='module')
def es5() -> RobotModel:
    return load_urdf(urdf_path('es5.urdf.xacro'))


EXAMPLE_Q = np.radians([0.0, 45.0, 45.0, 0.0, 90.0, 0.0])
EXAMPLE_V = np.array([0.5, 0.0, 0.0, 0.0, 0.0, 0.0])
# link: angular velocity, acceleration of the origin, of the centre of mass, force; four digits
EXAMPLE_TABLE = {
    'link_1': [(0, 0, 0.5), (0, 0, 9.81), (0, 0.0020, 9.8100), (0, 0.0079, 38.5631)],
    'link_2': [
        (0.3536, 0.3536, 0),
        (6.9367, 6.9367, 0),
        (6.9108, 6.9626, -0.0310),
        (72.1630, 72.7034, -0.3237),
    ],
    'link_3': [
        (0.5, 0, 0),
        (9.81, 0.0751, 0),
        (9.81, 0.0751, -0.0045),
        (27.9193, 0.2138, -0.0128),
    ],
}
ES5_MASSES = {'link_1': 3.931, 'link_2': 10.442, 'link_3': 2.846}
ES5_COMS = {
    'link_1': (0, -0.008, -0.031),
    'link_2': (0.207, 0, 0.124),
    'link_3': (0.228, 0, 0.018),
}
PRINTED = 5.1e-5  # half a unit of the fourth digit


def test_es5_worked_example_efforts(es5: RobotModel) -> None:
    tau = rnea(es5, EXAMPLE_Q, EXAMPLE_V, np.zeros(6))
    printed = [0.0000, 31.2022, -1.3255, -1.4497, 0.0010, 0.0000]
    assert np.abs(tau - printed).max() < PRINTED
    # The same tables through Pinocchio 4.1.0, to seven digits.
    assert tau[1:5] == pytest.approx([31.2022418, -1.3254904, -1.4496977, 0.0010095], abs=6e-8)


@pytest.mark.parametrize('link', EXAMPLE_TABLE)
def test_es5_worked_example_vectors(es5: RobotModel, link: str) -> None:
    """Every vector of the table; `a` includes the fictitious upward acceleration of the base."""
    local = ReferenceFrame.LOCAL
    still = np.zeros(6)
    velocity = frame_velocity(es5, EXAMPLE_Q, EXAMPLE_V, link, local)
    spatial = frame_acceleration(es5, EXAMPLE_Q, EXAMPLE_V, still, link, local)
    w, dw, c = velocity[3:], spatial[3:], np.array(ES5_COMS[link])
    upward = frame_placement(es5, EXAMPLE_Q, link).rotation.T @ [0.0, 0.0, G]
    a = spatial[:3] + np.cross(w, velocity[:3]) + upward
    a_com = a + np.cross(dw, c) + np.cross(w, np.cross(w, c))
    computed = [w, a, a_com, ES5_MASSES[link] * a_com]
    for got, printed in zip(computed, EXAMPLE_TABLE[link]):
        assert np.abs(got - printed).max() < PRINTED


def test_es5_base_carries_the_sum_of_the_forces(es5: RobotModel) -> None:
    """At rest the first joint passes on the weight of all links, 20.254 kg, straight up."""
    wrench = joint_reaction_wrenches(es5, EXAMPLE_Q, np.zeros(6), np.zeros(6))[0]
    assert wrench[:3] == pytest.approx([0.0, 0.0, 20.254 * G], abs=1e-10)


# ------------------------------------------------------------------ planar 2R


def point_mass_arm() -> RobotModel:
    """Return the planar 2R with a mass at the elbow and one at the tip, and inertial links."""
    i1, i2, m2, m_tip, l1, l2 = POINT_MASS
    links = [
        body('first', m2, (l1, 0.0, 0.0), (0.0, i1, i1)),
        body('second', m_tip, (l2, 0.0, 0.0), (0.0, i2, i2)),
    ]
    joints = [
        joint('chi_1', 'revolute', 'base', 'first', axis=Z),
        joint('chi_2', 'revolute', 'first', 'second', axis=Z, translation=l1 * X),
    ]
    return build_model(robot('planar', links, joints), gravity=DOWN_Y)


POINT_MASS = (0.03, 0.02, 1.3, 0.8, 0.45, 0.35)  # I1, I2, m2, mE, l1, l2


@pytest.mark.parametrize('seed', range(10))
def test_planar_2r_with_point_masses_matches_lagrange(seed: int) -> None:
    i1, i2, m2, m_tip, l1, l2 = POINT_MASS
    model = point_mass_arm()
    rng = np.random.default_rng(seed)
    q, v, a = rng.normal(size=(3, 2))
    c2, s2 = np.cos(q[1]), np.sin(q[1])
    m11 = i1 + i2 + (m2 + m_tip) * l1**2 + m_tip * l2**2 + 2 * m_tip * l1 * l2 * c2
    m12 = i2 + m_tip * l2**2 + m_tip * l1 * l2 * c2
    m22 = i2 + m_tip * l2**2
    mass = np.array([[m11, m12], [m12, m22]])
    k = m_tip * l1 * l2 * s2
    # The factorisation by Christoffel symbols.
    coriolis = np.array([[-k * v[1], -k * (v[0] + v[1])], [k * v[0], 0.0]])
    tip = m_tip * G * l2 * np.cos(q[0] + q[1])
    gravity = np.array([(m2 + m_tip) * G * l1 * np.cos(q[0]) + tip, tip])
    speeds = np.array([-k * (2 * v[0] * v[1] + v[1] ** 2), k * v[0] ** 2])
    tolerance = {'rtol': 0.0, 'atol': 1e-13}  # rounding of numbers below 20
    np.testing.assert_allclose(crba(model, q), mass, **tolerance)
    np.testing.assert_allclose(generalized_gravity(model, q), gravity, **tolerance)
    np.testing.assert_allclose(nonlinear_effects(model, q, v), speeds + gravity, **tolerance)
    np.testing.assert_allclose(coriolis_matrix(model, q, v), coriolis, **tolerance)
    np.testing.assert_allclose(rnea(model, q, v, a), mass @ a + speeds + gravity, **tolerance)


ROD_STATE = ([0.3, 0.7], [1.0, 2.0], [0.5, -1.0])


@pytest.mark.parametrize('source', ['description', 'urdf'])
def test_planar_2r_with_rods_gives_the_printed_efforts(source: str) -> None:
    if source == 'description':
        model = build_model(two_link(), gravity=DOWN_Y)
    else:
        model = load_urdf(urdf_path('planar_2r_rods.urdf'))
    tau = rnea(model, *ROD_STATE)
    assert tau == pytest.approx([10.098217, 1.136070], abs=5.1e-7)  # all printed digits


def test_planar_2r_with_rods_gravity_from_the_potential() -> None:
    (m1, m2), (l1, l2) = (2.0, 1.0), (0.5, 0.4)
    q = np.array([0.3, 0.7])
    outer = 0.5 * m2 * G * l2 * np.cos(q.sum())
    wanted = [(0.5 * m1 + m2) * G * l1 * np.cos(q[0]) + outer, outer]
    model = build_model(two_link(), gravity=DOWN_Y)
    assert generalized_gravity(model, q) == pytest.approx(wanted, abs=1e-14)


# ------------------------------------------------------------------ feedforward demonstration

T_DEMO, Q_START, Q_END = 2.0, np.array([1, -1]) * np.pi / 4, np.array([0.75, 0.5]) * np.pi


def reference(t: float) -> tuple[Array, Array, Array]:
    """Return q, v, a of the demonstration's trajectory."""
    w = 2.0 * np.pi / T_DEMO
    span = Q_END - Q_START
    position = Q_START + span * 0.5 * (1.0 - np.cos(w * t))
    return position, span * 0.5 * w * np.sin(w * t), span * 0.5 * w**2 * np.cos(w * t)


@pytest.mark.parametrize(
    'feedforward, largest_error', [(False, 489.55488e-3), (True, 2.69752e-3)], ids=['pd', 'ff']
)
def test_planar_demonstration_reaches_the_printed_error(
    feedforward: bool, largest_error: float
) -> None:
    """PD gains 50 and 10, RK4 with 2 ms, torque held over a step, 1001 states."""
    model = load_urdf(urdf_path('planar_2r_point_mass.urdf'))
    q, v = reference(0.0)[0], np.zeros(2)
    dt, worst = 0.002, 0.0
    for step in range(1001):
        q_d, v_d, a_d = reference(step * dt)
        worst = max(worst, float(np.linalg.norm(q_d - q)))
        tau = 50.0 * (q_d - q) + 10.0 * (v_d - v)
        if feedforward:
            tau = tau + rnea(model, q_d, v_d, a_d)
        q, v = rk4_step(model, q, v, tau, dt)
    assert worst == pytest.approx(largest_error, abs=5.1e-9)  # all printed digits


def rk4_step(model: RobotModel, q: Array, v: Array, tau: Array, dt: float) -> tuple[Array, Array]:
    """Advance by one step of the classical Runge-Kutta method at constant efforts."""
    v1, a1 = v, aba(model, q, v, tau)
    v2 = v + 0.5 * dt * a1
    a2 = aba(model, q + 0.5 * dt * v1, v2, tau)
    v3 = v + 0.5 * dt * a2
    a3 = aba(model, q + 0.5 * dt * v2, v3, tau)
    v4 = v + dt * a3
    a4 = aba(model, q + dt * v3, v4, tau)
    return q + dt / 6 * (v1 + 2 * v2 + 2 * v3 + v4), v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


def test_free_swing_with_friction_loses_energy_and_without_keeps_it() -> None:
    for friction in (False, True):
        model = build_model(pendulum())
        q, v = np.array([1.2]), np.array([0.5])
        energies = [mechanical_energy(model, q, v)]
        for _ in range(2000):
            resistance = model.damping * v + model.friction * np.tanh(v / 0.01)
            q, v = rk4_step(model, q, v, -resistance if friction else np.zeros(1), 1e-3)
            energies.append(mechanical_energy(model, q, v))
        if friction:
            # Friction is held over a step, so that at a turning point it pushes for 1 ms the
            # wrong way: at most 0.2 N m at the speed that is gained in 1 ms, 5e-3 rad/s.
            assert max(np.diff(energies)) < 1e-6
            assert energies[-1] < energies[0] - 0.5
        else:
            # RK4 at 1 ms on a 1 Hz pendulum of 10 J: local error dt^5, over 2 s.
            assert max(energies) - min(energies) < 1e-8


# ------------------------------------------------------------------ mounts and payload of a UR5

UR5_Q = np.array([0.3, -1.2, 1.0, -0.5, 0.4, 0.0])
FLOOR = [0.0, -31.24143, -15.48359, -0.1124, 0.0, 0.0]
HALF = G * np.sqrt(0.5)


@pytest.mark.parametrize(
    'gravity, printed',
    [
        ((0.0, 0.0, -G), FLOOR),
        ((0.0, 0.0, G), [-g for g in FLOOR]),
        ((-G, 0.0, 0.0), [-21.88616, 41.57052, 2.84925, -0.12748, 0.0, 0.0]),
        ((-HALF, 0.0, -HALF), [-15.47585, 7.30377, -8.93383, -0.16962, 0.0, 0.0]),
    ],
    ids=['floor', 'ceiling', 'wall', 'tilted'],
)
def test_ur5_mounts(gravity: tuple[float, float, float], printed: list[float]) -> None:
    model = load_urdf(example_urdf('ur5_robot.urdf'), gravity=gravity)
    assert generalized_gravity(model, UR5_Q) == pytest.approx(printed, abs=5.1e-6)


def test_ur5_ceiling_is_exactly_the_negative_of_the_floor() -> None:
    model = load_urdf(example_urdf('ur5_robot.urdf'))
    floor = generalized_gravity(model, UR5_Q)
    assert np.array_equal(generalized_gravity(model.with_gravity((0, 0, G)), UR5_Q), -floor)


def test_ur5_payload_adds_its_weight_and_leaves_no_trace() -> None:
    bare = load_urdf(example_urdf('ur5_robot.urdf'))
    before = generalized_gravity(bare, UR5_Q)
    loaded = bare.with_payload(Payload(2.0, 'tool0', np.array([0.0, 0.0, 0.1])))
    delta = generalized_gravity(loaded, UR5_Q) - before
    printed = [0.0, -12.82570, -9.80418, -2.26164, 2.12230, 0.0]
    assert delta == pytest.approx(printed, abs=5.1e-6)
    # The same by J^T of the weight at the payload's centre of mass.
    pose = frame_placement(bare, UR5_Q, 'tool0')
    jacobian = frame_jacobian(bare, UR5_Q, 'tool0', ReferenceFrame.LOCAL_WORLD_ALIGNED)
    weight = np.array([0.0, 0.0, -2.0 * G])
    moment = np.cross(pose.rotation @ [0.0, 0.0, 0.1], weight)
    by_jacobian = -jacobian.T @ np.concatenate([weight, moment])
    assert delta == pytest.approx(by_jacobian, abs=1e-12)
    # A second payload replaces the first, and none gives back the very same numbers.
    heavier = loaded.with_payload(Payload(3.0, 'tool0', np.array([0.0, 0.0, 0.1])))
    added = generalized_gravity(heavier, UR5_Q) - before
    assert added == pytest.approx(1.5 * delta, abs=1e-12)
    for empty in (None, Payload(0.0, 'tool0')):
        restored = heavier.with_payload(empty)
        assert np.array_equal(generalized_gravity(restored, UR5_Q), before)
        assert np.array_equal(restored.kernel, bare.kernel)


# ------------------------------------------------------------------ base parameters


@pytest.mark.parametrize(
    'name, rank',
    [('pendulum', 3), ('ur5_robot.urdf', 36), ('ur10_robot.urdf', 36)],
    ids=['pendulum', 'ur5', 'ur10'],
)
def test_regressor_shows_the_known_number_of_base_parameters(name: str, rank: int) -> None:
    if name == 'pendulum':
        model = build_model(pendulum())
    else:
        model = load_urdf(example_urdf(name))
    q, v, a = np.random.default_rng(1).normal(size=(3, 200, model.nv))
    regressor = joint_torque_regressor_batch(model, q, v, a).reshape(-1, 10 * model.nbodies)
    singular = np.linalg.svd(regressor, compute_uv=False)
    # Zero singular values are rounding, near 1e-15 of the largest.
    assert int(np.sum(singular > 1e-9 * singular[0])) == rank
