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

r"""
What friction rises by at slow speed, for several Stribeck velocities at once, filtered like rows.

.. math:: c_k = F\bigl(\operatorname{sgn}(v)\,e^{-(v / v_k)^2}\bigr)

The shape is not linear in the speed, so it is computed before the filter, for each velocity
`v_k` of its own; what the fit makes of the columns says `stribeck_grid`.

"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.jit import kernel, Quick
from robot_dynamics_ros.core.signals.matched_filter import MatchedFilter

NARROWEST, WIDEST, COUNT = 2.0 / 3.0, 20.0 / 3.0, 10
"""Velocities of the grid: the first and the last over the slowest speed, and how many."""


def stribeck_velocities(slowest: float) -> Vector:
    """
    Return the Stribeck velocities that are tried, in a geometric row [rad/s | m/s].

    Parameters
    ----------
    slowest : float
        Slower joints are at rest, so that no row shows narrower shapes; above 0 [rad/s | m/s].

    """
    return np.asarray(slowest * np.geomspace(NARROWEST, WIDEST, COUNT))


class StribeckColumns:
    """
    The columns of all joints.

    Parameters
    ----------
    nv : int
        Degrees of freedom.
    velocities : sequence of float
        Stribeck velocities [rad/s | m/s].
    cutoff : float
        Of the filter [Hz].
    order : int
        Its poles.

    Raises
    ------
    ConfigurationError
        If a velocity or the cutoff is not positive and finite.

    """

    def __init__(
        self, nv: int, velocities: Sequence[float] | Vector, cutoff: float, order: int
    ) -> None:
        self._velocities = np.array(velocities, dtype=np.float64)
        if not (np.isfinite(self._velocities) & (self._velocities > 0.0)).all():
            raise ConfigurationError(
                f'Stribeck velocities are {self._velocities.tolist()}, expected more than 0'
            )
        self._speeds = np.zeros(nv)
        self._raw = np.zeros(nv * len(self._velocities))
        self._filter = MatchedFilter(cutoff, len(self._raw), order)
        self._shape = Quick(stribeck_shape_kernel)
        self._filtered = np.zeros((nv, len(self._velocities)))
        self._columns(self._speeds)

    def reset(self, v: Vector) -> None:
        """
        Begin as if the joints had moved at these velocities for ever, shape (nv,).

        Raises
        ------
        DimensionError, NonFiniteError
            If there is not one finite value for each joint.

        """
        self._filter.reset(self._columns(as_finite('v', v, self._speeds.shape)))

    def step(self, h: float, v: Vector) -> None:
        """Go on by `h` [s] to the velocities `v`, shape (nv,)."""
        self._filtered.flat[:] = self._filter.step(h, self._columns(v))[0]

    @property
    def columns(self) -> Matrix:
        """Return the filtered columns, shape (nv, n_velocities)."""
        return np.array(self._filtered)

    def _columns(self, v: Vector) -> Vector:
        self._speeds[:] = v
        self._shape.call(self._speeds, self._velocities, self._raw)
        return self._raw


@kernel
def stribeck_shape_kernel(v: Vector, velocities: Vector, columns: Vector) -> None:
    """Write the shapes of all joints for all velocities, joint by joint."""
    count = len(velocities)
    for j in range(len(v)):
        for k in range(count):
            columns[j * count + k] = np.sign(v[j]) * np.exp(-((v[j] / velocities[k]) ** 2))
