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

"""
Carry the arm's weight.

Every joint state is answered with ``scale * (g(q) + C(q, v) v) + tau_friction(v)``, the Coriolis
part and friction as the parameters say. The arm then floats: it stays where a hand puts it.

"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.control.laws import GravityCompensationLaw, Terms
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.ros.node_parameters import GravityCompensationParameters
from robot_dynamics_ros.ros.running import run
from robot_dynamics_ros.ros.torque_node import TorqueNode


class GravityCompensationNode(TorqueNode[GravityCompensationParameters, GravityCompensationLaw]):
    """Publish the torque against gravity for every joint state."""

    def __init__(self, name: str = 'gravity_compensation_node', **options: Any) -> None:
        super().__init__(name, GravityCompensationParameters, **options)

    def make_law(
        self, model: RobotModel, parameters: GravityCompensationParameters
    ) -> GravityCompensationLaw:
        """Make the law."""
        return GravityCompensationLaw(
            model,
            scale=parameters.scale,
            coriolis=parameters.coriolis,
            friction=self.friction,
        )

    @property
    def needs_velocity(self) -> bool:
        """Whether Coriolis torque or friction is added."""
        return self.law.needs_velocity

    def wanted_torque(self) -> Vector:
        """Return the torque of the law."""
        return self.law.command(self.buffer.q, self.buffer.v)

    def terms(self) -> Terms:
        """Return its parts."""
        return self.law.terms(self.buffer.q, self.buffer.v)


def main(args: Sequence[str] | None = None) -> None:
    """Run the node."""
    run(GravityCompensationNode, args)


if __name__ == '__main__':
    main()
