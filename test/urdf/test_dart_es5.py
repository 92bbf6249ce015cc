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
The ES5 file in DART, the engine that Gazebo runs by default.

DART reads the expanded file itself. Its integrator is of first order (semi-implicit Euler), so
free motion is compared after extrapolation to a step of zero.

"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest
import xacro

from robot_dynamics_ros.core.control.laws import InverseDynamicsLaw
from robot_dynamics_ros.core.dynamics import crba, generalized_gravity
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.core.trajectory.scenarios import scenario
from robot_dynamics_ros.resources import config_path, urdf_path
from robot_dynamics_ros.ros.parameters import yaml_values

dart = pytest.importorskip('dartpy')

Array = NDArray[np.float64]
GRAVITY = (0.0, 0.0, -9.81)
START = np.array([0.3, -0.8, 0.9, 0.2, -0.5, 0.1])
SPEED = np.array([0.5, -0.4, 0.6, -0.8, 1.0, 1.5])
VARIANTS: list[dict[str, str]] = [
    {},
    {'inertia_set': 'es5_cylinder'},
    {'hardware_plugin': 'none', 'gazebo_topics': 'true'},
]


def expanded(**arguments: str) -> str:
    document = xacro.process_file(str(urdf_path('es5.urdf.xacro')), mappings=arguments)
    return str(document.toxml())


def skeleton_of(text: str, is_frictionless: bool = True) -> Any:
    options = dart.utils.DartLoaderOptions()
    options.mDefaultRootJointType = dart.utils.DartLoaderRootJointType.FIXED
    # tool0 has no inertia. DART's reader would give it 1 kg; Gazebo lumps it into link_6.
    options.mDefaultInertia = dart.dynamics.Inertia(1e-15, np.zeros(3), 1e-15 * np.eye(3))
    loader = dart.utils.DartLoader()
    loader.setOptions(options)
    skeleton = loader.parseSkeletonString(text, 'file:///es5.urdf')
    skeleton.setGravity(np.array(GRAVITY))
    if is_frictionless:
        for index in range(skeleton.getNumDofs()):
            skeleton.getDof(index).setDampingCoefficient(0.0)
            skeleton.getDof(index).setCoulombFriction(0.0)
    return skeleton


@pytest.fixture(params=VARIANTS, ids=str)
def pair(request: pytest.FixtureRequest) -> tuple[RobotModel, Any]:
    text = expanded(**request.param)
    model, skeleton = load_urdf(text), skeleton_of(text)
    names = [skeleton.getDof(index).getName() for index in range(skeleton.getNumDofs())]
    assert names == list(model.joint_names)
    return model, skeleton


def test_mass_matrix_and_gravity_are_those_of_dart(pair: tuple[RobotModel, Any]) -> None:
    model, skeleton = pair
    rng = np.random.default_rng(21)
    for _ in range(20):
        q = rng.uniform(-np.pi, np.pi, 6)
        skeleton.setPositions(q)
        np.testing.assert_allclose(crba(model, q), skeleton.getMassMatrix(), rtol=0, atol=1e-9)
        gravity = generalized_gravity(model, q)
        np.testing.assert_allclose(gravity, skeleton.getGravityForces(), rtol=0, atol=1e-9)


def dart_motion(skeleton: Any, duration: float, steps: int) -> Array:
    world = dart.simulation.World()
    world.setGravity(np.array(GRAVITY))
    world.setTimeStep(duration / steps)
    world.addSkeleton(skeleton)
    skeleton.setPositions(START)
    skeleton.setVelocities(SPEED)
    for _ in range(steps):
        world.step()
    world.removeSkeleton(skeleton)
    return np.array(skeleton.getPositions())


def test_free_motion_converges_to_ours(pair: tuple[RobotModel, Any]) -> None:
    model, skeleton = pair
    duration = 0.25
    ours = Plant(model, dt_internal=1e-4, q=START, v=SPEED).step(np.zeros(6), duration).q
    steps = 250 * 2 ** np.arange(4)  # 1 ms, as Gazebo, to 0.125 ms
    motions = [dart_motion(skeleton, duration, int(count)) for count in steps]
    errors = np.array([np.abs(motion - ours).max() for motion in motions])
    # First order: half the step, half the error, but for terms of second order.
    np.testing.assert_allclose(errors[1:] / errors[:-1], 0.5, atol=2e-3)
    # Richardson: each column of the table takes one order of the step away.
    table = motions
    for order in (1, 2, 3):
        table = [
            (2**order * fine - coarse) / (2**order - 1) for coarse, fine in zip(table, table[1:])
        ]
    # What is left: the term of fourth order, and RK4's own error. 1e-11 was seen, of 5e-3 at 1 ms.
    assert np.abs(table[0] - ours).max() < 1e-10


def test_settings_for_gazebo_follow_a_trajectory() -> None:
    """Steps of 1 ms, torques at 500 Hz that come one period late, damping as in the file."""
    text = expanded(hardware_plugin='none', gazebo_topics='true')
    model, skeleton = load_urdf(text), skeleton_of(text, is_frictionless=False)
    path = config_path('inverse_dynamics_node.yaml')
    changes = path.parent / 'gazebo' / path.name
    settings = {**yaml_values(path), **yaml_values(changes)}
    assert not np.any(settings['armature'])
    assert settings['friction_source'] == 'urdf'
    law = InverseDynamicsLaw(
        model,
        settings['mode'],
        gravity_compensated_by_hardware=False,
        kp=settings['kp'],
        kd=settings['kd'],
        friction=FrictionModel.from_model(model),
    )
    motion = scenario('all_axes', amplitude=0.9, time_scale=2.0)
    world = dart.simulation.World()
    world.setGravity(np.array(GRAVITY))
    world.setTimeStep(1e-3)
    world.addSkeleton(skeleton)
    skeleton.setPositions(motion.sample(0.0)[0])
    late = law.command(motion.sample(0.0)[0], np.zeros(6), motion.sample(0.0)).copy()
    worst = 0.0
    for time in np.arange(0.0, motion.duration, 2e-3):
        tau, reference = late, motion.sample(float(time))
        q = np.ascontiguousarray(skeleton.getPositions())
        worst = max(worst, float(np.abs(q - reference[0]).max()))
        late = law.command(q, np.ascontiguousarray(skeleton.getVelocities()), reference).copy()
        for _ in range(2):
            skeleton.setForces(tau)
            world.step()
    assert worst < 6e-3  # 3.8 mrad were seen, 2 ms late at up to 1.1 rad/s
