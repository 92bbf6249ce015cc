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

import numpy as np
import pytest

from robot_dynamics_ros.core.exceptions import DimensionError
from robot_dynamics_ros.core.trajectory.sizing import sizing_metrics


def test_metrics_of_a_sine_are_those_of_the_closed_form() -> None:
    t = np.linspace(0.0, 2.0 * np.pi, 20001)
    v = np.column_stack((np.cos(t), np.ones_like(t)))
    tau = np.column_stack((3.0 * np.sin(t), -2.0 * np.ones_like(t)))
    metrics = sizing_metrics(t, v, tau)
    # The trapezoidal rule on 20000 intervals is good to 1e-8; the peaks lie on samples to 1e-7.
    np.testing.assert_allclose(metrics.peak_torque, [3.0, 2.0], rtol=1e-7)
    np.testing.assert_allclose(metrics.rms_torque, [3.0 / np.sqrt(2.0), 2.0], rtol=1e-7)
    np.testing.assert_allclose(metrics.peak_velocity, [1.0, 1.0], rtol=1e-7)
    np.testing.assert_allclose(metrics.peak_power, [1.5, 2.0], rtol=1e-7)
    np.testing.assert_allclose(metrics.energy, [6.0, 4.0 * np.pi], rtol=1e-7)


def test_shapes_must_fit() -> None:
    with pytest.raises(DimensionError, match='tau has'):
        sizing_metrics(np.arange(3.0), np.zeros((3, 2)), np.zeros((3, 1)))
    with pytest.raises(DimensionError, match='v has'):
        sizing_metrics(np.arange(3.0), np.zeros((4, 2)), np.zeros((3, 1)))
