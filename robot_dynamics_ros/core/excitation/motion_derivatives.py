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
Derivatives of functions of a sampled motion by positions, velocities and accelerations.

What is linear in the acceleration, as efforts and regressors are, has the exact derivative
:math:`F(q, v, a + e_j) - F(q, v, a)`. For positions and velocities central differences are taken.
All samples are moved at once, since each result depends on its own sample only.

"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.core.arrays import Matrix

STEP = 1e-5
"""Of the central differences [rad | m | rad/s | m/s]: errors of 1e-10 of the function."""

Array = NDArray[np.float64]
MotionFunction = Callable[[Matrix, Matrix, Matrix], Array]


def motion_derivatives(
    function: MotionFunction, q: Matrix, v: Matrix, a: Matrix
) -> Iterator[Array]:
    """
    Yield the derivatives by all positions, by all velocities and by all accelerations.

    Parameters
    ----------
    function : callable
        Motion with ``n`` samples to an array whose first axis are the samples; linear in the
        acceleration.
    q, v, a : ndarray, shape (n_samples, nv)
        The motion.

    Yields
    ------
    derivative : ndarray, shape (nv, n_samples, ...)
        First the joint that is moved.

    """
    count, joints = q.shape
    moved = np.repeat(np.eye(joints), count, axis=0)  # joint by joint
    many = [np.tile(part, (joints, 1)) for part in (q, v, a)]
    shape = (joints, count)
    for k in (0, 1):
        ahead, behind = list(many), list(many)
        ahead[k], behind[k] = many[k] + STEP * moved, many[k] - STEP * moved
        slope = (function(*ahead) - function(*behind)) / (2.0 * STEP)
        yield slope.reshape(*shape, *slope.shape[1:])
    here = function(q, v, a)
    beside = function(many[0], many[1], many[2] + moved)
    yield beside.reshape(*shape, *beside.shape[1:]) - here


def contracted_derivatives(
    function: MotionFunction, q: Matrix, v: Matrix, a: Matrix, weight: Array
) -> list[Matrix]:
    """
    Return the derivatives of ``sum(weight * function)`` by the motion.

    Parameters
    ----------
    function, q, v, a
        See `motion_derivatives`.
    weight : ndarray
        In the shape of what the function returns.

    Returns
    -------
    by_position, by_velocity, by_acceleration : ndarray, shape (n_samples, nv)

    """
    flat = weight.reshape(len(q), -1)
    return [
        np.einsum('jkp,kp->kj', slope.reshape(*slope.shape[:2], -1), flat)
        for slope in motion_derivatives(function, q, v, a)
    ]
