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

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
import pytest

from example_robots import example_urdf
from robot_dynamics_ros.core.dynamics import dynamic_parameters, rnea_batch
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.identification.identification_model import (
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.identified_model import (
    friction_file_text,
    identified_model,
    inertial_of_parameters,
)
from robot_dynamics_ros.core.identification.joint_columns import Coupling, ModelStructure
from robot_dynamics_ros.core.identification.possible_bodies import (
    body_pseudo_inertia,
    parameters_of_pseudo_inertia,
)
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.model.urdf_writer import rewrite_urdf

Array = NDArray[np.float64]
FINGERS = {'panda_finger_joint1': 0.0}


def panda(structure: ModelStructure | None = None) -> IdentificationModel:
    robot = load_urdf(example_urdf('panda.urdf'), locked=FINGERS)
    return identification_model(robot, structure, (0.05,) * 7)


def parameters_of(model: IdentificationModel, factor: float) -> Array:
    """Return bodies that are `factor` times as heavy and turned inside, with friction."""
    turn = np.eye(4) + 0.05 * np.random.default_rng(0).normal(size=(4, 4))
    bodies = []
    for body in dynamic_parameters(model.robot).reshape(-1, 10):
        pseudo = factor * turn @ body_pseudo_inertia(body) @ turn.T
        bodies.append(parameters_of_pseudo_inertia(pseudo))
    drives = np.random.default_rng(1).uniform(0.1, 1.0, len(model.terms))
    return np.concatenate([*bodies, drives])


@pytest.mark.parametrize('factor', [1.5, 0.3])
def test_rewritten_urdf_has_the_identified_dynamics(factor: float) -> None:
    model = panda(ModelStructure(offset=False, rotor_inertia=False))
    parameters = parameters_of(model, factor)
    found = identified_model(model, parameters)
    text = rewrite_urdf(
        example_urdf('panda.urdf').read_text(),
        inertials=found.inertials, damping=found.damping, friction=found.friction,
    )  # fmt: skip
    again = load_urdf(text, locked=FINGERS)
    rng = np.random.default_rng(4)
    q, v, a = rng.normal(size=(3, 20, 7))
    friction = FrictionModel.from_model(again)
    expected = model.efforts(parameters, q, v, a)
    # Rounding; the file holds all digits.
    assert rnea_batch(again, q, v, a) + friction.torque(v) == pytest.approx(expected, abs=1e-9)
    # The hand keeps its own mass unless the body is lighter than that.
    assert ('panda_hand' in found.inertials) == (factor < 1.0)
    assert bool(found.notes) == (factor < 1.0)


def test_friction_file_has_the_identified_friction(tmp_path: Path) -> None:
    for form in ('coulomb', 'two_sided', 'stribeck'):
        model = panda(ModelStructure(form, rotor_inertia=False))
        parameters = parameters_of(model, 1.0)
        names = model.names
        for k, name in enumerate(names):
            if name.endswith('/offset'):
                parameters[k] = 0.05
            if name.endswith('/stribeck'):
                parameters[k] = 0.0
        found = identified_model(model, parameters)
        path = tmp_path / f'{form}.yaml'
        path.write_text(friction_file_text(found, 'made by a test\nof two lines'))
        friction = FrictionModel.from_file(path, model.robot.v_names)
        v = np.array([[0.5] * 7, [-0.7] * 7])  # ten widths: the smooth sign is one to 1e-8
        still = np.zeros((2, 7))
        rigid = np.append(parameters[: model.n_inertial], np.zeros(len(model.terms)))
        expected = model.efforts(parameters, still, v, still)
        expected -= model.efforts(rigid, still, v, still)
        assert friction.torque(v) == pytest.approx(expected, abs=1e-7)


def test_static_friction_is_written_as_a_ratio_and_a_large_offset_is_cut() -> None:
    model = panda(ModelStructure('stribeck'))
    parameters = parameters_of(model, 1.0)
    values = {'coulomb': 0.4, 'stribeck': 0.2, 'offset': -0.5, 'rotor_inertia': 0.03}
    for kind, value in values.items():
        parameters[model.names.index(f'panda_joint3/{kind}')] = value
    found = identified_model(model, parameters)
    joint = found.joint_friction['panda_joint3']
    assert joint.static_ratio == pytest.approx(1.5)
    assert joint.stribeck_velocity == pytest.approx(0.15)
    assert (joint.coulomb_positive, joint.coulomb_negative) == pytest.approx((0.0, 0.8))
    assert found.armature['panda_joint3'] == pytest.approx(0.03)
    assert any("offset -0.5 of joint 'panda_joint3'" in note for note in found.notes)
    assert 'panda_joint3 0.03' in friction_file_text(found)
    parameters[model.names.index('panda_joint3/stribeck')] = 0.6
    sticky = identified_model(model, parameters)
    assert sticky.joint_friction['panda_joint3'].static_ratio == 1.0
    assert any('2.5 times its Coulomb level' in note for note in sticky.notes)


def test_coupled_motors_are_named_as_left_out() -> None:
    pair = Coupling('panda_joint6', 'panda_joint7')
    model = panda(ModelStructure(couplings=(pair,)))
    found = identified_model(model, parameters_of(model, 1.0))
    assert any('panda_joint6+panda_joint7 is in report.json only' in n for n in found.notes)


def test_inertial_of_parameters_is_about_the_center_of_mass() -> None:
    # A point mass of 2 kg at (1, 0, 0) with a ball of 0.1 kg m^2 around it.
    inertial = inertial_of_parameters(np.array([2.0, 2.0, 0, 0, 0.1, 0, 2.1, 0, 0, 2.1]))
    assert inertial.com == pytest.approx([1.0, 0.0, 0.0])
    assert inertial.inertia == pytest.approx(0.1 * np.eye(3))
    assert inertial_of_parameters(np.zeros(10)).mass == 0.0
