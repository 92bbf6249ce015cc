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
Velocities and accelerations that trajectory points lack.

Between two points the motion is the quintic polynomial that has their positions, velocities and
accelerations, so that it is twice continuously differentiable in any case.

Velocities that are missing are those of the cubic spline through the positions, which has the
least :math:`\int \ddot q^2\,dt`. With slopes ``D = (p1 - p0) / h`` on the segments of length `h`,
each missing one fulfils

.. math:: \frac{v_{k-1}}{h_{k-1}} + 2\Bigl(\frac{1}{h_{k-1}} + \frac{1}{h_k}\Bigr) v_k
          + \frac{v_{k+1}}{h_k} = 3\Bigl(\frac{D_{k-1}}{h_{k-1}} + \frac{D_k}{h_k}\Bigr).

Accelerations that are missing are then those with the least :math:`\int \dddot q^2\,dt`. With
``d = (p0, h v0, h^2 a0, p1, h v1, h^2 a1)`` the polynomial in ``s = (t - t0) / h`` has the
coefficients ``HERMITE d``, and the integral is ``d' Q d / h^5`` with the constant matrix
``Q = JERK``. Its minimum solves a tridiagonal system.

A spline through points of very uneven spacing in time overshoots without bound: a speed `v` at one
end of a segment carries the motion up to ``4/27 h v`` away, an acceleration `a` up to ``0.01728
h^2 a``. Derived values are limited such that this is no more than the way on one of the two
neighbouring segments. On smooth data the limits are far away.

References
----------
.. [1] C. de Boor, *A Practical Guide to Splines*, 2001, chapters IV and V (cubic splines and their
       minimum property).
.. [2] T. Flash and N. Hogan, *The coordination of arm movements*, 1985 (least jerk through
       points).

"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solveh_banded

from robot_dynamics_ros.core.arrays import Matrix, Vector

HERMITE = np.array(
    [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.5, 0.0, 0.0, 0.0],
        [-10.0, -6.0, -1.5, 10.0, -4.0, 0.5],
        [15.0, 8.0, 1.5, -15.0, 7.0, -1.0],
        [-6.0, -3.0, -0.5, 6.0, -3.0, 0.5],
    ]
)
"""Coefficients of 1, s, ..., s^5 from the values at both ends; row by row."""

# Third derivative of s^3, s^4, s^5: 6, 24 s, 60 s^2. Their products, integrated over 0 ... 1:
_PRODUCTS = np.array([[36.0, 72.0, 120.0], [72.0, 192.0, 360.0], [120.0, 360.0, 720.0]])

JERK = HERMITE[3:].T @ _PRODUCTS @ HERMITE[3:]
"""Integral of the squared third derivative as a quadratic form in the values at both ends."""

_CARRY_OF_VELOCITY = 4.0 / 27.0  # largest s (1 - s)^2
_CARRY_OF_ACCELERATION = 0.01728  # largest s^2 (1 - s)^3 / 2


def spline_velocities(
    times: Vector, positions: Matrix, velocities: Matrix, given: NDArray[np.bool_]
) -> Matrix:
    """
    Fill in the velocities that are not given.

    Parameters
    ----------
    times : ndarray, shape (n_points,)
        Increasing times [s].
    positions, velocities : ndarray, shape (n_points, n)
        Velocities count where they are given.
    given : ndarray of bool, shape (n_points,)
        Which points have a velocity; the first and the last must.

    Returns
    -------
    velocities : ndarray, shape (n_points, n)

    """
    if given.all():
        return velocities
    h = np.diff(times)
    way = np.diff(positions, axis=0)
    drive = (3.0 / (h * h))[:, np.newaxis] * way
    right = np.zeros_like(positions)
    right[:-1] += drive
    right[1:] += drive
    v = _solved(2.0 / h, 2.0 / h, 1.0 / h, right, velocities, given)
    limit = _largest_beside(np.abs(way)) / (_CARRY_OF_VELOCITY * _largest_beside(h)[:, np.newaxis])
    return np.where(given[:, np.newaxis], v, np.clip(v, -limit, limit))


def least_jerk_accelerations(
    times: Vector,
    positions: Matrix,
    velocities: Matrix,
    accelerations: Matrix,
    given: NDArray[np.bool_],
) -> Matrix:
    """
    Fill in the accelerations that are not given.

    Parameters
    ----------
    times : ndarray, shape (n_points,)
        Increasing times [s].
    positions, velocities, accelerations : ndarray, shape (n_points, n)
        Accelerations count where they are given.
    given : ndarray of bool, shape (n_points,)
        Which points have an acceleration.

    Returns
    -------
    accelerations : ndarray, shape (n_points, n)
        A point alone, with no segment to derive from, has zero.

    """
    if given.all():
        return accelerations
    if len(times) == 1:
        return np.zeros_like(accelerations)
    h = np.diff(times)
    column = h[:, np.newaxis]
    way = np.diff(positions, axis=0)
    ends = (column * velocities[:-1], way, column * velocities[1:])
    right = np.zeros_like(positions)
    for row, place in ((2, slice(None, -1)), (5, slice(1, None))):
        right[place] -= sum(JERK[row, k] * e for k, e in zip((1, 3, 4), ends)) / column**3
    a = _solved(JERK[2, 2] / h, JERK[5, 5] / h, JERK[2, 5] / h, right, accelerations, given)
    speed = np.maximum(np.abs(velocities[:-1]), np.abs(velocities[1:]))
    reach = np.maximum(np.abs(way), _CARRY_OF_VELOCITY * column * speed)
    longest = _largest_beside(h)[:, np.newaxis]
    limit = _largest_beside(reach) / (_CARRY_OF_ACCELERATION * longest * longest)
    return np.where(given[:, np.newaxis], a, np.clip(a, -limit, limit))


def _largest_beside(of_segments: Matrix) -> Matrix:
    """Return for each point the larger of the values of the two segments beside it."""
    return np.maximum(
        np.concatenate((of_segments[:1], of_segments)),
        np.concatenate((of_segments, of_segments[-1:])),
    )


def _solved(
    first: Vector,
    second: Vector,
    mixed: Vector,
    right: Matrix,
    values: Matrix,
    given: NDArray[np.bool_],
) -> Matrix:
    """
    Solve the tridiagonal system that is the sum over the segments, where some values are given.

    Each segment adds ``first`` and ``second`` to the diagonal at its two ends and ``mixed`` beside
    it.

    """
    diagonal = np.append(first, 0.0) + np.append(0.0, second)
    values = np.where(given[:, np.newaxis], values, 0.0)
    right = right - diagonal[:, np.newaxis] * values
    right[:-1] -= mixed[:, np.newaxis] * values[1:]
    right[1:] -= mixed[:, np.newaxis] * values[:-1]
    coupled = np.where(given[:-1] | given[1:], 0.0, mixed)
    scale = 1.0 / np.sqrt(diagonal)
    band = np.ones((2, len(diagonal)))
    band[0, 1:] = coupled * scale[1:] * scale[:-1]
    column = scale[:, np.newaxis]
    solution = column * solveh_banded(band, column * right, check_finite=False)
    return np.where(given[:, np.newaxis], values, solution)
