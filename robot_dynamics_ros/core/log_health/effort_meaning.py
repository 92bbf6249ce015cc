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
What the effort of a log means, and the torque that follows from it.

.. math:: \tau_j = s_j\,k_j\,e_j

with the recorded effort :math:`e`, a sign :math:`s = \pm 1` and a gain :math:`k`: 1 where torques
were recorded; torque constant times gear ratio, or one number measured for the whole drive, where
currents were.

An effort from which the robot has taken out its own weight cannot be used. What is missing is not
the weight of the arm but what the maker's model, with the load that happened to be set, believes
it to be; masses that are identified from the rest are those of the difference.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from robot_dynamics_ros.core.arrays import frozen, Matrix, Vector
from robot_dynamics_ros.core.drive.measured_effort import EffortSemantics, MeasuredEffort
from robot_dynamics_ros.core.exceptions import ConfigurationError

WAY_OUT = (
    'record what still holds the weight: the motor currents (ur_robot_driver: '
    'use_currents_as_efforts) as effort current with a gain for each joint, or the measured '
    'joint torque (franka: tau_J, not tau_ext; KUKA: measured, not external torque) as torque'
)
"""What to record instead of gravity-compensated efforts."""


@dataclass(frozen=True)
class EffortMeaning:
    """
    Turn recorded efforts into torques of the joints.

    Attributes
    ----------
    joint_names : tuple of str
        Order of the columns.
    semantics : EffortSemantics
        What was recorded; never gravity-compensated.
    factor : ndarray, shape (n,)
        Torque over recorded effort, with its sign [1, or N m/A].

    """

    joint_names: tuple[str, ...]
    semantics: EffortSemantics
    factor: Vector

    @classmethod
    def stated(
        cls,
        joint_names: Sequence[str],
        semantics: EffortSemantics | str = EffortSemantics.TORQUE,
        *,
        torque_constants: Mapping[str, float] | None = None,
        gear_ratios: Mapping[str, float] | None = None,
        gains: Mapping[str, float] | None = None,
        signs: Mapping[str, float] | None = None,
    ) -> EffortMeaning:
        """
        Build it from what is known of each joint.

        A name may hold ``*`` for any letters; a later entry wins over an earlier one.

        Parameters
        ----------
        joint_names : sequence of str
            Joints, in the order of the columns.
        semantics : EffortSemantics or str
            ``'torque'`` or ``'current'``; ``'gravity_compensated'`` is refused.
        torque_constants : mapping of str to float, optional
            Torque of the motor over its current [N m/A]; for currents, of every joint that has no
            gain.
        gear_ratios : mapping of str to float, optional
            Turns of the motor for one of the joint; negative where they turn in opposite
            directions; 1 by default.
        gains : mapping of str to float, optional
            Torque of the joint over the recorded effort, in place of constant and ratio
            [N m/A, or 1].
        signs : mapping of str to float, optional
            1 or -1; 1 by default.

        Raises
        ------
        ConfigurationError
            If the efforts cannot be used, the semantics are unknown, a joint lacks a constant, or
            a number is out of range or names no joint.

        """
        names = tuple(joint_names)
        refuse_gravity_compensated(semantics)
        gain = _by_joint('effort gain', gains, names)
        constant = _by_joint('torque constant', torque_constants, names)
        ratio = _by_joint('gear ratio', gear_ratios, names)
        sign = _by_joint('effort sign', signs, names)
        _check_sign(names, sign)
        if len(idle := np.flatnonzero(gain == 0.0)):
            raise ConfigurationError(f"effort gain of joint '{names[idle[0]]}' is 0")
        known = np.isfinite(gain)
        _check_drive(names, semantics, known, constant, ratio)
        is_current = bool(np.isfinite(constant).any() or np.isfinite(ratio).any())
        measured = MeasuredEffort(
            semantics if is_current or semantics != EffortSemantics.CURRENT else 'torque',
            len(names),
            np.where(known, 1.0, constant) if is_current else None,
            np.where(known | np.isnan(ratio), 1.0, ratio) if is_current else None,
        )
        factor = measured.torque(np.where(known, gain, 1.0), np.zeros(len(names)))
        return cls(
            names,
            EffortSemantics(semantics),
            frozen(factor * np.where(np.isnan(sign), 1.0, sign)),
        )

    def torque(self, effort: Matrix) -> Matrix:
        """
        Return the torques of the joints.

        Parameters
        ----------
        effort : ndarray, shape (n_samples, n)
            As recorded [N m | N, or A]; NaN where missing, and so in the result.

        Returns
        -------
        tau : ndarray, shape (n_samples, n)
            [N m | N]

        """
        result: Matrix = effort * self.factor
        return result

    @property
    def sentence(self) -> str:
        """Say in a few words what was done, for reports."""
        if np.all(self.factor == 1.0):
            return 'efforts are taken as torques'
        what = 'currents' if self.semantics is EffortSemantics.CURRENT else 'torques'
        pairs = zip(self.joint_names, self.factor)
        factors = ', '.join(f'{name} {value:.5g}' for name, value in pairs)
        return f'efforts are taken as {what}, torque over effort: {factors}'


def refuse_gravity_compensated(semantics: EffortSemantics | str) -> None:
    """
    Refuse efforts without gravity, and say what to record instead.

    Raises
    ------
    ConfigurationError
        If they are gravity-compensated.

    """
    if semantics == EffortSemantics.GRAVITY_COMPENSATED:
        raise ConfigurationError(f'gravity-compensated efforts cannot be used: {WAY_OUT}')


def _by_joint(
    what: str, values: Mapping[str, float] | None, joint_names: tuple[str, ...]
) -> Vector:
    """Return the value of each joint, NaN where there is none."""
    found: Vector = np.full(len(joint_names), np.nan)
    for pattern, value in (values or {}).items():
        fitting = [i for i, name in enumerate(joint_names) if fnmatchcase(name, pattern)]
        if not fitting:
            raise ConfigurationError(
                f"{what}: '{pattern}' fits no joint; there are: {', '.join(joint_names)}"
            )
        if not np.isfinite(value):
            raise ConfigurationError(f"{what} of joint '{pattern}' is {value}, expected a number")
        found[fitting] = value
    return found


def _check_sign(joint_names: tuple[str, ...], sign: Vector) -> None:
    for name, value in zip(joint_names, sign):
        if np.isfinite(value) and abs(value) != 1.0:
            raise ConfigurationError(f"effort sign of joint '{name}' must be 1 or -1, got {value}")


def _check_drive(
    joint_names: tuple[str, ...],
    semantics: EffortSemantics | str,
    has_gain: np.ndarray[tuple[int], np.dtype[np.bool_]],
    constant: Vector,
    ratio: Vector,
) -> None:
    """Require a constant or a gain, not both, of every joint whose current was recorded."""
    described = np.isfinite(constant) | np.isfinite(ratio)
    for name, doubled in zip(joint_names, has_gain & described):
        if doubled:
            raise ConfigurationError(
                f"joint '{name}' has an effort gain and a torque constant or gear ratio: state one"
            )
    if semantics != EffortSemantics.CURRENT:
        return
    missing = [
        name for name, known in zip(joint_names, has_gain | np.isfinite(constant)) if not known
    ]
    if missing:
        raise ConfigurationError(
            f'effort current needs a torque constant, or a gain, of {", ".join(missing)}'
        )
