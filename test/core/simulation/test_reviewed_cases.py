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

"""Robots on limits, with stiff springs, drives and changing payloads: what once went wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contact_scenes import at_height, box_body, floor, inclined
from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape
from robot_dynamics_ros.core.contact.geometry import Material, Plane
from robot_dynamics_ros.core.drive.drive_file import read_drive_file
from robot_dynamics_ros.core.exceptions import ConfigurationError, DimensionError
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.lugre import LuGreFriction
from robot_dynamics_ros.core.model import load_urdf
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import JointLimits
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.simulation.elastic_joints import ElasticJoints
from robot_dynamics_ros.core.simulation.elastic_plant import ElasticPlant
from robot_dynamics_ros.core.simulation.hardware import SimulatedHardware
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.core.simulation.world import World
from robot_dynamics_ros.resources import config_path, urdf_path
import robots


@pytest.mark.parametrize('seed', range(20))
def test_chain_that_strikes_its_limits_settles(seed: int) -> None:
    """A limit that is left from a little beyond it is no touch ahead."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 8))
    limits = JointLimits(-0.6, 0.6, 1e4, 100.0)
    names = ['base', *(f'l{i}' for i in range(count))]
    links = [robots.body(name, 1.0, (0.0, 0.0, 0.15), (0.01, 0.01, 0.005)) for name in names[1:]]
    joints = [
        robots.joint(f'j{i}', 'revolute', names[i], names[i + 1], axis=(robots.X, robots.Y)[i % 2],
                     limits=limits)
        for i in range(count)
    ]  # fmt: skip
    model = build_model(robots.robot('chain', links, joints))
    plant = Plant(
        model, joint_limits=True, limit_restitution=float(rng.choice([0.0, 0.5])),
        q=rng.uniform(-0.5, 0.5, count), v=3.0 * rng.normal(size=count),
    )  # fmt: skip
    for _ in range(1000):
        state = plant.step(np.zeros(count), 2e-3)
        assert np.abs(state.tau_limit).max() < 1e5
    assert np.abs(state.q).max() < 0.6 + 1e-5  # what a step takes back of a limit


def slider(stiffness: float, dt: float, restitution: float, *, at_wall: bool) -> ElasticPlant:
    """Return a link and a motor of 2 kg each on a slide, 1 m/s fast, before a stop."""
    bob = robots.body('bob', 2.0, (0.0, 0.0, 0.0), (0.1, 0.1, 0.1))
    end = JointLimits(-100.0, 100.0 if at_wall else 0.05, 1e4, 100.0)
    joint = robots.joint('x', 'prismatic', 'base', 'bob', limits=end)
    model = build_model(robots.robot('slide', [bob], [joint])).with_armature([2.0])
    options: dict[str, Any] = {'joint_limits': True, 'limit_restitution': restitution}
    if at_wall:
        wall = Plane('wall', np.array([-1.0, 0.0, 0.0]), np.array([0.15, 0.0, 0.0]),
                     Material(friction=0.0, restitution=restitution))  # fmt: skip
        options = {'world': World((wall,)), 'collisions': [CollisionShape('bob', 'sphere', 0.1)]}
    elastic = ElasticJoints.from_model(model, stiffness, 0.0)
    return ElasticPlant(model, elastic, v=[1.0], dt_internal=dt, **options)


@pytest.mark.parametrize('at_wall', [False, True])
@pytest.mark.parametrize('restitution', [0.0, 0.5, 1.0])
@pytest.mark.parametrize('dt', [1e-3, 5e-3])
@pytest.mark.parametrize('stiffness', [1e4, 1e6, 1e8, 1e10])
def test_jump_of_the_velocity_gives_a_stiff_spring_no_energy(
    stiffness: float, dt: float, restitution: float, at_wall: bool
) -> None:
    plant = slider(stiffness, dt, restitution, at_wall=at_wall)
    start = 2.0  # half of 4 kg (m/s)^2
    for _ in range(round(0.3 / dt)):
        state = plant.step([0.0], dt)
        motors = state.motors
        assert motors is not None
        energy = state.v[0] ** 2 + motors.energy
        assert energy <= start * (1.0 + 1e-9)
        assert abs(motors.tau_joint[0]) <= np.sqrt(2.0 * start * stiffness) * (1.0 + 1e-9)
    assert energy - start == pytest.approx(sum(state.works), abs=1e-3 * start)


@pytest.mark.parametrize('stiffness', [1e2, 1e5])
def test_back_emf_is_that_of_the_motor(stiffness: float) -> None:
    """Against the link's speed the drive would feed the swing of the spring."""
    model = load_urdf(urdf_path('es5.urdf.xacro'))
    drives = read_drive_file(config_path('es5_drives.yaml'), model.v_names)
    model = model.with_armature(dict(zip(drives.joint_names, drives.reflected_inertia.tolist())))
    start = np.array([0.0, 1.0, -1.0, 0.0, 0.0, 0.0])
    elastic = ElasticJoints.from_model(model, np.full(6, stiffness), np.zeros(6))
    largest = []
    for plant in (Plant(model, q=start), ElasticPlant(model, elastic, q=start)):
        hardware = SimulatedHardware(plant, drives=drives)
        torques = []
        for _ in range(1500):
            hardware.step(np.zeros(6), 1e-3)
            torques.append(np.abs(hardware.tau).max())
        largest.append(max(torques))
    print(f'largest torque of the drives: rigid {largest[0]:.2f}, elastic {largest[1]:.2f} N m')
    assert largest[1] < 2.0 * largest[0]
    if stiffness == 1e5:
        assert largest[1] == pytest.approx(largest[0], rel=0.02)  # the springs give by 0.5 mrad


def bristles(model: RobotModel) -> LuGreFriction:
    n = model.nv
    level = np.full(n, 150.0)
    sliding = DryFriction(model.v_names, np.zeros(n), level, level, np.array(1.2), np.array(0.05))
    return LuGreFriction(sliding, np.full(n, 1e4), np.full(n, 10.0))


def test_bristles_go_on_holding_when_the_payload_changes() -> None:
    model = load_urdf(urdf_path('es5.urdf.xacro'))
    start = np.array([0.0, -0.8, 0.9, 0.2, -0.5, 0.1])
    hardware = SimulatedHardware(Plant(model, bristles(model), q=start))
    for _ in range(200):
        hardware.step(np.zeros(6), 0.01)
    same = SimulatedHardware(Plant(model, bristles(model)))
    same.take_over(hardware)
    assert same.state.time == hardware.state.time
    loaded = SimulatedHardware(Plant(model.with_payload(Payload(2.0, 'tool0')), bristles(model)))
    loaded.take_over(hardware)
    for _ in range(100):
        for one in (same, loaded, hardware):
            one.step(np.zeros(6), 0.01)
    np.testing.assert_allclose(same.state.q, hardware.state.q, atol=1e-9)
    moved = np.abs(loaded.state.q - hardware.state.q).max()
    print(f'{moved:.2e} rad under 2 kg')
    assert 1e-4 < moved < 1e-2  # some 15 N m more on springs of 1e4 N m/rad that soften


def test_box_on_soft_contacts_does_not_slip_when_it_is_taken_over() -> None:
    model, shapes = box_body(1.0, (0.2, 0.2, 0.2), gravity=inclined(0.3))
    world = floor(friction=0.6, stiffness=1e3, dissipation=0.5)

    def made() -> Plant:
        return Plant(
            model, world=world, collisions=shapes, contact_model='compliant',
            q=at_height(model, 0.1),
        )  # fmt: skip

    plant, other = made(), made()
    plant.step(np.zeros(6), 2.0)
    other.take_over(plant)
    after, expected = (one.step(np.zeros(6), 2.0).q for one in (other, plant))
    np.testing.assert_allclose(after[:3], expected[:3], atol=1e-9)  # a slip would be 0.9 mm


def test_only_like_robots_are_taken_over() -> None:
    one, two = build_model(robots.pendulum()), build_model(robots.two_link())
    with pytest.raises(DimensionError, match='plant to take over'):
        Plant(one).take_over(Plant(two))
    model = one.with_armature(np.full(one.nv, 0.1))
    elastic = ElasticPlant(model, ElasticJoints.from_model(model, 100.0, 0.0))
    with pytest.raises(ConfigurationError, match='elastic and rigid'):
        SimulatedHardware(Plant(one)).take_over(SimulatedHardware(elastic))
