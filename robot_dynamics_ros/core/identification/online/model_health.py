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
        self._weight = np.zeros(nv)
        self._moved = np.zeros(nv)
        self._own = np.zeros((nv, 5, 5))  # sign, velocity, one, expected effort, residual
        self._squares, self._bias, self._efforts = np.zeros((3, nv))
        self._scores = np.zeros(nv)
        self._variances = np.zeros(nv)
        self._common = np.zeros((nv, 7, 7))  # payload (4), tilts (2), residual
        self._levels = np.zeros(nv, dtype=np.intp)
        self._now = 0.0
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
        kept = np.where(use, np.exp(-row.step / MEMORY), 1.0)
        step = np.where(use, row.step, 0.0)
        self._weight = kept * self._weight + step
        self._moved += step
        soon = np.where(use, np.exp(-row.step / CAUSE_MEMORY), 1.0)
        v, expected = row.state.v, row.tau - residual
        own = np.column_stack([np.tanh(v / WIDTH), v, np.ones_like(v), expected, residual])
        self._own = _faded(self._own, own, soon, step)
        common = np.column_stack([row.payload[:, :4], self._columns.tilts(row), residual])
        self._common = _faded(self._common, common, soon, step)
        self._squares = kept * self._squares + step * residual**2
        self._bias = kept * self._bias + step * residual
        self._now = row.stamp
        self._efforts = kept * self._efforts + step * row.tau**2
        self._scores = kept * self._scores + step * (residual / deviation) ** 2
        self._variances = kept * self._variances + step * deviation**2
        self._move_levels()

    def _ratio(self) -> Vector:
        """Return the root mean squares of the residuals over what is normal, shape (nv,)."""
        weight = np.maximum(self._weight, 1e-9)
        normal = np.sqrt(np.maximum(self._normal**2, self._variances / weight))
        return np.asarray(np.sqrt(self._squares / weight) / np.maximum(normal, 1e-12))

    def _move_levels(self) -> None:
        ratio = self._ratio().tolist()
        for j in np.flatnonzero(self._moved > ENOUGH).tolist():
            self._levels[j] = _level(int(self._levels[j]), ratio[j])

    def note(self, change: Change) -> None:
        """Hear of a change that was told: it is the likely cause of what follows."""
        self._change = change

    def health(self) -> ModelHealth:
        """Return the present state."""
        weight = np.maximum(self._weight, 1e-9)
        squares, ratio = self._squares / weight, self._ratio()
        judged = self._moved > ENOUGH
        joints = []
        for j, name in enumerate(self._names):
            effort = float(np.sqrt(self._efforts[j] / weight[j]))
            rms = float(np.sqrt(squares[j]))
            joints.append(
                JointHealth(
                    joint=name,
                    level=LEVELS[self._levels[j]],
                    bias=float(self._bias[j] / weight[j]),
                    rms=rms,
                    relative=rms / effort if effort > 0.0 else None,
                    chi_square=float(self._scores[j] / weight[j]),
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
        own = self._own[joint]
        shares: dict[str, float] = {}
        for label, part in (('friction', [0, 1]), ('offset', [2]), ('scale', [3])):
            shares[label] = _share(own, part)
        concerned = self._levels > 0
        together = (self._common / np.maximum(self._normal, 1e-9)[:, None, None] ** 2).sum(axis=0)
        if np.count_nonzero(concerned) > 1:
            common = {
                'payload': _share(together, [0, 1, 2, 3]),
                'gravity': _share(together, [4, 5]),
            }
            # One cause for several joints is likelier than one for each.
            shares = common if max(common.values()) > CLEAR else shares
        best = max(shares, key=lambda label: shares[label])
        if shares[best] < CLEAR:
            return 'no single cause: contact, or another form of friction'
        if best == 'friction':
            level = float(_solved(own, [0, 1])[0])
            push = float(own[4, 0])
            return f'friction {"up" if push > 0.0 else "down"} (Coulomb {level:+.2g})'
        if best == 'offset':
            return f'offset of the effort sensor ({own[2, 4] / max(own[2, 2], 1e-12):+.2g})'
        if best == 'scale':
            factor = 1.0 + float(_solved(own, [3])[0])
            return 'sign of the effort' if factor < 0.0 else f'effort {factor:.2f} times as large'
        if best == 'payload':
            return f'payload changed ({_solved(together, [0, 1, 2, 3])[0]:+.2g} kg)'
        return 'direction of gravity: the base is not mounted as it was'


def _faded(sums: Matrix, columns: Matrix, kept: Vector, step: Vector) -> Matrix:
    fresh = columns[:, :, None] * columns[:, None, :] * step[:, None, None]
    return np.asarray(kept[:, None, None] * sums + fresh)


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
