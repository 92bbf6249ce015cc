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

"""What changed: columns against the dynamics, causes told apart, contacts that nobody learns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from payload_scenes import (
    CUTOFF,
    EFFORT_DEVIATION,
    es5,
    identified,
    Push,
    quiet_rows,
    recorded,
    Story,
    true_parameters,
    watched_model,
    watched_rows,
    WatchedRow,
)
from robot_dynamics_ros.core.dynamics import frame_jacobian, generalized_gravity, ReferenceFrame
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.online.arm_errors import ArmErrors
from robot_dynamics_ros.core.identification.online.change_columns import ChangeColumns, KINDS
from robot_dynamics_ros.core.identification.online.change_detection import Change
from robot_dynamics_ros.core.identification.online.payload_watch import PayloadWatch

SEED, EVENT = 0, 7.0

BOX = np.array([1.0, 0.0, 0.03, 0.05, 0.01, 0.0, 0.01, 0.0, 0.0, 0.01])
"""Ten parameters of 1 kg."""

BUMP = np.array([0.0, 8.0, 5.0, 0.0, 0.0, 0.0])
"""Of someone who touches the arm [N m]."""


def columns() -> ChangeColumns:
    base = watched_model().base.to_base(true_parameters())
    return ChangeColumns(watched_model(), base, 'flange', CUTOFF)


@pytest.fixture(scope='module')
def quiet() -> list[WatchedRow]:
    """Return the rows of a run in which nothing happens."""
    return list(quiet_rows())


def watch(rows: list[WatchedRow]) -> tuple[list[Change], PayloadWatch, list[bool]]:
    base, covariance = identified(SEED)
    watch = PayloadWatch(watched_model(), base, covariance, 'flange', CUTOFF)
    changes, holds = [], []
    for each in rows:
        residual = each.row.tau - each.row.regressor @ base
        report = watch.step(each.row, residual, EFFORT_DEVIATION, each.use)
        changes += [] if report.change is None else [report.change]
        holds.append(report.hold)
    return changes, watch, holds


def with_effort(rows: list[WatchedRow], added: dict[str, np.ndarray]) -> list[WatchedRow]:
    """Return rows to whose efforts something is added from `EVENT` on, as a filter passes it."""
    changed = []
    for each in rows:
        row, late = each.row, each.row.stamp - EVENT - 0.05
        part = float(np.clip(late / 0.1, 0.0, 1.0))
        extra = np.zeros(6)
        if 'offset' in added:
            extra = extra + added['offset']
        if 'payload' in added:
            extra = extra + row.payload @ added['payload']
        if 'friction' in added:
            extra = extra + row.regressor @ added['friction']
        changed.append(WatchedRow(replace(row, tau=row.tau + part * extra), each.use))
    return changed


def during(
    rows: list[WatchedRow], parts: list[tuple[float, float, np.ndarray]]
) -> list[WatchedRow]:
    """Return rows with payloads (ten parameters) or torques (six) from some time to another."""
    changed = []
    for each in rows:
        row, extra = each.row, np.zeros(6)
        for start, end, what in parts:
            late = np.array([row.stamp - start, row.stamp - end]) - 0.05
            share = np.clip(late / 0.1, 0.0, 1.0) @ [1.0, -1.0]  # as a filter passes it
            extra += share * (row.payload @ what if len(what) == 10 else what)
        changed.append(WatchedRow(replace(row, tau=row.tau + extra), each.use))
    return changed


def friction_step(joint: str, part: float) -> np.ndarray:
    names = watched_model().base.base_names
    base = watched_model().base.to_base(true_parameters())
    return np.where(np.array(names) == f'{joint}/coulomb', part * base, 0.0)


def test_columns_are_those_of_the_dynamics(quiet: list[WatchedRow]) -> None:
    made, robot = columns(), es5()
    assert {cause.kind for cause in made.causes} == set(KINDS)
    row = quiet[100].row
    found = made.columns(row)
    assert found.shape == (6, made.count)
    delay = made.delay
    q = row.state.q - delay * row.state.v
    for cause in made.causes:
        block = found[:, cause.columns]
        if cause.kind == 'contact' and cause.where == 'link_6':
            frame = frame_jacobian(robot, q, 'flange', ReferenceFrame.LOCAL_WORLD_ALIGNED)
            force = made.scaled(cause, np.ones(3))
            np.testing.assert_allclose(block @ np.ones(3), -frame[:3].T @ force, atol=1e-9)
        if cause.kind == 'gravity direction':
            angles = made.scaled(cause, np.array([1e-3, 0.0]))
            expected = made.tilts(row) @ angles
            np.testing.assert_allclose(block[:, 0] * 1e-3, expected, rtol=1e-9)
            axes = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0))
            turned = [
                generalized_gravity(
                    robot.with_gravity(robot.gravity + 9.81 * angles[0] * np.array(axis)), q
                )
                - generalized_gravity(robot, q)
                for axis in axes
            ]
            # The two axes may be any across gravity; here they are those of the base.
            assert min(np.abs(expected - each).max() for each in turned) < 1e-9


def test_friction_of_an_unknown_joint_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="joint 'elbow' has no friction"):
        columns().friction_columns('elbow')


def test_nothing_is_told_where_nothing_happens(quiet: list[WatchedRow]) -> None:
    changes, _, holds = watch(quiet)
    assert not changes
    assert not any(holds)


@pytest.mark.parametrize('joint', [1, 2, 4])
def test_friction_that_changes_is_told_with_its_joint(quiet: list[WatchedRow], joint: int) -> None:
    name = f'joint_{joint + 1}'
    changes, watcher, holds = watch(with_effort(quiet, {'friction': friction_step(name, 0.4)}))
    # Until it turns, the joint may as well have a sensor with an offset.
    assert {change.where for change in changes} == {name}
    first = changes[-1]
    assert first.kind == 'friction'
    level = true_parameters()[watched_model().names.index(f'{name}/coulomb')]
    assert first.size[1] == pytest.approx(0.4 * level, rel=0.3)
    assert name in first.sentence
    assert watcher.payload is None
    assert any(holds)  # nobody learns before it is told


@pytest.mark.parametrize('push', [(6.2, 6.9), (6.8, 7.4)])
def test_payload_is_told_although_the_arm_was_bumped_before(
    quiet: list[WatchedRow], push: tuple[float, float]
) -> None:
    changes, watcher, holds = watch(during(quiet, [(*push, -BUMP), (EVENT, np.inf, BOX)]))
    told = [change.told for change in changes if change.kind == 'payload']
    # Bump and filter are over after 0.7 s; then a part of a window begins within 0.5 s, has to be
    # 1.0 s long, and is looked at in its turn within 0.4 s.
    assert len(told) == 1
    assert told[0] - EVENT < 3.0
    assert watcher.payload is not None
    assert watcher.payload.mass == pytest.approx(1.0, rel=0.05)
    assert not holds[-1]


def test_bumps_before_picking_up_and_putting_down_leave_nothing(quiet: list[WatchedRow]) -> None:
    story = [(3.2, 3.9, -BUMP), (4.0, 9.0, BOX), (8.2, 8.9, BUMP)]
    changes, watcher, holds = watch(during(quiet, story))
    assert 'payload' in [change.kind for change in changes]
    assert watcher.payload is None
    assert not holds[-1]


def test_nothing_is_told_where_joints_start_and_stop() -> None:
    changes, _, holds = watch(list(quiet_rows(0.02)))
    assert not changes
    assert not any(holds)


def test_payload_is_not_taken_for_friction(quiet: list[WatchedRow]) -> None:
    changes, watcher, _ = watch(with_effort(quiet, {'payload': BOX}))
    assert [change.kind for change in changes] == ['payload']
    assert watcher.payload is not None
    assert watcher.payload.mass == pytest.approx(1.0, rel=0.05)


def test_offset_of_a_sensor_is_told_and_not_learnt(quiet: list[WatchedRow]) -> None:
    offset = np.array([0.0, 0.0, 0.0, 0.0, 0.6, 0.0])
    changes, watcher, holds = watch(with_effort(quiet, {'offset': offset}))
    assert ('sensor offset', 'joint_5') in [(change.kind, change.where) for change in changes]
    assert holds[-1]
    assert watcher.payload is None


def test_push_is_a_contact_and_leaves_no_trace() -> None:
    begin = 3.9  # joint 2 is in the middle of a motion
    push = Push(begin, begin + 0.5, np.array([0.0, 6.0, 0.0, 0.0, 0.0, 0.0]))
    rows = watched_rows(recorded(Story(7.0, 'poses', SEED, pushes=[push])))
    changes, watcher, holds = watch(rows)
    assert [change.kind for change in changes] == ['contact']
    assert not holds[-1]
    assert watcher.payload is None
    before, _ = watch([each for each in rows if each.row.stamp < begin])[1:]
    arm: ArmErrors = before.arm
    # What is known of the arm moves by the rows that came before and after, not by 6 N m.
    spread = np.sqrt(np.diag(arm.covariance))[: arm.rank]
    assert np.abs((watcher.arm.errors - arm.errors) / spread).max() < 3.0
