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

import json
from math import nan, pi
from typing import Any

import numpy as np
import pytest

from robot_dynamics_ros.core.control.joint_state_buffer import JointStateBuffer
from robot_dynamics_ros.core.control.laws import (
    ControlMode,
    GravityCompensationLaw,
    InverseDynamicsLaw,
)
from robot_dynamics_ros.core.dynamics import (
    coriolis_matrix,
    crba,
    generalized_gravity,
    rnea,
)
from robot_dynamics_ros.core.exceptions import ConfigurationError, DimensionError, ModelError
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.model.build import build_model
import robots
from shared_data import shared_path

MODES = [mode.value for mode in ControlMode]
KP, KD = 100.0, 20.0


@pytest.fixture(scope='module')
def arm() -> Any:
    return build_model(robots.six_axis())


def state(seed: int, n: int = 6) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    q, v = rng.uniform(-2.0, 2.0, n), rng.normal(size=n)
    reference = (q + rng.normal(scale=0.1, size=n), v + rng.normal(size=n), rng.normal(size=n))
    return q, v, reference


def law(model: Any, mode: str, **changes: Any) -> InverseDynamicsLaw:
    values: dict[str, Any] = {'kp': KP, 'kd': KD, 'gravity_compensated_by_hardware': False}
    values.update(changes)
    return InverseDynamicsLaw(model, mode, **values)


def expected(model: Any, mode: str, q: Any, v: Any, reference: Any) -> Any:
    """Evaluate the law of a mode with the checked functions of the dynamics."""
    q_ref, v_ref, a_ref = reference
    pd = KP * (q_ref - q) + KD * (v_ref - v)
    return {
        'feedforward': lambda: rnea(model, q_ref, v_ref, a_ref),
        'pd_feedforward': lambda: rnea(model, q_ref, v_ref, a_ref) + pd,
        'computed_torque': lambda: (
            crba(model, q) @ (a_ref + pd)
            + coriolis_matrix(model, q, v) @ v
            + generalized_gravity(model, q)
        ),
        'pd': lambda: pd,
        'pd_gravity': lambda: pd + generalized_gravity(model, q),
    }[mode]()


@pytest.mark.parametrize('mode', MODES)
def test_command_is_that_of_the_law(arm: Any, mode: str) -> None:
    controller = law(arm, mode)
    for seed in range(5):
        q, v, reference = state(seed)
        tau = expected(arm, mode, q, v, reference)
        scale = np.abs(tau).max()
        np.testing.assert_allclose(
            controller.command(q, v, reference), tau, atol=1e-12 * scale
        )  # rounding


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('by_hardware', [False, True])
def test_terms_add_up_to_the_command(arm: Any, mode: str, by_hardware: bool) -> None:
    controller = law(
        arm,
        mode,
        gravity_compensated_by_hardware=by_hardware,
        friction=FrictionModel.from_model(arm),
    )
    q, v, reference = state(7)
    terms = controller.terms(q, v, reference)
    scale = np.abs(terms.total).max()
    np.testing.assert_allclose(
        controller.command(q, v, reference), terms.total, atol=1e-12 * scale
    )  # rounding
    total = terms.inertia + terms.coriolis + terms.friction + terms.feedback
    total += 0.0 if by_hardware else terms.gravity
    np.testing.assert_allclose(total, terms.total, atol=1e-12 * scale)  # rounding
    if mode not in ('pd',):
        assert np.abs(terms.gravity).max() > 1.0  # reported even if left out of the command


def test_terms_of_computed_torque_are_those_of_the_measured_state(arm: Any) -> None:
    q, v, reference = state(8)
    terms = law(arm, 'computed_torque').terms(q, v, reference)
    mass = crba(arm, q)
    pd = KP * (reference[0] - q) + KD * (reference[1] - v)
    # Differences of efforts of some 1e3 N m: rounding.
    np.testing.assert_allclose(terms.inertia, mass @ reference[2], atol=1e-10)
    np.testing.assert_allclose(terms.feedback, mass @ pd, atol=1e-10)
    np.testing.assert_allclose(terms.gravity, generalized_gravity(arm, q), atol=1e-12)


def test_feedforward_needs_no_measured_state(arm: Any) -> None:
    unknown = np.full(6, nan)
    _, _, reference = state(9)
    assert np.isfinite(law(arm, 'feedforward').command(unknown, unknown, reference)).all()
    assert not ControlMode.FEEDFORWARD.has_feedback
    assert np.isnan(law(arm, 'pd').command(unknown, unknown, reference)).all()


def test_friction_is_evaluated_at_the_reference_velocity(arm: Any) -> None:
    friction = FrictionModel.from_model(arm)
    q, v, reference = state(10)
    plain = law(arm, 'pd_feedforward').command(q, v, reference).copy()
    added = law(arm, 'pd_feedforward', friction=friction).command(q, v, reference) - plain
    np.testing.assert_allclose(added, friction.torque(reference[1]), atol=1e-12)  # rounding


def test_error_of_a_continuous_joint_goes_the_short_way() -> None:
    pendulum = build_model(robots.pendulum())
    zero = np.zeros(1)
    controller = law(pendulum, 'pd', kd=0.0, kp=1.0)
    tau = controller.command(np.array([3.1]), zero, (np.array([-3.1]), zero, zero))
    assert tau[0] == pytest.approx(2.0 * pi - 6.2, rel=1e-12)
    two_link = build_model(robots.two_link())
    controller = law(two_link, 'pd', kd=0.0, kp=1.0)
    tau = controller.command(
        np.full(2, 3.1), np.zeros(2), (np.full(2, -3.1), np.zeros(2), np.zeros(2))
    )
    np.testing.assert_allclose(tau, -6.2, rtol=1e-12)  # a revolute joint must go back


def test_arrays_of_any_kind_are_taken(arm: Any) -> None:
    q, v, reference = state(11)
    controller = law(arm, 'computed_torque')
    tau = controller.command(q, v, reference).copy()
    wide = np.column_stack((q, v))
    lists = tuple(part.tolist() for part in reference)
    odd: Any = controller.command(wide[:, 0], wide[:, 1], lists)  # type: ignore[arg-type]
    np.testing.assert_array_equal(odd, tau)
    with pytest.raises(DimensionError, match='q has'):
        controller.command(q[:5], v, reference)


def test_gravity_compensation_scales_and_adds(arm: Any) -> None:
    q, v, _ = state(12)
    gravity = generalized_gravity(arm, q)
    coriolis = coriolis_matrix(arm, q, v) @ v
    plain = GravityCompensationLaw(arm)
    assert not plain.needs_velocity
    np.testing.assert_allclose(plain.command(q, np.full(6, nan)), gravity, atol=1e-12)  # rounding
    scale = np.linspace(0.0, 1.0, 6)
    friction = FrictionModel.from_model(arm)
    full = GravityCompensationLaw(arm, scale=scale, coriolis=True, friction=friction)
    assert full.needs_velocity
    wanted = scale * (gravity + coriolis) + friction.torque(v)
    np.testing.assert_allclose(full.command(q, v), wanted, atol=1e-12)  # rounding
    terms = full.terms(q, v)
    np.testing.assert_allclose(terms.total, wanted, atol=1e-12)
    np.testing.assert_allclose(terms.coriolis, scale * coriolis, atol=1e-12)
    assert not terms.inertia.any() and not terms.feedback.any()


def test_b01_gravity_of_the_ur5_from_shuffled_joint_states() -> None:
    from example_robots import example_urdf
    from robot_dynamics_ros.core.model.urdf import load_urdf

    model = load_urdf(example_urdf('ur5_robot.urdf'))
    sequence = json.loads(shared_path('cases', 'joint_state_sequences.json').read_text())
    message = sequence['B01_alphabetical_order']['seq'][0]
    buffer = JointStateBuffer(model.joint_names)
    fields = (message[key] for key in ('position', 'velocity', 'effort'))
    buffer.update(message['name'], message['stamp'], *fields, 0.0)
    tau = GravityCompensationLaw(model).command(buffer.q, buffer.v)
    by_name = dict(zip(model.joint_names, tau))
    # The figures are printed with five digits after the point.
    assert by_name['shoulder_pan_joint'] == pytest.approx(0.0, abs=5e-6)
    assert by_name['shoulder_lift_joint'] == pytest.approx(-31.24143, abs=5e-6)
    assert by_name['elbow_joint'] == pytest.approx(-15.48359, abs=5e-6)
    assert by_name['wrist_1_joint'] == pytest.approx(-0.11240, abs=5e-6)


@pytest.mark.parametrize(
    ('changes', 'match'),
    [
        ({'mode': 'pid'}, "mode 'pid' is not one of: feedforward, pd_feedforward"),
        ({'kp': -1.0}, 'kp must be finite and >= 0'),
        ({'kd': nan}, 'kd must be finite and >= 0'),
        ({'kp': [1.0, 2.0]}, 'kp has 2 entries, expected one or 6'),
        (
            {'friction': FrictionModel(('x',), *np.ones((4, 1)))},
            'the friction is for x',
        ),
    ],
)
def test_wrong_configuration_is_refused(arm: Any, changes: dict[str, Any], match: str) -> None:
    arguments: dict[str, Any] = {'mode': 'pd', **changes}
    with pytest.raises(ConfigurationError, match=match):
        law(arm, **arguments)


def test_wrong_gravity_compensation_is_refused(arm: Any) -> None:
    with pytest.raises(ConfigurationError, match='scale 2 is more than 1.5'):
        GravityCompensationLaw(arm, scale=2.0)
    with pytest.raises(ConfigurationError, match='scale must be finite'):
        GravityCompensationLaw(arm, scale=nan)
    mobile = build_model(robots.mobile())
    with pytest.raises(ModelError, match="joint 'plane' is planar"):
        GravityCompensationLaw(mobile)
    with pytest.raises(ModelError, match='planar'):
        law(mobile, 'pd')
