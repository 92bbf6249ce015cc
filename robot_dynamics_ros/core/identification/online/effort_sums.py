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
Sums of products of what makes a joint's effort, which fade while the joint moves.

The effort of joint :math:`j` that is late by :math:`d` is fitted by

.. math:: e(t + d) \approx e + d\,\dot e = C\,k, \qquad
   C = (M a + C v,\; g,\; v,\; \mathrm{sign}\,v,\; 1)_j

and the products of :math:`C`, :math:`e` and :math:`\dot e` are all that has to be kept for fits at
any delay. It is the effort that is moved, not the columns: the derivative of an acceleration is
mostly noise, with which a delay comes out too short.

"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.log_health.torque_match import Delay, Gain, TorqueMatch

COUNT = 5
"""Columns: motion, gravity, velocity, its sign, one."""

MOTION, GRAVITY, VELOCITY, DRY, ONE, EFFORT, RATE = range(COUNT + 2)

DEAD = 0.02
"""An effort whose variation is less than this part of the model's is none."""

SURE_DELAY = 0.005
"""Standard deviation that a delay must have to count [s]."""

DELAYS = np.arange(-0.08, 0.0801, 0.008)

CLEAR = 4.0
"""Standard deviations from zero of a friction whose sign counts."""


class EffortSums:
    """
    The sums of all joints.

    Parameters
    ----------
    nv : int
        Joints.
    memory : float
        Motion of a joint after which what came counts for a third [s].
    independent : float
        Errors that are independent of each other, per second [Hz].

    Attributes
    ----------
    weights : ndarray, shape (nv,)
        Motion of each joint that the sums stand for [s].

    """

    def __init__(self, nv: int, memory: float, independent: float) -> None:
        self._memory = memory
        self._independent = independent
        self._sums = np.zeros((nv, COUNT + 2, COUNT + 2))
        self.weights: Vector = np.zeros(nv)

    def clear(self, joint: int | None = None) -> None:
        """Forget everything, or everything of a joint."""
        which = slice(None) if joint is None else joint
        self._sums[which] = 0.0
        self.weights[which] = 0.0

    def add(self, row: Matrix, period: float, moves: NDArray[np.bool_]) -> None:
        """
        Take in a row.

        Parameters
        ----------
        row : ndarray, shape (nv, COUNT + 2)
            Columns, effort, its derivative.
        period : float
            Time that it stands for [s].
        moves : ndarray of bool, shape (nv,)
            Joints that move: the others are left out, and forget nothing.

        """
        kept = np.where(moves, np.exp(-period / self._memory), 1.0)
        step = np.where(moves, period, 0.0)
        self._sums *= kept[:, None, None]
        self._sums += step[:, None, None] * row[:, :, None] * row[:, None, :]
        self.weights = kept * self.weights + step

    @property
    def means(self) -> Matrix:
        """Return the means of all products, shape (nv, n, n)."""
        scaled: Matrix = self._sums / np.maximum(self.weights, 1e-9)[:, None, None]
        return scaled

    def delay(self, means: Matrix, ready: NDArray[np.bool_]) -> Delay | None:
        """Find the delay with which the fits of all joints together leave least."""
        misfit = np.log(left_by_model(means[ready], DELAYS)).mean(axis=1)
        best = int(np.argmin(misfit))
        if best in (0, len(DELAYS) - 1):
            return None
        left, middle, right = misfit[best - 1 : best + 2]
        step = DELAYS[1] - DELAYS[0]
        bend = (left - 2.0 * middle + right) / step**2
        count = self._independent * float(self.weights[ready].sum())
        sigma = float(np.sqrt(2.0 / (count * bend))) if bend > 0.0 else np.inf
        value = float(DELAYS[best]) + 0.5 * step * (left - right) / (left - 2.0 * middle + right)
        return Delay(value, sigma) if sigma < SURE_DELAY else None

    def matches(self, names: Sequence[str], means: Matrix, delay: float) -> list[TorqueMatch]:
        """Return the fit of each joint as the logs have it."""
        values, sigmas, left = self._fits(means, self.weights, [*range(COUNT)], delay)
        around = means[:, EFFORT, EFFORT] - means[:, ONE, EFFORT] ** 2
        residual = np.sqrt(left / np.where(around > 0.0, around, np.maximum(left, 1e-300)))
        return [
            TorqueMatch(
                name, float('nan'), Gain(v[MOTION], s[MOTION]), Gain(v[GRAVITY], s[GRAVITY]),
                v[VELOCITY], v[DRY], v[ONE], r, None,
            )
            for name, v, s, r in zip(names, values.tolist(), sigmas.tolist(), residual.tolist())
        ]  # fmt: skip

    def friction_sign(self, means: Matrix, weight: float, delay: float) -> int:
        """Return 1 if friction takes energy in a joint's effort, -1 if not, 0 if unclear."""
        part = [MOTION, GRAVITY, DRY, ONE]
        values, sigmas, _ = self._fits(means[None], np.array([weight]), part, delay)
        dry, sigma = float(values[0, 2]), float(sigmas[0, 2])
        return int(np.sign(dry)) if abs(dry) > CLEAR * sigma else 0

    def _fits(
        self, means: Matrix, weights: Vector, part: list[int], delay: float
    ) -> tuple[Matrix, Matrix, Vector]:
        """Return gains of some columns, their standard deviations and the mean squares left."""
        gram = means[:, part][:, :, part]
        right = means[:, part, EFFORT] + delay * means[:, part, RATE]
        square = means[:, EFFORT, EFFORT] + 2.0 * delay * means[:, EFFORT, RATE]
        square = square + delay**2 * means[:, RATE, RATE]
        inverse = _pseudo_inverse(gram)
        values = (inverse @ right[:, :, None])[:, :, 0]
        left = np.maximum(square - (right * values).sum(axis=1), 0.0)
        count = np.maximum(self._independent * weights, 1.0)
        variance = left / np.maximum(count - COUNT, 1.0)
        diagonal = np.maximum(inverse.diagonal(axis1=1, axis2=2), 0.0)
        shown = np.abs((gram @ inverse).diagonal(axis1=1, axis2=2) - 1.0) < 1e-3
        return values, np.where(shown, np.sqrt(diagonal * variance[:, None]), np.inf), left


def dead_efforts(means: Matrix) -> NDArray[np.bool_]:
    """Tell which efforts do not vary while the model's torque does."""
    motion = means[:, 0, 0] + 2.0 * means[:, 0, 1] + means[:, 1, 1]
    model = motion - (means[:, 0, ONE] + means[:, 1, ONE]) ** 2
    effort = means[:, EFFORT, EFFORT] - means[:, ONE, EFFORT] ** 2
    largest = float(model.max(initial=0.0))
    telling = model > 1e-4 * largest
    return np.asarray(telling & (effort < DEAD**2 * np.maximum(model, 0.0)))


def model_share(means: Matrix, match: TorqueMatch) -> float:
    """Return which part of an effort's squares around its mean the model's torque makes."""
    gains = np.array([match.motion_gain.value, match.gravity_gain.value])
    around = means[:2, :2] - np.outer(means[:2, ONE], means[:2, ONE])
    effort = float(means[EFFORT, EFFORT] - means[ONE, EFFORT] ** 2)
    return float(gains @ around @ gains) / max(effort, 1e-12)


def left_by_model(means: Matrix, delay: float | Vector) -> Matrix:
    """
    Return which part of the effort's variation the model and friction leave at a delay, or many.

    The model's torque is taken as it is: free gains would take the place of a delay. Once friction
    is eliminated, what is left is a quadratic polynomial of the delay.

    """
    sums = _TO_LEFT.T @ means @ _TO_LEFT
    across = sums[:, :3, 3:]
    inverse = _pseudo_inverse(sums[:, :3, :3])
    left = sums[:, 3:, 3:] - across.transpose(0, 2, 1) @ inverse @ across
    around = means[:, EFFORT, EFFORT] - means[:, ONE, EFFORT] ** 2
    d = np.asarray(delay)[..., None]
    square = left[:, 0, 0] + 2.0 * d * left[:, 0, 1] + d**2 * left[:, 1, 1]
    return np.asarray(np.maximum(square / np.maximum(around, 1e-12), 1e-6))


# Velocity, its sign, one; the effort less the model's torque, and the effort's derivative.
_TO_LEFT = np.zeros((COUNT + 2, 5))
_TO_LEFT[[VELOCITY, DRY, ONE, EFFORT, RATE], range(5)] = 1.0
_TO_LEFT[[MOTION, GRAVITY], 3] = -1.0


def _pseudo_inverse(symmetric: Matrix) -> Matrix:
    """Return the pseudo-inverse of each matrix, shape (m, n, n); quicker than that of numpy."""
    sizes, axes = np.linalg.eigh(symmetric)
    least = 1e-9 * np.abs(sizes).max(axis=-1, keepdims=True)
    shown = np.abs(sizes) > least
    inverse = np.where(shown, 1.0, 0.0) / np.where(shown, sizes, 1.0)
    return np.asarray((axes * inverse[..., None, :]) @ axes.swapaxes(-1, -2))
