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
"""From parameters to a simulated robot with its surroundings, drives and sensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.contact.collision_shapes import CollisionShape, read_collisions
from robot_dynamics_ros.core.contact.disabled_pairs import read_disabled_pairs
from robot_dynamics_ros.core.drive.drive_file import read_drive_file
from robot_dynamics_ros.core.drive.motor import Drives
from robot_dynamics_ros.core.drive.sensor_file import SensorSettings
from robot_dynamics_ros.core.drive.sensors import JointSensors
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.dry_friction import DryFriction
from robot_dynamics_ros.core.friction.friction_law import JointFrictionLaw, read_friction_law
from robot_dynamics_ros.core.model.robot_model import driven_joints, neutral, RobotModel
from robot_dynamics_ros.core.simulation.contact_wrenches import require_clear_start
from robot_dynamics_ros.core.simulation.elastic_joints import ElasticJoints
from robot_dynamics_ros.core.simulation.elastic_plant import ElasticPlant
from robot_dynamics_ros.core.simulation.hardware import SimulatedHardware
from robot_dynamics_ros.core.simulation.plant import Plant
from robot_dynamics_ros.core.simulation.world import World
from robot_dynamics_ros.ros.node_parameters import ForwardSimulationParameters
from robot_dynamics_ros.ros.robot_source import (
    description_source,
    joint_order,
    resolved_path,
    xacro_arguments,
)


class PlantParts:
    """
    What a simulated robot is made of; files are read once, here.

    Parameters
    ----------
    parameters : ForwardSimulationParameters
        What is wanted.
    model : RobotModel
        The robot, without the rotors of ``drives_file``.
    description : str
        Text of ``robot_description``, for the collision shapes.

    Attributes
    ----------
    model : RobotModel
        The robot, with the rotors.
    touching_links : tuple of str
        Links with collision shapes; none where nothing can touch.

    Raises
    ------
    ConfigurationError
        If a file or value is refused.
    ModelError
        If a collision shape is refused.

    """

    def __init__(
        self, parameters: ForwardSimulationParameters, model: RobotModel, description: str
    ) -> None:
        self._parameters = parameters
        self._names = driven_joints(model)
        self._drives = self._read_drives()
        self.model = model
        if self._drives is not None:
            self.model = self._with_rotors(model, self._drives)
        self._sensors = self._read_sensors()
        self._friction = self._read_friction()
        self._world: World | None = None
        self._shapes: tuple[CollisionShape, ...] = ()
        self._disabled_pairs: tuple[tuple[str, str], ...] = ()
        if parameters.disabled_pairs_file:
            self._disabled_pairs = read_disabled_pairs(
                resolved_path(parameters.disabled_pairs_file)
            )
        if parameters.world_file:
            self._world = World.from_file(resolved_path(parameters.world_file))
        if parameters.world_file or parameters.self_collision:
            self._shapes = read_collisions(
                description_source(parameters, description), xacro_args=xacro_arguments(parameters)
            )
        self.touching_links = tuple(dict.fromkeys(shape.link for shape in self._shapes))

    def hardware(
        self, model: RobotModel, present: SimulatedHardware | None = None
    ) -> SimulatedHardware:
        """
        Make the robot.

        Parameters
        ----------
        model : RobotModel
            `model`, or the same with another payload.
        present : SimulatedHardware, optional
            What to go on from; the initial state by default.

        """
        plant = self._plant(model)
        if present is None:
            require_clear_start(plant.reset(self._initial(model)).contacts)
        hardware = SimulatedHardware(
            plant,
            effort_limit=self._effort_limit(model),
            drives=self._drives,
            sensors=self._new_sensors(),
        )
        if present is not None:
            hardware.take_over(present)
        return hardware

    def _plant(self, model: RobotModel) -> Plant | ElasticPlant:
        parameters = self._parameters
        options: dict[str, Any] = {
            'world': self._world,
            'collisions': self._shapes,
            'self_collision': parameters.self_collision,
            'disabled_pairs': self._disabled_pairs,
            'contact_model': parameters.contact_model,
            'joint_limits': parameters.position_limits,
            'dt_internal': parameters.longest_step,
            'integrator': parameters.integrator,
        }
        if not parameters.joint_stiffness:
            return Plant(model, self._friction, **options)
        joints = ElasticJoints.of_joints(
            model,
            self._by_name(model, parameters.joint_stiffness),
            self._by_name(model, parameters.joint_damping),
        )
        return ElasticPlant(model, joints, self._friction, **options)

    def _by_name(self, model: RobotModel, values: Sequence[float]) -> dict[str, float]:
        """Return values by joint, in the order of ``joints``; empty for none."""
        return dict(zip(joint_order(self._parameters, model), values)) if values else {}

    def _initial(self, model: RobotModel) -> Vector:
        """Return the configuration at the start."""
        parameters = self._parameters
        q = neutral(model)
        if parameters.floating_base:
            q[:7] = parameters.initial_base_pose
        if parameters.initial_positions:
            joints = {joint.name: joint for joint in model.joints}
            for name, value in zip(joint_order(parameters, model), parameters.initial_positions):
                q[joints[name].q_index] = value
        return q

    def _effort_limit(self, model: RobotModel) -> Vector | None:
        if not self._parameters.enforce_effort_limits:
            return None
        joints = {joint.name: joint for joint in model.joints}
        return np.array([model.limits.effort[joints[name].v_index] for name in self._names])

    def _read_drives(self) -> Drives | None:
        file = self._parameters.drives_file
        return read_drive_file(resolved_path(file), self._names) if file else None

    def _with_rotors(self, model: RobotModel, drives: Drives) -> RobotModel:
        if self._parameters.armature and any(self._parameters.armature):
            raise ConfigurationError(
                'armature and drives_file both state the inertia of the rotors; give one of them'
            )
        return model.with_armature(
            dict(zip(drives.joint_names, drives.reflected_inertia.tolist()))
        )

    def _read_sensors(self) -> SensorSettings | None:
        file = self._parameters.sensors_file
        return SensorSettings.from_file(resolved_path(file), self._names) if file else None

    def _new_sensors(self) -> JointSensors | None:
        if self._sensors is None:
            return None
        return JointSensors(self._sensors, np.random.default_rng(self._parameters.sensors_seed))

    def _read_friction(self) -> JointFrictionLaw | None:
        parameters = self._parameters
        if parameters.friction_source == 'urdf':
            return DryFriction.from_model(self.model)
        if parameters.friction_source == 'file':
            file = resolved_path(parameters.friction_file)
            return read_friction_law(parameters.friction_model, file, self._names)
        return None
