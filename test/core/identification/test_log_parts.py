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

import pickle
import tracemalloc

import numpy as np
import pytest

from identification_scenes import dry_friction, simulated_log, SimulatedLog
from robot_dynamics_ros.core.dynamics import rnea
from robot_dynamics_ros.core.identification import (
    identification,
    record_windows,
    regression_rows,
)
from robot_dynamics_ros.core.identification.cross_validation import candidates_of
from robot_dynamics_ros.core.identification.effort_series import EffortSeries
from robot_dynamics_ros.core.identification.effort_sums import EffortSums, summed
from robot_dynamics_ros.core.identification.excitation_spectrum import CutoffChoice
from robot_dynamics_ros.core.identification.identification import (
    IdentificationOptions,
    identify,
    JointRecord,
)
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.log_parts import held_out_part
from robot_dynamics_ros.core.identification.sample_stream import LogFilter
from robot_dynamics_ros.core.identification.verdict import measured_agreement
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.resources import urdf_path

QUICK = IdentificationOptions(friction='coulomb', prior_weight=10.0)


@pytest.fixture(scope='module')
def robot() -> RobotModel:
    return load_urdf(urdf_path('planar_2r_rods.urdf'))


@pytest.fixture(scope='module')
def log(robot: RobotModel) -> SimulatedLog:
    friction = dry_friction(robot, np.array([0.5, 0.3]), np.array([0.4, 0.2]))
    exact = simulated_log(robot, friction, 40.0, rate=200.0)
    noisy = exact.with_noise(np.random.default_rng(1), 1e-5, 1e-3, np.array([0.2, 0.1]))
    return noisy.part(2.0, 99.0)


def record_of(log: SimulatedLog, name: str = 'log') -> JointRecord:
    return JointRecord(name, log.stamps, log.position, log.velocity, log.effort)


def test_sums_of_parts_are_those_of_the_whole() -> None:
    rng = np.random.default_rng(0)
    measured, model = rng.normal(3.0, 1.0, (2, 500, 2))
    use = rng.random((500, 2)) > 0.2
    parts = [slice(0, 3), slice(3, 3), slice(3, 400), slice(400, 500)]
    added = summed(EffortSums.of(measured[p], model[p], use[p]) for p in parts).measure('ab')
    whole = measured_agreement('ab', measured, model, use)
    assert added.relative == pytest.approx(whole.relative, rel=1e-12)  # rounding
    for mine, its in zip(added.joints, whole.joints):
        assert mine.samples == its.samples
        assert mine.rmse == pytest.approx(its.rmse, rel=1e-12)
        assert mine.r_squared == pytest.approx(its.r_squared, rel=1e-12)


def test_fit_hardly_depends_on_how_many_rows_are_kept(
    robot: RobotModel, log: SimulatedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = [record_of(log.part(0.0, 16.0), 'a'), record_of(log.part(16.0, 30.0), 'b')]
    held_out = [record_of(log.part(30.0, 99.0))]
    every = identify(robot, training, held_out, QUICK)
    monkeypatch.setattr(identification, 'MOST_ROWS', 250)
    monkeypatch.setattr(identification, 'FEWEST_ROWS', 100)
    some = identify(robot, training, held_out, QUICK)
    rows = [sum(len(one.stamps) for one in found.series[0]) for found in (every, some)]
    assert rows[1] <= 250 < rows[0] / 2
    # All samples are in both fits; only spread and limit of the robust weights differ. Samples of
    # their own would set them sqrt(rows / kept - 1) deviations apart, which is beyond 2 here.
    apart = np.abs(some.linear.base - every.linear.base) / every.covariance.deviation
    assert np.sqrt(rows[0] / rows[1] - 1.0) > 2.0
    assert apart.max() < 1.0
    # Intervals count all samples, and are known to the fluctuation of some hundred errors.
    ratio = some.covariance.deviation / every.covariance.deviation
    assert 0.5 < np.exp(np.mean(np.log(ratio))) < 2.0
    assert some.held_out['description'] == every.held_out['description']


def test_log_that_verifies_leaves_efforts_and_no_regressor(
    robot: RobotModel, log: SimulatedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_windows, 'WINDOW', 512)
    monkeypatch.setattr(regression_rows, 'BLOCK', 512)
    model = candidates_of(robot, ModelStructure('stribeck'))  # many columns
    base = model.base.to_base(model.prior)
    how = LogFilter(CutoffChoice(20.0, 40.0, None, 'given'))
    bases = {'identified': base, 'description': 0.5 * base}
    record = record_of(log.part(0.0, 16.0))

    def peak(most_rows: int) -> tuple[int, EffortSeries]:
        tracemalloc.start()
        part = held_out_part((record, most_rows), model, how, bases)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most, part.series

    held_out_part((record, 1), model, how, bases)  # compiles, outside of what is measured
    few, _ = peak(1)
    many, series = peak(10**6)
    rows = len(series.stamps)
    assert rows > 2500
    of_series = sum(
        getattr(series, name).nbytes for name in ('measured', 'identified', 'described')
    )
    # In blocks and joined, with room for stamps and use; regressors would be several times that.
    assert model.base.rank > 30
    assert many - few < 3 * of_series
    assert np.abs(series.described - 0.5 * series.identified).max() < 1e-12  # rounding


def test_model_that_another_process_gets_is_the_same(robot: RobotModel) -> None:
    copy = pickle.loads(pickle.dumps(robot))
    assert copy.joint_names == robot.joint_names
    assert dict(copy.frames).keys() == dict(robot.frames).keys()
    q, v, a = np.random.default_rng(0).normal(size=(3, robot.nv))
    assert np.array_equal(rnea(copy, q, v, a), rnea(robot, q, v, a))
    with pytest.raises(ValueError, match='read-only'):
        copy.kernel[0, 0] = 1.0
