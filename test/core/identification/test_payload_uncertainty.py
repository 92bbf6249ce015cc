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

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
import pinocchio
import pytest

from identification_scenes import dry_friction, simulated_log, SimulatedLog
from robot_dynamics_ros.core.dynamics import dynamic_parameters, rnea_batch
from robot_dynamics_ros.core.exceptions import ConfigurationError, UnknownFrameError
from robot_dynamics_ros.core.identification.identification_model import (
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.joint_samples import joint_samples, JointSamples
from robot_dynamics_ros.core.identification.payload_columns import (
    parameter_transform,
    payload_regressor,
    six_of,
)
from robot_dynamics_ros.core.identification.payload_fit import (
    divergence_hessian,
    payload_from_two_motions,
    payload_of_known_arm,
    payload_quantities,
    PayloadFit,
    QUANTITIES,
)
from robot_dynamics_ros.core.identification.possible_bodies import (
    body_pseudo_inertia,
    divergence,
)
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.model.urdf_source import read_source
from robot_dynamics_ros.core.model.xacro_source import expand_xacro
from robot_dynamics_ros.resources import urdf_path

Array = NDArray[np.float64]

NOISE = np.array([0.8, 1.5, 1.0, 0.3, 0.3, 0.2])  # [N m], 10 % of the wrist's efforts
COULOMB = np.array([7.0, 7.0, 5.0, 1.5, 1.5, 1.0])  # not in the arm's description
CUTOFF = 8.0


@dataclass(frozen=True)
class Scene:
    """The ES5, its tool, and a log without and with it."""

    robot: RobotModel
    tool: Payload
    unloaded: SimulatedLog
    loaded: SimulatedLog


@pytest.fixture(scope='module')
def scene() -> Scene:
    robot = load_urdf(urdf_path('es5.urdf.xacro'))
    tool = Payload(2.0, 'tool0', np.array([0.02, -0.03, 0.08]), np.diag([6e-3, 5e-3, 3e-3]))
    friction = dry_friction(robot, np.array([8.0, 8.0, 6.0, 1.5, 1.5, 1.0]), COULOMB)
    logs = [
        simulated_log(arm, friction, 20.0, seed=k, size=1.0, highest=0.6, is_compensated=True)
        for k, arm in enumerate((robot, robot.with_payload(tool)), start=1)
    ]
    return Scene(robot, tool, *logs)


def noisy(log: SimulatedLog, rng: np.random.Generator) -> JointSamples:
    log = log.with_noise(rng, 2e-5, 1e-3, NOISE)
    samples = joint_samples(log.stamps, log.position, log.velocity, log.effort, 4.0 * CUTOFF)
    return samples.between(2.0, 19.5).without_standstill(0.05)


def bodies_of(arm: IdentificationModel) -> Array:
    """Return parameters without friction, rotors and offsets."""
    parameters = np.array(arm.prior)
    parameters[arm.n_inertial :] = 0.0
    return parameters


def identified(scene: Scene, way: str, seed: int) -> PayloadFit:
    rng = np.random.default_rng(seed)
    unloaded, loaded = noisy(scene.unloaded, rng), noisy(scene.loaded, rng)
    arm = identification_model(scene.robot)
    if way == 'two runs':
        return payload_from_two_motions(arm, [unloaded], [loaded], 'tool0', CUTOFF)
    return payload_of_known_arm(arm, bodies_of(arm), [loaded], 'tool0', CUTOFF)


def parameters_of(payload: Payload) -> Array:
    inertia = payload.spatial_inertia()
    return np.array([inertia.mass, *inertia.first_moment, *six_of(inertia.rotational)])


@pytest.mark.parametrize('way', ['two runs', 'known arm'])
def test_tool_is_found_and_intervals_hold_it(scene: Scene, way: str) -> None:
    truth = payload_quantities(parameters_of(scene.tool))
    held = []
    for seed in range(2):
        found = identified(scene, way, seed)
        assert abs(found.payload.mass - 2.0) < 0.02  # 1 %
        assert np.abs(found.payload.com - scene.tool.com).max() < 2e-3
        assert np.linalg.eigvalsh(body_pseudo_inertia(found.parameters))[0] > 0.0
        assert found.undetermined == ()
        assert (found.errors < 0.5 * found.errors_without)[1]  # the shoulder carries it
        held.append(np.abs(found.values - truth) < 1.96 * found.value_deviation)
    # 20 intervals of 95 %: 3 standard deviations of 20 independent ones.
    assert np.mean(held) > 0.8


@pytest.mark.soak
@pytest.mark.parametrize('way', ['two runs', 'known arm'])
def test_intervals_hold_the_tool_in_nine_of_ten_runs(scene: Scene, way: str) -> None:
    truth = payload_quantities(parameters_of(scene.tool))
    held = []
    for seed in range(100, 120):
        found = identified(scene, way, seed)
        held.append(np.abs(found.values - truth) < 1.96 * found.value_deviation)
    # 200 intervals of 95 %; errors of friction at rest, which the model does not have, included.
    assert 0.88 < np.mean(held) < 0.995


def test_payload_columns_are_those_of_a_body_appended_in_pinocchio(scene: Scene) -> None:
    text = expand_xacro(read_source(urdf_path('es5.urdf.xacro')))
    twin, loaded = (pinocchio.buildModelFromXML(text) for _ in range(2))
    frame = twin.frames[twin.getFrameId('tool0')]
    body = np.array([1.7, 0.05, -0.1, 0.2, 0.04, 0.002, 0.05, -0.003, 0.004, 0.03])
    inertia = pinocchio.Inertia.FromDynamicParameters(body)
    parent = frame.parentJoint if hasattr(frame, 'parentJoint') else frame.parent
    loaded.appendBodyToJoint(parent, inertia, frame.placement)
    rng = np.random.default_rng(2)
    q, v, a = rng.normal(size=(3, 20, 6))
    before, after = twin.createData(), loaded.createData()
    expected = [
        pinocchio.rnea(loaded, after, *state) - pinocchio.rnea(twin, before, *state)
        for state in zip(q, v, a)
    ]
    columns = payload_regressor(scene.robot, 'tool0', q, v, a)
    assert np.allclose(columns @ body, expected, atol=1e-10)


def test_columns_and_payload_are_those_of_the_model_with_it(scene: Scene) -> None:
    rng = np.random.default_rng(3)
    q, v, a = rng.normal(size=(3, 20, 6))
    extra = payload_regressor(scene.robot, 'tool0', q, v, a) @ parameters_of(scene.tool)
    loaded = rnea_batch(scene.robot.with_payload(scene.tool), q, v, a)
    assert np.allclose(extra, loaded - rnea_batch(scene.robot, q, v, a), atol=1e-10)
    found = identified(scene, 'two runs', 0)
    model = scene.robot.with_payload(found.payload)
    added = dynamic_parameters(model) - dynamic_parameters(scene.robot)
    frame = scene.robot.frame('tool0')
    expected = parameter_transform(frame.rotation, frame.translation) @ found.parameters
    assert np.allclose(added[50:], expected, atol=1e-12)
    stated = found.node_parameters()
    assert stated['payload.frame'] == 'tool0'
    xx, xy, xz, yy, yz, zz = np.array(stated['payload.inertia'])
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    assert np.allclose(tensor, found.payload.inertia, atol=1e-12)


def exact_run(robot: RobotModel, moving: list[int], highest: float, seed: int) -> JointSamples:
    """Return samples of some joints that move, with white noise on the efforts."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, 20.0, 0.02)
    w = 2.0 * np.pi * highest * rng.uniform(0.3, 1.0, 6)
    angle = w * t[:, None] + rng.uniform(0.0, 6.0, 6)
    size = np.isin(np.arange(6), moving) * 1.0
    q = size * np.sin(angle) + 0.3
    v, a = size * w * np.cos(angle), -size * w**2 * np.sin(angle)
    tau = rnea_batch(robot, q, v, a) + 0.1 * rng.normal(size=q.shape)
    return JointSamples(t, q, v, a, tau, np.ones(q.shape, dtype=bool))


def test_slow_motion_shows_mass_and_centre_but_no_inertia(scene: Scene) -> None:
    loaded = scene.robot.with_payload(scene.tool)
    run = exact_run(loaded, [0, 1, 2, 3, 4, 5], 0.05, 1)
    arm = identification_model(scene.robot)
    prior = Payload(2.5, 'tool0', np.array([0.0, 0.0, 0.1]), np.diag([4e-3, 4e-3, 2e-3]))
    found = payload_of_known_arm(
        arm, bodies_of(arm), [run], 'tool0', None, refit_drives=False, prior=prior
    )
    assert found.undetermined == QUANTITIES[4:]
    assert (
        np.abs(found.values[:4] - payload_quantities(parameters_of(scene.tool))[:4]).max() < 0.01
    )
    # The prior's own inertia for each kilogram, within the spread that it has by itself.
    assert np.all(np.diag(found.payload.inertia) < 3.0 * np.diag(prior.inertia))


def test_turning_the_flange_alone_shows_no_mass(scene: Scene) -> None:
    loaded = scene.robot.with_payload(scene.tool)
    run = exact_run(loaded, [5], 0.8, 1)
    arm = identification_model(scene.robot)
    # Offsets take the constant weight, and inertia across the axis of the flange never moves.
    prior = Payload(1.5, 'tool0', np.zeros(3), np.diag([6e-3, 6e-3, 6e-3]))
    found = payload_of_known_arm(arm, bodies_of(arm), [run], 'tool0', None, prior=prior)
    assert {'mass', 'ixx', 'iyy'} <= set(found.undetermined)
    assert 'izz' not in found.undetermined
    assert np.linalg.eigvalsh(body_pseudo_inertia(found.parameters))[0] > 0.0
    # Of a body that nobody knows no mass is made up.
    with pytest.raises(ConfigurationError, match='does not show the mass of the payload'):
        payload_of_known_arm(arm, bodies_of(arm), [run], 'tool0', None)


def test_rest_shows_what_gravity_does_and_nothing_behind_offsets(scene: Scene) -> None:
    loaded = scene.robot.with_payload(scene.tool)
    still = exact_run(loaded, [], 0.5, 1)
    moving = exact_run(scene.robot, [0, 1, 2, 3, 4, 5], 0.5, 2)
    arm = identification_model(scene.robot)
    found = payload_from_two_motions(arm, [moving], [still], 'tool0', None)
    assert abs(found.payload.mass - 2.0) < 0.02
    assert set(QUANTITIES[4:]) <= set(found.undetermined)
    with pytest.raises(ConfigurationError, match='does not show the mass of the payload'):
        payload_of_known_arm(arm, bodies_of(arm), [still], 'tool0', None)


def test_hessian_is_that_of_the_divergence() -> None:
    body = np.array([2.0, 0.1, -0.2, 0.3, 0.5, 0.02, 0.6, -0.03, 0.04, 0.4])
    hessian = divergence_hessian(body)
    step = 1e-4 * np.eye(10)
    numeric = [
        [
            divergence(body + x + y, body)
            - divergence(body + x - y, body)
            - divergence(body - x + y, body)
            + divergence(body - x - y, body)
            for x in step
        ]
        for y in step
    ]
    # Second differences of steps of 1e-4: errors of 1e-8 relative and 1e-16 / 1e-8 absolute.
    assert np.allclose(np.array(numeric) / 4e-8, hessian, rtol=1e-4, atol=1e-4)


def test_errors_say_what_was_expected(scene: Scene) -> None:
    arm = identification_model(scene.robot)
    run = exact_run(scene.robot, [0, 1], 0.5, 1)
    with pytest.raises(UnknownFrameError, match='hand'):
        payload_from_two_motions(arm, [run], [run], 'hand', None)
    with pytest.raises(ConfigurationError, match="'base_link' does not move"):
        payload_from_two_motions(arm, [run], [run], 'base_link', None)
    with pytest.raises(ConfigurationError, match="expected a mass at 'tool0'"):
        payload_of_known_arm(arm, arm.prior, [run], 'tool0', None, prior=Payload(1.0, 'link_6'))
    for motions in ([], [replace(run, use=np.zeros(run.use.shape, dtype=bool))]):
        with pytest.raises(ConfigurationError, match='no samples of a motion with the payload'):
            payload_of_known_arm(arm, arm.prior, motions, 'tool0', None)
    with pytest.raises(ConfigurationError, match='weight'):
        payload_from_two_motions(arm, [run], [run], 'tool0', None, weight=0.0)
