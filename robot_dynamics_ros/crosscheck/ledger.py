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
The account of a cross-check: for each quantity its largest relative difference, and where it was.

The relative difference of a value is the max-norm of the difference over the max-norm of
Pinocchio's value. Where that value is nearly zero because its terms cancel, such as the gravity
torque about a vertical axis, both sides hold nothing but rounding; the divisor is therefore at
least `ROUNDING_FLOOR` times a bound on the terms. Two zeros agree; a NaN on either side is an
infinite difference.

The tolerance holds for every quantity but those that solve with the mass matrix: there it is at
least the condition number times the rounding of a double, because the last digit of the mass
matrix alone changes them so much (2e-10 for a condition number of 1e6, as small links on a big
robot make it).

"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.exceptions import SingularMassMatrixError
from robot_dynamics_ros.crosscheck.frame_quantities import at_frames
from robot_dynamics_ros.crosscheck.quantities import (
    center_of_mass,
    Comparison,
    configurations,
    efforts,
    energies,
    forward,
    matrices,
    regressors,
)
from robot_dynamics_ros.crosscheck.report import CrosscheckRow
from robot_dynamics_ros.crosscheck.sample import Reference, size

ROUNDING_FLOOR = 1e-4
"""Share of the size of its terms below which a value counts as cancelled."""

EPSILON = float(np.finfo(float).eps)


@dataclass
class _Entry:
    difference: float = 0.0
    tolerance: float = 0.0
    worst: str = '-'
    comparisons: int = 0

    @property
    def share(self) -> float:
        """Return the largest difference as a multiple of its tolerance."""
        return self.difference / self.tolerance


class Ledger:
    """
    Gathers comparisons.

    Parameters
    ----------
    tolerance : float
        Largest relative difference that passes.

    """

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.entries: dict[str, _Entry] = {}
        self.notes: list[str] = []

    def add_state(self, reference: Reference, frames: Iterable[str]) -> None:
        """Compare every quantity in one state."""
        for quantities in (at_frames(reference, frames), efforts(reference), matrices(reference)):
            self._add(quantities)
        try:
            self._add(forward(reference))
        except SingularMassMatrixError as error:
            note = f'forward dynamics and inverse mass matrix left out: {error}'
            if note not in self.notes:
                self.notes.append(note)
        for compare in (energies, center_of_mass, regressors, configurations):
            self._add(compare(reference))

    def _add(self, comparisons: Iterable[Comparison]) -> None:
        for comparison in comparisons:
            entry = self.entries.setdefault(comparison.quantity, _Entry())
            entry.comparisons += 1
            difference = relative_difference(comparison)
            tolerance = max(self.tolerance, EPSILON * comparison.condition)
            if entry.comparisons == 1 or difference / tolerance > entry.share:
                entry.difference, entry.tolerance = difference, tolerance
                entry.worst = worst_place(comparison)

    def rows(self) -> list[CrosscheckRow]:
        """Return one row for each quantity, in the order in which they came."""
        return [
            CrosscheckRow(name, entry.difference, entry.worst, entry.tolerance, entry.comparisons)
            for name, entry in self.entries.items()
        ]


def relative_difference(comparison: Comparison) -> float:
    """Return the relative difference of one value, as this module's docstring defines it."""
    if np.shape(comparison.ours) != np.shape(comparison.reference):
        return np.inf
    largest = size(np.subtract(comparison.ours, comparison.reference))
    if largest == 0.0:
        return 0.0
    divisor = max(size(comparison.reference), ROUNDING_FLOOR * comparison.natural_size)
    ratio = largest / divisor if divisor > 0.0 else np.inf
    return np.inf if np.isnan(ratio) else ratio


def worst_place(comparison: Comparison) -> str:
    """Return the joint, body or frame where the two values differ most."""
    if isinstance(comparison.labels, str):
        return comparison.labels
    if np.shape(comparison.ours) != np.shape(comparison.reference):
        return f'shape {np.shape(comparison.ours)}, expected {np.shape(comparison.reference)}'
    difference = np.abs(np.subtract(comparison.ours, comparison.reference))
    difference = np.where(np.isnan(difference), np.inf, difference)
    where = np.unravel_index(int(np.argmax(difference)), difference.shape)
    return comparison.labels[int(where[comparison.axis])]
