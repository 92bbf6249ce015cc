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
The same scenes in MuJoCo and in DART, side by side.

Both engines model contact otherwise: MuJoCo's contacts are soft (a spring of `solref` 20 ms, with
cones that let bodies creep), DART's are rigid but of first order with a linear friction pyramid,
and it pushes bodies out of each other. So heights and distances differ by what is stated with each
scene; closed forms are the judge.

"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest

from benchmark.mujoco_models import mujoco_model
from contact_scenes import at_height, box_body, floor, GRAVITY, run
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.resources import urdf_path

mujoco = pytest.importorskip('mujoco')
dart = pytest.importorskip('dartpy')

Array = NDArray[np.float64]
MU, EDGE = 0.5, 0.2


def ours(height: float, v: float, push: float, time: float) -> Array:
    model, shapes = box_body()
    plant = Plant(
        model, world=floor(friction=MU), collisions=shapes, q=at_height(model, EDGE / 2 + height),
        v=[v, 0, 0, 0, 0, 0],
    )  # fmt: skip
    return run(plant, time, np.array([push, 0, 0, 0, 0, 0])).q[:3]


def in_mujoco(height: float, v: float, push: float, time: float) -> Array:
    model, shapes = box_body()
    twin = mujoco_model(
        model, shapes, floor(friction=MU),
        option='timestep="0.001" cone="elliptic" impratio="100"', geom='solref="0.004 1"',
    )  # fmt: skip
    data = mujoco.MjData(twin)
    data.qpos[2] = EDGE / 2 + height
    data.qvel[0] = v
    data.qfrc_applied[0] = push
    mujoco.mj_step(twin, data, round(time / 1e-3))
    return np.array(data.qpos[:3])


def in_dart(height: float, v: float, push: float, time: float) -> Array:
    world = dart.simulation.World()
    world.setTimeStep(1e-3)
    world.setGravity([0, 0, -GRAVITY])
    bodies = []
    for size, z in (((EDGE,) * 3, EDGE / 2 + height), ((10.0, 10.0, 0.2), -0.1)):
        skeleton = dart.dynamics.Skeleton()
        joint, body = skeleton.createFreeJointAndBodyNodePair()
        shape = dart.dynamics.BoxShape(np.array(size))
        node = body.createShapeNode(shape)
        node.createVisualAspect()
        node.createCollisionAspect()
        node.createDynamicsAspect()
        node.getDynamicsAspect().setFrictionCoeff(MU)
        inertia = dart.dynamics.Inertia()
        inertia.setMass(1.0)
        inertia.setMoment(shape.computeInertia(1.0))
        body.setInertia(inertia)
        position = np.zeros(6)
        position[5] = z
        skeleton.setPositions(position)
        world.addSkeleton(skeleton)
        bodies.append((skeleton, body))
    bodies[1][0].setMobile(False)
    box, body = bodies[0]
    velocity = np.zeros(6)
    velocity[3] = v
    box.setVelocities(velocity)
    for _ in range(round(time / 1e-3)):
        body.addExtForce([push, 0, 0])
        world.step()
    return np.asarray(box.getPositions()[3:])


# name: arguments, closed form of (x, height above rest), tolerance of each engine
SCENES: dict[str, tuple[tuple[float, float, float, float], tuple[float, float], float]] = {
    'settle': ((0.01, 0.0, 0.0, 2.0), (0.0, 0.0), 1e-3),
    'slide': ((0.0, 1.0, 0.0, 1.0), (1.0 / (2.0 * MU * GRAVITY), 0.0), 3e-3),
    'push, held': ((0.0, 0.0, 4.0, 1.0), (0.0, 0.0), 1e-3),
    'push, moves': ((0.0, 0.0, 6.0, 1.0), (0.5 * (6.0 - MU * GRAVITY), 0.0), 3e-3),
    'drop': ((0.3, 0.0, 0.0, 0.24), (0.0, 0.3 - 0.5 * GRAVITY * 0.24**2), 2e-3),
}


def test_settle_slide_push_and_drop_side_by_side() -> None:
    engines: dict[str, Callable[..., Array]] = {
        'ours': ours, 'MuJoCo': in_mujoco, 'DART': in_dart
    }  # fmt: skip
    print(f'\n{"scene":14s}{"":8s}{"closed":>11s}' + ''.join(f'{e:>11s}' for e in engines))
    for name, (arguments, closed, tolerance) in SCENES.items():
        results = {engine: call(*arguments) for engine, call in engines.items()}
        for label, axis in (('x [m]', 0), ('z [m]', 2)):
            values = {e: r[axis] - (EDGE / 2 if axis else 0.0) for e, r in results.items()}
            expected = closed[axis // 2]
            print(f'{name:14s}{label:8s}{expected:11.6f}'
                  + ''.join(f'{value:11.6f}' for value in values.values()))  # fmt: skip
            assert values['ours'] == pytest.approx(expected, abs=2e-5)  # rigid, second order
            for engine in ('MuJoCo', 'DART'):
                # soft contact sinks and creeps by less than a millimetre; DART is of first order
                assert values[engine] == pytest.approx(expected, abs=tolerance), (name, engine)


def test_free_motion_of_the_es5_is_that_of_mujoco() -> None:
    model = load_urdf(urdf_path('es5.urdf.xacro'))
    q = np.array([0.3, -0.8, 0.9, 0.2, -0.5, 0.1])
    v = np.array([0.5, -0.4, 0.6, -0.8, 1.0, 1.5])
    state: Any = Plant(model, q=q, v=v).step(np.zeros(6), 1.0)
    twin = mujoco_model(model, option='timestep="0.001" integrator="RK4"')
    data = mujoco.MjData(twin)
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_step(twin, data, 1000)
    error = np.abs(state.q - data.qpos).max()
    print(f'ES5 in free motion over 1 s: {error:.1e} rad from MuJoCo (wanted < 1e-4)')
    assert error < 1e-6  # both of fourth order at 1 ms
