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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import frozen, Matrix, Vector
from robot_dynamics_ros.core.identification.regression_rows import RegressionRows


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


def series_of_rows(
    name: str,
    rows: Sequence[RegressionRows],
    identified: Vector,
    described: Vector,
    largest_speed: Vector,
) -> EffortSeries:
    """
    Return the efforts of rows of one log.

    Parameters
    ----------
    name : str
        Of the log.
    rows : sequence of RegressionRows
        In the order of time.
    identified, described : ndarray, shape (rank,)
        Base parameters of the two models.
    largest_speed : ndarray, shape (nv,)
        Of each joint [rad/s | m/s].

    """
    return EffortSeries(
        name,
        frozen(np.concatenate([block.stamps for block in rows])),
        frozen(np.concatenate([block.tau for block in rows])),
        frozen(np.concatenate([block.regressor @ identified for block in rows])),
        frozen(np.concatenate([block.regressor @ described for block in rows])),
        np.concatenate([block.use for block in rows]),
        frozen(largest_speed),
    )
