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

"""Efforts that are no torques, or late: named and refused; right ones of three arms are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
import pytest

from example_robots import example_urdf
from payload_scenes import CUTOFF, es5, quiet_rows
from robot_dynamics_ros.bags.joint_blocks import read_joint_log
from robot_dynamics_ros.core.dynamics import generalized_gravity
from robot_dynamics_ros.core.identification.identification import (
    IdentificationOptions,
    identify,
    JointRecord,
)
from robot_dynamics_ros.core.identification.identification_model import identification_model
from robot_dynamics_ros.core.identification.identified_model import identified_model
from robot_dynamics_ros.core.identification.online.effort_semantics import EffortSemantics
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow, OnlineRows
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.model.urdf_writer import rewrite_urdf
from shared_data import shared_path

Array = NDArray[np.float64]
GEARS = np.array([14.3, 17.2, 14.3, 16.5, 16.5, 16.5])


@pytest.fixture(scope='module')
def rows() -> list[OnlineRow]:
    return [each.row for each in quiet_rows()]


def judged(
    robot: RobotModel,
    rows: list[OnlineRow],
    change: Callable[[OnlineRow], Array] | None = None,
    cutoff: float = CUTOFF,
) -> tuple[EffortSemantics, set[str], bool]:
    """Return the judge, every kind of fault that it told, and whether anything could be learnt."""
    semantics = EffortSemantics(robot, cutoff)
    told: set[str] = set()
    learnt = False
    for row in rows:
        if change is not None:
            row = replace(row, state=replace(row.state, tau=change(row)))
        semantics.step(row)
        told |= {fault.kind for fault in semantics.faults}
        learnt |= semantics.may_learn
    return semantics, told, learnt


def late(rows: list[OnlineRow], delay: float) -> Callable[[OnlineRow], Array]:
    stamps = np.array([row.stamp for row in rows])
    efforts = np.array([row.state.tau for row in rows])
    return lambda row: np.array([np.interp(row.stamp - delay, stamps, e) for e in efforts.T])


def test_torques_are_torques(rows: list[OnlineRow]) -> None:
    semantics, told, _ = judged(es5(), rows)
    assert not told
    assert semantics.is_known
    assert semantics.may_learn
    assert semantics.delay is not None
    assert abs(semantics.delay.value) < 0.006  # friction turns with the velocity, not quite
    for verdict in semantics.verdicts:
        assert verdict.meaning in ('torque', 'cannot tell')


def test_nothing_may_be_learnt_before_the_robot_has_moved(rows: list[OnlineRow]) -> None:
    semantics, _, _ = judged(es5(), rows[:40])
    assert not semantics.is_known
    assert not semantics.may_learn


@pytest.mark.parametrize(
    ('kind', 'change'),
    [
        ('inverted', lambda row: -row.state.tau),
        ('current or scaled', lambda row: row.state.tau / GEARS),
        (
            'without gravity',
            lambda row: row.state.tau - generalized_gravity(es5(), row.state.q),
        ),
        ('constant', lambda row: 0.0 * row.state.tau),
    ],
)
def test_other_efforts_are_named_and_never_learnt(
    rows: list[OnlineRow], kind: str, change: Callable[[OnlineRow], Array]
) -> None:
    semantics, told, learnt = judged(es5(), rows, change)
    assert told == {kind}
    assert not learnt
    (fault,) = semantics.faults
    assert all(joint in fault.sentence for joint in fault.joints)
    assert 'joint_2' in fault.joints


def test_one_inverted_joint_is_named(rows: list[OnlineRow]) -> None:
    flip = np.array([1.0, -1.0, 1.0, 1.0, 1.0, 1.0])
    semantics, told, _ = judged(es5(), rows, lambda row: flip * row.state.tau)
    assert told == {'inverted'}
    assert semantics.faults[0].joints == ('joint_2',)
    assert not semantics.may_learn


def test_efforts_that_are_30_ms_late_are_refused(rows: list[OnlineRow]) -> None:
    semantics, told, learnt = judged(es5(), rows, late(rows, 0.03))
    assert told == {'late'}
    assert not learnt
    assert semantics.delay is not None
    assert semantics.delay.value == pytest.approx(0.03, abs=0.008)


def test_payload_is_no_fault_once_it_is_known(rows: list[OnlineRow]) -> None:
    robot, box = es5(), Payload(3.0, 'flange', np.array([0.0, 0.0, 0.1]))
    semantics = EffortSemantics(robot, CUTOFF)
    semantics.carry(box)
    assert semantics.faults == ()
    loaded = robot.with_payload(box)

    def heavier(row: OnlineRow) -> Array:
        more = generalized_gravity(loaded, row.state.q) - generalized_gravity(robot, row.state.q)
        return np.asarray(row.state.tau + more)

    for row in rows:
        semantics.step(replace(row, state=replace(row.state, tau=heavier(row))))
    assert semantics.may_learn


REAL = {
    'ur10': ('ur10_robot.urdf', ('ur10_unisa_rosbag2', 'ur10_exciting_trajectory.db3'), {}, 5.0),
    'panda': (
        'panda.urdf',
        ('panda_unisa_rosbag2', 'panda_exciting_trajectory.db3'),
        {'panda_finger_joint1': 0.0},
        1.5,  # 30 samples a second
    ),
}


@pytest.mark.soak
@pytest.mark.parametrize('name', list(REAL))
def test_real_arms_are_right_and_their_faults_are_found(name: str) -> None:
    urdf, parts, locked, cutoff = REAL[name]
    robot = load_urdf(example_urdf(urdf), locked=locked)
    log = read_joint_log(shared_path('data', *parts))
    mapped = {f'fer_joint{i}': f'panda_joint{i}' for i in range(1, 8)}
    log = log.select(robot.joint_names, mapped if name == 'panda' else None)
    assert log.effort is not None
    record = JointRecord(name, log.stamps, log.position, log.velocity, log.effort)
    fit = identify(robot, [record.between(0.0, 16.0)], [], IdentificationOptions(cutoff=5.0))
    found = identified_model(fit.model, fit.consistent.parameters)
    text = rewrite_urdf(
        example_urdf(urdf).read_text(),
        inertials=found.inertials, damping=found.damping, friction=found.friction,
    )  # fmt: skip
    robot = load_urdf(text, locked=locked, armature=found.armature)
    made = OnlineRows(identification_model(robot), cutoff)
    steps = (made.step(*sample) for sample in zip(log.stamps.tolist(), log.position, log.effort))
    rows = [row for row in steps if row is not None]
    semantics, told, _ = judged(robot, rows, cutoff=cutoff)
    assert not told
    assert semantics.may_learn
    faults = {
        'inverted': lambda row: -row.state.tau,
        'current or scaled': lambda row: row.state.tau / 15.0,
        'without gravity': lambda row: row.state.tau - generalized_gravity(robot, row.state.q),
        'late': late(rows, 0.03),
    }
    for kind, change in faults.items():
        _, told, _ = judged(robot, rows, change, cutoff)
        assert kind in told
