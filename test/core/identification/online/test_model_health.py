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

"""Health of the model: quiet where it fits, and the joint and the cause where it does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from payload_scenes import (
    CUTOFF,
    EFFORT_DEVIATION,
    es5,
    quiet_rows,
    true_parameters,
    watched_model,
    WatchedRow,
)
from robot_dynamics_ros.core.identification.online.change_columns import ChangeColumns
from robot_dynamics_ros.core.identification.online.change_detection import Change
from robot_dynamics_ros.core.identification.online.model_health import (
    ALARM,
    HealthMonitor,
    LEAVE,
    ModelHealth,
    WATCH,
)

BASE = watched_model().base.to_base(true_parameters())
COLUMNS = ChangeColumns(watched_model(), BASE, 'flange', CUTOFF)


@pytest.fixture(scope='module')
def rows() -> list[WatchedRow]:
    return list(quiet_rows())


def monitor() -> HealthMonitor:
    return HealthMonitor(es5().v_names, EFFORT_DEVIATION, COLUMNS)


def health_with(rows: list[WatchedRow], extra: dict[str, np.ndarray]) -> ModelHealth:
    """Return the health where something is added to all efforts."""
    watched = monitor()
    for each in rows:
        row = each.row
        added = np.zeros(6)
        added = added + extra.get('offset', 0.0)
        added = added + row.payload @ extra.get('payload', np.zeros(10))
        added = added + row.regressor @ extra.get('base', np.zeros(len(BASE)))
        if 'tilt' in extra:
            added = added + COLUMNS.tilts(row) @ extra['tilt']
        residual = row.tau - row.regressor @ BASE + added
        watched.step(row, residual, EFFORT_DEVIATION, each.use)
    return watched.health()


def coulomb(joint: str, part: float) -> np.ndarray:
    names = np.array(watched_model().base.base_names)
    return np.where(names == f'{joint}/coulomb', part * BASE, 0.0)


def test_model_that_fits_is_ok(rows: list[WatchedRow]) -> None:
    health = health_with(rows, {})
    assert health.level == 'ok'
    assert 'fits as well' in health.sentence
    for joint in health.joints:
        assert joint.ratio < 1.5
        assert joint.cause == ''
        assert joint.relative is not None


def test_too_little_motion_is_no_verdict(rows: list[WatchedRow]) -> None:
    health = health_with(rows[:50], {'base': coulomb('joint_2', 1.0)})
    assert health.level == 'ok'
    assert 'not moved enough' in health.sentence


@pytest.mark.parametrize(('part', 'word'), [(0.3, 'friction up'), (-0.3, 'friction down')])
def test_friction_is_named_with_its_joint(rows: list[WatchedRow], part: float, word: str) -> None:
    health = health_with(rows, {'base': coulomb('joint_2', part)})
    assert health.level == 'alarm'
    assert health.joints[1].level == 'alarm'
    assert health.joints[1].cause.startswith(word)
    assert {joint.level for joint in health.joints[2:]} == {'ok'}
    assert 'joint_2' in health.sentence
    assert word in health.sentence


def test_offset_payload_and_gravity_are_named(rows: list[WatchedRow]) -> None:
    offset = health_with(rows, {'offset': np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])})
    assert offset.joints[2].cause.startswith('offset of the effort sensor (+1')
    assert offset.joints[2].bias == pytest.approx(1.0, abs=0.1)
    box = np.array([1.0, 0.0, 0.0, 0.05, 0.005, 0.0, 0.005, 0.0, 0.0, 0.002])
    payload = health_with(rows, {'payload': box})
    assert payload.joints[1].cause == payload.joints[2].cause
    assert payload.joints[1].cause.startswith('payload changed (+1')
    gravity = health_with(rows, {'tilt': np.array([0.1, 0.05])})
    assert gravity.joints[1].cause.startswith('direction of gravity')


def test_sign_of_an_effort_is_named(rows: list[WatchedRow]) -> None:
    watched = monitor()
    for each in rows:
        tau = each.row.tau * np.array([1.0, 1.0, 1.0, -1.0, 1.0, 1.0])
        residual = tau - each.row.regressor @ BASE
        watched.step(replace(each.row, tau=tau), residual, EFFORT_DEVIATION, each.use)
    assert watched.health().joints[3].cause.startswith(('sign of the effort', 'effort -'))


def test_change_that_was_told_is_the_cause(rows: list[WatchedRow]) -> None:
    watched = monitor()
    for each in rows:
        residual = each.row.tau - each.row.regressor @ (BASE - coulomb('joint_1', 0.5))
        watched.step(each.row, residual, EFFORT_DEVIATION, each.use)
    stamp = rows[-1].row.stamp
    watched.note(Change('friction', 'joint_1', stamp, stamp, 9.0, np.ones(2), 'it was oil'))
    assert watched.health().joints[0].cause == 'it was oil'


def test_levels_are_left_later_than_they_are_entered(rows: list[WatchedRow]) -> None:
    """The ratio is made by scaling one row's residual: a constant one, known exactly."""
    row = replace(rows[len(rows) // 2].row, step=1.0)
    use = np.ones(6, dtype=bool)

    def level(watched: HealthMonitor, ratio: float) -> str:
        for _ in range(150):  # five memories: 0.7 % of what was before is left
            watched.step(row, ratio * EFFORT_DEVIATION, EFFORT_DEVIATION, use)
        return watched.health().level

    watched = monitor()
    assert level(watched, 0.95 * WATCH) == 'ok'
    assert level(watched, 1.05 * WATCH) == 'watch'
    assert level(watched, (LEAVE + 0.1) * WATCH) == 'watch'
    assert level(watched, 1.05 * ALARM) == 'alarm'
    assert level(watched, (LEAVE + 0.1) * ALARM) == 'alarm'
    assert level(watched, (LEAVE - 0.1) * ALARM) == 'watch'
    assert level(watched, (LEAVE - 0.1) * WATCH) == 'ok'
