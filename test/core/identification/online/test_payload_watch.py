"""A payload that is picked up and put down by an arm with sensors, stiction and a wrong model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from payload_scenes import (
    EFFORT_DEVIATION,
    identified,
    recorded,
    Story,
    watched_model,
    watched_rows,
    WatchedRow,
)
from robot_dynamics_ros.core.dynamics import rnea
from robot_dynamics_ros.core.identification.online.change_detection import Change
from robot_dynamics_ros.core.identification.online.payload_tracker import PayloadEstimate
from robot_dynamics_ros.core.identification.online.payload_watch import PayloadWatch
from robot_dynamics_ros.core.model.payload import Payload

SEED = 2
BOX = Payload(1.0, 'flange', np.array([0.02, -0.01, 0.06]), np.diag([2e-3, 2e-3, 1e-3]))
UP, DOWN = 10.0, 15.0


@dataclass(frozen=True)
class Watched:
    """What was told and estimated over a run."""

    changes: tuple[Change, ...]
    stamps: np.ndarray
    holds: np.ndarray
    estimates: tuple[PayloadEstimate | None, ...]
    watch: PayloadWatch

    def estimate_at(self, stamp: float) -> PayloadEstimate | None:
        return self.estimates[int(np.searchsorted(self.stamps, stamp))]


def new_watch(seed: int = SEED, stated: Payload | None = None) -> PayloadWatch:
    base, covariance = identified(seed)
    return PayloadWatch(watched_model(), base, covariance, 'flange', 5.0, stated)


def watch_rows(rows: list[WatchedRow], seed: int = SEED, stated: Payload | None = None) -> Watched:
    base, _ = identified(seed)
    watch = new_watch(seed, stated)
    changes, holds, estimates = [], [], []
    for each in rows:
        residual = each.row.tau - each.row.regressor @ base
        report = watch.step(each.row, residual, EFFORT_DEVIATION, each.use)
        if report.change is not None:
            changes.append(report.change)
        holds.append(report.hold)
        estimates.append(watch.estimate)
    stamps = np.array([each.row.stamp for each in rows])
    return Watched(tuple(changes), stamps, np.array(holds), tuple(estimates), watch)


@pytest.fixture(scope='module')
def rows() -> list[WatchedRow]:
    story = Story(18.0, 'poses', SEED, payloads=[(UP, BOX), (DOWN, None)])
    return watched_rows(recorded(story))


@pytest.fixture(scope='module')
def watched(rows: list[WatchedRow]) -> Watched:
    return watch_rows(rows)


def test_pick_up_and_put_down_are_told_as_such(watched: Watched) -> None:
    assert [change.kind for change in watched.changes] == ['payload', 'payload removed']
    for change, happened in zip(watched.changes, (UP, DOWN)):
        # A row is late by 66 ms; the first ones show it if the joints that feel it are in motion.
        assert 0.0 <= change.since - happened + 0.05 < 0.7
        assert change.told - happened < 2.0
    assert not watched.holds[watched.stamps < UP].any()
    assert watched.holds.mean() < 0.2


def test_mass_and_centre_are_found_within_three_seconds(watched: Watched) -> None:
    found = watched.estimate_at(UP + 3.0)
    assert found is not None
    assert found.payload.mass == pytest.approx(BOX.mass, rel=0.03)
    np.testing.assert_allclose(found.payload.com, BOX.com, atol=0.01)
    assert found.payload.frame == 'flange'


def test_deviations_are_honest(watched: Watched) -> None:
    found = watched.estimate_at(UP + 4.5)
    assert found is not None
    errors = np.array([found.payload.mass - BOX.mass, *(found.payload.com - BOX.com)])
    assert np.all(np.abs(errors) < 4.0 * found.deviation[:4])
    assert np.all(found.deviation[:4] < [0.03, 0.01, 0.01, 0.01])


def test_nothing_is_left_of_a_payload_that_was_put_down(watched: Watched) -> None:
    assert watched.watch.payload is None
    assert watched.estimates[-1] is None
    robot = watched_model().robot
    again = robot.with_payload(watched.watch.payload)
    state = np.random.default_rng(0).normal(size=(3, robot.nv))
    np.testing.assert_array_equal(rnea(again, *state), rnea(robot, *state))  # to the bit


def test_stated_payload_is_the_start_and_all_that_is_there(rows: list[WatchedRow]) -> None:
    loaded = [each for each in rows if UP + 0.5 < each.row.stamp < DOWN]
    right = watch_rows(loaded, stated=BOX)
    assert not right.changes
    first, last = right.estimates[0], right.estimates[-1]
    assert first is not None
    assert last is not None
    assert first.payload.mass == pytest.approx(1.0, rel=0.1)
    assert last.payload.mass == pytest.approx(1.0, rel=0.05)  # of 4.5 s, without a run before


def test_watch_goes_on_from_its_state(watched: Watched, rows: list[WatchedRow]) -> None:
    part = watch_rows([each for each in rows if each.row.stamp < DOWN - 0.5])
    other = new_watch()
    other.restore(part.watch.state())
    found, expected = other.estimate, part.watch.estimate
    assert found is not None
    assert expected is not None
    # The body is fitted again, a few rows further on than the last time.
    np.testing.assert_allclose(found.parameters[:4], expected.parameters[:4], atol=5e-3)


@pytest.mark.soak
@pytest.mark.parametrize('mass', [0.3, 1.0, 3.0])
@pytest.mark.parametrize('seed', range(4))
def test_every_mass_is_found(mass: float, seed: int) -> None:
    box = Payload(mass, 'flange', BOX.com, mass * BOX.inertia)
    story = Story(18.0, 'poses', seed, payloads=[(10.0, box)])
    found = watch_rows(watched_rows(recorded(story)), seed).estimates[-1]
    assert found is not None
    assert found.payload.mass == pytest.approx(mass, abs=max(0.03, 0.03 * mass))


@pytest.mark.soak
def test_nothing_is_told_where_nothing_happens() -> None:
    watched = watch_rows(watched_rows(recorded(Story(300.0, 'poses', 101))), 101)
    assert not watched.changes
    assert not watched.holds.any()
