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

"""From parameters to the limits of a torque guard."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from robot_dynamics_ros.core.control.guard_settings import GuardSettings, StaleStatePolicy
from robot_dynamics_ros.core.control.state_limits import StateLimits
from robot_dynamics_ros.core.drive.measured_effort import MeasuredEffort
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.ros.robot_parameters import (
    MotorParameters,
    RobotParameters,
    TorqueParameters,
)
from robot_dynamics_ros.ros.robot_source import joint_order

LONGEST_RAMP_DOWN = 3.5
"""Longest time to zero torque that a signal to stop leaves [s]."""

RATE_LIMIT_FACTOR = 10.0
"""Default limit of the rate of the effort, over the effort limit [1/s]."""


def in_model_order(
    parameters: RobotParameters, model: RobotModel, values: Sequence[float]
) -> list[float]:
    """Return values in the order of the model instead of that of ``joints``; empty for none."""
    if not values:
        return []
    by_name = dict(zip(joint_order(parameters, model), values))
    return [by_name[name] for name in model.joint_names]


def measured_effort(parameters: TorqueParameters, model: RobotModel) -> MeasuredEffort | None:
    """
    Return what the measured efforts mean, None if it is not stated.

    Raises
    ------
    ConfigurationError
        If the parameters do not fit together.

    """
    if parameters.effort_semantics == 'unstated':
        return None
    return stated_effort(parameters.effort_semantics, parameters, model)


def stated_effort(
    semantics: str, parameters: MotorParameters, model: RobotModel
) -> MeasuredEffort:
    """
    Return what measured efforts of these semantics mean.

    Raises
    ------
    ConfigurationError
        If the parameters do not fit together.

    """
    return MeasuredEffort(
        semantics,
        model.nv,
        in_model_order(parameters, model, parameters.torque_constants) or None,
        in_model_order(parameters, model, parameters.gear_ratios) or None,
    )


def guard_settings(parameters: TorqueParameters, model: RobotModel) -> GuardSettings:
    """
    Take limits and times from the parameters, and effort limits that they lack from the model.

    Raises
    ------
    ConfigurationError
        If a value is out of range, or the ramp to zero could take too long.

    """
    given = in_model_order(parameters, model, parameters.effort_limits)
    limits = np.array(given or model.limits.effort)
    rates = in_model_order(parameters, model, parameters.effort_rate_limits)
    settings = GuardSettings(
        model.joint_names,
        limits,
        np.array(rates or np.nan_to_num(RATE_LIMIT_FACTOR * limits, nan=inf)),
        ramp_up_time=parameters.ramp_up_time,
        ramp_down_time=parameters.ramp_down_time,
        state_timeout=parameters.state_timeout,
        stale_state_policy=StaleStatePolicy(parameters.stale_state_policy),
        grace_time=parameters.grace_time,
        state_limits=StateLimits.from_limits(
            model.joint_names,
            model.limits,
            position_margin=parameters.position_margin,
            velocity_factor=parameters.velocity_limit_factor,
            arming_speed=parameters.arming_speed,
        ),
        glide_time=parameters.glide_time,
        recover_from_stale_state=parameters.recover_from_stale_state,
    )
    if settings.longest_ramp_down > LONGEST_RAMP_DOWN:
        raise ConfigurationError(
            f'with these effort_rate_limits and ramp_down_time the ramp to zero may take '
            f'{settings.longest_ramp_down:.3g} s, allowed are {LONGEST_RAMP_DOWN:g} s'
        )
    return settings
