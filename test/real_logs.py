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

"""Public logs of real robots as records, and the error of a model on them."""

from __future__ import annotations

from example_robots import example_urdf
from robot_dynamics_ros.bags.joint_blocks import read_joint_log
from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.identification.identification import Identification, JointRecord
from robot_dynamics_ros.core.identification.log_parts import held_out_part, LogFilter
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from shared_data import shared_path

UR10 = ('ur10_unisa_rosbag2', 'ur10_exciting_trajectory.db3')
PANDA = ('panda_unisa_rosbag2', 'panda_exciting_trajectory.db3')
PANDA_LOCKED = {'panda_finger_joint1': 0.0}


def panda() -> RobotModel:
    return load_urdf(example_urdf('panda.urdf'), locked=PANDA_LOCKED)


def record_of(robot: RobotModel, parts: tuple[str, ...], prefix: str = '') -> JointRecord:
    """Return a log; with a prefix its joints are those of a Franka arm with another name."""
    log = read_joint_log(shared_path('data', *parts))
    mapped = {f'fer_joint{i}': f'{prefix}{i}' for i in range(1, 8)} if prefix else None
    log = log.select(robot.joint_names, mapped)
    assert log.effort is not None
    return JointRecord(parts[-1], log.stamps, log.position, log.velocity, log.effort)


def error_on(found: Identification, record: JointRecord, base: Vector) -> float:
    """Return the relative error of base parameters on a log, both sides filtered, as offline."""
    bases = {'identified': base, 'description': base}
    part = held_out_part((record, 0), found.model, LogFilter(found.cutoffs), bases)
    error = part.sums['identified']['filtered'].measure(found.model.robot.v_names).relative
    assert error is not None
    return error
