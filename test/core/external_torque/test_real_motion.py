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

"""A real arm that nobody touches."""

from __future__ import annotations

import numpy as np
import pytest

from example_robots import example_urdf
from robot_dynamics_ros.bags.joint_blocks import read_joint_log
from robot_dynamics_ros.core.drive.measured_effort import MeasuredEffort
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.external_torque.contact_monitor import ContactMonitor
from robot_dynamics_ros.core.external_torque.momentum_balance import MomentumBalance
from robot_dynamics_ros.core.external_torque.momentum_observer import MomentumObserver
from robot_dynamics_ros.core.model import load_urdf
from shared_data import shared_path


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_little_of_a_panda_in_free_motion_is_external(sign: float) -> None:
    bag = shared_path('data', 'panda_unisa_rosbag2', 'panda_exciting_trajectory.db3')
    model = load_urdf(example_urdf('panda.urdf'), locked={'panda_finger_joint1': 0.0})
    log = read_joint_log(bag)
    observer = MomentumObserver(MomentumBalance(model, longest_gap=0.1))
    watch = ContactMonitor(
        observer, MeasuredEffort('torque', model.nv), signs=np.full(model.nv, sign)
    )
    watch.start_learning()
    external = []
    for k, stamp in enumerate(log.stamps):
        if watch.step(float(stamp), log.position[k], log.velocity[k], log.effort[k]):
            external.append(observer.tau_ext.copy())
    assert observer.balance.restarts == 0  # 30 Hz without gaps
    share = np.sqrt(np.sum(np.square(external)) / np.sum(log.effort[-len(external) :] ** 2))
    if sign > 0.0:
        # The description is off by 12.8 % of the torque, friction among it.
        assert share < 0.15
        assert (watch.learnt_thresholds().level < 15.0).all()
    else:
        assert share == pytest.approx(2.0, abs=0.15)
        with pytest.raises(ConfigurationError, match='does not explain the efforts'):
            watch.learnt_thresholds()
