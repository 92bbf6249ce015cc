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
The check whether measured torques agree with the model, in sign and scale, at rest.

To be asked before the first torque is commanded: a robot that stands still, held by its own
position control, has to produce the torque of gravity. Joint by joint the mean of the measured
torque is divided by the mean of the expected one. Friction holds a part of the weight, one way or
the other, so that the ratio of a right robot is not exactly 1.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import nan

import numpy as np

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.exceptions import DimensionError

AGREEING = (0.6, 1.6)
"""Least and greatest ratio of measured and expected torque that agree."""

ABSENT = 0.15
"""Ratio below which the expected torque is not seen."""

LEAST_TORQUE = 0.5
"""Expected torque below which nothing is said about a joint [N m | N]."""

STILL = 0.02
"""Largest root mean square speed of a joint that stands still [rad/s | m/s]."""

BLOCK = 5
"""Number of samples that are averaged first, against the noise of velocities."""

FEWEST = 20
"""Number of samples without which nothing is said."""


class Verdict(str, Enum):
    """What a joint's torques say."""

    AGREES = 'agrees'
    INVERTED = 'inverted'
    WRONG_SCALE = 'wrong scale'
    ABSENT = 'no gravity in the effort: compensated by the robot, or its brakes are on'
    ABSENT_AS_STATED = 'agrees, no gravity in the effort'
    PRESENT = 'gravity is in the effort, though effort_semantics is gravity_compensated'
    UNKNOWN = 'cannot tell'

    @property
    def is_good(self) -> bool:
        """Whether the torques agree with what was stated."""
        return self is Verdict.AGREES or self is Verdict.ABSENT_AS_STATED


@dataclass(frozen=True)
class JointVerdict:
    """
    Verdict on one joint.

    Attributes
    ----------
    joint : str
        Name of the joint.
    verdict : Verdict
    ratio : float
        Measured over expected torque; NaN if nothing can be said.
    detail : str
        The numbers, in words.

    """

    joint: str
    verdict: Verdict
    ratio: float
    detail: str

    def __str__(self) -> str:
        return f'{self.joint}: {self.verdict.value} ({self.detail})'


def compare_torques(
    joint_names: Sequence[str],
    velocity: Matrix,
    measured: Matrix,
    expected: Matrix,
    *,
    is_absent: bool = False,
    still: float = STILL,
) -> tuple[JointVerdict, ...]:
    """
    Judge each joint of a robot at rest.

    Parameters
    ----------
    joint_names : sequence of str
        Names of the joints.
    velocity : ndarray, shape (n_samples, n)
        Measured velocities [rad/s | m/s]; NaN where unknown.
    measured : ndarray, shape (n_samples, n)
        Measured torques, gravity included [N m | N]; NaN where unknown.
    expected : ndarray, shape (n_samples, n)
        Torques that the robot should have [N m | N].
    is_absent : bool
        Whether the measured torques should lack the expected ones, which are those of gravity.
    still : float
        Largest root mean square speed of a joint that stands still [rad/s | m/s].

    Returns
    -------
    verdicts : tuple of JointVerdict

    Raises
    ------
    DimensionError
        If the arrays have other shapes.

    """
    shape = (len(measured), len(joint_names))
    for name, array in (('velocity', velocity), ('measured', measured), ('expected', expected)):
        if array.shape != shape:
            raise DimensionError(name, shape, array.shape)
    return tuple(
        _judge(joint, velocity[:, i], measured[:, i], expected[:, i], is_absent, still)
        for i, joint in enumerate(joint_names)
    )


def _judge(
    joint: str,
    velocity: Vector,
    measured: Vector,
    expected: Vector,
    is_absent: bool,
    still: float,
) -> JointVerdict:
    def unknown(why: str) -> JointVerdict:
        return JointVerdict(joint, Verdict.UNKNOWN, nan, why)

    known = np.isfinite(measured)
    if known.sum() < FEWEST:
        return unknown(f'{int(known.sum())} measured efforts, at least {FEWEST} are needed')
    speed = _speed(velocity[known])
    if not speed <= still:
        return unknown(f'it moves with {speed:.3g} rad/s or m/s; it has to stand still')
    mean, wanted = float(measured[known].mean()), float(expected[known].mean())
    noise = float(measured[known].std()) / np.sqrt(known.sum() / 4.0)
    if abs(wanted) < max(LEAST_TORQUE, 3.0 * noise):
        return unknown(f'{wanted:.3g} N m or N are expected, too few; bend the arm')
    ratio = mean / wanted
    detail = f'{mean:.3g} measured, {wanted:.3g} N m or N expected'
    if is_absent:
        detail = f'{mean:.3g} measured, gravity needs {wanted:.3g} N m or N'
        verdict = Verdict.ABSENT_AS_STATED if abs(ratio) < ABSENT else Verdict.PRESENT
    elif abs(ratio) < ABSENT:
        verdict = Verdict.ABSENT
    elif AGREEING[0] <= ratio <= AGREEING[1]:
        verdict = Verdict.AGREES
    elif AGREEING[0] <= -ratio <= AGREEING[1]:
        verdict = Verdict.INVERTED
    else:
        verdict = Verdict.WRONG_SCALE
    return JointVerdict(joint, verdict, ratio, f'{detail}, ratio {ratio:.2f}')


def _speed(velocity: Vector) -> float:
    """Return the root mean square of the means of a few samples each."""
    blocks = velocity[: len(velocity) // BLOCK * BLOCK].reshape(-1, BLOCK).mean(axis=1)
    return float(np.sqrt(np.mean(blocks**2)))
