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
What the gains of a comparison with a model say about the meaning of efforts.

Gravity tells most, since masses are what a model knows best: a gain near one is a torque in N m,
another a current or a scaled torque, a negative one an inverted sign, and none, while the motion
shows, an effort without gravity. Where gravity does not act on a joint, motion has to do; its gain
is above one where the model lacks the inertia of a rotor.

"""

from __future__ import annotations

from dataclasses import dataclass

from robot_dynamics_ros.core.log_health.torque_match import Gain, TorqueMatch

TORQUE_GAIN = (0.6, 1.7)
"""Gains of gravity between these are those of a torque; models of real arms are not exact."""

MOTION_GAIN = (0.5, 4.0)
"""The same of motion, where rotors may be missing in the model."""

NO_GRAVITY = 0.25
"""A gain of gravity below this part of the gain of motion means that gravity was taken out."""

LARGEST_RESIDUAL = 0.7
"""Of a fit that leaves more nothing is concluded."""

CANNOT_TELL = 'cannot tell'


@dataclass(frozen=True)
class JointVerdict:
    """
    What the effort of a joint seems to be.

    Attributes
    ----------
    match : TorqueMatch
        The numbers behind it.
    sign : str
        ``'as the model'``, ``'inverted'`` or `CANNOT_TELL`.
    meaning : str
        ``'torque'``, ``'current or scaled'``, ``'without gravity'`` or `CANNOT_TELL`.
    gain : float or None
        Model torque over effort, if it is scaled: a first guess of a gain [N m/A].

    """

    match: TorqueMatch
    sign: str
    meaning: str
    gain: float | None


def joint_verdict(match: TorqueMatch, *, can_tell: bool = True) -> JointVerdict:
    """
    Judge the effort of one joint.

    Parameters
    ----------
    match : TorqueMatch
        The comparison.
    can_tell : bool
        Whether the joint moves and its effort varies.

    """
    if not can_tell or not match.residual < LARGEST_RESIDUAL:
        return JointVerdict(match, CANNOT_TELL, CANNOT_TELL, None)
    gravity, motion = match.gravity_gain, match.motion_gain
    without = (
        _is_clear(motion)
        and gravity.is_known
        and abs(gravity.value) < NO_GRAVITY * abs(motion.value)
        and gravity.sigma < NO_GRAVITY * abs(motion.value)
    )
    if without:
        return JointVerdict(match, _sign(motion), 'without gravity', None)
    if _is_clear(gravity) and _is_clear(motion) and gravity.value * motion.value < 0.0:
        return JointVerdict(match, CANNOT_TELL, CANNOT_TELL, None)  # gravity may point elsewhere
    for gain, usual in ((gravity, TORQUE_GAIN), (motion, MOTION_GAIN)):
        if _is_clear(gain):
            is_torque = usual[0] <= abs(gain.value) <= usual[1]
            meaning = 'torque' if is_torque else 'current or scaled'
            scale = None if is_torque else 1.0 / abs(gain.value)
            return JointVerdict(match, _sign(gain), meaning, scale)
    return JointVerdict(match, CANNOT_TELL, CANNOT_TELL, None)


def _is_clear(gain: Gain) -> bool:
    return abs(gain.value) > 4.0 * gain.sigma


def _sign(gain: Gain) -> str:
    return 'inverted' if gain.value < 0.0 else 'as the model'
