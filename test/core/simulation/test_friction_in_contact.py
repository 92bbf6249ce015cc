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

"""Bristles, friction under load and directed viscosity, together with what touches and stops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contact_scenes import energy, floor
from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape
from robot_dynamics_ros.core.contact.geometry import Material, Plane
from robot_dynamics_ros.core.dynamics import (
    crba,
    frame_jacobian,
    frame_placement,
    generalized_gravity,
    mechanical_energy,
    nonlinear_effects,
    ReferenceFrame,
)
from robot_dynamics_ros.core.friction.dahl import DahlFriction
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.lugre import LuGreFriction
from robot_dynamics_ros.core.model import load_urdf
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import JointLimits, Link
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.core.simulation.world import World
from robot_dynamics_ros.resources import urdf_path
import robots

WIDE = JointLimits(-100.0, 100.0, 1e4, 100.0)
BRISTLES = pytest.mark.parametrize('kind', ['lugre', 'dahl'])
ROTORS = [0.7141, 1.0249, 0.7141, 0.2040, 0.2040, 0.2040]


def bristles(
    kind: str, names: tuple[str, ...], level: Any, stiffness: float, viscous: float = 0.0
) -> Any:
    """Return LuGre's or Dahl's friction with the damping of a heavily damped stop."""
    n = len(names)
    values = np.broadcast_to(np.asarray(level, dtype=float), n)
    ratio = np.array(1.2 if kind == 'lugre' else 1.0)
    curve = DryFriction(names, np.full(n, viscous), values, values, ratio, np.array(0.05))
    if kind == 'dahl':
        return DahlFriction(curve, np.array(stiffness))
    return LuGreFriction(curve, np.array(stiffness), np.array(0.5 * np.sqrt(stiffness)))


def slider(mass: float = 2.0) -> Any:
    """Return a body on a horizontal slide along x."""
    bob = robots.body('bob', mass, (0.0, 0.0, 0.0), (0.1, 0.1, 0.1))
    joint = robots.joint('x', 'prismatic', 'base', 'bob', limits=WIDE)
    return build_model(robots.robot('slider', [bob], [joint]))


def wall(distance: float, **material: float) -> World:
    """Return a wall that faces the slide; a ball of 0.1 m touches it at ``x = distance``."""
    point = np.array([distance + 0.1, 0.0, 0.0])
    return World((Plane('wall', np.array([-1.0, 0.0, 0.0]), point, Material(**material)),))


BALL = [CollisionShape('bob', 'sphere', 0.1)]


def cart(mass: float = 3.0) -> Any:
    """Return a cart that slides along x and may leave the floor along z."""
    joints = [
        robots.joint('x', 'prismatic', 'base', 'rail', axis=robots.X, limits=WIDE),
        robots.joint('z', 'prismatic', 'rail', 'cart', axis=robots.Z, limits=WIDE),
    ]
    links = [Link('rail'), robots.body('cart', mass, (0.0, 0.0, 0.0), (0.1, 0.1, 0.1))]
    return build_model(robots.robot('cart', links, joints))


def cart_plant(friction: Any, mu: float = 0.0, **options: Any) -> Plant:
    """Return the cart on four corners on a floor."""
    shape = [CollisionShape('cart', 'box', (0.4, 0.2, 0.2))]
    model = cart()
    return Plant(
        model, friction, world=floor(friction=mu), collisions=shape, q=[0.0, 0.1], **options
    )


def on_x(level: float, **fields: Any) -> DryFriction:
    """Return friction at the slide of the cart only."""
    names = ('x', 'z')
    fields = {key: np.array([value, 0.0]) for key, value in fields.items()}
    viscous = fields.pop('viscous', np.zeros(2))
    values = np.array([level, 0.0])
    return DryFriction(names, viscous, values, values, np.array(1.0), np.array(0.05), **fields)


@BRISTLES
@pytest.mark.parametrize('dt', [1e-4, 1e-3, 5e-3])
def test_slider_with_bristles_presses_a_wall(kind: str, dt: float) -> None:
    """The wall takes what the bristles leave of the push; the law and the balance hold."""
    model = slider()
    law = bristles(kind, model.v_names, 4.0, 1e5, viscous=2.0)
    plant = Plant(model, law, world=wall(0.05), collisions=BALL, dt_internal=dt, v=[0.3])
    worst = 0.0
    for _ in range(round(0.5 / 5e-3)):
        state = plant.step([10.0], 5e-3)
        worst = max(worst, state.residual)
    assert worst < 1e-8
    assert state.q[0] == pytest.approx(0.05, abs=1e-6) and abs(state.v[0]) < 1e-9
    # What is left of the push when it stopped goes into the wall; the law has 1e5 z.
    (contact,) = state.contacts
    assert -contact.force[0] == pytest.approx(10.0 - state.tau_friction[0], abs=1e-8)
    assert state.tau_friction[0] == pytest.approx(1e5 * plant.deflection[0], abs=1e-6)
    assert 3.0 < state.tau_friction[0] < 4.9  # it slid until it struck
    # Pulled back by less than the level it stays near the wall, on its bristles.
    state = plant.step([-3.0], 1.0)
    assert not [c for c in state.contacts if c.force.any()]
    assert state.tau_friction[0] == pytest.approx(-3.0, abs=0.01)
    # Dahl's bristles ring, and let it creep while they do.
    assert 0.05 - (5.0 * 4.8 / 1e5 if kind == 'lugre' else 1e-3) < state.q[0] < 0.05


@BRISTLES
def test_law_of_the_bristles_holds_in_every_step_on_the_floor(kind: str) -> None:
    """Balance of momentum along x with contact friction, and the brush integrated apart."""
    h, mu, level, stiffness = 1e-3, 0.3, 5.0, 2e4
    names = ('x', 'z')
    law = bristles(kind, names, [level, level], stiffness)
    law_z = law.sliding
    free = np.array([level, 0.0])
    curve = DryFriction(
        names, law_z.viscous, free, free, law_z.static_ratio, law_z.stribeck_velocity
    )
    if kind == 'dahl':
        law = DahlFriction(curve, np.array(stiffness))
        damping, ratio = 0.0, 1.0
    else:
        law = LuGreFriction(curve, np.array(stiffness), np.array(100.0))
        damping, ratio = 100.0, 1.2
    plant = cart_plant(law, mu=mu, dt_internal=h)
    z, v, worst = 0.0, 0.0, 0.0
    for k in range(400):
        push = 30.0 * np.sin(2.0 * np.pi * k * h / 0.2)
        state = plant.step([push, 0.0], h)
        speed = state.v[0]
        side = 1.0 if speed > 0.0 else -1.0
        reach = level * (1.0 + (ratio - 1.0) * np.exp(-((v / 0.05) ** 2))) / stiffness
        left = 1.0 - side * z / reach
        gone = -left * np.expm1(-h * abs(speed) / reach)
        new = z + side * reach * gone
        if left >= 0.0:  # else the damping of the step is bounded, see `bristle_step`
            torque = stiffness * new + damping * (new - z) / h
            assert state.tau_friction[0] == pytest.approx(torque, abs=1e-8 * level)
        assert plant.deflection[0] == pytest.approx(new, abs=1e-10 * reach)
        drag = sum(c.force[0] for c in state.contacts)
        change = 3.0 * (speed - v) / h
        assert change == pytest.approx(push - state.tau_friction[0] + drag, abs=1e-8 * 30.0)
        assert abs(drag) <= mu * 3.0 * 9.81 * (1.0 + 1e-8)
        z, v, worst = plant.deflection[0], speed, max(worst, state.residual)
    assert worst < 1e-8
    assert abs(state.q[0]) < 0.1 and len(state.contacts) == 4


@BRISTLES
def test_path_with_contact_gives_the_motion_of_the_path_without(kind: str) -> None:
    """A frictionless floor changes nothing of the slide."""
    law = bristles(kind, ('x', 'z'), [5.0, 0.0], 1e4, viscous=1.0)
    touching = cart_plant(law)
    free = Plant(slider(3.0), bristles(kind, ('x',), 5.0, 1e4, viscous=1.0))
    for k in range(100):
        push = 20.0 * np.sin(2.0 * np.pi * k / 50.0)
        one, other = touching.step([push, 0.0], 0.01), free.step([push], 0.01)
        # Where the mass is constant both splittings are the same step, to what is solved.
        np.testing.assert_allclose((one.q[0], one.v[0]), (other.q[0], other.v[0]), atol=1e-10)
    assert abs(one.q[0]) > 0.01


@BRISTLES
@pytest.mark.parametrize('dt', [1e-4, 1e-3, 5e-3])
def test_arm_on_stiff_bristles_does_not_blow_up_on_a_table(kind: str, dt: float) -> None:
    model = load_urdf(urdf_path('es5.urdf.xacro')).with_armature(ROTORS)
    level = np.array([7.0, 7.0, 5.0, 1.5, 1.5, 1.0])
    law = bristles(kind, model.v_names, level, 1e5, viscous=1.0)
    q = np.array([0.3, 0.6, 0.9, 0.2, -0.5, 0.1])
    tip = [CollisionShape('tool0', 'sphere', 0.02)]
    height = float(frame_placement(model, q, 'tool0').translation[2]) - 0.02
    plant = Plant(
        model, law, world=World.with_floor(height - 0.05, Material(friction=0.4)),
        collisions=tip, joint_limits=True, dt_internal=dt, q=q,
    )  # fmt: skip
    last, worst = energy(plant), 0.0
    for _ in range(200):
        state = plant.step(np.zeros(6), 0.01)
        stored = 0.5e5 * float(plant.deflection @ plant.deflection)
        now = energy(plant) + stored
        assert now <= last + 20.0 * dt  # the error of a step of first order
        last, worst = now, max(worst, state.residual)
    assert worst < 1e-8
    assert np.abs(state.v).max() < 1e-3 and any(c.force.any() for c in state.contacts)


@BRISTLES
def test_bristles_take_energy_over_a_cycle_against_a_wall(kind: str) -> None:
    """Their work on the robot is never more than what they had stored."""
    model = slider()
    plant = Plant(
        model, bristles(kind, ('x',), 4.0, 1e4), world=wall(0.02, restitution=0.6),
        collisions=BALL, dt_internal=2e-4,
    )  # fmt: skip
    stored, work = 0.0, 0.0
    start = mechanical_energy(model, plant.state.q, plant.state.v)
    impacts = 0
    for k in range(400):
        state = plant.step([2.0 + 12.0 * np.sin(2.0 * np.pi * k / 40.0)], 0.005)
        impacts += plant.solver_counts[1]
        now = 0.5e4 * float(plant.deflection[0]) ** 2
        assert state.works.friction - work <= stored - now + 1e-6
        stored, work = now, state.works.friction
    assert impacts > 3 and work < -1.0
    change = mechanical_energy(model, state.q, state.v) - start
    assert change == pytest.approx(sum(state.works), abs=0.02 * abs(work))


def test_impact_is_that_without_bristles() -> None:
    """A finite force does nothing in an instant."""
    ends = []
    for law in (None, bristles('lugre', ('x',), 4.0, 1e5)):
        plant = Plant(slider(), law, world=wall(0.0, restitution=0.5), collisions=BALL, v=[2.0])
        ends.append(plant.reset([0.0], [2.0]).v[0])
    assert ends[0] == ends[1] == pytest.approx(-1.0, rel=1e-9)


@pytest.mark.parametrize('contact_model', ['rigid', 'compliant'])
def test_level_under_load_breaks_away_beside_a_contact(contact_model: str) -> None:
    """Held up to F = mu m g + F_c + c F, which a push of (mu m g + F_c) / (1 - c) exceeds."""
    mu, level, coefficient = 0.2, 2.0, 0.5
    law = on_x(level, load_coefficient=coefficient)
    limit = (mu * 3.0 * 9.81 + level) / (1.0 - coefficient)
    plant = cart_plant(law, mu=mu, contact_model=contact_model)
    plant.step([0.0, 0.0], 0.5)  # compliant contacts sink in
    at = plant.state.q[0]
    state = plant.step([0.99 * limit, 0.0], 0.5)
    rest = 1e-9 if contact_model == 'rigid' else 1e-4
    assert abs(state.v[0]) < rest and abs(state.q[0] - at) < 1e-3
    state = plant.step([1.01 * limit, 0.0], 0.5)
    assert state.v[0] > 0.01
    assert state.tau_friction[0] == pytest.approx(level + coefficient * 1.01 * limit, rel=1e-6)
    before = state.v[0]
    state = plant.step([2.0 * limit, 0.0], 0.1)
    expected = (2.0 * limit * (1.0 - coefficient) - level - mu * 3.0 * 9.81) / 3.0
    assert (state.v[0] - before) / 0.1 == pytest.approx(expected, rel=1e-3)


def test_directed_viscosity_gives_two_terminal_speeds_on_a_floor() -> None:
    """Speed (F - F_c - mu m g) / b with the b of the direction."""
    mu, level = 0.1, 1.0
    law = on_x(level, viscous=2.0, viscous_negative=8.0)
    plant = cart_plant(law, mu=mu)
    rest = mu * 3.0 * 9.81 + level
    for push, coefficient in ((20.0, 2.0), (-20.0, 8.0)):
        state = plant.step([push, 0.0], 30.0)
        expected = np.sign(push) * (20.0 - rest) / coefficient
        assert state.v[0] == pytest.approx(expected, rel=1e-6)
    assert state.residual < 1e-8


@pytest.mark.parametrize('dt', [1e-3, 5e-3])
def test_directed_viscosity_slows_a_cart_in_closed_form(dt: float) -> None:
    """Strong enough to act within a step backwards, weak forwards; decay of v in both."""
    law = on_x(0.0, viscous=3.0, viscous_negative=3.0e3)
    plant = cart_plant(law, dt_internal=dt)
    state = plant.reset([0.0, 0.1], [1.0, 0.0])
    state = plant.step([0.0, 0.0], 1.0)
    assert state.v[0] == pytest.approx(np.exp(-1.0), rel=5e-3)
    plant.reset([0.0, 0.1], [-1.0, 0.0])
    state = plant.step([0.0, 0.0], 0.05)
    assert -1e-2 < state.v[0] <= 0.0  # monotone, within a few time constants of 1 ms


@pytest.mark.parametrize('kind', ['dry', 'lugre'])
def test_joint_of_a_floating_robot_rubs_while_it_stands_on_the_floor(kind: str) -> None:
    """A box on the floor with a level pole, whose joint friction carries."""
    base = robots.body('base', 8.0, (0.0, 0.0, 0.0), (0.05, 0.06, 0.07))
    pole = robots.rod('pole', 1.0, 0.4)
    joint = robots.joint('pitch', 'revolute', 'base', 'pole', axis=robots.Y, limits=WIDE)
    model = build_model(robots.robot('box', [pole], [joint], base=base), floating_base=True)
    law: Any = DryFriction(('pitch',), *np.array([[0.1], [5.0], [5.0], [1.2], [0.05]]))
    if kind == 'lugre':
        law = LuGreFriction(law, np.array(1e4), np.array(50.0))
    shape = [CollisionShape('base', 'box', (0.4, 0.4, 0.2))]
    q = np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0, 0.0])
    plant = Plant(model, law, world=floor(), collisions=shape, q=q)
    state = plant.step(np.zeros(7), 1.0)
    moment = 9.81 * 0.2
    assert sum(c.force[2] for c in state.contacts) == pytest.approx(9.0 * 9.81, rel=1e-4)
    assert not state.tau_friction[:6].any(), 'the base rubs nowhere'
    assert state.tau_friction[6] == pytest.approx(moment, rel=1e-4)
    give = 0.0 if kind == 'dry' else moment / 1e4
    assert plant.deflection[6] == pytest.approx(give, rel=1e-3)
    assert give <= abs(state.q[7]) + 1e-12 and abs(state.q[7]) < 2.0 * give + 1e-9
    assert np.abs(state.v).max() < 1e-5


def test_friction_under_load_holds_an_arm_on_a_limit_and_a_table() -> None:
    """Torques of the motors raise the levels of an arm that touches; the sums stay balanced."""
    model = load_urdf(urdf_path('es5.urdf.xacro')).with_armature(ROTORS)
    n = model.nv
    law = DryFriction(
        model.v_names, np.full(n, 2.0), np.full(n, 0.5), np.full(n, 0.5), np.array(1.1),
        np.array(0.05), load_coefficient=np.full(n, 0.15), viscous_negative=np.full(n, 5.0),
    )  # fmt: skip
    q = np.array([0.3, 0.6, 0.9, 0.2, -0.5, 0.1])
    tip = [CollisionShape('tool0', 'sphere', 0.02)]
    height = float(frame_placement(model, q, 'tool0').translation[2]) - 0.02
    plant = Plant(
        model, law, world=World.with_floor(height, Material(friction=0.5)),
        collisions=tip, joint_limits=True, q=q,
    )  # fmt: skip
    rows = frame_jacobian(model, q, 'tool0', ReferenceFrame.LOCAL_WORLD_ALIGNED)[:3]
    tau = generalized_gravity(model, q) + rows.T @ [0.0, 0.0, -30.0]
    worst = 0.0
    for _ in range(100):
        state = plant.step(tau, 0.005)
        worst = max(worst, state.residual)
    assert worst < 1e-8
    assert not state.v.any(), 'it sticks'
    assert (np.abs(state.tau_friction) <= 1.1 * (0.5 + 0.15 * np.abs(tau)) + 1e-9).all()
    (contact,) = state.contacts
    rows = frame_jacobian(model, state.q, 'tool0', ReferenceFrame.LOCAL_WORLD_ALIGNED)
    assert contact.force[2] > 0.0
    # M a + h = tau - tau_f + J^T f: nothing accelerates
    left = crba(model, state.q) @ state.a + nonlinear_effects(model, state.q, state.v)
    np.testing.assert_allclose(state.a, 0.0, atol=1e-5)
    moment = np.cross([0.0, 0.0, -0.02], contact.force)
    forces = rows.T @ np.concatenate((contact.force, moment))
    np.testing.assert_allclose(left, tau - state.tau_friction + forces, atol=1e-6)
