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

"""The direction of gravity as an unknown of `robot_dynamics identify` (``--fit-gravity``)."""

from __future__ import annotations

from math import acos, degrees

import numpy as np

from robot_dynamics_ros.core.identification.excitation_spectrum import SHORTEST_STRETCH
from robot_dynamics_ros.core.identification.gravity_direction import gravity_direction
from robot_dynamics_ros.core.identification.identification import (
    IdentificationOptions,
    training_cutoffs,
)
from robot_dynamics_ros.core.identification.joint_record import prepared_record, RecordSource
from robot_dynamics_ros.core.identification.joint_samples import joint_samples
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.report.progress import Progress

DIGITS = 5
"""Of the gravity that is found [m/s^2], so that it can be given again as it is printed."""


def robot_with_found_gravity(
    robot: RobotModel, training: RecordSource, options: IdentificationOptions
) -> tuple[RobotModel, str]:
    """
    Return the robot with the gravity that its efforts show, and a sentence on it.

    Parameters
    ----------
    robot : RobotModel
        The size of its gravity is kept; if it has none, that of the earth is taken.
    training : RecordSource
        Data to fit, in the joint order of the robot; of a long log stretches are looked at.
    options : IdentificationOptions
        Of the identification that follows: its cutoff, standstill and delay are used.

    Raises
    ------
    ConfigurationError
        If a log is too short or does not move, or the cutoff does not suit it.
    ModelError
        If a joint has several coordinates.
    DimensionError, NonFiniteError
        If a log does not suit the robot or holds no finite positions.

    """
    cutoff = training_cutoffs(training, robot, options).cutoff
    stretches = training.opened().excerpts()
    longest = max(len(stretch.stamps) for stretch in stretches)
    records = [
        prepared_record(robot, stretch, options.effort_delay)
        for stretch in stretches
        if len(stretch.stamps) >= SHORTEST_STRETCH * longest
    ]
    with Progress('looking for gravity', 1) as progress:
        samples = [
            joint_samples(
                record.stamps, record.position, record.velocity, record.effort, cutoff
            ).without_standstill(options.standstill)
            for record in records
        ]
        found = np.round(gravity_direction(robot, samples), DIGITS)
        progress.advance()
    return robot.with_gravity(found), _sentence(found, np.asarray(robot.gravity))


def _sentence(found: np.ndarray, given: np.ndarray) -> str:
    words = ' '.join(f'{value:.{DIGITS}g}' for value in found)
    text = f'gravity that the efforts show (--fit-gravity): {words} m/s^2 in the base frame'
    sizes = float(np.linalg.norm(found) * np.linalg.norm(given))
    if sizes == 0.0:
        return text
    angle = degrees(acos(max(-1.0, min(1.0, float(found @ given) / sizes))))
    return f'{text}, {angle:.1f} degrees from the given one'
