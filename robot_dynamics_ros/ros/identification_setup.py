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

"""From parameters to an online identification."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.identification.identification_model import identification_model
from robot_dynamics_ros.core.identification.joint_columns import ModelStructure
from robot_dynamics_ros.core.identification.offline_result import (
    OfflineResult,
    read_offline_result,
)
from robot_dynamics_ros.core.identification.online.online_result import PRIOR_WEIGHT
from robot_dynamics_ros.core.identification.online.online_settings import OnlineSettings
from robot_dynamics_ros.core.identification.online.online_start import (
    OnlineStart,
    start_of_description,
)
from robot_dynamics_ros.core.identification.online.running_model import RunningModel
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.ros.node_parameters import IdentificationParameters
from robot_dynamics_ros.ros.robot_source import local_path, payload_of, resolved_path

CUTOFF = 5.0
"""Of the filter, where no report says another one [Hz]."""


class IdentificationSetup(NamedTuple):
    """
    What a node identifies with.

    Attributes
    ----------
    running : RunningModel
    prior_weight : float
        Of the description in the consistent fit.
    offline_error : float or None
        Relative error of the offline model on data that it did not see.
    warning : str
        What is wrong with the offline model, which was accepted all the same; or empty.

    """

    running: RunningModel
    prior_weight: float
    offline_error: float | None
    warning: str


def identification_setup(
    parameters: IdentificationParameters, robot: RobotModel
) -> IdentificationSetup:
    """
    Build what the parameters ask for.

    Parameters
    ----------
    parameters : IdentificationParameters
        Of the node.
    robot : RobotModel
        Without payload.

    Raises
    ------
    ConfigurationError
        If the report cannot be read, is of another robot or says that its model must not be used,
        or a value is out of its range.
    ModelError
        If a joint has several coordinates, or no body can have the payload's inertia.
    UnknownFrameError
        If the robot has no such frame for a payload.

    """
    offline: OfflineResult | None = None
    warning = ''
    if parameters.offline_report:
        offline = read_offline_result(resolved_path(parameters.offline_report), robot)
        warning = _doubt(parameters, offline)
    delay = 0.0 if offline is None else offline.effort_delay
    settings = OnlineSettings(
        cutoff=parameters.cutoff or (CUTOFF if offline is None else offline.cutoff),
        motion_cutoff=None if offline is None or parameters.cutoff else offline.motion_cutoff,
        effort_delay=parameters.effort_delay + delay,
        payload_frame=parameters.payload_frame or None,
        slowest=parameters.standstill,
        friction_memory=parameters.friction_memory,
        base_memory=parameters.base_memory,
        track_stribeck=parameters.track_stribeck,
    )
    start = _start(parameters, robot) if offline is None else offline
    return IdentificationSetup(
        RunningModel(start, settings, payload_of(parameters)),
        PRIOR_WEIGHT if offline is None else offline.prior_weight,
        offline.relative_error if offline is not None and offline.is_held_out else None,
        warning,
    )


def output_folder(parameters: IdentificationParameters) -> Path | None:
    """
    Return the folder of ``output_directory``, which need not be there yet; None if none is named.

    Raises
    ------
    ConfigurationError
        If it is no folder.

    """
    if not parameters.output_directory:
        return None
    folder = local_path('output_directory', parameters.output_directory)
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise ConfigurationError(f'output_directory is {folder}, which is no folder')
    return folder


def _doubt(parameters: IdentificationParameters, offline: OfflineResult) -> str:
    """Return what is wrong with an offline model that is accepted all the same, or nothing."""
    if offline.is_fit:
        return ''
    data = 'held-out' if offline.is_held_out else 'its own'
    doubt = (
        'its verdict is that the model must not be used, with an error of '
        f'{100.0 * offline.relative_error:.3g} % on {data} data'
    )
    if not parameters.accept_unfit_report:
        raise ConfigurationError(
            f'offline_report {parameters.offline_report}: {doubt}; identify anew, or set '
            'accept_unfit_report to true'
        )
    return f'offline_report: {doubt}'


def _start(parameters: IdentificationParameters, robot: RobotModel) -> OnlineStart:
    structure = ModelStructure(friction=parameters.friction_form)
    widths = tuple(np.full(robot.nv, parameters.smoothing_velocity).tolist())
    return start_of_description(identification_model(robot, structure, widths))
