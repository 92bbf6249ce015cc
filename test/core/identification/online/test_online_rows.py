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

"""Rows that are made while the robot moves: equal delays, the model's equation, gaps."""

from __future__ import annotations

import numpy as np
import pytest

from robot_dynamics_ros.core.dynamics import rnea
from robot_dynamics_ros.core.identification.identification_model import (
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.joint_columns import Coupling, ModelStructure
from robot_dynamics_ros.core.identification.online.causal_motion import CausalMotion
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow, OnlineRows
from robot_dynamics_ros.core.identification.online.term_table import TermTable
from robot_dynamics_ros.core.identification.payload_columns import payload_regressor
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import urdf_path

CUTOFF = 5.0
OMEGA = 2.0 * np.pi * np.array([0.3, 0.7, 1.1])


def es5() -> RobotModel:
    return load_urdf(urdf_path('es5.urdf.xacro'))


def motion(nv: int, t: np.ndarray, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions, velocities and accelerations of a sum of sines, each (n, nv)."""
    rng = np.random.default_rng(seed)
    size = rng.uniform(0.1, 0.4, (3, nv))
    phase = OMEGA[:, None, None] * t[:, None] + rng.uniform(0.0, 6.0, (3, 1, nv))
    scaled = size[:, None] * np.sin(phase), size[:, None] * np.cos(phase)
    q = scaled[0].sum(axis=0)
    v = (OMEGA[:, None, None] * scaled[1]).sum(axis=0)
    a = -(OMEGA[:, None, None] ** 2 * scaled[0]).sum(axis=0)
    return q, v, a


def uneven(end: float, seed: int = 1) -> np.ndarray:
    return np.cumsum(np.random.default_rng(seed).uniform(7e-4, 1.3e-3, int(end * 1000)))


def all_rows(rows: OnlineRows, t: np.ndarray, q: np.ndarray, tau: np.ndarray) -> list[OnlineRow]:
    made = [rows.step(*sample) for sample in zip(t.tolist(), q, tau)]
    return [row for row in made if row is not None]


def smooth_model() -> IdentificationModel:
    return identification_model(es5(), ModelStructure(friction='coulomb'), 6 * (0.05,))


@pytest.mark.parametrize(
    'structure',
    [
        ModelStructure('two_sided'),
        ModelStructure('stribeck', couplings=(Coupling('joint_5', 'joint_6', -0.5),)),
        ModelStructure('viscous', offset=False, rotor_inertia=False),
    ],
    ids=['two sided', 'stribeck and coupled', 'viscous'],
)
@pytest.mark.parametrize('width', [0.0, 0.1])
def test_terms_of_one_sample_are_those_of_many(structure: ModelStructure, width: float) -> None:
    model = identification_model(es5(), structure, 6 * (width,))
    rng = np.random.default_rng(0)
    v, a = rng.normal(size=(2, 40, 6))
    v[::7] = 0.0
    table = TermTable(model.terms, 6)
    for k in range(len(v)):
        expected = np.zeros((6, len(model.terms)))
        for column, term in enumerate(model.terms):
            for joint, weight in term.weights:
                expected[joint, column] = weight * term.values(v[k : k + 1], a[k : k + 1])[0]
        np.testing.assert_allclose(table.columns(v[k], a[k]), expected, rtol=1e-14)


def test_filtered_motion_is_the_motion_some_time_ago() -> None:
    robot = es5()
    filters = CausalMotion(robot, 20.0)
    t = uneven(4.0)
    q, v, a = motion(6, t)
    states = [filters.step(*sample) for sample in zip(t.tolist(), q, v)]
    assert states[0] is None
    settled = [state for state in states if state is not None and state.is_settled]
    then = motion(6, np.array([state.stamp for state in settled]) - filters.delay)
    # The delay varies by 0.1 ms up to 1 Hz at a cutoff of 20 Hz, the gain by 1e-6.
    for found, expected in zip(('q', 'v', 'a', 'tau'), (*then, then[1])):
        values = np.array([getattr(state, found) for state in settled])
        assert np.linalg.norm(values - expected) < 2e-3 * np.linalg.norm(expected)


def test_late_efforts_meet_the_motion_that_they_belong_to() -> None:
    filters = CausalMotion(es5(), 20.0, effort_delay=0.01)
    t = uneven(3.0)
    q, *_ = motion(6, t)
    q_before, *_ = motion(6, t - 0.01)
    states = [filters.step(*sample) for sample in zip(t.tolist(), q, q_before)]
    settled = [state for state in states if state is not None and state.is_settled]
    # The series ends with the third derivative: (2 pi 1.1 Hz 10 ms)^3 / 6 = 5e-5 of a sine.
    np.testing.assert_allclose([s.q for s in settled], [s.tau for s in settled], atol=1e-4)


def test_stamps_that_do_not_advance_are_refused_and_gaps_begin_anew() -> None:
    filters = CausalMotion(es5(), 20.0)
    zero = np.zeros(6)
    filters.step(0.0, zero, zero)
    assert filters.step(0.001, zero, zero) is not None
    assert filters.step(0.001, zero, zero) is None
    assert filters.step(0.0005, zero, zero) is None
    assert filters.refused == 2
    state = filters.step(0.002, zero, zero)
    assert state is not None
    assert not state.is_settled
    assert filters.step(1.0, zero + 1.0, zero) is None
    assert filters.gaps == 1
    after = filters.step(1.001, zero + 1.0, zero)
    assert after is not None
    np.testing.assert_allclose(after.v, 0.0, atol=1e-9)  # as if at rest there, no jump


def test_continuous_joints_go_through_half_a_turn() -> None:
    text = (
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia '
        'ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" '
        'type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>'
    )
    filters = CausalMotion(load_urdf(text), 20.0)
    angles = np.linspace(0.0, 12.0, 2000)
    wrapped = (angles + np.pi) % (2.0 * np.pi) - np.pi
    states = [
        filters.step(0.001 * k, np.array([angle]), np.zeros(1)) for k, angle in enumerate(wrapped)
    ]
    last = states[-1]
    assert last is not None
    np.testing.assert_allclose(last.v, 12.0 / 1.999, rtol=1e-6)


def test_equation_holds_for_rows_of_an_arm_with_friction() -> None:
    model = smooth_model()
    t = uneven(6.0)
    q, v, a = motion(6, t)
    rng = np.random.default_rng(2)
    drives = np.abs(rng.normal(size=len(model.terms)))
    parameters = np.concatenate([model.prior[: model.n_inertial], drives])
    tau = model.efforts(parameters, q, v, a)
    made = all_rows(OnlineRows(model, CUTOFF), t, q, tau)
    assert len(made) > 100
    found = np.array([row.regressor @ model.base.to_base(parameters) for row in made])
    expected = np.array([row.tau for row in made])
    # The first filter takes a little from the motion that it does not take from the efforts.
    assert np.linalg.norm(found - expected) < 5e-3 * np.linalg.norm(expected)
    for row in made:
        assert row.step < 1.3 / (8.0 * CUTOFF) + 2e-3


def test_columns_of_a_payload_explain_what_it_adds() -> None:
    robot = es5()
    model = smooth_model()
    t = uneven(4.0)
    q, v, a = motion(6, t)
    payload = Payload(2.0, 'flange', np.array([0.02, -0.01, 0.05]))
    loaded = robot.with_payload(payload)
    tau = np.array([rnea(loaded, *s) - rnea(robot, *s) for s in zip(q, v, a)])
    made = all_rows(OnlineRows(model, CUTOFF, 'flange'), t, q, tau)
    ten = np.zeros(10)
    ten[0], ten[1:4] = 2.0, 2.0 * payload.com
    cross = np.array([[0, -0.05, -0.01], [0.05, 0, -0.02], [0.01, 0.02, 0]])
    about = 2.0 * cross @ cross.T
    ten[4:] = about[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    columns = payload_regressor(robot, 'flange', q, v, a)
    np.testing.assert_allclose(columns @ ten, tau, atol=1e-9)  # the parameters are right
    found = np.array([row.payload @ ten for row in made])
    expected = np.array([row.tau for row in made])
    assert np.linalg.norm(found - expected) < 2e-3 * np.linalg.norm(expected)


def test_rows_pause_after_a_gap_until_the_filters_have_forgotten_it() -> None:
    model = smooth_model()
    t = uneven(8.0)
    q, v, a = motion(6, t)
    tau = model.efforts(model.prior, q, v, a)
    keep = (t < 3.0) | (t > 3.4)
    rows = OnlineRows(model, CUTOFF)
    made = all_rows(rows, t[keep], q[keep], tau[keep])
    times = np.array([row.stamp for row in made])
    assert rows.motion.gaps == 1
    assert not np.any((times > 3.0) & (times < 3.8))
    assert np.count_nonzero(times > 4.2) > 100
    found = np.array([row.regressor @ model.base.to_base(model.prior) for row in made])
    expected = np.array([row.tau for row in made])
    assert np.linalg.norm(found - expected) < 5e-3 * np.linalg.norm(expected)


def test_samples_that_come_too_slowly_are_told_with_the_way_out() -> None:
    motion_filter = CausalMotion(es5(), 20.0)  # a quarter of its period is 12.5 ms
    for stamp in (0.004 * np.arange(100)).tolist():
        motion_filter.advance(stamp, np.zeros(6), np.zeros(6))
    assert motion_filter.slowness == ''
    for stamp in (1.0 + 0.02 * np.arange(200)).tolist():
        motion_filter.advance(stamp, np.zeros(6), np.zeros(6))
    assert motion_filter.gaps > 100
    sentence = motion_filter.slowness
    assert 'come at 50 Hz' in sentence
    assert 'need 80 Hz' in sentence
    assert 'lower cutoff to 0.62' in sentence
