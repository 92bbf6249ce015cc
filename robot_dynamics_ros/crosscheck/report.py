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

"""What a cross-check found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

TOLERANCE = 1e-10
"""Largest relative difference that passes: more than rounding makes of long, uneven chains."""


@dataclass(frozen=True)
class CrosscheckRow:
    """
    One quantity over all samples.

    Attributes
    ----------
    quantity : str
        Name of the function, with the reference frame where there are several.
    max_relative_difference : float
        Max-norm of the difference over the max-norm of Pinocchio's value in the worst state; see
        `ledger`.
    worst : str
        Joint, degree of freedom, body or frame where it is largest.
    tolerance : float
        Largest relative difference that passes, in the worst state.
    comparisons : int
        Number of values compared: samples, or samples times frames.

    """

    quantity: str
    max_relative_difference: float
    worst: str
    tolerance: float
    comparisons: int

    @property
    def ok(self) -> bool:
        """Whether the difference is within tolerance; nan is not."""
        return self.max_relative_difference <= self.tolerance

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; an infinite difference is None."""
        result = {**asdict(self), 'ok': self.ok}
        if not isfinite(self.max_relative_difference):
            result['max_relative_difference'] = None
        return result


@dataclass(frozen=True)
class CrosscheckReport:
    """
    Outcome of the comparison of one robot with Pinocchio.

    Attributes
    ----------
    robot : str
    samples, seed : int
    pinocchio_version : str
        Empty if Pinocchio is not there.
    rows : tuple of CrosscheckRow
    notes : tuple of str
        Quantities that were left out, each with the reason.
    skipped : str
        Why nothing was compared; empty if it was.

    """

    robot: str
    samples: int
    seed: int
    pinocchio_version: str = ''
    rows: tuple[CrosscheckRow, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: str = ''

    @property
    def ok(self) -> bool:
        """Whether the robot was compared and every quantity is within tolerance."""
        return not self.skipped and all(row.ok for row in self.rows)

    @property
    def first_mismatch(self) -> CrosscheckRow | None:
        """Return the first quantity beyond tolerance, or None."""
        return next((row for row in self.rows if not row.ok), None)

    @property
    def summary(self) -> str:
        """One line for a log or a diagnostic message."""
        if self.skipped:
            return f"cross-check of '{self.robot}' skipped: {self.skipped}"
        title = f"cross-check of '{self.robot}' with Pinocchio {self.pinocchio_version}"
        worst = self.first_mismatch
        if worst is not None:
            return (
                f'{title} failed: {worst.quantity} differs by {worst.max_relative_difference:.3g} '
                f'(relative) at {worst.worst}, tolerance {worst.tolerance:.3g}'
            )
        largest = max(self.rows, key=lambda row: row.max_relative_difference)
        return (
            f'{title} passed: {len(self.rows)} quantities, {self.samples} samples, largest '
            f'relative difference {largest.max_relative_difference:.3g} ({largest.quantity})'
        )

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        result = asdict(self)
        result['rows'] = [row.as_dict() for row in self.rows]
        result.update(ok=self.ok, summary=self.summary)
        return result
