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

"""Elastic joints together with contacts, position limits, impacts and friction at the motors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape, read_collisions
from robot_dynamics_ros.core.contact.geometry import Material, Plane
from robot_dynamics_ros.core.dynamics import (
    center_of_mass,
    centroidal_momentum,
    frame_jacobian,
    frame_placement,
    generalized_gravity,
    mechanical_energy,
    ReferenceFrame,
)
from robot_dynamics_ros.core.exceptions import ConfigurationError, UnknownJointError
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.lugre import LuGreFriction
from robot_dynamics_ros.core.model import load_urdf
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import JointLimits
from robot_dynamics_ros.core.simulation.elastic_joints import ElasticJoints
from robot_dynamics_ros.core.simulation.elastic_plant import ElasticPlant
from robot_dynamics_ros.core.simulation.plant import Plant, PlantState
from robot_dynamics_ros.core.simulation.world import Box, World
from robot_dynamics_ros.resources import urdf_path
import robots

MASS, MOTOR, STIFFNESS = 2.0, 0.5, 3000.0
BALL = [CollisionShape('bob', 'sphere', 0.1)]
WIDE = JointLimits(-100.0, 100.0, 1e4, 100.0)
ROTORS = [0.7141, 1.0249, 0.7141, 0.2040, 0.2040, 0.2040]


def slider(limits: JointLimits = WIDE) -> Any:
    """Return a body on a horizontal slide along x, on a motor."""
    bob = robots.body('bob', MASS, (0.0, 0.0, 0.0), (0.1, 0.1, 0.1))
    joint = robots.joint('x', 'prismatic', 'base', 'bob', limits=limits)
    return build_model(robots.robot('slider', [bob], [joint]), armature={'x': MOTOR})


def wall(**material: float) -> World:
    """Return a wall that faces the slide and touches its ball at ``x = 0``."""
    normal, point = np.array([-1.0, 0.0, 0.0]), np.array([0.1, 0.0, 0.0])
    return World((Plane('wall', normal, point, Material(**material)),))


def elastic_slider(damping: float = 0.0, friction: Any = None, **options: Any) -> ElasticPlant:
    model = slider()
    law = ElasticJoints.from_model(model, STIFFNESS, damping)
    return ElasticPlant(model, law, friction, collisions=BALL, **options)


def dry(names: tuple[str, ...], level: float) -> DryFriction:
    values = np.full(len(names), level)
    one = np.array(1.0)
    return DryFriction(names, 0.0 * values, values, values, one, np.array(0.05))


def total_energy(plant: ElasticPlant, state: PlantState) -> float:
    assert state.motors is not None
    return mechanical_energy(plant.model, state.q, state.v) + state.motors.energy


def frequency(signal: Any, dt: float) -> float:
    """Return the angular frequency from the first to the last upward zero crossing."""
    up = np.flatnonzero((signal[:-1] < 0.0) & (signal[1:] >= 0.0))
    crossing = up - signal[up] / (signal[up + 1] - signal[up])
    return float(2.0 * np.pi * (len(up) - 1) / ((crossing[-1] - crossing[0]) * dt))


@pytest.mark.parametrize('contact_model', ['rigid', 'compliant'])
def test_motor_presses_the_link_on_a_wall(contact_model: str) -> None:
    plant = elastic_slider(150.0, world=wall(), contact_model=contact_model)
    state = plant.step([25.0], 2.0)
    (contact,) = state.contacts
    assert contact.force[0] == pytest.approx(-25.0, rel=1e-6)
    assert state.motors.theta[0] - state.q[0] == pytest.approx(25.0 / STIFFNESS, rel=1e-6)
    assert state.motors.tau_joint[0] == pytest.approx(25.0, rel=1e-6)
    assert state.residual < 1e-8
    assert abs(state.a[0]) < 1e-4


def test_force_at_the_tip_is_that_of_the_motor_torques() -> None:
    """``f = -J^-T tau`` of a planar arm that sticks on a wall, and ``theta - q = tau / K``."""
    model = build_model(robots.two_link()).with_armature([0.6, 0.3]).with_gravity((0.0, 0.0, 0.0))
    law = ElasticJoints.from_model(model, [4e3, 2e3], [40.0, 15.0])
    q = np.array([0.4, 0.9])
    link = tuple(model.frames)[-1]
    tip = [CollisionShape(link, 'sphere', 0.02, translation=(0.4, 0.0, 0.0))]

    def jacobian(at: Any) -> Any:
        """Return that of the point that touches, 0.4 m out on the second link and 0.02 m on."""
        rows = frame_jacobian(model, at, link, ReferenceFrame.LOCAL_WORLD_ALIGNED)
        touch = [0.4 * np.cos(at.sum()) + 0.02, 0.4 * np.sin(at.sum()), 0.0]
        return (rows[:3] + np.cross(rows[3:].T, touch).T)[:2]

    reach = 0.5 * np.cos(q[0]) + 0.4 * np.cos(q.sum()) + 0.02
    side = np.array([-1.0, 0.0, 0.0]), np.array([reach, 0.0, 0.0])
    plant = ElasticPlant(
        model, law, world=World((Plane('wall', *side, Material(friction=2.0)),)),
        collisions=tip, q=q, dt_internal=5e-4,
    )  # fmt: skip
    tau = jacobian(q).T @ [30.0, 12.0]
    state = plant.step(tau, 4.0)
    (contact,) = state.contacts
    wanted = -np.linalg.solve(jacobian(state.q).T, tau)
    np.testing.assert_allclose(contact.force[:2], wanted, atol=1e-6 * 30.0)
    np.testing.assert_allclose(state.motors.theta - state.q, tau / law.stiffness, atol=1e-8)


@pytest.mark.parametrize('case', ['motor held', 'pressed on the wall', 'free'])
def test_swing_has_the_frequency_of_what_may_move(case: str) -> None:
    """w^2 = K / m with the motor stuck, K / B with the link on a wall, K (1/m + 1/B) free."""
    dt = 2e-4  # omega dt = 0.016: 2e-5 low
    if case == 'motor held':
        plant = elastic_slider(0.0, dry(('x',), 1e3), world=wall(), dt_internal=dt)
        plant.reset([-0.51], theta=[-0.5])
        expected = np.sqrt(STIFFNESS / MASS)
    elif case == 'pressed on the wall':
        plant = elastic_slider(world=wall(), dt_internal=dt)
        plant.reset([0.0], theta=[0.012])
        expected = np.sqrt(STIFFNESS / MOTOR)
    else:
        plant = elastic_slider(world=wall(), dt_internal=dt)
        plant.reset([-0.5], theta=[-0.49])
        expected = np.sqrt(STIFFNESS * (1.0 / MASS + 1.0 / MOTOR))
    push = 60.0 if case == 'pressed on the wall' else 0.0
    stretch = []
    for _ in range(4000):
        state = plant.step([push], dt)
        stretch.append(state.motors.theta[0] - state.q[0] - push / STIFFNESS)
    assert frequency(np.array(stretch), dt) == pytest.approx(expected, rel=1e-3)
    if case == 'pressed on the wall':
        assert abs(state.q[0]) < 1e-9 and state.contacts[0].force[0] < 0.0
        amplitude = 60.0 / STIFFNESS - 0.012
        assert np.abs(stretch).max() == pytest.approx(amplitude, rel=1e-4), 'no energy is lost'


@pytest.mark.parametrize('restitution', [0.0, 0.5, 1.0])
def test_energy_never_rises_over_impacts_of_a_link(restitution: float) -> None:
    plant = elastic_slider(world=wall(restitution=restitution), dt_internal=5e-4)
    plant.reset([-0.05], [1.0])
    start = last = total_energy(plant, plant.state)
    impacts = 0
    for _ in range(400):
        state = plant.step([10.0], 2e-3)
        impacts += plant.solver_counts[1]
        now = total_energy(plant, state) - state.works.actuators
        assert now <= last + 1e-6 * start  # to the instant of the touch: 1e-8 m
        last = now
    assert impacts >= 2
    assert state.q[0] < 1e-6
    # The balance of works, with what the contacts took.
    assert total_energy(plant, state) - start == pytest.approx(sum(state.works), abs=1e-6)


def test_first_impact_is_that_of_the_link_alone() -> None:
    """Just after it the motor goes on as before."""
    plant = elastic_slider(world=wall(restitution=0.5), dt_internal=1e-3)
    state = plant.reset([0.0], [2.0])
    assert state.v[0] == pytest.approx(-1.0, rel=1e-9)
    assert state.motors.v[0] == 2.0


def test_limit_stops_the_link_and_not_the_motor() -> None:
    model = slider(JointLimits(-0.1, 0.1, 1e4, 100.0))
    law = ElasticJoints.from_model(model, STIFFNESS, 100.0)
    plant = ElasticPlant(model, law, joint_limits=True)
    state = plant.step([40.0], 3.0)
    assert state.q[0] == pytest.approx(0.1, abs=1e-6)
    assert state.motors.theta[0] - state.q[0] == pytest.approx(40.0 / STIFFNESS, rel=1e-6)
    assert state.tau_limit[0] == pytest.approx(-40.0, rel=1e-6)
    assert plant.joints_beyond_limits() == ()


@pytest.mark.parametrize('strikes', [False, True])
def test_stiff_joints_tend_to_the_rigid_robot_in_contact(strikes: bool) -> None:
    """An arm that slides on a table from the start on, and one that strikes it before."""
    model = load_urdf(urdf_path('es5.urdf.xacro')).with_armature(ROTORS)
    q = np.array([0.3, 0.6, 0.9, 0.2, -0.5, 0.1])
    tip = [CollisionShape('tool0', 'sphere', 0.02)]
    height = float(frame_placement(model, q, 'tool0').translation[2]) - 0.02
    world = World.with_floor(height - (2e-3 if strikes else 0.0), Material(friction=0.3))
    rows = frame_jacobian(model, q, 'tool0', ReferenceFrame.LOCAL_WORLD_ALIGNED)[:3]
    tau = generalized_gravity(model, q) + rows.T @ [15.0, 0.0, -20.0]
    rigid = Plant(model, world=world, collisions=tip, q=q, dt_internal=2e-4).step(tau, 0.2)
    errors = []
    for stiffness in (1e5, 1e6, 1e7):
        law = ElasticJoints.from_model(model, stiffness, 2e-3 * stiffness)
        elastic = ElasticPlant(model, law, world=world, collisions=tip, q=q, dt_internal=2e-4)
        state = elastic.step(tau, 0.2)
        errors.append(float(np.abs(state.q - rigid.q).max()))
        assert state.residual < 1e-8
        assert state.contacts[0].force[2] == pytest.approx(rigid.contacts[0].force[2], rel=1e-2)
    if strikes:
        # The rotors strike after the links, so that friction has another path in the impact.
        assert max(errors) < 5e-4
    else:
        assert errors[0] < 1e-3 and errors[1] < 0.2 * errors[0] and errors[2] < 0.5 * errors[1]


def test_spring_that_the_step_does_not_resolve_stops_swinging() -> None:
    """The energy that is lost is counted; motor and link go on together."""
    plant = elastic_slider(dt_internal=0.1)  # omega dt = 8.7
    state = plant.reset([-5.0], [0.5], theta=[-4.99], v_motor=[0.5])
    start = total_energy(plant, state)
    state = plant.step([0.0], 3.0)
    assert state.v[0] == pytest.approx(0.5, abs=1e-4)
    assert state.motors.theta[0] == pytest.approx(state.q[0], abs=1e-4)
    assert state.works.friction == pytest.approx(-0.5 * STIFFNESS * 0.01**2, rel=1e-3)
    assert total_energy(plant, state) - start == pytest.approx(state.works.friction, rel=1e-9)


def test_motors_with_bristles_carry_an_elastic_arm_on_a_table() -> None:
    model = load_urdf(urdf_path('es5.urdf.xacro')).with_armature(ROTORS)
    law = ElasticJoints.from_model(model, [2e4, 2e4, 1e4, 4e3, 4e3, 2e3], 30.0)
    level = np.array([60.0, 60.0, 40.0, 9.0, 9.0, 9.0])
    curve = DryFriction(
        model.v_names, np.full(6, 1.0), level, level, np.array(1.2), np.array(0.05),
        load_coefficient=np.full(6, 0.1),
    )  # fmt: skip
    friction = LuGreFriction(curve, np.full(6, 1e5), np.full(6, 300.0))
    q = np.array([0.3, 0.6, 0.9, 0.2, -0.5, 0.1])
    shapes = [CollisionShape('tool0', 'sphere', 0.02)]
    height = float(frame_placement(model, q, 'tool0').translation[2]) - 0.02
    plant = ElasticPlant(
        model, law, friction, world=World.with_floor(height), collisions=shapes,
        joint_limits=True, q=q,
    )  # fmt: skip
    worst = 0.0
    for _ in range(100):
        state = plant.step(np.zeros(6), 0.02)
        worst = max(worst, state.residual)
    assert worst < 1e-8
    assert state.contacts[0].force[2] > 1.0
    assert max(np.abs(state.v).max(), np.abs(state.motors.v).max()) < 1e-4
    # motors: friction carries what the springs pull; links: springs, contact and weight balance
    np.testing.assert_allclose(state.tau_friction, -state.motors.tau_joint, atol=1e-2)
    np.testing.assert_allclose(
        state.motors.theta - state.q, state.motors.tau_joint / law.stiffness, atol=1e-5
    )
    np.testing.assert_allclose(1e5 * plant.deflection, state.tau_friction, atol=0.1)


def test_elastic_joint_of_a_floating_robot_keeps_its_momentum() -> None:
    """Nothing outside acts: the centre of mass goes straight on, the energy stays."""
    base = robots.body('base', 3.0, (0.0, 0.0, 0.0), (0.05, 0.06, 0.07))
    pole = robots.rod('pole', 1.0, 0.5)
    joint = robots.joint('swing', 'revolute', 'base', 'pole', axis=robots.Y, limits=WIDE)
    model = build_model(
        robots.robot('flyer', [pole], [joint], base=base), floating_base=True,
        armature={'swing': 0.1}, gravity=(0.0, 0.0, 0.0),
    )  # fmt: skip
    law = ElasticJoints.of_joints(model, {'swing': 50.0}, {})
    plant = ElasticPlant(model, law, dt_internal=1e-3)
    v = np.array([0.3, -0.2, 0.1, 0.2, 0.5, -0.4, 1.5])
    state = plant.reset(v=v, theta=[0.0] * 6 + [0.3])
    energy = total_energy(plant, state)
    momentum = centroidal_momentum(model, state.q, state.v)
    goal = center_of_mass(model, state.q) + momentum[:3] / 4.0
    state = plant.step(np.zeros(7), 1.0)
    # What the second order of the step leaves, of 1.4 N s, 0.3 N m s and 1.5 J.
    np.testing.assert_allclose(center_of_mass(model, state.q), goal, atol=1e-3)
    after = centroidal_momentum(model, state.q, state.v)
    np.testing.assert_allclose(after[:3], momentum[:3], atol=1e-2)
    np.testing.assert_allclose(after[3:], momentum[3:], atol=2e-5)
    assert total_energy(plant, state) == pytest.approx(energy, rel=2e-3)
    assert np.abs(state.motors.theta[6] - state.q[7]) > 1e-3


@pytest.mark.parametrize('contact_model', ['rigid', 'compliant'])
def test_everything_goes_together(contact_model: str) -> None:
    """Bristles under load, springs, limits, self-collision, a box and a floor: an arm falls."""
    pytest.importorskip('coal')
    path = urdf_path('es5.urdf.xacro')
    model = load_urdf(path).with_armature(ROTORS)
    law = ElasticJoints.from_model(model, [2e4, 2e4, np.inf, 4e3, 4e3, np.inf], 20.0)
    level = np.array([5.0, 5.0, 3.0, 1.0, 1.0, 0.5])
    curve = DryFriction(
        model.v_names, np.full(6, 4.0), level, level, np.array(1.2), np.array(0.05),
        load_coefficient=np.full(6, 0.05), viscous_negative=np.full(6, 8.0),
    )  # fmt: skip
    material = Material(friction=0.5, restitution=0.2)
    box = Box('crate', np.array([0.3, 0.3, 0.4]), np.array([0.6, 0.0, 0.15]), np.eye(3), material)
    world = World.with_floor(-0.3, material)
    plant = ElasticPlant(
        model, law, LuGreFriction(curve, np.full(6, 5e4), np.full(6, 150.0)),
        world=World(world.planes, boxes=(box,)), collisions=read_collisions(path),
        self_collision=True, joint_limits=True, contact_model=contact_model,
        q=[0.1, 1.0, -0.6, 0.2, 0.1, 0.0],
    )  # fmt: skip
    start, worst, impacts, touched = total_energy(plant, plant.state), 0.0, 0, set()
    for _ in range(150):
        state = plant.step(np.zeros(6), 0.01)
        impacts += plant.solver_counts[1]
        worst = max(worst, state.residual)
        touched |= {c.surface for c in state.contacts}
        assert total_energy(plant, state) <= start + 0.05
    assert worst < 1e-8 and 'crate' in touched
    rest = total_energy(plant, state) - start - sum(state.works)
    if contact_model == 'rigid':
        assert impacts > 0 and abs(rest) < 0.02 * abs(state.works.friction)
    else:  # the implicit Euler method takes energy from what is stiff
        assert -0.5 * abs(state.works.friction) < rest < 0.0
    assert np.abs(state.v).max() < 0.05


def test_wrong_joints_are_refused() -> None:
    model = slider()
    with pytest.raises(UnknownJointError, match='knee'):
        ElasticJoints.of_joints(model, {'knee': 1e3}, {})
    with pytest.raises(ConfigurationError, match="joint 'x': damping of an elastic joint needs"):
        ElasticJoints.of_joints(model, {}, {'x': 1.0})
