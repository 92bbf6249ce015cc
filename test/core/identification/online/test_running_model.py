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

"""The running model as a whole: who may learn, when friction is known, what is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from payload_scenes import (
    EFFORT_DELAY,
    EFFORT_DEVIATION,
    offline_parameters,
    recorded,
    Story,
    watched_model,
)
from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics import rnea_batch
from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    OutputError,
)
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.identification.identification_model import (
    identification_model,
    IdentificationModel,
)
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.offline_result import (
    OfflineResult,
    read_offline_result,
)
from robot_dynamics_ros.core.identification.online.friction_terms import friction_terms
from robot_dynamics_ros.core.identification.online.online_result import online_result
from robot_dynamics_ros.core.identification.online.online_settings import OnlineSettings
from robot_dynamics_ros.core.identification.online.online_start import start_of_description
from robot_dynamics_ros.core.identification.online.running_model import RunningModel
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.model.urdf_source import read_source
from robot_dynamics_ros.core.model.xacro_source import expand_xacro
from robot_dynamics_ros.report.online_results import write_online_results
from robot_dynamics_ros.resources import urdf_path

VISCOUS = np.array([8.0, 8.0, 6.0, 1.5, 1.5, 1.0])
COULOMB = np.array([7.0, 7.0, 5.0, 1.5, 1.5, 1.0])
WIDTH = 0.05
SETTINGS = OnlineSettings(payload_frame='tool0')
NOISE = np.array([0.3, 0.3, 0.3, 0.1, 0.1, 0.1])


@pytest.fixture(scope='module')
def robot() -> RobotModel:
    return load_urdf(urdf_path('es5.urdf.xacro'))


@pytest.fixture(scope='module')
def model(robot: RobotModel) -> IdentificationModel:
    return identification_model(robot, ModelStructure(), 6 * (WIDTH,))


@dataclass(frozen=True)
class Motion:
    """A motion at 200 Hz with the efforts that the equation of motion asks for."""

    stamps: Vector
    q: Matrix
    tau: Matrix


def motion(
    robot: RobotModel,
    seconds: float,
    *,
    coulomb: Vector = COULOMB,
    payload: Payload | None = None,
    begin: float = 0.0,
) -> Motion:
    t = begin + np.arange(round(200.0 * seconds)) / 200.0
    rng = np.random.default_rng(3)
    omega = 2.0 * np.pi * np.array([0.11, 0.23, 0.37, 0.53])
    size = rng.uniform(-0.5, 0.5, (4, 6)) / np.arange(1, 5)[:, None]
    angle = omega[:, None, None] * t[:, None] + rng.uniform(0.0, 6.0, (4, 1, 6))
    q = np.einsum('kj,kij->ij', size, np.sin(angle))
    v = np.einsum('kj,kij->ij', size * omega[:, None], np.cos(angle))
    a = -np.einsum('kj,kij->ij', size * omega[:, None] ** 2, np.sin(angle))
    tau = rnea_batch(robot.with_payload(payload), q, v, a)
    tau = tau + VISCOUS * v + coulomb * np.tanh(v / WIDTH)
    return Motion(t, q, tau + NOISE * np.random.default_rng(4).normal(size=q.shape))


def identified(model: IdentificationModel) -> OfflineResult:
    """Return what an identification of the right arm would have found."""
    parameters = np.array(model.prior)
    for k, term in enumerate(model.terms, start=model.n_inertial):
        joint = term.weights[0][0]
        parameters[k] = {'viscous': VISCOUS[joint], 'coulomb': COULOMB[joint]}.get(term.kind, 0.0)
    base = model.base.to_base(parameters)
    spread = NOISE  # with what the form of the friction lacks on a real arm
    start = start_of_description(model, spread, 3.0)
    return OfflineResult(
        model=model,
        parameters=parameters,
        base=base,
        covariance=np.diag((0.002 * start.open_deviations) ** 2),
        spread=spread,
        correlation_time=0.1,
        inflation=3.0,
        prior_weight=1.0,
        cutoff=5.0,
        motion_cutoff=20.0,
        effort_delay=0.0,
        joint_errors=np.full(6, 0.02),
        relative_error=0.02,
        is_held_out=True,
        is_fit=True,
    )


def play(running: RunningModel, log: Motion) -> list[str]:
    """Give all of a motion; return the kinds of the changes that were told."""
    told = []
    for t, q, tau in zip(log.stamps.tolist(), log.q, log.tau):
        _, change = running.step(t, q, tau)
        if change is not None:
            told.append(change.kind)
    return told


ONE_JOINT = np.array([1.0, 1.0, 1.0, 1.0, -1.0, 1.0])

WRONG: dict[str, tuple[str, Callable[[RobotModel, Motion], Matrix]]] = {
    'inverted': ('inverted', lambda _, log: -log.tau),
    'one joint': ('inverted', lambda _, log: ONE_JOINT * log.tau),
    'current': ('current or scaled', lambda _, log: log.tau / 15.0),
    'gravity': (
        'without gravity',
        lambda robot, log: log.tau - rnea_batch(robot, log.q, 0.0 * log.q, 0.0 * log.q),
    ),
    'zero': ('constant', lambda _, log: 0.0 * log.tau),
    'late': ('late', lambda _, log: np.array([np.interp(log.stamps - 0.03, log.stamps, e)
                                              for e in log.tau.T]).T),
}  # fmt: skip


@pytest.mark.parametrize(
    'wrong', [pytest.param(kind, marks=pytest.mark.soak) for kind in WRONG if kind != 'one joint']
    + ['one joint'],
)  # fmt: skip
def test_nothing_is_learnt_from_wrong_efforts(
    robot: RobotModel, model: IdentificationModel, wrong: str
) -> None:
    running = RunningModel(identified(model), SETTINGS)
    before = running.online.friction.estimate, running.online.base.estimate
    log = motion(robot, 15.0)
    assert 'not known yet' in running.refusal
    kind, change = WRONG[wrong]
    play(running, Motion(log.stamps, log.q, change(robot, log)))
    assert {fault.kind for fault in running.semantics.faults} == {kind}
    # Going back solves for the estimate anew: rounding.
    np.testing.assert_allclose(running.online.friction.estimate, before[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(running.online.base.estimate, before[1], rtol=1e-9, atol=1e-12)
    assert running.payload is None


@pytest.mark.parametrize(
    'wrong',
    [pytest.param(kind, marks=pytest.mark.soak) for kind in WRONG if kind != 'late'] + ['late'],
)
def test_what_was_learnt_from_efforts_that_became_wrong_is_taken_back(
    robot: RobotModel, model: IdentificationModel, wrong: str
) -> None:
    running = RunningModel(identified(model), SETTINGS)
    log, begin = motion(robot, 33.0), 20.0
    kind, change = WRONG[wrong]
    bad = log.stamps >= begin
    tau = np.where(bad[:, None], change(robot, log), log.tau)
    known: list[dict[str, Matrix]] = []
    for t, q, effort in zip(log.stamps.tolist(), log.q, tau):
        report, _ = running.step(t, q, effort)
        if report is not None and t < begin:
            known.append(running.state())
        if running.semantics.faults:
            break
    (fault,) = running.semantics.faults
    assert fault.kind == kind
    assert t - begin < 12.0  # 8 to 10 s of this motion, in which joints rest now and then
    assert 'was taken back' in running.refusal
    learnt = running.state()
    assert any(all(np.array_equal(learnt[k], was[k], equal_nan=True) for k in was)
               for was in known)  # fmt: skip
    # The friction is published from the same: it is what it was at that time.
    assert np.isfinite(friction_terms(running.online.friction).values).all()


def test_friction_that_has_changed_is_learnt_and_payload_is_told_from_it(
    robot: RobotModel, model: IdentificationModel
) -> None:
    running = RunningModel(identified(model), SETTINGS)
    play(running, motion(robot, 15.0))
    assert running.refusal == ''
    assert running.health().level == 'ok'
    carried = Payload(2.0, 'tool0', np.array([0.01, 0.02, 0.05]))
    told = play(running, motion(robot, 10.0, payload=carried, begin=15.0))
    assert told == ['payload']
    assert running.payload is not None
    # Noise of a real drive, not its sticking: two per cent, and a centimetre.
    assert abs(running.payload.mass - 2.0) < 0.04
    np.testing.assert_allclose(running.payload.com, carried.com, atol=0.01)
    levels = friction_terms(running.online.friction).values.reshape(6, 4)[:, 2]
    np.testing.assert_allclose(levels, COULOMB, rtol=0.05)  # a payload is no friction
    told = play(running, motion(robot, 10.0, begin=25.0))
    assert told == ['payload removed']
    assert running.payload is None
    wrist = COULOMB * np.array([1.0, 1.0, 1.0, 1.0, 1.5, 1.0])
    play(running, motion(robot, 25.0, coulomb=wrist, begin=35.0))
    assert running.payload is None
    levels = friction_terms(running.online.friction).values.reshape(6, 4)[:, 2]
    np.testing.assert_allclose(levels, wrist, rtol=0.06)


def test_friction_is_known_without_an_identification_once_the_bodies_are(
    robot: RobotModel, model: IdentificationModel, tmp_path: Path
) -> None:
    running = RunningModel(start_of_description(model), SETTINGS)
    assert running.watch is None
    assert not running.is_friction_known
    source = read_source(urdf_path('es5.urdf.xacro'))
    text = expand_xacro(source, {})
    heavier = load_urdf(text.replace('10.442', '12.0'))
    assert heavier.moving_mass > robot.moving_mass + 1.0
    log = motion(heavier, 60.0)
    play(running, log)
    assert running.is_friction_known
    terms = friction_terms(running.online.friction)
    assert terms.names[:4] == (
        'joint_1/viscous',
        'joint_1/viscous_negative',
        'joint_1/coulomb_positive',
        'joint_1/coulomb_negative',
    )
    values = terms.values.reshape(6, 4)
    np.testing.assert_allclose(values[:, 2], COULOMB, rtol=0.1)
    np.testing.assert_allclose(values[:, 0], VISCOUS, rtol=0.15)
    assert (terms.variances > 0.0).all()

    result = online_result(running.online)
    health = running.health()
    names = write_online_results(
        tmp_path / 'found', running.online, result, text, health, prior_weight=1.0
    )
    assert names == ['friction.yaml', 'identified.urdf', 'report.json']
    again = read_offline_result(tmp_path / 'found' / 'report.json', robot)
    np.testing.assert_allclose(again.base, result.base, rtol=1e-12)
    friction = FrictionModel.from_file(tmp_path / 'found' / 'friction.yaml', robot.joint_names)
    np.testing.assert_allclose(friction.coulomb_positive, values[:, 2], rtol=1e-5)
    written = load_urdf(tmp_path / 'found' / 'identified.urdf')
    some = motion(heavier, 3.0)
    found, true, stated = (
        rnea_batch(each, some.q, 0.0 * some.q, 0.0 * some.q) for each in (written, heavier, robot)
    )
    assert np.linalg.norm(found - true) < 0.2 * np.linalg.norm(stated - true)
    with pytest.raises(OutputError, match='found'):
        write_online_results(
            tmp_path / 'found', running.online, result, text, health, prior_weight=1.0
        )


def test_stated_payload_is_no_part_of_the_arm(
    robot: RobotModel, model: IdentificationModel
) -> None:
    carried = Payload(2.0, 'tool0', np.array([0.01, 0.02, 0.05]))
    running = RunningModel(start_of_description(model), SETTINGS, carried)
    play(running, motion(robot, 40.0, payload=carried))
    # All of it is seen: the base parameters are those of the arm alone, friction apart.
    own = model.base.to_base(
        np.append(model.prior[: model.n_inertial], np.zeros(len(model.terms)))
    )
    error = running.online.base.estimate - own
    held = np.array([column < model.n_inertial for column in model.base.independent])
    deviations = running.online.base.deviations
    assert (abs(error[held]) < 5.0 * deviations[held]).all()


@pytest.mark.parametrize('seed', [1, 8])
def test_payload_that_is_put_down_in_a_contact_is_no_fault_of_the_efforts(seed: int) -> None:
    """Nobody may look for a second, in which efforts seem late, or to have the wrong sign."""
    payload = Payload(2.0, 'flange', np.array([-0.016, 0.002, 0.045]))
    arm, parameters = watched_model(), offline_parameters(seed)
    begun = replace(
        identified(arm),
        parameters=parameters,
        base=arm.base.to_base(parameters),
        spread=EFFORT_DEVIATION,
        effort_delay=EFFORT_DELAY,
    )
    settings = OnlineSettings(payload_frame='flange', effort_delay=EFFORT_DELAY)
    running = RunningModel(begun, settings, payload)
    log = recorded(Story(13.0, 'poses', seed, payloads=[(0.0, payload), (8.0, None)]))
    told = []
    for stamp, q, tau in zip(log.stamps.tolist(), log.q, log.tau):
        _, change = running.step(stamp, q, tau, in_contact=8.0 <= stamp < 9.0)
        if change is not None:
            told.append((stamp, change.kind))
        assert running.semantics.faults == ()
    assert [kind for _, kind in told] == ['payload removed']
    assert told[0][0] < 8.0 + 3.0
    assert running.payload is None


def test_saved_state_goes_on_as_if_nothing_had_been(
    robot: RobotModel, model: IdentificationModel
) -> None:
    for start in (start_of_description(model), identified(model)):
        running = RunningModel(start, SETTINGS)
        play(running, motion(robot, 40.0))
        state = running.state()
        other = RunningModel(start, SETTINGS)
        other.restore(state)
        for key, value in other.state().items():
            # Roots are solved for anew: rounding.
            np.testing.assert_allclose(value, state[key], rtol=1e-9, atol=1e-12, err_msg=key)
        assert other.is_friction_known
        np.testing.assert_array_equal(
            friction_terms(other.online.friction).values,
            friction_terms(running.online.friction).values,
        )
        running.reset()
        # The estimate is solved for: rounding.
        np.testing.assert_allclose(
            running.online.base.estimate, running.online.start.base, rtol=1e-12, atol=1e-12
        )


def test_state_with_something_missing_is_refused(model: IdentificationModel) -> None:
    running = RunningModel(start_of_description(model), SETTINGS)
    state = running.state()
    state['adopted/count'] = np.array([1.0])
    with pytest.raises((ConfigurationError, DimensionError)):
        running.restore({key: value for key, value in state.items() if 'friction' not in key})
