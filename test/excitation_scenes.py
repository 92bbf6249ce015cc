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

"""An ES5 above its floor, as the tests of excitation trajectories need it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pinocchio as pin

from robot_dynamics_ros.core.contact.collision_shapes import read_collisions
from robot_dynamics_ros.core.contact.geometry import Plane
from robot_dynamics_ros.core.contact.pair_filter import link_solids
from robot_dynamics_ros.core.excitation.clearance import ClearanceScene
from robot_dynamics_ros.core.excitation.excitation_problem import ExcitationProblem
from robot_dynamics_ros.core.excitation.motion_limits import motion_limits
from robot_dynamics_ros.core.friction.friction_model import FrictionModel
from robot_dynamics_ros.core.identification.identification_model import identification_model
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.model.urdf import load_urdf
from robot_dynamics_ros.core.model.urdf_source import read_source
from robot_dynamics_ros.core.model.xacro_source import expand_xacro
from robot_dynamics_ros.resources import urdf_path

Array = NDArray[np.float64]
FLOOR = Plane('floor', np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, -0.15]))


@cache
def es5() -> RobotModel:
    return load_urdf(urdf_path('es5.urdf.xacro'))


@cache
def es5_scene() -> ClearanceScene:
    shapes = read_collisions(urdf_path('es5.urdf.xacro'))
    return ClearanceScene(es5(), link_solids(es5(), shapes), planes=[FLOOR])


def es5_problem(objective: str = 'condition', *, harmonics: int = 3) -> ExcitationProblem:
    limits = motion_limits(es5())
    return ExcitationProblem(
        identification_model(es5(), velocities=tuple(0.02 * limits.velocity)),
        limits,
        FrictionModel.from_model(es5()),
        es5_scene(),
        2.0 * harmonics,
        harmonics,
        0.01 * es5().limits.effort,
        0.02,
        objective,
    )


class PinocchioArm:
    """The ES5 in Pinocchio, with its shapes, the floor, and all pairs but neighbours."""

    def __init__(self) -> None:
        text = expand_xacro(read_source(urdf_path('es5.urdf.xacro')))
        self.model: Any = pin.buildModelFromXML(text)
        self.data: Any = self.model.createData()
        self.shapes: Any = pin.buildGeomFromUrdfString(
            self.model, text, pin.GeometryType.COLLISION
        )
        self.pairs = [
            (i, j)
            for i, one in enumerate(self.shapes.geometryObjects)
            for j, other in enumerate(self.shapes.geometryObjects)
            if i < j and abs(one.parentJoint - other.parentJoint) > 1
        ]
        for pair in self.pairs:
            self.shapes.addCollisionPair(pin.CollisionPair(*pair))
        self.shape_data: Any = pin.GeometryData(self.shapes)

    def torque(self, q: Array, v: Array, a: Array) -> Array:
        return np.asarray(pin.rnea(self.model, self.data, q, v, a))

    def least_distance(self, q: Array) -> float:
        """Return the least distance of all pairs, and of moving links from the floor."""
        pin.computeDistances(self.model, self.data, self.shapes, self.shape_data, q)
        least = min(float(r.min_distance) for r in self.shape_data.distanceResults)
        for shape, pose in zip(self.shapes.geometryObjects, self.shape_data.oMg):
            if shape.parentJoint > 0:
                axis, cylinder = pose.rotation[:, 2], shape.geometry
                low = cylinder.halfLength * abs(axis[2])
                low += cylinder.radius * np.sqrt(max(0.0, 1.0 - axis[2] ** 2))
                least = min(least, float(pose.translation[2] - low + 0.15))
        return least
