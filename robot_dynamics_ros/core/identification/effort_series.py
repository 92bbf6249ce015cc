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

from collections.abc import Iterable, Sequence
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

    def thinned(self, step: int) -> EffortSeries:
        """Return a copy of every `step`-th row."""
        return EffortSeries(
            self.name,
            self.stamps[::step].copy(),
            self.measured[::step].copy(),
            self.identified[::step].copy(),
            self.described[::step].copy(),
            self.use[::step].copy(),
            self.largest_speed,
        )


def series_of_rows(
    name: str,
    rows: Iterable[RegressionRows],
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
    rows : iterable of RegressionRows
        In the order of time; none is kept.
    identified, described : ndarray, shape (rank,)
        Base parameters of the two models.
    largest_speed : ndarray, shape (nv,)
        Of each joint [rad/s | m/s].

    """
    parts = [
        EffortSeries(
            name,
            block.stamps,
            block.tau,
            block.regressor @ identified,
            block.regressor @ described,
            block.use,
            largest_speed,
        )
        for block in rows
    ]
    return joined_series(parts)


def joined_series(parts: Sequence[EffortSeries]) -> EffortSeries:
    """Return the efforts of parts of one log that follow one another, at least one."""
    return EffortSeries(
        parts[0].name,
        frozen(np.concatenate([part.stamps for part in parts])),
        frozen(np.concatenate([part.measured for part in parts])),
        frozen(np.concatenate([part.identified for part in parts])),
        frozen(np.concatenate([part.described for part in parts])),
        np.concatenate([part.use for part in parts]),
        frozen(np.max([part.largest_speed for part in parts], axis=0)),
    )
