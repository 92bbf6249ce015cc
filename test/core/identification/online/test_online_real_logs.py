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

"""Public logs of real robots, state by state: frozen, the online fit is as good as offline."""

from __future__ import annotations

import pytest

from example_robots import example_urdf
from real_logs import error_on, PANDA, panda, record_of, UR10
from robot_dynamics_ros.core.identification.consistent_fit import consistent_fit
from robot_dynamics_ros.core.identification.identification import (
    IdentificationOptions,
    identify,
    JointRecord,
)
from robot_dynamics_ros.core.identification.online.base_tracker import BaseTracker
from robot_dynamics_ros.core.identification.online.excitation_gate import ExcitationGate
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRows
from robot_dynamics_ros.core.identification.online.online_start import start_of_description
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf


def require_online_as_offline(
    robot: RobotModel, record: JointRecord, border: float, slowest: float
) -> None:
    training, rest = record.between(0.0, border), record.between(border, 1e9)
    found = identify(robot, [training], [rest], IdentificationOptions(cutoff=5.0))
    offline = found.held_out['identified']['filtered'].relative
    assert offline is not None
    # From the description with everything open; form and widths of the friction as offline.
    start = start_of_description(found.model, found.linear.spread, found.covariance.inflation)
    tracker = BaseTracker(start)
    rows = OnlineRows(found.model, 5.0, motion_cutoff=found.cutoffs.motion_cutoff)
    gate = ExcitationGate(robot.limits.effort, rows.memory, slowest)
    for sample in zip(training.stamps.tolist(), training.position, training.effort):
        row = rows.step(*sample)
        tracker.work()
        if row is not None:
            tracker.step(row, gate.step(row).use)
    assert rows.motion.gaps == rows.motion.refused == 0
    frozen = consistent_fit(found.model, tracker.fit, found.prior_weight)
    online = error_on(found, rest, frozen.base)
    print(f'held-out error {online:.4f} online, {offline:.4f} offline')
    assert online < 1.1 * offline


@pytest.mark.parametrize('slowest', [0.0, 0.03])
@pytest.mark.soak
def test_ur10_online_is_as_good_as_offline(slowest: float) -> None:
    robot = load_urdf(example_urdf('ur10_robot.urdf'))
    require_online_as_offline(robot, record_of(robot, UR10), 18.0, slowest)


@pytest.mark.soak  # through DDS in CI: test_identification_through_dds
def test_panda_online_is_as_good_as_offline() -> None:
    robot = panda()
    require_online_as_offline(robot, record_of(robot, PANDA, 'panda_joint'), 16.0, 0.0)
