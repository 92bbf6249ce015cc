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

from robot_dynamics_ros.core.contact.impact import (
    impact_velocity,
    Outcome,
    plastic_impact,
    point_impact,
)
from robot_dynamics_ros.core.dynamics import (
    centroidal_momentum,
    crba,
    frame_placement,
    kinetic_energy,
)
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import urdf_path


def test_ball_bounces_slides_and_sticks_like_the_closed_form() -> None:
    mass, radius = 2.0, 0.1
    moment = 0.4 * mass * radius**2
    w = np.diag([1.0 / mass, *[1.0 / mass + radius**2 / moment] * 2])
    # sliding: the tangential impulse is mu times the normal one
    slides = point_impact(w, [-1.0, 3.0, 0.0], 0.5, 0.2)
    assert slides.outcome is Outcome.SLIDES
    np.testing.assert_allclose(slides.impulse, [3.0, -0.6, 0.0], atol=1e-12)
    np.testing.assert_allclose(slides.velocity, [0.5, 3.0 - 0.6 * 3.5 / mass, 0.0], atol=1e-12)
    # sticking: it takes what stops the point
    sticks = point_impact(w, [-1.0, 0.3, 0.4], 0.5, 0.5)
    assert sticks.outcome is Outcome.STICKS
    np.testing.assert_allclose(sticks.impulse[1:], np.array([-0.3, -0.4]) * mass / 3.5, atol=1e-9)
    assert point_impact(w, [0.1, 1.0, 0.0], 0.5, 0.5).outcome is Outcome.SEPARATES


def test_rod_reverses_its_slip() -> None:
    """A tilted rod: the normal impulse drives the tip against its motion."""
    angle, length = np.deg2rad(40.0), 1.0
    moment = length**2 / 12.0
    x, z = 0.5 * length * np.sin(angle), -0.5 * length * np.cos(angle)
    w = np.eye(3)
    w[0, 0] += x * x / moment
    w[1, 1] += z * z / moment
    w[0, 1] = w[1, 0] = -x * z / moment
    low = point_impact(w, [-1.0, -0.1, 0.0], 0.0, 0.05)
    assert low.outcome is Outcome.REVERSES
    assert low.impulse[1] == pytest.approx(-0.05 * low.impulse[0])
    # the solver's own tolerance
    np.testing.assert_allclose(w @ low.impulse + [-1.0, -0.1, 0.0], low.velocity, atol=1e-10)


@pytest.mark.parametrize('seed', range(30))
def test_impacts_obey_newton_and_coulomb(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(3, 3))
    w = a @ a.T + 0.3 * np.eye(3)
    before, e, mu = rng.normal(size=3), rng.uniform(), rng.uniform(0, 1)
    before[0] = -abs(before[0])
    impact = point_impact(w, before, e, mu)
    assert impact.velocity[0] == pytest.approx(-e * before[0], abs=1e-9)
    assert np.linalg.norm(impact.impulse[1:]) <= mu * impact.impulse[0] * (1 + 1e-9)
    assert impact.impulse[1:] @ impact.velocity[1:] <= 1e-9
    np.testing.assert_allclose(before + w @ impact.impulse, impact.velocity, atol=1e-9)


def test_two_contacts_collide_together() -> None:
    rows = np.zeros((6, 3))  # a bar in the plane, (x, z, angle), that lands on both ends
    rows[0], rows[3] = [0.0, 1.0, -0.5], [0.0, 1.0, 0.5]
    after, impulses = impact_velocity(
        np.diag([1.0, 1.0, 1.0 / 12.0]), [0.0, -1.0, 0.0], rows, [0.5, 0.5], [0.0, 0.0]
    )
    np.testing.assert_allclose(after, [0.0, 0.5, 0.0], atol=1e-12)
    np.testing.assert_allclose(impulses[:, 0], 0.75, atol=1e-12)


def test_heel_strike_balances_momentum() -> None:
    model = load_urdf(urdf_path('five_link_biped_floating.urdf'))
    rng = np.random.default_rng(4)
    q, v = rng.uniform(-0.4, 0.4, model.nq), rng.normal(size=model.nv)
    after, impulses = plastic_impact(model, q, v, ['left_foot'])
    # The foot rests, the impulse is the whole change of the linear momentum in the plane, and its
    # moment about the centre of mass is that of the angular momentum.
    before_h, after_h = (np.asarray(centroidal_momentum(model, q, u)) for u in (v, after))
    np.testing.assert_allclose((after_h - before_h)[[0, 2]], impulses[0][[0, 2]], atol=1e-10)
    foot = frame_placement(model, q, 'left_foot').translation
    np.testing.assert_allclose(
        crba(model, q) @ (after - v), _efforts(model, q, impulses[0]), atol=1e-9
    )
    again, none = plastic_impact(model, q, after, ['left_foot'])
    np.testing.assert_allclose(again, after, atol=1e-9)
    assert np.isfinite(foot).all() and np.abs(none).max() < 1e-9
    assert kinetic_energy(model, q, after) < kinetic_energy(model, q, v)
    both, _ = plastic_impact(model, q, v, ['left_foot', 'right_foot'])
    assert kinetic_energy(model, q, both) <= kinetic_energy(model, q, after) + 1e-12


def _efforts(model: RobotModel, q: np.ndarray, impulse: np.ndarray) -> np.ndarray:
    """Return ``J^T`` times the impulse by differences of the foot's position."""
    step = 1e-6
    columns = []
    for i in range(len(q)):
        ahead, behind = q.copy(), q.copy()
        ahead[i] += step
        behind[i] -= step
        places = [frame_placement(model, x, 'left_foot').translation for x in (ahead, behind)]
        columns.append((places[0] - places[1]) / (2.0 * step))
    return np.asarray(np.array(columns) @ impulse)


def test_wrong_coefficients_are_refused() -> None:
    with pytest.raises(ConfigurationError, match='restitution is 1.5'):
        point_impact(np.eye(3), [-1, 0, 0], 1.5, 0.1)
    with pytest.raises(ConfigurationError, match='positive definite'):
        point_impact(-np.eye(3), [-1, 0, 0], 0.5, 0.1)
    with pytest.raises(ConfigurationError, match='mass matrix'):
        impact_velocity(-np.eye(1), [1.0], np.zeros((3, 1)), [0.0], [0.0])
