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

"""What each function refuses: shapes, numbers that are not finite, unknown frames, no inertia."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core import dynamics
from robot_dynamics_ros.core.dynamics import ReferenceFrame
from robot_dynamics_ros.core.exceptions import (
    DimensionError,
    ModelError,
    NonFiniteError,
    NotNumericError,
    SingularMassMatrixError,
    UnknownFrameError,
)
from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robots import body, joint, named_models, prismatic, robot, X, Y, Z

MODEL = named_models()['branched_floating']  # nq = 12, nv = 11, 6 bodies

# Arguments after the model, by the names that the errors use.
VECTORS: dict[str, tuple[str, ...]] = {
    'forward_kinematics': ('q',),
    'rnea': ('q', 'v', 'a', 'f_ext'),
    'nonlinear_effects': ('q', 'v'),
    'generalized_gravity': ('q',),
    'coriolis_matrix': ('q', 'v'),
    'crba': ('q',),
    'mass_matrix_inverse': ('q',),
    'aba': ('q', 'v', 'tau', 'f_ext'),
    'joint_reaction_wrenches': ('q', 'v', 'a', 'f_ext'),
    'external_efforts': ('q', 'f_ext'),
    'kinetic_energy': ('q', 'v'),
    'potential_energy': ('q',),
    'mechanical_energy': ('q', 'v'),
    'center_of_mass': ('q',),
    'center_of_mass_jacobian': ('q',),
    'centroidal_map': ('q',),
    'centroidal_momentum': ('q', 'v'),
    'joint_torque_regressor': ('q', 'v', 'a'),
    'integrate': ('q', 'dv'),
    'difference': ('q0', 'q1'),
}
AT_FRAME: dict[str, tuple[str, ...]] = {
    'frame_placement': ('q',),
    'frame_velocity': ('q', 'v'),
    'frame_acceleration': ('q', 'v', 'a'),
    'frame_classical_acceleration': ('q', 'v', 'a'),
    'frame_jacobian': ('q',),
    'frame_jacobian_time_variation': ('q', 'v'),
}
BATCHES: dict[str, tuple[str, ...]] = {
    'rnea_batch': ('q', 'v', 'a'),
    'generalized_gravity_batch': ('q',),
    'nonlinear_effects_batch': ('q', 'v'),
    'crba_batch': ('q',),
    'aba_batch': ('q', 'v', 'tau'),
    'joint_torque_regressor_batch': ('q', 'v', 'a'),
    'kinetic_energy_batch': ('q', 'v'),
    'potential_energy_batch': ('q',),
}


def good(name: str, model: RobotModel = MODEL) -> Any:
    if name in ('q', 'q0', 'q1'):
        return dynamics.neutral(model)
    if name == 'f_ext':
        return np.ones((model.nbodies, 6))
    return 0.1 * np.arange(1.0, 1.0 + model.nv)


def call(function: str, arguments: dict[str, Any]) -> Any:
    extra = ['left_2'] if function in AT_FRAME else []
    return getattr(dynamics, function)(MODEL, *arguments.values(), *extra)


CASES = [(f, n) for table in (VECTORS, AT_FRAME) for f, names in table.items() for n in names]
BATCH_CASES = [(function, name) for function, names in BATCHES.items() for name in names]


@pytest.mark.parametrize('function, name', CASES)
def test_wrong_shape_is_refused_by_name(function: str, name: str) -> None:
    arguments = {key: good(key) for key in {**VECTORS, **AT_FRAME}[function]}
    for wrong in (arguments[name][:-1], arguments[name][None], 1.0):
        with pytest.raises(DimensionError, match=f'{name} has shape') as caught:
            call(function, {**arguments, name: wrong})
        assert caught.value.got == np.shape(wrong)
        assert caught.value.expected == np.shape(arguments[name])


@pytest.mark.parametrize('function, name', CASES)
@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused_by_name(
    function: str, name: str, value: float
) -> None:
    arguments = {key: good(key) for key in {**VECTORS, **AT_FRAME}[function]}
    for entry in range(arguments[name].size):
        arguments[name] = np.array(good(name))
        arguments[name].flat[entry] = value
        with pytest.raises(NonFiniteError, match=f'^{name} '):
            call(function, arguments)


def not_numbers(right: Any) -> list[Any]:
    """Return text, numbers with an imaginary part, and rows of different lengths."""
    return ['abc', right.astype(str), right + 1j, [*right.tolist(), [1.0]]]


@pytest.mark.parametrize('function, name', CASES)
def test_what_is_not_real_numbers_is_refused_by_name(function: str, name: str) -> None:
    arguments = {key: good(key) for key in {**VECTORS, **AT_FRAME}[function]}
    for wrong in not_numbers(arguments[name]):
        with pytest.raises(NotNumericError, match=f'^{name} '):
            call(function, {**arguments, name: wrong})


@pytest.mark.parametrize('function', AT_FRAME)
def test_unknown_frame_is_refused_with_the_choices(function: str) -> None:
    arguments = [good(name) for name in AT_FRAME[function]]
    with pytest.raises(UnknownFrameError, match="'hand' is not in the model; it has: .*torso"):
        getattr(dynamics, function)(MODEL, *arguments, 'hand')


def samples(name: str, count: int = 5) -> Any:
    return np.tile(good(name), (count, 1))


@pytest.mark.parametrize('function, name', BATCH_CASES)
def test_batch_of_wrong_shape_is_refused_by_name(function: str, name: str) -> None:
    arguments = {key: samples(key) for key in BATCHES[function]}
    wrongs = [arguments[name][:, :-1], arguments[name][0]]
    if name != BATCHES[function][0]:
        wrongs.append(arguments[name][:-1])
    for wrong in wrongs:
        with pytest.raises(DimensionError, match=f'{name} has shape'):
            getattr(dynamics, function)(MODEL, *{**arguments, name: wrong}.values())


@pytest.mark.parametrize('function, name', BATCH_CASES)
def test_batch_of_what_is_not_real_numbers_is_refused_by_name(function: str, name: str) -> None:
    arguments = {key: samples(key) for key in BATCHES[function]}
    for wrong in not_numbers(arguments[name]):
        with pytest.raises(NotNumericError, match=f'^{name} '):
            getattr(dynamics, function)(MODEL, *{**arguments, name: wrong}.values())


@pytest.mark.parametrize('function, name', BATCH_CASES)
@pytest.mark.parametrize('value', [np.nan, np.inf])
def test_batch_names_the_first_sample_that_is_not_finite(
    function: str, name: str, value: float
) -> None:
    arguments = {key: samples(key, 70) for key in BATCHES[function]}
    arguments[name][[44, 66], -1] = value
    with pytest.raises(NonFiniteError, match='44'):
        getattr(dynamics, function)(MODEL, *arguments.values())


@pytest.mark.parametrize(
    'function', [name for name in BATCHES if not name.endswith('energy_batch')]
)
def test_batch_refuses_an_output_of_another_length(function: str) -> None:
    arguments = [samples(key) for key in BATCHES[function]]
    right = getattr(dynamics, function)(MODEL, *arguments)
    with pytest.raises(DimensionError, match='out has shape'):
        getattr(dynamics, function)(MODEL, *arguments, out=np.empty((4, *right.shape[1:])))


def test_body_regressor_refuses_other_shapes() -> None:
    for wrong in (np.zeros(5), np.zeros((6, 1))):
        with pytest.raises(DimensionError, match='v_body has shape'):
            dynamics.body_regressor(wrong, np.zeros(6))
        with pytest.raises(DimensionError, match='a_body has shape'):
            dynamics.body_regressor(np.zeros(6), wrong)
    with pytest.raises(NotNumericError, match='v_body holds 1j'):
        dynamics.body_regressor(np.full(6, 1j), np.zeros(6))


# ------------------------------------------------------------------ no inertia, no mass


def massless_leaf() -> RobotModel:
    """Return the arm of case A01: its second link has neither mass nor inertia."""
    links = [body('l1', 2.0, (0.5, 0, 0), (0.01,) * 3), body('l2', 0.0, (0, 0, 0), (0, 0, 0))]
    joints = [
        joint('j1', 'revolute', 'base', 'l1', axis=Y),
        joint('j2', 'revolute', 'l1', 'l2', axis=Y, translation=X),
    ]
    return build_model(robot('leaf', links, joints))


def parallel_axes() -> RobotModel:
    """Return the arm of case A03: a massless link between two joints about the same line."""
    links = [body('l1', 0.0, (0, 0, 0), (0, 0, 0)), body('l2', 1.0, (0.25, 0, 0), (0.01,) * 3)]
    joints = [
        joint('j1', 'revolute', 'base', 'l1', axis=Y),
        joint('j2', 'revolute', 'l1', 'l2', axis=Y),
    ]
    return build_model(robot('parallel', links, joints))


def indefinite() -> RobotModel:
    """Return an arm whose tip has a negative moment of inertia about its axis."""
    links = [body('l1', 1.0, (0.5, 0, 0), (0.01,) * 3), body('l2', 0.1, (0, 0, 0), (1, 1, -0.5))]
    joints = [
        joint('j1', 'revolute', 'base', 'l1', axis=Y),
        joint('j2', 'revolute', 'l1', 'l2', axis=Z, translation=X),
    ]
    return build_model(robot('indefinite', links, joints))


FORWARD: list[Callable[[RobotModel], Any]] = [
    lambda m: dynamics.aba(m, np.zeros(m.nq), np.zeros(m.nv), np.ones(m.nv)),
    lambda m: dynamics.mass_matrix_inverse(m, np.zeros(m.nq)),
    lambda m: dynamics.aba_batch(m, *np.zeros((3, 4, m.nv))),
]


@pytest.mark.parametrize('forward', FORWARD, ids=['aba', 'mass_matrix_inverse', 'aba_batch'])
@pytest.mark.parametrize(
    'model, name',
    [(massless_leaf(), 'j2'), (parallel_axes(), 'j1'), (indefinite(), 'j2')],
    ids=['massless leaf', 'parallel axes', 'indefinite'],
)
def test_forward_dynamics_without_inertia_are_refused_by_joint(
    forward: Callable[[RobotModel], Any], model: RobotModel, name: str
) -> None:
    with pytest.raises(SingularMassMatrixError, match=f"'{name}' moves no inertia") as caught:
        forward(model)
    assert caught.value.joint == name


def test_inverse_dynamics_without_inertia_are_allowed() -> None:
    gravity = dynamics.generalized_gravity(massless_leaf(), np.zeros(2))
    assert gravity == pytest.approx([-9.81, 0.0], abs=1e-12)
    assert dynamics.generalized_gravity(parallel_axes(), np.zeros(2)).shape == (2,)


def test_armature_makes_forward_dynamics_possible() -> None:
    model = massless_leaf().with_armature({'j2': 0.1})
    a = dynamics.aba(model, np.zeros(2), np.zeros(2), np.array([0.0, 0.2]))
    # 9.81 N m on 0.51 kg m^2; the rotor's inertia counts at its own joint only
    assert a == pytest.approx([19.235294117647, 2.0], abs=1e-9)


MASS_FUNCTIONS = [
    'center_of_mass',
    'center_of_mass_jacobian',
    'centroidal_map',
    'centroidal_momentum',
]


@pytest.mark.parametrize('function', MASS_FUNCTIONS)
def test_robot_that_moves_no_mass_has_no_center_of_mass(function: str) -> None:
    links = [body('a', 0.0, (0, 0, 0), (0.1, 0.1, 0.1))]
    model = build_model(robot('empty', links, [joint('j', 'revolute', 'base', 'a', axis=Y)]))
    arguments = [np.zeros(1)] * (2 if function == 'centroidal_momentum' else 1)
    with pytest.raises(ModelError, match='no centre of mass'):
        getattr(dynamics, function)(model, *arguments)


def test_result_too_large_for_a_float_is_refused() -> None:
    model = build_model(prismatic())  # the lift moves 5 kg
    with pytest.raises(NonFiniteError, match='too large'):
        dynamics.rnea(model, np.zeros(3), np.zeros(3), [1e308, 0.0, 0.0])
    with pytest.raises(NonFiniteError, match='too large'):
        dynamics.kinetic_energy(model, np.zeros(3), [1e200, 0.0, 0.0])


def test_reference_frames_are_those_of_pinocchio() -> None:
    assert [frame.name for frame in ReferenceFrame] == ['LOCAL', 'WORLD', 'LOCAL_WORLD_ALIGNED']
