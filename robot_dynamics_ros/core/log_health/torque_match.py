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
Which part of the model's torque is found again in a measured effort, and how late.

Motion and effort pass the same zero-phase filter. For each joint the effort is then fitted by

.. math:: e(t + d) = k_m\,(M a + C v)_j + k_g\,g_j + f_v\,v_j + f_c\,\mathrm{sign}(v_j) + c

For torques both gains are one, as far as the model is right; a sign shows in both, another unit as
a common factor, and an effort without gravity as :math:`k_g = 0`. The delay :math:`d` is where the
residual is least: with columns that do not depend on it, one QR factorisation gives the residual
at any delay,

.. math:: r(d) = \|e_d\|^2 - \|Q^T e_d\|^2

Neighbouring samples of a filtered signal are not independent; standard deviations count
:math:`2 f_c T` of them, and know nothing of errors in the model's form. Those show where the
cutoff is changed: what a delay differs by then is added to its standard deviation.

References
----------
.. [1] G. H. Golub, C. F. Van Loan, *Matrix Computations*, 2013, section 5.3 (least squares by QR).

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from robot_dynamics_ros.core.arrays import Vector
from robot_dynamics_ros.core.dynamics import generalized_gravity_batch, rnea_batch
from robot_dynamics_ros.core.log_health.filtered_log import FilteredLog, LONGEST_DELAY
from robot_dynamics_ros.core.model.robot_model import RobotModel

SURE_DELAY = 0.005
"""A delay whose standard deviation is larger is not told [s]."""

_COARSE_STEP = 0.005


@dataclass(frozen=True)
class Gain:
    """A factor that was fitted, and its standard deviation."""

    value: float
    sigma: float

    @property
    def is_known(self) -> bool:
        """Whether the motion shows it: to a quarter of itself, or to a quarter of one."""
        return bool(self.sigma < 0.25 * max(1.0, abs(self.value)))


@dataclass(frozen=True)
class Delay:
    """Time by which efforts are late (negative: early) against the motion [s]."""

    value: float
    sigma: float


@dataclass(frozen=True)
class TorqueMatch:
    """
    How the effort of one joint follows from a model.

    Attributes
    ----------
    joint : str
        Its name.
    correlation : float
        Of the effort with the model's torque without friction; NaN where one of them is constant.
    motion_gain, gravity_gain : Gain
        :math:`k_m` and :math:`k_g`, measured over model.
    viscous, coulomb, offset : float
        The other coefficients, in units of the effort.
    residual : float
        What is left, over what there is: norm(e - fit) / norm(e - mean).
    delay : Delay or None
        None where the motion does not tell.

    """

    joint: str
    correlation: float
    motion_gain: Gain
    gravity_gain: Gain
    viscous: float
    coulomb: float
    offset: float
    residual: float
    delay: Delay | None


def match_torques(
    model: RobotModel, log: FilteredLog, wider: FilteredLog | None = None
) -> tuple[tuple[TorqueMatch, ...], Delay | None]:
    """
    Compare the efforts of a log with a model.

    Parameters
    ----------
    model : RobotModel
        Its joints are the columns of the log.
    log : FilteredLog
        Prepared log.
    wider : FilteredLog, optional
        The same with a higher cutoff, to see how far delays can be trusted.

    Returns
    -------
    joints : tuple of TorqueMatch
        One for each joint, at the common delay.
    delay : Delay or None
        That of all joints together; None if the log does not tell.

    """
    fits = _fits(model, log)
    others = fits if wider is None else _fits(model, wider)
    common = _agreed(_delay(fits), _delay(others))
    at = 0.0 if common is None else common.value
    matches = tuple(
        fit.match(name, at, _agreed(_delay([fit]), _delay([other])))
        for name, fit, other in zip(model.joint_names, fits, others)
    )
    return matches, common


def _fits(model: RobotModel, log: FilteredLog) -> list[_JointFit]:
    torque = rnea_batch(model, log.q, log.v, log.a)
    gravity = generalized_gravity_batch(model, log.q)
    return [
        _JointFit(log, joint, torque[:, joint] - gravity[:, joint], gravity[:, joint])
        for joint in range(len(model.joint_names))
    ]


def _agreed(delay: Delay | None, other: Delay | None) -> Delay | None:
    """Return a delay whose uncertainty includes how it depends on the cutoff."""
    if delay is None or other is None:
        return None
    sigma = float(np.hypot(delay.sigma, delay.value - other.value))
    return Delay(delay.value, sigma) if sigma < SURE_DELAY else None


class _JointFit:
    """Least squares of the effort of one joint on the terms of the model."""

    def __init__(self, log: FilteredLog, joint: int, motion: Vector, gravity: Vector) -> None:
        self.independent = log.independent
        self._log = log
        self._joint = joint
        self._torque = motion + gravity
        columns = np.column_stack(
            [motion, gravity, log.v[:, joint], log.dry[:, joint], np.ones(len(log.stamps))]
        )
        size = np.linalg.norm(columns, axis=0)
        self.used = size > 1e-9 * max(1.0, float(size.max()))
        self._columns = columns[:, self.used]
        self._q, self._r = np.linalg.qr(self._columns)
        # A column that the others explain makes its coefficient unknown, not the fit impossible.
        diagonal = np.abs(np.diag(self._r))
        self._weak = diagonal < 1e-6 * size[self.used]

    def residual(self, delay: float) -> float:
        """Return the sum of squares that is left at a delay, over that around the mean."""
        effort = self._effort(delay)
        around = float(np.sum((effort - effort.mean()) ** 2))
        if not around > 0.0:
            return 1.0
        # Differences of sums of squares lose digits; the residual itself does not.
        left = effort - self._q @ (self._q.T @ effort)
        return max(float(left @ left) / around, 1e-24)

    def match(self, name: str, delay: float, own: Delay | None) -> TorqueMatch:
        """Return the fit at a delay; `own` is the delay of this joint alone."""
        effort = self._effort(delay)
        values, sigmas = np.full(5, np.nan), np.full(5, np.inf)
        coefficients, *_ = np.linalg.lstsq(self._columns, effort, rcond=None)
        residual = effort - self._columns @ coefficients
        freedom = max(self._log.independent - len(coefficients), 1.0)
        variance = float(residual @ residual) / len(effort) * self._log.independent / freedom
        inverse = np.linalg.pinv(self._r.T @ self._r) * len(effort) / self._log.independent
        values[self.used] = coefficients
        sigmas[self.used] = np.where(
            self._weak, np.inf, np.sqrt(np.maximum(variance * np.diag(inverse), 0.0))
        )
        return TorqueMatch(
            joint=name,
            correlation=_correlation(effort, self._torque),
            motion_gain=Gain(float(values[0]), float(sigmas[0])),
            gravity_gain=Gain(float(values[1]), float(sigmas[1])),
            viscous=float(values[2]),
            coulomb=float(values[3]),
            offset=float(values[4]),
            residual=float(np.sqrt(self.residual(delay))),
            delay=own,
        )

    def _effort(self, delay: float) -> Vector:
        found: Vector = self._log.effort(self._log.stamps + delay)[:, self._joint]
        return found


def _delay(fits: Sequence[_JointFit]) -> Delay | None:
    """Find the delay where the residuals of these joints together are least."""

    def misfit(delay: float) -> float:
        # Of Gaussian residuals of unknown size: each joint counts by the factor that it gains.
        return float(np.mean([np.log(fit.residual(delay)) for fit in fits]))

    grid = np.arange(-LONGEST_DELAY, LONGEST_DELAY + 1e-9, _COARSE_STEP)
    coarse = np.array([misfit(delay) for delay in grid])
    best = int(np.argmin(coarse))
    if best in (0, len(grid) - 1):
        return None
    around = (grid[best - 1], grid[best + 1])
    found = minimize_scalar(misfit, bounds=around, method='bounded', options={'xatol': 1e-6})
    # Log-likelihood -(N/2) log r: its curvature is the inverse variance.
    step = _COARSE_STEP
    bend = (misfit(found.x - step) - 2.0 * found.fun + misfit(found.x + step)) / step**2
    count = sum(fit.independent for fit in fits)
    sigma = float(np.sqrt(2.0 / (count * bend))) if bend > 0.0 else np.inf
    return Delay(float(found.x), sigma) if sigma < SURE_DELAY else None


def _correlation(first: Vector, second: Vector) -> float:
    first, second = first - first.mean(), second - second.mean()
    size = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) / size if size > 1e-12 else float('nan')
