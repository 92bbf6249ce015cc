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

"""The whole: friction of a simulated ES5 that changes, from quantised and noisy joint states."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from online_scenes import (
    described_es5,
    EFFORT_DELAY,
    es5_friction,
    joint_states,
    JointStates,
    now_and_then_slow,
    perturbed_es5,
)
from robot_dynamics_ros.core.exceptions import (
    ConfigurationError,
    DimensionError,
    UnknownFrameError,
)
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.identification.covariance import base_covariance
from robot_dynamics_ros.core.identification.identification_model import identification_model
from robot_dynamics_ros.core.identification.identified_model import identified_model
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.least_squares import weighted_least_squares
from robot_dynamics_ros.core.identification.online.excitation_gate import RowState
from robot_dynamics_ros.core.identification.online.online_identification import (
    OnlineIdentification,
    OnlineReport,
)
from robot_dynamics_ros.core.identification.online.online_result import online_result
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow, OnlineRows
from robot_dynamics_ros.core.identification.online.online_settings import OnlineSettings
from robot_dynamics_ros.core.identification.online.online_start import (
    OnlineStart,
    open_deviations,
)
from robot_dynamics_ros.core.identification.regression_rows import RegressionRows
from robot_dynamics_ros.core.identification.triangular_factors import accumulated

CHANGE = 16.0
SETTINGS = OnlineSettings(effort_delay=EFFORT_DELAY)


def stronger(time: float) -> DryFriction:
    """Return friction whose Coulomb level, and with it the static one, is 30 % up after a time."""
    friction = es5_friction()
    factor = 1.3 if time >= CHANGE else 1.0
    return replace(
        friction,
        coulomb_positive=factor * friction.coulomb_positive,
        coulomb_negative=factor * friction.coulomb_negative,
    )


@pytest.fixture(scope='module')
def states() -> JointStates:
    """Return 32 s of an arm with inertias up to 3 % off, whose friction changes."""
    return joint_states(perturbed_es5(0.03, 1), stronger, 32.0, seed=1)


@pytest.fixture(scope='module')
def start(states: JointStates) -> OnlineStart:
    """Return what a fit to the first 15 s leads to, by the same rows all at once."""
    model = identification_model(described_es5(), ModelStructure('coulomb'), 6 * (0.01,))
    made: list[OnlineRow] = []
    rows = OnlineRows(model, 5.0, effort_delay=EFFORT_DELAY)
    part = states.between(0.0, 15.0)
    for sample in zip(part.stamps.tolist(), part.position, part.effort):
        row = rows.step(*sample)
        made += [] if row is None else [row]
    block = RegressionRows(
        np.array([row.stamp for row in made]),
        np.array([row.regressor for row in made]),
        np.array([row.tau for row in made]),
        np.array([np.abs(row.state.v) > 0.05 for row in made]),
    )
    fit = weighted_least_squares(accumulated([block], model.columns_of_joint, model.base.rank))
    found = base_covariance([block], fit)
    wide = open_deviations(model, fit.spread)
    covariance = found.matrix + np.diag((1e-3 * wide) ** 2)
    return OnlineStart(model, fit.base, covariance, wide, fit.spread, max(1.0, found.inflation))


def followed(
    online: OnlineIdentification, states: JointStates, touched: tuple[float, float] = (0.0, 0.0)
) -> list[OnlineReport]:
    reports = [
        online.step(stamp, q, tau, in_contact=touched[0] <= stamp < touched[1])
        for stamp, q, tau in zip(states.stamps.tolist(), states.position, states.effort)
    ]
    return [report for report in reports if report is not None]


def coulomb(online: OnlineIdentification) -> np.ndarray:
    """Return the mean Coulomb level of each joint over that before the change."""
    joints = online.friction.joint_friction.values()
    level = np.array([0.5 * (f.coulomb_positive + f.coulomb_negative) for f in joints])
    return np.asarray(level / es5_friction().coulomb_positive)


def test_a_step_of_all_coulomb_levels_is_found_and_learnt(
    states: JointStates, start: OnlineStart
) -> None:
    online = OnlineIdentification(start, SETTINGS)
    calm = followed(online, states.between(0.0, CHANGE))
    assert not any(report.changed.any() for report in calm)
    # Bodies of an arm 3 % off its description are known by now; friction to a per cent or two.
    np.testing.assert_allclose(coulomb(online), 1.0, atol=0.03)
    changed = followed(online, states.between(CHANGE, CHANGE + 15.0))
    found = [next(r.row.stamp for r in changed if r.changed[j]) - CHANGE for j in range(6)]
    assert max(found) < 5.0
    np.testing.assert_array_equal(online.friction.changes, 1)
    # What is asked for is 5 %.
    np.testing.assert_allclose(coulomb(online), 1.3, rtol=0.05)
    steps = np.abs(coulomb(online) - 1.0)
    places = [name.endswith('coulomb') for name in online.friction.names]
    deviations = online.friction.deviations[places] / es5_friction().coulomb_positive
    assert (steps > 5.0 * deviations).all()


def test_what_is_gathered_makes_a_model_that_can_exist(
    states: JointStates, start: OnlineStart
) -> None:
    online = OnlineIdentification(start, SETTINGS)
    followed(online, states.between(0.0, CHANGE))
    found = online.consistent_fit(10.0)
    assert found.is_settled
    written = identified_model(start.model, found.parameters)
    assert all(inertial.mass > 0.0 for inertial in written.inertials.values())
    mine, published = written.joint_friction, online.friction.joint_friction
    for name, friction in published.items():
        assert mine[name].coulomb_positive == pytest.approx(friction.coulomb_positive, rel=1e-12)
    # It explains the rows as the plain fit does.
    rows = [r.row for r in followed(OnlineIdentification(start, SETTINGS), states)]
    rows = [row for row in rows if row.stamp < CHANGE and np.abs(row.state.v).min() > 0.05]
    tau = np.array([row.tau for row in rows])
    error = tau - np.array([row.regressor @ found.base for row in rows])
    assert np.linalg.norm(error) < 0.015 * np.linalg.norm(tau)


def test_contact_freeze_and_discarded_rows_leave_all_bits(
    states: JointStates, start: OnlineStart
) -> None:
    online = OnlineIdentification(start, SETTINGS)
    part = states.between(0.0, 6.0)
    touched = followed(online, part, touched=(0.0, 6.0))
    assert all((r.use.states == RowState.CONTACT).all() for r in touched)
    fresh = OnlineIdentification(start, SETTINGS).state()
    assert all(np.array_equal(fresh[key], value) for key, value in online.state().items())
    online.is_frozen = True
    reports = followed(online, states.between(6.0, 12.0))
    assert any(report.use.use.any() for report in reports)
    assert all(np.array_equal(fresh[key], value) for key, value in online.state().items())


def test_rows_wait_and_can_be_discarded(states: JointStates, start: OnlineStart) -> None:
    online = OnlineIdentification(start, replace(SETTINGS, patience=3.0))
    fresh = online.state()

    def is_fresh() -> bool:
        return all(np.array_equal(fresh[key], value) for key, value in online.state().items())

    followed(online, states.between(0.0, 3.2))
    online.discard(0.0)
    followed(online, states.between(3.2, 6.0))
    assert is_fresh()
    followed(online, states.between(6.0, 8.0))
    assert not is_fresh()


@dataclass(frozen=True)
class Told:
    """A change with its reason."""

    kind: str
    since: float
    before: float | None = None


@dataclass
class Explainer:
    """Explains a constant pull, and holds the rows while it is told to."""

    pull: np.ndarray
    on_hold: bool = False
    is_blind: bool = False
    known: np.ndarray = field(default_factory=lambda: np.ones(6, dtype=bool))
    change: Told | None = None
    residuals: list[np.ndarray] = field(default_factory=list)

    def step(
        self, row: OnlineRow, residual: np.ndarray, deviation: np.ndarray, use: np.ndarray
    ) -> Explainer:
        self.residuals.append(residual)
        return self

    def effort(self, row: OnlineRow) -> np.ndarray:
        return self.pull


def test_an_explainer_takes_off_holds_and_discards(
    states: JointStates, start: OnlineStart
) -> None:
    pull = np.array([0.0, 20.0, 10.0, 0.0, 0.0, 0.0])
    loaded = replace(states, effort=states.effort + pull)
    explainer = Explainer(pull)
    online = OnlineIdentification(start, SETTINGS, explainer)
    plain = OnlineIdentification(start, SETTINGS)
    followed(plain, states.between(0.0, 5.0))
    followed(online, loaded.between(0.0, 5.0))
    np.testing.assert_allclose(online.friction.estimate, plain.friction.estimate, rtol=1e-6)
    # It sees the pull itself: what the arm at the start leaves.
    assert np.mean(explainer.residuals, axis=0)[1] == pytest.approx(20.0, abs=1.0)
    explainer.on_hold = True
    kept = online.state()
    followed(online, loaded.between(5.0, 8.0))
    assert all(np.array_equal(kept[key], value) for key, value in online.state().items())
    explainer.change = Told('payload', 0.0)
    followed(online, loaded.between(8.0, 8.1))
    explainer.on_hold, explainer.change = False, None
    followed(online, loaded.between(8.1, 8.5))
    assert all(np.array_equal(kept[key], value) for key, value in online.state().items())


def test_rest_changes_nothing(states: JointStates, start: OnlineStart) -> None:
    online = OnlineIdentification(start, SETTINGS)
    followed(online, states.between(0.0, 6.0))
    q, tau = states.position[5000], states.effort[5000]
    rng = np.random.default_rng(0)
    stamps = 6.1 + 0.01 * np.arange(12_000)
    noise = 0.3 * rng.normal(size=(100, 6))
    for k, stamp in enumerate(stamps.tolist()):
        report = online.step(stamp, q, tau + noise[k % 100])
        if k == 2000:
            kept = online.state()
    assert report is None or report.use.is_frozen
    assert all(np.array_equal(kept[key], value) for key, value in online.state().items())


def test_a_state_goes_into_another_instance(states: JointStates, start: OnlineStart) -> None:
    one, other = (OnlineIdentification(start, SETTINGS) for _ in range(2))
    followed(one, states.between(0.0, 8.0))
    other.restore(one.state())
    np.testing.assert_array_equal(other.friction.estimate, one.friction.estimate)
    np.testing.assert_array_equal(other.base.estimate, one.base.estimate)
    state = one.state()
    del state['base/root']
    with pytest.raises(DimensionError):
        other.restore(state)
    np.testing.assert_array_equal(other.friction.estimate, one.friction.estimate)
    other.reset()
    assert all(
        np.array_equal(value, OnlineIdentification(start, SETTINGS).state()[key])
        for key, value in other.state().items()
    )


def test_bad_data_and_settings_are_refused(start: OnlineStart) -> None:
    online = OnlineIdentification(start, SETTINGS)
    assert online.step(0.0, np.full(6, np.nan), np.zeros(6)) is None
    assert online.step(np.nan, np.zeros(6), np.zeros(6)) is None
    assert online.refused == 2
    with pytest.raises(DimensionError, match='q has'):
        online.step(0.0, np.zeros(5), np.zeros(6))
    with pytest.raises(ConfigurationError, match='patience is -1'):
        OnlineIdentification(start, OnlineSettings(patience=-1.0))
    with pytest.raises(UnknownFrameError):
        OnlineIdentification(start, OnlineSettings(payload_frame='nowhere'))


@pytest.mark.soak
def test_static_level_of_a_simulated_arm_is_found(start: OnlineStart) -> None:
    moved = joint_states(
        perturbed_es5(0.03, 1), lambda _: es5_friction(), 60.0, seed=11,
        reference=lambda stamps: now_and_then_slow(stamps, 11),
    )  # fmt: skip
    online = OnlineIdentification(start, replace(SETTINGS, track_stribeck=True))
    assert not any(report.changed.any() for report in followed(online, moved))
    true = es5_friction()
    for j, joint in enumerate(online.friction.joint_friction.values()):
        level, ratio = true.coulomb_positive[j], joint.static_ratio
        # Bodies 3 % off, known from 15 s, and the sensors of the arm; the grid is 29 % apart.
        found = 0.5 * (joint.coulomb_positive + joint.coulomb_negative)
        assert found == pytest.approx(level, rel=0.03)
        assert found * ratio == pytest.approx(1.3 * level, rel=0.1)
        assert joint.stribeck_velocity == pytest.approx(0.05, rel=0.3)
    joints = online_result(online).identified.joint_friction
    assert joints['joint_1'].static_ratio == pytest.approx(
        online.friction.joint_friction['joint_1'].static_ratio
    )
