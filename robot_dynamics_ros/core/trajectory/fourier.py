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
Finite Fourier series as joint motions that start and end at rest.

.. math::

    q(t) &= c + \sum_{l=1}^{N} \frac{a_l}{l w} \sin(l w t) - \frac{b_l}{l w} \cos(l w t) \\
    \dot q(t) &= \sum_l a_l \cos(l w t) + b_l \sin(l w t) \\
    \ddot q(t) &= \sum_l l w \, \bigl(b_l \cos(l w t) - a_l \sin(l w t)\bigr)

with :math:`w = 2\pi/T`. Such a motion has few frequencies, all known, its derivatives are exact,
and measured periods can be averaged. It is at rest at the ends of each period, with velocity and
acceleration zero, if

.. math:: \sum_l a_l = 0, \quad \sum_l l \, b_l = 0.

The coefficients that fulfil this are :math:`Z x` with an orthonormal basis :math:`Z` of the null
space, so that every column of free coefficients ``(c, x)`` is a motion from rest to rest, and
whole periods may follow each other without a pause.

References
----------
.. [1] J. Swevers, C. Ganseman, D. B. Tukel, J. De Schutter, H. Van Brussel, "Optimal robot
   excitation and identification", IEEE Transactions on Robotics and Automation 13(5), 1997,
   equation 12.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros.core.arrays import as_finite, as_matrix, frozen, Matrix, Vector
from robot_dynamics_ros.core.exceptions import ConfigurationError
from robot_dynamics_ros.core.trajectory.spline import JointTrajectory

FEWEST_HARMONICS = 2
"""With one, only the motion that stands still is at rest at its ends."""


@dataclass(frozen=True, eq=False)
class FourierSeries:
    """
    Periodic motions of `n` joints; make them at rest at the ends with `from_free`.

    Attributes
    ----------
    period : float
        `T` [s].
    center : ndarray, shape (n,)
        Constant part `c` [rad | m].
    sine, cosine : ndarray, shape (n_harmonics, n)
        `a` and `b` [rad/s | m/s].

    Raises
    ------
    ConfigurationError
        If the period is not positive.
    DimensionError
        If the shapes do not belong together.
    NonFiniteError
        If a coefficient is not finite.

    """

    period: float
    center: Vector
    sine: Matrix
    cosine: Matrix

    def __post_init__(self) -> None:
        if not 0.0 < self.period < np.inf:
            raise ConfigurationError(f'period of a series is {self.period:g} s, expected > 0')
        sine = as_matrix('sine coefficients', self.sine, (-1, -1))
        shape = sine.shape
        object.__setattr__(self, 'sine', frozen(as_finite('sine coefficients', sine, shape)))
        cosine = as_finite('cosine coefficients', self.cosine, shape)
        object.__setattr__(self, 'cosine', frozen(cosine))
        object.__setattr__(self, 'center', frozen(as_finite('center', self.center, shape[1:])))

    @classmethod
    def from_free(cls, period: float, free: Any) -> FourierSeries:
        """
        Make the series that is at rest at the ends of its period from free coefficients.

        Parameters
        ----------
        period : float
            [s]
        free : array_like, shape (2 n_harmonics - 1, n)
            First the centers, then the coefficients in the null space.

        Raises
        ------
        ConfigurationError
            If the period is not positive, or there are too few coefficients.
        DimensionError
            If `free` is no matrix.
        NonFiniteError
            If a coefficient is not finite.

        """
        free = as_matrix('free coefficients', free, (-1, -1))
        harmonics = (len(free) + 1) // 2
        coefficients = rest_basis(harmonics) @ free[1:]
        return cls(period, free[0], coefficients[:harmonics], coefficients[harmonics:])

    @property
    def harmonics(self) -> int:
        """Return the number of harmonics."""
        return len(self.sine)

    @property
    def highest_frequency(self) -> float:
        """Return the frequency of the last harmonic [Hz]."""
        return self.harmonics / self.period

    def sample_many(self, t: Any) -> tuple[Matrix, Matrix, Matrix]:
        """Return position, velocity and acceleration, each of shape (n_samples, n)."""
        stacked = np.vstack((self.center, self.sine, self.cosine))
        basis = fourier_basis(t, self.period, self.harmonics)
        return basis[0] @ stacked, basis[1] @ stacked, basis[2] @ stacked

    def trajectory(self, joint_names: Sequence[str], periods: int, rate: float) -> JointTrajectory:
        """
        Return whole periods as a trajectory through samples, from rest to rest.

        Parameters
        ----------
        joint_names : sequence of str
            One for each column.
        periods : int
            How many.
        rate : float
            Points per second, at least; a whole number of them makes a period.

        Raises
        ------
        TrajectoryError
            If the names do not fit.

        """
        count = max(1, int(np.ceil(self.period * rate - 1e-9)))
        t = self.period * np.arange(count) / count
        period = self.sample_many(t)
        q, v, a = (np.vstack([part] * periods + [part[:1]]) for part in period)
        for part in (v, a):  # zero, but for rounding errors
            part[np.abs(part) < 1e-12] = 0.0
        times = self.period * np.arange(count * periods + 1) / count
        return JointTrajectory.from_points(joint_names, times, q, v, a)


def rest_basis(harmonics: int) -> Matrix:
    """
    Return the coefficients of motions that are at rest at the ends of their period.

    Returns
    -------
    Z : ndarray, shape (2 * harmonics, 2 * harmonics - 2)
        Orthonormal columns; rows are `a` and, after them, `b`.

    Raises
    ------
    ConfigurationError
        If there are fewer than two harmonics.

    """
    if harmonics < FEWEST_HARMONICS:
        raise ConfigurationError(
            f'a series of {harmonics} harmonics cannot start and end at rest, expected at least '
            f'{FEWEST_HARMONICS}'
        )
    at_rest = np.zeros((2, 2 * harmonics))
    at_rest[0, :harmonics] = 1.0
    at_rest[1, harmonics:] = np.arange(1, harmonics + 1)
    orthogonal: Matrix = np.linalg.qr(at_rest.T, mode='complete')[0]
    return orthogonal[:, 2:]


def fourier_basis(t: Any, period: float, harmonics: int) -> tuple[Matrix, Matrix, Matrix]:
    """
    Return what position, velocity and acceleration are linear in.

    Parameters
    ----------
    t : array_like, shape (n_samples,)
        Times [s].
    period : float
        [s]
    harmonics : int
        Number of harmonics.

    Returns
    -------
    P, V, A : ndarray, shape (n_samples, 1 + 2 * harmonics)
        To be multiplied with ``(c, a, b)``.

    """
    rate = 2.0 * np.pi / period * np.arange(1, harmonics + 1)
    phase = np.multiply.outer(np.asarray(t, dtype=np.float64), rate)
    sine, cosine = np.sin(phase), np.cos(phase)
    one = np.ones((len(phase), 1))
    return (
        np.hstack((one, sine / rate, -cosine / rate)),
        np.hstack((0.0 * one, cosine, sine)),
        np.hstack((0.0 * one, -rate * sine, rate * cosine)),
    )


def rest_motion_basis(t: Any, period: float, harmonics: int) -> tuple[Matrix, Matrix, Matrix]:
    """
    Return `fourier_basis` for free coefficients, see `FourierSeries.from_free`.

    Raises
    ------
    ConfigurationError
        If there are fewer than two harmonics.

    """
    turn = np.zeros((1 + 2 * harmonics, 2 * harmonics - 1))
    turn[0, 0] = 1.0
    turn[1:, 1:] = rest_basis(harmonics)
    position, velocity, acceleration = fourier_basis(t, period, harmonics)
    return position @ turn, velocity @ turn, acceleration @ turn
