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
What the efforts of a running robot mean: whether they are torques, of what sign, and how late.

The question is that of `log_health` for a log, with the same answers (`joint_verdict`): each
joint's effort is fitted by the motion's and gravity's part of the model's torque and by friction,

.. math:: e(t + d) = k_m\,(M a + C v)_j + k_g\,g_j + f_v\,v_j + f_c\,\mathrm{sign}(v_j) + c

All columns and efforts pass one filter, which gives their derivatives, too; so a delay is
:math:`e = (C - d\,\dot C)\,k`, and the sums of products of columns, derivatives and effort are all
that has to be kept. They fade while the joint moves, so that the verdict follows a driver that is
started again with another setting.

Nothing may be learnt from efforts that are refused here, nor before it is known what they are.

References
----------
.. [1] M. Gautier, S. Briot, "Global identification of joint drive gains and dynamic parameters of
   robots", ASME J. Dyn. Sys. Meas. Control 136(5), 2014 (gains of efforts by least squares).

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.dynamics import generalized_gravity, rnea
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow
from robot_dynamics_ros.core.log_health.effort_meaning import WAY_OUT
from robot_dynamics_ros.core.log_health.effort_verdict import joint_verdict, JointVerdict
from robot_dynamics_ros.core.log_health.torque_match import Delay, Gain, TorqueMatch
from robot_dynamics_ros.core.model.payload import are_alike, Payload
from robot_dynamics_ros.core.model.robot_model import RobotModel
from robot_dynamics_ros.core.signals.matched_filter import MatchedFilter

STEADY = 1.5
"""Periods of the cutoff for which a joint must have turned one way: before, it may have stuck."""

WIDTH = 0.05
"""Of the smooth sign of the velocity [rad/s | m/s]."""

MEMORY = 20.0
"""Motion that the sums remember [s]."""

ENOUGH = 3.0
"""Motion of a joint after which its effort is judged [s]."""

SLOWEST = 0.1
"""A joint that turns no faster does not count as moving [rad/s | m/s]."""

LATE = 0.018
"""Efforts may be so late or early, beyond the delay that is taken into account [s]."""

SURE_DELAY = 0.005
"""Standard deviation that a delay must have to count [s]."""

DEAD = 0.02
"""An effort whose variation is less than this part of the model's is none."""

TURNS = 3
"""How many times in a row a fault must be seen to be told."""

PERIOD = 0.5
"""Time from one verdict to the next [s]."""

ALIKE_MASS, ALIKE_CENTRE = 0.05, 0.01
"""Payloads are the same if masses differ by less than this part, centres by less than this [m]."""

LEAST_SHARE = 0.05
"""Part of an effort's variation that motion and gravity must make: of friction nothing follows."""

DELAYS = np.arange(-0.08, 0.0801, 0.008)

_COUNT = 5


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


class EffortSemantics:
    """
    Judges the efforts of all joints, row by row.

    Parameters
    ----------
    robot : RobotModel
        The arm, as well as it is known.
    cutoff : float
        Of the rows [Hz].
    is_identified : bool
        Whether the arm's torques are known well enough to judge a factor by. A mere description
        may be wrong by more than that; then only sign, time and presence are judged.

    Attributes
    ----------
    faults : tuple of EffortFault
        What is wrong now.
    verdicts : tuple of JointVerdict
        The last ones; empty before the first.
    delay : Delay or None
        By which efforts are later than was taken into account.

    """

    def __init__(self, robot: RobotModel, cutoff: float, is_identified: bool = True) -> None:
        self._robot = self._loaded = robot
        self._is_identified = is_identified
        nv = robot.nv
        self._filter = MatchedFilter(cutoff, (_COUNT + 1) * nv, 3, 1)
        self._independent = 2.0 * cutoff
        self._steady = STEADY / cutoff
        self.reset()

    def reset(self) -> None:
        """Begin anew, as after the driver was started again."""
        nv = self._robot.nv
        self._sums = np.zeros((nv, 2 * _COUNT + 1, 2 * _COUNT + 1))
        self._moved = np.zeros(nv)
        self._since = np.zeros(nv)
        self._sign = np.zeros(nv)
        self._weights = np.zeros(nv)
        self._judged_at = self._began = -np.inf
        self._seen: dict[str, tuple[tuple[str, ...], int]] = {}
        self.faults: tuple[EffortFault, ...] = ()
        self.verdicts: tuple[JointVerdict, ...] = ()
        self.delay: Delay | None = None

    @property
    def is_known(self) -> bool:
        """Whether there was motion enough to judge any joint."""
        return any(verdict.meaning != 'cannot tell' for verdict in self.verdicts)

    @property
    def may_learn(self) -> bool:
        """Whether the efforts are known to be torques of the joints at the right time."""
        return self.is_known and not self.faults and not self._seen

    def carry(self, payload: Payload | None) -> None:
        """
        Count a payload, or that there is none, to what the robot moves.

        If it is another one, what was summed up before says nothing about what comes: the sums
        begin anew, and the verdicts stay until there are new ones.

        """
        if are_alike(payload, self._loaded.payload, ALIKE_MASS, ALIKE_CENTRE):
            return
        self._loaded = self._robot.with_payload(payload)
        for sums in (self._sums, self._weights, self._moved):
            sums[:] = 0.0
        self._seen = {kind: found for kind, found in self._seen.items() if found[1] >= TURNS}

    def interrupt(self) -> None:
        """Say that rows are left out from here on: the filter begins anew with the next one."""
        self._began = -np.inf

    def step(self, row: OnlineRow) -> None:
        """
        Take in a row.

        Rows must come in turn, all of them, whether or not they may be learnt from.

        """
        signals = self._signals(row)
        if row.step > 0.5 or self._began == -np.inf:
            self._filter.reset(signals.ravel())
            self._began = row.stamp
            return
        filtered = self._filter.step(row.step, signals.ravel())
        if row.stamp - self._began < self._filter.settling_time:
            return
        nv = self._robot.nv
        values, rates = filtered.reshape(2, _COUNT + 1, nv).transpose(0, 2, 1)
        both = np.concatenate([values[:, :_COUNT], rates[:, :_COUNT], values[:, _COUNT:]], axis=1)
        sign = np.where(np.abs(values[:, 2]) > SLOWEST, np.sign(values[:, 2]), 0.0)
        self._since = np.where((sign == self._sign) & (sign != 0.0), self._since, row.stamp)
        self._sign = sign
        moves = row.stamp - self._since > self._steady
        kept = np.where(moves, np.exp(-row.step / MEMORY), 1.0)
        step = np.where(moves, row.step, 0.0)
        self._sums *= kept[:, None, None]
        self._sums += step[:, None, None] * both[:, :, None] * both[:, None, :]
        self._weights = kept * self._weights + step
        self._moved += step
        if row.stamp - self._judged_at > PERIOD:
            self._judged_at = row.stamp
            self._judge()

    def _signals(self, row: OnlineRow) -> Matrix:
        """Return motion, gravity, velocity, its sign, one and effort, shape (6, nv)."""
        state = row.state
        gravity = generalized_gravity(self._loaded, state.q)
        motion = rnea(self._loaded, state.q, state.v, state.a) - gravity
        dry, one = np.tanh(state.v / WIDTH), np.ones(len(gravity))
        return np.array([motion, gravity, state.v, dry, one, state.tau])

    def _judge(self) -> None:
        """Look at all joints that have moved enough."""
        names = self._robot.v_names
        ready = self._moved > ENOUGH
        if not ready.any():
            return
        scaled = self._sums / np.maximum(self._weights, 1e-9)[:, None, None]
        self.delay = self._delay(scaled[ready], self._weights[ready])
        at = 0.0 if self.delay is None else self.delay.value
        dead = self._dead(scaled)
        verdicts = []
        for j, name in enumerate(names):
            match = self._match(name, scaled[j], float(self._weights[j]), at)
            tells = ready[j] and not dead[j] and _model_share(scaled[j], match) > LEAST_SHARE
            verdicts.append(joint_verdict(match, can_tell=bool(tells)))
        self.verdicts = tuple(verdicts)
        self._tell(verdicts, ready & dead)

    def _tell(self, verdicts: Sequence[JointVerdict], dead: NDArray[np.bool_]) -> None:
        """Keep the faults that have been seen for some time."""
        names = self._robot.v_names
        found = {
            'inverted': [v.match.joint for v in verdicts if v.sign == 'inverted'],
            'without gravity': [v.match.joint for v in verdicts if v.meaning == 'without gravity'],
            'current or scaled': [
                v.match.joint for v in verdicts if v.meaning == 'current or scaled'
            ],
            'constant': [name for name, is_dead in zip(names, dead) if is_dead],
        }
        if self.delay and abs(self.delay.value) > LATE and not any(found.values()):
            found['late'] = list(names)
        if not self._is_identified:
            found['without gravity'] = found['current or scaled'] = []
        seen = {}
        for kind, joints in found.items():
            if joints:
                seen[kind] = tuple(joints), self._seen.get(kind, ((), 0))[1] + 1
        right = {v.match.joint for v in verdicts if _is_right(v)}
        for fault in self.faults:
            # What was told stays until it is known to be right: not to see it is not enough.
            timed = fault.kind == 'late' and self.delay is None
            still = tuple(joint for joint in fault.joints if joint not in right)
            if fault.kind not in seen and (timed or (still and fault.kind != 'late')):
                seen[fault.kind] = fault.joints if timed else still, TURNS
        self._seen = seen
        gains = {v.match.joint: v.gain for v in verdicts}
        self.faults = tuple(
            EffortFault(kind, joints, _sentence(kind, joints, gains, self.delay))
            for kind, (joints, times) in seen.items()
            if times >= TURNS
        )

    def _delay(self, sums: Matrix, weights: Vector) -> Delay | None:
        """Find the delay with which the fits of all joints together leave least."""
        misfit = np.array([np.mean(np.log(self._left(sums, d))) for d in DELAYS])
        best = int(np.argmin(misfit))
        if best in (0, len(DELAYS) - 1):
            return None
        left, middle, right = misfit[best - 1 : best + 2]
        step = DELAYS[1] - DELAYS[0]
        bend = (left - 2.0 * middle + right) / step**2
        count = self._independent * float(weights.sum())
        sigma = float(np.sqrt(2.0 / (count * bend))) if bend > 0.0 else np.inf
        value = float(DELAYS[best]) + 0.5 * step * (left - right) / (left - 2.0 * middle + right)
        return Delay(value, sigma) if sigma < SURE_DELAY else None

    @staticmethod
    def _left(sums: Matrix, delay: float) -> Vector:
        """Return which part of the effort's variation the model and friction leave at a delay."""
        gram, right, square, around = _delayed(sums, delay)
        # The model's torque is taken as it is: free gains would take the place of a delay.
        square = square - 2.0 * right[:, :2].sum(axis=1) + gram[:, :2, :2].sum(axis=(1, 2))
        right = right[:, 2:] - gram[:, 2:, :2].sum(axis=2)
        inverse = np.linalg.pinv(gram[:, 2:, 2:], rcond=1e-9, hermitian=True)
        gain = np.einsum('ji,jik,jk->j', right, inverse, right)
        left: Vector = np.maximum((square - gain) / np.maximum(around, 1e-12), 1e-6)
        return left

    def _match(self, name: str, sums: Matrix, weight: float, delay: float) -> TorqueMatch:
        """Return the fit of one joint as the logs have it."""
        gram, right, square, around = (part[0] for part in _delayed(sums[None], delay))
        inverse = np.linalg.pinv(gram, rcond=1e-9, hermitian=True)
        values = inverse @ right
        left = max(float(square - right @ values), 0.0)
        count = max(self._independent * weight, 1.0)
        variance = left * count / max(count - _COUNT, 1.0)
        sigmas = np.sqrt(np.maximum(np.diag(inverse), 0.0) * variance / count)
        shown = np.abs(np.diag(gram @ inverse) - 1.0) < 1e-3
        sigmas = np.where(shown, sigmas, np.inf)
        size = float(around)
        return TorqueMatch(
            joint=name,
            correlation=float('nan'),
            motion_gain=Gain(float(values[0]), float(sigmas[0])),
            gravity_gain=Gain(float(values[1]), float(sigmas[1])),
            viscous=float(values[2]),
            coulomb=float(values[3]),
            offset=float(values[4]),
            residual=float(np.sqrt(left / size)) if size > 0.0 else 1.0,
            delay=None,
        )

    def _dead(self, sums: Matrix) -> NDArray[np.bool_]:
        """Tell which efforts do not vary while the model's torque does."""
        motion = sums[:, 0, 0] + 2.0 * sums[:, 0, 1] + sums[:, 1, 1]
        model = motion - (sums[:, 0, 4] + sums[:, 1, 4]) ** 2
        effort = sums[:, -1, -1] - sums[:, 4, -1] ** 2
        largest = float(model.max(initial=0.0))
        telling = model > 1e-4 * largest
        return np.asarray(telling & (effort < DEAD**2 * np.maximum(model, 0.0)))


def _delayed(sums: Matrix, delay: float) -> tuple[Matrix, Matrix, Vector, Vector]:
    """Return the normal equations of columns that are late, and the effort's squares."""
    c, e = _COUNT, 2 * _COUNT
    cross = sums[:, :c, c:e]
    gram = sums[:, :c, :c] - delay * (cross + cross.transpose(0, 2, 1))
    gram = gram + delay**2 * sums[:, c:e, c:e]
    right = sums[:, :c, e] - delay * sums[:, c:e, e]
    square = sums[:, e, e]
    return gram, right, square, square - sums[:, 4, e] ** 2


def _is_right(verdict: JointVerdict) -> bool:
    return verdict.meaning == 'torque' and verdict.sign == 'as the model'


def _model_share(sums: Matrix, match: TorqueMatch) -> float:
    """Return which part of an effort's squares around its mean the model's torque makes."""
    gains = np.array([match.motion_gain.value, match.gravity_gain.value])
    around = sums[:2, :2] - np.outer(sums[:2, 4], sums[:2, 4])
    effort = float(sums[-1, -1] - sums[4, -1] ** 2)
    return float(gains @ around @ gains) / max(effort, 1e-12)


def _sentence(
    kind: str, joints: tuple[str, ...], gains: dict[str, float | None], delay: Delay | None
) -> str:
    which = ', '.join(joints)
    if kind == 'inverted':
        return f'effort of {which} has the opposite sign: state effort_sign -1 for it'
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
