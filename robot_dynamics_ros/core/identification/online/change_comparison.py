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
How likely each cause of a change is over a window of rows, as derived in `change_detection`.

The errors of the arm are eliminated first, once for all causes; those with as many columns are
solved together.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.identification.online.arm_errors import ArmErrors
from robot_dynamics_ros.core.identification.online.change_columns import Cause, ChangeColumns
from robot_dynamics_ros.core.identification.online.change_evidence import Window


@dataclass(frozen=True, eq=False)
class Compared:
    """A cause, how likely it is, what it leaves, and its parameters."""

    cause: Cause
    likelihood: float
    left: float
    size: Vector


def without_arm(window: Window, count: int) -> Matrix:
    """
    Return the products of causes, of what would be gone and of the residual, without the arm's.

    Parameters
    ----------
    window : Window
        Of columns of causes, errors of the arm with a variance of one, what would be gone, and
        the innovation.
    count : int
        Number of columns of causes.

    """
    total = window.products
    n = len(total) - count - 2
    known = slice(count, count + n)
    seen = np.r_[0:count, count + n, count + n + 1]
    factor = cho_factor(total[known, known] + np.eye(n))
    across = total[known][:, seen]
    reduced: Matrix = total[np.ix_(seen, seen)] - across.T @ cho_solve(factor, across)
    return reduced


def compared(
    window: Window, reduced: Matrix, columns: ChangeColumns, arm: ArmErrors
) -> list[Compared]:
    """
    Return the causes of a window, the most likely one first.

    Parameters
    ----------
    window : Window
        The rows.
    reduced : ndarray, shape (count + 2, count + 2)
        Its products `without_arm`.
    columns : ChangeColumns
        The causes.
    arm : ArmErrors
        What is known of arm and payload.

    """
    count, rows = columns.count, max(window.count, 1)
    mass = float(arm.payload[0]) * arm.is_loaded
    found = [
        each
        for alike in columns.alike
        for each in _likelihoods(alike, reduced, rows, columns)
        if each.cause.kind != 'payload' or float(each.size[0]) + mass > 0.0
    ]
    if arm.is_loaded:
        gain = 2.0 * reduced[count, -1] - reduced[count, count]
        left = (reduced[-1, -1] - gain) / rows
        gone = Cause('payload removed', columns.causes[0].where, np.zeros(0, np.intp))
        found.append(Compared(gone, 0.5 * float(gain), left, -arm.payload))
    found.sort(key=lambda each: -each.likelihood)
    return found


def _likelihoods(
    alike: tuple[Cause, ...], reduced: Matrix, rows: int, columns: ChangeColumns
) -> list[Compared]:
    """Return how likely causes with as many columns are, from products without the arm's."""
    part = np.array([cause.columns for cause in alike])
    inside = reduced[part[:, :, None], part[:, None, :]] + np.eye(part.shape[1])
    right = reduced[part, -1]
    sizes = np.linalg.solve(inside, right[:, :, None])[:, :, 0]
    gains = (right * sizes).sum(axis=1)
    likelihoods = 0.5 * gains - 0.5 * np.linalg.slogdet(inside)[1]
    lefts = (reduced[-1, -1] - gains) / rows
    return [
        Compared(cause, likelihood, left, columns.scaled(cause, size))
        for cause, likelihood, left, size in zip(
            alike, likelihoods.tolist(), lefts.tolist(), sizes
        )
    ]
