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

"""Names of what is wrong with efforts, told when it has been seen for some time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.log_health.effort_meaning import WAY_OUT
from robot_dynamics_ros.core.log_health.effort_verdict import JointVerdict
from robot_dynamics_ros.core.log_health.torque_match import Delay

LATE = 0.018
"""Efforts may be so late or early, beyond the delay that is taken into account [s]."""

NO_LONGER_LATE = 0.01
"""Efforts that were late are not when they are less late than this [s]."""

TURNS = 3
"""How many times in a row a fault must be seen to be told."""

MAY_BE_PAYLOAD = ('without gravity', 'current or scaled')
"""Faults of efforts that an unknown payload looks like."""


@dataclass(frozen=True, eq=False)
class EffortFault:
    """
    What is wrong with the efforts.

    Attributes
    ----------
    kind : str
        ``inverted``, ``current or scaled``, ``without gravity``, ``constant`` or ``late``.
    joints : tuple of str
        Of which joints; all of them for a delay.
    sentence : str
        What it is and what to do.

    """

    kind: str
    joints: tuple[str, ...]
    sentence: str


class EffortFaults:
    """
    What is wrong with the efforts of some joints.

    Parameters
    ----------
    names : sequence of str
        The joints.
    is_identified : bool
        See `EffortSemantics`.

    Attributes
    ----------
    faults : tuple of EffortFault
        What is wrong now.

    """

    def __init__(self, names: Sequence[str], is_identified: bool) -> None:
        self._names = tuple(names)
        self._is_identified = is_identified
        self.faults: tuple[EffortFault, ...] = ()
        self._seen: dict[str, tuple[tuple[str, ...], int]] = {}

    @property
    def is_suspect(self) -> bool:
        """Whether anything is wrong, or seems to be."""
        return bool(self.faults or self._seen)

    @property
    def may_be_payload(self) -> bool:
        """Whether something is wrong, and all of it may be a payload."""
        told = {fault.kind for fault in self.faults}
        return bool(told) and told <= set(MAY_BE_PAYLOAD)

    def forget_suspicions(self) -> None:
        """Keep only what has been told."""
        self._seen = {kind: found for kind, found in self._seen.items() if found[1] >= TURNS}

    def tell(
        self,
        verdicts: Sequence[JointVerdict],
        dead: NDArray[np.bool_],
        delay: Delay | None,
        *,
        is_open: bool,
        is_touched: bool = False,
    ) -> None:
        """
        Take in verdicts, and keep the faults that have been seen for some time.

        Parameters
        ----------
        verdicts : sequence of JointVerdict
            On each joint.
        dead : ndarray of bool, shape (nv,)
            Joints whose effort does not change.
        delay : Delay or None
            By which efforts are later than was taken into account, if it shows.
        is_open, is_touched : bool
            See `EffortSemantics.step`.

        """
        found = {
            'inverted': [v.match.joint for v in verdicts if v.sign == 'inverted'],
            'without gravity': [v.match.joint for v in verdicts if v.meaning == 'without gravity'],
            'current or scaled': [
                v.match.joint for v in verdicts if v.meaning == 'current or scaled'
            ],
            'constant': [name for name, is_dead in zip(self._names, dead) if is_dead],
        }
        if is_touched:
            found['inverted'] = []
        for kind in MAY_BE_PAYLOAD:
            if not self._is_identified or is_open or is_touched:
                found[kind] = []
            found[kind] = [name for name in found[kind] if name not in found['inverted']]
        if self._is_untimely(delay, LATE) and not (is_touched or any(found.values())):
            found['late'] = list(self._names)
        seen = {}
        for kind, joints in found.items():
            if joints:
                seen[kind] = tuple(joints), self._seen.get(kind, ((), 0))[1] + 1
        other = {v.match.joint for v in verdicts if is_right(v)}
        for fault in self.faults:
            # What was told stays until it is known to be right: not to see it is not enough.
            timed = fault.kind == 'late' and (
                delay is None or self._is_untimely(delay, NO_LONGER_LATE)
            )
            now = other | {name for kind in found for name in found[kind] if kind != fault.kind}
            still = tuple(joint for joint in fault.joints if joint not in now)
            if fault.kind not in seen and (timed or (still and fault.kind != 'late')):
                seen[fault.kind] = fault.joints if timed else still, TURNS
        self._seen = seen
        gains = {v.match.joint: v.gain for v in verdicts}
        self.faults = tuple(
            EffortFault(kind, joints, _sentence(kind, joints, gains, delay))
            for kind, (joints, times) in seen.items()
            if times >= TURNS
        )

    def _is_untimely(self, delay: Delay | None, limit: float) -> bool:
        """
        Tell whether efforts are later or earlier than a limit.

        Against a description they are never too early: that is how the rotor inertia looks that
        it lacks.

        """
        if delay is None:
            return False
        late = delay.value
        return late > limit or (self._is_identified and late < -limit)


def is_right(verdict: JointVerdict) -> bool:
    """Tell whether an effort is found to be the torque of its joint."""
    return verdict.meaning == 'torque' and verdict.sign == 'as the model'


def _sentence(
    kind: str, joints: tuple[str, ...], gains: dict[str, float | None], delay: Delay | None
) -> str:
    which = ', '.join(joints)
    if kind == 'inverted':
        return f'effort of {which} has the opposite sign: state -1 for it in effort_signs'
    if kind == 'without gravity':
        return f'effort of {which} has no gravity in it: {WAY_OUT}'
    if kind == 'constant':
        return f'effort of {which} does not change while the joint moves: it is not measured'
    if kind == 'late':
        late = 0.0 if delay is None else delay.value
        word = 'late' if late > 0.0 else 'early'
        return (
            f'efforts are {1000.0 * abs(late):.0f} ms {word} against the positions: '
            f'state effort_delay {late:.3f} s more'
        )
    factors = ', '.join(f'{joint} {gains[joint] or 0.0:.3g}' for joint in joints)
    return f'effort is a current or scaled; torque over effort is about: {factors}'
