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
Every quantity against Pinocchio: the real robots of a public wheel, and random trees.

By default each robot is compared in a few states; `make soak` takes 100 states each.

"""

from __future__ import annotations

from functools import lru_cache
import os
from pathlib import Path

import numpy as np
import pytest

from example_robots import example_urdfs
from robot_dynamics_ros.core.exceptions import UrdfError
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import RobotDescription
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import read_urdf
from robot_dynamics_ros.crosscheck import crosscheck_model
from robots import named_models, random_model

pin = pytest.importorskip('pinocchio')

TREES = 200
STATES = 100
TREES_PER_TEST = 20
SHORT_STATES = 3
LEAST_ROBOTS = 40

QUANTITIES = {
    'frame_rotation',
    'frame_translation',
    *(
        f'{name} ({seen_from})'
        for name in (
            'frame_jacobian',
            'frame_jacobian_time_variation',
            'frame_velocity',
            'frame_acceleration',
            'frame_classical_acceleration',
        )
        for seen_from in ('local', 'world', 'local_world_aligned')
    ),
    'rnea',
    'rnea (with wrenches)',
    'joint_reaction_wrenches',
    'nonlinear_effects',
    'generalized_gravity',
    'crba',
    'coriolis_matrix',
    'mass_matrix_inverse',
    'aba',
    'aba (with wrenches)',
    'kinetic_energy',
    'potential_energy',
    'center_of_mass',
    'center_of_mass_jacobian',
    'centroidal_map',
    'centroidal_momentum',
    'body_regressor',
    'joint_torque_regressor',
    'dynamic_parameters',
    'integrate',
    'difference',
}

# The time variation of Pinocchio 2 is right in the world frame only; the report then says so.
IS_PINOCCHIO_2 = int(pin.__version__.split('.')[0]) < 3
WRONG_IN_PINOCCHIO_2 = {
    'frame_jacobian_time_variation (local)',
    'frame_jacobian_time_variation (local_world_aligned)',
}

SOLVED_WITH_MASS_MATRIX = {'mass_matrix_inverse', 'aba', 'aba (with wrenches)'}


def assert_agrees(model: RobotModel, samples: int, seed: int, complete: bool = True) -> None:
    """Compare a model at 1e-10; a complete comparison leaves nothing out."""
    report = crosscheck_model(model, samples=samples, seed=seed)
    assert report.ok, report.summary
    for row in report.rows:
        # Wider only where the last digit of an uneven mass matrix already changes the result more.
        assert row.tolerance == 1e-10 or row.quantity in SOLVED_WITH_MASS_MATRIX
    if complete:
        left_out = WRONG_IN_PINOCCHIO_2 if IS_PINOCCHIO_2 else set()
        assert {row.quantity for row in report.rows} == QUANTITIES - left_out
        assert len(report.notes) == len(left_out) // 2


@lru_cache
def description(path: Path) -> RobotDescription | str:
    """Read a file once for all tests; why not, if it is refused."""
    try:
        return read_urdf(path, strict=False, unknown_mimic='independent')
    except UrdfError as error:
        return str(error)


def loaded(path: Path, floating_base: bool) -> RobotModel:
    read = description(path)
    if isinstance(read, str):
        pytest.skip(f'refused: {read}')
    model = build_model(read, floating_base=floating_base)
    if not model.joints:
        pytest.skip('no joint moves')
    return model


@pytest.mark.parametrize('name', named_models())
def test_named_robots(name: str) -> None:
    assert_agrees(named_models()[name], SHORT_STATES, seed=1)


@pytest.mark.parametrize('first', range(0, TREES, TREES_PER_TEST))
def test_random_trees(first: int) -> None:
    for seed in range(first, first + TREES_PER_TEST):
        assert_agrees(random_model(seed), SHORT_STATES, seed)


@pytest.mark.soak
@pytest.mark.parametrize('first', range(0, TREES, TREES_PER_TEST))
def test_random_trees_in_many_states(first: int) -> None:
    for seed in range(first, first + TREES_PER_TEST):
        assert_agrees(random_model(seed), STATES, seed)


def robot_id(path: Path) -> str:
    return f'{path.parent.parent.name}/{path.stem}'


@pytest.mark.parametrize('floating', [False, True], ids=['fixed', 'floating'])
@pytest.mark.parametrize('path', example_urdfs(), ids=robot_id)
def test_real_robots(path: Path, floating: bool) -> None:
    assert_agrees(loaded(path, floating), SHORT_STATES, seed=2, complete=False)


@pytest.mark.soak
@pytest.mark.parametrize('floating', [False, True], ids=['fixed', 'floating'])
@pytest.mark.parametrize('path', example_urdfs(), ids=robot_id)
def test_real_robots_in_many_states(path: Path, floating: bool) -> None:
    assert_agrees(loaded(path, floating), STATES, seed=3, complete=False)


def test_most_real_robots_are_read() -> None:
    paths = example_urdfs()
    if not paths:
        pytest.skip('the wheel example-robot-data is not installed')
    assert sum(not isinstance(description(path), str) for path in paths) >= LEAST_ROBOTS


@pytest.mark.parametrize('path', example_urdfs(), ids=robot_id)
def test_real_robots_hold_what_pinocchio_reads_from_the_same_file(path: Path) -> None:
    """Our parser beside Pinocchio's: bodies by joint name, with their inertial parameters."""
    model = loaded(path, floating_base=False)
    try:
        theirs = pin.buildModelFromUrdf(os.fspath(path))
    except ValueError as error:
        pytest.skip(f'Pinocchio refuses it: {error}')
    from robot_dynamics_ros.core.dynamics import dynamic_parameters

    ours = dynamic_parameters(model).reshape(-1, 10)
    assert sorted(j.name for j in model.joints) == sorted(list(theirs.names)[1:])
    for joint in model.joints:
        wanted = theirs.inertias[theirs.getJointId(joint.name)].toDynamicParameters()
        size = max(float(np.abs(wanted).max()), 1e-6)
        # The file's decimals go through two rounding paths of roll, pitch and yaw.
        assert np.abs(ours[joint.body] - wanted).max() <= 1e-12 * size, joint.name
