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

"""Robot models: from URDF or DH tables to the frozen `RobotModel` that the dynamics use."""

from robot_dynamics_ros.core.model.build import build_model
from robot_dynamics_ros.core.model.description import RobotDescription
from robot_dynamics_ros.core.model.dh import description_from_dh
from robot_dynamics_ros.core.model.payload import Payload
from robot_dynamics_ros.core.model.robot_model import Frame, Limits, RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf, read_urdf
from robot_dynamics_ros.core.model.urdf_writer import rewrite_urdf, rewrite_urdf_file

__all__ = [
    'Frame',
    'Limits',
    'Payload',
    'RobotDescription',
    'RobotModel',
    'build_model',
    'description_from_dh',
    'load_urdf',
    'read_urdf',
    'rewrite_urdf',
    'rewrite_urdf_file',
]
