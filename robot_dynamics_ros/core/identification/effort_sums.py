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
What a measure of agreement needs of any number of samples: sums that can be added.

References
----------
.. [1] T. F. Chan, G. H. Golub, R. J. LeVeque, "Algorithms for computing the sample variance",
   The American Statistician 37(3), 1983 (variances of parts put together).

"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.identification.verdict import JointMeasure, Measure


@dataclass(frozen=True, eq=False)
class EffortSums:
    """
    Sums over compared efforts, for each joint.

    Attributes
    ----------
    count : ndarray, shape (nv,)
        Samples.
    mean : ndarray, shape (nv,)
        Of the measured effort [N m | N].
    total, around, left : ndarray, shape (nv,)
        Sums of squares of the measured effort, of it less its mean, and of the error.

    """

    count: Vector
    mean: Vector
    total: Vector
    around: Vector
    left: Vector

    @staticmethod
    def of(measured: Matrix, model: Matrix, use: NDArray[np.bool_]) -> EffortSums:
        """Return the sums over efforts of shape (n, nv), where `use` is set."""
        columns = []
        for tau, error, chosen in zip(measured.T, (measured - model).T, use.T):
            tau, error = tau[chosen], error[chosen]
            mean = float(tau.mean()) if len(tau) else 0.0
            around = float(np.sum((tau - mean) ** 2))
            columns.append((len(tau), mean, float(tau @ tau), around, float(error @ error)))
        return EffortSums(*np.array(columns, dtype=np.float64).reshape(-1, 5).T)

    def __add__(self, other: EffortSums) -> EffortSums:
        """Return the sums over both."""
        count = self.count + other.count
        known = np.maximum(count, 1.0)
        apart = other.mean - self.mean
        return EffortSums(
            count,
            self.mean + apart * other.count / known,
            self.total + other.total,
            self.around + other.around + apart**2 * self.count * other.count / known,
            self.left + other.left,
        )

    def measure(self, joint_names: Sequence[str]) -> Measure:
        """Return the agreement that the sums stand for."""
        joints = [
            JointMeasure(
                joint=name,
                samples=int(self.count[j]),
                rms=float(np.sqrt(self.total[j] / max(1.0, self.count[j]))),
                rmse=float(np.sqrt(self.left[j] / max(1.0, self.count[j]))),
                relative=_root(self.left[j], self.total[j]),
                r_squared=(
                    1.0 - float(self.left[j] / self.around[j])
                    if self.around[j] > 1e-12 * self.total[j]
                    else None
                ),
            )
            for j, name in enumerate(joint_names)
        ]
        return Measure(tuple(joints), _root(self.left.sum(), self.total.sum()))


def summed(parts: Iterable[EffortSums]) -> EffortSums:
    """Return the sums over all parts, of which there is at least one."""
    first, *others = parts
    for other in others:
        first = first + other
    return first


def _root(left: float, total: float) -> float | None:
    return float(np.sqrt(left / total)) if total > 0.0 else None
