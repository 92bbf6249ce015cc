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
import pytest

from example_robots import example_urdf
from robot_dynamics_ros.core.dynamics import rnea_batch
from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    ModelError,
    NonFiniteError,
)
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.identification.identification_model import (
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.joint_columns import Coupling, ModelStructure
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robots import branched, mobile, prismatic, six_axis

Array = NDArray[np.float64]


def states(model: RobotModel, count: int = 40) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(11)
    q, v, a = rng.normal(size=(3, count, model.nv))
    return q, v, a


def value(model: IdentificationModel, name: str, parameters: Array) -> float:
    return float(parameters[model.names.index(name)])


def test_efforts_of_the_prior_are_those_of_rnea_and_friction() -> None:
    robot = build_model(six_axis()).with_armature([0.4, 0.3, 0.2, 0.1, 0.05, 0.02])
    widths = (0.05, 0.1, 0.02, 0.05, 0.05, 0.3)
    model = identification_model(robot, ModelStructure(), widths)
    q, v, a = states(robot)
    friction = FrictionModel(
        robot.v_names, robot.damping, robot.friction, robot.friction, np.array(widths)
    )
    expected = rnea_batch(robot, q, v, a) + friction.torque(v)
    found = model.efforts(model.prior, q, v, a)
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()  # rounding


def test_rotors_join_the_inertia_that_moves_alike() -> None:
    robot = load_urdf(example_urdf('ur5_robot.urdf'))
    model = identification_model(robot)
    inertial = [name for name in model.base.base_names if '_link/' in name]
    assert len(inertial) == 36
    first = model.base.formulas()[0]
    assert first.startswith('shoulder_link/Izz')
    assert first.endswith('+ shoulder_pan_joint/rotor_inertia')
    assert 'shoulder_pan_joint/rotor_inertia' not in model.base.base_names
    # That of the second joint is in Iyy of its link, which turns about the same axis; further out
    # every link also turns about other axes, so that four rotors stand alone.
    rotors = [name for name in model.base.base_names if name.endswith('rotor_inertia')]
    assert len(rotors) == 4
    assert model.base.rank == 36 + 4 + 6 * 3
    assert len(model.units) == len(model.names) == 60 + 24
    assert model.units[0] == 'kg'
    assert model.units[60:64] == ('N m s/rad', 'N m', 'N m', 'kg m^2')


def test_linear_joints_have_units_of_forces() -> None:
    model = identification_model(build_model(prismatic()))
    units = dict(zip(model.names, model.units))
    assert units['lift_joint/viscous'] == 'N s/m'
    assert units['lift_joint/coulomb'] == 'N'
    assert units['lift_joint/rotor_inertia'] == 'kg'
    assert units['wrist_joint/viscous'] == 'N m s/rad'


@pytest.mark.parametrize('form', ['none', 'viscous', 'coulomb', 'two_sided', 'stribeck'])
def test_friction_only_takes_energy(form: str) -> None:
    robot = build_model(branched())
    model = identification_model(robot, ModelStructure(form, offset=False), (0.05,) * robot.nv)
    rng = np.random.default_rng(2)
    parameters = np.zeros(len(model.names))
    parameters[model.n_inertial :] = np.where(
        ['rotor' in name for name in model.names[model.n_inertial :]],
        0.0,
        rng.uniform(0.1, 1.0, len(model.terms)),
    )
    q, v, a = states(robot)
    power = model.efforts(parameters, q, v, a) * v
    assert power.min() >= -1e-12  # rounding
    assert (form == 'none') == (not power.any())


def test_two_sides_differ() -> None:
    robot = build_model(six_axis())
    model = identification_model(robot, ModelStructure('two_sided'))
    assert 'joint_1/offset' not in model.names
    parameters = np.zeros(len(model.names))
    parameters[model.names.index('joint_1/coulomb_positive')] = 2.0
    parameters[model.names.index('joint_1/coulomb_negative')] = 3.0
    parameters[model.names.index('joint_1/viscous_negative')] = 10.0
    v = np.zeros((3, 6))
    v[:, 0] = [1.0, -1.0, 0.0]
    efforts = model.efforts(parameters, 0.0 * v, v, 0.0 * v)
    assert efforts[:, 0] == pytest.approx([2.0, -13.0, 0.0])


def test_coupled_motor_acts_on_both_joints_and_conserves_power() -> None:
    robot = build_model(six_axis())
    coupling = Coupling('joint_5', 'joint_6', ratio=0.5)
    model = identification_model(robot, ModelStructure(couplings=(coupling,)))
    parameters = np.zeros(len(model.names))
    parameters[model.names.index('joint_5+joint_6/rotor_inertia')] = 2.0
    parameters[model.names.index('joint_5+joint_6/viscous')] = 3.0
    q, v, a = states(robot)
    efforts = model.efforts(parameters, q, v, a)
    w, dw = 0.5 * v[:, 4] + v[:, 5], 0.5 * a[:, 4] + a[:, 5]
    assert efforts[:, :4] == pytest.approx(0.0)
    assert (efforts * v).sum(axis=1) == pytest.approx((2.0 * dw + 3.0 * w) * w)


def test_rows_of_a_joint_depend_on_its_columns_only() -> None:
    robot = build_model(branched())
    model = identification_model(robot)
    regressor = model.regressor(*states(robot))
    for j, columns in enumerate(model.columns_of_joint):
        others = np.setdiff1d(np.arange(model.base.rank), columns)
        assert not regressor[:, j, others].any()


def test_errors_say_what_was_expected() -> None:
    robot = build_model(six_axis())
    with pytest.raises(ConfigurationError, match="'rubber' is not one of: none, viscous"):
        ModelStructure('rubber')
    wrong = ModelStructure(couplings=(Coupling('joint_5', 'elbow'),))
    with pytest.raises(ConfigurationError, match='expected two of joint_1'):
        identification_model(robot, wrong)
    with pytest.raises(ConfigurationError, match='tolerance'):
        identification_model(robot, tolerance=0.0)
    with pytest.raises(DimensionError, match='velocities'):
        identification_model(robot, velocities=(1.0,))
    with pytest.raises(NonFiniteError, match='velocities'):
        identification_model(robot, velocities=(np.nan,) * 6)
    with pytest.raises(ModelError, match='identification needs joints of one coordinate'):
        identification_model(build_model(mobile()))
    model = identification_model(robot)
    q, v, a = states(robot)
    with pytest.raises(DimensionError, match='q has'):
        model.regressor(q[:, :5], v, a)
    with pytest.raises(NonFiniteError, match='sample'):
        model.regressor(np.nan * q, v, a)
    with pytest.raises(DimensionError, match='parameters'):
        model.efforts(np.zeros(3), q, v, a)
    with pytest.raises(NonFiniteError, match='parameters'):
        model.efforts(np.full(len(model.names), np.nan), q, v, a)
