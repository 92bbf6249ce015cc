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

"""The benchmark systems and the five-link biped against what is written about them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
import pytest

from robot_dynamics_ros.core.dynamics import (
    center_of_mass,
    coriolis_matrix,
    crba,
    frame_placement,
    generalized_gravity,
    kinetic_energy,
    mechanical_energy,
    neutral,
    random_configuration,
)
from robot_dynamics_ros.core.model.description import JointType
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.integrators import simulate_motion

Array = NDArray[np.float64]
URDF = Path(__file__).resolve().parents[2] / 'urdf'
LINKS = {
    'pendulum': 1,
    'reacher': 2,
    'cart_pole': 1,
    'acrobot': 2,
    'cart_two_pole': 2,
    'three_link_acrobot': 3,
    'cart_three_pole': 3,
}
LENGTH, GRAVITY = 1.0, 9.8
MASSES = {'thigh': 3.0, 'shank': 1.5, 'torso': 20.0}
LENGTHS = {'thigh': 0.4, 'shank': 0.4, 'torso': 0.5}
INERTIAS = {'thigh': 0.05, 'shank': 0.02, 'torso': 0.5}


def system(name: str) -> RobotModel:
    return load_urdf(URDF / 'benchmark' / f'{name}.urdf', gravity=(0.0, 0.0, -GRAVITY))


def biped(name: str = 'five_link_biped') -> RobotModel:
    return load_urdf(URDF / f'{name}.urdf')


# ------------------------------------------------------------------ seven systems


@pytest.mark.parametrize('name', LINKS)
def test_system_loads_without_a_finding(name: str) -> None:
    model = system(name)
    assert model.findings == ()
    assert model.name == name
    expected = [
        *['slide'] * name.startswith('cart'),
        *(f'joint_{i + 1}' for i in range(LINKS[name])),
    ]
    assert list(model.v_names) == expected
    mass = 1.0 * name.startswith('cart') + 0.1 * LINKS[name]
    assert model.moving_mass == pytest.approx(mass, rel=1e-15)


@pytest.mark.parametrize('name', LINKS)
def test_angles_are_relative_and_measured_from_upright(name: str) -> None:
    model = system(name)
    q = np.random.default_rng(1).uniform(-2.0, 2.0, model.nv)
    cart, angles = (q[0], q[1:]) if name.startswith('cart') else (0.0, q)
    across, up = LENGTH * np.sin(np.cumsum(angles)).sum(), LENGTH * np.cos(np.cumsum(angles)).sum()
    tip = frame_placement(model, q, 'tool0').translation
    flat = [across, up, 0.0] if name == 'reacher' else [cart + across, 0.0, up]
    np.testing.assert_allclose(tip, flat, atol=1e-15)  # sums of three


@pytest.mark.parametrize('name', sorted(set(LINKS) - {'reacher'}))
def test_upright_is_an_unstable_equilibrium(name: str) -> None:
    model = system(name)
    np.testing.assert_allclose(generalized_gravity(model, np.zeros(model.nv)), 0.0, atol=1e-15)
    step, first = 1e-5, int(name.startswith('cart'))
    pushed = [generalized_gravity(model, step * unit) for unit in np.eye(model.nv)[first:]]
    stiffness = np.array(pushed)[:, first:] / step
    assert np.linalg.eigvalsh(stiffness).max() < -0.1  # the height falls in every direction


def test_reacher_feels_no_gravity() -> None:
    model = system('reacher')
    q = np.random.default_rng(2).uniform(-3.0, 3.0, 2)
    np.testing.assert_allclose(generalized_gravity(model, q), 0.0, atol=1e-16)


def test_cart_pole_has_its_closed_form() -> None:
    """M = [[M + m, m l/2 cos], [m l/2 cos, m l^2 / 3]], g = [0, -m g l/2 sin]."""
    model, angle, rate = system('cart_pole'), 0.7, 1.3
    cross = 0.05 * np.cos(angle)
    np.testing.assert_allclose(
        crba(model, [0.4, angle]), [[1.1, cross], [cross, 0.1 / 3.0]], rtol=1e-13
    )
    gravity = generalized_gravity(model, [0.4, angle])
    np.testing.assert_allclose(gravity, [0.0, -0.05 * GRAVITY * np.sin(angle)], atol=1e-15)
    forces = coriolis_matrix(model, [0.4, angle], [0.2, rate]) @ [0.2, rate]
    np.testing.assert_allclose(forces, [-0.05 * np.sin(angle) * rate**2, 0.0], atol=1e-15)


@pytest.mark.parametrize('name', LINKS)
def test_energy_of_the_free_motion_is_kept(name: str) -> None:
    model = system(name)
    rng = np.random.default_rng(3)
    q, v = rng.uniform(-1.0, 1.0, (2, model.nv))
    motion = simulate_motion(model, q, v, np.zeros(model.nv), dt=1e-3, steps=2000)
    start, end = (mechanical_energy(model, motion.q[k], motion.v[k]) for k in (0, -1))
    assert end == pytest.approx(start, abs=1e-6)  # rk4 at 1 ms; up to 7e-8 J of 3 J were seen


# ------------------------------------------------------------------ biped


def planar_rods(angles: Array, start: Array, lengths: list[float]) -> Array:
    """Return the ends of rods one after the other; angles from upright towards x."""
    steps = [length * np.array([np.sin(a), np.cos(a)]) for a, length in zip(angles, lengths)]
    return np.array(start + np.cumsum(steps, axis=0))


def test_biped_is_the_described_one() -> None:
    model = biped()
    assert list(model.body_names) == [
        'stance_shank', 'stance_thigh', 'torso', 'swing_thigh', 'swing_shank'
    ]  # fmt: skip
    for link in model.description.links:
        if link.inertial is not None:
            part = link.name.split('_')[-1]
            assert link.inertial.mass == MASSES[part]
            assert link.inertial.inertia[1, 1] == INERTIAS[part]
            com = np.array(link.inertial.com)
            np.testing.assert_array_equal(np.abs(com), [0.0, 0.0, 0.5 * LENGTHS[part]])
    rng = np.random.default_rng(4)
    q = rng.uniform(-1.0, 1.0, 5)
    knee, hip = planar_rods(np.cumsum(q[:2]), np.zeros(2), [0.4, 0.4])
    (head,) = planar_rods(q[:3].sum()[None], hip, [0.5])
    swing = np.pi + q[:3].sum() + np.cumsum(q[3:])
    swing_knee, swing_foot = planar_rods(swing, hip, [0.4, 0.4])
    for frame, place in {
        'stance_thigh': knee,
        'torso': hip,
        'head': head,
        'swing_shank': swing_knee,
        'swing_foot': swing_foot,
    }.items():
        at = frame_placement(model, q, frame).translation
        np.testing.assert_allclose(at, [place[0], 0.0, place[1]], atol=1e-15)  # rounding


@pytest.mark.parametrize('name', ['five_link_biped', 'five_link_biped_floating'])
def test_biped_keeps_the_checks_of_its_document(name: str) -> None:
    model = biped(name)
    rng = np.random.default_rng(5)
    for _ in range(20):
        q = random_configuration(model, rng)
        mass = crba(model, q)
        np.testing.assert_array_equal(mass, mass.T)
        assert np.linalg.eigvalsh(mass).min() > 0.0
        assert not (coriolis_matrix(model, q, np.zeros(model.nv)) @ np.zeros(model.nv)).any()
    upright = generalized_gravity(model, np.zeros(model.nv))
    if name == 'five_link_biped':
        np.testing.assert_allclose(upright, 0.0, atol=1e-14)
    else:
        np.testing.assert_allclose(upright[2:], 0.0, atol=1e-14)
        assert upright[1] == pytest.approx(29.0 * 9.81, rel=1e-14)


def test_floating_biped_is_the_pinned_one_where_its_foot_stays() -> None:
    """Velocities of the free one that leave the left foot at rest give the pinned one's energy."""
    pinned, free = biped(), biped('five_link_biped_floating')
    rng = np.random.default_rng(6)
    for _ in range(5):
        q, v = rng.uniform(-0.8, 0.8, (2, 5))
        hip, pitch = frame_placement(pinned, q, 'torso').translation, q[:3].sum()
        # left leg = stance: its joints are counted from the other end
        full_q = np.array([hip[0], hip[2], pitch, -q[2], -q[1], q[3], q[4]])
        step = 1e-6
        ahead, behind = (
            frame_placement(pinned, q + s * step * v, 'torso').translation for s in (1, -1)
        )
        hip_rate = (ahead - behind) / (2.0 * step)
        full_v = np.array([hip_rate[0], hip_rate[2], v[:3].sum(), -v[2], -v[1], v[3], v[4]])
        np.testing.assert_allclose(
            frame_placement(free, full_q, 'left_foot').translation, 0.0, atol=1e-15
        )
        for frame, other in {'swing_foot': 'right_foot', 'head': 'head'}.items():
            np.testing.assert_allclose(
                frame_placement(pinned, q, frame).translation,
                frame_placement(free, full_q, other).translation,
                atol=1e-15,
            )
        # central differences at 1e-6
        assert kinetic_energy(free, full_q, full_v) == pytest.approx(
            kinetic_energy(pinned, q, v), rel=1e-8
        )
        np.testing.assert_allclose(
            center_of_mass(pinned, q), center_of_mass(free, full_q), atol=1e-15
        )


def test_feet_of_the_floating_biped_touch_the_ground_when_it_stands() -> None:
    model = biped('five_link_biped_floating')
    q = neutral(model)
    q[1] = 0.8
    for side in ('left', 'right'):
        np.testing.assert_allclose(
            frame_placement(model, q, f'{side}_foot').translation, 0.0, atol=1e-15
        )
        shank = frame_placement(model, q, f'{side}_shank')
        assert shank.translation[2] - 0.385 - 0.015 == pytest.approx(0.0, abs=1e-15)
    text = (URDF / 'five_link_biped_floating.urdf').read_text(encoding='utf-8')
    assert text.count('<collision') == 2
    assert all(joint.type is not JointType.FLOATING for joint in model.joints)
