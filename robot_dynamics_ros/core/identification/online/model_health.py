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
Whether the model still fits the robot: residuals while it moves against those when it was fitted.

For each joint, over the motion of the last minute or so, the bias and the root mean square of the
residual, the same relative to the effort, and the mean of :math:`(r_j / \sigma_j)^2`. The model
counts as worse when the root mean square is several times that of the fit and of the deviations
that were said. A level is left only when it is clearly below again.

The likely cause is the one that explains most of the squares of the residuals: friction (viscous,
Coulomb), an offset or a factor of the effort of the joint itself, a payload or another direction
of gravity of all joints together,

.. math:: \text{share}_h = \frac{b_h^T N_h^{-1} b_h}{r^T r}

with the sums of products of the columns of the cause and the residuals, and less of it for causes
with more columns.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.identification.online.change_columns import ChangeColumns
from robot_dynamics_ros.core.identification.online.change_detection import Change, OF_A_JOINT
from robot_dynamics_ros.core.identification.online.online_rows import OnlineRow

MEMORY = 30.0
"""Motion over which residuals are averaged [s]."""

CAUSE_MEMORY = 6.0
"""The same, for the cause: what was before a change must not hide it [s]."""

SAID_FOR = 60.0
"""How long a change that was told is named as the cause [s]."""

ENOUGH = 4.0
"""Motion of a joint after which it is judged [s]."""

WATCH, ALARM = 2.0, 3.5
"""Root mean square of residuals over what is normal, from which on there is a level."""

LEAVE = 0.75
"""A level is left below this part of where it begins."""

CLEAR = 0.4
"""Part of the squares that a cause must explain to be named."""

COLUMN = 0.03
"""Part of the squares that each further column must explain."""

WIDTH = 0.02
"""Of the smooth sign of the velocity [rad/s | m/s]."""

COLUMNS = 11
"""Sign of the velocity, velocity, one, expected effort; payload (4); tilts (2); residual."""

_Row = tuple[OnlineRow, Vector, Vector, NDArray[np.bool_]]

LEVELS = ('ok', 'watch', 'alarm')


@dataclass(frozen=True)
class JointHealth:
    """
    How well the model fits one joint.

    Attributes
    ----------
    joint : str
    level : str
        One of `LEVELS`.
    bias, rms : float
        Of the residual [N m | N].
    relative : float or None
        `rms` over that of the effort.
    chi_square : float
        Mean square of the residual in its deviations.
    ratio : float
        `rms` over what is normal.
    cause : str
        Likely cause; empty while the level is ok.

    """

    joint: str
    level: str
    bias: float
    rms: float
    relative: float | None
    chi_square: float
    ratio: float
    cause: str


@dataclass(frozen=True)
class ModelHealth:
    """
    How well the model fits the robot.

    Attributes
    ----------
    level : str
        The worst of the joints'.
    joints : tuple of JointHealth
    sentence : str
        What is the matter, for people.

    """

    level: str
    joints: tuple[JointHealth, ...]
    sentence: str


class HealthMonitor:
    """
    Keeps the statistics of residuals.

    Parameters
    ----------
    joint_names : sequence of str
        Degrees of freedom.
    normal : ndarray, shape (nv,)
        Root mean square of the residuals of the fit, on data that it had not seen [N m | N].
    columns : ChangeColumns
        For payload and gravity.

    """

    def __init__(self, joint_names: Sequence[str], normal: Vector, columns: ChangeColumns) -> None:
        self._names = tuple(joint_names)
        self._normal = np.array(normal, dtype=np.float64)
        self._columns = columns
        self.reset()

    def reset(self) -> None:
        """Forget what was."""
        nv = len(self._names)
        self._moved = np.zeros(nv)
        self._sums = np.zeros((6, nv))
        self._columns_now = np.ones((nv, COLUMNS))
        self._products = np.zeros((nv, COLUMNS, COLUMNS))
        self._levels = np.zeros(nv, dtype=np.intp)
        self._now = 0.0
        self._waiting: _Row | None = None
        self._change: Change | None = None

    def step(
        self, row: OnlineRow, residual: Vector, deviation: Vector, use: NDArray[np.bool_]
    ) -> None:
        """
        Take in a row.

        Parameters
        ----------
        row : OnlineRow
            With columns of a payload.
        residual : ndarray, shape (nv,)
            Measured efforts less those of the model with all that is known now: tracked friction
            and payload if they are used [N m | N].
        deviation : ndarray, shape (nv,)
            Their standard deviations.
        use : ndarray of bool, shape (nv,)
            Which joints count.

        """
        self.work()
        self._waiting = row, residual, deviation, use

    def work(self) -> None:
        """Do what the last row left to do, so that it costs less; whoever asks does it, too."""
        if self._waiting is None:
            return
        row, residual, deviation, use = self._waiting
        self._waiting = None
        step = np.where(use, row.step, 0.0)
        self._moved += step
        self._now = row.stamp
        v, square = row.state.v, residual * residual
        variance = deviation * deviation
        sums = np.array(
            [np.ones_like(v), residual, square, row.tau**2, square / variance, variance]
        )
        self._sums *= np.where(use, exp(-row.step / MEMORY), 1.0)
        self._sums += step * sums
        columns = self._columns_now
        np.tanh(v / WIDTH, out=columns[:, 0])
        columns[:, 1], columns[:, 3] = v, row.tau - residual
        columns[:, 4:8], columns[:, 8:10] = row.payload[:, :4], self._columns.tilts(row)
        columns[:, 10] = residual
        self._products *= np.where(use, exp(-row.step / CAUSE_MEMORY), 1.0)[:, None, None]
        self._products += (step[:, None] * columns)[:, :, None] * columns[:, None, :]
        self._move_levels()

    def _ratio(self) -> Vector:
        """Return the root mean squares of the residuals over what is normal, shape (nv,)."""
        weight = np.maximum(self._sums[0], 1e-9)
        normal = np.sqrt(np.maximum(self._normal**2, self._sums[-1] / weight))
        return np.asarray(np.sqrt(self._sums[2] / weight) / np.maximum(normal, 1e-12))

    def _move_levels(self) -> None:
        ratio = self._ratio().tolist()
        for j in np.flatnonzero(self._moved > ENOUGH).tolist():
            self._levels[j] = _level(int(self._levels[j]), ratio[j])

    def note(self, change: Change) -> None:
        """Hear of a change that was told: it is the likely cause of what follows."""
        self._change = change

    def health(self) -> ModelHealth:
        """Return the present state."""
        self.work()
        weight = np.maximum(self._sums[0], 1e-9)
        bias, squares, efforts, scores, _ = self._sums[1:] / weight
        ratio = self._ratio()
        judged = self._moved > ENOUGH
        joints = []
        for j, name in enumerate(self._names):
            effort = float(np.sqrt(efforts[j]))
            rms = float(np.sqrt(squares[j]))
            joints.append(
                JointHealth(
                    joint=name,
                    level=LEVELS[self._levels[j]],
                    bias=float(bias[j]),
                    rms=rms,
                    relative=rms / effort if effort > 0.0 else None,
                    chi_square=float(scores[j]),
                    ratio=float(ratio[j]),
                    cause=self._cause(j) if self._levels[j] else '',
                )
            )
        worst = int(self._levels.max(initial=0))
        return ModelHealth(LEVELS[worst], tuple(joints), _sentence(joints, judged))

    def _cause(self, joint: int) -> str:
        """Return what explains the residuals of a joint best."""
        said = self._change
        if said is not None and self._now - said.told < SAID_FOR:
            if said.kind not in OF_A_JOINT or said.where == self._names[joint]:
                return said.sentence
        own = self._products[joint]
        shares: dict[str, float] = {}
        for label, part in (('friction', [0, 1]), ('offset', [2]), ('scale', [3])):
            shares[label] = _share(own, part)
        concerned = self._levels > 0
        together = np.einsum('j,jkl->kl', np.maximum(self._normal, 1e-9) ** -2.0, self._products)
        if np.count_nonzero(concerned) > 1:
            common = {
                'payload': _share(together, [4, 5, 6, 7]),
                'gravity': _share(together, [8, 9]),
            }
            # One cause for several joints is likelier than one for each.
            shares = common if max(common.values()) > CLEAR else shares
        best = max(shares, key=lambda label: shares[label])
        if shares[best] < CLEAR:
            return 'no single cause: contact, or another form of friction'
        if best == 'friction':
            level, slope = (float(value) for value in _solved(own, [0, 1]))
            word = 'up' if float(own[-1, 0]) > 0.0 else 'down'
            return f'friction {word} (Coulomb {level:+.2g}, viscous {slope:+.2g})'
        if best == 'offset':
            return f'offset of the effort sensor ({own[2, -1] / max(own[2, 2], 1e-12):+.2g})'
        if best == 'scale':
            factor = 1.0 + float(_solved(own, [3])[0])
            return 'sign of the effort' if factor < 0.0 else f'effort {factor:.2f} times as large'
        if best == 'payload':
            return f'payload changed ({_solved(together, [4, 5, 6, 7])[0]:+.2g} kg)'
        return 'direction of gravity: the base is not mounted as it was'


def _solved(sums: Matrix, part: list[int]) -> Vector:
    gram, right = sums[np.ix_(part, part)], sums[part, -1]
    return np.asarray(np.linalg.pinv(gram, rcond=1e-6, hermitian=True) @ right)


def _share(sums: Matrix, part: list[int]) -> float:
    """Return which part of the squares some columns explain, less something for each."""
    square = float(sums[-1, -1])
    if square <= 0.0:
        return 0.0
    return float(sums[part, -1] @ _solved(sums, part)) / square - COLUMN * len(part)


def _level(present: int, ratio: float) -> int:
    """Return the level of a ratio, with hysteresis."""
    wanted = int(ratio > WATCH) + int(ratio > ALARM)
    if wanted >= present:
        return wanted
    border = (WATCH, ALARM)[present - 1]
    return present if ratio > LEAVE * border else wanted


def _sentence(joints: Sequence[JointHealth], judged: NDArray[np.bool_]) -> str:
    if not judged.any():
        return 'the robot has not moved enough to tell whether its model fits'
    bad = [joint for joint in joints if joint.level != 'ok']
    if not bad:
        return 'the model fits as well as when it was identified'
    worst = max(bad, key=lambda joint: joint.ratio)
    others = f' and of {len(bad) - 1} more' if len(bad) > 1 else ''
    return (
        f"the residual of joint '{worst.joint}'{others} is {worst.ratio:.1f} times what is "
        f'normal; likely cause: {worst.cause}'
    )
