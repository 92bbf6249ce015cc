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

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import DimensionError
from robot_dynamics_ros.report.torque_comparison import compare_torques


def test_figures_follow_their_definitions() -> None:
    rng = np.random.default_rng(0)
    measured = rng.normal(size=(500, 3)) * [1.0, 10.0, 0.1]
    model = measured + rng.normal(size=(500, 3)) + [0.0, 2.0, 0.0]
    comparison = compare_torques(['a', 'b', 'c'], measured, model)
    difference = measured - model
    # Rounding only.
    assert comparison.global_relative == pytest.approx(
        np.linalg.norm(difference) / np.linalg.norm(measured), rel=1e-12
    )
    for column, error in enumerate(comparison.joints):
        assert error.samples == 500
        assert error.rmse**2 == pytest.approx(np.mean(difference[:, column] ** 2), rel=1e-12)
        assert error.bias == pytest.approx(np.mean(difference[:, column]), rel=1e-12)
        assert error.largest == pytest.approx(np.abs(difference[:, column]).max(), rel=1e-12)
        assert error.relative == pytest.approx(error.rmse / error.rms, rel=1e-12)
        assert error.correlation == pytest.approx(
            np.corrcoef(measured[:, column], model[:, column])[0, 1], rel=1e-9
        )


def test_samples_that_are_missing_do_not_count() -> None:
    measured = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 4.0]])
    model = np.array([[0.0, 1.0], [9.0, 2.0], [3.0, np.nan]])
    comparison = compare_torques(['a', 'b'], measured, model)
    assert [error.samples for error in comparison.joints] == [2, 1]
    assert [error.rmse for error in comparison.joints] == [pytest.approx(np.sqrt(0.5)), 0.0]
    assert comparison.global_relative == pytest.approx(1.0 / np.sqrt(1.0 + 9.0 + 4.0))


def test_empty_and_constant_joints_have_no_figures_instead_of_nan() -> None:
    measured = np.column_stack([np.full(5, np.nan), np.zeros(5), np.ones(5)])
    comparison = compare_torques(['a', 'b', 'c'], measured, np.ones((5, 3)))
    assert [error.relative for error in comparison.joints] == [None, None, 0.0]
    assert [error.correlation for error in comparison.joints] == [None, None, None]
    json.dumps(comparison.as_dict(), allow_nan=False)
    assert 'all joints' in comparison.as_table()
    nothing = compare_torques(['a'], np.full((3, 1), np.nan), np.ones((3, 1)))
    assert nothing.global_relative is None


def test_shapes_must_agree() -> None:
    with pytest.raises(DimensionError, match='measured has shape'):
        compare_torques(['a', 'b'], np.zeros((5, 3)), np.zeros((5, 3)))
    with pytest.raises(DimensionError, match='model has shape'):
        compare_torques(['a', 'b'], np.zeros((5, 2)), np.zeros((4, 2)))
