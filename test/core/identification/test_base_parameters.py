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

import numpy as np
from numpy.typing import NDArray
import pinocchio
import pytest
from scipy.spatial.transform import Rotation

from example_robots import example_urdf
from robot_dynamics_ros.core.dynamics import (
    dynamic_parameters,
    joint_torque_regressor_batch,
    rnea_batch,
)
from robot_dynamics_ros.core.exceptions import ConfigurationError, DimensionError, NonFiniteError
from robot_dynamics_ros.core.identification.base_parameters import (
    base_parameters,
    random_positions,
    structural_base_parameters,
)
from robot_dynamics_ros.core.identification.parameter_names import (
    inertial_parameter_names,
    INERTIAL_PARAMETERS,
    INERTIAL_UNITS,
)
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import RobotDescription
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robots import body, joint, named_models, robot, six_axis, two_link, Z
from shared_data import shared_path

Array = NDArray[np.float64]


def scara(turn: float = np.pi) -> RobotDescription:
    """Return a SCARA: three turns about vertical axes and a lift turned over by `turn`."""
    links = [
        body(f'link_{i}', 3.0 / i, (0.1, 0.02, 0.03), (0.02, 0.03, 0.04)) for i in range(1, 5)
    ]
    over = Rotation.from_euler('x', turn).as_matrix()
    joints = [
        joint('j1', 'revolute', 'base', 'link_1', axis=Z, translation=[0, 0, 0.3]),
        joint('j2', 'revolute', 'link_1', 'link_2', axis=Z, translation=[0.4, 0, 0]),
        joint('j3', 'revolute', 'link_2', 'link_3', axis=Z, translation=[0.3, 0, 0]),
        joint('j4', 'prismatic', 'link_3', 'link_4', axis=Z, rotation=over),
    ]
    return robot('scara', links, joints)


def states(model: RobotModel, count: int, seed: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    v, a = rng.normal(size=(2, count, model.nv))
    return random_positions(model, count, rng), v, a


# Ranks as published for these robots (and by symbolic rules): case E01.
@pytest.mark.parametrize(
    ('file', 'locked', 'rank'),
    [
        ('ur5_robot.urdf', {}, 36),
        ('ur10_robot.urdf', {}, 36),
        ('panda.urdf', {'panda_finger_joint1': 0.0}, 43),
        ('kinova.urdf', {}, 36),
    ],
)
def test_rank_of_public_robots(file: str, locked: dict[str, float], rank: int) -> None:
    model = load_urdf(example_urdf(file), locked=locked)
    found = structural_base_parameters(model)
    assert found.rank == rank
    assert found.condition < 100.0  # random states excite every base parameter


def test_rank_of_tx40() -> None:
    tx40 = load_urdf(
        shared_path('data', 'staubli_tx40_figaroh', 'tx40_mdh_modified.urdf'), strict=False
    )
    assert structural_base_parameters(tx40).rank == 36


def test_rank_of_scara() -> None:
    # By the rules: Izz of link 1, hx, hy and Izz of links 2 and 3, the mass of link 4.
    exact = structural_base_parameters(build_model(scara()))
    assert (exact.rank, len(exact.names)) == (8, 40)
    # A public SCARA writes 3.14 for pi: its lift is oblique by 0.0016 rad, which shows two more.
    rounded = structural_base_parameters(build_model(scara(3.14)))
    assert (rounded.rank, len(rounded.names)) == (10, 40)
    assert rounded.condition > 100.0


@pytest.mark.parametrize('name', named_models())
def test_rank_is_that_of_singular_values(name: str) -> None:
    model = named_models()[name]
    q, v, a = states(model, 200, 1)
    regressor = joint_torque_regressor_batch(model, q, v, a).reshape(-1, 10 * model.nbodies)
    lengths = np.linalg.norm(regressor, axis=0)
    lengths[lengths < 1e-9] = 1.0
    # Singular values of unit columns fall from above 1e-5 to rounding, 1e-13.
    rank = np.linalg.matrix_rank(regressor / lengths, tol=1e-9)
    assert structural_base_parameters(model).rank == rank


@pytest.mark.parametrize('name', named_models())
def test_parameters_with_the_same_base_give_the_same_efforts(name: str) -> None:
    model = named_models()[name]
    found = structural_base_parameters(model)
    rng = np.random.default_rng(5)
    standard = dynamic_parameters(model)
    other = standard + rng.normal(size=len(standard))
    same = found.nearest_standard(found.to_base(standard), other)
    q, v, a = states(model, 50, 2)
    bare = model.with_armature(np.zeros(model.nv))
    efforts = rnea_batch(bare, q, v, a)
    regressor = joint_torque_regressor_batch(model, q, v, a)
    # Rounding, times the condition of the combinations (2600 at most here).
    scale = np.abs(efforts).max()
    assert np.abs(regressor @ same - efforts).max() < 1e-10 * scale
    # And the parameters did change.
    if found.rank < len(standard):
        assert np.abs(same - standard).max() > 0.1
    base = np.zeros(len(standard))
    base[list(found.independent)] = found.to_base(standard)
    assert np.abs(regressor @ base - efforts).max() < 1e-10 * scale


def test_pinocchio_regressor_has_the_same_dependencies() -> None:
    path = example_urdf('ur5_robot.urdf')
    found = structural_base_parameters(load_urdf(path))
    twin = pinocchio.buildModelFromUrdf(str(path))
    data = twin.createData()
    rng = np.random.default_rng(3)
    rows = []
    for _ in range(20):
        q, v, a = rng.normal(size=(3, twin.nv))
        rows.append(pinocchio.computeJointTorqueRegressor(twin, data, q, v, a))
    stacked = np.vstack(rows)
    leading = stacked[:, list(found.independent)]
    # Rounding of two implementations.
    assert np.abs(stacked - leading @ found.projection).max() < 1e-10 * np.abs(stacked).max()


def test_formulas_of_the_planar_arm_are_those_of_the_textbook() -> None:
    # Gravity across the axes' plane: Izz1 + l1^2 m2, mx1 + l1 m2, my1, Izz2, mx2, my2.
    model = build_model(two_link(), gravity=(0.0, -9.81, 0.0))
    found = structural_base_parameters(model)
    assert found.formulas() == (
        'upper/hx + 0.5 lower/m',
        'upper/hy',
        'upper/Izz + 0.25 lower/m',
        'lower/hx',
        'lower/hy',
        'lower/Izz',
    )
    assert found.alone == ('upper/hy', 'lower/hx', 'lower/hy', 'lower/Izz')
    assert 'upper/m' in found.without_effect
    assert 'lower/m' not in found.without_effect
    # Without gravity the first link's first moment is not seen.
    floating = structural_base_parameters(build_model(two_link(), gravity=(0.0, 0.0, -9.81)))
    assert floating.rank == 4


def test_triangular_factor_gives_the_same_combinations() -> None:
    model = build_model(six_axis())
    q, v, a = states(model, 100, 4)
    regressor = joint_torque_regressor_batch(model, q, v, a).reshape(-1, 60)
    names = inertial_parameter_names(model)
    full = base_parameters(regressor, names)
    small = base_parameters(np.linalg.qr(regressor, mode='r'), names)
    assert small.independent == full.independent
    assert np.abs(small.projection - full.projection).max() < 1e-9  # rounding


def test_poor_motion_shows_fewer_parameters() -> None:
    model = build_model(six_axis())
    q, v, a = states(model, 100, 4)
    still = joint_torque_regressor_batch(model, q, 0.0 * v, 0.0 * a).reshape(-1, 60)
    names = inertial_parameter_names(model)
    found = base_parameters(still, names)
    # At rest only first moments count; those about the vertical first axis do not.
    assert 0 < found.rank < 20
    assert not any('/I' in name for name in found.base_names)
    nothing = base_parameters(0.0 * still, names)
    assert nothing.rank == 0
    assert nothing.without_effect == names


def test_names_and_units_go_together() -> None:
    assert len(INERTIAL_PARAMETERS) == len(INERTIAL_UNITS) == 10
    model = build_model(six_axis())
    assert inertial_parameter_names(model)[10] == 'link_2/m'


def test_errors_say_what_was_expected() -> None:
    with pytest.raises(DimensionError, match='names has shape'):
        base_parameters(np.eye(3), ['one'])
    with pytest.raises(NonFiniteError, match='regressor'):
        base_parameters(np.full((3, 1), np.nan), ['one'])
    with pytest.raises(ConfigurationError, match='between 0 and 1'):
        base_parameters(np.eye(1), ['one'], tolerance=2.0)
    with pytest.raises(ConfigurationError, match='between 0 and 1'):
        structural_base_parameters(build_model(two_link()), tolerance=0.0)
    found = structural_base_parameters(build_model(two_link()))
    with pytest.raises(DimensionError, match='standard parameters'):
        found.to_base([1.0])
    with pytest.raises(NonFiniteError, match='standard parameters'):
        found.to_base(np.full(20, np.nan))
    with pytest.raises(DimensionError, match='base parameters'):
        found.nearest_standard([1.0], np.zeros(20))
    with pytest.raises(NonFiniteError, match='prior'):
        found.nearest_standard(np.zeros(found.rank), np.full(20, np.inf))
