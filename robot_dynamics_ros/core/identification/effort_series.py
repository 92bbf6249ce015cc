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

"""Efforts of a log over time, measured and by the models of an identification, filtered alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import frozen, Matrix, Vector
from robot_dynamics_ros.core.identification.identification import (
    Identification,
    JointRecord,
    prepared_record,
)
from robot_dynamics_ros.core.identification.joint_samples import joint_samples
from robot_dynamics_ros.core.identification.regression_rows import regression_rows


@dataclass(frozen=True, eq=False)
class EffortSeries:
    """
    Efforts of one log, in the joint order of the robot.

    Attributes
    ----------
    name : str
        Of the log.
    stamps : ndarray, shape (n,)
        [s]
    measured, identified, described : ndarray, shape (n, nv)
        Measured, by the identified model and by the robot's description [N m | N].
    use : ndarray of bool, shape (n, nv)
        Where something was measured.
    largest_speed : ndarray, shape (nv,)
        Of each joint [rad/s | m/s].

    """

    name: str
    stamps: Vector
    measured: Matrix
    identified: Matrix
    described: Matrix
    use: NDArray[np.bool_]
    largest_speed: Vector


def effort_series(found: Identification, record: JointRecord) -> EffortSeries:
    """
    Return the efforts of a log.

    Parameters
    ----------
    found : Identification
        The models, and the filter.
    record : JointRecord
        Training or held-out data.

    Raises
    ------
    ConfigurationError
        If the log is too short for the filter.

    """
    model, cutoffs = found.model, found.cutoffs
    record = prepared_record(model.robot, record, found.options.effort_delay)
    samples = joint_samples(
        record.stamps, record.position, record.velocity, record.effort, cutoffs.motion_cutoff
    )
    rows = list(regression_rows(model, samples, cutoffs.cutoff))
    prior = model.base.to_base(model.prior)
    return EffortSeries(
        record.name,
        frozen(np.concatenate([block.stamps for block in rows])),
        frozen(np.concatenate([block.tau for block in rows])),
        frozen(np.concatenate([block.regressor @ found.consistent.base for block in rows])),
        frozen(np.concatenate([block.regressor @ prior for block in rows])),
        np.concatenate([block.use for block in rows]),
        frozen(np.abs(samples.v).max(axis=0)),
    )
