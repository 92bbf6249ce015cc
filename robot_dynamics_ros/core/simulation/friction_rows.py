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

"""The friction of the joints, placed at the degrees of freedom at which it acts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.contact.step_arrays import Spring, STATIC_RATIO, STRIBECK_SPEED
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.friction_law import JointFrictionLaw
from robot_dynamics_ros.core.model.robot_model import driven_joints, RobotModel


def friction_rows(
    model: RobotModel, friction: JointFrictionLaw, springs: Sequence[Spring] = ()
) -> tuple[Matrix, Vector]:
    """
    Return the packed law and the load coefficients of every degree of freedom.

    Parameters
    ----------
    model : RobotModel
        The robot, with its motors where joints are elastic.
    friction : DryFriction, LuGreFriction or DahlFriction
        Friction of the joints of one coordinate, or of all degrees of freedom but the motors.
    springs : sequence of Spring
        Springs of elastic joints; the friction of such a joint acts at its motor.

    Returns
    -------
    law : ndarray, shape (6, nv) or (9, nv)
        See `DryFriction.packed`, `LuGreFriction.packed` and `DahlFriction.packed`.
    load_coefficient : ndarray, shape (nv,)
        See `DryFriction.load_coefficient`.

    Raises
    ------
    ConfigurationError
        If the friction has other joints.

    """
    motor_of = {spring.link: spring.motor for spring in springs}
    motors = {model.v_names[motor] for motor in motor_of.values()}
    driven = tuple(name for name in driven_joints(model) if name not in motors)
    names = tuple(name for name in model.v_names if name not in motors)
    if friction.joint_names not in (driven, names):
        raise ConfigurationError(
            f'the friction is for {friction.joint_names}, the robot has {driven}'
        )
    index = [model.v_names.index(name) for name in friction.joint_names]
    at = [motor_of.get(i, i) for i in index]
    packed = friction.packed
    law = np.zeros((len(packed), model.nv))
    law[[STATIC_RATIO, STRIBECK_SPEED]] = 1.0
    law[:, at] = packed
    load_coefficient = np.zeros(model.nv)
    load_coefficient[at] = friction.load_coefficient
    return law, load_coefficient
