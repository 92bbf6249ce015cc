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

"""
Speed of simulation with contact against mj_step of MuJoCo, side by side in one run on one core.

Both make blocks of steps in one call, MuJoCo with its default solver and, unless it says RK4, its
default integrator, which evaluates the dynamics once a step; the Runge-Kutta method evaluates them
four times. Then the time of a step by number of links, and many rollouts at once.

"""

from __future__ import annotations

from functools import partial
import os
import time

os.environ.setdefault('OMP_NUM_THREADS', '1')

import mujoco
from mujoco.rollout import rollout as mujoco_rollout
import numpy as np

from mujoco_models import mujoco_model
from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape, read_collisions
from robot_dynamics_ros.core.dynamics import (
    frame_jacobian,
    frame_placement,
    generalized_gravity,
    ReferenceFrame,
)
from robot_dynamics_ros.core.model import load_urdf, RobotModel
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import (
    Inertial,
    Joint,
    JointType,
    Link,
    RobotDescription,
)
from robot_dynamics_ros.core.model.robot_model import neutral
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.core.simulation.rollout import plants_for_rollout, rollout
from robot_dynamics_ros.core.simulation.world import World
from robot_dynamics_ros.resources import urdf_path
from side_by_side import time_pair

STEP = 1e-3
STEPS = 500


def main() -> None:
    """Print the tables."""
    print(f'{"scene":34s}{"ours":>9s}{"MuJoCo":>9s}{"ratio":>8s}{"wanted":>9s}   [us a step]')
    es5 = load_urdf(urdf_path('es5.urdf.xacro'))
    q = np.array([0.3, -0.8, 0.9, 0.2, -0.5, 0.1])
    free = partial(_compare, es5, (), World(), q, np.zeros(6))
    free('ES5 free, semi-implicit, Euler', 0.4, integrator='semi_implicit')
    free('ES5 free, RK4, RK4', 0.4, option='integrator="RK4"')
    free('ES5 free, RK4, Euler', 0.4)
    q = np.array([0.3, 0.6, 0.9, 0.2, -0.5, 0.1])
    tool = frame_placement(es5, q, 'tool0').translation
    rows = frame_jacobian(es5, q, 'tool0', ReferenceFrame.LOCAL_WORLD_ALIGNED)[:3]
    press = generalized_gravity(es5, q) + rows.T @ [0.0, 0.0, -20.0]
    tip = (CollisionShape('tool0', 'sphere', 0.02),)
    floor = World.with_floor(float(tool[2]) - 0.02)
    _compare(es5, tip, floor, q, press, 'ES5, one contact', 0.5)
    path = urdf_path('five_link_biped_floating.urdf')
    biped = load_urdf(path)
    q = np.array([0.0, 0.8 * np.cos(0.25), 0.0, 0.25, 0.0, -0.25, 0.0])
    q[1] = 0.785 * np.cos(0.25) + 0.015
    # torques of a statically standing robot, both feet alike
    tau = generalized_gravity(biped, q)
    for foot, along in (('left_foot', 20.0), ('right_foot', -20.0)):
        rows = frame_jacobian(biped, q, foot, ReferenceFrame.LOCAL_WORLD_ALIGNED)[:3]
        tau -= rows.T @ [along, 0.0, 0.5 * 9.81 * biped.moving_mass]
    tau[:3] = 0.0
    _compare(biped, read_collisions(path), World.with_floor(), q, tau, 'biped, two feet', 0.7, 50)
    inertial = Inertial(10.0, np.zeros(3), 0.1 * np.eye(3))
    box = build_model(RobotDescription('box', (Link('base', inertial),), ()), floating_base=True)
    places = [(0.1 * x - 0.15, 0.1 * y - 0.15, -0.1) for x in range(4) for y in range(4)]
    feet = [CollisionShape('base', 'sphere', 0.02, translation=place) for place in places]
    q = neutral(box)
    q[2] = 0.12
    _compare(box, feet, World.with_floor(), q, np.zeros(6), 'box on 16 contacts', 1.0)
    slide = np.array([90.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    _compare(box, feet, World.with_floor(), q, slide, 'box that slides on 16 contacts', 1.0)
    _links()
    _rollouts(es5)


def _compare(
    model: RobotModel,
    shapes: tuple[CollisionShape, ...] | list[CollisionShape],
    world: World,
    q: np.ndarray,
    tau: np.ndarray,
    name: str,
    wanted: float,
    steps: int = STEPS,
    *,
    option: str = '',
    integrator: str = 'rk4',
) -> None:
    plant = Plant(
        model, world=world, collisions=shapes, dt_internal=STEP, integrator=integrator, q=q
    )
    twin = mujoco_model(model, shapes, world, option=f'timestep="{STEP}" {option}')
    data = mujoco.MjData(twin)
    start = q.copy()
    if model.options.floating_base:
        start[3:7] = q[[6, 3, 4, 5]]

    def reset() -> None:
        plant.reset(q)
        mujoco.mj_resetData(twin, data)
        data.qpos[:] = start
        data.qfrc_applied[:] = tau

    pair = time_pair(
        lambda: plant.step(tau, steps * STEP),
        lambda: mujoco.mj_step(twin, data, steps),
        calls=1,
        rounds=25,
        before=reset,
    )
    scale = 1e6 / steps
    print(
        f'{name:34s}{scale * pair.ours:9.2f}{scale * pair.theirs:9.2f}{pair.ratio:8.2f}'
        f'{"<= " + format(wanted, ".1f"):>9s}   {len(plant.state.contacts)} contacts, '
        f'MuJoCo {data.ncon}'
    )


def _links() -> None:
    print('\nfree motion by number of links [us a step], and for each link')
    for count in (10, 25, 50, 100):
        inertial = Inertial(1.0, np.array([0.05, 0.0, 0.0]), 0.01 * np.eye(3))
        links = [Link('base'), *(Link(f'link_{i}', inertial) for i in range(count))]
        joints = [
            Joint(
                f'joint_{i}', JointType.REVOLUTE, links[i].name, links[i + 1].name,
                translation=np.array([0.1, 0.0, 0.0]), axis=np.eye(3)[1 + i % 2],
            )
            for i in range(count)
        ]  # fmt: skip
        model = build_model(RobotDescription('chain', tuple(links), tuple(joints)))
        plant = Plant(model, integrator='semi_implicit', dt_internal=1e-4)
        torque = np.zeros(count)
        plant.step(torque, 1e-4)
        times = []
        for _ in range(7):
            plant.reset()
            start = time.perf_counter()
            plant.step(torque, 200 * 1e-4)
            times.append((time.perf_counter() - start) / 200)
        median = 1e6 * float(np.median(times))
        print(f'{count:6d} links: {median:8.2f} ({median / count:.3f})')


def _rollouts(model: RobotModel) -> None:
    count, steps = 1000, 100
    rng = np.random.default_rng(0)
    q, v = rng.uniform(-1, 1, (count, 6)), rng.normal(size=(count, 6))
    tau = rng.normal(size=(count, steps, 6))
    plants = plants_for_rollout(model, integrator='semi_implicit', dt_internal=STEP)
    twin = mujoco_model(model, option=f'timestep="{STEP}"')
    data = [mujoco.MjData(twin) for _ in plants]
    state = np.concatenate((np.zeros((count, 1)), q, v), axis=1)
    pair = time_pair(
        lambda: rollout(plants, q, v, tau, STEP),
        lambda: mujoco_rollout(twin, data, initial_state=state, nstep=steps),
        calls=1,
        rounds=5,
    )
    ours, theirs = (count * steps / t / len(plants) for t in (pair.ours, pair.theirs))
    print(f'\n{count} rollouts of the ES5 on {len(plants)} cores: {ours / 1e3:.0f} thousand steps '
          f'a second and core, MuJoCo {theirs / 1e3:.0f}')  # fmt: skip


if __name__ == '__main__':
    main()
