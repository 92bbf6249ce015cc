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

"""Whether recorded velocities are the derivatives of the recorded positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.signals.joint_motion import LARGEST_DISAGREEMENT
from robot_dynamics_ros.core.signals.zero_phase import bridge_missing, ZeroPhaseFilter

DEGREES = 180.0 / np.pi


@dataclass(frozen=True)
class VelocityCheck:
    """
    The recorded velocity of one joint against the derivative of its position, filtered alike.

    Attributes
    ----------
    joint : str
        Its name.
    gain : float
        Recorded over derived, by least squares; NaN if the joint does not move or nothing is
        recorded.
    disagreement : float
        norm(recorded - derived) / norm(derived); NaN likewise.
    delay : float
        How late the recorded velocity is, to first order [s]; NaN likewise.

    """

    joint: str
    gain: float
    disagreement: float
    delay: float

    @property
    def warning(self) -> str:
        """Say what is wrong, or nothing."""
        if not self.disagreement > LARGEST_DISAGREEMENT:
            return ''
        if abs(self.gain / DEGREES - 1.0) < 0.1:
            reason = 'it is in degrees per second'
        elif abs(self.gain + 1.0) < 0.1:
            reason = 'it has the opposite sign'
        elif abs(self.gain) < 0.05:
            reason = 'it stays near zero'
        else:
            reason = f'gain {self.gain:.3g}'
        return (
            f'the velocity of {self.joint} is not the derivative of its position: {reason} '
            f'(off by {100.0 * self.disagreement:.0f} %)'
        )


def check_velocity(
    joint_names: Sequence[str],
    stamps: Vector,
    position: Matrix,
    velocity: Matrix,
    low_pass: ZeroPhaseFilter,
) -> tuple[VelocityCheck, ...]:
    """
    Compare recorded velocities with positions.

    Parameters
    ----------
    joint_names : sequence of str
        Columns.
    stamps : ndarray, shape (n,)
        Strictly increasing times [s].
    position, velocity : ndarray, shape (n, nj)
        Finite positions [rad | m], velocities with NaN where missing [rad/s | m/s].
    low_pass : ZeroPhaseFilter
        Filter of both.

    Raises
    ------
    ConfigurationError
        If the filter's cutoff does not suit the sampling rate.

    """
    _, derived, slope = low_pass.derivatives(stamps, position, 2)
    smooth = low_pass.filtered(stamps, bridge_missing(stamps, velocity))
    checks = []
    for joint, name in enumerate(joint_names):
        known = np.isfinite(derived[:, joint]) & np.isfinite(velocity[:, joint])
        v, a, recorded = derived[known, joint], slope[known, joint], smooth[known, joint]
        size = float(v @ v)
        if not size > 1e-6 * len(v):  # less than 1 mrad/s
            checks.append(VelocityCheck(name, np.nan, np.nan, np.nan))
            continue
        off = float(np.linalg.norm(recorded - v)) / size**0.5
        # v(t - d) = v - a d
        delay = -float((recorded - v) @ a) / float(a @ a)
        checks.append(VelocityCheck(name, float(recorded @ v) / size, off, delay))
    return tuple(checks)
