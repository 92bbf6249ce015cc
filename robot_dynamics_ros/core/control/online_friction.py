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
Friction of a command that follows estimates made while the robot runs, within bounds.

It begins as the friction found offline. An estimate is taken for a joint if every term has a
variance that is small, and a value that is not far, against the offline one,

.. math:: \sigma \le \epsilon\,s, \qquad 0 \le x \le \kappa\,s

with :math:`s` the larger of the two directions of that term offline. A joint whose estimate fails
goes back to the offline values, and all joints do when no estimate has come for a while or the
estimator withdraws them. The values glide to their target, so that no torque jumps.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.friction.friction_model import (
    directed_torque,
    FrictionModel,
    TERMS,
)

OTHER = 0.1
"""Part of the other term that a term counts at least."""


@dataclass(frozen=True)
class OnlineFrictionBounds:
    """
    Which estimates are taken.

    Attributes
    ----------
    timeout : float
        Age beyond which estimates no longer count [s].
    deviation : float
        Largest standard deviation, relative to the offline value.
    factor : float
        Largest value, relative to the offline one.
    glide_time : float
        In which a new target is reached [s].

    Raises
    ------
    ConfigurationError
        If a number is not positive and finite, or the factor less than 1.

    """

    timeout: float = 5.0
    deviation: float = 0.1
    factor: float = 2.0
    glide_time: float = 1.0

    def __post_init__(self) -> None:
        for name in ('timeout', 'deviation', 'factor'):
            value = getattr(self, name)
            if not (isfinite(value) and value > 0.0):
                raise ConfigurationError(f'online friction: {name} is {value}, expected above 0')
        if self.factor < 1.0:
            raise ConfigurationError(
                f'online friction: factor is {self.factor}, expected at least 1'
            )


class OnlineFriction:
    """
    Friction torque with values that may change while it is used.

    Parameters
    ----------
    offline : FrictionModel
        To begin with, and to go back to.
    bounds : OnlineFrictionBounds, optional
        Which estimates are taken.

    Attributes
    ----------
    joint_names : tuple of str
    bounds : OnlineFrictionBounds
    accepted, refused : int
        Messages that were taken, at least for some joints, and that were not.
    reason : str
        Why a joint or everything is at its offline values; empty if all follow their estimates.

    """

    def __init__(self, offline: FrictionModel, bounds: OnlineFrictionBounds | None = None) -> None:
        self.joint_names: tuple[str, ...] = offline.joint_names
        self.bounds = bounds or OnlineFrictionBounds()
        self._offline: Matrix = np.array([getattr(offline, term) for term in TERMS])
        self._smoothing = offline.smoothing_velocity
        viscous = self._offline[:2].max(axis=0)
        coulomb = self._offline[2:].max(axis=0)
        # A term that came out as zero is judged by the other one, at 1 rad/s or 1 m/s.
        viscous, coulomb = (
            np.maximum(viscous, OTHER * coulomb),
            np.maximum(coulomb, OTHER * viscous),
        )
        self._scale: Matrix = np.array([viscous, viscous, coulomb, coulomb])
        self._present = self._offline.copy()
        self._start, self._target = self._present.copy(), self._offline.copy()
        self._began, self._heard = -np.inf, -np.inf
        self._is_online = np.zeros(len(self.joint_names), dtype=bool)
        self.accepted = self.refused = 0
        self.reason = 'no estimate has come'

    @property
    def values(self) -> Matrix:
        """Return the values in use, shape (4, n), in the order of `TERMS`."""
        return np.array(self._present)

    @property
    def is_online(self) -> NDArray[np.bool_]:
        """Return for each joint whether it follows its estimate, shape (n,)."""
        return np.array(self._is_online)

    def torque(self, v: Vector) -> Vector:
        """
        Return the friction torque, in the shape of `v` and with its sign [N m | N].

        Parameters
        ----------
        v : ndarray, shape (n,) or (n_samples, n)
            Joint velocities [rad/s | m/s].

        """
        return directed_torque(v, self._present, self._smoothing)

    def offer(self, names: Sequence[str], values: Vector, variances: Vector, now: float) -> str:
        """
        Take estimates in, as far as they pass.

        Parameters
        ----------
        names : sequence of str
            ``JOINT/TERM`` for all terms of one or more joints; none withdraws all estimates.
        values, variances : ndarray, shape (len(names),)
            Of the terms [N m s/rad | N s/m, N m | N], and squared.
        now : float
            Time on the steady clock [s].

        Returns
        -------
        refusal : str
            Why the whole message is not taken: then nothing changes. Empty if it is.

        """
        refusal = self._refusal(names, values, variances)
        if refusal:
            self.refused += 1
            return refusal
        self.accepted += 1
        self._heard = now
        if not names:
            self._go_back('the estimates are withdrawn', now)
            return ''
        given = dict(zip(names, zip(values.tolist(), variances.tolist())))
        target, failures = self._offline.copy(), []
        for j, joint in enumerate(self.joint_names):
            self._is_online[j] = False
            if f'{joint}/{TERMS[0]}' not in given:
                failures.append(f'there is no estimate of {joint}')
                continue
            estimate = np.array([given[f'{joint}/{term}'] for term in TERMS])
            failure = self._failure(j, estimate)
            if failure:
                failures.append(failure)
                continue
            self._is_online[j] = True
            target[:, j] = estimate[:, 0]
        self.reason = '; '.join(failures)
        self._aim(target, now)
        return ''

    def step(self, now: float) -> None:
        """Glide on to the present time on the steady clock [s], and notice old estimates."""
        if now - self._heard > self.bounds.timeout and self._is_online.any():
            self._go_back(f'no estimate for {now - self._heard:.1f} s', now)
        part = (now - self._began) / self.bounds.glide_time if self.bounds.glide_time else 1.0
        if part >= 1.0:
            self._present[:] = self._target
        else:
            self._present[:] = self._start + max(part, 0.0) * (self._target - self._start)

    def _go_back(self, reason: str, now: float) -> None:
        self._is_online[:] = False
        self.reason = reason
        self._aim(self._offline, now)

    def _aim(self, target: Matrix, now: float) -> None:
        if not np.array_equal(target, self._target):
            self._start[:] = self._present
            self._target = target.copy()
            self._began = now

    def _refusal(self, names: Sequence[str], values: Vector, variances: Vector) -> str:
        if not len(names) == len(values) == len(variances):
            return (
                f'{len(names)} names, {len(values)} values and {len(variances)} variances: '
                'expected as many of each'
            )
        if len(set(names)) != len(names):
            return 'a name stands twice'
        known = {f'{joint}/{term}' for joint in self.joint_names for term in TERMS}
        unknown = [name for name in names if name not in known]
        if unknown:
            return f"'{unknown[0]}' is no term of a joint: expected {self._example()}"
        joints = {name.rsplit('/', 1)[0] for name in names}
        if len(names) != len(TERMS) * len(joints):
            return f'terms are missing: expected {", ".join(TERMS)} for each joint'
        if not (np.isfinite(values).all() and np.isfinite(variances).all()):
            return 'a value or variance is not finite'
        if variances.min(initial=0.0) < 0.0:
            return 'a variance is negative'
        return ''

    def _failure(self, j: int, estimate: Matrix) -> str:
        """Return which term of a joint does not pass, of estimates of shape (4, 2)."""
        joint, bounds = self.joint_names[j], self.bounds
        for term, (value, variance), scale in zip(TERMS, estimate.tolist(), self._scale[:, j]):
            if variance > (bounds.deviation * scale) ** 2:
                return (
                    f'{term} of {joint} is known to {variance**0.5:.3g} only, '
                    f'expected {bounds.deviation * scale:.3g}'
                )
            if not 0.0 <= value <= bounds.factor * scale:
                return (
                    f'{term} of {joint} is {value:.3g}, expected 0 to {bounds.factor * scale:.3g}'
                )
        return ''

    def _example(self) -> str:
        return f'{self.joint_names[0]}/{TERMS[0]} and the like'
