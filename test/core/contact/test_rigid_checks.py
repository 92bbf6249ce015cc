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

from typing import Any

import numpy as np
import pytest

from contact_scenes import (
    at_height,
    box_body,
    drop,
    energy,
    floor,
    free_body,
    GRAVITY,
    inclined,
    run,
)
from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape
from robot_dynamics_ros.core.dynamics import rnea
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import JointLimits
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.plant import Plant
import robots

STEPS = (1e-4, 1e-3, 5e-3)


def test_rest_box_does_not_drift_in_a_minute() -> None:
    model, shapes = box_body()
    plant = Plant(model, world=floor(), collisions=shapes, q=at_height(model, 0.1))
    state = run(plant, 60.0)
    drift = np.abs(state.q - at_height(model, 0.1)).max()
    print(f'rest for 60 s: drift {drift:.1e} m (wanted < 1e-6), residual {state.residual:.1e}')
    assert drift < 1e-9  # the issue asks for 1e-6; it is zero but for rounding
    assert len(state.contacts) == 4
    for contact in state.contacts:
        # Four corners carry a quarter each, although the Delassus matrix is singular.
        np.testing.assert_allclose(contact.force, [0.0, 0.0, GRAVITY / 4.0], atol=1e-9)
    np.testing.assert_allclose(state.wrenches, [[0, 0, GRAVITY, 0, 0, 0]], atol=1e-9)
    assert state.residual < 1e-8


@pytest.mark.parametrize('dt', STEPS)
def test_slide_stops_after_the_closed_distance(dt: float) -> None:
    model, shapes = box_body()
    q, v = at_height(model, 0.1), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    plant = Plant(model, world=floor(friction=0.5), collisions=shapes, dt_internal=dt, q=q, v=v)
    start = energy(plant)
    state = run(plant, 1.0)
    distance = 1.0 / (2.0 * 0.5 * GRAVITY)
    print(f'slide, dt {dt}: {state.q[0]:.6f} m, closed form {distance:.6f} m')
    assert state.q[0] == pytest.approx(distance, rel=5e-4)  # the issue asks for 0.5 %
    assert np.abs(state.v).max() < 1e-12  # at rest
    assert state.works.contacts == pytest.approx(-0.5, abs=1e-9)  # all kinetic energy
    assert energy(plant) - start == pytest.approx(sum(state.works), abs=1e-9)


def test_slope_sticks_below_the_angle_of_friction_for_a_minute() -> None:
    angle = np.arctan(0.5) - 0.005
    model, shapes = box_body(gravity=inclined(angle))
    plant = Plant(model, world=floor(friction=0.5), collisions=shapes, q=at_height(model, 0.1))
    creep = np.abs(run(plant, 60.0).q - at_height(model, 0.1)).max()
    print(f'slope below atan(mu): creep {creep:.1e} m in 60 s (wanted < 1e-6)')
    assert creep < 1e-9


@pytest.mark.parametrize('dt', STEPS)
def test_slope_slides_above_with_the_closed_acceleration(dt: float) -> None:
    angle = np.arctan(0.5) + 0.1
    model, shapes = box_body(gravity=inclined(angle))
    world = floor(friction=0.5)
    plant = Plant(model, world=world, collisions=shapes, dt_internal=dt, q=at_height(model, 0.1))
    state = run(plant, 1.0)
    expected = GRAVITY * (np.sin(angle) - 0.5 * np.cos(angle))
    print(f'slope above, dt {dt}: {state.v[0]:.6f} m/s^2, closed form {expected:.6f}')
    assert state.v[0] == pytest.approx(expected, rel=1e-9)  # the issue asks for 0.5 %
    assert state.a[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize('dt', STEPS)
@pytest.mark.parametrize(('restitution', 'ends'), [(0.5, 0.42835), (0.8, 1.285059)])
def test_bounce_heights_and_the_end_of_infinitely_many(
    restitution: float, ends: float, dt: float
) -> None:
    plant = drop(0.1, floor(restitution=restitution), dt_internal=dt)
    heights = []
    for _ in range(round(1.5 / dt)):
        heights.append(run(plant, dt).q[2] - 0.1)
    z = np.array(heights)
    tops = [
        # the parabola through three samples around the highest one
        z[i] + (z[i + 1] - z[i - 1]) ** 2 / (8.0 * (2.0 * z[i] - z[i + 1] - z[i - 1]))
        for i in range(1, len(z) - 1)
        if z[i] > z[i - 1] and z[i] >= z[i + 1]
    ]
    resting = float(dt + dt * np.argmax(np.maximum.accumulate(np.abs(z[::-1]))[::-1] < 1e-7))
    print(f'e {restitution}, dt {dt}: heights {np.array(tops[:4])}, rest at {resting:.4f} s, '
          f'infinitely many bounces end at {ends} s')  # fmt: skip
    for n, top in enumerate(tops[:3], start=1):
        assert top == pytest.approx(0.1 * restitution ** (2 * n), rel=0.01)
    # A flight of less than a step does not take place, nor the e / (1 - e) steps that follow.
    # (A flight that stays below 1e-7 m counts as rest here; it takes up to 0.3 ms.)
    assert ends - (1.0 + 1.0 / (1.0 - restitution)) * dt - 1e-3 < resting < ends + dt
    assert abs(z[-1]) < 1e-7


@pytest.mark.parametrize('dt', STEPS)
@pytest.mark.parametrize('restitution', [0.0, 0.6, 1.0])
def test_tumbling_box_never_gains_energy(restitution: float, dt: float) -> None:
    model, shapes = box_body(edges=(0.3, 0.2, 0.1))
    q = at_height(model, 0.4)
    q[3:7] = np.array([0.2, -0.5, 0.3, 0.8]) / np.linalg.norm([0.2, -0.5, 0.3, 0.8])
    world = floor(restitution=restitution, friction=0.4)
    v = [0.5, -0.2, 0.0, 2.0, 5.0, -3.0]
    plant = Plant(model, world=world, collisions=shapes, dt_internal=dt, q=q, v=v)
    start = energy(plant)
    most, deepest, residual, worst_sum = -np.inf, 0.0, 0.0, 0.0
    for _ in range(round(2.0 / (5 * dt))):
        state = run(plant, 5 * dt)
        most = max(most, energy(plant, state) - start)
        deepest = min([deepest, *(contact.gap for contact in state.contacts)])
        residual = max(residual, state.residual)
        worst_sum = max(worst_sum, abs(energy(plant, state) - start - sum(state.works)))
    print(f'box, e {restitution}, dt {dt}: largest gain {most:.1e} J of {start:.3f} J, deepest '
          f'{deepest:.1e} m, residual {residual:.1e}, balance {worst_sum:.1e} J')  # fmt: skip
    assert most < (1e-6 if dt < 5e-3 else 1e-4) * start  # fourth order of free flight
    assert deepest > (-1e-4 if dt < 5e-3 else -2e-3)  # third order of closed contacts
    assert residual < 1e-8
    assert worst_sum < 0.02 * start * (dt / 1e-3)  # first order where contacts roll


def test_no_tunnelling_at_ten_metres_a_second() -> None:
    plant = drop(0.5, floor(restitution=0.3), dt_internal=1e-3, v=[0, 0, -10.0, 0, 0, 0])
    lowest = min(float(run(plant, 1e-3).q[2]) for _ in range(500))
    assert lowest - 0.1 > -1e-7


def test_table_on_four_legs_carries_a_quarter_on_each() -> None:
    model = free_body(20.0, (1.0, 1.0, 1.5))
    legs = [
        CollisionShape('base', 'point', translation=(x, y, -0.7))
        for x in (-0.5, 0.5)
        for y in (-0.3, 0.3)
    ]
    plant = Plant(model, world=floor(), collisions=legs, q=at_height(model, 0.7))
    state = run(plant, 1.0)
    forces = np.array([contact.force for contact in state.contacts])
    print('table:', forces[:, 2], 'weight', 20.0 * GRAVITY)
    np.testing.assert_allclose(forces[:, 2], 20.0 * GRAVITY / 4.0, rtol=1e-9)
    np.testing.assert_allclose(forces[:, :2], 0.0, atol=1e-7)


def test_landed_table_comes_to_equal_shares() -> None:
    model = free_body(20.0, (1.0, 1.0, 1.5))
    legs = [
        CollisionShape('base', 'point', translation=(x, y, -0.7))
        for x in (-0.5, 0.5)
        for y in (-0.3, 0.3)
    ]
    q = at_height(model, 0.75)
    q[3:7] = np.array([0.03, 0.02, 0.0, 1.0]) / np.linalg.norm([0.03, 0.02, 0.0, 1.0])
    plant = Plant(model, world=floor(), collisions=legs, q=q)
    state = run(plant, 4.0)
    forces = np.array([contact.force for contact in state.contacts])
    # The internal forces of the landing fade by 1 % a step.
    np.testing.assert_allclose(forces[:, 2], 20.0 * GRAVITY / 4.0, rtol=1e-6)


def test_box_with_eight_contacts_is_symmetric() -> None:
    model, shapes = box_body()
    shapes = [*shapes, *shapes]
    plant = Plant(model, world=floor(), collisions=shapes, q=at_height(model, 0.1))
    state = run(plant, 0.5)
    assert len(state.contacts) == 8
    forces = np.array([contact.force for contact in state.contacts])
    np.testing.assert_allclose(forces[:, 2], GRAVITY / 8.0, rtol=1e-9)


@pytest.mark.parametrize('ratio', [1e3, 1e-3])
def test_stack_of_unequal_masses_on_limits_and_floor(ratio: float) -> None:
    """The upper block rests on the lower one by the limit of a slide, the lower on the floor."""
    lower = robots.body('base', 1.0, (0, 0, 0), (0.01, 0.01, 0.01))
    upper = robots.body('upper', ratio, (0, 0, 0), (0.01 * ratio,) * 3)
    slide = robots.joint(
        'slide', 'prismatic', 'base', 'upper', axis=robots.Z, translation=[0, 0, 0.2],
        limits=JointLimits(0.0, 1.0, 10.0, 1e6),
    )  # fmt: skip
    model = build_model(robots.robot('stack', [upper], [slide], base=lower), floating_base=True)
    plant = Plant(
        model,
        world=floor(),
        collisions=[CollisionShape('base', 'box', (0.2, 0.2, 0.2))],
        joint_limits=True,
        q=[*at_height(free_body(), 0.1), 0.0],
    )
    state = run(plant, 2.0)
    total = sum(contact.force[2] for contact in state.contacts)
    print(f'stack 1:{ratio:g}: floor {total:.9g} N, between {state.tau_limit[-1]:.9g} N, '
          f'residual {state.residual:.1e}')  # fmt: skip
    assert total == pytest.approx((1.0 + ratio) * GRAVITY, rel=1e-8)
    assert state.tau_limit[-1] == pytest.approx(ratio * GRAVITY, rel=1e-8)
    assert abs(state.q[2] - 0.1) < 1e-7 and abs(state.q[-1]) < 1e-7
    assert state.residual < 1e-8


def test_painleve_rod_goes_through_its_paradox() -> None:
    """Slide a rod on its tip at angles and with friction where no acceleration exists."""
    length, mass = 1.0, 1.0
    model = free_body(mass, (mass * length**2 / 12.0, mass * length**2 / 12.0, 1e-3))
    tip = CollisionShape('base', 'point', translation=(0.0, 0.0, -length / 2.0))
    other = CollisionShape('base', 'point', translation=(0.0, 0.0, length / 2.0))
    for angle in np.deg2rad([20.0, 31.0, 45.0, 60.0]):
        for sign in (-1.0, 1.0):
            q = at_height(model, 0.5 * length * np.cos(angle))
            q[4], q[6] = np.sin(0.5 * sign * angle), np.cos(0.5 * angle)
            rotated = np.array([np.cos(angle), 0.0, sign * np.sin(angle)])  # world x in the body
            plant = Plant(
                model, world=floor(friction=2.0), collisions=[tip, other], q=q,
                v=[*(5.0 * rotated), 0.0, 0.0, 0.0],
            )  # fmt: skip
            start = energy(plant)
            for _ in range(100):
                state = run(plant, 0.02)
                assert np.isfinite(state.q).all()
                assert energy(plant, state) < start + 1e-6
            assert min(contact.gap for contact in state.contacts) > -1e-4


@pytest.mark.parametrize('dt', [1e-3, 5e-3])
def test_ball_that_slides_comes_to_roll_at_five_sevenths(dt: float) -> None:
    moment = 0.4 * 0.1**2
    model = free_body(1.0, (moment,) * 3)
    plant = Plant(
        model, world=floor(friction=0.3), dt_internal=dt, q=at_height(model, 0.1),
        collisions=[CollisionShape('base', 'sphere', 0.1)], v=[2.0, 0, 0, 0, 0, 0],
    )  # fmt: skip
    state = run(plant, 2.0)
    # the linear velocity is in turning axes; its size is that of the centre
    speed, spin = np.linalg.norm(state.v[:3]), state.v[4]
    print(f'ball rolls at {speed:.6f} m/s, closed form {2.0 * 5.0 / 7.0:.6f}')
    assert speed == pytest.approx(2.0 * 5.0 / 7.0, rel=1e-4)  # the issue asks for 1 %
    assert spin == pytest.approx(speed / 0.1, rel=1e-6)
    stop = 2.0 * 2.0 / (7.0 * 0.3 * GRAVITY)  # time until it rolls
    way = 2.0 * stop - 0.5 * 0.3 * GRAVITY * stop**2 + 2.0 * 5.0 / 7.0 * (2.0 - stop)
    assert state.q[0] == pytest.approx(way, rel=1e-3)
    assert abs(state.q[2] - 0.1) < 1e-7


def test_ball_rolls_down_a_slope_with_five_sevenths_of_the_pull() -> None:
    moment = 0.4 * 0.1**2
    model = free_body(1.0, (moment,) * 3, inclined(0.2))
    plant = Plant(
        model, world=floor(friction=0.5), q=at_height(model, 0.1),
        collisions=[CollisionShape('base', 'sphere', 0.1)],
    )  # fmt: skip
    state = run(plant, 1.0)
    assert np.linalg.norm(state.v[:3]) == pytest.approx(
        5.0 / 7.0 * GRAVITY * np.sin(0.2), rel=1e-4
    )


def test_cylinder_stands_on_its_rim_and_rolls_on_its_side() -> None:
    mass, radius, length = 2.0, 0.1, 0.3
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    model = free_body(mass, (across, across, 0.5 * mass * radius**2), inclined(0.1))
    shape = [CollisionShape('base', 'cylinder', (radius, length))]
    stands = Plant(model, world=floor(), collisions=shape, q=at_height(model, 0.15))
    state = run(stands, 2.0)
    np.testing.assert_allclose(state.q, at_height(model, 0.15), atol=1e-8)
    q = at_height(model, radius)
    q[3], q[6] = np.sqrt(0.5), np.sqrt(0.5)  # axis along y
    rolls = Plant(model, world=floor(), collisions=shape, q=q)
    state = run(rolls, 1.0)
    expected = GRAVITY * np.sin(0.1) / 1.5  # m / (m + I / r^2) = 2 / 3
    print(f'cylinder rolls with {np.linalg.norm(state.v[:3]):.6f} m/s^2, {expected:.6f}')
    assert np.linalg.norm(state.v[:3]) == pytest.approx(expected, rel=1e-3)
    assert abs(state.q[2] - radius) < 1e-6


def test_state_closes_inverse_dynamics() -> None:
    model, shapes = box_body()
    plant = Plant(
        model, world=floor(friction=0.5), collisions=shapes, q=at_height(model, 0.1),
        v=[1.0, 0.3, 0.0, 0.0, 0.0, 2.0],
    )  # fmt: skip
    push = np.array([[1.0, 2.0, 0.5, 0.0, 0.0, 0.1]])
    state = plant.step(np.zeros(6), 0.05, push)
    closed = rnea(model, state.q, state.v, state.a, state.wrenches)
    np.testing.assert_allclose(closed, 0.0, atol=1e-9)
    assert state.contacts[0].link == 'base' and state.contacts[0].surface == 'floor'


def contact_pendulum() -> Any:
    return load_urdf("""<robot name="p"><link name="world"/>
      <link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
        <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.05"/></inertial></link>
      <joint name="hinge" type="revolute"><parent link="world"/><child link="arm"/>
        <axis xyz="0 1 0"/><limit lower="-0.5" upper="0.3" effort="100" velocity="100"/></joint>
      </robot>""")


def test_d13_joint_rests_at_its_limit_and_leaves_it() -> None:
    model = contact_pendulum()
    plant = Plant(model, joint_limits=True, q=[0.0])
    state = run(plant, 3.0)
    weight = 2.0 * GRAVITY * 0.5 * np.cos(0.3)
    assert state.v[0] == 0.0
    assert state.q[0] == pytest.approx(0.3, abs=1e-8)
    print(f'limit carries {-state.tau_limit[0]:.9f} Nm, missing torque {weight:.9f} Nm')
    assert -state.tau_limit[0] == pytest.approx(weight, rel=1e-9)
    held = plant.step([-weight + 1.0], 1.0)
    assert -held.tau_limit[0] == pytest.approx(1.0, rel=1e-6)
    away = plant.step([-weight - 1.0], 0.1)
    assert away.q[0] < 0.3 - 1e-4 and away.tau_limit[0] == 0.0


@pytest.mark.parametrize('restitution', [0.0, 0.5, 1.0])
def test_d13_limits_give_no_energy(restitution: float) -> None:
    model = contact_pendulum()
    plant = Plant(model, joint_limits=True, limit_restitution=restitution, q=[-0.4], v=[1.0])
    start, most = energy(plant), 0.0
    for _ in range(400):
        state = run(plant, 0.01)
        most = max(most, energy(plant, state) - start)
        assert -0.5 - 1e-6 < state.q[0] < 0.3 + 1e-6
    assert most < 1e-9  # of some 8 J; the Runge-Kutta method itself errs by less
    if restitution == 1.0:
        assert energy(plant) == pytest.approx(start, abs=1e-7)
    if restitution == 0.0:
        assert state.v[0] == 0.0
