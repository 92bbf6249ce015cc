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

"""Friction that is followed: steps, drift, freezing, what is published."""

from __future__ import annotations

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    NonFiniteError,
)
from robot_dynamics_ros.core.identification.identification_model import identification_model
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.online.friction_terms import (
    friction_terms,
    static_terms,
)
from robot_dynamics_ros.core.identification.online.friction_tracker import FrictionTracker
from robot_dynamics_ros.core.identification.online.joint_friction_fit import FitState
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow
from robot_dynamics_ros.core.identification.online.stribeck_columns import stribeck_velocities
from tracker_rows import drives, es5_model, motion, rows_of, start_at

ALL = np.ones(6, dtype=bool)


def moving(row: OnlineRow) -> np.ndarray:
    return np.asarray(np.abs(row.state.v) > 0.03)


def coulomb(tracker: FrictionTracker) -> np.ndarray:
    return tracker.estimate[[name.endswith('coulomb') for name in tracker.names]]


def test_a_step_is_found_and_learnt_and_other_joints_stay() -> None:
    model = es5_model()
    before, after = drives(model), drives(model)
    after[model.names.index('joint_3/coulomb')] *= 1.3
    tracker = FrictionTracker(start_at(model, before))
    calm = rows_of(model, *motion(2000), before)
    for row in calm:
        assert not tracker.step(row, moving(row)).any()  # 50 s without a false alarm
    found = None
    changed = rows_of(model, *motion(600, seed=2), after, seed=3, start=50.0)
    for row in changed:
        if tracker.step(row, moving(row))[2] and found is None:
            found = row.stamp
    # 0.9 N m beside noise of 0.3: some rows of motion. Noise over 15 s leaves a per cent.
    assert found is not None
    assert found - 50.0 < 5.0
    np.testing.assert_array_equal(tracker.changes, [0, 0, 1, 0, 0, 0])
    assert coulomb(tracker)[2] == pytest.approx(3.9, rel=0.03)
    np.testing.assert_allclose(np.delete(coulomb(tracker), 2), 3.0, rtol=0.03)
    # Estimates lie where their deviations say: within four of them.
    truth = np.array([after[model.names.index(name)] for name in tracker.names])
    assert np.abs((tracker.estimate - truth) / tracker.deviations).max() < 4.0


def test_a_drift_is_followed_with_a_small_lag() -> None:
    model = es5_model()
    parameters = np.tile(drives(model), (9_600, 1))
    place = model.names.index('joint_2/coulomb')
    growth = 1.0 + 0.1 * np.linspace(0.0, 1.0, len(parameters)) * (240.0 / 600.0)
    parameters[:, place] *= growth
    tracker = FrictionTracker(start_at(model, parameters[0]))
    errors = []
    for k, row in enumerate(rows_of(model, *motion(len(growth)), parameters)):
        tracker.step(row, moving(row))
        errors.append(coulomb(tracker)[1] / (3.0 * growth[k]) - 1.0)
    assert tracker.changes.sum() == 0
    # Ten per cent in ten minutes and a memory of thirty seconds: half a per cent, and noise.
    assert np.mean(errors[4000:]) == pytest.approx(-0.005, abs=0.004)
    assert np.abs(errors[2000:]).max() < 0.03


def test_frozen_means_the_same_bits() -> None:
    model = es5_model()
    tracker = FrictionTracker(start_at(model, drives(model)))
    rows = rows_of(model, *motion(300), drives(model))
    for row in rows[:200]:
        tracker.step(row, ALL)
    kept, friction = tracker.state(), tracker.estimate
    for row in rows[200:]:
        assert not tracker.step(row, ~ALL).any()
    assert all(np.array_equal(kept[key], value) for key, value in tracker.state().items())
    np.testing.assert_array_equal(tracker.estimate, friction)


def test_the_same_motion_for_hours_leaves_deviations_bounded() -> None:
    model = es5_model()
    tracker = FrictionTracker(start_at(model, drives(model)))
    q, v, a = motion(400)
    v[:] = 0.5  # viscous and Coulomb friction and offset cannot be told apart
    rows = rows_of(model, q, v, a, drives(model))
    start = tracker.deviations
    for _ in range(20):
        for row in rows:
            tracker.step(row, ALL)
    # What is seen is known; what is not is bounded by a tenth of the friction, or by the start.
    assert (tracker.deviations <= np.maximum(3.0 * start, 0.4)).all()
    torque = tracker.friction_model.torque(v[:1])
    np.testing.assert_allclose(torque, 0.5 * 4.0 + 3.0 + 0.2, rtol=0.01)


def test_friction_in_the_terms_of_the_nodes() -> None:
    model = es5_model()
    parameters = drives(model)
    tracker = FrictionTracker(start_at(model, parameters))
    friction = tracker.friction_model
    np.testing.assert_allclose(friction.viscous, 4.0)
    np.testing.assert_allclose(friction.coulomb_positive, 3.2)
    np.testing.assert_allclose(friction.coulomb_negative, 2.8)
    np.testing.assert_allclose(friction.smoothing_velocity, 0.02)
    assert tracker.joint_friction['joint_1'].coulomb_positive == pytest.approx(3.2)


def test_what_is_published_takes_energy_and_keeps_the_rest_consistent() -> None:
    model = es5_model()
    parameters = drives(model)
    parameters[model.names.index('joint_1/viscous')] = -0.4
    tracker = FrictionTracker(start_at(model, parameters))
    q, v, a = motion(2000)
    for row in rows_of(model, q, v, a, parameters, noise=0.1):
        tracker.step(row, moving(row))
    named = dict(zip(tracker.names, tracker.possible.tolist()))
    assert named['joint_1/viscous'] == 0.0
    assert dict(zip(tracker.names, tracker.estimate.tolist()))['joint_1/viscous'] < -0.2
    # Least squares without damping: less than 3, since the damping was negative.
    columns = np.column_stack([np.tanh(v[:, 0] / 0.02), np.ones(len(v))])
    torque = -0.4 * v[:, 0] + 3.0 * np.tanh(v[:, 0] / 0.02) + 0.2
    fitted = np.linalg.lstsq(columns, torque, rcond=None)[0]
    assert named['joint_1/coulomb'] == pytest.approx(fitted[0], rel=0.05)
    assert tracker.friction_model.viscous[0] == 0.0


def test_two_sided_friction_and_what_a_payload_explains() -> None:
    model = es5_model('two_sided')
    parameters = drives(model)
    parameters[model.names.index('joint_2/coulomb_negative')] = 4.0
    tracker = FrictionTracker(start_at(model, parameters))
    pull = np.array([1.0, 20.0, 10.0, 1.0, 0.0, 0.0])
    for row in rows_of(model, *motion(2000), parameters):
        loaded = OnlineRow(
            row.stamp, row.step, row.regressor, row.payload, row.tau + pull, row.state
        )
        tracker.step(loaded, moving(row), pull)
    assert tracker.changes.sum() == 0
    assert tracker.friction_model.coulomb_negative[1] == pytest.approx(4.0, rel=0.03)
    assert tracker.friction_model.coulomb_positive[1] == pytest.approx(3.0, rel=0.03)


def test_state_goes_on_where_it_was() -> None:
    model = es5_model()
    start = start_at(model, drives(model))
    one, other = FrictionTracker(start), FrictionTracker(start)
    rows = rows_of(model, *motion(600), drives(model, coulomb=3.5))
    for row in rows[:300]:
        one.step(row, moving(row))
    other.restore(one.state())
    for row in rows[300:]:
        one.step(row, moving(row))
        other.step(row, moving(row))
    np.testing.assert_array_equal(one.estimate, other.estimate)
    np.testing.assert_array_equal(one.covariance, other.covariance)


def test_senseless_input_is_refused_and_changes_nothing() -> None:
    model = es5_model()
    start = start_at(model, drives(model))
    tracker = FrictionTracker(start)
    with pytest.raises(ConfigurationError, match='memory of the friction is 1'):
        FrictionTracker(start, 1.0)
    bare = identification_model(model.robot, ModelStructure('none', offset=False))
    with pytest.raises(ConfigurationError, match='no friction terms'):
        FrictionTracker(start_at(bare, drives(bare)))
    state = tracker.state()
    for broken, error in (
        ({k: v for k, v in state.items() if k != 'joint_6/root'}, DimensionError),
        ({**state, 'joint_2/numbers': np.full(7, np.nan)}, NonFiniteError),
        ({**state, 'joint_6/root': 0.0 * state['joint_6/root']}, ConfigurationError),
    ):
        with pytest.raises(error):
            tracker.restore(broken)
        assert all(np.array_equal(state[key], value) for key, value in tracker.state().items())


def test_what_friction_cannot_explain_is_not_learnt_and_passes() -> None:
    model = es5_model()
    parameters = drives(model)
    tracker = FrictionTracker(start_at(model, parameters))
    for row in rows_of(model, *motion(800), parameters):
        tracker.step(row, moving(row))
    before = tracker.estimate
    # Two kilograms more in the last link, ten seconds long: torques that follow the pose.
    loaded = parameters.copy()
    body = 10 * (model.robot.nbodies - 1)
    loaded[body] += 2.0
    loaded[body + 3] += 0.2
    q, v, a = motion(2000, seed=5)
    for row in rows_of(model, q[:400], v[:400], a[:400], loaded, seed=6, start=20.0):
        assert not tracker.step(row, moving(row))[1:3].any()
    assert [fit.state is FitState.DOUBT for fit in tracker.fits][1:3] == [True, True]
    heavy = np.array([name.startswith(('joint_2', 'joint_3')) for name in tracker.names])
    level = np.array([name.endswith('coulomb') for name in tracker.names])
    np.testing.assert_allclose(tracker.estimate[heavy & level], before[heavy & level], rtol=0.05)
    # It is put down: after some seconds of small errors everything goes on.
    for row in rows_of(model, q[400:], v[400:], a[400:], parameters, seed=7, start=30.0):
        tracker.step(row, moving(row))
    assert tracker.is_tracking.all()
    np.testing.assert_allclose(coulomb(tracker), 3.0, rtol=0.03)


VELOCITIES = stribeck_velocities(0.03)


def slow_and_fast(count: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Return a motion of which every other five seconds are at a tenth of the pace."""
    q, v, a = motion(count, seed)
    pace = np.where(np.arange(count) // 200 % 2 == 1, 0.1, 1.0)[:, None]
    return q, pace * v, pace**2 * a


def test_static_level_is_found_and_slow_motion_is_no_change() -> None:
    model = es5_model()
    parameters = drives(model)
    grid = FrictionTracker(start_at(model, parameters), velocities=VELOCITIES)
    plain = FrictionTracker(start_at(model, parameters))
    moved = slow_and_fast(2400)
    made = rows_of(model, *moved, parameters, static=0.9, velocities=VELOCITIES)
    for row in made:
        grid.step(row, moving(row))
        plain.step(row, moving(row))
    assert grid.changes.sum() == 0
    assert plain.changes.sum() > 0  # without a static level it is taken for Coulomb friction
    np.testing.assert_allclose(coulomb(grid), 3.0, rtol=0.03)
    for joint, static in zip(grid.joint_friction.values(), grid.static_friction):
        assert static is not None
        # Noise of 0.3 and 0.1 N m over half a minute of slow motion.
        assert 3.0 * joint.static_ratio == pytest.approx(3.9, rel=0.1)
        assert joint.stribeck_velocity == pytest.approx(0.05, rel=0.3)
        assert abs(static.excess - 0.9) < 4.0 * static.deviation
        assert abs(static.velocity - 0.05) < 4.0 * static.velocity_deviation
    # What the base parameters lack of a row is the friction that rises.
    slow = made[-20]
    missing = slow.tau - slow.regressor @ grid.base - grid.static_effort(slow)
    assert np.abs(missing / (0.3, 0.3, 0.3, 0.1, 0.1, 0.1)).max() < 4.0
    slow_terms = dict(zip(static_terms(grid).names, static_terms(grid).values.tolist()))
    assert slow_terms['joint_4/static_ratio'] == grid.joint_friction['joint_4'].static_ratio
    assert set(friction_terms(grid).names) == set(friction_terms(plain).names)


def test_a_step_beside_a_static_level_is_found_in_slow_and_fast_motion() -> None:
    model = es5_model()
    before, after = drives(model), drives(model, coulomb=3.9)
    tracker = FrictionTracker(start_at(model, before), velocities=VELOCITIES)
    moved = slow_and_fast(1600)
    for row in rows_of(model, *moved, before, static=0.9, velocities=VELOCITIES):
        tracker.step(row, moving(row))
    found = np.full(6, np.nan)
    changed = rows_of(
        model, *slow_and_fast(600, 2), after, seed=3, start=40.0, static=1.17,
        velocities=VELOCITIES,
    )  # fmt: skip
    for row in changed:
        new = tracker.step(row, moving(row)) & np.isnan(found)
        found[new] = row.stamp - 40.0
    assert (found < 5.0).all()
    np.testing.assert_array_equal(tracker.changes, 1)
    np.testing.assert_allclose(coulomb(tracker), 3.9, rtol=0.05)


def test_without_slow_motion_the_static_level_stays_that_of_the_start() -> None:
    model = es5_model('stribeck')
    start = start_at(model, drives(model))
    tracker = FrictionTracker(start, velocities=VELOCITIES)
    q, v, a = motion(400)
    v = np.sign(v) * np.maximum(np.abs(v), 0.7)
    for row in rows_of(model, q, v, a, drives(model), velocities=VELOCITIES):
        tracker.step(row, ALL)
    assert tracker.static_friction == 6 * (None,)
    assert not static_terms(tracker).names
    # The model's own term: 0.5 N m above 3, over three widths of its smooth sign of 0.02 rad/s.
    begun = tracker.joint_friction['joint_1']
    assert begun.stribeck_velocity == pytest.approx(0.06)
    assert not any('stribeck' in name for name in tracker.names)


def test_a_level_that_falls_towards_rest_is_published_as_none() -> None:
    model = es5_model('two_sided')
    parameters = drives(model)
    tracker = FrictionTracker(start_at(model, parameters), velocities=VELOCITIES)
    moved = slow_and_fast(1200)
    for row in rows_of(model, *moved, parameters, static=-0.9, velocities=VELOCITIES):
        tracker.step(row, moving(row))
    for joint, static in zip(tracker.joint_friction.values(), tracker.static_friction):
        assert static is not None
        assert static.excess == 0.0
        assert joint.static_ratio == 1.0
        assert joint.coulomb_positive > 0.0


def test_state_of_static_levels_goes_on_where_it_was_and_frozen_stays() -> None:
    model = es5_model()
    start = start_at(model, drives(model))
    one = FrictionTracker(start, velocities=VELOCITIES)
    other = FrictionTracker(start, velocities=VELOCITIES)
    moved = slow_and_fast(600)
    made = rows_of(model, *moved, drives(model), static=0.9, velocities=VELOCITIES)
    for row in made[:400]:
        one.step(row, moving(row))
    kept = one.state()
    for row in made[400:420]:
        assert not one.step(row, ~ALL).any()
    assert all(np.array_equal(kept[key], value) for key, value in one.state().items())
    other.restore(kept)
    for row in made[400:]:
        one.step(row, moving(row))
        other.step(row, moving(row))
    np.testing.assert_array_equal(one.estimate, other.estimate)
    assert one.static_friction == other.static_friction
    with pytest.raises(DimensionError):
        FrictionTracker(start).restore(kept)
