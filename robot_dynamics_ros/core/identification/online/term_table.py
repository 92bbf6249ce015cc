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
        kinds = np.array([term.kind for term in terms], dtype=str)
        self._viscous = kinds == 'viscous'
        self._offset = kinds == 'offset'
        self._rotor = kinds == 'rotor_inertia'
        self._stribeck = kinds == 'stribeck'
        self._side = np.array([term.side for term in terms], dtype=float)
        velocity = np.array([term.velocity for term in terms], dtype=float)
        self._sharp = velocity == 0.0
        self._width = np.where(self._sharp, 1.0, velocity)
        self._falls_over = np.where(
            self._sharp, SHARP_STRIBECK_VELOCITY, STRIBECK_WIDTHS * velocity
        )

    def columns(self, v: Vector, a: Vector) -> Matrix:
        """Return the columns dealt out to the joints, shape (nv, n_terms)."""
        speed = self._weights @ v
        sign = np.where(self._sharp, np.sign(speed), np.tanh(speed / self._width))
        falling = np.where(self._stribeck, np.exp(-((speed / self._falls_over) ** 2)), 1.0)
        values = np.where(self._viscous, speed, sign * falling)
        values = np.where(self._side * speed < 0.0, 0.0, values)
        values = np.where(self._offset, 1.0, values)
        values = np.where(self._rotor, self._weights @ a, values)
        return np.asarray(self._weights.T * values)
