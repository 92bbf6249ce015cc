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

import numpy as np
import pytest

pytest.importorskip('rclpy')

from robot_dynamics_ros.core.exceptions import ConfigurationError  # noqa: E402
from robot_dynamics_ros.core.model.urdf import load_urdf  # noqa: E402
from robot_dynamics_ros.resources import urdf_path  # noqa: E402
from robot_dynamics_ros.ros.node_parameters import GravityCompensationParameters  # noqa: E402
from robot_dynamics_ros.ros.parameters import instance_of  # noqa: E402
from robot_dynamics_ros.ros.torque_settings import guard_settings  # noqa: E402

MODEL = load_urdf(urdf_path('es5.urdf.xacro'))
TURNED = [f'joint_{i}' for i in (6, 5, 4, 3, 2, 1)]


def parameters(**values: object) -> GravityCompensationParameters:
    return instance_of(
        GravityCompensationParameters,
        {'gravity_compensated_by_hardware': False, 'stale_state_policy': 'ramp_down', **values},
    )


def test_limits_come_from_the_description_and_rates_from_the_limits() -> None:
    settings = guard_settings(parameters(), MODEL)
    np.testing.assert_array_equal(settings.effort_limit, MODEL.limits.effort)
    np.testing.assert_array_equal(settings.effort_rate_limit, 10.0 * MODEL.limits.effort)


def test_limits_are_in_the_order_of_the_controller() -> None:
    settings = guard_settings(
        parameters(
            joints=TURNED,
            effort_limits=[6.0, 5.0, 4.0, 3.0, 2.0, 1.0],
            effort_rate_limits=[60.0, 50.0, 40.0, 30.0, 20.0, 10.0],
        ),
        MODEL,
    )
    np.testing.assert_array_equal(settings.effort_limit, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    np.testing.assert_array_equal(settings.effort_rate_limit, [10, 20, 30, 40, 50, 60])


def test_ramp_that_a_signal_would_not_wait_for_is_refused() -> None:
    with pytest.raises(ConfigurationError, match='ramp to zero may take 15.5 s'):
        guard_settings(parameters(effort_rate_limits=[10.0] * 6), MODEL)
