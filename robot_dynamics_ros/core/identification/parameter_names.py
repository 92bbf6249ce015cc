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

"""Names and units of the inertial parameters, in the order of `dynamic_parameters`."""

from __future__ import annotations

from robot_dynamics_ros.core.model.robot_model import RobotModel

INERTIAL_PARAMETERS = ('m', 'hx', 'hy', 'hz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')
"""Mass, first moment and inertia about the origin of the link frame, in its axes."""

INERTIAL_UNITS = ('kg', *3 * ('kg m',), *6 * ('kg m^2',))


def inertial_parameter_names(model: RobotModel) -> tuple[str, ...]:
    """Return ``link/parameter`` for every column of the joint torque regressor."""
    return tuple(f'{body}/{key}' for body in model.body_names for key in INERTIAL_PARAMETERS)
