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

"""All terms of drives for one sample at once: what `JointTerm.values` computes for many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.identification.joint_columns import (
    JointTerm,
    SHARP_STRIBECK_VELOCITY,
    STRIBECK_WIDTHS,
)
from robot_dynamics_ros.core.jit import kernel, Quick

KINDS = ('viscous', 'coulomb', 'stribeck', 'offset', 'rotor_inertia')
VISCOUS, COULOMB, STRIBECK, OFFSET, ROTOR_INERTIA = range(5)


class TermTable:
    """
    The columns of terms, as arrays.

    Parameters
    ----------
    terms : sequence of JointTerm
        The columns.
    nv : int
        Degrees of freedom.

    """

    def __init__(self, terms: Sequence[JointTerm], nv: int) -> None:
        self._weights = np.zeros((len(terms), nv))
        for k, term in enumerate(terms):
            for joint, weight in term.weights:
                self._weights[k, joint] += weight
        self._kinds = np.array([KINDS.index(term.kind) for term in terms], dtype=np.float64)
        self._sides = np.array([term.side for term in terms], dtype=np.float64)
        self._widths = np.array([term.velocity for term in terms], dtype=np.float64)
        self._table = np.zeros((nv, len(terms)))
        self._motion = np.zeros((2, nv))
        self._fill = Quick(term_columns_kernel)
        self.columns(self._motion[0], self._motion[1])

    def columns(self, v: Vector, a: Vector) -> Matrix:
        """Return the columns dealt out to the joints, shape (nv, n_terms); the same array."""
        self._motion[0], self._motion[1] = v, a
        self._fill.call(
            self._weights, self._kinds, self._sides, self._widths, self._motion, self._table
        )
        return self._table


@kernel
def term_columns_kernel(
    weights: Matrix, kinds: Vector, sides: Vector, widths: Vector, motion: Matrix, table: Matrix
) -> None:
    """Write the value of each term times its weights to the rows of the joints."""
    for k in range(len(kinds)):
        speed, acceleration = 0.0, 0.0
        for j in range(len(table)):
            speed += weights[k, j] * motion[0, j]
            acceleration += weights[k, j] * motion[1, j]
        value = 1.0
        if kinds[k] == ROTOR_INERTIA:
            value = acceleration
        elif kinds[k] != OFFSET:
            value = speed
            if kinds[k] != VISCOUS:
                value = np.sign(speed) if widths[k] == 0.0 else np.tanh(speed / widths[k])
            if kinds[k] == STRIBECK:
                over = STRIBECK_WIDTHS * widths[k] if widths[k] > 0.0 else SHARP_STRIBECK_VELOCITY
                value *= np.exp(-((speed / over) ** 2))
            if sides[k] * speed < 0.0:
                value = 0.0
        for j in range(len(table)):
            table[j, k] = weights[k, j] * value
