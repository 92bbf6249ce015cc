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

import builtins
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest
from scipy.spatial.transform import Rotation

from contact_scenes import at_height, box_body, energy, free_body, GRAVITY, run
from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape
from robot_dynamics_ros.core.contact.contact_patch import convex_hull, nearest, overlap
from robot_dynamics_ros.core.contact.disabled_pairs import read_disabled_pairs
from robot_dynamics_ros.core.contact.geometry import Material
from robot_dynamics_ros.core.dynamics import forward_kinematics
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.robot_model import neutral, RobotModel
from robot_dynamics_ros.core.simulation.contact_wrenches import link_wrenches
from robot_dynamics_ros.core.simulation.plant import Plant, PlantState
from robot_dynamics_ros.core.simulation.world import Box, Sphere, World
import robots

coal = pytest.importorskip('coal')

Array = NDArray[np.float64]
BALL = CollisionShape('base', 'sphere', 0.1)


def table(rotation: Any = None, **material: float) -> World:
    """Return a table whose top is level, at height zero, or turned about the middle of it."""
    rotation = np.eye(3) if rotation is None else rotation
    box = Box(
        'table', np.array([1.0, 0.8, 0.1]), rotation @ [0.1, 0.05, -0.05], rotation,
        Material(**material),
    )  # fmt: skip
    return World(boxes=(box,))


def pair_of_bodies(
    masses: tuple[float, float] = (1.0, 3.0), gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> RobotModel:
    """Return two bodies, a and b, that float freely and that nothing joins."""
    moment = (0.01, 0.012, 0.014)
    links = [robots.body(name, m, (0, 0, 0), moment) for name, m in zip('ab', masses)]
    joints = [robots.joint(f'{name}_free', 'floating', 'base', name) for name in 'ab']
    return build_model(robots.robot('pair', links, joints), gravity=gravity)


def momentum(model: RobotModel, state: PlantState) -> Array:
    """Return linear and angular momentum, about the origin, of `pair_of_bodies`."""
    poses, total = forward_kinematics(model, state.q), np.zeros(6)
    for i, mass in enumerate((1.0, 3.0)):
        rotation, v = poses.rotation[i], state.v[6 * i : 6 * i + 6]
        linear = mass * rotation @ v[:3]
        total[:3] += linear
        total[3:] += np.cross(poses.translation[i], linear)
        total[3:] += rotation @ (np.array([0.01, 0.012, 0.014]) * v[3:])
    return total


def test_ball_rests_on_a_box_with_its_weight() -> None:
    model = free_body()
    plant = Plant(model, world=table(), collisions=[BALL], q=at_height(model, 0.1))
    state = run(plant, 1.0)
    (contact,) = state.contacts
    assert (contact.link, contact.surface) == ('base', 'table')
    np.testing.assert_allclose(contact.force, [0, 0, GRAVITY], atol=1e-9)
    np.testing.assert_allclose(state.q[:3], [0, 0, 0.1], atol=1e-9)  # rigid contact: no sinking


@pytest.mark.parametrize('tilt', [0.0, 0.3])
def test_box_rests_on_a_box_on_four_corners(tilt: float) -> None:
    turn = Rotation.from_euler('zyx', [0.7, tilt, 0.0])
    model, shapes = box_body()
    q = np.array([*turn.apply([0, 0, 0.1]), *(turn * Rotation.from_euler('z', 0.4)).as_quat()])
    plant = Plant(model, world=table(turn.as_matrix()), collisions=shapes, q=q)
    state = run(plant, 1.0)
    assert len(state.contacts) == 4
    up = turn.apply([0, 0, 1])
    total = sum(contact.force for contact in state.contacts)
    np.testing.assert_allclose(total, [0, 0, GRAVITY], atol=1e-6)
    if tilt == 0.0:
        for contact in state.contacts:
            assert contact.force @ up == pytest.approx(GRAVITY / 4, rel=0.01)
    # atan(0.7) is 35 degrees: it sticks, but for what the contacts are found anew in each step
    np.testing.assert_allclose(state.q[:3], q[:3], atol=1e-6)


def test_box_across_a_beam_rests_on_what_they_share() -> None:
    beam = Box('beam', np.array([0.1, 1.0, 0.1]), np.array([0, 0, -0.05]), np.eye(3), Material())
    model, shapes = box_body(edges=(0.4, 0.2, 0.1))
    plant = Plant(model, world=World(boxes=(beam,)), collisions=shapes, q=at_height(model, 0.05))
    state = run(plant, 0.3)
    points = np.array([contact.point for contact in state.contacts])
    np.testing.assert_allclose(np.abs(points[:, :2]), np.tile([0.05, 0.1], (4, 1)), atol=1e-9)
    assert state.q[2] == pytest.approx(0.05, abs=1e-8)


@pytest.mark.parametrize('height', [0.008, 0.4])
def test_box_that_is_dropped_tilted_comes_to_rest_flat(height: float) -> None:
    model, shapes = box_body()
    turn = Rotation.from_euler('xyz', [0.02, -0.03, 0.5] if height < 0.1 else [0.4, 0.7, 0.3])
    q = np.array([0, 0, 0.1 + height, *turn.as_quat()])
    plant = Plant(model, world=table(), collisions=shapes, q=q)
    start, highest = energy(plant), -np.inf
    for _ in range(30 if height < 0.1 else 100):
        state = run(plant, 0.01)
        highest = max(highest, energy(plant, state))
        deepest = min((contact.gap for contact in state.contacts), default=0.0)
        assert deepest > -1e-4
    assert highest <= start + 1e-6
    assert state.q[2] == pytest.approx(0.1, abs=1e-5)
    assert sum(c.force[2] for c in state.contacts) == pytest.approx(GRAVITY, rel=1e-3)
    assert np.abs(state.v).max() < 1e-5


@pytest.mark.parametrize('e', [0.0, 0.5, 1.0])
def test_central_collision_of_balls_keeps_momentum_and_newtons_law(e: float) -> None:
    model = pair_of_bodies()
    shapes = [CollisionShape('a', 'sphere', 0.1), CollisionShape('b', 'sphere', 0.15)]
    world = World(link_materials=dict.fromkeys('ab', Material(restitution=e, friction=0.5)))
    q, v = neutral(model), np.zeros(12)
    q[7], v[0], v[6] = 0.4, 2.0, -0.5
    plant = Plant(model, world=world, collisions=shapes, self_collision=True, q=q, v=v)
    before, start = momentum(model, plant.state), energy(plant)
    state = run(plant, 0.2)
    np.testing.assert_allclose(momentum(model, state), before, atol=1e-12)
    assert state.v[6] - state.v[0] == pytest.approx(2.5 * e, abs=1e-9)
    lost = 0.5 * (1.0 * 3.0 / 4.0) * 2.5**2 * (1 - e**2)
    assert start - energy(plant, state) == pytest.approx(lost, abs=1e-9)
    assert state.works.contacts == pytest.approx(-lost, abs=1e-9)


@pytest.mark.parametrize('seed', range(6))
def test_bodies_that_collide_anyhow_keep_their_momentum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = {
        'box': [0.2, 0.15, 0.1], 'sphere': [0.1], 'capsule': [0.05, 0.2], 'cylinder': [0.08, 0.2]
    }  # fmt: skip
    one, other = rng.choice(list(kinds), 2)
    model = pair_of_bodies()
    shapes = [CollisionShape('a', one, kinds[one]), CollisionShape('b', other, kinds[other])]
    q, v = neutral(model), rng.normal(size=12)
    q[3:7], q[10:] = Rotation.random(2, random_state=seed).as_quat()
    q[7:10] = [0.4, 0.01, 0.02]
    for i, speed in ((0, 2.0), (1, -1.0)):
        rotation = Rotation.from_quat(q[7 * i + 3 : 7 * i + 7])
        v[6 * i : 6 * i + 3] = rotation.inv().apply([speed, 0, 0])
    material = dict.fromkeys('ab', Material(restitution=0.5, friction=0.3))
    plant = Plant(
        model, world=World(link_materials=material), collisions=shapes, self_collision=True, q=q,
        v=v,
    )  # fmt: skip
    before, impacts = momentum(model, plant.state), 0
    for _ in range(30):
        state = run(plant, 0.01)
        impacts += plant.solver_counts[1]
        poses = forward_kinematics(model, state.q)
        forces = np.einsum('bij,bj->bi', poses.rotation, state.wrenches[:, :3])
        np.testing.assert_allclose(forces[0], -forces[1], atol=1e-9)  # Newton's third law
        arms = np.cross(poses.translation, forces)
        torques = arms + np.einsum('bij,bj->bi', poses.rotation, state.wrenches[:, 3:])
        np.testing.assert_allclose(torques[0], -torques[1], atol=1e-9)
    assert impacts > 0
    # Impacts keep it to round-off. Forces that last act in the axes of the middle of a step on
    # velocities in axes that turn, so they keep it to the order of the step.
    np.testing.assert_allclose(momentum(model, state), before, atol=5e-4)


def planar_arm() -> tuple[RobotModel, list[CollisionShape]]:
    """Return three rods of 0.4 m, in the x-y plane, as capsules."""
    lengths, links, joints, shapes, parent = (0.4, 0.4, 0.4), [], [], [], 'base'
    for k, length in enumerate(lengths):
        name = f'link_{k + 1}'
        links.append(robots.rod(name, 1.0, length))
        offset = {'translation': lengths[k - 1] * robots.X} if k else {}
        joints.append(robots.joint(f'joint_{k + 1}', 'revolute', parent, name, axis=robots.Z,
                                   **offset))  # fmt: skip
        turn = Rotation.from_euler('y', np.pi / 2).as_matrix()
        shapes.append(CollisionShape(name, 'capsule', [0.03, length], turn, [length / 2, 0, 0]))
        parent = name
    model = build_model(robots.robot('arm', links, joints), gravity=(0.0, -GRAVITY, 0.0))
    return model, shapes


def test_falling_arm_is_stopped_by_a_box() -> None:
    model, shapes = planar_arm()
    block = Box('block', np.array([0.2, 0.2, 0.2]), np.array([0.9, -0.4, 0]), np.eye(3),
                Material())  # fmt: skip
    plant = Plant(model, world=World(boxes=(block,)), collisions=shapes)
    deepest = 0.0
    for _ in range(1500):
        state = run(plant, 0.001, -1.5 * plant.state.v)
        for contact in state.contacts:
            assert contact.surface == 'block'
            deepest = min(deepest, contact.gap)
    assert deepest > -1e-3
    assert state.contacts and np.abs(state.v).max() < 0.2
    distance = coal.DistanceResult()
    pose = forward_kinematics(model, state.q)
    capsules = [
        (coal.Capsule(0.03, 0.4), coal.Transform3s(
            pose.rotation[k] @ shapes[k].rotation,
            pose.translation[k] + pose.rotation[k] @ shapes[k].translation,
        )) for k in range(3)
    ]  # fmt: skip
    box = coal.Box(0.2, 0.2, 0.2), coal.Transform3s(np.eye(3), block.position)
    gaps = [
        coal.distance(*capsule, *box, coal.DistanceRequest(), distance) for capsule in capsules
    ]
    assert min(gaps) == pytest.approx(0.0, abs=1e-3)


def folding(**options: Any) -> tuple[Plant, PlantState]:
    model, shapes = planar_arm()
    plant = Plant(model, collisions=shapes, q=[0.0, 2.0, 1.5], **options)
    gravity_free = np.zeros(3)
    for _ in range(100):
        state = plant.state
        # hold the first joint and fold the others
        gravity_free[:] = [-200 * state.q[0] - 20 * state.v[0], 3.0, 3.0] - 1.0 * state.v
        state = plant.step(gravity_free, 0.01)
    return plant, state


def test_folded_arm_stops_where_it_touches_itself() -> None:
    plant, state = folding(self_collision=True)
    assert {(contact.link, contact.surface) for contact in state.contacts} == {
        ('link_1', 'link_3')
    }
    assert min(contact.gap for contact in state.contacts) > -1e-4
    assert np.abs(state.v).max() < 0.02
    wrenches = link_wrenches(plant.model, state.q, state.contacts)
    for k, link in ((0, 'link_1'), (2, 'link_3')):
        np.testing.assert_allclose(wrenches[link], state.wrenches[k], atol=1e-9)
    _, without = folding()
    assert without.contacts == () and without.q[2] > state.q[2] + 0.2
    _, disabled = folding(self_collision=True, disabled_pairs=[('link_3', 'link_1')])
    np.testing.assert_array_equal(disabled.q, without.q)


def test_neighbours_and_what_is_far_make_no_contact() -> None:
    model, shapes = planar_arm()
    plant = Plant(model, collisions=shapes, self_collision=True)
    assert run(plant, 0.05, np.zeros(3)).contacts == ()
    far = World(spheres=(Sphere('moon', 1.0, np.array([5.0, 0, 0])),))
    assert run(Plant(model, world=far, collisions=shapes), 0.05).contacts == ()


@pytest.mark.parametrize('seed', range(32))
def test_gap_is_the_distance_that_mujoco_finds(seed: int) -> None:
    mujoco = pytest.importorskip('mujoco')
    rng = np.random.default_rng(seed)
    sizes = {
        'sphere': [0.1], 'capsule': [0.05, 0.2], 'cylinder': [0.08, 0.2], 'box': [0.2, 0.15, 0.1]
    }  # fmt: skip
    kinds = [list(sizes)[seed % 4], list(sizes)[(seed // 4) % 4]]
    model = pair_of_bodies()
    shapes = [CollisionShape(name, kind, sizes[kind]) for name, kind in zip('ab', kinds)]
    scales = {'sphere': [1.0], 'box': [0.5] * 3}
    halves = [
        ' '.join(str(x) for x in np.multiply(sizes[k], scales.get(k, [1.0, 0.5]))) for k in kinds
    ]
    bodies = ''.join(
        f'<body name="{n}"><freejoint/><geom name="{n}" type="{k}" size="{h}"/></body>'
        for n, k, h in zip('ab', kinds, halves)
    )
    twin = mujoco.MjModel.from_xml_string(
        f'<mujoco><option><flag nativeccd="enable"/></option>'
        f'<worldbody>{bodies}</worldbody></mujoco>'
    )
    data = mujoco.MjData(twin)
    turns = Rotation.random(2, random_state=seed)
    data.qpos[3:7], data.qpos[10:] = turns.as_quat(scalar_first=True)
    direction = rng.normal(size=3)
    direction /= np.linalg.norm(direction)

    def distance(along: float) -> float:
        data.qpos[7:10] = along * direction
        mujoco.mj_kinematics(twin, data)
        return float(mujoco.mj_geomDistance(twin, data, 0, 1, 1.0, None))

    low, high = 0.0, 1.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if distance(middle) > 1e-3 else (middle, high)
    q = neutral(model)
    q[3:7], q[10:] = turns.as_quat()
    q[7:10] = high * direction
    plant = Plant(model, collisions=shapes, self_collision=True, q=q)
    assert plant._arrays.gap[:8].min() == pytest.approx(1e-3, abs=2e-5)


def test_mesh_touches_as_the_box_that_it_is() -> None:
    corners = 0.1 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    mesh = CollisionShape('base', 'mesh', vertices=corners)
    model, _ = box_body()
    plant = Plant(model, world=table(), collisions=[mesh], q=at_height(model, 0.1))
    state = run(plant, 0.2)
    assert [c.force[2] for c in state.contacts] == pytest.approx([GRAVITY / 4] * 4, rel=0.01)
    flat = CollisionShape('base', 'mesh', vertices=corners[corners[:, 2] > 0])
    with pytest.raises(ConfigurationError, match="link 'base': its mesh has no volume"):
        Plant(model, world=table(), collisions=[flat])


def test_cylinder_rolls_on_a_box_and_stands_on_it() -> None:
    model = free_body(1.0, (0.008, 0.008, 0.005))
    shape = CollisionShape('base', 'cylinder', [0.1, 0.2])
    stands = run(Plant(model, world=table(), collisions=[shape], q=at_height(model, 0.1)), 0.3)
    assert len(stands.contacts) == 8 and stands.q[2] == pytest.approx(0.1, abs=1e-8)
    lies = Rotation.from_euler('x', np.pi / 2)
    q = np.array([-0.2, 0, 0.1, *lies.as_quat()])
    v = np.array([*lies.inv().apply([1.0, 0, 0]), *lies.inv().apply([0, 10.0, 0])])
    state = run(Plant(model, world=table(), collisions=[shape], q=q, v=v), 0.3)
    # It rolls without slip and loses nothing.
    assert state.q[0] == pytest.approx(0.1, abs=1e-6)
    assert state.q[2] == pytest.approx(0.1, abs=1e-7)


def test_ball_on_a_ball_of_the_world_is_in_unstable_balance() -> None:
    globe = World(spheres=(Sphere('globe', 0.3, np.array([0.0, 0.0, -0.3])),))
    model = free_body(moments=(0.004, 0.004, 0.004))
    start = 0.05
    q = at_height(model, 0.0)
    q[:3] = [0.4 * np.sin(start), 0.0, 0.4 * np.cos(start) - 0.3]
    plant = Plant(model, world=globe, collisions=[BALL], q=q)
    state = run(plant, 0.5)
    angle = np.arctan2(state.q[0], state.q[2] + 0.3)
    # A rolling ball (I = 0.4 m r^2): 1.4 (R + r) phi'' = g sin phi.
    rate = np.sqrt(GRAVITY / (1.4 * 0.4))
    assert angle == pytest.approx(start * np.cosh(rate * 0.5), rel=0.01)
    assert np.hypot(state.q[0], state.q[2] + 0.3) == pytest.approx(0.4, abs=1e-5)


def test_compliant_ball_sinks_into_a_box_by_its_weight_over_the_stiffness() -> None:
    model = free_body()
    plant = Plant(
        model, world=table(stiffness=1e4, dissipation=10.0), collisions=[BALL],
        q=at_height(model, 0.1), contact_model='compliant',
    )  # fmt: skip
    assert run(plant, 2.0).q[2] == pytest.approx(0.1 - GRAVITY / 1e4, rel=1e-4)


def test_compliant_box_on_a_slope_does_not_creep() -> None:
    turn = Rotation.from_euler('y', 0.2)
    model, shapes = box_body()
    q = np.array([*turn.apply([0, 0, 0.1]), *turn.as_quat()])
    plant = Plant(
        model, world=table(turn.as_matrix(), stiffness=1e5), collisions=shapes, q=q,
        contact_model='compliant',
    )  # fmt: skip
    settled = run(plant, 1.0).q
    np.testing.assert_allclose(run(plant, 1.0).q[:3], settled[:3], atol=1e-6)


def test_box_settles_as_in_mujoco() -> None:
    mujoco = pytest.importorskip('mujoco')
    turn = Rotation.from_euler('xyz', [0.3, 0.2, 0.1])
    model, shapes = box_body()
    q = np.array([0, 0, 0.2, *turn.as_quat()])
    state = run(Plant(model, world=table(friction=0.5), collisions=shapes, q=q), 1.5)
    x, y, z, w = turn.as_quat()
    twin = mujoco.MjModel.from_xml_string(f"""<mujoco>
      <option timestep="0.0005" cone="elliptic" impratio="100"/>
      <default><geom friction="0.5" solref="0.002 1"/></default><worldbody>
      <geom type="box" size="0.5 0.4 0.05" pos="0.1 0.05 -0.05"/>
      <body pos="0 0 0.2" quat="{w} {x} {y} {z}"><freejoint/>
        <inertial mass="1" pos="0 0 0" diaginertia="{' '.join(['0.00666666667'] * 3)}"/>
        <geom type="box" size="0.1 0.1 0.1"/></body></worldbody></mujoco>""")
    data = mujoco.MjData(twin)
    mujoco.mj_step(twin, data, 3000)
    # Both come to rest flat on the same side; where depends on the impacts, which MuJoCo softens.
    np.testing.assert_allclose(state.q[:2], data.qpos[:2], atol=0.02)
    assert state.q[2] == pytest.approx(data.qpos[2], abs=1e-3)
    assert sum(c.force[2] for c in state.contacts) == pytest.approx(GRAVITY, rel=1e-3)
    np.testing.assert_allclose(
        Rotation.from_quat(state.q[3:]).as_matrix()[2],
        Rotation.from_quat(np.roll(data.qpos[3:], -1)).as_matrix()[2], atol=5e-3,
    )  # fmt: skip


def test_fixed_world_pairs_can_be_disabled() -> None:
    model = free_body()
    boxes = table().boxes
    world = World(boxes=boxes, disabled_pairs=(('table', 'base'),))
    plant = Plant(model, world=world, collisions=[BALL], q=at_height(model, 0.1))
    assert run(plant, 0.5).q[2] == pytest.approx(0.1 - 0.5 * GRAVITY * 0.25, abs=1e-9)
    with pytest.raises(ConfigurationError, match="surface 'base', and the robot has a link"):
        Plant(model, world=World(spheres=(Sphere('base', 1.0, np.zeros(3)),)), collisions=[BALL])
    with pytest.raises(ConfigurationError, match="disabled_pairs names 'tabel'"):
        Plant(model, world=World(boxes=boxes), collisions=[BALL],
              disabled_pairs=[('tabel', 'base')])  # fmt: skip


def test_files_of_disabled_pairs_are_read_strictly(tmp_path: Path) -> None:
    path = tmp_path / 'pairs.yaml'
    path.write_text('disabled_pairs: [[a, b], [c, d]]')
    assert read_disabled_pairs(path) == (('a', 'b'), ('c', 'd'))
    srdf = tmp_path / 'robot.srdf'
    srdf.write_text(
        '<robot name="r"><disable_collisions link1="a" link2="b" reason="Never"/></robot>'
    )
    assert read_disabled_pairs(srdf) == (('a', 'b'),)
    for text, match in (
        ('pairs: []', 'expected one key, disabled_pairs'),
        ('disabled_pairs: {a: b}', 'expected a list of pairs'),
        ('disabled_pairs: [[a, b, c]]', 'expected two different names'),
        ('disabled_pairs: [[a, a]]', 'expected two different names'),
        ('disabled_pairs: [[a, 1]]', 'expected two different names'),
        ('[', 'cannot be read'),
    ):
        path.write_text(text)
        with pytest.raises(ConfigurationError, match=match) as caught:
            read_disabled_pairs(path)
        assert '\n' not in str(caught.value)
    srdf.write_text('<!DOCTYPE r [<!ENTITY a "b">]><robot/>')
    with pytest.raises(ConfigurationError, match='cannot be read'):
        read_disabled_pairs(srdf)
    with pytest.raises(ConfigurationError, match='cannot be read'):
        read_disabled_pairs(tmp_path / 'none.yaml')


def test_missing_coal_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = builtins.__import__

    def without_coal(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == 'coal':
            raise ImportError('No module named coal')
        return found(name, *args, **kwargs)

    monkeypatch.setattr(builtins, '__import__', without_coal)
    with pytest.raises(ConfigurationError, match='pip install coal'):
        Plant(free_body(), world=table(), collisions=[BALL])
    assert Plant(free_body(), world=World.with_floor(), collisions=[BALL]).state.contacts


def test_failed_step_leaves_the_contacts_as_they_were() -> None:
    model, shapes = box_body()
    plant = Plant(model, world=table(), collisions=shapes, q=at_height(model, 0.1))
    before = run(plant, 0.1)
    with pytest.raises(ConfigurationError):
        plant.step(np.zeros(6), -1.0)
    q, v = np.empty((10, 7)), np.empty((10, 6))
    plant.advance(np.zeros((10, 6)), 1e-3, q, v)
    np.testing.assert_allclose(q[-1], before.q, atol=1e-8)
    assert len(plant.state.contacts) == 4


def test_polygons_overlap() -> None:
    square = convex_hull([(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.5), (0.5, 0)])
    assert sorted(square) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert sorted(overlap(square, [(0.5, 0.5), (2, 0.5)])) == [(0.5, 0.5), (1, 0.5)]
    assert overlap([(0.2, 0.3)], square) == [(0.2, 0.3)] and overlap(square, [(2, 2)]) == []
    assert overlap([(0, 0), (1, 1)], [(0, 1), (1, 0)]) == [(0.5, 0.5)]
    assert sorted(overlap([(0, 0), (2, 0)], [(1, 0), (3, 0)])) == [(1, 0), (2, 0)]
    assert overlap([(0, 0), (1, 0)], [(2, -1), (2, 1)]) == []
    assert nearest(square, (0.3, 0.4)) == (0.3, 0.4) and nearest(square, (2, 0.5)) == (1, 0.5)
    assert nearest([(0, 0), (1, 0)], (3, 1)) == (1, 0) and nearest([(1, 2)], (0, 0)) == (1, 2)


@pytest.mark.parametrize(('seed', 'time'), [(2, 0.6), (5, 1.0)])
def test_bodies_that_tumble_into_a_crate_stay_whole(seed: int, time: float) -> None:
    material = Material(friction=0.5, restitution=0.3 if seed % 2 else 0.0)
    walls = [([2, 2, 0.2], [0, 0, -0.1])]
    walls += [([0.2, 2, 1], [x, 0, 0.4]) for x in (0.6, -0.6)]
    walls += [([2, 0.2, 1], [0, y, 0.4]) for y in (0.6, -0.6)]
    world = World(
        boxes=tuple(
            Box(f'wall_{k}', np.array(size, float), np.array(at, float), np.eye(3), material)
            for k, (size, at) in enumerate(walls)
        ),
        spheres=(Sphere('ball', 0.15, np.array([0.1, 0.05, 0.02]), material),),
    )
    vertices = np.random.default_rng(5).normal(size=(20, 3))
    vertices *= 0.1 / np.linalg.norm(vertices, axis=1)[:, None]
    sizes = {
        'box': [0.2, 0.15, 0.1], 'sphere': [0.08], 'capsule': [0.05, 0.2],
        'cylinder': [0.08, 0.2], 'mesh': [],
    }  # fmt: skip
    rng = np.random.default_rng(seed)
    shapes = [
        CollisionShape(n, k, sizes[k], vertices=vertices if k == 'mesh' else np.zeros((0, 3)))
        for n, k in zip('abc', rng.choice(list(sizes), 3))
    ]
    masses = (1.0, 2.0, 0.5)
    links = [robots.body(n, m, (0, 0, 0), (0.01, 0.012, 0.014)) for n, m in zip('abc', masses)]
    joints = [robots.joint(f'{n}_free', 'floating', 'base', n) for n in 'abc']
    model = build_model(robots.robot('three', links, joints))
    q, v = neutral(model), rng.normal(size=18)
    for i in range(3):
        q[7 * i : 7 * i + 3] = [0.3 * np.cos(2.1 * i), 0.3 * np.sin(2.1 * i), 0.5 + 0.1 * i]
        q[7 * i + 3 : 7 * i + 7] = Rotation.random(random_state=3 * seed + i).as_quat()
    plant = Plant(model, world=world, collisions=shapes, self_collision=True, q=q, v=v)
    start = highest = energy(plant)
    for _ in range(round(time / 0.01)):
        state = run(plant, 0.01)
        after = energy(plant, state)
        assert after <= highest + 1e-3  # what it costs to put bodies out of each other
        highest = min(highest, after)
        assert min((contact.gap for contact in state.contacts), default=0.0) > -1e-3
        assert state.residual < 1e-6
    assert highest < 0.5 * start
    assert (state.q[2::7] > 0.0).all() and (np.abs(state.q[[0, 1, 7, 8, 14, 15]]) < 0.5).all()
