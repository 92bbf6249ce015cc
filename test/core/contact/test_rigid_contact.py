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

"""The solver on problems with contacts, limits and dry friction at once, its laws checked here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contact_scenes import energy, floor
from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape
from robot_dynamics_ros.core.contact.contact_layout import (
    BACKWARD_DAMPING,
    BRUSH_DEFLECTION,
    BRUSH_LAW,
    BRUSH_WORK,
    DAMPING,
    DRY_IMPULSE,
    HAS_SLOPE,
    JOINT_ROWS,
    LAW_WIDTH,
    LEVEL_NEGATIVE,
    LEVEL_POSITIVE,
    LOWER_IMPULSE,
    LOWER_ON,
    MU,
    SMALL_SHAPE,
    UPPER_IMPULSE,
    UPPER_ON,
    VECTORS,
)
from robot_dynamics_ros.core.contact.rigid_contact import BUDGET, solve_contacts
from robot_dynamics_ros.core.friction.bristle_step import (
    bristle_torque,
    prepare_bristle,
    TORQUE,
)
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import JointLimits, Link
from robot_dynamics_ros.core.simulation.plant import Plant
import robots

WIDE = JointLimits(-100.0, 100.0, 1e4, 100.0)


def assert_contact_laws(u: Any, mu: Any, impulse: Any, tolerance: float) -> None:
    """Check complementarity and Coulomb's cone of contacts with stacked velocities `u`."""
    for at, friction, force in zip(u.reshape(-1, 3), mu, impulse):
        slip, drag = np.linalg.norm(at[1:]), np.linalg.norm(force[1:])
        assert at[0] > -tolerance and force[0] >= 0.0
        assert abs(at[0] * force[0]) < tolerance * (1.0 + force[0])
        assert drag <= friction * force[0] + tolerance
        if slip > 1e-6:
            expected = -friction * force[0] * at[1:] / slip
            np.testing.assert_allclose(force[1:], expected, atol=1e-5)


@pytest.mark.parametrize('seed', range(200))
def test_all_laws_hold_at_once(seed: int) -> None:
    rng = np.random.default_rng([seed, 7])
    n, count = int(rng.integers(4, 12)), int(rng.integers(1, 4))
    a = rng.normal(size=(n, n))
    mass = a @ a.T / n + 0.2 * np.eye(n)
    rows = rng.normal(size=(3 * count, n))
    momentum = mass @ rng.normal(size=n)
    law = np.zeros((count, LAW_WIDTH))
    law[:, MU] = rng.uniform(0.0, 0.8, count)
    joint = np.zeros((JOINT_ROWS, n))
    joint[LEVEL_POSITIVE], joint[LEVEL_NEGATIVE] = rng.uniform(0.0, 0.3, (2, n))
    joint[LOWER_ON] = rng.random(n) < 0.3
    joint[UPPER_ON] = (rng.random(n) < 0.3) & (joint[LOWER_ON] == 0.0)
    v, impulse = np.zeros(n), np.zeros((count, 3))
    residual, _ = solve_contacts(
        mass, momentum, rows, np.zeros((count, 3)), law, count, joint, True, 1e-3, v, impulse,
        np.zeros((count, 3)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((VECTORS, n)),
        np.zeros(SMALL_SHAPE), BUDGET,
    )  # fmt: skip
    assert residual < 1e-8
    at_joints = joint[DRY_IMPULSE] + joint[LOWER_IMPULSE] - joint[UPPER_IMPULSE]
    balance = mass @ v - momentum - rows.T @ impulse.ravel() - at_joints
    tolerance = 1e-7  # 1e-8 in the energy norm, by masses and mobilities of some 10
    np.testing.assert_allclose(balance, 0.0, atol=tolerance)
    assert_contact_laws(rows @ v, law[:, MU], impulse, tolerance)
    dry = joint[DRY_IMPULSE]
    assert (dry >= -joint[LEVEL_POSITIVE]).all() and (dry <= joint[LEVEL_NEGATIVE]).all()
    moving = np.abs(v) > 1e-7
    expected = np.where(v > 0.0, -joint[LEVEL_POSITIVE], joint[LEVEL_NEGATIVE])
    np.testing.assert_allclose(dry[moving], expected[moving], atol=tolerance)
    assert (v[(joint[LOWER_ON] > 0.0)] > -tolerance).all()
    assert (v[(joint[UPPER_ON] > 0.0)] < tolerance).all()


# found among 2000: neither Newton's method nor the projections solve these from where they start
HARD = (223, 270, 312, 369, 393, 405, 414, 509, 523, 662, 710, 780, 960, 1204, 1233, 1259, 1412)


@pytest.mark.parametrize('seed', [*range(20), *HARD])
def test_contacts_that_nearly_contradict_each_other_are_solved(seed: int) -> None:
    """More rows than degrees of freedom, masses 1 to 10 000, two contacts nearly the same."""
    rng = np.random.default_rng([seed, 99])
    n, count = int(rng.integers(4, 12)), int(rng.integers(1, 7))
    a = rng.normal(size=(n, n))
    scale = np.exp(rng.uniform(0, np.log(1e2), n)) if seed % 2 else np.ones(n)
    mass = scale[:, None] * (a @ a.T / n + 0.1 * np.eye(n)) * scale
    rows = rng.normal(size=(3 * count, n))
    if seed % 3 == 0 and count > 1:
        rows[3:6] = rows[:3] + 1e-3 * rng.normal(size=(3, n))
    momentum = mass @ rng.normal(size=n)
    law = np.zeros((count, LAW_WIDTH))
    law[:, MU] = rng.uniform(0.0, 1.5, count)
    joint = np.zeros((JOINT_ROWS, n))
    if seed % 4 != 0:
        joint[LEVEL_POSITIVE], joint[LEVEL_NEGATIVE] = rng.uniform(0.0, 0.3, (2, n))
        joint[LOWER_ON] = rng.random(n) < 0.3
        joint[UPPER_ON] = (rng.random(n) < 0.3) & (joint[LOWER_ON] == 0.0)
    v, impulse = np.zeros(n), np.zeros((count, 3))
    residual, _ = solve_contacts(
        mass, momentum, rows, np.zeros((count, 3)), law, count, joint, seed % 4 != 0, 1e-3, v,
        impulse, np.zeros((count, 3)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((VECTORS, n)),
        np.zeros(SMALL_SHAPE), 3 * BUDGET,
    )  # fmt: skip
    assert residual <= 1e-8
    at_joints = joint[DRY_IMPULSE] + joint[LOWER_IMPULSE] - joint[UPPER_IMPULSE]
    balance = mass @ v - momentum - rows.T @ impulse.ravel() - at_joints
    size = 1e-8 * np.sqrt(momentum @ np.linalg.solve(mass, momentum))  # in the energy norm
    assert np.abs(balance / np.sqrt(np.diag(mass))).max() < 100.0 * size + 1e-12
    u = (rows @ v).reshape(count, 3)
    drag, bound = np.hypot(impulse[:, 1], impulse[:, 2]), law[:, MU] * impulse[:, 0]
    assert (impulse[:, 0] >= 0.0).all() and (drag <= bound * (1.0 + 1e-9) + 100.0 * size).all()
    assert u[:, 0].min() > -1e-6 and np.abs(u[:, 0] * impulse[:, 0]).max() < 1e-4


@pytest.mark.parametrize('seed', range(250))
def test_all_laws_hold_with_bristles_and_directed_viscosity(seed: int) -> None:
    """Some joints on bristles, some that rub exactly, some viscous more one way, with contacts."""
    rng = np.random.default_rng([seed, 11])
    n, count, h = int(rng.integers(4, 12)), int(rng.integers(1, 4)), 10.0 ** rng.uniform(-4, -2)
    a = rng.normal(size=(n, n))
    mass = a @ a.T / n + 0.2 * np.eye(n)
    rows = rng.normal(size=(3 * count, n))
    momentum = mass @ rng.normal(size=n)
    law = np.zeros((count, LAW_WIDTH))
    law[:, MU] = rng.uniform(0.0, 0.8, count)
    joint = np.zeros((JOINT_ROWS, n))
    joint[LOWER_ON] = rng.random(n) < 0.2
    joint[UPPER_ON] = (rng.random(n) < 0.2) & (joint[LOWER_ON] == 0.0)
    joint[DAMPING] = rng.uniform(0.0, 0.3, n)
    joint[BACKWARD_DAMPING] = rng.uniform(-1.0, 1.0, n) * joint[DAMPING]
    joint[HAS_SLOPE] = 1.0
    on_bristles = rng.random(n) < 0.6
    joint[LEVEL_POSITIVE], joint[LEVEL_NEGATIVE] = rng.uniform(0.0, 0.3, (2, n)) * ~on_bristles
    before = rng.normal(size=n) * 10.0 ** rng.uniform(-3, 0, n)
    brush, work = joint[BRUSH_LAW:BRUSH_WORK], joint[BRUSH_WORK:]
    for i in np.flatnonzero(on_bristles):
        joint[DAMPING, i] = joint[BACKWARD_DAMPING, i] = 0.0  # viscous friction is in the law
        levels = rng.uniform(0.05, 0.5, 2) / h
        viscous = rng.uniform(0.0, 0.3, 2) / h
        stiffness = 10.0 ** rng.uniform(3, 6)
        damping, exponent = (
            rng.choice([0.0, 0.5 * np.sqrt(stiffness)]),
            rng.choice([0.5, 1.0, 2.0]),
        )
        brush[:, i] = (
            viscous[0], *levels, 1.2, 0.1, viscous[1], stiffness, damping, exponent
        )  # fmt: skip
        joint[BRUSH_DEFLECTION, i] = rng.uniform(-1.1, 1.1) * levels.min() / stiffness
        prepare_bristle(brush, work, i, h, joint[BRUSH_DEFLECTION], before[i])
    v, impulse = np.zeros(n), np.zeros((count, 3))
    residual, _ = solve_contacts(
        mass, momentum, rows, np.zeros((count, 3)), law, count, joint, True, h, v, impulse,
        np.zeros((count, 3)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((VECTORS, n)),
        np.zeros(SMALL_SHAPE), BUDGET,
    )  # fmt: skip
    assert residual < 1e-8
    at_joints = joint[DRY_IMPULSE] + joint[LOWER_IMPULSE] - joint[UPPER_IMPULSE]
    at_joints -= (joint[DAMPING] + np.where(v < 0.0, joint[BACKWARD_DAMPING], 0.0)) * v
    for i in np.flatnonzero(on_bristles):
        bristle_torque(brush, work, i, h, joint[BRUSH_DEFLECTION, i], v[i], True)
        at_joints[i] -= h * work[TORQUE, i]
    balance = mass @ v - momentum - rows.T @ impulse.ravel() - at_joints
    tolerance = 1e-7  # 1e-8 in the energy norm, by masses and mobilities of some 10
    np.testing.assert_allclose(balance, 0.0, atol=tolerance)
    assert_contact_laws(rows @ v, law[:, MU], impulse, tolerance)
    dry, rubs = joint[DRY_IMPULSE], ~on_bristles & (np.abs(v) > 1e-7)
    expected = np.where(v > 0.0, -joint[LEVEL_POSITIVE], joint[LEVEL_NEGATIVE])
    np.testing.assert_allclose(dry[rubs], expected[rubs], atol=tolerance)
    assert (v[(joint[LOWER_ON] > 0.0)] > -tolerance).all()
    assert (v[(joint[UPPER_ON] > 0.0)] < tolerance).all()


def test_contacts_a_limit_and_stiction_hold_a_robot_at_once() -> None:
    """A box on the floor, an arm that rests on its limit, and one that dry friction holds."""
    links = [
        Link('carriage'),
        Link('lift'),
        robots.body('torso', 10.0, (0.0, 0.0, 0.0), (0.2, 0.2, 0.2)),
        robots.rod('limited', 1.0, 0.5),
        robots.rod('stuck', 1.0, 0.5),
    ]
    narrow = JointLimits(-0.2, 0.2, 100.0, 100.0)
    joints = [
        robots.joint('x', 'prismatic', 'base', 'carriage', axis=robots.X, limits=WIDE),
        robots.joint('z', 'prismatic', 'carriage', 'lift', axis=robots.Z, limits=WIDE),
        robots.joint('pitch', 'revolute', 'lift', 'torso', axis=robots.Y, limits=WIDE),
        robots.joint('limit', 'revolute', 'torso', 'limited', axis=robots.Y, limits=narrow),
        robots.joint('dry', 'revolute', 'torso', 'stuck', axis=robots.Y, limits=WIDE),
    ]
    model = build_model(robots.robot('robot', links, joints))
    level = np.array([0.0, 0.0, 0.0, 0.0, 20.0])
    friction = DryFriction(model.v_names, np.zeros(5), level, level, np.array(1.2), np.array(0.05))
    plant = Plant(
        model, friction, world=floor(friction=0.6), joint_limits=True,
        collisions=[CollisionShape('torso', 'box', (0.6, 0.4, 0.4))],
        q=[0.0, 0.2, 0.0, 0.0, 0.0], v=[0.5, 0.0, 0.0, 0.0, 0.0],
    )  # fmt: skip
    start, worst = energy(plant), 0.0
    for _ in range(200):
        state = plant.step(np.zeros(5), 0.005)
        worst = max(worst, state.residual)
    moment = 9.81 * 0.25
    print(f'residual {worst:.1e}, limit {state.tau_limit[3]}, friction {state.tau_friction[4]}')
    assert worst < 1e-8
    assert np.abs(state.v[3:]).max() == 0.0 and np.abs(state.v).max() < 1e-9
    assert len(state.contacts) == 4
    assert sum(c.force[2] for c in state.contacts) == pytest.approx(12.0 * 9.81, rel=1e-8)
    assert state.q[3] == pytest.approx(0.2, abs=1e-6) and abs(state.q[4]) < 1e-12
    assert state.tau_limit[3] == pytest.approx(-moment * np.cos(0.2), rel=1e-6)
    assert state.tau_friction[4] == pytest.approx(moment, rel=1e-6)  # minus the gravity torque
    assert energy(plant) - start == pytest.approx(sum(state.works), abs=1e-3)
